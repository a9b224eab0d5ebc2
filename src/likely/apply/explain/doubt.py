"""Doubt about counts and densities: draws of log probabilities, as the rows behind them leave room for."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from likely.machinery.arrays import Floats, Longs
from likely.models.shapes import (
    BinTable,
    Block,
    Density,
    Gaussian,
    JointTable,
    Kernels,
    LevelTable,
    MultivariateNormal,
    Presence,
    Ratios,
    bin_of,
    patterns,
)
from likely.sums.columns.numbers import Numbers
from likely.sums.summary import Summary
from likely.table.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Doubt about counts: draws of the log probability of levels, bins and cells of joint tables, as counts leave room
# for.

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
class ShareDoubt:
    """For one key: what is counted for it and against it in each class, and the rows of training among it."""

    top: Floats
    rest: Floats
    cases: Floats


def shares_of(top: Floats, bottom: Floats, seen: Floats, alone: bool = False) -> ShareDoubt:
    """Numerators and denominators of probabilities, half a row on each side where the model adds nothing to a count.

    `alone`: there is no other level, so that nothing is in doubt.
    """
    bare = np.where((top == seen) & (not alone), HALF, 0.0)
    return ShareDoubt(top + bare, np.maximum(bottom - top, 0) + bare, seen)


@dataclass
class LevelDoubt:
    """Levels, bins or cells of a joint table, each a key; the draws of a key depend on seed, factor and key alone."""

    name: str
    keys: Callable[[Batch], Longs]
    """(rows, parts of the key)"""
    shares: Callable[[tuple[int, ...]], ShareDoubt | None]
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

    def shares(key: tuple[int, ...]) -> ShareDoubt | None:
        found = ratio(key[0])
        if found is None:
            return None
        return replace(shares_of(found.top, found.bottom, found.seen, found.alone), cases=found.cases)

    return LevelDoubt(name, keys, shares, classes, draws, seed)


def of_joint_table(name: str, joint: JointTable, draws: int, seed: tuple[int, ...]) -> LevelDoubt:
    """Of several nominal attributes that have a joint table; those that are missing are summed over."""
    counts, extra = joint.counts.floats(), float(joint.extra)
    bottom = np.array([float(n) for n in joint.totals()]) + extra * joint.cells

    def shares(key: tuple[int, ...]) -> ShareDoubt | None:
        codes = np.array(key)
        there = codes >= 0
        if not there.any():
            return None
        seen = counts[(joint.codes[:, there] == codes[there]).all(axis=1)].sum(axis=0)
        others = math.prod(size for size, known in zip(joint.sizes, there, strict=True) if not known)
        return shares_of(seen + extra * others, bottom, seen)

    return LevelDoubt(name, joint.translated, shares, joint.counts.shape[1], draws, seed)


# Doubt about densities: draws of the log density of numbers, as the rows behind its mean and spread leave room for.

FAR = 1e70
"""So many deviations from the mean are as far as any more: their fourth powers must be doubles."""


class NormalDoubt:
    """A normal density: variance ~ s² (n-1) / chi-square(n-1), mean ~ normal(m, variance / n), in each class.

    That is the posterior after the prior 1 / variance. In units of the deviation: with u = chi-square / (n-1) and a
    standard normal g, the log density at z is ½ log u - ½ (z √u - g / √n)², so that nothing overflows.
    """

    behind: Behind = "values"

    def __init__(self, factor: Gaussian, numbers: Numbers, draws: int, seed: tuple[int, ...]) -> None:
        self.name, self._factor = factor.name, factor
        rng = np.random.default_rng(seed)
        rows = numbers.weight().floats()
        worth = np.array([float(k.worth) if k else 0.0 for k in factor.knowledge or (None,) * len(rows)])
        weight = rows + worth
        # A class without a spread of its own borrows that of all values; without a value, also their mean.
        spread, known = (np.where(factor.borrowed, n.sum(), n) for n in (weight, worth))
        # The deviation that knowledge gives is not estimated, so that it costs no degree of freedom.
        freedom = np.maximum(np.where(known > 0, np.maximum(spread - known - 1, 0) + known, spread - 1), 1.0)
        below = freedom if factor.unbiased else np.maximum(spread, 1.0)
        size = (len(weight), draws)
        rate = rng.chisquare(freedom[:, None], size) / below[:, None]
        shift = rng.standard_normal(size) / np.sqrt(np.where(weight > 0, weight, 1.0))[:, None]
        there, self._gone = known_draws(factor.known, numbers, draws, rng)
        self._weight, self._seen = weight, np.full(len(weight), np.inf) if factor.known is None else rows
        # The term is a polynomial in z; what it is multiplied by, for each class and draw: (classes, 3, draws).
        rest = 0.5 * np.log(rate) - 0.5 * shift**2 - np.log(factor.deviation)[:, None] + there
        self._coefficients = np.stack([-0.5 * rate, np.sqrt(rate) * shift, rest], axis=1)
        around = self._coefficients - self._coefficients.mean(axis=2, keepdims=True)
        self._covariance = around @ around.transpose(0, 2, 1) / draws

    def draw(self, batch: Batch) -> Drawn:
        x: Any = batch.cells[self.name]
        known = np.isfinite(x)
        z = (np.where(known, x, 0.0)[:, None] - self._factor.mean) / self._factor.deviation
        z = np.clip(z, -FAR, FAR).T
        powers = np.stack([z * z, z, np.ones_like(z)], axis=2)
        terms = (powers @ self._coefficients).transpose(1, 0, 2)
        room = np.maximum(((powers @ self._covariance) * powers).sum(axis=2), 0.0).T
        if not known.all():
            terms[~known], room[~known] = self._gone, variance(self._gone)
        return Drawn(terms, room, np.where(known[:, None], self._weight, self._seen))


class KernelDoubt:
    """A kernel density, by the delta method: it is a mean over the values near x, which count for (Σ w K)² / Σ w K² of
    them; with n such values its log has the variance log(1 + 1/n). Bandwidths are taken as they are."""

    behind: Behind = "near"

    def __init__(self, factor: Density, kernels: Kernels, numbers: Numbers, draws: int, seed: tuple[int, ...]) -> None:
        self.name, self._factor, self._kernels = factor.name, factor, kernels
        rng = np.random.default_rng(seed)
        weight = numbers.weight().floats()
        self._normal = rng.standard_normal((len(weight), draws))
        self._there, self._gone = known_draws(factor.normal.known, numbers, draws, rng)

    def draw(self, batch: Batch) -> Drawn:
        cells: Any = batch.cells[self.name]
        known = np.isfinite(cells)
        x, place = np.unique(np.where(known, cells, 0.0), return_inverse=True)
        kernels, known_shares = self._kernels, self._factor.normal.known
        plain, near = np.zeros((len(x), len(kernels.rate))), np.empty((len(x), len(kernels.rate)))
        self._factor.add_cells(x, plain)
        if known_shares is not None:
            plain -= np.log([float(there) for there, _ in known_shares])
        for k in range(near.shape[1]):
            some = slice(kernels.starts[k], kernels.starts[k + 1])
            apart = np.minimum(np.abs(x[:, None] - kernels.points[some]), kernels.farthest[k])
            steps = (apart * kernels.rate[k]) ** 2
            bumps = kernels.weights[some] * np.exp(steps.min(axis=1, keepdims=True) - steps)
            near[:, k] = bumps.sum(axis=1) ** 2 / (bumps**2 / kernels.weights[some]).sum(axis=1)
        terms = (plain[:, :, None] + np.sqrt(np.log1p(1 / near))[:, :, None] * self._normal + self._there)[place]
        terms[~known] = self._gone
        return Drawn(terms, variance(terms), np.where(known[:, None], near[place], np.inf))


class BlockDoubt:
    """A normal density of several numbers together: its covariance has an inverse Wishart posterior.

    Where cells are whitened, so that the covariance is 1, the inverse covariance is A A' / (n-1) with Bartlett's
    triangle A, and the log density at y is log |A| - ½ |A'y / √(n-1) - g / √n|²: `NormalDoubt` in more dimensions.
    """

    behind: Behind = "values"

    def __init__(
        self,
        factor: Block,
        normal: MultivariateNormal,
        summary: Summary,
        draws: int,
        seed: tuple[int, ...],
    ) -> None:
        self.name, self._normal, self._draws, self._seed = factor.name, normal, draws, seed
        columns = [summary.column(name, Numbers) for name in factor.names]
        self._weight = np.array([c.weight().floats() for c in columns]).min(axis=0)
        rng = np.random.default_rng(seed)
        self._known = [
            known_draws(shares, column, draws, rng)
            for shares, column in zip(factor.presence or (None,) * len(columns), columns, strict=True)
        ]

    def draw(self, batch: Batch) -> Drawn:
        cells: list[Any] = [batch.cells[name] for name in self._normal.names]
        x = np.column_stack(cells)
        known = np.isfinite(x)
        terms = np.zeros((len(x), len(self._weight), self._draws))
        for k, (there, gone) in enumerate(self._known):
            terms += np.where(known[:, k, None, None], there, gone)
        for places, rows in patterns(known):
            if len(places):
                terms[rows] += self._densities(x[np.ix_(rows, places)], places)
        return Drawn(terms, variance(terms), np.where(known.any(axis=1)[:, None], self._weight, np.inf))

    def _densities(self, x: Floats, places: NDArray[np.intp]) -> Floats:
        normal, size = self._normal, len(places)
        rng = np.random.default_rng([*self._seed, *places.tolist()])
        out = np.empty((len(x), len(self._weight), self._draws))
        for k, weight in enumerate(np.maximum(self._weight, 1.0).tolist()):
            values, vectors = np.linalg.eigh(normal.correlation[k][np.ix_(places, places)])
            values = np.maximum(values, normal.least[k])
            y = (x - normal.mean[k, places]) / normal.deviation[k, places] @ (vectors / np.sqrt(values))
            freedom = max(weight - 1, float(size))
            triangle = np.tril(rng.standard_normal((self._draws, size, size)), -1)
            diagonal = np.sqrt(rng.chisquare(freedom - np.arange(size), (self._draws, size)) / freedom)
            triangle /= math.sqrt(freedom)
            triangle[:, np.arange(size), np.arange(size)] = diagonal
            shift = rng.standard_normal((self._draws, size)) / math.sqrt(weight)
            inside = np.einsum("rj,dji->rdi", y, triangle) - shift
            peak = 0.5 * np.log(values).sum() + np.log(normal.deviation[k, places]).sum()
            out[:, k] = np.log(diagonal).sum(axis=1) - 0.5 * (inside**2).sum(axis=2) - peak
        return out


def known_draws(
    known: Presence | None, numbers: Numbers, draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draws of log P(known | class) and log P(missing | class); zeros where a missing cell is left out."""
    weight = numbers.weight().floats()
    if known is None:
        none = np.zeros((len(weight), draws))
        return none, none
    tops, bottoms = np.array([(float(there.top), float(there.bottom)) for there, _ in known]).T
    shares = shares_of(tops, bottoms, weight)
    one, other = log_gamma(shares.top, draws, rng), log_gamma(shares.rest, draws, rng)
    whole = np.logaddexp(one, other)
    return one - whole, other - whole


