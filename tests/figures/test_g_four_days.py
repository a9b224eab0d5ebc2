"""Figure G, Four days: three attributes, a pseudo-count on the attributes but not on the prior, and decimal logs."""

from __future__ import annotations

from fractions import Fraction as F
from pathlib import Path

import pytest

import likely

QUERY = {"sky": "rainy", "temp": "warm", "humid": "normal"}


@pytest.fixture(scope="module")
def summary(examples: Path) -> likely.Summary:
    unused = dict.fromkeys(["wind", "water", "forecast"], "ignore")
    return likely.summarize(examples / "four_days.csv", target="play", types=unused)


def chance(model: likely.Model, attribute: str, level: str, label: str) -> F:
    (step,) = [s for s in model.working({attribute: level}).steps if s.name == attribute]
    return step.values[label].value


def test_the_prior_is_not_smoothed(summary: likely.Summary) -> None:
    for learner in (likely.NaiveBayes(pseudo_count=0), likely.NaiveBayes(pseudo_count=1)):
        assert learner.learn(summary).working({}).products == {"no": F(1, 4), "yes": F(3, 4)}


def test_without_smoothing(summary: likely.Summary) -> None:
    model = likely.NaiveBayes(pseudo_count=0).learn(summary)
    assert chance(model, "sky", "sunny", "yes") == 1
    assert chance(model, "humid", "high", "yes") == F(2, 3)
    assert chance(model, "sky", "sunny", "no") == 0
    assert chance(model, "humid", "high", "no") == 1


def test_with_a_pseudo_count_of_one(summary: likely.Summary) -> None:
    model = likely.NaiveBayes(pseudo_count=1).learn(summary)
    assert chance(model, "sky", "sunny", "yes") == F(4, 5)
    assert chance(model, "sky", "sunny", "no") == F(1, 3)
    assert chance(model, "humid", "high", "yes") == F(3, 5)
    assert chance(model, "humid", "high", "no") == F(2, 3)
    assert chance(model, "temp", "warm", "yes") == F(4, 5)
    assert chance(model, "temp", "warm", "no") == F(1, 3)


def test_decimal_logs(summary: likely.Summary) -> None:
    model = likely.NaiveBayes(pseudo_count=1).learn(summary)
    working = model.working(QUERY)
    assert working.log10["yes"] == pytest.approx(-1.319, abs=5e-4)
    assert working.log10["no"] == pytest.approx(-1.732, abs=5e-4)
    assert working.products == {"yes": F(6, 125), "no": F(1, 54)}
    assert working.best == model.predict(QUERY) == "yes"
