"""Tables that must be got first: from an address, a Delta or Iceberg table, a dataset, a lazy frame."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from glob import escape, glob
from itertools import chain
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa

from likely.errors import InputError, shown
from likely.table.arrow import ROWS, plain_batch, plain_schema
from likely.table.formats.files import Address, TemporaryFile, choose_tables, is_logged
from likely.table.formats.memory import TableSource, open_memory
from likely.table.source import Source, check_names

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset
    from pyarrow.fs import FileSystem


# Datasets of pyarrow, swept as they are read: as often as need be, batch by batch, wanted columns alone.

_AHEAD = 2
"""Batches and files that are read ahead: memory does not grow with the rows."""


class DatasetSource(Source):
    """A dataset of pyarrow. Text from files of another's making is checked before any kernel follows it."""

    def __init__(self, dataset: Dataset, name: str = "the dataset") -> None:
        check_names(name, tuple(dataset.schema.names))
        self.name, self._dataset = name, dataset
        self.schema = plain_schema(dataset.schema)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        names = self.resolve_columns(columns)
        read = names or [self.schema.names[0]]
        try:
            scanner = self._dataset.scanner(
                columns=read, batch_size=ROWS, batch_readahead=_AHEAD, fragment_readahead=_AHEAD
            )
            for batch in scanner.to_batches():
                if batch.num_rows:
                    batch.validate(full=True)
                    yield plain_batch(batch.select(read)) if names else batch.select([])
        except (pa.ArrowException, OSError, ValueError) as error:
            said = shown(" ".join(str(error).split()), 160)
            raise InputError(f"{self.name} cannot be read ({said}). Check its files.") from error


