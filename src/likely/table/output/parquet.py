"""Parquet, batch by batch. Dictionaries that batches bring are written as they are: nobody looks up a text again.

Knows Arrow; who reads the file sees plain columns, as if no dictionary had been on the way.
"""

from __future__ import annotations

import base64
from typing import Any

import pyarrow as pa

from likely.table.arrow import ArrowArray, decode_dictionary, dictionary_encode, is_text

GROUP_ROWS, GROUP_BYTES = 1 << 17, 1 << 26
"""A row group has so many rows or bytes, unless a batch has more: dictionaries within it must be one."""


class ParquetGroups:
    """Batches of one table, gathered into row groups."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._writer: Any = None
        self._schema = pa.schema([])
        self._waiting: list[pa.RecordBatch] = []

    def write(self, batch: pa.RecordBatch) -> None:
        """Take in a batch; all must have the same columns."""
        if self._writer is None:
            batch = _with_columns(batch, [_usable(column) for column in batch.columns])
            self._schema = batch.schema
            self._writer = _open_writer(self._file, batch.schema)
        else:
            columns = [_like(column, type) for column, type in zip(batch.columns, self._schema.types, strict=True)]
            batch = _with_columns(batch, columns)
        self._waiting.append(batch)
        rows, size = (sum(x) for x in zip(*((b.num_rows, b.nbytes) for b in self._waiting), strict=True))
        if rows >= GROUP_ROWS or size >= GROUP_BYTES:
            self._write_group()

    def close(self) -> None:
        self._write_group()
        if self._writer is not None:
            self._writer.close()

    def _write_group(self) -> None:
        if self._waiting:
            whole = pa.Table.from_batches(self._waiting, self._schema).unify_dictionaries()
            self._waiting = []
            self._writer.write_table(whole, row_group_size=max(1, whole.num_rows))


def _open_writer(file: Any, schema: pa.Schema) -> Any:
    import pyarrow.parquet as pq

    plain = pa.schema([pa.field(f.name, _values_of(f.type)) for f in schema])
    # Of numbers a dictionary is rarely worth its making: without, files are smaller and written in half the time.
    texts: Any = [f.name for f in schema if is_text(_values_of(f.type))]
    writer = pq.ParquetWriter(file, schema, use_dictionary=texts or False, store_schema=False)
    # What Arrow reads the file as; its own note would say that columns are dictionaries.
    writer.add_key_value_metadata({"ARROW:schema": base64.b64encode(plain.serialize().to_pybytes()).decode()})
    return writer


def _values_of(type: Any) -> Any:
    return type.value_type if pa.types.is_dictionary(type) else type


def _usable(column: Any) -> ArrowArray:
    """A column with its dictionary, where that can be written."""
    if not pa.types.is_dictionary(column.type):
        return column  # type: ignore[no-any-return]
    if not is_text(column.type.value_type) or column.dictionary.null_count:
        return decode_dictionary(column)
    return column.cast(pa.dictionary(pa.int32(), column.type.value_type))  # type: ignore[no-any-return]


def _like(column: Any, type: Any) -> ArrowArray:
    """A column as the first batch has it."""
    own = _usable(column)
    if pa.types.is_dictionary(type) and not pa.types.is_dictionary(own.type):
        return dictionary_encode(own).cast(type)
    return own if pa.types.is_dictionary(type) else decode_dictionary(own)


def _with_columns(batch: pa.RecordBatch, columns: list[ArrowArray]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
