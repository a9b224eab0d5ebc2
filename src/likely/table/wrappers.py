"""Sources around sources: watched, repaired, parsed once, several as one, rows that are elsewhere."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from likely.errors import ColumnError, InputError, LikelyError, shown
from likely.machinery.threads import in_order
from likely.table.arrow import (
    ArrowArray,
    CellBatch,
    RowBatch,
    is_text,
    label_array,
    pack_schema,
    plain_batch,
    plain_schema,
    plain_type,
    unpack_schema,
)
from likely.table.formats.files import Stamp
from likely.table.source import Declaration, Source, SourceWrapper, Uncut
from likely.table.views import text_cells
from likely.table.words import first_broken

if TYPE_CHECKING:
    from likely.table.arrow import ArrowBatch


# Several files read as one table, in the order of their names. Knows only sources; checks that their columns agree.


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


# A text file that is swept several times, parsed once: batches of the first sweep are kept where they are small.

MOST_BYTES = 64 << 20
"""Of a table whose batches take more, none are kept: memory does not grow with the rows."""


def parse_once(source: Source) -> Source:
    """A source that gives the same batches; what is quick to read again stays as it is."""
    return ParsedOnce(source) if source.parses_text else source


class ParsedOnce(SourceWrapper):
    """Keeps the batches of the first sweep that reached the end, for all that asks for no other columns.

    A sweep that was broken off, such as a look at the first rows, is taken up again by the next one of its columns.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.parses_text = False
        self._kept: list[ArrowBatch] | None = None
        self._names: frozenset[str] = frozenset()
        self._broken_off: tuple[list[str], list[ArrowBatch], Iterator[ArrowBatch]] | None = None

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[ArrowBatch]:
        names = self.resolve_columns(columns)
        if self._kept is not None and names and self._names.issuperset(names):
            for batch in self._kept:
                yield batch.select(names)
            return
        before, rest = self._take_up(names, columns)
        kept: list[ArrowBatch] | None = list(before) if names and self._kept is None else None
        size = sum(batch.nbytes for batch in before)
        try:
            yield from before
            for batch in rest:
                if kept is not None:
                    size += batch.nbytes
                    kept = None if size > MOST_BYTES else kept
                if kept is not None:
                    kept.append(batch)
                yield batch
        except GeneratorExit:
            if kept is not None:
                self._broken_off = names, kept, rest
            raise
        if kept is not None:
            self._kept, self._names = kept, frozenset(names)

    def _take_up(
        self, names: list[str], columns: Sequence[str] | None
    ) -> tuple[list[ArrowBatch], Iterator[ArrowBatch]]:
        """What a sweep of these columns that was broken off had read, and the rest of it; else a new sweep."""
        broken, self._broken_off = self._broken_off, None
        if broken is not None and broken[0] == names:
            return broken[1], broken[2]
        return [], self._sweep(names, columns)

    def _sweep(self, names: list[str], columns: Sequence[str] | None) -> Iterator[ArrowBatch]:
        """The batches of a source, in pieces that threads read side by side where it has such; the source's own sweep
        goes on where these cannot be read."""
        given = 0
        if names and self.source.piece_count:
            try:
                for batches in in_order(self.source.pieces(columns), _read_piece):
                    for batch in batches:
                        given += batch.num_rows
                        yield batch
                return
            except (Uncut, LikelyError):
                pass
        for batch in self.source.batches(columns):
            passed = min(given, batch.num_rows)
            given -= passed
            if passed < batch.num_rows or not names:
                yield batch.slice(passed) if passed else batch


def _read_piece(piece: Callable[[], Iterable[RowBatch]]) -> list[ArrowBatch]:
    return [batch.to_arrow() if isinstance(batch, CellBatch) else batch for batch in piece()]


# Columns that the folders of a file say: year=2024/month=05/part.parquet. Knows names of folders; reads no file.

NOTHING = "__HIVE_DEFAULT_PARTITION__"
"""How Hive and Spark write that the value is missing."""


