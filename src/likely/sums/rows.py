"""The rows themselves, as a multiset: what neighbours need. Order is forgotten, so it merges like any sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import SettingError
from likely.sums.weights import EVERY_ROW_ONE, Weights
from likely.table.batch import Batch, Codes, Ints
from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.sums.summary import Summary

MOST_CELLS = 500_000_000
"""More cells than this do not fit into memory."""


class Rows:
    """`numbers` (NaN: missing) and `codes` (-1: missing), both (rows, attributes), class and weight of each row."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, numeric: list[str], nominal: list[str], groups: int) -> None:
        self.numeric, self.nominal, self.groups = numeric, nominal, groups
        self.labels = [Labels() for _ in nominal]
        self._parts: list[tuple[Any, Any, Any, Any]] = []
        self.negative = False

    @classmethod
    def over(cls, summary: Summary) -> Rows:
        attributes = summary.schema.attributes
        if summary.rows * len(attributes) > MOST_CELLS:
            raise SettingError(
                f"Neighbours must keep all rows; {summary.rows:,} rows of {len(attributes)} attributes are too many. "
                "Use a learner that learns from sums."
            )
        out = cls(
            [c.name for c in attributes if c.kind != "nominal"],
            [c.name for c in attributes if c.kind == "nominal"],
            len(summary.classes),
        )
        out.labels = [Labels(summary.columns[n].labels.names) for n in out.nominal]  # type: ignore[union-attr]
        return out

    def update(self, batch: Batch, group: Ints, weights: Weights = EVERY_ROW_ONE) -> None:
        """Take in a batch; `group` says the class of each row (negative: left out)."""
        kept = np.flatnonzero(group >= 0)
        numbers, codes = self.read(batch)
        weight = np.ones(len(kept)) if batch.weight is None else batch.weight[kept]
        self._parts.append((numbers[kept], codes[kept], group[kept].astype(np.int32), weight))

    def read(self, batch: Batch) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """The numbers and codes of a batch as this statistic keeps them; new levels get new codes, unseen ones -2."""
        numbers = np.full((batch.rows, len(self.numeric)), np.nan)
        for k, name in enumerate(self.numeric):
            x = batch.cells[name]
            assert not isinstance(x, Codes)
            numbers[:, k] = np.where(np.isfinite(x), x + 0.0, np.nan)  # + 0.0: minus zero is zero
        codes = np.empty((batch.rows, len(self.nominal)), np.int32)
        for k, name in enumerate(self.nominal):
            cells = batch.cells[name]
            assert isinstance(cells, Codes)
            places = [self.labels[k].index.get(n, -2) for n in cells.labels.names]
            codes[:, k] = np.array([*places, -2, -1], np.int32)[cells.codes]
        return numbers, codes

    @property
    def arrays(self) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """numbers, codes, class and weight of all rows."""
        if not self._parts:
            empty = np.empty((0, len(self.numeric))), np.empty((0, len(self.nominal)), np.int32)
            return *empty, np.empty(0, np.int32), np.empty(0)
        if len(self._parts) > 1:
            columns = zip(*self._parts, strict=True)
            self._parts = [tuple(np.concatenate(c) for c in columns)]  # type: ignore[list-item]
        return self._parts[0]

    # -- merging --------------------------------------------------------------------------------------------

    def _over(self, labels: list[Labels]) -> tuple[Any, Any, Any, Any]:
        numbers, codes, group, weight = self.arrays
        codes = codes.copy()
        for k, (mine, ours) in enumerate(zip(self.labels, labels, strict=True)):
            places = np.array([*(ours.index[n] for n in mine.names), -2, -1], np.int32)
            codes[:, k] = places[codes[:, k]]
        return numbers, codes, group, weight

    def _joined(self, other: Rows) -> list[Labels]:
        both = zip(self.labels, other.labels, strict=True)
        return [Labels(sorted({*mine.names, *theirs.names})) for mine, theirs in both]

    def _made(self, labels: list[Labels], arrays: tuple[Any, Any, Any, Any]) -> Rows:
        out = Rows(self.numeric, self.nominal, self.groups)
        out.labels, out._parts = labels, [arrays]
        return out

    def __add__(self, other: Rows) -> Rows:
        labels = self._joined(other)
        both = zip(self._over(labels), other._over(labels), strict=True)
        return self._made(labels, tuple(np.concatenate(c) for c in both)).canonical()  # type: ignore[arg-type]

    def __sub__(self, other: Rows) -> Rows:
        """Each row of `other` takes one equal row away."""
        labels = self._joined(other)
        one, two = self._made(labels, self._over(labels)), self._made(labels, other._over(labels))
        numbers = np.concatenate([one._keys(), two._keys()])
        _, places = np.unique(numbers, axis=0, return_inverse=True)
        places = places.reshape(-1)
        mine, theirs = places[: len(one.arrays[2])], places[len(one.arrays[2]) :]
        gone = np.bincount(theirs, minlength=int(places.max(initial=-1)) + 1)
        order = np.argsort(mine, kind="stable")
        rank = np.empty(len(mine), np.int64)
        starts = np.searchsorted(mine[order], mine[order], side="left")
        rank[order] = np.arange(len(mine)) - starts
        kept = rank >= gone[mine] if len(mine) else np.empty(0, np.bool_)
        out = self._made(labels, tuple(a[kept] for a in one.arrays)).canonical()  # type: ignore[arg-type]
        out.negative = int(np.count_nonzero(~kept)) < len(theirs)
        return out

    def _keys(self) -> NDArray[np.int64]:
        """Each row as whole numbers that are equal only for equal rows."""
        numbers, codes, group, weight = self.arrays
        bits = np.ascontiguousarray(numbers).view(np.int64).reshape(numbers.shape)
        bits = np.where(np.isnan(numbers), np.int64(np.iinfo(np.int64).max), bits)
        share = np.ascontiguousarray(weight).view(np.int64)[:, None]
        return np.concatenate([group[:, None].astype(np.int64), codes.astype(np.int64), bits, share], axis=1)

    def canonical(self) -> Rows:
        """Labels that occur, in order; rows in order."""
        numbers, codes, group, weight = self.arrays
        labels = []
        fresh = codes.copy()
        for k, mine in enumerate(self.labels):
            used = sorted(mine.names[c] for c in np.unique(codes[:, k]) if c >= 0)
            index = {n: i for i, n in enumerate(used)}
            fresh[:, k] = np.array([*(index.get(n, -2) for n in mine.names), -2, -1], np.int32)[codes[:, k]]
            labels.append(Labels(used))
        out = self._made(labels, (numbers, fresh, group, weight))
        order = np.lexsort(out._keys().T[::-1]) if len(group) else np.empty(0, np.intp)
        out._parts = [tuple(a[order] for a in out.arrays)]  # type: ignore[list-item]
        return out

    def regrouped(self, places: NDArray[np.intp], groups: int) -> Rows:
        numbers, codes, group, weight = self.arrays
        out = self._made(self.labels, (numbers, codes, places[group].astype(np.int32), weight))
        out.groups = groups
        return out

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rows):
            return NotImplemented
        a, b = self.canonical(), other.canonical()
        same = [x.names for x in a.labels] == [x.names for x in b.labels]
        return same and np.array_equal(a._keys(), b._keys())

    @property
    def impossible(self) -> bool:
        return self.negative

    def state(self) -> dict[str, Any]:
        own = self.canonical()
        numbers, codes, group, weight = own.arrays
        return {
            "numeric": own.numeric,
            "nominal": own.nominal,
            "groups": own.groups,
            "labels": [x.names for x in own.labels],
            "numbers": numbers,
            "codes": codes.astype(np.int64),
            "group": group.astype(np.int64),
            "weight": weight,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Rows:
        out = cls(list(state["numeric"]), list(state["nominal"]), int(state["groups"]))
        out.labels = [Labels(names) for names in state["labels"]]
        codes, group = (np.asarray(state[k], np.int32).copy() for k in ("codes", "group"))
        out._parts = [(np.array(state["numbers"], np.float64), codes, group, np.array(state["weight"], np.float64))]
        return out
