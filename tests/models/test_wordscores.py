"""Scores of documents against the plain sum over their words, and what is counted on the way."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likely import Tokens
from likely.models.text.factor import WordScores
from likely.sums.words.vocabulary import Vocabulary
from likely.table.batch import pack_texts
from likely.table.words import words_of

KNOWN = sorted(
    {"a", "b", "the", "ß", "incomprehensibilities", "incomprehensibly", "a b", " a", "a ", "é"}, key=str.encode
)
WEIGHTS = np.random.default_rng(0).standard_normal((len(KNOWN), 3))


@settings(max_examples=100)
@given(
    st.lists(
        st.lists(st.sampled_from([*KNOWN, "A", "x", "ẞ", "incomprehensibility"]), max_size=12).map(" ".join), max_size=5
    ),
    st.sampled_from([Tokens(), Tokens(pairs=True), Tokens(stop=("the",)), Tokens(grams=(2, 2))]),
)
def test_scores_are_sums_over_words(some: list[str], tokens: Tokens) -> None:
    model = WordScores(Vocabulary.of(KNOWN), WEIGHTS, tokens, lambda t: 1 + np.log(t))
    found = model.score(pack_texts(some))
    for row, text in enumerate(some):
        times = Counter(words_of(text, tokens))
        known = {w: t for w, t in times.items() if w in KNOWN}
        expected = sum((WEIGHTS[KNOWN.index(w)] * (1 + np.log(t)) for w, t in known.items()), np.zeros(3))
        assert found.scores[row] == pytest.approx(expected, abs=1e-12)
        assert found.words[row] == times.total()
        assert found.unknown[row] == times.total() - sum(known.values())


def test_a_word_that_occurs_very_often_and_a_very_long_one() -> None:
    model = WordScores(Vocabulary.of(["a"]), np.ones((1, 1)), Tokens(), lambda t: t)
    found = model.score(pack_texts(["a " * 100_000, "x" * 1_000_000, "", None, "a"]))
    assert found.scores[:, 0].tolist() == [100_000, 0, 0, 0, 1]
    assert found.words.tolist() == [100_000, 1, 0, 0, 1] and found.unknown.tolist() == [0, 1, 0, 0, 0]
    assert model.words("A b a") == [("a", 0, 2), ("b", -1, 1)]


def test_an_empty_vocabulary_knows_no_word() -> None:
    found = WordScores(Vocabulary.of([]), np.empty((0, 2)), Tokens(), lambda t: t).score(pack_texts(["a b"]))
    assert found.scores.tolist() == [[0, 0]] and found.unknown.tolist() == [2]
