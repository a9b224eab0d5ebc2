"""Numbers cut into bins of about equal weight: the one place where that is done. Knows values and weights.

Edge i is the least number of bin i+1: a bin holds edges[i-1] <= x < edges[i].
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats, distinct

if TYPE_CHECKING:
    from numpy.typing import NDArray


def quantile_places(weight: Floats, bins: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """For each quantile k/bins the first value by which so much weight is reached, and whether it is reached exactly.

    >>> [part.tolist() for part in quantile_places(np.ones(4), 2)]
    [[1], [True]]
    """
    below = np.cumsum(weight)
    wanted = below[-1] * np.arange(1, bins) / bins
    places = np.minimum(np.searchsorted(below, wanted, side="left"), len(below) - 1)
    return places, below[places] == wanted


def quantile_edges(values: Floats, weight: Floats, bins: int) -> Floats:
    """Inner edges of at most `bins` bins that end with the quantiles; few values have a bin each.

    >>> quantile_edges(np.arange(6.0), np.array([90.0, 1, 1, 1, 1, 1]), 3).tolist()
    [1.0]
    """
    if len(values) <= bins:
        return values[1:]
    places = quantile_places(weight, bins)[0] + 1
    return distinct(values[places[places < len(values)]])


def balanced_edges(values: Floats, weight: Floats, bins: int) -> Floats:
    """Inner edges of at most `bins` bins of about equal weight: bin i holds edges[i-1] <= x < edges[i].

    A value that outweighs a bin gets one for itself, and the others share the rest: where nine rows in ten are zero,
    the tenth is still told apart (tests/sums/test_pairs.py).

    >>> balanced_edges(np.arange(6.0), np.array([90.0, 1, 1, 1, 1, 1]), 3).tolist()
    [1.0, 4.0]
    """
    if len(values) <= bins:
        return values[1:]
    weight = np.nan_to_num(weight)  # infinite where it is beyond doubles
    weight = weight / weight.max()
    below = [0.0, *np.cumsum(weight).tolist()]
    # The least capacity, to 40 binary digits, with which greedy filling needs no more than `bins` bins.
    low, high, starts = 0.0, below[-1], [0]
    for _ in range(40):
        middle = (low + high) / 2
        heavy = [*np.flatnonzero(weight > middle).tolist(), len(weight)]
        starts_now = _fill(below, heavy, middle, bins) if len(heavy) <= bins else None
        if starts_now is None:
            low = middle
        else:
            high, starts = middle, starts_now
    return values[starts[1:]]


def _fill(below: list[float], heavy: list[int], capacity: float, bins: int) -> list[int] | None:
    """Where each bin starts if bins are filled up to `capacity`, the heavy ones alone; None if `bins` are too few."""
    starts: list[int] = []
    at, end = 0, len(below) - 1
    while at < end:
        if len(starts) == bins:
            return None
        starts.append(at)
        full = bisect_right(below, below[at] + capacity) - 1
        at = max(at + 1, min(full, heavy[bisect_left(heavy, at)]))
    return starts


def equal_weight_bins(values: Floats, weight: Floats, bins: int) -> NDArray[np.intp]:
    """The bin of each row by its value: about equal weight in each, equal values in one, none empty."""
    distinct, place = np.unique(values, return_inverse=True)
    each = np.bincount(place, weight, len(distinct))
    upto = np.cumsum(each)
    middle = (upto - each / 2) / (upto[-1] if len(upto) else 1.0)
    bin_of = np.minimum((middle * bins).astype(np.intp), bins - 1)
    _, dense = np.unique(bin_of, return_inverse=True)
    return np.asarray(dense[place], np.intp)


def apart_places(weight: Floats, bins: int) -> NDArray[np.intp]:
    """Where bins begin, but for the first: values that outweigh a bin have one each, others fill bins of equal weight.

    >>> apart_places(np.array([1.0, 1, 90, 1, 1, 1, 1]), 5).tolist()
    [2, 3, 5]
    """
    if len(weight) <= bins:
        return np.arange(1, len(weight))
    heavy = np.zeros(len(weight), np.bool_)
    while True:
        # A heavy value also parts what lies below it from what lies above, which costs a bin.
        each = weight[~heavy].sum() / max(bins - 2 * int(heavy.sum()), 1)
        new = ~heavy & (weight > each)
        if not new.any() or 2 * int((heavy | new).sum()) >= bins:
            break
        heavy |= new
    light = np.where(heavy, 0.0, weight)
    middle = np.cumsum(light) - light / 2
    which = np.floor(middle / each) if each > 0 else np.zeros(len(weight))
    begins = (which[1:] != which[:-1]) | heavy[1:] | heavy[:-1]
    return np.flatnonzero(begins) + 1
