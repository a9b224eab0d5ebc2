"""Arrow batches on their way between processes and between sweeps: as bytes, cut anew, as a source that is read once.

Knows batches and rows; must not know what a cell means, nor who carries it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from likely.errors import InputError
from likely.table.formats.memory import plain, plain_schema
from likely.table.source import Declared, Source


def aligned(batches: Iterable[pa.RecordBatch], rows: int, start: int = 0) -> Iterator[pa.RecordBatch]:
    """The same rows, cut only where the number of a row (the first is `start`) is a multiple of `rows`.

    What comes out may span several multiples. Little is copied: only what lies across a cut of the batches.

    >>> [b.num_rows for b in aligned([pa.record_batch({"x": [1] * n}) for n in (3, 4, 9)], 4)]
    [4, 4, 8]
    """
    held: list[pa.RecordBatch] = []
    need = rows - start % rows  # rows up to the next multiple
    for batch in batches:
        if not batch.num_columns:  # nothing to join: such rows are only counted
            yield batch
            continue
        at = 0
        if held or need < rows:
            at = min(need, batch.num_rows)
            held.append(batch.slice(0, at))
            need -= at
            if need:
                continue
            yield together(held)
            held, need = [], rows
        whole = (batch.num_rows - at) // rows * rows
        if whole:
            yield batch.slice(at, whole)
        if at + whole < batch.num_rows:
            held = [batch.slice(at + whole)]
            need = rows - held[0].num_rows
    if held:
        yield together(held)


def together(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Batches of the same columns as one; text that some keep as a dictionary and others do not becomes plain."""
    if len(batches) == 1:
        return batches[0]
    columns = []
    for k in range(batches[0].num_columns):
        arrays: list[Any] = [b.column(k) for b in batches]
        if len({a.type for a in arrays}) > 1:
            arrays = [a.cast(a.type.value_type) if pa.types.is_dictionary(a.type) else a for a in arrays]
        columns.append(pa.concat_arrays(arrays))
    return pa.RecordBatch.from_arrays(columns, names=batches[0].schema.names)


def batch_bytes(batch: pa.RecordBatch) -> bytes:
    """A batch as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


def batch_from(data: bytes) -> pa.RecordBatch:
    """The batch that `batch_bytes` wrote."""
    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        return reader.read_next_batch()


def schema_bytes(schema: pa.Schema) -> bytes:
    """Names and types as bytes."""
    return bytes(schema.serialize().to_pybytes())


def schema_from(data: bytes) -> pa.Schema:
    """The names and types that `schema_bytes` wrote."""
    return pa.ipc.read_schema(pa.py_buffer(data))


def letter(part: int, key: int, data: bytes) -> pa.RecordBatch:
    """One row: a number, another, and bytes."""
    columns: list[Any] = [pa.array([part], pa.int64()), pa.array([key], pa.int64()), pa.array([data], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, names=["part", "key", "data"])


def letters(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, int, bytes]]:
    """The rows of batches that `letter` made."""
    for batch in batches:
        part, key, data = (batch.column(name) for name in ("part", "key", "data"))
        for k in range(batch.num_rows):
            yield part[k].as_py(), key[k].as_py(), data[k].as_py()


def numbers_in(batches: Iterable[pa.RecordBatch]) -> Iterator[int]:
    """The whole numbers of the first column of some batches."""
    for batch in batches:
        yield from (int(number) for number in batch.column(0).to_numpy())


class Passed(InputError):
    """Rows that pass by once were asked for again. Never shown: whoever sends the rows sends them again."""


class Passing(Source):
    """Batches that pass by once; `names` are what their columns are called, in order."""

    def __init__(self, name: str, names: Sequence[str], schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
        self.name, self.declared, self.rows, self.notes = name, dict[str, Declared](), None, ()
        self.schema = schema
        self._names, self._batches, self._begun = list(names), batches, False

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        names = self.asked(columns)
        if self._begun:
            raise Passed(f"The rows of {self.name} have passed by.")
        self._begun = True
        for batch in self._batches:
            if batch.num_rows:
                own = plain(pa.RecordBatch.from_arrays(batch.columns, names=self._names))
                yield own if names == self._names else own.select(names)


class Title(Source):
    """What is known of a table whose rows are elsewhere: they are not to be had here."""

    def __init__(
        self, name: str, schema: pa.Schema, declared: Mapping[str, Declared] | None = None, notes: Sequence[str] = ()
    ) -> None:
        self.name, self.schema = name, plain_schema(schema)
        self.declared, self.notes, self.rows = dict(declared or {}), tuple(notes), None

    def fields(self, names: Sequence[str]) -> pa.Schema:
        """Some columns of the schema."""
        return pa.schema([self.schema.field(name) for name in names])

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        raise InputError(f"The rows of {self.name} are not here. Sweep them where they are.")
