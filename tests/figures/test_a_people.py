"""Figure A, People: ten rows of nominal cells. Products are exact fractions, and one query cannot be classified."""

from __future__ import annotations

from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pytest

import likely


@pytest.fixture(scope="module")
def summary(examples: Path) -> likely.Summary:
    return likely.summarize(examples / "people.csv", target="sex")


@pytest.fixture(scope="module")
def unsmoothed(summary: likely.Summary) -> likely.Model:
    return likely.NaiveBayes(pseudo_count=0).learn(summary)


def person(height: str, weight: str, hair: str) -> dict[str, str]:
    return {"height": height, "weight": weight, "long_hair": hair}


@pytest.mark.parametrize(
    ("query", "of_m", "of_f", "outcome"),
    [
        (person("t", "l", "y"), F(0), F(1, 6) * F(3, 6) * F(4, 6) * F(6, 10), "f"),
        (person("m", "n", "n"), F(1, 20), F(1, 30), "m"),
        (person("t", "h", "n"), F(1, 10), F(0), "m"),
        (person("t", "h", "y"), F(0), F(0), None),
    ],
)
def test_the_products_without_smoothing(
    unsmoothed: likely.Model, query: dict[str, str], of_m: F, of_f: F, outcome: str | None
) -> None:
    working = unsmoothed.working(query)
    assert working.products == {"f": of_f, "m": of_m}
    assert working.best == outcome == unsmoothed.predict(query)
    total = of_m + of_f
    expected = [float(of_f / total), float(of_m / total)] if total else [0.0, 0.0]
    np.testing.assert_allclose(unsmoothed.posterior(query).matrix, [expected], rtol=1e-14)
    assert list(working.posterior.values()) == unsmoothed.posterior(query).matrix[0].tolist()


def test_the_working_is_written_as_it_was_counted(unsmoothed: likely.Model) -> None:
    text = str(unsmoothed.working(person("t", "l", "y"))).splitlines()
    assert text[1] == "L(f) = 6/10 × 1/6 × 3/6 × 4/6 = 1/30 = 0.03333"
    assert text[2] == "L(m) = 4/10 × 2/4 × 0/4 × 0/4 = 0"


def test_a_row_that_cannot_be_classified_is_said_to_be_so(unsmoothed: likely.Model) -> None:
    query = person("t", "h", "y")
    posterior = unsmoothed.posterior(query)
    assert posterior.undefined.tolist() == [True]
    assert posterior.best is None and posterior.prob("m") == posterior.prob("f") == 0.0
    assert posterior.log_evidence.tolist() == [-np.inf]
    assert "cannot be classified" in repr(posterior)
    assert "cannot be classified" in str(unsmoothed.working(query))


def test_a_pseudo_count_of_one(summary: likely.Summary) -> None:
    model = likely.NaiveBayes(pseudo_count=1).learn(summary)
    heights = {h: model.working({"height": h}).steps[1].values["m"] for h in "smt"}
    assert {h: str(q) for h, q in heights.items()} == {"s": "2/7", "m": "2/7", "t": "3/7"}
    assert sum(q.value for q in heights.values()) == 1


@pytest.mark.parametrize("gamma", [F(0), F(1, 2), F(1), F(3)])
@pytest.mark.parametrize("prior_gamma", [F(0), F(1, 2), F(1)])
def test_prior_and_attributes_are_smoothed_separately(summary: likely.Summary, gamma: F, prior_gamma: F) -> None:
    learner = likely.NaiveBayes(pseudo_count=float(gamma), prior_pseudo_count=float(prior_gamma))
    working = learner.learn(summary).working(person("t", "l", "y"))
    rows, counts = {"m": 4, "f": 6}, {"m": (2, 0, 0), "f": (1, 3, 4)}
    for name, n in rows.items():
        product = (prior_gamma + n) / (prior_gamma * 2 + 10)
        for count, domain in zip(counts[name], (3, 3, 2), strict=True):
            product *= (gamma + count) / (gamma * domain + n)
        assert working.products[name] == product


def test_the_joint_table_cannot_classify_a_row_that_nobody_is(examples: Path) -> None:
    full = likely.fit(examples / "people.csv", "sex", likely.FullBayes(pseudo_count=0))
    posterior = full.posterior(person("t", "l", "y"))
    assert posterior.undefined.tolist() == [True] and posterior.best is None
    assert full.posterior(person("m", "n", "n")).matrix.tolist() == [[pytest.approx(0.5), pytest.approx(0.5)]]
