"""Columns of logistic regression that bend: numbers with squares and products, or cut into bins; and what weights on
them say of a row. Knows no search. Numbers that enter as they are, and levels beside them, are in columns.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from likely.machinery.arrays import Floats, Ints
from likely.machinery.jit import kernel
from likely.models import shapes
from likely.models.factors.bins import edges_of
from likely.models.factors.value_tally import read_tally
from likely.models.linear.design import level_weights, standard_of
from likely.models.linear.softmax import Sheet
from likely.models.shapes import BinTable, Exhibit, LevelTable, Standard, bin_names, bin_of
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.summary import Summary
from likely.table.batch import Batch, Codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

Curve: TypeAlias = Literal["linear", "squares", "binned"]
CURVES: tuple[Curve, ...] = ("linear", "squares", "binned")
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

    def __init__(self, summary: Summary, numbers: Curve) -> None:
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
