"""Bayes' rule on a table of hypotheses, one piece of evidence after another; what is given is checked.

Knows no data. What is believed is in belief.py, how it is written down in board.py.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from likely.errors import SettingError, nearest, shown
from likely.probability import board
from likely.probability.belief import Belief, Step
from likely.probability.numbers import Given, Number, alike, check_sum, equal, plain, probability, total, weight
from likely.probability.writing import match_value, printable, spell

if TYPE_CHECKING:
    from likely.probability.board import Choice
    from likely.probability.loss import Loss

EVIDENCE = "the evidence"


class Bayes(Belief):
    """What is believed of some hypotheses after some evidence. `update` gives what is believed after one piece more.

    >>> b = bayes({"rain": "0.2"}, {"rain": "0.9", "no rain": "0.3"}, "clouds")
    >>> b.p("rain"), b.update({"rain": "0.5", "no rain": "0.1"}, "wind").p("rain")
    (Fraction(3, 7), Fraction(15, 19))
    """

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
        out = self.after(Step(name, read))
        if not any(p * out.scaled_likelihood[h] for h, p in self.prior.items()):
            raise SettingError(_cannot(self, read, name))
        return out

    def decide(self, loss: Loss) -> Choice:
        """The action of least expected loss, and what every action is expected to cost."""
        return board.choice(self, loss)

    def working(self, loss: Loss | None = None) -> str:
        """All of it as on a blackboard."""
        return board.working(self, loss)

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


def _prior(given: Mapping[Any, Given], named_later: list[Hashable]) -> dict[Hashable, Number]:
    """The prior, checked; a single hypothesis that only the likelihood names gets what is left."""
    out = {h: probability(v, f"The prior of {shown(spell(h))}") for h, v in given.items()}
    rest = [h for h in named_later if h not in out]
    sure = total(out.values())
    if len(rest) == 1 and sure < 1 and not equal(sure, Fraction(1)):  # else it is a slip of the pen
        out[rest[0]] = 1 - sure
    elif len(rest) > 1:
        known = " and ".join(shown(spell(h)) for h in rest[:2])
        raise SettingError(f"The prior names neither {known}. Leave at most one hypothesis to get the rest.")
    if not out:
        raise SettingError("There is no hypothesis. Give the prior of at least one.")
    check_sum(
        out.values(),
        f"The priors of {', '.join(shown(spell(h)) for h in out)}",
        "Correct them, or leave one hypothesis to its likelihoods alone: it gets the rest.",
    )
    return alike(out)


def _likelihood(
    given: Mapping[Any, Given], hypotheses: tuple[Hashable, ...], evidence: str, density: bool
) -> dict[Hashable, Number]:
    check = weight if density else probability
    read: dict[Hashable, Number] = {}
    for h, v in given.items():
        read[match_value(h, hypotheses, "hypothesis")] = check(
            v, f"The likelihood P({printable(evidence)} | {printable(h)})"
        )
    for h in hypotheses:
        if h not in read:
            others = [spell(k) for k in given if k not in hypotheses]
            hint = f" {nearest(spell(h), others)}" if others else " Give it for every hypothesis."
            raise SettingError(f"How probable {shown(evidence)} is under {shown(spell(h))} is not given.{hint}")
    return alike({h: read[h] for h in hypotheses})


def _cannot(before: Bayes, likelihood: Mapping[Hashable, Number], evidence: str) -> str:
    """Why nothing is left to believe."""
    allow = [h for h in before.hypotheses if likelihood[h]]
    if not allow:
        return f"{shown(evidence)} is impossible under every hypothesis, so nothing can be concluded from it."
    names = " and ".join(shown(spell(h)) for h in allow[:3])
    when = "whose prior is zero" if all(not before.prior[h] for h in allow) else "which earlier evidence ruled out"
    priors = ", ".join(f"{printable(h)} {plain(p)}" for h, p in before.posterior.items())
    return (
        f"{shown(evidence)} is possible only under {names}, {when}; no evidence can raise a probability of zero "
        f"(now: {priors}). Give {names} a prior above zero, or likelihoods above zero."
    )
