"""The loops of kernel densities, compiled: the density at new values, and the likelihood of values left out.

A sum runs outwards from the nearest value and stops where what follows is less than rounding. Its terms are taken
relative to the nearest one, so that a density far from every value is small, and not zero. Where many values are near
each other they are summed in boxes: a bandwidth is chosen among 23, each with a kernel between every two values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.jit import inner, kernel

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

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


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
    starts: Ints,
    points: Floats,
    weights: Floats,
    rate: Floats,
    reach: Floats,
    ends: Ints,
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
    starts: Ints,
    points: Floats,
    weights: Floats,
    ends: Ints,
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
