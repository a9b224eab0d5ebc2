"""How far from its mean a number may count: beyond that it counts as if it stood there, so that every score is finite.

Knows no model; docs/decisions/0110 says why these limits and no others.
"""

from __future__ import annotations

import numpy as np

from likely.machinery.arrays import Floats

FARTHEST = 1e150
"""On a line: standard deviations beyond which a cell is taken to be exactly so far away."""
REACH = 4.0
"""With squares, a number farther than so many standard deviations from its mean is taken to be exactly so far."""
FARTHEST_OF_LARGEST, FARTHEST_OF_OWN = 1e100, 1e130
"""In a density: multiples of the largest standard deviation of any class, and of the class's own."""


def limit_distances(deviation: Floats) -> Floats:
    """The distance from the mean, for each class (the first axis), from which on a density stays as it is.

    The limit is the same distance in all classes, so that far away the class of the largest deviation has the greatest
    density, as it does short of the limit. That of a class whose deviation is 1e30 times smaller is less: squares stay
    finite, and so do sums of a million of them.

    >>> limit_distances(np.array([1.0, 20.0])).tolist()
    [2e+101, 2e+101]
    """
    with np.errstate(over="ignore"):
        shared = FARTHEST_OF_LARGEST * deviation.max(axis=0, initial=0.0)
        own = FARTHEST_OF_OWN * deviation
    # At most the largest double: the distance of two doubles may be infinite, and the least of both is not.
    return np.asarray(np.minimum(np.minimum(shared, own), np.finfo(np.float64).max))
