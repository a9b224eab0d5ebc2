"""Figure D, Iris cut into bins: the naive version of its cells, (n_cv + 1) / (n_c + m_j). Its bins are (a, b]."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import likely

EDGES = {"sepal_length": (5.2, 6.1, 7.0), "sepal_width": (2.8, 3.6)}


@pytest.fixture(scope="module")
def table(examples: Path) -> dict[str, list[object]]:
    _, *lines = (examples / "iris.csv").read_text(encoding="utf-8").split()
    rows = [line.split(",") for line in lines]
    return {
        "sepal_length": [float(r[0]) for r in rows],
        "sepal_width": [float(r[1]) for r in rows],
        "class": ["c1" if r[4] == "Iris-setosa" else "c2" for r in rows],
    }


def fitted(table: dict[str, list[object]], pseudo_count: float) -> likely.Model:
    learner = likely.NaiveBayes(pseudo_count=pseudo_count, numbers="binned", bins=EDGES, bins_closed="right")
    return likely.fit(table, "class", learner)


def test_margins_of_the_cells(table: dict[str, list[object]]) -> None:
    length, width = fitted(table, 1).factors
    assert length.levels.labels.names == ["up to 5.2", "above 5.2 to 6.1", "above 6.1 to 7", "above 7"]
    # Sums over the cells of the figure: (1,33,5),(0,3,8),(0,0,0),(0,0,0) and (6,0,0),(24,15,0),(13,30,0),(3,7,2).
    assert length.levels.seen().T.tolist() == [[39, 11, 0, 0], [6, 39, 43, 12]]
    assert width.levels.seen().T.tolist() == [[1, 36, 13], [46, 52, 2]]


def test_probabilities_with_a_pseudo_count_of_one(table: dict[str, list[object]]) -> None:
    working = fitted(table, 1).working({"sepal_length": 6.75, "sepal_width": 4.25})
    (_, length, width) = working.steps
    assert (str(length.values["c1"]), str(length.values["c2"])) == ("1/54", "44/104")
    assert (str(width.values["c1"]), str(width.values["c2"])) == ("14/53", "3/103")
    assert working.products["c1"] == Fraction(1, 3) * Fraction(1, 54) * Fraction(14, 53)
    assert working.best == "c2"


def test_without_smoothing(table: dict[str, list[object]]) -> None:
    model = fitted(table, 0)
    near = model.working({"sepal_length": 5.3, "sepal_width": 3.0})
    assert near.products == {
        "c1": Fraction(50, 150) * Fraction(11, 50) * Fraction(36, 50),
        "c2": Fraction(100, 150) * Fraction(39, 100) * Fraction(52, 100),
    }
    assert near.best == "c2"
    assert model.working({"sepal_length": 6.75, "sepal_width": 4.25}).products["c1"] == 0


def test_an_edge_belongs_to_the_bin_below_it(table: dict[str, list[object]]) -> None:
    model = fitted(table, 1)
    assert "'up to 5.2'" in model.working({"sepal_length": 5.2}).notes[0]
    left = likely.NaiveBayes(numbers="binned", bins=EDGES).learn(model.summary)
    assert "'5.2 to below 6.1'" in left.working({"sepal_length": 5.2}).notes[0]
