"""How people say what a column is: "number", "nominal of numbers", "ignore"; there and back. Knows no data."""

from __future__ import annotations

from likely.errors import SettingError, shown
from likely.table.schema import Column, Kind, Reading
from likely.table.texts.date_parts import PARTS
from likely.table.texts.units import ANY_UNIT, UNITS

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
"""A date, and beside it its weekday, month, day and hour."""


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
