"""Out-of-fold predictions of rows, one by one: for curves and ranks, which no sum gives. Of many rows, a sample."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.evaluate import kernels
from likely.machinery.arrays import Ints

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_NUMBERS = 4_000_000
"""Rows times classes that are kept; of more rows a sample is, by row number and seed."""


@dataclass(frozen=True)
class HeldOut:
    """Rows in the order of the table, with what was said of each class before the row was learned from."""

    classes: tuple[str, ...]
    row: NDArray[np.int64]
    """Number in the table, from 0."""
    truth: Ints
    weight: NDArray[np.float64]
    log_odds: NDArray[np.float64]
    """(rows, classes): log P(class) - log P(any other); finer than a probability near 0 and 1."""
    fold: Ints
    """In which each row was predicted; where all were left out in turn, its place among them."""
    sampled: bool = False

    @property
    def matrix(self) -> NDArray[np.float64]:
        """P(class | row)."""
        return probabilities(self.log_odds)

    @property
    def surprise(self) -> NDArray[np.float64]:
        """-log P(true class)."""
        return np.logaddexp(0.0, -self.log_odds[np.arange(len(self.truth)), self.truth])


def probabilities(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Odds as probabilities.

    >>> probabilities(np.array([0.0, -np.inf, np.log(3)])).round(3).tolist()
    [0.5, 0.0, 0.75]
    """
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (1.0 + np.exp(-log_odds)))


class HeldOutCollector:
    """Takes rows, in any order; `read` puts them into that of the table."""

    def __init__(self, rows: int, classes: tuple[str, ...], seed: int = 0) -> None:
        self._classes, self._seed = classes, seed
        most = max(MOST_NUMBERS // max(len(classes), 1), 1)
        self._ceiling = -1 if rows <= most else int(most / rows * 2.0**63)
        self._chunks: list[tuple[NDArray[np.int64], Ints, NDArray[np.float64], NDArray[np.float64], Ints | None]] = []

    def take(
        self,
        row: NDArray[np.int64],
        truth: Ints,
        weight: NDArray[np.float64] | None,
        joint: NDArray[np.float64],
        fold: Ints | None = None,
    ) -> None:
        """Some rows: their numbers, classes, weights, the log scores of their classes, and folds if there are any."""
        weight = np.ones(len(row)) if weight is None else weight
        if self._ceiling >= 0:
            kept = np.zeros(len(row), np.bool_)
            kernels.chosen_rows(np.ascontiguousarray(row), self._ceiling, self._seed, kept)
            row, truth, weight, joint = row[kept], truth[kept], weight[kept], joint[kept]
            fold = None if fold is None else fold[kept]
        self._chunks.append((row, truth, weight, log_odds(joint), fold))

    def __add__(self, other: HeldOutCollector) -> HeldOutCollector:
        out = HeldOutCollector(0, self._classes, self._seed)
        out._ceiling, out._chunks = self._ceiling, self._chunks + other._chunks
        return out

    def read(self) -> HeldOut:
        """All rows that were kept."""
        row = np.concatenate([np.empty(0, np.int64), *(c[0] for c in self._chunks)])
        order = np.argsort(row, kind="stable")
        truth = np.concatenate([np.empty(0, np.int32), *(c[1] for c in self._chunks)])[order]
        weight = np.concatenate([np.empty(0), *(c[2] for c in self._chunks)])[order]
        held = np.concatenate([np.empty((0, len(self._classes))), *(c[3] for c in self._chunks)])[order]
        folds = (np.full(len(c[0]), -1, np.int32) if c[4] is None else c[4] for c in self._chunks)
        fold = np.concatenate([np.empty(0, np.int32), *folds])[order]
        fold = np.where(fold < 0, np.arange(len(fold), dtype=np.int32), fold)
        return HeldOut(self._classes, row[order], truth, weight, held, fold, self._ceiling >= 0)


def merge_held_out(parts: Iterable[HeldOutCollector]) -> HeldOut:
    """What all threads took."""
    first, *others = parts
    for other in others:
        first = first + other
    return first.read()


def log_odds(joint: NDArray[np.float64]) -> NDArray[np.float64]:
    """log odds of each class against all others; of a row that is impossible throughout, minus infinity."""
    out = np.empty_like(joint)
    kernels.log_odds(np.array(joint, np.float64, order="C"), out)
    return out