def partition_values(name: str) -> dict[str, str | None]:
    """What the folders in the name of a file say, as text.

    >>> partition_values("year=2024/place=a%20b/part-0.parquet")
    {'year': '2024', 'place': 'a b'}
    """
    pairs = (part.partition("=") for part in os.path.dirname(name).split(os.sep) if "=" in part.strip("="))
    return {unquote(key): None if value == NOTHING else unquote(value) for key, _, value in pairs}


class Partitioned(SourceWrapper):
    """A file with the columns of its folders after its own. Their cells are texts, like those of CSV."""

    def __init__(self, source: Source, values: Mapping[str, str | None]) -> None:
        super().__init__(source)
        self._values = {name: value for name, value in values.items() if name not in source.schema.names}
        for name in self._values:
            self.schema = self.schema.append(pa.field(name, pa.string()))

    def wrap(self, source: Source) -> Source:
        return Partitioned(source, self._values)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        names = self.resolve_columns(columns)
        own = [name for name in names if name not in self._values]
        for batch in self.source.batches(own):
            rows = batch.num_rows
            arrays = [self._same(n, rows) if n in self._values else batch.column(n) for n in names]
            yield pa.RecordBatch.from_arrays(arrays, names=names) if names else batch

    def _same(self, name: str, rows: int) -> ArrowArray:
        value = self._values[name]
        if value is None:
            return pa.nulls(rows, pa.string())
        return label_array(np.zeros(rows, np.int32), [value])


# Tables whose rows are elsewhere: opened when they are wanted, passing by once, or swept by other processes.


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


# Text that is not sound UTF-8, repaired on the way in where that was asked for: broken bytes become U+FFFD.


class Repaired(SourceWrapper):
    """A source whose text is sound. Only batches that hold a broken cell are copied."""

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        for batch in self.source.batches(columns):
            arrays = [_repair(array) for array in batch.columns]
            if all(new is old for new, old in zip(arrays, batch.columns, strict=True)):
                yield batch
            else:
                yield pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


def _repair(array: Any) -> ArrowArray:
    """The array, or a sound copy of it where a text in it is broken."""
    if pa.types.is_dictionary(array.type):
        names = _repair(array.dictionary)
        return array if names is array.dictionary else pa.DictionaryArray.from_arrays(array.indices, names)
    if not (is_text(array.type) and len(array)):
        return array  # type: ignore[no-any-return]
    cells = text_cells(array)
    if first_broken(cells.data, cells.starts, cells.ends) < 0:
        return array  # type: ignore[no-any-return]
    bounds = zip(cells.starts.tolist(), cells.ends.tolist(), array.is_valid().to_pylist(), strict=True)
    texts = [cells.data[a:b].tobytes().decode("utf-8", "replace") if valid else None for a, b, valid in bounds]
    return pa.array(texts, pa.large_string() if "large" in str(array.type) else pa.string())


# A file that may change while it is read: whoever reads it to its end is told so.


class Watched(SourceWrapper):
    """A file as a table; reading it to its end fails if the file is no longer the one that had this stamp."""

    def __init__(self, source: Source, path: str, stamp: Stamp, changed: str = "") -> None:
        super().__init__(source)
        self.piece_count = source.piece_count
        self.reads_columns_apart = source.reads_columns_apart
        self._path, self._stamp = path, stamp
        self._changed = changed or "changed while it was read. Run again when whoever writes it is done, or read a copy"

    def wrap(self, source: Source) -> Source:
        return Watched(source, self._path, self._stamp, self._changed)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[ArrowBatch]:
        try:
            yield from self.source.batches(columns)
        except LikelyError:
            self._check()  # what looks damaged may just be half written
            raise
        self._check()

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[Callable[[], Iterable[RowBatch]]]:
        def checked(piece: Callable[[], Iterable[RowBatch]]) -> Iterator[RowBatch]:
            try:
                yield from piece()
            except LikelyError:
                self._check()
                raise
            self._check()  # after each, as others may still be read when the last one is drawn

        try:
            for piece in self.source.pieces(columns):
                yield partial(checked, piece)
        except LikelyError:
            self._check()
            raise
        self._check()

    def _check(self) -> None:
        if not Stamp.read(self._path, self.name).same_content(self._stamp):
            raise InputError(f"{self.name} {self._changed}.")
