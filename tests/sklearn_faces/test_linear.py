"""Linear estimators against scikit-learn's own: weights, constants, shapes, and what has none."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import likely
import likely.sklearn as faces

RNG = np.random.default_rng(5)
SCALE = np.array([1.0, 100.0, 0.01])
X = (RNG.normal(size=(240, 3)) + 0.3) * SCALE
THREE = np.array(["b", "a", "c"])[np.digitize(X[:, 0] + X[:, 1] / 200 + RNG.normal(size=240), [-0.5, 0.8])]
TWO = np.where(THREE == "c", "yes", "no")
LINEAR = [faces.LogisticClassifier(), faces.LeastSquaresClassifier(), faces.LinearDiscriminantClassifier()]


@pytest.mark.parametrize("estimator", LINEAR, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_the_score_is_linear_and_names_the_prediction(estimator: Any, y: Any) -> None:
    found = clone(estimator).fit(X, y)
    rows = len(found.classes_) if len(found.classes_) > 2 else 1
    assert found.coef_.shape == (rows, 3) and found.intercept_.shape == (rows,)
    score = found.decision_function(X)
    np.testing.assert_allclose(score, np.squeeze(X @ found.coef_.T + found.intercept_), rtol=1e-8, atol=1e-8)
    best = (score > 0).astype(int) if rows == 1 else score.argmax(axis=1)
    assert (found.classes_[best] == found.predict(X)).all()


def centred(own: Any) -> tuple[Any, Any]:
    """Weights of all classes against their mean: scores of scikit-learn's classes may have a common part."""
    weights = np.atleast_2d(own.coef_)
    if len(weights) == 1:
        return weights, own.intercept_
    return weights - weights.mean(axis=0), own.intercept_ - own.intercept_.mean()


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_weights_are_those_of_scikit_learn(y: Any) -> None:
    logistic = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X / SCALE, y)
    weights, constant = centred(logistic)
    ours = faces.LogisticClassifier(ridge=0.0).fit(X, y)
    np.testing.assert_allclose(ours.coef_ * SCALE, weights, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, constant, rtol=1e-4, atol=1e-5)

    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    weights, constant = centred(theirs)
    normal: Any = faces.LinearDiscriminantClassifier(variance="ml").fit(X, y)
    np.testing.assert_allclose(normal.coef_, weights, rtol=1e-6)
    np.testing.assert_allclose(normal.intercept_, constant, rtol=1e-6)
    np.testing.assert_allclose(normal.predict_proba(X), theirs.predict_proba(X), rtol=1e-6, atol=1e-12)

    # Its classes are at -1 and 1, ours at 0 and 1.
    ridge = RidgeClassifier(alpha=0.0).fit(X, y)
    weights, constant = centred(ridge)
    half = 1.0 if len(weights) == 1 else 0.5
    squares = faces.LeastSquaresClassifier().fit(X, y)
    np.testing.assert_allclose(squares.coef_, half * weights, rtol=1e-7)
    np.testing.assert_allclose(squares.intercept_, half * constant, rtol=1e-7, atol=1e-12)


def test_what_is_not_linear_has_no_weights() -> None:
    for estimator in (faces.LogisticClassifier(numbers="binned"), faces.LeastSquaresClassifier(mode="pairwise")):
        found = estimator.fit(X, THREE)
        assert not hasattr(found, "decision_function") and not hasattr(found, "coef_")
    for name in ("NaiveBayesClassifier", "AutoClassifier", "AdditiveClassifier", "FullBayesClassifier"):
        assert not hasattr(getattr(faces, name), "coef_") and not hasattr(getattr(faces, name), "decision_function")
    levels = faces.LogisticClassifier().fit(pd.DataFrame({"sky": ["sun", "rain", "fog"] * 10}), ["a", "b", "a"] * 10)
    with pytest.raises(AttributeError, match=r"'sky' has a weight for each level.*plane_between"):
        levels.coef_  # noqa: B018
    assert levels.decision_function(pd.DataFrame({"sky": ["rain"]}))[0] > 0


def test_a_missing_number_and_a_constant_column() -> None:
    holes = np.column_stack([X, np.full(len(X), 3.0)])
    holes[::7, 1] = np.nan
    for estimator in LINEAR:
        found = clone(estimator).fit(holes, TWO)
        whole = ~np.isnan(holes).any(axis=1)
        expected = (np.nan_to_num(holes) @ found.coef_.T + found.intercept_)[:, 0]
        np.testing.assert_allclose(found.decision_function(holes)[whole], expected[whole], rtol=1e-8, atol=1e-8)
        assert np.isfinite(found.decision_function(holes)).all()


