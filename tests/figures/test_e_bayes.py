"""Figure E, Bayes' rule on a table of hypotheses: fish, a test for cancer, urns, a joint of three variables."""

from __future__ import annotations

from fractions import Fraction as F
from random import Random

import numpy as np
import pytest

import likely
from likely import Loss
from likely.classroom import Conditional, Hypotheses, Joint, bayes, bayes_error, diagnosis

ABC = ["0.30", "0.05", "0.10", "0.05", "0.05", "0.10", "0.25", "0.10"]


def joint() -> Joint:
    return Joint.listed({"A": [0, 1], "B": [0, 1], "C": [0, 1]}, ABC)


def test_fish() -> None:
    found = bayes({"salmon": "0.3", "sea bass": "0.7"}, {"salmon": "0.4", "sea bass": "0.5"}, "50–100 cm")
    assert found.products == {"salmon": F(12, 100), "sea bass": F(35, 100)}
    assert found.map == "sea bass" and found.ml == "sea bass"
    assert bayes({"salmon": "0.3", "sea bass": "0.7"}).map == "sea bass"  # the prior alone


def test_a_test_for_cancer() -> None:
    found = bayes({"cancer": "0.008"}, {"cancer": "0.98", "no cancer": "0.03"}, "positive")
    assert found.prior == {"cancer": F(8, 1000), "no cancer": F(992, 1000)}
    assert found.products == {"cancer": F("0.00784"), "no cancer": F("0.02976")}
    assert found.map == "no cancer" and found.ml == "cancer"
    assert round(float(found.p("cancer")), 4) == 0.2085
    same = diagnosis("0.008", sensitivity="0.98", specificity="0.97", names=("cancer", "no cancer"))
    assert same.posterior == found.posterior
    chosen = found.decide(Loss({"cancer": {"say none": 10}, "no cancer": {"say cancer": 1}}))
    assert chosen.unnormalised == {"say cancer": F("0.02976"), "say none": F("0.0784")}
    assert chosen.action == "say cancer"
    assert chosen.expected["say none"] == F("0.0784") / F("0.0376")
    assert found.odds("cancer") == found.prior_odds("cancer") * found.likelihood_ratio("cancer") == F(784, 2976)


def test_the_working_shows_every_number() -> None:
    found = bayes({"cancer": "0.008"}, {"cancer": "0.98", "no cancer": "0.03"}, "positive")
    text = found.working(Loss({"cancer": {"say none": 10}, "no cancer": {"say cancer": 1}}))
    for words in (
        "0.992  ×        0.03  =  0.02976     0.7915",
        "P(cancer | positive) = 0.00784 / 0.0376 = 49/235 ≈ 0.2085",
        "1/124 × 98/3 = 49/186",
        "(MAP): no cancer, 0.7915",
        "(ML): cancer, 0.98",
        "0.00784 × 10 + 0.02976 × 0  =   0.0784",
        "Least expected loss: say cancer",
    ):
        assert words in text, words


def test_two_urns() -> None:
    urn = Joint({"red": "2/3", "black": "1/3"}, "first")
    other = Joint({"red": "2/3", "black": "1/3"}, "second")
    both = urn * other
    assert list(both.cells.values()) == [F(4, 9), F(2, 9), F(2, 9), F(1, 9)]
    assert both.independent("first", "second")
    assert "4/9" in str(both) and "1/9" in str(both)


def test_a_joint_of_three() -> None:
    j = joint()
    assert j.p(A=1) == F(1, 2) and j.p(B=1) == F(1, 2) and j.p(C=1) == F(3, 10)
    assert j.p(A=1, B=0) == F("0.15")
    assert j.p({"A": 1}, given={"C": 1}) == F(2, 3)
    assert j.p({"A": 0, "B": 0}, given={"C": 0}) == F(3, 7)
    assert j.p("A", given={"C": 1}).cells == {(0,): F(1, 3), (1,): F(2, 3)}
    assert j.given(C=1) == j.p("A", given={"C": 1}) * j.conditional("B", given=["A", "C"]).given(C=1)
    # product, sum and total probability
    assert j.p(A=1, B=0) == j.p({"A": 1}, given={"B": 0}) * j.p(B=0)
    assert j.marginal("A", "B").p(A=0, B=1) == j.p(A=0, B=1, C=0) + j.p(A=0, B=1, C=1)
    total = j.total_probability({"A": 1}, over="C")
    assert total.value == j.p(A=1)
    assert [(p, q) for _, p, q in total.terms] == [(F(3, 7), F(7, 10)), (F(2, 3), F(3, 10))]
    assert str(total).endswith("= 3/7 × 0.7 + 2/3 × 0.3\n  = 0.5")
    assert not j.independent("A", "B") and not j.independent("A", "B", given="C")
    assert "P(A=0, B=0) = 0.35, but P(A=0) · P(B=0) = 0.25" in str(j.independent("A", "B"))


