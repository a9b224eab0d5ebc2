"""Tables whose log says which of their files count: Delta, Iceberg. The one room that knows deltalake and pyiceberg.

Their folders are never read as folders of Parquet: files that no longer count hold rows that were deleted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from glob import escape, glob

from likely.errors import InputError, shown
from likely.table.elsewhere.datasets import DatasetSource
from likely.table.formats.files import is_logged
from likely.table.formats.memory import TableSource
from likely.table.source import Source


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
