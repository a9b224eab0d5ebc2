"""Predictions and densities of a whole table, streamed from a source to a file or standard output."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from likely.apply.answers import AnswerStream, answer_table
from likely.apply.decide.missing import HOW_AVERAGED, by_missing, unaveraged
from likely.apply.decide.priors import describer_sentence
from likely.apply.explain.sureness import untried
from likely.apply.novelty import NoveltyCheck
from likely.errors import SettingError
from likely.intake.reading import Reading
from likely.models.contracts import Model
from likely.models.posterior import Posterior, why_undecided
from likely.table.encode import Encoder
from likely.table.output.sink import (
    DENSITY,
    HIGH,
    LOW,
    REMARKS,
    SET,
    density_batch,
    prediction_batch,
    prediction_names,
)
from likely.table.schema import Column, Schema
from likely.table.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.table.arrow import ArrowBatch

# Predictions of a whole table, streamed from a source to a file or standard output.

SEPARATOR = " | "
"""Between the classes of a set; one that has the sign in its name stands in quotes."""


@dataclass(frozen=True)
class Predicted:
    """What happened on the way: rows written, rows that could not be classified, and remarks for people."""

    rows: int
    unclassified: int
    remarks: tuple[str, ...]


class PredictionStream(AnswerStream[Posterior]):
    """The most probable class of each row, and the probability of every class; where asked, an interval for that of the
    predicted class, the classes that are not ruled out, and remarks."""

    def __init__(
        self, model: Model, remarks: bool = False, set_level: float | None = None, interval: float | None = None
    ) -> None:
        super().__init__(model)
        more = [*[LOW, HIGH] * (interval is not None), *[SET] * (set_level is not None), *[REMARKS] * remarks]
        self.names, self.unclassified = [*prediction_names(model.classes), *more], 0
        self._check = NoveltyCheck(model).read if remarks else None
        self._set, self._interval, self.unsure = set_level, interval, 0
        if more and (set_level or interval) and (why := untried(model)):
            raise SettingError(why)

    def batches(self, source: Source, columns: list[str] | None) -> Iterator[tuple[ArrowBatch, Posterior]]:
        return self.model.posteriors(source, columns, unusual=self._check)

    def add(self, answer: Posterior) -> None:
        self.mismatches.add(answer)
        self.unclassified += int(answer.undefined.sum())

    def empty(self) -> Posterior:
        none = Posterior.of(self.model.classes, np.empty((0, len(self.model.classes))))
        return none if self._check is None else replace(none, remarks=([""], np.empty(0, np.intp)))

    def columns(self, answer: Posterior, kept: ArrowBatch | None) -> ArrowBatch:
        numbers: dict[str, NDArray[np.float64]] = {}
        texts: dict[str, tuple[Sequence[str], NDArray[np.intp]]] = {}
        rows, codes = np.arange(len(answer)), answer.codes
        if self._interval is not None:
            low, high = answer.intervals(self._interval)
            numbers = {LOW: low[rows, codes], HIGH: high[rows, codes]}
        if self._set is not None:
            sets, place = np.unique(answer.sets(self._set), axis=0, return_inverse=True)
            names = [f'"{name}"' if "|" in name else name for name in answer.classes]
            told = [SEPARATOR.join(c for c, inside in zip(names, own, strict=True) if inside) for own in sets]
            texts[SET] = told, place.reshape(-1)
            self.unsure += int((~answer.undefined & ~np.asarray(sets.any(axis=1))[place.reshape(-1)]).sum())
        if answer.remarks is not None:
            texts[REMARKS] = answer.remarks
        return prediction_batch(answer.classes, codes, answer.matrix, kept, texts, numbers)

    def remarks(self) -> list[str]:
        """What a person should know of the predictions."""
        out, proper = self.mismatches.remarks(), self.model.proper
        if not proper and self.rows:
            name = type(self.model.learner).__name__
            out.append(f"The columns p(…) hold scores of {name}, not probabilities.")
        if self.unsure:
            number = "1 row has" if self.unsure == 1 else f"{self.unsure:,} rows have"
            out.append(f"{number} no set: so much of it is unknown that held-out rows say nothing of it.")
        if self.unclassified:
            number = "1 row" if self.unclassified == 1 else f"{self.unclassified:,} rows"
            out.append(f"{number} cannot be classified: {why_undecided(proper)}. Predictions are left empty there.")
        return out


def predict_table(
    model: Model,
    data: object,
    path: str | None,
    reading: Reading | None = None,
    *,
    keep: bool = False,
    missing_by: str | None = None,
    quote_formulas: bool = False,
    remarks: bool = False,
    set_level: float | None = None,
    interval: float | None = None,
) -> Predicted:
    """Write prediction and probabilities of every row of `data`; without a path, to standard output.

    `missing_by` takes missing cells as `decide` does: "left-out", "averaged" or "informative".
    `quote_formulas` puts ' before texts of CSV that a spreadsheet would take for formulas. With `remarks` one more
    column says what of the row training did not have. `set_level` adds the classes that hold the true one with at least
    this probability, `interval` low and high of the predicted class's probability at this level.
    """
    if model.schema.target is None:
        raise SettingError("This model is a density, so there is no class to predict. See `likely score`.")
    taken = by_missing(model, missing_by)
    done = answer_table(
        lambda: PredictionStream(taken, remarks, set_level, interval),
        data,
        "-" if path is None else path,
        reading or Reading(),
        keep=keep,
        quote_formulas=quote_formulas,
    )
    own = missing_by == "averaged" and model.references is None
    notes = [HOW_AVERAGED, unaveraged(model)] if own else []
    return Predicted(done.rows, done.unclassified, (*filter(None, notes), *done.remarks()))


# The density of every row of a table under a model, streamed from a source to a file, and what they come to.


@dataclass(frozen=True)
class Scored:
    """log P(row) of all rows together, in nats, and the rows that are least like those of training."""

    rows: int
    weight: float
    """What the rows weigh together: their number, where no weights were given."""
    impossible: int
    """Rows that the model holds to be impossible; log P of the data is then minus infinity."""
    total: float
    """log P(data): the sum of log P(row), each times the weight of the row."""
    lowest: tuple[tuple[int, float], ...]
    """Row number (the first is 1) and log P(row) of the rows of lowest density, the lowest first."""
    remarks: tuple[str, ...]

    @property
    def mean(self) -> float:
        return self.total / self.weight if self.weight else math.nan


class Densities(AnswerStream[Posterior]):
    """log P(row) of each row; their sum, and the `most` lowest of them."""

    names = (DENSITY,)

    def __init__(self, model: Model, most: int, weight: str | None = None) -> None:
        super().__init__(model)
        self.impossible, self._most = 0, most
        self._column, self._shares, self._weight = weight, list[float](), np.empty(0)
        self._sums: list[float] = []
        self._places, self._values = np.empty(0, np.int64), np.empty(0)

    def batches(self, source: Source, columns: list[str] | None) -> Iterator[tuple[ArrowBatch, Posterior]]:
        name = self._column
        wanted = [*self.model.columns_in(source), *([] if name is None else [name])] if columns is None else columns
        source.resolve_columns(wanted)
        weighs = Encoder(Schema(tuple(Column(n, "number", "weight", "number") for n in wanted if n == name)))
        start = 0
        for arrow, found in self.model.posteriors(source, list(dict.fromkeys(wanted)), densities=True):
            weight = None if name is None else weighs.encode(source.trim(arrow), start).weight
            self._weight = np.ones(arrow.num_rows) if weight is None else weight
            start += arrow.num_rows
            yield arrow, found

    def add(self, answer: Posterior) -> None:
        self.mismatches.add(answer)
        values, weight = answer.log_evidence, self._weight
        counted = weight > 0
        parts = values[counted] * weight[counted]
        self._sums.append(math.fsum(parts.tolist()) if np.isfinite(parts).all() else float(parts.sum()))
        self._shares.append(math.fsum(weight.tolist()))
        places = np.concatenate([self._places, np.arange(self.rows + 1 - len(values), self.rows + 1)])
        every = np.concatenate([self._values, values])
        order = np.argsort(every, kind="stable")[: self._most]  # stable: of equal rows the first
        self._places, self._values = places[order], every[order]
        self.impossible += int(np.isneginf(parts).sum())

    def empty(self) -> Posterior:
        return replace(Posterior.of(self.model.classes, np.empty((0, 1))), log_evidence=np.empty(0))

    def columns(self, answer: Posterior, kept: ArrowBatch | None) -> ArrowBatch:
        return density_batch(answer.log_evidence, kept)

    def scored(self) -> Scored:
        """What all rows come to."""
        remarks = self.mismatches.remarks()
        if self.impossible:
            many = "1 row is" if self.impossible == 1 else f"{self.impossible:,} rows are"
            remarks.append(f"{many} impossible under the model, so log P of all rows is minus infinity.")
        total = sum(self._sums) if self.impossible else math.fsum(self._sums)
        lowest = tuple(zip(self._places.tolist(), self._values.tolist(), strict=True))
        weight = math.fsum(self._shares)
        return Scored(self.rows, weight, self.impossible, total, lowest, tuple(remarks))


def score_table(
    model: Model,
    data: object,
    path: str | None = None,
    reading: Reading | None = None,
    *,
    lowest: int = 10,
    weight: str | None = None,
    keep: bool = False,
    quote_formulas: bool = False,
) -> Scored:
    """Score every row of `data`. With a path, the densities are written there.

    `weight` names the column that says how often each row counts: log P(data) = Σ weight · log P(row).

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "sun"]}, learner=likely.Density(pseudo_count=0))
    >>> scores = score_table(model, {"sky": ["rain", "sun"]}, lowest=1)
    >>> scores.rows, round(math.exp(scores.total), 4), scores.lowest[0][0]
    (2, 0.1875, 1)
    """
    of_rows = model.of_rows
    if lowest < 0:
        raise SettingError(f"lowest is {lowest}. Say how many rows to name, zero or more.")
    options = {"keep": keep, "quote_formulas": quote_formulas}
    answers = answer_table(lambda: Densities(of_rows, lowest, weight), data, path, reading or Reading(), **options)
    found = answers.scored()
    return found if of_rows is model else replace(found, remarks=(describer_sentence(model, of_rows), *found.remarks))
