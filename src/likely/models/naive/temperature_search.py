"""The temperature of naive Bayes by held-out rows: what its evidence is multiplied by to be as sure as it may be."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from likely.errors import SettingError
from likely.machinery.arrays import Ints
from likely.models.contracts import Learner, Learning, Model
from likely.models.heldout.search import HeldOutParts, keep_rows, log_posterior, own_sums
from likely.models.heldout.weighing import temperature_of
from likely.models.learning import learning
from likely.models.posterior import Matrix
from likely.sums.summary import Summary
from likely.table.batch import Batch

PARTS = 5
"""Rows are dealt to so many parts."""


class Temperable(Learner, Protocol):
    """A learner with a temperature."""

    def untempered(self) -> Learner:
        """The same settings, with evidence as it is."""
        ...

    def tempered(self, model: Model, temperature: float, note: str) -> Model:
        """What `untempered` has learned, its evidence multiplied."""
        ...


def learn_temperature(learner: Temperable, summary: Summary) -> Learning[Model]:
    """The tempered model; as it is, where no row can be held out or knowledge names classes without rows."""
    plain = learner.untempered()
    unknown = float(summary.total.floats().min()) <= 0 if len(summary.classes) else True
    if unknown or len(summary.classes) < 2 or summary.rows < 2 * PARTS:
        model = yield from learning(plain, summary)
        return learner.tempered(model, 1.0, "The evidence is not scaled: too few rows or classes to hold any out.")
    summary = summary.canonical()
    rows = yield from keep_rows(summary, PARTS)
    temperature = _best_temperature(plain, summary, HeldOutParts.of(summary, rows, sorted(plain.needs(summary.schema))))
    model = yield from learning(plain, own_sums(plain, summary))
    if not model.proper:
        raise _improper(0)
    if temperature is None:
        return learner.tempered(model, 1.0, "The evidence is not scaled: no rows could be held out.")
    note = f"All evidence is scaled by {temperature:.3g}, the best factor on held-out rows."
    return learner.tempered(model, temperature, note)


def _best_temperature(plain: Learner, summary: Summary, parts: HeldOutParts) -> float | None:
    """The temperature with the best held-out log score; None where no row could be held out."""
    places = parts.sample(len(summary.classes))
    if not len(places):
        return None

    def logs_of(model: Model, batch: Batch, truth: Ints) -> Matrix:
        return log_posterior(model, batch, summary.classes)

    (logs,) = parts.scores([plain], places, logs_of, _improper)
    truth, total = parts.rows.group[places].astype(np.intp), summary.total.floats()
    return temperature_of(logs, truth, parts.rows.weight[places], total / total.sum(), float(total.sum()))


def _improper(candidate: int) -> SettingError:
    """Texts may be scored without a scale."""
    return SettingError("Scores of a text without a scale are not probabilities, so they have no temperature.")
