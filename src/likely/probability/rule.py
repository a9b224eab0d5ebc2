"""Bayes' rule on a table of hypotheses: prior, likelihood, posterior, odds, one piece of evidence after another.

Exact where the numbers were given exactly. Knows no data; what it works out is written down in board.py.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any

from likely.errors import SettingError, nearest, shown
from likely.probability.numbers import Given, Number, alike, check_sum, equal, plain, probability, total, weight
from likely.probability.writing import found, named, spelled

if TYPE_CHECKING:
    from likely.probability.board import Choice
    from likely.probability.loss import Loss

EVIDENCE = "the evidence"


@dataclass(frozen=True)
class Step:
    """One piece of evidence: its name, and how probable it is under each hypothesis."""

    evidence: str
    likelihood: Mapping[Hashable, Number]


@dataclass(frozen=True)
class Bayes:
    """What is believed of some hypotheses after some evidence. `update` gives what is believed after one piece more.

    >>> b = bayes({"rain": "0.2"}, {"rain": "0.9", "no rain": "0.3"}, "clouds")
    >>> b.p("rain"), b.update({"rain": "0.5", "no rain": "0.1"}, "wind").p("rain")
    (Fraction(3, 7), Fraction(15, 19))
    """

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
        scaled = self._scaled
        products = {h: p * scaled[h] for h, p in self.prior.items()}
        whole = total(products.values())
        return {h: p / whole for h, p in products.items()}

    @property
    def _scaled(self) -> Mapping[Hashable, Number]:
        return self.scaled if self.scaled is not None else self.likelihood

    def _after(self, step: Step) -> Bayes:
        """With one step more, unchecked."""
        scaled = {h: p * step.likelihood[h] for h, p in self._scaled.items()}
        most = max((p for h, p in scaled.items() if self.prior[h]), default=0.0)
        if isinstance(most, float) and 0 < most < inf:
            scaled = {h: p / most for h, p in scaled.items()}
        return Bayes(self.prior, (*self.steps, step), self.density, scaled)

    def p(self, hypothesis: Hashable) -> Number:
        """P(hypothesis | evidence)."""
        return self.posterior[found(hypothesis, self.hypotheses, "hypothesis")]

    @property
    def map(self) -> Hashable:
        """The most probable hypothesis (maximum a posteriori); of equal ones the first."""
        posterior = self.posterior
        return max(posterior, key=lambda h: posterior[h])

    @property
    def ml(self) -> Hashable:
        """The hypothesis under which the evidence is most probable (maximum likelihood); of equal ones the first."""
        likelihood = self._scaled
        return max(likelihood, key=lambda h: likelihood[h])

    def odds(self, hypothesis: Hashable) -> Number:
        """Posterior odds: P(hypothesis | evidence) against all the others; infinite if they are impossible."""
        return _odds(self.posterior, found(hypothesis, self.hypotheses, "hypothesis"))

    def prior_odds(self, hypothesis: Hashable) -> Number:
        """The odds before the evidence."""
        return _odds(self.prior, found(hypothesis, self.hypotheses, "hypothesis"))

    def likelihood_ratio(self, hypothesis: Hashable) -> Number | None:
        """P(evidence | hypothesis) over P(evidence | not it): prior odds × this = posterior odds.

        With more than two hypotheses, "not it" is the others weighted by their priors. None where it is 0 / 0.
        """
        own = found(hypothesis, self.hypotheses, "hypothesis")
        others = [h for h in self.prior if h != own]
        rest = total(self.prior[h] for h in others)
        likelihood = self._scaled
        if not rest:
            return None
        against = total(self.prior[h] * likelihood[h] for h in others) / rest
        if not against:
            return inf if likelihood[own] else None
        return likelihood[own] / against

    def update(self, likelihood: Mapping[Any, Given] | None = None, /, evidence: str | None = None,
               **values: Given) -> Bayes:  # fmt: skip
        """What is believed after one piece of evidence more, independent of the others given the hypothesis.

        >>> twice = bayes({"fair": "1/2", "two heads": "1/2"}, {"fair": "1/2", "two heads": 1}).update({"fair": "1/2",
        ...     "two heads": 1})
        >>> twice.p("two heads")
        Fraction(4, 5)
        """
        name = evidence or (EVIDENCE if not self.steps else f"evidence {len(self.steps) + 1}")
        read = _likelihood({**(likelihood or {}), **values}, self.hypotheses, name, self.density)
        out = self._after(Step(name, read))
        if not any(p * out._scaled[h] for h, p in self.prior.items()):
            raise SettingError(_cannot(self, read, name))
        return out

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of the numbers."""
        out = []
        for h, p in self.prior.items():
            if not p and self.steps and self.likelihood[h]:
                out.append(f"The prior of {shown(spelled(h))} is zero, and no evidence can raise it.")
        return tuple(out)

    def decide(self, loss: Loss) -> Choice:
        """The action of least expected loss, and what every action is expected to cost."""
        from likely.probability.board import choice

        return choice(self, loss)

    def working(self, loss: Loss | None = None) -> str:
        """All of it as on a blackboard."""
        from likely.probability.board import working

        return working(self, loss)

    def __str__(self) -> str:
        return self.working()


