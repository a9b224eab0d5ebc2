"""Words as they are counted, and what is kept of them: against Counter."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely import Tokens
from likely.errors import FileFormatError
from likely.sums import state
from likely.sums.contracts import EVERY_ROW_ONE, weights
from likely.sums.words.counting import PIECE, Incoming, WordCounter, Words
from likely.sums.words.reading import DONE
from likely.sums.words.tally import Tally
from likely.sums.words.tally_kernels import radix_sort
from likely.sums.words.vocabulary import Vocabulary
from likely.table.batch import pack_texts
from likely.table.words import words_of
from likely.testing import bits

SOME = st.lists(st.text("aAbBß .", max_size=20) | st.just("the cat the dog incomprehensibilities"), max_size=12)


def swept(
    some: list[str | None], group: list[int], groups: int = 3, tokens: Tokens | None = None, weight=None
) -> Words:
    out = Words(groups, tokens or Tokens())
    out.update(pack_texts(some), np.array(group, np.int32), weights(weight))
    return out


def entries(words: Words) -> dict[tuple[str, int, int, int], Fraction]:
    return entries_of(words.tally())


def entries_of(held: Tally) -> dict[tuple[str, int, int, int], Fraction]:
    rows = zip(held.word.tolist(), held.group.tolist(), held.times.tolist(), held.size.tolist(), strict=True)
    return {(held.vocabulary[w], g, t, s): x for (w, g, t, s), x in zip(rows, held.weight.fractions(), strict=True)}


@settings(max_examples=100)
@given(SOME, st.integers(0, 2**32))
def test_entries_are_what_python_counts(some: list[str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    group, weight = rng.integers(-1, 3, len(some)).tolist(), rng.choice([0.0, 1.0, 0.1, 2.5], len(some))
    expected: dict[tuple[str, int, int, int], Fraction] = defaultdict(Fraction)
    for text, g, w in zip(some, group, weight.tolist(), strict=True):
        found = words_of(text)
        if g >= 0 and w > 0:
            size = len(found).bit_length() or int(text != "")  # a text without words is not missing
            expected["", g, len(found), size] += Fraction(w)
            for word, t in Counter(found).items():
                expected[word, g, t, size] += Fraction(w)
    assert entries(swept(some, group, weight=weight)) == expected


def test_words_are_in_the_order_of_their_bytes() -> None:
    some = [f"incomprehensibilit{k % 97}x{k}" for k in range(3000)] + ["z", "é", "incompre", "incomprehensible", "a"]
    vocabulary = list(swept([" ".join(some)], [0]).tally().vocabulary)
    assert vocabulary == ["", *sorted(some, key=str.encode)]


def test_groups_can_be_joined_and_left_out() -> None:
    some = ["a a b", "a b", "b c", "", "a a b"]
    words = swept(some, [0, 1, 2, 1, 0])
    joined = words.regrouped(np.array([0, 0, -1]), 1)
    assert entries(joined) == entries(swept(["a a b", "a b", "", "a a b"], [0, 0, 0, 0], 1))
    assert words.regrouped(np.array([2, 1, 0]), 3) == swept(some, [2, 1, 0, 1, 2])


def test_a_bounded_vocabulary_does_not_depend_on_order_and_keeps_document_lengths() -> None:
    rng = np.random.default_rng(0)
    some = [" ".join(f"w{k}" for k in rng.integers(0, 500, 50)) for _ in range(60)]
    tokens = Tokens(vocabulary=40)
    whole = swept(some, [0] * 60, 1, tokens)
    held = whole.tally()
    assert 10 < len(held.vocabulary) - 1 <= 40 and whole.level > 0
    assert bits(swept(some[::-1], [0] * 60, 1, tokens)) == bits(whole)
    assert bits(swept(some[:7], [0] * 7, 1, tokens) + swept(some[7:], [0] * 53, 1, tokens)) == bits(whole)
    free = entries(swept(some, [0] * 60, 1))
    kept = entries(whole)
    assert all(free[key] == weight for key, weight in kept.items())  # what is held is exact
    assert sum(t * w for (word, _, t, _), w in kept.items() if not word) == 60 * 50


def test_collected_sums_are_occurrences_and_documents() -> None:
    held = swept(["a a b", "a", "b b b", "a"], [0, 1, 1, 1], 2).tally()
    assert list(held.vocabulary) == ["", "a", "b"]
    assert held.collected(np.positive, np.ones(32), 2)[1:].tolist() == [[2, 2], [1, 3]]
    assert held.collected(np.ones_like, np.ones(32), 2).tolist() == [[1, 3], [1, 2], [1, 1]]
    halves = held.collected(np.sqrt, np.full(32, 0.5), 2)
    assert halves[1].tolist() == [np.sqrt(2.0) / 2, 1.0] and halves[2].tolist() == [0.5, np.sqrt(3.0) / 2]


def test_times_beyond_any_table_are_collected_too() -> None:
    held = swept(["a " * 5000 + "b", "b " * 4096 + "a", "b " * 9000], [0, 1, 1], 2).tally()
    assert held.collected(np.positive, np.ones(32), 2)[1:].tolist() == [[5000, 1], [1, 13096]]
    twice = swept(["a " * 5000 + "b", "b " * 4096 + "a", "b " * 9000], [0, 1, 1], 2, weight=np.full(3, 0.5)).tally()
    assert twice.collected(np.positive, np.ones(32), 2)[1:].tolist() == [[2500, 0.5], [0.5, 6548]]


def test_a_file_that_is_not_sound_is_refused() -> None:
    tree = swept(["a b b", "c"], [0, 1]).state()
    for name in ("letters", "entries"):
        for cut in range(len(tree[name])):
            with pytest.raises(ValueError, match="sound"):
                Words.from_state({**tree, name: tree[name][:cut]})
    with pytest.raises(ValueError):
        Words.from_state({**tree, "letters": np.full(len(tree["letters"]), 255, np.uint8)})
    assert Words.from_state(state.parse(bits(swept(["a"], [0])), "x")["statistic"]) == swept(["a"], [0])
    with pytest.raises(FileFormatError):
        state.parse(bits(swept(["a"], [0]))[:-1], "x")


def test_a_vocabulary_finds_its_words() -> None:
    some = ["", "a", "ab", "b", "incomprehensible", "é"]
    vocabulary = Vocabulary.of(some)
    assert [vocabulary.find(w) for w in some] == [0, 1, 2, 3, 4, 5]
    assert [vocabulary.find(w) for w in ("aa", "c", "incomprehensibl", "zz", "ü")] == [-1] * 5
    assert list(Vocabulary.unpacked(vocabulary.packed(), len(some))) == some
    assert Vocabulary.of([]).find("a") == -1


def test_a_document_of_a_hundred_megabytes_and_a_word_of_ten() -> None:
    """Both are counted as any other, and written down as any other."""
    lines = "alpha beta gamma delta\n" * 100
    long, word = lines * (100_000_000 // len(lines)), "x" * 10_000_000
    held = swept([long, f"{word} alpha {word}", "alpha"], [0, 1, 1]).tally()
    times = len(lines) // 23 * (len(long) // len(lines))
    expected = {(w, 0, times): 1 for w in ("alpha", "beta", "gamma", "delta")} | {("", 0, 4 * times): 1}
    expected |= {("", 1, 3): 1, ("", 1, 1): 1, (word, 1, 2): 1, ("alpha", 1, 1): 2}
    found: Counter[tuple[str, int, int]] = Counter()
    for (w, g, t, _), x in entries_of(held).items():
        found[w, g, t] += int(x)
    assert found == expected
    assert Vocabulary.unpacked(held.vocabulary.packed(), len(held.vocabulary)).equals(held.vocabulary)


# Counting words at the edges: pieces of a text, entries that do not fit into one number, batches of both kinds.


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
