"""Files at an address (https://, s3://, gs://, whatever fsspec knows), copied to files of our own before they are read.

A table is read more than once, and by several threads: a copy is quicker, and stays as it is. Knows no rows.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from likely.errors import InputError, shown
from likely.table.addresses import Address
from likely.table.formats.files import TemporaryFile, choose_tables

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

STORES = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs")
"""What pyarrow opens by itself."""
_DATABASES = ("postgresql", "postgres", "sqlite", "duckdb", "mysql", "snowflake", "bigquery", "flightsql", "grpc")
_BLOCK = 1 << 20
_PATIENCE = 60
"""Seconds that a server may be silent."""
_fetched: weakref.WeakValueDictionary[str, TemporaryFile] = weakref.WeakValueDictionary()
"""What was fetched and is still in use, by its address: a command that opens a table twice fetches it once."""


def is_file_address(address: Address) -> bool:
    """Whether an address is that of a file or a folder, not of a database."""
    if address.scheme in ("http", "https", "file", *STORES):
        return True
    if address.scheme in _DATABASES:
        return False
    try:
        from fsspec import available_protocols
    except ImportError:
        return address.scheme in ("ftp", "sftp", "memory", "github", "adl", "az", "dbfs", "webhdfs")
    return address.scheme in available_protocols()


def local_path(address: Address) -> str:
    """The path that a file:// address stands for."""
    from urllib.request import url2pathname

    parts = urlsplit(address.whole)
    if parts.netloc not in ("", "localhost"):
        raise InputError(f"{shown(address.shown, 100)} names a file of another machine. Write file:///path/to/it.")
    return url2pathname(parts.path)


def fetch_files(address: Address) -> list[tuple[TemporaryFile, str]]:
    """The files at an address, each in a file of our own, with what to call it in a sentence."""
    if address.scheme in ("http", "https"):
        name = unquote(os.path.basename(urlsplit(address.whole).path)) or address.shown
        return [(_keep(address.whole, address, _read_web(address)), name)]
    with _told(address):
        store, path = _open_store(address)
        found = store.get_file_info(path)
        if found.type.name == "NotFound":
            raise InputError(f"There is no file {shown(address.shown, 200)}. Check the address.")
        paths = [path] if found.type.name == "File" else _tables_in(store, path, address)
        above = os.path.dirname(path) if found.type.name == "File" else path
        return [
            (_keep(f"{address.whole}\0{p}", address, _read_store(store, p)), p.removeprefix(above).strip("/"))
            for p in paths
        ]


@contextmanager
def _told(address: Address) -> Iterator[None]:
    """What a library says of an address, as a sentence without its secrets."""
    try:
        yield
    except InputError:
        raise
    except ImportError as error:
        said = shown(address.mask_secrets(error), 160)
        raise InputError(
            f"{shown(address.shown, 100)} needs a library that is not installed ({said}). Install fsspec and what it "
            "names, or download the file and name it."
        ) from error
    except Exception as error:  # every store has exceptions of its own
        said = shown(address.mask_secrets(error), 200)
        raise InputError(f"{shown(address.shown, 100)} cannot be fetched ({said}). Check the address.") from error


def _read_web(address: Address) -> Iterator[bytes]:
    from urllib.request import Request, urlopen

    with _told(address):
        parts, headers = urlsplit(address.whole), {"User-Agent": "likely", "Accept-Encoding": "identity"}
        private, at, host = parts.netloc.rpartition("@")
        request = Request(parts._replace(netloc=host, fragment="").geturl(), headers=headers)
        if at:  # for this server alone: none that it sends us on to gets the password
            secret = f"Basic {b64encode(unquote(private).encode()).decode()}"
            request.add_unredirected_header("Authorization", secret)
        with urlopen(request, timeout=_PATIENCE) as answer:
            told = answer.headers.get("Content-Length", "")
            size = 0
            while block := answer.read(_BLOCK):
                size += len(block)
                yield block
            if told.isdigit() and size != int(told):
                raise InputError(
                    f"{shown(address.shown, 100)} broke off after {size:,} of {int(told):,} bytes. Run again."
                )


def _open_store(address: Address) -> tuple[FileSystem, str]:
    """The store, and the path in it."""
    from pyarrow import fs

    if address.scheme in STORES:
        try:
            found: tuple[FileSystem, str] = fs.FileSystem.from_uri(address.whole)
            return found
        except (NotImplementedError, ValueError):
            pass  # built without it, or with options that only fsspec knows
    import fsspec

    store, path = fsspec.core.url_to_fs(address.whole)
    make: Any = fs.FSSpecHandler  # its stubs call it abstract
    return fs.PyFileSystem(make(store)), path


def _tables_in(store: FileSystem, folder: str, address: Address) -> list[str]:
    from pyarrow import fs

    every = [f.path for f in store.get_file_info(fs.FileSelector(folder, recursive=True)) if f.type.name == "File"]
    inner = {path: path.removeprefix(folder).strip("/") for path in every}
    if any("_delta_log/" in name or name.endswith(".metadata.json") for name in inner.values()):
        raise InputError(
            f"{shown(address.shown, 100)} is a Delta or Iceberg table: its log says which files count. "
            "Copy its folder here and name that, or export its present rows to Parquet."
        )
    return choose_tables(sorted(p for p, name in inner.items() if not _is_mark(name)), address.shown)


def _is_mark(name: str) -> bool:
    return any(part.startswith((".", "_")) and "=" not in part for part in name.split("/"))


def _read_store(store: FileSystem, path: str) -> Iterator[bytes]:
    with store.open_input_stream(path) as stream:
        while block := stream.read(_BLOCK):
            yield block


def _keep(key: str, address: Address, blocks: Iterator[bytes]) -> TemporaryFile:
    """What an address holds, in a file of our own."""
    if (kept := _fetched.get(key)) is not None:
        return kept
    made, size, free = TemporaryFile(), 0, shutil.disk_usage(tempfile.gettempdir()).free
    made.hide()
    with open(made.path, "wb") as file:
        for block in blocks:
            size += len(block)
            if size > free:
                raise InputError(
                    f"{shown(address.shown, 100)} needs more room than the temporary folder has. Free some."
                )
            file.write(block)
    _fetched[key] = made
    return made
