"""The face that every learner shows to scikit-learn: fit, partial_fit, predict and their kin, each a call of the core.

Knows what scikit-learn expects of an estimator; every number comes from the model.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

import likely
from likely.apply.fitting import fit, model_from_tree
from likely.errors import SettingError
from likely.intake.incremental import IncrementalSummary
from likely.intake.reading import Reading
from likely.models.model import Model, Search
from likely.sklearn import taking
from likely.sums import state as files
from likely.table.arrow import pack_table, unpack_table
from likely.table.formats.frames import Frames, one_below_the_other, with_numbers
from likely.table.formats.memory import TableSource
from likely.table.formats.word_counts import WORDS, CountedSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

WEIGHT = "weight"


def _is_generative(face: Face) -> bool:
    """Whether the learner says how probable a row is, not only how probable a class is given the row."""
    return face._generative


class Face(BaseEstimator):
    """Settings in, a model out. `model_` is the core's own: it can be saved, merged, explained, exported."""

    _maker: ClassVar[Any]
    """The learner whose face this is."""
    _generative: ClassVar[bool] = True
    """Whether its models say how probable rows are."""
    _words: ClassVar[bool] = False
    """Whether counts of words, a sparse matrix, can be learned from."""

    model_: Model
    types: Mapping[str, str] | None
    missing_cells: Sequence[str] | None

    def _settings(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self._maker)}

    def _learner(self) -> Any:
        with taking.sentences():
            return self._maker(**self._settings())

    def _keeps_sums(self, learner: Any) -> bool:
        """Whether sums alone give the model, so that rows that were learned need not be kept."""
        return False

    def _reading(self) -> Reading:
        return Reading(
            target=self._target,
            types=self._said,
            missing=self.missing_cells,
            weight=self._weight,
            tokens=getattr(self, "tokens", None),
        )

    def _begun(self, source: TableSource | CountedSource, target: str | None) -> None:
        """What stays the same over all pieces: the names of columns."""
        self._target = None if target is None else taking.free_name(target, source.schema.names)
        self._weight: str | None = None
        self._counted = isinstance(source, CountedSource)
        self._said = {WORDS: "text"} if self._counted else self._types(source)
        if self._target is not None:
            self._said = {**self._said, self._target: "nominal"}

    def _types(self, source: TableSource | CountedSource) -> dict[str, str]:
        """How columns are to be read, where that is not left to inference."""
        return dict(self.types or {})

    def _weighed(self, source: TableSource | CountedSource, weights: Any) -> TableSource | CountedSource:
        """The rows with a column of weights, if these or rows before have any."""
        if weights is None and self._weight is None:
            return source
        if self._weight is None:
            self._weight = taking.free_name(WEIGHT, source.schema.names)
            self._rows: tuple[TableSource, ...] = tuple(
                with_numbers(p, {self._weight: np.ones(p.table.num_rows)}) for p in getattr(self, "_rows", ())
            )
        given = np.ones(source.rows or 0) if weights is None else weights
        return taking.beside(source, None, (self._weight, given))

    def _learned(self, source: TableSource | CountedSource) -> None:
        """Fit all rows at once."""
        reading = self._reading()
        how = {f.name: getattr(reading, f.name) for f in fields(Reading) if f.name != "target"}
        with taking.sentences():
            self.model_ = fit(source, self._target, self._learner(), loss=getattr(self, "loss", None), **how)

    def _learned_on(self, source: TableSource | CountedSource) -> None:
        """Learn one more piece, and derive the model of all pieces so far."""
        learner = self._learner()
        if not self._keeps_sums(learner):
            if isinstance(source, CountedSource):
                raise ValueError("With these settings rows must be kept, and those of a sparse matrix are not.")
            kept = [*getattr(self, "_rows", ()), source]
            whole = one_below_the_other(kept)
            self._learned(whole)
            self._rows = (whole,)
            return
        with taking.sentences():
            held = getattr(self, "_arriving", None)
            pieces = IncrementalSummary(self._reading()) if held is None else held.read_as(self._reading())
            pieces.take(source)
            summary = pieces.summary()
            model = learner.learn(summary)
            if isinstance(model, Search):
                raise SettingError(
                    "Settings of text that are not said are chosen on rows held out, and partial_fit keeps no rows. "
                    "Say all of them: text=likely.Text()."
                )
            costs = likely.Loss.of(getattr(self, "loss", None))
            self.model_ = model if costs is None else replace(model, loss=costs)
            self._arriving = pieces

    def _forget(self) -> None:
        """Nothing of an earlier fit may show in this one."""
        for name in ("_arriving", "_rows", "model_"):
            self.__dict__.pop(name, None)

    def _table(self, X: Any) -> TableSource | CountedSource:
        check_is_fitted(self, "model_")
        source = taking.table(self, X, reset=False, words=self._words)
        if isinstance(source, CountedSource) != self._counted:
            there = "a sparse matrix of word counts" if self._counted else "no sparse matrix"
            raise ValueError(f"The model was fitted on {there}, so new rows must be given alike.")
        return source

    @available_if(_is_generative)
    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """log P(row), in nats, of every row: low where a row is unlike those of training."""
        source = self._table(X)
        with taking.sentences():
            return self.model_.log_density(source)  # type: ignore[no-any-return]

    def __getstate__(self) -> dict[str, Any]:
        """Plain values: the model as the bytes of its file, rows as Arrow's own bytes."""
        state = dict(super().__getstate__())
        if "model_" in state:
            state["model_"] = self.model_.to_bytes()
        if "_arriving" in state:
            state["_arriving"] = self._arriving.to_bytes()
        if "_rows" in state:
            state["_rows"] = tuple(pack_table(part.table) for part in self._rows)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if "model_" in state:
            state["model_"] = model_from_tree(files.parse(state["model_"], "the model"), "the model")
        if "_rows" in state:
            state["_rows"] = tuple(TableSource(unpack_table(part)) for part in state["_rows"])
        super().__setstate__(state)
        if "_arriving" in state:
            self._arriving = IncrementalSummary.from_bytes(state["_arriving"], self._reading())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = True
        return tags