NUMBER = X @ np.array([2.0, 0.01, 30.0]) - 4 + RNG.normal(size=len(X))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_regressor_is_least_squares(weighted: bool) -> None:
    weight = RNG.random(len(X)) if weighted else None
    theirs = LinearRegression().fit(X, NUMBER, weight)
    ours = faces.LeastSquaresRegressor().fit(X, NUMBER, weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    assert ours.coef_.shape == (3,) and ours.score(X, NUMBER) == pytest.approx(theirs.score(X, NUMBER))
    units = StandardScaler().fit(X)
    ridge = Ridge(alpha=7.0).fit(units.transform(X), NUMBER)
    held = faces.LeastSquaresRegressor(ridge=7.0).fit(X, NUMBER)
    # Its unit is the deviation of the sample (n), ours that of the population (n - 1).
    np.testing.assert_allclose(held.coef_ * units.scale_, ridge.coef_, rtol=1e-3)


def test_the_regressor_takes_frames_and_scikit_learns_tools() -> None:
    sky = RNG.choice(["sun", "rain", "fog"], len(X))
    frame = pd.DataFrame({"sky": sky, "x": X[:, 0], "few": RNG.integers(0, 2, len(X))})
    y = pd.Series(2 * X[:, 0] + 5 * (sky == "fog") + frame["few"], name="x")  # the name of a column
    found = faces.LeastSquaresRegressor().fit(frame, y)
    np.testing.assert_allclose(found.predict(frame), y, atol=1e-9)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(found)).predict(frame), found.predict(frame))
    with pytest.raises(AttributeError, match="'sky' has a weight for each level"):
        found.coef_  # noqa: B018
    assert found.model_.rows == len(X) and "few" in {w.attribute for w in found.model_.weights if not w.level}
    assert cross_val_score(make_pipeline(StandardScaler(), faces.LeastSquaresRegressor()), X, NUMBER).mean() > 0.5
    search = GridSearchCV(faces.LeastSquaresRegressor(), {"ridge": [0.0, 1e6]}).fit(X, NUMBER)
    assert search.best_params_ == {"ridge": 0.0}
    for wrong in ([np.nan] * len(X), ["a"] * len(X), NUMBER[:5]):
        with pytest.raises(ValueError):
            faces.LeastSquaresRegressor().fit(X, wrong)
    with pytest.raises(ValueError, match="ridge is"):
        faces.LeastSquaresRegressor(ridge=-1.0).fit(X, NUMBER)


def test_a_random_state_deals_the_rows() -> None:
    members = ("NaiveBayes", "Logistic")

    def weights(**said: Any) -> Any:
        return faces.PoolClassifier(members=members, **said).fit(X, THREE).model_.weights.tolist()

    assert weights(random_state=1) == weights(random_state=1) != weights(random_state=2)
    assert weights(random_state=None, seed=4) == weights(seed=4)
    drawn = int(np.random.RandomState(7).randint(np.iinfo(np.int32).max))
    assert weights(random_state=np.random.RandomState(7)) == weights(seed=drawn)
    having = {name for name in faces.__all__ if "random_state" in getattr(faces, name)().get_params()}
    assert having == {"AutoClassifier", "ForestClassifier", "PoolClassifier", "TunedNaiveBayesClassifier"}


def test_a_pool_has_members() -> None:
    with pytest.raises(ValueError, match="Pool has no members"):
        faces.PoolClassifier().fit(X, THREE)
    one = faces.PoolClassifier(members=[faces.NaiveBayesClassifier(pseudo_count=2.0), likely.Logistic()]).fit(X, THREE)
    two = faces.PoolClassifier(members=(likely.NaiveBayes(pseudo_count=2.0), "Logistic")).fit(X, THREE)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize("name", faces.__all__)
def test_sparse_matrices_are_taken_where_the_tag_says_so(name: str) -> None:
    members = {"members": ("NaiveBayes",)} if name == "PoolClassifier" else {}
    counts = csr_array(RNG.integers(0, 3, (30, 4)))
    estimator = getattr(faces, name)(**members)
    y = np.arange(30.0) if name.endswith("Regressor") else ["a", "b", "c"] * 10
    if get_tags(estimator).input_tags.sparse:
        assert len(estimator.fit(counts, y).predict(counts)) == 30
    else:
        with pytest.raises((TypeError, ValueError), match=r"[Ss]parse"):
            estimator.fit(counts, y)
