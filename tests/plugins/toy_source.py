"""A source of one's own: dice that fall the same way in every sweep. Names, types, and batches again and again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from likely.table.source import Source


class Dice(Source):
    """Two dice and whether their sum is seven."""

    def __init__(self, rows: int) -> None:
        self.name, self.rows = "the dice", rows
        self.schema = pa.schema([("one", pa.string()), ("two", pa.string()), ("seven", pa.string())])

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        chance, names = np.random.default_rng(7), self.resolve_columns(columns)
        for start in range(0, self.rows or 0, 50):
            one, two = chance.integers(1, 7, (2, min(50, (self.rows or 0) - start)))
            cells = {"one": [f"d{k}" for k in one], "two": [f"d{k}" for k in two]}
            cells["seven"] = ["yes" if s == 7 else "no" for s in one + two]
            yield pa.record_batch([pa.array(cells[n]) for n in names], names)
