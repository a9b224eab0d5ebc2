"""A joint table typed by hand in a TOML file: all cells in a row, or cell by cell. Only reads and checks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from likely.errors import SettingError, nearest, shown
from likely.machinery.toml import parse_toml, read_toml_text
from likely.probability.joint import Joint

KEYS = ("title", "levels", "probabilities", "counts", "cell")
_HOW = (
    "Give [levels] with the values of each variable, and probabilities = […] (or counts) of all cells, the last "
    "variable running fastest; or a [[cell]] for each, with values = {…} and probability or count."
)


def parse_joint(text: str, name: str = "The table") -> Joint:
    """The joint table in a TOML file; decimals are exact, and fractions go in quotes.

    >>> parse_joint("probabilities = [0.4, 0.1, 0.2, 0.3]\\n[levels]\\nA = [0, 1]\\nB = [0, 1]").p(A=1)
    Fraction(1, 2)
    """
    page = parse_toml(text, name, "a joint table", exact=True)
    for key in page:
        if key not in KEYS:
            raise SettingError(
                f"{shown(name)} has {shown(key)}, which is no part of a joint table. {nearest(key, KEYS)}"
            )
    kinds = [key for key in ("probabilities", "counts", "cell") if key in page]
    if len(kinds) != 1:
        found = " and ".join(kinds) if kinds else "no cells"
        raise SettingError(f"{shown(name)} has {found}. {_HOW}")
    if kinds[0] == "cell":
        return _cells(page, name)
    levels = _levels(page, name)
    given = page[kinds[0]]
    if not levels or not isinstance(given, list):
        raise SettingError(f"{shown(name)} has no [levels], or no list of {kinds[0]}. {_HOW}")
    if kinds[0] == "probabilities":
        return Joint.listed(levels, given)
    size = prod(len(values) for values in levels.values())
    if len(given) != size:
        raise SettingError(f"{shown(name)} has {len(given)} counts for {size} cells. Give one for each.")
    counts = dict(zip(product(*levels.values()), given, strict=True))
    return Joint.from_counts(counts, tuple(levels), sample=True, levels=levels)


def read_joint(path: str | Path) -> Joint:
    """The joint table in a TOML file."""
    return parse_joint(read_toml_text(path), Path(path).name)


def _levels(page: Mapping[str, Any], name: str) -> dict[str, list[Hashable]]:
    held = page.get("levels", {})
    if not isinstance(held, Mapping):
        raise SettingError(f"{shown(name)}: levels is {shown(held)}. {_HOW}")
    for variable, values in held.items():
        if not isinstance(values, list) or not values or any(isinstance(v, (list, dict)) for v in values):
            raise SettingError(f"{shown(name)}: the levels of {shown(variable)} must be a list of single values.")
        if len({*map(str, values)}) != len(values):
            raise SettingError(f"{shown(name)}: the levels of {shown(variable)} name a value twice. Name each once.")
    return dict(held)


def _cells(page: Mapping[str, Any], name: str) -> Joint:
    cells = page["cell"]
    if not isinstance(cells, list) or not cells:
        raise SettingError(f"{shown(name)}: cell is {shown(cells)}. {_HOW}")
    variables: tuple[str, ...] = ()
    kind, out = "", dict[tuple[Hashable, ...], Any]()
    for k, cell in enumerate(cells, 1):
        where = f"{shown(name)}: cell {k}"
        values = cell.get("values") if isinstance(cell, Mapping) else None
        own = [key for key in ("probability", "count") if isinstance(cell, Mapping) and key in cell]
        if not isinstance(values, Mapping) or not values or len(own) != 1 or len(cell) != 2:
            raise SettingError(f"{where} is not values = {{…}} and either probability or count. Correct it.")
        variables, kind = variables or tuple(values), kind or own[0]
        if {*values} != {*variables}:
            listed = ", ".join(shown(v) for v in variables)
            raise SettingError(f"{where} does not have the variables of the first: {listed}. Give each a value.")
        if own[0] != kind:
            raise SettingError(f"{where} has a {own[0]}, but the first a {kind}. Give one or the other in all.")
        key = tuple(values[v] for v in variables)
        if any(isinstance(v, (list, dict)) for v in key):
            raise SettingError(f"{where} has a list where a single value should be. Correct it.")
        if key in out:
            raise SettingError(f"{where} has the same values as an earlier one. Give each cell once.")
        out[key] = cell[kind]
    levels = _levels(page, name)
    if kind == "probability":
        return Joint(out, variables, levels=levels)
    return Joint.from_counts(out, variables, sample=True, levels=levels)
