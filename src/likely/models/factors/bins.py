"""A number cut into bins: equal widths, equal weights, given edges, minimum description length; and P(bin | class)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likely.models.factors.categorical import Categorical, LevelSettings, categorical_over
from likely.models.settings import Bins, Closed, Rule
from likely.models.shapes import BinTable, bin_names, bin_of
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.exact import Exact
from likely.sums.summary import Summary
from likely.sums.tallies import quantile_places
from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Supervised bins: where to cut ordered rows of class weights, by minimum description length (Fayyad and Irani
# 1993).


def mdl_cuts(table: NDArray[np.float64]) -> list[int]:
    """The indices at which a new bin starts, in order; none where no cut pays for itself.

    A run of rows of weight N is cut in two where that leaves the least entropy of the classes, if the gain exceeds
    (log2(N-1) + log2(3**k - 2) - k*Ent + k1*Ent1 + k2*Ent2) / N, with k classes in the run, k1 and k2 in its parts;
    then each part is looked at in turn. Of equal cuts the first is taken. Weights below one row in total count as one.

    >>> mdl_cuts(np.array([[9.0, 0], [9, 0], [0, 9], [0, 9], [5, 5]]))
    [2, 4]
    >>> mdl_cuts(np.array([[5.0, 5], [5, 5]]))
    []
    """
    table = np.asarray(table, np.float64)
    below = np.concatenate([np.zeros((1, table.shape[1])), np.cumsum(table, axis=0)])
    cuts: list[int] = []
    open_runs = [(0, len(table))]
    while open_runs:
        start, stop = open_runs.pop()
        cut = _best_cut(below[start : stop + 1] - below[start])
        if cut is not None:
            cuts.append(start + cut)
            open_runs += [(start, start + cut), (start + cut, stop)]
    return sorted(cuts)


def _best_cut(below: NDArray[np.float64]) -> int | None:
    """Where to cut a run, given what lies below each place in it (the last: all of it); None if no cut pays."""
    whole = below[-1]
    total = float(whole.sum())
    left, right = below[1:-1], whole - below[1:-1]
    if not len(left) or total <= 0:
        return None
    count = len(left)
    each, totals = _bits(np.concatenate([left, right, whole[None]]))  # entropy times weight
    bits_left, bits_right = each[:count], each[count:-1]
    both = bits_left + bits_right
    # A cut with nothing on one side is none.
    both[(totals[:count] <= 0) | (totals[count:-1] <= 0)] = np.inf
    k = int(both.argmin())
    if both[k] == np.inf:
        return None
    n_left, n_right = float(totals[k]), float(totals[count + k])
    bits = float(each[-1])
    classes, few_left, few_right = (int(np.count_nonzero(x > 0)) for x in (whole, left[k], right[k]))
    spread = classes * bits / total - few_left * bits_left[k] / n_left - few_right * bits_right[k] / n_right
    choices = classes * np.log2(3.0) + np.log2(1 - 2 * 3.0**-classes)  # log2(3**classes - 2), however many
    price = np.log2(max(total - 1, 1.0)) + choices - spread
    return k + 1 if bits - both[k] > price else None


def _bits(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weight times entropy of each row of class weights, in bits; and the weight of each."""
    total = weights.sum(axis=1, keepdims=True)
    share = np.divide(weights, total, out=np.ones_like(weights), where=weights > 0)
    return -(weights * np.log2(share)).sum(axis=1), total[:, 0]


# A tally of numbers as densities and bins read it: values, where each stands, and its weight in each class.


@dataclass(frozen=True)
class ValueTally:
    """Distinct values in order. Where bits were dropped, a value stands for all numbers from it up to the next step."""

    values: NDArray[np.float64]
    centres: NDArray[np.float64]
    """The middle of what each value stands for; the value itself while no bit has been dropped."""
    steps: NDArray[np.float64]
    """How wide that is; 0 while no bit has been dropped."""
    table: Exact
    """(values, classes), exact."""
    weights: NDArray[np.float64]
    """The same, rounded once."""
    whole: NDArray[np.float64]
    """What each value weighs in all classes together."""
    level: int

    def cut(self, place: int, above: bool = True) -> float:
        """A number between value `place - 1` and value `place`: the middle.

        Where bits were dropped, the number that parts the two exactly: the dropping was towards zero. `above` says
        whether the number itself is to lie above the cut or below it.
        """
        low, high = float(self.values[place - 1]), float(self.values[place])
        if self.level:
            least = high if high > 0 else float(np.nextafter(low, np.inf))
            return least if above else float(np.nextafter(least, -np.inf))
        middle = low / 2 + high / 2
        for found in (float(f"{middle:.12g}"), middle):  # (2.4 + 2.5) / 2 is 2.45, and not 2.4500000000000002
            if low < found < high:
                return found
        return high if above else low


def read_tally(numbers: Numbers) -> ValueTally:
    """Read the tally of a column."""
    return numbers.cached("tallied", _read_tally)


