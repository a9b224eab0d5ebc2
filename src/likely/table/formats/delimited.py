"""CSV and its relatives as streams of Arrow batches: every cell stays the text it was, but for blanks around it.

Knows rows, lines and quotes, and tells what is wrong with its line; must not know what a cell means.
"""

from __future__ import annotations

import csv
import io
import math
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import pyarrow as pa

from likely.errors import InputError, LikelyError, shown
from likely.table.formats.cut_text import CutText
from likely.table.formats.files import Place, file_errors
from likely.table.formats.layout import Layout, detect_layout, long_cells
from likely.table.formats.text_file import TextBytes, TextFile, decoding_error, nul_sentence, open_text
from likely.table.formats.trim import trim_batch, trim_note
from likely.table.source import Source, Uncut
from likely.table.views import numbers_in

if TYPE_CHECKING:
    from pyarrow.csv import CSVStreamingReader, InvalidRow

    from likely.table.arrow import ArrowArray
    from likely.table.columns import RowBatch

BLOCK = 2 << 20
"""Bytes of text per batch. Arrow works on many blocks ahead: 1 MB each is a quarter slower, 4 MB takes 300 MB."""
ROW_LIMIT = 64 << 20
"""A longer row is refused: it is an unclosed quote, and looking further would take gigabytes of memory."""


def open_delimited(place: Place, encoding: str | None, delimiter: str | None, hint: str | None) -> Source:
    """Open a delimited text file; `hint` is the delimiter its name speaks for."""
    text, note = open_text(place, encoding)
    return DelimitedSource(text, detect_layout(text, delimiter, hint), (note,) if note else ())


