"""Gradients, curvatures and the loss of rows, as whole numbers of a fixed unit: their sums are exact in any order.

Compiled loops. Knows scores, classes and weights of rows; no trees.
"""

from __future__ import annotations

import numpy as np

from likely.machinery.arrays import Floats, Ints, Longs
from likely.machinery.jit import kernel

UNIT = 2.0**-20
"""Gradients and curvatures are rounded to multiples of this, row by row."""


@kernel("f8[][], i4[], f8[], i8, f8[], i8[][]")
def softmax_gradients(scores: Floats, group: Ints, weight: Floats, last: int, room: Floats, out: Longs) -> None:
    """Gradient P - [own class] and curvature P (1 - P) of the negative log-likelihood, for each class of each row, side
    by side.

    With one column of scores, it is the log-odds of the second of two classes. A row that counts w times adds w times
    the same whole number.
    """
    one = 1.0 / UNIT
    classes = scores.shape[1]
    for i in range(last):
        w = weight[i]
        if classes == 1:
            p = 1.0 / (1.0 + np.exp(-scores[i, 0]))
            g = p - group[i]
            out[i, 0] = np.int64(np.rint(np.rint(g * one) * w))
            out[i, 1] = np.int64(np.rint(np.rint(p * (1.0 - p) * one) * w))
            continue
        top = scores[i, 0]
        for k in range(1, classes):
            top = max(top, scores[i, k])
        total = 0.0
        for k in range(classes):
            room[k] = np.exp(scores[i, k] - top)
            total += room[k]
        for k in range(classes):
            p = room[k] / total
            g = p - 1.0 if group[i] == k else p
            out[i, 2 * k] = np.int64(np.rint(np.rint(g * one) * w))
            out[i, 2 * k + 1] = np.int64(np.rint(np.rint(p * (1.0 - p) * one) * w))


@kernel("f8[][], i4[], f8[], i8, i8", returns=1)
def log_loss_units(scores: Floats, group: Ints, weight: Floats, first: int, last: int) -> int:
    """The sum of w * -log P(own class) over some rows, each rounded to a multiple of UNIT, in such units."""
    one = 1.0 / UNIT
    classes = scores.shape[1]
    out = np.int64(0)
    for i in range(first, last):
        if classes == 1:
            s = scores[i, 0] if group[i] == 1 else -scores[i, 0]
            loss = np.log1p(np.exp(-s)) if s > 0 else np.log1p(np.exp(s)) - s
        else:
            top = scores[i, 0]
            for k in range(1, classes):
                top = max(top, scores[i, k])
            total = 0.0
            for k in range(classes):
                total += np.exp(scores[i, k] - top)
            loss = np.log(total) + top - scores[i, group[i]]
        out += np.int64(np.rint(np.rint(loss * one) * weight[i]))
    return out  # type: ignore[return-value]
