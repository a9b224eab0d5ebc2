"""What every model shares: rows in, probabilities out, prediction, density, file. All of it follows from `log_joint`.

The contract of a model is in contracts.py.
"""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, overload
from weakref import WeakKeyDictionary

import numpy as np

from likely.errors import ColumnError, InputError, nearest, shown
from likely.machinery.presented import Presented
from likely.machinery.threads import in_order
from likely.models.factors.categorical import domain
from likely.models.loss import Loss
from likely.models.posterior import Matrix, Posterior, RowPosterior, TablePosterior, join_posteriors, why_undecided
from likely.models.shapes.guarantee import gaps_of, masked_names
from likely.models.shapes.references import are_unknown
from likely.sums import state
from likely.sums.columns.counts import Counts
from likely.sums.contracts import State
from likely.sums.summary import Summary
from likely.table.arrow import name_array, number_array
from likely.table.batch import Batch
from likely.table.encode import Encoder
from likely.table.formats.memory import FrameKind
from likely.table.infer import remarks
from likely.table.labels import Labels
from likely.table.open import open_source
from likely.table.output.files import Revision
from likely.table.output.sink import DENSITY, PREDICTION
from likely.table.rows import Columns, MixedRow, Place, Row, RowReader, Rows
from likely.table.schema import Schema
from likely.table.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.models.judgement import Importance, Judgement
    from likely.models.shapes import References
    from likely.table.arrow import ArrowBatch


_ENCODERS: WeakKeyDictionary[Answers, Encoder] = WeakKeyDictionary()
"""What each model has learned of how rows are spelled: one row takes less time than to find that out. Not in the model
itself, which is plain data that may be copied and pickled."""


_JUDGED: WeakKeyDictionary[Answers, Judgement | None] = WeakKeyDictionary()
"""How models did that were made in this process, found when it was first asked."""


