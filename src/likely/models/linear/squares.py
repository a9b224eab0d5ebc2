"""Least squares from exact sums of products: centred without rounding, rounded once, then solved.

Knows sums and standard units, no learner. Collinear columns are no error: the solution of least norm is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import InputError
from likely.models.linear.design import Weighed, level_weights, standard
from likely.models.shapes import LevelTable, Slope, Standard
from likely.sums.rows.products import ONE, Products
from likely.table.schema import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Place:
    """One column of the design: a number in standard units, whether it is missing, or a level."""

    name: str
    standard: Standard | None = None
    missing: bool = False
    level: str = ""


@dataclass(frozen=True)
class Solution:
    """Weights (columns, outputs) on the design, the output where all columns are 0, and how it was solved."""

    weights: NDArray[np.float64]
    constant: NDArray[np.float64]
    rank: int
    inverse: NDArray[np.float64]
    """(covariance + ridge / n)^-1 of the columns, or its pseudo-inverse."""
    covariance: NDArray[np.float64]
    cross: NDArray[np.float64]


class Squares:
    """Exact sums of products of the columns of a design, for each group; `places` says what the columns are.

    Number i is kept as t*x - a where it is there and 0 where it is missing (a: sum of x, t: weight of the rows that
    have it, both over all groups), a whole combination of features whose overall mean is exactly 0.
    """

    def __init__(self, products: Products, columns: Sequence[Column]) -> None:
        own = products.canonical()
        values, _ = own.table.wholes()
        sums = np.array(values, object).reshape(own.table.shape)
        total = sums.sum(axis=2)
        at = {feature: k for k, feature in enumerate(own.features)}
        self.places: list[Place] = []
        self.left_out: list[str] = []
        # Each column as a combination of features: (feature, factor) pairs.
        mixes: list[list[tuple[int, int]]] = [[(at[ONE], 1)]]
        self.times: list[int] = []
        for column in columns:
            name = column.name
            if column.kind == "nominal":
                levels = [f for f in own.features if f[0] == "level" and f[1] == name]
                self._put([Place(name, level=f[2]) for f in levels], [[(at[f], 1)] for f in levels], mixes)
                continue
            value, there = at["value", name, ""], at["there", name, ""]
            a, t, n = int(total[at[ONE], value]), int(total[at[ONE], there]), int(total[at[ONE], at[ONE]])
            units = standard(name, Fraction(t), Fraction(a), Fraction(int(total[value, value])), t < n)
            if units is None:
                self.left_out.append(name)
                continue
            self._put([Place(name, units)], [[(value, t), (there, -a)]], mixes, t)
            if units.gone:
                self._put([Place(name, units, missing=True)], [[(at[ONE], 1), (there, -1)]], mixes)
        rows = np.array([sum(f * sums[k] for k, f in mix) for mix in mixes], object)
        rows = rows.reshape(len(mixes), len(own.features), own.groups)
        both = [sum(f * rows[:, k] for k, f in mix) for mix in mixes]
        self.sums = np.array(both, object).reshape(len(mixes), len(mixes), own.groups)
        """[i, j, group]; column 0 is 1 in every row."""

    def _put(self, places: list[Place], mix: list[list[tuple[int, int]]], mixes: list[Any], times: int = 1) -> None:
        self.places += places
        mixes += mix
        self.times += [times] * len(places)

    def __len__(self) -> int:
        return len(self.places)

    def _units(self) -> tuple[NDArray[np.float64], list[int]]:
        spread = [1.0 if p.missing or p.standard is None else p.standard.spread for p in self.places]
        shift = [0 if p.missing or p.standard is None else p.standard.shift for p in self.places]
        return np.array(spread), shift

    def covariance(self, sums: Any) -> NDArray[np.float64]:
        """Covariances (by n) of the columns in standard units: exact quotients, each rounded once."""
        n, first = int(sums[0, 0]), sums[1:, 0]
        spread, shift = self._units()
        size = len(self)
        out = np.empty((size, size))
        for i in range(size):
            exact = n * sums[i + 1, 1:] - first[i] * first
            for j in range(i, size):
                below = n * n * self.times[i] * self.times[j]
                out[i, j] = out[j, i] = _quotient(int(exact[j]), below, shift[i] + shift[j])
        return out / spread / spread[:, None]

    def means(self, sums: Any) -> NDArray[np.float64]:
        """Means of the columns in standard units."""
        spread, shift = self._units()
        n = int(sums[0, 0])
        exact = zip(sums[1:, 0], self.times, shift, strict=True)
        return np.array([_quotient(int(s), n * t, e) for s, t, e in exact]) / spread

    def solve(self, groups: Sequence[int], values: Any, ridge: float, weight: float, tolerance: float) -> Solution:
        """Least squares over the rows of some groups, where output k of a row of group g is values[g][k].

        Minimises the sum over rows of weight * (output - constant - design @ weights)**2, plus ridge times the
        squared weights. `weight` is what all the rows weigh.
        """
        chosen = self.sums[:, :, list(groups)]
        sums = chosen.sum(axis=2)
        spread, shift = self._units()
        n = int(sums[0, 0])
        cross = np.empty((len(self), len(values[0])))
        mean = np.empty(len(values[0]))
        for k in range(cross.shape[1]):
            each = [int(v[k]) for v in values]
            y = sum(v * chosen[0, 1:, g] for g, v in enumerate(each))
            y0 = sum(v * int(chosen[0, 0, g]) for g, v in enumerate(each))
            exact = n * y - sums[0, 1:] * y0 if len(self) else []
            mean[k] = y0 / n
            cross[:, k] = [_quotient(int(e), n * n * t, s) for e, t, s in zip(exact, self.times, shift, strict=True)]
        cross /= spread[:, None]
        return self.solved(self.covariance(sums), cross, mean, self.means(sums), ridge / weight, tolerance)

    @staticmethod
    def solved(
        covariance: NDArray[np.float64],
        cross: NDArray[np.float64],
        mean: NDArray[np.float64],
        at: NDArray[np.float64],
        ridge: float,
        tolerance: float,
    ) -> Solution:
        """Least squares, given covariances, and the means of outputs and columns; `ridge` is for each row's weight."""
        inverse, rank = pseudo_inverse(covariance + ridge * np.eye(len(covariance)), tolerance)
        weights = inverse @ cross
        return Solution(weights, mean - at @ weights, rank, inverse, covariance, cross)

    def parts(self, weights: NDArray[np.float64]) -> tuple[Weighed, ...]:
        """Weights on the design by attribute, as a model scores with them."""
        out: list[Slope | LevelTable] = []
        levels: dict[str, dict[str, NDArray[np.float64]]] = {}
        for place, row in zip(self.places, weights, strict=True):
            if place.standard is None:
                levels.setdefault(place.name, {})[place.level] = row
            elif not place.missing:
                nothing = np.zeros(weights.shape[1])
                gone = nothing
                if place.standard.gone:
                    gone = weights[self.places.index(place) + 1]
                out.append(Slope(place.standard.name, place.standard, row, nothing, gone))
        out += [level_weights(name, rows, weights.shape[1]) for name, rows in levels.items()]
        order = {place.name: k for k, place in reversed(list(enumerate(self.places)))}
        return tuple(sorted(out, key=lambda part: order[part.name]))

    def dependent(self, rank: int) -> bool:
        """Whether columns are collinear beyond what indicators always are: those of one attribute add up to one."""
        first, ones = self.sums[0, 0].sum(), 0
        for name in {p.name for p in self.places if p.standard is None}:
            held = sum(self.sums[0, k + 1].sum() for k, p in enumerate(self.places) if p.name == name)
            ones += int(held == first)
        return rank < len(self) - ones


def require_finite(sums: NDArray[np.float64] | float) -> None:
    """Refuse to go on with sums that are beyond doubles."""
    if not np.all(np.isfinite(sums)):
        raise InputError(
            "Squares of these numbers, times the weights of their rows, are beyond 1.8e+308. Divide the weights, or "
            "the numbers of the largest column, by a constant."
        )


def pseudo_inverse(matrix: NDArray[np.float64], tolerance: float) -> tuple[NDArray[np.float64], int]:
    """The inverse, or where eigenvalues are at most `tolerance` times the largest, the pseudo-inverse; and the rank."""
    if not len(matrix):
        return matrix, 0
    require_finite(matrix)
    values, vectors = np.linalg.eigh(matrix)
    kept = values > tolerance * max(float(values[-1]), 0.0)
    some = vectors[:, kept]
    return (some / values[kept]) @ some.T, int(kept.sum())


def _quotient(above: int, below: int, shift: int) -> float:
    """above / (below * 2**shift), rounded once."""
    return above / (below << shift) if shift >= 0 else (above << -shift) / below
