"""Where a learning curve leads: a power law through losses at growing sizes, and what more rows would bring.

Knows losses by fold and size, no rows and no learner. Nothing is drawn at random.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from likely.evaluate.scores.intervals import Measure
from likely.machinery.distributions import student_bound

if TYPE_CHECKING:
    from numpy.typing import NDArray

Verdict = Literal["forecast", "short", "unclear", "rising", "noisy"]
"""Whether a forecast is made; or there are too few sizes with a finite loss, no change that could be told from chance,
a loss that grows with the rows, or a curve that the power law does not fit."""

FEWEST = 4
"""Sizes: a law of three numbers goes through any three."""
EXPONENTS = np.geomspace(1 / 16, 2, 61)
"""What is tried for c. Slower than n^(-1/16) cannot be told from not at all, faster than n^-2 not from at once."""
MISFIT = 0.25
"""Share of the whole fall by which the law may miss the curve, in the mean."""
TIMES = (2.0, 4.0)
"""How many times the rows are looked forward to."""


@dataclass(frozen=True)
class Law:
    """loss(n) = a + b (n/rows)^-c, where `rows` are those of the largest size; a and b are not below zero."""

    a: float
    b: float
    c: float
    rows: float
    misfit: float
    """Root of the weighted mean square by which it misses the curve."""

    def loss(self, rows: float) -> float:
        """What the law says of a size."""
        return self.a + self.b * math.pow(rows / self.rows, -self.c)


@dataclass(frozen=True)
class Forecast:
    """The loss that is expected with `times` the rows of the largest size, and 95 % bounds for it."""

    times: float
    rows: float
    loss: float
    low: float
    high: float


@dataclass(frozen=True)
class Trend:
    """How a loss goes on: what the last step brought, the law of the curve, and what more rows would bring."""

    verdict: Verdict
    last_step: Measure
    """By how much the loss fell from the last size but one to the last; below zero it grew."""
    law: Law | None = None
    forecasts: tuple[Forecast, ...] = ()


def fit_power_law(rows: NDArray[np.float64], losses: NDArray[np.float64]) -> Law:
    """The law through the losses at these sizes by least squares, a size counting 1, 2, 3 … times from the smallest on.

    For each exponent that is tried the best a and b are had in closed form; the first of the best exponents is taken.

    >>> law = fit_power_law(np.array([1.0, 2, 4, 8, 16]), 0.25 + np.array([1.0, 2, 4, 8, 16]) ** -0.5)
    >>> round(law.a, 2), round(law.c, 1)
    (0.25, 0.5)
    """
    weight = np.arange(1.0, len(rows) + 1)
    weight /= weight.sum()
    best: Law | None = None
    mean = float(weight @ losses)
    for c in EXPONENTS.tolist():
        x = (rows / rows[-1]) ** -c
        middle = float(weight @ x)
        b = float(weight @ ((x - middle) * (losses - mean))) / float(weight @ (x - middle) ** 2)
        a = mean - b * middle
        if b < 0:
            a, b = mean, 0.0
        elif a < 0:
            a, b = 0.0, float(weight @ (x * losses)) / float(weight @ (x * x))
        misfit = float(np.sqrt(weight @ (losses - a - b * x) ** 2))
        if best is None or misfit < best.misfit:
            best = Law(a, b, c, float(rows[-1]), misfit)
    assert best is not None
    return best


def spread(values: NDArray[np.float64], weight: NDArray[np.float64]) -> Measure:
    """The mean of what folds say, and bounds by Student's t of how much they differ."""
    value = float(weight @ values / weight.sum())
    if len(values) < 2:
        return Measure(value)
    error = float(np.sqrt(((values - value) ** 2).sum() / (len(values) - 1) / len(values)))
    half = student_bound(len(values) - 1) * error
    return Measure(value, value - half, value + half)


def trend(rows: NDArray[np.float64], losses: NDArray[np.float64], weight: NDArray[np.float64], most: float) -> Trend:
    """Where the losses (folds, sizes) lead; infinite ones are left out. Folds count by weight; no loss is above `most`.

    What is expected is the loss at the largest size less what the law says that more rows bring. Its bounds come from
    leaving out each fold in turn (the jackknife), and from how much the law misses the curve.
    """
    last_step = Measure(None)
    if len(rows) > 1 and np.isfinite(losses[:, -2:]).all():
        last_step = spread(losses[:, -2] - losses[:, -1], weight)
    kept = np.flatnonzero(np.isfinite(losses).all(axis=0))
    if len(kept) < FEWEST or kept[-1] < len(rows) - 1 or len(losses) < 2:
        return Trend("short", last_step)
    rows, losses = rows[kept], losses[:, kept]
    fall = spread(losses[:, 0] - losses[:, -1], weight)
    assert fall.value is not None and fall.low is not None and fall.high is not None
    if fall.high <= 0:
        return Trend("rising" if fall.high < 0 else "unclear", last_step)
    if fall.low <= 0:
        return Trend("unclear", last_step)

    def mean(but: int | None) -> NDArray[np.float64]:
        share = np.where(np.arange(len(weight)) == but, 0.0, weight)
        return np.asarray(share @ losses / share.sum())

    whole = mean(None)
    law = fit_power_law(rows, whole)
    others = [(m, fit_power_law(rows, m)) for m in (mean(k) for k in range(len(weight)))]
    forecasts = []
    bound = student_bound(len(weight) - 1)
    for times in TIMES:
        at = times * float(rows[-1])

        def expected(losses: NDArray[np.float64], law: Law, at: float = at) -> float:
            return max(float(losses[-1]) - (law.loss(float(rows[-1])) - law.loss(at)), 0.0)

        left = np.array([expected(m, one) for m, one in others])
        error = float(np.sqrt((len(left) - 1) / len(left) * ((left - left.mean()) ** 2).sum()))
        value, half = expected(whole, law), bound * float(np.hypot(error, law.misfit))
        forecasts.append(Forecast(times, at, value, max(value - half, 0.0), min(value + half, most)))
    if law.misfit > MISFIT * fall.value or forecasts[0].high - forecasts[0].loss > fall.value:
        return Trend("noisy", last_step, law)
    return Trend("forecast", last_step, law, tuple(forecasts))
