"""Pieces of SQL as expressions of sqlglot, and CASE expressions of pairs and sums of trees."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from likely.errors import SettingError, shown
from likely.machinery.arrays import Floats
from likely.models.shapes import Axis, PairTable, TreeSum
from likely.portable.describe import Attribute
from likely.portable.reading import MISSING, UNSEEN, number_of

# Pieces of SQL as expressions of sqlglot: literals that keep every digit, cells read as the model reads them.

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
    text = repr(abs(float(value)))
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
    return finite(as_double(value), missing)


def finite(value: exp.Expr, missing: tuple[str, ...] = (), most: float = MOST) -> exp.Expr:
    """A number; NULL where it is infinite, farther from 0 than `most`, or stands for a missing cell."""
    condition: Any = exp.Between(this=value, low=number(-most), high=number(most))
    gone = [v for t in missing if math.isfinite(v := number_of(t))]
    if gone:
        strange = exp.Not(this=exp.In(this=value.copy(), expressions=[number(v) for v in gone]))
        condition = exp.And(this=condition, expression=strange)
    return case([(condition, value.copy())])


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
    return exp.EQ(this=exp.column(name), expression=number(number_of(own)))


# What pairs and sums of trees add, as text of CASE expressions, which all databases write alike.

ARMS = 8
"""Bins that one CASE compares a number with; more of them are first parted into groups."""

Codes = frozenset[int]


def number_text(value: float) -> str:
    """A double, in a form that no database takes for a decimal of fewer digits."""
    text = repr(float(value))
    return text if "e" in text else text + "e0"


class ColumnPlaces(NamedTuple):
    """Where the cells of an attribute are."""

    name: str
    places: tuple[int, ...] = ()
    """Of a nominal attribute, the number of each level there."""


class AxisConditions:
    """An axis as conditions on one column: a number, or the place of a level (MISSING and UNSEEN are places too)."""

    def __init__(self, axis: Axis, column: ColumnPlaces) -> None:
        self.axis, self.column = axis, column.name
        self._places: dict[int, list[int]] = {}
        self._starts: list[float] = [] if axis.edges is None else axis.edges.tolist()
        if axis.groups is not None:
            levels = zip(column.places, axis.groups.tolist(), strict=True)
            for place, code in [(UNSEEN, axis.unseen), (MISSING, axis.missing), *levels]:
                self._places.setdefault(code, []).append(place)
        every = range(axis.size) if axis.groups is None else self._places
        self.codes: Codes = frozenset(code for code in every if code >= 0)
        """Those that a row may have."""

    def unknown(self) -> str | None:
        """The condition that a row has no code; None where it always has one."""
        if self.axis.groups is None:
            return f"{self.column} IS NULL" if self.axis.missing < 0 else None
        return self._among(self._places[-1]) if -1 in self._places else None

    def condition(self, codes: Codes, domain: Codes) -> str:
        """The condition that a code is one of `codes`, of a row whose code is in `domain`; never NULL but for no."""
        if self.axis.groups is not None:
            return self._among(sorted(place for code in codes for place in self._places.get(code, ())))
        bins = [code for code in range(len(self._starts) + 1) if code in domain]
        parts = []
        if self.axis.missing in codes:
            parts.append(f"{self.column} IS NULL")
        for inside, run in groupby(range(len(bins)), lambda k: bins[k] in codes):
            own = list(run)
            if inside:
                parts.append(self._between(bins, own[0], own[-1]))
        return " OR ".join(parts)

    def _between(self, bins: Sequence[int], first: int, last: int) -> str:
        """The condition that a number is in a run of the bins in which it can be."""
        low = f"{self.column} >= {number_text(self._starts[bins[first] - 1])}" if first else ""
        high = f"{self.column} < {number_text(self._starts[bins[last]])}" if last < len(bins) - 1 else ""
        if low and high:
            return f"({low} AND {high})"
        return low or high or f"NOT {self.column} IS NULL"

    def _among(self, places: Sequence[int]) -> str:
        """Runs of places. No IN: DuckDB makes a join of each long one."""
        parts = []
        for _, run in groupby(enumerate(sorted(places)), lambda at: at[1] - at[0]):
            own = [place for _, place in run]
            first, last = own[0], own[-1]
            if first == last:
                parts.append(f"{self.column} = {first}")
            elif first == UNSEEN:
                parts.append(f"{self.column} <= {last}")
            else:
                parts.append(f"{self.column} BETWEEN {first} AND {last}")
        return " OR ".join(parts)

    def each(self, text_of: Callable[[int], str]) -> str:
        """What is said for the row's code; the row has one."""
        if self.axis.groups is None:
            own = self._bins(0, len(self._starts), text_of)
            gone = self.axis.missing
            return own if gone < 0 else f"CASE WHEN {self.column} IS NULL THEN {text_of(gone)} ELSE {own} END"
        # Those with most places are what is left over.
        codes = sorted(sorted(self.codes), key=lambda code: len(self._places[code]))
        arms = [f"WHEN {self._among(self._places[code])} THEN {text_of(code)}" for code in codes[:-1]]
        return f"CASE {' '.join(arms)} ELSE {text_of(codes[-1])} END" if arms else text_of(codes[-1])

    def _bins(self, first: int, last: int, text_of: Callable[[int], str]) -> str:
        """What is said for a bin from `first` to `last`."""
        count = last - first + 1
        if count == 1:
            return text_of(first)
        size = max(1, -(-count // ARMS))
        groups = [(low, min(low + size - 1, last)) for low in range(first, last + 1, size)]
        said = [self._bins(low, high, text_of) for low, high in groups]
        arms = [
            f"WHEN {self.column} < {number_text(self._starts[high])} THEN {text}"
            for (_, high), text in zip(groups[:-1], said, strict=False)
        ]
        return f"CASE {' '.join(arms)} ELSE {said[-1]} END"

    @property
    def length(self) -> int:
        """About how many characters `each` takes, besides what it says."""
        return 24 * self.axis.size + (0 if self.axis.groups is None else 4 * len(self.axis.groups))


def choices_of(term: PairTable | TreeSum, columns: Mapping[str, ColumnPlaces]) -> list[AxisConditions]:
    """The axes of a term; `columns` are by attribute."""
    return [AxisConditions(axis, columns[axis.name]) for axis in term.axes]


def pair_text(term: PairTable, table: Floats, columns: Mapping[str, ColumnPlaces]) -> str:
    """What a pair adds, of one class."""
    first, second = choices_of(term, columns)
    if not first.codes or not second.codes:
        return "0e0"

    def of_first(a: int) -> str:
        return second.each(lambda b: number_text(table[a, b]))

    def of_second(b: int) -> str:
        return first.each(lambda a: number_text(table[a, b]))

    # The inner choice is written out for each code of the outer one.
    outer_first = first.length + first.axis.size * second.length <= second.length + second.axis.size * first.length
    said = first.each(of_first) if outer_first else second.each(of_second)
    gone = [text for text in (first.unknown(), second.unknown()) if text is not None]
    return f"CASE WHEN {' OR '.join(gone)} THEN 0e0 ELSE {said} END" if gone else said


def tree_texts(term: TreeSum, values: Floats, columns: Mapping[str, ColumnPlaces]) -> list[str]:
    """What each tree adds, of one class."""
    writer = _Trees(term, values, choices_of(term, columns))
    return [writer.text(root) for root in term.roots.tolist()]


class _Trees:
    def __init__(self, term: TreeSum, values: Floats, choices: Sequence[AxisConditions]) -> None:
        self.left, self.values, self.choices = term.left, values.tolist(), choices
        self.axis, self.below = term.axis.tolist(), term.below.tolist()
        self.sizes = [1] * len(self.axis)
        for node in reversed(range(len(self.axis))):  # children come after their parents
            if self.axis[node] >= 0:
                below = self.below[node]
                self.sizes[node] += self.sizes[below] + self.sizes[below + 1]

    def text(self, node: int, domains: Mapping[int, Codes] | None = None) -> str:
        """What is said at and below a node, of rows whose codes on some axes are known to be in `domains`."""
        arms, held = [], dict(domains or {})
        while self.axis[node] >= 0:
            j, below = self.axis[node], self.below[node]
            choice = self.choices[j]
            gone = None if j in held else choice.unknown()
            if gone is not None:
                arms.append(f"WHEN {gone} THEN {number_text(self.values[node])}")
            domain = held.get(j, choice.codes)
            left = frozenset(c for c in domain if self.left[node, c])
            sides, side = (left, domain - left), int(not left)
            if all(sides):
                # The larger part is what comes after, so that no more than the logarithm is nested.
                small = int(self.sizes[below + 1] < self.sizes[below])
                said = self.text(below + small, {**held, j: sides[small]})
                arms.append(f"WHEN {choice.condition(sides[small], domain)} THEN {said}")
                side = 1 - small
            held[j], node = sides[side], below + side
        last = number_text(self.values[node])
        return f"CASE {' '.join(arms)} ELSE {last} END" if arms else last
