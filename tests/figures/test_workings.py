"""Workings of every learner of the books, in fractions, decimals and logs, against exact fractions, numpy and scipy."""

from __future__ import annotations

import math
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial import KDTree
from scipy.stats import multinomial, multivariate_normal

import likely

POINT = {"sepal_length": 6.75, "sepal_width": 4.25}
SPAM = ["bdebbde", "bcebbddecc", "adadeaee", "badbedab"]
HAM = ["abababaed", "acacacaed", "eaedaea", "deded"]
MAILS = {"mail": [" ".join(m) for m in SPAM + HAM], "label": ["spam"] * 4 + ["ham"] * 4}


@pytest.fixture(scope="module")
def iris(examples: Path) -> dict[str, Any]:
    _, *lines = (examples / "iris.csv").read_text(encoding="utf-8").split()
    rows = [line.split(",") for line in lines]
    return {
        "sepal_length": [float(r[0]) for r in rows],
        "sepal_width": [float(r[1]) for r in rows],
        "class": ["c1" if r[4] == "Iris-setosa" else "c2" for r in rows],
    }


def points(iris: dict[str, Any], of: str | None = None) -> np.ndarray:
    chosen = [k for k, c in enumerate(iris["class"]) if of in (None, c)]
    return np.array([[iris["sepal_length"][k], iris["sepal_width"][k]] for k in chosen])


def quantity(working: Any, name: str) -> dict[str, Any]:
    (found,) = [q for q in working.quantities if q.name.startswith(name)]
    return dict(found.values)


# -- full Bayes: D ---------------------------------------------------------------------------------------------


def test_the_density_of_full_bayes_and_all_that_goes_into_it(iris: dict[str, Any]) -> None:
    model = likely.fit(iris, "class", likely.FullBayes(variance="ml"))
    working = model.working(POINT)
    x = np.array([6.75, 4.25])
    for name, prior in (("c1", F(50, 150)), ("c2", F(100, 150))):
        own = points(iris, name)
        mean, covariance = own.mean(axis=0), np.cov(own.T, bias=True)
        np.testing.assert_allclose(quantity(working, "mean")[name], mean, rtol=1e-12)
        np.testing.assert_allclose(quantity(working, "covariance")[name], covariance, rtol=1e-12)
        assert quantity(working, "determinant")[name] == pytest.approx(np.linalg.det(covariance), rel=1e-10)
        away = (x - mean) @ np.linalg.inv(covariance) @ (x - mean)
        assert quantity(working, "d²")[name] == pytest.approx(away, rel=1e-10)
        density = multivariate_normal(mean, covariance).pdf(x)
        assert quantity(working, "f(x")[name] == pytest.approx(density, rel=1e-10)
        assert working.products[name] == pytest.approx(float(prior) * density, rel=1e-10)
    assert quantity(working, "f(x")["c1"] == pytest.approx(4.914e-7, rel=1e-3)
    assert quantity(working, "f(x")["c2"] == pytest.approx(2.589e-5, rel=1e-3)
    text = str(working)
    assert "mean m: c1 (5.006, 3.418); c2 (6.262, 2.872)" in text
    assert "covariance S: c1 [0.1218 0.09829; 0.09829 0.1423]; c2 [0.435 0.1209; 0.1209 0.1096]" in text
    assert "L(c2) = 100/150 × 2.589e-05 = 1.726e-05" in text and text.endswith(": c2")


def test_full_bayes_without_one_number_is_the_density_of_the_other(iris: dict[str, Any]) -> None:
    working = likely.fit(iris, "class", likely.FullBayes(variance="ml")).working({"sepal_length": 6.75})
    own = points(iris, "c2")[:, 0]
    density = math.exp(-((6.75 - own.mean()) ** 2) / (2 * own.var())) / math.sqrt(2 * math.pi * own.var())
    assert quantity(working, "f(x")["c2"] == pytest.approx(density, rel=1e-10)
    assert "'sepal_width': missing, integrated out." in working.notes


