"""Probabilities as people give them and as counting gives them: exact fractions, 3/9 stays 3/9."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from numbers import Rational, Real
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from likely.errors import SettingError, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Probabilities as people give them: exact fractions where they were given exactly, floats otherwise.

Key = TypeVar("Key", bound=Hashable)
Number: TypeAlias = Fraction | float
"""A Fraction where everything was given exactly, else a float."""

Given: TypeAlias = Fraction | Decimal | float | str
"""A number as people give it: 1, "0.008", "1/3", Fraction(1, 3) are exact; 0.008 is a float."""

TOLERANCE = 1e-9
"""How far floats that should be equal, or sum to one, may be apart: that much is rounding. Fractions: not at all."""

_LONGEST, _FARTHEST = 400, 400


def number(value: object, where: str) -> Number:
    """A finite number. Whole numbers, fractions, decimals and text are kept exactly; floats stay floats.

    >>> number("0.008", "x"), number("0.8 %", "x"), number(3, "x"), number("1/3", "x"), number(0.5, "x")
    (Fraction(1, 125), Fraction(1, 125), Fraction(3, 1), Fraction(1, 3), 0.5)
    """
    if isinstance(value, Fraction):
        return value
    try:
        if isinstance(value, str):
            return _of_text(value)
        if isinstance(value, Decimal):
            return _of_text(str(value))
        if isinstance(value, Rational):
            return Fraction(int(value.numerator), int(value.denominator))
        if isinstance(value, Real) and math.isfinite(value):
            return float(value)
    except (ArithmeticError, ValueError):
        pass
    raise SettingError(f"{where} is {shown(value)}. It must be a finite number, such as 0.25, '1/3' or '0.008'.")


def _of_text(text: str) -> Fraction:
    mantissa, _, exponent = text.strip().lower().partition("e")
    # As a fraction, 1e-999999999 would fill the memory.
    if len(mantissa) > _LONGEST or (exponent and abs(int(exponent)) > _FARTHEST):
        raise ValueError
    return Fraction(mantissa[:-1].strip()) / 100 if mantissa.endswith("%") else Fraction(text.strip())


def probability(value: object, where: str) -> Number:
    """A number between 0 and 1."""
    found = number(value, where)
    if found < 0:
        raise SettingError(f"{where} is {shown(value)}, which is negative. A probability lies between 0 and 1.")
    if found > 1:
        percent = " If it was meant in percent, divide it by 100." if 1 < found <= 100 else ""
        raise SettingError(f"{where} is {shown(value)}, which is above 1. A probability lies between 0 and 1.{percent}")
    return found


def weight(value: object, where: str) -> Number:
    """A number of zero or more: a count, a cost-free weight, a density."""
    found = number(value, where)
    if found < 0:
        raise SettingError(f"{where} is {shown(value)}, which is negative. It must be zero or more.")
    return found


def total(values: Iterable[Number]) -> Number:
    """The sum: exact where all are fractions, else as if rounded once."""
    held = list(values)
    if all(isinstance(v, Fraction) for v in held):
        return sum(held, Fraction(0))
    return math.fsum(held)


def alike(values: Mapping[Key, Number]) -> dict[Key, Number]:
    """The same numbers, all exact or, where one is a float, all floats."""
    if all(isinstance(v, Fraction) for v in values.values()):
        return dict(values)
    return {key: float(v) for key, v in values.items()}


def check_sum(values: Iterable[Number], where: str, remedy: str = "Mend them.") -> None:
    """Refuse probabilities that do not sum to one; say by how much."""
    found = total(values)
    off: Number = found - 1
    if off == 0 or (isinstance(off, float) and abs(off) <= TOLERANCE):
        return
    how = f"{plain(off if off > 0 else -off)} too {'much' if off > 0 else 'little'}"
    raise SettingError(f"{where} sum to {plain(found)}, not to 1: {how}. {remedy}")


def equal(one: Number, other: Number) -> bool:
    """Whether two probabilities are the same: exactly for fractions, up to rounding for floats."""
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return one == other
    return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE**2)


def log(value: Number) -> float:
    """Natural log of a number of zero or more, however small or large its fraction; log 0 is minus infinity."""
    if value == 0:
        return -math.inf
    near = as_float(value)
    if isinstance(value, Fraction) and (near == 0 or math.isinf(near)):
        return math.log(value.numerator) - math.log(value.denominator)
    return math.log(near)


def as_float(value: Number) -> float:
    """The nearest float; infinite beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def decimals(value: Fraction, most: int = 6) -> int | None:
    """How many digits after the point write a fraction exactly; None where more than `most` are needed.

    >>> decimals(Fraction(1, 125)), decimals(Fraction(1, 3))
    (3, None)
    """
    return next((k for k in range(most + 1) if 10**k % value.denominator == 0), None)


