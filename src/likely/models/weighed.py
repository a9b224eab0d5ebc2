"""Naive Bayes with a weight for each attribute: its factor is raised to that power. Knows no search for weights.

With weights other than 1 the scores are no densities of rows any more; their posterior is one of classes all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from likely.errors import shown
from likely.models.model import Exhibit, Learner, Model, Terms
from likely.models.posterior import Matrix
from likely.models.product import Product, add_factor, scored
from likely.models.textfactor import TextFactor
from likely.table.batch import Batch


@dataclass(frozen=True, eq=False, kw_only=True)
class Weighed(Model):
    """log P(class) + sum of weight * log P(cell | class)."""

    product: Product
    weights: Mapping[str, float]
    """Of each factor, by its name; 1 where none is given, 0 leaves it out."""

    @property
    def texts(self) -> tuple[TextFactor, ...]:
        """The factors of text columns."""
        return self.product.texts

    def log_joint(self, batch: Batch) -> Matrix:
        """log P(class) + sum of weight * log P(cell | class), (rows, classes)."""
        return self.scored(batch)[0]

    def scored(self, batch: Batch) -> tuple[Matrix, dict[str, tuple[int, int]]]:
        """`log_joint`, and for each text column how many words there were and how many are not known."""
        return scored(self.product, batch, self._add)

    def terms(self, batch: Batch) -> Terms:
        """The prior and each factor's share of `log_joint`, by the same code."""
        factors = self.product.factors
        out = np.zeros((1 + len(factors), batch.rows, len(self.classes)))
        out[0] = self.product.log_prior
        for part, factor in zip(out[1:], factors, strict=True):
            self._add(factor, batch, part)
        return Terms(("prior", *(f.name for f in factors)), out.transpose(1, 0, 2))

    def _add(self, factor: Any, batch: Batch, out: Matrix) -> tuple[int, int] | None:
        weight = self.weights.get(factor.name, 1.0)
        if not weight:
            return None
        each = np.zeros_like(out)
        words = add_factor(factor, batch, each)
        out += weight * each
        return words

    @property
    def chosen(self) -> Learner:
        """The naive Bayes that this is."""
        return replace(self.product.frozen, attribute_weights=dict(self.weights) or None)  # type: ignore[type-var]

    @property
    def frozen(self) -> Learner:
        """The same: settings that choose no more."""
        return self.chosen

    def exhibits(self) -> tuple[Exhibit, ...]:
        """The weights, the largest first, with the density of each number."""
        kinds = {f.name: type(f).__name__.lower().replace("density", "") for f in self.product.factors}
        order = sorted(kinds, key=lambda n: -self.weights.get(n, 1.0))
        rows = tuple((n, kinds[n], float(self.weights.get(n, 1.0))) for n in order)
        return (
            Exhibit("What each attribute says is multiplied by its weight", ("attribute", "factor", "weight"), rows),
        )

    def found(self) -> dict[str, Any]:
        """What was chosen, where rows were needed to choose it."""
        from likely.models.learners import settings_of

        if type(self.learner).__name__ == "NaiveBayes":
            return self.product.found()
        return {"chosen": settings_of(self.chosen)}


def weighed(product: Product, weights: Mapping[str, float], learner: Learner) -> Weighed:
    """A product under these weights."""
    none = [f.name for f in product.factors if weights.get(f.name, 1.0) == 0.0]
    told = ",".join(f" {shown(n, 30)}" for n in none[:8])
    more = f" and {len(none) - 8} more" if len(none) > 8 else ""
    notes = (f"Left out, as they add nothing to the others:{told}{more}.",) if none else ()
    return Weighed(
        learner=learner,
        summary=product.summary,
        product=product,
        weights=dict(weights),
        notes=(*product.notes, *notes),
        refuse_unseen=product.refuse_unseen,
    )
