"""Predictions of a whole table, streamed from a source to a file or standard output."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.apply.answers import Answers, answer_table
from likely.apply.decide.missing import HOW_AVERAGED, by_missing, unaveraged
from likely.errors import SettingError
from likely.intake.reading import Reading
from likely.models.contracts import Model
from likely.models.posterior import Posterior, why_undecided
from likely.table.output.sink import prediction_batch, prediction_names
from likely.table.source import Source

if TYPE_CHECKING:
    from likely.table.arrow import ArrowBatch


@dataclass(frozen=True)
class Predicted:
    """What happened on the way: rows written, rows that could not be classified, and remarks for people."""

    rows: int
    unclassified: int
    remarks: tuple[str, ...]


class Predictions(Answers[Posterior]):
    """The most probable class of each row, and the probability of every class."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.names, self.unclassified = prediction_names(model.classes), 0

    def batches(self, source: Source, columns: list[str] | None) -> Iterator[tuple[ArrowBatch, Posterior]]:
        return self.model.posteriors(source, columns)

    def add(self, answer: Posterior) -> None:
        self.mismatches.add(answer)
        self.unclassified += int(answer.undefined.sum())

    def empty(self) -> Posterior:
        return Posterior.of(self.model.classes, np.empty((0, len(self.model.classes))))

    def columns(self, answer: Posterior, kept: ArrowBatch | None) -> ArrowBatch:
        return prediction_batch(answer.classes, answer.codes, answer.matrix, kept)

    def remarks(self) -> list[str]:
        """What a person should know of the predictions."""
        out, proper = self.mismatches.remarks(), self.model.proper
        if not proper and self.rows:
            name = type(self.model.learner).__name__
            out.append(f"The columns p(…) hold scores of {name}, not probabilities.")
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
) -> Predicted:
    """Write prediction and probabilities of every row of `data`; without a path, to standard output.

    `missing_by` takes missing cells as `decide` does: "left-out", "averaged" or "informative".
    `quote_formulas` puts ' before texts of CSV that a spreadsheet would take for formulas.
    """
    if model.schema.target is None:
        raise SettingError("This model is a density, so there is no class to predict. See `likely score`.")
    taken = by_missing(model, missing_by)
    done = answer_table(
        lambda: Predictions(taken),
        data,
        "-" if path is None else path,
        reading or Reading(),
        keep=keep,
        quote_formulas=quote_formulas,
    )
    notes = [HOW_AVERAGED, unaveraged(model)] if missing_by == "averaged" else []
    return Predicted(done.rows, done.unclassified, (*filter(None, notes), *done.remarks()))
