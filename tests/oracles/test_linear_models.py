"""Least squares and logistic regression beside scikit-learn and numpy, where the definitions agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

import likely


def named(x: Any, prefix: str = "x") -> dict[str, Any]:
    return {f"{prefix}{k}": x[:, k] for k in range(x.shape[1])}


def fitted(x: Any, y: Any, learner: Any, weight: Any = None) -> likely.Model:
    table = {**named(x), "y": y, **({} if weight is None else {"w": weight})}
    types = dict.fromkeys(named(x), "number") | {"y": "nominal"}
    return likely.fit(table, "y", learner, types=types, weight=None if weight is None else "w")


def outputs(model: Any, table: dict[str, Any]) -> Any:
    return np.concatenate([model.score.outputs.scored(batch)[0] for batch in model.batches(table)])


def data(name: str) -> tuple[Any, Any]:
    if name == "pair":
        x, y = load_iris(return_X_y=True)
        return x[y > 0], y[y > 0]
    return {"iris": load_iris, "wine": load_wine}[name](return_X_y=True)  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", ["iris", "wine", "pair"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 3.0])
def test_multi_response(name: str, weighted: bool, ridge: float) -> None:
    x, y = data(name)
    weight = np.random.default_rng(0).choice([0.1, 1.0, 3.0, 2.5], len(y)) if weighted else None
    classes = np.unique(y)
    z = StandardScaler().fit(x, sample_weight=weight).transform(x)
    theirs = (Ridge(ridge, solver="svd") if ridge else LinearRegression()).fit(
        z, (y[:, None] == classes).astype(float), sample_weight=weight
    )
    ours = fitted(x, y, likely.LeastSquares(ridge=ridge), weight)
    np.testing.assert_allclose(outputs(ours, named(x)), theirs.predict(z), rtol=1e-9, atol=1e-11)
    assert ours.predict(named(x)) == [str(classes[k]) for k in theirs.predict(z).argmax(axis=1)]


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_pairwise(name: str) -> None:
    x, y = data(name)
    ours = fitted(x, y, likely.LeastSquares(mode="pairwise"))
    found = outputs(ours, named(x))
    for k, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        some = (y == a) | (y == b)
        theirs = LinearRegression().fit(x[some], np.where(y[some] == a, 1.0, -1.0))
        np.testing.assert_allclose(found[:, k], theirs.predict(x), rtol=1e-9, atol=1e-10)


def mixed(seed: int, rows: int = 400) -> tuple[dict[str, Any], Any, Any]:
    """Numbers with holes and levels, and the design written out by hand: all levels, and an indicator of each hole."""
    rng = np.random.default_rng(seed)
    colour, shape = rng.choice(["red", "green", "blue"], rows, p=[0.5, 0.3, 0.2]), rng.choice(["u", "v"], rows)
    x, z = rng.normal(50, 3, rows), rng.normal(size=rows)
    x[rng.random(rows) < 0.15] = np.nan
    score = np.where(np.isnan(x), 0.5, (x - 50) / 3) + (colour == "red") - z * (shape == "u")
    y = np.digitize(score + rng.logistic(size=rows), [-0.5, 1.0])
    there = ~np.isnan(x)
    filled = np.where(there, x, x[there].mean())
    columns = [filled / filled[there].std(), ~there, z / z.std()]
    columns += [colour == c for c in ("blue", "green", "red")] + [shape == s for s in "uv"]
    return {"x": x, "z": z, "colour": colour, "shape": shape}, np.column_stack(columns).astype(float), y


def test_multi_response_of_mixed_columns_is_the_minimum_norm_solution() -> None:
    table, design, y = mixed(1)
    model = likely.fit({**table, "y": y}, "y", likely.LeastSquares(), types={"x": "number", "z": "number"})
    centred = design - design.mean(axis=0)
    # The mean of a number with holes is that of the cells that are there, so its column has mean 0 already.
    target = np.eye(3)[y]
    weights, *_ = np.linalg.lstsq(centred, target - target.mean(axis=0), rcond=1e-10)
    np.testing.assert_allclose(outputs(model, table), centred @ weights + target.mean(axis=0), rtol=1e-9, atol=1e-11)
    shown = {row[0]: row[1:] for row in model.exhibits()[0].rows}
    np.testing.assert_allclose(shown["colour = red"], weights[5], rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(shown["z"], weights[2] / np.std(table["z"]), rtol=1e-8)


@pytest.mark.parametrize("name", ["iris", "wine", "pair"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ridge", [1.0, 0.01])
def test_logistic_with_ridge(name: str, weighted: bool, ridge: float) -> None:
    x, y = data(name)
    weight = np.random.default_rng(1).choice([0.5, 1.0, 3.0], len(y)) if weighted else None
    z = StandardScaler().fit(x, sample_weight=weight).transform(x)
    # Two classes: the weights are opposite halves of scikit-learn's one vector, so their squares add up to half.
    strength = (2 if len(np.unique(y)) == 2 else 1) / ridge
    theirs = LogisticRegression(C=strength, tol=1e-12, max_iter=10_000, solver="newton-cholesky")
    theirs.fit(z, y, sample_weight=weight)
    ours = fitted(x, y, likely.Logistic(ridge=ridge), weight)
    np.testing.assert_allclose(ours.posterior(named(x)).matrix, theirs.predict_proba(z), atol=1e-6)
    if len(ours.classes) > 2:
        np.testing.assert_allclose(ours.weights[1:].T, theirs.coef_, atol=1e-6)
    else:
        np.testing.assert_allclose(ours.weights[1:, 1] - ours.weights[1:, 0], theirs.coef_[0], atol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_logistic_of_mixed_columns(classes: int, ridge: float) -> None:
    table, design, y = mixed(2, 900)
    y = np.minimum(y, classes - 1)
    design = design[:, [0, 1, 2, 3, 4, 7 if (table["shape"] == "u").mean() >= 0.5 else 6]]  # red is the most frequent
    strength = np.inf if ridge == 0 else (2 if classes == 2 else 1) / ridge
    theirs = LogisticRegression(C=strength, tol=1e-12, max_iter=10_000, solver="newton-cholesky").fit(design, y)
    learner = likely.Logistic(ridge=ridge, missing="level")
    ours = likely.fit({**table, "y": y}, "y", learner, types={"x": "number", "z": "number"})
    assert ours.notes == ()
    np.testing.assert_allclose(ours.posterior(table).matrix, theirs.predict_proba(design), atol=1e-6)


def test_regression() -> None:
    x, y = load_diabetes(return_X_y=True)
    weight = np.random.default_rng(0).choice([1.0, 2.0, 0.5], len(y))
    types = dict.fromkeys(named(x), "number")
    theirs = LinearRegression().fit(x, y, sample_weight=weight)
    ours = likely.regress({**named(x), "y": y, "w": weight}, "y", types=types, weight="w")
    np.testing.assert_allclose(ours.predict(named(x)), theirs.predict(x), rtol=1e-10)
    np.testing.assert_allclose([w.weight for w in ours.weights], theirs.coef_, rtol=1e-9)
    assert ours.constant == pytest.approx(theirs.intercept_) and ours.r2 == pytest.approx(theirs.score(x, y, weight))
    ridge = likely.regress({**named(x), "y": y}, "y", types=types, ridge=2.0)
    z = StandardScaler().fit_transform(x)
    # Weights are held back in standard units of the target too, which scales errors and weights alike.
    np.testing.assert_allclose(ridge.predict(named(x)), Ridge(2.0, solver="svd").fit(z, y).predict(z), rtol=1e-10)


def test_standard_errors_of_a_regression() -> None:
    x, y = load_diabetes(return_X_y=True)
    line = stats.linregress(x[:, 2], y)
    found = likely.regress({"x": x[:, 2], "y": y}, "y", types={"x": "number"})
    assert found.weights[0].error == pytest.approx(line.stderr, rel=1e-12)
    full = likely.regress({**named(x), "y": y}, "y", types=dict.fromkeys(named(x), "number"))
    design = np.column_stack([np.ones(len(y)), x])
    left = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    expected = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * (left @ left) / (len(y) - 11))
    np.testing.assert_allclose([w.error for w in full.weights], expected[1:], rtol=1e-8)
    assert full.residual == pytest.approx(np.sqrt(left @ left / (len(y) - 11)))
