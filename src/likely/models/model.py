"""The model: what a learner believes after reading a summary. `terms` is the one definition of a score."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from likely.errors import ColumnError, nearest, shown
from likely.models.categorical import Categorical
from likely.models.gaussian import Gaussian
from likely.models.posterior import Matrix, Posterior, joined
from likely.models.quotient import Quotient
from likely.models.working import Working, working
from likely.sums import state
from likely.sums.summary import Summary
from likely.table.batch import Batch
from likely.table.encode import Encoder
from likely.table.labels import Labels
from likely.table.source import Source, open_source
from likely.threads import in_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 8192
"""Rows scored at a time, so that their scores stay in the processor's cache while the factors are added."""

Factor = Categorical | Gaussian


@runtime_checkable
class Learner(Protocol):
    """Frozen settings that derive a model from a summary. Knows settings, never data."""

    def learn(self, summary: Summary) -> Model: ...


@dataclass(frozen=True)
class Terms:
    """The log joint score taken apart, (rows, terms, classes): term 0 is the prior, term k the factor names[k].

    Adding the terms in order gives `log_joint` to the last bit.
    """

    names: tuple[str, ...]
    array: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Model:
    """Prior times factors, one factor for each attribute that says something."""

    learner: Learner
    summary: Summary
    prior: tuple[Quotient, ...]
    """P(class), exact."""
    log_prior: NDArray[np.float64]
    factors: tuple[Factor, ...]
    notes: tuple[str, ...] = ()
    """What was special when the model was derived, as sentences for people."""
    refuse_unseen: bool = False

    @property
    def classes(self) -> tuple[str, ...]:
        return self.summary.classes

    @property
    def schema(self) -> Any:
        return self.summary.schema

    def log_joint(self, batch: Batch) -> Matrix:
        """log P(class) + sum of log P(cell | class) over the attributes, (rows, classes)."""
        out = np.empty((batch.rows, len(self.classes)))
        out[:] = self.log_prior
        for start in range(0, batch.rows, BLOCK):
            rows = slice(start, start + BLOCK)
            block = batch.sliced(rows)
            for factor in self.factors:
                factor.add(block.cells[factor.name], out[rows])  # type: ignore[arg-type]
        return out

    def terms(self, batch: Batch) -> Terms:
        """Each factor's share of `log_joint`, by the same code."""
        out = np.zeros((1 + len(self.factors), batch.rows, len(self.classes)))
        out[0] = self.log_prior
        for part, factor in zip(out[1:], self.factors, strict=True):
            factor.add(batch.cells[factor.name], part)  # type: ignore[arg-type]
        return Terms(("prior", *(f.name for f in self.factors)), out.transpose(1, 0, 2))

    # -- rows in, probabilities out -------------------------------------------------------------------------

    def encoder(self) -> Encoder:
        """The encoder that reads new rows as this model's training rows were read."""
        labels = {f.name: f.labels for f in self.factors if isinstance(f, Categorical)}
        for column in self.schema.attributes:
            if column.kind == "nominal":
                labels.setdefault(column.name, Labels())
        # New rows are not weighed: a weight column among them may hold anything.
        schema = self.schema.with_columns(c for c in self.schema.columns if c.role != "weight")
        return Encoder(schema, labels, Labels(self.classes), self.refuse_unseen)

    def batches(self, data: object) -> Iterator[Batch]:
        """New rows, read as training rows were; columns that are not there count as missing."""
        source, encoder = open_source(data), self.encoder()
        for start, arrow in numbered(source.batches(self.columns_in(source))):
            yield encoder.encode(arrow, start)

    def posteriors(self, source: Source, columns: list[str] | None = None) -> Iterator[tuple[Any, Posterior]]:
        """Each Arrow batch of a source with its posterior, in order; several threads score."""

        def scored(item: tuple[int, Any]) -> tuple[Any, Posterior]:
            start, arrow = item
            encoder = self.encoder()
            joint = self.log_joint(encoder.encode(arrow, start))
            found = Posterior.of(self.classes, joint, one=False)
            return arrow, replace(found, unseen=encoder.unseen, strays=encoder.strays, absent=tuple(encoder.absent))

        wanted = self.columns_in(source)
        yield from in_order(numbered(source.batches(wanted if columns is None else columns)), scored)

    def columns_in(self, source: Source) -> list[str]:
        """The columns of the source that this model reads; at least one attribute must be there."""
        names = set(source.schema.names)
        wanted = [c.name for c in self.schema.used if c.name in names]
        if self.factors and not any(c.name in names for c in self.schema.attributes):
            first = self.schema.attributes[0].name
            raise ColumnError(
                f"{source.name} has none of the attributes of this model, such as {shown(first)}. "
                f"{nearest(first, source.schema.names)}"
            )
        return wanted

    def posterior(self, data: object) -> Posterior:
        """P(class | row) of one row (a dict of values) or of every row of a table.

        >>> import likely
        >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
        >>> round(model.posterior({"sky": "sun"}).prob("y"), 3)
        0.844
        """
        one = isinstance(data, Mapping) and not any(_is_column(v) for v in data.values())
        if one:
            assert isinstance(data, Mapping)
            data = self._row(data)
        return joined(self.classes, [found for _, found in self.posteriors(open_source(data))], one)

    def _row(self, row: Mapping[str, object]) -> list[dict[str, object]]:
        """One row as a table, with a cell for every attribute."""
        for name in row.keys() - set(self.schema.names):
            self.schema[name]  # an unknown name is refused, with the nearest one
        # The target gives the table a column where there is no attribute; what it holds does not matter.
        columns = [c for c in self.schema.columns if c.role != "weight"]
        return [{c.name: row.get(c.name) if c.role == "attribute" else None for c in columns}]

    def working(self, row: Mapping[str, object]) -> Working:
        """The arithmetic of one answer, as a person would write it on a board.

        >>> import likely
        >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
        >>> print(model.working({"sky": "sun"}))
        L(class) = P(class) × P(sky=sun | class)
        L(n) = 1/4 × 1/3 = 1/12 = 0.08333
        L(y) = 3/4 × 3/5 = 9/20 = 0.45
        ...
        """
        (batch,) = self.batches(self._row(row))
        terms = self.terms(batch).array[0]
        return working(self.classes, self.prior, self.factors, terms, batch, row, self.posterior(row))

    def predict(self, data: object) -> Any:
        """The most probable class of each row; None where none can be made."""
        return self.posterior(data).best

    # -- the file -------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write schema, settings and summary to a file, atomically."""
        tree = {
            "learner": {"name": type(self.learner).__name__, "settings": state.plain(self.learner)},
            "summary": self.summary.state(),
        }
        state.write(path, state.dump(tree))

    def __repr__(self) -> str:
        return f"<Model by {self.learner!r} from {self.summary!r}>"


def numbered(batches: Iterator[Any]) -> Iterator[tuple[int, Any]]:
    """Each batch with the number of its first row."""
    start = 0
    for batch in batches:
        yield start, batch
        start += batch.num_rows


def _is_column(value: object) -> bool:
    """Whether a value of a dict is a whole column rather than one cell."""
    return not isinstance(value, (str, bytes)) and hasattr(value, "__len__")
