"""Means and products about them, exact, from sums of products: for each class, over the pairs of cells that are there.

Whole numbers in arrays of Python integers: nothing is rounded before `ratio`. Knows no settings but the divisor.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import SettingError
from likely.models.setting_values import Variance
from likely.sums.requests import request
from likely.sums.rows.products import Products
from likely.sums.summary import Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Covariances:
    """top / bottom is the covariance of each pair of attributes, where `known`; `rows` is n - 1."""

    top: Any
    bottom: Any
    known: NDArray[np.bool_]
    rows: NDArray[np.float64]

    def variance(self, i: int) -> Fraction | None:
        """The variance of one attribute, exact; None where the rows are too few to have one."""
        return Fraction(self.top[i, i], self.bottom[i, i]) if self.known[i, i] else None

    def correlations(self, deviation: NDArray[np.float64]) -> NDArray[np.float64]:
        """Covariances in units of the deviations, each rounded once; 0 where unknown, 1 on the diagonal."""
        parts = [d.as_integer_ratio() for d in deviation.tolist()]
        tops, bottoms = (np.array([p[k] for p in parts], object) for k in (0, 1))
        above = np.where(self.known, self.top * np.multiply.outer(bottoms, bottoms), 0)
        below = np.where(self.known, self.bottom * np.multiply.outer(tops, tops), 1)
        out = np.array(above / below, np.float64).reshape(self.known.shape)
        np.fill_diagonal(out, 1.0)
        return out


@dataclass(frozen=True)
class Scatter:
    """Sums over classes: `weight[i, j, c]` of rows that have both cells, `first[i, j, c]` of cell i over them, and
    `second[i, j, c]` of their products; all in units of 1 / `one`."""

    names: tuple[str, ...]
    one: int
    weight: Any
    first: Any
    second: Any

    def mean(self, i: int, c: int) -> float | None:
        """The mean of attribute i in class c over the cells that are there; None where there are none."""
        weight = self.weight[i, i, c]
        return float(Fraction(self.first[i, i, c], weight)) if weight else None

    def whole(self) -> Scatter:
        """All classes as one."""
        sums = (np.sum(part, axis=2, keepdims=True) for part in (self.weight, self.first, self.second))
        return Scatter(self.names, self.one, *sums)

    def covariances(self, c: int, variance: Variance) -> Covariances:
        """(sum of xy - sum of x * sum of y / n) / (n - 1 or n) within class c."""
        weight, first, second = (part[:, :, c] for part in (self.weight, self.first, self.second))
        top = weight * second - first * first.T
        return self._known(top, weight, weight, self.one, variance)

    def pooled(self, variance: Variance) -> Covariances:
        """The same products added over the classes, each about its own means: / (n - classes) or / n."""
        some = np.array(self.weight != 0, np.bool_)
        weight = np.where(some, self.weight, self.one)
        multiple = reduce(np.lcm, np.moveaxis(weight, 2, 0))
        tops = weight * self.second - self.first * np.swapaxes(self.first, 0, 1)
        top = np.sum(tops * (multiple[:, :, None] // weight), axis=2)
        lost = some.sum(axis=2).astype(object) * self.one
        return self._known(top, multiple, np.sum(self.weight, axis=2), lost, variance)

    def _known(self, top: Any, divisor: Any, weight: Any, lost: Any, variance: Variance) -> Covariances:
        below = weight - lost if variance == "unbiased" else weight
        known = np.array(below > 0, np.bool_)
        if variance == "ml":
            # One row has no spread, though its sums say zero; rows of little weight do have one (as in Gaussian).
            lone = np.array((weight <= lost) & (top == 0), np.bool_).diagonal()
            known &= ~(lone[:, None] | lone)
        bottom = np.where(known, divisor * below, 1)
        rows = np.array(np.maximum(weight - lost, 0) / self.one, np.float64).reshape(known.shape)
        return Covariances(top, bottom, known, rows)


def scatter(summary: Summary, columns: tuple[str, ...] | None = None) -> Scatter:
    """Read the numbers' sums (of these columns alone, if any are named) out of a summary's sums of products."""
    names = columns or tuple(c.name for c in summary.schema.attributes if c.kind != "nominal")
    size, groups = len(names), len(summary.classes)
    if not names:
        empty = np.zeros((0, 0, groups), object)
        return Scatter((), 1, empty, empty, empty)
    products = summary.more.get(request("products", columns), summary.more.get("products"))
    if not isinstance(products, Products):
        raise SettingError(
            "This summary keeps no sums of products, which a covariance is made of. Fit the table itself, or "
            f"summarize it with more=['{request('products', columns)}']."
        )
    index = {feature: k for k, feature in enumerate(products.features)}
    values, there = (np.array([index[kind, name, ""] for name in names], np.intp) for kind in ("value", "there"))
    i, j = np.triu_indices(size)
    # Sums of pairs are the same either way round: they are turned into Python's integers once.
    rows = np.concatenate([there[i], values[i], np.repeat(values, size)])
    across = np.concatenate([there[j], values[j], np.tile(there, size)])
    held, exponent = products.table[rows, across].wholes()
    sums = np.array(held, object).reshape(-1, groups) * (1 << max(exponent, 0))
    one = 1 << max(-exponent, 0)
    weight, second = (np.empty((size, size, groups), object) for _ in range(2))
    weight[i, j] = weight[j, i] = sums[: len(i)]
    second[i, j] = second[j, i] = sums[len(i) : 2 * len(i)]
    return Scatter(names, one, weight, sums[2 * len(i) :].reshape(size, size, groups), second)
