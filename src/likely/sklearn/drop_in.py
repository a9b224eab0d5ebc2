"""scikit-learn's five naive Bayes classes, with its names, parameters, attributes and numbers, on exact sums."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_non_negative

from likely.models.kernels import add_levels, add_normal
from likely.models.shapes import limit_distances
from likely.sklearn.exact_bayes import Cells, ExactBayes, is_sparse
from likely.sums.columns.counts import add_counts
from likely.sums.contracts import State, weights
from likely.sums.exact import Exact

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Alpha = float | NDArray[np.float64]


# GaussianNB with scikit-learn's names, parameters, attributes and numbers, on exact sums.


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


# MultinomialNB, ComplementNB and BernoulliNB with scikit-learn's names, parameters, attributes and numbers.

LEAST_ALPHA = 1e-10


@dataclass(kw_only=True, eq=False, repr=False)
class CountingBayes(ExactBayes):
    """What classes with a pseudo-count `alpha` have in common: how it is checked, and the prior of the classes."""

    alpha: Any = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: Any = None
    _sparse: ClassVar[str | bool] = "csr"

    def _check(self) -> None:
        if isinstance(self.alpha, Real) and not float(self.alpha) >= 0:
            raise ValueError(f"alpha is {self.alpha!r}. It must be a number, zero or more.")

    def _check_alpha(self) -> Alpha:
        """The pseudo-count, of each column where it is an array; raised to 1e-10 unless that is forbidden."""
        alpha: Alpha = float(self.alpha) if isinstance(self.alpha, Real) else np.asarray(self.alpha, np.float64)
        least = np.min(alpha)
        if isinstance(alpha, np.ndarray):
            if alpha.shape[0] != self.n_features_in_:
                raise ValueError(
                    "When alpha is an array, it should contains `n_features`. "
                    f"Got {alpha.shape[0]} elements instead of {self.n_features_in_}."
                )
            if least < 0:
                raise ValueError("All values in alpha must be greater than 0.")
        if least < LEAST_ALPHA and not self.force_alpha:
            warnings.warn(
                f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}. "
                "Use `force_alpha=True` to keep alpha unchanged.",
                stacklevel=2,
            )
            alpha = np.maximum(alpha, LEAST_ALPHA)
        return alpha

    def _set_prior(self) -> None:
        count = len(self.classes_)
        if self.class_prior is not None:
            if len(self.class_prior) != count:
                raise ValueError("Number of priors must match number of classes.")
            self.class_log_prior_ = log(self.class_prior)
        elif self.fit_prior:
            self.class_log_prior_ = log(self.class_count_) - np.log(self.class_count_.sum())
        else:
            self.class_log_prior_ = np.full(count, -np.log(count))

    def _take(self, X: Cells, group: NDArray[np.int32], sample_weight: NDArray[np.float64] | None) -> None:
        self._sums.add(X, group, sample_weight, squares=False)

    def _derive(self) -> None:
        self.class_count_ = self._sums.floats("rows")
        self.feature_count_ = self._sums.floats("first")
        self._set_prior()
        self._set_features(self._check_alpha())

    def _set_features(self, alpha: Alpha) -> None:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class WordCounts(CountingBayes):
    """Rows of counts, zero or more; a missing count is a zero, which says nothing of the class."""

    def _prepare(self, X: Cells, fitting: bool) -> Cells:
        X = _without_nan(X)
        if fitting:
            check_non_negative(X, f"{type(self).__name__} (input X)")
        return X

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class MultinomialNB(WordCounts):
    """Naive Bayes for counts: a row is a bag of words that the class draws one after the other.

    >>> MultinomialNB().fit([[2, 0], [1, 0], [0, 3]], ["a", "a", "b"]).predict([[0, 1]])
    array(['b'], dtype='<U1')
    """

    def _set_features(self, alpha: Alpha) -> None:
        smoothed = self.feature_count_ + alpha
        self.feature_log_prob_ = log(smoothed) - log(smoothed.sum(axis=1, keepdims=True))

    def _joint_log_likelihood(self, X: Cells) -> NDArray[np.float64]:
        return product(X, self.feature_log_prob_) + self.class_log_prior_


@dataclass(kw_only=True, eq=False, repr=False)
class ComplementNB(WordCounts):
    """Naive Bayes for counts that judges a class by how rare the words are in all others.

    >>> ComplementNB().fit([[2, 0], [1, 0], [0, 3]], ["a", "a", "b"]).predict([[0, 1]])
    array(['b'], dtype='<U1')
    """

    norm: bool = False

    def _set_features(self, alpha: Alpha) -> None:
        self.feature_all_ = self.feature_count_.sum(axis=0)
        others = self.feature_all_ + alpha - self.feature_count_
        with np.errstate(invalid="ignore"):
            logged = log(others / others.sum(axis=1, keepdims=True))
        self.feature_log_prob_ = logged / logged.sum(axis=1, keepdims=True) if self.norm else -logged

    def _joint_log_likelihood(self, X: Cells) -> NDArray[np.float64]:
        scores = product(X, self.feature_log_prob_)
        return scores + self.class_log_prior_ if len(self.classes_) == 1 else scores


@dataclass(kw_only=True, eq=False, repr=False)
class BernoulliNB(CountingBayes):
    """Naive Bayes for columns that hold or do not; those that do not count as well. A missing cell (NaN) is left out.

    >>> BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"]).predict([[0, 1]])
    array(['b'], dtype='<U1')
    """

    binarize: float | None = 0.0

    def _prepare(self, X: Cells, fitting: bool) -> Cells:
        return X if self.binarize is None else _above(X, self.binarize)

    def _set_features(self, alpha: Alpha) -> None:
        rows = self.class_count_[:, None] - self._sums.floats("absent")
        below = log(rows + alpha * 2)
        self.feature_log_prob_ = log(self.feature_count_ + alpha) - below
        self._log_without = log(rows - self.feature_count_ + alpha) - below

    def _joint_log_likelihood(self, X: Cells) -> NDArray[np.float64]:
        with_it, without = self.feature_log_prob_, self._log_without
        if np.isfinite(with_it).all() and np.isfinite(without).all() and not _has_nan(X):
            return product(X, with_it - without) + (self.class_log_prior_ + without.sum(axis=1))  # type: ignore[no-any-return]
        X = X.toarray() if is_sparse(X) else X
        known = ~np.isnan(X)
        there = np.where(known, X, 0.0)
        return product(there, with_it) + product(np.where(known, 1.0 - there, 0.0), without) + self.class_log_prior_


def log(values: ArrayLike) -> NDArray[np.float64]:
    """The natural log; log 0 is -inf, and no warning."""
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(values, np.float64))


def product(X: Cells, logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """X times the logs of each class, (rows, classes). 0 * log 0 is 0: what is not there has no part in it."""
    endless = ~np.isfinite(logs)
    if not endless.any():
        return np.asarray(X @ logs.T)
    out = np.asarray(X @ np.where(endless, 0.0, logs).T)
    for sign in (-np.inf, np.inf):
        there = np.asarray((X != 0).astype(np.float64) @ (logs == sign).T.astype(np.float64)) > 0
        out[there] = sign
    return out


def _has_nan(X: Cells) -> bool:
    return bool(np.isnan(X.data if is_sparse(X) else X).any())


def _without_nan(X: Cells) -> Cells:
    """The same counts with zeros for missing ones."""
    if not _has_nan(X):
        return X
    if is_sparse(X):
        X = X.copy()
        X.data = np.nan_to_num(X.data)
        return X
    return np.where(np.isnan(X), 0.0, X)


def _above(X: Cells, threshold: float) -> Cells:
    """1 where a cell is above the threshold, 0 where it is not, NaN where it is missing."""
    if is_sparse(X):
        if threshold < 0:
            raise ValueError("Cannot binarize a sparse matrix with threshold < 0")
        X = X.copy()
        X.data = np.where(np.isnan(X.data), np.nan, X.data > threshold)
        X.eliminate_zeros()
        return X
    return np.where(np.isnan(X), np.nan, threshold < X)


# CategoricalNB with scikit-learn's names, parameters, attributes and numbers, on exact counts.


class Tables:
    """For each column the count of each category in each class, (categories, classes); and the rows of each class."""

    def __init__(self, classes: int, columns: int) -> None:
        self.rows = Exact.zeros(1, classes)
        self.counts = [Exact.zeros(0, classes) for _ in range(columns)]

    def add(
        self,
        codes: NDArray[np.int32],
        group: NDArray[np.int32],
        sample_weight: NDArray[np.float64] | None,
        sizes: NDArray[np.int64],
    ) -> None:
        """Take in rows of codes (-1 is missing), with room for so many categories of each column."""
        share, classes = weights(sample_weight), self.rows.shape[1]
        nothing = Exact.zeros(1, classes)
        add_counts(np.zeros(len(group), np.int32), group, share, self.rows, nothing)
        for k, size in enumerate(sizes):
            counts = self.counts[k]
            counts.resize(max(int(size), counts.shape[0]), classes)
            add_counts(np.ascontiguousarray(codes[:, k]), group, share, counts, nothing)

    def state(self) -> State:
        """Plain arrays."""
        return {"rows": self.rows.state(), "counts": [c.state() for c in self.counts]}

    @classmethod
    def from_state(cls, state: State) -> Tables:
        out = cls(0, 0)
        out.rows = Exact.from_state(state["rows"])
        out.counts = [Exact.from_state(c) for c in state["counts"]]
        return out


@dataclass(kw_only=True, eq=False, repr=False)
class CategoricalNB(CountingBayes):
    """Naive Bayes for categories 0, 1, 2 …. A missing category (NaN), or one that training did not have, is left out.

    >>> CategoricalNB().fit([[0, 1], [0, 0], [1, 1]], ["a", "a", "b"]).predict([[1, 7]])
    array(['b'], dtype='<U1')
    """

    min_categories: Any = None
    _sparse = False

    def _begin(self) -> None:
        self._sums = Tables(len(self.classes_), self.n_features_in_)

    @staticmethod
    def _from_state(state: State) -> Tables:
        return Tables.from_state(state)

    def _prepare(self, X: Cells, fitting: bool) -> Cells:
        gone = np.isnan(X)
        known = np.where(gone, 0.0, X) if gone.any() else X
        check_non_negative(known, "CategoricalNB (input X)")
        # What is beyond an int32 is beyond all categories of training as well.
        codes = np.minimum(known, np.iinfo(np.int32).max).astype(np.int32)
        codes[gone] = -1
        return codes

    def _take(self, X: Cells, group: NDArray[np.int32], sample_weight: NDArray[np.float64] | None) -> None:
        self._sums.add(X, group, sample_weight, self._sizes(X))

    def _sizes(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        """How many categories each column has, in these rows or as was least."""
        seen: NDArray[np.int64] = codes.max(axis=0).astype(np.int64) + 1
        if self.min_categories is None:
            return seen
        least = np.array(self.min_categories)
        if not np.issubdtype(least.dtype, np.signedinteger):
            raise ValueError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.ndim and least.shape != seen.shape:
            raise ValueError(
                f"'min_categories' should have shape ({codes.shape[1]},) when an array-like is provided. "
                f"Got {least.shape} instead."
            )
        return np.maximum(seen, least)  # type: ignore[no-any-return]

    def _derive(self) -> None:
        self.class_count_ = self._sums.rows.floats()[0]
        self.category_count_ = [np.ascontiguousarray(c.floats().T) for c in self._sums.counts]
        self.n_categories_ = np.array([c.shape[1] for c in self.category_count_], np.int64)
        self._set_prior()
        self._set_features(self._check_alpha())

    def _set_features(self, alpha: Alpha) -> None:
        smoothed = [count + alpha for count in self.category_count_]
        with np.errstate(invalid="ignore"):
            self.feature_log_prob_ = [log(s) - log(s.sum(axis=1, keepdims=True)) for s in smoothed]

    def _joint_log_likelihood(self, X: Cells) -> NDArray[np.float64]:
        out = np.tile(self.class_log_prior_, (len(X), 1))
        for k, logs in enumerate(self.feature_log_prob_):
            # One row more, of zeros, for what is missing (-1) or was not in training.
            table = np.ascontiguousarray(np.concatenate([logs.T, np.zeros((1, len(self.classes_)))]))
            codes = np.where(X[:, k] < len(logs.T), X[:, k], np.int32(-1))
            add_levels(codes, table, out)
        return out

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags
