"""Text that is not sound UTF-8, repaired on the way in where that was asked for: broken bytes become U+FFFD."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from likely.table.arrow import ArrowArray, is_text
from likely.table.source import SourceWrapper
from likely.table.views import text_cells
from likely.table.words.tokens import first_broken


class Repaired(SourceWrapper):
    """A source whose text is sound. Only batches that hold a broken cell are copied."""

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        for batch in self.source.batches(columns):
            arrays = [_repair(array) for array in batch.columns]
            if all(new is old for new, old in zip(arrays, batch.columns, strict=True)):
                yield batch
            else:
                yield pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


def _repair(array: Any) -> ArrowArray:
    """The array, or a sound copy of it where a text in it is broken."""
    if pa.types.is_dictionary(array.type):
        names = _repair(array.dictionary)
        return array if names is array.dictionary else pa.DictionaryArray.from_arrays(array.indices, names)
    if not (is_text(array.type) and len(array)):
        return array  # type: ignore[no-any-return]
    cells = text_cells(array)
    if first_broken(cells.data, cells.starts, cells.ends) < 0:
        return array  # type: ignore[no-any-return]
    bounds = zip(cells.starts.tolist(), cells.ends.tolist(), array.is_valid().to_pylist(), strict=True)
    texts = [cells.data[a:b].tobytes().decode("utf-8", "replace") if valid else None for a, b, valid in bounds]
    return pa.array(texts, pa.large_string() if "large" in str(array.type) else pa.string())
