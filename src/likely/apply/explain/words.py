"""Names, probabilities and ratios as people read them. Everything that came from data is escaped here."""

from __future__ import annotations

import math

from likely.errors import shown

_SMALL = ("twice", *(f"{n} times" for n in ("three", "four", "five", "six", "seven", "eight", "nine", "ten")))


def clean(text: str | None, limit: int = 30) -> str:
    """A name or a cell as it may stand in a line."""
    return shown("" if text is None else text, limit)[1:-1] or "''"


def percent(chance: float) -> str:
    """A probability in per cent: never 100 where it is less, never 0 where it is more.

    >>> percent(0.2054), percent(0.99999), percent(1.0), percent(1e-9)
    ('20.5 %', '99.999 %', '100 %', '1e-07 %')
    """
    value = 100 * chance
    if chance >= 1 or chance <= 0:
        return f"{value:.0f} %"
    if chance < 0.001:
        return f"{value:.2g} %"
    if chance > 0.999:
        digits = max(1, math.ceil(-math.log10(1 - chance)) - 2)
        return f"{value:.{min(digits + 1, 14)}f}".rstrip("0").rstrip(".") + " %"
    return f"{value:.1f} %"


def times(log: float) -> str:
    """How many times as likely, from the log of a ratio of one or more.

    >>> times(math.log(2)), times(math.log(1.8)), times(math.log(2500)), times(2000.0), times(1e200)
    ('twice', '1.8 times', '2,500 times', '10^868.6 times', '10^4.34e+199 times')
    """
    if log > math.log(1e6):
        return f"{power_of_ten(log)} times"
    ratio = math.exp(log)
    told = f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.{2 if ratio >= 1.095 else 3}g}"
    return _SMALL[int(told) - 2] if told.isdigit() and 2 <= int(told) <= 10 else f"{told} times"


def power_of_ten(log: float) -> str:
    digits = log / math.log(10)
    return f"10^{digits:.1f}" if digits < 1e6 else f"10^{digits:.3g}"
