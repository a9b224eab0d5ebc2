"""Sums of logs, and of scores that may be minus infinity. Plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence

TIE = 2.0**-40
"""Scores that are below the best by no more than this are equal to it: what rounding does to a sum of logs is less."""


def log(value: float) -> float:
    """The natural log; that of zero is minus infinity."""
    return math.log(value) if value > 0 else -math.inf


def add_scores(one: Sequence[float], other: Sequence[float]) -> tuple[float, ...]:
    """One score after the other, added."""
    return tuple(a + b for a, b in zip(one, other, strict=True))


def log_sum(logs: Sequence[float]) -> float:
    """log of the sum of exponentials; minus infinity where all are.

    >>> log_sum([math.log(0.25), math.log(0.5)]) == math.log(0.75), log_sum([-math.inf])
    (True, -inf)
    """
    top = max(logs, default=-math.inf)
    return top if top == -math.inf else top + math.log(sum(math.exp(v - top) for v in logs))


def log_add(a: float, b: float) -> float:
    """log of exp(a) + exp(b)."""
    if a < b:
        a, b = b, a
    return a if b == -math.inf else a + math.log1p(math.exp(b - a))
