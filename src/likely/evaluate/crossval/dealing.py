"""How rows are dealt to parts: at random and stratified, by groups, by time, each by itself; which parts learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from likely.errors import ColumnError, InputError, SettingError, nearest, shown
from likely.evaluate import kernels
from likely.intake.engine import sweep_sum
from likely.intake.observe import ObservationPlan, observe_source
from likely.intake.reading import Reading
from likely.intake.schema import Draft
from likely.machinery.arrays import Ints
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.summary import Summary
from likely.table.batch import Codes
from likely.table.encode import Encoder
from likely.table.infer import parse_kind
from likely.table.labels import Labels
from likely.table.schema import Column, Reason, Schema
from likely.table.source import Source
from likely.table.texts.numbers import column_form

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.table.arrow import ArrowBatch


# Lessons: from which parts of a table models learn, and by which they are judged. Knows no rows and no learner.


@dataclass(frozen=True)
class Lessons:
    """For each lesson the parts that are seen, and the fold by whose rows the model is judged. Rows are dealt to parts.

    Whoever cannot learn one lesson of a group is asked for none of that group.
    """

    seen: NDArray[np.bool_]
    """(lessons, parts)."""
    fold: tuple[int, ...]
    """Of each lesson."""
    fold_of: NDArray[np.int32]
    """The fold to which each part belongs."""
    group: tuple[int, ...]

    @property
    def folds(self) -> int:
        return int(self.fold_of.max()) + 1

    @property
    def all_but_one(self) -> bool:
        """Whether lesson k sees all parts but part k: plain cross-validation."""
        missed = ~self.seen
        return len(self.seen) == self.seen.shape[1] and not (missed & ~np.eye(len(self.seen), dtype=bool)).any()

    def of_fold(self, fold: int) -> Lessons:
        """The lessons that one fold judges."""
        kept = [k for k, f in enumerate(self.fold) if f == fold]
        return Lessons(self.seen[kept], (fold,) * len(kept), self.fold_of, tuple(self.group[k] for k in kept))


def k_fold(folds: int) -> Lessons:
    """Cross-validation: every fold is judged by a lesson of all others; who fails one has failed."""
    order = range(folds)
    return Lessons(~np.eye(folds, dtype=bool), tuple(order), np.arange(folds, dtype=np.int32), (0,) * folds)


def expanding_window(parts: int) -> Lessons:
    """Parts in the order of time: every part but the first is judged by a lesson of all that came before it.

    >>> expanding_window(3).seen.astype(int).tolist(), expanding_window(3).fold
    ([[1, 0, 0], [1, 1, 0]], (1, 2))
    """
    order = np.arange(parts)
    return Lessons(order < order[1:, None], tuple(range(1, parts)), order.astype(np.int32), (0,) * (parts - 1))


def growing_lessons(folds: int, pieces: int, steps: int) -> Lessons:
    """A learning curve: folds of so many parts each; each judges lessons of some of the other parts, at last of all of
    them, before that of half as many, and so on, in so many steps. What a lesson sees the next one sees too.

    A fold's lessons begin with the parts after its own, so that small lessons of different folds share no row. Lessons
    of one size are a group; the smallest come first.

    >>> growing_lessons(3, 2, 6).seen.astype(int).sum(axis=1).tolist(), growing_lessons(3, 2, 6).group
    ([1, 1, 1, 2, 2, 2, 4, 4, 4], (0, 0, 0, 1, 1, 1, 2, 2, 2))
    """
    parts = folds * pieces
    sizes = [(folds - 1) * pieces]
    while sizes[0] > 1 and len(sizes) < steps:
        sizes.insert(0, sizes[0] // 2)
    seen = np.zeros((len(sizes) * folds, parts), np.bool_)
    for k in range(len(seen)):
        size, fold = sizes[k // folds], k % folds
        seen[k, ((fold + 1) * pieces + np.arange(size)) % parts] = True
    fold_of = np.repeat(np.arange(folds, dtype=np.int32), pieces)
    groups = tuple(j for j in range(len(sizes)) for _ in range(folds))
    return Lessons(seen, tuple(range(folds)) * len(sizes), fold_of, groups)


# How rows are dealt to parts: at random and stratified, by groups that stay together, by time, or each by itself.

MOST_EACH = 1000
"""Rows that are each left out in turn where the learner must really learn that often."""
Placed = tuple["ArrowBatch", Ints, "NDArray[np.int64]"]
"""A batch, the class of each row, and what its fold follows from."""


@dataclass(frozen=True)
class Folds:
    """What was asked for: how many folds, and what holds rows together or in order.

    >>> Folds(5, group="patient").count
    5
    """

    count: int = 10
    seed: int = 0
    repeats: int = 1
    """Cross-validate so many times, dealt by seed, seed + 1 and so on."""
    group: str | None = None
    """Rows with the same cell in this column stay in one fold. It is then no attribute."""
    time: str | None = None
    """Rows are predicted by what earlier ones taught: one fold more, of which the first is only learned from."""
    leave_one_out: bool = False
    """Each row is predicted by what all others taught."""

    def __post_init__(self) -> None:
        said = [name for name in ("group", "time", "leave_one_out") if getattr(self, name) not in (None, False)]
        if len(said) > 1:
            one, other = (name.replace("_", "-") for name in said[:2])
            raise SettingError(f"Folds cannot be made by {one} and by {other} at once. Leave one of them out.")
        for name, least, most in (("count", 2, 1000), ("repeats", 1, 1000), ("seed", 0, 2**62)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
                called = "folds" if name == "count" else name
                raise SettingError(f"{called} is {shown(value)}. It must be a whole number, {least} or more.")
        if self.repeats > 1 and said and said[0] != "group":
            how = "by time" if said[0] == "time" else "row by row"
            raise SettingError(f"Folds made {how} are the same each time. Leave repeats out.")

    @property
    def column(self) -> str | None:
        """The column that rows are dealt by."""
        return self.group if self.group is not None else self.time

    @property
    def how(self) -> str:
        """One word for it."""
        named = "leave-one-out" if self.leave_one_out else "stratified"
        return named if self.column is None else "time" if self.group is None else "group"

    @property
    def plain(self) -> bool:
        """Whether rows are dealt at random, stratified."""
        return self.column is None and not self.leave_one_out


@dataclass(frozen=True)
class Dealing:
    """How rows were dealt to folds."""

    folds: int
    seed: int
    repeats: int = 1
    """How often all folds were dealt anew."""
    dealt: str = "stratified"
    """'stratified', 'group', 'time', 'leave-one-out', or 'content': by the rows that a learner held out itself."""
    dealt_by: str | None = None
    """The column of the groups or of the time."""


class Dealer(Protocol):
    """Says the part of each row. `place` is quick and runs under the sweep's lock, `folds` anywhere."""

    def place(self, batch: ArrowBatch, start: int) -> Placed:
        """The batch with each row's class code and what its part follows from; in the order of the table."""
        ...

    def folds(self, codes: Ints, ordinal: NDArray[np.int64]) -> Ints:
        """The part of each row; -1 where it has none."""
        ...


