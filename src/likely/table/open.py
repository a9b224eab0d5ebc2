"""The door for tables: any file, frame, dict, stream or database becomes a Source. Knows which reader fits which thing.

Readers are imported when they are needed: a command loads only what it uses.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Iterator
from typing import Any

from likely.errors import InputError, shown
from likely.table.formats.files import TemporaryFile, detect_format, file_errors, is_database, list_files
from likely.table.formats.fingerprint import Stamp
from likely.table.source import Source
from likely.table.wrappers.concatenated import concatenate
from likely.table.wrappers.partitioned import Partitioned, partition_values
from likely.table.wrappers.watched import Watched

_FETCHED = ("http", "https", "ftp", "sftp", "file", "s3", "gs", "gcs", "abfs", "hdfs")
_DELIMITERS = {".tsv": "\t", ".tab": "\t", ".psv": "|"}
_START = 64
"""Bytes of a stream that say whether it is a database."""
_spooled: dict[int, tuple[Any, TemporaryFile]] = {}
"""By the id of a stream, what it held; the stream too where its end cannot be noticed, so that its id stays its own."""


def open_source(data: object, *, encoding: str | None = None, delimiter: str | None = None) -> Source:
    """Open a table: a path, a folder, a glob, '-' for standard input, a dict, a list of dicts, or any Arrow stream.

    >>> [batch.to_pydict() for batch in open_source({"play": ["yes", "no"]}).batches()]
    [{'play': ['yes', 'no']}]
    """
    if isinstance(data, Source):
        return data
    if isinstance(data, (str, os.PathLike)):
        path = os.fspath(data)
        if isinstance(path, bytes):
            raise InputError(f"The path {shown(path)} is bytes; give it as text.")
        return _open_path(path, encoding, delimiter)
    if callable(getattr(data, "read", None)) and not hasattr(data, "__arrow_c_stream__"):
        return _open_stream(data, "the stream", encoding, delimiter)
    from likely.table.formats.memory import open_memory

    return open_memory(data)


def _open_path(path: str, encoding: str | None, delimiter: str | None) -> Source:
    """Open a file, a folder, a glob, an address, or '-' for standard input."""
    if path == "-":
        if sys.stdin.isatty():
            raise InputError("Standard input is a terminal. Pipe a table into it, or name a file.")
        return _open_stream(sys.stdin, "standard input", encoding, delimiter)
    if "://" in path and not os.path.exists(path):
        from likely.table.addresses import parse_address, refuse_connection_string
        from likely.table.databases.database import database

        address = parse_address(path)
        if address is None:
            refuse_connection_string(path)
        if address is None or address.scheme in _FETCHED:  # files of the web are for others to fetch
            where = "This" if address is None else address.shown
            raise InputError(f"{shown(where, 100)} is an address, not a file. Download it, then name the file.")
        return database(path)
    sources = [open_watched_file(p, name, encoding, delimiter) for p, name in list_files(path)]
    return concatenate(sources, os.path.expanduser(path))


def open_watched_file(path: str, name: str, encoding: str | None, delimiter: str | None) -> Source:
    """One file as a table; whoever reads it to its end is told if it changed meanwhile."""
    if not os.path.isfile(path):
        return open_file(path, name, encoding, delimiter)  # a pipe or a device is copied, and the copy stays
    stamp = Stamp.read(path, name)
    source = open_file(path, name, encoding, delimiter)
    return source if source.is_snapshot else Watched(source, path, stamp)


def open_file(
    path: str, name: str, encoding: str | None, delimiter: str | None, holder: TemporaryFile | None = None
) -> Source:
    """One file as a table; `name` is what to call it in a sentence, `holder` the temporary file that it is, if so."""
    if os.path.exists(path) and not os.path.isfile(path):
        # A named pipe or a device can be read only once, like standard input.
        with file_errors(name), open(path, "rb") as stream:
            return _open_stream(stream, name, encoding, delimiter)
    source = _open_format(path, name, encoding, delimiter, holder)
    values = partition_values(name)
    return Partitioned(source, values) if values else source


def _open_format(
    path: str, name: str, encoding: str | None, delimiter: str | None, holder: TemporaryFile | None
) -> Source:
    place, format, suffix = detect_format(path, name, holder)
    if format == "database":
        from likely.table.databases.database import database

        source = database(path)
        source.holder = holder
        return source
    if format in ("parquet", "ipc", "json"):
        from likely.table.formats import columnar

        if format == "json":
            return columnar.open_json(place, encoding)
        return columnar.open_parquet(place) if format == "parquet" else columnar.open_ipc(place)
    if format == "arff":
        from likely.table.formats.arff import open_arff

        return open_arff(place, encoding)
    from likely.table.formats.delimited import open_delimited

    return open_delimited(place, encoding, delimiter, _DELIMITERS.get(suffix))


def _open_stream(stream: Any, name: str, encoding: str | None, delimiter: str | None) -> Source:
    """Spool a stream that can be read only once; the same stream asked for again gives the same spool."""
    if id(stream) not in _spooled:
        spool = _spool(stream, name)
        try:
            weakref.finalize(stream, _spooled.pop, id(stream), None)
            _spooled[id(stream)] = (None, spool)
        except TypeError:
            _spooled[id(stream)] = (stream, spool)
    spool = _spooled[id(stream)][1]
    return open_file(spool.path, name, encoding, delimiter, spool)


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