def test_one_covariance_for_all_classes(iris: dict[str, Any]) -> None:
    working = likely.fit(iris, "class", likely.LinearDiscriminant()).working(POINT)
    within = [points(iris, c) - points(iris, c).mean(axis=0) for c in ("c1", "c2")]
    pooled = sum(w.T @ w for w in within) / 148
    np.testing.assert_allclose(quantity(working, "covariance")[""], pooled, rtol=1e-10)


# -- a joint table: F ------------------------------------------------------------------------------------------


def test_a_joint_table_in_fractions(examples: Path) -> None:
    """(t, l, y) of the ten people: no such row, so the joint table cannot say; with a pseudo-count it is 1/22, 1/24."""
    row = {"height": "t", "weight": "l", "long_hair": "y"}
    plain = likely.fit(examples / "people.csv", "sex", likely.FullBayes(pseudo_count=0)).working(row)
    assert plain.products == {"f": 0, "m": 0} and plain.best is None
    assert "Every product is 0: the row cannot be classified." in str(plain)
    smoothed = likely.fit(examples / "people.csv", "sex", likely.FullBayes(pseudo_count=1)).working(row)
    assert {c: str(v) for c, v in smoothed.steps[1].values.items()} == {"f": "1/24", "m": "1/22"}
    assert smoothed.products == {"f": F(6, 10) * F(1, 24), "m": F(4, 10) * F(1, 22)}
    assert "cells of height × weight × long_hair = 3 × 3 × 2 = 18" in str(smoothed)
    assert smoothed.line("f") == "6/10 × 1/24 = 1/40 = 0.025"
    assert smoothed.line("f", "decimals") == "0.6 × 0.04167 = 0.025"


# -- k nearest neighbours: D -----------------------------------------------------------------------------------


def test_the_neighbours_themselves(iris: dict[str, Any]) -> None:
    working = likely.fit(iris, "class", likely.Neighbors(k=5, scale=False)).working(POINT)
    (table,) = working.tables
    assert table.header == ("", "sepal_length", "sepal_width", "class", "rows", "distance")
    told = [(*row[1:3], row[3]) for row in table.rows for _ in range(int(row[4]))]
    away, which = KDTree(points(iris)).query([6.75, 4.25], k=5)
    assert sorted(told) == sorted((*points(iris)[k], iris["class"][k]) for k in which)
    listed = [row[5] for row in table.rows for _ in range(int(row[4]))]
    np.testing.assert_allclose(listed, away, rtol=1e-12)
    assert quantity(working, "r,")[""] == pytest.approx(away[-1])
    assert quantity(working, "K(class)") == {"c1": 1, "c2": 4}
    assert working.products == {"c1": F(1, 5), "c2": F(4, 5)}
    assert "P(c2 | x) = 4/5 = 0.8" in str(working)


def test_the_density_by_neighbours(iris: dict[str, Any]) -> None:
    working = likely.fit(iris, "class", likely.Neighbors(k=5, scale=False, reading="density")).working(POINT)
    radius = KDTree(points(iris)).query([6.75, 4.25], k=5)[0][-1]
    volume = math.pi * radius**2
    assert quantity(working, "V,")[""] == pytest.approx(volume, rel=1e-12)
    assert quantity(working, "n(class)") == {"c1": 50, "c2": 100}
    assert working.steps[1].values["c2"] == pytest.approx(4 / (100 * volume), rel=1e-12)
    assert working.products["c1"] == pytest.approx(50 / 150 * 1 / (50 * volume), rel=1e-12)


def test_rows_at_one_distance_share_what_is_left() -> None:
    table = {"x": [0.0, 1.0, -1.0, 5.0], "class": ["a", "a", "b", "b"]}
    learner = likely.Neighbors(k=2, scale=False)
    working = likely.fit(table, "class", learner, types={"x": "number"}).working({"x": 0.0})
    assert working.products == {"a": F(3, 4), "b": F(1, 4)}
    assert "2 rows at the distance r = 1 share the places that are left" in str(working)
    assert len(working.tables[0].rows) == 3


