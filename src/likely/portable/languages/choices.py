"""What pairs and sums of trees add, as text of CASE expressions, which all databases write alike.

Nothing is nested deeper than the logarithm of what it chooses from: SQLite's parser has room for a hundred symbols.
Knows no library of SQL, no model, and of a row only in which columns its cells and the numbers of its levels are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from likely.portable.forms import MISSING, UNSEEN, Axis, PairTerm, TreesTerm

ARMS = 8
"""Bins that one CASE compares a number with; more of them are first parted into groups."""

Codes = frozenset[int]


def number_text(value: float) -> str:
    """A double, in a form that no database takes for a decimal of fewer digits."""
    text = repr(value)
    return text if "e" in text else text + "e0"


class Column(NamedTuple):
    """Where the cells of an attribute are."""

    name: str
    places: tuple[int, ...] = ()
    """Of a nominal attribute, the number of each level there."""


class Choice:
    """An axis as conditions on one column: a number, or the place of a level (MISSING and UNSEEN are places too)."""

    def __init__(self, axis: Axis, column: Column) -> None:
        self.axis, self.column = axis, column.name
        self._places: dict[int, list[int]] = {}
        if axis.codes is not None:
            for place, code in [
                (UNSEEN, axis.unseen),
                (MISSING, axis.missing),
                *zip(column.places, axis.codes, strict=True),
            ]:
                self._places.setdefault(code, []).append(place)
        every = range(axis.size) if axis.codes is None else self._places
        self.codes: Codes = frozenset(code for code in every if code >= 0)
        """Those that a row may have."""

    def unknown(self) -> str | None:
        """The condition that a row has no code; None where it always has one."""
        if self.axis.codes is None:
            return f"{self.column} IS NULL" if self.axis.missing < 0 else None
        return self._among(self._places[-1]) if -1 in self._places else None

    def condition(self, codes: Codes, domain: Codes) -> str:
        """The condition that a code is one of `codes`, of a row whose code is in `domain`; never NULL but for no."""
        if self.axis.codes is not None:
            return self._among(sorted(place for code in codes for place in self._places.get(code, ())))
        bins = [code for code in range(len(self.axis.starts) + 1) if code in domain]
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
        low = f"{self.column} >= {number_text(self.axis.starts[bins[first] - 1])}" if first else ""
        high = f"{self.column} < {number_text(self.axis.starts[bins[last]])}" if last < len(bins) - 1 else ""
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
        if self.axis.codes is None:
            own = self._bins(0, len(self.axis.starts), text_of)
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
            f"WHEN {self.column} < {number_text(self.axis.starts[high])} THEN {text}"
            for (_, high), text in zip(groups[:-1], said, strict=False)
        ]
        return f"CASE {' '.join(arms)} ELSE {said[-1]} END"

    @property
    def length(self) -> int:
        """About how many characters `each` takes, besides what it says."""
        return 24 * self.axis.size + (4 * len(self.axis.codes) if self.axis.codes else 0)


def choices_of(term: PairTerm | TreesTerm, columns: Mapping[str, Column]) -> list[Choice]:
    """The axes of a term; `columns` are by attribute."""
    return [Choice(axis, columns[axis.attribute]) for axis in term.axes]


def pair_text(term: PairTerm, table: Sequence[float], columns: Mapping[str, Column]) -> str:
    """What a pair adds, of one class."""
    first, second = choices_of(term, columns)
    width = term.axes[1].size
    if not first.codes or not second.codes:
        return "0e0"

    def of_first(a: int) -> str:
        return second.each(lambda b: number_text(table[a * width + b]))

    def of_second(b: int) -> str:
        return first.each(lambda a: number_text(table[a * width + b]))

    # The inner choice is written out for each code of the outer one.
    outer_first = first.length + first.axis.size * second.length <= second.length + second.axis.size * first.length
    said = first.each(of_first) if outer_first else second.each(of_second)
    gone = [text for text in (first.unknown(), second.unknown()) if text is not None]
    return f"CASE WHEN {' OR '.join(gone)} THEN 0e0 ELSE {said} END" if gone else said


def tree_texts(term: TreesTerm, values: Sequence[float], columns: Mapping[str, Column]) -> list[str]:
    """What each tree adds, of one class."""
    writer = _Trees(term, values, choices_of(term, columns))
    return [writer.text(root) for root in term.roots]


class _Trees:
    def __init__(self, term: TreesTerm, values: Sequence[float], choices: Sequence[Choice]) -> None:
        self.term, self.values, self.choices = term, values, choices
        self.sizes = [1] * len(term.axis)
        for node in reversed(range(len(term.axis))):  # children come after their parents
            if term.axis[node] >= 0:
                below = term.below[node]
                self.sizes[node] += self.sizes[below] + self.sizes[below + 1]

    def text(self, node: int, domains: Mapping[int, Codes] | None = None) -> str:
        """What is said at and below a node, of rows whose codes on some axes are known to be in `domains`."""
        arms, held = [], dict(domains or {})
        while self.term.axis[node] >= 0:
            j, below = self.term.axis[node], self.term.below[node]
            choice = self.choices[j]
            gone = None if j in held else choice.unknown()
            if gone is not None:
                arms.append(f"WHEN {gone} THEN {number_text(self.values[node])}")
            domain = held.get(j, choice.codes)
            left = frozenset(c for c in domain if bisect_right(self.term.turns[node], c) % 2 == 0)
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
