"""Counting words at the edges: pieces of a text, entries that do not fit into one number, batches of both kinds."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely.sums.exact import Exact
from likely.sums.weights import EVERY_ROW_ONE, weights
from likely.sums.words.counting import PIECE
from likely.sums.words.entries import Entries
from likely.sums.words.sorting import radix_sort
from likely.sums.words.words import Words
from likely.table.batch import pack_texts
from likely.table.words.tokens import Tokens, words_of


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


@given(st.lists(st.integers(0, 2**64 - 1), max_size=300), st.integers(1, 64))
def test_numbers_are_sorted_by_digits(some: list[int], bits: int) -> None:
    numbers = np.array([n >> (64 - bits) for n in some], np.uint64)
    assert radix_sort(numbers.copy(), bits)[0].tolist() == np.sort(numbers).tolist()


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 5), st.sampled_from([0, 1, 2**26]), st.sampled_from([1, 2, 2**30]), st.integers(1, 31)
        ),
        max_size=20,
    )
)
def test_entries_too_wide_for_one_number_are_sorted_too(some: list[tuple[int, int, int, int]]) -> None:
    word = np.array([w for w, _, _, _ in some], np.int32)
    key = np.array([g << 36 | t << 5 | s for _, g, t, s in some], np.int64)
    for words in (6, 2**20):  # with many words there is no room for large groups and times
        found = Entries.of(word, key, words, None)
        expected = sorted(Counter(zip(word.tolist(), key.tolist(), strict=True)).items())
        of = np.repeat(np.arange(words), np.diff(found.starts))
        entries = zip(of.tolist(), found.keys.tolist(), strict=True)
        assert [*zip(entries, found.weight.planes[0].tolist(), strict=True)] == expected
    twice = found.with_more(Entries.of(word, key, 2**20, Exact.of(np.ones(len(key), np.int64))))
    assert np.array_equal(twice.keys, found.keys)
    assert twice.weight.floats().tolist() == (2 * found.weight.floats()).tolist()


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
