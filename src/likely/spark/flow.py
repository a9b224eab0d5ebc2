"""A spread table on the one road to a summary: each sweep is done where the rows are.

What comes out is the same to the last bit as `likely.summarize` of the same rows. Knows no learner's insides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from likely.errors import EncodingError, SettingError
from likely.intake.extend import More
from likely.intake.observe import Observation, Plan
from likely.intake.reading import Reading, check_reading
from likely.intake.schema import guess_schema
from likely.models.contracts import Model, Search
from likely.spark.pieces import run_search
from likely.spark.spread import Files, Spread
from likely.spark.tasks import Bundle, Extend, Observe
from likely.sums.summary import Summary
from likely.table.schema import Schema
from likely.table.texts.numbers import column_form
from likely.table.wrappers.remote import DeferredSource, OneSweepSource

T = TypeVar("T")


def with_encoding(
    open_spread: Callable[[Reading], Spread], reading: Reading, work: Callable[[SparkEngine, Reading], T]
) -> T:
    """Do `work`; where a text proves not to be UTF-8 after all, once more as latin-1."""
    check_reading(reading)
    if reading.by_file or reading.push:
        raise SettingError("keep, skip_bad and push are of one machine. Leave them out where Spark sweeps.")
    # Neither travels: nobody listens where the rows are.
    reading = replace(reading, progress=None, remark=None, threads=1)
    try:
        return work(SparkEngine(open_spread(reading)), reading)
    except EncodingError:
        if reading.encoding is not None:
            raise
        again = replace(reading, encoding="latin-1")
        return work(SparkEngine(open_spread(again)), again)


@dataclass(frozen=True)
class SparkEngine:
    """Executors sweep the parts of a table."""

    spread: Spread

    @property
    def title(self) -> DeferredSource:
        return self.spread.title

    def guess(self, reading: Reading) -> Schema | None:
        """By the first rows where the driver can see them; else texts are taken for levels, unless all is text."""
        if isinstance(self.spread, Files):
            return guess_schema(self.title, reading, self.spread.first())
        forms = {column_form(field.type) for field in self.title.schema}
        names = list(self.title.schema.names)
        nothing = OneSweepSource(self.title.name, names, self.title.schema, iter(()))
        return None if forms == {"text"} else guess_schema(self.title, reading, nothing)

    def observe(self, plan: Plan) -> Observation:
        if not plan.columns and plan.schema is None:
            return Observation(plan)
        return self.spread.sum_task(Observe(plan), plan.columns, Observation)

    def extend(self, summary: Summary, names: frozenset[str], like: More | None) -> More:
        columns = summary.schema.stored
        more: More = self.spread.sum_task(Extend(summary, names, like), columns, Bundle).held
        return more

    def search(self, search: Search, summary: Summary) -> Model:
        return run_search(self.spread, search, summary)
