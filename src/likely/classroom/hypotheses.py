"""Bayes' rule on a table of hypotheses, one piece of evidence after another, and what hypotheses predict."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any

from likely.classroom import belief
from likely.classroom.belief import Belief, BeliefStep
from likely.classroom.writing import match_value
from likely.errors import SettingError, nearest, shown
from likely.models.fractions import (
    Given,
    Number,
    alike,
    check_sum,
    equal,
    number,
    plain,
    printable,
    probability,
    spell,
    total,
    weight,
)

if TYPE_CHECKING:
    from likely.classroom.belief import Choice
    from likely.classroom.distribution import Distribution
    from likely.models.loss import Loss


# Hypotheses that predict: what the most probable one says, what all of them say together, and one drawn by lot.


@dataclass(frozen=True, init=False)
class Hypotheses:
    """Hypotheses with what each is believed and what each predicts: a value, or the probability of each value.

    >>> h = Hypotheses({"h1": "0.4", "h2": "0.3", "h3": "0.3"}, {"h1": "+", "h2": "-", "h3": "-"})
    >>> h.map, h.map_prediction, h.optimal, h.prediction["-"]
    ('h1', '+', '-', Fraction(3, 5))
    """

    beliefs: Mapping[Hashable, Number]
    predictions: Mapping[Hashable, Mapping[Hashable, Number]]

    def __init__(self, beliefs: Mapping[Any, Given], predictions: Mapping[Any, object]) -> None:
        held = {h: probability(v, f"The belief in {shown(spell(h))}") for h, v in beliefs.items()}
        check_sum(held.values(), "The beliefs in the hypotheses")
        said: dict[Hashable, dict[Hashable, Number]] = {}
        for h in held:
            if h not in predictions:
                raise SettingError(f"Hypothesis {shown(spell(h))} predicts nothing. Say what it predicts.")
            said[h] = _read(predictions[h], spell(h))
        for h in predictions:
            if h not in held:
                known = [spell(k) for k in held]
                raise SettingError(f"There is no belief in {shown(spell(h))}. {nearest(spell(h), known)}")
        object.__setattr__(self, "beliefs", alike(held))
        object.__setattr__(self, "predictions", said)

    @property
    def map(self) -> Hashable:
        """The most probable hypothesis; of equal ones the first."""
        return max(self.beliefs, key=lambda h: self.beliefs[h])

    @property
    def map_prediction(self) -> Hashable:
        """What the most probable hypothesis holds to be most probable."""
        return _most(self.predictions[self.map])

    @property
    def prediction(self) -> dict[Hashable, Number]:
        """P(value) = Σ P(hypothesis) · P(value | hypothesis)."""
        values = dict.fromkeys(v for said in self.predictions.values() for v in said)
        zero = Fraction(0)
        return {v: total(b * self.predictions[h].get(v, zero) for h, b in self.beliefs.items()) for v in values}

    @property
    def optimal(self) -> Hashable:
        """The Bayes-optimal prediction: the value that all hypotheses together hold to be most probable."""
        return _most(self.prediction)

    @property
    def certain(self) -> bool:
        """Whether each hypothesis predicts one value for sure."""
        return all(said[_most(said)] == 1 for said in self.predictions.values())

    def gibbs(self, rows: int = 1, seed: int = 0) -> list[Hashable]:
        """Predictions by lot: for each row one hypothesis by its belief, then the value that it holds most probable."""
        names, beliefs = list(self.beliefs), [float(b) for b in self.beliefs.values()]
        return [_most(self.predictions[h]) for h in Random(seed).choices(names, beliefs, k=rows)] if rows else []

    def simulate(self, draws: int, seed: int = 0) -> dict[str, float]:
        """How often each way of predicting errs in so many draws of what is true, by belief.

        >>> h = Hypotheses({"h1": "0.4", "h2": "0.3", "h3": "0.3"}, {"h1": "+", "h2": "-", "h3": "-"})
        >>> {way: round(share, 1) for way, share in h.simulate(20_000).items()}
        {'MAP': 0.6, 'Bayes-optimal': 0.4, 'Gibbs': 0.5}
        """
        if draws < 1:
            raise SettingError(f"draws is {draws}. Say how often to draw, at least once.")
        # Two streams of chance: what is true must not be what is drawn to predict it.
        prediction = self.prediction
        truth = Random(seed).choices(list(prediction), [float(p) for p in prediction.values()], k=draws)
        lots = self.gibbs(draws, seed + 1_000_003)
        wrong = sum(t != said for t, said in zip(truth, lots, strict=True))
        by_map, by_all = self.map_prediction, self.optimal
        return {
            "MAP": sum(t != by_map for t in truth) / draws,
            "Bayes-optimal": sum(t != by_all for t in truth) / draws,
            "Gibbs": wrong / draws,
        }

    @property
    def optimal_error(self) -> Number:
        """How often the optimal prediction is wrong, if one of the hypotheses is true, each by its belief."""
        return 1 - self.prediction[self.optimal]

    @property
    def map_error(self) -> Number:
        """How often the prediction of the most probable hypothesis is wrong."""
        return 1 - self.prediction[self.map_prediction]

    @property
    def gibbs_error(self) -> Number:
        """How often the one drawn by lot is wrong: 1 − Σ P(hypothesis) · P(the value it holds most probable).

        At most twice the optimal error where each hypothesis predicts one value for sure (then it is 1 − Σ P(value)²).
        """
        prediction = self.prediction
        return 1 - total(b * prediction[_most(self.predictions[h])] for h, b in self.beliefs.items())


def _read(said: object, hypothesis: str) -> dict[Hashable, Number]:
    if not isinstance(said, Mapping):
        return {said: Fraction(1)}
    held = {v: probability(p, f"P({spell(v)} | {hypothesis})") for v, p in said.items()}
    check_sum(held.values(), f"What hypothesis {shown(hypothesis)} predicts must sum to 1; its probabilities")
    return alike(held)


def _most(beliefs: Mapping[Hashable, Number]) -> Hashable:
    return max(beliefs, key=lambda v: beliefs[v])


def bayes_error(joint: Distribution, target: str) -> Number:
    """The error of the best rule that knows the joint: Σ over x of P(x) · (1 − max P(class | x)).

    >>> from likely.classroom import Joint
    >>> bayes_error(Joint.listed({"x": "ab", "y": "+-"}, ["0.4", "0.1", "0.2", "0.3"]), "y")
    Fraction(3, 10)
    """
    return 1 - total(max(row.values()) for row in _rows(joint, target).values())


def bayes_risk(joint: Distribution, target: str, loss: Loss) -> Number:
    """The expected loss of the best rule that knows the joint: in every case the action of least expected loss.

    >>> from likely.models.loss import Loss
    >>> from likely.classroom import Joint
    >>> joint = Joint.listed({"x": "ab", "y": "+-"}, ["0.4", "0.1", "0.2", "0.3"])
    >>> bayes_risk(joint, "y", Loss.of({"+": {"say -": 5}, "-": {"say +": 1}}))
    Fraction(2, 5)
    """
    costs = loss.rows(spell(v).strip() for v in joint.levels[target])
    read = [[number(c, "A cost") for c in row] for row in costs]
    zero = Fraction(0)
    least = []
    for row in _rows(joint, target).values():
        weights = [row.get(v, zero) for v in joint.levels[target]]
        least.append(min(total(w * c[k] for w, c in zip(weights, read, strict=True)) for k in range(len(loss.actions))))
    return total(least)


def _rows(joint: Distribution, target: str) -> dict[tuple[Hashable, ...], dict[Hashable, Number]]:
    """P(class, x) by what else is known."""
    place = joint._place(target)
    out: dict[tuple[Hashable, ...], dict[Hashable, Number]] = {}
    for cell, p in joint.cells.items():
        out.setdefault(cell[:place] + cell[place + 1 :], {})[cell[place]] = p
    return out


# Bayes' rule on a table of hypotheses, one piece of evidence after another; what is given is checked.

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
        out = self.after(BeliefStep(name, read))
        if not any(p * out.scaled_likelihood[h] for h, p in self.prior.items()):
            raise SettingError(_cannot(self, read, name))
        return out

    def decide(self, loss: Loss) -> Choice:
        """The action of least expected loss, and what every action is expected to cost."""
        return belief.choice(self, loss)

    def working(self, loss: Loss | None = None) -> str:
        """All of it as on a blackboard."""
        return belief.write_board(self, loss)

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
