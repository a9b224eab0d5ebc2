"""What scikit-learn's naive Bayes classes have in common, on exact sums: fit and partial_fit, predictions, the sums.

Sums are held without rounding, so that no cut into batches, and no order of rows, changes a bit of what is derived.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, TypeGuard

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import _check_partial_fit_first_call, check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from likely.models.kernels import normalise
from likely.sklearn.estimator import Labels, row_weights
from likely.sums.columns.counts import add_counts
from likely.sums.contracts import State, Weights, weights
from likely.sums.exact import Exact
from likely.sums.powers import Powers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Cells: TypeAlias = "NDArray[Any] | csr_array"
"""Rows of numbers, dense or of sparse rows."""


_CELLS = 1 << 19
"""Cells that are taken at a time."""
_BINS = 1 << 12
"""Groups up to which numbers are added up apart for each exponent, which is quicker and takes more room."""
_EXACT = float(1 << 53)
"""Whole numbers up to here are added by doubles without rounding."""


def is_sparse(X: Cells) -> TypeGuard[csr_array]:
    """Whether rows are sparse."""
    return bool(issparse(X))


class ClassSums:
    """For each class and column: the sums of x and x*x, and what the missing cells weigh. For each class: its rows."""

    NAMES = ("rows", "first", "second", "absent")

    def __init__(self, classes: int, columns: int) -> None:
        self.shape = (classes, columns)
        self.rows = Exact.zeros(1, classes)
        self.first = Exact.zeros(classes * columns)
        self.second = Exact.zeros(classes * columns)
        self.absent = Exact.zeros(classes * columns)

    def add(self, X: Cells, group: NDArray[np.int32], sample_weight: NDArray[np.float64] | None, squares: bool) -> None:
        """Take in rows: a matrix, dense or of sparse rows, the class and the weight of each. NaN is missing."""
        share = weights(sample_weight)
        add_counts(np.zeros(len(group), np.int32), group, share, self.rows, Exact.zeros(1, self.shape[0]))
        values = X.data if is_sparse(X) else X
        if np.isnan(values).any():
            gone = np.where(np.isnan(values), 1.0, np.nan)
            marked = csr_array((gone, X.indices, X.indptr), shape=X.shape) if is_sparse(X) else gone
            self.absent, _ = self._added(marked, group, share, self.absent, Exact.zeros(*self.absent.shape))
        if not squares and self._is_whole(values, sample_weight):
            self._add_whole(X, group, sample_weight)
        else:
            self.first, self.second = self._added(X, group, share, self.first, self.second)

    def _added(
        self, X: Cells, group: NDArray[np.int32], share: Weights, first: Exact, second: Exact
    ) -> tuple[Exact, Exact]:
        """The sums of powers with those of these rows."""
        powers, columns = Powers.of(first.canonical(), second.canonical()), self.shape[1]
        powers.resize(first.shape[0])
        step = max(_CELLS // max(columns, 1), 1)
        if share.plain and not is_sparse(X) and first.shape[0] <= _BINS:
            powers.add_rows(np.ascontiguousarray(X, np.float64), group)
            return powers.sums()
        for start in range(0, len(group), step):
            rows = slice(start, start + step)
            some = group[rows].astype(np.int64) * columns
            if is_sparse(X):
                low, high = X.indptr[start], X.indptr[min(start + step, len(group))]
                row = np.repeat(np.arange(len(some)), np.diff(X.indptr[start : start + len(some) + 1]))
                cells, places = X.data[low:high], some[row] + X.indices[low:high]
            else:
                row = np.repeat(np.arange(len(some)), columns) if not share.plain else np.empty(0, np.intp)
                cells, places = X[rows].ravel(), (some[:, None] + np.arange(columns)).ravel()
            own = share if share.plain else Weights(tuple(c[rows][row] for c in share.chunks), share.base)
            if own.plain and first.shape[0] > _BINS:
                own = Weights((np.ones(len(cells), np.int64),), 0)
            powers.add(np.ascontiguousarray(cells, np.float64), places.astype(np.int32), own)
        return powers.sums()

    def _is_whole(self, values: Cells, sample_weight: NDArray[np.float64] | None) -> bool:
        if sample_weight is not None and not np.all(sample_weight == np.floor(sample_weight)):
            return False
        if not np.all(values == np.floor(values)):  # NaN is not
            return False
        most = 1.0 if sample_weight is None else float(sample_weight.max(initial=0.0))
        return float(np.abs(values).sum(dtype=np.float64)) * max(most, 1.0) < _EXACT / 2

    def _add_whole(self, X: Cells, group: NDArray[np.int32], sample_weight: NDArray[np.float64] | None) -> None:
        each = np.ones(len(group)) if sample_weight is None else sample_weight
        indicator = csr_array((each, (group, np.arange(len(group)))), shape=(self.shape[0], len(group)))
        sums = indicator @ X
        dense = sums.toarray() if issparse(sums) else np.asarray(sums)
        self.first = self.first + Exact.of(dense.astype(np.int64).ravel())

    def floats(self, name: str) -> NDArray[np.float64]:
        """One of the sums, each rounded once, (classes, columns); of rows, (classes,)."""
        values = getattr(self, name).floats()
        return values[0] if name == "rows" else values.reshape(self.shape)  # type: ignore[no-any-return]

    def state(self) -> State:
        """Plain arrays."""
        return {"shape": self.shape, **{name: getattr(self, name).state() for name in self.NAMES}}

    @classmethod
    def from_state(cls, state: State) -> ClassSums:
        out = cls(*state["shape"])
        for name in cls.NAMES:
            setattr(out, name, Exact.from_state(state[name]))
        return out


class ExactBayes(ClassifierMixin, BaseEstimator):
    """fit, partial_fit and predictions. A class says how rows are checked, summed (`_take`), turned into a model
    (`_derive`) and scored (`_joint_log_likelihood`).
    """

    classes_: Labels
    n_features_in_: int
    _sparse: ClassVar[str | bool] = False

    def _check(self) -> None:
        """Refuse settings outside their range."""

    def _begin(self) -> None:
        self._sums: Any = ClassSums(len(self.classes_), self.n_features_in_)

    def _take(self, X: Cells, group: NDArray[np.int32], sample_weight: NDArray[np.float64] | None) -> None:
        raise NotImplementedError

    def _derive(self) -> None:
        raise NotImplementedError

    def _joint_log_likelihood(self, X: Cells) -> NDArray[np.float64]:
        raise NotImplementedError

    def _prepare(self, X: Cells, fitting: bool) -> Cells:
        """Rows of numbers as the class counts them."""
        return X

    def _check_rows(self, X: object, y: object = None, reset: bool = False) -> tuple[Cells, Labels]:
        """X (and y), checked: numbers, of which NaN means missing."""
        given = {} if y is None else {"y": y}
        how = {"accept_sparse": self._sparse, "dtype": np.float64, "ensure_all_finite": "allow-nan"}
        checked = validate_data(self, X, **given, reset=reset, **how)
        X, y = (checked, np.empty(0)) if y is None else checked
        return self._prepare(X, bool(given)), y

    def fit(self, X: object, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from all rows."""
        return self._learn(X, y, None, sample_weight, refit=True)

    def partial_fit(
        self, X: object, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn more rows; `classes`, at the first call, names all that may come. Batches do not change the result."""
        return self._learn(X, y, classes, sample_weight, refit=False)

    def _learn(
        self, X: object, y: Any, classes: ArrayLike | None, sample_weight: ArrayLike | None, refit: bool
    ) -> Self:
        self._check()
        if y is None:
            raise ValueError("This estimator requires y to be passed, but the target y is None.")
        first = refit or _check_partial_fit_first_call(self, classes)
        rows, y = self._check_rows(X, y, reset=first)
        given = row_weights(sample_weight, rows)
        if refit:
            check_classification_targets(y)
            self.classes_ = np.unique(y)
        group = np.searchsorted(self.classes_, y)
        group = np.minimum(group, len(self.classes_) - 1)
        strange = np.unique(y[self.classes_[group] != y])
        if len(strange):
            raise ValueError(f"The target label(s) {strange} in y do not exist in the initial classes {self.classes_}")
        if first:
            self._begin()
        self._take(rows, group.astype(np.int32), given)
        self._derive()
        return self

    def predict_joint_log_proba(self, X: object) -> NDArray[np.float64]:
        """log P(class) + log P(row | class), (rows, classes)."""
        check_is_fitted(self)
        return self._joint_log_likelihood(self._check_rows(X)[0])

    def predict(self, X: object) -> Labels:
        """The most probable class of each row; the first of equals."""
        # Of probabilities, in which ties are exact; a row that is impossible under every class is the first one's.
        best = np.nan_to_num(self.predict_proba(X)).argmax(axis=1)
        return self.classes_[best]  # type: ignore[no-any-return]

    def predict_log_proba(self, X: object) -> NDArray[np.float64]:
        """log P(class | row); NaN where a row is impossible under every class."""
        joint = self.predict_joint_log_proba(X)
        top = joint.max(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            apart = joint - top
            return apart - np.log(np.exp(apart).sum(axis=1, keepdims=True))  # type: ignore[no-any-return]

    def predict_proba(self, X: object) -> NDArray[np.float64]:
        """P(class | row); NaN where a row is impossible under every class."""
        shares = np.ascontiguousarray(self.predict_joint_log_proba(X))
        evidence = np.empty(len(shares))
        normalise(shares, evidence)
        shares[evidence == -np.inf] = np.nan
        return shares

    def __getstate__(self) -> State:
        state = dict(super().__getstate__())
        if "_sums" in state:
            state["_sums"] = self._sums.state()
        return state

    def __setstate__(self, state: State) -> None:
        state = dict(state)
        if "_sums" in state:
            state["_sums"] = self._from_state(state["_sums"])
        super().__setstate__(state)

    @staticmethod
    def _from_state(state: State) -> Any:
        return ClassSums.from_state(state)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = bool(self._sparse)
        return tags
