"""The density estimator: how probable rows are, without classes, as scikit-learn's density estimators show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import DensityMixin

import likely
from likely.models.contracts import Learner, setting_of
from likely.sklearn.estimator import LearnerEstimator
from likely.sklearn.tables import Rows, as_value_errors, read_rows, row_weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


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
