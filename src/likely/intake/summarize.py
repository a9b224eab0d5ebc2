"""The one road from a table to a summary: observe, draft the schema, settle it, extend the sums."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from likely.errors import ColumnError, SettingError, shown
from likely.intake.engine import Piece, RowCache, piece_rows, sweep_sum
from likely.intake.observe import Observation, ObservationPlan, observe_source
from likely.intake.reading import Reading, read_arguments, with_encoding
from likely.intake.schema import (
    Draft,
    check_rows,
    check_strays,
    draft_schema,
    finalize_schema,
    given_edges,
    guess_schema,
    missing_tokens,
    plan_observation,
)
from likely.machinery.arrays import Ints
from likely.machinery.threads import LOG, in_order
from likely.models.contracts import Learner, Sweep
from likely.models.knowledge import Knowledge
from likely.models.model import numbered
from likely.sums.columns.counts import KEEP, Counts, Profile
from likely.sums.columns.numbers import ColumnStatistic, Numbers
from likely.sums.contracts import RowStatistic
from likely.sums.exact import OrderedSum, plus_tuples
from likely.sums.rows.pairs import Pairs
from likely.sums.summary import Summary
from likely.table.arrow import align_batches
from likely.table.batch import Batch
from likely.table.encode import Encoder
from likely.table.infer import parse_kind
from likely.table.labels import Labels, label
from likely.table.schema import Column, Reason, Schema
from likely.table.source import Source
from likely.table.texts.numbers import column_form

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.table.arrow import ArrowBatch


# Further sweeps: statistics beyond the first order, and those of learners that must look at the rows again.

More = Mapping[str, RowStatistic]
"""Statistics beyond the first order, by request."""
Sweeper = Callable[[Sweep], tuple[Any, ...]]
"""Who sees all rows once more, and adds up what a sweep asks of them."""


class Extension:
    """Takes rows into statistics beyond the first order, begun from a summary of the first.

    `like` holds statistics of another summary, with which those of this one are to be added or taken away.
    """

    def __init__(self, summary: Summary, names: frozenset[str], like: More | None = None) -> None:
        self.more = {name: summary.empty_statistic(name) for name in sorted(names)}
        cut = (like or {}).get("pairs")
        if isinstance(cut, Pairs) and "pairs" in names:
            self.more["pairs"] = Pairs.over(summary, cut)
        self._summary = summary.without(summary.more)
        self._encoder = Encoder(summary.schema)

    def update(self, batch: Batch) -> None:
        self._summary.update_more(batch, self.more)

    def take(self, batch: ArrowBatch, start: int) -> None:
        self.update(self._encoder.encode(batch, start))

    def __add__(self, other: Extension) -> Extension:
        out = copy(self)
        out.more = {name: held + other.more[name] for name, held in self.more.items()}
        return out


def classes_and_weights(summary: Summary, batch: Batch) -> tuple[Ints, NDArray[np.float64]]:
    """The class of each row among the summary's (negative: none), and its weight."""
    target = batch.target
    if target is None:
        return np.zeros(batch.rows, np.int32), np.ones(batch.rows)
    index = {name: k for k, name in enumerate(summary.classes)}
    places = np.array([*(index.get(n, -1) for n in target.labels.names), -1, -1], np.int32)
    return places[target.codes], np.ones(batch.rows) if batch.weight is None else batch.weight


def closed_encoder(total: Summary) -> Encoder:
    """The encoder of rows whose sums are known.

    Closed labels: threads share the encoder, and would step on each other's toes if it collected new ones.
    """
    labels = {n: s.labels for n, s in total.columns.items() if isinstance(s, Counts)}
    return Encoder(total.schema, labels, Labels(total.classes))


@dataclass(frozen=True)
class LookAtPiece:
    """What a sweep sees of a piece of the rows."""

    sweep: Sweep
    summary: Summary

    def __call__(self, piece: Piece) -> tuple[Any, ...]:
        return self.sweep.look_at(piece.batch, *classes_and_weights(self.summary, piece.batch))


def row_sweeper(source: Source, summary: Summary, threads: int | None = None) -> Sweeper:
    """Who sweeps the rows of a source; pieces are added in the order of the file, so that threads change nothing."""
    columns, encoder = summary.schema.stored, closed_encoder(summary)

    def read() -> Iterator[Piece]:
        batches = numbered(align_batches(source.batches(columns), piece_rows(summary.schema)))
        yield from in_order(batches, lambda item: Piece(encoder.encode(item[1], item[0])), threads)

    rows = RowCache(summary, read)

    def summed(sweep: Sweep) -> tuple[Any, ...]:
        sums = OrderedSum(plus_tuples)
        for part in in_order(iter(rows), LookAtPiece(sweep, summary), threads):
            sums.take(part)
        return sums.whole()  # type: ignore[no-any-return]

    return summed


