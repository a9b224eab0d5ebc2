"""One row or many, for type checkers: a dict of values is a row; a dict of columns, rows, a path: a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from os import PathLike
from typing import TypeAlias

import numpy as np

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
