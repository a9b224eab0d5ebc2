"""Tables within other files: the one table of a zip archive, what xz has packed, a sheet of a workbook."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from difflib import get_close_matches
from itertools import chain
from typing import TYPE_CHECKING, Any, NoReturn
from xml.parsers import expat

import pyarrow as pa

from likely.errors import InputError, shown
from likely.table.formats.delimited import nameless_note
from likely.table.formats.files import FORMATS, PACKED, WORKBOOKS, TemporaryFile, file_errors
from likely.table.formats.memory import TableSource

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

    from python_calamine import CalamineSheet, CalamineWorkbook


# Files within files: the one table of a zip archive, and what xz has packed, unpacked to a file of our own.

_BLOCK = 1 << 20
_HARMLESS = 1 << 30
"""Bytes that anything may unpack to."""
_RATIO = 200
"""What grows beyond that must not grow by more than this: tables hardly do, and what is made to fill a disk does."""
_XZ_MEMORY = 512 << 20
"""Bytes that xz may ask for; its strongest setting asks for 65 MB."""
_LISTED = 8
_unpacked: weakref.WeakValueDictionary[tuple[object, ...], TemporaryFile] = weakref.WeakValueDictionary()
"""What was unpacked and is still in use, by file, its size and time, and the name within it."""


def is_archive(start: bytes) -> bool:
    """Whether a file that begins so must be unpacked here: zip or xz."""
    return start.startswith((b"PK\x03\x04", b"PK\x05\x06", b"\xfd7zXZ\x00"))


def is_workbook(path: str, start: bytes) -> bool:
    """Whether a file that begins so is a workbook of a spreadsheet program, which is often a zip archive."""
    if start.startswith(b"\xd0\xcf\x11\xe0"):
        return True
    if not start.startswith(b"PK\x03\x04"):
        return False
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            if names & {"xl/workbook.xml", "xl/workbook.bin"}:
                return True
            return "mimetype" in names and b"opendocument.spreadsheet" in archive.open("mimetype").read(100)
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, NotImplementedError):
        return False


def unpack(path: str, name: str, inside: str | None) -> tuple[TemporaryFile, str]:
    """The table in an archive as a file of our own, and what to call it; `inside` names it where there are several."""
    with file_errors(name), open(path, "rb") as file:
        packed_by_zip = file.read(2) == b"PK"
        status = os.fstat(file.fileno())
    key = (os.path.realpath(path), status.st_ino, status.st_size, status.st_mtime_ns, inside)
    if packed_by_zip:
        import zipfile

        with _sound_archive(name), zipfile.ZipFile(path) as archive:
            member = _choose_member(archive, name, path if path.endswith(name) else name, inside)
            title = f"{name}/{member.filename}"
            made = _unpacked.get(key) or _write(_read_member(archive, member, title), title, member.compress_size)
    else:
        if inside is not None:
            raise InputError(f"{name} is one packed file, which has no {shown(inside)} within it. Name it alone.")
        title = name
        made = _unpacked.get(key) or _write(_read_xz(path, name), name, status.st_size)
    _unpacked[key] = made
    return made, title


@contextmanager
def _sound_archive(name: str) -> Iterator[None]:
    """What the module for zip says, as a sentence."""
    import zipfile
    import zlib

    try:
        with file_errors(name):
            yield
    except (zipfile.BadZipFile, zlib.error, EOFError, UnicodeError, ValueError) as error:
        said = shown(" ".join(str(error).split()), 160)
        raise InputError(f"{name} is not a sound zip archive ({said}). Fetch or make it again.") from error
    except (NotImplementedError, RuntimeError) as error:
        said = shown(" ".join(str(error).split()), 160)
        raise InputError(f"{name} is packed in a way that cannot be read here ({said}). Unpack it first.") from error


def _choose_member(archive: ZipFile, name: str, path: str, inside: str | None) -> ZipInfo:
    """The one table of an archive, or the one that was named; `path` is what another may be named by."""
    files = [m for m in archive.infolist() if not m.is_dir() and not _is_mark(m.filename)]
    if inside is not None:
        return _find(files, name, inside)
    if not files:
        raise InputError(f"{name} is an archive without files. It needs one table.")
    tables = [m for m in files if _is_table(m.filename)] or files
    if len(tables) > 1:
        example = f"{path}/{tables[0].filename}"
        raise InputError(
            f"{name} holds {len(tables):,} {'tables' if _is_table(tables[0].filename) else 'files'}: "
            f"{_listed([m.filename for m in tables])}. Name one, such as {shown(example, 200)}."
        )
    return tables[0]


def _find(files: Sequence[ZipInfo], name: str, inside: str) -> ZipInfo:
    named = [m for m in files if m.filename == inside]
    if named:
        return named[-1]  # of two by one name the later one counts, as for every program that unpacks
    names = [m.filename for m in files]
    close = get_close_matches(inside, names, n=1, cutoff=0.6)
    end = f"Did you mean {shown(close[0], 100)}?" if close else f"It holds {_listed(names) or 'no files'}."
    raise InputError(f"{name} has no {shown(inside, 100)} within it. {end}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(shown(n, 60) for n in names[:_LISTED]) + (" …" if len(names) > _LISTED else "")


def _is_mark(name: str) -> bool:
    """Whether a file is another program's mark, by the rule for folders; macOS adds a folder of them."""
    return name.startswith("__MACOSX/") or os.path.basename(name).startswith((".", "_"))