def bayes(
    prior: Mapping[Any, Given],
    likelihood: Mapping[Any, Given] | None = None,
    evidence: str | None = None,
    *,
    density: bool = False,
) -> Bayes:
    """Bayes' rule: P(h | evidence) = P(h) · P(evidence | h) / Σ P(h) · P(evidence | h).

    Where `prior` leaves out one hypothesis that `likelihood` names, that one gets the rest of the prior.

    >>> b = bayes({"cancer": "0.008"}, {"cancer": "0.98", "no cancer": "0.03"}, "positive")
    >>> b.p("cancer"), b.map, b.ml
    (Fraction(49, 235), 'no cancer', 'cancer')
    """
    own = Bayes(_prior(prior, list(likelihood or {})), (), density)
    return own if likelihood is None else own.update(likelihood, evidence)


def diagnosis(
    prevalence: Given,
    sensitivity: Given,
    specificity: Given,
    *,
    positive: bool = True,
    names: tuple[str, str] = ("condition", "no condition"),
) -> Bayes:
    """A test for a condition: what its result says.

    `sensitivity` is P(positive | condition), `specificity` P(negative | no condition).

    >>> b = diagnosis("0.008", sensitivity="0.98", specificity="0.97")
    >>> b.p("condition"), diagnosis("0.008", "0.98", "0.97", positive=False).p("no condition")
    (Fraction(49, 235), Fraction(6014, 6015))
    """
    share = probability(prevalence, "The prevalence")
    seen = result(sensitivity, specificity, names, positive)
    prior = {names[0]: share, names[1]: 1 - share}
    return bayes(prior, seen, "positive" if positive else "negative")


def result(
    sensitivity: Given, specificity: Given, names: tuple[Hashable, Hashable], positive: bool
) -> dict[Hashable, Number]:
    """How probable a positive (or negative) test is under a condition and without it."""
    right = probability(sensitivity, "The sensitivity"), probability(specificity, "The specificity")
    held = (right[0], 1 - right[1]) if positive else (1 - right[0], right[1])
    return dict(zip(names, held, strict=True))


def _odds(beliefs: Mapping[Hashable, Number], own: Hashable) -> Number:
    against = total(p for h, p in beliefs.items() if h != own)
    return beliefs[own] / against if against else inf


def _prior(given: Mapping[Any, Given], named_later: list[Hashable]) -> dict[Hashable, Number]:
    """The prior, checked; a single hypothesis that only the likelihood names gets what is left."""
    out = {h: probability(v, f"The prior of {shown(spelled(h))}") for h, v in given.items()}
    rest = [h for h in named_later if h not in out]
    sure = total(out.values())
    if len(rest) == 1 and sure < 1 and not equal(sure, Fraction(1)):  # else it is a slip of the pen
        out[rest[0]] = 1 - sure
    elif len(rest) > 1:
        known = " and ".join(shown(spelled(h)) for h in rest[:2])
        raise SettingError(f"The prior names neither {known}. Leave at most one hypothesis to get the rest.")
    if not out:
        raise SettingError("There is no hypothesis. Give the prior of at least one.")
    check_sum(
        out.values(),
        f"The priors of {', '.join(shown(spelled(h)) for h in out)}",
        "Mend them, or leave one hypothesis to its likelihoods alone: it gets the rest.",
    )
    return alike(out)


def _likelihood(
    given: Mapping[Any, Given], hypotheses: tuple[Hashable, ...], evidence: str, density: bool
) -> dict[Hashable, Number]:
    check = weight if density else probability
    read: dict[Hashable, Number] = {}
    for h, v in given.items():
        read[found(h, hypotheses, "hypothesis")] = check(v, f"The likelihood P({named(evidence)} | {named(h)})")
    for h in hypotheses:
        if h not in read:
            others = [spelled(k) for k in given if k not in hypotheses]
            hint = f" {nearest(spelled(h), others)}" if others else " Give it for every hypothesis."
            raise SettingError(f"How probable {shown(evidence)} is under {shown(spelled(h))} is not given.{hint}")
    return alike({h: read[h] for h in hypotheses})


def _cannot(before: Bayes, likelihood: Mapping[Hashable, Number], evidence: str) -> str:
    """Why nothing is left to believe."""
    allow = [h for h in before.hypotheses if likelihood[h]]
    if not allow:
        return f"{shown(evidence)} is impossible under every hypothesis, so nothing can be concluded from it."
    names = " and ".join(shown(spelled(h)) for h in allow[:3])
    when = "whose prior is zero" if all(not before.prior[h] for h in allow) else "which earlier evidence ruled out"
    priors = ", ".join(f"{named(h)} {plain(p)}" for h, p in before.posterior.items())
    return (
        f"{shown(evidence)} is possible only under {names}, {when}; no evidence can raise a probability of zero "
        f"(now: {priors}). Give {names} a prior above zero, or likelihoods above zero."
    )
