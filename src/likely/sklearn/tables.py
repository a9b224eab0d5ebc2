"""What scikit-learn hands over (X, y, sample_weight) as the tables and names that the core reads.

Knows the checks that scikit-learn asks of an estimator; knows no learner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_consistent_length, validate_data

from likely.errors import InputError, LikelyError
from likely.models.shapes import Plane
from likely.table.arrow import label_array, number_array
from likely.table.formats.frames import is_frame, named_table
from likely.table.formats.memory import TableSource
from likely.table.formats.word_counts import WORDS, CountedSource, are_counts
from likely.table.labels import label
from likely.table.schema import MISSING
from likely.table.texts.numbers import column_form

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Rows = TableSource | CountedSource
"""X as a table."""
Labels: TypeAlias = "NDArray[Any]"
"""Classes, of whatever type they are in y."""


@contextmanager
def as_value_errors() -> Iterator[None]:
    """What the core refuses, as the ValueError that scikit-learn's tools expect; the sentence is the same."""
    try:
        yield
    except LikelyError as error:
        raise ValueError(str(error)) from error


MOST_CELLS = 50_000_000
"""Cells of a sparse matrix of numbers that are written out at most; as doubles they take 400 MB."""


def read_rows(estimator: BaseEstimator, X: Any, reset: bool, words: bool = False, counted: bool | None = None) -> Rows:
    """X as a table: a frame as it is, an array by its columns, a sparse matrix of counts (where it is taken) as texts.

    A sparse matrix of other numbers is what the same array would be. `counted` says what the rows before were; None:
    there are none.
    """
    if is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        if not X.shape[0] or not X.shape[1]:
            what = "sample" if not X.shape[0] else "feature"
            raise ValueError(f"Found a frame with 0 {what}(s) (shape={X.shape}) while a minimum of 1 is required.")
        with as_value_errors():
            return named_table(X, column_names(estimator))
    accepted = "csr" if words else False
    X = validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=False, accept_sparse=accepted)
    with as_value_errors():
        if issparse(X):
            X.sum_duplicates()
            if counted or (counted is None and are_counts(X.data)):
                return CountedSource(X.data, X.indices, X.indptr, X.shape[1])
            if X.shape[0] * X.shape[1] > MOST_CELLS:
                raise InputError(
                    "A sparse matrix that does not hold counts is read as columns of numbers, and this one is too "
                    f"large to be written out ({X.shape[0]:,} × {X.shape[1]:,}). Give counts of words "
                    "(CountVectorizer): how words are damped and weighed is a setting of text."
                )
            X = X.toarray()
        return named_table(X, column_names(estimator))


def column_names(estimator: BaseEstimator) -> list[str]:
    """The names of the columns: those of the frame, or x0, x1 …"""
    known = getattr(estimator, "feature_names_in_", None)
    return [f"x{k}" for k in range(estimator.n_features_in_)] if known is None else [str(name) for name in known]


def read_labels(y: ArrayLike, X: object) -> Labels:
    """y as an array of class labels, one for each row of X."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    column = column_or_1d(y, warn=True)
    labels: Labels = check_array(column, ensure_2d=False, dtype=None, input_name="y", ensure_min_samples=0)
    check_consistent_length(X, labels)
    check_classification_targets(labels)
    return labels


def read_numbers(y: ArrayLike, X: object) -> NDArray[np.float64]:
    """y as an array of finite numbers, one for each row of X."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    column = column_or_1d(y, warn=True)
    values: NDArray[np.float64] = check_array(
        column, ensure_2d=False, dtype=np.float64, input_name="y", ensure_min_samples=0
    )
    check_consistent_length(X, values)
    return values


def number_types(source: Rows, names: Sequence[str], kind: str = "number") -> dict[str, str]:
    """Columns of numbers as numbers (or as `kind`), however few values they have."""
    forms = {name: column_form(source.schema.field(name).type) for name in source.schema.names}
    return {name: kind for name, form in forms.items() if form == "number" and name in names}


def plane_weights(plane: Plane, names: Sequence[str]) -> tuple[NDArray[np.float64], float]:
    """The weight of each column on one side of a hyperplane, and its constant; 0 for a column that says nothing."""
    for name, level, _ in plane.weights:
        if level not in ("", "(missing)"):
            raise AttributeError(
                f"{name!r} has a weight for each level, and so no single one: see model_.plane_between. A column of "
                f"numbers is read as levels where it has few values; types={{{name!r}: 'number'}} says otherwise."
            )
    known = {name: weight for name, level, weight in plane.weights if not level}
    return np.array([known.get(name, 0.0) for name in names]), plane.constant


def row_weights(sample_weight: ArrayLike | None, X: object) -> NDArray[np.float64] | None:
    """The weights of rows, or None where every row weighs one."""
    if sample_weight is None:
        return None
    rows = np.empty((_num_samples(X), 1))
    weights: NDArray[np.float64] = _check_sample_weight(sample_weight, rows, dtype=np.float64)
    if np.any(weights < 0):
        raise ValueError("Negative values in data passed to `sample_weight`.")
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weights


def class_name(value: object, missing: Sequence[str]) -> str:
    """What the core calls a class. One that it would take for missing, or trim, is put in quotes; so no two fall
    together, whatever classes may still come.

    >>> class_name(3.0, MISSING), class_name("NA", MISSING), class_name("'NA'", MISSING), class_name(True, ())
    ('3', "'NA'", "''NA''", 'true')
    """
    text = value if isinstance(value, str) else label(value) or ""
    quoted = len(text) > 1 and text[0] == text[-1] == "'"
    return f"'{text}'" if quoted or not text or text != text.strip() or text in missing else text


def missing_tokens(given: Sequence[str] | None) -> tuple[str, ...]:
    """The cells that mean "missing"."""
    return MISSING if given is None else ("", *(s.strip() for s in given))


def add_columns(
    source: Rows,
    target: tuple[str, NDArray[np.intp], Sequence[str]] | None,
    weight: tuple[str, NDArray[np.float64]] | None,
) -> Rows:
    """The table with a column of classes (name, codes, names of classes) and one of weights (name, weights)."""
    if target is not None:
        name, codes, labels = target
        source = source.with_column(name, label_array(codes, labels))
    return source if weight is None else source.with_column(weight[0], number_array(np.asarray(weight[1], np.float64)))


def free_name(wanted: object, names: Sequence[str]) -> str:
    """A name for one more column: the wanted one, or as near as is free."""
    name = wanted if isinstance(wanted, str) and wanted else "class"
    while name in names or name == WORDS:
        name += "_"
    return name
