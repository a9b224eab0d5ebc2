"""The door for tables: any file, frame, dict, stream or database becomes a Source; streams without end in blocks."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from likely.errors import InputError, shown
from likely.machinery.arrays import Bytes, Longs
from likely.machinery.jit import kernel
from likely.table.formats.delimited import detect_layout
from likely.table.formats.files import (  # fmt: skip
    WORKBOOKS,
    Place,
    Stamp,
    TemporaryFile,
    detect_format,
    file_errors,
    is_database,
    list_files,
    read_start,
    split_inside,
)
from likely.table.formats.text_file import open_text
from likely.table.source import Source
from likely.table.wrappers import Partitioned, Watched, concatenate, partition_values

# The door for tables: any file, frame, dict, stream or database becomes a Source. Knows which reader fits which
# thing.

_DELIMITERS = {".tsv": "\t", ".tab": "\t", ".psv": "|"}
_START = 64
"""Bytes of a stream that say whether it is a database."""
_spooled: dict[int, tuple[Any, TemporaryFile]] = {}
"""By the id of a stream, what it held; the stream too where its end cannot be noticed, so that its id stays its own."""


@dataclass(frozen=True)
class Opening:
    """What is said of how a file becomes cells."""

    encoding: str | None = None
    delimiter: str | None = None
    sheet: str | None = None
    header_row: int | None = None


def open_source(
    data: object,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    sheet: str | None = None,
    header_row: int | None = None,
) -> Source:
    """Open a table: a path, a folder, a glob, several of them, an address, '-' for standard input, or memory.

    In memory: a dict of columns, rows as dicts, an array with names, any frame, dataset or stream of Arrow.

    >>> [batch.to_pydict() for batch in open_source({"play": ["yes", "no"]}).batches()]
    [{'play': ['yes', 'no']}]
    """
    if isinstance(data, Source):
        return data
    how = Opening(encoding, delimiter, sheet, header_row)
    if isinstance(data, (str, os.PathLike)):
        return _open_path(_path_text(data), how)
    if isinstance(data, (list, tuple)) and data and all(isinstance(d, (str, os.PathLike)) for d in data):
        sources = [_open_path(_path_text(d), how) for d in data]
        return concatenate(sources, "the files")
    if callable(getattr(data, "read", None)) and not hasattr(data, "__arrow_c_stream__"):
        return _open_stream(data, "the stream", how)
    from likely.table.elsewhere import open_lazy
    from likely.table.formats.memory import open_memory

    return open_lazy(data) or open_memory(data)


def _path_text(data: str | os.PathLike[str]) -> str:
    path = os.fspath(data)
    if isinstance(path, bytes):
        raise InputError(f"The path {shown(path)} is bytes; give it as text.")
    return path


def _open_path(path: str, how: Opening) -> Source:
    """Open a file, a folder, a glob, an address, or '-' for standard input."""
    if path == "-":
        if sys.stdin.isatty():
            raise InputError("Standard input is a terminal. Pipe a table into it, or name a file.")
        return _open_stream(sys.stdin, "standard input", how)
    if "://" in path and not os.path.exists(path):
        return _open_address(path, how)
    if os.path.isdir(os.path.expanduser(path)):
        from likely.table.elsewhere import open_lake

        found = open_lake(os.path.expanduser(path))
        if found is not None:
            return found
    sources = [open_watched_file(p, name, how) for p, name in list_files(path)]
    return concatenate(sources, os.path.expanduser(path))


def _open_address(path: str, how: Opening) -> Source:
    """Open files that must be fetched, or a database."""
    from likely.table.databases import database
    from likely.table.elsewhere import fetch_files, is_file_address, local_path
    from likely.table.formats.files import parse_address, refuse_connection_string

    address = parse_address(path)
    if address is None:
        refuse_connection_string(path)
        raise InputError("This looks like an address, but has no scheme such as https:// before it. Correct it.")
    if address.scheme == "file":
        return _open_path(local_path(address), how)
    if not is_file_address(address):
        return database(path)
    fetched = fetch_files(address)
    for held, name in fetched:
        if is_database(read_start(held.path, name)):  # whose views may read any file of this machine
            raise InputError(f"{name} is a database. Download it if you trust it, then name the file.")
    sources = [open_file(held.path, name, how, held) for held, name in fetched]
    return concatenate(sources, address.shown)


def open_watched_file(path: str, name: str, how: Opening) -> Source:
    """One file as a table; whoever reads it to its end is told if it changed meanwhile."""
    if not os.path.isfile(split_inside(path)[0]):
        return open_file(path, name, how)  # a pipe is copied, and the copy stays
    stamp = Stamp.read(path, name)
    source = open_file(path, name, how)
    return source if source.is_snapshot else Watched(source, path, stamp)


def open_file(path: str, name: str, how: Opening, holder: TemporaryFile | None = None) -> Source:
    """One file as a table; `name` is what to call it in a sentence, `holder` the temporary file that it is, if so."""
    file, inside = split_inside(path)
    if os.path.exists(file) and not os.path.isfile(file):
        # A named pipe or a device can be read only once, like standard input.
        with file_errors(name), open(file, "rb") as stream:
            return _open_stream(stream, name, how)
    title = name if inside is None else name.removesuffix(inside).rstrip("/")
    source = _open_container(file, title, inside, how, holder)
    values = partition_values(title)
    return Partitioned(source, values) if values else source


def _open_container(path: str, name: str, inside: str | None, how: Opening, holder: TemporaryFile | None) -> Source:
    """A table within another file: of a zip archive, of a workbook, packed by xz; any other file is its own table."""
    from likely.table.formats.containers import is_archive, is_workbook, unpack

    start, unpacked = read_start(path, name), False
    if _is_named_workbook(name) or is_workbook(path, start):
        return _open_sheet(path, name, inside, how)
    if is_archive(start):
        holder, name = unpack(path, name, inside)
        path, inside, unpacked = holder.path, None, True
        start = read_start(path, name)
        if _is_named_workbook(name) or is_workbook(path, start):
            return _open_sheet(path, name, None, how)
        if is_archive(start):
            raise InputError(f"{name} is packed twice. Unpack it once, then name the file.")
    if inside is not None:
        raise InputError(f"{name} is neither an archive nor a workbook, so it has no {shown(inside)} within it.")
    if how.sheet is not None:
        raise InputError(f"{name} is not a workbook, so it has no sheet {shown(how.sheet)}. Leave the sheet out.")
    if holder is not None and unpacked and is_database(start):
        raise InputError(f"{name} is a database within an archive. Unpack it, then name the file.")
    return open_format(path, name, how, holder, unpacked)


def name_sheet(data: str, sheet: str) -> str | Source:
    """A sheet of a workbook: by its path where it has one, so that whatever takes paths takes it."""
    own = os.path.isfile(data) and _is_named_workbook(data) and "/" not in sheet
    return os.path.join(data, sheet) if own else open_source(data, sheet=sheet)


def _is_named_workbook(name: str) -> bool:
    return os.path.splitext(name.lower())[1] in WORKBOOKS


def _open_sheet(path: str, name: str, inside: str | None, how: Opening) -> Source:
    from likely.table.formats.containers import open_sheet

    sheet = how.sheet
    if inside is not None and sheet is not None and inside != sheet:
        raise InputError(f"The path names the sheet {shown(inside)} of {name}, and sheet is {shown(sheet)}. Name one.")
    return open_sheet(path, name, inside if sheet is None else sheet, how.header_row)


def open_format(path: str, name: str, how: Opening, holder: TemporaryFile | None, unpacked: bool = False) -> Source:
    """One file that is its own table: neither archives nor workbooks are looked into."""
    place, format, suffix = detect_format(path, name, holder, unpacked)
    if how.header_row is not None and format in ("database", "json", "parquet", "ipc", "arff"):
        raise InputError(f"{name} names its columns itself, so it has no header row. Leave --header-row out.")
    if format == "database":
        from likely.table.databases import database

        source = database(path)
        source.holder = holder
        return source
    if format == "json":
        from likely.table.formats.json_lines import open_json

        return open_json(place, how.encoding)
    if format in ("parquet", "ipc"):
        from likely.table.formats import columnar

        return columnar.open_parquet(place) if format == "parquet" else columnar.open_ipc(place)
    if format == "arff":
        from likely.table.formats.arff import open_arff

        return open_arff(place, how.encoding)
    from likely.table.formats.delimited import open_delimited

    return open_delimited(place, how.encoding, how.delimiter, _DELIMITERS.get(suffix), how.header_row)


def _open_stream(stream: Any, name: str, how: Opening) -> Source:
    """Spool a stream that can be read only once; the same stream asked for again gives the same spool."""
    if id(stream) not in _spooled:
        spool = _spool(stream, name)
        try:
            weakref.finalize(stream, _spooled.pop, id(stream), None)
            _spooled[id(stream)] = (None, spool)
        except TypeError:
            _spooled[id(stream)] = (stream, spool)
    spool = _spooled[id(stream)][1]
    return open_file(spool.path, name, how, spool)


def _spool(stream: Any, name: str) -> TemporaryFile:
    """What a stream holds, in a file, which has no name from the first byte on unless it is a database."""
    spool = TemporaryFile()
    content = getattr(stream, "buffer", stream)
    with file_errors(name):
        parts = _byte_parts(content)
        first = b""
        for part in parts:
            first += part
            if len(first) >= _START:
                break
        if not is_database(first):  # whose driver needs a name
            spool.hide()
        with open(spool.path, "wb") as file:
            file.write(first)
            file.writelines(parts)
    return spool


def _byte_parts(content: Any) -> Iterator[bytes]:
    """What is left in a stream of bytes or of text."""
    while part := content.read(1 << 20):
        yield part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part


# A stream without end as one table after the other: so many rows, the next so many, each with the header of the
# first.

_READ = 1 << 18
LONGEST = 1 << 30
"""Bytes of one block at most: beyond them the stream has no ends of lines, or blocks of fewer rows are called for."""
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", b"\xff\xfe", b"\xfe\xff")


class StreamBlocks:
    """The blocks of a stream, each a source of `every` rows (the last may have fewer)."""

    def __init__(
        self, stream: Any, name: str, every: int, encoding: str | None = None, delimiter: str | None = None,
        header_row: int | None = None,
    ) -> None:  # fmt: skip
        raw = getattr(stream, "buffer", stream)
        # read1 gives what is there; read would wait until all that was asked for has come.
        self._read: Callable[[int], bytes] = getattr(raw, "read1", raw.read)
        self._name, self._every, self._encoding, self._delimiter = name, every, encoding, delimiter
        self._header_row = header_row
        self._rest = b""
        self._ended = False

    def __iter__(self) -> Iterator[Source]:
        first = self._some(1 << 16)
        if first.startswith(_PACKED):
            raise InputError(
                f"{self._name} is packed, binary or UTF-16, so it cannot be cut into blocks. "
                "Unpack or recode it on the way: zcat FILE.gz | likely fit - …"
            )
        if not first.strip():
            raise InputError(f"{self._name} is empty. It needs a header line and rows.")
        lines = first.lstrip().startswith(b"{")
        spare = TemporaryFile()
        spare.hide()
        yield from self._sources(spare, lines)

    def _sources(self, spare: TemporaryFile, lines: bool) -> Iterator[Source]:
        header, done = b"", 0
        while not done or not self._ended or self._rest.strip():
            # The first block is cut before its header is known, so that is one record more of it, and what is above.
            block = self._block(self._every + (0 if done or lines else self._header_row or 1), lines)
            if done and not block.strip():
                break
            with file_errors(self._name), open(spare.path, "wb") as file:
                file.write(header + block)
            name = self._name if not done else f"{self._name} after row {done:,}"
            how = Opening(self._encoding, self._delimiter, header_row=self._header_row)
            source = open_file(spare.path, name, how, spare)
            if not done and not lines:
                text, _ = open_text(Place(spare.path, name), self._encoding)
                layout = detect_layout(text, self._delimiter, header_row=self._header_row)
                header = b"".join(block.splitlines(keepends=True)[: layout.lines])
                self._delimiter, self._encoding = layout.delimiter, self._encoding or text.encoding
            yield source
            done += self._every

    def _some(self, size: int) -> bytes:
        """At least so many bytes of what is to come, where there are as many; they stay to be cut."""
        while len(self._rest) < size and not self._ended:
            self._more()
        return self._rest[:size]

    def _more(self) -> None:
        with file_errors(self._name):
            data = self._read(_READ)
        if isinstance(data, str):
            data = data.encode("utf-8", "surrogateescape")
        self._ended = not data
        self._rest += data

    def _block(self, records: int, lines: bool) -> bytes:
        """The bytes of so many records, or all that are left."""
        state, records_read, parts, size = np.array([0, 1, 0], np.int64), 0, list[bytes](), 0
        delimiter = ord(self._delimiter or self._guess())
        while True:
            data = np.frombuffer(self._rest, np.uint8)
            used = find_record_end(data, delimiter, 0 if lines else 1, records, state)
            records_read = int(state[2])
            parts.append(self._rest[:used])
            size, self._rest = size + used, self._rest[used:]
            if records_read == records or self._ended:
                return b"".join(parts)
            if size > LONGEST:
                raise InputError(
                    f"{self._name} has no {records:,} rows in its next {LONGEST >> 20} MB. Say fewer rows (--every), "
                    "or close the quote that is never closed."
                )
            self._more()

    def _guess(self) -> str:
        """The delimiter, by the first line; only quotes after it matter here."""
        line = self._rest[:_READ].lstrip().split(b"\n", 1)[0]
        return max(",\t;|", key=lambda c: (line.count(c.encode()), -",\t;|".index(c)))


@kernel("u1[], i8, i8, i8, i8[]", returns=1)
def find_record_end(data: Bytes, delimiter: int, quotes: int, wanted: int, state: Longs) -> int:
    """How many bytes up to the end of record `wanted`, or all. state: inside quotes, at the start of a cell, records.

    Lines without anything in them are no records.
    """
    inside, start, records_read = state[0], state[1], state[2]
    used = data.size
    for i in range(data.size):
        byte = data[i]
        if inside == 1:
            if byte == 34:
                inside = 0  # a doubled quote opens again at once
                start = 1
            continue
        if byte == 34 and quotes == 1 and start >= 1:
            inside = 1
        elif byte == 10:
            if start != 2:
                records_read += 1
            start = 2
            if records_read == wanted:
                used = i + 1
                break
        elif byte == delimiter:
            start = 1
        elif byte != 13:
            start = 0
        elif start == 0:
            start = 1  # a line may end with it alone: a quote that follows opens a cell (tests/spark/test_frames.py)
    state[0], state[1], state[2] = inside, start, records_read
    return used
