"""A learner of one's own that must see the rows again: its `learn` is a generator, as plain as the loop it is.

The strength of `Lifts` that names the most classes rightly, by looking at the rows: first roughly, then closely.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from plugins.toy_learner import Lifts

from likely import Model, Schema, Summary
from likely.models.contracts import Learning, Sweep
from likely.models.learning import looks_at_rows
from likely.models.posterior import first_best
from likely.models.settings import Settings, setting


@dataclass(frozen=True)
class FittedLifts(Settings):
    """`Lifts` with the strength, out of 0, 0.5, 1 … and then 0.1 to either side, that names the most classes rightly.

    >>> FittedLifts().most
    3.0
    """

    most: float = setting(3.0, "The greatest strength that is tried.", at_least=0)

    def needs(self, schema: Schema) -> frozenset[str]:
        return frozenset()

    @looks_at_rows
    def learn(self, summary: Summary) -> Learning[Model]:
        best = 0.0
        for tried in (np.arange(0, self.most + 0.25, 0.5), None):
            strengths = np.maximum(best + np.arange(-4, 5) / 10, 0) if tried is None else tried
            (hits,) = yield Sweep(count_hits, ([self.at(summary, s) for s in strengths.tolist()],))
            best = round(float(strengths[int(hits.argmax())]), 6)
        return self.at(summary, best)

    def restore(self, summary: Summary, found: dict[str, Any]) -> Model:
        return self.at(summary, float(found["strength"]))

    def at(self, summary: Summary, strength: float) -> Model:
        plain = Lifts(strength).learn(summary)
        found = {"strength": strength}
        return replace(plain, learner=self, details=found, state=found)  # which the file keeps


def count_hits(models: list[Model], batch: Any, group: Any, weight: Any) -> tuple[Any]:
    """The weight of rows whose class each model names: whole numbers, so that no order changes the sum."""
    some = group >= 0
    said = [first_best(model.log_joint(batch))[some] == group[some] for model in models]
    return (np.array([float(weight[some][right].sum()) for right in said]),)
