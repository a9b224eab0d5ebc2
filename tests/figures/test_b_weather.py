"""Figure B, Weather with nominal attributes: a missing cell, m-estimates, and a level that no class `no` has."""

from __future__ import annotations

from fractions import Fraction as F
from pathlib import Path

import pytest

import likely

DAY = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": "true"}
TABLES = {
    "outlook": {"sunny": (2, 3), "overcast": (4, 0), "rainy": (3, 2)},
    "temperature": {"hot": (2, 2), "mild": (4, 2), "cool": (3, 1)},
    "humidity": {"high": (3, 4), "normal": (6, 1)},
    "windy": {"false": (6, 2), "true": (3, 3)},
}


@pytest.fixture(scope="module")
def summary(examples: Path) -> likely.Summary:
    return likely.summarize(examples / "weather.csv", target="play")


@pytest.fixture(scope="module")
def unsmoothed(summary: likely.Summary) -> likely.Model:
    return likely.NaiveBayes(pseudo_count=0).learn(summary)


def quotients(model: likely.Model, attribute: str, level: str) -> dict[str, object]:
    """P(level | class) as the working shows it."""
    (step,) = [s for s in model.working({attribute: level}).steps if s.name == attribute]
    return dict(step.values)


def test_the_tables(unsmoothed: likely.Model) -> None:
    assert {c: str(q) for c, q in unsmoothed.working({}).steps[0].values.items()} == {"no": "5/14", "yes": "9/14"}
    for attribute, levels in TABLES.items():
        for level, (yes, no) in levels.items():
            found = quotients(unsmoothed, attribute, level)
            assert {c: str(q) for c, q in found.items()} == {"no": f"{no}/5", "yes": f"{yes}/9"}


def test_a_sunny_cool_humid_windy_day(unsmoothed: likely.Model) -> None:
    working = unsmoothed.working(DAY)
    assert working.products == {"yes": F(1, 189), "no": F(18, 875)}
    assert float(working.products["yes"]) == pytest.approx(0.005291, abs=5e-7)
    assert float(working.products["no"]) == pytest.approx(0.020571, abs=5e-7)
    posterior = unsmoothed.posterior(DAY)
    assert posterior.prob("yes") == pytest.approx(0.2046, abs=5e-5)
    assert posterior.prob("no") == pytest.approx(0.7954, abs=5e-5)
    assert posterior.best == "no"
    assert working.line("yes") == "9/14 × 2/9 × 3/9 × 3/9 × 3/9 = 1/189 = 0.005291"


def test_the_outlook_is_missing(unsmoothed: likely.Model) -> None:
    day = {k: v for k, v in DAY.items() if k != "outlook"}
    working = unsmoothed.working(day)
    assert float(working.products["yes"]) == pytest.approx(0.0238, abs=5e-5)
    assert float(working.products["no"]) == pytest.approx(0.0343, abs=5e-5)
    assert working.products == {"yes": F(1, 42), "no": F(6, 175)}
    assert working.posterior["yes"] == pytest.approx(0.41, abs=0.005)
    assert working.posterior["no"] == pytest.approx(0.59, abs=0.005)
    assert working.notes == ("'outlook' is missing: left out.",)
    assert unsmoothed.posterior({**day, "outlook": None}).matrix.tolist() == unsmoothed.posterior(day).matrix.tolist()


@pytest.mark.parametrize("mu", [F(1), F(3), F(1, 2), F(0)])
def test_m_estimate_with_equal_weights(summary: likely.Summary, mu: F) -> None:
    model = likely.NaiveBayes(m_estimate=float(mu)).learn(summary)
    for level, count in {"sunny": 2, "overcast": 4, "rainy": 3}.items():
        value = quotients(model, "outlook", level)["yes"].value
        assert value == (count + mu / 3) / (9 + mu)


@pytest.mark.parametrize("mu", [1.0, 6.0])
def test_m_estimate_with_unequal_weights(summary: likely.Summary, mu: float) -> None:
    weights = {"sunny": 0.5, "overcast": 0.3, "rainy": 0.2}
    model = likely.NaiveBayes(m_estimate=mu, level_weights={"outlook": weights}).learn(summary)
    for level, count in {"sunny": 2, "overcast": 4, "rainy": 3}.items():
        share = F(str(weights[level]))
        assert quotients(model, "outlook", level)["yes"].value == (count + F(mu) * share) / (9 + F(mu))
    # An attribute for which no weights are given shares equally.
    assert quotients(model, "windy", "true")["yes"].value == (3 + F(mu) / 2) / (9 + F(mu))


def test_a_pseudo_count_is_an_m_estimate_with_equal_weights(summary: likely.Summary) -> None:
    by_pseudo_count = likely.NaiveBayes(pseudo_count=2).learn(summary)
    by_m_estimate = likely.NaiveBayes(m_estimate=6).learn(summary)
    for level in TABLES["outlook"]:
        one, two = (quotients(m, "outlook", level) for m in (by_pseudo_count, by_m_estimate))
        assert {c: q.value for c, q in one.items()} == {c: q.value for c, q in two.items()}


@pytest.mark.parametrize("temperature", ["hot", "mild", "cool"])
@pytest.mark.parametrize("humidity", ["high", "normal"])
@pytest.mark.parametrize("windy", ["false", "true", None])
def test_overcast_rules_no_out(unsmoothed: likely.Model, temperature: str, humidity: str, windy: str | None) -> None:
    day = {"outlook": "overcast", "temperature": temperature, "humidity": humidity, "windy": windy}
    assert unsmoothed.posterior(day).prob("no") == 0.0
    assert unsmoothed.posterior(day).prob("yes") == 1.0


def test_overcast_does_not_rule_no_out_with_smoothing(summary: likely.Summary) -> None:
    assert likely.NaiveBayes(pseudo_count=1).learn(summary).posterior({"outlook": "overcast"}).prob("no") > 0