def test_levels_and_missing_cells_among_neighbours(examples: Path) -> None:
    model = likely.fit(examples / "weather.csv", "play", likely.Neighbors(k=3))
    working = model.working({"outlook": "sunny", "humidity": "high"})
    (table,) = working.tables
    assert {row[1] for row in table.rows[:3]} == {"sunny"}
    assert table.rows[0][-1] == pytest.approx(math.sqrt(2))  # temperature and windy are missing: 1 each
    assert working.posterior == pytest.approx({c: float(p) for c, p in working.products.items()})


# -- least squares: I ------------------------------------------------------------------------------------------


def test_normal_equations_and_the_lines_that_solve_them(iris: dict[str, Any]) -> None:
    working = likely.fit(iris, "class", likely.LeastSquares()).working(POINT)
    (table,) = working.tables
    design = np.column_stack([np.ones(150), points(iris)])
    y = np.array([[c == name for name in ("c1", "c2")] for c in iris["class"]], float)
    left = np.array([row[1:4] for row in table.rows])
    right = np.array([row[4:] for row in table.rows])
    np.testing.assert_allclose(left, design.T @ design, rtol=1e-12)
    np.testing.assert_allclose(right, design.T @ y, rtol=1e-12)
    weights = np.linalg.solve(left, right)
    expected = np.array([1, 6.75, 4.25]) @ weights
    assert list(working.products.values()) == pytest.approx(expected.tolist(), rel=1e-9)
    constant = list(working.steps[0].values.values())
    np.testing.assert_allclose(constant, weights[0], rtol=1e-9)
    assert "y(c1) = 0.7931 − 0.3771 × 6.75 + 0.5709 × 4.25 = 0.6743" in str(working)
    assert "score(c1) = 0.6743" in str(working) and working.best == "c1"


def test_pairs_have_a_line_each(examples: Path) -> None:
    model = likely.fit(examples / "iris.csv", "species", likely.LeastSquares(mode="pairwise"))
    working = model.working({"sepal_length": 6.0, "sepal_width": 3.0, "petal_length": 4.5, "petal_width": 1.5})
    assert len(working.classes) == 3 == len(working.tables) and working.best == "Iris-versicolor"
    (batch,) = model.batches(
        [{"sepal_length": 6.0, "sepal_width": 3.0, "petal_length": 4.5, "petal_width": 1.5, "species": None}]
    )
    assert list(working.products.values()) == pytest.approx(model.score.outputs.scored(batch)[0][0].tolist(), rel=1e-9)


def test_levels_and_missing_cells_in_a_line(examples: Path) -> None:
    model = likely.fit(examples / "weather_mixed.csv", "play", likely.LeastSquares())
    row = {"outlook": "sunny", "temperature": 66, "windy": "true"}
    (batch,) = model.batches([{**row, "humidity": None, "play": None}])
    assert list(model.working(row).products.values()) == pytest.approx(
        model.score.outputs.scored(batch)[0][0].tolist(), rel=1e-9
    )


def test_the_normal_equations_of_a_line() -> None:
    x, y = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 3.5, 4.0, 8.0, 9.5, 10.0]
    found = likely.regress({"x": x, "y": y}, "y", types={"x": "number"})
    (table,) = found.equations
    assert table.header == ("column", "1", "x", "= y")
    assert table.rows == (("1", 6.0, 15.0, 36.0), ("x", 15.0, 55.0, 123.5))  # n, Σx, Σy; Σx, Σx², Σxy
    weights = np.linalg.solve([[6, 15], [15, 55]], [36, 123.5])
    assert [found.constant, found.weights[0].weight] == pytest.approx(weights.tolist(), rel=1e-12)
    holed = likely.regress({"x": [*x, None], "z": ["u", "v"] * 3 + ["u"], "y": [*y, 4.0]}, "y", types={"x": "number"})
    (table,) = holed.equations
    assert table.header == ("column", "1", "x", "x missing", "z=u", "z=v", "= y")
    left, right = np.array([r[1:6] for r in table.rows]), np.array([r[6] for r in table.rows])
    own = {(w.attribute, w.level): w.weight for w in holed.weights}
    # The weight of (missing) stands in the place of weight times number.
    solved = [holed.constant, own["x", ""], own["x", "(missing)"], own["z", "u"], own["z", "v"]]
    np.testing.assert_allclose(left @ solved, right, rtol=1e-9)


