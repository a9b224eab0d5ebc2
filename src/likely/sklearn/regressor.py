"""The regressor: a number as a weighted sum of the other columns, as scikit-learn's regressors show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

import likely
from likely.machinery.arrays import Floats
from likely.sklearn.tables import (
    add_columns,
    as_value_errors,
    column_names,
    free_name,
    number_types,
    read_numbers,
    read_rows,
    row_weights,
)
from likely.table.arrow import number_array
from likely.table.formats.memory import TableSource

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


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
