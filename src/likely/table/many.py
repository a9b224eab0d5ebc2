"""Several files read as one table, in the order of their names. Knows only sources; checks that their columns agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from likely.errors import ColumnError, shown
from likely.table.memory import plain_type
from likely.table.source import Declared, Source


def together(sources: list[Source], name: str) -> Source:
    """One source of many; a single one stays itself."""
    return sources[0] if len(sources) == 1 else ManySource(sources, name)


class ManySource(Source):
    """Files with the same columns, one after the other."""

    def __init__(self, sources: list[Source], name: str) -> None:
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

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        names = self.asked(columns)
        wanted = {n: self.schema.field(n).type for n in names if n in self._recast}
        for source in self._sources:
            for batch in source.batches(names):
                yield _cast(batch, wanted) if wanted else batch


def _shared_schema(sources: list[Source]) -> tuple[pa.Schema, set[str]]:
    """The schema that all share; numbers of several widths meet in the widest."""
    first = sources[0]
    types = {field.name: field.type for field in first.schema}
    recast: set[str] = set()
    for source in sources[1:]:
        theirs = {field.name: field.type for field in source.schema}
        for name in types.keys() ^ theirs.keys():
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
