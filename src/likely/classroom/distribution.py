"""A distribution over named variables as a table of cells: how it is made, marginals, conditions, probabilities."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, product
from random import Random
from typing import Any, Self, TypeAlias, overload

from likely.classroom.writing import any_event_text, event_text, match_value, values_meant
from likely.errors import ColumnError, SettingError, nearest, shown
from likely.models.fractions import Given, Number, alike, check_sum, equal, log, printable, probability, spell, weight
from likely.models.fractions import total as total_of

# Cells of a table and the names of its variables: checked, counted from columns or rows, put in order, added up.

MOST = 1_000_000
"""More cells than this and a table with something in every cell is refused."""

Cell: TypeAlias = tuple[Hashable, ...]
Names: TypeAlias = str | Sequence[str]
"""One name, or several."""


def names_of(names: Names) -> tuple[str, ...]:
    """Names of variables, each once."""
    out = (names,) if isinstance(names, str) else tuple(names)
    for k, name in enumerate(out):
        if not isinstance(name, str):
            raise SettingError(f"The name of a variable is {shown(name)}. Names are text.")
        if name in out[:k]:
            raise SettingError(f"The variable {shown(name)} is named twice. Name it once.")
    return out


def cell_of(key: Any, names: tuple[str, ...]) -> Cell:
    cell = key if isinstance(key, tuple) else (key,)
    if len(cell) != len(names):
        raise SettingError(
            f"The cell {shown(key)} has {len(cell)} values, but there are {len(names)} variables: "
            f"{', '.join(shown(n) for n in names)}. Give one value for each."
        )
    return cell


def cell_text(names: tuple[str, ...], key: Any) -> str:
    return event_text(dict(zip(names, key if isinstance(key, tuple) else (key,), strict=False)))


def within(cell: Cell, wanted: Mapping[int, set[Hashable]]) -> bool:
    return all(cell[k] in values for k, values in wanted.items())


def grouped(
    weights: Mapping[Cell, Any], places: list[int], levels: Mapping[str, Sequence[Hashable]], names: tuple[str, ...]
) -> dict[Cell, Any]:
    """Weights summed over the other variables, in order of the levels."""
    held: dict[Cell, list[Any]] = {}
    for cell, w in weights.items():
        held.setdefault(tuple(cell[k] for k in places), []).append(w)
    order = [{v: k for k, v in enumerate(levels[n])} for n in names]
    ranked = sorted(held, key=lambda cell: [ranks[v] for ranks, v in zip(order, cell, strict=True)])
    return {c: math.fsum(held[c]) if any(isinstance(w, float) for w in held[c]) else sum(held[c]) for c in ranked}


def count_cells(data: object, names: tuple[str, ...] | None) -> tuple[tuple[str, ...], dict[Cell, int], int]:
    """The variables, how often each whole cell was seen, and how many rows lack a value."""
    wanted, tally = tally_rows(data, names)
    whole = {cell: n for cell, n in tally.items() if not any(is_missing(v) for v in cell)}
    return wanted, whole, sum(tally.values()) - sum(whole.values())


def tally_rows(data: object, names: tuple[str, ...] | None) -> tuple[tuple[str, ...], Counter[Cell]]:
    """The variables, and how often each row of values was seen, missing ones among them."""
    if hasattr(data, "keys") and hasattr(data, "__getitem__"):
        return _by_columns(data, names)
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes)):
        return _by_rows(list(data), names)
    raise SettingError(
        f"Rows cannot be counted in {shown(data)}. Give a dict of columns or a list of dicts; "
        "for a file: likely.joint(path, variables)."
    )


def _by_columns(data: Any, names: tuple[str, ...] | None) -> tuple[tuple[str, ...], Counter[Cell]]:
    known = [str(k) for k in data.keys()]  # noqa: SIM118 - a DataFrame iterates as it likes
    wanted = tuple(known) if names is None else names
    columns = []
    for name in wanted:
        if name not in known:
            raise ColumnError(f"There is no column {shown(name)}. {nearest(name, known)}")
        column = data[name]
        columns.append(column.tolist() if hasattr(column, "tolist") else list(column))
        if len(columns[-1]) != len(columns[0]):
            raise ColumnError(
                f"Column {shown(name)} has {len(columns[-1]):,} values, but {shown(wanted[0])} has "
                f"{len(columns[0]):,}. Give columns of one length."
            )
    return wanted, _tally(zip(*columns, strict=True))


def _by_rows(rows: list[Any], names: tuple[str, ...] | None) -> tuple[tuple[str, ...], Counter[Cell]]:
    for k, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise ColumnError(f"Row {k} is {shown(row)}, not a dict of values by name.")
    known = list(dict.fromkeys(str(name) for row in rows for name in row))
    wanted = tuple(known) if names is None else names
    for name in wanted:
        if rows and name not in known:
            raise ColumnError(f"There is no column {shown(name)}. {nearest(name, known)}")
    return wanted, _tally(tuple(row.get(name) for name in wanted) for row in rows)


def _tally(cells: Iterable[Cell]) -> Counter[Cell]:
    try:
        return Counter(cells)
    except TypeError:
        raise ColumnError("A value is a list or something else that cannot be a level. Give single values.") from None


def is_missing(value: object) -> bool:
    """Whether a value means "not known"."""
    return value is None or value != value


def levels_of(
    names: tuple[str, ...], cells: Iterable[Cell], given: Mapping[str, Sequence[Hashable]] | None
) -> dict[str, tuple[Hashable, ...]]:
    """The values of each variable: as given, else in order of first naming."""
    for name in given or {}:
        if name not in names:
            raise SettingError(f"Levels are given for {shown(name)}, which is not a variable. {nearest(name, names)}")
    held: dict[str, dict[Hashable, None]] = {name: dict.fromkeys((given or {}).get(name, ())) for name in names}
    for cell in cells:
        for name, value in zip(names, cell, strict=True):
            if value not in held[name]:
                if given and name in given:
                    known = [spell(v) for v in held[name]]
                    raise SettingError(
                        f"The value {shown(spell(value))} of {shown(name)} is not among the levels given for it. "
                        f"{nearest(spell(value), known)}"
                    )
                held[name][value] = None
    return {name: tuple(values) for name, values in held.items()}


def sorted_levels(names: tuple[str, ...], cells: Iterable[Cell]) -> dict[str, list[Hashable]]:
    """The values that occur, in an order that does not depend on the rows: numbers by size, the rest by name."""
    return {name: sorted({cell[k] for cell in cells}, key=_rank) for k, name in enumerate(names)}


def _rank(value: Hashable) -> tuple[bool, float, str]:
    text = spell(value)
    try:
        number = float(text)
    except ValueError:
        return True, 0.0, text
    return number != number, number if number == number else 0.0, text


def add_pseudo_count(
    cells: Mapping[Cell, Number], levels: Mapping[str, Sequence[Hashable]], pseudo_count: Number
) -> dict[Cell, Number]:
    """The weight of every cell with the pseudo-count added to each combination of levels."""
    if not pseudo_count:
        return dict(cells)
    size = math.prod(len(v) for v in levels.values())
    if size > MOST:
        raise SettingError(
            f"With a pseudo_count every one of {size:,} cells has a probability, more than {MOST:,}. "
            "Take fewer variables, or a pseudo_count of 0."
        )
    every = {cell: cells.get(cell, 0) + pseudo_count for cell in product(*levels.values())}
    return alike(every)


# A distribution over named variables as a table of cells: how it is made, marginals, conditions, probabilities.

Event: TypeAlias = Mapping[str, object]
"""Variables and their values; a list or a set of values means any of them."""


class Distribution:
    """The probability of every combination of values of some named variables, and every query of it."""

    __slots__ = ("counts", "left_out", "levels", "total", "variables", "weights")
    __hash__ = None  # type: ignore[assignment]

    variables: tuple[str, ...]
    levels: dict[str, tuple[Hashable, ...]]
    """The values of each variable, in order."""
    weights: dict[Cell, Any]
    """What each cell weighs out of `total`, in order of the levels; cells of probability zero are not kept.

    Exact tables hold whole numbers over one denominator, so that adding up and conditioning never divide.
    """
    total: Any
    counts: dict[Cell, Number] | None
    """For a sample: how often each cell was seen. None where the table is the whole truth."""
    left_out: Number
    """Rows (their weight) that were not counted because a value was missing."""

    def __init__(
        self,
        table: Mapping[Any, Given],
        variables: Names,
        *,
        levels: Mapping[str, Sequence[Hashable]] | None = None,
    ) -> None:
        """A table of probabilities that sum to one: {(0, 0): "0.4", (0, 1): "0.1", …} over ("A", "B").

        Cells that are not named have probability zero. `levels` names values that no cell has, or another order.
        """
        names = names_of(variables)
        cells = {cell_of(key, names): probability(v, f"P({cell_text(names, key)})") for key, v in table.items()}
        remedy = "Correct them, or give them as weights, to be divided by their sum: Joint.from_counts."
        check_sum(cells.values(), f"The {len(cells)} probabilities of the table", remedy)
        self._set(names, cells, levels_of(names, cells, levels), None)
        if not self.exact:
            self.total = 1.0

    def _set(
        self, names: tuple[str, ...], cells: Mapping[Cell, Number], levels: dict[str, tuple[Hashable, ...]], total: Any
    ) -> None:
        """Bring cells into order; fractions become whole numbers over one denominator."""
        self.variables, self.levels, self.counts, self.left_out = names, levels, None, Fraction(0)
        order = {name: {v: k for k, v in enumerate(levels[name])} for name in names}
        ranked = sorted(cells, key=lambda cell: [order[n][v] for n, v in zip(names, cell, strict=True)])
        kept = [cell for cell in ranked if cells[cell] != 0]
        if all(isinstance(cells[cell], Fraction) for cell in cells):
            bottom = math.lcm(*(Fraction(cells[cell]).denominator for cell in kept))
            self.weights = {cell: int(cells[cell] * bottom) for cell in kept}
            self.total = sum(self.weights.values()) if total is None else total
        else:
            self.weights = {cell: float(cells[cell]) for cell in kept}
            self.total = math.fsum(self.weights.values()) if total is None else total

    @classmethod
    def _of(cls, names: tuple[str, ...], levels: dict[str, tuple[Hashable, ...]], cells: dict[Cell, Any], total: Any,
            counts: dict[Cell, Number] | None = None) -> Self:  # fmt: skip
        """A table whose cells are in order already."""
        out = cls.__new__(cls)
        out.variables, out.levels, out.weights, out.total = names, levels, cells, total
        out.counts, out.left_out = counts, Fraction(0)
        return out

    @classmethod
    def listed(cls, levels: Mapping[str, Sequence[Hashable]], probabilities: Iterable[Given]) -> Self:
        """The probabilities of all cells in a row, the last variable running fastest.

        >>> Distribution.listed({"first": "rb", "second": "rb"}, ["4/9", "2/9", "2/9", "1/9"]).p(first="r")
        Fraction(2, 3)
        """
        given, cells = list(probabilities), list(product(*levels.values()))
        if len(given) != len(cells):
            sizes = " × ".join(str(len(v)) for v in levels.values())
            raise SettingError(
                f"There are {sizes} = {len(cells)} cells, but {len(given)} probabilities. Give one each."
            )
        return cls(dict(zip(cells, given, strict=True)), tuple(levels), levels=levels)

    @classmethod
    def from_counts(
        cls,
        counts: Mapping[Any, Given],
        variables: Names,
        *,
        sample: bool = False,
        pseudo_count: Given = 0,
        levels: Mapping[str, Sequence[Hashable]] | None = None,
    ) -> Self:
        """Counts or weights of cells, divided by their sum; `sample` says that they were drawn from something larger.

        `pseudo_count` is added to every combination of levels: (n + γ) / (N + γ·cells).

        >>> Distribution.from_counts({"red": 2, "black": 1}, "ball").p(ball="red")
        Fraction(2, 3)
        """
        names = names_of(variables)
        cells = {cell_of(key, names): weight(v, f"The count of {cell_text(names, key)}") for key, v in counts.items()}
        known = levels_of(names, cells, levels)
        smoothed = add_pseudo_count(cells, known, weight(pseudo_count, "pseudo_count"))
        if not any(smoothed.values()):
            raise SettingError("All counts are zero, so there is nothing to divide by. Give at least one above zero.")
        out = cls.__new__(cls)
        out._set(names, smoothed, known, None)
        if sample:
            out.counts = {cell: n for cell, n in cells.items() if n}
        return out

    @classmethod
    def learn(
        cls,
        data: object,
        variables: Names | None = None,
        *,
        pseudo_count: Given = 0,
        levels: Mapping[str, Sequence[Hashable]] | None = None,
    ) -> Self:
        """Count a sample: a dict of columns (or a DataFrame), or a list of rows that are dicts.

        A row with a missing value (None, NaN) among the variables is left out. For files: `likely.joint`.

        >>> j = Distribution.learn({"sky": ["sun", "rain", "sun"], "play": ["yes", "no", "yes"]})
        >>> j.p(sky="sun"), j.rows
        (Fraction(2, 3), Fraction(3, 1))
        """
        names, tally, left_out = count_cells(data, None if variables is None else names_of(variables))
        if not tally:
            lacking = f" All {left_out:,} rows lack a value." if left_out else ""
            raise SettingError(f"There are no rows to count.{lacking} Give at least one row with every value.")
        order = {**sorted_levels(names, tally), **(levels or {})}
        out = cls.from_counts(tally, names, sample=True, pseudo_count=pseudo_count, levels=order)
        out.left_out = Fraction(left_out)
        return out

    # -- what it is -----------------------------------------------------------------------------------------

    @property
    def exact(self) -> bool:
        """Whether its probabilities are fractions."""
        return isinstance(self.total, int)

    @property
    def rows(self) -> Number | None:
        """How many rows were counted; None where the table is no sample."""
        return None if self.counts is None else total_of(self.counts.values())

    @property
    def cells(self) -> dict[Cell, Number]:
        """The probability of every cell that is possible."""
        return {cell: self._share(w) for cell, w in self.weights.items()}

    def _share(self, w: Any) -> Number:
        return Fraction(w, self.total) if self.exact else w / self.total

    def __eq__(self, other: object) -> bool:
        """The same variables, values and probabilities; floats to the last bit (see `close_to`)."""
        if not isinstance(other, Distribution):
            return NotImplemented
        mine, theirs = self.cells, other.reordered(self.variables) if self._same_names(other) else None
        return theirs is not None and mine == theirs.cells

    def close_to(self, other: Distribution) -> bool:
        """The same up to rounding."""
        if not self._same_names(other):
            return False
        mine, theirs = self.cells, other.reordered(self.variables).cells
        zero = Fraction(0)
        return all(equal(mine.get(c, zero), theirs.get(c, zero)) for c in {**mine, **theirs})

    def _same_names(self, other: Distribution) -> bool:
        return sorted(self.variables) == sorted(other.variables)

    def reordered(self, names: Sequence[str]) -> Self:
        """The same table with its variables in another order."""
        return self if tuple(names) == self.variables else self.marginal(*names)

    def __repr__(self) -> str:
        kind = "exact" if self.exact else "floats"
        names = ", ".join(printable(v) for v in self.variables)
        return f"<{type(self).__name__} of {names}: {len(self.weights)} cells, {kind}>"

    # -- queries --------------------------------------------------------------------------------------------

    @overload
    def p(self, event: str, /, *, given: Event | None = None) -> Self: ...

    @overload
    def p(self, event: Event | None = None, /, *, given: Event | None = None, **values: object) -> Number: ...

    def p(self, event: Event | str | None = None, /, *, given: Event | None = None, **values: object) -> Number | Self:
        """P(event), or P(event | given). The name of a variable alone gives its distribution.

        Names that are not Python's go into a mapping: `j.p({"hours per week": "40"})`. A list of values means any.
        """
        if isinstance(event, str):
            if values:
                raise SettingError(
                    f"A name alone asks for the distribution of {shown(event)}. Put conditions in given."
                )
            return self.marginal(event, given=given)
        wanted, known = self._event(event, values), self._event(given, {})
        bottom = self._weigh(known) if known else self.total
        if not bottom:
            raise SettingError(_impossible(given or {}))
        top = self._weigh({**wanted, **{k: v & wanted.get(k, v) for k, v in known.items()}})
        return Fraction(top, bottom) if self.exact else top / bottom

    def p_any(self, events: Iterable[Event], given: Event | Sequence[Event] | None = None) -> Number:
        """P(A or B or …), or P(A or B or … | given): every cell counts once, however many of the events have it.

        `given` may be several events, of which one at least happened: P(A | C or D).

        >>> Distribution.listed({"A": [0, 1], "B": [0, 1]}, ["0.4", "0.1", "0.2", "0.3"]).p_any([{"A": 1}, {"B": 1}])
        Fraction(3, 5)
        """
        wanted = [self._event(event, {}) for event in events]
        several = [*given] if isinstance(given, Sequence) else [given or {}]
        known = [self._event(event, {}) for event in several]
        inside = [(cell, w) for cell, w in self.weights.items() if any(within(cell, event) for event in known)]
        add: Any = sum if self.exact else math.fsum
        bottom = add(w for _, w in inside) if any(known) else self.total
        if not bottom:
            raise SettingError(_impossible(*several))
        top = add(w for cell, w in inside if any(within(cell, event) for event in wanted))
        return Fraction(top, bottom) if self.exact else top / bottom

    def log_p(self, event: Event | None = None, /, *, given: Event | None = None, **values: object) -> float:
        """Natural log of `p`; minus infinity where that is zero."""
        return log(self.p(event, given=given, **values))

    def marginal(self, *names: str, given: Event | None = None) -> Self:
        """The distribution of some of the variables, the others summed over; with `given`, under a condition."""
        if given is not None:
            return self.given(given).marginal(*names)
        places = [self._place(n) for n in names_of(names)]
        kept = tuple(self.variables[k] for k in places)
        levels = {name: self.levels[name] for name in kept}
        cells = grouped(self.weights, places, levels, kept)
        counts = None if self.counts is None else grouped(self.counts, places, levels, kept)
        return self._of(kept, levels, cells, self.total, counts)

    def given(self, event: Event | None = None, /, **values: object) -> Self:
        """The distribution of the other variables once some are known: P(rest | event).

        >>> Distribution.listed({"A": [0, 1], "B": [0, 1]}, ["0.4", "0.1", "0.2", "0.3"]).given(B=1).p(A=1)
        Fraction(3, 4)
        """
        wanted = self._event(event, values)
        kept = {cell: w for cell, w in self.weights.items() if within(cell, wanted)}
        if not kept:
            raise SettingError(_impossible({**(event or {}), **values}))
        counts = None
        if self.counts is not None:
            counts = {cell: n for cell, n in self.counts.items() if within(cell, wanted)}
        total = sum(kept.values()) if self.exact else math.fsum(kept.values())
        # A variable of which several values are left stays; one that is known has nothing more to say.
        stay = [k for k in range(len(self.variables)) if k not in wanted or len(wanted[k]) > 1]
        rest = self._of(self.variables, self.levels, kept, total, counts)
        return rest.marginal(*(self.variables[k] for k in stay))

    def log_likelihood(self, data: object) -> float:
        """log P(data) = Σ log P(row), natural, of columns or rows; minus infinity if one of them is impossible.

        A missing value is summed over.
        """
        _, tally = tally_rows(data, self.variables)
        return math.fsum(n * self._log_of(cell) for cell, n in tally.items())

    def _log_of(self, cell: Cell) -> float:
        """log P(cell), missing values summed over; a value that the table does not have is impossible."""
        known = {n: v for n, v in zip(self.variables, cell, strict=True) if not is_missing(v)}
        try:
            return self.log_p(known)
        except SettingError:
            return -math.inf

    def sample(self, rows: int, seed: int = 0) -> dict[str, list[Hashable]]:
        """Rows drawn from the table, as columns; the same seed gives the same rows."""
        if rows < 0:
            raise SettingError(f"rows is {rows}. Say how many rows to draw, zero or more.")
        kept = list(self.weights)
        below = list(accumulate(float(self._share(w)) for w in self.weights.values()))
        drawn = Random(seed).choices(kept, cum_weights=below, k=rows) if rows else []
        return {name: [cell[k] for cell in drawn] for k, name in enumerate(self.variables)}

    # -- names ----------------------------------------------------------------------------------------------

    def _place(self, name: str) -> int:
        if name in self.variables:
            return self.variables.index(name)
        raise SettingError(f"There is no variable {shown(name)}. {nearest(str(name), self.variables)}")

    def _event(self, event: Event | None, values: Mapping[str, object]) -> dict[int, set[Hashable]]:
        """The place of each variable of an event, and the values meant."""
        if event is not None and not isinstance(event, Mapping):
            raise SettingError(f"An event is {shown(event)}. Give variables and values, such as {{'A': 1}}.")
        if twice := sorted({*(event or {})} & {*values}):
            raise SettingError(f"The variable {shown(twice[0])} is given twice in one event. Give it once.")
        out: dict[int, set[Hashable]] = {}
        for name, value in {**(event or {}), **values}.items():
            place = self._place(name)
            among, what = self.levels[self.variables[place]], f"value of {shown(name)} that is"
            out[place] = {match_value(v, among, what) for v in values_meant(value)}
        return out

    def _weigh(self, wanted: Mapping[int, set[Hashable]]) -> Any:
        held = [w for cell, w in self.weights.items() if within(cell, wanted)]
        return sum(held) if self.exact else math.fsum(held)


def _impossible(*events: Event) -> str:
    said = f"P({any_event_text(events)}) is 0"
    return f"{said}, so nothing can be said given that it happened. Condition on something possible."