_READERS: WeakKeyDictionary[Answers, RowReader] = WeakKeyDictionary()
"""What each model's encoder made of values that it has met: making a table of one row takes longer than scoring it."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Answers(Presented, ABC):
    """What follows from the scores of any model (`contracts.Model`): posterior, prediction, density, file."""

    learner: object
    summary: Summary
    notes: tuple[str, ...] = ()
    """What was special when the model was derived, as sentences for people."""
    refuse_unseen: bool = False
    references: References | None = None
    """Rows that stand for the table: an answer of which some cells are unknown is averaged over them. None: unknown
    cells are summed over, or add nothing."""
    importance: Importance | None = None
    """How far attributes move the answers; None where that was not measured."""
    judged: Judgement | None = None
    """How it answered held-out rows, as its file says."""
    judge: Callable[[Any], Judgement | None] | None = None
    """Finds that out where the model was made just now; None: it cannot be known."""
    loss: Loss | None = None
    """What decisions cost, where that was said when the model was made. No probability depends on it."""
    state: State = field(default_factory=dict)
    """What cannot be derived from the summary again, as a learner's own sweeps found it; kept in the file."""
    proper: bool = True
    """Whether the posterior is made of probabilities, or only of scores."""
    generative: bool = False
    """Whether `log_joint` is log P(class, row), so that its sum over the classes is the density of the row."""

    def __post_init__(self) -> None:
        unread = unread_texts(self.schema)
        object.__setattr__(self, "notes", (*unread, *(note for note in self.notes if note not in unread)))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Everything a person should know of how the model came about, as `likely fit` says it: rows and columns that
        are left out, columns that may have been misread, then `notes`.

        >>> import likely
        >>> table = {"id": [f"k{n}" for n in range(8)], "x": ["a", "b"] * 4, "y": ["p", "q"] * 4}
        >>> likely.fit(table, "y").remarks
        ("'id' looks like an identifier and is left out: almost every cell is different (8 in 8 rows).",)
        """
        out = []
        if len(self.classes) == 1 and self.schema.target is not None and self.summary.rows:
            out.append(f"Every row has the class {shown(self.classes[0])}, so the model can predict nothing else.")
        if gone := self.summary.left_out:
            what = "1 row" if gone == 1 else f"{gone:,} rows"
            out.append(f"{what} without a class or weight {'is' if gone == 1 else 'are'} left out.")
        return (*out, *remarks(self.schema), *self.notes)

    @property
    def classes(self) -> tuple[str, ...]:
        return self.summary.classes

    @property
    def schema(self) -> Schema:
        return self.summary.schema

    def levels(self, name: str) -> list[str]:
        """The levels of a nominal attribute, whether rows have them or not."""
        statistic = self.summary[name]
        return domain(self.schema[name], statistic) if isinstance(statistic, Counts) else []

    @abstractmethod
    def log_joint(self, batch: Batch) -> Matrix:
        """The log score of each class for each row."""

    def scored(self, batch: Batch) -> tuple[Matrix, dict[str, tuple[int, int]]]:
        """`log_joint`, and for each text column how many words there were and how many are not known."""
        return self.log_joint(batch), {}

    def log_orders(self, batch: Batch) -> NDArray[np.float64] | None:
        """What log P(row) has besides `log_joint`, the same for all classes; None where that is all."""
        return None

    def why_undecided(self, batch: Batch) -> str:
        """Why the one row of a batch cannot be classified."""
        return why_undecided(self.proper)

    # -- rows in, probabilities out -------------------------------------------------------------------------

    def encoder(self) -> Encoder:
        """The encoder that reads new rows as this model's training rows were read."""
        if self not in _ENCODERS:
            _ENCODERS[self] = self._make_encoder()
        return _ENCODERS[self].fresh()

    def _make_encoder(self) -> Encoder:
        labels = {}
        for column in self.schema.attributes:
            statistic = self.summary.columns[column.name]
            if isinstance(statistic, Counts):
                labels[column.name] = Labels(self.levels(column.name))
        # New rows are not weighed: a weight column among them may hold anything.
        schema = self.schema.with_columns(c for c in self.schema.columns if c.role != "weight")
        return Encoder(schema, labels, Labels(self.classes), self.refuse_unseen)

    def batches(self, data: object) -> Iterator[Batch]:
        """New rows, read as training rows were; columns that are not there count as missing."""
        source, encoder = open_source(data), self.encoder()
        for start, arrow in numbered(source.batches(self.columns_in(source))):
            yield encoder.encode(arrow, start)

    def posteriors(
        self,
        source: Source,
        columns: list[str] | None = None,
        densities: bool = False,
        unusual: Callable[[Batch], tuple[Sequence[str], NDArray[np.intp]]] | None = None,
    ) -> Iterator[tuple[ArrowBatch, Posterior]]:
        """Each Arrow batch of a source with its posterior, in order; several threads score.

        With `densities` the log_evidence is log P(row) in full, also where a part of it is the same for all classes;
        `unusual` tells the remarks on rows.
        """

        def scored(item: tuple[int, ArrowBatch]) -> tuple[ArrowBatch, Posterior]:
            start, arrow = item
            batch, found = self.read(source.trim(arrow), start)
            orders = self.log_orders(batch) if densities else None
            found = found if unusual is None else replace(found, remarks=unusual(batch))
            return arrow, found if orders is None else replace(found, log_evidence=found.log_evidence + orders)

        wanted = self.columns_in(source)  # where columns are asked for, rows are written again as they were
        yield from in_order(numbered(source.as_written().batches(wanted if columns is None else columns)), scored)

    def read(self, arrow: ArrowBatch, start: int) -> tuple[Batch, Posterior]:
        """The rows of an Arrow batch whose first one is row `start`, and their posterior with what there is to tell."""
        encoder = self.encoder()
        batch = encoder.encode(arrow, start)
        joint, words = self.scored(batch)
        found = Posterior.of(self.classes, joint, one=False, proper=self.proper)
        absent, gaps = tuple(encoder.absent), self.gaps(batch)
        found = replace(found, unseen=encoder.unseen, strays=encoder.strays, absent=absent, words=words)
        return batch, replace(found, gaps=gaps, answered_by=self)

    def gaps(self, batch: Batch) -> NDArray[np.int8]:
        """How much of each row is unknown, and was not learned to be so: what is known of how sure answers are depends
        on it (shapes/guarantee.py)."""
        names, count = masked_names(self.schema), np.zeros(batch.rows, np.int64)
        for name in names:
            count += are_unknown(batch.cells[name])
        partly = np.flatnonzero(count)
        if self.references is not None and len(partly):
            count[partly[self.references.are_usual(batch.take(partly))]] = 0
        return gaps_of(count, len(names))

    def columns_in(self, source: Source) -> list[str]:
        """The columns of the source that this model reads; at least one attribute must be there."""
        names = set(source.schema.names)
        given = (n for c in self.schema.used for n in (c.name, c.stored_as) if n in names)
        wanted = list(dict.fromkeys(given))
        if self.schema.attributes and not any(names & {c.name, c.stored_as} for c in self.schema.attributes):
            first = self.schema.attributes[0].name
            raise ColumnError(
                f"{source.name} has none of the attributes of this model, such as {shown(first)}. "
                f"{nearest(first, source.schema.names)}"
            )
        return wanted

    # A str has a length as columns have, and any dict is an object: the first signature that fits is the one.
    @overload
    def posterior(self, data: Row) -> RowPosterior: ...  # type: ignore[overload-overlap]
    @overload
    def posterior(self, data: Columns) -> TablePosterior: ...  # type: ignore[overload-overlap]
    @overload
    def posterior(self, data: MixedRow) -> RowPosterior: ...  # type: ignore[overload-overlap]
    @overload
    def posterior(self, data: object) -> TablePosterior: ...
    def posterior(self, data: object) -> RowPosterior | TablePosterior:
        """P(class | row) of one row (a dict of values) or of every row of a table.

        >>> import likely
        >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
        >>> round(model.posterior({"sky": "sun"}).prob("y"), 3)
        0.844
        """
        known = answer_row(self, data)
        if known is not None:
            return known
        table, one = self.as_table(data)
        source = open_source(table)
        if not one:
            found = join_posteriors(self.classes, [found for _, found in self.posteriors(source)], one)
            return replace(found, frames=FrameKind.of(data))
        parts = [self.read(arrow, start) for start, arrow in numbered(source.batches(self.columns_in(source)))]
        for batch, part in parts:
            remember_row(self, data, batch, part.strays)
        return join_posteriors(self.classes, [part for _, part in parts], one)

    def as_table(self, data: object) -> tuple[object, bool]:
        """One row (a dict of values) as a table, and whether it was one; any other table as it is."""
        if type(data).__name__ == "Series" and getattr(data, "ndim", 1) == 1:
            raise InputError(
                "A Series may be a row or a column. Give one row as a dict, row.to_dict(), or as a frame: df.iloc[[0]]."
            )
        one = isinstance(data, Mapping) and not any(_is_column(v) for v in data.values())
        return (self.table_of_one(data), True) if one else (data, False)  # type: ignore[arg-type]

    def table_of_one(self, row: Mapping[str, object]) -> list[dict[str, object]]:
        """One row (a dict of values) as a table, with a cell for every attribute; anything else is refused."""
        if not isinstance(row, Mapping) or any(_is_column(v) for v in row.values()):
            raise InputError('This takes one row. Give it as a dict of values: {"outlook": "sunny", "windy": True}.')
        for name in row.keys() - set(self.schema.names):
            self.schema[name]  # an unknown name is refused, with the nearest one
        # The target gives the table a column where there is no attribute; what it holds does not matter.
        # A part of a date is a cell of its own only where it was given as one; else it comes from the date.
        columns = [c for c in self.schema.columns if c.role != "weight" and (c.part is None or c.name in row)]
        return [{c.name: row.get(c.name) if c.role == "attribute" else None for c in columns}]

    @overload
    def predict(self, data: Row) -> str | None: ...  # type: ignore[overload-overlap]
    @overload
    def predict(self, data: Columns) -> list[str | None]: ...  # type: ignore[overload-overlap]
    @overload
    def predict(self, data: MixedRow) -> str | None: ...
    @overload
    def predict(self, data: Rows | Place) -> list[str | None]: ...
    @overload
    def predict(self, data: object) -> Any: ...
    def predict(self, data: object) -> Any:
        """The most probable class of each row; None where none can be made.

        Rows of a frame (pandas, polars, pyarrow) are answered by a column of its kind, index kept; others by a list.
        """
        found = self.posterior(data)
        if found.frames is None:
            return found.best
        return found.frames.column(PREDICTION, name_array(found.codes, self.classes, found.codes >= 0))

    @overload
    def log_density(self, data: Row) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def log_density(self, data: Columns) -> NDArray[np.float64]: ...  # type: ignore[overload-overlap]
    @overload
    def log_density(self, data: MixedRow) -> float: ...
    @overload
    def log_density(self, data: Rows | Place) -> NDArray[np.float64]: ...
    @overload
    def log_density(self, data: object) -> Any: ...
    def log_density(self, data: object) -> Any:
        """log P(row), in nats, of one row or of every row of a table: low where a row is unlike those of training.

        A model of P(class | row) that has one of rows beside it (`describer`), as the default has, answers by that.
        Rows of a frame are answered by a column of its kind; others by an array.
        """
        model = self.of_rows
        table, one = self.as_table(data)
        parts = [p for _, p in model.posteriors(open_source(table), densities=True)]
        found = join_posteriors(self.classes, parts, one)
        frames = FrameKind.of(data)
        if frames is not None:
            return frames.column(DENSITY, number_array(found.log_evidence))
        return float(found.log_evidence[0]) if found.one else found.log_evidence

    @property
    @abstractmethod
    def of_rows(self) -> Answers:
        """The model that gives log P(row)."""

    # -- the file -------------------------------------------------------------------------------------------

    @property
    def judgement(self) -> Judgement | None:
        """How it answered rows that nothing of it had seen; None where none were held out, or more was learned."""
        if self.judged is not None or self.judge is None:
            return self.judged
        if self not in _JUDGED:
            _JUDGED[self] = self.judge(self)
        return _JUDGED[self]

    @property
    def digest(self) -> str:
        """What the rows come to that it learned from: SHA-256 of their exact sums, whatever their order.

        >>> import likely
        >>> one = likely.fit({"x": ["p", "q", "p"], "y": ["a", "b", "a"]}, "y")
        >>> one.digest == likely.fit({"x": ["q", "p", "p"], "y": ["b", "a", "a"]}, "y").digest
        True
        """
        return hashlib.sha256(state.dump(self.summary.without(self.summary.more).canonical().state())).hexdigest()

    def tree(self) -> dict[str, Any]:
        """Schema, settings and summary as a file holds them."""
        tree: dict[str, Any] = {
            "learner": {"name": type(self.learner).__name__, "settings": state.plain(self.learner)},
            "summary": self.summary.state(),
            "found": self.state,
        }
        if self.references is not None:
            tree["references"] = self.references.state()
        if self.importance is not None:
            tree["importance"] = self.importance.state()
        if (judgement := self.judgement) is not None:
            tree["judged"] = judgement.state()
        if self.loss is not None:
            tree["loss"] = self.loss.toml()  # as text, which keeps the order of actions and exact costs
        return tree

    def save(self, path: str | os.PathLike[str], since: Revision | None = None) -> None:
        """Write schema, settings and summary to a file, atomically; not where it has changed `since` it was read."""
        state.write(path, self.to_bytes(), since)

    def to_bytes(self) -> bytes:
        """What a file of this model holds."""
        return state.dump(self.tree())

    def __repr__(self) -> str:
        return f"<Model by {type(self.learner).__name__} from {self.summary!r}>"


