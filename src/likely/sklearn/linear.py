"""Linear classifiers: for learners whose classes are parted by hyperplanes, the weights as scikit-learn shows them.

Reads planes of the model; every number comes from there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

import likely
from likely.machinery.arrays import Floats
from likely.sklearn.estimator import LearnerClassifier
from likely.sklearn.tables import Rows, as_value_errors, column_names, number_types, plane_weights

if TYPE_CHECKING:
    from likely.models.linear.least_squares import Hyperplanes


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
    if TYPE_CHECKING:
        model_: Hyperplanes

    @property
    def _linear(self) -> bool:
        return self.mode == "multi"

    def _scores(self, X: object) -> Floats:
        source = self._table(X)
        with as_value_errors():
            parts = [self.model_.outputs(batch) for batch in self.model_.batches(source)]
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
