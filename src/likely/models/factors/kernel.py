"""The kernel factor: the density of one number for each class as a sum of small normal densities."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats, Longs
from likely.machinery.jit import inner, kernel
from likely.models.factors.bins import read_tally
from likely.models.factors.normal import NormalSettings, gaussian
from likely.models.fractions import log_of
from likely.models.settings import Width
from likely.models.shapes import Density, Gaussian, Kernels, limit_distances
from likely.sums.columns.numbers import Numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray


# The loops of kernel densities, compiled: the density at new values, and the likelihood of values left out.

HALF = 0.35
"""Half the width of a box of points, and how many terms of the series hold what is in it to 16 digits."""
TERMS = 22
BEYOND = 7.0
"""Boxes farther away than this add less than exp(-44) of their weight."""
MANY = 40
"""Pairs within reach, for each point, from which boxes are quicker."""
OWN = 0.01
"""Others must weigh so much beside a point's own weight: else taking it out would cost digits."""
DENSE = 0.01
"""Share of all weight that kernels must add up to for a sum of boxes to be right to 14 digits, however it is asked."""


@inner
def _first_not_below(points: Floats, low: int, high: int, x: float) -> int:
    while low < high:
        middle = (low + high) // 2
        if points[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def _log_sum(
    points: Floats, weights: Floats, low: int, high: int, x: float, rate: float, farthest: float, reach: float
) -> float:
    """log of the sum of weight * exp(-((x - point) * rate)**2) over points low … high-1, none beyond `farthest`."""
    right = _first_not_below(points, low, high, x)
    nearest = right
    if right == high or (right > low and x - points[right - 1] < points[right] - x):
        nearest = right - 1
    b = min(abs(x - points[nearest]), farthest) * rate
    total = 0.0
    for i in range(right - 1, low - 1, -1):
        a = min(x - points[i], farthest) * rate
        d = (a - b) * (a + b)
        if d > reach:
            break
        total += weights[i] * np.exp(-d)
    for i in range(right, high):
        a = min(points[i] - x, farthest) * rate
        d = (a - b) * (a + b)
        if d > reach:
            break
        total += weights[i] * np.exp(-d)
    return np.log(total) - b * b  # type: ignore[no-any-return]


@inner
def _log_sum_of_others(points: Floats, weights: Floats, j: int, rate: float, reach: float) -> float:
    """log of the sum over all points but j of weight * exp(-(distance to j * rate)**2)."""
    b = np.inf
    if j > 0:
        b = (points[j] - points[j - 1]) * rate
    if j + 1 < points.size:
        b = min(b, (points[j + 1] - points[j]) * rate)
    if b * b == np.inf:
        return -np.inf
    total = 0.0
    for i in range(j - 1, -1, -1):
        a = (points[j] - points[i]) * rate
        d = (a - b) * (a + b)
        if d > reach:
            break
        total += weights[i] * np.exp(-d)
    for i in range(j + 1, points.size):
        a = (points[i] - points[j]) * rate
        d = (a - b) * (a + b)
        if d > reach:
            break
        total += weights[i] * np.exp(-d)
    return np.log(total) - b * b  # type: ignore[no-any-return]


@inner
def _crowded(points: Floats, low: int, high: int, rate: float, reach: float) -> bool:
    """Whether points low … high-1 reach so many others each that boxes are quicker."""
    pairs, first = 0, low
    for j in range(low, high):
        while ((points[j] - points[first]) * rate) ** 2 > reach:
            first += 1
        pairs += j - first + 1
    return pairs > MANY * (high - low)


@inner
def _boxed(
    points: Floats, weights: Floats, low: int, high: int, rate: float, at: int, centres: Floats, moments: Floats
) -> int:
    """Points low … high-1 in boxes from `at` on, which are 2 * HALF wide in units of 1 / rate; where boxes end.

    exp(-(t - d)**2) = exp(-t**2) * sum over k of t**k * exp(-d**2) * (2 d)**k / k!, with t the way from the centre of a
    box to where the sum is wanted and d that to a point in it. moments[box, k] adds up what follows t**k, by weight.
    """
    boxes = at
    for i in range(low, high):
        if boxes == at or (points[i] - centres[boxes - 1]) * rate > HALF:
            centres[boxes] = points[i] + HALF / rate
            for k in range(moments.shape[1]):
                moments[boxes, k] = 0.0
            boxes += 1
        d = (points[i] - centres[boxes - 1]) * rate
        term = weights[i] * np.exp(-d * d)
        for k in range(moments.shape[1]):
            moments[boxes - 1, k] += term
            term *= 2.0 * d / (k + 1)
    return boxes


@inner
def _sum_of_boxes(centres: Floats, moments: Floats, first: int, end: int, x: float, rate: float) -> float:
    """The sum of weight * exp(-((x - point) * rate)**2) over the points in boxes from `first` on, the rest too far."""
    last, total = moments.shape[1] - 1, 0.0
    for box in range(first, end):
        t = (x - centres[box]) * rate
        if t < -BEYOND:
            break
        square = t * t
        odd, even = moments[box, last], moments[box, last - 1]  # two sums, neither of which waits for the other
        for k in range(last - 2, 0, -2):
            odd = odd * square + moments[box, k]
            even = even * square + moments[box, k - 1]
        total += np.exp(-square) * (even + t * odd)
    return total


@kernel("i8[], f8[], f8[], f8[], f8[], i8[], f8[], f8[][]")
def box_points(
    starts: Longs,
    points: Floats,
    weights: Floats,
    rate: Floats,
    reach: Floats,
    ends: Longs,
    centres: Floats,
    moments: Floats,
) -> None:
    """Boxes of each class's points, those of class k being ends[k] … ends[k+1]-1; none where points are far apart."""
    for k in range(rate.size):
        ends[k + 1] = ends[k]
        if _crowded(points, starts[k], starts[k + 1], rate[k], reach[k]):
            ends[k + 1] = _boxed(points, weights, starts[k], starts[k + 1], rate[k], ends[k], centres, moments)


@kernel("f8[], f8[], f8[], f8[], f8[], f8[][], f8[]")
def left_out(
    points: Floats, weights: Floats, rates: Floats, reach: Floats, centres: Floats, moments: Floats, out: Floats
) -> None:
    """out[g] = sum over points of weight * log(sum over the others of weight * exp(-(distance * rates[g])**2)).

    Where most points reach many others, sums are those of boxes of points (centres and moments are room for them: as
    many as there are points), which costs a tenth and is right to about twelve digits. A point whose neighbours are far
    or weigh little is still looked at by itself, since its own weight has to be taken out of what its box says.
    """
    for g in range(rates.size):
        rate = rates[g]
        wide = _crowded(points, 0, points.size, rate, reach[0])
        boxes, first = 0, 0
        if wide:
            boxes = _boxed(points, weights, 0, points.size, rate, 0, centres, moments)
        score = 0.0
        for j in range(points.size):
            if wide:
                while (points[j] - centres[first]) * rate > BEYOND:
                    first += 1
                total = _sum_of_boxes(centres, moments, first, boxes, points[j], rate)
                total -= weights[j]
                if total > OWN * weights[j]:
                    score += weights[j] * np.log(total)
                    continue
            found = _log_sum_of_others(points, weights, j, rate, reach[0])
            if found == -np.inf:
                score = -np.inf
                break
            score += weights[j] * found
        out[g] = score


@kernel("f8[], f8[], f8[][], i8[], f8[], f8[], i8[], f8[], f8[][], f8[], f8[], f8[], f8[], f8[], f8[], f8[][]")
def add_densities(
    x: Floats,
    known: Floats,
    held: Floats,
    starts: Longs,
    points: Floats,
    weights: Floats,
    ends: Longs,
    centres: Floats,
    moments: Floats,
    enough: Floats,
    peak: Floats,
    rate: Floats,
    farthest: Floats,
    reach: Floats,
    absent: Floats,
    out: Floats,
) -> None:
    """out[i] += log density of x per class, or `absent` where x is missing or infinite.

    Class k's points are starts[k] … starts[k+1]-1, their boxes, if any, ends[k] … ends[k+1]-1: what these add up to is
    taken where it is `enough`. Terms of the values in `known` are kept in `held` (NaN: not yet), since a table repeats
    its values; two threads that meet there write the same number.
    """
    for i in range(x.size):
        if not np.isfinite(x[i]):
            for k in range(out.shape[1]):
                out[i, k] += absent[k]
            continue
        at = _first_not_below(known, 0, known.size, x[i])
        kept = at < known.size and known[at] == x[i]
        for k in range(out.shape[1]):
            term = np.nan
            if kept:
                term = held[at, k]
            if np.isnan(term):
                total = 0.0
                if ends[k + 1] > ends[k]:
                    first = _first_not_below(centres, ends[k], ends[k + 1], x[i] - BEYOND / rate[k])
                    total = _sum_of_boxes(centres, moments, first, ends[k + 1], x[i], rate[k])
                if total > enough[k]:
                    term = peak[k] + np.log(total)
                else:
                    low, high = starts[k], starts[k + 1]
                    found = _log_sum(points, weights, low, high, x[i], rate[k], farthest[k], reach[k])
                    term = peak[k] + found
                if kept:
                    held[at, k] = term
            out[i, k] += term


# The kernel factor: the density of one number for each class as a sum of small normal densities, one on each value.

HELD = 1 << 20
"""Terms of values that training had are kept, where there are at most so many."""
NOTHING = 37.0
"""exp(-37) is less than half a unit in the last place of 1."""
COARSE = 2.0 ** (np.arange(-12, 5) / 2)
"""The bandwidths whose likelihood is compared, as multiples of Silverman's; then two finer steps around the best."""


@dataclass(frozen=True, eq=False)
class KernelDensity(Density):
    """density(x) = sum of share(value) * normal(x; value, bandwidth) over the values of the class."""

    moments: Gaussian
    """Mean and spread of the same values; also what missing cells say, and which classes borrow."""
    bandwidth: NDArray[np.float64]
    starts: NDArray[np.int64]
    points: NDArray[np.float64]
    """The values of all classes in turn: those of class k are starts[k] … starts[k+1]-1, in order."""
    weights: NDArray[np.float64]
    rounded: bool
    """Whether the tally has dropped bits that a bandwidth can feel: steps of more than half of it."""
    peak: NDArray[np.float64]
    rate: NDArray[np.float64]
    farthest: NDArray[np.float64]
    """How far a value can be from x, to count."""
    reach: NDArray[np.float64]
    """A kernel of exp(-reach) beside the nearest one adds nothing."""
    values: NDArray[np.float64]
    held: NDArray[np.float64]
    """Terms of `values`, filled in when first asked for. Nothing but a memory of what `add` computes."""
    boxes: tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]
    """Where those of each class end, their centres and moments (`kernel_sums.box_points`), for many kernels at once."""
    enough: NDArray[np.float64]
    """What boxes must add up to in each class for their sum to be taken."""
    floor: NDArray[np.float64] | None = None
    """The least log density of each class, where there is one."""

    @property
    def normal(self) -> Gaussian:
        return self.moments

    @property
    def kernels(self) -> Kernels:
        own = self.bandwidth, self.starts, self.points, self.weights, self.peak, self.rate, self.farthest
        return Kernels(*own, self.floor)

    def bounded(self, nats: float) -> KernelDensity:
        """The same density, falling no more than so many nats below the least that is the largest of a class at values
        of training."""
        values = np.unique(self.points)
        logs = np.zeros((len(values), len(self.peak)))
        self._add_densities(values, logs)
        known = self.moments.known
        presence = 0.0 if known is None else np.log([float(there) for there, _ in known])
        top = logs.max(axis=0, initial=-np.inf) - presence
        level = top[np.isfinite(top)].min(initial=np.inf)
        return replace(self, floor=np.full(len(top), level if np.isfinite(level) else -np.inf) - nats + presence)

    def add_cells(self, cells: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        """Add log P(cell | class) to each row of `out`."""
        if self.floor is None:
            self._add_densities(cells, out)
            return
        logs = np.zeros_like(out)
        self._add_densities(cells, logs)
        out += np.where(np.isfinite(cells)[:, None], np.maximum(logs, self.floor), logs)

    def _add_densities(self, cells: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        add_densities(
            cells,
            self.values,
            self.held,
            self.starts,
            self.points,
            self.weights,
            *self.boxes,
            self.enough,
            self.peak,
            self.rate,
            self.farthest,
            self.reach,
            self.moments.absent,
            out,
        )


def kernel_density(
    name: str,
    numbers: Numbers,
    bandwidth: Width,
    in_units: bool,
    settings: NormalSettings,
    classes: tuple[str, ...],
) -> KernelDensity | None:
    """Derive the factor; None where the attribute has no spread at all and so says nothing.

    n is the weight of a class's values and sd their standard deviation as the settings say (variance, floor):

    - "scott": sd * n**(-1/5); "silverman": sd * (3n/4)**(-1/5); a number: that many sd, or,
      `in_units` of the column, the bandwidth itself;
    - "likelihood": the multiple of Silverman's, between 1/64 and 4, under which the values are the most likely, each
      under the kernels of all others. A value that repeats is left out as a whole: if only one of its rows were, the
      others would draw the bandwidth to zero, as if no number between the values of training could ever come.

    A class without a spread of its own borrows the bandwidth of all values; one without a value also the values.
    """
    normal = gaussian(name, numbers, settings, classes)
    if normal is None:
        return None
    tally = read_tally(numbers)
    per_class = [_values(tally.centres, column) for column in tally.weights.T]
    everything = _values(tally.centres, tally.whole)
    total = numbers.cached("weight", lambda own: own.weight().floats())
    overall, widths = None, []
    for k, (points, weights) in enumerate(per_class):
        if in_units:
            widths.append(float(bandwidth))
        elif normal.borrowed[k]:
            if overall is None:
                overall = _overall(numbers, bandwidth, settings, everything)
            widths.append(overall)
        else:
            widths.append(_width(bandwidth, float(normal.deviation[k]), float(total[k]), points, weights))
        if not len(points):
            per_class[k] = everything
    most, tiny = np.finfo(np.float64).max, np.finfo(np.float64).tiny  # 1 / width must be finite
    width = np.clip(np.array(widths), tiny, most)
    sums = np.array([float(total[k]) or float(tally.whole.sum()) for k in range(len(total))])
    peak = -0.5 * math.log(2 * math.pi) - np.log(width) - np.log(sums)
    if normal.known is not None:
        peak = peak + log_of(there for there, _ in normal.known)
    step = float(np.average(tally.steps, weights=tally.whole))
    room = len(tally.values) if tally.values.size * len(classes) <= HELD else 0
    starts = np.cumsum([0, *(len(p) for p, _ in per_class)], dtype=np.int64)
    points, weights = (np.concatenate(some) for some in zip(*per_class, strict=True))
    rate, reach = math.sqrt(0.5) / width, np.array([_reach(w) for _, w in per_class])
    return KernelDensity(
        name,
        normal,
        width,
        starts,
        points,
        weights,
        bool(step > width.min() / 2),
        peak,
        rate,
        limit_distances(width),
        reach,
        np.ascontiguousarray(tally.values[:room]),
        np.full((room, len(classes)), np.nan),
        _boxes(starts, points, weights, rate, reach),
        DENSE * sums,
    )


def _boxes(
    starts: NDArray[np.int64],
    points: NDArray[np.float64],
    weights: NDArray[np.float64],
    rate: NDArray[np.float64],
    reach: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    ends, centres = np.zeros(len(starts), np.int64), np.empty(len(points))
    moments = np.empty((len(points), TERMS))
    box_points(starts, points, weights, rate, reach, ends, centres, moments)
    return ends, centres[: ends[-1]].copy(), moments[: ends[-1]].copy()


def _values(
    centres: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The values that a class has, in order, and their weights."""
    some = np.flatnonzero(weights > 0)
    return np.ascontiguousarray(centres[some]), np.ascontiguousarray(weights[some])


def _reach(weights: NDArray[np.float64]) -> float:
    """Kernels below exp(-reach) of the nearest one add nothing, even if all the weight were there."""
    return NOTHING + math.log(float(weights.sum())) - math.log(float(weights.min()))


def _overall(
    numbers: Numbers,
    bandwidth: Width,
    settings: NormalSettings,
    everything: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> float:
    """The bandwidth of all values, whatever their class."""
    one = gaussian("", numbers.regrouped(np.zeros(numbers.groups, np.intp), 1), settings, ("",))
    assert one is not None
    return _width(bandwidth, float(one.deviation[0]), float(everything[1].sum()), *everything)


def _width(
    bandwidth: Width,
    deviation: float,
    weight: float,
    points: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> float:
    if bandwidth == "scott":
        return float(weight**-0.2 * deviation)
    if bandwidth == "silverman":
        return float((0.75 * weight) ** -0.2 * deviation)
    if bandwidth != "likelihood":
        return float(bandwidth) * deviation
    return _likeliest((0.75 * weight) ** -0.2 * deviation, points, weights)


def log_likelihood_left_out(
    widths: NDArray[np.float64], points: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The log likelihood of the values under each bandwidth, each under the kernels of all other values."""
    out = np.empty(len(widths))
    room = np.empty(len(points)), np.empty((len(points), TERMS))
    left_out(points, weights, math.sqrt(0.5) / widths, np.array([_reach(weights)]), *room, out)
    total = float(weights.sum())
    with np.errstate(divide="ignore", invalid="ignore"):  # without another value there is no likelihood: NaN
        shared = (weights * np.log(np.maximum(total - weights, 0))).sum()
        return np.asarray(out - shared - total * (0.5 * math.log(2 * math.pi) + np.log(widths)))


def _likeliest(usual: float, points: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    least, most = usual * float(COARSE[0]), usual * float(COARSE[-1])
    edges = np.finfo(np.float64)

    def best(widths: NDArray[np.float64]) -> float:
        widths = np.unique(np.clip(np.clip(widths, least, most), edges.tiny, edges.max))
        scores = log_likelihood_left_out(widths, points, weights)
        found = np.where(np.isfinite(scores), scores, -np.inf)
        # One value only, or values so far apart that no kernel reaches another: nothing to compare.
        return float(widths[found.argmax()]) if np.isfinite(found).any() else usual

    width = best(usual * COARSE)
    for power in (1 / 4, 1 / 8):
        width = best(width * 2.0 ** np.array([-power, 0.0, power]))
    return width
