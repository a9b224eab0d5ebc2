"""Counts of words (rows of a sparse matrix) as a table with one column of text, written out batch by batch.

Knows the arrays of compressed sparse rows, not scipy. Column j of the matrix is the word xj.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from likely.errors import InputError
from likely.table.arrow import ArrowArray, plain_type
from likely.table.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORDS = "words"
"""The name of the column."""
_MOST = 1 << 20
"""Words that a batch holds, about; a row is never cut."""


def are_counts(data: NDArray[np.number]) -> bool:
    """Whether all entries are whole numbers, zero or more."""
    return bool(np.all(data >= 0) and np.all(np.isfinite(data)) and np.all(data == np.floor(data)))


class CountedSource(Source):
    """Rows of word counts as texts, beside which other columns may stand."""

    def __init__(
        self,
        data: NDArray[np.number],
        indices: NDArray[np.integer],
        indptr: NDArray[np.integer],
        width: int,
        more: dict[str, ArrowArray] | None = None,
    ) -> None:
        if not are_counts(data):
            raise InputError(
                "A sparse matrix is read as counts of words, so its entries must be whole numbers, zero or more. "
                "Give counts (CountVectorizer): how words are damped and weighed is a setting of text."
            )
        self.name = "the matrix"
        self._data, self._indices, self._indptr, self._width = data.astype(np.int64), indices, indptr, width
        self._more = more or {}
        fields = [pa.field(WORDS, pa.string()), *(pa.field(n, plain_type(a.type)) for n, a in self._more.items())]
        self.schema = pa.schema(fields)
        self.rows = len(indptr) - 1

    def with_column(self, name: str, column: ArrowArray) -> CountedSource:
        """The table with one more column."""
        return CountedSource(self._data, self._indices, self._indptr, self._width, {**self._more, name: column})

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        names = self.resolve_columns(columns)
        # How many words there are up to each row: batches are cut where that passes a multiple of _MOST.
        per_row = np.concatenate([[0], np.cumsum(self._data)])[self._indptr]
        cuts = np.flatnonzero(np.diff(per_row // _MOST)) + 1
        bounds = np.unique(np.concatenate([[0], cuts, [len(per_row) - 1]])).tolist()
        letters, starts = _words(self._width)
        for low, high in pairwise(bounds):
            arrays = [
                self._texts(low, high, letters, starts) if n == WORDS else self._more[n].slice(low, high - low)
                for n in names
            ]
            yield pa.RecordBatch.from_arrays(arrays, names=names)

    def _texts(self, low: int, high: int, letters: NDArray[np.uint8], starts: NDArray[np.int64]) -> ArrowArray:
        """Rows low … high-1 as texts, each word as often as it was counted, with a blank after it."""
        entries = slice(int(self._indptr[low]), int(self._indptr[high]))
        times = self._data[entries]
        row = np.repeat(np.arange(high - low), np.diff(self._indptr[low : high + 1]))
        word = np.repeat(self._indices[entries], times)
        row = np.repeat(row, times)
        # A text without words is not a missing one: a row without counts is written as a full stop.
        empty = np.setdiff1d(np.arange(high - low), row, assume_unique=False)
        word = np.concatenate([word, np.full(len(empty), self._width)])
        row = np.concatenate([row, empty])
        order = np.argsort(row, kind="stable")
        word, row = word[order], row[order]
        size = (starts[1:] - starts[:-1])[word]
        ends = np.cumsum(size)
        at = np.repeat(starts[word] - (ends - size), size) + np.arange(int(ends[-1]) if len(ends) else 0)
        bounds = np.zeros(high - low + 1, np.int64)
        np.add.at(bounds[1:], row, size)
        offsets = np.cumsum(bounds)
        buffers = [None, pa.py_buffer(offsets.data), pa.py_buffer(letters[at].data)]
        return pa.Array.from_buffers(pa.large_string(), high - low, buffers).cast(pa.string())


def _words(width: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of the words x0, x1 … and of a full stop, one after the other, and where each begins."""
    words = [f"x{j} ".encode() for j in range(width)] + [b". "]
    starts = np.cumsum([0, *(len(w) for w in words)]).astype(np.int64)
    return np.frombuffer(b"".join(words), np.uint8), starts
