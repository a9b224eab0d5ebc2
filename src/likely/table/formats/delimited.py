"""CSV and its relatives as streams of Arrow batches: layout, blanks around cells, every cell the text it was."""

from __future__ import annotations

import csv
import io
import math
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import pyarrow as pa

from likely.errors import ColumnError, InputError, LikelyError, SettingError, shown
from likely.machinery.arrays import Bytes, Longs, Whole
from likely.machinery.jit import kernel
from likely.table.arrow import ArrowArray, ArrowBatch
from likely.table.formats.files import Place, file_errors
from likely.table.formats.text_file import SAMPLE, CutText, TextBytes, TextFile, decoding_error, nul_sentence, open_text
from likely.table.source import Source, Uncut, check_names
from likely.table.texts.grammar import is_blank
from likely.table.views import numbers_in, text_cells

if TYPE_CHECKING:
    from pyarrow.csv import CSVStreamingReader, InvalidRow

    from likely.table.arrow import RowBatch


# How a delimited text is laid out: its delimiter and its header, found in a sample. Knows no rows beyond it.

HEADER_LIMIT = 16 << 20
COLUMN_LIMIT = 50_000
"""Wider tables are refused: such a file is mostly a matrix laid on its side, and each column costs sums per class."""

_STRONG, _WEAK = ",\t;|", ": "


@dataclass(frozen=True)
class Layout:
    """How a delimited file is laid out."""

    delimiter: str
    names: tuple[str, ...]
    skip: int
    """The UTF-8 bytes up to the first row after the header."""
    lines: int
    """The lines up to the first row after the header."""
    notes: tuple[str, ...] = ()
    header_row: int | None = None
    """The line of the header, where it was given."""


@contextmanager
def long_cells() -> Iterator[None]:
    """Python's csv refuses cells over 128 kB unless told otherwise; ours may be longer."""
    before = csv.field_size_limit(1 << 30)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def detect_layout(
    text: TextFile, delimiter: str | None, hint: str | None = None, header_row: int | None = None
) -> Layout:
    """Find the delimiter (unless given) and the header's names: from line `header_row` on, where it is given."""
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n' or not delimiter.isascii()):
        raise SettingError(f"The delimiter must be one plain character such as ; or a tab, not {shown(delimiter)}.")
    name, size = text.place.name, SAMPLE
    while True:
        sample, whole = text.head(size)
        if not sample.strip():
            if not whole:
                raise InputError(f"The first {size >> 20} MB of {name} are blank. It needs a header line and rows.")
            raise InputError(f"{name} is empty. It needs a header line and rows.")
        layout = _layout(name, sample, whole, delimiter, hint, header_row)
        if layout:
            return layout
        if size >= HEADER_LIMIT:
            raise InputError(
                f"The first line of {name} is longer than {HEADER_LIMIT >> 20} MB. "
                "It needs a header line of column names; is it a table with lines, and are its quotes closed?"
            )
        size *= 4


def _layout(
    name: str, sample: str, whole: bool, delimiter: str | None, hint: str | None, header_row: int | None
) -> Layout | None:
    offset = 0
    line = re.match(r"\s*sep=([^\r\n])[ \t]*(\r\n|\r|\n)", sample)
    if line:  # Excel's own way to tell the delimiter
        offset, delimiter = line.end(), delimiter or line[1]
    if header_row is not None and header_row > 1:
        above = list(islice(_LINE.finditer(sample), header_row - 1))
        offset = max(offset, above[-1].end())
        if not sample[offset:].strip():
            if not whole:
                return None
            raise InputError(f"{name} has no row {header_row:,} with names of columns. Name one above it.")
    body = sample[offset:]
    notes, titled = [], ""
    with long_cells():
        if delimiter is None:
            delimiter = _delimiter(body, whole, hint)
            if delimiter not in (",", "") and hint != delimiter:
                notes.append(f"The delimiter is {_named(delimiter)}.")
            titled = delimiter  # by more cells than the header has, where that has one alone
        reader = _Records(body, delimiter or ",")
        header: list[str] = []
        for header in reader:
            if len(header) > 1 or (header and header[0].strip()):
                break
    if titled and len(header) == 1:
        raise InputError(
            f"The first row of {name} has one cell where others have more. If it is a title, say which row is the "
            "header: --header-row 2. Else name the delimiter: --delimiter."
        )
    if reader.used == len(body) and not whole:
        return None  # the header may go on after the sample
    before = sample[: offset + reader.used]
    names = _names(name, header)
    if all(_is_number(n) for n in header):
        notes.append(f"The first line of {name} is all numbers and was read as the header. If it is a row, add one.")
    notes += nameless_note(name, header)
    lines = len(io.StringIO(before, newline="").readlines())
    return Layout(delimiter or ",", names, len(before.encode()), lines, tuple(notes), header_row)


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


class _Records:
    """Records of a text as Python's csv reads them, with the characters used so far."""

    def __init__(self, text: str, delimiter: str) -> None:
        self.used = 0
        self._text = text
        self._reader = csv.reader(self._counted(), delimiter=delimiter)

    def _counted(self) -> Iterator[str]:
        for line in _LINE.finditer(self._text):  # one after the other: a few are enough
            self.used = line.end()
            yield line[0]

    def __iter__(self) -> Iterator[list[str]]:
        return iter(self._reader)


