"""Rows kept between sweeps, where they are few enough: encoded once, in pieces that threads can share.

Pieces are cut at the same rows on every machine and of every file format, and their sums are added as the same tree
(decision 0096), so that sums of floats do not depend on threads, on batches, or on who sweeps which part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from likely.machinery.arrays import Ints
from likely.sums.summary import Summary
from likely.sums.words.words import Words
from likely.table.batch import Batch, Codes, Texts
from likely.table.schema import Schema

MOST_BYTES = 256 << 20
"""Rows that take up more are read again in every sweep."""
WORD = 8
"""Bytes that a word of a text takes up, with what stands around it: a guess, before the texts are read again."""
PIECE = 16_384
"""Rows of a piece: many enough to be worth a call, few enough for two threads to share 50,000 rows."""


@dataclass(frozen=True)
class Piece:
    """Some rows, and the fold of each (where there are folds)."""

    batch: Batch
    fold: Ints = field(default_factory=lambda: np.empty(0, np.int32))

    @property
    def num_rows(self) -> int:
        return self.batch.rows

    @property
    def size(self) -> int:
        """Bytes that its cells take up."""
        return sum(_bytes(cells) for cells in self.batch.cells.values()) + 12 * self.num_rows

    def pieces(self, most: int = PIECE) -> Iterator[Piece]:
        """Cut to at most so many rows."""
        for start in range(0, self.batch.rows, most):
            rows = slice(start, start + most)
            yield Piece(replace(self.batch.sliced(rows), start=self.batch.start + start), self.fold[rows])


def piece_rows(schema: Schema) -> int:
    """Rows of a piece of such a table: fewer where they are wide, so that a piece stays small."""
    cells = sum(64 if c.kind == "text" else 1 for c in schema.used)
    rows = PIECE
    while rows > 256 and rows * cells > 1 << 22:
        rows //= 2
    return rows


def fits_in_memory(summary: Summary) -> bool:
    """Whether all rows of a table, encoded, may be kept."""
    kinds = [c.kind for c in summary.schema.used]
    each = sum({"nominal": 4, "text": 16}.get(kind, 8) for kind in kinds) + 4
    words = sum(_words(s) for s in summary.columns.values() if isinstance(s, Words))
    return (summary.rows + summary.left_out) * each + words * WORD <= MOST_BYTES


def _words(statistic: Words) -> float:
    """How many words there are in all texts (in texts of weight one)."""
    held = statistic.tally()
    upto = int(held.starts[1]) if len(held.vocabulary) and held.vocabulary.ends[1] == 0 else 0
    return float(held.times[:upto] @ held.weight[np.arange(upto)].floats())


class RowCache:
    """The pieces of a table, sweep after sweep the same: kept, or read anew."""

    def __init__(self, summary: Summary, read: Callable[[], Iterable[Piece]]) -> None:
        self._keep, self._read = fits_in_memory(summary), read
        self._most = piece_rows(summary.schema)
        self._pieces: list[Piece] | None = None

    def __iter__(self) -> Iterator[Piece]:
        if self._pieces is not None:
            yield from self._pieces
            return
        kept, size = list[Piece](), 0
        for whole in self._read():
            for piece in whole.pieces(self._most):
                if self._keep:
                    kept.append(piece)
                    size += piece.size
                    if size > MOST_BYTES:  # texts may have far more bytes than words
                        self._keep, kept = False, []
                yield piece
        if self._keep:
            self._pieces = kept


def _bytes(cells: object) -> int:
    if isinstance(cells, Texts):
        return int((cells.ends - cells.starts).sum()) + 16 * len(cells)
    return cells.codes.nbytes if isinstance(cells, Codes) else np.asarray(cells).nbytes
