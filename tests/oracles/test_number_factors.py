"""Kernel densities beside scipy's, bins beside scikit-learn's: where the definitions agree, so do the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gaussian_kde, norm
from sklearn.preprocessing import KBinsDiscretizer

import likely
from likely.models.factors.kernel import KernelDensity, log_likelihood_left_out

NB = likely.NaiveBayes


def two_classes(seed: int, rounded: int | None = None) -> tuple[Any, list[str]]:
    rng = np.random.default_rng(seed)
    x = np.concatenate([rng.normal(size=300), rng.gamma(2, 2, 200), rng.normal(-7, 0.1, 40)])
    return (x if rounded is None else x.round(rounded)), ["a"] * 300 + ["b"] * 240


def log_densities(model: likely.Model, x: Any) -> Any:
    (batch,) = model.batches({"x": x})
    return model.terms(batch).array[:, 1]


@pytest.mark.parametrize("bandwidth", ["scott", "silverman", 0.25])
@pytest.mark.parametrize("rounded", [None, 1])
def test_densities_are_those_of_scipy(bandwidth: Any, rounded: int | None) -> None:
    x, y = two_classes(1, rounded)
    model = likely.fit({"x": x, "y": y}, "y", NB(numbers="kernel", bandwidth=bandwidth), types={"x": "number"})
    asked = np.concatenate([np.linspace(-12, 20, 700), x[::7]])
    ours = log_densities(model, asked)
    for k, name in enumerate(model.classes):
        theirs = gaussian_kde(x[np.array(y) == name], bandwidth)
        np.testing.assert_allclose(ours[:, k], theirs.logpdf(asked), rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(model.factors[0].bandwidth[k] ** 2, theirs.covariance[0, 0], rtol=1e-12)


def test_weighted_densities_are_those_of_scipy() -> None:
    x, y = two_classes(2, 1)
    weight = np.random.default_rng(0).choice([0.5, 1, 3], len(y))
    table = {"x": x, "y": y, "w": weight}
    model = likely.fit(table, "y", NB(numbers="kernel"), weight="w", types={"x": "number"})
    asked = np.linspace(-12, 20, 300)
    ours = log_densities(model, asked)
    for k, name in enumerate(model.classes):
        own = np.array(y) == name
        # scipy counts rows by their effective number, we by their weight, so that weight 2 is the row twice.
        theirs = gaussian_kde(x[own], 1.0, weights=weight[own])
        theirs.set_bandwidth(model.factors[0].bandwidth[k] / np.sqrt(theirs.covariance[0, 0]))
        np.testing.assert_allclose(ours[:, k], theirs.logpdf(asked), rtol=1e-11, atol=1e-11)


def test_far_from_every_value_a_density_is_small_and_not_zero() -> None:
    model = likely.fit({"x": [0.0, 1.0, 5.0, 7.0], "y": list("aabb")}, "y", NB(numbers="kernel", bandwidth=1.0))
    width = model.factors[0].bandwidth
    found = log_densities(model, [1000.0])[0]
    # At this distance one kernel is all.
    np.testing.assert_allclose(found, [norm.logpdf(999, scale=width[0]), norm.logpdf(993, scale=width[1])] - np.log(2))


@pytest.mark.parametrize("missing", ["skip", "level"])
def test_every_density_integrates_to_what_is_known(missing: Any) -> None:
    x, y = two_classes(3)
    cells = [None if k % 5 == 0 else v for k, v in enumerate(x.tolist())]
    learner = NB(numbers="kernel", bandwidth="likelihood", missing=missing)
    model = likely.fit({"x": cells, "y": y}, "y", learner)
    gone = np.exp(log_densities(model, [None])[0]) if missing == "level" else np.zeros(2)
    for k in range(2):
        area = quad(lambda v, k=k: np.exp(log_densities(model, [v])[0, k]), -20, 40, limit=400, points=[-7, 0, 3])[0]
        assert area + gone[k] == pytest.approx(1, abs=1e-7)


def test_the_likelihood_left_out_is_that_of_brute_force() -> None:
    rng = np.random.default_rng(4)
    points = np.unique(rng.normal(size=60).round(1))
    weights = rng.choice([0.25, 1, 4], len(points))
    widths = np.array([0.01, 0.1, 0.5, 2.0])
    expected = []
    for width in widths:
        score = 0.0
        for j in range(len(points)):
            others = np.arange(len(points)) != j
            kernels = norm.logpdf(points[j], points[others], width) + np.log(weights[others])
            score += weights[j] * (np.logaddexp.reduce(kernels) - np.log(weights[others].sum()))
        expected.append(score)
    np.testing.assert_allclose(log_likelihood_left_out(widths, points, weights), expected, rtol=1e-12)


@pytest.mark.parametrize("kind", ["one hump", "far apart", "heavy", "huge", "close"])
def test_the_likelihood_left_out_of_many_points_is_that_of_brute_force(kind: str) -> None:
    """Enough points that they are added up by boxes, beside some that nothing reaches and some that outweigh all."""
    rng = np.random.default_rng(5)
    points = np.unique(rng.normal(size=400))
    if kind == "far apart":
        points = np.unique(np.concatenate([points, 1e6 + points[:50], [-1e4, 3e3, 2e9]]))
    weights = rng.choice([0.25, 1, 4], len(points))
    if kind == "heavy":
        weights[[3, 200, -1]] = 1e9
    scale = {"huge": 1e150, "close": 1e-150}.get(kind, 1.0)
    widths = np.array([0.003, 0.05, 0.2, 0.5, 1.0, 4.0])
    apart = np.abs(points[:, None] - points)
    ours = log_likelihood_left_out(widths * scale, points * scale, weights)
    for width, score in zip(widths, ours, strict=True):
        kernels = norm.logpdf(apart, 0, width) - np.log(scale) + np.log(weights)
        np.fill_diagonal(kernels, -np.inf)
        each = np.logaddexp.reduce(kernels, axis=1) - np.log(weights.sum() - weights)
        assert score == pytest.approx(float(weights @ each), rel=1e-10, abs=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
def test_densities_of_many_points_are_those_of_brute_force(weighted: bool) -> None:
    rng = np.random.default_rng(6)
    x = np.concatenate([rng.normal(size=1500), rng.standard_cauchy(500), [1e7]])
    weight = rng.choice([0.001, 1, 1000], len(x)) if weighted else np.ones(len(x))
    table = {"x": x, "y": ["a"] * 1000 + ["b"] * 1001, "w": weight}
    model = likely.fit(table, "y", NB(numbers="kernel"), weight="w")
    asked = np.concatenate([x[::3], np.linspace(-30, 30, 500), [1e7 + 1, 1e8, -1e9]])
    ours = log_densities(model, asked)
    for k, name in enumerate(model.classes):
        own = np.array(table["y"]) == name
        width = model.factors[0].bandwidth[k]
        kernels = norm.logpdf(asked[:, None], x[own], width) + np.log(weight[own])
        theirs = np.logaddexp.reduce(kernels, axis=1) - np.log(weight[own].sum())
        np.testing.assert_allclose(ours[:, k], theirs, rtol=1e-12, atol=1e-12)


def test_the_likeliest_bandwidth_is_the_best_of_a_fine_grid() -> None:
    x, y = two_classes(5)
    model = likely.fit({"x": x, "y": y}, "y", NB(numbers="kernel", bandwidth="likelihood"))
    usual = likely.fit({"x": x, "y": y}, "y", NB(numbers="kernel"))
    factor, plain = model.factors[0], usual.factors[0]
    assert isinstance(factor, KernelDensity) and isinstance(plain, KernelDensity)
    for k, name in enumerate(model.classes):
        own = np.sort(x[np.array(y) == name])
        grid = plain.bandwidth[k] * 2.0 ** np.linspace(-6, 2, 400)
        scores = log_likelihood_left_out(grid, own, np.ones(len(own)))
        assert abs(np.log2(factor.bandwidth[k] / grid[scores.argmax()])) < 1 / 8
    assert factor.bandwidth[1] < plain.bandwidth[1] / 2  # two humps: the rule takes them for one


@pytest.mark.parametrize("count", [2, 5, 10])
@pytest.mark.parametrize("weighted", [False, True])
def test_edges_are_those_of_scikit_learn(count: int, weighted: bool) -> None:
    x, y = two_classes(6)
    rng = np.random.default_rng(1)
    weight = rng.choice([1, 2, 5], len(y)).astype(float) if weighted else np.ones(len(y))
    table = {"x": x, "y": y, "w": weight}
    for bins, strategy in (("width", "uniform"), ("frequency", "quantile")):
        how = {"quantile_method": "averaged_inverted_cdf"} if strategy == "quantile" else {}
        theirs = KBinsDiscretizer(count, encode="ordinal", strategy=strategy, subsample=None, **how)
        rows = x[:, None] if not weighted else np.repeat(x, weight.astype(int))[:, None]
        theirs.fit(rows)
        learner = NB(numbers="binned", bins=bins, bin_count=count)
        factor = likely.fit(table, "y", learner, weight="w").factors[0]
        np.testing.assert_allclose(factor.edges, theirs.bin_edges_[0][1:-1], rtol=1e-12)
        codes = theirs.transform(x[:, None])[:, 0].astype(int)
        counts = [[weight[(codes == b) & (np.array(y) == c)].sum() for c in "ab"] for b in range(count)]
        assert factor.levels.seen().tolist() == counts
