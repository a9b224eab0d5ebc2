"""How far the sheets of a workbook reach, read from its packed parts before anything makes room for their cells.

A sheet is held as a rectangle, so one cell far away takes as much as all the cells up to it. Knows zip and the names of
cells (B7), no values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING
from xml.parsers import expat

from likely.errors import InputError

if TYPE_CHECKING:
    from zipfile import ZipFile

ROWS, COLUMNS = 1 << 20, 1 << 14
"""What spreadsheet programs can hold."""
CELLS = 1 << 25
"""Cells of the rectangle of a sheet: about 2 GB of memory."""
from likely.table.containers.archives import _BLOCK
_LONGEST = 1 << 16
"""Bytes of a tag that are looked at where the end of a block cuts it in two."""
_PLACE = re.compile(rb"""<(?:\w+:)?(c|row)(?=[\s/>])(?:[^<>]*?\sr\s*=\s*["']\s*([A-Za-z]*)(\d+))?""")


def check_extent(path: str, name: str) -> None:
    """Refuse a workbook with a sheet that is larger than spreadsheet programs hold, or than memory would."""
    import zipfile

    if not zipfile.is_zipfile(path):
        return  # .xls: its places have 16 bits
    try:
        with zipfile.ZipFile(path) as book:
            for part in book.namelist():
                if part == "content.xml":
                    _check_repeats(book, part, name)
                elif part.endswith(".xml") or part.startswith("xl/worksheets/"):
                    _check_places(_blocks(book, part), name)
                elif part.endswith(".bin"):
                    _check_records(book, part, name)
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, NotImplementedError, EOFError, expat.ExpatError):
        return  # what is not sound is for its reader to say


def _blocks(book: ZipFile, part: str) -> Iterator[bytes]:
    with book.open(part) as file:
        while block := file.read(_BLOCK):
            yield block


def _check_places(blocks: Iterator[bytes], name: str) -> None:
    """Of .xlsx: cells and rows say their places, or come next."""
    row, column = 0, 0
    top, left, bottom, right = ROWS, COLUMNS, 0, 0
    rest = b""
    for block in chain(blocks, (b"<",)):
        text = rest + block
        cut = text.rfind(b"<")
        for found in _PLACE.finditer(text, 0, cut + 1):
            kind, letters, digits = found.groups()
            if kind == b"row":
                row, column = int(digits) if digits and len(digits) < 9 else row + 1, 0
            else:
                column += 1
                if letters:
                    column = 0
                    for letter in letters.upper()[:8]:
                        column = 26 * column + letter - 64
                if digits and len(digits) < 9:
                    row = int(digits)
                top, left, bottom, right = min(top, row), min(left, column), max(bottom, row), max(right, column)
        _check_size(max(bottom, row), right, max(bottom - top + 1, 0), max(right - left + 1, 0), name)
        rest = text[max(cut, 0) :][:_LONGEST]  # of a tag that goes on, or of words


def _check_records(book: ZipFile, part: str, name: str) -> None:
    """Of .xlsb: records with a type and a size; a row says its number, a cell that of its column."""
    rows, columns = 0, 0
    with book.open(part) as file:

        def number(most: int) -> int | None:
            value = 0
            for k in range(most):
                byte = file.read(1)
                if not byte:
                    return None
                value |= (byte[0] & 0x7F) << 7 * k
                if byte[0] < 0x80:
                    break
            return value

        while (kind := number(2)) is not None and (size := number(4)) is not None:
            data = file.read(size)
            if kind <= 11 and len(data) >= 4:
                at = int.from_bytes(data[:4], "little") + 1
                rows, columns = (max(rows, at), columns) if kind == 0 else (rows, max(columns, at))
                _check_size(rows, columns, rows, columns, name)


def _check_repeats(book: ZipFile, part: str, name: str) -> None:
    """Of .ods: a row or cell may say how often it is repeated; empty ones at the end do not count."""
    place = {"rows": 0, "waiting": 0, "width": 0, "cells": 0, "filled": 0, "repeated": 1}

    def begin(tag: str, given: dict[str, str]) -> None:
        kind = tag.rpartition(":")[2]
        if kind == "table":
            place.update(rows=0, waiting=0, width=0)
        elif kind == "table-row":
            place.update(cells=0, filled=0, repeated=_times(given, "table:number-rows-repeated"))
        elif kind in ("table-cell", "covered-table-cell"):
            place["cells"] += _times(given, "table:number-columns-repeated")
            if any(key.startswith(("office:", "calcext:")) for key in given):
                place["filled"] = place["cells"]
        elif kind == "p":
            place["filled"] = place["cells"]

    def end(tag: str) -> None:
        if tag.rpartition(":")[2] != "table-row":
            return
        place["waiting"] += place["repeated"]
        if place["filled"]:
            place["rows"], place["waiting"] = place["rows"] + place["waiting"], 0
            place["width"] = max(place["width"], place["filled"])
            _check_size(place["rows"], place["width"], place["rows"], place["width"], name)

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    for block in _blocks(book, part):
        parser.Parse(block, False)


def _times(given: dict[str, str], key: str) -> int:
    said = given.get(key, "1")
    return int(said) if said.isdigit() and len(said) < 12 else 1


def _check_size(row: int, column: int, rows: int, columns: int, name: str) -> None:
    if row > ROWS or column > COLUMNS:
        raise InputError(
            f"{name} has a cell in row {row:,} and column {max(column, 1):,}, beyond the {ROWS:,} rows and "
            f"{COLUMNS:,} columns of a spreadsheet. Save the table as CSV or Parquet."
        )
    if rows * columns > CELLS:
        raise InputError(
            f"{name} has a sheet that spans {rows:,} rows and {columns:,} columns, which is too much for a workbook. "
            "Remove what stands far from the table, or save it as CSV."
        )
