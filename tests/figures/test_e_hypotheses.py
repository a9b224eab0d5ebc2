"""Figure E, several hypotheses: what the MAP hypothesis, all of them together, and one drawn by lot say."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import likely
from likely import Prior

PLUS, MINUS = Prior(prior={"+": 1, "-": 0}), Prior(prior={"+": 0, "-": 1})
TABLE = {"x": ["a", "b"], "y": ["+", "-"]}


def test_the_map_hypothesis_says_plus_and_all_together_say_minus() -> None:
    model: Any = likely.fit(TABLE, "y", likely.Mixture((PLUS, MINUS, MINUS), weights=(0.4, 0.3, 0.3)))
    assert model.beliefs.titles[model.beliefs.best] == model.beliefs.titles[0]
    assert model.members[model.beliefs.best].predict({"x": "a"}) == "+"
    assert model.predict({"x": "a"}) == "-"
    assert model.posterior({"x": "a"}).prob("-") == pytest.approx(0.6)
    found = model.disagreements(TABLE)
    assert (found.rows, found.count) == (2, 2)
    first = found.examples[0]
    assert (first.row, first.by_map, first.by_all) == (0, "+", "-")
    assert first.probability == pytest.approx(0.6)


# Three hypotheses that are sure of themselves: one follows x, one always says +, one always says -.
SURE = (likely.NaiveBayes(pseudo_count=0), PLUS, MINUS)
BELIEFS = (Fraction(8, 20), Fraction(7, 20), Fraction(5, 20))
SAYS = [{"a": "+", "b": "-"}, {"a": "+", "b": "+"}, {"a": "-", "b": "-"}]


def chance(y: str, x: str) -> Fraction:
    """P(y | x) when the true hypothesis is one of the three, by belief."""
    return sum((b for b, says in zip(BELIEFS, SAYS, strict=True) if says[x] == y), Fraction(0))


def test_bayes_optimal_makes_the_bayes_error_and_gibbs_at_most_twice_as_much() -> None:
    rows = 40_000
    rng = np.random.default_rng(0)
    x = rng.choice(["a", "b"], rows)
    world = rng.choice(3, rows, p=[float(b) for b in BELIEFS])
    truth = np.array([SAYS[h][v] for h, v in zip(world, x, strict=True)])
    weights = tuple(float(b) for b in BELIEFS)
    error = {}
    for learner in (likely.Mixture(SURE, weights=weights), likely.Gibbs(SURE, weights=weights, seed=3)):
        model = likely.fit(TABLE, "y", learner)
        error[type(learner).__name__] = float(np.mean(np.array(model.predict({"x": x})) != truth))

    # Bayes error: the sum over x of P(error | x) P(x), with the class that is most probable given x.
    bayes = sum(Fraction(1, 2) * (1 - max(chance("+", v), chance("-", v))) for v in "ab")
    lot = sum(Fraction(1, 2) * 2 * chance("+", v) * chance("-", v) for v in "ab")
    assert (bayes, lot) == (Fraction(3, 10), Fraction(83, 200))
    assert error["Mixture"] == pytest.approx(float(bayes), abs=0.01)
    assert error["Gibbs"] == pytest.approx(float(lot), abs=0.01)
    assert error["Mixture"] < error["Gibbs"] <= 2 * error["Mixture"]
    # No classifier does better: all four rules from x to a class.
    for a in "+-":
        for b in "+-":
            other = np.where(x == "a", a, b)
            assert np.mean(other != truth) >= error["Mixture"]
