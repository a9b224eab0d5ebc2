"""JSON lines, arrays of objects, and whole tables as one object, as batches of Arrow."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likely.errors import InputError, shown
from likely.machinery.threads import in_order
from likely.table.arrow import ROWS, relation_reader
from likely.table.formats.columnar import FileSource
from likely.table.formats.files import Place, file_errors
from likely.table.formats.memory import TableSource, open_memory
from likely.table.formats.text_file import TextFile, open_text
from likely.table.source import Source, Uncut

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from likely.table.arrow import ArrowReader, RowBatch


# JSON that is one object for a whole table, as pandas writes it by itself: columns, index, split and table.

_MOST = 512 << 20
"""Bytes of text that are taken into memory."""
_NESTED = re.compile(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*(\{|\[)')
_DIGITS = re.compile(r"-?\d+")
_REMEDY = "Write it with orient='records', and lines=True if it is large."


def open_whole_json(place: Place, text: TextFile, head: str) -> TableSource | None:
    """The table that one JSON object holds; None where the file is something else, such as a JSON object per line."""
    if head.lstrip().startswith("[") and head.lstrip()[1:].lstrip().startswith("["):
        raise InputError(f"{place.name} is a list of lists, so its columns have no names. {_REMEDY}")
    if not _NESTED.match(head) or _is_lines(head):
        return None
    with text.stream() as stream:
        data: bytes = stream.read(_MOST + 1)
    if len(data) > _MOST:
        raise InputError(f"{place.name} is one JSON object of more than {_MOST >> 20} MB. {_REMEDY}")
    try:
        whole = json.loads(data)
    except ValueError:
        return None  # several objects, or a wrong one: JSON lines have the sentence for it
    columns = _columns(whole, place.name)
    return None if columns is None else _named(columns, place.name)


def _is_lines(head: str) -> bool:
    """Whether the first line is an object by itself and others follow."""
    first, _, rest = head.strip().partition("\n")
    if not rest.strip():
        return False
    try:
        json.loads(first)
    except ValueError:
        return False
    return True


def _columns(whole: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """The columns of an object that is a table."""
    if {"columns", "data"} <= whole.keys() <= {"columns", "index", "data"}:
        return _split(whole["columns"], whole["data"], name)
    if whole.keys() == {"schema", "data"} and isinstance(whole["schema"], Mapping) and "fields" in whole["schema"]:
        return _table(whole["schema"], whole["data"])
    values = list(whole.values())
    if all(isinstance(v, list) for v in values) and len({len(v) for v in values}) == 1:
        return dict(whole)  # a list for each column, as polars and many programs write it
    if not all(isinstance(v, Mapping) and v for v in values):
        return None
    inner = dict.fromkeys(key for v in values for key in v)
    if any(isinstance(cell, (Mapping, list)) for cell in values[0].values()):
        return None
    if _counts(inner):
        return {column: [cells.get(row) for row in inner] for column, cells in whole.items()}
    if _counts(whole.keys()):
        named = dict.fromkeys(key for v in values for key in v)
        return {column: [row.get(column) for row in values] for column in named}
    raise InputError(
        f"{name} is one JSON object of objects, and neither its names nor theirs count rows, so which are the columns "
        f"cannot be told. {_REMEDY}"
    )


def _counts(keys: Any) -> bool:
    return all(_DIGITS.fullmatch(key) for key in keys)


def _split(columns: Sequence[Any], rows: Any, name: str) -> dict[str, Any] | None:
    if not (isinstance(columns, list) and isinstance(rows, list)):
        return None
    for number, row in enumerate(rows, 1):
        if not isinstance(row, list) or len(row) != len(columns):
            raise InputError(f"Row {number:,} of the data of {name} has not {len(columns):,} cells. Write it again.")
    if len({str(c) for c in columns}) < len(columns):
        raise InputError(f"{name} has a column more than once. Give every column its own name.")
    return {str(c): [row[k] for row in rows] for k, c in enumerate(columns)}


def _table(schema: Mapping[str, Any], rows: Any) -> dict[str, Any]:
    """Columns with the types that were declared; the index, which pandas adds, is left out."""
    index = set(schema.get("primaryKey", ()))
    named = [f["name"] for f in schema["fields"] if f["name"] not in index]
    return {name: [row.get(name) for row in rows] for name in named}


def _named(columns: dict[str, Any], name: str) -> TableSource:
    if not columns or not any(len(values) for values in columns.values()):
        raise InputError(f"{shown(name)} holds no rows. It needs at least one.")
    nested = [c for c, v in columns.items() if any(isinstance(cell, (Mapping, list)) for cell in v)]
    plain = {c: [json.dumps(x) if isinstance(x, (Mapping, list)) else x for x in v] for c, v in columns.items()}
    source = open_memory(plain if nested else columns)
    assert isinstance(source, TableSource)
    out = TableSource(source.table, name)
    out.opening_notes = ("One JSON object was read as a table, held in memory.",)
    return out


# JSON lines (or one array of objects) as batches of Arrow. DuckDB finds the types by the first rows, or over the
# whole file; Arrow's parser then reads blocks of lines on any thread, and DuckDB what that refuses.

LARGE = 4 << 20
"""Bytes of a file from which on its types are guessed by the first rows, and all others checked."""
FIRST_ROWS = 20_480
BLOCK = 4 << 20
"""Bytes of lines that are parsed at once."""
LONGEST_LINE = 64 << 20
MOST_KEPT = 256 << 20
"""Bytes of cells that are kept once they were parsed to be checked; of more, nothing is, and all is parsed again."""
PLAIN: dict[str, pa.DataType] = {
    "BOOLEAN": pa.bool_(),
    "BIGINT": pa.int64(),
    "UBIGINT": pa.uint64(),
    "HUGEINT": pa.int64(),  # which DuckDB says of numbers of both signs; larger ones Arrow refuses
    "DOUBLE": pa.float64(),
    "VARCHAR": pa.string(),
}
"""Kinds of DuckDB's whose cells Arrow reads alike."""


