"""The values that an attribute could have instead: every level, or numbers within the range of training and knowledge.

Knows where the evidence of a number may peak and where decisions may turn; searches nothing and decides nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.apply.decide.panels import starts_of
from likely.models.contracts import Model
from likely.models.shapes import Column, Density, Slope, sum_of
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.table.batch import Batch, Codes
from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

POINTS = 65
"""Values of training, by quantile, that a number is tried at."""
DEVIATIONS = 3
"""A number of which something is known before data may lie so many deviations from the mean that was said."""
MOST_CLASSES = 40
"""With more classes than this, peaks and crossings are sought for neighbouring classes only."""


@dataclass(frozen=True)
class Choice:
    """The cells that an attribute may be changed to: codes of levels, or numbers in order."""

    name: str
    values: NDArray[Any]
    labels: Labels | None = None
    whole: bool = False
    """Whether training had whole numbers only, so that only these are tried."""
    date: bool = False
    low: float = math.nan
    high: float = math.nan
    """The range of training, and of what is known before data."""
    complete: bool = True
    """Whether nothing that the model would answer otherwise lies between the values."""

    def cells(self, index: NDArray[np.intp]) -> Codes | NDArray[np.float64]:
        """The values at `index` as a column of a batch."""
        return self.column(self.values[index])

    def column(self, values: NDArray[Any]) -> Codes | NDArray[np.float64]:
        if self.labels is not None:
            return Codes(np.ascontiguousarray(values, np.int32), self.labels)
        return np.ascontiguousarray(values, np.float64)


def additive(model: Model) -> dict[str, tuple[Column, float]] | None:
    """For each attribute what adds its term, and its power; None where some term depends on several cells."""
    shape = model.shape()
    found = None if shape is None else sum_of(shape)
    if found is None:
        return None
    whole, power = found
    out = {term.name: (term, power * own) for term, own in whole.powered if isinstance(term, Column)}
    return out if len(out) == len(whole.terms) else None


def is_plain(term: Column) -> bool:
    """Whether the term of a number is so plain that where two classes cross can be worked out."""
    return isinstance(term, Slope) or (isinstance(term, Density) and term.kernels is None)


def choices(model: Model, batch: Batch, names: list[str], totals: NDArray[np.float64]) -> list[Choice]:
    """What each attribute in `names` could be; those that can be nothing else are left out.

    `totals` is the log score of the row, by class: it says where a number alone would turn the decision.
    """
    out = []
    for name in names:
        statistic = model.summary.columns[name]
        cells = batch.cells[name]
        if isinstance(statistic, Counts) and isinstance(cells, Codes):
            codes = np.arange(len(cells.labels), dtype=np.int32)
            codes = codes[codes != int(cells.codes[0])]
            if len(codes):
                out.append(Choice(name, codes, cells.labels))
        elif isinstance(statistic, Numbers) and not isinstance(cells, Codes):
            found = _numbers(model, name, statistic, float(cells[0]), totals)
            if found is not None:
                out.append(found)
    return out


def _numbers(model: Model, name: str, numbers: Numbers, now: float, totals: NDArray[np.float64]) -> Choice | None:
    values, _ = numbers.tally()
    ends = [*values[[0, -1]].tolist(), *_known_ends(model, name)] if len(values) else _known_ends(model, name)
    if not ends:
        return None
    low, high = min(ends), max(ends)
    whole = len(values) > 0 and bool((np.floor(values) == values).all())
    places = np.unique(np.linspace(0, len(values) - 1, min(POINTS, len(values))).round().astype(np.intp))
    bins = starts_of(model, name)
    if bins is not None:
        points = _nearest_of_bins(bins, low, high, now, whole)
    else:
        more = _turns(model, name, low, high, now, totals)
        even = low + (high - low) * np.linspace(0, 1, POINTS) if math.isfinite(high - low) else np.empty(0)
        points = np.concatenate([values[places], even, more])
    if whole:
        points = np.concatenate([np.floor(points), np.ceil(points)])
    points = points[np.isfinite(points) & (points >= low) & (points <= high) & (points != now)]
    if not len(points):
        return None
    own = (additive(model) or {}).get(name)
    complete = bins is not None or (len(totals) < 3 and own is not None and is_plain(own[0]))
    return Choice(name, np.unique(points), None, whole, model.schema[name].kind == "date", low, high, complete)


def _known_ends(model: Model, name: str) -> list[float]:
    """Between which numbers those of which something is known before data lie."""
    factor = model.factor_of(name)
    known = factor.normal.knowledge if isinstance(factor, Density) else ()
    return [
        float(one.mean) + sign * DEVIATIONS * math.sqrt(one.variance) for one in known if one is not None
        for sign in (-1, 1)
    ]  # fmt: skip


def _nearest_of_bins(
    starts: NDArray[np.float64], low: float, high: float, now: float, whole: bool
) -> NDArray[np.float64]:
    """Of each bin the number that is nearest to the one there is; the ends of the bins where there is none."""
    lows = np.concatenate([[low], starts])
    highs = np.concatenate([np.nextafter(starts, -np.inf), [high]])
    if whole:
        lows, highs = np.ceil(lows), np.floor(highs)
    inside = (lows <= highs) & (highs >= low) & (lows <= high)
    lows, highs = np.maximum(lows[inside], low), np.minimum(highs[inside], high)
    return np.concatenate([lows, highs]) if math.isnan(now) else np.clip(now, lows, highs)


def _turns(
    model: Model, name: str, low: float, high: float, now: float, totals: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Where log P(x | a) - log P(x | b) of two classes peaks, and numbers between those where their totals cross."""
    found = (additive(model) or {}).get(name)
    if found is None or not is_plain(found[0]):
        return np.empty(0)
    term, power = found
    classes = len(totals)
    a, b = np.triu_indices(classes, 1) if classes <= MOST_CLASSES else (np.arange(classes - 1), np.arange(1, classes))
    own = np.zeros((1, classes))
    term.add_cells(np.array([now]), own)
    with np.errstate(all="ignore"):
        rest = totals - power * own[0]
        apart = rest[a] - rest[b]
        if isinstance(term, Density):
            normal = term.normal
            mean, rate, peak = normal.mean, power * normal.rate**2, power * normal.peak
            # In u = x - mean[a]: square * u² + line * u + level = 0 where the two totals cross.
            shift = mean[b] - mean[a]
            square, line = rate[b] - rate[a], -2 * rate[b] * shift
            level = rate[b] * shift**2 + peak[a] - peak[b] + apart
            root = np.sqrt(line**2 - 4 * square * level)
            q = -(line + np.where(line < 0, -root, root)) / 2
            peaks = mean[a] - line / (2 * square)
            crossings = np.concatenate([mean[a] + q / square, mean[a] + level / q])
        else:
            ends = np.zeros((2, classes))
            term.add_cells(np.array([low, high]), ends)
            ends *= power
            first, last = ends[0, a] - ends[0, b] + apart, ends[1, a] - ends[1, b] + apart
            peaks, crossings = np.empty(0), low + (high - low) * first / (first - last)
        crossings = np.unique(crossings[np.isfinite(crossings) & (crossings > low) & (crossings < high)])
        edges = np.concatenate([[low], crossings, [high]])
        middles = edges[:-1] / 2 + edges[1:] / 2
    return np.concatenate([peaks, middles])
