"""The design of linear models: how the cells of a row become columns of numbers, straight or bent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from textwrap import wrap
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from likely.errors import shown
from likely.machinery.arrays import Floats, Ints
from likely.machinery.jit import kernel
from likely.models import shapes
from likely.models.contracts import Factor
from likely.models.factors.bins import edges_of, read_tally
from likely.models.linear.softmax import Sheet
from likely.models.shapes import BinTable, Exhibit, LevelTable, Slope, Standard, bin_names, bin_of
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.summary import Summary
from likely.table.batch import Batch, Codes
from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray


# The design of linear models: how the cells of a row become columns of numbers, and what weights on them say of a
# row.

FAR = Fraction(2) ** 1000
"""A mean so many spreads from zero, as weights of 1e-300 beside 1e300 make it: no double tells such a column's values
apart, so it has no spread (tests/models/test_extremes.py)."""
BLOCK = 8192
"""Rows scored at a time, so that their scores stay in the processor's cache."""


def standard(name: str, weight: Fraction, first: Fraction, second: Fraction, gone: bool) -> Standard | None:
    """The standard units of a column from its exact sums (weight, x, x*x); None where it has no spread."""
    if not weight:
        return None
    mean = first / weight
    variance = second / weight - mean * mean
    if not variance:
        return None
    shift = (variance.numerator.bit_length() - variance.denominator.bit_length()) // 2
    scaled = mean / Fraction(2) ** shift
    if abs(scaled) >= FAR:
        return None
    center = float(scaled)
    spread = math.sqrt(variance / Fraction(4) ** shift)
    return Standard(name, mean, shift, spread, center, float(scaled - Fraction(center)), gone)


def standard_of(name: str, numbers: Numbers) -> Standard | None:
    """The standard units of a column over all classes."""
    weight, first, second = (sum(part, Fraction(0)) for part in zip(*numbers.moments(), strict=True))
    return standard(name, weight, first, second, not numbers.other.is_zero().all())


Weighed: TypeAlias = Slope | LevelTable


def outputs(constant: NDArray[np.float64], parts: Sequence[Factor], batch: Batch) -> NDArray[np.float64]:
    """constant + what each attribute adds, in order, (rows, outputs)."""
    out = np.empty((batch.rows, len(constant)))
    out[:] = constant
    for start in range(0, batch.rows, BLOCK):
        rows = slice(start, start + BLOCK)
        block = batch.sliced(rows)
        for part in parts:
            part.add(block, out[rows])
    return out


def level_weights(name: str, weights: dict[str, NDArray[np.float64]], size: int) -> LevelTable:
    """Weights of the levels of one attribute; an unseen level and a missing cell add nothing."""
    nothing = np.zeros((2, size))
    rows = np.concatenate([np.array(list(weights.values())).reshape(-1, size), nothing])
    return LevelTable(name, Labels(weights), np.ascontiguousarray(rows))


def constant_notes(names: Iterable[str]) -> list[str]:
    """The notes on numbers that have no spread, and so no column."""
    why = "it has too few different values for a variance"
    return [f"{shown(name)} is left out: {why}." for name in names]


# -- for people ---------------------------------------------------------------------------------------------


def constant_of(constant: float, parts: Iterable[Weighed], k: int) -> float:
    """Output k of a row whose numbers are 0 and whose levels are none, in the attributes' own units."""
    whole = Fraction(constant)
    for part in parts:
        if isinstance(part, Slope):
            whole += part.standard.at_zero(float(part.weights[k]))
    try:
        return float(whole)
    except OverflowError:
        return math.inf if whole > 0 else -math.inf


ROUNDING = 1e-14
"""A weight on standard units that is a smaller share of the largest is what rounding leaves of 0."""


