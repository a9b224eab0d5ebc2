"""How sure an answer is, by what held-out rows really did: an interval for each probability, and a set of classes that
holds the true one as often as was asked. Knows probabilities and outcomes; neither rows nor models.

Intervals are inductive Venn-Abers predictors (isotonic regression of what happened on what was said, with the new row
as one of the class, and as none), widened by Wilson's bounds of the rows in the block. Sets are conformal: of each
class the least probability that a row of it gets is known, as a share of its rows (Mondrian, by class).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import SettingError, shown
from likely.machinery.arrays import Bools, Floats, Longs
from likely.machinery.jit import kernel
from likely.models.kernels import TIE
from likely.sums.state import read_finite, require
from likely.table.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_STEPS = 512
"""Steps of a class at most; rows of fewer different probabilities have a step each."""
MOST_NUMBERS = 16_384
"""Steps of all classes together, but for a few of each."""
LEAST_STEPS = 16
RARE = 0.2
"""Share of the rows of a class, those that are least probable, that has as many steps as the others: sets end there."""
GAPS = 4
"""Rows are told apart by how much of them is unknown: nothing (0), up to a third, up to two thirds, more, all."""
LEAST_MISSED = 10.0
"""A class has a limit of its own from so many rows on that it may miss: below, rare classes have one together."""


@dataclass(frozen=True, eq=False)
class Guarantee:
    """What held-out rows did, by the probability that a class was given: steps of (low, high, of the class, others).

    Rows count as many as would be as sure if all weighed the same, so that a new row weighs 1.

    >>> said = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.2, 0.8]])
    >>> found = Guarantee.of(said, np.array([0, 0, 1, 1]), np.ones(4))
    >>> found.sets(np.array([[0.85, 0.15]]), 0.5).tolist()
    [[True, False]]
    """

    steps: tuple[Floats, ...]
    """For each class, (steps, 4), the least probable first."""

    @classmethod
    def of(cls, said: Floats, truth: Longs, weight: Floats, squares: Floats | None = None) -> Guarantee:
        """From P(class | row) of rows that were not learned from, (rows, classes), and the class of each. `squares` are
        those of the weights of rows that were put together."""
        sure = weight * (math.fsum(weight) / math.fsum(weight**2 if squares is None else squares))
        most = min(MOST_STEPS, max(MOST_NUMBERS // said.shape[1], LEAST_STEPS))
        return cls(tuple(_steps(column, truth == k, sure, most) for k, column in enumerate(said.T)))

    def as_one(self) -> Guarantee:
        """The same where all rows are answered alike, whatever the answer: one step for each class."""
        return Guarantee(tuple(np.array([[0.0, 1.0, *own[:, 2:].sum(axis=0)]]) for own in self.steps))

    def __eq__(self, other: object) -> bool:
        """Whether the same became of held-out rows."""
        if not isinstance(other, Guarantee) or len(self.steps) != len(other.steps):
            return NotImplemented
        return all(np.array_equal(a, b) for a, b in zip(self.steps, other.steps, strict=True))

    __hash__ = None  # type: ignore[assignment]

    @property
    def rows(self) -> float:
        """Held-out rows behind it."""
        return float(self.steps[0][:, 2:].sum()) if self.steps else 0.0

    def intervals(self, said: Floats, level: float) -> tuple[Floats, Floats]:
        """For each probability where the share of the class lies among rows that are answered so, (rows, classes)
        twice. NaN where a row has no probabilities."""
        z = normal_bound(level)
        low, high = np.empty_like(said), np.empty_like(said)
        for k, (own, found) in enumerate(zip(self.steps, self._isotonic, strict=True)):
            place = _place(own, said[:, k])
            low[:, k] = _wilson(found[place, 0], found[place, 1], -z)
            high[:, k] = _wilson(found[place, 2], found[place, 3], z)
        none = ~(said.sum(axis=1) > 0)
        low[none] = high[none] = np.nan
        return low, high

    @cached_property
    def _isotonic(self) -> tuple[Floats, ...]:
        """For each class and place (before, in and after each step): share and rows of the block of a new row there,
        if it is none of the class, and if it is one."""
        out = []
        for own in self.steps:
            found = np.empty((2 * len(own) + 1, 4))
            fit_with_new(np.ascontiguousarray(own[:, 2:]), np.empty((len(own) + 1, 3)), found)
            out.append(found)
        return tuple(out)

    def steps_of(self, k: int, level: float) -> tuple[Floats, Floats, Floats]:
        """The intervals of a class as steps: from which probability on, low, high. What lies between the probabilities
        of two steps is a step as well."""
        own, found, z = self.steps[k], self._isotonic[k], normal_bound(level)
        starts = np.empty(len(found))
        # Just beyond a step: the next double.
        starts[0], starts[1::2], starts[2::2] = 0.0, own[:, 0], np.nextafter(own[:, 1], 2.0)
        return starts, _wilson(found[:, 0], found[:, 1], -z), _wilson(found[:, 2], found[:, 3], z)

    def sets(self, said: Floats, level: float) -> Bools:
        """Which classes are in the set of each row, (rows, classes): the true one is with at least this probability,
        for rows of each class by itself. The most probable class always is; none is where a row has no probabilities.
        """
        inside = said >= self.limits(level)
        some = said.sum(axis=1) > 0
        inside[np.arange(len(said)), said.argmax(axis=1)] = True
        return np.asarray(inside & some[:, None])

    def limits(self, level: float) -> Floats:
        """The probability from which on each class is in the set; 0 where too few of its rows were held out to leave
        any out."""
        check_level(level)
        rows = np.array([own[:, 2].sum() for own in self.steps])
        few = rows * (1 - level) < LEAST_MISSED
        out = np.empty(len(rows))
        for k, own in enumerate(self.steps):
            out[k] = _limit(own, level)
        if few.any():
            out[few] = _limit(np.concatenate([own for own, rare in zip(self.steps, few, strict=True) if rare]), level)
        return out * (1 - TIE)

    @classmethod
    def from_state(cls, found: object, classes: int) -> Guarantee:
        """As a file holds it, an array for each class; what cannot be is refused."""
        steps = []
        require(isinstance(found, list), "steps are a list")
        assert isinstance(found, list)
        for own in found:
            count = len(own) if isinstance(own, np.ndarray) else 0
            steps.append(read_finite(own, (count, 4), "steps of a class", least=0.0))
        require(len(steps) == classes and all(map(len, steps)), "every class has steps")
        for own in steps:
            bounds = own[:, :2].reshape(-1)
            require(bool((bounds[1:] >= bounds[:-1]).all() and bounds[-1] <= 1 + 1e-9), "steps are in order")
            require(bool((own[:, 2:].sum(axis=1) > 0).all()), "steps have rows")
        return cls(tuple(steps))


def sets_by_gap(held: Sequence[Guarantee], said: Floats, gaps: NDArray[np.int8], level: float) -> Bools:
    """The set of each row by what is known of rows with such a gap; no class is in it where nothing is known."""
    out = np.zeros(said.shape, np.bool_)
    for gap, own in enumerate(held):
        rows = np.flatnonzero(gaps == gap)
        out[rows] = own.sets(said[rows], level)
    return out


def intervals_by_gap(
    held: Sequence[Guarantee], said: Floats, gaps: NDArray[np.int8], level: float
) -> tuple[Floats, Floats]:
    """The interval of each probability by what is known of rows with such a gap; NaN where nothing is."""
    low, high = np.full(said.shape, np.nan), np.full(said.shape, np.nan)
    for gap, own in enumerate(held):
        rows = np.flatnonzero(gaps == gap)
        low[rows], high[rows] = own.intervals(said[rows], level)
    return low, high


def masked_names(schema: Schema) -> list[str]:
    """The attributes whose cells may be unknown: of a text there is no such thing."""
    return [column.name for column in schema.attributes if column.kind != "text"]


def gap_counts(gap: int, attributes: int) -> Longs:
    """How many of the attributes are unknown in rows with such a gap."""
    counts = np.arange(1, attributes + 1)
    return np.asarray(counts[gaps_of(counts, attributes) == gap])


def gaps_of(unknown: Longs, attributes: int) -> NDArray[np.int8]:
    """For numbers of unknown cells which gap a row has; 0: none."""
    part = np.ceil(unknown * (GAPS - 1) / max(attributes, 1))
    return np.where((unknown == attributes) & (unknown > 0), GAPS, part).astype(np.int8)


def check_level(level: float) -> float:
    """The probability asked for, or why it is none."""
    if isinstance(level, bool) or not isinstance(level, (int, float)) or not 0 < level < 1:
        raise SettingError(f"A level of {shown(level)} cannot be asked for. Give a share such as 0.9.")
    return float(level)


def normal_bound(level: float) -> float:
    """Standard errors to both sides that hold so much of a normal distribution."""
    return NormalDist().inv_cdf((1 + check_level(level)) / 2)


def _wilson(share: Floats, rows: Floats, z: float) -> Floats:
    """Wilson's lower bound (z < 0) or upper bound of shares."""
    square = z * z / rows
    half = np.sqrt(np.maximum(share * (1 - share), 0.0) / rows + square / (4 * rows))
    out = np.clip((share + square / 2 + z * half) / (1 + square), 0.0, 1.0)
    return np.asarray(np.where((share <= 0) & (z < 0), 0.0, np.where((share >= 1) & (z > 0), 1.0, out)))


