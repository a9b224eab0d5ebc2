"""Scores of documents from the words they have, without a matrix of documents and words. Knows no smoothing, no class.

A score is a sum over the different known words of a document: f(times it occurs) * (a weight of the word).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Bytes, Hashes, Ints, Longs
from likely.machinery.pages import take_pages
from likely.sums.words.counting import Scratch
from likely.sums.words.reading import DONE, FROZEN, STATE, Table, score_words
from likely.sums.words.vocabulary import Vocabulary
from likely.table.batch import Texts
from likely.table.words.letters import BYTES
from likely.table.words.tokens import Tokens, alphabet_for, words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

Damping = Callable[["NDArray[np.float64]"], "NDArray[np.float64]"]
_ANY = np.array([2**64 - 1], np.uint64)


@dataclass(frozen=True, eq=False)
class DocumentScores:
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

    def score(self, cells: Texts) -> DocumentScores:
        """The scores of all documents of a column, (documents, classes)."""
        rows = len(cells)
        letters, state = alphabet_for(cells), np.zeros(STATE, np.int64)
        state[FROZEN] = 1
        out = np.zeros((rows, self.weights.shape[1]))
        counted, unknown = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
        tables = self._spare.pop() if self._spare else self._tables()
        scratch, damped, row = Scratch(), self._damped(256), 0
        while True:
            row, why = score_words(
                cells.data, cells.starts, cells.ends, row, BYTES, letters.small, letters.near, self.tokens.numbers(),
                *scratch.arrays, *self._stop, *tables, state, _ANY, damped, self.weights, out, counted, unknown,
            )  # fmt: skip
            if why == DONE:
                self._spare.append(tables)
                return DocumentScores(out, counted, unknown)
            if why < 0:
                damped = self._damped(1 - 2 * why)
            else:
                scratch = Scratch(4 * scratch.size)

    @cached_property
    def _stop(self) -> Table:
        return Vocabulary.of(sorted(self.tokens.stop, key=str.encode)).tables

    @cached_property
    def _spare(self) -> list[tuple[Bytes, Longs, Hashes, Hashes, Ints]]:
        """Tables that no thread uses at the moment: words are counted in the index itself."""
        return []

    def _tables(self) -> tuple[Bytes, Longs, Hashes, Hashes, Ints]:
        letters, ends, keys, index = self.vocabulary.tables
        own = take_pages(index.shape, np.uint64, scattered=True)
        own[:] = index
        return letters, ends, keys, own, np.zeros(len(self.vocabulary) + 1, np.int32)

    def _damped(self, upto: int) -> NDArray[np.float64]:
        return np.concatenate([np.zeros(1), self.damping(np.arange(1.0, upto + 1))])

    def words(self, text: str) -> list[tuple[str, int, int]]:
        """The different words of one text in the order in which it has them: (word, number or -1, times)."""
        times: dict[str, int] = {}
        for word in words_of(text, self.tokens):
            times[word] = times.get(word, 0) + 1
        return [(word, self.vocabulary.find(word), t) for word, t in times.items()]
