"""Cells of a table and the names of its variables: checked, counted from columns or rows, put in order, added up.

Knows no probability and no files, and keeps no rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, TypeAlias

from likely.errors import ColumnError, SettingError, nearest, shown
from likely.probability.numbers import Number, alike
from likely.probability.writing import event_text, spell

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
