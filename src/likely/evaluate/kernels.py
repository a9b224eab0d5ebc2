"""The loops over rows of evaluation, compiled; and which rows: samples, and those of each fold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.machinery.arrays import Ints
from likely.machinery.jit import inner, kernel
from likely.models.kernels import TIE
from likely.sums.summary import Summary
from likely.table.batch import Batch

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)


@inner
def _mixed(z: Any) -> Any:
    z = (z ^ (z >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    return z ^ (z >> np.uint64(31))


@kernel("i4[], i8[], i8[]")
def ordinals(codes: Any, seen: Any, out: Any) -> None:
    """out[i] = how many rows of the same class came before row i; `seen` goes on counting."""
    for i in range(codes.size):
        c = codes[i]
        if c >= 0:
            out[i] = seen[c]
            seen[c] += 1
        else:
            out[i] = 0


@kernel("i4[], i8[], i8, i8, i4[]")
def stratified(codes: Any, ordinal: Any, folds: int, seed: int, out: Any) -> None:
    """Every run of `folds` rows of a class is dealt to all folds, in an order shuffled by seed, class and run."""
    for i in range(codes.size):
        run = ordinal[i] // folds
        place = ordinal[i] - run * folds
        key = _mixed(np.uint64(seed) + _STEP * np.uint64(codes[i] + 1))
        key = _mixed(key + _STEP * np.uint64(run + 1))
        mine = _mixed(key + _STEP * np.uint64(place + 1))
        rank = 0
        for k in range(folds):
            if _mixed(key + _STEP * np.uint64(k + 1)) < mine:
                rank += 1
        out[i] = rank


@kernel("f8[][], i8[], f8[][], i8[]")
def spread(share: Any, order: Any, held: Any, out: Any) -> None:
    """Deal groups one after the other, each to the part in which the squares of shares then grow least.

    `share` has each group's share of every class and, last, of all rows; `held` those of the parts so far.
    """
    for j in range(order.size):
        g = order[j]
        best, least = 0, np.inf
        for k in range(held.shape[0]):
            grown = 0.0
            for c in range(share.shape[1]):
                grown += share[g, c] * (2.0 * held[k, c] + share[g, c])
            if grown < least:
                best, least = k, grown
        for c in range(share.shape[1]):
            held[best, c] += share[g, c]
        out[g] = best


@kernel("i8, i8, i8, b1[]")
def chosen(start: int, ceiling: int, seed: int, out: Any) -> None:
    """Whether row start+i belongs to a random sample, by its number alone: ceiling / 2**63 of all rows do."""
    for i in range(out.size):
        out[i] = np.int64(_mixed(np.uint64(seed) + _STEP * np.uint64(start + i + 1)) >> np.uint64(1)) < ceiling


@kernel("i8[], i8, i8, b1[]")
def chosen_rows(row: Any, ceiling: int, seed: int, out: Any) -> None:
    """`chosen`, for rows of any numbers."""
    for i in range(out.size):
        out[i] = np.int64(_mixed(np.uint64(seed) + _STEP * np.uint64(row[i] + 1)) >> np.uint64(1)) < ceiling


@kernel("f8[][], f8[][]")
def log_odds(joint: Any, out: Any) -> None:
    """out[i, k] = joint[i, k] - log of the sum of exp(joint) over all other classes. Ties with the best are exact."""
    for i in range(joint.shape[0]):
        best = -np.inf
        for k in range(joint.shape[1]):
            best = max(best, joint[i, k])
        for k in range(joint.shape[1]):
            if best - joint[i, k] <= TIE:
                joint[i, k] = best
        for k in range(joint.shape[1]):
            top = -np.inf
            for j in range(joint.shape[1]):
                if j != k and joint[i, j] > top:
                    top = joint[i, j]
            if joint[i, k] == -np.inf:
                out[i, k] = -np.inf
            elif top == -np.inf:
                out[i, k] = np.inf
            else:
                total = 0.0
                for j in range(joint.shape[1]):
                    if j != k:
                        total += np.exp(joint[i, j] - top)
                out[i, k] = joint[i, k] - top - np.log(total)


@kernel("f8[][], f8[][], f8[], i4[], f8[], f8[]")
def row_scores(joint: Any, matrix: Any, evidence: Any, truth: Any, surprise: Any, brier: Any) -> None:
    """Per row: -log P(true class), and the sum over classes of (P(class) - whether it is true) squared."""
    for i in range(truth.size):
        t = truth[i]
        if evidence[i] == -np.inf or joint[i, t] == -np.inf:
            surprise[i] = np.inf
        else:
            surprise[i] = evidence[i] - joint[i, t]
        total = 0.0
        for k in range(matrix.shape[1]):
            d = matrix[i, k] - (1.0 if k == t else 0.0)
            total += d * d
        brier[i] = total


# Which rows: random samples, chosen by row number alone, so that they are repeatable; and those of each fold.


def sample_share(total: Summary, rows: int) -> float:
    """Which share of all rows makes a sample of so many, about."""
    return min(1.0, rows / max(total.rows + total.left_out, 1))


def sample_rows(batch: Batch, start: int, share: float, seed: int = 0) -> NDArray[np.intp]:
    """The rows of a batch that belong to the sample, but for those without a class or weight.

    The first is row `start` of the table.
    """
    assert batch.target is not None
    picked = np.empty(batch.rows, np.bool_)
    chosen(start, min(int(share * 2**63), 2**63 - 1), seed, picked)
    picked &= batch.target.codes >= 0
    if batch.weight is not None:
        picked &= batch.weight > 0
    return np.flatnonzero(picked)


def rows_by_fold(fold: Ints, folds: int) -> list[NDArray[np.intp]]:
    """The rows of each fold."""
    order = np.argsort(fold, kind="stable")
    ends = np.cumsum(np.bincount(fold, minlength=folds))
    return np.split(order, ends[:-1])
