"""The temperature of naive Bayes by held-out rows: what its evidence is multiplied by to be as sure as it may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from likely.errors import SettingError
from likely.models.contracts import Learner, Learning, Model
from likely.models.heldout.search import Plan, choose_held_out
from likely.models.heldout.weighing import temperature_of
from likely.models.learning import learning
from likely.models.posterior import Matrix
from likely.sums.summary import Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


@dataclass(frozen=True)
class TemperaturePlan(Plan[float]):
    """One candidate; the verdict is its temperature, 0 where no row could be held out."""

    learner: Temperable
    learners: tuple[Learner, ...]
    dealing: tuple[int, int] = (PARTS, 0)

    def judge(self, summary: Summary, scores: Matrix, truth: NDArray[np.intp], weight: NDArray[np.float64]) -> float:
        """The temperature with the best held-out log score."""
        total = summary.total.floats()
        return temperature_of(scores[0], truth, weight, total / total.sum(), float(total.sum()))

    def unjudged(self) -> float:
        """None."""
        return 0.0

    def improper(self, candidate: int) -> SettingError:
        """Texts may be scored without a scale."""
        return SettingError("Scores of a text without a scale are not probabilities, so they have no temperature.")

    def model(self, summary: Summary, members: Mapping[int, Model], verdict: float) -> Model:
        """The candidate from all rows, tempered."""
        note = f"All evidence is scaled by {verdict:.3g}, the best factor on held-out rows."
        if not verdict:
            note = "The evidence is not scaled: no rows could be held out."
        return self.learner.tempered(members[0], verdict or 1.0, note)


def learn_temperature(learner: Temperable, summary: Summary) -> Learning[Model]:
    """The tempered model; as it is, where no row can be held out or knowledge names classes without rows."""
    plain = learner.untempered()
    unknown = float(summary.total.floats().min()) <= 0 if len(summary.classes) else True
    if unknown or len(summary.classes) < 2 or summary.rows < 2 * PARTS:
        model = yield from learning(plain, summary)
        return learner.tempered(model, 1.0, "The evidence is not scaled: too few rows or classes to hold any out.")
    return (yield from choose_held_out(TemperaturePlan(learner, (plain,)), summary.canonical()))
