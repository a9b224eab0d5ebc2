"""Several files read as one table, in the order of their names. Knows only sources; checks that their columns agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import pyarrow as pa

from likely.errors import ColumnError, shown
from likely.table.arrow import plain_type
from likely.table.columns import RowBatch
from likely.table.source import Source, SourceWrapper, Uncut


def concatenate(sources: Sequence[Source], name: str) -> Source:
    """One source of many; a single one stays itself."""
    return sources[0] if len(sources) == 1 else ConcatenatedSource(sources, name)


class ConcatenatedSource(Source):
    """Files with the same columns, one after the other."""

    def __init__(self, sources: Sequence[Source], name: str) -> None:
        self.name, self._sources = name, sources
        counted = [part.piece_count for part in sources]
        self.piece_count = sum(counted) if all(counted) else 0
        self.reads_columns_apart = all(part.reads_columns_apart for part in sources)
        self.schema, self.declared = _shared_schema(sources), sources[0].declared
        counts = [s.rows for s in sources]
        self.rows = None if None in counts else sum(c for c in counts if c is not None)

    @property
    def notes(self) -> tuple[str, ...]:
        notes = {note: s.name for s in reversed(self._sources) for note in s.notes}
        return (f"{len(self._sources):,} files were read as one table.", *dict.fromkeys(reversed(notes)))

    def reopen(self, encoding: str) -> Source:
        return ConcatenatedSource([s.reopen(encoding) for s in self._sources], self.name)

    def as_written(self) -> Source:
        return ConcatenatedSource([s.as_written() for s in self._sources], self.name)

    def trim(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return self._sources[0].trim(batch)  # files of one table are of one format

    def parts(self) -> list[Source]:
        """Each file by itself, its cells of the types that all share."""
        return [RecastSource(source, self.schema) for source in self._sources]

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        names = self.resolve_columns(columns)
        for part in self.parts():
            yield from part.batches(names)

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[Callable[[], Iterable[RowBatch]]]:
        names = self.resolve_columns(columns)
        for part in self.parts():
            yield from part.pieces(names)


class RecastSource(SourceWrapper):
    """One file of many, its columns in the order of a given schema and its cells of the types there."""

    def __init__(self, source: Source, schema: pa.Schema) -> None:
        super().__init__(source)
        self.schema = schema
        self.piece_count = source.piece_count
        self.reads_columns_apart = source.reads_columns_apart
        self._types = {f.name: f.type for f in schema if source.schema.field(f.name).type != f.type}

    def wrap(self, source: Source) -> Source:
        return RecastSource(source, self.schema)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        names = self.resolve_columns(columns)
        if self._types.keys().isdisjoint(names):
            yield from self.source.batches(names)
            return
        types = [self._types.get(name) for name in names]
        for batch in self.source.batches(names):
            pairs = zip(batch.columns, types, strict=True)
            arrays = [a if type is None or plain_type(a.type) == type else a.cast(type) for a, type in pairs]
            yield pa.RecordBatch.from_arrays(arrays, names=names)

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[Callable[[], Iterable[RowBatch]]]:
        if not self._types.keys().isdisjoint(self.resolve_columns(columns)):
            raise Uncut
        return self.source.pieces(columns)


def split_agreeing(sources: Sequence[Source]) -> tuple[list[Source], dict[int, ColumnError]]:
    """The sources that can be read together, and why each of the others (by its place) cannot.

    The columns that most files have are taken to be right; where as many have others, those of the first file are.
    """
    columns = [tuple(sorted(f"{f.name} {f.type}" for f in s.schema)) for s in sources]
    times = Counter(columns)
    usual = next(s for s, own in zip(sources, columns, strict=True) if times[own] == max(times.values()))
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


def _shared_schema(sources: Sequence[Source]) -> pa.Schema:
    """The schema that all share; numbers of several widths meet in the widest."""
    first = sources[0]
    types = {field.name: field.type for field in first.schema}
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
                types[name] = _wider(name, types[name], type, first.name, source.name)
        if source.declared != first.declared:
            raise ColumnError(
                f"{source.name} declares its attributes otherwise than {first.name}. Give both the same declarations."
            )
    return pa.schema(list(types.items()))


def _wider(name: str, a: pa.DataType, b: pa.DataType, here: str, there: str) -> pa.DataType:
    try:
        both = [pa.schema([pa.field(name, t)]) for t in (a, b)]
        wider: pa.DataType = pa.unify_schemas(both, promote_options="permissive").field(0).type
        return wider
    except pa.ArrowException as error:
        raise ColumnError(
            f"The column {shown(name)} is {a} in {here} and {b} in {there}. Files read together need the same types."
        ) from error
