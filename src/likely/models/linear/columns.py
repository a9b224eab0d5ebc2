"""The columns that logistic regression turns a row into: which they are, and the rows of a batch as such.

Knows no weights. How a number becomes standard units is in design.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Ints
from likely.models.linear.design import Weighed, level_weights, standard_of
from likely.models.linear.softmax import Sheet
from likely.models.shapes import Slope, Standard
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.summary import Summary
from likely.table.batch import Batch, Codes

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
