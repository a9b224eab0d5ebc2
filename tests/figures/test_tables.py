"""Tables as the books print them: counts, Laplace counts, P and smoothed P; trees in fractions; planes."""

from __future__ import annotations

from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import likely

SPECIES = ("Iris-setosa", "Iris-versicolor", "Iris-virginica")


def test_figure_b_all_attributes_at_once_in_the_order_of_the_file(examples: Path) -> None:
    model = likely.fit(examples / "weather.csv", "play", likely.NaiveBayes(pseudo_count=1))
    found = likely.tables(model, levels_of=examples / "weather.csv", levels={"play": ["yes", "no"]})
    assert [t.name for t in found] == ["play", "outlook", "temperature", "humidity", "windy"]
    counts = {t.name: {row.level: tuple(map(int, row.counts)) for row in t.rows} for t in found[1:]}  # type: ignore[union-attr]
    assert counts == {
        "outlook": {"sunny": (2, 3), "overcast": (4, 0), "rainy": (3, 2)},
        "temperature": {"hot": (2, 2), "mild": (4, 2), "cool": (3, 1)},
        "humidity": {"high": (3, 4), "normal": (6, 1)},
        "windy": {"false": (6, 2), "true": (3, 3)},
    }
    assert list(counts["outlook"]) == ["sunny", "overcast", "rainy"]
    assert [row.level for row in found[0].rows] == ["yes", "no"]  # type: ignore[union-attr]
    for table in found[1:]:
        size = len(table.rows)  # type: ignore[union-attr]
        for row in table.rows:  # type: ignore[union-attr]
            for n, whole, added, plain, smoothed in zip(
                row.counts, (9, 5), row.added, row.plain, row.smoothed, strict=True
            ):
                assert added == n + 1 and plain.value == F(n, whole) and smoothed.value == F(n + 1, whole + size)


def test_order_by_choice_and_what_cannot_be_ordered(examples: Path) -> None:
    model = likely.fit(examples / "weather_mixed.csv", "play", likely.NaiveBayes(pseudo_count=0))
    (table,) = likely.tables(model, attribute="outlook", levels={"outlook": ["sunny"]})
    assert [row.level for row in table.rows] == ["sunny", "overcast", "rainy"] and not table.is_smoothed  # type: ignore[union-attr]
    (number,) = likely.tables(model, attribute="temperature")
    assert number.means == pytest.approx((74.6, 73.0)) and number.deviations == pytest.approx((7.893, 6.164), abs=1e-3)  # type: ignore[union-attr]
    with pytest.raises(likely.LikelyError, match="no level 'snow'"):
        likely.tables(model, levels={"outlook": ["snow"]})
    with pytest.raises(likely.LikelyError, match="no levels to put in order"):
        likely.tables(model, levels={"temperature": ["1"]})
    with pytest.raises(likely.LikelyError, match="none of the columns"):
        likely.tables(model, levels_of={"other": ["1", "2"]})


def test_bins_and_words_are_levels_too(examples: Path) -> None:
    learner = likely.NaiveBayes(numbers="binned", bins={"sepal_length": (5.5, 6.5), "*": "mdl"})
    (table,) = likely.tables(likely.fit(examples / "iris.csv", "species", learner), attribute="sepal_length")
    assert table.kind == "bin" and [row.level for row in table.rows] == ["below 5.5", "5.5 to below 6.5", "6.5 or more"]  # type: ignore[union-attr]
    assert sum(row.counts[0] for row in table.rows) == 50  # type: ignore[union-attr]
    mails = {"mail": ["a b a", "b b", "a c"], "label": ["x", "x", "y"]}
    words = likely.NaiveBayes(text=likely.Text("multinomial"))
    (table,) = likely.tables(likely.fit(mails, "label", words, types={"mail": "text"}), attribute="mail")
    assert [(r.level, r.counts, str(r.smoothed[0])) for r in table.rows] == [  # type: ignore[union-attr]
        ("a", (2, 1), "3/8"),
        ("b", (3, 0), "4/8"),
        ("c", (0, 1), "1/8"),
    ]