@dataclass(frozen=True)
class Deal:
    """How many parts there are, what is learned from which, and who deals the rows to them."""

    parts: int
    lessons: Lessons
    dealer: Callable[[Schema], Dealer]
    columns: tuple[str, ...] = ()
    """What the dealer reads besides the columns of the schema."""
    notes: tuple[str, ...] = ()
    seed: int | None = None
    """Of rows that are dealt at random, stratified."""
    together: bool = False
    """Whether rows of a part belong together, and may be alike: by group, by time, as copies."""

    def same_as(self, other: Deal) -> bool:
        """Whether rows are dealt at random in the same way."""
        return self.seed is not None and (self.parts, self.seed) == (other.parts, other.seed)


class Stratified:
    """Every run of k rows of a class goes to all k parts, shuffled by the seed."""

    def __init__(self, schema: Schema, folds: int, seed: int, before: Mapping[str, int] | None = None) -> None:
        """`before` says how many rows each class has ahead of the first, where that is not the table's first row."""
        if folds < 2:
            raise SettingError(f"{folds} folds cannot be made. Use 2 or more.")
        self.folds_count, self._seed = folds, seed
        self._encoder = encoder_of_target(schema, classes=None if before is None else Labels(before))
        self._seen = np.array([*(before or {}).values(), *[0] * 16], np.int64)

    def place(self, batch: ArrowBatch, start: int) -> Placed:
        """The batch with each row's class code and its number among the rows of its class."""
        target = self._encoder.encode(batch, start).target
        assert target is not None
        if len(target.labels) > len(self._seen):
            self._seen = np.concatenate([self._seen, np.zeros(len(target.labels), np.int64)])
        ordinal = np.empty(batch.num_rows, np.int64)
        kernels.ordinals(target.codes, self._seen, ordinal)
        return batch, target.codes, ordinal

    def folds(self, codes: Ints, ordinal: NDArray[np.int64]) -> Ints:
        """The fold of each row (rows without a class go to the first, where they are counted and left out)."""
        out = np.empty(len(codes), np.int32)
        kernels.stratified(codes, ordinal, self.folds_count, self._seed, out)
        return np.where(codes < 0, np.int32(0), out)


