"""CategoricalNB with scikit-learn's names, parameters, attributes and numbers, on exact counts.

docs/drop-in.md lists where it differs on purpose: unseen categories, missing values, batches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_non_negative

from likely.models.kernels import add_levels
from likely.sklearn.discrete import CountingBayes, log
from likely.sklearn.exact_bayes import Cells
from likely.sums.columns.counts import add_counts
from likely.sums.contracts import State
from likely.sums.exact import Exact
from likely.sums.weights import weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.sklearn.discrete import Alpha


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
