"""Text files: their encoding, their bytes as UTF-8, and blocks of whole rows that threads cut into cells."""

from __future__ import annotations

import codecs
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from likely.errors import EncodingError, InputError, SettingError, shown
from likely.machinery.arrays import Bytes
from likely.table.arrow import CellBatch, RowBatch, TextColumn
from likely.table.batch import Texts
from likely.table.formats.files import Place, TemporaryFile, file_errors
from likely.table.source import Uncut
from likely.table.texts.cut import PADDING, REFUSED, count_quotes, cut_cells, find_last_row_end, list_marks, mark_bytes
from likely.table.words import first_broken

# Which encoding a text file has, and its bytes as UTF-8. Knows bytes and characters, never rows or columns.

SAMPLE = 1 << 20
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LATIN = {"latin-1", "iso8859-1", "cp1252"}


def _as_control(error: UnicodeError) -> tuple[str, int]:
    # The five bytes that Windows-1252 leaves open are control characters, as in every browser: reading never fails.
    assert isinstance(error, UnicodeDecodeError)
    return "".join(map(chr, error.object[error.start : error.end])), error.end


codecs.register_error("likely-control", _as_control)


@dataclass
class TextFile:
    """A file as text: which bytes, in which encoding."""

    place: Place
    encoding: str
    _copy: TemporaryFile | None = field(default=None, repr=False)

    @property
    def plain(self) -> bool:
        """Whether the bytes are UTF-8 already, so that they can be parsed as they are."""
        return self.encoding in ("utf-8", "utf-8-sig")

    @property
    def cuttable(self) -> bool:
        """Whether a part of the text is a part of the file's bytes."""
        return self.plain and self.place.packed is None

    def stream(self) -> pa.NativeFile:
        """The text as a stream of UTF-8 bytes, without a byte order mark."""
        if not self.plain:
            return pa.OSFile(self.copied(), "rb")
        raw = self.place.stream()
        if self.encoding == "utf-8-sig":
            raw.read(3)
        return raw

    def copied(self) -> str:
        """The path of a copy in plain UTF-8, made once; it lives as long as this object.

        Recoding on the way would call Python from the parser's threads, and a program that ends in the middle of a
        sweep (an error will do) would hang: test_a_program_may_end_in_the_middle_of_a_sweep.
        """
        if self._copy is None:
            made, decoder = TemporaryFile(), self.decoder()
            made.hide()
            with file_errors(self.place.name), self.place.stream() as stream, open(made.path, "wb") as copy:
                more = True
                while more:
                    block = stream.read(SAMPLE)
                    more = bool(block)
                    try:
                        text = decoder.decode(block, not more)
                    except UnicodeDecodeError as error:
                        raise decoding_error(self) from error
                    copy.write((text if copy.tell() else text.removeprefix("\ufeff")).encode())
            self._copy = made
        return self._copy.path

    def decoder(self) -> codecs.IncrementalDecoder:
        return codecs.getincrementaldecoder(self.encoding)("likely-control" if self.encoding == "cp1252" else "strict")

    def head(self, size: int) -> tuple[str, bool]:
        """The first characters, and whether they are the whole text."""
        data, whole = self.place.head(size)
        if b"\0" in data and not self.encoding.startswith(("utf-16", "utf-32")):
            raise InputError(nul_sentence(self.place.name, data.count(b"\n", 0, data.index(b"\0")) + 1))
        try:
            return self.decoder().decode(data, whole).removeprefix("\ufeff"), whole
        except UnicodeDecodeError as error:
            raise decoding_error(self) from error


class TextBytes(TextFile):
    """Some bytes of a file as a text of their own, in UTF-8."""

    def __init__(self, place: Place, data: bytes) -> None:
        super().__init__(place, "utf-8")
        self._data = data

    def stream(self) -> pa.NativeFile:
        return pa.BufferReader(self._data)


def nul_sentence(name: str, line: int) -> str:
    return (
        f"Line {line:,} of {name} contains a NUL byte, so it is not plain text. "
        "Is it a binary file? If it is UTF-16 without a mark at its beginning, say encoding='utf-16-le' "
        "(--encoding utf-16-le)."
    )


def open_text(place: Place, encoding: str | None) -> tuple[TextFile, str | None]:
    """Decide the encoding (given, by mark, UTF-8 where the sample is valid, else Windows-1252); says so if unusual."""
    data, whole = place.head(SAMPLE)
    mark = next((name for bom, name in _BOMS if data.startswith(bom)), None)
    if encoding is not None:
        try:
            known = codecs.lookup(encoding).name
            "".encode(known)
        except LookupError as error:
            raise SettingError(f"There is no text encoding {shown(encoding)}. Try utf-8, latin-1 or utf-16.") from error
        if known == "utf-8" and mark == "utf-8-sig":
            known = "utf-8-sig"
        return TextFile(place, "cp1252" if known in _LATIN else known), None
    if mark is not None:
        note = f"Read as {mark.upper()}, by the mark at its beginning."
        return TextFile(place, mark), None if mark == "utf-8-sig" else note
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, whole)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        note = f"Read as latin-1 (Windows-1252) because line {line:,} is not valid UTF-8."
        return TextFile(place, "cp1252"), note
    return TextFile(place, "utf-8"), None


def decoding_error(text: TextFile) -> EncodingError:
    """The sentence for text that breaks its encoding: looks through the file for the line. The caller raises it."""
    decoder, lines, where, named = text.decoder(), 1, "", f"{text.place.name} is not valid {text.encoding.upper()}"
    with text.place.stream() as stream:
        while not where:
            block = stream.read(SAMPLE)
            try:
                lines += decoder.decode(block, not block).count("\n")
            except UnicodeDecodeError as error:
                wrong = error.object[error.start : error.start + 1].hex()
                upto = error.object[: error.start].decode(text.encoding, "replace").count("\n")
                where = f"Line {lines + upto:,} of {named} (byte 0x{wrong})"
            if not block:
                break
    remedy = "Say which encoding it has, for example encoding='latin-1' (--encoding latin-1)."
    return EncodingError(f"{where or named}. {remedy}")


def fill_buffer(stream: Any, buffer: memoryview) -> int:
    """Read until a buffer is full or the file ends; how many bytes there are."""
    filled = 0
    while filled < len(buffer):
        more = stream.readinto(buffer[filled:])
        if not more:
            break
        filled += more
    return filled


# Delimited text in blocks of whole rows, which threads cut into cells side by side. Knows blocks; what is unusual
# in one is left to Arrow's parser, and what is wrong with the file to the sentences of delimited.py.

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
