"""Files on disk: finds them, tells their format by content and name, takes off compression, spools streams.

Knows bytes and paths only; what the bytes say is for delimited, arff and columnar. A failure names the file.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import pyarrow as pa

from likely.errors import InputError, shown
from likely.table.source import Source

PACKED = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd", ".bz2": "bz2"}
FORMATS = {
    ".csv": "delimited", ".tsv": "delimited", ".tab": "delimited", ".psv": "delimited",
    ".jsonl": "json", ".ndjson": "json", ".json": "json",
    ".arff": "arff",
    ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc", ".arrows": "ipc",
}  # fmt: skip
_MAGIC = ((b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"BZh", "bz2"))
_FETCHED = ("http", "https", "ftp", "sftp", "file", "s3", "gs", "gcs", "abfs", "hdfs")
_FOREIGN = (
    (b"\x89likely\n", "a model file, not a table: give it to likely show, or to likely predict before the table"),
    (b"PK\x03\x04", "a zip archive or a spreadsheet: unpack it, or save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook: save the sheet as CSV"),
    (b"PARE", "an encrypted Parquet file: decrypt it first"),
    (b"FEA1", "a Feather file of version 1: write it again as version 2"),
    (b"ORC", "an ORC file: convert it to Parquet"),
    (b"%PDF", "a PDF: export the table as CSV"),
    (b"\x89HDF", "an HDF5 file: export the table as Parquet or CSV"),
)


@dataclass(frozen=True)
class Place:
    """One file: where it is, how to call it in a sentence, and how it is compressed."""

    path: str
    name: str
    packed: str | None = None

    def stream(self) -> Any:
        """The bytes, decompressed, from the beginning."""
        raw = pa.OSFile(self.path, "rb")
        packed: Any = self.packed
        return pa.CompressedInputStream(raw, packed) if packed else raw

    def head(self, size: int) -> tuple[bytes, bool]:
        """The first bytes, decompressed, and whether they are all there are."""
        with reading(self.name), self.stream() as stream:
            data: bytes = stream.read(size)
            return data, len(data) < size or not stream.read(1)


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turns what the operating system or a decompressor says into a sentence that names the file."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"{name} is no longer there. Check the path and run again.") from error
    except PermissionError as error:
        raise InputError(f"{name} may not be read by this user. Change its permissions, or copy it.") from error
    except OSError as error:
        said = " ".join(str(error).split())
        if "runcated compressed" in said:
            raise InputError(f"{name} ends in the middle of its compressed data. Fetch or make it again.") from error
        if any(word in said.lower() for word in ("inflate", "decompress", "compressed")):
            raise InputError(f"{name} has damaged compressed data ({shown(said, 160)}). Fetch it again.") from error
        raise InputError(f"{name} cannot be read ({shown(said, 160)}). Check it, or fetch it again.") from error


def open_path(path: str, encoding: str | None, delimiter: str | None) -> Source:
    """Open a file, a folder, a glob, or '-' for standard input."""
    if path == "-":
        if sys.stdin.isatty():
            raise InputError("Standard input is a terminal. Pipe a table into it, or name a file.")
        return open_stream(sys.stdin, "standard input", encoding, delimiter)
    if "://" in path and not os.path.exists(path):
        return _address(path)
    from likely.table.formats.many import together

    opened = [watched_file(p, name, encoding, delimiter) for p, name in files_at(path)]
    return together(opened, os.path.expanduser(path))


def watched_file(path: str, name: str, encoding: str | None, delimiter: str | None) -> Source:
    """One file as a table; whoever reads it to its end is told if it changed meanwhile."""
    from likely.table.formats.fingerprint import Unchanged, Watched

    if not os.path.isfile(path):
        return open_file(path, name, encoding, delimiter)  # a pipe or a device is copied, and the copy stays
    watch = Unchanged(path, name)
    source = open_file(path, name, encoding, delimiter)
    return source if source.steady else Watched(source, watch)


def _address(path: str) -> Source:
    """What stands at an address: a database. Files of the web are for others to fetch."""
    from likely.table.databases.addresses import address_of
    from likely.table.databases.database import database

    found = address_of(path)
    if found is None or found.scheme in _FETCHED:
        where = "This" if found is None else found.shown
        raise InputError(f"{shown(where, 100)} is an address, not a file. Download it, then name the file.")
    return database(path)


def files_at(path: str) -> list[tuple[str, str]]:
    """The files that a path, a folder or a glob stands for, in order, each with what to call it in a sentence."""
    path = os.path.expanduser(path)
    if "\0" in path or not path:
        raise InputError("The path is empty." if not path else f"The path {shown(path)} contains a NUL character.")
    found = [path]
    if os.path.isdir(path):
        found = _tables_in(path)
    elif not os.path.exists(path):
        if not has_magic(path):
            raise InputError(_missing(path))
        found = sorted(p for p in glob(path, recursive=True) if os.path.isfile(p))
        if not found:
            raise InputError(f"No file matches {shown(path, 200)}. Check the pattern and the folder.")
    names = [os.path.basename(p) for p in found]
    if len(set(names)) < len(names):  # files of the same name in several folders
        names = [os.path.relpath(p, os.path.commonpath(found)) for p in found]
    return list(zip(found, names, strict=True))


def open_file(path: str, name: str, encoding: str | None, delimiter: str | None) -> Source:
    """One file as a table; `name` is what to call it in a sentence."""
    if os.path.exists(path) and not os.path.isfile(path):
        # A named pipe or a device can be read only once, like standard input.
        with reading(name), open(path, "rb") as stream:
            return open_stream(stream, name, encoding, delimiter)
    with reading(name), open(path, "rb") as file:
        start = file.read(64)
    if start.startswith(b"SQLite format 3") or start[8:12] == b"DUCK":
        from likely.table.databases.database import database

        return database(path)
    packed = next((kind for magic, kind in _MAGIC if start.startswith(magic)), None)
    place = Place(path, name, packed)
    head = place.head(1 << 16)[0] if packed else start
    stem, suffix = os.path.splitext(name.lower())
    if suffix in PACKED:
        if start and not packed:
            raise InputError(f"{name} is named as if it were compressed, but its content is not. Mend the name.")
        suffix = os.path.splitext(stem)[1]
    if not head:
        raise InputError(f"{name} is empty. It needs a header line and rows.")
    format = _format(place, head, FORMATS.get(suffix))
    if format in ("parquet", "ipc"):
        from likely.table.formats import columnar

        if packed:
            raise InputError(f"{name} is a compressed {format} file. Decompress it; the format compresses itself.")
        return columnar.open_parquet(place) if format == "parquet" else columnar.open_ipc(place)
    for magic, what in _FOREIGN:
        if head.startswith(magic) and (b"\0" in head or not FORMATS.get(suffix)):
            raise InputError(f"{name} is {what}.")
    if format == "json":
        from likely.table.formats.columnar import open_json

        return open_json(place, encoding)
    if format == "arff":
        from likely.table.formats.arff import open_arff

        return open_arff(place, encoding)
    from likely.table.formats.delimited import open_delimited

    return open_delimited(place, encoding, delimiter, {".tsv": "\t", ".tab": "\t", ".psv": "|"}.get(suffix))


def _format(place: Place, head: bytes, named: str | None) -> str:
    """Magic bytes first; then the name; a name that says nothing leaves it to the first character."""
    if head.startswith(b"PAR1") and named in (None, "parquet"):
        return "parquet"
    if head.startswith(b"ARROW1") or head.startswith(b"\xff\xff\xff\xff"):
        return "ipc"
    if named:
        return named
    text = place.head(1 << 16)[0].removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{") or (text.startswith(b"[") and text[1:].lstrip().startswith(b"{")):
        return "json"
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith(b"%")), b"")
    return "arff" if first.lower().startswith(b"@relation") else "delimited"


def _tables_in(folder: str) -> list[str]:
    kinds: dict[str, list[str]] = {}
    with reading(folder):
        names = sorted(os.listdir(folder))
    for name in names:
        stem, suffix = os.path.splitext(name.lower())
        format = FORMATS.get(os.path.splitext(stem)[1] if suffix in PACKED else suffix)
        path = os.path.join(folder, name)
        # Names that start with '.' or '_' are other programs' marks (_SUCCESS, .crc).
        if format and not name.startswith((".", "_")) and os.path.isfile(path):
            kinds.setdefault(format, []).append(path)
    if not kinds:
        raise InputError(
            f"The folder {shown(folder, 200)} holds no table. Name a file, or a folder of Parquet or CSV files."
        )
    if len(kinds) > 1:
        first = next(iter(kinds.values()))[0]
        pattern = os.path.join(folder, "*" + os.path.splitext(first)[1])
        raise InputError(
            f"The folder {shown(folder, 200)} holds tables of different formats. "
            f"Name one kind with a pattern, for example {shown(pattern, 200)}."
        )
    return next(iter(kinds.values()))


def _missing(path: str) -> str:
    folder, name = os.path.split(path)
    if folder and not os.path.isdir(folder):
        return f"There is no folder {shown(folder, 200)}, so {shown(name, 100)} cannot be read. Check the path."
    names: list[str] = []
    with suppress(OSError):
        names = os.listdir(folder or ".")
    close = get_close_matches(name, names, n=1, cutoff=0.6) or [n for n in names if n.lower() == name.lower()]
    end = f"Did you mean {shown(os.path.join(folder, close[0]), 200)}?" if close else "Check the path."
    return f"There is no file {shown(path, 200)}. {end}"


_spooled: dict[int, tuple[Any, str]] = {}


def temporary() -> str:
    """The path of a new file that is deleted when the program ends."""
    handle, path = tempfile.mkstemp(prefix="likely-")
    os.close(handle)

    def remove() -> None:
        Path(path).unlink(missing_ok=True)

    atexit.register(remove)
    return path


def open_stream(stream: Any, name: str, encoding: str | None, delimiter: str | None) -> Source:
    """Spool a stream that can be read only once; the same stream asked for again gives the same spool."""
    if id(stream) not in _spooled:
        path = temporary()
        content = getattr(stream, "buffer", stream)
        with reading(name), open(path, "wb") as spool:
            first = content.read(1 << 20)
            if isinstance(first, str):
                spool.write(first.encode("utf-8", "surrogateescape"))
                for text in iter(lambda: content.read(1 << 20), ""):
                    spool.write(text.encode("utf-8", "surrogateescape"))
            else:
                spool.write(first)
                shutil.copyfileobj(content, spool, 1 << 20)
        # The stream itself is kept, so that its id cannot be given to another.
        _spooled[id(stream)] = (stream, path)
    return open_file(_spooled[id(stream)][1], name, encoding, delimiter)
