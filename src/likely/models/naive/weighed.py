"""Naive Bayes with a weight for each attribute, or one for all evidence: factors raised to powers. Knows no search.

With powers other than 1 the scores are no densities of rows any more; their posterior is one of classes all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from likely.errors import shown
from likely.models.model import Exhibit, Learner, Model, Terms
from likely.models.naive.product import Factor, Product, add_factor, scored
from likely.models.posterior import Matrix
from likely.models.settings import settings_of
from likely.models.text.factor import TextFactor
from likely.table.batch import Batch


@dataclass(frozen=True, eq=False, kw_only=True)
class Weighed(Model):
    """temperature * (log P(class) + sum of weight * log P(cell | class))."""

    product: Product
    weights: Mapping[str, float]
    """Of each factor, by its name; 1 where none is given, 0 leaves it out."""
    temperature: float = 1.0
    """What all of it is multiplied by, the prior too: below 1 the model is less sure of itself."""

    @property
    def factors(self) -> tuple[Factor, ...]:
        """Those of the product, before they are raised to a power."""
        return self.product.factors

    def power_of(self, name: str) -> float:
        """What the evidence of a factor is multiplied by."""
        return self.temperature * self.weights.get(name, 1.0)

    @property
    def describer(self) -> Model:
        """The product as it was before: a power of a density does not say how rows come about."""
        return self.product

    @property
    def texts(self) -> tuple[TextFactor, ...]:
        """The factors of text columns."""
        return self.product.texts

    def log_joint(self, batch: Batch) -> Matrix:
        """temperature * (log P(class) + sum of weight * log P(cell | class)), (rows, classes)."""
        return self.scored(batch)[0]

    def scored(self, batch: Batch) -> tuple[Matrix, dict[str, tuple[int, int]]]:
        """`log_joint`, and for each text column how many words there were and how many are not known."""
        begun = self.product
        if self.temperature != 1.0:
            begun = replace(begun, log_prior=self.temperature * begun.log_prior)
        return scored(begun, batch, self._add)

    def terms(self, batch: Batch) -> Terms:
        """The prior and each factor's share of `log_joint`, by the same code."""
        factors = self.product.factors
        out = np.zeros((1 + len(factors), batch.rows, len(self.classes)))
        out[0] = self.temperature * self.product.log_prior
        for part, factor in zip(out[1:], factors, strict=True):
            self._add(factor, batch, part)
        return Terms(("prior", *(f.name for f in factors)), out.transpose(1, 0, 2))

    def _add(self, factor: Any, batch: Batch, out: Matrix) -> tuple[int, int] | None:
        weight = self.power_of(factor.name)
        if not weight:
            return None
        each = np.zeros_like(out)
        words = add_factor(factor, batch, each)
        out += weight * each
        return words

    @property
    def chosen(self) -> Learner:
        """The naive Bayes that this is."""
        powers: Any = {"attribute_weights": dict(self.weights) or None, "temperature": self.temperature}
        return replace(self.product.frozen, **powers)  # type: ignore[type-var]

    @property
    def frozen(self) -> Learner:
        """The same: settings that choose no more."""
        return self.chosen

    def exhibits(self) -> tuple[Exhibit, ...]:
        """The weights, the largest first, with the density of each number; and the temperature."""
        if not self.weights:
            return (*self.product.exhibits(), *self._heat())
        kinds = {f.name: type(f).__name__.lower().replace("density", "") for f in self.product.factors}
        order = sorted(kinds, key=lambda n: -self.weights.get(n, 1.0))
        rows = tuple((n, kinds[n], float(self.weights.get(n, 1.0))) for n in order)
        title = "What each attribute says is multiplied by its weight"
        return (Exhibit(title, ("attribute", "factor", "weight"), rows), *self._heat())

    def _heat(self) -> tuple[Exhibit, ...]:
        if self.temperature == 1.0:
            return ()
        return (Exhibit("All evidence, the prior too, is multiplied by", ("temperature",), ((self.temperature,),)),)

    def carried(self) -> dict[str, Any]:
        """What was chosen stays as it is when rows are learned or unlearned."""
        return self.found()

    def found(self) -> dict[str, Any]:
        """What was chosen, where rows were needed to choose it."""
        if type(self.learner).__name__ == "NaiveBayes":
            own = {} if getattr(self.learner, "temperature", 1.0) != "auto" else {"temperature": self.temperature}
            return {**self.product.found(), **own}
        return {"chosen": settings_of(self.chosen)}


def weighed(
    product: Product, weights: Mapping[str, float], learner: Learner, temperature: float = 1.0, *notes: str
) -> Weighed:
    """A product under these weights and this temperature."""
    none = [f.name for f in product.factors if weights.get(f.name, 1.0) == 0.0]
    named = ",".join(f" {shown(n, 30)}" for n in none[:8])
    more = f" and {len(none) - 8} more" if len(none) > 8 else ""
    told = (f"Left out, as they add nothing to the others:{named}{more}.",) if none else ()
    return Weighed(
        learner=learner,
        summary=product.summary,
        product=product,
        weights=dict(weights),
        temperature=temperature,
        notes=(*product.notes, *told, *notes),
        refuse_unseen=product.refuse_unseen,
    )
