"""Whether probabilities can be taken at their word: how often rows that were given p turn out so. Knows arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.evaluate.scores.held_out import HeldOut
from likely.evaluate.scores.intervals import Measure, wilson
from likely.machinery.arrays import quantile
from likely.sums.quantiles import equal_weight_bins

if TYPE_CHECKING:
    from numpy.typing import NDArray

BINS = 10
ROWS_A_BIN = 10
"""Of few rows there are fewer bins, but two at least."""
MOST_DRAWN = 2000
"""Rows whose outcomes are drawn one by one."""
DRAWS = 2000
"""Of what chance would make; seeded."""


@dataclass(frozen=True)
class Bin:
    """Rows to which about the same probability was given."""

    weight: float
    low: float
    """The least probability among them."""
    high: float
    probability: float
    """Mean of what was given."""
    share: Measure
    """Of those for which it turned out so."""


@dataclass(frozen=True)
class Reliability:
    """A reliability curve, out of fold. Bins have about equal weight; rows of equal probability share one."""

    of: str | None
    """The class whose probability this is; None: of whichever class was named."""
    bins: tuple[Bin, ...]
    error: float
    """Expected calibration error: the mean over rows of |probability - share| of their bin. It has no interval: noise
    alone makes an error, so that bounds of what is behind it need not hold it."""
    by_chance: float
    """What the error would be, in the mean, if every probability were right: rows are few and bins are noisy."""
    bias: float
    """Mean probability less the share: above zero where too much is promised."""
    doubted: bool
    """Whether chance hardly explains the error: outcomes drawn by the probabilities make one so large in less than one
    of 40 draws."""


def reliability(
    chance: NDArray[np.float64],
    hit: NDArray[np.bool_],
    weight: NDArray[np.float64],
    of: str | None = None,
    bins: int = BINS,
    seed: int = 0,
) -> Reliability:
    """The curve of probabilities against what happened.

    >>> found = reliability(np.array([0.2] * 5 + [0.8] * 5), np.array([True] + [False] * 4 + [True] * 4 + [False]),
    ...                     np.ones(10))
    >>> [(round(b.probability, 2), b.share.value) for b in found.bins], round(found.error, 6)
    ([(0.2, 0.2), (0.8, 0.8)], 0.0)
    """
    where = equal_weight_bins(chance, weight, bins)
    count = int(where.max()) + 1 if len(where) else 0
    total = np.asarray(np.bincount(where, weight, count), np.float64)
    given, seen = np.bincount(where, weight * chance, count), np.bincount(where, weight * hit, count)
    rows = total**2 / np.bincount(where, weight**2, count)  # as many of equal weight would be as sure
    gap = (given - seen) / total
    alone = np.sqrt(np.bincount(where, weight * chance * (1 - chance), count) / total / np.maximum(rows, 1.0))
    share = total / max(float(total.sum()), 1e-300)
    table = []
    for k in range(count):
        mine = chance[where == k]
        p = float(seen[k] / total[k])
        bounds = wilson(p, float(rows[k]))
        table.append(
            Bin(float(total[k]), float(mine.min()), float(mine.max()), float(given[k] / total[k]), Measure(p, *bounds))
        )
    expected, value = float(np.sqrt(2 / np.pi) * (share @ alone)), float(share @ np.abs(gap))
    doubted = bool(count) and value > _error_by_chance(chance, weight, where, total, alone, seed)
    return Reliability(of, tuple(table), value, expected, float((share * gap).sum()), doubted)


def _error_by_chance(
    chance: NDArray[np.float64],
    weight: NDArray[np.float64],
    where: NDArray[np.intp],
    total: NDArray[np.float64],
    alone: NDArray[np.float64],
    seed: int,
) -> float:
    """The error that right probabilities exceed in one of 40 draws: outcomes are drawn by them, row by row where rows
    are few; the mean of many is normal."""
    draw = np.random.default_rng(seed)
    share = total / total.sum()
    if len(chance) > MOST_DRAWN:
        return float(quantile(np.abs(alone * draw.standard_normal((DRAWS, len(total)))) @ share, 0.975))
    off = (draw.random((DRAWS, len(chance))) < chance) - chance
    gaps = np.array([off[:, where == k] @ weight[where == k] for k in range(len(total))])
    return float(quantile(np.abs(gaps).sum(axis=0) / total.sum(), 0.975))


def calibrations(found: HeldOut, positive: str) -> tuple[Reliability, ...]:
    """The curve that matters first: of the class asked about, if there are two; else of the class that was named.

    Then that of each class, where there are more than two.
    """
    matrix, here = found.matrix, np.arange(len(found.truth))
    wanted = (found.classes.index(positive),) if len(found.classes) == 2 else range(len(found.classes))
    bins = min(max(len(here) // ROWS_A_BIN, 2), BINS)
    by_class = [reliability(matrix[:, k], found.truth == k, found.weight, found.classes[k], bins) for k in wanted]
    if len(found.classes) == 2:  # that of the other class is its mirror image
        return tuple(by_class)
    named = matrix.argmax(axis=1)
    return (reliability(matrix[here, named], found.truth == named, found.weight, None, bins), *by_class)
