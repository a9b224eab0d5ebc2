"""A learner of one's own: the evidence of levels, one by one, times a strength.

Settings are declared once; the model is a sum of tables over levels, so that it is explained, drawn and exported.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likely import Model, Schema, Summary
from likely.models.model import learnable
from likely.models.settings import Settings, setting
from likely.models.shapes import LevelTable, Sum
from likely.table.labels import Labels


@dataclass(frozen=True)
class Lifts(Settings):
    """log P(class | row) = log P(class) + strength * sum of log (P(class | level) / P(class)), normalised.

    >>> Lifts().strength
    1.0
    """

    strength: float = setting(1.0, "What the evidence of every level is multiplied by.", at_least=0)

    def needs(self, schema: Schema) -> frozenset[str]:
        return frozenset()  # counts of levels are in every summary

    def learn(self, summary: Summary) -> Model:
        summary = learnable(summary)
        prior = (summary.total.floats() + 1) / (summary.total.floats() + 1).sum()
        tables = []
        for column in summary.schema.attributes:
            if column.kind == "nominal":
                counts = summary.columns[column.name]
                seen = counts.table[: len(counts.labels)].floats() + prior
                log_table = self.strength * np.log(seen / seen.sum(axis=1, keepdims=True) / prior)
                nothing = np.zeros((2, len(prior)))  # unseen levels and missing cells say nothing
                tables.append(LevelTable(column.name, Labels(counts.labels.names), np.vstack([log_table, nothing])))
        score = Sum(np.log(prior), tuple(tables))
        return Model(learner=self, summary=summary, score=score, log_prior=score.constant, factors=score.terms)
