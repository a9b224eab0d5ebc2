"""The five classes with scikit-learn's names: its numbers where they are right, ours where it differs on purpose.

scikit-learn's own tests of its classes are run by scripts/drop_in.py, whose table docs/drop-in.md prints.
"""

from __future__ import annotations

import pickle
from fractions import Fraction
from inspect import signature
from typing import Any

import numpy as np
import pytest
import sklearn.naive_bayes as theirs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix

import likely.sklearn as ours

NAMES = ("GaussianNB", "CategoricalNB", "MultinomialNB", "BernoulliNB", "ComplementNB")
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "GaussianNB": [{}, {"var_smoothing": 1e-3}, {"priors": [0.2, 0.5, 0.3]}],
    "CategoricalNB": [{}, {"alpha": 0.3, "fit_prior": False}, {"min_categories": 9}, {"class_prior": [0.2, 0.5, 0.3]}],
    "MultinomialNB": [{}, {"alpha": 0.1}, {"alpha": [0.5, 1.0, 2.0, 0.1]}, {"class_prior": [0.2, 0.5, 0.3]}],
    "BernoulliNB": [{}, {"alpha": 0.1, "binarize": 1.5}, {"binarize": 2.0, "fit_prior": False}],
    "ComplementNB": [{}, {"norm": True}, {"alpha": 0.3}],
}
LEARNED = {
    "GaussianNB": ["class_count_", "class_prior_", "theta_", "var_", "epsilon_"],
    "CategoricalNB": ["class_count_", "class_log_prior_", "n_categories_"],
    "MultinomialNB": ["class_count_", "class_log_prior_", "feature_count_", "feature_log_prob_"],
    "BernoulliNB": ["class_count_", "class_log_prior_", "feature_count_", "feature_log_prob_"],
    "ComplementNB": ["class_count_", "class_log_prior_", "feature_count_", "feature_log_prob_", "feature_all_"],
}


def data(seed: int, name: str, rows: int = 40) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 4)) * [1, 5, 100, 0.3] if name == "GaussianNB" else rng.integers(0, 5, (rows, 4))
    y = np.array(["b", "a", "c"])[np.concatenate([[0, 1, 2], rng.integers(0, 3, rows - 3)])]
    return x, y, rng.random(rows) + 0.1


def compare(one: Any, two: Any, name: str, x: Any) -> None:
    for learned in LEARNED[name]:
        np.testing.assert_allclose(getattr(one, learned), getattr(two, learned), rtol=1e-9, atol=1e-12, err_msg=learned)
    if name == "CategoricalNB":
        for a, b in zip(one.feature_log_prob_, two.feature_log_prob_, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9)
        for a, b in zip(one.category_count_, two.category_count_, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9)
    assert one.classes_.tolist() == two.classes_.tolist()
    np.testing.assert_allclose(one.predict_joint_log_proba(x), two.predict_joint_log_proba(x), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(one.predict_proba(x), two.predict_proba(x), rtol=1e-9, atol=1e-12)
    # Where two classes are equally probable but for rounding, either may be named.
    top = np.sort(two.predict_joint_log_proba(x), axis=1)
    clear = top[:, -1] - top[:, -2] > 1e-9
    assert one.predict(x)[clear].tolist() == two.predict(x)[clear].tolist()


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), weighted=st.booleans())
def test_the_numbers_are_those_of_scikit_learn(name: str, seed: int, weighted: bool) -> None:
    x, y, weight = data(seed, name)
    for setting in SETTINGS[name]:
        given_ = {"sample_weight": weight} if weighted and name != "GaussianNB" else {}
        one, two = getattr(ours, name)(**setting), getattr(theirs, name)(**setting)
        compare(one.fit(x, y, **given_), two.fit(x, y, **given_), name, x)


@pytest.mark.parametrize("name", NAMES)
def test_parameters_and_attributes_have_the_same_names(name: str) -> None:
    mine, yours = getattr(ours, name), getattr(theirs, name)
    assert {k: p.default for k, p in signature(mine).parameters.items()} == {
        k: p.default for k, p in signature(yours).parameters.items()
    }
    x, y, _ = data(0, name)
    public = {k for k in vars(yours().fit(x, y)) if k.endswith("_") and not k.startswith("_")}
    assert public <= vars(mine().fit(x, y)).keys()
    assert {m for m in dir(yours) if not m.startswith("_")} <= {*dir(mine)}


@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB", "ComplementNB"])
@pytest.mark.parametrize("kind", [csr_array, csr_matrix])
def test_sparse_rows_are_rows(name: str, kind: Any) -> None:
    x, y, weight = data(1, name)
    x = x * np.where(np.arange(4) == 2, 0.37, 1.0)  # fractions as well, as of tf-idf
    for given_ in ({}, {"sample_weight": weight}):
        sparse, dense = getattr(ours, name)().fit(kind(x), y, **given_), getattr(ours, name)().fit(x, y, **given_)
        np.testing.assert_array_equal(sparse.feature_log_prob_, dense.feature_log_prob_)
        compare(sparse, getattr(theirs, name)().fit(kind(x), y, **given_), name, kind(x))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), cuts=st.lists(st.integers(1, 39), unique=True, max_size=6), kept=st.booleans())