def open_json(place: Place, encoding: str | None) -> Source:
    """Open JSON lines (or one JSON array of objects); the types of the columns are found over the whole file."""
    text, note = open_text(place, encoding)
    head = text.head(1 << 16)[0]
    if not head.strip():
        raise InputError(f"{place.name} is empty. It needs one object per line.")
    whole = open_whole_json(place, text, head)
    if whole is not None:
        return whole
    source = JsonSource(place, text)
    source.opening_notes = (note,) if note else ()
    return source


class JsonSource(FileSource):
    """JSON lines, read by duckdb. A nested value is its JSON text; so is a column of several types."""

    _parsed: Sequence[pa.Table] = ()
    """All rows, where they were parsed to be checked and are few enough to be kept."""

    def __init__(self, place: Place, text: TextFile) -> None:
        self._text, self.name = text, place.name  # the text is kept, as a copy of it lives no longer
        self._path = text.copied() if place.packed or text.encoding != "utf-8" else place.path
        in_lines = text.head(64)[0].lstrip()[:1] == "{"
        if not (in_lines and os.path.getsize(self._path) > LARGE and self._take_guess(place)):
            self._take_kinds(place, self._describe(-1), in_lines)

    def _take_guess(self, place: Place) -> bool:
        """Whether types found by the first rows hold for all, as Arrow finds on every thread: DuckDB, which would find
        them over the whole file on one, then need not read it."""
        self._take_kinds(place, self._describe(FIRST_ROWS), True)
        parsed, size = list[pa.Table](), 0
        try:
            for table in in_order(self._cut() if self._plain else (), self._check):
                size += table.nbytes
                if size <= MOST_KEPT:
                    parsed.append(table)
        except Uncut:
            return False
        self._parsed = parsed if size <= MOST_KEPT else []
        return bool(self._plain)

    def _describe(self, rows: int) -> dict[str, str]:
        """DuckDB's type of each column, by so many rows, or by all."""
        query = f"describe from {self._table('', rows)}"
        with self._failures():
            described = self._database().sql(query, params=[_not_a_pattern(self._path)]).fetchall()
        kinds = {str(row[0]): "JSON" if _is_nested(str(row[1])) else str(row[1]) for row in described}
        if list(kinds) == ["json"]:  # duckdb's own name for lines that are no objects
            raise InputError(f"{self.name} holds no objects with names. Each line must be like {{'age': 39, …}}.")
        return kinds

    def _take_kinds(self, place: Place, kinds: dict[str, str], in_lines: bool) -> None:
        # Names that differ only in case were numbered by duckdb; only its own inference finds their cells again.
        numbered = any(_without_number(n) in {m.casefold() for m in kinds if m != n} for n in kinds)
        names = self._real_names(len(kinds)) if numbered else list(kinds)
        self._select = {name: _sql_value(*found) for name, found in zip(names, kinds.items(), strict=True)}
        listed = ", ".join(f"{_sql_text(n)}: {_sql_text(k)}" for n, k in kinds.items())
        self._columns = "" if numbered else f", columns={{{listed}}}"
        with self._failures(), self._reader(names, " limit 0") as reader:
            super().__init__(place, reader.schema)
        plain = in_lines and not numbered and all(kind in PLAIN for kind in kinds.values())
        self._plain = {n: PLAIN[k] for n, k in kinds.items()} if plain else {}
        self.piece_count = math.inf if plain else 0

    def _real_names(self, count: int) -> list[str]:
        """The names in the order in which they first come, which is that of duckdb's numbered ones."""
        found = "select unnest(json_keys(json)) as name from read_json_objects(?, format='auto')"
        query = f"select name from (select name, row_number() over () as place from ({found})) group by name"
        with self._failures():
            rows = self._database().sql(f"{query} order by min(place)", params=[_not_a_pattern(self._path)]).fetchall()
        if len(rows) < count:
            raise InputError(f"{self.name} has names that differ only in case. Rename them.")
        return [str(row[0]) for row in rows[:count]]

    def reopen(self, encoding: str) -> Source:
        return open_json(self._place, encoding)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        names = self.resolve_columns(columns)
        done = 0
        try:
            for block in self._cut() if self._plain else ():
                for batch in self._parse(block, names):
                    done += batch.num_rows
                    yield batch
            if self._plain:
                return
        except Uncut:
            pass  # DuckDB goes on after the rows that were given, or says what is wrong
        with self._failures(), self._reader(names or [self.schema.names[0]], "") as reader:
            for batch in reader:
                passed = min(done, batch.num_rows)
                done -= passed
                if passed < batch.num_rows:
                    yield self._given(batch.slice(passed), names)

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[Callable[[], Iterable[RowBatch]]]:
        names = self.resolve_columns(columns)
        return (partial(self._parse, block, names) for block in self._cut())

    def _cut(self) -> Iterator[bytes | pa.Table]:
        """Blocks of whole lines, or what was parsed of them. A line end is never part of a value."""
        if self._parsed:
            yield from self._parsed
            return
        rest, size = b"", BLOCK
        with file_errors(self.name), open(self._path, "rb") as file:
            while data := file.read(size):
                end = data.rfind(b"\n") + 1
                if end:
                    yield b"".join((rest, memoryview(data)[:end]))
                rest, size = data[end:] if end else rest + data, BLOCK if end else 4 * size
                if len(rest) > LONGEST_LINE:
                    raise Uncut
        if rest:
            yield rest

    def _check(self, block: bytes | pa.Table) -> pa.Table:
        """The cells of a block; refuses, by `Uncut`, one with other names or types."""
        table = self._read(block, list(self._plain), "error")
        for column in table.columns:
            if pa.types.is_int64(column.type) and (pc.min(column).as_py() or 0) < 0:
                raise Uncut  # DuckDB has another type for whole numbers of both signs
        return table

    def _parse(self, block: bytes | pa.Table, names: list[str]) -> list[pa.RecordBatch]:
        """The rows of a block; `Uncut` where Arrow might see other cells than DuckDB, or none."""
        rows = self._read(block, names or [self.schema.names[0]], "ignore").combine_chunks()
        return [self._given(batch, names) for batch in rows.to_batches(max_chunksize=ROWS)]

    def _fields(self, names: list[str]) -> pa.Schema:
        """The types in which columns arrive."""
        return pa.schema([self._kept.field(name) for name in names])

    def _read(self, lines: bytes | pa.Table, asked: list[str], others: Literal["error", "ignore"]) -> pa.Table:
        import pyarrow.json as pj

        if isinstance(lines, pa.Table):
            return lines.select(asked)
        arriving = self._fields(asked)
        if not lines.strip():
            return arriving.empty_table()
        schema = pa.schema([(name, self._plain[name]) for name in asked])
        how = pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior=others)
        try:
            whole = pj.ReadOptions(use_threads=False, block_size=len(lines) + 1)
            table = pj.read_json(pa.BufferReader(lines), whole, how)  # type: ignore[arg-type]
            table = table.select(asked).cast(arriving)
            table.validate(full=True)  # foreign bytes, before any kernel follows them
        except (pa.ArrowException, KeyError) as error:
            raise Uncut from error
        for column in table.columns:
            if pa.types.is_floating(column.type) and not np.isfinite(pc.max(pc.abs(column)).as_py() or 0.0):
                raise Uncut  # a number beyond all doubles
        return table

    @contextmanager
    def _reader(self, names: list[str], end: str) -> Iterator[ArrowReader]:
        database = self._database()
        picked = ", ".join(self._select[n] for n in names)
        query = f"select {picked} from {self._table(self._columns)}{end}"
        try:
            reader = relation_reader(database.sql(query, params=[_not_a_pattern(self._path)]), ROWS)
            schema = pa.schema([field.with_name(name) for field, name in zip(reader.schema, names, strict=True)])
            renamed = (pa.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in reader)
            yield reader if schema == reader.schema else pa.RecordBatchReader.from_batches(schema, renamed)
        finally:
            database.close()

    def _database(self) -> DuckDBPyConnection:
        import duckdb

        return duckdb.connect(config={"memory_limit": "1GB", "threads": 2})

    def _table(self, columns: str, rows: int = -1) -> str:
        how = (
            columns
            or f", sample_size={rows}, maximum_depth=2, field_appearance_threshold=0, map_inference_threshold=-1"
        )
        return f"read_json(?, format='auto', compression='uncompressed'{how})"

    @contextmanager
    def _failures(self) -> Iterator[None]:
        import duckdb

        try:
            with file_errors(self.name):
                yield
        except duckdb.Error as error:
            message = str(error).split("LINE 1:")[0].replace(self._path, self.name).strip()
            raise InputError(
                f"{self.name} is not valid JSON lines: {shown(message, 300)}. Correct that line."
            ) from error


def _without_number(name: str) -> str | None:
    """What DuckDB numbered, where it may have: a name that ends in _1, without that."""
    first, sign, number = name.casefold().rpartition("_")
    return first if sign and number.isdigit() else None


def _sql_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _is_nested(kind: str) -> bool:
    return kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION"))


def _sql_value(name: str, kind: str) -> str:
    """How a column of duckdb's type is selected: numbers, texts, booleans and dates as they are, the rest as text."""
    quoted = '"' + name.replace('"', '""') + '"'
    if kind == "JSON":
        return f"to_json({quoted})->>'$' as {quoted}"
    if kind in ("BOOLEAN", "BIGINT", "UBIGINT", "DOUBLE", "VARCHAR", "DATE", "TIMESTAMP"):
        return quoted
    return f"cast({quoted} as varchar) as {quoted}"


def _not_a_pattern(path: str) -> str:
    from glob import escape

    return escape(path)