def _place(own: Floats, said: Floats) -> Longs:
    """2j + 1 in step j, 2j before it."""
    below = np.searchsorted(own[:, 0] * (1 - TIE), said, side="right")
    within = (below > 0) & (said <= own[np.maximum(below - 1, 0), 1] * (1 + TIE))
    return np.asarray(2 * below - within, np.int64)


def _limit(own: Floats, level: float) -> float:
    """The greatest probability that at least `level` of the rows of a class reach, the new row among them."""
    own = own[np.argsort(-own[:, 0], kind="stable")]
    reached = np.cumsum(own[:, 2])
    wanted = level * (reached[-1] + 1)
    if wanted > reached[-1] * (1 + TIE):
        return 0.0
    return float(own[np.searchsorted(reached * (1 + TIE), wanted, side="left"), 0])


def _steps(said: Floats, hit: Bools, weight: Floats, most: int) -> Floats:
    """Rows of about the same probability put together, at most so many steps: half of them have as many rows of the
    class, the others as many of other classes; and of the rows of the class the least probable have half."""
    order = np.lexsort((weight, hit, said))  # so that the order of the rows does not matter to the last bit
    said, hit, weight = said[order], hit[order], weight[order]
    first = np.flatnonzero(np.append(True, said[1:] > said[:-1]))
    own, others = (np.add.reduceat(np.where(hit == one, weight, 0.0), first) for one in (True, False))
    values = said[first]
    if len(values) > most:
        reached, passed = (np.cumsum(sums) / max(float(sums.sum()), np.finfo(float).tiny) for sums in (own, others))
        rare = np.where(reached < RARE, reached / RARE, 1 + (reached - RARE) / (1 - RARE)) / 2
        group = np.minimum(((rare + passed) * (most / 2)).astype(np.int64), most - 1)
        first = np.flatnonzero(np.append(True, group[1:] > group[:-1]))
        own, others = np.add.reduceat(own, first), np.add.reduceat(others, first)
        last = np.append(first[1:], len(values)) - 1
        return np.stack([values[first], values[last], own, others], axis=1)
    return np.stack([values, values, own, others], axis=1)


