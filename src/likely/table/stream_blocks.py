"""A stream without end as one table after the other: so many rows, the next so many, each with the header of the first.

Knows where a record of delimited text or JSON lines ends; holds one block at a time, never the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from likely.errors import InputError
from likely.machinery.arrays import Bytes, Longs
from likely.machinery.jit import kernel
from likely.table.formats.files import Place, TemporaryFile, file_errors
from likely.table.formats.layout import detect_layout
from likely.table.formats.text_file import open_text
from likely.table.open import open_file
from likely.table.source import Source

_READ = 1 << 18
LONGEST = 1 << 30
"""Bytes of one block at most: beyond them the stream has no ends of lines, or blocks of fewer rows are called for."""
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", b"\xff\xfe", b"\xfe\xff")


class StreamBlocks:
    """The blocks of a stream, each a source of `every` rows (the last may have fewer)."""

    def __init__(
        self, stream: Any, name: str, every: int, encoding: str | None = None, delimiter: str | None = None
    ) -> None:
        raw = getattr(stream, "buffer", stream)
        # read1 gives what is there; read would wait until all that was asked for has come.
        self._read: Callable[[int], bytes] = getattr(raw, "read1", raw.read)
        self._name, self._every, self._encoding, self._delimiter = name, every, encoding, delimiter
        self._rest = b""
        self._ended = False

    def __iter__(self) -> Iterator[Source]:
        first = self._some(1 << 16)
        if first.startswith(_PACKED):
            raise InputError(
                f"{self._name} is packed, binary or UTF-16, so it cannot be cut into blocks. "
                "Unpack or recode it on the way: zcat FILE.gz | likely fit - …"
            )
        if not first.strip():
            raise InputError(f"{self._name} is empty. It needs a header line and rows.")
        lines = first.lstrip().startswith(b"{")
        spare = TemporaryFile()
        spare.hide()
        yield from self._sources(spare, lines)

    def _sources(self, spare: TemporaryFile, lines: bool) -> Iterator[Source]:
        header, done = b"", 0
        while not done or not self._ended or self._rest.strip():
            # The first block is cut before its header is known, so the header is one record more of it.
            block = self._block(self._every + (0 if done or lines else 1), lines)
            if done and not block.strip():
                break
            with file_errors(self._name), open(spare.path, "wb") as file:
                file.write(header + block)
            name = self._name if not done else f"{self._name} after row {done:,}"
            source = open_file(spare.path, name, self._encoding, self._delimiter, spare)
            if not done and not lines:
                text, _ = open_text(Place(spare.path, name), self._encoding)
                layout = detect_layout(text, self._delimiter)
                header = b"".join(block.splitlines(keepends=True)[: layout.lines])
                self._delimiter, self._encoding = layout.delimiter, self._encoding or text.encoding
            yield source
            done += self._every

    def _some(self, size: int) -> bytes:
        """At least so many bytes of what is to come, where there are as many; they stay to be cut."""
        while len(self._rest) < size and not self._ended:
            self._more()
        return self._rest[:size]

    def _more(self) -> None:
        with file_errors(self._name):
            data = self._read(_READ)
        if isinstance(data, str):
            data = data.encode("utf-8", "surrogateescape")
        self._ended = not data
        self._rest += data

    def _block(self, records: int, lines: bool) -> bytes:
        """The bytes of so many records, or all that are left."""
        state, records_read, parts, size = np.array([0, 1, 0], np.int64), 0, list[bytes](), 0
        delimiter = ord(self._delimiter or self._guess())
        while True:
            data = np.frombuffer(self._rest, np.uint8)
            used = find_record_end(data, delimiter, 0 if lines else 1, records, state)
            records_read = int(state[2])
            parts.append(self._rest[:used])
            size, self._rest = size + used, self._rest[used:]
            if records_read == records or self._ended:
                return b"".join(parts)
            if size > LONGEST:
                raise InputError(
                    f"{self._name} has no {records:,} rows in its next {LONGEST >> 20} MB. Say fewer rows (--every), "
                    "or close the quote that is never closed."
                )
            self._more()

    def _guess(self) -> str:
        """The delimiter, by the first line; only quotes after it matter here."""
        line = self._rest[:_READ].lstrip().split(b"\n", 1)[0]
        return max(",\t;|", key=lambda c: (line.count(c.encode()), -",\t;|".index(c)))


@kernel("u1[], i8, i8, i8, i8[]", returns=1)
def find_record_end(data: Bytes, delimiter: int, quotes: int, wanted: int, state: Longs) -> int:
    """How many bytes up to the end of record `wanted`, or all. state: inside quotes, at the start of a cell, records.

    Lines without anything in them are no records.
    """
    inside, start, records_read = state[0], state[1], state[2]
    used = data.size
    for i in range(data.size):
        byte = data[i]
        if inside == 1:
            if byte == 34:
                inside = 0  # a doubled quote opens again at once
                start = 1
            continue
        if byte == 34 and quotes == 1 and start >= 1:
            inside = 1
        elif byte == 10:
            if start != 2:
                records_read += 1
            start = 2
            if records_read == wanted:
                used = i + 1
                break
        elif byte == delimiter:
            start = 1
        elif byte != 13:
            start = 0
        elif start == 0:
            start = 1  # a line may end with it alone: a quote that follows opens a cell (tests/spark/test_files.py)
    state[0], state[1], state[2] = inside, start, records_read
    return used