def answer_row(model: Answers, row: object) -> RowPosterior | None:
    """The posterior of a row whose values were met before, or are plain numbers; None where a table must be made."""
    read = _reader(model).read(row)
    if read is None:
        return None
    batch, unseen = read
    joint, words = model.scored(batch)
    found = Posterior.of(model.classes, joint, one=True, proper=model.proper)
    own: dict[str, Any] = {"unseen": unseen, "words": words, "row": batch, "answered_by": model}
    return RowPosterior(found.classes, found.matrix, found.log_evidence, True, found.proper, **own)


def remember_row(model: Answers, row: object, batch: Batch, strays: Mapping[str, int]) -> None:
    """Remember what a table of this row was read as."""
    _reader(model).keep(row, batch, strays)


def _reader(model: Answers) -> RowReader:
    reader = _READERS.get(model)
    if reader is None:
        reader = _READERS[model] = RowReader(model.encoder())
    return reader


def learnable(summary: Summary, classes: Collection[str] = (), text: bool = False) -> Summary:
    """The summary as learners read it: canonical, with at least one class, and without words unless they are wanted.

    `classes` are among them, rows or not.
    """
    summary = summary.canonical() if text else summary.canonical().without_text()
    if classes:
        summary = summary.with_classes(classes)
    if not summary.classes:
        raise InputError("There is no row with a class, so nothing can be learned. Check the target column.")
    check_weights(summary)
    return summary


