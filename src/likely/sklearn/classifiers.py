"""For each learner a class of scikit-learn's kind, whose parameters are the learner's settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

import likely
from likely.machinery.arrays import Floats
from likely.models.contracts import Learner, setting_of
from likely.sklearn.estimator import (
    LearnerClassifier,
    LearnerEstimator,
    Rows,
    add_columns,
    as_value_errors,
    column_names,
    free_name,
    number_types,
    plane_weights,
    read_numbers,
    read_rows,
    row_weights,
)
from likely.table.arrow import number_array
from likely.table.formats.memory import TableSource

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


# The classifiers: for each learner a class whose parameters are the learner's settings.


class NaiveBayesClassifier(LearnerClassifier, learner=likely.NaiveBayes, tokens=True):
    """Naive Bayes over levels, numbers, dates and texts, as `likely.NaiveBayes`.

    Takes counts of words (a sparse matrix of whole numbers) as one text.

    >>> X, y = {"sky": ["sun", "rain", "sun", "fog"]}, ["yes", "no", "yes", "no"]
    >>> import pandas
    >>> NaiveBayesClassifier(pseudo_count=0.5).fit(pandas.DataFrame(X), y).predict(pandas.DataFrame({"sky": ["fog"]}))
    array(['no'], dtype='<U3')
    """

    _words = True

    def _keeps_sums(self, learner: Learner) -> bool:
        return not setting_of(learner, "blocks")


class TunedNaiveBayesClassifier(LearnerClassifier, learner=likely.TunedNaiveBayes):
    """Naive Bayes whose attributes are weighed, or left out, by rows held out, as `likely.TunedNaiveBayes`.

    >>> X, y = [[0.0, 3.0], [1.0, 1.0], [2.5, 2.0], [7.0, 1.5], [8.0, 3.5], [9.5, 2.5]] * 3, [0, 0, 0, 1, 1, 1] * 3
    >>> TunedNaiveBayesClassifier().fit(X, y).predict([[8.5, 2.0]])
    array([1])
    """

    _generative = False


class FullBayesClassifier(LearnerClassifier, learner=likely.FullBayes):
    """All attributes modelled together: a normal density or a joint table for each class, as `likely.FullBayes`.

    Columns of numbers are numbers here, however few values they have; with `density="table"` they are levels.

    >>> X, y = [[0.0, 1.5], [1.0, 2.0], [0.5, 0.25], [8.0, 9.5], [9.0, 8.25], [7.5, 9.0]], [0, 0, 0, 1, 1, 1]
    >>> FullBayesClassifier(shrinkage="auto").fit(X, y).predict([[8.0, 8.5]])
    array([1])
    """

    density: str

    def _types(self, source: Rows) -> dict[str, str]:
        """Numbers stay numbers (or levels, if a table is asked for), however few values they have: the learner takes
        columns of one kind only."""
        kind = "nominal" if self.density == "table" else "number"
        return number_types(source, column_names(self), kind) | super()._types(source)


class TreeAugmentedClassifier(LearnerClassifier, learner=likely.TreeAugmented):
    """Tree-augmented naive Bayes: each attribute has one other as its parent, as `likely.TreeAugmented`.

    >>> X, y = [["sun", "hot"], ["rain", "cold"], ["sun", "cold"], ["rain", "hot"]] * 3, [1, 0, 1, 0] * 3
    >>> TreeAugmentedClassifier().fit(X, y).predict([["sun", "hot"]])
    array([1])
    """


class OneDependenceClassifier(LearnerClassifier, learner=likely.OneDependence):
    """The mean over all attributes as parents (AODE), as `likely.OneDependence`.

    >>> X, y = [["sun", "hot"], ["rain", "cold"], ["sun", "cold"], ["rain", "hot"]] * 3, [1, 0, 1, 0] * 3
    >>> OneDependenceClassifier().fit(X, y).predict([["sun", "hot"]])
    array([1])
    """


class AdditiveClassifier(LearnerClassifier, learner=likely.Additive):
    """Boosted evidence of one, two or more attributes at a time, as `likely.Additive`.

    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]] * 20, ["odd", "odd", "even", "even"] * 20
    >>> AdditiveClassifier().fit(X, y).predict([[1.0, 0.0]])
    array(['odd'], dtype='<U4')
    """

    _generative = False


class ForestClassifier(LearnerClassifier, learner=likely.Forest):
    """The averaged evidence of extremely randomised trees, as `likely.Forest`.

    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]] * 20, ["odd", "odd", "even", "even"] * 20
    >>> ForestClassifier(trees=10).fit(X, y).predict([[1.0, 0.0]])
    array(['odd'], dtype='<U4')
    """

    _generative = False


class TextLogisticClassifier(LearnerClassifier, learner=likely.TextLogistic, tokens=True):
    """Logistic regression over words, pooled with naive Bayes, as `likely.TextLogistic`.

    Takes counts of words (a sparse matrix of whole numbers) as one text.

    >>> import pandas
    >>> X, y = pandas.DataFrame({"note": ["sun and wind again today", "rain all over the day"] * 20}), [1, 0] * 20
    >>> TextLogisticClassifier().fit(X, y).predict(pandas.DataFrame({"note": ["a rain like never before"]}))
    array([0])
    """

    _words = True
    _generative = False


class NeighborsClassifier(LearnerClassifier, learner=likely.Neighbors):
    """The classes of the k nearest training rows, as `likely.Neighbors`.

    >>> X, y = [[0.0], [1.0], [2.5], [7.0], [8.0], [9.5]], ["low", "low", "low", "high", "high", "high"]
    >>> NeighborsClassifier(k=3).fit(X, y).predict([[8.5]])
    array(['high'], dtype='<U4')
    """

    _generative = False


class AutoClassifier(LearnerClassifier, learner=likely.Auto):
    """Tries the family of learners on rows held out and pools what helps, as `likely.Auto`.

    >>> X, y = [[0.0], [1.0], [2.5], [7.0], [8.0], [9.5]] * 2, ["low", "low", "low", "high", "high", "high"] * 2
    >>> AutoClassifier(members=("Prior", "NaiveBayes"), parts=2).fit(X, y).predict([[8.5]])
    array(['high'], dtype='<U4')
    """

    _generative = False


class PoolClassifier(LearnerClassifier, learner=likely.Pool):
    """The logarithmic pool of some learners, their weights found on rows held out or given, as `likely.Pool`.

    Members are learners, their names, or estimators of this package.

    >>> X, y = [[0.0], [1.0], [2.5], [7.0], [8.0], [9.5]] * 2, ["low", "low", "low", "high", "high", "high"] * 2
    >>> members = ("Prior", likely.NaiveBayes(), NeighborsClassifier(k=1))
    >>> PoolClassifier(members=members, parts=2).fit(X, y).predict([[8.5]])
    array(['high'], dtype='<U4')
    """

    _generative = False

    def _settings(self) -> dict[str, object]:
        settings = super()._settings()
        members = settings["members"] or ()
        several = members if isinstance(members, list | tuple) else [members]
        settings["members"] = tuple(m._learner() if isinstance(m, LearnerEstimator) else m for m in several)
        return settings


# Linear classifiers: for learners whose classes are parted by hyperplanes, the weights as scikit-learn shows them.


def _is_linear(estimator: LinearClassifier) -> bool:
    """Whether the settings leave one score for each class that is linear in the numbers."""
    return estimator._linear


class LinearClassifier(LearnerClassifier):
    """A classifier with `decision_function`, `coef_` and `intercept_`.

    Of two classes the score is that of the second against the first, above 0 where the second wins. Of more, each class
    has its score against the mean of all classes, and the largest wins.
    """

    @property
    def _linear(self) -> bool:
        return True

    def _scores(self, X: object) -> Floats:
        """A score for each class, which differences make linear in the numbers."""
        return self.predict_joint_log_proba(X)

    @available_if(_is_linear)
    def decision_function(self, X: object) -> Floats:
        """X @ coef_.T + intercept_ where every cell is a number; (rows,) for two classes, else (rows, classes)."""
        scores = self._scores(X)
        if len(self.classes_) == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        known = np.isfinite(scores).all(axis=0)
        return np.asarray(scores - scores[:, known].mean(axis=1, keepdims=True))

    @property
    def coef_(self) -> Floats:
        """The weight of each column in its own units: (1, columns) for two classes, else (classes, columns)."""
        return self._planes()[0]

    @property
    def intercept_(self) -> Floats:
        """The constant of each score: (1,) for two classes, else (classes,)."""
        return self._planes()[1]

    def _planes(self) -> tuple[Floats, Floats]:
        check_is_fitted(self, "model_")
        if not self._linear:
            raise AttributeError(f"With these settings {type(self).__name__} has no single score for each class.")
        names = [self._class_name(c) for c in self.classes_]
        if {*names} != {*self.model_.classes}:
            raise AttributeError("A class without rows has no weights.")
        columns = column_names(self)
        if len(names) == 2:
            weights, constant = plane_weights(self.model_.plane_between(names[1], names[0]), columns)
            return weights[None], np.array([constant])
        # Against the first class, then against the mean: differences are all that the scores are about.
        first = names[0]
        found = [plane_weights(self.model_.plane_between(name, first), columns) for name in names[1:]]
        weights = np.array([np.zeros(len(columns)), *(w for w, _ in found)])
        constants = np.array([0.0, *(c for _, c in found)])
        return weights - weights.mean(axis=0), constants - constants.mean()


class LeastSquaresClassifier(LinearClassifier, learner=likely.LeastSquares):
    """Least squares: a regression for each class, or for each pair of classes, as `likely.LeastSquares`.

    What `predict_proba` gives are normalised scores, no probabilities. With `mode="pairwise"` there is no single score
    for each class, and so no `decision_function` and no `coef_`.

    >>> X, y = [[0.0], [1.0], [2.5], [7.0], [8.0], [9.5]], ["low", "low", "low", "high", "high", "high"]
    >>> LeastSquaresClassifier().fit(X, y).predict([[8.5]])
    array(['high'], dtype='<U4')
    """

    _generative = False
    mode: str

    @property
    def _linear(self) -> bool:
        return self.mode == "multi"

    def _scores(self, X: object) -> Floats:
        source = self._table(X)
        with as_value_errors():
            score: Any = self.model_.score
            parts = [score.outputs.scored(batch)[0] for batch in self.model_.batches(source)]
        return self._matrix(np.concatenate(parts), -np.inf)


class LogisticClassifier(LinearClassifier, learner=likely.Logistic):
    """Logistic regression by maximum likelihood with a ridge, as `likely.Logistic`.

    With `numbers` "squares" or "binned" it is not linear, and has no `decision_function` and no `coef_`.

    >>> X, y = [[0.0], [1.0], [2.5], [7.0], [8.0], [9.5]], ["low", "low", "low", "high", "high", "high"]
    >>> found = LogisticClassifier().fit(X, y)
    >>> found.predict([[8.5]]), found.coef_.shape
    (array(['high'], dtype='<U4'), (1, 1))
    """

    _generative = False
    numbers: str

    @property
    def _linear(self) -> bool:
        return self.numbers == "linear"


class LinearDiscriminantClassifier(LinearClassifier, learner=likely.LinearDiscriminant):
    """Normal classes with one covariance, as `likely.LinearDiscriminant`.

    Columns of numbers are numbers here, however few values they have.

    >>> X, y = [[0.0, 1.5], [1.0, 2.0], [0.5, 0.25], [8.0, 9.5], [9.0, 8.25], [7.5, 9.0]], [0, 0, 0, 1, 1, 1]
    >>> LinearDiscriminantClassifier().fit(X, y).predict([[8.0, 8.5]])
    array([1])
    """

    def _types(self, source: Rows) -> dict[str, str]:
        """Numbers stay numbers: the learner takes nothing else."""
        return number_types(source, column_names(self)) | super()._types(source)


# The regressor: a number as a weighted sum of the other columns, as scikit-learn's regressors show it.


class LeastSquaresRegressor(RegressorMixin, BaseEstimator):
    """Least squares with a ridge over exact sums of products, as `likely.regress`.

    Frames are taken as they are: levels have a weight each, missing cells are learned from. `model_` is the
    `likely.Regression`. Columns of numbers are numbers here, however few values they have.

    Parameters
    ----------
    ridge : float, default=0.0
        Times the squared weights (on numbers in standard deviations and on indicators), added to the squared errors.
    types : Mapping[str, str] | None, default=None
        How columns are read, where that is not left to inference: {"zip": "nominal"}.
    missing_cells : Sequence[str] | None, default=None
        Cells that mean 'missing', in place of the usual ones.

    >>> found = LeastSquaresRegressor().fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 7.0])
    >>> found.predict([[10.0]]).round(9), found.coef_.round(9)
    (array([21.]), array([2.]))
    """

    model_: likely.Regression

    def __init__(
        self,
        *,
        ridge: float = 0.0,
        types: Mapping[str, str] | None = None,
        missing_cells: Sequence[str] | None = None,
    ) -> None:
        self.ridge = ridge
        self.types = types
        self.missing_cells = missing_cells

    def fit(self, X: object, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from all rows of X, a frame or an array, and their numbers y."""
        source = read_rows(self, X, reset=True)
        assert isinstance(source, TableSource)
        names = source.schema.names
        target = free_name(getattr(y, "name", None) or "target", names)
        types = number_types(source, column_names(self)) | dict(self.types or {})
        weights, values = row_weights(sample_weight, X), read_numbers(y, X)
        weight = None if weights is None else free_name("weight", [*names, target])
        table = source.with_column(target, number_array(values))
        if weight is not None and weights is not None:
            table = add_columns(table, None, (weight, weights))  # type: ignore[assignment]
        with as_value_errors():
            self.model_ = likely.regress(
                table, target, ridge=self.ridge, types=types, missing=self.missing_cells, weight=weight
            )
        return self

    def predict(self, X: object) -> Floats:
        """The number of each row."""
        check_is_fitted(self, "model_")
        source = read_rows(self, X, reset=False)
        with as_value_errors():
            return np.asarray(self.model_.predict(source))

    @property
    def coef_(self) -> Floats:
        """The weight of each column in its own units, (columns,); there are none where a column has levels."""
        return self._line()[0]

    @property
    def intercept_(self) -> float:
        """The constant."""
        return self._line()[1]

    def _line(self) -> tuple[Floats, float]:
        check_is_fitted(self, "model_")
        columns = column_names(self)
        known = {w.attribute: w.weight for w in self.model_.weights if not w.level}
        levels = [w.attribute for w in self.model_.weights if w.level not in ("", "(missing)")]
        if levels:
            raise AttributeError(f"{levels[0]!r} has a weight for each level: see model_.weights.")
        return np.array([known.get(name, 0.0) for name in columns]), self.model_.constant

    def __sklearn_tags__(self) -> Tags:
        tags: Any = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = True
        return tags


