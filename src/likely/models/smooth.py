"""The loops of kernel densities, compiled: the density at new values, and the likelihood of values left out.

A sum runs outwards from the nearest value and stops where what follows is less than rounding. Its terms are taken
relative to the nearest one, so that a density far from every value is small, and not zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from likely.jit import inner, kernel


@inner
def _first_not_below(points: Any, low: Any, high: Any, x: Any) -> Any:
    while low < high:
        middle = (low + high) // 2
        if points[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def _log_sum(points: Any, weights: Any, low: Any, high: Any, x: Any, rate: Any, reach: Any) -> Any:
    """log of the sum of weight * exp(-((x - point) * rate)**2) over points low … high-1."""
    right = _first_not_below(points, low, high, x)
    nearest = right
    if right == high or (right > low and x - points[right - 1] < points[right] - x):
        nearest = right - 1
    b = abs(x - points[nearest]) * rate
    if b * b == np.inf:
        return -np.inf
    total = 0.0
    for i in range(right - 1, low - 1, -1):
        a = (x - points[i]) * rate
        d = (a - b) * (a + b)
        if d > reach:
            break
        total += weights[i] * np.exp(-d)
    for i in range(right, high):
        a = (points[i] - x) * rate
        d = (a - b) * (a + b)
        if d > reach:
            break
        total += weights[i] * np.exp(-d)
    return np.log(total) - b * b


@kernel("f8[], f8[], f8[][], i8[], f8[], f8[], f8[], f8[], f8[], f8[], f8[][]")
def add_densities(
    x: Any,
    known: Any,
    held: Any,
    starts: Any,
    points: Any,
    weights: Any,
    peak: Any,
    rate: Any,
    reach: Any,
    absent: Any,
    out: Any,
) -> None:
    """out[i] += log density of x per class, or `absent` where x is missing or infinite.

    Class k's points are starts[k] … starts[k+1]-1. Terms of the values in `known` are kept in `held` (NaN: not yet),
    since a table repeats its values; two threads that meet there write the same number.
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
                term = peak[k] + _log_sum(points, weights, starts[k], starts[k + 1], x[i], rate[k], reach[k])
                if kept:
                    held[at, k] = term
            out[i, k] += term


@kernel("f8[], f8[], f8[], f8[], f8[]")
def left_out(points: Any, weights: Any, rates: Any, reach: Any, out: Any) -> None:
    """out[g] = sum over points of weight * log(sum over the others of weight * exp(-(distance * rates[g])**2))."""
    for g in range(rates.size):
        rate = rates[g]
        score = 0.0
        for j in range(points.size):
            b = np.inf
            if j > 0:
                b = (points[j] - points[j - 1]) * rate
            if j + 1 < points.size:
                b = min(b, (points[j + 1] - points[j]) * rate)
            if b * b == np.inf:
                score = -np.inf
                break
            total = 0.0
            for i in range(j - 1, -1, -1):
                a = (points[j] - points[i]) * rate
                d = (a - b) * (a + b)
                if d > reach[0]:
                    break
                total += weights[i] * np.exp(-d)
            for i in range(j + 1, points.size):
                a = (points[i] - points[j]) * rate
                d = (a - b) * (a + b)
                if d > reach[0]:
                    break
                total += weights[i] * np.exp(-d)
            score += weights[j] * (np.log(total) - b * b)
        out[g] = score