# -- texts: F --------------------------------------------------------------------------------------------------


def mails(model: str) -> likely.Model:
    learner = likely.NaiveBayes(text=likely.Text(model))  # type: ignore[arg-type]
    return likely.fit(MAILS, "label", learner, types={"mail": "text"}, tokens=likely.Tokens(stop=("d", "e")))


def test_multinomial_count_vector_theta_and_coefficient() -> None:
    working = mails("multinomial").working({"mail": "a b a a"})
    assert quantity(working, "mail: count vector")[""] == ("a 3", "b 1")
    assert {c: str(v) for c, v in quantity(working, "θ(a)").items()} == {"ham": "12/20", "spam": "6/20"}
    assert {c: str(v) for c, v in quantity(working, "θ(b)").items()} == {"ham": "4/20", "spam": "10/20"}
    assert quantity(working, "orders of the words")[""] == 4
    assert quantity(working, "P(mail") == {"ham": F(108, 625), "spam": F(27, 500)}  # .1728 and .054
    for name, shares in (("ham", [0.6, 0.2, 0.2]), ("spam", [0.3, 0.5, 0.2])):
        assert float(quantity(working, "P(mail")[name]) == pytest.approx(multinomial.pmf([3, 1, 0], 4, shares))
    assert working.products == {"ham": F(1, 2) * F(27, 625), "spam": F(1, 2) * F(27, 2000)}  # the ratio is 5/16
    assert "P(mail | class) = 4 × θ(a)^3 × θ(b): ham 108/625 = 0.1728; spam 27/500 = 0.054" in str(working)


def test_bernoulli_has_words_that_are_not_there() -> None:
    working = mails("bernoulli").working({"mail": "a b"})
    assert quantity(working, "mail: words there")[""] == ("a 1", "b 1", "c 0")
    assert {c: str(v) for c, v in quantity(working, "θ(a)").items()} == {"ham": "4/6", "spam": "3/6"}
    assert {c: str(v) for c, v in quantity(working, "θ(b)").items()} == {"ham": "2/6", "spam": "4/6"}
    assert quantity(working, "P(mail") == {"ham": F(4, 27), "spam": F(2, 9)}  # .148 and .222, ratio 3/2
    assert working.products["spam"] / working.products["ham"] == F(3, 2)


def test_a_long_text_is_a_decimal() -> None:
    long = " ".join(f"w{k}" for k in range(200))
    table = {"mail": [long, "w1 w2 x"], "label": ["spam", "ham"]}
    for kind in ("multinomial", "bernoulli"):
        learner = likely.NaiveBayes(text=likely.Text(kind))  # type: ignore[arg-type]
        working = likely.fit(table, "label", learner, types={"mail": "text"}).working({"mail": long})
        assert isinstance(working.products["ham"], float) and len(working.quantities) < 20


# -- a missing cell averaged over: F ---------------------------------------------------------------------------


def test_a_missing_cell_is_averaged_over_by_predict_and_explain() -> None:
    spam = {(0, 0): 31, (0, 1): 65, (1, 0): 80, (1, 1): 40}
    rows = [
        {"viagra": v, "lottery": w, "mail": mail, "n": (9, 1)[v] * part}
        for (v, w), share in spam.items()
        for mail, part in (("spam", share), ("ham", 100 - share))
    ]
    types = {"viagra": "nominal", "lottery": "nominal"}
    model = likely.fit(rows, "mail", likely.FullBayes(pseudo_count=0), weight="n", types=types)
    found = likely.explain(model, {"lottery": 1}, missing_by="averaged")
    assert found.posterior["spam"] == pytest.approx(0.625, abs=1e-12)
    assert found.working is not None
    assert "P(spam | x) = 0.9 × 0.65 + 0.1 × 0.4 = 0.625" in str(found.working)
    assert likely.by_missing(model, "averaged").predict([{"lottery": 1}]) == ["spam"]


# -- logs: G ---------------------------------------------------------------------------------------------------


