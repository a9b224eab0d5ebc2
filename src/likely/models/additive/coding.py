"""Cells as bytes: numbers cut into bins, levels by number; and curves given by hand as tables over these codes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likely.errors import SettingError, nearest, shown
from likely.machinery.arrays import Bytes, Floats, Hashes, Ints
from likely.machinery.arrays import Ints as Groups
from likely.machinery.jit import kernel
from likely.models.factors.bins import read_tally
from likely.models.shapes import Axis
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.summary import Summary
from likely.sums.tallies import apart_places
from likely.table.batch import Batch
from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Cells as bytes: numbers cut into bins, levels by number, missing cells apart; and rows of such codes as a tally.

MOST_CODES = 255
"""Bins or levels of an attribute at most: beyond that, bins are wider and rare levels share the last of them. The code
after them is that of a missing cell."""
LEAST_BINS = 16
ROWS_A_BIN = 8
"""A number has at least LEAST_BINS bins, else no more than one for so many rows."""

ALL = 1 << 62
"""More rows than there are."""


@dataclass(frozen=True)
class Coding:
    """How the cells of each attribute become codes."""

    summary: Summary
    axes: tuple[Axis, ...]
    ordered: tuple[bool, ...]
    """Whether the codes of an attribute have an order: bins, and levels that are numbers."""

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many codes each attribute has, that of a missing cell included."""
        return np.array([1 + axis.size for axis in self.axes], np.int64)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.axes)

    def codes(self, batch: Batch) -> Bytes:
        """The codes of training rows, (rows, attributes)."""
        out = np.empty((batch.rows, len(self.axes)), np.uint8)
        for k, axis in enumerate(self.axes):
            codes = axis.codes(batch.cells[axis.name])
            out[:, k] = np.where(codes < 0, axis.size, codes)
        return out

    def as_told(self, codes: Bytes) -> NDArray[np.int32]:
        """The codes of training rows as a model is told of rows: -1, unknown, where being missing is no evidence."""
        silent = np.array([axis.size if axis.missing < 0 else -1 for axis in self.axes], np.int32)
        own = codes.astype(np.int32)
        return np.where(own == silent, np.int32(-1), own)


