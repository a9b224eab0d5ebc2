"""How the numbers of a working are written: as fractions, decimals, logs, vectors and matrices. Knows values only."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Literal, TypeAlias

from likely.errors import SettingError, shown
from likely.models.quotient import READABLE, Quotient

Style: TypeAlias = Literal["fractions", "decimals", "logs"]
STYLES = ("fractions", "decimals", "logs")
Value: TypeAlias = "Quotient | Fraction | float | int | str | tuple[Value, ...]"
"""What a quantity may be: a number, words, a vector, a matrix (a vector of rows)."""

MOST_STEPS = 12
"""So many factors are written out; the rest are counted."""


def check_style(style: object, base: object, bases: Collection[str]) -> None:
    """Refuse a way of writing that there is not."""
    if style not in STYLES:
        raise SettingError(f"A working is written in {', '.join(STYLES)}, not in {shown(style)}.")
    if base not in bases:
        raise SettingError(f"Logs are taken to the base {', '.join(bases)}, not {shown(base)}.")


def clean(text: str) -> str:
    """A name or a cell as it may stand in a formula."""
    return shown(text, 30)[1:-1]


def shorten(parts: list[str]) -> list[str]:
    """The first of many, and how many more there are."""
    if len(parts) <= MOST_STEPS:
        return parts
    return [*parts[:MOST_STEPS], f"… ({len(parts) - MOST_STEPS} more)"]


def join(parts: list[str], operator: str) -> str:
    """Parts of a product or a sum; a sum takes over the sign of what is negative."""
    some = shorten(parts)
    if operator != "+":
        return f" {operator} ".join(some)
    out = some[0] if some else "0"
    for part in some[1:]:
        out += f" − {part[1:]}" if part.startswith("−") else f" + {part}"
    return out


def log_heading(before: str, heading: str) -> str:
    """What a step is called where its log is taken; a quotient goes into brackets."""
    return f"{before[:-1]}({heading})" if before and " / " in heading else before + heading


def exp(log: float) -> float:
    """e**log; infinite where that is beyond a double."""
    return math.exp(log) if log < 709 else math.inf


def decimal(log: float) -> str:
    """e**log in four digits; as a power of ten where it is beyond a double."""
    return f"{math.exp(log):.4g}" if -700 < log < 700 or log == -math.inf else f"10^{log / math.log(10):.2f}"


def signed(value: float) -> str:
    """A number in four digits with a minus sign that is one."""
    if math.isinf(value):
        return "−∞" if value < 0 else "∞"
    return minus(f"{value:.4g}")


def minus(text: str) -> str:
    """A number with a minus sign that is one, where it has any; that of an exponent stays."""
    return f"−{text[1:]}" if text.startswith("-") else text


def add_up(values: Sequence[float]) -> str:
    """A sum, term by term: `−0.1909 − 0.6532`."""
    return join([signed(v) for v in values], "+")


def write_value(value: Value, style: Style) -> str:
    """A value as it stands on a board."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        if value and isinstance(value[0], tuple):
            rows = (" ".join(write_value(v, style) for v in row) for row in value if isinstance(row, tuple))
            return f"[{'; '.join(rows)}]"
        return f"({', '.join(write_value(v, style) for v in value)})"
    if isinstance(value, Quotient):
        return str(value) if style == "fractions" else signed(float(value))
    if isinstance(value, Fraction):
        if value.denominator == 1 and abs(value) < 10**15:
            return minus(str(value.numerator))
        near = decimal(math.log(abs(value.numerator)) - math.log(value.denominator))
        near = f"−{near}" if value < 0 else near
        return f"{value} = {near}" if style == "fractions" and value.denominator <= READABLE**2 else near
    if isinstance(value, int):
        return minus(str(value))
    return signed(value)


def write_product(joined: str, product: Fraction | float, log: float, factors: int, style: Style) -> str:
    """A product, its value as a fraction where that can be read, and as a decimal."""
    parts = [joined]
    if isinstance(product, Fraction) and style == "fractions":
        if product.denominator <= READABLE**2 and factors > 1:
            parts.append(str(product))
        if product.denominator == 1:
            return " = ".join(parts)
    elif factors == 1:
        return joined
    return " = ".join([*parts, decimal(log)])


def plain_value(value: Value) -> object:
    """A value for JSON: a fraction with its decimal, a number, words, a list of these; None where it is infinite."""
    if isinstance(value, tuple):
        return [plain_value(v) for v in value]
    if isinstance(value, (Quotient, Fraction)):
        try:
            near: float | None = float(value)
        except OverflowError:
            near = None
        if isinstance(value, Fraction) and value.denominator == 1:
            return near
        return {"fraction": str(value), "value": near}
    return value if isinstance(value, (str, int)) or math.isfinite(value) else None
