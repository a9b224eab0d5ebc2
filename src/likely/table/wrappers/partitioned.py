"""Columns that the folders of a file say: year=2024/month=05/part.parquet. Knows names of folders; reads no file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from likely.table.arrow import ArrowArray, label_array
from likely.table.source import Source, SourceWrapper

NOTHING = "__HIVE_DEFAULT_PARTITION__"
"""How Hive and Spark write that the value is missing."""


def partition_values(name: str) -> dict[str, str | None]:
    """What the folders in the name of a file say, as text.

    >>> partition_values("year=2024/place=a%20b/part-0.parquet")
    {'year': '2024', 'place': 'a b'}
    """
    pairs = (part.partition("=") for part in os.path.dirname(name).split(os.sep) if "=" in part.strip("="))
    return {unquote(key): None if value == NOTHING else unquote(value) for key, _, value in pairs}


class Partitioned(SourceWrapper):
    """A file with the columns of its folders after its own. Their cells are texts, like those of CSV."""

    def __init__(self, source: Source, values: Mapping[str, str | None]) -> None:
        super().__init__(source)
        self._values = {name: value for name, value in values.items() if name not in source.schema.names}
        for name in self._values:
            self.schema = self.schema.append(pa.field(name, pa.string()))

    def wrap(self, source: Source) -> Source:
        return Partitioned(source, self._values)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        names = self.resolve_columns(columns)
        own = [name for name in names if name not in self._values]
        for batch in self.source.batches(own):
            rows = batch.num_rows
            arrays = [self._same(n, rows) if n in self._values else batch.column(n) for n in names]
            yield pa.RecordBatch.from_arrays(arrays, names=names) if names else batch

    def _same(self, name: str, rows: int) -> ArrowArray:
        value = self._values[name]
        if value is None:
            return pa.nulls(rows, pa.string())
        return label_array(np.zeros(rows, np.int32), [value])
