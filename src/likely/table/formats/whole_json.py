"""JSON that is one object for a whole table, as pandas writes it by itself: columns, index, split and table.

Knows which of these an object is; holds it in memory. JSON lines and arrays of objects are for json_lines.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from likely.errors import InputError, shown
from likely.table.formats.files import Place
from likely.table.formats.memory import TableSource, open_memory
from likely.table.formats.text_file import TextFile

_MOST = 512 << 20
"""Bytes of text that are taken into memory."""
_NESTED = re.compile(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*(\{|\[)')
_DIGITS = re.compile(r"-?\d+")
_REMEDY = "Write it with orient='records', and lines=True if it is large."


def open_whole_json(place: Place, text: TextFile, head: str) -> TableSource | None:
    """The table that one JSON object holds; None where the file is something else, such as a JSON object per line."""
    if head.lstrip().startswith("[") and head.lstrip()[1:].lstrip().startswith("["):
        raise InputError(f"{place.name} is a list of lists, so its columns have no names. {_REMEDY}")
    if not _NESTED.match(head) or _is_lines(head):
        return None
    with text.stream() as stream:
        data: bytes = stream.read(_MOST + 1)
    if len(data) > _MOST:
        raise InputError(f"{place.name} is one JSON object of more than {_MOST >> 20} MB. {_REMEDY}")
    try:
        whole = json.loads(data)
    except ValueError:
        return None  # several objects, or a wrong one: JSON lines have the sentence for it
    columns = _columns(whole, place.name)
    return None if columns is None else _named(columns, place.name)


def _is_lines(head: str) -> bool:
    """Whether the first line is an object by itself and others follow."""
    first, _, rest = head.strip().partition("\n")
    if not rest.strip():
        return False
    try:
        json.loads(first)
    except ValueError:
        return False
    return True


def _columns(whole: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """The columns of an object that is a table."""
    if {"columns", "data"} <= whole.keys() <= {"columns", "index", "data"}:
        return _split(whole["columns"], whole["data"], name)
    if whole.keys() == {"schema", "data"} and isinstance(whole["schema"], Mapping) and "fields" in whole["schema"]:
        return _table(whole["schema"], whole["data"])
    values = list(whole.values())
    if all(isinstance(v, list) for v in values) and len({len(v) for v in values}) == 1:
        return dict(whole)  # a list for each column, as polars and many programs write it
    if not all(isinstance(v, Mapping) and v for v in values):
        return None
    inner = dict.fromkeys(key for v in values for key in v)
    if any(isinstance(cell, (Mapping, list)) for cell in values[0].values()):
        return None
    if _counts(inner):
        return {column: [cells.get(row) for row in inner] for column, cells in whole.items()}
    if _counts(whole.keys()):
        named = dict.fromkeys(key for v in values for key in v)
        return {column: [row.get(column) for row in values] for column in named}
    raise InputError(
        f"{name} is one JSON object of objects, and neither its names nor theirs count rows, so which are the columns "
        f"cannot be told. {_REMEDY}"
    )


def _counts(keys: Any) -> bool:
    return all(_DIGITS.fullmatch(key) for key in keys)


def _split(columns: Sequence[Any], rows: Any, name: str) -> dict[str, Any] | None:
    if not (isinstance(columns, list) and isinstance(rows, list)):
        return None
    for number, row in enumerate(rows, 1):
        if not isinstance(row, list) or len(row) != len(columns):
            raise InputError(f"Row {number:,} of the data of {name} has not {len(columns):,} cells. Write it again.")
    if len({str(c) for c in columns}) < len(columns):
        raise InputError(f"{name} has a column more than once. Give every column its own name.")
    return {str(c): [row[k] for row in rows] for k, c in enumerate(columns)}


def _table(schema: Mapping[str, Any], rows: Any) -> dict[str, Any]:
    """Columns with the types that were declared; the index, which pandas adds, is left out."""
    index = set(schema.get("primaryKey", ()))
    named = [f["name"] for f in schema["fields"] if f["name"] not in index]
    return {name: [row.get(name) for row in rows] for name in named}


def _named(columns: dict[str, Any], name: str) -> TableSource:
    if not columns or not any(len(values) for values in columns.values()):
        raise InputError(f"{shown(name)} holds no rows. It needs at least one.")
    nested = [c for c, v in columns.items() if any(isinstance(cell, (Mapping, list)) for cell in v)]
    plain = {c: [json.dumps(x) if isinstance(x, (Mapping, list)) else x for x in v] for c, v in columns.items()}
    source = open_memory(plain if nested else columns)
    assert isinstance(source, TableSource)
    out = TableSource(source.table, name)
    out.opening_notes = ("One JSON object was read as a table, held in memory.",)
    return out
