"""Figure E, the test for cancer: a model learned from rows, its loss, and a prior that differs from training's."""

from __future__ import annotations

from fractions import Fraction as F

import pytest

import likely

LOSS = likely.Loss({"cancer": {"say none": 10}, "none": {"say cancer": 1}})


def people(cancer: int, none: int) -> list[dict[str, object]]:
    """Rows by weight: 98 % of the ill and 3 % of the others test positive."""
    return [
        {"test": "positive", "state": "cancer", "n": 98 * cancer},
        {"test": "negative", "state": "cancer", "n": 2 * cancer},
        {"test": "positive", "state": "none", "n": 3 * none},
        {"test": "negative", "state": "none", "n": 97 * none},
    ]


def learned(cancer: int, none: int, loss: likely.Loss | None = None) -> likely.Model:
    return likely.fit(people(cancer, none), "state", likely.NaiveBayes(pseudo_count=0), weight="n", loss=loss)


def test_the_most_probable_state_and_the_decision_differ() -> None:
    model = learned(8, 992)
    row = {"test": "positive"}
    by_map, by_loss, by_ml = (
        likely.decide(model, row, rule="map"),
        likely.decide(model, row, LOSS),
        likely.decide(model, row, rule="ml"),
    )
    assert by_map.action == "none" and by_ml.action == "cancer"
    assert by_loss.action == "say cancer"
    assert by_loss.posterior.prob("cancer") == pytest.approx(0.2085, abs=5e-5)
    evidence = F("0.00784") + F("0.02976")
    assert by_loss.expected_loss("say cancer") == pytest.approx(float(F("0.02976") / evidence), abs=1e-14)
    assert by_loss.expected_loss("say none") == pytest.approx(float(F("0.0784") / evidence), abs=1e-14)
    assert by_loss.margin == pytest.approx(float((F("0.0784") - F("0.02976")) / evidence), abs=1e-14)


def test_a_model_of_half_and_half_decides_the_same_once_it_is_told_the_prior() -> None:
    model = learned(500, 500, LOSS)
    told = likely.decide(model, {"test": "positive"}, prior={"cancer": 0.008})
    assert told.posterior.prob("cancer") == pytest.approx(float(F("0.00784") / F("0.0376")), abs=1e-14)
    assert told.action == "say cancer"
    assert likely.decide(model, {"test": "positive"}, rule="map", prior={"cancer": 0.008}).action == "none"
    assert likely.decide(model, {"test": "positive"}, rule="map").action == "cancer"


def test_the_test_is_worth_making() -> None:
    """Without it, to say none costs 0.08 a person; with it 0.02976 (say cancer) or 10 * 0.00016 (say none)."""
    (question,) = likely.ask(learned(8, 992), {}, LOSS).questions
    assert question.drop == pytest.approx(0.08 - 0.02976 - 0.0016, abs=1e-14)
