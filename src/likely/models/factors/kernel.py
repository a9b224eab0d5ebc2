"""The kernel factor: the density of one number for each class as a sum of small normal densities, one on each value.

Knows the tally of values and how wide a kernel should be; the loops are in `kernel_sums`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.models.factors import kernel_sums
from likely.models.factors.gaussian import NormalSettings, gaussian
from likely.models.factors.value_tally import read_tally
from likely.models.quotient import log_of
from likely.models.setting_values import Bandwidth
from likely.models.shapes import Density, Gaussian, Kernels, limit_distances
from likely.sums.columns.numbers import Numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray


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

    @property
    def normal(self) -> Gaussian:
        return self.moments

    @property
    def kernels(self) -> Kernels:
        return Kernels(self.bandwidth, self.starts, self.points, self.weights, self.peak, self.rate, self.farthest)

    def add_cells(self, cells: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        """Add log P(cell | class) to each row of `out`."""
        kernel_sums.add_densities(
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
    name: str, numbers: Numbers, bandwidth: Bandwidth, settings: NormalSettings, classes: tuple[str, ...]
) -> KernelDensity | None:
    """Derive the factor; None where the attribute has no spread at all and so says nothing.

    n is the weight of a class's values and sd their standard deviation as the settings say (variance, floor):

    - "scott": sd * n**(-1/5); "silverman": sd * (3n/4)**(-1/5); a number: that many sd;
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
        if normal.borrowed[k]:
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
        kernel_sums.DENSE * sums,
    )


def _boxes(
    starts: NDArray[np.int64],
    points: NDArray[np.float64],
    weights: NDArray[np.float64],
    rate: NDArray[np.float64],
    reach: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    ends, centres = np.zeros(len(starts), np.int64), np.empty(len(points))
    moments = np.empty((len(points), kernel_sums.TERMS))
    kernel_sums.box_points(starts, points, weights, rate, reach, ends, centres, moments)
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
    bandwidth: Bandwidth,
    settings: NormalSettings,
    everything: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> float:
    """The bandwidth of all values, whatever their class."""
    one = gaussian("", numbers.regrouped(np.zeros(numbers.groups, np.intp), 1), settings, ("",))
    assert one is not None
    return _width(bandwidth, float(one.deviation[0]), float(everything[1].sum()), *everything)


def _width(
    bandwidth: Bandwidth,
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
    room = np.empty(len(points)), np.empty((len(points), kernel_sums.TERMS))
    kernel_sums.left_out(points, weights, math.sqrt(0.5) / widths, np.array([_reach(weights)]), *room, out)
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
