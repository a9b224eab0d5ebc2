"""MultinomialNB, ComplementNB and BernoulliNB with scikit-learn's names, parameters, attributes and numbers.

Counts are exact sums. docs/drop-in.md lists where these classes differ on purpose: alpha = 0, missing values, batches.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_non_negative

from likely.sklearn.exact_bayes import Cells, ExactBayes, is_sparse

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Alpha = float | NDArray[np.float64]

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
