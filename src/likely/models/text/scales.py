"""Scales: by how much several scores are multiplied so that classes of held-out rows get the greatest log probability.

The log score is concave in the scales, so Newton's steps, halved where they go too far, find its one maximum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats, Longs
from likely.machinery.jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


LEAST = 1e-3
"""A score that does harm is not turned round: it is nearly left out."""
MOST_STEPS = 50
CLOSE = 1e-7
"""Gain of a step, in nats a row, below which another one is not worth it."""


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Held-out rows: fixed log scores of classes, scores that are to be scaled, the true class, and the weight."""

    offset: Floats
    scores: Sequence[Floats]
    truth: NDArray[np.intp]
    weight: Floats

    def look(self, scales: Floats) -> tuple[float, Floats, Floats]:
        """The log score of all rows together, its slope in the scales, and its curvature."""
        count = len(scales)
        value, slope, curve = np.zeros(1), np.zeros(count), np.zeros((count, count))
        chance, own = np.empty_like(self.offset), np.empty(len(self.truth))
        shift_rows(self.offset, self._scores, self.truth, scales, chance, own)
        np.exp(chance, chance)  # all at once: several numbers in one instruction
        add_rows(chance, own, self._scores, self.truth, self.weight, np.empty(count), value, slope, curve)
        return float(value[0]), slope, curve

    @cached_property
    def _scores(self) -> Floats:
        return np.ascontiguousarray(self.scores, np.float64)


@kernel("f8[][], f8[][][], i8[], f8[], f8[][], f8[]")
def shift_rows(offset: Floats, scores: Floats, truth: Longs, scales: Floats, out: Floats, own: Floats) -> None:
    """The log score of each class of each row, less the greatest of the row; and that of its true class."""
    for i in range(truth.size):
        top = -np.inf
        for c in range(offset.shape[1]):
            joint = offset[i, c]
            for s in range(scales.size):
                joint += scales[s] * scores[s, i, c]
            out[i, c] = joint
            top = max(top, joint)
        for c in range(offset.shape[1]):
            out[i, c] -= top
        own[i] = out[i, truth[i]]


@kernel("f8[][], f8[], f8[][][], i8[], f8[], f8[], f8[], f8[], f8[][]")
def add_rows(
    chance: Floats, own: Floats, scores: Floats, truth: Longs, weight: Floats, mean: Floats, value: Floats,
    slope: Floats, curve: Floats,
) -> None:  # fmt: skip
    """Add what each row says to the log score, its slope and its curvature. (In numpy it was most of the search.)"""
    classes, scales = chance.shape[1], mean.size
    for i in range(truth.size):
        total = 0.0
        for c in range(classes):
            total += chance[i, c]
        value[0] += weight[i] * (own[i] - math.log(total))
        for c in range(classes):
            chance[i, c] /= total
        for s in range(scales):
            mean[s] = 0.0
            for c in range(classes):
                if chance[i, c] > 0:  # where it is 0 the score may be without bounds
                    mean[s] += chance[i, c] * scores[s, i, c]
            slope[s] += weight[i] * (scores[s, i, truth[i]] - mean[s])
        for s in range(scales):
            for t in range(scales):
                both = 0.0
                for c in range(classes):
                    if chance[i, c] > 0:
                        both += chance[i, c] * (scores[s, i, c] - mean[s]) * (scores[t, i, c] - mean[t])
                curve[s, t] += weight[i] * both


def best_scales(
    parts: Sequence[HeldOutRows], given: Floats | None, start: float = LEAST
) -> tuple[Floats, float]:  # fmt: skip
    """The best scales (or those given), in four digits, and the log score of a row in the mean, in nats.

    The nearer to them it starts, the fewer steps there are.
    """
    weight = sum(float(p.weight.sum()) for p in parts)
    if not weight:
        return np.ones(len(parts[0].scores)) if given is None else given, -np.inf

    def look(scales: Floats) -> tuple[float, Floats, Floats]:
        found = [p.look(scales) for p in parts]
        return (
            sum(f[0] for f in found) / weight,
            np.sum([f[1] for f in found], axis=0) / weight,
            np.sum([f[2] for f in found], axis=0) / weight,
        )

    if given is not None:
        return given, look(given)[0]
    scales = np.full(len(parts[0].scores), max(start, LEAST))
    value, slope, curve = look(scales)
    for _ in range(MOST_STEPS):
        held = (scales <= LEAST) & (slope <= 0)
        if held.all():
            break
        free = np.flatnonzero(~held)
        step = np.zeros(len(scales))
        step[free] = np.linalg.lstsq(curve[np.ix_(free, free)], slope[free], rcond=None)[0]
        share, before = 1.0, value
        while True:
            new = np.maximum(scales + share * step, LEAST)
            found = look(new)
            if found[0] > value or share < 1e-6:
                break
            share /= 2
        if found[0] > value:
            scales, (value, slope, curve) = new, found
        if value - before < CLOSE:
            break
    scales = np.array([float(f"{s:.4g}") for s in scales.tolist()])
    return scales, look(scales)[0]
