"""What is believed of hypotheses: prior, likelihood, posterior, odds. Exact where the numbers are; checks nothing."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf
from typing import Self

from likely.errors import shown
from likely.probability.numbers import Number, total
from likely.probability.writing import match_value, spell


@dataclass(frozen=True)
class Step:
    """One piece of evidence: its name, and how probable it is under each hypothesis."""

    evidence: str
    likelihood: Mapping[Hashable, Number]


@dataclass(frozen=True)
class Belief:
    """What is believed of some hypotheses after some evidence: prior × likelihood, shared out."""

    prior: Mapping[Hashable, Number]
    steps: tuple[Step, ...] = ()
    density: bool = False
    """Whether likelihoods may be densities, which can be above 1."""
    scaled: Mapping[Hashable, Number] | None = field(default=None, repr=False, compare=False)
    """The likelihood of all the evidence up to a factor: floats are kept in range, lest they all vanish."""

    @property
    def hypotheses(self) -> tuple[Hashable, ...]:
        return tuple(self.prior)

    @property
    def evidence(self) -> str:
        """What was seen, all of it."""
        return ", ".join(step.evidence for step in self.steps)

    @property
    def likelihood(self) -> dict[Hashable, Number]:
        """P(all the evidence | hypothesis): the product over the pieces, which are taken to be independent given it."""
        out: dict[Hashable, Number] = dict.fromkeys(self.prior, Fraction(1))
        for step in self.steps:
            out = {h: p * step.likelihood[h] for h, p in out.items()}
        return out

    @property
    def products(self) -> dict[Hashable, Number]:
        """prior × likelihood: the joint probability of each hypothesis and the evidence."""
        likelihood = self.likelihood
        return {h: p * likelihood[h] for h, p in self.prior.items()}

    @property
    def total(self) -> Number:
        """P(evidence) = Σ prior × likelihood."""
        return total(self.products.values())

    @property
    def posterior(self) -> dict[Hashable, Number]:
        """P(hypothesis | evidence)."""
        if not self.steps:
            return dict(self.prior)
        scaled = self.scaled_likelihood
        products = {h: p * scaled[h] for h, p in self.prior.items()}
        whole = total(products.values())
        return {h: p / whole for h, p in products.items()}

    @property
    def scaled_likelihood(self) -> Mapping[Hashable, Number]:
        """The likelihood up to a factor that is the same for all hypotheses; it does not underflow."""
        return self.scaled if self.scaled is not None else self.likelihood

    def after(self, step: Step) -> Self:
        """With one step more, unchecked."""
        scaled = {h: p * step.likelihood[h] for h, p in self.scaled_likelihood.items()}
        most = max((p for h, p in scaled.items() if self.prior[h]), default=0.0)
        if isinstance(most, float) and 0 < most < inf:
            scaled = {h: p / most for h, p in scaled.items()}
        return replace(self, steps=(*self.steps, step), scaled=scaled)

    def p(self, hypothesis: Hashable) -> Number:
        """P(hypothesis | evidence)."""
        return self.posterior[match_value(hypothesis, self.hypotheses, "hypothesis")]

    @property
    def map(self) -> Hashable:
        """The most probable hypothesis (maximum a posteriori); of equal ones the first."""
        posterior = self.posterior
        return max(posterior, key=lambda h: posterior[h])

    @property
    def ml(self) -> Hashable:
        """The hypothesis under which the evidence is most probable (maximum likelihood); of equal ones the first."""
        likelihood = self.scaled_likelihood
        return max(likelihood, key=lambda h: likelihood[h])

    def odds(self, hypothesis: Hashable) -> Number:
        """Posterior odds: P(hypothesis | evidence) against all the others; infinite if they are impossible."""
        return _odds(self.posterior, match_value(hypothesis, self.hypotheses, "hypothesis"))

    def prior_odds(self, hypothesis: Hashable) -> Number:
        """The odds before the evidence."""
        return _odds(self.prior, match_value(hypothesis, self.hypotheses, "hypothesis"))

    def likelihood_ratio(self, hypothesis: Hashable) -> Number | None:
        """P(evidence | hypothesis) over P(evidence | not it): prior odds × this = posterior odds.

        With more than two hypotheses, "not it" is the others weighted by their priors. None where it is 0 / 0.
        """
        own = match_value(hypothesis, self.hypotheses, "hypothesis")
        others = [h for h in self.prior if h != own]
        rest = total(self.prior[h] for h in others)
        likelihood = self.scaled_likelihood
        if not rest:
            return None
        against = total(self.prior[h] * likelihood[h] for h in others) / rest
        if not against:
            return inf if likelihood[own] else None
        return likelihood[own] / against

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of the numbers."""
        out = []
        for h, p in self.prior.items():
            if not p and self.steps and self.likelihood[h]:
                out.append(f"The prior of {shown(spell(h))} is zero, and no evidence can raise it.")
        return tuple(out)


def _odds(beliefs: Mapping[Hashable, Number], own: Hashable) -> Number:
    against = total(p for h, p in beliefs.items() if h != own)
    return beliefs[own] / against if against else inf
