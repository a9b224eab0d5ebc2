"""How trees are boosted, and trees as arrays: what the compiled loop and blocks of rows share. Looks at no rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likely.machinery.arrays import Bytes, Floats, Hashes, Ints, Longs
from likely.models.additive.histograms import gradient_unit, loss_unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

STRICT = 16
"""Leaves up to which the best leaf is parted first, one after the other. Of larger trees over any attributes the better
half of the leaves is parted at a time: as good, and done by several threads and machines at once."""
LARGEST_STEP = 4.0
"""No Newton step is longer than this, in nats: where a class is rare, curvature tells little of how far to go."""
LEVEL_RIDGE = 10.0
"""Levels are ordered by gradient / (curvature + this), so that rare ones do not come first."""


@dataclass(frozen=True)
class TreeArrays:
    """A tree: node n is a leaf where attribute[n] is -1; else codes with mask 1 go to below[n], others to the next."""

    attribute: Ints
    below: Ints
    mask: Bytes
    """(nodes, CODES)"""
    value: Floats
    """(nodes, scores), of leaves."""
    cover: Floats
    """The weight of the rows that were learned from, of leaves, in units of losses."""

    @property
    def attributes(self) -> tuple[int, ...]:
        """Those that take part, in order."""
        return tuple(sorted({int(j) for j in self.attribute if j >= 0}))


class Units(NamedTuple):
    """How many units a gradient and a loss of 1 are."""

    gradient: float
    loss: float


@dataclass(frozen=True)
class Recipe:
    """How trees are grown."""

    sizes: NDArray[np.int64]
    nominal: NDArray[np.bool_]
    direction: NDArray[np.int64]
    """1 where the score must rise with the codes of an attribute, -1 where it must fall."""
    apart: NDArray[np.bool_]
    """Attributes that must not be in one tree."""
    start: Floats
    """The scores before the first tree."""
    order: int
    leaves: int
    rate: float
    ridge: float
    least: float
    rounds: int

    @property
    def scores(self) -> int:
        """How many scores a row has: one for each class, or one for two."""
        return len(self.start)

    @property
    def seeks_pairs(self) -> bool:
        """Whether attributes that speak together only are sought: trees of many leaves part rows by them unasked."""
        return self.order > 1 and self.leaves <= STRICT

    @cached_property
    def offset(self) -> Longs:
        """Where the codes of each attribute begin, all in a row; one more at the end."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    def settings(self, units: Units) -> Floats:
        """The numbers that compiled loops go by: ridge, least curvature and ridge of the order of levels in units of
        gradients, rate, largest step, units of gradients, of losses."""
        one = units.gradient
        ridges = [self.ridge * one, self.least * one, LEVEL_RIDGE * one]
        return np.array([*ridges, self.rate, LARGEST_STEP, one, units.loss])


def units_of(weight: float, rows: int) -> Units:
    """Units in which sums over so many rows of this weight in all, and over fewer, are exact."""
    return Units(gradient_unit(weight, rows), loss_unit(weight))


def dither_of(hashes: Hashes) -> Floats:
    """In 0 to 1: how the gradients of a row are rounded. The bits are others than those that deal or sample."""
    return (hashes >> np.uint64(20) & np.uint64(0xFFFFFF)).astype(np.float64) * 2.0**-24
