"""Sheets of workbooks (.xlsx, .xlsm, .xlsb, .xls, .ods) as tables. The one room that knows python-calamine.

A cell has the type that the workbook keeps; formulas are what they last came to. A sheet is held in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa

from likely.errors import InputError, shown
from likely.table.containers.extents import check_extent
from likely.table.formats.files import file_errors
from likely.table.formats.memory import TableSource

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook

_MAGIC = (b"PK", b"\xd0\xcf\x11\xe0")


def open_sheet(path: str, name: str, sheet: str | None) -> TableSource:
    """One sheet of a workbook: the one that is named, else the first that holds rows."""
    calamine = _import(name)
    with _sound(name), open(path, "rb") as file:
        if not file.read(4).startswith(_MAGIC):
            raise InputError(f"{name} is named like a workbook, but is not one. Correct the name.")
        check_extent(path, name)
        file.seek(0)
        book: CalamineWorkbook = calamine.CalamineWorkbook.from_filelike(file)
        found, note = _choose(book, name, sheet)
        rows = [row for row in found.to_python() if any(cell != "" for cell in row)]
        merged = found.merged_cell_ranges or ()
        top = None if found.start is None else found.start[0]
    title = f"{name}, sheet {shown(found.name, 60)}"
    if len(rows) < 2:
        raise InputError(f"{title} has no rows below its header. Name another with sheet=… (--sheet NAME).")
    if any(start[0] == top and end[1] > start[1] for start, end in merged):
        raise InputError(
            f"{title} begins with merged cells, so columns have no names of their own. "
            "Give every column one name in one row, and put titles elsewhere."
        )
    header, width = _header(rows[0]), len(rows[0])
    arrays = [_column([row[k] for row in rows[1:]]) for k in range(width)]
    source = TableSource(pa.table(arrays, names=header), name if note is None else title)
    source.opening_notes = (note,) if note else ()
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
def _sound(name: str) -> Iterator[None]:
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


def _choose(book: CalamineWorkbook, name: str, sheet: str | None) -> tuple[CalamineSheet, str | None]:
    """The sheet to read, and a note where there was a choice that nobody made."""
    names = [m.name for m in book.sheets_metadata if str(m.typ).endswith("WorkSheet")]
    if sheet is not None:
        if sheet not in names:
            _refuse_sheet(names, name, sheet)
        return book.get_sheet_by_name(sheet), None
    filled = [(n, found) for n in names if (found := book.get_sheet_by_name(n)).height > 0]
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
