"""Which rows: random samples, chosen by row number alone, so that they are repeatable; and those of each fold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.evaluate import kernels
from likely.machinery.arrays import Ints
from likely.sums.summary import Summary
from likely.table.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray


def sample_share(total: Summary, rows: int) -> float:
    """Which share of all rows makes a sample of so many, about."""
    return min(1.0, rows / max(total.rows + total.left_out, 1))


def sample_rows(batch: Batch, start: int, share: float, seed: int = 0) -> NDArray[np.intp]:
    """The rows of a batch that belong to the sample, but for those without a class or weight.

    The first is row `start` of the table.
    """
    assert batch.target is not None
    picked = np.empty(batch.rows, np.bool_)
    kernels.chosen(start, min(int(share * 2**63), 2**63 - 1), seed, picked)
    picked &= batch.target.codes >= 0
    if batch.weight is not None:
        picked &= batch.weight > 0
    return np.flatnonzero(picked)


def rows_by_fold(fold: Ints, folds: int) -> list[NDArray[np.intp]]:
    """The rows of each fold."""
    order = np.argsort(fold, kind="stable")
    ends = np.cumsum(np.bincount(fold, minlength=folds))
    return np.split(order, ends[:-1])