def doubt_of(factor: object, summary: Summary, draws: int, seed: tuple[int, ...]) -> Doubt | None:
    """What can be drawn of a factor; None where it keeps nothing of how sure it is."""
    match factor:
        case LevelTable():
            ratios, groups = factor.ratios(), factor.log_table.shape[1]
            keys = lambda batch: _column(factor.translated(batch.cells[factor.name]))  # noqa: E731
            return None if ratios is None else of_levels(factor.name, ratios, keys, groups, draws, seed)
        case BinTable():
            levels, groups = factor.levels, factor.log_table.shape[1]
            ratios = None if levels is None else levels.ratios()
            keys = lambda batch: _column(bin_of(factor.starts, batch.cells[factor.name]))  # noqa: E731
            return None if ratios is None else of_levels(factor.name, ratios, keys, groups, draws, seed)
        case Block():
            joint = factor.joint
            if isinstance(joint, JointTable):
                return of_joint_table(factor.name, joint, draws, seed)
            return BlockDoubt(factor, joint, summary, draws, seed)
        case Density():
            numbers, kernels = summary.column(factor.name, Numbers), factor.kernels
            if kernels is None:
                return NormalDoubt(factor.normal, numbers, draws, seed)
            return KernelDoubt(factor, kernels, numbers, draws, seed)
    return None


def _column(codes: NDArray[np.int32]) -> Longs:
    return codes.astype(np.int64)[:, None]
