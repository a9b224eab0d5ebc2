"""The density estimator: how probable rows are, without classes, as scikit-learn's density estimators show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import DensityMixin

import likely
from likely.sklearn import taking
from likely.sklearn.face import Face

if TYPE_CHECKING:
    from likely.table.formats.memory import TableSource
    from likely.table.formats.word_counts import CountedSource


class DensityEstimator(DensityMixin, Face):
    """P(row), as `likely.Density`, whose settings are the parameters.

    >>> X = [[0.5, 1.5], [1.0, 2.25], [2.5, 3.0], [3.5, 5.5]]
    >>> low, high = DensityEstimator().fit(X).score_samples([[30.5, -20.0], [2.0, 3.5]])
    >>> bool(low < high)
    True
    """

    _maker = likely.Density

    def __init__(
        self,
        *,
        density: str = "auto",
        pseudo_count: float = 1.0,
        variance: str = "unbiased",
        variance_floor: float = 1e-6,
        shrinkage: Any = 0.0,
        unseen: str = "skip",
        blocks: Any = (),
        tokens: Any = None,
        types: Mapping[str, str] | None = None,
        missing_cells: Sequence[str] | None = None,
    ) -> None:
        self.density = density
        self.pseudo_count = pseudo_count
        self.variance = variance
        self.variance_floor = variance_floor
        self.shrinkage = shrinkage
        self.unseen = unseen
        self.blocks = blocks
        self.tokens = tokens
        self.types = types
        self.missing_cells = missing_cells

    def _keeps_sums(self, learner: Any) -> bool:
        return learner.density == "naive" and not learner.blocks

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from all rows of X; y is not looked at."""
        source = self._taken(X, sample_weight, first=True)
        self._forget()
        self._learned(source)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows. The model is that of `fit` on all rows so far, to the last bit."""
        self._learned_on(self._taken(X, sample_weight, first=not hasattr(self, "model_")))
        return self

    def _taken(self, X: Any, sample_weight: Any, first: bool) -> TableSource | CountedSource:
        source = taking.table(self, X, reset=first)
        if first:
            self._begun(source, None)
        return self._weighed(source, taking.row_weights(sample_weight, X))

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of log P(row) over the rows."""
        return float(np.mean(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: int = 0) -> dict[str, list[Any]]:
        """Rows drawn from the model, as a dict of columns."""
        with taking.sentences():
            return self.model_.sample(n_samples, random_state)
