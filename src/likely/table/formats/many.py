"""Several files read as one table, in the order of their names. Knows only sources; checks that their columns agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from likely.errors import ColumnError, shown
from likely.table.formats.memory import plain_type
from likely.table.source import Declared, Source


def together(sources: Sequence[Source], name: str) -> Source:
    """One source of many; a single one stays itself."""
    return sources[0] if len(sources) == 1 else ManySource(sources, name)


class ManySource(Source):
    """Files with the same columns, one after the other."""

    def __init__(self, sources: Sequence[Source], name: str) -> None:
        first = sources[0]
        self.name, self._sources = name, sources
        self.schema, self._recast = _shared_schema(sources)
        self.declared: dict[str, Declared] = dict(first.declared)
        counts = [s.rows for s in sources]
        self.rows = None if None in counts else sum(c for c in counts if c is not None)
        told = {note: s.name for s in reversed(sources) for note in s.notes}
        self.notes = (f"{len(sources):,} files were read as one table.", *dict.fromkeys(reversed(told)))

    def reopened(self, encoding: str) -> Source:
        return ManySource([s.reopened(encoding) for s in self._sources], self.name)

    def parts(self) -> list[Source]:
        """Each file by itself, its cells of the types that all share."""
        wanted = {name: self.schema.field(name).type for name in self._recast}
        return [Part(source, self.schema, wanted) for source in self._sources]

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        names = self.asked(columns)
        for part in self.parts():
            yield from part.batches(names)


class Part(Source):
    """One file of many, its cells of the types that all share."""

    def __init__(self, source: Source, schema: pa.Schema, wanted: Mapping[str, pa.DataType]) -> None:
        self.name, self.schema, self._source, self._wanted = source.name, schema, source, wanted
        self.declared, self.rows, self.notes = source.declared, source.rows, source.notes

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        names = self.asked(columns)
        wanted = {n: self._wanted[n] for n in names if n in self._wanted}
        for batch in self._source.batches(names):
            yield _cast(batch, wanted) if wanted else batch


@dataclass(frozen=True)
class Heading:
    """What a file says of itself before any row: names and types, declarations, the number of rows where known."""

    schema: pa.Schema
    declared: Mapping[str, Declared] = field(default_factory=dict)
    rows: int | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: Source) -> Heading:
        return cls(source.schema, source.declared, source.rows, source.notes)

    def state(self) -> dict[str, Any]:
        """Plain values and arrays, for a file."""
        return {
            "schema": np.frombuffer(self.schema.serialize().to_pybytes(), np.uint8),
            "declared": {name: [d.kind, list(d.levels)] for name, d in self.declared.items()},
            "rows": self.rows,
            "notes": list(self.notes),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Heading:
        declared = {name: Declared(kind, tuple(levels)) for name, (kind, levels) in state["declared"].items()}
        schema = pa.ipc.read_schema(pa.py_buffer(state["schema"].tobytes()))
        return cls(schema, declared, state["rows"], tuple(state["notes"]))


class Remembered(Source):
    """A file whose heading is known from before, so that it is opened only when its rows are wanted."""

    def __init__(self, name: str, heading: Heading, opened: Callable[[], Source]) -> None:
        self.name, self.heading, self._opened = name, heading, opened
        self.schema, self.declared = heading.schema, heading.declared
        self.rows, self.notes = heading.rows, heading.notes

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        yield from self._opened().batches(columns)


def agreeing(sources: Sequence[Source]) -> tuple[list[Source], dict[int, ColumnError]]:
    """The sources that can be read together, and why each of the others (by its place) cannot.

    The columns that most files have are taken to be right; where as many have others, those of the first file are.
    """
    ways = Counter(_way(s) for s in sources)
    usual = next(s for s in sources if ways[_way(s)] == max(ways.values()))
    kept, others = [], {}
    for place, source in enumerate(sources):
        try:
            _shared_schema([usual, source])
        except ColumnError as error:
            own = str(error).startswith(f"{source.name} ")
            others[place] = error if own else ColumnError(f"{source.name}: {error}")
        else:
            kept.append(source)
    return kept, others


def _way(source: Source) -> tuple[str, ...]:
    return tuple(sorted(f"{f.name} {f.type}" for f in source.schema))


def _shared_schema(sources: Sequence[Source]) -> tuple[pa.Schema, set[str]]:
    """The schema that all share; numbers of several widths meet in the widest."""
    first = sources[0]
    types = {field.name: field.type for field in first.schema}
    recast: set[str] = set()
    for source in sources[1:]:
        theirs = {field.name: field.type for field in source.schema}
        for name in [n for n in [*types, *theirs] if n not in types or n not in theirs]:
            lacking, having = (source, first) if name in types else (first, source)
            raise ColumnError(
                f"{lacking.name} has no column {shown(name)}, but {having.name} has it. "
                "Files read together need the same columns."
            )
        for name, type in theirs.items():
            if type != types[name]:
                recast.add(name)
                types[name] = _wider(name, types[name], type, first.name, source.name)
        if source.declared != first.declared:
            raise ColumnError(
                f"{source.name} declares its attributes otherwise than {first.name}. Give both the same declarations."
            )
    return pa.schema(list(types.items())), recast


def _wider(name: str, a: pa.DataType, b: pa.DataType, here: str, there: str) -> pa.DataType:
    try:
        both = [pa.schema([pa.field(name, t)]) for t in (a, b)]
        wider: pa.DataType = pa.unify_schemas(both, promote_options="permissive").field(0).type
        return wider
    except pa.ArrowException as error:
        raise ColumnError(
            f"The column {shown(name)} is {a} in {here} and {b} in {there}. Files read together need the same types."
        ) from error


def _cast(batch: pa.RecordBatch, wanted: dict[str, pa.DataType]) -> pa.RecordBatch:
    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if name in wanted and plain_type(column.type) != wanted[name]:
            column = column.cast(wanted[name])
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