def check_weights(summary: Summary) -> None:
    """Refuse weights whose sum is beyond doubles, or below what they hold in full: sums are exact, models are not."""
    whole = summary.total.sum().floats()[()]
    each = summary.total.floats()
    least, most = np.finfo(np.float64).tiny, np.finfo(np.float64).max
    odd = [w for w in (*each[~summary.total.is_zero()].tolist(), float(whole)) if whole and not least <= w <= most]
    if odd:
        extreme = f"more than {most:.2g}" if odd[-1] > most else f"less than {least:.2g}"
        raise InputError(
            f"Rows of a class weigh {extreme} together, which is out of range. Multiply all weights "
            "by the same number so that they are near 1; this does not change the model."
        )


def unread_texts(schema: Schema) -> tuple[str, ...]:
    """A sentence for each text column that a learner leaves out because it has no use for words."""
    left = [c.name for c in schema.columns if c.kind == "text" and c.role == "left out"]
    return tuple(
        f"{shown(name)} is free text, which only NaiveBayes and TextLogistic can use; it is left out here."
        for name in left
    )


def numbered(batches: Iterator[ArrowBatch]) -> Iterator[tuple[int, ArrowBatch]]:
    """Each batch with the number of its first row."""
    start = 0
    for batch in batches:
        yield start, batch
        start += batch.num_rows


def _is_column(value: object) -> bool:
    """Whether a value of a dict is a whole column rather than one cell."""
    return not isinstance(value, (str, bytes)) and hasattr(value, "__len__")