def test_independent_given_the_class_and_not_without_it() -> None:
    cause = Joint({"yes": "1/4", "no": "3/4"}, "flu")
    fever = Conditional({"yes": {1: "0.9", 0: "0.1"}, "no": {1: "0.1", 0: "0.9"}}, "fever", given="flu")
    cough = Conditional({"yes": {1: "0.8", 0: "0.2"}, "no": {1: "0.3", 0: "0.7"}}, "cough", given="flu")
    j = cause * fever * cough
    assert j.independent("fever", "cough", given="flu") and not j.independent("fever", "cough")
    assert j.mutual_information("fever", "cough", given="flu") == 0
    assert j.mutual_information("fever", "cough") > 0.01


HYPOTHESES = Hypotheses({"h1": "0.4", "h2": "0.3", "h3": "0.3"}, {"h1": "+", "h2": "-", "h3": "-"})


def test_bayes_optimal() -> None:
    assert (HYPOTHESES.map, HYPOTHESES.map_prediction) == ("h1", "+")
    assert HYPOTHESES.optimal == "-" and HYPOTHESES.prediction == {"+": F(4, 10), "-": F(6, 10)}
    assert (HYPOTHESES.optimal_error, HYPOTHESES.map_error, HYPOTHESES.gibbs_error) == (F(2, 5), F(3, 5), F(12, 25))


@pytest.mark.parametrize("sure", [True, False])
def test_gibbs_errs_at_most_twice_as_often(sure: bool) -> None:
    # Truth: one hypothesis is drawn by its belief, and then a value by what it predicts.
    noisy = {"h1": {"+": "0.9", "-": "0.1"}, "h2": {"-": "0.8", "+": "0.2"}, "h3": {"-": 1}}
    held = HYPOTHESES if sure else Hypotheses({"h1": "0.2", "h2": "0.3", "h3": "0.5"}, noisy)
    rows = 40_000
    rng = Random(5)
    names = rng.choices(list(held.beliefs), [float(b) for b in held.beliefs.values()], k=rows)
    said = [held.predictions[h] for h in names]
    truth = [rng.choices(list(s), [float(p) for p in s.values()])[0] for s in said]
    lot = held.gibbs(rows, seed=1)
    gibbs = sum(a != b for a, b in zip(lot, truth, strict=True)) / rows
    optimal = sum(t != held.optimal for t in truth) / rows
    assert gibbs == pytest.approx(float(held.gibbs_error), abs=0.01)
    assert optimal == pytest.approx(float(held.optimal_error), abs=0.01)
    assert optimal < gibbs <= 2 * optimal
    assert held.gibbs(rows, seed=1) == lot != held.gibbs(rows, seed=2)


def test_bayes_error_of_a_known_joint() -> None:
    j = joint()
    by_hand = sum((min(j.p(A=0, B=b, C=c), j.p(A=1, B=b, C=c)) for b in (0, 1) for c in (0, 1)), F(0))
    assert bayes_error(j, "A") == by_hand == F(5 + 5 + 10 + 5, 100)
    # No rule from B, C to A does better, by simulation of all sixteen.
    drawn = j.sample(20_000, seed=0)
    truth, place = np.array(drawn["A"]), 2 * np.array(drawn["B"]) + np.array(drawn["C"])
    errors = [np.mean(np.array([rule >> k & 1 for k in range(4)])[place] != truth) for rule in range(16)]
    assert min(errors) == pytest.approx(float(by_hand), abs=0.01)


def test_the_most_likely_line_under_gaussian_noise_is_the_least_squares_line() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    y = 2 * x + 1 + rng.normal(size=60)
    line = likely.regress({"x": x, "y": y}, "y")

    def log_likelihood(slope: float, constant: float) -> float:
        return float(-0.5 * np.sum((y - slope * x - constant) ** 2))

    best = log_likelihood(line.weights[0].weight, line.constant)
    for slope, constant in rng.normal(scale=0.2, size=(200, 2)):
        assert log_likelihood(line.weights[0].weight + slope, line.constant + constant) < best
