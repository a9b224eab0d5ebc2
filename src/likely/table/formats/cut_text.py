"""Delimited text in blocks of whole rows, which threads cut into cells side by side. Knows blocks; what is unusual in
one is left to Arrow's parser, and what is wrong with the file to the sentences of delimited.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from likely.machinery.arrays import Bytes
from likely.table.batch import Texts
from likely.table.columns import CellBatch, RowBatch, TextColumn
from likely.table.formats.files import file_errors
from likely.table.formats.text_file import TextFile, fill_buffer
from likely.table.source import Uncut
from likely.table.texts.cut import PADDING, REFUSED, count_quotes, cut_cells, find_last_row_end, list_marks, mark_bytes
from likely.table.words.tokens import first_broken

LEAST, MOST = 2 << 20, 8 << 20
"""Bytes of a block. A core's own memory holds the least; wide rows need more, or a block would have too few of them."""
ROWS = 1 << 12
"""Rows that a block of a wide table should have."""
LONGEST_ROW = 64 << 20


class CutText:
    """The blocks of a text. `slow(data)` gives the rows of a block as Arrow's parser has them, or raises `Uncut`."""

    def __init__(
        self,
        text: TextFile,
        delimiter: str,
        names: Sequence[str],
        skip: int,
        wanted: Sequence[str],
        slow: Callable[[bytes], list[RowBatch]],
    ) -> None:
        self._text, self._delimiter, self._names, self._skip, self._slow = text, ord(delimiter), names, skip, slow
        self._schema = pa.schema([pa.field(name, pa.string()) for name in wanted])
        index = {name: k for k, name in enumerate(wanted)}
        self._places = np.array([index.get(name, -1) for name in names], np.int64)
        self._lock = threading.Lock()
        self.trimmed: dict[str, int] = {}
        """How many cells of which column had blanks around them."""

    def blocks(self) -> Iterator[Callable[[], list[RowBatch]]]:
        """The blocks in order, each to be cut by whoever calls it."""
        for block, size in self._read():
            yield lambda block=block, size=size: self._cut(block, size)  # type: ignore[misc]

    def _read(self) -> Iterator[tuple[Bytes, int]]:
        """Whole rows, and how many bytes of them the file has; a line end follows where the file ends without one."""
        rest, size, fitted = np.empty(0, np.uint8), LEAST, False
        with file_errors(self._text.place.name), self._text.stream() as stream:
            stream.read(self._skip)
            while True:
                block = np.empty(len(rest) + size + PADDING, np.uint8)
                block[: len(rest)] = rest
                filled = len(rest) + fill_buffer(stream, block.data[len(rest) : len(block) - PADDING])
                if filled < len(block) - PADDING:
                    block[filled:] = 0
                    if filled:
                        yield block, filled
                    return
                end = find_last_row_end(block, filled, self._delimiter)
                if not end:
                    size *= 4
                    if filled > LONGEST_ROW:
                        raise Uncut
                    rest = block[:filled]
                    continue
                rest = block[end:filled].copy()
                block[end:] = 0
                yield block, int(end)
                size = size if fitted else _fit(block, int(end))
                fitted = True

    def _cut(self, block: Bytes, size: int) -> list[RowBatch]:
        whole = size
        if block[size - 1] != 10:
            block[size] = 10
            whole += 1
        marks, found = np.empty(len(block), np.uint8), np.zeros(3, np.int64)
        marks[whole:] = 0
        mark_bytes(block, whole, self._delimiter, marks, found)
        high, nul, quotes = found.tolist()
        before = block[:size].tobytes() if quotes else b""  # quotes within cells are taken out in place
        if nul or (high and first_broken(block, np.zeros(1, np.int64), np.array([size])) >= 0):
            return self._slow(block[:size].tobytes())
        places = np.empty(int(np.count_nonzero(marks)) + 2, np.int32)
        count = list_marks(marks, whole, places)
        del marks
        # One row more than can be whole: cells of a row that proves too short are written before it is refused.
        edges = count - (int(count_quotes(block, whole)) if quotes else 0)
        columns, most = len(self._schema), edges // len(self._names) + 1
        starts, ends = np.empty((columns, most), np.int64), np.empty((columns, most), np.int64)
        trimmed = np.zeros(len(self._names), np.int64)
        rows = int(cut_cells(block, whole, self._delimiter, places, count, self._places, starts, ends, trimmed))
        if rows == REFUSED:
            return self._slow(before or block[:size].tobytes())
        if trimmed.any():
            self.count_trimmed({self._names[k]: int(trimmed[k]) for k in np.flatnonzero(trimmed).tolist()})
        cells = [TextColumn(Texts(block, starts[k, :rows], ends[k, :rows])) for k in range(columns)]
        return [CellBatch(self._schema, cells, rows)] if rows else []

    def count_trimmed(self, counts: dict[str, int]) -> None:
        with self._lock:
            for name, count in counts.items():
                self.trimmed[name] = self.trimmed.get(name, 0) + count


def _fit(block: Bytes, size: int) -> int:
    """How large blocks should be, from the length of rows in the first one."""
    rows = max(1, int(np.count_nonzero(block[:size] == 10)))
    return min(max(LEAST, ROWS * size // rows), MOST)
