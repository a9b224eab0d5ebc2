"""Columns of Arrow's from lines of JSON that have plain values. Knows which cells plain_json cut; no file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa

from likely.machinery.arrays import Bytes, Hashes, Longs
from likely.table.arrow import ArrowArray, bit_buffer
from likely.table.batch import Texts, pack_texts
from likely.table.columns import CellBatch, TextArray, TextColumn, copied_texts
from likely.table.texts import cells, plain_json
from likely.table.texts.plain_json import BOOLEAN, DOUBLE, PADDING, REFUSED, SIGNED, TEXT, WHOLE
from likely.table.words.tokens import first_broken

KINDS = {"BOOLEAN": BOOLEAN, "BIGINT": WHOLE, "UBIGINT": WHOLE, "HUGEINT": SIGNED, "DOUBLE": DOUBLE, "VARCHAR": TEXT}
"""What DuckDB says of a column, and the kind of value that is cut."""
_NONE: Hashes = np.empty(0, np.uint64)


@dataclass(frozen=True)
class PlainLines:
    """Names and kinds of the columns that lines have."""

    names: Sequence[str]
    kinds: Longs
    packed: Bytes
    starts: Hashes
    ends: Hashes

    @classmethod
    def of(cls, kinds: Mapping[str, str]) -> Self | None:
        """For columns of these types of DuckDB's; None where a name may be written in several ways."""
        if any(c in '"\\' or c < " " for name in kinds for c in name):
            return None
        texts = pack_texts(list(kinds))
        packed = np.concatenate([texts.data, np.zeros(PADDING, np.uint8)])
        known = np.array([KINDS[kind] for kind in kinds.values()], np.int64)
        return cls(list(kinds), known, packed, texts.starts.astype(np.uint64), texts.ends.astype(np.uint64))

    def cut(self, data: Bytes, asked: Sequence[str]) -> CutLines | None:
        """The cells of the columns asked for, where all lines have the names and kinds of values that are known; None
        where one does not, or is written in an unusual way. `PADDING` zeros follow the lines."""
        size = len(data) - PADDING
        lines = int(plain_json.count_line_ends(data, size)) + 1
        index = {name: k for k, name in enumerate(asked)}
        places = np.array([index.get(name, -1) for name in self.names], np.int64)
        starts, ends = (np.zeros((len(asked), lines), np.int64) for _ in range(2))
        seen, high = np.zeros(len(self.names), np.int64), np.zeros(1, np.int64)
        rows = plain_json.cut_lines(
            data, size, self.packed, self.starts, self.ends, self.kinds, places, seen, starts, ends, high
        )
        broken = high[0] and first_broken(data, np.zeros(1, np.int64), np.array([size])) >= 0
        if rows == REFUSED or broken:
            return None
        kinds = {name: int(kind) for name, kind in zip(self.names, self.kinds, strict=True)}
        return CutLines(data, [kinds[name] for name in asked], starts[:, :rows], ends[:, :rows])


@dataclass(frozen=True)
class CutLines:
    """Cells of some lines: cell i of column k is data[starts[k, i]:ends[k, i]], and null where it begins at 0."""

    data: Bytes
    kinds: Sequence[int]
    starts: Longs
    ends: Longs

    def read(self, schema: pa.Schema) -> pa.RecordBatch | None:
        """The values of the cells; None where a number is beyond what is read here."""
        columns = [self._column(k, field.type) for k, field in enumerate(schema)]
        return None if any(c is None for c in columns) else pa.record_batch(columns, schema=schema)

    def read_in_place(self, schema: pa.Schema) -> CellBatch | None:
        """The same, but texts are not copied."""
        rows = self.starts.shape[1]
        columns: list[TextArray] = []
        for k, field in enumerate(schema):
            if self.kinds[k] in (TEXT, SIGNED):
                column: TextArray | None = TextColumn(Texts(self.data, *self._edges(k)))
            else:
                column = self._column(k, field.type)
            if column is None:
                return None
            columns.append(column)
        return CellBatch(schema, columns, rows)

    def _edges(self, k: int) -> tuple[Longs, Longs]:
        return np.ascontiguousarray(self.starts[k]), np.ascontiguousarray(self.ends[k])

    def _column(self, k: int, kind: pa.DataType) -> ArrowArray | None:
        starts, ends = self._edges(k)
        there = starts != 0
        known = None if there.all() else there
        if self.kinds[k] in (TEXT, SIGNED):
            return copied_texts(Texts(self.data, starts, ends), known).cast(kind)
        if self.kinds[k] == BOOLEAN:
            held = bit_buffer(self.data[starts] == ord("t"))
        elif self.kinds[k] == WHOLE:
            wholes = np.empty(len(starts), np.int64)
            plain_json.read_wholes(self.data, starts, ends, wholes)
            held = pa.py_buffer(wholes.data)
        else:
            values, state = np.empty(len(starts)), np.empty(len(starts), np.uint8)
            cells.parse(self.data, starts, ends, _NONE, False, values, state)
            if (state > 1).any() or not np.isfinite(values[there]).all():
                return None
            held = pa.py_buffer(values.data)
        return pa.Array.from_buffers(kind, len(starts), [bit_buffer(known), held])
