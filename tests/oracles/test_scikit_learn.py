"""Beside scikit-learn, where definitions agree: Gaussian with variance /n, categorical with a pseudo-count, both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.naive_bayes import CategoricalNB, GaussianNB

import likely

TINY = 1e-30


def named(x: Any, prefix: str) -> dict[str, Any]:
    return {f"{prefix}{k}": x[:, k] for k in range(x.shape[1])}


def gaussian(x: Any, y: Any, weight: Any = None) -> likely.Model:
    table = {**named(x, "x"), "y": y}
    types = {name: "number" for name in named(x, "x")} | {"y": "nominal"}
    if weight is not None:
        table["w"] = weight
    learner = likely.NaiveBayes(variance="ml", variance_floor=TINY)
    return likely.fit(table, "y", learner, types=types, weight=None if weight is None else "w")


def log_joint(model: likely.Model, table: dict[str, Any]) -> Any:
    return np.concatenate([model.log_joint(batch) for batch in model.batches(table)])


def random_numbers(seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, 600)
    return rng.normal(size=(600, 7)) * rng.uniform(0.1, 50, 7) + y[:, None] * rng.normal(size=7), y


def data(name: str) -> tuple[Any, Any]:
    if name == "random":
        return random_numbers(1)
    load = {"iris": load_iris, "wine": load_wine, "digits": load_digits}[name]
    x, y = load(return_X_y=True)
    if name == "digits":  # pixels that some class never varies in have no variance to compare
        x = x[:, [k for k in range(x.shape[1]) if min(x[y == c, k].var() for c in range(10)) > 0]]
    return x, y


@pytest.mark.parametrize("name", ["iris", "wine", "digits", "random"])
def test_gaussian(name: str) -> None:
    x, y = data(name)
    theirs = GaussianNB(var_smoothing=TINY).fit(x, y)
    ours = gaussian(x, y)
    assert len(ours.factors) == x.shape[1] > 1
    table = named(x, "x")
    np.testing.assert_allclose(log_joint(ours, table), theirs.predict_joint_log_proba(x), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.posterior(table).matrix, theirs.predict_proba(x), rtol=1e-7, atol=1e-12)
    assert ours.predict(table) == [str(c) for c in theirs.predict(x)]


@pytest.mark.parametrize("seed", range(3))
def test_gaussian_with_weights(seed: int) -> None:
    x, y = random_numbers(seed)
    weight = np.random.default_rng(seed).choice([0.25, 1, 2.5, 7, 0.1], len(y))
    theirs = GaussianNB(var_smoothing=TINY).fit(x, y, sample_weight=weight)
    ours = gaussian(x, y, weight)
    np.testing.assert_allclose(log_joint(ours, named(x, "x")), theirs.predict_joint_log_proba(x), rtol=1e-9, atol=1e-9)


def levels(seed: int, rows: int = 500) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    return np.column_stack([(rng.integers(0, n, rows) * (1 + y)) % n for n in (2, 3, 5, 11)]), y


@pytest.mark.parametrize("alpha", [0.01, 0.5, 1, 10])
@pytest.mark.parametrize("weighted", [False, True])
def test_categorical(alpha: float, weighted: bool) -> None:
    x, y = levels(3)
    weight = np.random.default_rng(0).choice([0.5, 1, 3], len(y)) if weighted else np.ones(len(y))
    sizes = [len(np.unique(column)) for column in x.T]
    theirs = CategoricalNB(alpha=alpha, min_categories=sizes).fit(x, y, sample_weight=weight)
    table = named(x, "x")
    ours = likely.fit(
        {**table, "y": y, "w": weight},
        "y",
        likely.NaiveBayes(pseudo_count=alpha),
        types=dict.fromkeys(table, "nominal"),
        weight="w",
    )
    np.testing.assert_allclose(log_joint(ours, table), theirs.predict_joint_log_proba(x), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours.posterior(table).matrix, theirs.predict_proba(x), rtol=1e-10, atol=1e-13)


def test_mixed_columns_are_both_minus_one_prior() -> None:
    numbers, y = random_numbers(8)
    rng = np.random.default_rng(9)
    nominal = np.column_stack([(rng.integers(0, n, len(y)) + y) % n for n in (3, 6)])
    weight = rng.uniform(0.5, 2, len(y))
    gauss = GaussianNB(var_smoothing=TINY).fit(numbers, y, sample_weight=weight)
    counts = CategoricalNB(alpha=1, min_categories=[3, 6]).fit(nominal, y, sample_weight=weight)
    expected = (
        gauss.predict_joint_log_proba(numbers) + counts.predict_joint_log_proba(nominal) - np.log(gauss.class_prior_)
    )
    table = {**named(numbers, "x"), **named(nominal, "n")}
    types = dict.fromkeys(named(numbers, "x"), "number") | dict.fromkeys(named(nominal, "n"), "nominal")
    learner = likely.NaiveBayes(variance="ml", variance_floor=TINY)
    ours = likely.fit({**table, "y": y, "w": weight}, "y", learner, types=types, weight="w")
    np.testing.assert_allclose(log_joint(ours, table), expected, rtol=1e-10, atol=1e-10)