def _is_table(name: str) -> bool:
    stem, suffix = os.path.splitext(name.lower())
    if suffix in PACKED:
        suffix = os.path.splitext(stem)[1]
    return suffix in FORMATS or suffix in WORKBOOKS


def _read_member(archive: ZipFile, member: ZipInfo, title: str) -> Iterator[bytes]:
    if member.flag_bits & 1:
        raise InputError(f"{title} is encrypted. Unpack it with its password, then name the file.")
    if member.file_size > _limit(member.compress_size):
        _refuse_size(title, member.file_size)
    with archive.open(member) as stream:
        while block := stream.read(_BLOCK):
            yield block


def _read_xz(path: str, name: str) -> Iterator[bytes]:
    """The bytes of all streams of a file, one after the other."""
    import lzma

    try:
        with open(path, "rb") as file:
            data = file.read(_BLOCK)
            while data:
                packed = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
                while not packed.eof:
                    if block := packed.decompress(data, _BLOCK):
                        yield block
                    data = file.read(_BLOCK) if packed.needs_input and not packed.eof else b""
                    if packed.needs_input and not packed.eof and not data:
                        raise InputError(f"{name} ends in the middle of its compressed data. Fetch or make it again.")
                data = packed.unused_data or file.read(_BLOCK)
                while data and not (data := data.lstrip(b"\0")):  # padding between streams
                    data = file.read(_BLOCK)
    except lzma.LZMAError as error:
        said = shown(" ".join(str(error).split()), 160)
        raise InputError(f"{name} has damaged compressed data ({said}). Fetch it again.") from error


def _write(blocks: Iterator[bytes], title: str, packed: int) -> TemporaryFile:
    """Blocks in a file of our own, as far as the disk and the limit allow."""
    limit, free, size = _limit(packed), shutil.disk_usage(tempfile.gettempdir()).free, 0
    made = TemporaryFile()
    made.hide()
    with file_errors(title), open(made.path, "wb") as file:
        for block in blocks:
            size += len(block)
            if size > limit:
                _refuse_size(title, size)
            if size > free:
                raise InputError(f"{title} needs more room than the temporary folder has. Free some, or unpack it.")
            file.write(block)
    return made


def _limit(packed: int) -> int:
    return max(_HARMLESS, _RATIO * packed)


def _refuse_size(title: str, size: int) -> NoReturn:
    raise InputError(
        f"{title} unpacks to more than {size >> 20:,} MB, over {_RATIO} times its size, as archives do that are made "
        "to fill a disk. If it is sound, unpack it yourself, then name the file."
    )


# How far the sheets of a workbook reach, read from its packed parts before anything makes room for their cells.

ROWS, COLUMNS = 1 << 20, 1 << 14
"""What spreadsheet programs can hold."""
CELLS = 1 << 25
"""Cells of the rectangle of a sheet: about 2 GB of memory."""

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


# Sheets of workbooks (.xlsx, .xlsm, .xlsb, .xls, .ods) as tables. The one room that knows python-calamine.

_MAGIC = (b"PK", b"\xd0\xcf\x11\xe0")


def sheet_names(path: str) -> list[str]:
    """The sheets of a workbook; none of what is no workbook."""
    if not os.path.isfile(path):
        return []
    with open(path, "rb") as file:
        if not is_workbook(path, file.read(8)):
            return []
    with _sound_book(path):
        return _worksheets(_import(path).CalamineWorkbook.from_path(path))


def _worksheets(book: CalamineWorkbook) -> list[str]:
    return [m.name for m in book.sheets_metadata if str(m.typ).endswith("WorkSheet")]


