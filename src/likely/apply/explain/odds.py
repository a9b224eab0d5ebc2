"""Odds of one class against another or against the rest, as sums of steps. Arrays of logs in, logs out; -inf is kept.

Knows no model. A ratio of two impossible things is None, never NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Unit = Literal["bits", "decibans", "nats", "odds"]
UNITS: tuple[Unit, ...] = ("bits", "decibans", "nats", "odds")
_NATS = {"bits": math.log(2), "decibans": math.log(10) / 10, "nats": 1.0}


def in_unit(log: float, unit: Unit) -> float:
    """A log in nats as people read it; a factor of the odds where the unit is 'odds'.

    >>> in_unit(math.log(8), "bits"), round(in_unit(math.log(100), "decibans"), 9), round(in_unit(math.log(3), "odds"))
    (3.0, 20.0, 3)
    """
    if unit != "odds":
        return log / _NATS[unit]
    return math.exp(log) if log < 709 else math.inf


def minus(top: float, bottom: float) -> float | None:
    """log of a ratio; None where both are impossible."""
    if top == -math.inf and bottom == -math.inf:
        return None
    return top - bottom


def log_total(logs: NDArray[np.float64]) -> float:
    """log of the sum of exp(logs); -inf where all of them are."""
    top = float(logs.max(initial=-math.inf))
    return top if top == -math.inf else top + math.log(float(np.exp(logs - top).sum()))


def log_odds_of(joint: NDArray[np.float64], a: int, b: int | None) -> float | None:
    """log of P(a) / P(b), or of P(a) / P(not a) where b is None."""
    return minus(float(joint[a]), log_total(np.delete(joint, a)) if b is None else float(joint[b]))


def steps_between(pieces: Sequence[NDArray[np.float64]], a: int, b: int) -> list[float | None]:
    """What each piece adds to log P(a) / P(b): they are independent of each other and of their order."""
    return [minus(float(logs[a]), float(logs[b])) for logs in pieces]


def steps_of_rest(
    pieces: Sequence[NDArray[np.float64]], a: int, before: NDArray[np.float64] | None = None
) -> list[float | None]:
    """What each piece adds to log P(a) / P(not a), one after the other in this order, `before` having come first.

    log P(piece | a) / P(piece | not a, pieces before): the rest weighs its classes by what has come before. The steps
    telescope, so that they add up to the log odds. Once the rest is impossible, nothing more can be said for a.
    """
    so_far = np.zeros(len(pieces[0])) if before is None else before
    # Before anything has come, P(a) / P(not a) is no odds yet: the first piece, the prior, sets it.
    rest = 0.0 if before is None else log_total(np.delete(so_far, a))
    out: list[float | None] = []
    for logs in pieces:
        so_far = so_far + logs
        now = log_total(np.delete(so_far, a))
        if rest == -math.inf:
            out.append(-math.inf if logs[a] == -math.inf else 0.0)
        else:
            out.append(minus(float(logs[a]), now - rest if now > -math.inf else now))
        rest = now
    return out


def sum_ratios(ratios: Sequence[float | None]) -> float | None:
    """Steps added up; None where one of them is, or where one side is impossible here and the other there."""
    if any(r is None for r in ratios) or {math.inf, -math.inf} <= set(ratios):
        return None
    return math.fsum(r for r in ratios if r is not None)
