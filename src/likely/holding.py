"""Rows kept between sweeps, where they are few enough: encoded once, in pieces that threads can share.

Pieces are cut at the same rows on every machine, so that sums of floats do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from likely.sums.summary import Summary
from likely.sums.words import Words
from likely.table.batch import Batch, Ints

MOST_BYTES = 256 << 20
"""Rows that take up more are read again in every sweep."""
WORD = 8
"""Bytes that a word of a text takes up, with what stands around it."""
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

    def pieces(self) -> Iterator[Piece]:
        """Cut to at most PIECE rows."""
        for start in range(0, self.batch.rows, PIECE):
            rows = slice(start, start + PIECE)
            yield Piece(replace(self.batch.sliced(rows), start=self.batch.start + start), self.fold[rows])


def small(summary: Summary) -> bool:
    """Whether all rows of a table, encoded, may be kept."""
    kinds = [c.kind for c in summary.schema.used]
    each = sum({"nominal": 4, "text": 16}.get(kind, 8) for kind in kinds) + 4
    words = sum(_words(s) for s in summary.columns.values() if isinstance(s, Words))
    return (summary.rows + summary.left_out) * each + words * WORD <= MOST_BYTES


def _words(statistic: Words) -> float:
    """How many words there are in all texts (in texts of weight one)."""
    held = statistic.held()
    upto = int(held.starts[1]) if len(held.vocabulary) and held.vocabulary.ends[1] == 0 else 0
    return float(held.times[:upto] @ held.weight[np.arange(upto)].floats())


class Held:
    """The pieces of a table, sweep after sweep the same: kept, or read anew."""

    def __init__(self, summary: Summary, read: Callable[[], Iterable[Piece]]) -> None:
        self._keep, self._read = small(summary), read
        self._pieces: list[Piece] | None = None

    def __iter__(self) -> Iterator[Piece]:
        if self._pieces is None and self._keep:
            self._pieces = [piece for whole in self._read() for piece in whole.pieces()]
        if self._pieces is not None:
            yield from self._pieces
            return
        for whole in self._read():
            yield from whole.pieces()
