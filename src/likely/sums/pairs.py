"""Counts of pairs: for each class, how often a level of one attribute meets a level of another. Exact.

Numbers take part in fine bins that do not look at the class; a learner joins bins as it sees fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import SchemaMismatch, SettingError, shown
from likely.sums import kernels
from likely.sums.exact import Exact
from likely.sums.weights import EVERY_ROW_ONE, Weights
from likely.table.batch import Batch, Codes, Ints

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.sums.summary import Summary

BINS = 24
"""Fine bins of a number: of about equal weight, whatever the class."""
MOST = 3000
"""More levels and bins than this and their pairs would fill memory."""

Cell = tuple[str, str]
"""(attribute, level); the level of a number is the index of its bin."""


def quantile_edges(values: NDArray[np.float64], weight: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    """Inner edges of at most `bins` bins of about equal weight: bin i holds edges[i-1] <= x < edges[i]."""
    if len(values) <= bins:
        return values[1:]
    below = np.cumsum(weight)
    wanted = below[-1] * np.arange(1, bins) / bins
    places = np.searchsorted(below, wanted, side="left") + 1
    return np.unique(values[places[places < len(values)]])


class Pairs:
    """`table[i, j, group]` (i < j in the order of attributes) counts rows that have both cells i and j.

    The diagonal table[i, i] counts the cells themselves.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, cells: list[Cell], edges: dict[str, tuple[float, ...]], groups: int) -> None:
        self.cells = cells
        self.edges = edges
        self.table = Exact.zeros(len(cells), len(cells), groups)

    @classmethod
    def over(cls, summary: Summary) -> Pairs:
        cells: list[Cell] = []
        edges: dict[str, tuple[float, ...]] = {}
        for column in summary.schema.attributes:
            statistic = summary.columns[column.name]
            if column.kind == "nominal":
                cells += [(column.name, name) for name in statistic.labels.names]  # type: ignore[union-attr]
            else:
                values, table = statistic.tally()  # type: ignore[union-attr]
                cut = quantile_edges(values, table.sum(1).floats(), BINS)
                edges[column.name] = tuple(cut.tolist())
                cells += [(column.name, str(k)) for k in range(len(cut) + 1)]
        if len(cells) > MOST:
            raise SettingError(
                f"Pairs of {len(cells):,} levels would be too many to count (at most {MOST:,} levels and bins). "
                "Leave columns with many levels out (--type COLUMN=ignore), or use naive Bayes."
            )
        return cls(cells, edges, len(summary.classes))

    @property
    def groups(self) -> int:
        return self.table.shape[-1]

    @property
    def names(self) -> list[str]:
        """The attributes, in order."""
        return list(dict.fromkeys(name for name, _ in self.cells))

    def codes(self, batch: Batch) -> NDArray[np.int32]:
        """For each row and attribute the index of its cell; -1 where it is missing or unseen. (rows, attributes)"""
        index: dict[str, dict[str, int]] = {}
        for k, (name, level) in enumerate(self.cells):
            index.setdefault(name, {})[level] = k
        names = self.names
        out = np.full((batch.rows, len(names)), -1, np.int32)
        for k, name in enumerate(names):
            cells = batch.cells[name]
            if isinstance(cells, Codes):
                places = [index[name].get(n, -1) for n in cells.labels.names]
                out[:, k] = np.array([*places, -1, -1], np.int32)[cells.codes]
            else:
                bins = np.searchsorted(np.array(self.edges[name]), cells, side="right")
                first = index[name].get("0", 0)
                out[:, k] = np.where(np.isfinite(cells), first + bins, -1)
        return out

    def update(self, batch: Batch, group: Ints, weights: Weights = EVERY_ROW_ONE) -> None:
        """Take in a batch; `group` says the class of each row (negative: left out)."""
        codes = self.codes(batch)
        self.table.cover(weights.base, weights.base + len(weights.chunks), batch.rows)
        for k, chunk in enumerate(weights.chunks, weights.base):
            kernels.count_pairs(codes, group, chunk, self.table.planes[k - self.table.base])

    # -- merging --------------------------------------------------------------------------------------------

    def _over(self, cells: list[Cell]) -> Exact:
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
        order = {n: k for k, n in enumerate(self.names)}
        both = {*self.cells, *other.cells}
        out = Pairs([], self.edges, self.groups)
        out.cells = sorted(both, key=lambda c: (order.get(c[0], len(order)), *_level_order(c, self.edges)))
        mine, theirs = self._over(out.cells), other._over(out.cells)
        out.table = mine + theirs if sign > 0 else mine - theirs
        return out.canonical()

    def __add__(self, other: Pairs) -> Pairs:
        return self._combined(other, +1)

    def __sub__(self, other: Pairs) -> Pairs:
        return self._combined(other, -1)

    def canonical(self) -> Pairs:
        """Levels that no row has dropped; bins stay."""
        empty = np.diagonal(self.table.is_zero().all(axis=2)) if self.groups else np.ones(len(self.cells), np.bool_)
        kept = [c for c, none in zip(self.cells, empty, strict=True) if c[0] in self.edges or not none]
        out = Pairs(kept, self.edges, self.groups)
        out.table = self._over(kept)
        return out

    def regrouped(self, places: NDArray[np.intp], groups: int) -> Pairs:
        out = Pairs([], self.edges, 0)
        out.cells = self.cells
        out.table = self.table.scattered(places, 2, groups)
        return out

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pairs):
            return NotImplemented
        a, b = self.canonical(), other.canonical()
        return a.cells == b.cells and a.edges == b.edges and a.table == b.table

    @property
    def impossible(self) -> bool:
        return bool(self.table.is_negative().any())

    def state(self) -> dict[str, Any]:
        own = self.canonical()
        edges = {name: np.array(e) for name, e in own.edges.items()}
        return {"cells": [list(c) for c in own.cells], "edges": edges, "table": own.table.state()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Pairs:
        edges = {str(n): tuple(float(v) for v in e) for n, e in state["edges"].items()}
        out = cls([], edges, 0)
        out.cells = [(str(a), str(b)) for a, b in state["cells"]]
        out.table = Exact.from_state(state["table"])
        return out


def _level_order(cell: Cell, edges: dict[str, Any]) -> tuple[int, str]:
    return (int(cell[1]), "") if cell[0] in edges else (0, cell[1])
