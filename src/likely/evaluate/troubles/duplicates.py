"""Rows that a table has more than once, in different folds: what is learned from one tells the other. Bounded memory.

A row is known by a 64-bit hash of its cells; of many rows only hashes below a threshold are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.evaluate.troubles.copies import Copied, Copies, text_hashes
from likely.intake.row_cache import Piece
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.summary import Summary
from likely.table.batch import Batch, Codes, Texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ODD = np.uint64(0x9E3779B97F4A7C15)
FEW = 0.01
"""A share of rows with a copy in another fold from which on it is worth a word."""
TIMES = 10.0
"""Copies must be so many times as many as attributes that are independent given the class would make."""


@dataclass(frozen=True)
class Twice:
    """How many rows occur more than once, and how many would if attributes were independent given the class."""

    rows: int
    copied: int
    across: int
    """Those that have a copy in another fold."""
    disputed: int
    """Those that have a copy of another class."""
    expected: float
    """Pairs of equal rows of one class that chance would make."""
    pairs: int
    sampled: bool = False

    @property
    def matters(self) -> bool:
        """Whether the score may be flattered: chance does not explain so many copies."""
        return self.across >= FEW * self.rows and self.across > 1 and self.pairs > TIMES * self.expected


class RowCopies:
    """Takes rows; one for each thread."""

    def __init__(self, total: Summary) -> None:
        self._names = [c.name for c in total.schema.attributes]
        self.copied = Copied()

    def take(self, piece: Piece, start: int) -> None:
        """Some rows of the table."""
        batch = piece.batch
        assert batch.target is not None
        group = batch.target.codes
        if batch.weight is not None:
            group = np.where(batch.weight > 0, group, np.int32(-1))
        self.copied.take_hashes(row_hashes(batch, self._names), piece.fold, group)


def row_hashes(batch: Batch, names: Sequence[str]) -> NDArray[np.uint64]:
    """A hash of the cells of each row in these columns, never 0; what is missing counts as a value of its own."""
    mixed = np.full(batch.rows, _ODD)
    for name in names:
        mixed = _folded(mixed, cell_bits(batch.cells[name]))
    return np.where(mixed == 0, _ODD, mixed)


def cell_bits(cells: Any) -> NDArray[np.uint64]:
    """64 bits for each cell, equal where cells are: a code, a double (one zero, one NaN), a hash of a text's words."""
    if isinstance(cells, Codes):
        return cells.codes.astype(np.int64).view(np.uint64)
    if isinstance(cells, Texts):
        return text_hashes(cells)
    # Infinite numbers count as missing; minus zero is zero.
    return np.ascontiguousarray(np.where(np.isfinite(cells), cells + 0.0, np.nan)).view(np.uint64)


def _folded(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (one ^ other) * _ODD
    z ^= z >> np.uint64(29)
    return np.asarray(z * np.uint64(0xBF58476D1CE4E5B9) ^ (z >> np.uint64(32)))


def twice(found: Copies, total: Summary) -> Twice:
    """What was found, beside what chance would make."""
    weight = total.total.floats()
    log_equal = np.zeros(len(weight))
    for column in total.schema.attributes:
        held = total.columns[column.name]
        if isinstance(held, Counts):
            table = np.concatenate([held.table.floats(), held.other.floats()])
        elif isinstance(held, Numbers):
            table = np.concatenate([held.tally()[1].floats(), held.other.floats()])
        else:
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            log_equal += np.log(np.nansum((table / weight) ** 2, axis=0))
    rows = min(found.texts / max(weight.sum(), 1e-300), 1.0) * weight
    expected = float((rows * np.maximum(rows - 1, 0) / 2 * np.exp(log_equal)).sum())
    return Twice(found.texts, found.copied, found.across, found.disputed, expected, found.copied // 2, found.sampled)
