"""Counting words at the edges: pieces of a text, entries that do not fit into one number, batches of both kinds."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely import Tokens
from likely.sums.contracts import EVERY_ROW_ONE, weights
from likely.sums.words.counting import PIECE, Incoming, WordCounter, Words
from likely.sums.words.reading import DONE
from likely.sums.words.tally_kernels import radix_sort
from likely.table.batch import pack_texts
from likely.table.words import words_of


def counted(text: str, tokens: Tokens) -> dict[str, int]:
    words = Words(1, tokens)
    words.update(pack_texts([text]), np.zeros(1, np.int32))
    held = words.tally()
    return {held.vocabulary[w]: t for w, t in zip(held.word.tolist(), held.times.tolist(), strict=True) if w}


@pytest.mark.parametrize(
    "tokens", [Tokens(), Tokens(pairs=True), Tokens(shortest=3), Tokens(grams=(2, 3)), Tokens(stop=("b",))]
)
@pytest.mark.parametrize("word", ["incomprehensible", "ÀÉÎõü", "İi", "Ⱥb", "ΑΣ Σ", "b", "😀x"])
def test_words_that_a_piece_breaks_off(word: str, tokens: Tokens) -> None:
    for lead in range(PIECE - 20, PIECE + 4):
        text = "a" + "." * lead + word + " b " + word
        assert counted(text, tokens) == Counter(words_of(text, tokens))


@pytest.mark.parametrize("size", [PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 20 * PIECE])
def test_a_word_longer_than_a_piece(size: int) -> None:
    text = "x " + "y" * size + " " + "É" * size + " x"
    assert counted(text, Tokens(pairs=True)) == Counter(words_of(text, Tokens(pairs=True)))


@given(st.lists(st.integers(0, 2**64 - 1), max_size=300), st.integers(1, 64), st.integers(0, 40))
def test_numbers_are_sorted_by_digits(some: list[int], bits: int, below: int) -> None:
    numbers = np.array([n >> (64 - bits) for n in some], np.uint64)
    assert radix_sort(numbers.copy(), bits)[0].tolist() == np.sort(numbers).tolist()
    passed_over = np.uint64(below)
    order = np.argsort(numbers >> passed_over, kind="stable")
    assert radix_sort(numbers.copy(), bits, below)[0].tolist() == numbers[order].tolist()


@pytest.mark.parametrize(("bits", "below"), [(64, 0), (64, 18), (42, 0), (23, 1), (22, 0), (9, 0), (60, 48)])
@pytest.mark.parametrize("skew", [1.0, 30.0])
def test_many_numbers_are_dealt_before_they_are_sorted(bits: int, below: int, skew: float) -> None:
    """Shares of all sizes: of one number, of few, of most."""
    rng = np.random.default_rng(bits + below)
    numbers = (rng.random(1 << 18) ** skew * 2.0 ** min(bits, 63)).astype(np.uint64)
    order = np.argsort(numbers >> np.uint64(below), kind="stable")
    assert np.array_equal(radix_sort(numbers.copy(), bits, below)[0], numbers[order])


ENTRIES = st.lists(
    st.tuples(
        st.sampled_from([0, 1, 7, 2**26]),  # group, then size, row, and words with their times
        st.integers(0, 31),
        st.integers(0, 4),
        st.lists(st.tuples(st.integers(0, 5), st.sampled_from([1, 2, 2**30])), max_size=6),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=100)
@given(ENTRIES, st.sampled_from([6, 2**20]), st.booleans())
def test_entries_are_sorted_and_joined_whatever_fits_into_one_number(some: list[Any], words: int, ranked: bool) -> None:
    """With many words there is no room for large groups and times: these are sorted too."""
    incoming, upto, often = Incoming(200), 0, 0
    expected: Counter[tuple[int, int]] = Counter()
    heavy: Counter[tuple[int, int]] = Counter()
    share = np.array([1.0, 0.5, 3.0, 2.0**40, 7.0])
    rank = np.array([3, 0, 5, 1, 2, 4], np.int32) if ranked else np.empty(0, np.int32)
    for d, (group, size, row, met) in enumerate(some):
        for word, times in met:
            incoming.entries[upto] = np.uint64(word << 33 | (word & 1) << 32 | times)
            upto, often = upto + 1, often | times
            key = group << 36 | times << 5 | size
            expected[int(rank[word]) if ranked else word, key] += 1
            heavy[word, key] += share[row]
        incoming.documents[d] = upto, group << 36 | size, row
    weighed = incoming.fold_weighed(len(some), words, weights(share))
    found = incoming.fold(len(some), words, often, rank)
    for entries, whole in ((found, expected), (weighed, heavy)):
        of = np.repeat(np.arange(words), np.diff(entries.starts)).tolist()
        both = zip(of, entries.keys.tolist(), strict=True)
        assert dict(zip(both, entries.weight.floats().tolist(), strict=True)) == whole
        assert [*zip(of, entries.keys.tolist(), strict=True)] == sorted(whole)


@settings(max_examples=50)
@given(st.lists(st.tuples(st.text("aab cd ", max_size=25), st.integers(-1, 3)), max_size=30), st.integers(1, 40))
def test_room_for_few_entries_changes_nothing(some: list[tuple[str, int]], room: int) -> None:
    cells, group = pack_texts([text for text, _ in some]), np.array([g for _, g in some], np.int32)
    whole, cut = WordCounter(Tokens()), WordCounter(Tokens(), room)
    for counter in (whole, cut):
        assert counter.take(cells, 0, group, EVERY_ROW_ONE, np.uint64(2**64 - 1)) == (len(some), DONE)
    assert cut.finish().equals(whole.finish())


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.text("ab c", max_size=9), st.integers(0, 6)), max_size=30),
    st.permutations(range(7)),
    st.lists(st.integers(-1, 2), min_size=7, max_size=7),
)
def test_groups_called_otherwise_are_those_that_were_counted_so(
    some: list[tuple[str, int]], new: list[int], joined: list[int]
) -> None:
    """Renamed, moved, or several as one; of single documents and of counts."""
    cells, group = pack_texts([text for text, _ in some]), np.array([g for _, g in some], np.int32)
    for places in (new, [3 * k for k in range(7)], joined):
        for times in (1, 2):
            one, two = Words(7), Words(30)
            for _ in range(times):
                one.update(cells, group)
                two.update(cells, np.array(places, np.int32)[group] if len(group) else group)
            assert one.regrouped(np.array(places, np.intp), 30).tally().equals(two.tally())


def test_batches_with_weights_and_without() -> None:
    one, group = pack_texts(["a b a", "b"]), np.zeros(2, np.int32)
    mixed, plain = Words(1), Words(1)
    for weight in (EVERY_ROW_ONE, weights(np.array([2.0, 1.0])), EVERY_ROW_ONE):
        mixed.update(one, group, weight)
    for _ in range(3):
        plain.update(one, group)
    plain.update(pack_texts(["a b a"]), group[:1])
    assert mixed == plain


@pytest.mark.parametrize(
    ("late", "kind"), [("x", "nominal"), ("7", "constant"), ("words that are many and all different {}", "text")]
)
def test_a_guess_by_the_first_rows_changes_nothing(late: str, kind: str) -> None:
    first = [f"some words of text number {k} that differ" for k in range(1500)]
    column = first + [late.format(k) for k in range(8000)]
    table = {"y": ["a", "b"] * 4750, "x": column, "n": [str(k % 50) for k in range(9500)]}
    found = likely.summarize(table, "y")
    assert found == likely.summarize({name: cells[::-1] for name, cells in table.items()}, "y")
    assert found.schema["x"].kind == kind
