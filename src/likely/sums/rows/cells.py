"""Counts of whole rows of levels: the joint table of the nominal attributes, cell by cell, for each class. Exact."""

from __future__ import annotations

import json
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import SettingError, shown
from likely.machinery.arrays import Ints
from likely.sums.checks import read_names, require
from likely.sums.columns.counts import Counts
from likely.sums.contracts import State, TableSums
from likely.sums.exact import Exact
from likely.sums.weights import EVERY_ROW_ONE, Weights
from likely.table.batch import Batch, Codes
from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray


MOST = 1_000_000
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
        if len(self.counts.labels) > MOST:
            raise SettingError(
                f"The joint table has more than {MOST:,} different rows of levels. Leave columns out "
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
