"""Columns of text as a block of delimited text has them: cells over its bytes, where Arrow would have copied them all.

Knows how they stand in for Arrow's arrays and batches; nothing of what a cell means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from likely.table.arrow import ArrowArray, ArrowBatch, text_array
from likely.table.batch import Texts


class TextColumn:
    """Cells of text. Has what is asked of an Arrow array of strings by those who read cells."""

    __slots__ = ("cells",)
    type = pa.string()
    null_count = 0

    def __init__(self, cells: Texts) -> None:
        self.cells = cells

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, row: int) -> Any:
        return pa.scalar(self.cells.text(row))

    def take(self, rows: ArrowArray) -> ArrowArray:
        """Some cells, copied into an array of Arrow's."""
        return text_array([self.cells.text(int(row)) for row in np.asarray(rows)])


TextArray: TypeAlias = "ArrowArray | TextColumn"


@dataclass(frozen=True, slots=True)
class CellBatch:
    """Rows of a text file, cut into cells that are not yet read, but for those that the file says are no text."""

    schema: pa.Schema
    columns: Sequence[TextArray]
    num_rows: int

    def column(self, key: int | str) -> TextArray:
        return self.columns[self.schema.get_field_index(key) if isinstance(key, str) else key]


RowBatch: TypeAlias = "ArrowBatch | CellBatch"
"""Rows that an encoder can read."""
