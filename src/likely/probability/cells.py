"""Cells of a table and the names of its variables: checked, put in order, added up. Knows no probability."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeAlias

from likely.errors import SettingError, shown
from likely.probability.writing import event

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


def told(names: tuple[str, ...], key: Any) -> str:
    return event(dict(zip(names, key if isinstance(key, tuple) else (key,), strict=False)))


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
