"""Pieces of SQL as expressions of sqlglot: literals that keep every digit, cells read as the model reads them.

The only room that knows sqlglot is this folder. An impossible score is NULL, which stays NULL in any sum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from likely.errors import SettingError, shown
from likely.portable.forms import Attribute
from likely.portable.reading import cell_of

BLANKS = "".join(map(chr, (*range(9, 14), *range(28, 33), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029,
                           0x202F, 0x205F, 0x3000)))  # fmt: skip
"""What is taken off both ends of a level: all that Python takes for blank."""
MOST = 1.7976931348623157e308

PLAIN = "postgres"
"""The dialect to write in where none is asked for; what only PostgreSQL would understand is avoided then."""

try:
    from sqlglot import exp as exp
except ImportError:  # the extra is not there
    raise SettingError("SQL needs sqlglot, which is not installed. Install it: pip install 'likely[sql]'.") from None


def number(value: float) -> exp.Expr:
    """A double, in a form that no database takes for a decimal of fewer digits."""
    text = repr(abs(value))
    whole = exp.Literal.number(text if "e" in text else text + "e0")
    return exp.Neg(this=whole) if math.copysign(1.0, value) < 0 and value else whole


def written(value: str) -> exp.Expr:
    """A double that is written out already, in words that all databases share."""
    return as_double(exp.var(value))


def possible(value: float) -> exp.Expr:
    """A score; NULL where it is minus infinity."""
    return exp.null() if value == -math.inf else number(value)


def text(value: str) -> exp.Expr:
    """A text, quoted whatever it holds."""
    if "\0" in value:
        raise SettingError(f"The text {shown(value)} holds a zero character, which no text in SQL can.")
    return exp.Literal.string(value)


def column(name: str) -> exp.Expr:
    """A column, quoted whatever its name is."""
    if "\0" in name or not name:
        raise SettingError(f"A column of SQL cannot be called {shown(name)}. Rename it before you fit the model.")
    return exp.column(name, quoted=True)


def case(branches: Sequence[tuple[exp.Expr, exp.Expr]], default: exp.Expr | None = None) -> exp.Expr:
    """CASE WHEN … THEN … END."""
    out = exp.Case()
    for condition, value in branches:
        out = out.when(condition, value, copy=False)
    return out if default is None else out.else_(default, copy=False)


def add_up(parts: Sequence[exp.Expr]) -> exp.Expr:
    """Their sum, as a balanced tree: a long chain would be as deep as it is long."""
    if len(parts) == 1:
        return parts[0]
    half = (len(parts) + 1) // 2
    return exp.paren(exp.Add(this=add_up(parts[:half]), expression=add_up(parts[half:])), copy=False)


def is_below(x: exp.Expr, mean: float, farthest: float) -> exp.Expr | None:
    """The condition that a number is farther below the mean; None where no double is.

    To be asked before it is subtracted: PostgreSQL raises an error where a difference is more than a double holds.
    """
    return exp.LT(this=x, expression=number(mean - farthest)) if math.isfinite(mean - farthest) else None


def is_above(x: exp.Expr, mean: float, farthest: float) -> exp.Expr | None:
    """The condition that a number is farther above the mean; None where no double is."""
    return exp.GT(this=x, expression=number(mean + farthest)) if math.isfinite(mean + farthest) else None


def as_double(value: exp.Expr) -> exp.Expr:
    """A value as a double."""
    return exp.Cast(this=value, to=exp.DataType.build("double"))


def cell(attribute: Attribute, missing: tuple[str, ...], dialect: str | None) -> exp.Expr:
    """A cell as the model reads it: text, or a finite number; NULL where it is missing."""
    value = column(attribute.name)
    if attribute.kind == "level" and not attribute.numeric:
        value, blanks = exp.Cast(this=value, to=exp.DataType.build("text")), text(BLANKS)
        trimmed: Any = exp.Trim(this=value, expression=blanks)
        if dialect is None:  # PostgreSQL's own words for it are TRIM(blanks FROM value), which SQLite does not know
            trimmed = exp.Anonymous(this="TRIM", expressions=[value, blanks])
        tokens = [text(t) for t in dict.fromkeys(("", *missing)) if "\0" not in t]
        return case([(exp.Not(this=exp.In(this=trimmed, expressions=tokens)), value.copy())])
    if attribute.kind == "date":
        value = _seconds(value, dialect)
    value = as_double(value)
    condition: Any = exp.Between(this=value, low=number(-MOST), high=number(MOST))
    gone = [v for t in missing if not math.isnan(v := _as_number(t))]
    if gone:
        strange = exp.Not(this=exp.In(this=value.copy(), expressions=[number(v) for v in gone]))
        condition = exp.And(this=condition, expression=strange)
    return case([(condition, value.copy())])


def _as_number(token: str) -> float:
    found = cell_of(Attribute("", "number"), token, ())
    assert isinstance(found, float)
    return found if math.isfinite(found) else math.nan


def _seconds(value: exp.Expr, dialect: str | None) -> exp.Expr:
    """Seconds since 1970 of a date or a point in time."""
    if dialect == "sqlite":
        # Whole seconds, and what %f has beyond those of %S.
        def part(form: str) -> exp.Expr:
            return exp.Cast(
                this=exp.Anonymous(this="STRFTIME", expressions=[text(form), value.copy()]),
                to=exp.DataType.build("double"),
            )

        fraction = exp.Sub(this=part("%f"), expression=part("%S"))
        return exp.paren(exp.Add(this=part("%s"), expression=exp.paren(fraction)))
    when = exp.Cast(this=value, to=exp.DataType.build("timestamp"))
    return exp.Extract(this=exp.var("EPOCH"), expression=when)


def level(attribute: Attribute, name: str, place: int) -> exp.Expr:
    """The condition that a cell, held in column `name`, is one of the attribute's levels."""
    own = attribute.levels[place]
    if not attribute.numeric:
        return exp.EQ(this=exp.column(name), expression=text(own))
    value = cell_of(Attribute("", "number"), own, ())
    assert isinstance(value, float)
    return exp.EQ(this=exp.column(name), expression=number(value))
