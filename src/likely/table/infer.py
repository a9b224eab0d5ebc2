"""The rules that say how a column is to be read, each with a sentence of why; and how people say what a column is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import ColumnError, SettingError, shown
from likely.table.schema import Column, Kind, Reading, Reason, Schema, Why
from likely.table.texts.numbers import ANY_UNIT, LEVELS, PARTS, UNITS
from likely.table.words import Tokens

if TYPE_CHECKING:
    from likely.machinery.arrays import Floats


# The rules that say how a column is to be read, each with a sentence of why. They look at profiles, never at rows.

FEW_NUMBERS = 10
"""Whole numbers with at most so many values are levels, if each value has rows enough."""
ROWS_PER_LEVEL = 5
MANY_LEVELS = 10_000
"""More levels than this and a column is an identifier."""
MANY_CLASSES = 1000
NUMERIC_CLASSES = 30
"""A numeric target with more values than this must be binned."""
MOSTLY_NUMBERS = 0.8
"""A text column with this share of numbers is a number; the strays count as missing, and are told."""


SMALL_TABLE = 30
"""In a table of fewer rows, numbers that count them (0, 1, 2 …) may be measurements: they are kept, and told."""


@dataclass(frozen=True, slots=True)
class TextProfile:
    """What a text column looks like: how many of its cells have which form."""

    rows: int
    missing: int
    whole: int
    decimal: int
    code: int
    date: int
    words: int
    distinct: int
    words_per_cell: float
    examples: tuple[str, ...]
    units: tuple[str, ...] = ()
    """The units of its cells, where each is a number with one."""
    large: bool = False
    """Whether each cell is a whole number of more digits than a double holds."""

    @property
    def unit(self) -> str | None:
        """The one unit of all cells."""
        return self.units[0] if len(self.units) == 1 else None


def infer_text_column(name: str, profile: TextProfile, *, target: bool = False) -> Column:
    """How to read a text column; kind "number" is a first answer that `settled` may still change."""
    kind, reading, reason = _kind_of_text(profile)
    if target and kind in ("identifier", "text", "constant"):
        kind, reading = "nominal", "text"
    left_out = kind in ("identifier", "constant")
    role = "target" if target else ("left out" if left_out else "attribute")
    if profile.unit is not None and not target:
        reason = Reason("percentages" if profile.unit == "%" else "amounts")
        return Column(name, "number", "attribute", "number", reason=reason, unit=profile.unit)
    if len(profile.units) > 1 and kind in ("nominal", "identifier", "text") and not target:
        reason = Reason("several units", len(profile.units), examples=profile.units)
        kind, reading = ("nominal", "text") if kind == "text" else (kind, reading)
    tokens = Tokens() if kind == "text" else None
    return Column(name, kind, role, reading, tokens=tokens, reason=reason)  # type: ignore[arg-type]


def _kind_of_text(profile: TextProfile) -> tuple[Kind, Reading, Reason]:
    rows, distinct = profile.rows, profile.distinct
    if rows == 0:
        return "constant", "text", Reason("empty")
    numbers = profile.whole + profile.decimal
    if profile.large and 1 < distinct <= MANY_LEVELS and rows >= ROWS_PER_LEVEL * distinct:
        return "nominal", "number", Reason("large keys", distinct)  # as doubles some of them would be the same
    if profile.code == 0 and numbers >= MOSTLY_NUMBERS * rows:
        return "number", "number", _mixed("numbers", rows - numbers, profile)
    if profile.date >= MOSTLY_NUMBERS * rows:
        return "date", "date", _mixed("dates", rows - profile.date, profile)
    if distinct == 1:
        return "constant", "text", Reason("constant")
    share = distinct / rows
    different = (distinct == rows >= 5) or (share > 0.9 and rows >= 50)
    if (profile.words_per_cell >= 4 and share > 0.3) or (profile.words_per_cell >= 3 and different):
        return "text", "text", Reason("free text", round(profile.words_per_cell))
    if different:
        return "identifier", "text", Reason("all different", distinct, rows)
    if distinct > MANY_LEVELS:
        return "identifier", "text", Reason("too many levels", distinct)
    if profile.code and profile.code + numbers == rows:
        return "nominal", "text", Reason("codes", distinct)
    if rows // 2 < numbers < rows:
        return "nominal", "text", _mixed("mixed levels", rows - numbers, profile)
    return "nominal", "text", Reason("levels", distinct)


def _mixed(why: Why, strays: int, profile: TextProfile) -> Reason:
    examples = tuple(shown(e, 20) for e in profile.examples) if strays else ()
    return Reason(why, profile.distinct, strays=strays, examples=examples)


def finalize_number_column(
    column: Column, values: Floats, weigh: Callable[[], Floats], complete: bool, keep_row_numbers: bool = False
) -> Column:
    """The last word on a column of numbers, once its values have been tallied.

    `values` are sorted, `weigh` says how much each weighs, which few are asked; `complete` tells that no
    value was coarsened. `keep_row_numbers` keeps numbers that count the rows, as a small table does anyway.
    """
    if len(values) == 0:
        return replace(column, kind="constant", role="left out", reason=Reason("empty"))
    large = column.kind == "number" and _are_large(values)
    if len(values) == 1 and complete:
        reason = Reason("large whole numbers" if large else "constant")
        return replace(column, kind="constant", role="left out", reason=reason)
    if column.kind != "number" or column.unit is not None:
        return column
    if not bool(np.all(values == np.floor(values))):
        return column
    if large:
        # One of these doubles may stand for several whole numbers, so they are no levels: those are exact.
        return replace(column, reason=Reason("large whole numbers"))
    weight = weigh()
    rows = float(weight.sum())
    if complete and (len(values) == 2 or (len(values) <= FEW_NUMBERS and rows >= ROWS_PER_LEVEL * len(values))):
        reason = column.reason if column.part is not None else Reason("few whole numbers", len(values))
        return replace(column, kind="nominal", reason=reason)
    if column.part is None and is_serial(values, weight):
        if keep_row_numbers or rows < SMALL_TABLE:
            return replace(column, reason=Reason("kept row numbers"))
        return replace(column, kind="identifier", role="left out", reason=Reason("row numbers"))
    return column


def _are_large(values: Floats) -> bool:
    """Whether whole numbers of 64 bits are so large that a double is not enough to tell them apart."""
    most = float(np.abs(values).max())
    return 2.0**53 <= most < 2.0**64 and bool(np.all(values == np.floor(values)))


def is_serial(values: Floats, weight: Floats) -> bool:
    """Whether numbers run 1, 2, 3 … once each: every stretch of the tally then holds as many rows as whole numbers."""
    rows = float(weight.sum())
    if rows < 5 or len(values) < 5 or not bool(np.all(values == np.floor(values))) or values[0] < 0:
        return False
    stretch = np.diff(values)
    inside = weight[:-1]
    return bool(np.mean(np.abs(inside - stretch) <= 0.01 * stretch) > 0.98)


def date_parts(name: str, names: Sequence[str], tried: bool = False) -> list[Column]:
    """The parts of a date as attributes beside it. Those that never change are left out with the last word.

    Where they are only `tried`, a table that has columns of their names has none of them.
    """
    out = []
    for part in PARTS:
        own = f"{name}: {part}"
        if own in names and tried:
            return []
        if own in names:
            raise ColumnError(f"The table has a column {shown(own)}, as a part of {shown(name)} is called. Rename it.")
        levels, reason = LEVELS.get(part, ()), Reason("tried part of a date" if tried else "part of a date")
        kind, reads = ("nominal", "text") if levels else ("number", "number")
        out.append(Column(own, kind, "attribute", reads, levels, reason=reason, part=part, part_of=name))  # type: ignore[arg-type]
    return out


# -- what a person should know of it ---------------------------------------------------------------------------


def type_option(name: str, kind: str) -> str:
    """The option that reads a column otherwise, as it can be typed into a shell."""
    plain = name if name.isprintable() and len(name) <= 40 else "COLUMN"
    return f"--type {quote(f'{plain}={kind}')}"


def remark(column: Column) -> str:
    """What a person should know of how a column was read: that it is left out, or has cells unlike the rest."""
    name = shown(column.name)
    if column.reason.why == "several units":
        units = ", ".join(shown(unit) for unit in column.reason.examples)
        then = "left out" if column.role == "left out" else f"read as {column.kind}"
        return f"{name} is {then}: its numbers have several units ({units}). Write them in one to have numbers."
    if column.kind == "identifier" and not column.asked:
        return f"{name} looks like an identifier and is left out: {column.why}."
    if column.reason.why == "kept row numbers":
        option = type_option(column.name, "ignore")
        return f"{name} counts the rows, and is kept as a number. If it only numbers them, leave it out: {option}"
    if column.reason.why == "large whole numbers":
        option = type_option(column.name, "nominal")
        return f"{name} is read as a number: {column.why}. If these are keys or account numbers, say {option}."
    if column.reason.strays:
        other = "number" if column.kind == "nominal" else "nominal"
        return f"{name} is mixed: {column.why}. If that is wrong, say {type_option(column.name, other)}."
    return ""


def remarks(schema: Schema) -> list[str]:
    """All that is to be said of columns."""
    return [words for column in schema.columns if (words := remark(column))]


# How people say what a column is: "number", "nominal of numbers", "ignore"; there and back. Knows no data.

_PLAIN: dict[str, tuple[Kind, Reading]] = {
    "nominal": ("nominal", "text"),
    "number": ("number", "number"),
    "date": ("date", "date"),
    "text": ("text", "text"),
    "ignore": ("ignored", "text"),
    "identifier": ("identifier", "text"),
    "constant": ("constant", "text"),
}
_LONG: dict[str, tuple[Kind, Reading]] = {
    "nominal of numbers": ("nominal", "number"),
    "nominal of booleans": ("nominal", "boolean"),
    "identifier of numbers": ("identifier", "number"),
    "constant of numbers": ("constant", "number"),
    "constant of dates": ("constant", "date"),
    "date in parts": ("date", "date"),
}
_WORDS = {meant: word for word, meant in (_LONG | _PLAIN).items()}
USUAL = ("nominal", "nominal of numbers", "number", "date", "date in parts", "text", "ignore")
"""What there is to say by hand; the others are how a spec spells what inference found."""


_IN = "number in "
IN_PARTS = "date in parts"
"""A date, and beside it its weekday, month, day of the month and of the year, and hour."""


def said_unit(word: str) -> str | None:
    """The unit that was said of a column.

    >>> said_unit("number in %"), said_unit("number")
    ('%', None)
    """
    return word.removeprefix(_IN) if word.startswith(_IN) and word.removeprefix(_IN) in UNITS else None


def parse_kind(word: str, name: str, form: str) -> tuple[Kind, Reading]:
    """Kind and reading of a column of which this was said; `form` is what its table keeps there.

    >>> parse_kind("nominal of numbers", "rooms", "text"), parse_kind("nominal", "rooms", "number")
    (('nominal', 'number'), ('nominal', 'number'))
    """
    if said_unit(word) is not None:
        return "number", "number"
    if word in _LONG:
        return _LONG[word]
    if word not in _PLAIN:
        raise SettingError(f"Column {shown(name)} cannot be read as {shown(word)}. Say one of {', '.join(USUAL)}.")
    kind, reading = _PLAIN[word]
    if kind == "nominal" and form not in ("text", "boolean", "empty"):
        reading = "number"  # the table keeps numbers there, so 1 and 1.0 are one level
    return kind, reading


def kind_name(column: Column) -> str:
    """What to say of a column so that it is read again as it was.

    >>> kind_name(Column("rooms", "nominal", "attribute", "number"))
    'nominal of numbers'
    """
    word = _WORDS[column.kind, column.reading]
    return word if column.unit is None or column.kind != "number" else f"{_IN}{column.unit}"


def has_known_words(column: Column) -> bool:
    """Whether its unit, and which part of a date it is, are such as there are."""
    whole = column.part is None and column.part_of is None
    return (column.unit is None or column.unit in (*UNITS, ANY_UNIT)) and (
        whole or (column.part in PARTS and bool(column.part_of))
    )
