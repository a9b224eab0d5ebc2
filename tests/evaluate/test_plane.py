"""The picture of two numbers: its means, spreads and regions beside numpy and the learners themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import likely

COLUMNS, ROWS = 44, 33
"""Of the grid whose cells are coloured."""


def places(ends: tuple[float, float], count: int) -> np.ndarray:
    """The middles of so many cells between two ends."""
    return ends[0] + (np.arange(count) + 0.5) * ((ends[1] - ends[0]) / count)


def test_iris_is_drawn_of_all_rows(examples: Path) -> None:
    found = likely.look(examples / "iris.csv", "species", likely.NaiveBayes(), picture=True)
    plane = found.plane
    assert plane is not None and plane.every and plane.rows == 150
    assert {plane.x, plane.y} == {"petal_width", "petal_length"}
    data = np.genfromtxt(examples / "iris.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
    for name, mean, spread in zip(plane.classes, plane.means, plane.spreads, strict=True):
        own = data[data["species"] == name]
        both = np.stack([own[plane.x], own[plane.y]])
        assert mean == pytest.approx(both.mean(axis=1))
        wanted = np.cov(both)
        assert spread == pytest.approx((wanted[0, 0], wanted[0, 1], wanted[1, 1]))
    learners = {
        "Naive Bayes": likely.NaiveBayes(),
        "Full Bayes": likely.FullBayes(),
        "1 nearest neighbour": likely.Neighbors(k=1),
        "10 nearest neighbours": likely.Neighbors(k=10),
    }
    across, up = np.meshgrid(places(plane.x_range, COLUMNS), places(plane.y_range, ROWS))
    grid = {plane.x: across.ravel(), plane.y: up.ravel()}
    types = {c: "ignore" for c in data.dtype.names if c not in (plane.x, plane.y, "species")}
    for name, learner in learners.items():
        model = likely.fit(examples / "iris.csv", "species", learner, types=types)
        assert plane.regions[name] == tuple(model.posterior(grid).codes.tolist()), name


def test_a_large_table_is_drawn_of_some_rows_whatever_the_threads() -> None:
    rng = np.random.default_rng(0)
    table = {"x": rng.normal(size=30_000), "y": rng.normal(size=30_000), "k": rng.choice(["a", "b"], 30_000)}
    one, two = (likely.look(table, "k", likely.NaiveBayes(), picture=True, threads=n).plane for n in (1, 2))
    assert one == two and one is not None
    assert 900 < one.rows < 1500 and not one.every


@pytest.mark.parametrize(
    "table",
    [
        {"x": [1.0, 2.0] * 20, "k": ["a", "b"] * 20},
        {"x": ["u", "v"] * 20, "z": ["u", "v"] * 20, "k": ["a", "b"] * 20},
        {"x": [float(k) for k in range(40)], "z": [3.5] * 40, "k": ["a", "b"] * 20},
    ],
    ids=["one number", "no number", "a constant"],
)
def test_without_two_numbers_there_is_no_picture(table: dict[str, list[object]]) -> None:
    assert likely.look(table, "k", likely.NaiveBayes(), picture=True).plane is None


def test_numbers_on_a_line_leave_full_bayes_out_or_drawn() -> None:
    x = [float(k % 17) / 3 for k in range(60)]
    found = likely.look(
        {"x": x, "z": [2 * v for v in x], "k": ["a", "b", "b"] * 20}, "k", likely.NaiveBayes(), picture=True
    ).plane
    assert found is not None and "Naive Bayes" in found.regions


def test_missing_cells_weights_and_infinities_are_passed_over() -> None:
    rng = np.random.default_rng(1)
    x, z = rng.normal(size=80), rng.normal(size=80)
    x[::5], z[1::7] = np.nan, np.inf
    table = {"x": x, "z": z, "w": [0.0, 2.0] * 40, "k": ["a", "a", "b", "b"] * 20}
    found = likely.look(table, "k", likely.NaiveBayes(), picture=True, weight="w").plane
    kept = np.isfinite(x) & np.isfinite(z) & (np.arange(80) % 2 == 1)
    assert found is not None and found.rows == int(kept.sum())
