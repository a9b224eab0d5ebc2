"""The summary: everything likely remembers of a table, one statistic per column, each per class. It is what is saved.

Knows data, never settings. Adding, subtracting and comparing are exact.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import add, sub
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from likely.errors import ColumnError, NotLearned, SchemaMismatch, shown
from likely.machinery.arrays import Ints
from likely.machinery.presented import Presented
from likely.sums import state
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import (
    ColumnStatistic,
    Numbers,
    has_kept_names,
    keep_names,
    levels_of,
    update_numbers,
)
from likely.sums.contracts import RowStatistic, State, TableSums, parse_request, weights
from likely.sums.exact import Exact
from likely.sums.rows.pairs import Cells, Pairs
from likely.sums.rows.products import Products
from likely.sums.rows.rows import Rows
from likely.sums.state import is_rising, read_mapping, read_names, read_texts, read_whole, require
from likely.sums.words.counting import Words
from likely.table.batch import Batch, Codes
from likely.table.infer import has_known_words
from likely.table.labels import Labels, bin_labels, sorted_labels
from likely.table.output.files import Revision
from likely.table.schema import Column, Reason, Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

C = TypeVar("C", Counts, Numbers, Words)

MORE: dict[str, type[RowStatistic]] = {"products": Products, "pairs": Pairs, "cells": Cells, "rows": Rows}
"""Statistics beyond the first order, by name; each begins with `over(summary)`. A summary keeps them by request: of all
columns, or of some (`cells["outlook","windy"]`), which a wide table can afford where it cannot afford all."""

MOST_ROWS = 1 << 62
ATTRIBUTES = ("nominal", "number", "date", "text")


@runtime_checkable
class ChecksTable(Protocol):
    """A statistic that knows what must be true of it, given the first-order sums of the table it is of."""

    def check_agrees(self, table: TableSums, total: Exact) -> None: ...


def statistic_for(column: Column) -> ColumnStatistic:
    """The empty statistic that a column of this kind is summed into."""
    if column.kind == "text":
        return Words(0, column.tokens, column.kept)
    return Counts() if column.kind == "nominal" else Numbers()


class Summary(Presented):
    """Sums over rows. `a + b` merges, `a - b` unlearns, `==` compares; all to the last bit.

    `classes` are the values of the target, in schema order once canonical; `total` is what each weighs.

    >>> import likely
    >>> one = likely.summarize({"sky": ["sun", "rain"], "play": ["yes", "no"]}, "play", types={"sky": "nominal"})
    >>> two = likely.summarize({"sky": ["sun", "fog"], "play": ["yes", "yes"]}, schema=one.schema)
    >>> (one + two).rows, (one + two) - two == one
    (4, True)
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, schema: Schema, columns: dict[str, ColumnStatistic] | None = None) -> None:
        self.schema = schema
        self.labels = Labels()
        self.total = Exact.zeros(0)
        self.rows = 0
        """Rows that count: they have a class and a weight above zero."""
        self.left_out = 0
        """Rows without a class, or of weight zero."""
        self.columns = {c.name: statistic_for(c) for c in schema.attributes} if columns is None else columns
        self.more: dict[str, RowStatistic] = {}
        """Statistics beyond the first order, where a learner wanted them: products, pairs, cells, rows."""
        self._places: tuple[Labels, NDArray[np.int32]] | None = None

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(self.labels.names)

    def __getitem__(self, name: str) -> ColumnStatistic:
        if name not in self.columns:
            role = self.schema[name].role  # an unknown name is refused there, with the nearest one
            raise ColumnError(f"Column {shown(name)} is {role}, so nothing is kept of it but its place in the schema.")
        return self.columns[name]

    def column(self, name: str, kind: type[C]) -> C:
        """The statistic of a column that is known to be of this kind."""
        held = self[name]
        assert isinstance(held, kind)
        return held

    def __repr__(self) -> str:
        target = self.schema.target
        of = f" of {shown(target.name)}" if target else ""
        return f"<Summary: {self.rows} rows, {len(self.labels)} classes{of}, {len(self.columns)} attributes>"

    # -- taking in ------------------------------------------------------------------------------------------

    def update(self, batch: Batch) -> None:
        """Take in the rows of a batch."""
        group = self._groups(batch)
        if batch.weight is not None:
            group = np.where(batch.weight > 0, group, np.int32(-1))
        share = weights(batch.weight)
        groups = len(self.labels)
        counted = int(np.count_nonzero(group >= 0))
        self.rows += counted
        self.left_out += batch.rows - counted
        self.total.resize(max(groups, self.total.shape[0]))
        rows = Counts(1)
        rows.update(Codes(group, self.labels), np.where(group < 0, group, np.int32(0)), share)
        self.total = self.total + rows.table[:groups].sum(1)
        for name, statistic in self.columns.items():
            statistic.make_room(groups)
            cells = batch.cells[name]
            if isinstance(statistic, Counts) and _is_counted(cells, batch) and self._places is not None:
                statistic.update_crossed(cells.crossed, cells.labels, self._places[1])
            elif not isinstance(statistic, Numbers):
                statistic.update(cells, group, share)
        numbers = {name: own for name, own in self.columns.items() if isinstance(own, Numbers)}
        update_numbers([*numbers.values()], [batch.cells[name] for name in numbers], group, share)

    def update_more(self, batch: Batch, more: Mapping[str, RowStatistic]) -> None:
        """Take the rows of a batch into statistics beyond the first order, under the classes known by now."""
        group = self._groups(batch)
        if batch.weight is not None:
            group = np.where(batch.weight > 0, group, np.int32(-1))
        share = weights(batch.weight)
        for wish, statistic in more.items():
            columns = parse_request(wish, MORE)[1]
            some = batch if columns is None else batch.only(columns)
            statistic.update(some, group, share)

    def empty_statistic(self, wish: str) -> RowStatistic:
        """An empty statistic beyond the first order: of these classes and columns, as the request says."""
        name, columns = parse_request(wish, MORE)
        return MORE[name].over(self.settled() if columns is None else self.over_columns(columns))

    def over_columns(self, columns: Sequence[str]) -> Summary:
        """The same sums of these attributes alone."""
        for column in columns:
            self[column]  # nothing is kept of what is no attribute
        return self.with_schema(self.schema.with_columns(c for c in self.schema.columns if c.name in columns))

    def _groups(self, batch: Batch) -> Ints:
        cells = batch.target
        if cells is None:
            self.labels.code("")
            return np.zeros(batch.rows, np.int32)
        known = self._places
        if known is None or known[0] is not cells.labels or len(known[1]) != len(cells.labels):
            for name in self._order(n for n in cells.labels.names if n not in self.labels.index):
                self.labels.code(name)  # in their final order where possible: then nothing need be moved at the end
            places = np.array([self.labels.code(name) for name in cells.labels.names], np.int32)
            self._places = known = (cells.labels, places)
        return np.where(cells.codes < 0, np.int32(-1), known[1][cells.codes]) if len(known[1]) else cells.codes

    # -- merging --------------------------------------------------------------------------------------------

    def _order(self, names: Iterable[str]) -> list[str]:
        target = self.schema.target
        if target is not None and target.edges:
            order = {name: k for k, name in enumerate(bin_labels(target.edges))}
            return sorted(names, key=lambda n: (order.get(n, len(order)), n))
        return sorted_labels(list(names), numeric=target is not None and target.reading == "number")

    def _over(self, names: list[str]) -> Summary:
        """The same sums with these classes, in this order."""
        if names == self.labels.names and self.total.shape[0] == len(names):
            return self._copy()
        index = {name: k for k, name in enumerate(names)}
        return self.regrouped([index.get(n, -1) for n in self.labels.names], names)

    def regrouped(self, places: Sequence[int], names: list[str]) -> Summary:
        """The same sums with class i taken into class names[places[i]], or left out where that is negative.

        `rows` and `left_out` stay those of the whole.
        """
        into = np.array(places, np.intp)
        out = Summary(self.schema, {})
        out.labels = Labels(names)
        out.total = self.total.scattered(into, 0, len(names))
        out.rows, out.left_out = self.rows, self.left_out
        for name, statistic in self.columns.items():
            statistic.make_room(len(self.labels))
            out.columns[name] = statistic.regrouped(into, len(names))
        out.more = {name: statistic.regrouped(into, len(names)) for name, statistic in self.more.items()}
        return out

    def _copy(self) -> Summary:
        out = Summary(self.schema, {})
        out.labels = self.labels.copy()
        out.total, out.rows, out.left_out = self.total.canonical(), self.rows, self.left_out
        for name, statistic in self.columns.items():
            statistic.make_room(len(self.labels))
            out.columns[name] = statistic.canonical()
        out.more = {name: statistic.canonical() for name, statistic in self.more.items()}
        return out

    @property
    def has_gaps(self) -> bool:
        """Whether a cell of an attribute that is no text is missing."""
        each = (self.columns[column.name] for column in self.schema.attributes)
        return any(isinstance(own, (Counts, Numbers)) and not own.other.is_zero().all() for own in each)

    def canonical(self) -> Summary:
        """Classes in schema order; classes without weight dropped. What two equal summaries have in common."""
        zero = self.total.is_zero()
        return self._over(self._order(n for n, empty in zip(self.labels.names, zero, strict=True) if not empty))

    def with_classes(self, names: Iterable[str]) -> Summary:
        """The same sums with these classes among its own, though no row has them. (`canonical` drops them again.)"""
        return self._over(self._order({*self.labels.names, *names}))

    def __add__(self, other: Summary) -> Summary:
        if not isinstance(other, Summary):
            return NotImplemented
        out = self._combined(other, add)
        return out.canonical() if out.total.is_zero().any() else out

    def _combined(self, other: Summary, plus: Callable[[Any, Any], Any]) -> Summary:
        """Sum by sum, `add` or `sub`."""
        self.schema.check_agrees(other.schema)
        both = self._both(other)
        names = self._order({*self.labels.names, *other.labels.names})
        one, two = self._with_groups(names), other._with_groups(names)
        out = Summary(self.schema)
        out.labels = Labels(names)
        for name in ("total", "rows", "left_out"):
            setattr(out, name, plus(getattr(one, name), getattr(two, name)))
        out.columns = {name: plus(held, two.columns[name]) for name, held in one.columns.items()}
        out.more = {name: plus(one.more[name], two.more[name]) for name in both}
        return out

    def _with_groups(self, names: list[str]) -> Summary:
        """`_over`, but ourselves where we are so already: for those who only read."""
        if names != self.labels.names or self.total.shape[0] != len(names):
            return self._over(names)
        for statistic in self.columns.values():
            statistic.make_room(len(names))
        return self

    def _both(self, other: Summary) -> list[str]:
        """The statistics beyond the first order, which both must have."""
        only = {*self.more} ^ {*other.more}
        if only:
            raise SchemaMismatch(
                f"Only one of the two keeps {', '.join(map(_in_words, sorted(only)))} of its rows. "
                "Learn both with the same learner."
            )
        return list(self.more)

    def __sub__(self, other: Summary) -> Summary:
        if not isinstance(other, Summary):
            return NotImplemented
        out = self._combined(other, sub)
        never = "was never learned, so it cannot be unlearned: check that these rows went into this model"
        short = np.flatnonzero(out.total.is_negative())
        if len(short):
            raise NotLearned(f"Something of class {shown(out.labels.names[short[0]])} {never}.")
        if out.rows < 0 or out.left_out < 0:
            raise NotLearned(f"Some of it {never}.")
        for name, held in out.columns.items():
            if held.impossible:
                raise NotLearned(f"Something in column {shown(name)} {never}.")
        if any(held.impossible for held in out.more.values()):
            raise NotLearned(f"Some combination of cells {never}.")
        return out.canonical()

    def __eq__(self, other: object) -> bool:
        """Equal in every sum. `rows` and `left_out` are not compared: two rows equal one row of weight two."""
        if not isinstance(other, Summary):
            return NotImplemented
        a, b = self.canonical(), other.canonical()
        same = a.schema == b.schema and a.classes == b.classes and a.total == b.total and a.columns == b.columns
        return same and a.more == b.more

    def without(self, names: Iterable[str]) -> Summary:
        """The same sums without these statistics beyond the first order."""
        out = self._copy()
        for name in names:
            out.more.pop(name, None)
        return out

    def without_text(self) -> Summary:
        """The same sums without text columns, for those who learn nothing from words."""
        if not any(isinstance(s, Words) for s in self.columns.values()):
            return self
        out = self._copy()
        out.columns = {name: s for name, s in out.columns.items() if not isinstance(s, Words)}
        kept = (replace(c, role="left out") if c.kind == "text" else c for c in self.schema.columns)
        out.schema = self.schema.with_columns(kept)
        return out

    def settled(self, keep: bool = False) -> Summary:
        """The same sums without parts of dates that are only tried, or with these kept."""
        columns = self.schema.columns
        if not any(c.is_tried for c in columns):
            return self
        reason = Reason("part of a date")
        kept = (replace(c, reason=reason) if c.is_tried else c for c in columns if keep or not c.is_tried)
        out = self.with_schema(self.schema.with_columns(kept))
        out.more = self.more
        return out

    def with_schema(self, schema: Schema) -> Summary:
        """The same sums under a schema that reads some numbers as nominal, leaves some columns out, or keeps only some
        levels and words by name."""
        out = Summary(schema, {})
        out.labels, out.total, out.rows, out.left_out = self.labels, self.total, self.rows, self.left_out
        for column in schema.attributes:
            statistic = self.columns[column.name]
            if column.kind == "nominal" and isinstance(statistic, Numbers):
                statistic = levels_of(statistic)
            if column.kept is not None:
                statistic = keep_names(statistic, column.kept)
            out.columns[column.name] = statistic
        return out

    # -- the file -------------------------------------------------------------------------------------------

    def state(self) -> State:
        own = self.canonical()
        return {
            "schema": state.plain(own._lasting_schema()),
            "classes": list(own.classes),
            "total": own.total.state(),
            "rows": own.rows,
            "left_out": own.left_out,
            "columns": [own.columns[c.name].state() for c in own.schema.attributes],
            "more": {name: statistic.state() for name, statistic in own.more.items()},
        }

    def _lasting_schema(self) -> Schema:
        """The schema with reasons that hold for any file of these rows: a CSV file and a Parquet file of the same table
        make the same model, so its file must not say which of them it was."""
        out = []
        for column in self.schema.columns:
            statistic, reason = self.columns.get(column.name), column.reason
            levels = len(self.classes) if column.role == "target" else len(getattr(statistic, "labels", ()))
            if reason.why in ("stored numbers", "numbers"):
                reason = replace(reason, why="numbers", count=0)
            elif reason.why in ("stored dates", "dates"):
                reason = replace(reason, why="dates", count=0)
            elif reason.why in ("booleans", "levels"):
                reason = replace(reason, why="levels", count=levels)
            out.append(replace(column, reason=reason))
        return self.schema.with_columns(out)

    @classmethod
    def from_state(cls, tree: State) -> Summary:
        schema = state.built(Schema, tree["schema"])
        _check_schema(schema)
        out = cls(schema)
        out.labels = Labels(read_names(tree["classes"], "classes"))
        groups = len(out.labels)
        out.total = Exact.from_state(tree["total"], (groups,), weights=True)
        out.rows, out.left_out = (read_whole(tree[name], 0, MOST_ROWS, name) for name in ("rows", "left_out"))
        for column, kept in zip(out.schema.attributes, tree["columns"], strict=True):
            held = out.columns[column.name] = type(out.columns[column.name]).from_state(kept)
            require(held.groups == groups, "every column is summed for each class")
            require(held.total() == out.total, "every column weighs what its classes weigh")
            require(not isinstance(held, Words) or held.tokens == column.tokens, "words are read as the schema says")
            if column.kept is not None:
                require(has_kept_names(held, column.kept), "names are those that the schema keeps")
        for wish, kept in read_mapping(tree["more"], "what is kept beyond the first order").items():
            name, columns = parse_request(wish, MORE)
            more = out.more[wish] = MORE[name].from_state(kept)
            require(more.groups == groups, "every statistic is summed for each class")
            if isinstance(more, ChecksTable):
                more.check_agrees(out if columns is None else out.over_columns(columns), out.total)
        return out

    def save(self, path: str | os.PathLike[str], since: Revision | None = None) -> None:
        """Write the summary to a file, atomically; not where it has changed `since` it was read."""
        state.write(path, state.dump({"summary": self.state()}), since)


def _is_counted(cells: Codes, batch: Batch) -> bool:
    """Whether cells were counted with the classes that rows still have, and each row counts once."""
    return cells.crossed is not None and cells.crossed.target is batch.target and batch.weight is None


def _check_schema(schema: Schema) -> None:
    """Refuse, as unsound, a schema that no table can have."""
    read_names(schema.names, "columns")
    for role in ("target", "weight"):
        require(sum(c.role == role for c in schema.columns) <= 1, f"there is one {role}")
    for column in schema.columns:
        attribute, text = column.role == "attribute", column.kind == "text"
        require(not attribute or column.kind in ATTRIBUTES, "attributes are levels, numbers, dates or texts")
        require(not text or not attribute or column.tokens is not None, "a text says what counts as a word")
        require(has_known_words(column), "units and parts of dates are known")
        require(np.isfinite(column.edges).all() and is_rising(column.edges), "edges rise")
        read_names(column.levels, "declared levels")
        read_names(column.kept or (), "names that are kept")
    read_texts(schema.missing, "cells that mean missing")


def _in_words(wish: str) -> str:
    """A request in words."""
    name, columns = parse_request(wish, MORE)
    return name if columns is None else f"{name} of {' & '.join(shown(c, 30) for c in columns)}"