class _ByColumn:
    """The part follows from the cell of one column."""

    def __init__(self, schema: Schema, column: Column, part: Callable[[Any], NDArray[np.int64]]) -> None:
        self._encoder, self._part, self._name = encoder_of_target(schema, column), part, column.name

    def place(self, batch: ArrowBatch, start: int) -> Placed:
        """The batch with each row's class code and its part."""
        encoded = self._encoder.encode(batch, start)
        assert encoded.target is not None
        return batch, encoded.target.codes, self._part(encoded.cells[self._name])

    def folds(self, codes: Ints, ordinal: NDArray[np.int64]) -> Ints:
        """As it was placed."""
        return ordinal.astype(np.int32)


class _Each:
    """Every row is a part of its own."""

    def __init__(self, schema: Schema) -> None:
        self._encoder, self._seen = encoder_of_target(schema), 0

    def place(self, batch: ArrowBatch, start: int) -> Placed:
        target = self._encoder.encode(batch, start).target
        assert target is not None
        known = target.codes >= 0
        ordinal = np.where(known, self._seen + np.cumsum(known) - 1, 0)
        self._seen += int(known.sum())
        return batch, target.codes, ordinal

    def folds(self, codes: Ints, ordinal: NDArray[np.int64]) -> Ints:
        """As it was placed."""
        return ordinal.astype(np.int32)


def encoder_of_target(schema: Schema, *more: Column, classes: Labels | None = None) -> Encoder:
    """Reads the target, and columns that rows are dealt by."""
    own = schema.with_columns([c for c in schema.columns if c.role == "target"] + list(more))
    return Encoder(own, classes=classes)


def set_apart(source: Source, first: Draft, folds: Folds) -> Draft:
    """The schema without the column that rows are dealt by among its attributes."""
    name = folds.column
    if name is None:
        return first
    if name not in source.schema.names:
        raise ColumnError(f"{source.name} has no column {shown(name)}. {nearest(name, source.schema.names)}")
    found = next((c for c in first.schema.columns if c.name == name), None)
    if found is not None and found.role in ("target", "weight"):
        raise SettingError(f"{shown(name)} is the {found.role}, so it cannot define the folds. Choose another column.")
    reason = Reason("group" if folds.group is not None else "order")
    columns = [replace(c, role="left out", reason=reason) if c.name == name else c for c in first.schema.columns]
    return Draft(first.schema.with_columns(columns), first.open - {name}, first.reading)


