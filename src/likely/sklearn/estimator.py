"""Learners as scikit-learn's estimators: fit, partial_fit, predict and their kin, each a call of the core."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, assert_all_finite, check_array, check_random_state, column_or_1d
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

import likely
from likely.apply.fitting import model_from_tree
from likely.errors import InputError, LikelyError, SettingError
from likely.evaluate.attributes.information import find_importances
from likely.evaluate.judging import fit
from likely.intake.incremental import IncrementalSummary
from likely.intake.options import Reading, options_of
from likely.models.contracts import Learner, Model
from likely.models.learning import begin
from likely.models.registry import CALLED_OTHERWISE
from likely.models.settings import declared, type_names
from likely.models.shapes import Plane
from likely.sums import state as files
from likely.sums.contracts import State
from likely.table.arrow import label_array, number_array, pack_table, unpack_table
from likely.table.formats.memory import (
    WORDS,
    CountedSource,
    FrameKind,
    TableSource,
    are_counts,
    is_frame,
    named_table,
    stack_tables,
)
from likely.table.labels import label
from likely.table.schema import MISSING
from likely.table.texts.numbers import column_form

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


# What scikit-learn hands over (X, y, sample_weight) as the tables and names that the core reads.

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
    labels: Labels = column_or_1d(y, warn=True)
    check_consistent_length(X, labels)
    if labels.dtype.kind not in "biuSU":  # whole numbers and texts are classes, whatever they are
        assert_all_finite(labels, input_name="y")
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


# Learners as scikit-learn's estimators: fit, partial_fit, predict and their kin, each a call of the core.

WEIGHT = "weight"
READING = options_of("scikit-learn")
"""Options of reading a table that are parameters, and what these are called: a learner has a setting `missing` too."""
PARAMETERS = {
    "loss": ("Loss | Mapping | None", "What decisions cost.", None),
    "class_weight": (
        "Mapping | 'balanced' | None",
        "What a row of each class counts, times its sample weight; 'balanced': each class as much as any other.",
        None,
    ),
    "random_state": ("int | RandomState | None", "Deals the rows to the parts in place of `seed`.", None),
} | {
    READING[name]: (str(part.type), about.meaning, default)
    for part, (name, default, about) in zip(
        [part for part in fields(Reading) if part.metadata], declared(Reading), strict=True
    )
    if name in READING
}
"""Parameters beside the learner's settings: their types, what they mean, and their defaults."""


def _is_generative(estimator: LearnerEstimator) -> bool:
    """Whether the learner says how probable a row is, not only how probable a class is given the row."""
    return estimator._generative


