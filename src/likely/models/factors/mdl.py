"""Supervised bins: where to cut ordered rows of class weights, by minimum description length (Fayyad and Irani 1993).

Knows only a table of weights: ordered rows (values, or fine bins of them) by classes. Not where it came from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
