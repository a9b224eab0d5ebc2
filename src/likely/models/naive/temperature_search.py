"""The temperature of naive Bayes by held-out rows: what its evidence is multiplied by to be as sure as it may be.

The search is that of Auto with naive Bayes as the one candidate; what it ends in is naive Bayes again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.models.model import Model, Search
from likely.models.naive.naive import NaiveBayes
from likely.models.naive.product import Product
from likely.models.naive.weighed import Weighed, weighed
from likely.models.pool.auto import Auto
from likely.models.pool.choosing import begun as choosing
from likely.models.pool.chosen import Chosen
from likely.sums.summary import Summary
from likely.table.batch import Batch, Ints

if TYPE_CHECKING:
    from numpy.typing import NDArray


def begun(learner: NaiveBayes, summary: Summary) -> Model | Search:
    """The search; or the model as it is, where no row can be held out or knowledge names classes without rows."""
    plain = replace(learner, temperature=1.0)
    unknown = float(summary.total.floats().min()) <= 0 if len(summary.classes) else True
    if unknown or len(summary.classes) < 2 or summary.rows < 2 * Auto.parts:
        model = plain.learn(summary)
        return model if isinstance(model, Search) else _tempered(learner, model, 1.0, "there is nothing to hold out")
    return _going_on(learner, choosing(Auto(members=(plain,)), summary))


@dataclass(frozen=True)
class Heating(Search):
    """The search of Auto, of which the temperature is kept."""

    learner: NaiveBayes
    inner: Search

    def look_at(self, batch: Batch, group: Ints, weight: NDArray[np.float64]) -> tuple[Any, ...]:
        """What Auto looks at."""
        return self.inner.look_at(batch, group, weight)

    def step(self, sums: tuple[Any, ...]) -> Model | Search:
        """On, or done."""
        return _going_on(self.learner, self.inner.step(sums))


def _going_on(learner: NaiveBayes, held: Model | Search) -> Model | Search:
    if isinstance(held, Search):
        return Heating(learner, held)
    assert isinstance(held, Chosen)
    told = "" if held.trial.rows else "no row could be held out"
    return _tempered(learner, held.members[0], float(held.temperatures[0]), told)


def _tempered(learner: NaiveBayes, model: Model, temperature: float, why: str) -> Model:
    product = model.product if isinstance(model, Weighed) else model
    assert isinstance(product, Product)
    said = f"All evidence is multiplied by {temperature:.3g}, as rows that were held out suggest."
    if why:
        said = f"The evidence is taken as it is: {why}."
    return weighed(product, learner.attribute_weights or {}, learner, temperature, said)
