"""The baseline: the prior alone. Whatever the row, each class is as probable as it was in training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from likely.models.model import learnable
from likely.models.naive.product import Product
from likely.models.prior import prior_quotients
from likely.models.quotient import log_of
from likely.models.setting_values import Prior as PriorSetting
from likely.models.setting_values import prior_setting
from likely.models.settings import Settings, setting
from likely.sums.summary import Summary
from likely.table.schema import Schema


@dataclass(frozen=True)
class Prior(Settings):
    """P(class | row) = P(class).

    >>> Prior().prior
    'observed'
    """

    prior: PriorSetting = prior_setting()
    pseudo_count: float = setting(0.0, "Added to the count of every class when the prior is observed.", at_least=0)

    def needs(self, schema: Schema) -> frozenset[str]:
        """The counts of the classes are enough."""
        return frozenset()

    def learn(self, summary: Summary) -> Frequencies:
        """Derive the model: a product without factors."""
        summary = learnable(summary)
        prior = prior_quotients(summary, self.prior, self.pseudo_count)
        return Frequencies(learner=self, summary=summary, prior=prior, log_prior=log_of(prior), factors=())


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Frequencies(Product):
    """The classes alone: of rows nothing is known, so that they have no density."""

    generative: ClassVar[bool] = False