def deal_rows(source: Source, first: Draft, reading: Reading, folds: Folds, seed: int | None = None) -> Deal:
    """The deal that was asked for; a sweep over the column that rows are dealt by, where there is one."""
    seed = folds.seed if seed is None else seed
    if folds.group is not None:
        return _grouped(source, first, reading, folds.group, folds.count, seed)
    if folds.time is not None:
        return _timed(source, first, reading, folds.time, folds.count)
    if folds.leave_one_out:
        return _each(source, first, reading)
    return deal_stratified(folds.count, seed)


def deal_stratified(folds: int, seed: int) -> Deal:
    """At random, every class spread evenly."""
    return Deal(folds, k_fold(folds), lambda schema: Stratified(schema, folds, seed), seed=seed)


# -- by groups ----------------------------------------------------------------------------------------------


def _grouped(source: Source, first: Draft, reading: Reading, name: str, folds: int, seed: int) -> Deal:
    """Groups, the largest first, each to the part where its classes are still most wanted."""
    kind, how = parse_kind("nominal", name, column_form(source.schema.field(name).type))
    column = Column(name, kind, "attribute", how)
    summary = _sums(source, first, reading, column)
    counts = summary.column(name, Counts)
    lone = summary.total.floats() - counts.table.floats().sum(axis=0)
    groups: list[str | None] = [*([None] if lone.any() else []), *sorted(counts.labels.names)]
    if len(groups) < 2:
        what = "have no cell" if groups == [None] else f"have {shown(groups[0])}" if groups else "are without a class"
        raise InputError(
            f"All rows of {source.name} {what} in column {shown(name)}, so they are one group, and none can be "
            "held out. Choose another column for the groups."
        )
    order = [len(counts.labels) if g is None else counts.labels.index[g] for g in groups]
    table = np.vstack([counts.table.floats(), lone])[order][:, np.argsort(summary.classes)]
    parts = min(folds, len(groups))
    notes = []
    if parts < folds:
        notes.append(f"There are only {len(groups)} groups in {shown(name)}, so there are {parts} folds.")
    if lone.any():
        notes.append(f"{int(lone.sum()):,} rows have no cell in {shown(name)}: they stay in one fold.")
    by_name = dict(zip(groups, spread_groups(table, parts, seed).tolist(), strict=True))

    def dealer(schema: Schema) -> Dealer:
        return _ByColumn(schema, column, _PartOfGroup(by_name))

    return Deal(parts, k_fold(parts), dealer, (name,), tuple(notes), together=True)


class _PartOfGroup:
    """The part of each row's group, looked up once for each level of the encoder, which goes on collecting them."""

    def __init__(self, parts: dict[str | None, int]) -> None:
        self._parts, self._known = parts, np.array([parts.get(None, 0)], np.int64)

    def __call__(self, cells: Codes) -> NDArray[np.int64]:
        new = cells.labels.names[len(self._known) - 1 :]
        if new:  # the last place serves the code -1
            some = np.array([self._parts.get(name, 0) for name in new], np.int64)
            self._known = np.concatenate([self._known[:-1], some, self._known[-1:]])
        return self._known[cells.codes]


def spread_groups(table: NDArray[np.float64], parts: int, seed: int) -> NDArray[np.int64]:
    """The part of each group: shares of every class, and of all rows, as even as one group after the other can be."""
    size = table.sum(axis=1)
    lot = np.random.default_rng(seed).random(len(table))
    order = np.lexsort((lot, -size))  # the largest first; the seed decides between equals
    share = np.ascontiguousarray(np.column_stack([table, size]) / np.append(table.sum(axis=0), size.sum()))
    out = np.zeros(len(table), np.int64)
    kernels.spread(share, order.astype(np.int64), np.zeros((parts, share.shape[1])), out)
    return out


# -- by time ------------------------------------------------------------------------------------------------


