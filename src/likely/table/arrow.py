"""Arrow's types by name, for signatures in any room. Import it under TYPE_CHECKING only: it loads nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import pyarrow as pa

    ArrowArray: TypeAlias = pa.Array
    ArrowBatch: TypeAlias = pa.RecordBatch
    ArrowSchema: TypeAlias = pa.Schema
    ArrowTable: TypeAlias = pa.Table
    ArrowType: TypeAlias = pa.DataType
