"""Every finite double has a finite score, however far it is from all that training had, and the right class wins.

docs/decisions/0110. What exports make of such rows is in tests/conformance, the page in tests/page.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import likely

MOST = float(np.finfo(np.float64).max)
FAR = [s * v for v in (1e9, 1e99, 1e101, 1e150, 1e154, 1e200, 1e308, MOST) for s in (1.0, -1.0)]
DENSITIES: dict[str, Any] = {
    "normal": likely.NaiveBayes(),
    "kernel": likely.NaiveBayes(numbers="kernel"),
    "block": likely.NaiveBayes(blocks=(("x", "z"),)),
    "tempered": likely.NaiveBayes(temperature="auto"),
    "full": likely.FullBayes(),
}
OTHERS: dict[str, Any] = {
    "default": None,
    "binned": likely.NaiveBayes(numbers="binned"),
    "pooled": likely.LinearDiscriminant(),
    "tree": likely.TreeAugmented(),
    "one dependence": likely.OneDependence(),
    "least squares": likely.LeastSquares(),
    "logistic": likely.Logistic(),
    "neighbors": likely.Neighbors(),
}


def table(rows: int = 120) -> dict[str, list[Any]]:
    """Class b is spread over more than class a, in both columns."""
    rng = np.random.default_rng(5)
    group = np.arange(rows) % 3 == 0
    x = rng.normal(size=rows) * np.where(group, 7.0, 1.0)
    z = rng.normal(size=rows) * np.where(group, 2.0, 1.0) + x / 2
    return {"x": x.tolist(), "z": z.tolist(), "y": np.where(group, "b", "a").tolist()}


@pytest.mark.parametrize("name", DENSITIES)
def test_far_away_the_class_of_the_largest_spread_wins(name: str) -> None:
    model = likely.fit(table(), "y", DENSITIES[name], types={"x": "number", "z": "number"})
    for columns in ({"x": FAR}, {"x": FAR, "z": [0.3] * len(FAR)}, {"x": FAR, "z": FAR}):
        found = model.posterior(columns)
        assert not found.undefined.any() and np.isfinite(found.log_evidence).all()
        assert found.matrix.tolist() == [[0.0, 1.0]] * len(FAR)


@pytest.mark.parametrize("name", OTHERS)
def test_other_models_have_an_answer_too(name: str) -> None:
    model = likely.fit(table(), "y", OTHERS[name], types={"x": "number", "z": "number"})
    for columns in ({"x": FAR}, {"x": FAR, "z": [0.3] * len(FAR)}, {"x": FAR, "z": FAR}):
        found = model.posterior(columns)
        assert not found.undefined.any()
        assert np.allclose(found.matrix.sum(axis=1), 1.0)


@pytest.mark.parametrize("numbers", ["gaussian", "kernel"])
def test_a_density_never_rises_with_the_distance(numbers: Any) -> None:
    model = likely.fit(table(), "y", likely.NaiveBayes(numbers=numbers), types={"x": "number", "z": "number"})
    for side in (1.0, -1.0):
        x = (side * 10.0 ** np.arange(2, 308.25, 0.25)).tolist()
        (batch,) = model.batches({"x": [*x, side * MOST]})
        logs = model.log_joint(batch)
        assert np.isfinite(logs).all() and (np.diff(logs, axis=0) <= 0).all()


def test_short_of_the_limit_it_is_the_density_itself() -> None:
    x = table()["x"]
    model = likely.fit({"x": x}, learner=likely.Density(), types={"x": "number"})
    mean, sd = float(np.mean(x)), float(np.std(x, ddof=1))
    assert float(model.log_density({"x": 1e99})) == pytest.approx(-0.5 * ((1e99 - mean) / sd) ** 2)


def test_other_evidence_still_counts() -> None:
    data = {**table(), "level": ["p", "q", "p", "p"] * 30}
    data["level"] = [
        "never in b" if y == "a" and k % 2 else v for k, (v, y) in enumerate(zip(data["level"], data["y"], strict=True))
    ]
    model = likely.fit(data, "y", likely.NaiveBayes(pseudo_count=0), types={"x": "number", "z": "number"})
    assert model.posterior({"x": 1e308, "level": "never in b"}).matrix.tolist() == [[1.0, 0.0]]


def test_rows_of_training_may_be_far_away() -> None:
    data = table()
    for x in (1e160, 1e308, MOST):
        model = likely.fit(
            {**data, "x": [x, *data["x"][1:]]}, "y", likely.NaiveBayes(), types={"x": "number", "z": "number"}
        )
        found = model.posterior({"x": [x, -MOST, 0.0, 1.0], "z": [1.0, None, 0.0, -1e308]})
        assert not found.undefined.any() and not np.isnan(found.matrix).any()


def test_terms_of_far_values_add_up_and_are_explained() -> None:
    model = likely.fit(table(), "y", likely.NaiveBayes(), types={"x": "number", "z": "number"})
    (batch,) = model.batches({"x": [1e308], "z": [-MOST]})
    terms = model.terms(batch)
    assert np.isfinite(terms.array).all()
    assert terms.array.sum(axis=1).tolist() == model.log_joint(batch).tolist()
    assert "b" in str(likely.explain(model, {"x": 1e308}))


def test_the_class_that_takes_the_place_of_scikit_learns_has_an_answer_too() -> None:
    pytest.importorskip("sklearn")
    from likely.sklearn import GaussianNB

    data = table()
    X = np.column_stack([data["x"], data["z"]])
    found = GaussianNB().fit(X, data["y"]).predict_proba(np.array([[1e308, 0.0], [-MOST, MOST]]))
    assert found.tolist() == [[0.0, 1.0]] * 2