def test_four_days_in_logs(examples: Path) -> None:
    model = likely.fit(examples / "four_days.csv", "play", likely.NaiveBayes(pseudo_count=1))
    row = {"sky": "rainy", "temp": "warm", "humid": "normal"}
    text = model.working(row).written("logs")
    assert "log10 L(yes) = −0.1249 − 0.699 − 0.09691 − 0.3979 = −1.319" in text
    assert "log10 L(no) = −0.6021 − 0.1761 − 0.4771 − 0.4771 = −1.732" in text
    assert "ln L(yes) = " in model.working(row).written("logs", "e")
    assert "log2 L(yes) = " in model.working(row).written("logs", "2")
    with pytest.raises(likely.LikelyError, match="base"):
        model.working(row).written("logs", "3")  # type: ignore[arg-type]


# -- dependence, evidence, and models without a working --------------------------------------------------------


def test_a_tree_in_fractions(examples: Path) -> None:
    model = likely.fit(examples / "weather.csv", "play", likely.TreeAugmented())
    row = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": "true"}
    working = model.working(row)
    joint = np.exp(model.log_joint(next(iter(model.batches([{**row, "play": None}]))))[0])
    assert [float(v) for v in working.products.values()] == pytest.approx(joint.tolist(), rel=1e-12)
    assert all(isinstance(v, F) for v in working.products.values())
    assert "P(temperature=cool | outlook=sunny, class)" in str(working)
    # sunny and cool: none of 3 rows for no, one of 2 for yes; three temperatures.
    assert "5/14 × 4/8 × 1/6 × 1/3 × 2/5 = 1/252" in str(working)


def test_one_dependence_is_a_mean_over_parents(examples: Path) -> None:
    model = likely.fit(examples / "weather.csv", "play", likely.OneDependence())
    for row in (
        {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": "true"},
        {"windy": "true"},
        {},
    ):
        (batch,) = model.batches([{**dict.fromkeys(model.schema.names), **row}])
        found = model.working(row).products
        assert list(found.values()) == pytest.approx(np.exp(model.log_joint(batch)[0]).tolist(), rel=1e-12)


@pytest.mark.parametrize("name", ["Logistic", "Additive"])
def test_evidence_adds_up(name: str, iris: dict[str, Any]) -> None:
    model = likely.fit(iris, "class", getattr(likely, name)())
    working = model.working(POINT)
    scores = np.array([float(v) for v in working.products.values()])
    scores = np.array([0.0, *scores]) if name == "Logistic" else scores  # of two classes it is the log-odds
    shares = np.exp(scores) / np.exp(scores).sum()
    assert shares.tolist() == pytest.approx(model.posterior(POINT).matrix[0].tolist(), rel=1e-9)


def test_a_mixture_of_learned_models_is_the_sum_over_its_hypotheses(examples: Path) -> None:
    """P(class | x) = Σ P(h | data) · P(class | x, h)."""
    mixture = likely.Mixture(members=("NaiveBayes", "OneRule"), weights=(0.25, 0.75))
    model = likely.fit(examples / "weather.csv", "play", mixture)
    members = [likely.fit(examples / "weather.csv", "play", one) for one in (likely.NaiveBayes(), likely.OneRule())]
    row = {"outlook": "sunny"}
    expected = sum(w * one.posterior(row).prob("yes") for w, one in zip((0.25, 0.75), members, strict=True))
    assert model.posterior(row).prob("yes") == pytest.approx(expected, abs=1e-15)
    assert f"P(yes) = {expected:.4f}" in str(model.working(row))


def test_a_new_prior_goes_into_any_working(iris: dict[str, Any]) -> None:
    from likely.apply.decide.priors import with_prior

    for learner in (likely.FullBayes(), likely.Neighbors(k=5), likely.TreeAugmented(), likely.NaiveBayes()):
        model = with_prior(likely.fit(iris, "class", learner), {"c1": 0.8})
        found = model.working(POINT)
        weights = np.array([float(v) for v in found.products.values()])
        assert (weights / weights.sum()).tolist() == pytest.approx(model.posterior(POINT).matrix[0].tolist(), rel=1e-9)
