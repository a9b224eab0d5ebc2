"""Rows that are equal in all attributes: how many there are, which contradict each other, and how right one can be.

A row is known by a 64-bit hash of its cells. Up to a bound all are kept; beyond it only those whose hash is below a
threshold, which depends on the set of rows and not on their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.evaluate.troubles.duplicates import row_hashes
from likely.table.batch import Batch, Ints

if TYPE_CHECKING:
    from numpy.typing import NDArray

BOUND = 1 << 20
"""Different rows that are kept at most."""
EXAMPLES = 10
_ANY = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class Contradiction:
    """Two rows that are equal in all attributes and of different classes; numbers of rows begin at 1."""

    row: int
    label: str
    other: int
    other_label: str
    rows: int
    """All rows that are equal to them."""


@dataclass(frozen=True)
class Twinned:
    """What equal rows say of a table."""

    rows: int
    """Rows that were compared; where there are too many, those of some hashes."""
    copied: int
    """Rows that another row of the same class equals."""
    across: int
    """Those of them for which such a row is in another fold: it was learned from when they were predicted."""
    contradicted: int
    """Rows that a row of another class equals."""
    ceiling: float
    """The greatest accuracy on these rows of anyone who sees the attributes alone: equal rows get the same answer."""
    examples: tuple[Contradiction, ...]
    sampled: bool = False


class Twins:
    """Keys (hash, class) with how many rows have them, their least and greatest fold, and the first of them."""

    def __init__(self, classes: int, bound: int = BOUND) -> None:
        self._classes, self._bound, self._level = classes, bound, 0
        self._hashes, self._about = np.empty(0, np.uint64), np.empty((5, 0), np.int64)
        self._waiting: list[tuple[NDArray[np.uint64], NDArray[np.int64]]] = []
        self._more = 0

    def take(self, batch: Batch, fold: Ints, start: int) -> None:
        """Take in some rows, of which the first is row `start` of the table."""
        assert batch.target is not None
        hashes = row_hashes(batch, list(batch.cells))
        counts = (batch.target.codes >= 0) & (hashes <= _ANY >> np.uint64(self._level))
        if batch.weight is not None:
            counts &= batch.weight > 0
        kept = np.flatnonzero(counts)
        folds = fold[kept].astype(np.int64)
        group = batch.target.codes[kept].astype(np.int64)
        self._put(hashes[kept], np.stack([group, np.ones_like(folds), folds, folds, start + kept]))
        if self._more > self._bound:
            self._settle()

    def _put(self, hashes: NDArray[np.uint64], about: NDArray[np.int64]) -> None:
        self._waiting.append((hashes, about))
        self._more += len(hashes)

    def _settle(self) -> None:
        """Each key once, in order, and no more hashes than may be kept."""
        hashes = np.concatenate([self._hashes, *(h for h, _ in self._waiting)])
        about = np.concatenate([self._about, *(a for _, a in self._waiting)], axis=1)
        self._waiting, self._more = [], 0
        while len(hashes) and self._different(hashes) > self._bound:
            self._level += 1
            below = hashes <= _ANY >> np.uint64(self._level)
            hashes, about = hashes[below], about[:, below]
        order = np.lexsort((about[0], hashes))
        hashes, about = hashes[order], about[:, order]
        if len(hashes):
            new = (hashes[1:] != hashes[:-1]) | (about[0, 1:] != about[0, :-1])
            first = np.flatnonzero(np.concatenate([[True], new]))
            joins = (np.minimum, np.add, np.minimum, np.maximum, np.minimum)
            about = np.stack([join.reduceat(row, first) for join, row in zip(joins, about, strict=True)])
            hashes = hashes[first]
        self._hashes, self._about = hashes, about

    @staticmethod
    def _different(hashes: NDArray[np.uint64]) -> int:
        return len(np.unique(hashes))

    def __add__(self, other: Twins) -> Twins:
        out = Twins(self._classes, min(self._bound, other._bound))
        for one in (self, other):
            one._settle()
            out._level = max(out._level, one._level)
        for one in (self, other):
            below = one._hashes <= _ANY >> np.uint64(out._level)
            out._put(one._hashes[below], one._about[:, below])
        out._settle()
        return out

    def read(self, names: tuple[str, ...]) -> Twinned:
        """What was found; `names` are the classes."""
        self._settle()
        if not len(self._hashes):
            return Twinned(0, 0, 0, 0, 1.0, ())
        group, rows, low, high, at = self._about
        first = np.flatnonzero(np.concatenate([[True], self._hashes[1:] != self._hashes[:-1]]))
        keys = np.diff(np.append(first, len(self._hashes)))
        disputed = np.repeat(keys > 1, keys)
        best = np.maximum.reduceat(rows, first)
        total = int(rows.sum())
        earliest = np.minimum.reduceat(at, first)
        clashes = np.flatnonzero(keys > 1)
        examples = []
        for g in clashes[np.argsort(earliest[clashes], kind="stable")][:EXAMPLES].tolist():
            own = np.arange(first[g], first[g] + keys[g])
            a, b = own[np.argsort(at[own], kind="stable")][:2].tolist()
            same = int(rows[own].sum())
            examples.append(Contradiction(int(at[a]) + 1, names[group[a]], int(at[b]) + 1, names[group[b]], same))
        return Twinned(
            total,
            int(rows[rows > 1].sum()),
            int(rows[(rows > 1) & (low < high)].sum()),
            int(rows[disputed].sum()),
            float(best.sum() / total),
            tuple(examples),
            self._level > 0,
        )
