"""Parquet, Arrow IPC and JSON lines as streams of Arrow batches. Knows these formats; leaves types as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from likely.errors import InputError, shown
from likely.table.arrow import ROWS, is_text, plain_batch, plain_schema, relation_reader
from likely.table.formats.files import Place, file_errors
from likely.table.formats.memory import TableSource
from likely.table.formats.text_file import TextFile, open_text
from likely.table.formats.whole_json import open_whole_json
from likely.table.source import Source, check_names

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyarrow.parquet import FileMetaData

    from likely.table.arrow import ArrowReader
    from likely.table.columns import RowBatch

_BYTES = 1 << 21
"""About so many bytes of cells are in a batch, if its rows are long."""
_WIDE_BYTES = 1 << 23
"""The same, where no cells are long."""
_LONG = 64
"""Mean bytes of a cell above which a text column is not read as a dictionary: its cells are hardly ever equal."""


@contextmanager
def _sound(name: str, format: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            with file_errors(name):
                raise
        message = shown(" ".join(str(error).split()), 160)
        raise InputError(f"{name} is not a sound {format} file ({message}). Write or fetch it again.") from error


class _FileSource(Source):
    """A file whose schema is written in it."""

    def __init__(self, place: Place, schema: pa.Schema, rows: int | None = None) -> None:
        check_names(place.name, tuple(schema.names))
        self.name, self._place, self._kept = place.name, place, schema
        self.schema = plain_schema(schema)
        self.rows = rows

    def _given(self, batch: pa.RecordBatch, names: list[str]) -> pa.RecordBatch:
        return plain_batch(batch if batch.schema.names == names else batch.select(names))


def open_parquet(place: Place) -> Source:
    """Open one Parquet file; only its footer is read."""
    import pyarrow.parquet as pq

    with _sound(place.name, "Parquet"), pq.ParquetFile(place.path) as file:
        return ParquetSource(place, file.schema_arrow, file.metadata)


class ParquetSource(_FileSource):
    """A Parquet file, page by page."""

    reads_columns_apart = True

    def __init__(self, place: Place, schema: pa.Schema, metadata: FileMetaData) -> None:
        super().__init__(place, schema, metadata.num_rows)
        self._coded = [f.name for f in schema if is_text(f.type)]
        self._mean: dict[str, float] = {}
        self._metadata = metadata
        self._groups: Sequence[int] = range(metadata.num_row_groups)
        if metadata.num_row_groups:
            group = metadata.row_group(0)
            mean = self._mean
            for i in range(group.num_columns):
                chunk = group.column(i)
                mean[chunk.path_in_schema] = chunk.total_uncompressed_size / max(1, chunk.num_values)
            # Decoding a column of short repeated texts as a dictionary is 2.5 times as fast; of long ones, slower.
            self._coded = [n for n in self._coded if mean.get(n, 0.0) <= _LONG]

    def groups(self) -> list[tuple[int, int]]:
        """Rows and bytes of each row group."""
        each = (self._metadata.row_group(k) for k in range(self._metadata.num_row_groups))
        sizes = ((g, sum(g.column(i).total_compressed_size for i in range(g.num_columns))) for g in each)
        return [(g.num_rows, size) for g, size in sizes]

    def only(self, groups: Sequence[int]) -> ParquetSource:
        """The same file with these row groups alone; cells come out as they do from the whole file."""
        out = ParquetSource(self._place, self._kept, self._metadata)
        out._groups, out.rows = groups, sum(self._metadata.row_group(k).num_rows for k in groups)
        return out

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        return self._decode(self.resolve_columns(columns), self._groups, use_threads=True)

    @property
    def piece_count(self) -> float:  # type: ignore[override]
        return len(self._groups)

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[Callable[[], Iterable[RowBatch]]]:
        names = self.resolve_columns(columns)
        for group in self._groups:
            yield partial(self._decode, names, [group], use_threads=False)

    def _decode(self, names: list[str], groups: Sequence[int], *, use_threads: bool) -> Iterator[pa.RecordBatch]:
        import pyarrow.parquet as pq

        # Buffered reads keep one page per column in memory; a mapped file would count as memory as it is read.
        with (
            _sound(self.name, "Parquet"),
            pq.ParquetFile(
                self._place.path,
                metadata=self._metadata,  # the footer of a wide file takes longer to read than some of its columns
                read_dictionary=self._coded,
                pre_buffer=False,
                buffer_size=1 << 18,
            ) as file,
        ):
            read = names or [self.schema.names[0]]
            # Long texts: fewer rows at a time, so that memory stays small and there is work for every thread. Many
            # short cells: more bytes, as each column of a batch costs a few calls however few rows it has.
            long = any(self._mean.get(n, 0.0) > _LONG for n in read)
            size = _BYTES if long else _WIDE_BYTES
            rows = 1 + int(size / max(1.0, sum(self._mean.get(n, 0.0) for n in read)))
            rows = min(rows, ROWS)
            for batch in file.iter_batches(
                batch_size=rows, row_groups=list(groups), columns=read, use_threads=use_threads
            ):
                yield self._given(batch, names)


def open_ipc(place: Place) -> Source:
    """Open an Arrow IPC file or stream."""
    with _sound(place.name, "Arrow"), pa.OSFile(place.path, "rb") as file:
        whole = file.read(6) == b"ARROW1"
        file.seek(0)
        reader = pa.ipc.open_file(file) if whole else pa.ipc.open_stream(file)
        return IpcSource(place, reader.schema, whole)


def read_ipc(data: bytes, name: str) -> Source:
    """The table that the bytes of an Arrow IPC file or stream hold, checked as a whole."""
    with _sound(name, "Arrow"):
        buffer = pa.py_buffer(data)
        reader = pa.ipc.open_file(buffer) if data.startswith(b"ARROW1") else pa.ipc.open_stream(buffer)
        table = reader.read_all()
        table.validate(full=True)
        return TableSource(table, name)


class IpcSource(_FileSource):
    """An Arrow IPC file (random access) or stream."""

    def __init__(self, place: Place, schema: pa.Schema, whole: bool) -> None:
        super().__init__(place, schema)
        self._whole = whole

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        names = self.resolve_columns(columns)
        wanted = [self._kept.get_field_index(n) for n in names or [self.schema.names[0]]]
        options = pa.ipc.IpcReadOptions(included_fields=sorted(set(wanted)))
        # Read, not mapped: a file that someone cuts short while it is mapped kills the process (SIGBUS), and what was
        # checked could change before a kernel follows it. The copy costs less than the check.
        with _sound(self.name, "Arrow"), pa.OSFile(self._place.path, "rb") as file:
            for batch in self._stored(file, options):
                batch.validate(full=True)  # foreign bytes: offsets, codes and UTF-8, before any kernel follows them
                for start in range(0, batch.num_rows, ROWS):
                    yield self._given(batch.slice(start, ROWS), names)

    def _stored(self, file: pa.NativeFile, options: pa.ipc.IpcReadOptions) -> Iterator[pa.RecordBatch]:
        if self._whole:
            reader = pa.ipc.open_file(file, options=options)
            for i in range(reader.num_record_batches):
                yield reader.get_batch(i)
        else:
            yield from pa.ipc.open_stream(file, options=options)


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


class JsonSource(_FileSource):
    """JSON lines, read by duckdb. A nested value is its JSON text; so is a column of several types."""

    def __init__(self, place: Place, text: TextFile) -> None:
        self._text, self.name = text, place.name  # the text is kept, as a copy of it lives no longer
        path = self._path = text.copied() if place.packed or text.encoding != "utf-8" else place.path
        with self._failures():
            database = self._database()
            described = database.sql(f"describe from {self._table('')}", params=[_not_a_pattern(path)]).fetchall()
        kinds = {str(row[0]): "JSON" if _is_nested(str(row[1])) else str(row[1]) for row in described}
        if list(kinds) == ["json"]:  # duckdb's own name for lines that are no objects
            raise InputError(f"{self.name} holds no objects with names. Each line must be like {{'age': 39, …}}.")
        self._select = {name: _sql_value(name, kind) for name, kind in kinds.items()}
        # Names that differ only in case were numbered by duckdb; only its own inference finds their cells again.
        numbered = len({n.casefold().rstrip("0123456789").removesuffix("_") for n in kinds}) < len(kinds)
        listed = ", ".join(f"{_sql_text(n)}: {_sql_text(k)}" for n, k in kinds.items())
        self._columns = "" if numbered else f", columns={{{listed}}}"
        with self._failures(), self._reader(list(kinds), " limit 0") as reader:
            super().__init__(place, reader.schema)

    def reopen(self, encoding: str) -> Source:
        return open_json(self._place, encoding)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        names = self.resolve_columns(columns)
        with self._failures(), self._reader(names or [self.schema.names[0]], "") as reader:
            for batch in reader:
                if batch.num_rows:
                    yield self._given(batch, names)

    @contextmanager
    def _reader(self, names: list[str], end: str) -> Iterator[ArrowReader]:
        database = self._database()
        picked = ", ".join(self._select[n] for n in names)
        query = f"select {picked} from {self._table(self._columns)}{end}"
        try:
            yield relation_reader(database.sql(query, params=[_not_a_pattern(self._path)]), ROWS)
        finally:
            database.close()

    def _database(self) -> DuckDBPyConnection:
        import duckdb

        return duckdb.connect(config={"memory_limit": "1GB", "threads": 2})

    def _table(self, columns: str) -> str:
        how = columns or ", sample_size=-1, maximum_depth=2, field_appearance_threshold=0, map_inference_threshold=-1"
        return f"read_json(?, format='auto', compression='uncompressed'{how})"

    @contextmanager
    def _failures(self) -> Iterator[None]:
        import duckdb

        try:
            with file_errors(self.name):
                yield
        except duckdb.Error as error:
            message = str(error).split("LINE 1:")[0].replace(self._path, self.name).strip()
            raise InputError(f"{self.name} is not sound JSON lines: {shown(message, 300)}. Mend that line.") from error


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
