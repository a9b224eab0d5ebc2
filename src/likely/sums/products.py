"""Exact sums of products: for each class, the sum over rows of f(i) * f(j) for all pairs of features of a row.

Features are 1, the numbers (0 where missing), whether each number is there, and an indicator of each level.
Doubles are cut into slices of few bits, so that BLAS multiplies whole numbers and never rounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import SettingError
from likely.sums.exact import Exact
from likely.sums.weights import EVERY_ROW_ONE, Weights
from likely.table.batch import Batch, Codes, Ints

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.sums.summary import Summary

Feature = tuple[str, str, str]
"""(kind, column, level): kind is one, value, there or level."""
ONE: Feature = ("one", "", "")
MOST = 1500
"""More features than this and their products would fill memory."""
BLOCK = 2048
"""Rows whose products of two slices of 21 bits (or three of 14) still add up below 2**53."""


def features_of(summary: Summary) -> list[Feature]:
    """All features of a table: known once its levels are."""
    out = [ONE]
    for column in summary.schema.attributes:
        statistic = summary.columns[column.name]
        if column.kind == "nominal":
            out += [("level", column.name, name) for name in statistic.labels.names]  # type: ignore[union-attr]
        else:
            out += [("value", column.name, ""), ("there", column.name, "")]
    return out


class Products:
    """`table[i, j, group]` is the exact sum of feature i times feature j over the rows of a group."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, features: list[Feature], groups: int) -> None:
        self.features = features
        self.table = Exact.zeros(len(features), len(features), groups)

    @classmethod
    def over(cls, summary: Summary) -> Products:
        features = features_of(summary)
        if len(features) > MOST:
            raise SettingError(
                f"Sums of products over {len(features):,} numbers and levels would be too large (at most {MOST:,}). "
                "Leave columns with many levels out (--type COLUMN=ignore), or use naive Bayes."
            )
        return cls(features, len(summary.classes))

    @property
    def groups(self) -> int:
        return self.table.shape[-1]

    def update(self, batch: Batch, group: Ints, weights: Weights = EVERY_ROW_ONE) -> None:
        """Take in a batch; `group` says the class of each row (negative: left out)."""
        design = self.design(batch)
        width = 21 if weights.plain else 14
        for g in range(self.groups):
            rows = np.flatnonzero(group == g)
            for start in range(0, len(rows), BLOCK):
                some = rows[start : start + BLOCK]
                self._add(design[some], _weight_slices(weights, some, width), g, width)

    def design(self, batch: Batch) -> NDArray[np.float64]:
        """The features of each row, (rows, features)."""
        return design(self.features, batch)

    def _add(self, x: NDArray[np.float64], weight: list[tuple[int, Any]], g: int, width: int) -> None:
        parts = slices(x, width)
        for i, (a, left, at_left) in enumerate(parts):
            for b, right, at_right in parts[i:]:
                for w, share in weight:
                    scaled = left if share is None else left * share[:, None]
                    sums = (scaled.T @ right).astype(np.int64)
                    self._add_at(sums, at_left, at_right, g, width * (a + b + w))
                    if a != b:
                        self._add_at(sums.T, at_right, at_left, g, width * (a + b + w))

    def _add_at(self, sums: NDArray[np.int64], rows: Any, columns: Any, g: int, bit: int) -> None:
        """Add whole sums times 2**bit."""
        digit, shift = bit >> 5, bit & 31
        self.table.cover(digit, digit + 3, 1 << 20)  # one block adds below 2**53 to a digit
        low = (sums & 0xFFFFFFFF) << shift
        place = np.ix_(rows, columns)
        at = digit - self.table.base
        self.table.planes[at, ..., g][place] += low & 0xFFFFFFFF
        self.table.planes[at + 1, ..., g][place] += (low >> 32) + ((sums >> 32) << shift)

    # -- merging --------------------------------------------------------------------------------------------

    def _over(self, features: list[Feature]) -> Exact:
        index = {f: k for k, f in enumerate(features)}
        places = np.array([index.get(f, -1) for f in self.features], np.intp)
        return self.table.scattered(places, 0, len(features)).scattered(places, 1, len(features))

    def _combined(self, other: Products, sign: int) -> Products:
        features = sorted({*self.features, *other.features}, key=_order)
        out = Products([], self.groups)
        out.features = features
        mine, theirs = self._over(features), other._over(features)
        out.table = mine + theirs if sign > 0 else mine - theirs
        return out.canonical()

    def __add__(self, other: Products) -> Products:
        return self._combined(other, +1)

    def __sub__(self, other: Products) -> Products:
        return self._combined(other, -1)

    def canonical(self) -> Products:
        """Features in order; levels that no row has dropped."""
        empty = np.diagonal(self.table.is_zero().all(axis=2)) if self.groups else np.ones(len(self.features), np.bool_)
        kept = [f for f, none in zip(self.features, empty, strict=True) if f[0] != "level" or not none]
        out = Products(sorted(kept, key=_order), self.groups)
        out.table = self._over(out.features)
        return out

    def regrouped(self, places: NDArray[np.intp], groups: int) -> Products:
        out = Products(self.features, 0)
        out.table = self.table.scattered(places, 2, groups)
        return out

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Products):
            return NotImplemented
        a, b = self.canonical(), other.canonical()
        return a.features == b.features and a.table == b.table

    @property
    def impossible(self) -> bool:
        return bool(np.diagonal(self.table.is_negative().any(axis=2)).any())

    def state(self) -> dict[str, Any]:
        own = self.canonical()
        return {"features": [list(f) for f in own.features], "table": own.table.state()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Products:
        out = cls([], 0)
        out.features = [(str(a), str(b), str(c)) for a, b, c in state["features"]]
        out.table = Exact.from_state(state["table"])
        return out


_KINDS = {"one": 0, "value": 1, "there": 2, "level": 3}


def _order(feature: Feature) -> tuple[int, str, str]:
    return _KINDS[feature[0]], feature[1], feature[2]


def design(features: list[Feature], batch: Batch) -> NDArray[np.float64]:
    """The features of each row of a batch, (rows, features)."""
    out = np.zeros((batch.rows, len(features)))
    places: dict[str, dict[str, int]] = {}
    for k, (kind, column, level) in enumerate(features):
        if kind == "one":
            out[:, k] = 1.0
        elif kind == "level":
            places.setdefault(column, {})[level] = k
        else:
            x = batch.cells[column]
            assert not isinstance(x, Codes)
            there = np.isfinite(x)
            out[:, k] = there if kind == "there" else np.where(there, x, 0.0)
    for column, levels in places.items():
        cells = batch.cells[column]
        assert isinstance(cells, Codes)
        at = np.array([*(levels.get(n, -1) for n in cells.labels.names), -1, -1], np.intp)[cells.codes]
        known = np.flatnonzero(at >= 0)
        out[known, at[known]] = 1.0
    return out


def slices(x: NDArray[np.float64], width: int) -> list[tuple[int, NDArray[np.float64], NDArray[np.intp]]]:
    """x as a sum of slices times 2**(width*k), each of whole numbers below 2**width; with the columns it touches."""
    out = []
    rest = x
    columns = np.arange(x.shape[1])
    top = np.abs(x).max(initial=0.0)
    k = int(np.frexp(top)[1]) // width
    while len(columns) and rest.any():
        unit = np.ldexp(1.0, width * k) if width * k >= -1022 else 0.0
        # Below the least normal double the unit itself is no double: the rest is scaled up instead, exactly.
        part = np.trunc(rest / unit) if unit else np.trunc(np.ldexp(rest, -width * k))
        rest = rest - (part * unit if unit else np.ldexp(part, width * k))
        some = np.flatnonzero(part.any(axis=0))
        if len(some):
            out.append((k, np.ascontiguousarray(part[:, some]), columns[some]))
        left = np.flatnonzero(rest.any(axis=0))
        rest, columns = rest[:, left], columns[left]
        if len(left):
            k = min(k - 1, int(np.frexp(np.abs(rest).max())[1]) // width)
    return out


def _weight_slices(weights: Weights, rows: NDArray[np.intp], width: int) -> list[tuple[int, Any]]:
    """Weights as slices like those of `slices`; None stands for "one each"."""
    if weights.plain:
        return [(0, None)]
    planes = [chunk[rows] for chunk in weights.chunks]
    first, last = 32 * weights.base, 32 * (weights.base + len(planes))
    out = []
    for k in range(first // width, -(-last // width)):
        bits = np.zeros(len(rows), np.int64)
        for j, plane in enumerate(planes):
            shift = 32 * (weights.base + j) - width * k  # where this plane's lowest bit falls in the slice
            if -32 < shift < width:
                bits += ((plane << shift) if shift >= 0 else (plane >> -shift)) & ((1 << width) - 1)
        if bits.any():
            out.append((k, bits.astype(np.float64)))
    return out
