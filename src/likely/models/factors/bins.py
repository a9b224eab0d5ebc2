"""Where a numeric attribute is cut: equal widths, equal weights, given edges, or by what the cuts tell of the class.

Knows the tally of values and nothing of probabilities. Edge i is the least number of bin i+1: a bin holds
edges[i-1] <= x < edges[i]. Edges that belong to the bin below them are moved up by one step of a double.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likely.models.factors.mdl import mdl_cuts
from likely.models.factors.value_tally import ValueTally
from likely.models.setting_values import Bins, Closed, Rule
from likely.sums.quantiles import quantile_places

NEAR = 1e-15
"""By this share of the range an edge may be moved to have fewer digits: that much is rounding. More would be an edge
other than the rule says (tests/oracles/test_number_factors.py)."""

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
