"""Parquet and Arrow IPC as streams of Arrow batches, and what an Arrow stream says that it holds."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from likely.errors import InputError, shown
from likely.table.arrow import ROWS, is_text, plain_batch, plain_schema
from likely.table.formats.files import Place, file_errors
from likely.table.formats.memory import TableSource
from likely.table.source import Source, check_names

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData

    from likely.table.arrow import RowBatch


# Parquet and Arrow IPC as streams of Arrow batches. Knows these formats; leaves types as they are.

_BYTES = 1 << 21
"""About so many bytes of cells are in a batch, if its rows are long."""
_WIDE_BYTES = 1 << 24
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


class FileSource(Source):
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


class ParquetSource(FileSource):
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
                buffer_size=max(min(1 << 18, (1 << 22) // max(len(names), 1)), 1 << 12),  # one for each column
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


class IpcSource(FileSource):
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


# What an Arrow stream says that it holds: rows, and bytes once decompressed. Reads headers; decompresses nothing.

_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3  # MessageHeader
_LENGTH, _BUFFERS, _COMPRESSION = 0, 2, 3  # fields of a RecordBatch
_OLD_COMPRESSION = b"ARROW:experimental_compression"  # how Arrow 0.17 said it
_DATA = 1  # field of a DictionaryBatch


@dataclass(frozen=True)
class IpcSize:
    """The rows of a stream of Arrow, and the bytes of its buffers once decompressed, dictionaries included."""

    rows: int
    bytes: int


def measure_ipc(data: bytes) -> IpcSize:
    """What a stream declares; pyarrow allocates as much as is declared before it looks further."""
    rows = size = 0
    for header, is_batch, body in _batches(data):
        if is_batch:
            rows += header.number(_LENGTH)
        packed = header.has(_COMPRESSION) or _OLD_COMPRESSION in header.data
        for offset, length in header.buffers(_BUFFERS):
            size += _unpacked(body, offset, length) if packed else length
    return IpcSize(rows, size)


def _batches(data: bytes) -> Iterator[tuple[_Table, bool, memoryview]]:
    """Header and body of each batch of rows or of levels."""
    for message in pa.ipc.MessageReader.open_stream(pa.py_buffer(data)):
        metadata = bytes(message.metadata)
        root = _Table(metadata, struct.unpack_from("<I", metadata)[0])
        kind, body = root.small(1), memoryview(message.body or b"")
        if kind == _RECORD_BATCH:
            yield root.table(2), True, body
        elif kind == _DICTIONARY_BATCH:
            yield root.table(2).table(_DATA), False, body


def _unpacked(body: memoryview, offset: int, length: int) -> int:
    """A compressed buffer begins with its length once decompressed; -1 where it was left as it is."""
    if length < 8:
        return length
    (declared,) = struct.unpack_from("<q", body, offset)
    return int(declared) if declared >= 0 else length


class _Table:
    """A table of a flatbuffer."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at
        self.fields = at - struct.unpack_from("<i", data, at)[0]
        self.size: int = struct.unpack_from("<H", data, self.fields)[0]

    def place(self, field: int) -> int | None:
        entry = 4 + 2 * field
        offset: int = struct.unpack_from("<H", self.data, self.fields + entry)[0] if entry < self.size else 0
        return self.at + offset if offset else None

    def has(self, field: int) -> bool:
        return self.place(field) is not None

    def number(self, field: int) -> int:
        at = self.place(field)
        return 0 if at is None else int(struct.unpack_from("<q", self.data, at)[0])

    def small(self, field: int) -> int:
        at = self.place(field)
        return 0 if at is None else self.data[at]

    def table(self, field: int) -> _Table:
        at = self.place(field)
        if at is None:
            raise ValueError("a batch without its header")
        return _Table(self.data, at + struct.unpack_from("<I", self.data, at)[0])

    def buffers(self, field: int) -> Iterator[tuple[int, int]]:
        """Offset and length of each buffer."""
        at = self.place(field)
        if at is not None:
            start = at + struct.unpack_from("<I", self.data, at)[0]
            (count,) = struct.unpack_from("<I", self.data, start)
            yield from struct.iter_unpack("<qq", self.data[start + 4 : start + 4 + 16 * count])
