"""Naive Bayes with a weight for each attribute, or one for all evidence: factors raised to powers. Knows no search.

With powers other than 1 the scores are no densities of rows any more; their posterior is one of classes all the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from likely.errors import shown
from likely.models.contracts import Factor, Learner, Model, Terms, has_trait, setting_of
from likely.models.naive.product import Product, scored
from likely.models.posterior import Matrix
from likely.models.settings import settings_of
from likely.models.shapes import Exhibit, Score, Sum
from likely.sums.contracts import State
from likely.table.batch import Batch


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class WeightedProduct(Model):
    """temperature * (log P(class) + sum of weight * log P(cell | class))."""

    product: Product
    weights: Mapping[str, float]
    """Of each factor, by its name; 1 where none is given, 0 leaves it out."""
    temperature: float = 1.0
    """What all of it is multiplied by, the prior too: below 1 the model is less sure of itself."""
    factored: ClassVar[bool] = True

    def power_of(self, name: str) -> float:
        """What the evidence of a factor, or the prior (no name), is multiplied by."""
        return self.temperature * self.weights.get(name, 1.0)

    def shape(self) -> Score:
        """The product's, with powers."""
        powers = tuple(self.power_of(f.name) for f in self.factors)
        return Sum(self.temperature * self.product.log_prior, self.factors, powers)

    def only(self, names: Collection[str]) -> WeightedProduct:
        """The same of the factors of these names alone."""
        product = self.product.only(names)
        return replace(self, product=product, factors=product.factors)

    @property
    def describer(self) -> Model:
        """The product as it was before: a power of a density does not say how rows come about."""
        return self.product

    @property
    def describer_note(self) -> str:
        return "Scaled evidence is not a model of rows: these are from {title} without scaling."

    def levels(self, name: str) -> list[str]:
        """Those of the product."""
        return self.product.levels(name)

    def choices(self) -> dict[str, tuple[str, str]]:
        """What was chosen of texts."""
        return self.product.choices()

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

    def _add(self, factor: Factor, batch: Batch, out: Matrix) -> tuple[int, int] | None:
        weight = self.power_of(factor.name)
        if not weight:
            return None
        each = np.zeros_like(out)
        words = factor.add(batch, each)
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
        kinds = {f.name: type(f).__name__.lower().replace("density", "") for f in self.factors}
        order = sorted(kinds, key=lambda n: -self.weights.get(n, 1.0))
        rows = tuple((n, kinds[n], float(self.weights.get(n, 1.0))) for n in order)
        title = "Each attribute's evidence is multiplied by its weight"
        return (Exhibit(title, ("attribute", "factor", "weight"), rows), *self.product.exhibits(), *self._heat())

    def _heat(self) -> tuple[Exhibit, ...]:
        if self.temperature == 1.0:
            return ()
        return (Exhibit("All evidence, the prior too, is multiplied by", ("temperature",), ((self.temperature,),)),)

    def lasting_state(self) -> State:
        """What was chosen stays as it is when rows are learned or unlearned."""
        return self.search_state()

    def search_state(self) -> State:
        """What was chosen, where rows were needed to choose it."""
        if has_trait(self.learner, "independent"):
            own = {} if setting_of(self.learner, "temperature") != "auto" else {"temperature": self.temperature}
            return {**self.product.search_state(), **own}
        return {"chosen": settings_of(self.chosen)}


def weight_product(
    product: Product, weights: Mapping[str, float], learner: Learner, temperature: float = 1.0, *notes: str
) -> WeightedProduct:
    """A product under these weights and this temperature."""
    none = [f.name for f in product.factors if weights.get(f.name, 1.0) == 0.0]
    named = ",".join(f" {shown(n, 30)}" for n in none[:8])
    more = f" and {len(none) - 8} more" if len(none) > 8 else ""
    told = (f"Left out because they add nothing to the others:{named}{more}.",) if none else ()
    return WeightedProduct(
        learner=learner,
        summary=product.summary,
        prior=product.prior,
        log_prior=product.log_prior,
        factors=product.factors,
        product=product,
        weights=dict(weights),
        temperature=temperature,
        notes=(*product.notes, *told, *notes),
        refuse_unseen=product.refuse_unseen,
    )


def tempered(model: Model, temperature: float) -> Model:
    """Naive Bayes with its evidence weighed by this temperature; any other model as it is."""
    if not isinstance(model, Product) or not has_trait(model.learner, "independent"):
        return model
    return weight_product(model, {}, replace(model.learner, temperature=temperature), temperature)  # type: ignore[type-var]
