"""GaussianNB with scikit-learn's names, parameters, attributes and numbers, on exact sums.

docs/drop-in.md lists where it differs on purpose: missing values, batches, the spread under weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.models.kernels import add_normal
from likely.models.shapes import limit_distances
from likely.sklearn.exact_bayes import Cells, ExactBayes

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(kw_only=True, eq=False, repr=False)
class GaussianNB(ExactBayes):
    """Naive Bayes with a normal density of each number in each class. A missing number (NaN) is left out.

    >>> X, y = [[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.5]], [1, 1, 2, 2]
    >>> GaussianNB().fit(X, y).predict([[-0.8, float("nan")]])
    array([1])
    """

    priors: Any = None
    var_smoothing: float = 1e-9

    def _check(self) -> None:
        if not isinstance(self.var_smoothing, (int, float, np.number)) or not self.var_smoothing >= 0:
            raise ValueError(f"var_smoothing is {self.var_smoothing!r}. It must be a number, zero or more.")

    def _take(self, X: Cells, group: NDArray[np.int32], sample_weight: NDArray[np.float64] | None) -> None:
        self._sums.add(X, group, sample_weight, squares=True)

    def _derive(self) -> None:
        sums, shape = self._sums, self._sums.shape
        self.class_count_ = sums.floats("rows")
        self.class_prior_ = self._prior()
        rows = sums.rows.fractions()
        absent = _table(sums.absent.fractions(), shape)
        first, second = (_table(getattr(sums, name).fractions(), shape) for name in ("first", "second"))
        known = [[n - gone for gone in line] for n, line in zip(rows, absent, strict=True)]
        moments = [list(zip(*parts, strict=True)) for parts in zip(known, first, second, strict=True)]
        self.theta_ = np.array([[_mean(*m) for m in line] for line in moments]).reshape(shape)
        own = np.array([[_variance(*m) for m in line] for line in moments]).reshape(shape)
        over_all = [
            [sum(part, Fraction(0)) for part in zip(*column, strict=True)] for column in zip(*moments, strict=True)
        ]
        self.epsilon_ = self.var_smoothing * max(_variance(*m) for m in over_all)
        self.var_ = own + self.epsilon_

    def _prior(self) -> NDArray[np.float64]:
        if self.priors is None:
            return self.class_count_ / self.class_count_.sum()  # type: ignore[no-any-return]
        priors = np.asarray(self.priors, np.float64)
        if len(priors) != len(self.classes_):
            raise ValueError("Number of priors must match number of classes.")
        if not np.isclose(priors.sum(), 1.0):
            raise ValueError("The sum of the priors should be 1.")
        if (priors < 0).any():
            raise ValueError("Priors must be non-negative.")
        return priors

    def _joint_log_likelihood(self, X: Cells) -> NDArray[np.float64]:
        out = np.empty((len(X), len(self.classes_)))
        with np.errstate(divide="ignore"):
            out[:] = np.log(self.class_prior_)
            peak, rate = -0.5 * np.log(2.0 * np.pi * self.var_), np.sqrt(0.5 / self.var_)
            farthest = limit_distances(np.sqrt(self.var_))
        nothing = np.zeros(len(self.classes_))
        for k in range(X.shape[1]):
            parts = (np.ascontiguousarray(a[:, k]) for a in (peak, self.theta_, rate, farthest))
            add_normal(np.ascontiguousarray(X[:, k]), *parts, nothing, out)
        return out


def _table(values: list[Fraction], shape: tuple[int, int]) -> list[list[Fraction]]:
    return [values[k * shape[1] : (k + 1) * shape[1]] for k in range(shape[0])]


def _mean(weight: Fraction, first: Fraction, second: Fraction) -> float:
    return float(first / weight) if weight else 0.0


def _variance(weight: Fraction, first: Fraction, second: Fraction) -> float:
    try:
        return float(second / weight - (first / weight) ** 2) if weight else 0.0
    except OverflowError:  # beyond any double
        return math.inf
