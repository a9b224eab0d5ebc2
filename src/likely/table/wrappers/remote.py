"""Tables whose rows are elsewhere: opened when they are wanted, passing by once, or swept by other processes.

Knows batches and rows; must not know what a cell means, nor who carries it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from likely.errors import InputError
from likely.table.arrow import pack_schema, plain_batch, plain_schema, unpack_schema
from likely.table.source import Declaration, Source


class DeferredSource(Source):
    """Everything of a table but its rows, which `open` gets where they are to be had."""

    def __init__(
        self,
        name: str,
        schema: pa.Schema,
        declared: Mapping[str, Declaration] | None = None,
        rows: int | None = None,
        notes: Sequence[str] = (),
        open: Callable[[], Source] | None = None,
    ) -> None:
        self.name, self.schema, self.rows, self.opening_notes = name, plain_schema(schema), rows, tuple(notes)
        self.declared, self._open = dict(declared or {}), open

    @classmethod
    def describe(cls, source: Source, open: Callable[[], Source] | None = None) -> DeferredSource:
        """What a source says of itself before any row."""
        return cls(source.name, source.schema, source.declared, source.rows, source.notes, open)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        if self._open is None:
            raise InputError(f"The rows of {self.name} are not here. Sweep them where they are.")
        return self._open().batches(columns)

    def state(self) -> dict[str, Any]:
        """Plain values and arrays, for a file."""
        return {
            "schema": np.frombuffer(pack_schema(self.schema), np.uint8),
            "declared": {name: [d.kind, list(d.levels)] for name, d in self.declared.items()},
            "rows": self.rows,
            "notes": list(self.notes),
        }

    @classmethod
    def from_state(cls, name: str, state: Mapping[str, Any], open: Callable[[], Source]) -> DeferredSource:
        declared = {n: Declaration(kind, tuple(levels)) for n, (kind, levels) in state["declared"].items()}
        schema = unpack_schema(state["schema"].tobytes())
        return cls(name, schema, declared, state["rows"], state["notes"], open)


class AlreadySwept(InputError):
    """Rows that pass by once were asked for again. Never shown: whoever sends the rows sends them again."""


class OneSweepSource(Source):
    """Batches that pass by once; `names` are what their columns are called, in order."""

    def __init__(self, name: str, names: Sequence[str], schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
        self.name, self.schema = name, schema
        self._names, self._batches, self._swept = list(names), batches, False

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        names = self.resolve_columns(columns)
        if self._swept:
            raise AlreadySwept(f"The rows of {self.name} have passed by.")
        self._swept = True
        for batch in self._batches:
            if batch.num_rows:
                own = plain_batch(pa.RecordBatch.from_arrays(batch.columns, names=self._names))
                yield own if names == self._names else own.select(names)


def letter(part: int, key: int, data: bytes) -> pa.RecordBatch:
    """One row: a number, another, and bytes."""
    columns: list[Any] = [pa.array([part], pa.int64()), pa.array([key], pa.int64()), pa.array([data], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, names=["part", "key", "data"])


def read_letters(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, int, bytes]]:
    """The rows of batches that `letter` made."""
    for batch in batches:
        yield from zip(*(batch.column(name).to_pylist() for name in ("part", "key", "data")), strict=True)


def read_numbers(batches: Iterable[pa.RecordBatch]) -> Iterator[int]:
    """The whole numbers of the first column of some batches."""
    for batch in batches:
        yield from map(int, batch.column(0).to_numpy())
