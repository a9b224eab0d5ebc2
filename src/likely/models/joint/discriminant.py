"""The linear discriminant: normal classes that differ in their means alone, with one covariance for all."""

from __future__ import annotations

from dataclasses import dataclass

from likely.models.factors.normal import CovarianceSettings, normal
from likely.models.factors.scatter import scatter
from likely.models.joint.full import needs_of, refuse_others
from likely.models.joint.normals import Discriminant
from likely.models.model import learnable
from likely.models.prior import prior_quotients
from likely.models.quotient import log_of
from likely.models.setting_values import (
    Prior,
    Shrinkage,
    Variance,
    prior_pseudo_count_setting,
    prior_setting,
    shrinkage_setting,
    variance_setting,
)
from likely.models.settings import Settings, setting
from likely.sums.summary import Summary
from likely.table.schema import Schema


@dataclass(frozen=True)
class LinearDiscriminant(Settings):
    """P(row | class) is a normal density about the mean of the class, with the covariance within all classes.

    >>> LinearDiscriminant(variance="ml").shrinkage
    0.0
    """

    prior: Prior = prior_setting()
    prior_pseudo_count: float = prior_pseudo_count_setting()
    variance: Variance = variance_setting("n - classes")
    variance_floor: float = setting(
        1e-6,
        "Least variance as a share of the attribute's own, and least eigenvalue of the correlation matrix.",
        at_least=0,
        at_most=1,
    )
    shrinkage: Shrinkage = shrinkage_setting()

    def needs(self, schema: Schema) -> frozenset[str]:
        """Sums of products."""
        return needs_of("normal", schema)

    def learn(self, summary: Summary) -> Discriminant:
        """Derive the model. Changes nothing; other settings can be tried on the same summary."""
        summary = learnable(summary)
        refuse_others("LinearDiscriminant", "normal", summary.schema)
        prior = prior_quotients(summary, self.prior, self.prior_pseudo_count)
        settings = CovarianceSettings(self.variance, self.variance_floor, self.shrinkage)
        found = normal(scatter(summary), summary.classes, settings, pooled=True)
        return Discriminant(
            learner=self,
            summary=summary,
            prior=prior,
            log_prior=log_of(prior),
            normal=found,
            notes=found.notes,
        )