def test_the_tables_of_a_tree_are_those_it_scores_with(examples: Path) -> None:
    for pseudo_count in (0.0, 0.5, 1.0):
        model = likely.fit(examples / "weather.csv", "play", likely.TreeAugmented(pseudo_count=pseudo_count))
        tables = model.cell_tables()
        assert [t.title for t in tables][:2] == ["P(outlook | class)", "P(temperature | outlook, class)"]
        for table, v in zip(tables, model.order.tolist(), strict=True):  # type: ignore[attr-defined]
            told = np.array([[float(F(cell)) for cell in row[-2:]] for row in table.rows])  # type: ignore[arg-type]
            own = model.tables[v].transpose(1, 0, 2).reshape(-1, 2)  # type: ignore[attr-defined]
            np.testing.assert_allclose(told, own, rtol=1e-12)


@pytest.fixture(scope="module")
def iris(examples: Path) -> tuple[np.ndarray, np.ndarray]:
    lines = [line.split(",") for line in (examples / "iris.csv").read_text(encoding="utf-8").split()[1:]]
    return np.array([[float(v) for v in line[:4]] for line in lines]), np.array([line[4] for line in lines])


@pytest.mark.parametrize("learner", [likely.LeastSquares(), likely.Logistic(), likely.LinearDiscriminant()])
def test_the_plane_between_any_two_classes_is_where_their_scores_are_equal(
    learner: object, examples: Path, iris: tuple[np.ndarray, np.ndarray]
) -> None:
    model = likely.fit(examples / "iris.csv", "species", learner)
    x, _ = iris
    (batch,) = model.batches(examples / "iris.csv")
    scores = (
        model.score.outputs.scored(batch)[0] if isinstance(learner, likely.LeastSquares) else model.log_joint(batch)
    )  # type: ignore[attr-defined]
    for a, first in enumerate(SPECIES):
        for b, second in enumerate(SPECIES):
            if a != b:
                plane = model.plane_between(first, second)
                own = plane.constant + x @ np.array([w for _, _, w in plane.weights])
                np.testing.assert_allclose(own, scores[:, a] - scores[:, b], rtol=1e-6, atol=1e-9)


def test_the_plane_of_linear_discriminants_against_scikit_learn(
    examples: Path, iris: tuple[np.ndarray, np.ndarray]
) -> None:
    peer = LinearDiscriminantAnalysis(solver="lsqr").fit(*iris)
    model = likely.fit(examples / "iris.csv", "species", likely.LinearDiscriminant())
    plane = model.plane_between(SPECIES[2], SPECIES[0])
    # scikit-learn divides by n, this by n - classes.
    assert [w for _, _, w in plane.weights] == pytest.approx((peer.coef_[2] - peer.coef_[0]) * 147 / 150, rel=1e-9)


def test_the_plane_of_a_pair_and_of_levels(examples: Path) -> None:
    model = likely.fit(examples / "iris.csv", "species", likely.LeastSquares(mode="pairwise"))
    (batch,) = model.batches(examples / "iris.csv")
    x = np.column_stack([batch.cells[c.name] for c in model.schema.attributes])
    for first, second, sign in ((SPECIES[0], SPECIES[2], 1), (SPECIES[2], SPECIES[0], -1)):
        plane = model.plane_between(first, second)
        own = plane.constant + x @ np.array([w for _, _, w in plane.weights])
        np.testing.assert_allclose(own, sign * model.score.outputs.scored(batch)[0][:, 1], rtol=1e-6, atol=1e-9)  # type: ignore[attr-defined]
    weather = likely.fit(examples / "weather.csv", "play", likely.LeastSquares()).plane_between("yes", "no")
    assert "[outlook=overcast]" in weather.equation() and weather.equation().endswith(" = 0")
    naive = likely.fit(examples / "weather.csv", "play", likely.NaiveBayes())
    with pytest.raises(likely.LikelyError, match=r"draws no hyperplane.*LeastSquares, LinearDiscriminant and Logistic"):
        naive.plane_between("yes", "no")
