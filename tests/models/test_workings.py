"""Every learner answers for its own working, or says why there is none: with gaps, unseen levels, far numbers."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.conftest import run_here as run

import likely

LEVELS = {
    "sky": ["sun", "sun", "rain", "rain", None, "sun", "fog", "rain"] * 3,
    "wind": ["no", "yes", "no", None, "yes", "no", "yes", "no"] * 3,
}
NUMBERS = {
    "x": [float(v) for v in (3, 1, 4, 1, 5, 9, 2, 6)] * 2 + [2.5, 7.0, None, 1.5, 8.0, 2.0, 8.5, 4.5],
    "z": [1e9 + v for v in (0.1, 0.2, 0.4, 0.8, 0.3, 0.6, 0.7, 0.5)] * 3,
}
CLASS = {"class": ["a", "a", "b", "c", "b", "a", "c", "b"] * 3}
LEARNERS: list[tuple[Any, str]] = [
    (likely.NaiveBayes(), "mixed"),
    (likely.NaiveBayes(numbers="kernel", missing="level"), "mixed"),
    (likely.NaiveBayes(blocks=[["sky", "wind"], ["x", "z"]]), "mixed"),
    (likely.NaiveBayes(temperature=0.5), "mixed"),
    (likely.TunedNaiveBayes(), "mixed"),
    (likely.OneRule(), "mixed"),
    (likely.Prior(), "mixed"),
    (likely.TreeAugmented(), "mixed"),
    (likely.TreeAugmented(pseudo_count=0), "levels"),
    (likely.OneDependence(), "mixed"),
    (likely.FullBayes(), "numbers"),
    (likely.FullBayes(), "levels"),
    (likely.FullBayes(pseudo_count=0), "levels"),
    (likely.LinearDiscriminant(), "numbers"),
    (likely.Logistic(), "mixed"),
    (likely.LeastSquares(), "mixed"),
    (likely.LeastSquares(mode="pairwise"), "mixed"),
    (likely.LeastSquares(mode="pairwise", ties="votes", ridge=1.0), "mixed"),
    (likely.Neighbors(k=3), "mixed"),
    (likely.Neighbors(k=3, weights="distance", distance="city-block"), "mixed"),
    (likely.Neighbors(k=3, reading="density"), "numbers"),
    (likely.Neighbors(k=50, prior="uniform", pseudo_count=0.5), "mixed"),
    (likely.Additive(), "mixed"),
    (likely.Forest(trees=9), "mixed"),
    (likely.Auto(), "mixed"),
    (likely.Mixture(members=("NaiveBayes", "OneRule"), weights="held-out"), "mixed"),
    (likely.Gibbs(members=("NaiveBayes", "OneRule"), weights="held-out"), "mixed"),
]
ROWS: list[dict[str, Any]] = [
    {"sky": "sun", "wind": "no", "x": 3.0, "z": 1e9 + 0.3},
    {"sky": None, "wind": "yes", "x": None, "z": 1e9},
    {"sky": "hail", "wind": "no", "x": 1e12, "z": None},
    {"sky": "rain", "wind": None, "x": 8.5, "z": 1e9 + 0.5},
    {},
]


@pytest.mark.parametrize(("learner", "kind"), LEARNERS, ids=lambda v: type(v).__name__ if not isinstance(v, str) else v)
def test_the_working_comes_to_the_answer(learner: Any, kind: str) -> None:
    table = {**(LEVELS if kind != "numbers" else {}), **(NUMBERS if kind != "levels" else {}), **CLASS}
    model = likely.fit(table, "class", learner)
    for asked in ROWS:
        row = {name: value for name, value in asked.items() if name in model.schema.names}
        posterior = model.posterior(row)
        working = model.working(row)
        assert list(working.posterior.values()) == posterior.matrix[0].tolist()
        for style in ("fractions", "decimals", "logs"):
            assert not re.search(r"\bnan\b", working.written(style))  # type: ignore[arg-type]
        json.dumps(working.to_dict(), allow_nan=False)
        if posterior.undefined[0] or type(learner).__name__ == "LeastSquares":
            continue
        scores = np.array([float(v) for v in working.products.values()])
        if working.sign == "g({})":
            scores = np.exp(scores - scores.max())
        elif not scores.any():  # beyond a double; the logs are not
            scores = np.power(10.0, np.array(list(working.log10.values())) - max(working.log10.values()))
        shares = scores / scores.sum()
        assert shares.tolist() == pytest.approx(posterior.matrix[0].tolist(), rel=1e-8, abs=1e-12), str(working)
        for step in working.steps:
            for name, value in step.values.items():
                if working.operator == "×" and 1e-300 < float(value) < math.inf:
                    log = step.log_values[name] / step.power
                    assert math.log(float(value)) == pytest.approx(log, rel=1e-9, abs=1e-9)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "learner",
    [
        *(likely.NaiveBayes(), likely.FullBayes(), likely.LinearDiscriminant(), likely.LeastSquares()),
        *(likely.LeastSquares(mode="pairwise"), likely.Logistic(), likely.TreeAugmented()),
        *(
            likely.Neighbors(k=3, scale=scale, reading=how)
            for scale in (True, False)
            for how in ("posterior", "density")
        ),
        likely.FullBayes(density="table", bins="frequency"),
    ],
    ids=repr,
)
def test_numbers_at_both_ends_of_the_range(learner: Any) -> None:
    ends = [1e300, 5e-324, -1.7e308, 1e-200, 0.0, 3.5]
    table = {"x": ends * 6, "w": [1e200 * k for k in range(36)], "t": ["a", "b", "c", "b"] * 9}
    model = likely.fit(table, "t", learner, types={"x": "number", "w": "number"})
    for row in ({"x": 1.7e308, "w": 1e150}, {"x": None, "w": -1e300}, {"x": 0.0}, {}):
        working = model.working(row)
        assert all(working.written(style) for style in ("fractions", "decimals", "logs"))
        json.dumps(working.to_dict(), allow_nan=False)


def test_names_and_cells_are_made_safe() -> None:
    name = "x\x1b[31m"
    table = {name: [1.0, 2.0, 3.0, 4.0], "class": ["a", "b", "a", "b"]}
    for learner in (likely.Neighbors(k=1), likely.LeastSquares(), likely.FullBayes()):
        model = likely.fit(table, "class", learner, types={name: "number"})
        assert "\x1b" not in str(model.working({name: 2.0}))


def test_a_mixture_is_a_sum_over_its_hypotheses() -> None:
    table = {**LEVELS, **CLASS}
    members = (likely.NaiveBayes(), likely.NaiveBayes(pseudo_count=9.0), likely.NaiveBayes(pseudo_count=0))
    model: Any = likely.fit(table, "class", likely.Mixture(members, weights=(0.25, 0.5, 0.25)))
    row = {"sky": "sun", "wind": "no"}
    by_hand = [0.25 * members[0].learn(model.summary).posterior(row).prob("a")]
    by_hand.append(0.5 * members[1].learn(model.summary).posterior(row).prob("a"))
    by_hand.append(0.25 * members[2].learn(model.summary).posterior(row).prob("a"))
    working = model.working(row)
    assert [step.values["a"] for step in working.steps] == pytest.approx(by_hand)
    lines = str(working).splitlines()
    assert lines[0] == "weights P(h): h1 0.25; h2 0.5; h3 0.25"
    assert lines[5] == "h1 = NaiveBayes; h2 = NaiveBayes(pseudo_count=9.0); h3 = NaiveBayes(pseudo_count=0.0)."
    assert lines[1] == "P(class | x) = P(h1) × P(class | x, h1) + P(h2) × P(class | x, h2) + P(h3) × P(class | x, h3)"
    assert lines[2].startswith("P(a | x) = 0.25 × ") and lines[2].endswith(f" = {sum(by_hand):.4g}")
    # The third calls this row impossible: the others share its weight.
    odd = {"sky": "fog", "wind": "no"}
    text = str(model.working(odd))
    assert "h3, NaiveBayes(pseudo_count=0.0), calls the row impossible and is left out." in text
    assert "sum to 0.75, by which the sums are divided" in text
    drawn: Any = likely.fit(table, "class", likely.Gibbs(members, weights=(0.25, 0.5, 0.25)))
    assert re.search(r"Drawn for this row: h[123] = NaiveBayes", str(drawn.working(row)))


def test_full_bayes_on_paper(tmp_path: Path) -> None:
    """Means, covariances, inverse, determinant and d² of a table of whole numbers are the fractions of the board."""
    rows = {"x": [0, 2, 0, 2, 6, 8, 6, 8], "y": [0, 2, 2, 4, 0, 0, 2, 4], "c": ["A"] * 4 + ["B"] * 4}
    model = likely.fit(rows, "c", likely.FullBayes(), types={"x": "number", "y": "number"})
    told = str(model.working({"x": 4, "y": 3}))
    assert "mean m: A (1, 2); B (7, 3/2)" in told and "x − m: A (3, 1); B (−3, 3/2)" in told
    assert "covariance S: A [4/3 4/3; 4/3 8/3]; B [4/3 2/3; 2/3 11/3]" in told
    assert "inverse S⁻¹: A [3/2 −3/4; −3/4 3/4]; B [33/40 −3/20; −3/20 3/10]" in told
    assert "determinant |S|: A 16/9 = 1.778; B 40/9 = 4.444" in told
    assert "A 39/4 = 9.75; B 189/20 = 9.45" in told
    # Of one number that is known, its own part of the covariance counts.
    part = str(model.working({"y": 3}))
    assert "covariance S: A [8/3]; B [11/3]" in part and "inverse S⁻¹: A [3/8]; B [3/11]" in part
    assert "d² = (x − m)ᵀ S⁻¹ (x − m): A 3/8 = 0.375; B 27/44 = 0.6136" in part
    tables = {e.title: e.cells(True) for e in model.cell_tables()}
    assert tables["Inverse of the covariance of B"] == (("x", "33/40", "-3/20"), ("y", "-3/20", "3/10"))
    assert tables["Determinants of the covariances"] == (("A", "16/9"), ("B", "40/9"))
    # What was shrunk is no fraction of the data, and is not told as one.
    shrunk = likely.fit(rows, "c", likely.FullBayes(shrinkage=0.3), types={"x": "number", "y": "number"})
    told = str(shrunk.working({"x": 4, "y": 3}))
    assert "4/3" not in told.split("L(class)")[0] and "inverse S⁻¹: A [" in told
    matrix = np.array([[4 / 3, 0.7 * 4 / 3], [0.7 * 4 / 3, 8 / 3]])
    inverse = {e.title: e for e in shrunk.cell_tables()}["Inverse of the covariance of A"]
    np.testing.assert_allclose([row[1:] for row in inverse.cells()], np.linalg.inv(matrix), rtol=1e-9)
    pooled = likely.fit(rows, "c", likely.LinearDiscriminant(), types={"x": "number", "y": "number"})
    assert "covariance S = [4/3 1; 1 19/6]" in str(pooled.working({"x": 4, "y": 3}))


def test_all_cells_of_a_joint_table(tmp_path: Path) -> None:
    """`show --all` prints the cells that the model goes by, those without rows too, and no margins that it does not."""
    rows = {"a": list("000011"), "b": list("xxyzxy"), "k": list("112122")}
    likely.fit(rows, "k", likely.FullBayes()).save(tmp_path / "m.likely")
    out = run("show", tmp_path / "m.likely", "--all", "--fractions").done().out
    assert "The cells: 5 of 6 have rows" in out
    lines = [line.split() for line in out.splitlines()]
    assert ["0", "x", "2", "0", "3/9", "1/9"] in lines and ["1", "z", "0", "0", "1/9", "1/9"] in lines
    assert ["0", "y", "0", "1", "1/9", "2/9"] in lines and "(level|" not in out
    found = json.loads(run("show", tmp_path / "m.likely", "--all", "--json").done().out)
    assert found["given_parents"][0]["rows"][0][4] == pytest.approx(1 / 3)


def test_a_pool_is_the_workings_of_its_members_times_their_weights() -> None:
    """P(class)^(1 − Σw) · Π L(class)^w, the members worked out as they are by themselves."""
    sky, wind = [*"ssssrrrr"], [*"nyynyyyn"]
    rows = {"sky": sky, "wind": wind, "k": [*"ppqpqqqp"]}
    members = (likely.NaiveBayes(), likely.FullBayes())
    model = likely.fit(rows, "k", likely.Pool(members, weights=(0.5, 0.25)))
    row = {"sky": "s", "wind": "y"}
    found = model.working(row)
    assert [name for name, _ in found.parts] == ["Member 1, naive Bayes", "Member 2, full Bayes"]
    alone = [str(likely.fit(rows, "k", member).working(row)) for member in members]
    assert [str(part) for _, part in found.parts] == alone
    evidence = {}
    for label in "pq":
        inside = [(s, w) for s, w, k in zip(sky, wind, rows["k"], strict=True) if k == label]
        one = F(sum(s == "s" for s, _ in inside) + 1, len(inside) + 2)
        other = F(sum(w == "y" for _, w in inside) + 1, len(inside) + 2)
        cell = F(sum(both == ("s", "y") for both in inside) + 1, len(inside) + 4)
        evidence[label] = 0.5 * math.log(one * other) + 0.25 * math.log(cell)
    for label in "pq":
        assert found.products[label] == pytest.approx(math.log(0.5) + evidence[label], rel=1e-12)
    assert model.posterior(row).prob("p") == pytest.approx(1 / (1 + math.exp(evidence["q"] - evidence["p"])), rel=1e-12)
    told = str(found)
    assert "g(class) = log P(class) + 0.5 × e1(class) + 0.25 × e2(class)" in told and "L(p) = 4/8 × 4/6 × " in told
    assert found.to_dict()["members"][1]["working"]["lines"] == alone[1].splitlines()  # type: ignore[index]


def test_the_default_shows_means_and_covariances_of_its_members(examples: Path) -> None:
    model = likely.fit(examples / "iris.csv", "species")
    whole = str(model.working({"sepal_length": 6.1, "sepal_width": 3.0, "petal_length": 4.8, "petal_width": 1.7}))
    assert "inverse S⁻¹: Iris-setosa [" in whole and "petal_width: mean and sd: Iris-setosa (0.244, 0.1072)" in whole
    assert "held to a lower bound for some class" in whole
    # With unknown cells it is an average over what they may hold, and no weighted sum of members.
    assert "Member" not in str(model.working({"sepal_length": 6.1}))
