"""Attributes that repeat each other given the class, found on a random sample of rows (by row number, so repeatable).

A pair is worth a word where chance hardly explains it, however many pairs were looked at, and where it matters.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from likely.evaluate.attributes.information import Attribute, attributes
from likely.evaluate.attributes.repetition import copy_push, holm, push, repetition
from likely.evaluate.sampling import sample_rows, sample_share
from likely.intake.row_cache import Piece
from likely.sums.rows.row_hashes import cell_bits
from likely.sums.summary import Summary
from likely.table.batch import Batch, Codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAMPLE = 5000
MOST_ATTRIBUTES = 45
"""The most informative; they make 990 pairs."""
MOST_LEVELS = 64
ROWS_A_CELL = 10
LEAST_BINS = 4
"""Numbers are compared in bins so wide that cells have rows enough to say how two go together, but in no fewer."""
MOST_CELLS = 2_000_000
"""Tables of more cells (levels of one, of the other, classes) are not made."""
MOST_PUSHES = 300
"""Of so many pairs, those that share most, it is worked out how far they push the odds."""
CHANCE = 0.01
"""A pair is significant below this, after Holm's correction for all pairs looked at."""
FAR = 0.5
"""Bits of log-odds too far, in the mean over the rows, from which on a pair matters."""

FELT = 0.1
"""Of two that are the same in every row: bits too far from which on that matters. It is exact, so little is enough."""


@dataclass(frozen=True)
class Pair:
    """Two attributes, and how far they repeat each other in rows of one class."""

    one: str
    other: str
    bits: float
    """I(one; other | class), corrected for the number of cells."""
    share: float
    """Of what there is to know, given the class, of the less varied of the two."""
    p: float
    """How often chance alone would give as much."""
    p_of_all: float
    """The same, corrected for how many pairs were looked at (Holm)."""
    push: float | None = None
    """Bits by which the two, counted as independent, move the log-odds too far; None where not worked out."""
    gain: float | None = None
    """Bits a row by which the two alone tell more of the class when joined."""
    rows: int = 0
    """Rows of the sample that have both."""
    matters: bool = False
    """Whether it is worth a word: the two are the same, and that is felt in the odds (FELT); or chance hardly explains
    it (below CHANCE), and it moves the odds far enough (FAR)."""
    same: bool = False
    """Whether both have the same value in every row that was looked at: a fact, which needs no test of chance."""


def outside(pairs: Iterable[Pair], blocks: Iterable[Collection[str]]) -> tuple[Pair, ...]:
    """The same pairs, but those that are joined in a block do not matter: they are counted once."""
    held = list(blocks)

    def joined(pair: Pair) -> bool:
        return any(pair.one in block and pair.other in block for block in held)

    return tuple(replace(pair, matters=False) if joined(pair) else pair for pair in pairs)


