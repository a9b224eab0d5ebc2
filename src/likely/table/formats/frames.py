"""Frames in and out: a frame or a matrix as a table, and columns in the kind of frame that came in, its index kept.

Knows pandas, polars and pyarrow by what they can do, and imports neither of the first two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from likely.table.arrow import ArrowArray, ArrowBatch, ArrowTable, decode_batch, decode_dictionary, number_array
from likely.table.formats.memory import TableSource, is_pandas, open_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class FrameKind:
    """The kind of frame that some rows came in. `index` is that of pandas; others have none."""

    library: str
    maker: Any = None
    index: Any = None

    @classmethod
    def of(cls, data: object) -> FrameKind | None:
        """The kind of a frame; None for what is no frame: a path, a dict, a list of rows, a stream."""
        if is_pandas(data):
            return cls("pandas", index=data.index)  # type: ignore[attr-defined]
        if isinstance(data, (pa.Table, pa.RecordBatch)):
            return cls("pyarrow")
        if type(data).__module__.partition(".")[0] == "polars" and type(data).__name__ == "DataFrame":
            return cls("polars", type(data))
        return None

    def frame(self, table: ArrowTable) -> Any:
        """A frame of this kind from an Arrow table (or batch) with as many rows."""
        if self.library == "pyarrow":
            return table
        if self.library == "polars":
            return self.maker(table)
        out = table.to_pandas()
        out.index = self.index
        return out

    def column(self, name: str, array: ArrowArray) -> Any:
        """An Arrow array as a column of this kind: a Series, or a chunked array."""
        table = pa.table([array], names=[name])
        return table.column(0) if self.library == "pyarrow" else self.frame(table)[name]


def to_frame(batch: ArrowBatch, frames: FrameKind | None) -> Any:
    """An Arrow batch in the kind of frame that came in; a pyarrow Table where none did."""
    table = pa.Table.from_batches([decode_batch(batch)])
    return table if frames is None else frames.frame(table)


def is_frame(data: object) -> bool:
    """Whether something is a table with named columns that Arrow can read, rather than an array of numbers."""
    return hasattr(data, "columns") and (is_pandas(data) or hasattr(data, "__arrow_c_stream__"))


def named_table(data: object, names: Sequence[str]) -> TableSource:
    """A frame, or a matrix (rows, columns), as a table whose columns have these names."""
    if isinstance(data, np.ndarray):
        return TableSource(pa.table([_column(data[:, k]) for k in range(data.shape[1])], names=list(names)))
    source = open_memory(data)
    assert isinstance(source, TableSource)
    # In one piece: what learners add up in floats must not depend on how a frame happens to be cut.
    return TableSource(source.table.rename_columns(list(names)).combine_chunks())


def _column(values: NDArray[np.generic]) -> object:
    """One column of a matrix: numbers as they are, without a detour; objects as `memory` reads them."""
    if values.dtype.kind in "iuf" and values.dtype.itemsize <= 8 and values.dtype != np.float16:
        return number_array(np.ascontiguousarray(values))
    if values.dtype.kind == "f":
        return number_array(values.astype(np.float64))
    source = open_memory({"x": values})
    assert isinstance(source, TableSource)
    return source.table.column(0)


def stack_tables(parts: Sequence[TableSource]) -> TableSource:
    """Tables with the same columns as one; a column that is empty or whole in one part may be anything in another."""
    tables = [
        pa.table([decode_dictionary(column) for column in part.table.columns], names=part.table.schema.names)
        for part in parts
    ]
    return TableSource(pa.concat_tables(tables, promote_options="permissive").combine_chunks())