class LearnerEstimator(BaseEstimator):
    """Settings in, a model out. `model_` is the core's own: it can be saved, merged, explained, exported."""

    _maker: ClassVar[type]
    """The learner's class."""
    _generative: ClassVar[bool] = True
    """Whether its models say how probable rows are."""
    _words: ClassVar[bool] = False
    """Whether counts of words, a sparse matrix, can be learned from."""
    _takes: ClassVar[tuple[str, ...]] = ()
    """Parameters beside the learner's settings, and beside those that say how X is read."""

    model_: Model
    _rows: TableSource | None = None
    """The rows that were learned, where sums alone do not give the model."""
    types: Mapping[str, str] | None
    missing_cells: Sequence[str] | None

    def __init_subclass__(cls, learner: type | None = None, tokens: bool = False, **more: object) -> None:
        """Give the class the parameters of a learner: its `__init__`, the signature of it, and their description."""
        super().__init_subclass__(**more)
        if learner is None:
            return
        types, reads = type_names(learner), [name for name in READING.values() if tokens or name != "tokens"]
        seeded = any(name == "seed" for name, _, _ in declared(learner))
        others = (*reads, *cls._takes, *(["random_state"] if seeded else []))
        about = {name: (types[name], setting.meaning) for name, _, setting in declared(learner)}
        about |= {name: PARAMETERS[name][:2] for name in others}
        # A default must not be one that can be changed, so that of a dict is None.
        unsaid = {name: default for name, default, _ in declared(learner)}
        defaults = {name: None if isinstance(value, dict) or value is ... else value for name, value in unsaid.items()}
        defaults |= {name: PARAMETERS[name][2] for name in others}

        def __init__(self: LearnerEstimator, **given: object) -> None:
            for name, default in defaults.items():
                setattr(self, name, given.pop(name, default))
            if given:
                name = next(iter(given))
                raise TypeError(f"{cls.__name__} has no parameter {name!r}. {CALLED_OTHERWISE.get(name, '')}".rstrip())

        own = [Parameter(name, Parameter.KEYWORD_ONLY, default=default) for name, default in defaults.items()]
        signature = Signature([Parameter("self", Parameter.POSITIONAL_OR_KEYWORD), *own])
        __init__.__signature__ = signature  # type: ignore[attr-defined]
        cls._maker, cls.__init__ = learner, __init__  # type: ignore[assignment, method-assign]
        lines = [f"    {n} : {kind}, default={defaults[n]!r}\n        {words}" for n, (kind, words) in about.items()]
        cls.__doc__ = "\n".join([(cls.__doc__ or "").rstrip(), "", "    Parameters", "    ----------", *lines, "    "])

    def __sklearn_is_fitted__(self) -> bool:
        """By the model alone: a parameter may end in an underscore, as `for_` does."""
        return hasattr(self, "model_")

    def _settings(self) -> dict[str, object]:
        """The settings of the learner, as the parameters say them."""
        settings = {name: getattr(self, name) for name, _, _ in declared(self._maker)}
        for name, default, _ in declared(self._maker):
            if isinstance(default, dict) and settings[name] is None:
                settings[name] = default
        chance = getattr(self, "random_state", None)
        if chance is not None:
            settings["seed"] = int(check_random_state(chance).randint(np.iinfo(np.int32).max))
        return settings

    def _learner(self) -> Learner:
        with as_value_errors():
            made: Learner = self._maker(**self._settings())
        return made

    def _keeps_sums(self, learner: Learner) -> bool:
        """Whether sums alone give the model, so that rows that were learned need not be kept."""
        return False

    def _reading(self) -> State:
        """How the rows are read, as `Reading` and `fit` take it."""
        said = {name: getattr(self, called) for name, called in READING.items() if hasattr(self, called)}
        return {**said, "target": self._target, "types": self._column_types, "weight": self._weight}

    def _start(self, source: Rows, target: str | None) -> None:
        """What stays the same over all pieces: the names of columns."""
        self._target = None if target is None else free_name(target, source.schema.names)
        self._weight: str | None = None
        self._counted = isinstance(source, CountedSource)
        self._column_types = {WORDS: "text"} if self._counted else self._types(source)
        if self._target is not None:
            self._column_types = {**self._column_types, self._target: "nominal"}

    def _types(self, source: Rows) -> dict[str, str]:
        """How columns are to be read, where that is not left to inference."""
        return dict(self.types or {})

    def _add_weights(self, source: Rows, weights: NDArray[np.float64] | None) -> Rows:
        """The rows with a column of weights, if these or rows before have any."""
        if weights is None and self._weight is None:
            return source
        if self._weight is None:
            self._weight = free_name(WEIGHT, source.schema.names)
            if self._rows is not None:
                ones = number_array(np.ones(self._rows.table.num_rows))
                self._rows = self._rows.with_column(self._weight, ones)
        given = np.ones(source.rows or 0) if weights is None else weights
        return add_columns(source, None, (self._weight, given))

    def _learn_all(self, source: Rows) -> None:
        """Fit all rows at once."""
        with as_value_errors():
            self.model_ = fit(source, learner=self._learner(), loss=getattr(self, "loss", None), **self._reading())

    def _learn_more(self, source: Rows) -> None:
        """Learn one more piece, and derive the model of all pieces so far."""
        learner = self._learner()
        if not self._keeps_sums(learner):
            if isinstance(source, CountedSource):
                raise ValueError("With these settings rows must be kept, and those of a sparse matrix are not.")
            whole = source if self._rows is None else stack_tables([self._rows, source])
            self._learn_all(whole)
            self._rows = whole
            return
        with as_value_errors():
            held, reading = getattr(self, "_incremental", None), Reading(**self._reading())
            pieces = IncrementalSummary(reading) if held is None else held.with_reading(reading)
            pieces.update(source)
            model = begin(learner, pieces.summary())
            if not isinstance(model, Model):
                raise SettingError(
                    "Settings of text that are not said are chosen on rows held out, and partial_fit keeps no rows. "
                    "Say all of them: text=likely.Text()."
                )
            costs = likely.Loss.of(getattr(self, "loss", None))
            self.model_ = model if costs is None else replace(model, loss=costs)
            self._incremental = pieces

    def _forget(self) -> None:
        """Nothing of an earlier fit may show in this one."""
        for name in ("_incremental", "_rows", "model_"):
            self.__dict__.pop(name, None)

    def _table(self, X: object) -> Rows:
        check_is_fitted(self, "model_")
        source = read_rows(self, X, reset=False, words=self._words, counted=self._counted)
        if isinstance(source, CountedSource) != self._counted:
            raise ValueError("The model was fitted on a sparse matrix of word counts, so new rows must be given alike.")
        return source

    @available_if(_is_generative)
    def score_samples(self, X: object) -> NDArray[np.float64]:
        """log P(row), in nats, of every row: low where a row is unlike those of training."""
        source = self._table(X)
        with as_value_errors():
            return self.model_.log_density(source)  # type: ignore[no-any-return]

    def __getstate__(self) -> State:
        """Plain values: the model as the bytes of its file, rows as Arrow's own bytes."""
        state = dict(super().__getstate__())
        if "model_" in state:
            state["model_"] = self.model_.to_bytes()
        if "_incremental" in state:
            state["_incremental"] = self._incremental.to_bytes()
        if "_rows" in state:
            state["_rows"] = pack_table(state["_rows"].table)
        return state

    def __setstate__(self, state: State) -> None:
        state = dict(state)
        if "model_" in state:
            state["model_"] = model_from_tree(files.parse(state["model_"], "the model"), "the model")
        if "_rows" in state:
            state["_rows"] = TableSource(unpack_table(state["_rows"]))
        super().__setstate__(state)
        if "_incremental" in state:
            self._incremental = IncrementalSummary.from_bytes(state["_incremental"], Reading(**self._reading()))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = True
        # A sparse matrix of whole numbers is taken as counts of words: most checks give these to who takes categories.
        tags.input_tags.sparse = tags.input_tags.categorical = self._words
        return tags


