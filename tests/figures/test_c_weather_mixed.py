"""Figure C, Weather with numeric temperature and humidity: means, deviations, densities, and a mixed product."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likely

DAY = {"outlook": "sunny", "temperature": 66, "humidity": 90, "windy": "true"}
YES = {"temperature": [83, 70, 68, 64, 69, 75, 75, 72, 81], "humidity": [86, 96, 80, 65, 70, 80, 70, 90, 75]}
NO = {"temperature": [85, 80, 65, 72, 71], "humidity": [85, 90, 70, 95, 91]}


@pytest.fixture(scope="module")
def summary(examples: Path) -> likely.Summary:
    return likely.summarize(examples / "weather_mixed.csv", target="play")


@pytest.fixture(scope="module")
def model(summary: likely.Summary) -> likely.Model:
    return likely.NaiveBayes(pseudo_count=0).learn(summary)


def factor(model: likely.Model, name: str) -> Any:
    (found,) = [f for f in model.factors if f.name == name]
    return found


@pytest.mark.parametrize(
    ("name", "label", "mean", "deviation"),
    [
        ("temperature", "yes", 73.0, 6.16),
        ("temperature", "no", 74.6, 7.89),
        ("humidity", "yes", 79.11, 10.22),
        ("humidity", "no", 86.2, 9.73),
    ],
)
def test_mean_and_deviation(model: likely.Model, name: str, label: str, mean: float, deviation: float) -> None:
    normal, k = factor(model, name), model.classes.index(label)
    assert normal.mean[k] == pytest.approx(mean, abs=0.005)
    assert normal.deviation[k] == pytest.approx(deviation, abs=0.005)


@pytest.mark.parametrize(("variance", "fewer"), [("unbiased", 1), ("ml", 0)])
def test_the_two_estimators_of_variance(summary: likely.Summary, variance: str, fewer: int) -> None:
    model = likely.NaiveBayes(variance=variance).learn(summary)
    for name in ("temperature", "humidity"):
        for label, values in (("yes", YES[name]), ("no", NO[name])):
            found = factor(model, name).deviation[model.classes.index(label)]
            assert found == pytest.approx(float(np.std(values, ddof=fewer)), rel=1e-14)


def test_densities(model: likely.Model) -> None:
    steps = {s.name: s for s in model.working(DAY).steps}
    assert steps["temperature"].values["yes"] == pytest.approx(0.03396, abs=5e-6)
    assert steps["humidity"].values["yes"] == pytest.approx(0.02213, abs=5e-6)
    # The text prints 0.0291 where its own mean and deviation give 0.0279.
    assert steps["temperature"].values["no"] == pytest.approx(0.0279, abs=5e-5)


def test_the_mixed_product(model: likely.Model) -> None:
    working = model.working(DAY)
    assert working.products["yes"] == pytest.approx(3.579e-5, abs=5e-9)
    assert working.products["no"] == pytest.approx(1.3635e-4, abs=5e-9)
    assert model.posterior(DAY).prob("yes") == pytest.approx(0.2079, abs=5e-5)
    assert working.posterior["yes"] == model.posterior(DAY).prob("yes")
    assert working.line("yes") == "9/14 × 2/9 × 0.03396 × 0.02213 × 3/9 = 3.579e-05"


def test_the_width_around_a_number_cancels(model: likely.Model) -> None:
    # P(c - e/2 < x < c + e/2) is about e * f(c); with any small e the posterior is the same.
    steps = {s.name: s for s in model.working(DAY).steps}

    def below(x: float, name: str, k: int) -> float:
        normal = factor(model, name)
        return 0.5 * math.erfc((normal.mean[k] - x) / (normal.deviation[k] * math.sqrt(2)))

    for width in (0.1, 0.01):
        joint = []
        for k, label in enumerate(model.classes):
            product = float(steps[""].values[label]) * float(steps["outlook"].values[label])
            product *= float(steps["windy"].values[label])
            for name, x in (("temperature", 66), ("humidity", 90)):
                inside = below(x + width / 2, name, k) - below(x - width / 2, name, k)
                assert inside == pytest.approx(width * steps[name].values[label], rel=1e-4)
                product *= inside
            joint.append(product)
        assert joint[1] / sum(joint) == pytest.approx(0.2079, abs=5e-5)
