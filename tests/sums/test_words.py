"""Words as a sum: counts against Python's own, sizes, bounded vocabularies, files, and groups that are joined."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likely import Tokens
from likely.errors import FileFormatError
from likely.sums import state
from likely.sums.contracts import weights
from likely.sums.words.counting import Words
from likely.sums.words.tally import Tally
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