class DelimitedSource(Source):
    """A delimited text file. All columns are strings; the caller decides what they mean."""

    parses_text = True
    piece_count = math.inf

    def __init__(self, text: TextFile, layout: Layout, notes: tuple[str, ...]) -> None:
        self.name = text.place.name
        self.schema = pa.schema([pa.field(n, pa.string()) for n in layout.names])
        self.opening_notes = tuple(dict.fromkeys(notes + layout.notes))
        self._trimmed: dict[str, int] = {}
        self._trims = True
        self._cut: CutText | None = None
        self.text, self.layout = text, layout
        # Whether rows of another length are looked at: lines of blanks pass, others are refused. The parser calls
        # Python for it from its own threads, so it is done only for files that have such rows.
        self._watch = False
        # A wide table needs longer blocks, or its batches would hold few rows and the arrays cost more than the cells.
        self._block = min(max(BLOCK, 64 * layout.skip), 4 * BLOCK)

    @property
    def notes(self) -> tuple[str, ...]:
        counts = self._trimmed if self._cut is None else {**self._trimmed, **self._cut.trimmed}
        return self.opening_notes + trim_note({n: counts[n] for n in self.layout.names if n in counts})

    def reopen(self, encoding: str) -> Source:
        text, _ = open_text(self.text.place, encoding)
        return DelimitedSource(text, detect_layout(text, self.layout.delimiter), self.layout.notes)

    def as_written(self) -> Source:
        out = DelimitedSource(self.text, self.layout, self.opening_notes)
        out._trims, out.piece_count = False, 0
        return out

    def trim(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return trim_batch(batch, {})

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        names = self.resolve_columns(columns)
        done, block = 0, self._block
        while True:
            skipped = 0
            # After a row that the parser would not take, a new sweep passes over the rows that were already given.
            try:
                for batch in self._sweep(names or [self.layout.names[0]], block):
                    passed = min(done - skipped, batch.num_rows)
                    skipped += passed
                    if passed < batch.num_rows:
                        fresh = batch.slice(passed) if passed else batch
                        done += fresh.num_rows
                        skipped += fresh.num_rows
                        yield fresh if names else fresh.select([])
                return
            except _Ragged:
                self._watch = True
            except _RowTooLong:
                if block >= ROW_LIMIT:
                    raise InputError(
                        f"Row {done + 1:,} of {self.name} is longer than {ROW_LIMIT >> 20} MB. "
                        "Probably a quote is never closed, or the file has another delimiter or no line ends."
                    ) from None
                block = min(8 * block, ROW_LIMIT)

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[Callable[[], Iterable[RowBatch]]]:
        names, layout = self.resolve_columns(columns), self.layout

        def slow(data: bytes) -> list[RowBatch]:
            """A block as Arrow's parser reads it; what is wrong in it is told by a sweep that knows its lines."""
            part = DelimitedSource(TextBytes(self.text.place, data), replace(layout, skip=0), ())
            part._watch = True
            try:
                rows = list(part.batches(names))
            except LikelyError as error:
                raise Uncut from error
            cut.count_trimmed(part._trimmed)
            return rows  # type: ignore[return-value]

        cut = self._cut = CutText(self.text, layout.delimiter, layout.names, layout.skip, names, slow)
        yield from cut.blocks()

    def _sweep(self, names: list[str], block: int) -> Iterator[pa.RecordBatch]:
        bad: list[InvalidRow] = []
        done, trimmed = 0, dict[str, int]()
        last: pa.RecordBatch | None = None
        with self._failures(bad, done):
            reader = self._reader(names, block, bad)
            if reader is None:
                return
        while True:
            with self._failures(bad, done):
                try:
                    batch = reader.read_next_batch()
                except StopIteration:
                    break
            if any(_has_nul(c) for c in batch.columns):
                raise InputError(nul_sentence(self.name, self._line_of_nul()))
            done += batch.num_rows
            if batch.num_rows:
                last = batch
                yield trim_batch(batch, trimmed) if self._trims else batch
        self._trimmed |= trimmed
        if last is not None and self.layout.names[-1] in names:
            self._check_end(str(last.column(self.layout.names[-1])[-1]))

    def _reader(self, names: list[str], block: int, bad: list[InvalidRow]) -> CSVStreamingReader | None:
        import pyarrow.csv as pc

        def on_ragged(row: InvalidRow) -> Literal["skip", "error"]:
            if not row.text.strip():
                return "skip"  # a line of blanks
            bad.append(row)
            return "error"

        stream: Any = self._stream_of_rows()
        options = pc.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), include_columns=names, strings_can_be_null=False
        )
        try:
            return pc.open_csv(
                stream,
                pc.ReadOptions(block_size=block, column_names=list(self.layout.names)),
                pc.ParseOptions(
                    delimiter=self.layout.delimiter,
                    newlines_in_values=True,
                    invalid_row_handler=on_ragged if self._watch else None,
                ),
                options,
            )
        except pa.ArrowInvalid as error:
            if "Empty CSV" in str(error):
                return None
            raise

    def _stream_of_rows(self) -> pa.NativeFile:
        """The text from its first row on. U+FEFF that begins a cell there is no byte order mark, for which Arrow would
        take it, so a line end comes before it."""
        skip = self.layout.skip
        with self.text.stream() as start:
            start.read(skip)
            marked = start.read(3) == BOM_UTF8
        stream = self.text.stream()
        stream.read(skip - 1 if marked and skip else skip)
        return stream if skip or not marked else pa.BufferReader(b"\n" + stream.read())

    @contextmanager
    def _failures(self, bad: list[InvalidRow], done: int) -> Iterator[None]:
        """Turns what the parser says into sentences with the line of the file."""
        try:
            with file_errors(self.name):
                yield
        except pa.ArrowInvalid as error:
            message = str(error)
            if "straddl" in message or "Row is too long" in message:
                raise _RowTooLong from error
            if "UTF8" in message:
                raise decoding_error(self.text) from error
            if bad:
                raise InputError(self._ragged(bad[0], done)) from error
            if "Expected" in message and not self._watch:
                raise _Ragged from error
            raise InputError(f"{self.name} cannot be read after row {done:,}: {shown(message, 200)}.") from error

    def _ragged(self, row: InvalidRow, done: int) -> str:
        """Reads again, slowly, up to the row that is too short or too long, to tell its line."""
        expected = len(self.layout.names)
        line, start, cells, record = self.layout.lines, 0, row.actual_columns, [row.text]
        for end, record in self._records():
            if len(record) != expected and (len(record) > 1 or (record and record[0].strip())):
                start, cells = line + 1, len(record)
                break
            line = end
        where = f"Line {start:,} of {self.name}" if start else f"A row after row {done:,} of {self.name}"
        count = "1 cell" if cells == 1 else f"{cells:,} cells"
        if any("\n" in cell for cell in record):
            remedy = "It goes on over several lines: is a quote never closed?"
        elif cells > expected and record[expected:] == [""] * (cells - expected):
            remedy = "Take the delimiters off the end of the line, or name these columns in the header."
        elif line == self.layout.lines:
            remedy = "Correct the header, or remove the lines above it; or name the right delimiter (--delimiter)."
        else:
            remedy = "Correct the line; a cell that contains the delimiter needs double quotes around it."
        return f"{where} has {count} where the header has {expected:,}. {remedy}"

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """The rows as Python reads them, each with its last line: slow, for sentences only."""
        with self.text.stream() as stream, long_cells():
            stream.read(self.layout.skip)
            lines = io.TextIOWrapper(cast(Any, stream), encoding="utf-8", errors="replace", newline="")
            reader = csv.reader(lines, delimiter=self.layout.delimiter)
            for record in reader:
                yield self.layout.lines + reader.line_num, record

    def _line_of_nul(self) -> int:
        lines = 1
        with self.text.stream() as stream:
            while block := stream.read(BLOCK):
                place = block.find(b"\0")
                lines += block.count(b"\n", 0, place if place >= 0 else len(block))
                if place >= 0:
                    break
        return lines

    def _check_end(self, cell: str) -> None:
        """A quote that is never closed swallows the rest of the file into the last cell of the last row."""
        if "\n" not in cell and "\r" not in cell:
            return
        tail = b""
        with self.text.stream() as stream:
            while block := stream.read(BLOCK):
                tail = (tail + block.rstrip())[-1:] if block.strip() else tail
        if tail != b'"':
            start = self.layout.lines + 1
            line = start
            for end, _ in self._records():
                line, start = start, end + 1
            raise InputError(
                f"The row that starts on line {line:,} of {self.name} has a quote that is never closed. "
                "Close it, or double it where the quote is part of the text."
            )


class _Ragged(Exception):
    """A row has another number of cells; the next sweep will look at it. Never leaves this room."""


class _RowTooLong(Exception):
    """A row did not fit into the block that was read; never leaves this room."""


def _has_nul(column: ArrowArray) -> bool:
    data = column.buffers()[2]
    return data is not None and data.size > 0 and not numbers_in(data, np.uint8).all()
