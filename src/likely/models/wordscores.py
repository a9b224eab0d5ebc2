"""Scores of documents from the words they have, without a matrix of documents and words. Knows no smoothing, no class.

A score is a sum over the different known words of a document: f(times it occurs) * (a weight of the word).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.sums.reading import DONE, FROZEN, NO_SCRATCH, score_words
from likely.sums.vocabulary import Vocabulary
from likely.table.batch import Texts
from likely.table.letters import BYTES
from likely.table.tokens import Tokens, alphabet_for, words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

Damping = Callable[["NDArray[np.float64]"], "NDArray[np.float64]"]
_ANY = np.array([2**64 - 1], np.uint64)


@dataclass(frozen=True, eq=False)
class Scored:
    """For each document: its scores, how many words it has, and how many of these are unknown."""

    scores: NDArray[np.float64]
    words: NDArray[np.int64]
    unknown: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class WordScores:
    """A weight of each word for each class. Safe to be asked by several threads at once."""

    vocabulary: Vocabulary
    weights: NDArray[np.float64]
    """(words, classes)"""
    tokens: Tokens
    damping: Damping
    """f: how much a word counts that occurs so many times; f(0) is never asked."""

    def score(self, cells: Texts) -> Scored:
        """The scores of all documents of a column, (documents, classes)."""
        rows, words = len(cells), len(self.vocabulary)
        letters, state = alphabet_for(cells.data), np.zeros(8, np.int64)
        state[FROZEN] = 1
        stop = Vocabulary.of(sorted(self.tokens.stop, key=str.encode))
        stop_index = stop.index if len(stop) else np.zeros((1, 2), np.uint64)
        out = np.zeros((rows, self.weights.shape[1]))
        counted, unknown = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
        scratch, damped = np.empty(1 << 12, np.uint8), self._damped(64)
        times, touched = np.zeros(words, np.int32), np.zeros(words, np.int32)
        row, why = 0, NO_SCRATCH
        while True:
            row, why = score_words(
                cells.data, cells.starts, cells.ends, row, BYTES, letters.small, letters.near, self.tokens.numbers(),
                scratch, stop.letters, stop.ends, stop_index, self.vocabulary.letters, self.vocabulary.ends,
                self.vocabulary.hashes, self.vocabulary.index, times, touched, state, _ANY, damped, self.weights, out,
                counted, unknown,
            )  # fmt: skip
            if why == DONE:
                return Scored(out, counted, unknown)
            if why < 0:
                damped = self._damped(1 - 2 * why)
            else:
                scratch = np.empty(4 * len(scratch), np.uint8)

    def _damped(self, upto: int) -> NDArray[np.float64]:
        return np.concatenate([np.zeros(1), self.damping(np.arange(1.0, upto + 1))])

    def words(self, text: str) -> list[tuple[str, int, int]]:
        """The different words of one text in the order in which it has them: (word, number or -1, times)."""
        times: dict[str, int] = {}
        for word in words_of(text, self.tokens):
            times[word] = times.get(word, 0) + 1
        return [(word, self.vocabulary.find(word), t) for word, t in times.items()]
