"""Weights of evidence: how much of what each speaker says is to be believed beside the others.

Speakers are attributes of naive Bayes, or members of a pool. Knows what they say of held-out rows, and the classes of
these; no models, no rows. A weight of 0 leaves one out. The prior has no weight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats
from likely.machinery.jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


PRICE = 1.0
"""What a weight of 1 must bring at least, in nats over all rows: who does not has no weight."""
FARTHEST = 50.0
"""A term that puts a class so many nats below the best one is taken to be exactly so far, while weights are found: one
row that a density thought impossible must not decide."""
STEPS, HALVINGS, PASSES = 60, 30, 1000
TOLERANCE = 1e-6
"""Another step must promise so much, in nats over all rows."""


def evidence_weights(
    terms: Floats,
    start: Floats,
    truth: NDArray[np.intp],
    weight: Floats,
    price: float = PRICE,
    anchor: tuple[int, float] | None = None,
    begin: Floats | None = None,
    farthest: float = FARTHEST,
) -> Floats:
    """The weights v >= 0 with the greatest held-out sum of weight * log P(class | row) - price * sum v, where
    log P(class | row) = start + sum over speakers of v * term, normalised.

    `terms` is (speakers, rows, classes), `start` (classes). The score is concave: Newton's steps, each to the top of a
    parabola within v >= 0, from `begin`. `anchor` names a speaker and a strength: in the place of the price it costs
    strength / 2 * (v - 1)**2, so that where rows are few it is believed as it is.
    """
    count = len(terms)
    if not count:
        return np.zeros(0)
    apart = tell_apart(terms, farthest)
    own = apart[:, np.arange(len(truth)), truth]
    prices, pull = np.full(count, price), np.zeros(count)
    v = np.full(count, 1.0 / np.sqrt(count)) if begin is None else begin.copy()
    if anchor is not None:
        prices[anchor[0]], pull[anchor[0]] = 0.0, anchor[1]

    def value_at(at: Floats) -> tuple[float, Floats]:
        scores = start + np.einsum("a,arc->rc", at, apart)
        scores -= scores.max(axis=1, keepdims=True)
        total = np.exp(scores)
        whole = total.sum(axis=1, keepdims=True)
        logs = scores[np.arange(len(truth)), truth] - np.log(whole[:, 0])
        cost = float(prices @ at) + float(pull @ (at - 1) ** 2) / 2
        return float(weight @ logs) - cost, total / whole

    best, chance = value_at(v)
    for _ in range(STEPS):
        mean = np.einsum("arc,rc->ar", apart, chance)
        slope = (own - mean) @ weight - prices - pull * (v - 1)
        flat = ((apart - mean[:, :, None]) * np.sqrt(chance * weight[:, None])).reshape(count, -1)
        bend = flat @ flat.T
        bend[np.diag_indices_from(bend)] += 1e-9 * np.trace(bend) / count + np.finfo(np.float64).tiny + pull
        stride = np.zeros(count)
        nearest_top(bend, slope, v, stride, PASSES, TOLERANCE)
        with np.errstate(over="ignore", invalid="ignore"):
            if not 0.5 * float(stride @ slope) > TOLERANCE or not np.isfinite(stride).all():
                break
        length, moved = 1.0, False
        for _ in range(HALVINGS):
            after = np.maximum(v + length * stride, 0.0)
            now, held = value_at(after)
            if now > best:
                moved = now - best > TOLERANCE
                v, best, chance = after, now, held
                break
            length /= 2
        if not moved:
            break
    return v


def weighted_logs(terms: Floats, start: Floats, v: Floats, farthest: float = FARTHEST) -> Floats:
    """log P(class | row) under these weights, (rows, classes)."""
    active = np.flatnonzero(v)
    scores = start + np.einsum("a,arc->rc", v[active], tell_apart(terms[active], farthest))
    scores -= scores.max(axis=1, keepdims=True)
    return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))


def score_alone(terms: Floats, start: Floats, truth: NDArray[np.intp], weight: Floats) -> float:
    """The held-out log score of one speaker alone, its term (rows, classes) beside the prior."""
    scores = start + tell_apart(terms)
    top = scores.max(axis=1)
    logs = scores[np.arange(len(truth)), truth] - top - np.log(np.exp(scores - top[:, None]).sum(axis=1))
    return float(weight @ logs)


def tell_apart(terms: Floats, farthest: float = FARTHEST) -> Floats:
    """Each term less that of the class it speaks for most; nothing where it calls every class impossible."""
    top = terms.max(axis=-1, keepdims=True)
    found = np.maximum(terms - np.where(np.isfinite(top), top, 0.0), -farthest)
    return np.ascontiguousarray(np.where(np.isfinite(top), found, 0.0))


@kernel("f8[][], f8[], f8[], f8[], i8, f8")
def nearest_top(bend: Floats, slope: Floats, v: Floats, stride: Floats, passes: int, tolerance: float) -> None:
    """stride, from 0, to the greatest slope·s - s·bend·s / 2 with v + s >= 0: one weight after the other, in turn."""
    for _ in range(passes):
        gained = 0.0
        for k in range(v.size):
            left = slope[k]
            for j in range(v.size):
                left -= bend[k, j] * stride[j]
            step = max(left / bend[k, k], -v[k] - stride[k])
            stride[k] += step
            gained += step * (left - 0.5 * bend[k, k] * step)
        if gained <= 1e-3 * tolerance:
            break
