"""Least squares from exact sums of products: centred without rounding, rounded once, solved by Cholesky's method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import InputError
from likely.machinery.arrays import Floats
from likely.machinery.jit import kernel
from likely.models.linear.design import Weighed, constant_of, level_weights, standard, weight_rows
from likely.models.shapes import LevelTable, Plane, Slope, Standard
from likely.sums.rows.products import ONE, Products
from likely.table.schema import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Least squares from exact sums of products: centred without rounding, rounded once, then solved.


@dataclass(frozen=True)
class EquationPlace:
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
        self.places: list[EquationPlace] = []
        self.left_out: list[str] = []
        # Each column as a combination of features: (feature, factor) pairs.
        mixes: list[list[tuple[int, int]]] = [[(at[ONE], 1)]]
        self.times: list[int] = []
        for column in columns:
            name = column.name
            if column.kind == "nominal":
                levels = [f for f in own.features if f[0] == "level" and f[1] == name]
                self._put([EquationPlace(name, level=f[2]) for f in levels], [[(at[f], 1)] for f in levels], mixes)
                continue
            value, there = at["value", name, ""], at["there", name, ""]
            a, t, n = int(total[at[ONE], value]), int(total[at[ONE], there]), int(total[at[ONE], at[ONE]])
            units = standard(name, Fraction(t), Fraction(a), Fraction(int(total[value, value])), t < n)
            if units is None:
                self.left_out.append(name)
                continue
            self._put([EquationPlace(name, units)], [[(value, t), (there, -a)]], mixes, t)
            if units.gone:
                self._put([EquationPlace(name, units, missing=True)], [[(at[ONE], 1), (there, -1)]], mixes)
        rows = np.array([sum(f * sums[k] for k, f in mix) for mix in mixes], object)
        rows = rows.reshape(len(mixes), len(own.features), own.groups)
        both = [sum(f * rows[:, k] for k, f in mix) for mix in mixes]
        self.sums = np.array(both, object).reshape(len(mixes), len(mixes), own.groups)
        """[i, j, group]; column 0 is 1 in every row."""

    def _put(
        self, places: list[EquationPlace], mix: list[list[tuple[int, int]]], mixes: list[Any], times: int = 1
    ) -> None:
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


# Equations with a positive definite matrix, solved by Cholesky's method. Knows matrices only.

SMALL = 400
"""Unknowns up to which the loop is quicker than LAPACK."""


@kernel("f8[][]", returns=1)
def _cholesky(a: Floats) -> int:
    """Upper U with U'U = a, in place (what is below the diagonal stays); 0 where a is not positive definite."""
    n = a.shape[0]
    for k in range(n):
        pivot = a[k, k]
        if not pivot > 0.0 or pivot == np.inf:
            return 0
        root = np.sqrt(pivot)
        for j in range(k, n):
            a[k, j] /= root
        for i in range(k + 1, n):
            by = a[k, i]
            if by != 0.0:
                for j in range(i, n):
                    a[i, j] -= by * a[k, j]
    return 1


@kernel("f8[][], f8[]")
def _substitute(u: Floats, x: Floats) -> None:
    """x becomes the solution of U'U y = x."""
    n = u.shape[0]
    for k in range(n):
        x[k] /= u[k, k]
        y = x[k]
        for j in range(k + 1, n):
            x[j] -= u[k, j] * y
    for k in range(n - 1, -1, -1):
        total = x[k]
        for j in range(k + 1, n):
            total -= u[k, j] * x[j]
        x[k] = total / u[k, k]


@kernel("f8[][], f8[][]")
def _substitute_all(u: Floats, x: Floats) -> None:
    """The same for every row of x, to the same bits: a row of the factor, which fills more than a cache, is read once
    for all of them, and four sums are under way at a time."""
    n, count = u.shape[0], x.shape[0]
    whole = count - count % 4
    for k in range(n):
        for c in range(count):
            x[c, k] /= u[k, k]
            y = x[c, k]
            for j in range(k + 1, n):
                x[c, j] -= u[k, j] * y
    for k in range(n - 1, -1, -1):
        for c in range(0, whole, 4):
            s0, s1, s2, s3 = x[c, k], x[c + 1, k], x[c + 2, k], x[c + 3, k]
            for j in range(k + 1, n):
                by = u[k, j]
                s0 -= by * x[c, j]
                s1 -= by * x[c + 1, j]
                s2 -= by * x[c + 2, j]
                s3 -= by * x[c + 3, j]
            x[c, k], x[c + 1, k], x[c + 2, k], x[c + 3, k] = s0, s1, s2, s3
        for c in range(whole, count):
            total = x[c, k]
            for j in range(k + 1, n):
                total -= u[k, j] * x[c, j]
            x[c, k] = total
        for c in range(count):
            x[c, k] /= u[k, k]


def cholesky_factor(matrix: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The upper factor of a symmetric matrix; None where it is not (quite) positive definite."""
    if len(matrix) <= SMALL:
        out = np.array(matrix, np.float64, order="C")
        return out if _cholesky(out) else None
    try:
        return np.ascontiguousarray(np.linalg.cholesky(matrix).T)
    except np.linalg.LinAlgError:
        return None


def cholesky_solve(factor: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """x with matrix @ x = right, from the factor of the matrix; for each column, where there are several."""
    out = np.array(right.T, np.float64, order="C")
    if out.ndim == 1:
        _substitute(factor, out)
    else:
        _substitute_all(factor, out)
    return out.T


# The hyperplane between two classes, in the attributes' own units: where a line of weights is 0.


def mix_outputs(part: Weighed, by: NDArray[np.float64]) -> Weighed:
    """The weights of other outputs, each a mix of the old ones."""
    if isinstance(part, Slope):
        return replace(part, weights=part.weights @ by, known=part.known @ by, absent=part.absent @ by)
    return replace(part, log_table=part.log_table @ by)


def plane_of(constant: float, parts: Sequence[Weighed], output: int, sides: tuple[str, str]) -> Plane:
    """Output number `output`, which is above 0 for the first of both classes, as a hyperplane."""
    weights = [(name, level, row[output]) for name, level, row in weight_rows(parts)]
    return Plane(*sides, constant_of(constant, parts, output), tuple(weights))


def plane_between(
    constant: NDArray[np.float64], parts: Sequence[Weighed], a: int, b: int, sides: tuple[str, str]
) -> Plane:
    """Where the outputs of two classes are equal; above 0 that of the first is larger."""
    by = np.zeros((len(constant), 1))
    by[a], by[b] = 1.0, -1.0
    return plane_of(float(constant[a] - constant[b]), [mix_outputs(part, by) for part in parts], 0, sides)