def weight_rows(parts: Iterable[Weighed]) -> list[tuple[str, str, list[float]]]:
    """(attribute, level, weight for each output), weights of numbers in their own units."""
    out: list[tuple[str, str, list[float]]] = []
    parts = tuple(parts)
    slopes = [float(np.abs(part.weights).max(initial=0)) for part in parts if not isinstance(part, LevelTable)]
    least = ROUNDING * max(slopes, default=0.0)
    for part in parts:
        if isinstance(part, LevelTable):
            rows = zip(part.labels.names, part.log_table.tolist(), strict=False)
            out += [(part.name, level, row) for level, row in rows]
            continue
        out.append((part.name, "", [part.standard.raw(w) if abs(w) > least else 0.0 for w in part.weights.tolist()]))
        if part.standard.gone:
            # What replaces weight * x in a row where x is missing: the mean's share, and the indicator's weight.
            at_mean = [
                float(np.float64(a) - np.float64(_finite(part.standard.at_zero(w))))
                for a, w in zip(part.absent.tolist(), part.weights.tolist(), strict=True)
            ]
            out.append((part.name, "(missing)", at_mean))
    return out


def _finite(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def exhibit(title: str, names: Sequence[str], constant: NDArray[np.float64], parts: Sequence[Weighed]) -> Exhibit:
    """The weights of every output as a table."""
    rows: list[tuple[str | float, ...]] = [
        ("(constant)", *(constant_of(float(c), parts, k) for k, c in enumerate(constant)))
    ]
    for attribute, level, weights in weight_rows(parts):
        name = attribute if not level else f"{attribute} {level}" if level == "(missing)" else f"{attribute} = {level}"
        rows.append((name, *weights))
    return Exhibit(title, ("attribute", *names), tuple(rows))


def hyperplane(constant: float, parts: Sequence[Weighed], k: int) -> str:
    """Where output k is zero, as an equation in the attributes' own units.

    A level stands for 1 in rows that have it, and for 0 in all others.
    """
    words: list[str] = []
    for attribute, level, weights in weight_rows(parts):
        if weights[k]:
            name = attribute if not level else f"[{attribute}={level}]" if level != "(missing)" else f"[no {attribute}]"
            words.append(f"{_signed(weights[k], bool(words))}·{name}")
    at = constant_of(constant, parts, k)
    if not words:
        sign = "=" if at == 0 else "<" if at < 0 else ">"
        return f"{_signed(at, False)} {sign} 0 in every row: no attribute has a weight, so no plane parts the classes"
    words.append(_signed(at, bool(words)))
    return " ".join(words) + " = 0"


def plane_exhibit(equation: str, above: str) -> Exhibit:
    """The separating hyperplane of two classes, in lines that fit a table; `above` is the class where it is above 0."""
    lines = wrap(equation, 58, break_long_words=False, break_on_hyphens=False)
    rows = tuple((line, above if k == 0 else "…") for k, line in enumerate(lines))
    return Exhibit("Separating hyperplane", ("equation", "above 0"), rows)


def _signed(value: float, inside: bool) -> str:
    if not inside:
        return f"{value:.6g}".replace("-", "−", 1)
    return f"{'−' if value < 0 else '+'} {abs(value):.6g}"


# The columns that logistic regression turns a row into: which they are, and the rows of a batch as such.

ALIKE = 4.0
"""Standard deviations of a column in two sets of rows, and the distance of their means, differ by less than this."""


class Design:
    """The columns that a row is turned into: a constant 1, then those of each attribute in schema order.

    `whole`: the most frequent level of an attribute has a column too, so that any choice of levels can be had from it.
    """

    def __init__(self, summary: Summary, whole: bool = False) -> None:
        self.summary = summary
        self.blocks: list[tuple[int, Standard | tuple[str, list[str]]]] = []
        """Where the columns of each attribute begin; a number, or a nominal attribute and its levels."""
        self.left_out: list[str] = []
        size = 1
        for column in summary.schema.attributes:
            statistic = summary.columns[column.name]
            if isinstance(statistic, Counts):
                levels = sorted(statistic.labels.names) if whole else _levels_but_most_frequent(statistic)
                self.blocks.append((size, (column.name, levels)))
                size += len(levels)
                continue
            units = standard_of(column.name, summary.column(column.name, Numbers))
            if units is None:
                self.left_out.append(column.name)
                continue
            self.blocks.append((size, units))
            size += 1 + units.gone
        self.size = size
        nominal = [(at, block[1]) for at, block in self.blocks if not isinstance(block, Standard)]
        self.levels = tuple(len(names) for _, names in nominal)
        dense = [0, *(at + k for at, b in self.blocks if isinstance(b, Standard) for k in range(1 + b.gone))]
        self.dense = len(dense)
        self.order = np.array([*dense, *(at + k for at, names in nominal for k in range(len(names)))], np.intp)
        """The columns as a sheet has them: numbers first."""

    def sheet(self, batch: Batch, group: Ints, weight: NDArray[np.float64]) -> Sheet:
        """The rows that count, as `softmax` reads them."""
        counted = np.flatnonzero((group >= 0) & (weight > 0))
        if len(counted) < batch.rows:
            batch, group, weight = batch.take(counted), group[counted], weight[counted]
        dense = np.ones((batch.rows, self.dense))
        codes = np.empty((len(self.levels), batch.rows), np.int32)
        at = row = 0
        for _, block in self.blocks:
            if isinstance(block, Standard):
                cells = batch.cells[block.name]
                assert not isinstance(cells, Codes)
                dense[:, at + 1] = block.z(cells)
                if block.gone:
                    dense[:, at + 2] = ~np.isfinite(cells)
                at += 1 + block.gone
                continue
            name, levels = block
            held = batch.cells[name]
            assert isinstance(held, Codes)
            places, none = {level: k for k, level in enumerate(levels)}, len(levels)
            where = [*(places.get(n, none) for n in held.labels.names), none, none]
            codes[row] = np.array(where, np.int32)[held.codes]
            row += 1
        return Sheet(dense, codes, self.levels, group.astype(np.int32), np.ascontiguousarray(weight, np.float64))

    def parts(self, weights: NDArray[np.float64]) -> tuple[Weighed, ...]:
        """Weights (columns, classes) by attribute, as a model scores with them."""
        classes = weights.shape[1]
        out: list[Weighed] = []
        for at, block in self.blocks:
            if isinstance(block, Standard):
                gone = weights[at + 1] if block.gone else np.zeros(classes)
                out.append(Slope(block.name, block, weights[at], np.zeros(classes), gone))
            else:
                name, levels = block
                out.append(level_weights(name, {lv: weights[at + k] for k, lv in enumerate(levels)}, classes))
        return tuple(out)

    def columns_within(self, whole: Design) -> NDArray[np.float64] | None:
        """How columns of this design are made of those of another one, as (its columns, these): on rows of this one's
        summary, rows of that @ within = rows of this. None where numbers differ so much in mean or spread that rounding
        would be seen, or a level is not known there.

        A number in standard units here is one there, stretched and shifted; where it is missing, both are 0.
        """
        out = np.zeros((whole.size, self.size))
        out[0, 0] = 1.0
        numbers = {b.name: (at, b) for at, b in whole.blocks if isinstance(b, Standard)}
        nominal = {b[0]: (at, b[1]) for at, b in whole.blocks if not isinstance(b, Standard)}
        for at, block in self.blocks:
            if not isinstance(block, Standard):
                start, names = nominal[block[0]]
                index = {level: start + k for k, level in enumerate(names)}
                for k, level in enumerate(block[1]):
                    if level not in index:
                        return None
                    out[index[level], at + k] = 1.0
                continue
            start, other = numbers[block.name]
            if abs(other.shift - block.shift) > 8:
                return None
            stretch = float(np.ldexp(other.spread / block.spread, other.shift - block.shift))
            shift = block.distance(other)
            if not (1 / ALIKE < stretch < ALIKE and abs(shift) < ALIKE):
                return None
            out[start, at], out[0, at] = stretch, shift
            if other.gone:
                out[start + 1, at] = -shift
            if block.gone:
                out[start + 1, at + 1] = 1.0
        return out

    def translate_weights(
        self, weights: NDArray[np.float64], whole: Design, within: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Weights on the columns of the other design as weights on these. They say the same of every row, but for
        missing cells where another level has no column: good enough to begin with."""
        out = np.zeros((self.size, weights.shape[1]))
        out[0] = weights[0]
        theirs = {b.name if isinstance(b, Standard) else b[0]: (at, b) for at, b in whole.blocks}
        for at, block in self.blocks:
            if isinstance(block, Standard):
                start, shift = theirs[block.name][0], within[0, at]
                out[at] = weights[start] / within[start, at]
                out[0] -= shift * out[at]
                if block.gone:
                    out[at + 1] = weights[start + 1] + shift * out[at]
                continue
            start, other = theirs[block[0]]
            assert not isinstance(other, Standard)
            mine = set(block[1])
            known = self.summary.columns[block[0]]
            assert isinstance(known, Counts)
            without = [k for k, level in enumerate(other[1]) if level not in mine and level in known.labels.index]
            base = weights[start + without[0]] if without else np.zeros(weights.shape[1])
            out[0] += base
            index = {level: start + k for k, level in enumerate(other[1])}
            for k, level in enumerate(block[1]):
                out[at + k] = weights[index[level]] - base
        return out


def _levels_but_most_frequent(counts: Counts) -> list[str]:
    """The levels in order, without the one that weighs most."""
    names = sorted(counts.labels.names)
    if not names:
        return []
    weight = dict(zip(counts.labels.names, counts.table[: len(names)].sum(1).fractions(), strict=True))
    most = max(names, key=lambda n: (weight[n], -names.index(n)))
    return [n for n in names if n != most]


# Columns of logistic regression that bend: numbers with squares and products, or cut into bins; and what weights on
# them say of a row. Knows no search. Numbers that enter as they are, and levels beside them, are in columns.py.

CurveKind: TypeAlias = Literal["linear", "squares", "binned"]
CURVES: tuple[CurveKind, ...] = ("linear", "squares", "binned")
MOST_PAIRED = 40
"""Numbers up to which every two of them have a product; more have squares only."""
BINS = 8
"""Of about equal weight, where numbers are binned."""
SHOWN = 40
"""Weights shown to people at most: the largest."""


@kernel("f8[][], i8, i8, f8[][]")
def _expand(z: Floats, first: int, paired: int, out: Floats) -> None:
    """Squares of all z from column `first` on, then the product of every two where they are paired."""
    count = z.shape[1]
    for i in range(z.shape[0]):
        at = first
        for j in range(count):
            out[i, at] = z[i, j] * z[i, j]
            at += 1
        if paired:
            for j in range(count):
                for k in range(j + 1, count):
                    out[i, at] = z[i, j] * z[i, k]
                    at += 1


@dataclass(frozen=True)
class _Binned:
    name: str
    edges: NDArray[np.float64]
    gone: bool

    @property
    def columns(self) -> int:
        return len(self.edges) + 1 + self.gone


class Curves:
    """The columns that a row is turned into: a constant 1, those of numbers, then one for each bin and level.

    With squares: z of each number, indicators of missing cells where training had some, z² of each, and the product of
    every two numbers. Every level and bin has a column: ridge decides between them, no level is the measure of others.
    """

    def __init__(self, summary: Summary, numbers: CurveKind) -> None:
        self.summary, self.numbers = summary, numbers
        self.left_out: list[str] = []
        self.units: list[Standard] = []
        self.indexed: list[_Binned | tuple[str, list[str]]] = []
        for column in summary.schema.attributes:
            statistic = summary.columns[column.name]
            if isinstance(statistic, Counts):
                self.indexed.append((column.name, sorted(statistic.labels.names)))
            elif isinstance(statistic, Numbers):
                units = standard_of(column.name, statistic)
                if units is None:
                    self.left_out.append(column.name)
                elif numbers == "binned":
                    edges = edges_of(read_tally(statistic), "frequency", BINS, "left")
                    self.indexed.append(_Binned(column.name, edges, units.gone))
                else:
                    self.units.append(units)
        count = len(self.units)
        self.gone = [k for k, units in enumerate(self.units) if units.gone]
        self.pairs = [(i, j) for i in range(count) for j in range(i + 1, count)] if count <= MOST_PAIRED else []
        self.first = 1 + count + len(self.gone)
        """Where squares begin."""
        self.dense = self.first + count + len(self.pairs)
        self.levels = tuple(b.columns if isinstance(b, _Binned) else len(b[1]) for b in self.indexed)
        self.size = self.dense + sum(self.levels)
        self.order = np.arange(self.size)

    def sheet(self, batch: Batch, group: Ints, weight: NDArray[np.float64]) -> Sheet:
        """The rows that count, as `softmax` reads them."""
        counted = np.flatnonzero((group >= 0) & (weight > 0))
        if len(counted) < batch.rows:
            batch, group, weight = batch.take(counted), group[counted], weight[counted]
        dense = np.ones((batch.rows, self.dense))
        z = np.empty((batch.rows, len(self.units)))
        for k, units in enumerate(self.units):
            z[:, k] = units.near(batch.cells[units.name])
        dense[:, 1 : 1 + len(self.units)] = z
        for at, k in enumerate(self.gone, 1 + len(self.units)):
            dense[:, at] = ~np.isfinite(batch.cells[self.units[k].name])
        _expand(z, self.first, int(bool(self.pairs)), dense)
        codes = np.empty((len(self.levels), batch.rows), np.int32)
        for row, block in zip(codes, self.indexed, strict=True):
            if isinstance(block, _Binned):
                found = bin_of(block.edges, batch.cells[block.name])
                row[:] = np.where(found < 0, np.int32(len(block.edges) + 1), found)
                continue
            held: Codes = batch.cells[block[0]]
            places, none = {level: k for k, level in enumerate(block[1])}, len(block[1])
            row[:] = np.array([*(places.get(n, none) for n in held.labels.names), none, none], np.int32)[held.codes]
        return Sheet(dense, codes, self.levels, group.astype(np.int32), np.ascontiguousarray(weight, np.float64))

    def parts(self, weights: NDArray[np.float64]) -> tuple[shapes.Curve | BinTable | LevelTable, ...]:
        """Weights (columns, classes) by attribute, in schema order."""
        classes, count = weights.shape[1], len(self.units)
        found: dict[str, shapes.Curve | BinTable | LevelTable] = {}
        curve = np.zeros((count, count, classes))
        behind = self.first + count
        for k in range(count):
            curve[k, k] = weights[self.first + k]
        for k, (i, j) in enumerate(self.pairs):
            curve[i, j] = curve[j, i] = weights[behind + k] / 2
        for k, units in enumerate(self.units):
            absent = weights[1 + count + self.gone.index(k)] if k in self.gone else np.zeros(classes)
            some = slice(None) if self.pairs else slice(k, k + 1)
            each = np.ascontiguousarray(np.concatenate([curve[k, some], weights[1 + k : 2 + k]]))
            at = k if self.pairs else 0
            nothing = np.zeros(classes)
            found[units.name] = shapes.Curve(
                units.name, at, tuple(self.units[some]), each, nothing, np.ascontiguousarray(absent)
            )
        at = self.dense
        for block, size in zip(self.indexed, self.levels, strict=True):
            own = weights[at : at + size]
            at += size
            if isinstance(block, _Binned):
                table = own if block.gone else np.concatenate([own, np.zeros((1, classes))])
                found[block.name] = BinTable(block.name, block.edges, np.ascontiguousarray(table))
            else:
                found[block[0]] = level_weights(block[0], dict(zip(block[1], own, strict=True)), classes)
        return tuple(found[c.name] for c in self.summary.schema.attributes if c.name in found)

    def named(self) -> list[str]:
        """What each column is called."""
        names = [u.name for u in self.units]
        out = ["(constant)", *names, *(f"{names[k]} (missing)" for k in self.gone), *(f"{n}²" for n in names)]
        out += [f"{names[i]} × {names[j]}" for i, j in self.pairs]
        for block in self.indexed:
            if isinstance(block, _Binned):
                told = [*bin_names(block.edges, "left"), *(["(missing)"] if block.gone else [])]
                out += [f"{block.name} {bin_name}" for bin_name in told]
            else:
                out += [f"{block[0]} = {level}" for level in block[1]]
        return out

    def exhibit(self, title: str, outputs: Sequence[str], weights: NDArray[np.float64]) -> Exhibit:
        """The constant and the largest weights of some outputs, numbers in standard units."""
        names, size = self.named(), np.abs(weights[1:]).max(axis=1, initial=0.0)
        kept = sorted(1 + np.argsort(-size, kind="stable")[:SHOWN])
        title += ", numbers in standard deviations from their mean"
        if len(size) > SHOWN:
            title += f": the {SHOWN} largest of {len(size):,}"
        rows = tuple((names[k], *weights[k].tolist()) for k in (0, *kept))
        return Exhibit(title, ("attribute", *outputs), rows)