class _Times:
    """Tallies the times of rows that have a class."""

    def __init__(self, schema: Schema, column: Column) -> None:
        self._encoder, self._name = encoder_of_target(schema, column), column.name
        self.times, self.missing = Numbers(1, cap=1 << 16), 0

    def take(self, batch: ArrowBatch, start: int) -> None:
        encoded = self._encoder.encode(batch, start)
        assert encoded.target is not None
        x = encoded.cells[self._name]
        some = encoded.target.codes >= 0
        self.missing += int((some & ~np.isfinite(x)).sum())
        self.times.update(x, np.where(some & np.isfinite(x), np.int32(0), np.int32(-1)))

    def __add__(self, other: _Times) -> _Times:
        out = copy(self)
        out.times, out.missing = self.times + other.times, self.missing + other.missing
        return out


def _timed(source: Source, first: Draft, reading: Reading, name: str, folds: int) -> Deal:
    """Parts of about as many rows each, one after the other; rows of one time are in one part."""
    found = next(c for c in first.schema.columns if c.name == name)
    if found.reading not in ("number", "date"):
        raise ColumnError(
            f"Column {shown(name)} holds neither numbers nor dates, so rows cannot be taken in its order. "
            "Choose another column for the time."
        )
    column = replace(found, kind=found.reading, role="attribute")
    batches = source.batches([name, _target(first).name])
    whole = sweep_sum(batches, lambda: _Times(first.schema, column), reading.threads)
    values, table = whole.times.tally()
    weight, missing = table.sum(1).floats(), whole.missing
    if len(values) < 2:
        raise InputError(
            f"The rows of {source.name} have {len(values)} different times in column {shown(name)}, so none come "
            "before others. Choose another column for the time."
        )
    wanted = min(folds, len(values) - 1)
    below = np.cumsum(weight)
    aims = below[-1] * np.arange(1, wanted + 1) / (wanted + 1)
    # A part begins with the value at which the rows before it come nearest to its share.
    places = np.unique(np.clip(np.searchsorted((below[:-1] + below[1:]) / 2, aims) + 1, 1, len(values) - 1))
    edges, notes = values[places], []
    if len(edges) < folds:
        notes.append(f"The rows have few different times in {shown(name)}, so there are {len(edges)} folds.")
    if missing:
        many = "1 row has" if missing == 1 else f"{missing:,} rows have"
        notes.append(f"{many} no time in {shown(name)} and cannot be used.")

    def part(cells: Any) -> NDArray[np.int64]:
        return np.where(np.isfinite(cells), np.searchsorted(edges, cells, side="right"), -1)

    def dealer(schema: Schema) -> Dealer:
        return _ByColumn(schema, column, part)

    count = len(edges) + 1
    return Deal(count, expanding_window(count), dealer, (name,), tuple(notes), together=True)


# -- each by itself -----------------------------------------------------------------------------------------


def _each(source: Source, first: Draft, reading: Reading) -> Deal:
    rows = _sums(source, first, reading).rows
    if rows > MOST_EACH:
        raise SettingError(
            f"To leave out each of {rows:,} rows in turn, the learner would have to learn as often; "
            f"that is limited to {MOST_EACH:,} rows (no limit for NaiveBayes with gaussian numbers, without blocks and "
            "prior knowledge). Use --folds instead."
        )
    if rows < 2:
        raise InputError(f"{source.name} has {rows} rows with a class. To leave one out takes two or more.")
    return Deal(rows, k_fold(rows), _Each)


def _target(first: Draft) -> Column:
    assert first.schema.target is not None
    return first.schema.target


def _sums(source: Source, first: Draft, reading: Reading, *columns: Column) -> Summary:
    """The sums of the target and of columns that rows are dealt by; every row weighs one."""
    plan = ObservationPlan.under(first.schema.with_columns([*columns, _target(first)]))
    summary = observe_source(source, plan, reading.threads).summary
    assert summary is not None
    return summary.canonical()