@kernel("f8[][], f8[][], f8[][]")
def fit_with_new(rows: Floats, blocks: Floats, found: Floats) -> None:
    """Isotonic regression by pooling adjacent violators, with one row more at each place in turn: found[place] =
    (share, rows) of its block where it is none of the class, and where it is one. `rows` are (of the class, others).

    `blocks` is room for (of the class, all, whether the new row is in it).
    """
    for place in range(found.shape[0]):
        step, inside = place // 2, place % 2
        for label in range(2):
            count = 0
            for k in range(rows.shape[0] + 1):
                for turn in range(2):
                    # First the new row, where it stands before step k; then the step, with the new row if it is in it.
                    if turn == 0 and (inside == 1 or k != step):
                        continue
                    if turn == 1 and k == rows.shape[0]:
                        continue
                    hits, weight, new = 0.0, 0.0, 0.0
                    if turn == 1:
                        hits, weight = rows[k, 0], rows[k, 0] + rows[k, 1]
                    if turn == 0 or (inside == 1 and k == step):
                        hits, weight, new = hits + label, weight + 1.0, 1.0
                    while count > 0 and blocks[count - 1, 0] * weight >= hits * blocks[count - 1, 1]:
                        hits, weight, new = (
                            hits + blocks[count - 1, 0],
                            weight + blocks[count - 1, 1],
                            new + blocks[count - 1, 2],
                        )
                        count -= 1
                    blocks[count, 0], blocks[count, 1], blocks[count, 2] = hits, weight, new
                    count += 1
            for k in range(count):
                if blocks[k, 2] > 0.0:
                    found[place, 2 * label] = blocks[k, 0] / blocks[k, 1]
                    found[place, 2 * label + 1] = blocks[k, 1]
