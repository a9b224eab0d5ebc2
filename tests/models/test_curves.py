"""Logistic regression with squares, products and bins, and by gradients: the maximum that scikit-learn finds, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import likely
from likely.errors import SettingError
from likely.models.linear import logistic
from likely.models.linear import newton as climbing
from likely.models.shapes import REACH


def numbers(rows: int = 400, seed: int = 0) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(3, rows))
    score = np.stack([x[0] * x[1], x[2] ** 2 - 1, np.zeros(rows)]) + rng.gumbel(size=(3, rows)) / 2
    return {**{f"n{k}": x[k].tolist() for k in range(3)}, "t": [("a", "b", "c")[k] for k in score.argmax(axis=0)]}


@pytest.fixture
def exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(climbing, "LEAST_DECREMENT", 1e-10)


@pytest.mark.usefixtures("exact")
def test_squares_reach_the_maximum_that_scikit_learn_finds() -> None:
    data = numbers()
    model = likely.fit(data, "t", likely.Logistic(numbers="squares", ridge=2.0))
    x = np.stack([data[f"n{k}"] for k in range(3)], axis=1)
    z = np.clip((x - x.mean(axis=0)) / x.std(axis=0), -REACH, REACH)
    columns = [z, z * z, *((z[:, i] * z[:, j])[:, None] for i in range(3) for j in range(i + 1, 3))]
    design = np.concatenate(columns, axis=1)
    scaled = design / design.std(axis=0)
    other = LogisticRegression(C=0.5, tol=1e-10, max_iter=10_000).fit(scaled, data["t"])
    np.testing.assert_allclose(model.posterior(data).matrix, other.predict_proba(scaled), atol=1e-4)


@pytest.mark.usefixtures("exact")
def test_bins_reach_the_maximum_that_scikit_learn_finds() -> None:
    data = numbers()
    model: Any = likely.fit(data, "t", likely.Logistic(numbers="binned", ridge=2.0))
    blocks = [np.searchsorted(part.starts, data[part.name], side="right") for part in model.parts]
    hot = np.concatenate([np.eye(8)[b] for b in blocks], axis=1)
    assert all(np.bincount(b).min() >= 49 for b in blocks)
    other = LogisticRegression(C=0.5, tol=1e-10, max_iter=10_000).fit(hot, data["t"])
    np.testing.assert_allclose(model.posterior(data).matrix, other.predict_proba(hot), atol=1e-4)


@pytest.mark.usefixtures("exact")
def test_steps_by_gradients_end_where_newton_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {**numbers(), "c": [f"l{k % 30}" for k in range(400)]}
    newton = likely.fit(data, "t", likely.Logistic())
    monkeypatch.setattr(logistic, "QUICK", 1)
    steps = likely.fit(data, "t", likely.Logistic(tolerance=1e-10))
    assert steps.search_state()["facts"]["sweeps"] > newton.search_state()["facts"]["sweeps"]
    np.testing.assert_allclose(steps.posterior(data).matrix, newton.posterior(data).matrix, atol=1e-4)


def test_kept_rows_and_sweeps_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {**numbers(), "c": [f"l{k % 5}" for k in range(400)]}
    learner = likely.Logistic(numbers="squares")
    kept = likely.fit(data, "t", learner).posterior(data).matrix
    monkeypatch.setattr(climbing, "KEPT", 0)
    np.testing.assert_array_equal(likely.fit(data, "t", learner).posterior(data).matrix, kept)


def test_many_columns_are_measured_by_the_diagonal(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {**numbers(), "c": [f"l{k % 5}" for k in range(400)]}
    learner = likely.Logistic(numbers="binned")
    whole = likely.fit(data, "t", learner).posterior(data).matrix
    monkeypatch.setattr(climbing, "WIDEST", 3)
    np.testing.assert_allclose(likely.fit(data, "t", learner).posterior(data).matrix, whole, atol=0.01)


@pytest.mark.parametrize("how", ["squares", "binned"])
def test_terms_add_up_missing_cells_are_known_and_files_keep_all(how: Any, tmp_path: Path) -> None:
    data = {**numbers(), "c": [None if k % 7 == 0 else f"l{k % 5}" for k in range(400)]}
    data["n0"] = [None if k % 5 == 0 else v for k, v in enumerate(data["n0"])]
    model = likely.fit(data, "t", likely.Logistic(numbers=how))
    asked = {"n0": [0.5, None, 1e300, np.inf], "n1": [None, 1.0, -1e300, 2.0], "c": ["new", None, "l1", "l2"]}
    (batch,) = model.batches(asked)
    terms = model.terms(batch)
    total = terms.array[:, 0].copy()
    for k in range(1, len(terms.names)):
        total = total + terms.array[:, k]
    np.testing.assert_allclose(total, model.log_joint(batch), atol=1e-12)
    assert set(terms.names[1:-1]) == {"n0", "n1", "n2", "c"}
    np.testing.assert_allclose(model.posterior(asked).matrix.sum(axis=1), 1)
    model.save(tmp_path / "m.likely")
    np.testing.assert_array_equal(
        likely.load(tmp_path / "m.likely").posterior(asked).matrix, model.posterior(asked).matrix
    )
    assert "Weights" in model.exhibits()[0].title


def test_squares_without_ridge_are_refused() -> None:
    with pytest.raises(SettingError, match="needs ridge above 0"):
        likely.Logistic(numbers="squares", ridge=0)
    with pytest.raises(SettingError, match="one of linear, squares, binned"):
        likely.Logistic(numbers="cubes")  # type: ignore[arg-type]
