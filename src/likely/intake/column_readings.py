"""How a table would be read, column by column: kind, role and why, missing and distinct cells, a few examples.

For people who want to see that before anything is learned. One sweep; keeps a few cells of each column, no row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from likely.intake.arguments import read_arguments
from likely.intake.observe import Plan
from likely.intake.reading import Reading, with_encoding
from likely.intake.schema import check_strays, draft_schema, finalize_schema, missing_tokens, plan_observation
from likely.intake.summarize import LocalEngine
from likely.sums.columns.counts import Counts
from likely.sums.columns.narrowing import ColumnStatistic
from likely.sums.columns.numbers import Numbers
from likely.sums.columns.profile import KEEP, Profile
from likely.sums.summary import Summary
from likely.table.labels import label
from likely.table.schema import Column
from likely.table.source import Source
from likely.table.texts.numbers import column_form

USUAL_TARGETS = ("target", "class", "label", "y", "outcome", "response")
"""What people call the column to predict."""
FIRST_ROWS, MOST_EXAMPLES, MOST_LETTERS = 200, 3, 60
"""Rows that examples are taken from, how many, and how much of a long cell is shown."""


@dataclass(frozen=True)
class ColumnReading:
    """How one column is read, and what is in it."""

    name: str
    kind: str
    role: str
    why: str
    missing: int | None
    """Cells that mean "not known"; None where nobody counted: the column holds lists, say."""
    distinct: int | None
    """None where nobody counted, or where there are so many numbers that they were not kept apart."""
    estimated: bool
    """Whether the number of distinct cells is an estimate."""
    examples: tuple[str, ...]


@dataclass(frozen=True)
class TableReading:
    """How a table is read."""

    source: str
    rows: int
    columns: tuple[ColumnReading, ...]
    target: str | None
    """The column that is probably meant to be predicted."""
    notes: tuple[str, ...] = ()


def inspect_columns(data: object, **reading: Any) -> TableReading:
    """How the columns of a table would be read; `reading` takes what `summarize` takes.

    >>> table = inspect_columns({"x": [1.5, None, 2.5], "y": ["a", "b", "a"]})
    >>> [(c.name, c.kind, c.missing, c.distinct, c.examples) for c in table.columns]
    [('x', 'number', 1, 2, ('1.5', '2.5')), ('y', 'nominal', 0, 2, ('a', 'b'))]
    """
    data, how = read_arguments(data, None, reading)
    return with_encoding(data, how, lambda source: _inspect(source, how))


def guess_target(names: Iterable[str]) -> str | None:
    """The column that is probably meant to be predicted: one that is called so, or the last.

    >>> guess_target(["Class", "age"]), guess_target(["age", "income"]), guess_target([])
    ('Class', 'income', None)
    """
    listed = list(names)
    return next((n for n in listed if n.lower() in USUAL_TARGETS), listed[-1] if listed else None)


def _inspect(source: Source, reading: Reading) -> TableReading:
    engine = LocalEngine(source, reading)
    plan = plan_observation(source, reading, engine.guess(reading))
    texts = [n for n in source.schema.names if column_form(source.schema.field(n).type) == "text"]
    seen = engine.observe(replace(plan, profiled=tuple(texts)))
    draft = draft_schema(source, reading, seen)
    sums, strays = seen.sums_under(draft.schema), seen.strays
    if sums is None:
        second = engine.observe(Plan.under(draft.schema))
        assert second.summary is not None
        sums, strays = second.summary, second.strays
    check_strays(draft, strays, sums.rows + sums.left_out)
    examples = _examples(source, frozenset(missing_tokens(reading)))
    columns = tuple(
        _describe(column, sums, seen.profiles.get(column.name), examples.get(column.name, ()))
        for column in finalize_schema(draft, sums).schema.columns
    )
    usable = [c.name for c in columns if c.kind in ("nominal", "number")]
    return TableReading(
        source.name, sums.rows + sums.left_out, columns, guess_target(usable or source.schema.names), source.notes
    )


def _describe(column: Column, sums: Summary, profile: Profile | None, examples: tuple[str, ...]) -> ColumnReading:
    missing, distinct, estimated = _count(sums.columns.get(column.name))
    if profile is not None:
        cells = profile.read()
        missing, distinct, estimated = cells.missing, cells.distinct, cells.distinct > KEEP
    return ColumnReading(column.name, column.kind, column.role, column.why, missing, distinct, estimated, examples)


def _count(statistic: ColumnStatistic | None) -> tuple[int | None, int | None, bool]:
    """Missing and distinct cells of a column that is not text, and whether the latter were counted roughly."""
    if isinstance(statistic, Counts):
        return round(float(statistic.other.sum(0).floats().sum())), len(statistic.labels), False
    if isinstance(statistic, Numbers):
        values, _ = statistic.tally()
        distinct = len(values) if statistic.level == 0 else None
        return round(float(statistic.other.floats().reshape(3, -1)[0].sum())), distinct, False
    return None, None, False


def _examples(source: Source, missing: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """A few cells of each column that differ, from its first rows."""
    first = next(iter(source.batches()), None)
    if first is None:
        return {}
    out = {}
    for name in source.schema.names:
        cells = (label(cell) for cell in first.column(name).slice(0, FIRST_ROWS).to_pylist())
        some = dict.fromkeys(cell for cell in cells if cell is not None and cell.strip() not in missing)
        out[name] = tuple(
            cell if len(cell) <= MOST_LETTERS else f"{cell[: MOST_LETTERS - 1]}…" for cell in [*some][:MOST_EXAMPLES]
        )
    return out
