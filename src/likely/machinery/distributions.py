"""Chances of the distributions that tests of significance and intervals need. Plain Python on floats: knows no data and
no arrays.
"""

from __future__ import annotations

import math

_MOST_STEPS = 1_000_000
_CLOSE = 2.0**-53


def log_gamma_tail(shape: float, x: float) -> float:
    """log Q(shape, x): the log of the chance that a gamma variable of this shape (scale 1) is above x.

    A series below shape + 1, Lentz's continued fraction above; in logs, so that tails beyond 1e-308 keep their size.

    >>> round(math.exp(log_gamma_tail(1.0, 2.0)), 6), round(math.exp(-2.0), 6)
    (0.135335, 0.135335)
    """
    if math.isnan(x) or not 0 < shape < math.inf:
        return math.nan
    if x <= 0:
        return 0.0
    if math.isinf(x):
        return -math.inf
    log_front = shape * math.log(x) - x - math.lgamma(shape)
    if x < shape + 1:
        term = total = 1.0 / shape
        for k in range(1, _MOST_STEPS):
            term *= x / (shape + k)
            total += term
            if term < total * _CLOSE:
                break
        below = math.exp(log_front + math.log(total))
        return math.log1p(-below) if below < 1 else -math.inf
    tiny = 1e-300
    b = x + 1.0 - shape
    c, d = 1.0 / tiny, 1.0 / (b or tiny)
    fraction = d
    for k in range(1, _MOST_STEPS):
        step = -k * (k - shape)
        b += 2.0
        d = 1.0 / ((step * d + b) or tiny)
        c = (b + step / c) or tiny
        fraction *= d * c
        if abs(d * c - 1.0) < 4 * _CLOSE:
            break
    return min(log_front + math.log(fraction), 0.0)


def gamma_tail(shape: float, x: float) -> float:
    """Q(shape, x), the regularised upper incomplete gamma function."""
    return math.exp(log_gamma_tail(shape, x))


def chi_square_tail(statistic: float, freedom: float) -> float:
    """The p-value of a chi-square statistic: how often chance alone gives as much. 1 where there is no freedom.

    >>> round(chi_square_tail(3.841459, 1), 4)
    0.05
    """
    return 1.0 if freedom <= 0 else gamma_tail(freedom / 2, statistic / 2)


def student_within(t: float, freedom: int) -> float:
    """The chance that Student's t of so many whole degrees of freedom lies between -t and t: a finite sum.

    >>> round(student_within(12.7062, 1), 4), round(student_within(2.2281, 10), 4)
    (0.95, 0.95)
    """
    angle = math.atan2(t, math.sqrt(freedom))
    cosine, odd = math.cos(angle), freedom % 2
    term = total = (cosine if freedom > 1 else 0.0) if odd else 1.0
    for k in range(2 + odd, freedom - 1, 2):
        term *= (k - 1) / k * cosine * cosine
        total += term
    inside = math.sin(angle) * total
    return 2 / math.pi * (angle + inside) if odd else inside


def student_bound(freedom: int, share: float = 0.95) -> float:
    """How many standard errors to both sides hold so large a share of Student's t.

    >>> round(student_bound(4), 4), round(student_bound(1000), 4)
    (2.7764, 1.9623)
    """
    low, high = 0.0, 1.0
    while student_within(high, freedom) < share:
        high *= 2
    while high - low > 4 * _CLOSE * high:
        middle = (low + high) / 2
        low, high = (middle, high) if student_within(middle, freedom) < share else (low, middle)
    return high