# The density estimator: how probable rows are, without classes, as scikit-learn's density estimators show it.


class DensityEstimator(DensityMixin, LearnerEstimator, learner=likely.Density, tokens=True):
    """P(row), as `likely.Density`.

    >>> X = [[0.5, 1.5], [1.0, 2.25], [2.5, 3.0], [3.5, 5.5]]
    >>> low, high = DensityEstimator().fit(X).score_samples([[30.5, -20.0], [2.0, 3.5]])
    >>> bool(low < high)
    True
    """

    def _keeps_sums(self, learner: Learner) -> bool:
        return setting_of(learner, "density") == "naive" and not setting_of(learner, "blocks")

    def fit(self, X: object, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from all rows of X; y is not looked at."""
        source = self._weighted_rows(X, sample_weight, first=True)
        self._forget()
        self._learn_all(source)
        return self

    def partial_fit(self, X: object, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn more rows. The model is that of `fit` on all rows so far, to the last bit."""
        self._learn_more(self._weighted_rows(X, sample_weight, first=not hasattr(self, "model_")))
        return self

    def _weighted_rows(self, X: object, sample_weight: ArrayLike | None, first: bool) -> Rows:
        source = read_rows(self, X, reset=first)
        if first:
            self._start(source, None)
        return self._add_weights(source, row_weights(sample_weight, X))

    def score(self, X: object, y: object = None) -> float:
        """The mean of log P(row) over the rows."""
        return float(np.mean(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: int = 0) -> dict[str, list[Any]]:
        """Rows drawn from the model, as a dict of columns."""
        with as_value_errors():
            return self.model_.sample(n_samples, random_state)