class ClassifierFace(ClassifierMixin, Face):
    """A face with classes. Classes keep the type they have in y, and their order is that of `numpy.unique`."""

    classes_: NDArray[Any]
    loss: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows of X, a frame or an array, and their classes y."""
        source = self._taken(X, y, sample_weight, None, first=True)
        self._forget()
        self._learned(source)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows. The model is that of `fit` on all rows so far, to the last bit; classes may come later."""
        first = not hasattr(self, "model_")
        self._learned_on(self._taken(X, y, sample_weight, classes, first))
        return self

    def _taken(self, X: Any, y: Any, sample_weight: Any, classes: Any, first: bool) -> TableSource | CountedSource:
        """The rows with their classes and weights as a table."""
        source = taking.table(self, X, reset=first, words=self._words)
        name = getattr(y, "name", None)
        y = taking.labels(y, X)
        weights = taking.row_weights(sample_weight, X)
        if first:
            self._begun(source, name if isinstance(name, str) else "class")
        found, codes = np.unique(y, return_inverse=True)
        held = found[:0] if first else self.classes_
        self.classes_ = np.unique(np.concatenate([a for a in (held, found, _some(classes)) if len(a)]))
        assert self._target is not None
        return self._weighed(taking.beside(source, (self._target, codes, self._names(found)), None), weights)

    def _names(self, classes: Any) -> list[str]:
        missing = taking.missing_of(self.missing_cells)
        return [taking.class_name(c, missing) for c in classes]

    def _matrix(self, found: NDArray[np.float64], empty: float) -> NDArray[np.float64]:
        """Columns of the model's classes as those of `classes_`; `empty` for classes that no row had."""
        out = np.full((len(found), len(self.classes_)), empty)
        place = {name: k for k, name in enumerate(self._names(self.classes_))}
        out[:, [place[name] for name in self.model_.classes]] = found
        return out

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """P(class | row), (rows, classes). NaN, with a warning, where a row is impossible under every class."""
        source = self._table(X)
        with taking.sentences():
            found = self.model_.posterior(source)
        out = self._matrix(found.matrix, 0.0)
        if found.undefined.any():
            count = int(found.undefined.sum())
            warnings.warn(
                f"{count:,} of {len(out):,} rows cannot be classified, so their probabilities are NaN.", stacklevel=2
            )
            out[found.undefined] = np.nan
        return out

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """log P(class | row), also where the probability itself is too small for a number."""
        out = self.predict_joint_log_proba(X)
        top = out.max(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            return out - (top + np.log(np.exp(out - top).sum(axis=1, keepdims=True)))  # type: ignore[no-any-return]

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The log score of each class: log P(class, row) where the model is generative."""
        source = self._table(X)
        with taking.sentences():
            parts = [self.model_.log_joint(batch) for batch in self.model_.batches(source)]
        return self._matrix(np.concatenate(parts), -np.inf)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row, the first of equals; of a row that is impossible under every class, the
        class that is most probable before anything is known of the row."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            chances = self.predict_proba(X)
        unknown = np.isnan(chances[:, 0])
        best = np.where(unknown, self._commonest() if unknown.any() else 0, chances.argmax(axis=1))
        return self.classes_[best]

    def _commonest(self) -> int:
        total = self._matrix(self.model_.summary.canonical().total.floats()[None], 0.0)
        return int(total[0].argmax())

    def decide(self, X: Any, loss: Any = None, **how: Any) -> likely.Decision:
        """The action of least expected loss for every row; `how` takes what `likely.decide` takes."""
        source = self._table(X)
        if isinstance(loss, Mapping):
            missing = taking.missing_of(self.missing_cells)
            loss = {taking.class_name(c, missing): costs for c, costs in loss.items()}
        with taking.sentences():
            found = likely.decide(self.model_, source, loss, **how)
        return replace(found, posterior=replace(found.posterior, frames=Frames.of(X)))

    def explain(self, X: Any, row: int = 0, of: Any = None, against: Any = None, **how: Any) -> likely.Ledger:
        """The ledger of one row of X, by its position; `how` takes what `likely.explain` takes."""
        source, missing = self._table(X), taking.missing_of(self.missing_cells)
        rows = source.rows or 0
        if not -rows <= row < rows:
            raise IndexError(f"There is no row {row}: X has {rows:,} rows, counted from 0.")
        a, b = (None if c is None else taking.class_name(c, missing) for c in (of, against))
        with taking.sentences():
            return likely.explain(self.model_, source, number=row % rows + 1, of=a, against=b, **how)


def _some(classes: Any) -> NDArray[Any]:
    return np.empty(0) if classes is None else np.asarray(classes)
