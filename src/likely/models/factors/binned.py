"""The binned factor: a number is cut into bins, and each bin is a level with its P(bin | class), smoothed like any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from likely.models.factors.bins import least_of_bins
from likely.models.factors.categorical import Categorical, LevelSettings, categorical_over
from likely.models.factors.value_tally import ValueTally
from likely.models.setting_values import Closed
from likely.models.shapes import BinTable, bin_names, bin_of
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.exact import Exact
from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Binned(BinTable):
    """P(bin | class). The density within a bin is the same for every class, so that it cancels and is left out."""

    edges: NDArray[np.float64]
    """As they were given or found."""
    closed: Closed
    """Whether a bin holds the edge below it ('left') or the one above it ('right')."""
    counted: Categorical
    """Bins as levels, in order."""
    least: float
    greatest: float
    """The range of the values that training had; NaN where it had none."""

    @property
    def levels(self) -> Categorical:
        return self.counted

    def called(self, tell: Callable[[float], str]) -> list[str]:
        return bin_names(self.edges, self.closed, tell)

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the greatest number of each bin; the end bins reach as far as the values of training."""
        lows = np.concatenate([[self.least], self.starts])
        highs = np.concatenate([np.nextafter(self.starts, -np.inf), [self.greatest]])
        # An end bin that no value of training fell into is the one number next to its edge.
        if len(self.starts):
            lows[0] = np.fmin(self.least, highs[0])
            highs[-1] = np.fmax(self.greatest, lows[-1])
        return lows, highs


def binned(
    name: str, numbers: Numbers, tally: ValueTally, edges: NDArray[np.float64], closed: Closed, settings: LevelSettings
) -> Binned:
    """Derive the factor. Infinite numbers count as missing."""
    starts = least_of_bins(edges, closed)
    names = bin_names(edges, closed)
    counts = Counts(numbers.groups)
    counts.labels = Labels(names)
    counts.table = binned_table(tally, edges, closed)
    missing = numbers.other.sum(0)
    counts.other = Exact(missing.planes[:, None, :], missing.base)
    plain = replace(settings, level_weights=None, reserve=False)
    low, high = tally.values[[0, -1]] if len(tally.values) else (np.nan, np.nan)
    levels = categorical_over(name, names, counts, plain)
    return Binned(name, starts, levels.log_table, edges, closed, levels, float(low), float(high))


def binned_table(tally: ValueTally, edges: NDArray[np.float64], closed: Closed) -> Exact:
    """What each bin weighs in each class, (bins, classes)."""
    # Where bits were dropped and an edge was given from outside, a value goes where its middle is.
    inside = tally.centres if tally.level else tally.values
    return tally.table.scattered(bin_of(least_of_bins(edges, closed), inside).astype(np.intp), 0, len(edges) + 1)
