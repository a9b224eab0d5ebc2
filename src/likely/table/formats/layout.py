"""How a delimited text is laid out: its delimiter and its header, found in a sample. Knows no rows beyond it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from likely.errors import ColumnError, InputError, SettingError, shown
from likely.table.formats.text_file import SAMPLE, TextFile
from likely.table.source import check_names

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


@contextmanager
def long_cells() -> Iterator[None]:
    """Python's csv refuses cells over 128 kB unless told otherwise; ours may be longer."""
    before = csv.field_size_limit(1 << 30)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def detect_layout(text: TextFile, delimiter: str | None, hint: str | None = None) -> Layout:
    """Find the delimiter (unless given) and the header's names."""
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n' or not delimiter.isascii()):
        raise SettingError(f"The delimiter must be one plain character such as ; or a tab, not {shown(delimiter)}.")
    name, size = text.place.name, SAMPLE
    while True:
        sample, whole = text.head(size)
        if not sample.strip():
            if not whole:
                raise InputError(f"The first {size >> 20} MB of {name} are blank. It needs a header line and rows.")
            raise InputError(f"{name} is empty. It needs a header line and rows.")
        layout = _layout(name, sample, whole, delimiter, hint)
        if layout:
            return layout
        if size >= HEADER_LIMIT:
            raise InputError(
                f"The first line of {name} is longer than {HEADER_LIMIT >> 20} MB. "
                "It needs a header line of column names; is it a table with lines, and are its quotes closed?"
            )
        size *= 4


def _layout(name: str, sample: str, whole: bool, delimiter: str | None, hint: str | None) -> Layout | None:
    offset = 0
    line = re.match(r"\s*sep=([^\r\n])[ \t]*(\r\n|\r|\n)", sample)
    if line:  # Excel's own way to tell the delimiter
        offset, delimiter = line.end(), delimiter or line[1]
    body = sample[offset:]
    notes = []
    with long_cells():
        if delimiter is None:
            delimiter = _delimiter(body, whole, hint)
            if delimiter not in (",", "") and hint != delimiter:
                notes.append(f"The delimiter is {_named(delimiter)}.")
        reader = _Records(body, delimiter or ",")
        header: list[str] = []
        for header in reader:
            if len(header) > 1 or (header and header[0].strip()):
                break
    if reader.used == len(body) and not whole:
        return None  # the header may go on after the sample
    before = sample[: offset + reader.used]
    names = _names(name, header)
    if all(_is_number(n) for n in header):
        notes.append(f"The first line of {name} is all numbers and was read as the header. If it is a row, add one.")
    lines = len(io.StringIO(before, newline="").readlines())
    return Layout(delimiter or ",", names, len(before.encode()), lines, tuple(notes))


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


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
