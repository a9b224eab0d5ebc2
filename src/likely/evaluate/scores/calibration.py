"""Whether probabilities can be taken at their word: how often rows that were given p turn out so. Knows arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.evaluate.scores.held_out import HeldOut
from likely.evaluate.scores.intervals import Measure, wilson
from likely.machinery.arrays import quantile
from likely.machinery.records import dataclass
from likely.sums.quantiles import equal_weight_bins

if TYPE_CHECKING:
    from numpy.typing import NDArray

BINS = 10
ROWS_A_BIN = 10
"""Of few rows there are fewer bins, but two at least."""
DRAWS = 2000
"""From the normal distribution, for the bounds of the error; seeded."""


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
    error: Measure
    """Expected calibration error: the mean over rows of |probability - share| of their bin."""
    by_chance: float
    """What the error would be, in the mean, if every probability were right: rows are few and bins are noisy."""
    bias: float
    """Mean probability less the share: above zero where too much is promised."""

    @property
    def doubted(self) -> bool:
        """Whether chance hardly explains the error."""
        return self.error.low is not None and self.error.low > 0


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
    >>> [(round(b.probability, 2), b.share.value) for b in found.bins], round(found.error.value, 6)
    ([(0.2, 0.2), (0.8, 0.8)], 0.0)
    """
    where = equal_weight_bins(chance, weight, bins)
    count = int(where.max()) + 1 if len(where) else 0
    total = np.bincount(where, weight, count)
    given, seen = np.bincount(where, weight * chance, count), np.bincount(where, weight * hit, count)
    rows = np.bincount(where, minlength=count)
    gap = (given - seen) / total
    # A row of a bin differs from its probability by chance; their squares say how far the bin's mean may be off.
    square = np.bincount(where, weight * (hit - chance) ** 2, count) / total
    error = np.sqrt(np.maximum(square - gap**2, 0.0) / np.maximum(rows - 1, 1))
    alone = np.sqrt(np.bincount(where, weight * chance * (1 - chance), count) / total / np.maximum(rows, 1))
    share = total / max(float(total.sum()), 1e-300)
    table = []
    for k in range(count):
        mine = chance[where == k]
        p = float(seen[k] / total[k])
        bounds = wilson(p, float(rows[k]))
        table.append(
            Bin(float(total[k]), float(mine.min()), float(mine.max()), float(given[k] / total[k]), Measure(p, *bounds))
        )
    bounds_of_error = _bounded(gap, error, share, seed) if count else Measure(0.0, 0.0, 0.0)
    expected = float(np.sqrt(2 / np.pi) * (share @ alone))
    return Reliability(of, tuple(table), bounds_of_error, expected, float((share * gap).sum()))


def _bounded(gap: NDArray[np.float64], error: NDArray[np.float64], share: NDArray[np.float64], seed: int) -> Measure:
    """The calibration error with 95 % bounds: how far the gaps could be scaled for the error to remain as usual.

    The least scale is that at which gaps and normal noise together reach the error that was seen in one of 40 draws;
    the greatest, that at which they stay below it as rarely. (Noise alone makes an error, so plain bounds miss zero.)
    """
    noise = error * np.random.default_rng(seed).standard_normal((DRAWS, len(gap)))
    value = float(share @ np.abs(gap))

    def scaled(wanted: float, high: float) -> float:
        low = 0.0
        for _ in range(24):
            middle = (low + high) / 2
            drawn = quantile(np.abs(middle * gap + noise) @ share, wanted)
            low, high = (low, middle) if drawn > value else (middle, high)
        return low * value

    return Measure(value, scaled(0.975, 1.0), scaled(0.025, 4.0))


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