def open_sheet(path: str, name: str, sheet: str | None, header_row: int | None = None) -> TableSource:
    """One sheet of a workbook: the one that is named, else the first that holds rows; from row `header_row` on."""
    calamine = _import(name)
    with _sound_book(name), open(path, "rb") as file:
        if not file.read(4).startswith(_MAGIC):
            raise InputError(f"{name} is named like a workbook, but is not one. Correct the name.")
        check_extent(path, name)
        file.seek(0)
        book: CalamineWorkbook = calamine.CalamineWorkbook.from_filelike(file)
        found, note = _choose_sheet(book, name, sheet)
        top = found.start[0] if header_row is None and found.start is not None else (header_row or 1) - 1
        below = found.to_python()[top - (found.start or (top,))[0] :]
        rows = [row for row in below if any(cell != "" for cell in row)]
        merged = found.merged_cell_ranges or ()
    title = f"{name}, sheet {shown(found.name, 60)}"
    if len(rows) < 2:
        raise InputError(f"{title} has no rows below its header. Name another: --sheet NAME, --header-row 2.")
    if any(start[0] == top and end[1] > start[1] for start, end in merged):
        raise InputError(
            f"{title} begins with merged cells, so columns have no names of their own. "
            "Say which row has one name for every column, e.g. --header-row 2."
        )
    header, width = _header(rows[0]), len(rows[0])
    arrays = [_column([row[k] for row in rows[1:]]) for k in range(width)]
    source = TableSource(pa.table(arrays, names=header), name if note is None else title)
    source.opening_notes = (*((note,) if note else ()), *nameless_note(title, rows[0]))
    return source


def _import(name: str) -> Any:
    try:
        import python_calamine
    except ImportError:
        raise InputError(
            f"{name} is a workbook. To read it, install the extra: pip install 'likely[excel]'; "
            "or save the sheet as CSV."
        ) from None
    return python_calamine


@contextmanager
def _sound_book(name: str) -> Iterator[None]:
    """What calamine says, as a sentence; it has an exception for each format, and may panic at what is damaged."""
    try:
        with file_errors(name):
            yield
    except InputError:
        raise
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError, GeneratorExit)):
            raise
        if "assword" in type(error).__name__ or "assword" in str(error):
            raise InputError(
                f"{name} is locked by a password. Save it without one, or save the sheet as CSV."
            ) from error
        said = shown(" ".join(str(error).split()), 160)
        raise InputError(f"{name} is not a sound workbook ({said}). Save or fetch it again.") from error


def _choose_sheet(book: CalamineWorkbook, name: str, sheet: str | None) -> tuple[CalamineSheet, str | None]:
    """The sheet to read, and a note where there was a choice that nobody made."""
    names = _worksheets(book)
    if sheet is not None:
        if sheet not in names:
            _refuse_sheet(names, name, sheet)
        return book.get_sheet_by_name(sheet), None
    sheets = [(n, book.get_sheet_by_name(n)) for n in names]
    filled = [one for one in sheets if one[1].height > 1] or [one for one in sheets if one[1].height > 0]
    if not filled:
        raise InputError(f"{name} has no sheet with rows in it. It needs a header line and rows.")
    chosen, found = filled[0]
    if len(names) == 1:
        return found, None
    others = [n for n in names if n != chosen]
    listed = ", ".join(shown(n, 40) for n in others[:5]) + (" …" if len(others) > 5 else "")
    return (
        found,
        f"Read from the sheet {shown(chosen, 40)}. The workbook also has {listed}: --sheet NAME reads another.",
    )


def _refuse_sheet(names: Sequence[str], name: str, sheet: str) -> NoReturn:
    close = get_close_matches(sheet, names, n=1, cutoff=0.6) or [n for n in names if n.lower() == sheet.lower()]
    listed = ", ".join(shown(n, 40) for n in names[:8]) + (" …" if len(names) > 8 else "")
    end = f"Did you mean {shown(close[0], 40)}?" if close else f"It has {listed}."
    raise InputError(f"{name} has no sheet {shown(sheet, 60)}. {end}")


def _header(cells: Sequence[object]) -> list[str]:
    """Names by the rules for text files: trimmed, and `column 3` for an empty one."""
    return [_text(cell).strip() or f"column {k}" for k, cell in enumerate(cells, 1)]


def _column(cells: list[Any]) -> pa.Array[Any]:
    """A column of the type that all its cells have; where they have several, the text of each."""
    values = [None if cell == "" else cell for cell in cells]
    kinds = {type(v) for v in values if v is not None}
    if kinds <= {float, int}:
        return pa.array(values, pa.float64())
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {date}:
        return pa.array(values, pa.date32())
    if kinds <= {date, datetime}:
        moments = [datetime(v.year, v.month, v.day) if type(v) is date else v for v in values]
        return pa.array(moments, pa.timestamp("us"))
    if kinds <= {time, timedelta}:
        spans = [timedelta(hours=v.hour, minutes=v.minute, seconds=v.second, microseconds=v.microsecond)
                 if isinstance(v, time) else v for v in values]  # fmt: skip
        return pa.array([None if v is None else v.total_seconds() for v in spans], pa.float64())
    return pa.array([None if v is None else _text(v) for v in values], pa.string())


def _text(value: Any) -> str:
    """A cell as a text file would have it: 5 for 5.0, true for True."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return str(int(value))
    return value.isoformat() if isinstance(value, (date, datetime)) else str(value)
