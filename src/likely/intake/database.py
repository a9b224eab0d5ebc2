"""Sums that a database counts for itself: each column's values by class come as counts, never as rows.

A count of equal rows is their weight, so the sums are the same to the last bit as those of a sweep (decision 0093).
Columns with too many values are swept as usual, and told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import SettingError, shown
from likely.intake.observe import Observation, ObservationPlan, assemble_summary
from likely.intake.reading import Reading
from likely.intake.summarize import Engine, LocalEngine, More, Sweeper
from likely.sums.summary import Summary
from likely.table.databases import DatabaseSource
from likely.table.infer import IN_PARTS
from likely.table.schema import Schema
from likely.table.source import Source
from likely.table.texts.numbers import column_form

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.table.arrow import ArrowBatch

MOST = 1 << 16
"""Pairs of value and class that a column may have to be counted where it lies."""


@dataclass(frozen=True)
class _Counts:
    """The cells of some columns, each different row once, and how often each is there."""

    cells: ArrowBatch
    times: NDArray[np.int64]

    def observe(self, plan: ObservationPlan) -> Observation:
        out = Observation(plan)
        out.update(self.cells, times=self.times)
        return out


def count_in_database(source: Source, reading: Reading) -> Engine:
    """The engine of a database that counts for itself, where it can."""
    if not isinstance(source, DatabaseSource):
        raise SettingError(f"{source.name} is not a database, so it cannot do the counting. Leave --push out.")
    if reading.weight is not None or (reading.schema is not None and reading.schema.weight is not None):
        raise SettingError("A database counts rows, but here rows have weights. Leave out either the weight or --push.")
    if reading.dates == "parts" or IN_PARTS in (reading.types or {}).values():
        raise SettingError("A database that counts for itself does not count parts of dates. Leave out either of them.")
    target, names = reading.target, list(source.schema.names)
    if reading.schema is not None:
        target = None if reading.schema.target is None else reading.schema.target.name
        names = [name for name in reading.schema.stored if name in names]
    by_class = [] if target is None or target not in source.schema.names else [target]
    classes = _count(source, by_class) if by_class else None
    if target is not None and classes is None:
        reading.tell("The values of the target cannot be counted in the database, so all rows were read.")
        return DatabaseEngine(source, reading, None)
    counts = {} if classes is None or target is None else {target: classes}
    for name in names:
        ignored = (reading.types or {}).get(name) == "ignore"
        if name not in counts and not ignored and column_form(source.schema.field(name).type) != "other":
            found = _count(source, [name, *by_class])
            if found is not None:
                counts[name] = found
    return DatabaseEngine(source, reading, counts)


def _count(source: DatabaseSource, names: list[str]) -> _Counts | None:
    table = source.counts(names, MOST)
    batches = [] if table is None else table.combine_chunks().to_batches()
    if not batches:
        return None
    cells = batches[0].select(list(range(len(names))))
    return _Counts(cells, np.asarray(batches[0].column(len(names)).to_numpy(zero_copy_only=False), np.int64))


@dataclass(frozen=True)
class DatabaseEngine(LocalEngine):
    """Observes by counts where there are any; what else is wanted, it sweeps."""

    counts: dict[str, _Counts] | None
    """Of each column with the target, and of the target alone; None where all is swept."""

    def guess(self, reading: Reading) -> Schema | None:
        return None if self.counts is not None else super().guess(reading)

    def observe(self, plan: ObservationPlan) -> Observation:
        counts = self.counts
        if counts is None:
            return super().observe(plan)
        if plan.schema is not None:
            return self._sum(plan.schema, counts)
        out = super().observe(
            ObservationPlan(tuple(n for n in plan.profiled if n not in counts), None, None, plan.missing)
        )
        for name in plan.profiled:
            if name in counts:
                out.profiles |= counts[name].observe(ObservationPlan((name,), missing=plan.missing)).profiles
        if plan.tallied is not None:
            out.tally = counts[plan.tallied].observe(ObservationPlan((), plan.tallied, missing=plan.missing)).tally
        return out

    def extend(self, summary: Summary, names: frozenset[str], like: More | None) -> More:
        self.reading.tell("This learner asks for more than counts of each column, so all rows were read for that.")
        return super().extend(summary, names, like)

    def sweeper(self, summary: Summary) -> Sweeper:
        self.reading.tell("This learner must see the rows themselves, so all rows were read for that.")
        return super().sweeper(summary)

    def _sum(self, schema: Schema, counts: dict[str, _Counts]) -> Observation:
        """One summary of columns that were counted and columns that are swept."""
        out, parts = Observation(ObservationPlan.under(schema)), dict[str, Summary]()
        rest = [c.name for c in schema.attributes if c.name not in counts]
        whole = None if schema.target is None else counts[schema.target.name].observe(_of(schema, [])).summary
        if rest or (not schema.attributes and whole is None):
            swept = super().observe(_of(schema, rest))
            assert swept.summary is not None
            whole, parts = swept.summary.canonical(), dict.fromkeys(rest, swept.summary.canonical())
            out.strays.update(swept.strays)
        if rest:
            some = ", ".join(shown(name, 30) for name in rest[:8]) + (" …" if len(rest) > 8 else "")
            self.reading.tell(f"Too many values to be counted in the database, so read row by row: {some}.")
        for column in schema.attributes:
            if column.name in counts:
                seen = counts[column.name].observe(_of(schema, [column.name]))
                assert seen.summary is not None
                parts[column.name] = seen.summary.canonical()
                out.strays[column.name] = seen.strays.get(column.name, 0)
        whole = next(iter(parts.values())) if whole is None else whole.canonical()
        out.summary = assemble_summary(schema, whole, parts).canonical()
        return out


def _of(schema: Schema, names: Iterable[str]) -> ObservationPlan:
    """The sums of some attributes and the target."""
    some = set(names)
    return ObservationPlan.under(schema.with_columns(c for c in schema.columns if c.name in some or c.role == "target"))
