"""Text that is not sound UTF-8, repaired on the way in where that was asked for: broken bytes become U+FFFD."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from likely.table.source import Source
from likely.table.views import text_cells
from likely.table.words.tokens import first_broken


class Repaired(Source):
    """A source whose text is sound. Only batches that hold a broken cell are copied."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.name, self.schema, self.declared = source.name, source.schema, source.declared
        self.rows, self.notes = source.rows, source.notes

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        for batch in self._source.batches(columns):
            arrays = [repaired(array) for array in batch.columns]
            if all(new is old for new, old in zip(arrays, batch.columns, strict=True)):
                yield batch
            else:
                yield pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)

    def reopened(self, encoding: str) -> Source:
        return Repaired(self._source.reopened(encoding))


def repaired(array: Any) -> Any:
    """The array, or a sound copy of it where a text in it is broken."""
    if pa.types.is_dictionary(array.type):
        names = repaired(array.dictionary)
        return array if names is array.dictionary else pa.DictionaryArray.from_arrays(array.indices, names)
    if not (_is_text(array.type) and len(array)):
        return array
    cells = text_cells(array)
    if first_broken(cells.data, cells.starts, cells.ends) < 0:
        return array
    bounds = zip(cells.starts.tolist(), cells.ends.tolist(), array.is_valid().to_pylist(), strict=True)
    texts = [cells.data[a:b].tobytes().decode("utf-8", "replace") if valid else None for a, b, valid in bounds]
    return pa.array(texts, pa.large_string() if "large" in str(array.type) else pa.string())


def _is_text(kind: Any) -> bool:
    types = pa.types
    plain = types.is_string(kind) or types.is_large_string(kind)
    return bool(plain or types.is_binary(kind) or types.is_large_binary(kind))
