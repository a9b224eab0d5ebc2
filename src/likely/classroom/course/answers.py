"""Whether an answer to an exercise is right. What is right stands in the chapter, behind the hint."""

from __future__ import annotations

import math
from dataclasses import dataclass

from likely.classroom.course.chapters import Exercise, read_chapters
from likely.errors import SettingError, nearest, shown
from likely.models.fractions import Number, as_float, number

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

    Decimals need three significant digits. The page of a chapter says the same (exercises.js).

    >>> check("1.1", 0.6)
    1.1: right. It is 3/5.
    >>> check("1.1", "3/14")
    1.1: not yet. That is the share of all days, not of the rainy ones.
    """
    exercises = {name: found for chapter in read_chapters() for name, found in chapter.exercises().items()}
    if exercise not in exercises:
        raise SettingError(f"There is no exercise {shown(exercise)}. {nearest(exercise, exercises)}")
    if answer is ...:
        return Verdict(exercise, None, "no answer yet. Put yours in place of the three dots.")
    asked = exercises[exercise]
    # The chapters write a minus sign, and a reader may copy it.
    given = number(answer.replace("−", "-") if isinstance(answer, str) else answer, f"The answer to {exercise}")
    if is_close(given, number(asked.answer, exercise), whole=asked.is_whole):
        return Verdict(exercise, True, f"right. It is {asked.written}.")
    return Verdict(exercise, False, f"not yet. {_remark(given, asked) or 'Hint: ' + asked.hint}")


def is_close(given: Number, right: Number, *, whole: bool = False) -> bool:
    """Whether two numbers agree to three digits; whole numbers must be equal.

    >>> is_close(0.205, 0.204579), is_close(0.2, 0.204579), is_close(5, 5.004, whole=True)
    (True, False, False)
    """
    if given == right:
        return True
    return not whole and right != 0 and abs(as_float(given) - as_float(right)) < _unit(right, DIGITS)


def _unit(value: Number, digits: int) -> float:
    """One unit of the last of so many significant digits."""
    return 10.0 ** (math.floor(math.log10(abs(as_float(value)))) - digits + 1)


def _remark(given: Number, asked: Exercise) -> str | None:
    """The mistake that gives this number, if it is a usual one; or that it is right as far as it goes."""
    for value, sentence in asked.mistakes:
        if is_close(given, number(value, asked.name)):
            return sentence
    right = number(asked.answer, asked.name)
    if asked.is_whole or right == 0 or given == 0:
        return None
    # 0.63 for 0.6346 is rough; 0.643 has its three digits, and is wrong.
    is_rough = float(f"{as_float(given):.{DIGITS - 1}g}") == as_float(given)
    is_near = abs(as_float(given) - as_float(right)) < _unit(right, DIGITS - 1)
    return f"Close, but {DIGITS} digits are wanted." if is_rough and is_near else None
