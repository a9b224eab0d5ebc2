"""Counts of pairs of levels, and of whole rows of levels, for each class. Exact."""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import SchemaMismatch, SettingError, shown
from likely.machinery.arrays import Ints
from likely.sums import kernels
from likely.sums.columns.counts import Counts
from likely.sums.contracts import EVERY_ROW_ONE, State, TableSums, Weights
from likely.sums.exact import Exact
from likely.sums.state import is_rising, read_array, read_mapping, read_names, read_text, require
from likely.sums.tallies import balanced_edges
from likely.table.batch import Batch, Codes
from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.sums.columns.numbers import Numbers


# Counts of pairs: for each class, how often a level of one attribute meets a level of another. Exact.

BINS = 24
"""Fine bins of a number: of about equal weight, whatever the class."""
MOST_PAIRED_LEVELS = 3000
"""More levels and bins than this and their pairs would fill memory."""
MOST_COUNTS = 25_000_000
"""As many counts, over all classes, make 200 MB."""

Cell = tuple[str, str]
"""(attribute, level); the level of a number is the index of its bin."""


def _fine_edges(numbers: Numbers) -> tuple[float, ...]:
    values, table = numbers.tally()
    return tuple(balanced_edges(values, table.sum(1).floats(), BINS).tolist())


class Pairs:
    """`table[i, j, group]` counts rows that have both cells, where the attribute of i comes before that of j.

    The diagonal table[i, i] counts the cells themselves; all other places are empty. Cells stand in the order of the
    attributes, then of their levels by name or of their bins.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, names: list[str], cells: list[Cell], edges: dict[str, tuple[float, ...]], groups: int) -> None:
        self.names = names
        """All attributes in order, those without any level included: merging must not change the order."""
        self.cells = cells
        self.edges = edges
        self.table = Exact.zeros(len(cells), len(cells), groups)

    @classmethod
    def over(cls, table: TableSums, like: Pairs | None = None) -> Pairs:
        """An empty one for the table that a summary is of; with the bins of another, so that the two can be added."""
        table, cells = table.without_text(), list[Cell]()
        edges: dict[str, tuple[float, ...]] = {}
        for column in table.schema.attributes:
            statistic = table.columns[column.name]
            if column.kind == "nominal":
                cells += [(column.name, name) for name in sorted(statistic.labels.names)]
            else:
                if like is not None:
                    cut = like.edges[column.name]
                else:
                    cut = statistic.cached(("bins", BINS), _fine_edges)
                edges[column.name] = cut
                cells += [(column.name, str(k)) for k in range(len(cut) + 1)]
        if len(cells) > MOST_PAIRED_LEVELS:
            raise SettingError(
                f"Pairs of {len(cells):,} levels would be too many to count "
                f"(at most {MOST_PAIRED_LEVELS:,} levels and bins). "
                "Leave columns with many levels out (--type COLUMN=ignore), or use naive Bayes."
            )
        groups = len(table.classes)
        if len(cells) ** 2 * groups > MOST_COUNTS:
            raise SettingError(
                f"Pairs of {len(cells):,} levels in {groups:,} classes would be too many to count "
                f"(at most {MOST_COUNTS:,} counts). Leave columns with many levels out (--type COLUMN=ignore), "
                "or use naive Bayes."
            )
        return cls([c.name for c in table.schema.attributes], cells, edges, groups)

    @property
    def groups(self) -> int:
        return self.table.shape[-1]

    def codes(self, batch: Batch) -> NDArray[np.int32]:
        """For each row and attribute the index of its cell; -1 where it is missing or unseen. (rows, attributes)"""
        index: dict[str, dict[str, int]] = {name: {} for name in self.names}
        for k, (name, level) in enumerate(self.cells):
            index[name][level] = k
        out = np.full((batch.rows, len(self.names)), -1, np.int32)
        for k, name in enumerate(self.names):
            cells = batch.cells[name]
            if isinstance(cells, Codes):
                places = [index[name].get(n, -1) for n in cells.labels.names]
                out[:, k] = np.array([*places, -1, -1], np.int32)[cells.codes]
            else:
                bins = np.searchsorted(np.array(self.edges[name]), cells, side="right")
                out[:, k] = np.where(np.isfinite(cells), index[name]["0"] + bins, -1)
        return out

    def update(self, batch: Batch, group: Ints, weights: Weights = EVERY_ROW_ONE) -> None:
        """Take in a batch; `group` says the class of each row (negative: left out)."""
        codes = self.codes(batch)
        self.table.cover(weights.base, weights.base + len(weights.chunks), batch.rows)
        for k, chunk in enumerate(weights.chunks, weights.base):
            kernels.count_pairs(codes, group, chunk, self.table.planes[k - self.table.base])

    # -- merging --------------------------------------------------------------------------------------------

    def _over(self, cells: list[Cell]) -> Exact:
        if cells == self.cells:
            return self.table.canonical()
        index = {c: k for k, c in enumerate(cells)}
        places = np.array([index.get(c, -1) for c in self.cells], np.intp)
        return self.table.scattered(places, 0, len(cells)).scattered(places, 1, len(cells))

    def _combined(self, other: Pairs, sign: int) -> Pairs:
        for name in self.edges:
            if self.edges[name] != other.edges.get(name):
                raise SchemaMismatch(
                    f"The two cut the numbers of {shown(name)} at other places, so their pairs cannot be added. "
                    "Learn from all rows at once, or with a learner that needs no pairs."
                )
        cells = self._sorted({*self.cells, *other.cells})
        out = Pairs(self.names, [], self.edges, 0)
        out.cells = cells
        mine, theirs = self._over(cells), other._over(cells)
        out.table = mine + theirs if sign > 0 else mine - theirs
        return out.canonical()

    def _sorted(self, cells: Iterable[Cell]) -> list[Cell]:
        order = {n: k for k, n in enumerate(self.names)}
        return sorted(cells, key=lambda c: (order[c[0]], int(c[1]) if c[0] in self.edges else 0, c[1]))

    def __add__(self, other: Pairs) -> Pairs:
        return self._combined(other, +1)

    def __sub__(self, other: Pairs) -> Pairs:
        return self._combined(other, -1)

    def canonical(self) -> Pairs:
        """Cells in order; levels that no row has dropped; bins stay."""
        here = np.arange(len(self.cells))
        none = self.table[here, here].is_zero()
        empty = [not self.groups or bool(own.all()) for own in none]
        kept = self._sorted(c for c, none in zip(self.cells, empty, strict=True) if c[0] in self.edges or not none)
        out = Pairs(self.names, [], self.edges, 0)
        out.cells = kept
        out.table = self._over(kept)
        return out

    def regrouped(self, places: NDArray[np.intp], groups: int) -> Pairs:
        """The same counts with group i called places[i]; canonical, as levels that only dropped groups had are none."""
        out = Pairs(self.names, [], self.edges, 0)
        out.cells = self.cells
        out.table = self.table.scattered(places, 2, groups)
        return out.canonical()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pairs):
            return NotImplemented
        a, b = self.canonical(), other.canonical()
        return (a.names, a.cells, a.edges) == (b.names, b.cells, b.edges) and a.table == b.table

    @property
    def impossible(self) -> bool:
        """Whether something weighs less than nothing: rows were taken away that were never there."""
        return bool(self.table.is_negative().any())

    def state(self) -> State:
        own = self.canonical()
        return {
            "names": own.names,
            "cells": [list(c) for c in own.cells],
            "edges": {name: np.array(e, np.float64) for name, e in own.edges.items()},
            "table": own.table.state(),
        }

    @classmethod
    def from_state(cls, state: State) -> Pairs:
        edges: dict[str, tuple[float, ...]] = {}
        for name, kept in read_mapping(state["edges"], "edges").items():
            cut = read_array(kept, "f", 1, "edges")
            require(np.isfinite(cut).all() and is_rising(cut), "edges rise")
            edges[name] = tuple(cut.tolist())
        out = cls(read_names(state["names"], "the columns of pairs"), [], edges, 0)
        out.cells = [(read_text(a, "a column"), read_text(b, "a level")) for a, b in state["cells"]]
        require(len({*out.cells}) == len(out.cells), "cells differ from each other")
        out.table = Exact.from_state(state["table"], weights=True)
        require(len(out.table.shape) == 3, "pairs are counted for each class")
        require(out.table.shape[:2] == (len(out.cells), len(out.cells)), "pairs are those of the cells")
        return out

    def check_agrees(self, table: TableSums, total: Exact) -> None:
        """Refuse, as unsound, what cannot be of the table that a summary is of."""
        numeric = {c.name for c in table.without_text().schema.attributes if c.kind != "nominal"}
        require(self.edges.keys() == numeric, "numbers are cut into bins, and nothing else is")
        expected = Pairs.over(table, like=self)
        require(self.names == expected.names and self.cells == expected.cells, "pairs are of the columns and levels")
        require(self.groups == total.shape[0], "pairs are counted for each class")
        here = np.arange(len(self.cells))
        own = self.table[here, here].canonical()
        for name in self.names:
            of_column = own[[k for k, cell in enumerate(self.cells) if cell[0] == name]].sum(0)
            require(of_column == table.columns[name].table.sum(0), "the cells of a column weigh what its values weigh")


# Counts of whole rows of levels: the joint table of the nominal attributes, cell by cell, for each class. Exact.

MOST_CELLS = 1_000_000
"""More different rows than this and the table is no summary any more."""
FEW = 1 << 18
"""So many cells are looked up in an array of all of them."""
LONG = 1 << 62
"""A row of codes is one number below this, where it can be."""


class Cells:
    """A joint table: each cell is a row of levels (None: missing), counted per class. Empty cells are not kept."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, names: list[str], groups: int) -> None:
        self.names = names
        self.counts = Counts(groups)

    @classmethod
    def over(cls, table: TableSums) -> Cells:
        return cls([c.name for c in table.schema.attributes if c.kind == "nominal"], len(table.classes))

    @property
    def groups(self) -> int:
        return self.counts.groups

    def update(self, batch: Batch, group: Ints, weights: Weights = EVERY_ROW_ONE) -> None:
        """Take in a batch; `group` says the class of each row (negative: left out)."""
        columns = [batch.cells[name] for name in self.names]
        found, places = distinct_rows(columns, batch.rows)
        names = [[None, *c.labels.names] for c in columns]
        keys = [key([n[k] for n, k in zip(names, row, strict=True)]) for row in found.tolist()]
        self.counts.update(Codes(places, Labels(keys)), group, weights)
        if len(self.counts.labels) > MOST_CELLS:
            raise SettingError(
                f"The joint table has more than {MOST_CELLS:,} different rows of levels. Leave columns out "
                f"(such as {shown(self.names[0])}), or use naive Bayes, TreeAugmented or OneDependence."
            )

    def rows(self) -> list[list[str | None]]:
        """The levels of each cell, in the order of `counts`."""
        return [json.loads(name) for name in self.counts.canonical().labels.names]

    def __add__(self, other: Cells) -> Cells:
        return self._with(self.counts + other.counts)

    def __sub__(self, other: Cells) -> Cells:
        return self._with(self.counts - other.counts)

    def _with(self, counts: Counts) -> Cells:
        out = Cells(self.names, 0)
        out.counts = counts
        return out

    def canonical(self) -> Cells:
        return self._with(self.counts.canonical())

    def regrouped(self, places: NDArray[np.intp], groups: int) -> Cells:
        return self._with(self.counts.regrouped(places, groups))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cells) and self.names == other.names and self.counts == other.counts

    @property
    def impossible(self) -> bool:
        return self.counts.impossible

    def state(self) -> State:
        return {"names": self.names, "counts": self.counts.state()}

    @classmethod
    def from_state(cls, state: State) -> Cells:
        out = cls(read_names(state["names"], "the columns of a joint table"), 0)
        out.counts = Counts.from_state(state["counts"])
        for row in map(json.loads, out.counts.labels.names):
            require(isinstance(row, list) and len(row) == len(out.names), "a cell has a level of each column")
            require(all(level is None or isinstance(level, str) for level in row), "levels are texts")
        return out

    def check_agrees(self, table: TableSums, total: Exact) -> None:
        """Refuse, as unsound, what cannot be of the table that a summary is of."""
        require(self.names == Cells.over(table).names, "a joint table is of the nominal columns")
        require(self.counts.total() == total, "a joint table weighs what its classes weigh")
        known = [{None, *table.columns[name].labels.names} for name in self.names]
        for row in self.rows():
            require(
                all(level in some for level, some in zip(row, known, strict=True)), "levels are those of the columns"
            )


