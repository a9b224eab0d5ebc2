"""One row or many: for type checkers, a dict of values is a row; a dict of columns, rows, a path: a table. And how one
row becomes a batch without a table around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from os import PathLike
from typing import Any, TypeAlias

import numpy as np

from likely.table.batch import MISSING_CODE, UNSEEN_CODE, Batch, Codes
from likely.table.encode import Encoder

Cell: TypeAlias = str | bytes | float | date | time | timedelta | Decimal | Fraction | np.generic | None
"""What one cell may hold; float stands for whole numbers and truth values as well."""
Row: TypeAlias = Mapping[str, Cell]
"""One row: a value for each attribute that is known."""
Columns: TypeAlias = Mapping[str, Sized]
"""A table as a dict of columns: lists, arrays, Series."""
MixedRow: TypeAlias = Mapping[str, object]
"""One row whose values have nothing in common: to mypy {"age": 39, "sex": "Male"} is a dict[str, object]. (Columns have
a length in common.)"""
Rows: TypeAlias = Iterable[MixedRow]
"""A table as rows."""
Place: TypeAlias = str | PathLike[str]
"""Where a table lies: a file, a folder, a pattern, "-"."""


PLAIN = frozenset({str, int, float, bool, type(None)})
"""Types of values that are read here; of others, and of what inherits from these, Arrow decides what they are."""
MOST_KEPT = 1 << 14
"""Values of a column that are remembered: beyond them all are forgotten."""


class RowReader:
    """Turns a row of Python's values into the batch that an encoder makes of a table of this row.

    It reads plain numbers by itself, and of every other value remembers what the encoder made of it (`keep`). Where it
    has not met one, or the schema has texts or parts of dates, it gives None: the row then goes the way of tables.
    """

    def __init__(self, encoder: Encoder) -> None:
        schema = encoder.schema
        columns = schema.attributes
        self._names = frozenset(schema.names)
        self._reads = not any(c.kind == "text" or c.part is not None for c in columns)
        self._gone = frozenset(encoder.gone.tolist())
        self._refuses = encoder.refuse_unseen
        numbers = {c.name for c in columns if c.kind == "number" and c.unit is None and c.reading != "date"}
        self._columns: list[tuple[str, bool, dict[tuple[type, object], _Kept]]]
        self._columns = [(c.name, c.name in numbers, {}) for c in columns]
        """The name of each attribute, whether it is a plain number, and what its values were read as."""
        missing = np.array([MISSING_CODE], np.int32)
        self._target = None if schema.target is None or encoder.classes is None else Codes(missing, encoder.classes)

    def read(self, row: object) -> tuple[Batch, dict[str, int]] | None:
        """The batch, and which columns hold a level that training did not have; None where a table must be made."""
        if type(row) is not dict or not self._reads or not row.keys() <= self._names:
            return None
        cells: dict[str, Any] = {}
        unseen: dict[str, int] = {}
        for name, is_number, kept in self._columns:
            value: Any = row.get(name)
            kind = type(value)
            if is_number and (kind is float or (kind is int and -_FAR <= value < _FAR)):
                cells[name] = np.array([np.nan if value in self._gone else float(value)])
            elif kind in PLAIN and (found := kept.get((kind, value))) is not None:
                cells[name], is_unseen = found
                if is_unseen:
                    unseen[name] = 1
            else:
                return None
        if len(row) > len(cells) and not PLAIN.issuperset(map(type, row.values())):
            return None  # what is no attribute may still show that this is no row
        return Batch(1, cells, self._target), unseen

    def keep(self, row: object, batch: Batch, strays: Mapping[str, int]) -> None:
        """Remember what a table of this row was read as; not where something is to be said of a value each time."""
        if type(row) is not dict or not self._reads:
            return
        for name, _, kept in self._columns:
            value = row.get(name)
            # Zero and minus zero are one key, and what is not a number is none.
            if type(value) not in PLAIN or name in strays or (type(value) is float and not value * value > 0):
                continue
            cell = batch.cells[name]
            own = (cell.codes if isinstance(cell, Codes) else cell).copy()
            own.flags.writeable = False
            is_unseen = isinstance(cell, Codes) and int(own[0]) == UNSEEN_CODE
            if is_unseen and self._refuses:
                continue
            if len(kept) >= MOST_KEPT:
                kept.clear()
            kept[type(value), value] = (Codes(own, cell.labels) if isinstance(cell, Codes) else own), is_unseen


_Kept: TypeAlias = tuple[Any, bool]
"""The cell, and whether it is a level that training did not have."""
_FAR = 1 << 63
