"""Exact sums of products: for each class, the sum over rows of f(i) * f(j) for all pairs of features of a row.

Features are 1, the numbers (0 where missing), whether each number is there, and an indicator of each level.
Doubles are cut into slices of few bits, so that BLAS multiplies whole numbers and never rounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from likely.errors import SettingError
from likely.machinery.arrays import Ints
from likely.sums import kernels
from likely.sums.contracts import EVERY_ROW_ONE, State, TableSums, Weights
from likely.sums.exact import Exact
from likely.sums.state import read_text, require
from likely.table.batch import Batch, Codes

if TYPE_CHECKING:
    from numpy.typing import NDArray


Slice: TypeAlias = "tuple[int, NDArray[np.float64], NDArray[np.intp]]"
WeightSlice: TypeAlias = "tuple[int, NDArray[np.float64] | None]"
Feature = tuple[str, str, str]
"""(kind, column, level): kind is one, value, there or level."""
ONE: Feature = ("one", "", "")
MOST = 1500
"""More features than this and their products would fill memory."""
MOST_SUMS = 5_000_000
"""As many sums (features * features * classes) are kept at most."""
BLOCK = 2048
"""Rows whose products of two slices of 21 bits (or three of 14) still add up below 2**53."""
TILE = 64
"""Columns of a matrix that are multiplied at once."""
HELD = 16
"""Blocks held before they are written to the table. A double has up to 5 slices and so has a weight: fewer than 2**5
products of slices meet at one power of two, each below 2**53 in a block, and 2**5 * 2**53 * 16 is below 2**63."""


def features_of(table: TableSums) -> list[Feature]:
    """All features of a table: known once its levels are."""
    out, table = [ONE], table.without_text()
    for column in table.schema.attributes:
        statistic = table.columns[column.name]
        if column.kind == "nominal":
            out += [("level", column.name, name) for name in statistic.labels.names]
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
    def over(cls, table: TableSums) -> Products:
        features, groups = features_of(table), len(table.classes)
        if len(features) > MOST or len(features) ** 2 * groups > MOST_SUMS:
            raise SettingError(
                f"Sums of products over {len(features):,} numbers and levels in {groups:,} classes would be too large "
                f"(at most {MOST:,} numbers and levels, and {MOST_SUMS:,} sums). Leave columns with many levels out "
                "(--type COLUMN=ignore), or use naive Bayes."
            )
        return cls(features, groups)

    @property
    def groups(self) -> int:
        return self.table.shape[-1]

    def update(self, batch: Batch, group: Ints, weights: Weights = EVERY_ROW_ONE) -> None:
        """Take in a batch; `group` says the class of each row (negative: left out). Levels not yet known are added."""
        if not weights.plain:
            group = np.where(weights.nothing(), np.int32(-1), group)  # no weight, no row: it brings no level either
        self._welcome(batch, group)
        width = 21 if weights.plain else 14
        for g in range(self.groups):
            rows = np.flatnonzero(group == g)
            held = _BlockSums(len(self.features), width)
            for start in range(0, len(rows), BLOCK):
                some = rows[start : start + BLOCK]
                x = design(self.features, batch.take(some))
                shares = _weight_slices(weights, some, width)
                alone = _alone(x, len(weights.chunks))
                # Even numbers of one slice each would take longer together: they need not be cut at all.
                parts = slices(x, width) if alone >= _together(x.shape, [x.shape[1]], len(shares)) else []
                if not parts or alone < _together(x.shape, [len(p[2]) for p in parts], len(shares)):
                    self._add_each(x, weights, some, g)
                    continue
                held.add(parts, shares)
                if held.full:
                    held.write(self.table, g)
            held.write(self.table, g)

    def _add_each(self, x: NDArray[np.float64], weights: Weights, rows: NDArray[np.intp], g: int) -> None:
        """Add the products of some rows one by one."""
        least, most = kernels.exponents(x.reshape(-1))
        if least > most:
            return
        low, high = weights.base, weights.base + len(weights.chunks)
        self.table.cover((2 * least >> 5) + low, (2 * most >> 5) + 6 + high, len(weights.chunks) * len(rows))
        room = np.empty(x.shape[1], np.int64)
        for k, chunk in enumerate(weights.chunks, weights.base):
            share = chunk if weights.plain else np.ascontiguousarray(chunk[rows])
            kernels.add_products(x, share, room, self.table.planes, self.table.base - k, g)

    def _welcome(self, batch: Batch, group: Ints) -> None:
        """Make room for levels that came after the features were listed."""
        known, new = set(self.features), []
        for name, cells in batch.cells.items():
            if isinstance(cells, Codes):
                strange = [("level", name, n) not in known for n in cells.labels.names]
                if any(strange):
                    held = np.unique(cells.codes[(group >= 0) & (cells.codes >= 0)])
                    new += [("level", name, cells.labels.names[k]) for k in held if strange[k]]
        if new:
            self.features = [*self.features, *new]
            self.table.resize(len(self.features), len(self.features), self.groups)

    # -- merging --------------------------------------------------------------------------------------------

    def _over(self, features: list[Feature]) -> Exact:
        if features == self.features:
            return self.table.canonical()
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
        levels = [k for k, f in enumerate(self.features) if f[0] == "level"]
        zero: Any = self.table[levels].is_zero().all(axis=(1, 2)) if levels else []
        empty = {k for k, none in zip(levels, zero, strict=True) if none}
        out = Products([], 0)
        out.features = sorted((f for k, f in enumerate(self.features) if k not in empty), key=_order)
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
        """Whether some sum cannot come from rows: fewer than none of something, or a product of what is not there."""
        below: Any = self.table.is_negative().any(axis=2)
        counted = np.array([f[0] != "value" for f in self.features], np.bool_)
        if below[np.ix_(counted, counted)].any() or np.diagonal(below).any():
            return True
        zero = self.table.is_zero()
        nothing = np.diagonal(zero).T[:, None, :]
        return bool((nothing & ~zero).any())

    def state(self) -> State:
        own = self.canonical()
        return {"features": [list(f) for f in own.features], "table": own.table.state()}

    @classmethod
    def from_state(cls, state: State) -> Products:
        out = cls([], 0)
        out.features = [(read_text(a, "a kind"), read_text(b, "a column"), read_text(c, "a level"))
                        for a, b, c in state["features"]]  # fmt: skip
        require(len({*out.features}) == len(out.features), "features differ from each other")
        out.table = Exact.from_state(state["table"])
        require(len(out.table.shape) == 3, "products are summed for each class")
        require(out.table.shape[:2] == (len(out.features), len(out.features)), "products are those of the features")
        return out

    def check_agrees(self, table: TableSums, total: Exact) -> None:
        """Refuse, as unsound, what cannot be of the table that a summary is of."""
        require(self.features == sorted(features_of(table), key=_order), "features are of the columns and levels")
        require(self.table == Exact(self.table.planes.swapaxes(1, 2), self.table.base), "products are symmetric")
        require(not self.impossible, "products are those of rows")
        require(self.table[0, 0].canonical() == total, "products weigh what their classes weigh")


class _BlockSums:
    """Whole sums of the products of slices, one array for each power of two, on their way to a table."""

    def __init__(self, size: int, width: int) -> None:
        self.sums: dict[int, NDArray[np.int64]] = {}
        self.blocks = 0
        self._size, self._width = size, width

    @property
    def full(self) -> bool:
        return self.blocks >= HELD or len(self.sums) * self._size**2 > MOST_SUMS

    def add(self, parts: list[Slice], weight: list[WeightSlice]) -> None:
        """Add the products of one block of rows, cut into slices; each is below 2**53, and so exact."""
        self.blocks += 1
        for i, (a, left, at_left) in enumerate(parts):
            for w, share in weight:
                scaled = (left if share is None else left * share[:, None]).T
                for b, right, at_right in parts[i:]:
                    sums = tiled(scaled, right).astype(np.int64)
                    out = self._at(a + b + w)
                    out[np.ix_(at_left, at_right)] += sums
                    if a != b:
                        out[np.ix_(at_right, at_left)] += sums.T

    def _at(self, power: int) -> NDArray[np.int64]:
        if power not in self.sums:
            self.sums[power] = np.zeros((self._size, self._size), np.int64)
        return self.sums[power]

    def write(self, table: Exact, g: int) -> None:
        """Add what is held, times its power of two, to the table of one group."""
        for power, sums in self.sums.items():
            digit, shift = (self._width * power) >> 5, (self._width * power) & 31
            table.cover(digit, digit + 3, 1)
            at = digit - table.base
            high = sums >> 32
            low, middle = (sums & 0xFFFFFFFF) << shift, (high & 0xFFFFFFFF) << shift
            table.planes[at, ..., g] += low & 0xFFFFFFFF
            table.planes[at + 1, ..., g] += (low >> 32) + (middle & 0xFFFFFFFF)
            table.planes[at + 2, ..., g] += (middle >> 32) + ((high >> 32) << shift)  # high >> 32 is the sign: 0 or -1
        self.sums, self.blocks = {}, 0


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


def tiled(left: NDArray[np.float64], right: NDArray[np.float64], *, symmetric: bool = False) -> NDArray[np.float64]:
    """left @ right, tile by tile, so that BLAS works in this thread alone and always in the same order. A product that
    is known to be symmetric takes half of the time: what is below the diagonal is copied.

    BLAS calls threads of its own for products of more than 2**18 steps, and waits for them; ours are at work already,
    so that takes up to eight times as long (100 numbers on a busy machine).
    """
    out = np.zeros((left.shape[0], right.shape[1]))
    for i in range(0, left.shape[0], TILE):
        for j in range(i if symmetric else 0, right.shape[1], TILE):
            a, b = left[i : i + TILE], right[:, j : j + TILE]
            rows = (1 << 18) // (a.shape[0] * b.shape[1])
            for start in range(0, len(right), rows):
                out[i : i + TILE, j : j + TILE] += a[:, start : start + rows] @ b[start : start + rows]
        if symmetric:
            out[i + TILE :, i : i + TILE] = out[i : i + TILE, i + TILE :].T
    return out


def _alone(x: NDArray[np.float64], chunks: int) -> float:
    """What products one by one cost, in nanoseconds, roughly. Either way gives the same bits."""
    nonzero = np.count_nonzero(x, axis=1).astype(np.float64)
    return 12.0 * chunks * float((nonzero * nonzero).sum()) / 2


def _together(shape: tuple[int, ...], columns: list[int], shares: int) -> float:
    """What products of whole slices cost: much, where most cells are zero or numbers differ much in size."""
    return shares * (0.1 * shape[0] * float(sum(columns)) ** 2 + 10_000.0 * len(columns) ** 2)


def slices(x: NDArray[np.float64], width: int) -> list[Slice]:
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


def _weight_slices(weights: Weights, rows: NDArray[np.intp], width: int) -> list[WeightSlice]:
    """Weights as slices like those of `slices`; None stands for "one each"."""
    if weights.plain:
        return [(0, None)]
    planes = [chunk[rows] for chunk in weights.chunks]
    first, last = 32 * weights.base, 32 * (weights.base + len(planes))
    out: list[WeightSlice] = []
    for k in range(first // width, -(-last // width)):
        bits = np.zeros(len(rows), np.int64)
        for j, plane in enumerate(planes):
            shift = 32 * (weights.base + j) - width * k  # where this plane's lowest bit falls in the slice
            if -32 < shift < width:
                bits += ((plane << shift) if shift >= 0 else (plane >> -shift)) & ((1 << width) - 1)
        if bits.any():
            out.append((k, bits.astype(np.float64)))
    return out
