"""A statistic of one's own: how many rows of each class lack which cells."""

from __future__ import annotations

from collections import Counter
from typing import Any, Self

import numpy as np

from likely.machinery.arrays import Ints
from likely.sums.contracts import EVERY_ROW_ONE, State, TableSums, Weights
from likely.table.batch import Batch, Codes


class Gaps:
    """Rows by class and by the set of attributes that they lack; weights count as whole rows here."""

    def __init__(self, names: tuple[str, ...], groups: int, counts: Counter[tuple[int, str]] | None = None) -> None:
        self.names, self.groups, self.counts = names, groups, Counter() if counts is None else counts

    @classmethod
    def over(cls, table: TableSums) -> Self:
        names = tuple(c.name for c in table.schema.attributes if c.kind != "text")
        return cls(names, len(table.classes))

    @property
    def impossible(self) -> bool:
        return any(n < 0 for n in self.counts.values())

    def update(self, batch: Batch, group: Ints, weights: Weights = EVERY_ROW_ONE) -> None:
        gone = (
            np.array([self._missing(batch.cells[name]) for name in self.names]).reshape(len(self.names), batch.rows).T
        )
        for row, where in zip(gone, group.tolist(), strict=True):
            if where >= 0:
                self.counts[where, "".join("10"[int(cell)] for cell in row)] += 1

    @staticmethod
    def _missing(cells: Any) -> Any:
        return cells.codes < 0 if isinstance(cells, Codes) else np.isnan(cells)

    def __add__(self, other: Self) -> Self:
        return self._with({k: self.counts[k] + other.counts[k] for k in self.counts.keys() | other.counts.keys()})

    def __sub__(self, other: Self) -> Self:
        return self._with({k: self.counts[k] - other.counts[k] for k in self.counts.keys() | other.counts.keys()})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gaps) and self.canonical().state() == other.canonical().state()

    __hash__ = None  # type: ignore[assignment]

    def _with(self, counts: dict[tuple[int, str], int]) -> Self:
        return type(self)(self.names, self.groups, Counter({k: n for k, n in counts.items() if n}))

    def canonical(self) -> Self:
        return self._with(dict(self.counts))

    def regrouped(self, places: Any, groups: int) -> Self:
        moved: Counter[tuple[int, str]] = Counter()
        for (group, gaps), n in self.counts.items():
            if places[group] >= 0:
                moved[int(places[group]), gaps] += n
        return type(self)(self.names, groups, moved)

    def state(self) -> State:
        rows = sorted((group, gaps, n) for (group, gaps), n in self.counts.items() if n)
        return {"names": list(self.names), "groups": self.groups, "rows": [list(row) for row in rows]}

    @classmethod
    def from_state(cls, state: State) -> Self:
        return cls(tuple(state["names"]), state["groups"], Counter({(g, gaps): n for g, gaps, n in state["rows"]}))
