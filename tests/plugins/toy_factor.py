"""A factor of one's own: whether a number is below zero, as a table over two bins, in a product of such factors.

A factor is what a statistic comes to under some settings; with a known shape it is explained and exported.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likely import Model, Schema, Summary
from likely.models.factors.bins import read_tally
from likely.models.model import learnable
from likely.models.naive.product import product_of
from likely.models.prior import prior_quotients
from likely.models.settings import Settings, setting
from likely.models.shapes import BinTable
from likely.sums.columns.numbers import Numbers


def sign_factor(name: str, numbers: Numbers, pseudo_count: float) -> BinTable:
    """P(x < 0 | class) and P(x >= 0 | class)."""
    tally = read_tally(numbers)
    below = tally.weights[tally.values < 0].sum(axis=0) + pseudo_count
    above = tally.weights[tally.values >= 0].sum(axis=0) + pseudo_count
    log_table = np.log(np.array([below, above]) / (below + above))
    return BinTable(name, np.array([0.0]), np.vstack([log_table, np.zeros((1, len(below)))]))


@dataclass(frozen=True)
class Signs(Settings):
    """P(class) times the probability of each number's sign.

    >>> Signs().pseudo_count
    1.0
    """

    pseudo_count: float = setting(1.0, "Added to the count of both signs in every class.", above=0)

    def needs(self, schema: Schema) -> frozenset[str]:
        return frozenset()

    def learn(self, summary: Summary) -> Model:
        summary = learnable(summary)
        prior = prior_quotients(summary, "observed", 0.0)
        columns = [c.name for c in summary.schema.attributes if c.kind == "number"]
        factors = tuple(sign_factor(name, summary.columns[name], self.pseudo_count) for name in columns)
        return product_of(self, summary, prior, factors)
