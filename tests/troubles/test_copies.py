"""Copies of texts are found whatever the order, the threads and the bound; words alone tell texts apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.evaluate.troubles.rows import Duplicates
from likely.sums.rows.rows import text_hashes
from likely.sums.words.vocabulary import Vocabulary
from likely.table.batch import Batch, Codes, pack_texts
from likely.table.labels import Labels
from likely.table.words import words_of

RICH = st.text(
    st.one_of(st.sampled_from("aAbB zZ.,_09ΣσςİıéÉ\n\t\x00-߿́漢😀"), st.characters(exclude_categories=["Cs"]))
)


@given(st.lists(RICH, max_size=20))
def test_the_hash_is_that_of_the_words(some: list[str]) -> None:
    joined = [" ".join(words_of(text)) for text in some]
    expected = [Vocabulary.of([text]).hashes[0] for text in joined]
    assert text_hashes(pack_texts(some)).tolist() == expected


@pytest.mark.parametrize("word", ["incomprehensible", "ÀÉÎõü", "İi", "ΑΣ Σ", "b", "x" * 9000, "-"])
def test_texts_of_several_pieces(word: str) -> None:
    some = ["a" + "." * lead + word + " b " + word for lead in range(8192 - 24, 8192 + 4)]
    some += [f"{'ab ' * 3000}{word}", word * 3, f"{'é ' * 5000}{word}", f"{'z' * 8190}{word}"]
    expected = [Vocabulary.of([" ".join(words_of(text))]).hashes[0] for text in some]
    assert text_hashes(pack_texts(some)).tolist() == expected


def test_punctuation_and_case_make_no_difference() -> None:
    one, two, three, none, empty = text_hashes(pack_texts(["Hello,  World!", "hello world", "helloworld", "?!…", ""]))
    assert one == two != three
    assert none == empty == 0


CLASSES = Labels([f"c{k}" for k in range(10)])


def take(held: Duplicates, some: list[str], fold: np.ndarray, group: np.ndarray) -> None:
    held.take_texts(Batch(len(some), {"t": pack_texts(some)}, Codes(group.astype(np.int32), CLASSES)), "t", fold)


ROW = st.tuples(st.sampled_from(["a b", "A, b.", "c", "d d d", "", "!", "e"]), st.integers(0, 2), st.integers(-1, 2))


@given(st.lists(ROW, max_size=40), st.integers(1, 4))
def test_counted_as_one_would(rows: list[tuple[str, int, int]], cuts: int) -> None:
    kept = [(" ".join(words_of(t)), f, c) for t, f, c in rows if c >= 0 and words_of(t)]
    times = Counter(t for t, _, _ in kept)
    folds, classes = defaultdict(set), defaultdict(set)
    for t, f, c in kept:
        folds[t].add(f)
        classes[t].add(c)
    parts = [Duplicates() for _ in range(cuts)]
    for k, (t, f, c) in enumerate(rows):
        take(parts[k % cuts], [t], np.array([f], np.int32), np.array([c], np.int32))
    whole = parts[0]
    for part in parts[1:]:
        whole = part + whole
    found = whole.copies()
    assert (found.texts, found.sampled) == (len(kept), False)
    assert found.copied == sum(times[t] > 1 for t, _, _ in kept)
    assert found.across == sum(len(folds[t]) > 1 for t, _, _ in kept)
    assert found.disputed == sum(len(classes[t]) > 1 for t, _, _ in kept)


@pytest.mark.parametrize("bound", [4, 50])
def test_beyond_the_bound_the_sample_does_not_depend_on_order(bound: int) -> None:
    cells = [f"text number {k % 300}" for k in range(500)]
    parts = np.array_split(np.arange(500), 3)
    found = set()
    for order in permutations(range(3)):
        one, two = Duplicates(bound), Duplicates(bound)
        for j, k in enumerate(order):
            rows = parts[k] if j else parts[k][::-1]
            some = [cells[i] for i in rows]
            take(one if j != 1 else two, some, (rows % 10).astype(np.int32), np.zeros(len(rows), np.int32))
        found |= {(one + two).copies(), (two + one).copies()}
    (only,) = found
    assert only.sampled and only.texts < 500
    if bound == 50:
        assert 0.4 < only.copied / only.texts <= 1  # 400 of 500 are copies


def test_one_text_alone_fills_no_bound() -> None:
    copied = Duplicates(3)
    for _ in range(5):
        take(copied, ["the same"] * 10, np.zeros(10, np.int32), np.arange(10))
    assert copied.copies().copied == copied.copies().disputed == 50 and not copied.copies().sampled
