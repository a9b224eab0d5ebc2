"""Gradients, curvatures and the loss of rows, as whole numbers of a fixed unit: their sums are exact in any order.

Compiled loops over blocks of rows. Knows scores, classes and weights of rows; no trees.
"""

from __future__ import annotations

import numpy as np

from likely.machinery.arrays import Bytes, Floats, Ints, Longs
from likely.machinery.jit import inner

BITS = 30
"""A gradient and a curvature share 64 bits: gradient * 2**BITS + curvature. Sums and differences of such numbers are
those of both parts, as long as no curvature reaches 2**BITS, and no gradient 2**33: `gradient_unit` sees to that."""
MASK = (1 << BITS) - 1
BLOCK = 128
"""Rows whose chances are computed at once, so that they stay in the processor's first cache."""
LEAST_LOG = -24.0
"""In gradients, a class that is less probable than exp(this) times the most probable one has the probability 0: far
below the unit that gradients are rounded to."""


def gradient_unit(total: float, rows: int) -> float:
    """How many units a gradient of 1 is: the largest power of two with which the sums over all rows fit into 64 bits.

    A curvature is 1/4 at most; rounding adds less than one unit a row.

    >>> gradient_unit(1000.0, 1000) == 2.0**22
    True
    """
    return float(2.0 ** np.floor(np.log2((2.0 ** (BITS + 2) - 4.0 * (rows + 1)) / total)))


def loss_unit(total: float) -> float:
    """How many units a loss of 1 is: sums of losses up to a thousand a row fit into 64 bits."""
    return float(2.0 ** np.floor(np.log2(2.0**50 / total)))


@inner
def exp_below(x: float) -> float:
    """exp(x) for x <= 0, and 0 below LEAST_LOG: Taylor's sum at x / 64, squared six times.

    Right to ten digits, with the same bits on every processor; the compiler takes several rows at once.
    """
    r = max(x, LEAST_LOG) * 0.015625
    y = 1 / 362880 + r * (1 / 3628800)
    y = 1 / 40320 + r * y
    y = 1 / 5040 + r * y
    y = 1 / 720 + r * y
    y = 1 / 120 + r * y
    y = 1 / 24 + r * y
    y = 1 / 6 + r * y
    y = 0.5 + r * y
    y = 1.0 + r * y
    y = 1.0 + r * y
    y = y * y
    y = y * y
    y = y * y
    y = y * y
    y = y * y
    y = y * y
    return y if x >= LEAST_LOG else 0.0


@inner
def _add_steps(score: Floats, leaf: Bytes, step: Floats, k: int, top: Floats) -> None:
    """Add the steps of their leaves to one score of some rows, and see which score is the largest so far."""
    for i in range(score.size):
        score[i] += step[leaf[i], k]
    for i in range(score.size):
        top[i] = max(top[i], score[i])


@inner
def _exp_all(score: Floats, top: Floats, chance: Floats, total: Floats) -> None:
    """exp(score - top), and their sum."""
    for i in range(score.size):
        chance[i] = exp_below(score[i] - top[i])
        total[i] += chance[i]


@inner
def _logistic(top: Floats, chance: Floats, total: Floats) -> None:
    """The same of one score, the log-odds of the second of two classes."""
    for i in range(top.size):
        low = exp_below(-abs(top[i]))
        total[i] = 1.0 + low
        chance[i] = 1.0 if top[i] >= 0.0 else low
    for i in range(top.size):
        top[i] = max(top[i], 0.0)


@inner
def _chances(scores: Floats, first: int, last: int, leaf: Bytes, step: Floats, room: Floats) -> None:
    """Add the steps of their leaves to the scores (classes, rows) of a block of rows. Into `room`: the largest score of
    each row, the sum of exp(score - largest), and for each class exp(score - largest)."""
    many = last - first
    top, total = room[0, :many], room[1, :many]
    for i in range(many):
        top[i] = -np.inf
        total[i] = 0.0
    # Loops over whole slices: the compiler then takes several rows at once.
    for k in range(scores.shape[0]):
        _add_steps(scores[k, first:last], leaf[first:last], step, k, top)
    if scores.shape[0] == 1:
        _logistic(top, room[2, :many], total)
        return
    for k in range(scores.shape[0]):
        _exp_all(scores[k, first:last], top, room[2 + k, :many], total)


@inner
def _pack(
    chance: Floats, total: Floats, group: Ints, own: int, weight: Floats, dither: Floats, unit: float, out: Longs
) -> None:
    """Gradient and curvature of one class of some rows."""
    for i in range(chance.size):
        p = chance[i] / total[i]
        g = p - 1.0 if group[i] == own else p
        w = weight[i] * unit
        up, curve = np.floor(g * w + dither[i]), np.floor(p * (1.0 - p) * w + dither[i])
        out[i] = (np.int64(up) << BITS) + np.int64(curve)


@inner
def add_and_pull(
    scores: Floats, group: Ints, weight: Floats, dither: Floats, last: int, leaf: Bytes, step: Floats, unit: float,
    room: Floats, packed: Longs, pull: Longs,
) -> None:  # fmt: skip
    """Add the steps of the last tree, then gradient P - [own class] and curvature P (1 - P) of the negative
    log-likelihood, for each class of the rows up to `last`, packed.

    They are rounded up or down by what `dither` (in 0 to 1) says of the row: right on average, however small they are.
    """
    classes = scores.shape[0]
    for start in range(0, last, BLOCK):
        stop = min(start + BLOCK, last)
        many = stop - start
        _chances(scores, start, stop, leaf, step, room)
        for k in range(classes):
            _pack(
                room[2 + k, :many], room[1, :many], group[start:stop], 1 if classes == 1 else k, weight[start:stop],
                dither[start:stop], unit, packed[:many],
            )  # fmt: skip
            out = pull[start:stop]
            for i in range(many):
                out[i, k] = packed[i]


@inner
def add_and_lose(
    scores: Floats, group: Ints, weight: Floats, first: int, last: int, leaf: Bytes, step: Floats, unit: float,
    room: Floats,
) -> int:  # fmt: skip
    """Add the steps of the last tree, then the sum of w * -log P(own class), each rounded, in units."""
    classes = scores.shape[0]
    top, total = room[0], room[1]
    out = np.int64(0)
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        _chances(scores, start, stop, leaf, step, room)
        for i in range(stop - start):
            own = group[start + i]
            if classes > 1:
                score = scores[own, start + i]
            else:
                score = scores[0, start + i] if own == 1 else 0.0
            out += np.int64(np.rint((np.log(total[i]) + top[i] - score) * weight[start + i] * unit))
    return out  # type: ignore[return-value]