# Files at an address (https://, s3://, gs://, whatever fsspec knows), copied to files of our own before they are
# read.

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
        return [(_keep_file(address.whole, address, _read_web(address)), name)]
    with _told(address):
        store, path = _open_store(address)
        found = store.get_file_info(path)
        if found.type.name == "NotFound":
            raise InputError(f"There is no file {shown(address.shown, 200)}. Check the address.")
        paths = [path] if found.type.name == "File" else _tables_in(store, path, address)
        above = os.path.dirname(path) if found.type.name == "File" else path
        return [
            (_keep_file(f"{address.whole}\0{p}", address, _read_store(store, p)), p.removeprefix(above).strip("/"))
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


def _keep_file(key: str, address: Address, blocks: Iterator[bytes]) -> TemporaryFile:
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


# Tables whose log says which of their files count: Delta, Iceberg. The one room that knows deltalake and pyiceberg.


def open_lake(folder: str) -> Source | None:
    """The present rows of a Delta or an Iceberg table; None for a folder that is neither."""
    kind = is_logged(folder)
    if kind is None:
        return None
    name = os.path.basename(os.path.normpath(folder))
    with _sound(name, kind):
        return _READERS[kind](folder, name)


@contextmanager
def _sound(name: str, kind: str) -> Iterator[None]:
    """What the libraries say, as a sentence."""
    what = f"{'an' if kind[0] in 'AEIOU' else 'a'} {kind} table"
    try:
        yield
    except InputError:
        raise
    except ImportError as error:
        extra = kind.lower()
        raise InputError(
            f"{name} is {what}: its log says which files count, and reading it takes the extra "
            f"'{extra}': pip install 'likely[{extra}]'; or export its present rows to Parquet."
        ) from error
    except Exception as error:  # each library has exceptions of its own
        said = shown(" ".join(str(error).split()), 200)
        raise InputError(
            f"{name} is {what} that cannot be read here ({said}). Export its present rows to Parquet."
        ) from error


def _open_delta(folder: str, name: str) -> Source:
    from deltalake import DeltaTable

    table = DeltaTable(folder)
    source = DatasetSource(table.to_pyarrow_dataset(), name)
    source.opening_notes = (f"Read as a Delta table, in its version {table.version():,}.",)
    return source


def _open_iceberg(folder: str, name: str) -> Source:
    from pyiceberg.table import StaticTable

    newest = _newest_metadata(folder)
    table = StaticTable.from_metadata(newest)
    source = TableSource(table.scan().to_arrow(), name)
    source.opening_notes = (f"Read as an Iceberg table, by {shown(os.path.basename(newest), 80)}; held in memory.",)
    return source


def _newest_metadata(folder: str) -> str:
    """The last word of an Iceberg table without a catalog: the file with the highest number."""
    files = glob(os.path.join(escape(folder), "metadata", "*.metadata.json"))

    def number(path: str) -> int:
        found = re.match(r"v?(\d+)", os.path.basename(path))
        return int(found[1]) if found else -1

    most = max(map(number, files))
    newest = sorted(path for path in files if number(path) == most)
    if len(newest) > 1:
        raise InputError(
            f"The folder {shown(folder, 200)} is an Iceberg table with {len(newest)} files of metadata of one number, "
            "so that only its catalog knows which counts. Export its present rows to Parquet."
        )
    return newest[0]


_READERS: dict[str, Callable[[str, str], Source]] = {"Delta": _open_delta, "Iceberg": _open_iceberg}


# What becomes a table when it is asked for: lazy frames, scanners, generators. Knows them by what they can do, and
# imports none of their libraries. What can be read only once is kept as a table, and found again while it lives.

_kept: dict[int, tuple[object, TableSource]] = {}
"""By the id of what can be read only once, what it held; itself too where its end cannot be noticed, so that its id is
not another's."""


def open_lazy(data: Any) -> Source | None:
    """The table that something lazy stands for; None where it is nothing of the kind."""
    library, kind = type(data).__module__.partition(".")[0], type(data).__name__
    if library == "narwhals" and hasattr(data, "to_native"):
        native = data.to_native()  # read as what it is made of: a frame of pandas keeps the rules for pandas
        return open_lazy(native) or open_memory(native)
    if library == "polars" and kind == "LazyFrame":
        return open_memory(data.collect())
    if library == "pyarrow":
        return _open_arrow(data)
    if isinstance(data, np.ndarray) and data.dtype.names is not None:
        return open_memory({name: data[name] for name in data.dtype.names})
    if isinstance(data, Iterator) and not hasattr(data, "__arrow_c_stream__"):
        return _keep_rows(data, lambda: _read_items(data))
    return None


def _open_arrow(data: Any) -> Source | None:
    if isinstance(data, pa.RecordBatchReader):
        return _keep_rows(data, lambda: TableSource(data.read_all()))
    if callable(getattr(data, "to_reader", None)) and hasattr(data, "projected_schema"):  # a scanner
        return _keep_rows(data, lambda: TableSource(data.to_reader().read_all()))
    if callable(getattr(data, "scanner", None)):
        return DatasetSource(data)
    return None


def _keep_rows(data: object, read: Any) -> TableSource:
    """What can be read once, read; asked for again it is the same table. Lives as long as what it came from."""
    if id(data) not in _kept:
        source: TableSource = read()
        try:
            weakref.finalize(data, _kept.pop, id(data), None)
            _kept[id(data)] = (None, source)
        except TypeError:
            _kept[id(data)] = (data, source)
    return _kept[id(data)][1]


def _read_items(items: Iterator[Any]) -> TableSource:
    """The table of an iterator of rows (dicts), or of Arrow batches and tables."""
    first = next(items, None)
    if first is None:
        raise InputError("The iterator is at its end, so it gives no rows. Make it anew: it can be read only once.")
    every = chain([first], items)
    if isinstance(first, Mapping):
        return _as_table(open_memory(list(every)))
    if hasattr(first, "__arrow_c_array__") or hasattr(first, "__arrow_c_stream__"):
        parts = [_as_table(open_memory(item)).table for item in every]
        try:
            return TableSource(pa.concat_tables(parts, promote_options="permissive"))
        except pa.ArrowException as error:
            raise InputError(f"The batches of the iterator do not agree: {' '.join(str(error).split())}.") from error
    raise InputError(
        f"The iterator gives a {type(first).__name__}. It must give rows as dicts, or batches or frames of Arrow."
    )


def _as_table(source: Source) -> TableSource:
    assert isinstance(source, TableSource)
    return source