def plain(value: Number) -> str:
    """A number as people write it: a short decimal where it is one, else a fraction, else six digits.

    >>> plain(Fraction(1, 125)), plain(Fraction(49, 235)), plain(Fraction(1, 3**20)), plain(0.1 + 0.2)
    ('0.008', '49/235', '2.86797e-10', '0.3')
    """
    if isinstance(value, Fraction):
        if value.denominator == 1 and value.numerator < 10**15:
            return str(value.numerator)
        digits = decimals(value)
        if digits is not None and abs(value) < 10**9:
            return f"{float(value):.{digits}f}"
        if value.denominator <= 10_000 and abs(value.numerator) <= 10**6:
            return str(value)
    return rounded(value)


def part(value: Number) -> str:
    """A number as a part of a quotient: a fraction in brackets."""
    text = plain(value)
    return f"({text})" if "/" in text else text


def rounded(value: Number, digits: int = 6) -> str:
    """A number in a few digits; a fraction too small or too large for a float keeps its power of ten.

    >>> rounded(Fraction(49, 235), 4), rounded(Fraction(1, 10**400))
    ('0.2085', '1e-400')
    """
    near = as_float(value)
    if isinstance(value, Fraction) and value and (near == 0 or math.isinf(near)):
        with localcontext(prec=digits):
            found = Decimal(value.numerator) / Decimal(value.denominator)
            return f"{found.normalize():e}".replace("e+", "e")
    return f"{near:.{digits}g}"


# A probability as counting gave it, one number over another: 3/9 stays 3/9. Knows no data and no settings.

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


def readable(value: Fraction | float) -> Quotient | float:
    """A fraction as a quotient where a person can read it as one, else as a decimal."""
    if isinstance(value, Fraction) and 1 < value.denominator <= READABLE:
        return Quotient(Fraction(value.numerator), Fraction(value.denominator))
    return as_float(value)


def invert(matrix: Sequence[Sequence[Fraction]]) -> tuple[list[list[Fraction]], Fraction]:
    """The inverse and the determinant of a positive definite matrix, exact (Gauss-Jordan).

    >>> invert([[Fraction(2), Fraction(1)], [Fraction(1), Fraction(1)]])[1]
    Fraction(1, 1)
    """
    size, determinant = len(matrix), Fraction(1)
    rows = [[*row, *(Fraction(int(i == k)) for i in range(size))] for k, row in enumerate(matrix)]
    for k in range(size):
        pivot = rows[k][k]  # of a positive definite matrix none is 0
        determinant *= pivot
        rows[k] = [v / pivot for v in rows[k]]
        for i in range(size):
            if i != k:
                rows[i] = [v - rows[i][k] * own for v, own in zip(rows[i], rows[k], strict=True)]
    return [row[size:] for row in rows], determinant


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


def log_fraction(value: Fraction) -> float:
    """log of a positive fraction, however large its parts."""
    return math.log(value.numerator) - math.log(value.denominator)


def spell(value: object) -> str:
    """A value as a table would write it: true, 3, red.

    >>> spell(True), spell(3.0), spell("red")
    ('true', '3', 'red')
    """
    if hasattr(value, "item"):  # a numpy scalar
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def printable(value: object, limit: int = 40) -> str:
    """A name or value fit for a terminal: one line, no control characters, cut to `limit`; '' if it is empty.

    >>> printable("a\\nb"), printable(True), printable("")
    ('a�b', 'true', "''")
    """
    whole = spell(value)
    whole = whole if len(whole) <= limit else whole[: limit - 1] + "…"
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in whole) or "''"


def tie_text(values: Mapping[Any, object], what: str = "are equally probable") -> str:
    """A sentence on the values that share the highest number; empty where one is alone.

    >>> tie_text({"p": 0.4, "q": 0.4, "r": 0.2}), tie_text({"p": 0.6, "q": 0.4})
    ('p and q are equally probable; p comes first.', '')
    """
    most = max(values.values(), default=None)  # type: ignore[type-var]
    tied = [printable(name) for name, value in values.items() if value == most]
    if len(tied) < 2:
        return ""
    last = tied[-1] if len(tied) <= 6 else f"{len(tied) - 5} more"
    return f"{', '.join(tied[:-1][:5])} and {last} {what}; {tied[0]} comes first."