def test_no_cut_into_batches_changes_a_bit(name: str, seed: int, cuts: list[int], kept: bool) -> None:
    x, y, weight = data(seed, name)
    x = x if name == "CategoricalNB" else x * np.random.default_rng(seed).random(x.shape)
    weight = weight if seed % 2 else np.ones(len(y))
    whole, pieces = getattr(ours, name)().fit(x, y, sample_weight=weight), getattr(ours, name)()
    order = np.random.default_rng(seed + 1).permutation(len(y))
    for part in np.split(order, sorted(cuts)):
        pieces.partial_fit(x[part], y[part], classes=["a", "b", "c"], sample_weight=weight[part])
        pieces = pickle.loads(pickle.dumps(pieces)) if kept else pieces
    for learned in LEARNED[name]:
        np.testing.assert_array_equal(getattr(pieces, learned), getattr(whole, learned), err_msg=learned)
    assert pieces.predict_joint_log_proba(x).tobytes() == whole.predict_joint_log_proba(x).tobytes()


def test_a_large_mean_takes_nothing_from_the_variance() -> None:
    values = [1e9 + v for v in (0.0, 0.25, 0.5)] + [0.0, 1.0]
    found = ours.GaussianNB(var_smoothing=0).fit(np.array(values)[:, None], [0, 0, 0, 1, 1])
    exact = [Fraction(v) for v in values[:3]]
    mean = sum(exact) / 3
    assert found.theta_[0, 0] == float(mean)
    assert found.var_[0, 0] == float(sum((v - mean) ** 2 for v in exact) / 3)


def test_a_variance_beyond_all_doubles_is_infinite() -> None:
    found = ours.GaussianNB().fit([[1e200], [1.1e200], [-1e200], [-1.1e200]], [0, 0, 1, 1])
    assert found.theta_[0, 0] == pytest.approx(1.05e200) and np.isinf(found.var_).all()


def test_a_weight_of_two_is_the_row_twice_and_of_zero_no_row() -> None:
    x, y, _ = data(2, "GaussianNB")
    weight = np.arange(len(y)) % 3
    weighed = ours.GaussianNB().fit(x, y, sample_weight=weight)
    twice = ours.GaussianNB().fit(np.repeat(x, weight, axis=0), np.repeat(y, weight))
    for learned in LEARNED["GaussianNB"]:
        np.testing.assert_array_equal(getattr(weighed, learned), getattr(twice, learned))


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_cell_is_left_out(name: str) -> None:
    x, y, _ = data(3, name)
    x = x.astype(float)
    gone = x.copy()
    gone[::3, 1] = np.nan
    found = getattr(ours, name)().fit(gone, y)
    if name in ("GaussianNB", "CategoricalNB", "BernoulliNB"):
        # The other columns have the parameters that they have without the column; so has what is known of this one.
        alone = getattr(ours, name)().fit(x[np.arange(len(y)) % 3 > 0][:, 1:2], y[np.arange(len(y)) % 3 > 0])
        learned = "theta_" if name == "GaussianNB" else "feature_log_prob_"
        a, b = getattr(found, learned), getattr(alone, learned)
        np.testing.assert_array_equal(
            a[1] if name == "CategoricalNB" else a[:, 1:2], b[0] if name == "CategoricalNB" else b
        )
    row = x[:1].copy()
    row[0, 1] = np.nan
    rest = getattr(ours, name)().fit(x[:, [0, 2, 3]], y)
    full = getattr(ours, name)().fit(x, y)
    if name in ("GaussianNB", "CategoricalNB", "BernoulliNB"):
        # GaussianNB adds a share of the largest variance to all, which the third column has.
        np.testing.assert_allclose(full.predict_proba(row), rest.predict_proba(row[:, [0, 2, 3]]), rtol=1e-12)
    else:
        row[0, 1] = 0
        np.testing.assert_array_equal(
            full.predict_proba(row), full.predict_proba(np.where(np.arange(4) == 1, np.nan, row))
        )


def test_a_category_that_training_did_not_have_is_left_out() -> None:
    x, y = np.array([[0, 1], [1, 0], [1, 1], [0, 0]]), [0, 1, 1, 0]
    found = ours.CategoricalNB().fit(x, y)
    with pytest.raises(IndexError):
        theirs.CategoricalNB().fit(x, y).predict([[0, 9]])
    np.testing.assert_array_equal(found.predict_proba([[0, 9]]), found.predict_proba([[0, np.nan]]))
    np.testing.assert_array_equal(found.predict_proba([[0, 1e300]]), found.predict_proba([[0, np.nan]]))


@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB"])
def test_without_smoothing_what_is_not_there_rules_nothing_out(name: str) -> None:
    x = np.array([[2.0, 0.0, 1.0], [1.0, 0.0, 2.0], [0.0, 3.0, 1.0]])
    found = getattr(ours, name)(alpha=0).fit(x, ["a", "a", "b"])
    assert found.predict_proba([[1, 0, 1], [0, 1, 1]]).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert np.isnan(found.predict_proba([[1, 1, 1]])).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_class_that_was_not_named_is_refused(name: str) -> None:
    x, y, _ = data(5, name)
    found = getattr(ours, name)()
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        found.partial_fit(x, y)
    with pytest.raises(ValueError, match=r"target label\(s\) \['c'\] in y do not exist"):
        found.partial_fit(x, y, classes=["a", "b"])


@pytest.mark.parametrize("name", NAMES)
def test_a_pickle_holds_plain_arrays(name: str) -> None:
    x, y, _ = data(6, name)
    state = getattr(ours, name)().fit(x, y).__getstate__()
    assert all(type(v).__module__ in ("numpy", "builtins") for v in [*state.values(), *state["_sums"].values()])