def _delimiter(body: str, whole: bool, hint: str | None) -> str:
    """The candidate by which most rows have as many cells as the header, then with most cells; '' for one column."""
    best, delimiter = (0.0, 0), ""
    titled = ""
    for candidate in (hint or "") + _STRONG + _WEAK:
        if candidate not in body:
            continue
        widths = []
        for record in _Records(body, candidate):
            if len(record) > 1 or (record and record[0].strip()):
                widths.append(len(record))
            if len(widths) > 500:
                break
        else:
            if not whole and len(widths) > 1:
                widths.pop()  # the sample may end inside it
        width, others = widths[0], widths[1:]
        if candidate in _WEAK and (width < 3 or not others or set(others) != {width} or delimiter):
            continue
        if width > 1:
            agree = sum(w == width for w in others) / len(others) if others else 1.0
            if candidate == hint:
                return candidate
            if (agree, width) > best:
                best, delimiter = (agree, width), candidate
        elif candidate in _STRONG and len(others) > 2 and others[1] > 2 and len(set(others[1:])) == 1:
            titled = titled or candidate  # a title above the table: better refused as ragged than read as one column
    return delimiter or titled


def _named(delimiter: str) -> str:
    return {"\t": "a tab", " ": "a blank"}.get(delimiter, f"'{delimiter}'")


def _names(name: str, header: list[str]) -> tuple[str, ...]:
    if len(header) > COLUMN_LIMIT:
        raise ColumnError(
            f"{name} has {len(header):,} columns, more than the {COLUMN_LIMIT:,} that can be read. "
            "Select columns first, or turn the table if its rows are the attributes."
        )
    names = tuple(cell.strip() or f"column {i}" for i, cell in enumerate(header, 1))
    check_names(name, names)
    return names


def nameless_note(name: str, header: Sequence[object]) -> list[str]:
    """What is to be said of a header in which most columns have no name, as of a title above the table."""
    if 2 * sum(not str(cell).strip() for cell in header) <= len(header):
        return []
    return [f"Most columns of {name} have no name. If another row is the header, say which, e.g. --header-row 2."]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


# Blanks around the cells of a text file, which are no part of them: taken off where the file is read, and counted.

SPACES = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""What Python's `strip` takes off."""
_LISTED = 4


def trim_batch(batch: ArrowBatch, counts: dict[str, int]) -> ArrowBatch:
    """The batch without blanks around its texts; adds to `counts` how many cells of which column had some."""
    arrays = [*batch.columns]
    for k, name in enumerate(batch.schema.names):
        trimmed, count = _trim(arrays[k]) if pa.types.is_string(arrays[k].type) else (arrays[k], 0)
        if count:
            arrays[k] = trimmed
            counts[name] = counts.get(name, 0) + count
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names) if counts else batch


def _trim(array: ArrowArray) -> tuple[ArrowArray, int]:
    texts = text_cells(array)
    if not count_edges(texts.data, texts.starts, texts.ends):
        return array, 0
    import pyarrow.compute

    compute: Any = pyarrow.compute
    trimmed = compute.utf8_trim(array, characters=SPACES)
    now = text_cells(trimmed)
    return trimmed, int(np.count_nonzero(now.ends - now.starts != texts.ends - texts.starts))


@kernel("u1[], i8[], i8[]", returns=1)
def count_edges(data: Bytes, starts: Longs, ends: Longs) -> Whole:
    """How many cells begin or end with a blank, or with a byte that may be of one beyond ASCII."""
    count: Whole = 0
    for i in range(starts.size):
        a, b = starts[i], ends[i]
        if a < b:
            first, last = data[a], data[b - 1]
            edge = is_blank(first) | is_blank(last) | np.int64(first >= 128) | np.int64(last >= 128)
            edge |= (np.int64(first >= 28) & np.int64(first < 32)) | (np.int64(last >= 28) & np.int64(last < 32))
            count += edge
    return count


def trim_note(counts: Mapping[str, int]) -> tuple[str, ...]:
    """The sentence that says what was trimmed, if anything was.

    >>> trim_note({"sky": 3, "wind": 1})
    ("Blanks around cells were trimmed: in 3 cells of 'sky', 1 of 'wind'.",)
    """
    if not counts:
        return ()
    first = [f"{count:,} of {shown(name, 40)}" for name, count in counts.items()][:_LISTED]
    cells = "cell" if next(iter(counts.values())) == 1 else "cells"
    first[0] = first[0].replace(" of ", f" {cells} of ", 1)
    more = len(counts) - len(first)
    rest = f" and in {more:,} more column{'s' if more > 1 else ''}" if more else ""
    return (f"Blanks around cells were trimmed: in {', '.join(first)}{rest}.",)


# CSV and its relatives as streams of Arrow batches: every cell stays the text it was, but for blanks around it.

BLOCK = 2 << 20
"""Bytes of text per batch. Arrow works on many blocks ahead: 1 MB each is a quarter slower, 4 MB takes 300 MB."""
ROW_LIMIT = 64 << 20
"""A longer row is refused: it is an unclosed quote, and looking further would take gigabytes of memory."""


def open_delimited(
    place: Place, encoding: str | None, delimiter: str | None, hint: str | None, header_row: int | None = None
) -> Source:
    """Open a delimited text file; `hint` is the delimiter its name speaks for."""
    text, note = open_text(place, encoding)
    return DelimitedSource(text, detect_layout(text, delimiter, hint, header_row), (note,) if note else ())


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
        layout = detect_layout(text, self.layout.delimiter, header_row=self.layout.header_row)
        return DelimitedSource(text, layout, self.layout.notes)

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
            remedy = "Say which row is the header (--header-row 2), mend it, or name the right delimiter (--delimiter)."
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
