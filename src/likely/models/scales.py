"""Scales: by how much several scores are multiplied so that classes of held-out rows get the greatest log probability.

The log score is concave in the scales, so Newton's steps, halved where they go too far, find its one maximum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEAST = 1e-3
"""A score that does harm is not turned round: it is nearly left out."""
MOST_STEPS = 50
CLOSE = 1e-7
"""Gain of a step, in nats a row, below which another one is not worth it."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Held-out rows: fixed log scores of classes, scores that are to be scaled, the true class, and the weight."""

    offset: Floats
    scores: Sequence[Floats]
    truth: NDArray[np.intp]
    weight: Floats

    def look(self, scales: Floats) -> tuple[float, Floats, Floats]:
        """The log score of all rows together, its slope in the scales, and its curvature."""
        joint = self.offset + sum(a * s for a, s in zip(scales.tolist(), self.scores, strict=True))
        top = joint.max(axis=1, keepdims=True)
        chance = np.exp(joint - top)
        total = chance.sum(axis=1, keepdims=True)
        chance /= total
        rows = np.arange(len(self.truth))
        value = float(self.weight @ (joint[rows, self.truth] - (top + np.log(total))[:, 0]))
        spread = []
        slope = np.zeros(len(scales))
        for k, score in enumerate(self.scores):
            finite = np.where(np.isfinite(score), score, 0.0)  # the chance of such a class is 0
            spread.append(finite - (chance * finite).sum(axis=1, keepdims=True))
            slope[k] = self.weight @ spread[k][rows, self.truth]
        curve = np.array([[self.weight @ (chance * a * b).sum(axis=1) for b in spread] for a in spread])
        return value, slope, curve


def best_scales(parts: Sequence[Rows], given: Floats | None) -> tuple[Floats, float]:
    """The best scales (or those given), in four digits, and the log score of a row in the mean, in nats."""
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
    scales = np.full(len(parts[0].scores), LEAST)
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