def _read_tally(numbers: Numbers) -> ValueTally:
    values, table = numbers.tally()
    centres, steps = values, np.zeros(len(values))
    if numbers.level:
        bits = values.view(np.uint64)
        with np.errstate(over="ignore", invalid="ignore"):
            centres = (bits + np.uint64(1 << (numbers.level - 1))).view(np.float64)
            steps = np.abs((bits + np.uint64(1 << numbers.level)).view(np.float64) - values)
        # The topmost step may reach beyond the doubles.
        centres = np.where(np.isfinite(centres), centres, values)
        steps = np.where(np.isfinite(steps), steps, 0.0)
    whole = table.sum(1).floats() if len(values) else np.zeros(0)
    return ValueTally(values, centres, steps, table, table.floats(), whole, numbers.level)


def value_ranges(summary: Summary) -> dict[str, tuple[float, float]]:
    """The least and the greatest value of each number, with the low bits that a tally of many values has dropped."""
    out = {}
    for name, column in summary.columns.items():
        if isinstance(column, Numbers) and len(values := (tally := read_tally(column)).values):
            low, high = float(values[0]), float(values[-1])  # bits were dropped towards zero
            out[name] = low - float(tally.steps[0]) * (low < 0), high + float(tally.steps[-1]) * (high > 0)
    return out


# Where a numeric attribute is cut: equal widths, equal weights, given edges, or by what the cuts tell of the class.

NEAR = 1e-15
"""By this share of the range an edge may be moved to have fewer digits: that much is rounding. More would be an edge
other than the rule says (tests/oracles/test_number_factors.py)."""


def rule_for(bins: Bins, name: str) -> Rule | tuple[float, ...]:
    """How the attribute `name` is cut: as said of it or of all others ("*"), else by MDL."""
    return bins.get(name, bins.get("*", "mdl")) if isinstance(bins, Mapping) else bins


def edges_of(tally: ValueTally, rule: Rule | Sequence[float], count: int, closed: Closed) -> NDArray[np.float64]:
    """The inner edges, in order; none where there is nothing to cut."""
    if not isinstance(rule, str):
        return np.array(rule, np.float64)
    if len(tally.values) < 2:
        return np.empty(0)
    if rule == "mdl":
        return mdl(tally, closed)
    found = equal_width(tally, count) if rule == "width" else equal_weight(tally, count, closed)
    if not tally.level:  # of a rounded tally it is not known which values lie beside an edge
        found = np.array([readable_edge(float(edge), tally.values) for edge in found])
    low, high = tally.values[0], tally.values[-1]
    if rule == "frequency":
        # Where an end value weighs more than a bin, it has a bin of its own.
        if closed == "left":
            found = np.where(found <= low, tally.cut(1), found)
        else:
            found = np.where(found >= high, tally.cut(len(tally.values) - 1, above=False), found)
    # An edge that parts no value from another would only add an empty bin.
    inside = (found > low) & (found <= high) if closed == "left" else (found >= low) & (found < high)
    return np.unique(found[inside])


def readable_edge(edge: float, values: NDArray[np.float64]) -> float:
    """An edge in as few digits as leave every value on its side of it, and itself where it was but for rounding: 3.36,
    not 3.3600000000000003.
    """
    span = float(values[-1]) - float(values[0])
    for digits in range(1, 17):
        short = float(f"{edge:.{digits}g}")
        low, high = min(short, edge), max(short, edge)
        if high - low <= NEAR * span and not _between(values, low, high, short == edge):
            return short
    return edge


def _between(values: NDArray[np.float64], low: float, high: float, same: bool) -> bool:
    """Whether a value lies where an edge was, is now, or between."""
    return not same and bool(np.searchsorted(values, high, "right") > np.searchsorted(values, low, "left"))


def equal_width(tally: ValueTally, count: int) -> NDArray[np.float64]:
    """Bins of one width from the least value to the greatest."""
    low, high = float(tally.values[0]), float(tally.values[-1])
    shares = np.arange(1, count) / count
    if math.isfinite(high - low):
        # In decimals as they are written, rounded once: 2 + 4 × 0.34 is 3.36, and so is a value of 3.36.
        first, last = Fraction(repr(low)), Fraction(repr(high))
        return np.array([float(first + (last - first) * k / count) for k in range(1, count)])
    return np.asarray(low * (1 - shares) + high * shares)


def equal_weight(tally: ValueTally, count: int, closed: Closed = "left") -> NDArray[np.float64]:
    """Bins of about one weight: the edges are quantiles, halfway between two values where both will do."""
    places, even = quantile_places(tally.whole, count)
    values = tally.values
    after = np.minimum(places + 1, len(values) - 1)
    if tally.level:
        # Only between two values of such a tally is it known how much weight lies below.
        cuts = np.unique(np.where(even, after, places))
        return np.array([tally.cut(max(int(p), 1), closed == "left") for p in cuts])
    return np.asarray(np.where(even, values[places] / 2 + values[after] / 2, values[places]))


def mdl(tally: ValueTally, closed: Closed = "left") -> NDArray[np.float64]:
    """Cuts between two values that pay for themselves by what they tell of the class (Fayyad and Irani 1993)."""
    return np.array([tally.cut(place, closed == "left") for place in mdl_cuts(tally.weights)])


def least_of_bins(edges: NDArray[np.float64], closed: Closed) -> NDArray[np.float64]:
    """Edges as the least numbers of the bins above them."""
    return edges if closed == "left" else np.nextafter(edges, np.inf)


# The binned factor: a number is cut into bins, and each bin is a level with its P(bin | class), smoothed like any.


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
