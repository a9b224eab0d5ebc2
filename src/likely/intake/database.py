"""Sums that a database counts for itself: each column's values by class come as counts, never as rows.

A count of equal rows is their weight, so the sums are the same to the last bit as those of a sweep (decision 0092).
Columns with too many values are swept as usual, and told.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from likely.errors import SettingError, shown
from likely.intake.observe import Partial, summed, tallied_target, viewed
from likely.intake.reading import Reading
from likely.intake.schema import Draft, Tallier, draft_schema, missing_tokens, text_columns
from likely.sums.columns.profile import Profile
from likely.sums.summary import Summary
from likely.sums.weights import weights
from likely.table.databases.database import DatabaseSource
from likely.table.encode import Encoder, column_form, find_strays, token_hashes
from likely.table.schema import Column, Schema
from likely.table.source import Source

MOST = 1 << 16
"""Pairs of value and class that a column may have to be counted where it lies."""


@dataclass(frozen=True)
class _Counted:
    """The cells of some columns, each different row once, and how often each is there."""

    cells: Any
    times: Any

    @property
    def rows(self) -> int:
        return int(self.times.sum())


def pushed(source: Source, reading: Reading) -> tuple[Draft, Partial]:
    """The draft of a source's schema and the sums under it, counted in the database where they can be."""
    if not isinstance(source, DatabaseSource):
        raise SettingError(f"{source.name} is no database, so it cannot count for itself. Leave --push out.")
    if reading.weight is not None or (reading.schema is not None and reading.schema.weight is not None):
        raise SettingError("A database counts rows, but here rows have weights. Leave out either the weight or --push.")
    target = reading.target if reading.schema is None else _name(reading.schema.target)
    names = list(source.schema.names) if reading.schema is None else [c.name for c in reading.schema.used]
    classes = None if target is None or target not in source.schema.names else _counted(source, [target])
    if target is not None and classes is None:
        reading.tell("The values of the target cannot be counted in the database, so all rows were read.")
        first = draft_schema(source, reading)
        return first, summed(source, first.schema, reading.threads, reading.progress)
    counted: dict[str, _Counted] = {}
    for name in names:
        said = (reading.types or {}).get(name)
        if name != target and said != "ignore" and column_form(source.schema.field(name).type) != "other":
            found = _counted(source, [name, *([target] if target is not None else [])])
            if found is not None:
                counted[name] = found
    first = _drafted(source, reading, counted, classes)
    rest = [c.name for c in first.schema.attributes if c.name not in counted]
    return first, _assembled(source, reading, first, counted, classes, rest)


def _name(column: Column | None) -> str | None:
    return None if column is None else column.name


def _counted(source: DatabaseSource, names: list[str]) -> _Counted | None:
    table = source.counts(names, MOST)
    if table is None:
        return None
    batches = table.combine_chunks().to_batches()
    if not batches:
        return None
    cells = batches[0].select(list(range(len(names))))
    times = np.asarray(batches[0].column(len(names)).to_numpy(zero_copy_only=False), np.int64)
    return _Counted(cells, times)


def _drafted(source: Source, reading: Reading, counted: dict[str, _Counted], classes: _Counted | None) -> Draft:
    """The draft, from profiles of counts where there are counts."""
    if reading.schema is not None:
        return draft_schema(source, reading)
    names, tokens = text_columns(source, reading), missing_tokens(reading)
    hashes = token_hashes(tokens)
    of = {**counted, **({} if classes is None or reading.target is None else {reading.target: classes})}
    profiles: dict[str, Profile] = {}
    for name in names:
        if name in of:
            profiles[name] = Profile()
            profiles[name].update(of[name].cells.column(name), hashes, of[name].times)
    others = [name for name in names if name not in of]
    if others:
        seen, _ = viewed(source, replace(reading, target=None), others, None, reading.threads, reading.progress)
        profiles |= seen.profiles
    tally = None
    if classes is not None and tallied_target(source, reading) is not None:
        tallier = Tallier(tokens)
        tallier.add(classes.cells.column(0), weights(classes.times.astype(np.float64)))
        tally = tallier.numbers
    return draft_schema(source, reading, profiles, tally)


def _assembled(
    source: Source,
    reading: Reading,
    first: Draft,
    counted: dict[str, _Counted],
    classes: _Counted | None,
    rest: list[str],
) -> Partial:
    """One summary of columns that were counted and columns that are swept."""
    schema = first.schema
    odd: dict[str, int] = {}
    out: Summary | None = None
    if rest or not counted:
        swept = summed(source, _of(schema, rest), reading.threads, reading.progress)
        out, odd = swept.summary.canonical(), dict(swept.strays)
        some = ", ".join(shown(name, 30) for name in rest[:8]) + (" …" if len(rest) > 8 else "")
        reading.tell(f"Too many values to be counted in the database, so read row by row: {some}.")
    parts = {c.name: _summary(_of(schema, [c.name]), counted[c.name]) for c in schema.attributes if c.name in counted}
    whole = (
        out
        if out is not None
        else next(iter(parts.values()))
        if classes is None
        else _summary(_of(schema, []), classes)
    )
    merged = Summary(schema)
    merged.labels, merged.total, merged.rows, merged.left_out = whole.labels, whole.total, whole.rows, whole.left_out
    hashes = token_hashes(schema.missing)
    for column in schema.attributes:
        own = parts.get(column.name, out)
        assert own is not None and own.classes == merged.classes
        merged.columns[column.name] = own.columns[column.name]
        if column.name in counted and column.kind in ("number", "date"):
            cells = counted[column.name].cells.column(column.name)
            odd[column.name] = int(
                counted[column.name].times[find_strays(cells, hashes, column.reading == "date")].sum()
            )
    return Partial(merged.canonical(), {name: count for name, count in odd.items() if count})


def _of(schema: Schema, names: list[str]) -> Schema:
    """The schema of some attributes and the target."""
    return schema.with_columns(c for c in schema.columns if c.name in names or c.role == "target")


def _summary(schema: Schema, counted: _Counted) -> Summary:
    """The sums of counted rows: each weighs as often as it is there."""
    batch = Encoder(schema).encode(counted.cells)
    out = Summary(schema)
    out.update(replace(batch, weight=counted.times.astype(np.float64)))
    out = out.canonical()
    kept = counted.times if batch.target is None else counted.times[batch.target.codes >= 0]
    out.rows, out.left_out = int(kept.sum()), counted.rows - int(kept.sum())
    return out
