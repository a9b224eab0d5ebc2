"""Weights of attributes in naive Bayes: how much of what each says is to be believed beside the others.

Knows terms of held-out rows and their classes; no models, no rows. A weight of 0 leaves an attribute out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

PRICE = 1.0
"""What a weight of 1 must bring at least, in nats over all rows: an attribute that does not has no weight."""
FARTHEST = 50.0
"""A term that puts a class so many nats below the best one is taken to be exactly so far, while weights are found: one
row that a density thought impossible must not decide."""
STEPS, HALVINGS = 60, 30
TOLERANCE = 1e-6
"""Another step must promise so much, in nats over all rows."""


def attribute_weights(
    terms: NDArray[np.float64], start: NDArray[np.float64], truth: NDArray[np.intp], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The weights v >= 0 with the greatest held-out sum of weight * log P(class | row) - PRICE * sum v, where
    log P(class | row) = start + sum over attributes of v * term, normalised.

    `terms` is (attributes, rows, classes), `start` (classes). The score is concave: Newton's steps on the weights that
    are above 0 or would rise, and what would fall below 0 becomes 0.
    """
    count = len(terms)
    if not count:
        return np.zeros(0)
    apart = _apart(terms)
    own = apart[:, np.arange(len(truth)), truth]
    v = np.full(count, 1.0 / np.sqrt(count))

    def value_at(at: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = start + np.einsum("a,arc->rc", at, apart)
        scores -= scores.max(axis=1, keepdims=True)
        total = np.exp(scores)
        whole = total.sum(axis=1, keepdims=True)
        logs = scores[np.arange(len(truth)), truth] - np.log(whole[:, 0])
        return float(weight @ logs) - PRICE * float(at.sum()), total / whole

    best, chance = value_at(v)
    for _ in range(STEPS):
        mean = np.einsum("arc,rc->ar", apart, chance)
        slope = (own - mean) @ weight - PRICE
        free = np.flatnonzero((v > 0) | (slope > 0))
        if not len(free):
            break
        some = (apart[free] - mean[free][:, :, None]) * np.sqrt(chance * weight[:, None])
        flat = some.reshape(len(free), -1)
        bend = flat @ flat.T
        bend[np.diag_indices_from(bend)] += 1e-9 * np.trace(bend) / len(free) + np.finfo(np.float64).tiny
        stride = np.zeros(count)
        stride[free] = np.linalg.solve(bend, slope[free])
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


def score_alone(
    terms: NDArray[np.float64], start: NDArray[np.float64], truth: NDArray[np.intp], weight: NDArray[np.float64]
) -> float:
    """The held-out log score of one attribute by itself, its term (rows, classes) beside the prior."""
    scores = start + _apart(terms)
    top = scores.max(axis=1)
    logs = scores[np.arange(len(truth)), truth] - top - np.log(np.exp(scores - top[:, None]).sum(axis=1))
    return float(weight @ logs)


def _apart(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each term less that of the class it speaks for most; nothing where it calls every class impossible."""
    top = terms.max(axis=-1, keepdims=True)
    found = np.maximum(terms - np.where(np.isfinite(top), top, 0.0), -FARTHEST)
    return np.ascontiguousarray(np.where(np.isfinite(top), found, 0.0))
