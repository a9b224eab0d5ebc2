"""Counts of the levels of a nominal column, per group of rows (a group is a class). An exact sum over rows."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Ints
from likely.sums import kernels
from likely.sums.checks import read_names, require
from likely.sums.contracts import State
from likely.sums.exact import Exact
from likely.sums.weights import EVERY_ROW_ONE, Weights
from likely.table.batch import Codes, Crossed
from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Counts:
    """How much each level weighs in each group, and how much is missing. Levels are open: a new one is a new key."""

    __slots__ = ("_places", "_tidy", "labels", "other", "table")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, groups: int = 0) -> None:
        self.labels = Labels()
        self.table = Exact.zeros(0, groups)
        self.other = Exact.zeros(1, groups)
        self._tidy = False
        self._places: tuple[Labels, NDArray[np.int32]] | None = None

    @property
    def groups(self) -> int:
        return self.other.shape[-1]

    def update(self, cells: Codes, group: Ints, weights: Weights = EVERY_ROW_ONE) -> None:
        """Take in one batch: a code and a group (negative: left out) for each row."""
        self._tidy = False
        codes = self._translated(cells.codes, cells.labels)
        self.make_room(self.groups)
        add_counts(codes, group, weights, self.table, self.other)

    def update_crossed(self, crossed: Crossed, labels: Labels, groups: Ints) -> None:
        """Take in one batch of rows of weight one that were counted by class; class i is group groups[i]."""
        self._tidy = False
        codes = self._translated(crossed.codes, labels)
        self.make_room(self.groups)
        rows = int(crossed.times.sum())
        self.table.cover(0, 1, rows)
        self.other.cover(0, 1, rows)
        table, other = self.table.planes[-self.table.base], self.other.planes[-self.other.base]
        kernels.count_crossed(crossed.times, codes, groups, table, other)

    def _translated(self, codes: Ints, theirs: Labels) -> Ints:
        """Codes into other labels as codes into our own."""
        if theirs is self.labels:
            return codes
        if not len(self.labels) and not self.table.planes.any():
            self.labels = theirs  # shared with the encoder from now on: its codes are ours
            return codes
        known = self._places
        if known is None or known[0] is not theirs or len(known[1]) != len(theirs):
            places = np.array([self.labels.code(name) for name in theirs.names], np.int32)
            self._places = known = (theirs, places)
        return np.where(codes < 0, codes, known[1][codes]) if len(theirs) else codes

    def make_room(self, groups: int) -> None:
        """Grow the tables to the levels and groups known by now."""
        levels, _ = self.table.shape
        if len(self.labels) > levels or groups > self.groups:
            self._tidy = False
            wanted = levels if len(self.labels) <= levels else max(len(self.labels), 2 * levels)
            self.table.resize(wanted, groups)
            self.other.resize(1, groups)

    def total(self) -> Exact:
        """What all cells weigh in each group, missing ones included."""
        return self.table.sum(0) + self.other.sum(0)

    def regrouped(self, places: NDArray[np.intp], groups: int) -> Counts:
        """The same counts with group i called places[i]; canonical, as levels that only dropped groups had are none."""
        out = Counts(groups)
        out.labels = self.labels.copy()
        out.table = self.table.scattered(places, 1, groups)
        out.other = self.other.scattered(places, 1, groups)
        return out.canonical()

    def keeping(self, kept: Collection[str], rest: str) -> Counts:
        """The same counts with every level that is not kept by name added to one level, `rest`."""
        self.make_room(self.groups)
        names = [name if name in kept else rest for name in self.labels.names]
        out = Counts(self.groups)
        out.labels = Labels(sorted({*names}))
        places = np.array([out.labels.index[name] for name in names], np.intp)
        out.table = self.table[: len(names)].scattered(places, 0, len(out.labels))
        out.other = self.other.canonical()
        return out.canonical()

    def _over(self, names: list[str]) -> Exact:
        """What is held of these levels, all that are held among them."""
        if names == self.labels.names:
            return self.table
        index = {name: k for k, name in enumerate(names)}
        places = np.array([index[n] for n in self.labels.names], np.intp)
        return self.table.scattered(places, 0, len(names))

    def _combined(self, other: Counts, sign: int) -> Counts:
        a, b = (own if own._is_tidy else own.canonical() for own in (self, other))
        same = a.labels.names == b.labels.names
        names = a.labels.names if same else sorted({*a.labels.names, *b.labels.names})
        mine, theirs = a._over(names), b._over(names)
        out = Counts(self.groups)
        out.labels = Labels(names)
        out.table = mine + theirs if sign > 0 else mine - theirs
        out.other = a.other + b.other if sign > 0 else a.other - b.other
        out._tidy = not out.table.is_zero().all(axis=1).any()
        return out if out._tidy else out.canonical()

    @property
    def _is_tidy(self) -> bool:
        """Canonical, and no new levels met since by an encoder that shares our labels."""
        return self._tidy and len(self.labels) == self.table.shape[0]

    def __add__(self, other: Counts) -> Counts:
        return self._combined(other, +1)

    def __sub__(self, other: Counts) -> Counts:
        return self._combined(other, -1)

    def canonical(self) -> Counts:
        """Levels in order of their names; levels without weight dropped."""
        self.make_room(self.groups)  # an encoder that shares our labels may have met new ones since
        out = Counts(self.groups)
        if self._tidy:
            out.labels, out.table, out.other = self.labels.copy(), self.table.canonical(), self.other.canonical()
            out._tidy = True
            return out
        out._tidy = True
        used = self.table[: len(self.labels)]
        some = {
            n
            for n, empty in zip(self.labels.names, np.atleast_1d(used.is_zero().all(axis=1)), strict=True)
            if not empty
        }
        names = sorted(some)
        order = np.array([self.labels.index[n] for n in names], np.intp)
        out.labels = Labels(names)
        out.table = used[order].canonical()
        out.other = self.other.canonical()
        return out

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        a, b = self.canonical(), other.canonical()
        return a.labels.names == b.labels.names and a.table == b.table and a.other == b.other

    @property
    def impossible(self) -> bool:
        """Whether something weighs less than nothing: rows were taken away that were never there."""
        return bool(self.table.is_negative().any() or self.other.is_negative().any())

    def state(self) -> State:
        own = self.canonical()
        return {"labels": own.labels.names, "table": own.table.state(), "other": own.other.state()}

    @classmethod
    def from_state(cls, state: State) -> Counts:
        out = cls()
        out.labels = Labels(read_names(state["labels"], "levels"))
        out.other = Exact.from_state(state["other"], weights=True)
        require(len(out.other.shape) == 2 and out.other.shape[0] == 1, "missing cells are one row of counts")
        out.table = Exact.from_state(state["table"], (len(out.labels), out.groups), weights=True)
        in_order = all(a < b for a, b in pairwise(out.labels.names))
        out._tidy = in_order and not out.table.is_zero().all(axis=1).any()
        return out


def add_counts(codes: Ints, group: Ints, weights: Weights, table: Exact, other: Exact) -> None:
    """Count coded cells into `table` (and negative codes into `other`), one pass for each digit of the weights."""
    for exact in (table, other):
        exact.cover(weights.base, weights.base + len(weights.chunks), len(codes))
    for k, chunk in enumerate(weights.chunks, weights.base):
        kernels.count(codes, group, chunk, table.planes[k - table.base], other.planes[k - other.base])
