"""Attributes that repeat each other given the class: in bits, by chance or not, and what it does to the odds."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from likely.evaluate.attributes.information import AttributeInformation, attributes
from likely.evaluate.kernels import sample_rows, sample_share
from likely.intake.engine import Piece
from likely.machinery.distributions import gamma_tail
from likely.sums.rows.rows import cell_bits
from likely.sums.summary import Summary
from likely.table.batch import Codes

if TYPE_CHECKING:
    from numpy.typing import NDArray


# How far two attributes repeat each other given the class: in bits, by chance or not, and what it does to the odds.

Counts3: TypeAlias = "NDArray[np.float64]"
"""(levels of one, levels of the other, classes)"""


@dataclass(frozen=True)
class Repetition:
    """What a table of two attributes and the class says."""

    bits: float
    """I(one; other | class), corrected for the number of cells (Miller and Madow), never below zero."""
    share: float
    """Of what there is to know, given the class, of the less varied of the two: 1 where one tells the other."""
    statistic: float
    """Pearson's chi-square, added up over the classes."""
    freedom: float
    """Degrees of freedom: (levels - 1) * (levels - 1) in each class, of the levels that the class has."""
    p: float
    """How often chance alone would give as much, were the two independent in every class."""


def _entropy(counts: NDArray[np.float64]) -> float:
    n = counts[counts > 0]
    return float(np.log(n.sum()) - (n * np.log(n)).sum() / n.sum()) if len(n) else 0.0


def repetition(table: Counts3) -> Repetition:
    """Measure and test one pair.

    The test adds Pearson's statistic over the classes. Its mean and variance where nothing but chance is at work are
    known exactly, however empty the table is, when the margins are held (Haldane 1940): the p-value is that of a
    gamma variable of that mean and variance. (The usual limit, chi-square, is off where cells expect few rows.)

    >>> copy = np.zeros((2, 2, 2)); copy[0, 0] = (30, 10); copy[1, 1] = (10, 30)
    >>> found = repetition(copy)
    >>> round(found.share, 2), found.p < 1e-9
    (0.98, True)
    """
    one, other, whole = table.sum(axis=1), table.sum(axis=0), table.sum(axis=(0, 1))
    total = float(whole.sum())
    if total <= 0:
        return Repetition(0.0, 0.0, 0.0, 0.0, 1.0)
    known = _entropy(whole)
    first, second = _entropy(one.ravel()) - known, _entropy(other.ravel()) - known
    levels, others = np.count_nonzero(one, axis=0), np.count_nonzero(other, axis=0)
    freedom = float((np.maximum(levels - 1, 0) * np.maximum(others - 1, 0)).sum())
    raw = first + second + known - _entropy(table.ravel())
    nats = max(raw - freedom / (2 * total), 0.0)
    least = min(first, second)
    statistic, mean, variance = _tested(table, one, other, whole)
    p = gamma_tail(mean * mean / variance, statistic * mean / variance) if variance > 0 else 1.0
    return Repetition(nats / math.log(2), min(nats / least, 1.0) if least > 0 else 0.0, statistic, freedom, p)


