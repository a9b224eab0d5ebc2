"""Beside scikit-learn and scipy, where definitions agree: quadratic and linear discriminants, densities, marginals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.covariance import EmpiricalCovariance
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

import likely
from likely import Density, FullBayes, LinearDiscriminant

FLOOR = 1e-12
DATA = {"iris": load_iris, "wine": load_wine}


def named(x: Any) -> dict[str, Any]:
    return {f"x{k}": x[:, k] for k in range(x.shape[1])}


def fitted(x: Any, y: Any, learner: Any, weight: Any = None) -> likely.Model:
    table = {**named(x), **({} if y is None else {"y": y}), **({} if weight is None else {"w": weight})}
    types = dict.fromkeys(named(x), "number")
    return likely.fit(table, None if y is None else "y", learner, types=types, weight=None if weight is None else "w")


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_quadratic_discriminant(name: str) -> None:
    x, y = DATA[name](return_X_y=True)
    theirs = QuadraticDiscriminantAnalysis(store_covariance=True).fit(x, y)
    # Older versions divide by n - 1, newer ones by n: the definition is read off their first entry.
    unbiased = np.isclose(theirs.covariance_[0][0, 0], x[y == 0, 0].var(ddof=1), rtol=1e-9)
    ours = fitted(x, y, FullBayes(variance="unbiased" if unbiased else "ml", variance_floor=FLOOR))
    np.testing.assert_allclose(ours.joint.covariance, theirs.covariance_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.joint.mean, theirs.means_, rtol=1e-13)
    np.testing.assert_allclose(ours.posterior(named(x)).matrix, theirs.predict_proba(x), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("variance", ["unbiased", "ml"])
def test_covariances_with_either_divisor(variance: str) -> None:
    x, y = load_wine(return_X_y=True)
    ours = fitted(x, y, FullBayes(variance=variance))
    for c in range(3):
        expected = np.cov(x[y == c].T, ddof=variance == "unbiased")
        np.testing.assert_allclose(ours.joint.covariance[c], expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_linear_discriminant(name: str) -> None:
    x, y = DATA[name](return_X_y=True)
    theirs = LinearDiscriminantAnalysis(solver="lsqr", store_covariance=True).fit(x, y)  # divides by n
    ours = fitted(x, y, LinearDiscriminant(variance="ml", variance_floor=FLOOR))
    np.testing.assert_allclose(ours.joint.covariance[0], theirs.covariance_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.posterior(named(x)).matrix, theirs.predict_proba(x), rtol=1e-6, atol=1e-12)


def test_the_hyperplane_is_that_of_scikit_learn() -> None:
    x, y = load_iris(return_X_y=True)
    x, y = x[50:], y[50:]
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(x, y)
    model = fitted(x, y, LinearDiscriminant(variance="ml"))
    plane = model.plane_between(model.classes[1], model.classes[0])
    np.testing.assert_allclose([weight for _, _, weight in plane.weights], theirs.coef_[0], rtol=1e-9)
    assert plane.constant == pytest.approx(theirs.intercept_[0], rel=1e-9)


def test_density_and_its_marginals() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(80, 4)) @ rng.normal(size=(4, 4)) * [1, 10, 0.1, 5] + [3, 0, -2, 100]
    ours = fitted(x, None, Density(variance="ml", variance_floor=FLOOR))
    mean, covariance = x.mean(axis=0), EmpiricalCovariance().fit(x).covariance_
    np.testing.assert_allclose(ours.joint.covariance[0], covariance, rtol=1e-10)
    asked = x + rng.normal(size=x.shape)
    asked[rng.random(x.shape) < 0.4] = np.nan
    found = ours.log_density(named(asked))
    for row, value in zip(asked, found, strict=True):
        there = np.flatnonzero(~np.isnan(row))
        if len(there):
            part = multivariate_normal(mean[there], covariance[np.ix_(there, there)])
            assert value == pytest.approx(part.logpdf(row[there]), rel=1e-9)
        else:
            assert value == 0


def test_weights_are_repetitions() -> None:
    rng = np.random.default_rng(6)
    x, weight = rng.normal(size=(50, 3)), rng.integers(1, 4, 50)
    y = np.arange(50) % 2
    ours = fitted(x, y, FullBayes(), weight)
    for c in (0, 1):
        expected = np.cov(np.repeat(x[y == c], weight[y == c], axis=0).T)
        np.testing.assert_allclose(ours.joint.covariance[c], expected, rtol=1e-12)


def test_pairwise_covariances_are_exact_before_they_are_rounded() -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(size=(40, 3)) + 1e6
    x[rng.random(x.shape) < 0.2] = np.nan
    found = fitted(x, None, Density())
    assert not found.notes  # nothing had to be mended
    for i in range(3):
        for j in range(3):
            both = ~np.isnan(x[:, i]) & ~np.isnan(x[:, j])
            a, b = ([Fraction(v) for v in x[both, k]] for k in (i, j))
            n = len(a)
            exact = (sum(p * q for p, q in zip(a, b, strict=True)) - sum(a) * sum(b) / n) / (n - 1)
            assert found.joint.covariance[0, i, j] == pytest.approx(float(exact), rel=1e-14)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_pooled_covariance_in_fractions(missing: float) -> None:
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(40, 3)) + 1e6, np.arange(40) % 3
    x[rng.random(x.shape) < missing] = np.nan
    found = fitted(x, y, LinearDiscriminant())
    for i in range(3):
        for j in range(3):
            total, rows = Fraction(0), 0
            for c in range(3):
                both = ~np.isnan(x[:, i]) & ~np.isnan(x[:, j]) & (y == c)
                a, b = ([Fraction(v) for v in x[both, k]] for k in (i, j))
                total += sum(p * q for p, q in zip(a, b, strict=True)) - sum(a) * sum(b) / len(a)
                rows += len(a) - 1
            assert found.joint.covariance[0, i, j] == pytest.approx(float(total / rows), rel=1e-14)


def test_shrinkage_by_the_written_formula() -> None:
    rng = np.random.default_rng(10)
    x = rng.normal(size=(12, 5))
    x[:, 1] += x[:, 0]
    r = np.corrcoef(x.T)
    off = ~np.eye(5, dtype=bool)
    share = min(1, ((1 - r[off] ** 2) ** 2).sum() / 11 / (r[off] ** 2).sum())
    assert 0 < share < 1
    found = fitted(x, None, Density(shrinkage="auto")).joint
    np.testing.assert_allclose(found.correlation[0], np.where(off, (1 - share) * r, 1), rtol=1e-12, atol=1e-15)
    given = fitted(x, None, Density(shrinkage=0.25)).joint
    np.testing.assert_allclose(given.correlation[0], np.where(off, 0.75 * r, 1), rtol=1e-12, atol=1e-15)
