"""The schema: how each column is read (kind), what it is for (role), and why. Knows no data and no learner."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from likely.errors import ColumnError, SchemaMismatch, nearest, shown
from likely.machinery.presented import Presented
from likely.table.words import Tokens

Kind = Literal["nominal", "number", "date", "text", "identifier", "constant", "ignored"]
Role = Literal["attribute", "target", "weight", "left out"]
Reading = Literal["text", "number", "date", "boolean"]

MISSING: tuple[str, ...] = ("", "?", "NA", "N/A", "n/a", "#N/A", "null", "NULL", "Null", "NaN", "nan", "<NA>")
"""Cells that stand for "not known" unless the user names others. The empty cell always does."""

OTHER = "other"
"""The level that stands for all that are too rare to be kept by name."""

Why = Literal[
    "unsaid", "asked", "declared", "weight", "stored numbers", "stored dates", "booleans", "unusable", "empty",
    "constant", "numbers", "dates", "free text", "all different", "too many levels", "levels", "mixed levels", "codes",
    "few whole numbers", "large whole numbers", "large keys", "row numbers", "kept row numbers",
    "numeric classes", "equal bins", "given bins", "known classes", "group", "order", "percentages", "amounts",
    "several units", "part of a date", "tried part of a date", "silent",
]  # fmt: skip
_SENTENCES: dict[Why, str] = {
    "unsaid": "",
    "asked": "as asked",
    "declared": "the file says so",
    "weight": "the weight of a row",
    "stored numbers": "the table keeps numbers here",
    "stored dates": "the table keeps dates here",
    "booleans": "true or false",
    "unusable": "cells of this type cannot be used",
    "empty": "every cell is missing",
    "constant": "every cell is the same",
    "numbers": "every cell is a number",
    "dates": "every cell is a date",
    "free text": "free text, {count} words a cell on average",
    "all different": "almost every cell is different ({count:,} in {rows:,} rows)",
    "too many levels": "{count:,} levels are too many to learn from",
    "levels": "{count:,} levels",
    "mixed levels": "{count:,} levels, mostly numbers",
    "codes": "{count:,} codes with leading zeros",
    "few whole numbers": "whole numbers with only {count} values",
    "large whole numbers": "whole numbers of more than 15 digits, rounded to the nearest double",
    "large keys": "{count:,} whole numbers of more than 15 digits, which are keys",
    "row numbers": "whole numbers that count the rows",
    "kept row numbers": "whole numbers; they count the rows, which may be chance",
    "numeric classes": "numbers with {count} values",
    "equal bins": "numbers in {count} bins of about as many rows each",
    "given bins": "numbers in the given bins",
    "known classes": "its classes are those that are known",
    "group": "rows that share it stay together",
    "order": "rows are taken in its order",
    "part of a date": "a part of the date",
    "tried part of a date": "a part of the date, kept if held-out rows say so",
    "silent": "it tells nothing of the classes beyond chance",
    "percentages": "every cell is a percentage",
    "amounts": "every cell is an amount of money",
    "several units": "numbers with {count} units",
}
_PARTS = {
    "weekday": "on {}s",
    "month": "in {}",
    "day": "on day {} of the month",
    "day of year": "on day {} of the year",
    "hour": "at {} h",
}
"""What people say of a part of a date."""
_MIXED: dict[Why, str] = {"numbers": "numbers", "dates": "dates"}
"""How a sentence begins where some cells are otherwise."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a column is read as it is, with the counts that its sentence names.

    >>> print(Reason("levels", 3)), print(Reason("numbers", strays=2, examples=("'?'", "'x'")))
    3 levels
    numbers; 2 other cells ('?', 'x') count as missing
    (None, None)
    """

    why: Why = "unsaid"
    count: int = 0
    """Levels, values, bins, or words of a cell."""
    rows: int = 0
    strays: int = 0
    """Cells that are unlike the rest: not numbers, or not dates."""
    examples: tuple[str, ...] = ()
    """Some of them, fit to be shown."""

    def __str__(self) -> str:
        """The sentence for people."""
        if not self.strays:
            return _SENTENCES[self.why].format(count=self.count, rows=self.rows)
        begin = _MIXED.get(self.why) or _SENTENCES[self.why].format(count=self.count)
        one = self.strays == 1
        cells = f"{self.strays:,} other cell" + ("" if one else "s")
        cells += f" ({', '.join(self.examples)})" if self.examples else ""
        if self.why == "mixed levels":
            return f"{begin}; {cells} {'is no number' if one else 'are no numbers'}"
        return f"{begin}; {cells} {'counts' if one else 'count'} as missing"


@dataclass(frozen=True, slots=True)
class Column:
    """One column: `kind` is what it means, `reading` how a cell becomes a value, `reason` why it is read so."""

    name: str
    kind: Kind
    role: Role
    reading: Reading = "text"
    levels: tuple[str, ...] = ()
    """Levels that the file itself declares (ARFF); they belong to the domain even where no row has them."""
    edges: tuple[float, ...] = ()
    """For a binned numeric target: the inner edges; class i holds edges[i-1] <= x < edges[i]."""
    tokens: Tokens | None = None
    """For a text attribute: what counts as a word of it."""
    kept: tuple[str, ...] | None = None
    """Levels, or words, that are kept by name, where rare ones are not: other levels are "other", other words none."""
    reason: Reason = field(default=Reason(), compare=False)
    unit: str | None = None
    """For a number: the unit with which its cells are written, which may be left out."""
    part: str | None = None
    """Where it is a part of a date in another column: which (weekday, month, day, day of year, hour)."""
    part_of: str | None = None
    """The column of that date."""

    @property
    def stored_as(self) -> str:
        """The column of the table that its cells come from."""
        return self.name if self.part_of is None else self.part_of

    def words(self, cell: str, date: str) -> str:
        """A cell of a part of a date in words; the date as it may be shown. Empty where the column is no such part.

        >>> Column("day: hour", "number", "attribute", part="hour", part_of="day").words("18", "day")
        'day at 18 h'
        """
        return "" if self.part is None else f"{date} {_PARTS[self.part].format(cell)}"

    @property
    def why(self) -> str:
        """The reason as a sentence for people; empty where there is none."""
        return str(self.reason)

    @property
    def asked(self) -> bool:
        """Whether the user said how it is to be read."""
        return self.reason.why == "asked"

    @property
    def is_tried(self) -> bool:
        """Whether it is a part of a date of which held-out rows have yet to say whether it is kept."""
        return self.reason.why == "tried part of a date"

    @property
    def is_empty(self) -> bool:
        """Whether every cell was missing."""
        return self.reason.why == "empty"


@dataclass(frozen=True, slots=True, repr=False)
class Schema(Presented):
    """The columns of a table in order, and the cells that mean "missing".

    >>> import likely
    >>> schema = likely.summarize({"sky": ["sun", "rain", "sun"], "play": ["yes", "no", "yes"]}, target="play").schema
    >>> schema.names, schema["sky"].kind, schema.target.name
    (('sky', 'play'), 'nominal', 'play')
    """

    columns: tuple[Column, ...]
    missing: tuple[str, ...] = MISSING

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise ColumnError(f"There is no column {shown(name)}. {nearest(name, self.names)}")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.columns)

    @property
    def target(self) -> Column | None:
        return next((c for c in self.columns if c.role == "target"), None)

    @property
    def weight(self) -> Column | None:
        return next((c for c in self.columns if c.role == "weight"), None)

    @property
    def attributes(self) -> tuple[Column, ...]:
        return tuple(c for c in self.columns if c.role == "attribute")

    @property
    def used(self) -> tuple[Column, ...]:
        """The columns of which something is made."""
        return tuple(c for c in self.columns if c.role != "left out")

    @property
    def stored(self) -> list[str]:
        """The names of what a sweep has to read; those of dates for their parts."""
        return list(dict.fromkeys(c.stored_as for c in self.used))

    @property
    def settled(self) -> Schema:
        """The same without parts of dates that are only tried."""
        return self.with_columns(c for c in self.columns if not c.is_tried)

    def with_columns(self, columns: Iterable[Column]) -> Schema:
        return replace(self, columns=tuple(columns))

    def check_agrees(self, other: Schema) -> None:
        """Refuse, naming the column, if `other` reads any column differently."""
        mine, theirs = {c.name: c for c in self.columns}, {c.name: c for c in other.columns}
        remedy = "Read both with the same schema (schema=… or --schema FILE)."
        for name in [*mine, *theirs]:
            a, b = mine.get(name), theirs.get(name)
            if a is None or b is None:
                raise SchemaMismatch(f"Only one of the two has a column {shown(name)}. {remedy}")
            if a != b:
                how = difference(a, b)
                raise SchemaMismatch(f"The two read column {shown(name)} differently: {how}. {remedy}")
        if self.names != other.names:
            raise SchemaMismatch(f"The two have the same columns in another order. {remedy}")
        if self.missing != other.missing:
            raise SchemaMismatch(f"The two do not take the same cells for missing. {remedy}")


def difference(a: Column, b: Column) -> str:
    """In a few words, the first way in which two columns of one name differ."""
    for one, two in ((a.role, b.role), (a.kind, b.kind)):
        if one != two:
            return f"{one} here, {two} there"
    if a.reading != b.reading:
        return f"cells read as {a.reading} here, as {b.reading} there"
    if a.unit != b.unit:
        return f"numbers {_in_unit(a)} here, {_in_unit(b)} there"
    if a.tokens != b.tokens:
        return "other words of its texts count"
    if a.kept != b.kept:
        return "other levels or words were frequent enough to be kept by name"
    return "other levels are declared" if a.levels != b.levels else "other edges"


def _in_unit(column: Column) -> str:
    return "without a unit" if column.unit is None else f"in {column.unit}"