class Sample:
    """Codes of some rows: their classes, and levels or bins of the attributes worth comparing (-1 is missing)."""

    def __init__(self, found: list[Attribute], classes: int) -> None:
        self.attributes = [a for a in found if 2 <= len(a.cells) <= MOST_LEVELS][:MOST_ATTRIBUTES]
        self.classes = classes
        self._rows: list[NDArray[np.int32]] = []
        self._values: list[NDArray[np.uint64]] = []
        self._sizes: list[int] = []

    def take(self, batch: Batch, rows: NDArray[np.intp]) -> None:
        """Keep the codes of these rows."""
        assert batch.target is not None
        out = np.empty((1 + len(self.attributes), len(rows)), np.int32)
        values = np.empty((len(self.attributes), len(rows)), np.uint64)
        out[0] = batch.target.codes[rows]
        for k, attribute in enumerate(self.attributes, 1):
            cell = batch.cells[attribute.name]
            if isinstance(cell, Codes):
                out[k] = cell.codes[rows]
                values[k - 1] = _level_hashes(cell.labels.names)[out[k]]
            else:
                x = cell[rows]
                codes = np.searchsorted(np.array(attribute.edges), x, side="right")
                out[k] = np.where(np.isfinite(x), codes, -1)
                values[k - 1] = cell_bits(x)
        self._rows.append(out)
        self._values.append(values)

    def __add__(self, other: Sample) -> Sample:
        out = Sample(self.attributes, self.classes)
        out._rows = self._rows + other._rows
        out._values = self._values + other._values
        return out

    def pairs(self) -> list[Pair]:
        """All pairs, those that push the odds farthest first."""
        if not self._rows:
            return []
        codes = np.concatenate(self._rows, axis=1).astype(np.intp)
        group, cells, self._sizes = codes[0], codes[1:], []
        for k, attribute in enumerate(self.attributes):
            size = len(attribute.cells)
            if attribute.edges and size > (most := self._bins(len(group))):
                cells[k] = np.where(cells[k] < 0, -1, cells[k] * most // size)
                size = most
            self._sizes.append(size)
        values = np.concatenate(self._values, axis=1)
        whole = [row.tobytes() for row in values]
        found: list[tuple[Pair, int, int]] = []
        for i, j in combinations(range(len(self.attributes)), 2):
            table = self._table(cells[i], cells[j], group, i, j)
            if table is None:
                continue
            told = repetition(table)
            one, other = self.attributes[i].name, self.attributes[j].name
            same = whole[i] == whole[j] and len(np.unique(values[i])) > 1
            pair = Pair(one, other, told.bits, told.share, told.p, 1.0, rows=int(table.sum()), same=same)
            found.append((pair, i, j))
        corrected = holm([pair.p for pair, _, _ in found])
        out, wanted = [], MOST_PUSHES
        order = sorted(range(len(found)), key=lambda k: -found[k][0].bits)
        for k in order:
            pair, i, j = found[k]
            pair = replace(pair, p_of_all=corrected[k])
            if pair.same:
                table = self._table(cells[i], cells[j], group, i, j)
                assert table is not None
                pushed_by = copy_push(table)
                pair = replace(pair, share=1.0, push=pushed_by, matters=pushed_by >= FELT)
            elif pair.p_of_all < CHANCE and wanted:
                wanted -= 1
                table = self._table(cells[i], cells[j], group, i, j)
                assert table is not None
                pushed = push(table)
                pair = replace(pair, push=pushed.bits, gain=pushed.gain, matters=pushed.bits >= FAR)
            out.append(pair)
        return sorted(out, key=lambda p: (p.same, -np.inf if p.push is None else p.push, p.bits), reverse=True)

    def _bins(self, rows: int) -> int:
        """So many bins of a number that a cell of two of them and a class has about ROWS_A_CELL rows."""
        return max(LEAST_BINS, math.isqrt(int(rows / (ROWS_A_CELL * self.classes))))

    def _table(
        self, one: NDArray[np.intp], other: NDArray[np.intp], group: NDArray[np.intp], i: int, j: int
    ) -> NDArray[np.float64] | None:
        """Counts of level, level and class; None where they would be too many."""
        shape = self._sizes[i], self._sizes[j], self.classes
        if shape[0] * shape[1] * shape[2] > MOST_CELLS:
            return None
        key = (one * shape[1] + other) * shape[2] + group
        both = (one >= 0) & (other >= 0)
        counted = np.bincount(key if both.all() else key[both], minlength=shape[0] * shape[1] * shape[2])
        return counted.reshape(shape).astype(np.float64)


def _level_hashes(names: Sequence[str]) -> NDArray[np.uint64]:
    """For each level 64 bits that are those of the same level in any other column; for the code of a missing cell 0.

    Codes cannot be compared: each column numbers its levels as they come.
    """
    out = [int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()) for name in names]
    return np.array([*out, 0], np.uint64)


class Sampler:
    """Keeps some of the rows of a sweep, to compare attributes with each other."""

    def __init__(self, total: Summary, found: list[Attribute] | None = None) -> None:
        self.attributes = attributes(total) if found is None else found
        self.sample = Sample(self.attributes, len(total.classes))
        self._share = sample_share(total, SAMPLE)

    def take(self, piece: Piece, start: int) -> None:
        """Keep those rows of a piece that their numbers choose."""
        self.sample.take(piece.batch, sample_rows(piece.batch, start, self._share))


def chance(p: float) -> str:
    """A p-value in words.

    >>> chance(1e-9), chance(0.0123)
    ('p < 0.001', 'p = 0.012')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
