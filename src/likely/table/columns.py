"""Columns of text as a block of delimited text has them: cells over its bytes, where Arrow would have copied them all.

Knows how they stand in for Arrow's arrays and batches; nothing of what a cell means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from likely.machinery.arrays import Bools, Bytes, Longs
from likely.machinery.jit import kernel
from likely.table.arrow import ArrowArray, ArrowBatch, bit_buffer, text_array
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

    def to_arrow(self) -> ArrowArray:
        """All cells, copied into an array of Arrow's."""
        return copied_texts(self.cells)


TextArray: TypeAlias = "ArrowArray | TextColumn"


@dataclass(frozen=True, slots=True)
class CellBatch:
    """Rows of a text file, cut into cells that are not yet read, but for those that the file says are no text."""

    schema: pa.Schema
    columns: Sequence[TextArray]
    num_rows: int

    def column(self, key: int | str) -> TextArray:
        return self.columns[self.schema.get_field_index(key) if isinstance(key, str) else key]

    def to_arrow(self) -> ArrowBatch:
        """The same rows as a batch of Arrow's, which does not hold on to the block of text."""
        arrays = [c.to_arrow() if isinstance(c, TextColumn) else c for c in self.columns]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


RowBatch: TypeAlias = "ArrowBatch | CellBatch"
"""Rows that an encoder can read."""


def copied_texts(cells: Texts, there: Bools | None = None) -> ArrowArray:
    """Texts as an array of Arrow's, null where they are not `there`."""
    offsets = np.zeros(len(cells) + 1, np.int32)
    np.cumsum(cells.ends - cells.starts, out=offsets[1:])
    data = np.empty(int(offsets[-1]), np.uint8)
    starts, ends = np.ascontiguousarray(cells.starts), np.ascontiguousarray(cells.ends)
    copy_cells(cells.data, starts, ends, data)
    buffers = [bit_buffer(there), pa.py_buffer(offsets.data), pa.py_buffer(data.data)]
    return pa.Array.from_buffers(pa.string(), len(cells), buffers)


@kernel("u1[], i8[], i8[], u1[]")
def copy_cells(data: Bytes, starts: Longs, ends: Longs, out: Bytes) -> None:
    """The bytes of all cells, one after the other."""
    at = np.uint64(0)
    for i in range(starts.size):
        for k in range(np.uint64(starts[i]), np.uint64(ends[i])):  # unsigned: nobody counts from the end
            out[at] = data[k]
            at += np.uint64(1)