def _tested(
    table: Counts3, one: NDArray[np.float64], other: NDArray[np.float64], whole: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Pearson's statistic over the classes, with its mean and variance under chance; classes of few rows are left out.

    For a class of n rows with margins r_i and s_j: mean n/(n-1) (R-1)(S-1), and variance
    2n/(n-3) (v-w)(v'-w') + n²/(n-1) w w', where v = (R-1)(n-R)/(n-1) and w = (Σ n/r_i - R²)/(n-2).
    """
    at, beside, group = np.nonzero(table)
    seen = table[at, beside, group]
    spread = np.bincount(group, seen * seen / (one[at, group] * other[beside, group]), len(whole))
    levels, others = np.count_nonzero(one, axis=0), np.count_nonzero(other, axis=0)
    some = (whole > 3) & (levels > 1) & (others > 1)
    n, r, s = whole[some], levels[some], others[some]
    if not len(n):
        return 0.0, 0.0, 0.0
    (v1, w1), (v2, w2) = _margin(one[:, some], n, r), _margin(other[:, some], n, s)
    statistic, mean = n * (spread[some] - 1), n / (n - 1) * (r - 1) * (s - 1)
    variance = 2 * n / (n - 3) * (v1 - w1) * (v2 - w2) + n * n / (n - 1) * w1 * w2
    return float(statistic.sum()), float(mean.sum()), float(variance.sum())


def _margin(
    margin: NDArray[np.float64], n: NDArray[np.float64], levels: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """v and w of `_tested` for one side of the table."""
    turned = np.divide(1.0, margin, out=np.zeros_like(margin), where=margin > 0).sum(axis=0)
    return (levels - 1) * (n - levels) / (n - 1), (n * turned - levels**2) / (n - 2)


@dataclass(frozen=True)
class Push:
    """What counting two attributes as if they were independent does to the odds of the true class."""

    bits: float
    """How much too far the pair moves the log-odds, in the mean over the rows: 1 bit is a factor of 2. A copy moves
    them by its whole evidence once more; below zero, the two together say more than each by itself."""
    gain: float
    """Bits a row by which the pair alone predicts the class better when its two are joined."""


def push(table: Counts3, pseudo_count: float = 1.0) -> Push:
    """Compare P(a | class) P(b | class) with P(a, b | class), for each row by what the other rows teach.

    Each row is left out of the counts that judge it, since otherwise a cell of one row would predict itself. Where
    rows are few the joint probability leans on independence: it is (n + k) / (e + k) times the product, where e is the
    count that independence expects. How strongly, k, is read off the table (`_leaning`). Differences have the sign of
    the evidence, so that those of chance cancel each other (tests/evaluate/test_information.py).
    """
    at, beside, group = np.nonzero(table)
    classes = table.shape[2]
    k = _leaning(table)
    if not len(at) or classes < 2 or math.isinf(k):
        return Push(0.0, 0.0)
    weight = table[at, beside, group]
    mine = np.arange(classes) == group[:, None]
    # A row counts for one, a row of less weight for as much as it has.
    own = np.where(mine, np.minimum(weight, 1.0)[:, None], 0.0)
    joint = table[at, beside] - own
    one, other = table.sum(axis=1)[at] - own, table.sum(axis=0)[beside] - own
    whole = table.sum(axis=(0, 1)) - own
    with np.errstate(divide="ignore", invalid="ignore"):
        prior = np.log(whole)
        first, second = (
            (n + pseudo_count) / (whole + size * pseudo_count)
            for n, size in zip((one, other), table.shape[:2], strict=True)
        )
        apart = prior + np.log(first) + np.log(second)
        expected = np.divide(one * other, whole, out=np.zeros_like(one), where=whole > 0)
        bond = np.log((joint + k) / (expected + k))
        before, twice, joined = (_log_odds(x, mine) for x in (prior, apart, apart + bond))
        good = np.isfinite(before) & np.isfinite(twice) & np.isfinite(joined)
    if not good.any():  # classes of one row each, which left out leave nothing to compare
        return Push(0.0, 0.0)
    before, twice, joined = before[good], twice[good], joined[good]
    share = weight[good] / weight[good].sum() / math.log(2)
    gain = np.logaddexp(0, -twice) - np.logaddexp(0, -joined)
    return Push(float((share * np.sign(twice - before) * (twice - joined)).sum()), float((share * gain).sum()))


def copy_push(table: Counts3, pseudo_count: float = 1.0) -> float:
    """What an attribute that was entered twice does: bits by which its evidence, once more, moves the log-odds.

    In the mean over the rows, of the true class against the others. Nothing is estimated, so no row is left out.

    >>> copy = np.zeros((2, 2, 2)); copy[0, 0] = (3, 1); copy[1, 1] = (1, 3)
    >>> round(copy_push(copy), 9)  # every row: log2 of (3 + 1) / (1 + 1)
    1.0
    """
    counts = table.sum(axis=1)
    at, group = np.nonzero(counts)
    if not len(at) or table.shape[2] < 2:
        return 0.0
    weight, whole = counts[at, group], counts.sum(axis=0)
    mine = np.arange(table.shape[2]) == group[:, None]
    with np.errstate(divide="ignore"):
        prior = np.log(whole)
        once = np.log((counts[at] + pseudo_count) / (whole + len(counts) * pseudo_count))
    moved = _log_odds(prior + 2 * once, mine) - _log_odds(prior + once, mine)
    good = np.isfinite(moved)
    return float((weight[good] * np.abs(moved[good])).sum() / weight[good].sum() / math.log(2)) if good.any() else 0.0


def _leaning(table: Counts3) -> float:
    """How far counts lean on independence, in rows: infinitely, where chance explains how they stray from it.

    If a true count is e times a gamma variable of mean 1 and shape k, then (n - e)² / e is 1 + e/k in the mean, so that
    Pearson's statistic exceeds what chance gives by (all rows) / k. (Empirical Bayes: a table full of exceptions is
    believed in its exceptions.)
    """
    statistic, mean, _ = _tested(table, table.sum(axis=1), table.sum(axis=0), table.sum(axis=(0, 1)))
    return float(table.sum()) / (statistic - mean) if statistic > mean else math.inf


def _log_odds(logs: NDArray[np.float64], mine: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Of the true class against all others."""
    rest = np.where(mine, -np.inf, logs)
    top = rest.max(axis=1, keepdims=True)
    out: NDArray[np.float64] = logs[mine] - top[:, 0] - np.log(np.exp(rest - top).sum(axis=1))
    return out