# The one road from a table to a summary: observe, draft the schema, settle it, extend the sums.

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

    def observe(self, plan: ObservationPlan) -> Observation:
        """The observation of all rows."""
        ...

    def extend(self, summary: Summary, names: frozenset[str], like: More | None) -> More:
        """Statistics of all rows beyond the first order."""
        ...

    def sweeper(self, summary: Summary) -> Sweeper:
        """Who answers the sweeps of learners that must see the rows again."""
        ...


@dataclass(frozen=True)
class LocalEngine:
    """The threads of this machine."""

    title: Source
    reading: Reading

    def guess(self, reading: Reading) -> Schema | None:
        return guess_schema(self.title, reading, self.title)

    def observe(self, plan: ObservationPlan) -> Observation:
        return observe_source(self.title, plan, self.reading.threads, self.reading.progress)

    def extend(self, summary: Summary, names: frozenset[str], like: More | None) -> More:
        batches = self.title.batches(summary.schema.stored)
        how = self.reading.threads, self.reading.progress
        return sweep_sum(batches, lambda: Extension(summary, names, like), *how).more

    def sweeper(self, summary: Summary) -> Sweeper:
        return row_sweeper(self.title, summary, self.reading.threads)


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
    plan = None if reading.schema is not None else plan_observation(engine.title, reading)
    if plan is not None and plan.columns:
        seen = engine.observe(replace(plan, schema=engine.guess(reading)))
        draft = draft_schema(engine.title, reading, seen)
        sums = seen.sums_under(draft.schema)
        if sums is not None:
            return draft, sums, seen.strays
    else:  # no row need be seen to know how columns are read
        draft = draft_schema(engine.title, reading, Observation(ObservationPlan()))
    seen = engine.observe(ObservationPlan.under(draft.schema))
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


# A summary from knowledge alone: what its schema is when there is no table to infer it from.


def summary_from_knowledge(learner: Learner, reading: Reading) -> Summary:
    """A summary of no rows, under the schema that knowledge and the user's words make; refused where nothing is known.

    >>> from likely.models.naive.naive import NaiveBayes
    >>> learner = NaiveBayes(knowledge=[Knowledge("fever", given="flu", probability=0.9, worth=40)])
    >>> [(c.name, c.kind, c.role) for c in summary_from_knowledge(learner, Reading("disease")).schema.columns]
    [('fever', 'nominal', 'attribute'), ('disease', 'nominal', 'target')]
    """
    knowledge: tuple[Knowledge, ...] = getattr(learner, "knowledge", ())
    if not knowledge:
        raise SettingError(
            f"There is no table, and {type(learner).__name__} has no knowledge to start from. "
            "Give a table, or knowledge to NaiveBayes."
        )
    out = Summary(_schema(knowledge, reading) if reading.schema is None else reading.schema)
    out.more = {wish: out.empty_statistic(wish) for wish in sorted(learner.needs(out.schema))}
    return out


def _schema(knowledge: Sequence[Knowledge], reading: Reading) -> Schema:
    """Columns as the user listed them, then as knowledge names them, then weight and target."""
    target, weight, said = reading.target, reading.weight, reading.types or {}
    if target is None:
        raise SettingError("There is neither a table nor a target. Name the column to predict.")
    if target == weight:
        raise SettingError(f"Column {shown(target)} cannot be both the target and the weight.")
    named = {k.attribute: "number" if k.is_normal else "nominal" for k in knowledge if k.attribute is not None}
    columns = []
    for name in dict.fromkeys([*said, *named]):
        if name not in (target, weight):
            kind, reads = parse_kind(said[name] if name in said else named[name], name, "text")
            role = "attribute" if kind in ("nominal", "number", "date") else "left out"
            # "As asked" in either case: the spec of the model says the same and must give the same model again.
            columns.append(Column(name, kind, role, reads, reason=Reason("asked")))  # type: ignore[arg-type]
    if weight is not None:
        columns.append(Column(weight, "number", "weight", "number", reason=Reason("weight")))
    return Schema((*columns, _target(target, said.get(target), reading)), missing_tokens(reading))


def _target(name: str, said: str | None, reading: Reading) -> Column:
    bins = reading.target_bins
    if bins is not None:
        if isinstance(bins, int):
            raise SettingError("There is no table to cut the target by. Give the edges of its bins, e.g. 10,20,30.")
        return Column(name, "nominal", "target", "number", edges=given_edges(bins), reason=Reason("given bins"))
    kind, reads = parse_kind(said or "nominal", name, "text")
    if kind != "nominal":
        raise ColumnError(f"The target {shown(name)} cannot be read as {said} without a table. It must be nominal.")
    return Column(name, "nominal", "target", reads, reason=Reason("asked" if said else "known classes"))


# How a table would be read, column by column: kind, role and why, missing and distinct cells, a few examples.

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
        second = engine.observe(ObservationPlan.under(draft.schema))
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
