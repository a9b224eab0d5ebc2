"""Temperatures: how far a model's log-odds must be shrunk or stretched to be right on rows it has not seen.

Knows logs of probabilities and classes of rows; no models, no rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.models.posterior import Matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST, MOST = 1 / 32, 4.0
"""A temperature lies between these: beyond them a model says nothing, or no row is left that speaks against it."""
HALVINGS = 14
"""Bisections of an octave: the temperature is known to a ten-thousandth of it."""


def tempered(logs: Matrix, temperature: float) -> Matrix:
    """log of P(class)**temperature, normalised for each row; a row that is impossible throughout stays so.

    >>> np.exp(tempered(np.log([[0.9, 0.1]]), 0.5)).round(6).tolist()
    [[0.75, 0.25]]
    """
    if temperature == 1.0:
        return logs
    out: Matrix = logs * temperature
    top = out.max(axis=1, keepdims=True, initial=-np.inf)
    top = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(out - top).sum(axis=1, keepdims=True))
    return out - top - np.where(np.isneginf(total), 0.0, total)


def temperature_of(
    logs: Matrix, truth: NDArray[np.intp], weight: NDArray[np.float64], shares: NDArray[np.float64], rows: float
) -> float:
    """The temperature with the best held-out log score, once the shares of the classes count as one row of `rows` + 1.

    So no row costs more than log (rows + 1) or so, and a single one that a model thought impossible does not decide.
    The best octave is taken, then the slope is bisected to zero in it.
    """
    here = np.arange(len(truth))
    prior = shares[truth]
    some = np.isfinite(logs)
    finite = np.where(some, logs, 0.0)

    def looked(t: float) -> tuple[float, float]:
        chance = np.where(some, np.exp(tempered(logs, t)), 0.0)
        own = chance[here, truth]
        whole = rows * own + prior
        pull = finite[here, truth] - (chance * finite).sum(axis=1)
        with np.errstate(divide="ignore"):
            value = float(weight @ np.log(whole))
        return value, float(weight @ (rows * own * pull / np.where(whole > 0, whole, 1.0)))

    octaves = np.exp2(np.arange(np.log2(LEAST), np.log2(MOST) + 1))
    found = [looked(float(t)) for t in octaves]
    best = int(np.argmax([value for value, _ in found]))
    rising = found[best][1] > 0
    other = best + 1 if rising else best - 1
    if not found[best][1] or not 0 <= other < len(octaves):
        return float(octaves[best])
    low, high = np.log2(octaves[min(best, other)]), np.log2(octaves[max(best, other)])
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if looked(float(np.exp2(middle)))[1] > 0:
            low = middle
        else:
            high = middle
    return float(np.exp2((low + high) / 2))
