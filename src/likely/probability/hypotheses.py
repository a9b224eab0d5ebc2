"""Hypotheses that predict: what the most probable one says, what all of them say together, and one drawn by lot.

Also the error that no rule can avoid, for a joint table that is known. Exact where the beliefs are.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any

from likely.errors import SettingError, nearest, shown
from likely.probability.numbers import Given, Number, alike, check_sum, number, probability, total
from likely.probability.writing import spell

if TYPE_CHECKING:
    from likely.probability.distribution import Distribution
    from likely.probability.loss import Loss


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

    >>> from likely.probability import Joint
    >>> bayes_error(Joint.listed({"x": "ab", "y": "+-"}, ["0.4", "0.1", "0.2", "0.3"]), "y")
    Fraction(3, 10)
    """
    return 1 - total(max(row.values()) for row in _rows(joint, target).values())


def bayes_risk(joint: Distribution, target: str, loss: Loss) -> Number:
    """The expected loss of the best rule that knows the joint: in every case the action of least expected loss.

    >>> from likely.probability.loss import Loss
    >>> from likely.probability import Joint
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
