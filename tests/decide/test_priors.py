"""Other priors: re-weighted exactly, equal ones change nothing, and maximum likelihood has none."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely
from likely.apply.decide.priors import new_prior, prior_of, with_prior
from likely.errors import SettingError

RNG = np.random.default_rng(5)
ROWS = 60
TABLE = {
    "sky": RNG.choice(["sun", "rain", "fog"], ROWS).tolist(),
    "wind": RNG.choice(["weak", "strong"], ROWS).tolist(),
    "play": RNG.choice(["a", "b", "c"], ROWS, p=[0.5, 0.3, 0.2]).tolist(),
}
NUMBERS = {
    "x": RNG.normal(size=ROWS).round(3).tolist(),
    "z": RNG.normal(size=ROWS).round(3).tolist(),
    "play": TABLE["play"],
}
MEMBERS = (likely.NaiveBayes(), likely.NaiveBayes(pseudo_count=3))
MODELS = {
    "naive": likely.fit(TABLE, "play"),
    "given": likely.fit(TABLE, "play", likely.NaiveBayes(prior={"a": 0.25, "b": 0.25, "c": 0.5})),
    "uniform": likely.fit(TABLE, "play", likely.NaiveBayes(prior="uniform")),
    "joint": likely.fit(TABLE, "play", likely.FullBayes()),
    "tree": likely.fit(TABLE, "play", likely.TreeAugmented()),
    "aode": likely.fit(TABLE, "play", likely.OneDependence()),
    "pooled": likely.fit(NUMBERS, "play", likely.LinearDiscriminant()),
    "logistic": likely.fit(TABLE, "play", likely.Logistic()),
    "neighbors": likely.fit(TABLE, "play", likely.Neighbors(k=5)),
    "mixture": likely.fit(TABLE, "play", likely.Mixture(MEMBERS)),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_posterior_is_reweighted_by_new_over_old(name: str) -> None:
    model = MODELS[name]
    data = NUMBERS if name == "pooled" else TABLE
    old, new = prior_of(model), (F(1, 125), F(1, 4), F(1) - F(1, 125) - F(1, 4))
    before = model.posterior(data).matrix
    found = likely.decide(model, data, prior={"a": 0.008, "b": 0.25}).posterior.matrix
    for row, after in zip(before.tolist(), found.tolist(), strict=True):
        exact = [F(p) * n / o for p, n, o in zip(row, new, old, strict=True)]
        assert after == pytest.approx([float(e / sum(exact)) for e in exact], rel=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_the_old_prior_changes_nothing(name: str) -> None:
    model = MODELS[name]
    data = NUMBERS if name == "pooled" else TABLE
    same = {c: float(p) for c, p in zip(model.classes, prior_of(model), strict=True)}
    assert np.array_equal(likely.decide(model, data, prior=same).posterior.matrix, model.posterior(data).matrix)
    assert with_prior(model, {"a": prior_of(model)[0]}) is model


def test_maximum_likelihood_divides_the_prior_out() -> None:
    skewed, even = MODELS["given"], MODELS["uniform"]
    ml, plain = likely.decide(skewed, TABLE, rule="ml"), likely.decide(even, TABLE, rule="map")
    assert ml.posterior.matrix == pytest.approx(plain.posterior.matrix, rel=1e-12)
    assert ml.action == plain.action
    assert ml.action != likely.decide(skewed, TABLE, rule="map").action


def test_classes_that_are_not_named_share_the_rest_as_they_did() -> None:
    old = (F(1, 2), F(1, 3), F(1, 6))
    assert new_prior(("a", "b", "c"), {"c": 0.4}, old) == (F(36, 100), F(24, 100), F(2, 5))
    assert new_prior(("a", "b", "c"), {"a": 1}, old) == (1, 0, 0)
    assert new_prior(("a", "b", "c"), {"a": "1/3", "b": 0}, old) == (F(1, 3), 0, F(2, 3))
    assert new_prior(("a", "b", "c"), "uniform", old) == (F(1, 3),) * 3


@given(st.lists(st.integers(1, 50), min_size=3, max_size=3), st.integers(0, 100))
def test_new_priors_sum_to_one_exactly(weights: list[int], percent: int) -> None:
    old = tuple(F(w, sum(weights)) for w in weights)
    found = new_prior(("a", "b", "c"), {"b": percent / 100}, old)
    assert sum(found) == 1 and found[1] == F(percent, 100)
    if percent < 100:
        assert found[0] * old[2] == found[2] * old[0]


def test_a_prior_of_zero_cannot_be_raised() -> None:
    model = likely.fit(TABLE, "play", likely.NaiveBayes(prior={"a": 0.0, "b": 0.5, "c": 0.5}))
    with pytest.raises(SettingError, match="gives 'a' the prior 0"):
        likely.decide(model, {"sky": "sun"}, prior={"a": 0.1})
    with pytest.raises(SettingError, match="prior 0"):
        likely.decide(model, {"sky": "sun"}, rule="ml")
    assert likely.decide(model, {"sky": "sun"}, prior={"b": 0.9}).posterior.prob("a") == 0
    with pytest.raises(SettingError, match=r"leaves 0\.5 to 'a'"):
        likely.decide(model, {"sky": "sun"}, prior={"b": 0.25, "c": 0.25})


def test_scores_that_are_no_probabilities_take_no_prior() -> None:
    model = likely.fit(TABLE, "play", likely.LeastSquares())
    with pytest.raises(SettingError, match="scores, not probabilities"):
        likely.decide(model, TABLE, prior={"a": 0.1})
    assert likely.decide(model, TABLE).action == model.predict(TABLE)


def test_a_prior_so_small_that_no_ratio_holds_it() -> None:
    model = likely.fit(TABLE, "play", likely.NaiveBayes(prior={"a": 1e-320, "b": 0.5, "c": 0.5}))
    found = likely.decide(model, TABLE, prior={"a": 0.5}).posterior.matrix
    assert np.isfinite(found).all() and found[:, 0].max() > 0.1
