"""What becomes a table when it is asked for: lazy frames, scanners, generators. Knows them by what they can do, and
imports none of their libraries. What can be read only once is kept as a table, and found again while it lives.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from likely.errors import InputError
from likely.table.elsewhere.datasets import DatasetSource
from likely.table.formats.memory import TableSource, open_memory
from likely.table.source import Source

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
        return _keep(data, lambda: _read_items(data))
    return None


def _open_arrow(data: Any) -> Source | None:
    if isinstance(data, pa.RecordBatchReader):
        return _keep(data, lambda: TableSource(data.read_all()))
    if callable(getattr(data, "to_reader", None)) and hasattr(data, "projected_schema"):  # a scanner
        return _keep(data, lambda: TableSource(data.to_reader().read_all()))
    if callable(getattr(data, "scanner", None)):
        return DatasetSource(data)
    return None


def _keep(data: object, read: Any) -> TableSource:
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
