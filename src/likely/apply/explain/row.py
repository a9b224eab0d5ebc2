"""One row as it is asked about: given by hand, or by its number in a table; read as the model reads every row.

Knows rows and how they are read; not what a model makes of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from likely.errors import ColumnError, InputError, nearest, shown
from likely.intake.reading import Reading, with_encoding
from likely.models.contracts import Model
from likely.models.model import numbered
from likely.table.batch import MISSING_CODE, UNSEEN_CODE, Batch, Codes, Texts
from likely.table.labels import label, number_label
from likely.table.open import open_source
from likely.table.schema import Column
from likely.table.source import Source

if TYPE_CHECKING:
    from likely.table.arrow import ArrowBatch

State = Literal["known", "missing", "unseen", "infinite", "stray"]
"""What a cell is: a value that training may have had; nothing; a level that training did not have; an infinite number;
no number where one should be. The last two count as missing."""


@dataclass(frozen=True)
class QueryRow:
    """A batch of one row, the cells as they were given, and what each is."""

    batch: Batch
    cells: Mapping[str, str | None]
    """As the row has them, by the name of the column; None where there is none."""
    states: Mapping[str, State]
    """Of every attribute."""
    number: int | None = None
    """Where the row came from a table: its number there; the first is 1."""
    words: Mapping[str, str] = field(default_factory=dict)
    """Parts of dates in words, by their names: "day on Fridays"."""

    def told(self, name: str) -> str:
        """A known cell with the name of its column, as it may be shown among others."""
        return self.words.get(name) or f"{name}={self.cells.get(name)}"


def read_row(
    model: Model,
    data: object,
    number: int | None = None,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    header_row: int | None = None,
    encoding_errors: str = "strict",
) -> QueryRow:
    """One row: a dict of values, or row `number` of a table (the first is 1). What is not given is missing.

    In a row given by hand, a word in place of a number is refused; in a table it counts as missing, as it does when
    the table is predicted.
    """
    table, one = model.as_table(data)
    if one:
        if number is not None:
            raise InputError(f"One row was given by its values, so there is no row {number} to look for.")
        return _row_by_hand(model, data, table)  # type: ignore[arg-type]
    reading = Reading(encoding=encoding, delimiter=delimiter, header_row=header_row, encoding_errors=encoding_errors)
    return with_encoding(data, reading, lambda source: _row_of_table(model, source, number))


def _row_by_hand(model: Model, row: Mapping[str, object], table: object) -> QueryRow:
    (arrow,) = open_source(table).batches()
    found, strays = _read(model, arrow, 0, row)
    for name in strays:
        of = model.schema[name].reading  # a nominal column may have numbers for levels
        raise ColumnError(
            f"{shown(name)} is a {of}, and {shown(row[name])} is none. Give a {of}, or leave {shown(name)} out."
        )
    return found


def _row_of_table(model: Model, source: Source, number: int | None) -> QueryRow:
    rows, held = 0, None
    for start, arrow in numbered(source.batches(model.columns_in(source))):
        rows = start + arrow.num_rows
        at = (1 if number is None else number) - 1 - start
        if 0 <= at < arrow.num_rows:
            held = arrow.slice(at, 1), start + at
        if held is not None and (number is not None or rows > 1):
            break
    if number is None and rows > 1:
        raise InputError(f"{shown(source.name)} has more than one row. Say which: the number of a row, the first is 1.")
    if held is None:
        many = "no rows" if not rows else "one row" if rows == 1 else f"{rows:,} rows"
        raise InputError(f"{shown(source.name)} has {many}, so there is no row {number or 1:,}.")
    arrow, start = held
    try:
        row = arrow.to_pylist()[0]
    except UnicodeDecodeError:
        model.encoder().encode(arrow, start)  # says which column
        raise InputError(
            f"Row {start + 1:,} is not valid UTF-8. Repair it, or have what is broken replaced: --replace-invalid."
        ) from None
    found, _ = _read(model, arrow, start, row)
    return replace(found, number=start + 1)


def _read(model: Model, arrow: ArrowBatch, start: int, row: Mapping[str, object]) -> tuple[QueryRow, list[str]]:
    encoder = model.encoder()
    batch = encoder.encode(arrow, start)
    cells = {name: label(value) for name, value in row.items()}
    states: dict[str, State] = {}
    words: dict[str, str] = {}
    for column in model.schema.attributes:
        state = state_of(batch, column.name)
        if column.part is not None and state == "known":
            cell = cells[column.name] = cells.get(column.name) or _part_text(batch, column.name)
            words[column.name] = column.words(shown(cell, 30)[1:-1], shown(column.part_of, 30)[1:-1])
        if column.name in encoder.strays or (state == "missing" and _is_word(cells.get(column.name), column, model)):
            state = "stray"
        states[column.name] = state
    return QueryRow(batch, cells, states, words=words), [name for name, state in states.items() if state == "stray"]


def _part_text(batch: Batch, name: str) -> str:
    """What a part of the first row's date is called."""
    found = batch.cells[name]
    if isinstance(found, Codes):
        return str(found.labels.names[int(found.codes[0])])
    assert isinstance(found, np.ndarray)
    return number_label(float(found[0]))


def _is_word(cell: str | None, column: Column, model: Model) -> bool:
    """Whether a cell of a nominal column of numbers is none, and is missing for that reason alone."""
    if column.kind != "nominal" or column.reading != "number" or cell is None:
        return False
    try:
        float(cell)
    except ValueError:
        return bool(cell.strip()) and cell.strip() not in model.schema.missing
    return False


def state_of(batch: Batch, name: str) -> State:
    """What the first row's cell of a column is, as far as the cell itself says."""
    cells = batch.cells[name]
    if isinstance(cells, Codes):
        code = int(cells.codes[0])
        return "missing" if code == MISSING_CODE else "unseen" if code == UNSEEN_CODE else "known"
    if isinstance(cells, Texts):
        return "missing" if cells.starts[0] == cells.ends[0] else "known"
    if not isinstance(cells, np.ndarray):  # a column of another kind, whose factor knows what is missing
        return "known"
    return "missing" if np.isnan(cells[0]) else "known" if np.isfinite(cells[0]) else "infinite"


def split_assignment(text: str, names: Sequence[str]) -> tuple[str, str]:
    """NAME=VALUE cut into its two parts, at the first equals sign that has the name of a column before it.

    >>> split_assignment("a=b=c", ["a=b", "x"])
    ('a=b', 'c')
    """
    places = [k for k, sign in enumerate(text) if sign == "="]
    for place in places:
        if text[:place] in names:
            return text[:place], text[place + 1 :]
    if not places:
        raise InputError(f"{shown(text)} has no equals sign. Write NAME=VALUE, or --row N for a row of a table.")
    name = text[: places[0]]
    raise ColumnError(f"There is no column {shown(name)}. {nearest(name, names)}")


def parse_assignments(given: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Several NAME=VALUE as a row; a name that is given twice is refused."""
    out: dict[str, str] = {}
    for text in given:
        name, value = split_assignment(text, names)
        if name in out:
            raise InputError(f"{shown(name)} is given twice: {shown(out[name])} and {shown(value)}. Give it once.")
        out[name] = value
    return out
