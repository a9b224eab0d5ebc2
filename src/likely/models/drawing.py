"""What every kind of draw shares: a checked number of rows, a seeded source of chance, cells as people write them."""

from __future__ import annotations

import math
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from likely.errors import SettingError, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

DrawnRows: TypeAlias = dict[str, list[Any]]
"""Columns of cells as people write them."""
_DATES = (-62_135_596_800.0, 253_402_300_799.0)
"""The first and the last second of a date, counted from 1970."""


def chance(rows: int, seed: int) -> np.random.Generator:
    """What to draw this many rows with: the same seed, the same rows."""
    if not isinstance(rows, Integral) or rows < 0:
        raise SettingError(f"{shown(rows)} rows cannot be drawn. Ask for a whole number, zero or more.")
    if not isinstance(seed, Integral) or seed < 0:
        raise SettingError(f"seed is {shown(seed)}. It must be a whole number, zero or more.")
    return np.random.default_rng(int(seed))


def number_cells(cells: NDArray[np.float64], kind: str) -> list[Any]:
    """Drawn numbers as cells of a column of this kind; a missing one is None."""
    if kind == "date":
        # NaN becomes "not a time", which reads as None; beyond the years 1 to 9999 there are no dates.
        return (cells.clip(*_DATES) * 1e6).round().astype("datetime64[us]").tolist()  # type: ignore[no-any-return]
    return [None if math.isnan(x) else x for x in cells.tolist()]