class LearnerClassifier(ClassifierMixin, LearnerEstimator):
    """An estimator with classes. Classes keep the type they have in y, and their order is that of `numpy.unique`."""

    classes_: Labels
    _takes = ("loss", "class_weight")

    loss: Any
    class_weight: Mapping[Any, float] | str | None

    def fit(self, X: object, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from all rows of X, a frame or an array, and their classes y."""
        source = self._rows_with_classes(X, y, sample_weight, None, first=True)
        self._forget()
        self._learn_all(source)
        return self

    def partial_fit(
        self, X: object, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn more rows. The model is that of `fit` on all rows so far, to the last bit; classes may come later."""
        if self.class_weight == "balanced":
            raise ValueError("class_weight='balanced' needs all rows at once. Give a weight for each class.")
        first = not hasattr(self, "model_")
        self._learn_more(self._rows_with_classes(X, y, sample_weight, classes, first))
        return self

    def _rows_with_classes(
        self, X: object, y: ArrayLike, sample_weight: ArrayLike | None, classes: ArrayLike | None, first: bool
    ) -> Rows:
        """The rows with their classes and weights as a table."""
        source = read_rows(self, X, reset=first, words=self._words, counted=None if first else self._counted)
        name = getattr(y, "name", None)
        labels, codes = np.unique(read_labels(y, X), return_inverse=True)
        weights = row_weights(sample_weight, X)
        if self.class_weight is not None:
            each = compute_sample_weight(self.class_weight, labels[codes])
            weights = each if weights is None else weights * each
        if first:
            self._start(source, name if isinstance(name, str) else "class")
        before = labels[:0] if first else self.classes_
        announced = labels[:0] if classes is None else np.asarray(classes)
        self.classes_ = np.unique(np.concatenate([a for a in (before, labels, announced) if len(a)]))
        assert self._target is not None
        named = add_columns(source, (self._target, codes, [self._class_name(c) for c in labels]), None)
        return self._add_weights(named, weights)

    def _class_name(self, label: object) -> str:
        """What the core calls a class."""
        return class_name(label, missing_tokens(self.missing_cells))

    def _matrix(self, scores: NDArray[np.float64], empty: float) -> NDArray[np.float64]:
        """Columns of the model's classes as those of `classes_`; `empty` for classes that no row had."""
        out = np.full((len(scores), len(self.classes_)), empty)
        place = {name: k for k, name in enumerate(map(self._class_name, self.classes_))}
        out[:, [place[name] for name in self.model_.classes]] = scores
        return out

    def predict_proba(self, X: object) -> NDArray[np.float64]:
        """P(class | row), (rows, classes). NaN, with a warning, where a row is impossible under every class."""
        source = self._table(X)
        with as_value_errors():
            posterior = self.model_.posterior(source)
        out = self._matrix(posterior.matrix, 0.0)
        if posterior.undefined.any():
            count = int(posterior.undefined.sum())
            warnings.warn(
                f"{count:,} of {len(out):,} rows cannot be classified, so their probabilities are NaN.", stacklevel=2
            )
            out[posterior.undefined] = np.nan
        return out

    def predict_log_proba(self, X: object) -> NDArray[np.float64]:
        """log P(class | row), also where the probability itself is too small for a number."""
        out = self.predict_joint_log_proba(X)
        top = out.max(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            return out - (top + np.log(np.exp(out - top).sum(axis=1, keepdims=True)))  # type: ignore[no-any-return]

    def predict_joint_log_proba(self, X: object) -> NDArray[np.float64]:
        """The log score of each class: log P(class, row) where the model is generative."""
        source = self._table(X)
        with as_value_errors():
            parts = [self.model_.log_joint(batch) for batch in self.model_.batches(source)]
        return self._matrix(np.concatenate(parts), -np.inf)

    def predict(self, X: object) -> Labels:
        """The most probable class of each row, the first of equals; of a row that is impossible under every class, the
        class that is most probable before anything is known of the row."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            chances = self.predict_proba(X)
        unknown = np.isnan(chances[:, 0])
        best = np.where(unknown, self._most_frequent() if unknown.any() else 0, chances.argmax(axis=1))
        return self.classes_[best]

    def predict_set(self, X: object, level: float = 0.9) -> NDArray[np.bool_]:
        """Which classes are not ruled out, (rows, classes): the true one is among them with at least this probability,
        as it was for rows that were held out. Of learners of sums alone (naive Bayes) that is not known: fit those with
        `likely.fit(…, judge=True)`."""
        with as_value_errors():
            sets = self.model_.posterior(self._table(X)).sets(level)
        return np.asarray(self._matrix(sets.astype(np.float64), 0.0) > 0)

    def predict_interval(self, X: object, level: float = 0.9) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For each probability of `predict_proba` where the share of the class lies among rows that are answered so:
        low and high, (rows, classes)."""
        with as_value_errors():
            low, high = self.model_.posterior(self._table(X)).intervals(level)
        return self._matrix(low, 0.0), self._matrix(high, 0.0)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each column's share of the evidence that moves the answers, in the mean over rows; they sum to one.

        >>> X, y = [[0.0, 1.0], [1.0, 1.0], [2.5, 1.0], [7.0, 1.0]] * 5, [0, 0, 1, 1] * 5
        >>> likely.sklearn.NaiveBayesClassifier().fit(X, y).feature_importances_
        array([1., 0.])
        """
        check_is_fitted(self, "model_")
        found = find_importances(self.model_)
        if not found:
            name = type(self).__name__
            raise AttributeError(f"{name} does not know how far each column moves its answers: they are no sum.")
        each = np.array([found.get(name, 0.0) for name in column_names(self)])
        return each / (each.sum() or 1.0)

    def _most_frequent(self) -> int:
        total = self._matrix(self.model_.summary.canonical().total.floats()[None], 0.0)
        return int(total[0].argmax())

    def decide(self, X: object, loss: likely.Loss | Mapping[Any, Any] | None = None, **how: Any) -> likely.Decision:
        """The action of least expected loss for every row; `how` takes what `likely.decide` takes."""
        source = self._table(X)
        if isinstance(loss, Mapping):
            loss = {self._class_name(c): costs for c, costs in loss.items()}
        with as_value_errors():
            decision = likely.decide(self.model_, source, loss, **how)
        return replace(decision, posterior=replace(decision.posterior, frames=FrameKind.of(X)))

    def explain(self, X: object, row: int = 0, of: object = None, against: object = None, **how: Any) -> likely.Ledger:
        """The ledger of one row of X, by its position; `how` takes what `likely.explain` takes."""
        source = self._table(X)
        rows = source.rows or 0
        if not -rows <= row < rows:
            raise IndexError(f"There is no row {row}: X has {rows:,} rows, counted from 0.")
        a, b = (None if c is None else self._class_name(c) for c in (of, against))
        with as_value_errors():
            return likely.explain(self.model_, source, number=row % rows + 1, of=a, against=b, **how)