def holm(chances: list[float]) -> list[float]:
    """p-values that account for how many were looked at: below 0.01 with at most that chance for any of them (Holm).

    It holds however the tests depend on each other: pairs that share an attribute do.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(chances)), key=lambda k: chances[k])
    out, highest = [1.0] * len(chances), 0.0
    for rank, k in enumerate(order):
        highest = max(highest, min(1.0, (len(chances) - rank) * chances[k]))
        out[k] = highest
    return out


# Attributes that repeat each other given the class, found on a random sample of rows (by row number, so
# repeatable).

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
REPEATED_BY_CHANCE = 0.01
"""A pair is significant below this, after Holm's correction for all pairs looked at."""
FAR = 0.5
"""Bits of log-odds too far, in the mean over the rows, from which on a pair matters."""

FELT = 0.1
"""Of two that are the same in every row: bits too far from which on that matters. It is exact, so little is enough."""


@dataclass(frozen=True)
class RepeatedPair:
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


def outside(pairs: Iterable[RepeatedPair], blocks: Iterable[Collection[str]]) -> tuple[RepeatedPair, ...]:
    """The same pairs, but those that are joined in a block do not matter: they are counted once."""
    held = list(blocks)

    def joined(pair: RepeatedPair) -> bool:
        return any(pair.one in block and pair.other in block for block in held)

    return tuple(replace(pair, matters=False) if joined(pair) else pair for pair in pairs)


class Sampler:
    """Keeps codes of some rows of a sweep, to compare attributes with each other: their classes, and levels or bins of
    the attributes worth comparing (-1 is missing)."""

    def __init__(self, total: Summary, found: list[AttributeInformation] | None = None) -> None:
        every = attributes(total) if found is None else found
        self.attributes = [a for a in every if 2 <= len(a.cells) <= MOST_LEVELS][:MOST_ATTRIBUTES]
        self.classes = len(total.classes)
        self._share = sample_share(total, SAMPLE)
        self._rows: list[NDArray[np.int32]] = []
        self._values: list[NDArray[np.uint64]] = []
        self._sizes: list[int] = []

    def take(self, piece: Piece, start: int) -> None:
        """Keep the codes of those rows of a piece that their numbers choose."""
        batch, rows = piece.batch, sample_rows(piece.batch, start, self._share)
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

    def __add__(self, other: Sampler) -> Sampler:
        out = copy(self)
        out._rows = self._rows + other._rows
        out._values = self._values + other._values
        return out

    def pairs(self) -> list[RepeatedPair]:
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
        found: list[tuple[RepeatedPair, int, int]] = []
        for i, j in combinations(range(len(self.attributes)), 2):
            table = self._table(cells[i], cells[j], group, i, j)
            if table is None:
                continue
            told = repetition(table)
            one, other = self.attributes[i].name, self.attributes[j].name
            same = whole[i] == whole[j] and len(np.unique(values[i])) > 1
            pair = RepeatedPair(one, other, told.bits, told.share, told.p, 1.0, rows=int(table.sum()), same=same)
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
            elif pair.p_of_all < REPEATED_BY_CHANCE and wanted:
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
