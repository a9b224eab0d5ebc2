"""Counts of whole rows of levels: the joint table of the nominal attributes, cell by cell, for each class. Exact."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import SettingError, shown
from likely.sums.counts import Counts
from likely.sums.weights import EVERY_ROW_ONE, Weights
from likely.table.batch import Batch, Codes, Ints
from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.sums.summary import Summary

MOST = 1_000_000
"""More different rows than this and the table is no summary any more."""


class Cells:
    """A joint table: each cell is a row of levels (None: missing), counted per class. Empty cells are not kept."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, names: list[str], groups: int) -> None:
        self.names = names
        self.counts = Counts(groups)

    @classmethod
    def over(cls, summary: Summary) -> Cells:
        return cls([c.name for c in summary.schema.attributes if c.kind == "nominal"], len(summary.classes))

    @property
    def groups(self) -> int:
        return self.counts.groups

    def update(self, batch: Batch, group: Ints, weights: Weights = EVERY_ROW_ONE) -> None:
        """Take in a batch; `group` says the class of each row (negative: left out)."""
        columns = [batch.cells[name] for name in self.names]
        matrix = np.full((batch.rows, 1 + len(columns)), -1, np.int32)  # the first place: there may be no columns
        for k, c in enumerate(columns, 1):
            # An unseen level is missing, under the same key: two keys of one name would lose counts.
            np.maximum(c.codes, -1, out=matrix[:, k])
        found, places = np.unique(matrix, axis=0, return_inverse=True)
        keys = []
        for row in found[:, 1:].tolist():
            keys.append(key([c.labels.names[k] if k >= 0 else None for c, k in zip(columns, row, strict=True)]))
        self.counts.update(Codes(places.reshape(-1).astype(np.int32), Labels(keys)), group, weights)
        if len(self.counts.labels) > MOST:
            raise SettingError(
                f"The joint table has more than {MOST:,} different rows of levels. Leave columns out "
                f"(such as {shown(self.names[0])}), or use naive Bayes, Tree or OneDependence."
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

    def state(self) -> dict[str, Any]:
        return {"names": self.names, "counts": self.counts.state()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Cells:
        out = cls([str(n) for n in state["names"]], 0)
        out.counts = Counts.from_state(state["counts"])
        return out


def key(levels: list[str | None]) -> str:
    """The one spelling of a row of levels."""
    return json.dumps(levels, ensure_ascii=False, separators=(",", ":"))