def coding_of(summary: Summary, most: int, missing: bool, given: Mapping[str, Axis] | None = None) -> Coding:
    """The codes of all attributes but texts, with at most `most` bins or levels for each.

    `missing` says whether a cell that is missing says something by that; `given` are the codes of some attributes.
    """
    axes: list[Axis] = []
    ordered: list[bool] = []
    # A row of weight two is the row twice; weights that are shares of one row do not make rows fewer.
    rows = max(summary.rows, int(summary.total.floats().sum()))
    bins = min(most, max(LEAST_BINS, rows // ROWS_A_BIN))
    for column in summary.schema.attributes:
        statistic = summary.columns[column.name]
        if given and column.name in given:
            axes.append(given[column.name])
            ordered.append(False)
        elif isinstance(statistic, Counts):
            axis, has_order = _levels(column.name, statistic, most)
            axes.append(_with_missing(axis, statistic, missing))
            ordered.append(has_order)
        elif isinstance(statistic, Numbers):
            axes.append(_with_missing(_bins(column.name, statistic, bins), statistic, missing))
            ordered.append(True)
    return Coding(summary, tuple(axes), tuple(ordered))


def _bins(name: str, numbers: Numbers, bins: int) -> Axis:
    """Bins of about equal weight, values that are heavy by themselves apart."""
    tally = read_tally(numbers)
    edges = np.array([tally.cut(place) for place in apart_places(tally.whole, bins).tolist()])
    return Axis(name, Labels(), edges)


def _with_missing(axis: Axis, statistic: Counts | Numbers, evidence: bool) -> Axis:
    """With a code for missing cells, where being missing is evidence and training had some."""
    return replace(axis, missing=axis.size) if evidence and not statistic.other.is_zero().all() else axis


def _levels(name: str, counts: Counts, most: int) -> tuple[Axis, bool]:
    """Levels that are numbers in their order, others by name; where there are too many, the rarest share the last."""
    names = sorted(counts.labels.names)
    weight = dict(zip(counts.labels.names, counts.table[: len(names)].sum(1).floats().tolist(), strict=True))
    values = _numbers(names)
    if values is not None:
        names = [name for _, name in sorted(zip(values, names, strict=True))]
        if len(names) > most:
            starts = [0, *apart_places(np.array([weight[n] for n in names]), most).tolist()]
            groups = np.zeros(len(names), np.int32)
            groups[starts] = 1
            return Axis(name, Labels(names), groups=np.cumsum(groups, dtype=np.int32) - 1), True
        return Axis(name, Labels(names)), True
    if len(names) > most:
        by_weight = sorted(names, key=lambda n: (-weight[n], n))
        kept = {n: k for k, n in enumerate(sorted(by_weight[: most - 1]))}
        return Axis(name, Labels(names), groups=np.array([kept.get(n, most - 1) for n in names], np.int32)), False
    return Axis(name, Labels(names)), False


def _numbers(names: list[str]) -> list[float] | None:
    """Levels as numbers, where all are finite ones."""
    try:
        out = [float(name) for name in names]
    except ValueError:
        return None
    return out if np.isfinite(out).all() else None


@kernel("u1[][], u8[]")
def hash_codes(codes: Bytes, out: Hashes) -> None:
    """64 mixed bits for each row, by its codes alone: equal rows have equal bits."""
    for i in range(codes.shape[0]):
        z = np.uint64(0x9E3779B97F4A7C15)
        for j in range(codes.shape[1]):
            z = (z ^ np.uint64(codes[i, j])) * np.uint64(0x100000001B3)
            z ^= z >> np.uint64(29)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        out[i] = z ^ (z >> np.uint64(31))


@dataclass(frozen=True)
class CodedRows:
    """Rows as codes, with class, weight and a hash of the codes."""

    codes: Bytes
    group: Ints
    weight: Floats
    hashes: Hashes
    most: int
    """Different rows that are kept at most: those with the smallest hashes."""
    dropped: bool = False
    base: Floats | None = None
    """What is known of each row before anything is learned, (rows, scores)."""

    @classmethod
    def of(cls, coding: Coding, batch: Batch, group: Groups, weight: Floats, most: int) -> CodedRows:
        """The rows of a batch that count."""
        counted = np.flatnonzero((group >= 0) & (weight > 0))
        if len(counted) < batch.rows:
            batch, group, weight = batch.take(counted), group[counted], weight[counted]
        codes = coding.codes(batch)
        hashes = np.empty(len(codes), np.uint64)
        hash_codes(codes, hashes)
        own = np.ascontiguousarray(group, np.int32)
        return cls(codes, own, np.ascontiguousarray(weight, np.float64), hashes, most)

    @classmethod
    def none(cls, attributes: int) -> CodedRows:
        """No rows, and room for all."""
        codes = np.zeros((0, attributes), np.uint8)
        return cls(codes, np.zeros(0, np.int32), np.zeros(0), np.zeros(0, np.uint64), ALL)

    def __len__(self) -> int:
        return len(self.group)

    def tallied(self, side: Literal["left", "right"] = "left") -> CodedRows:
        """Each different row once, in the order of hashes; where there are too many, those with the smallest ones.

        What comes out depends on the rows alone, not on how they were put together: while more may come ("right"), all
        rows of the last hash stay.
        """
        # Equal rows stand together; equal weights in order, so that their sum has the same bits whatever came first.
        order = _sorted_places(self.hashes, self.group, self.weight)
        hashes, group, codes = self.hashes[order], self.group[order], self.codes[order]
        new = np.ones(len(order), np.bool_)
        new[1:] = (hashes[1:] != hashes[:-1]) | (group[1:] != group[:-1])
        starts = np.flatnonzero(new)
        weight = np.add.reduceat(self.weight[order], starts) if len(starts) else np.zeros(0)
        out = CodedRows(codes[starts], group[starts], weight, hashes[starts], self.most, self.dropped)
        if len(out) <= self.most:
            return out
        # All rows of a hash stay or go together.
        last = out.hashes[self.most]
        return replace(out.take(slice(0, int(np.searchsorted(out.hashes, last, side)))), dropped=True)

    def take(self, rows: Any) -> CodedRows:
        """Some of the rows."""
        arrays = [np.ascontiguousarray(part[rows]) for part in (self.codes, self.group, self.weight, self.hashes)]
        base = None if self.base is None else np.ascontiguousarray(self.base[rows])
        return CodedRows(arrays[0], arrays[1], arrays[2], arrays[3], self.most, self.dropped, base)

    @cached_property
    def total(self) -> float:
        return float(self.weight.sum())


def _sorted_places(hashes: Hashes, group: Groups, weight: Floats) -> NDArray[np.intp]:
    """The order of rows by hash, class and weight, as `np.lexsort` finds it: few rows share a hash with others."""
    order = np.argsort(hashes)
    ordered = hashes[order]
    same = np.zeros(len(order) + 1, np.bool_)
    same[1:-1] = ordered[1:] == ordered[:-1]
    tied = np.flatnonzero(same[:-1] | same[1:])
    some = order[tied]
    order[tied] = some[np.lexsort((weight[some], group[some], hashes[some]))]
    return order


@dataclass(frozen=True)
class CodedParts:
    """Coded rows of several batches. `+` puts them together, and keeps few more than are wanted."""

    parts: tuple[CodedRows, ...]

    def __add__(self, other: CodedParts) -> CodedParts:
        out = CodedParts(self.parts + other.parts)
        few = 4 * sum(map(len, out.parts)) <= 5 * out.parts[0].most
        return out if few else CodedParts((out._rows.tallied("right"),))

    def joined(self) -> CodedRows:
        """All rows, tallied."""
        return self._rows.tallied()

    def dealt(self, places: int) -> list[CodedParts]:
        """The rows for each of so many places: all of one hash together, and before those of the next place."""
        rows = replace(self._rows, most=ALL)
        if bool((rows.weight == np.rint(rows.weight)).all()):  # so that sums of weights are exact
            rows = rows.tallied()
        else:
            rows = rows.take(np.argsort(rows.hashes, kind="stable"))
        bounds = np.array([-(-(k << 32) // places) for k in range(places + 1)], np.uint64)
        at = np.searchsorted(rows.hashes >> np.uint64(32), bounds)
        return [CodedParts((rows.take(slice(a, b)),)) for a, b in pairwise(at.tolist())]

    @property
    def _rows(self) -> CodedRows:
        return CodedRows(
            np.concatenate([part.codes for part in self.parts]),
            np.concatenate([part.group for part in self.parts]),
            np.concatenate([part.weight for part in self.parts]),
            np.concatenate([part.hashes for part in self.parts]),
            self.parts[0].most,
            any(part.dropped for part in self.parts),
        )


def code_rows(coding: Coding, most: int, batch: Batch, group: Groups, weight: Floats) -> tuple[CodedParts]:
    """The rows of a batch as codes."""
    return (CodedParts((CodedRows.of(coding, batch, group, weight, most),)),)


# Curves given by hand: what an attribute says is not learned but known. Checks them, and makes tables of them.

FORM = '{"age": {"starts": [30, 50], ">50K": [-1.0, 0.2, 0.6]}} or {"sex": {"levels": ["f", "m"], ">50K": [-0.2, 0.2]}}'
MOST_STEPS = 255
LARGEST = 100.0
"""No curve says more than this, in nats."""


def check_curves(value: Any) -> dict[str, dict[str, Any]]:
    """Curves by attribute, copied; what can be no curve of any table is refused."""
    if not isinstance(value, Mapping) or not all(isinstance(curve, Mapping) for curve in value.values()):
        raise SettingError(f"curves is {shown(value)}. Write {FORM}.")
    return {str(name): _check_curve(str(name), curve) for name, curve in value.items()}


def _check_curve(name: str, curve: Mapping[str, Any]) -> dict[str, Any]:
    where = f"The curve of {shown(name)}"
    if ("starts" in curve) == ("levels" in curve):
        raise SettingError(f"{where} needs either starts (of a number) or levels. Write {FORM}.")
    out: dict[str, Any] = {}
    if "starts" in curve:
        starts = _given_numbers(curve["starts"], f"{where}: starts", math.inf)
        if any(not low < high for low, high in pairwise(starts)):
            raise SettingError(f"{where}: starts must rise. Put them in order, each once.")
        out["starts"] = starts
        count = len(starts) + 1
    else:
        levels = [str(level) for level in curve["levels"]]
        if len({*levels}) != len(levels):
            raise SettingError(f"{where} names a level twice.")
        out["levels"] = levels
        count = len(levels)
    if not 0 < count <= MOST_STEPS:
        raise SettingError(f"{where} has {count:,} steps or levels; it must have 1 to {MOST_STEPS}.")
    for key, said in curve.items():
        if key in ("starts", "levels"):
            continue
        evidence = _given_numbers(said, f"{where}, class {shown(key)}", LARGEST)
        if len(evidence) != count:
            raise SettingError(f"{where} has {len(evidence)} values for class {shown(key)}; it must be {count}.")
        out[str(key)] = evidence
    return out


def _given_numbers(values: Any, where: str, most: float) -> list[float]:
    try:
        found = [float(v) for v in values if isinstance(v, Real) and not isinstance(v, bool)]
        sound = len(found) == len(values) and all(math.isfinite(v) and abs(v) <= most for v in found)
    except TypeError:
        sound = False
    if not sound:
        limit = "finite" if math.isinf(most) else f"between -{most:g} and {most:g}"
        raise SettingError(f"{where} must be a list of numbers, {limit}; it is {shown(values)}.")
    return found


def curve_axis(name: str, curve: Mapping[str, Any], summary: Summary) -> Axis:
    """The attribute by the codes of its curve."""
    nominal = isinstance(summary.columns[name], Counts)
    if nominal != ("levels" in curve):
        kind, wanted = ("nominal", "levels") if nominal else ("a number", "starts")
        raise SettingError(f"{shown(name)} is {kind}, so its curve must have {wanted}.")
    if nominal:
        return Axis(name, Labels(curve["levels"]))
    return Axis(name, Labels(), np.array(curve["starts"], np.float64))


def curve_table(name: str, curve: Mapping[str, Any], classes: tuple[str, ...]) -> Floats:
    """What the curve says, (codes, classes); of a missing cell, nothing."""
    for key in curve:
        if key not in ("starts", "levels") and key not in classes:
            raise SettingError(
                f"The curve of {shown(name)} speaks of {shown(key)}, which is not a class. {nearest(key, classes)}"
            )
    count = len(curve["levels"]) if "levels" in curve else len(curve["starts"]) + 1
    out = np.zeros((count + 1, len(classes)))
    for k, own in enumerate(classes):
        if own in curve:
            out[:-1, k] = curve[own]
    return out


def with_base(rows: CodedRows, given: Mapping[int, Floats], two: bool) -> CodedRows:
    """The rows with what given curves say of them, and those attributes hidden from the trees."""
    if not given:
        return rows
    base = sum(table[rows.codes[:, j]] for j, table in given.items())
    codes = rows.codes.copy()
    codes[:, list(given)] = 0
    assert not isinstance(base, int)
    return replace(rows, codes=codes, base=np.ascontiguousarray(base[:, 1:] - base[:, :1]) if two else base)
