"""Whether an answer to an exercise is right, and what to try if it is not.

Knows how people write numbers and how exact they must be; what is right comes from `answers`, hints from the chapters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from likely.course.answers import ANSWERS, Answer
from likely.course.chapters import read_chapters
from likely.errors import SettingError, nearest, shown
from likely.probability.numbers import Number, as_float, number

DIGITS = 3
"""An answer may be less than one unit of this significant digit away from what is right."""


@dataclass(frozen=True)
class Verdict:
    """What is to be said of an answer; `right` is None where there is no answer yet."""

    exercise: str
    right: bool | None
    words: str

    def __str__(self) -> str:
        return f"{self.exercise}: {self.words}"

    def __repr__(self) -> str:
        return str(self)


def check(exercise: str, answer: object) -> Verdict:
    """Whether an answer is right: a number, or text such as "2/5" or "40 %"; `...` asks for nothing.

    Decimals need three significant digits. What is right is worked out from the example tables.

    >>> check("1.1", 0.6)
    1.1: right. It is 3/5.
    >>> check("1.1", "3/14")
    1.1: not yet. That is the share of all days, not of the rainy ones.
    """
    hints = {name: hint for chapter in read_chapters() for name, hint in chapter.exercises().items()}
    if exercise not in hints:
        raise SettingError(f"There is no exercise {shown(exercise)}. {nearest(exercise, hints)}")
    if answer is ...:
        return Verdict(exercise, None, "no answer yet. Put yours in place of the three dots.")
    right = ANSWERS[exercise]()
    given = number(answer, f"The answer to {exercise}")
    if is_close(given, right.value):
        return Verdict(exercise, True, f"right. It is {_written(right.value)}.")
    return Verdict(exercise, False, f"not yet. {_remark(given, right) or 'Hint: ' + hints[exercise]}")


def is_close(given: Number, right: Number | int) -> bool:
    """Whether two numbers agree to three digits; whole numbers must be equal.

    >>> is_close(0.205, 0.204579), is_close(0.2, 0.204579), is_close(5, 6)
    (True, False, False)
    """
    if given == right:
        return True
    if isinstance(right, int) or right == 0:
        return False
    unit = 10.0 ** (math.floor(math.log10(abs(as_float(right)))) - DIGITS + 1)
    return abs(as_float(given) - as_float(right)) < unit


def _remark(given: Number, right: Answer) -> str | None:
    """The mistake that gives this number, if it is a usual one; or that it is too rough."""
    for value, sentence in right.mistakes:
        if is_close(given, value):
            return sentence
    value = as_float(right.value)
    if not isinstance(right.value, int) and value and abs(as_float(given) / value - 1) < 0.05:
        return f"Close, but {DIGITS} digits are wanted."
    return None


def _written(value: Number | int) -> str:
    if isinstance(value, Fraction) and value.denominator < 1000:
        return str(value)
    return f"{as_float(value):.6g}" if not isinstance(value, int) else str(value)
