"""A probability as counting gave it, one number over another: 3/9 stays 3/9. Knows no data and no settings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

READABLE = 10**6
"""The largest denominator that is still read as a fraction rather than as a decimal."""


@dataclass(frozen=True, slots=True)
class Quotient:
    """top / bottom, exact and not reduced. 0/0 is what counting gives where there was nothing to count: it is worth 0.

    >>> q = Quotient(Fraction(3), Fraction(9))
    >>> str(q), q.value, float(q)
    ('3/9', Fraction(1, 3), 0.3333333333333333)
    """

    top: Fraction
    bottom: Fraction

    @property
    def value(self) -> Fraction:
        return self.top / self.bottom if self.bottom else Fraction(0)

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        if self.top.denominator == self.bottom.denominator == 1:
            return f"{self.top.numerator}/{self.bottom.numerator}"
        value = self.value
        return str(value) if value.denominator <= READABLE else f"{float(value):.4g}"


def as_written(number: float) -> Fraction:
    """The simplest fraction that is this double: 0.1 is 1/10, as the person who wrote it meant, and 1/3 is 1/3.

    >>> as_written(0.1), as_written(1 / 3), as_written(2.0)
    (Fraction(1, 10), Fraction(1, 3), Fraction(2, 1))
    """
    exact = Fraction(number)
    simple = exact.limit_denominator(READABLE)
    return simple if float(simple) == number else exact


def log_of(values: Iterable[Quotient]) -> NDArray[np.float64]:
    """Natural logs; the log of zero is minus infinity."""
    with np.errstate(divide="ignore"):
        return np.log(np.array([float(v) for v in values], np.float64))
