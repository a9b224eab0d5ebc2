"""About how many rows a table has, before it is read, for whoever waits. Knows footers and sizes of files, no cells."""

from __future__ import annotations

import os

from likely.errors import LikelyError
from likely.table.open import open_source

SAMPLE = 1 << 18
"""Bytes of a text file by which the length of its lines is judged."""
PACKED = (".gz", ".zst", ".xz", ".zip", ".bz2", ".xlsx")


def expect_rows(data: object) -> int | None:
    """The rows of a table, about; None where that cannot be told without reading it.

    >>> expect_rows({"x": [1, 2, 3]})
    3
    """
    if not isinstance(data, (str, os.PathLike)):
        rows = getattr(data, "num_rows", None)
        if isinstance(data, dict) and data:
            rows = len(next(iter(data.values())))
        return rows if isinstance(rows, int) else None
    path = os.fspath(data)
    try:
        if not os.path.isfile(path) or path.endswith(PACKED):
            return None  # a folder would be opened a second time, file by file
        in_footer = path.endswith((".parquet", ".arrow", ".feather"))
        return open_source(path).rows if in_footer else _by_length_of_lines(path)
    except (LikelyError, OSError):
        return None


def _by_length_of_lines(path: str) -> int | None:
    """Bytes of the file by bytes of a line, of its first lines."""
    with open(path, "rb") as file:
        sample = file.read(SAMPLE)
    lines = sample.count(b"\n")
    if not lines or b"\0" in sample:
        return None
    return int(os.path.getsize(path) * lines / (sample.rindex(b"\n") + 1))
