"""The rules that say how a column is to be read, each with a sentence of why. They look at profiles, never at rows.

A rule depends on counts over the whole table, so the order of rows cannot change its answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import shown
from likely.table.schema import Column, Kind, Reading
from likely.table.words.tokens import Tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


def _others(count: int, examples: tuple[str, ...], one: str, many: str) -> str:
    """How many cells are otherwise, with examples where there are any, and what is to be said of them."""
    some = ", ".join(shown(e, 20) for e in examples)
    cells = f"{count:,} other cell" + ("" if count == 1 else "s") + (f" ({some})" if some else "")
    return f"{cells} {one if count == 1 else many}"


def of_text(name: str, seen: TextProfile, *, target: bool = False) -> Column:
    """How to read a text column; kind "number" is a first answer that `settled` may still change."""
    kind, reading, why = _of_text(seen)
    if target and kind in ("identifier", "text", "constant"):
        kind, reading = "nominal", "text"
    left_out = kind in ("identifier", "constant")
    role = "target" if target else ("left out" if left_out else "attribute")
    tokens = Tokens() if kind == "text" else None
    return Column(name, kind, role, reading, tokens=tokens, why=why)  # type: ignore[arg-type]


def _of_text(seen: TextProfile) -> tuple[Kind, Reading, str]:
    rows, distinct = seen.rows, seen.distinct
    if rows == 0:
        return "constant", "text", "every cell is missing"
    numbers = seen.whole + seen.decimal
    strays = rows - numbers
    if seen.code == 0 and numbers >= MOSTLY_NUMBERS * rows:
        if strays == 0:
            return "number", "number", "every cell is a number"
        return "number", "number", f"numbers; {_others(strays, seen.examples, 'counts as missing', 'count as missing')}"
    if seen.date >= MOSTLY_NUMBERS * rows:
        if seen.date == rows:
            return "date", "date", "every cell is a date"
        others = _others(rows - seen.date, seen.examples, "counts as missing", "count as missing")
        return "date", "date", f"dates; {others}"
    if distinct == 1:
        return "constant", "text", "every cell is the same"
    share = distinct / rows
    if seen.words_per_cell >= 4 and share > 0.3:
        return "text", "text", f"free text, {seen.words_per_cell:.0f} words a cell on average"
    if (distinct == rows >= 5) or (share > 0.9 and rows >= 50):
        if seen.words_per_cell >= 3:
            return "text", "text", f"free text, {seen.words_per_cell:.0f} words a cell on average"
        return "identifier", "text", f"almost every cell is different ({distinct:,} in {rows:,} rows)"
    if distinct > MANY_LEVELS:
        return "identifier", "text", f"{distinct:,} levels are too many to learn from"
    kinds = "codes with leading zeros" if seen.code and seen.code + numbers == rows else "levels"
    if 0 < numbers < rows and kinds == "levels" and numbers > rows // 2:
        others = _others(strays, seen.examples, "is no number", "are no numbers")
        return "nominal", "text", f"{distinct:,} levels, mostly numbers; {others}"
    return "nominal", "text", f"{distinct:,} {kinds}"


def settled(column: Column, values: NDArray[np.float64], weight: NDArray[np.float64], complete: bool) -> Column:
    """The last word on a column of numbers, once its values have been tallied.

    `values` are sorted, `weight` says how much each weighs; `complete` tells that no value was coarsened.
    """
    if len(values) == 0:
        return replace(column, kind="constant", role="left out", why="every cell is missing")
    if len(values) == 1 and complete:
        return replace(column, kind="constant", role="left out", why="every cell is the same")
    if column.kind != "number":
        return column
    rows = float(weight.sum())
    if not bool(np.all(values == np.floor(values))) and complete:
        return column
    if complete and (len(values) == 2 or (len(values) <= FEW_NUMBERS and rows >= ROWS_PER_LEVEL * len(values))):
        return replace(column, kind="nominal", why=f"whole numbers with only {len(values)} values")
    if is_serial(values, weight):
        return replace(column, kind="identifier", role="left out", why="whole numbers that count the rows")
    return column


def is_serial(values: NDArray[np.float64], weight: NDArray[np.float64]) -> bool:
    """Whether numbers run 1, 2, 3 … once each: every stretch of the tally then holds as many rows as whole numbers."""
    rows = float(weight.sum())
    if rows < 5 or len(values) < 5 or not bool(np.all(values == np.floor(values))) or values[0] < 0:
        return False
    stretch = np.diff(values)
    inside = weight[:-1]
    return bool(np.mean(np.abs(inside - stretch) <= 0.01 * stretch) > 0.98)