def key(levels: list[str | None]) -> str:
    """The one spelling of a row of levels."""
    return json.dumps(levels, ensure_ascii=False, separators=(",", ":"))


def distinct_rows(columns: list[Codes], rows: int) -> tuple[NDArray[np.int64], Ints]:
    """The different rows of codes, each one more than in the batch (0: missing), and which of them each row is.

    An unseen level is missing, under the same code: two keys of one name would lose counts.
    """
    sizes = [len(c.labels) + 1 for c in columns]
    if prod(sizes) > LONG:  # as a number, a row of codes would be beyond 64 bits
        matrix = np.column_stack([np.maximum(c.codes, -1) + 1 for c in columns])
        found, place = np.unique(matrix, axis=0, return_inverse=True)
        return found.astype(np.int64), place.reshape(-1).astype(np.int32)
    number = np.zeros(rows, np.int64)
    for c, size in zip(columns, sizes, strict=True):
        number *= size
        number += np.maximum(c.codes, -1) + 1
    if prod(sizes) <= FEW:  # sorting takes several times as long as looking up
        seen = np.zeros(prod(sizes), np.bool_)
        seen[number] = True
        values = np.flatnonzero(seen)
        places = (np.cumsum(seen, dtype=np.int32) - np.int32(1))[number]
    else:
        values, place = np.unique(number, return_inverse=True)
        places = place.reshape(-1).astype(np.int32)
    codes = np.empty((len(values), len(columns)), np.int64)
    for k in range(len(columns) - 1, -1, -1):
        values, codes[:, k] = np.divmod(values, sizes[k])
    return codes, places
