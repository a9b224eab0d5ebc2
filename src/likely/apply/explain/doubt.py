"""Doubt about counts: draws of the log probability of levels, bins and cells of joint tables, as counts leave room for.

They have Dirichlet posteriors, of which a row needs one share (a beta variable). Makes no posterior of classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from likely.machinery.arrays import Floats, Longs
from likely.models.shapes import JointTable, Ratios
from likely.table.batch import Batch

if TYPE_CHECKING:
    pass


HALF = 0.5
"""Rows added on both sides of a share to which the model adds nothing of its own (Jeffreys)."""
HELD = 1 << 23
"""Numbers (64 MB) of draws that are kept for the next rows."""

Behind = Literal["level", "values", "near", "class"]
"""What the cases behind a term are: rows with this level, values of the number, values near it, rows of the class."""


@dataclass(frozen=True)
class Drawn:
    """Some rows' terms of one factor."""

    terms: Floats
    """Draws of log P(cell | class), (rows, classes, draws); 0 where the factor is left out."""
    room: Floats
    """How much the terms vary from draw to draw: their variance, (rows, classes)."""
    cases: Floats
    """Rows of training behind each, (rows, classes); infinite where the factor is left out."""


class Doubt(Protocol):
    """What can be drawn of a factor."""

    name: str
    behind: Behind

    def draw(self, batch: Batch) -> Drawn:
        """Terms of the rows of a batch."""
        ...


def log_gamma(shape: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Logs of gamma variables of these shapes, (…, draws). A shape near zero gives logs like -1e5, where a gamma
    variable itself would be zero: hence one more than the shape, times a uniform to the power 1 / shape. The shape 0
    gives -inf."""
    size = (*shape.shape, draws)
    shape = shape[..., None]
    with np.errstate(divide="ignore"):
        return np.log(rng.standard_gamma(shape + 1, size)) + np.log1p(-rng.random(size)) / shape


def log_beta(top: Floats, rest: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Logs of beta variables; 0 (certainty) where there is no rest."""
    certain = rest <= 0
    one, other = (log_gamma(np.where(certain, 1.0, shape), draws, rng) for shape in (top, rest))
    return np.where(certain[..., None], 0.0, one - np.logaddexp(one, other))


def variance(terms: Floats) -> Floats:
    """From draw to draw; 0 where a log is infinite, which is then beyond doubt."""
    with np.errstate(invalid="ignore", over="ignore"):
        out: Floats = np.nan_to_num(terms.var(axis=-1))
    return out


@dataclass(frozen=True)
class Shares:
    """For one key: what is counted for it and against it in each class, and the rows of training among it."""

    top: Floats
    rest: Floats
    cases: Floats


def shares_of(top: Floats, bottom: Floats, seen: Floats, alone: bool = False) -> Shares:
    """Numerators and denominators of probabilities, half a row on each side where the model adds nothing to a count.

    `alone`: there is no other level, so that nothing is in doubt.
    """
    bare = np.where((top == seen) & (not alone), HALF, 0.0)
    return Shares(top + bare, np.maximum(bottom - top, 0) + bare, seen)


@dataclass
class LevelDoubt:
    """Levels, bins or cells of a joint table, each a key; the draws of a key depend on seed, factor and key alone."""

    name: str
    keys: Callable[[Batch], Longs]
    """(rows, parts of the key)"""
    shares: Callable[[tuple[int, ...]], Shares | None]
    """None where the factor is left out."""
    classes: int
    draws: int
    seed: tuple[int, ...]
    behind: Behind = "level"
    _held: dict[tuple[int, ...], tuple[Floats, Floats, Floats]] = field(default_factory=dict)

    def draw(self, batch: Batch) -> Drawn:
        keys, place = np.unique(self.keys(batch), axis=0, return_inverse=True)
        found = [self._of(tuple(key)) for key in keys.tolist()]
        terms, room, cases = (np.stack(part)[place.reshape(-1)] for part in zip(*found, strict=True))
        return Drawn(terms, room, cases)

    def _of(self, key: tuple[int, ...]) -> tuple[Floats, Floats, Floats]:
        if key not in self._held:
            shares = self.shares(key)
            if shares is None:
                terms, cases = np.zeros((self.classes, self.draws)), np.full(self.classes, np.inf)
            else:
                rng = np.random.default_rng([*self.seed, *(k + 2 for k in key)])
                terms, cases = log_beta(shares.top, shares.rest, self.draws, rng), shares.cases
            if (len(self._held) + 1) * terms.size > HELD:
                self._held.clear()
            self._held[key] = terms, variance(terms), cases
        return self._held[key]


def of_levels(
    name: str, ratio: Ratios, keys: Callable[[Batch], Longs], classes: int, draws: int, seed: tuple[int, ...]
) -> LevelDoubt:
    """Of a nominal attribute, or of a number that was cut into bins."""

    def shares(key: tuple[int, ...]) -> Shares | None:
        found = ratio(key[0])
        if found is None:
            return None
        return replace(shares_of(found.top, found.bottom, found.seen, found.alone), cases=found.cases)

    return LevelDoubt(name, keys, shares, classes, draws, seed)


def of_joint_table(name: str, joint: JointTable, draws: int, seed: tuple[int, ...]) -> LevelDoubt:
    """Of several nominal attributes that have a joint table; those that are missing are summed over."""
    counts, extra = joint.counts.floats(), float(joint.extra)
    bottom = np.array([float(n) for n in joint.totals()]) + extra * joint.cells

    def shares(key: tuple[int, ...]) -> Shares | None:
        codes = np.array(key)
        there = codes >= 0
        if not there.any():
            return None
        seen = counts[(joint.codes[:, there] == codes[there]).all(axis=1)].sum(axis=0)
        others = math.prod(size for size, known in zip(joint.sizes, there, strict=True) if not known)
        return shares_of(seen + extra * others, bottom, seen)

    return LevelDoubt(name, joint.translated, shares, joint.counts.shape[1], draws, seed)
