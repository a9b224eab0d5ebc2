"""The one road from a table to a summary: observe, draft the schema, settle it, extend the sums.

Whoever sweeps the rows is an `Engine`: this machine's threads, files whose sums are kept, a database that counts for
itself, or Spark's executors. What comes out is the same to the last bit. Knows no learner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from likely.errors import shown
from likely.intake.engine import sweep_sum
from likely.intake.extend import Extension, More, run_search
from likely.intake.observe import Observation, Plan, observe_source
from likely.intake.reading import Reading
from likely.intake.schema import (
    Draft,
    check_rows,
    check_strays,
    draft_schema,
    finalize_schema,
    guess_schema,
    plan_observation,
)
from likely.machinery.steps import LOG
from likely.models.contracts import Model, Search
from likely.sums.summary import Summary
from likely.table.schema import Schema
from likely.table.source import Source

Wanted = Callable[[Schema], frozenset[str]]
"""Which statistics beyond the first order are wanted of a table."""


class Engine(Protocol):
    """Who sweeps the rows of a table."""

    @property
    def title(self) -> Source:
        """The table's name, columns and notes; its rows may be elsewhere."""
        ...

    def guess(self, reading: Reading) -> Schema | None:
        """How the table is probably read, to be summed so while it is observed; None where there is no telling."""
        ...

    def observe(self, plan: Plan) -> Observation:
        """The observation of all rows."""
        ...

    def extend(self, summary: Summary, names: frozenset[str], like: More | None) -> More:
        """Statistics of all rows beyond the first order."""
        ...

    def search(self, search: Search, summary: Summary) -> Model:
        """Give a search its sweeps."""
        ...


@dataclass(frozen=True)
class LocalEngine:
    """The threads of this machine."""

    title: Source
    reading: Reading

    def guess(self, reading: Reading) -> Schema | None:
        return guess_schema(self.title, reading, self.title)

    def observe(self, plan: Plan) -> Observation:
        return observe_source(self.title, plan, self.reading.threads, self.reading.progress)

    def extend(self, summary: Summary, names: frozenset[str], like: More | None) -> More:
        batches = self.title.batches(summary.schema.stored)
        how = self.reading.threads, self.reading.progress
        return sweep_sum(batches, lambda: Extension(summary, names, like), *how).more

    def search(self, search: Search, summary: Summary) -> Model:
        return run_search(self.title, search, summary, self.reading.threads)


def summarize_table(engine: Engine, reading: Reading, wanted: Wanted, like: More | None = None) -> Summary:
    """The sums of a table, with those beyond the first order that are wanted of its columns.

    `like` holds statistics of another summary, with which those of this one are to be added or taken away.
    """
    draft, whole, strays = observe_table(engine, reading)
    check_strays(draft, strays, whole.rows + whole.left_out)
    summary = check_rows(finalize_schema(draft, whole), engine.title)
    LOG.info(
        "%s: %d rows, %d attributes summed", shown(engine.title.name), summary.rows, len(summary.schema.attributes)
    )
    return extend_summary(engine, summary, wanted(summary.schema), like)


def observe_table(engine: Engine, reading: Reading) -> tuple[Draft, Summary, dict[str, int]]:
    """The draft of a table's schema, the sums under it, and the cells that do not fit.

    The sums are those under the guess where that was right, so that one sweep gives everything.
    """
    if reading.schema is None:
        seen = engine.observe(plan_observation(engine.title, reading, engine.guess(reading)))
        draft = draft_schema(engine.title, reading, seen)
        sums = seen.sums_under(draft.schema)
        if sums is not None:
            return draft, sums, seen.strays
    else:
        draft = draft_schema(engine.title, reading)
    seen = engine.observe(Plan.under(draft.schema))
    assert seen.summary is not None
    return draft, seen.summary, seen.strays


def extend_summary(engine: Engine, summary: Summary, names: frozenset[str], like: More | None = None) -> Summary:
    """The summary with these statistics as well; further sweeps where any is missing."""
    missing = frozenset(names - summary.more.keys())
    if not missing:
        return summary
    more, out = engine.extend(summary, missing, like), summary.canonical()
    out.more |= {name: more[name] for name in sorted(missing)}
    return out
