"""Figure D, the nearest neighbours of a far point in two classes of Iris, measured without scaling."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likely

POINT = {"sepal_length": 6.75, "sepal_width": 4.25}


@pytest.fixture(scope="module")
def table(examples: Path) -> dict[str, Any]:
    header, *lines = (examples / "iris.csv").read_text(encoding="utf-8").split()
    iris = dict(zip(header.split(","), zip(*(line.split(",") for line in lines), strict=True), strict=True))
    labels = ["c1" if s == "Iris-setosa" else "c2" for s in iris["species"]]
    return {**{name: [float(v) for v in iris[name]] for name in POINT}, "class": labels}


def test_one_of_five_neighbours_is_of_the_first_class(table: dict[str, Any]) -> None:
    model = likely.fit(table, "class", likely.Neighbors(k=5, scale=False))
    (batch,) = model.batches([POINT])
    votes, radius = model.neighbours(batch)
    np.testing.assert_allclose(votes, [[1, 4]], rtol=1e-12)
    assert radius[0] == pytest.approx(0.982, abs=5e-4)
    assert model.predict(POINT) == "c2"
    assert model.posterior(POINT).prob("c2") == pytest.approx(0.8)


def test_a_repeated_point_counted_once_gives_the_printed_radius(table: dict[str, Any]) -> None:
    rows = sorted({row for row in zip(*table.values(), strict=True)})
    once = dict(zip(table, zip(*rows, strict=True), strict=True))
    model = likely.fit(once, "class", likely.Neighbors(k=5, scale=False))
    (batch,) = model.batches([POINT])
    assert model.neighbours(batch)[1][0] == pytest.approx(math.sqrt(1.025))


def test_scaling_changes_who_is_near(table: dict[str, Any]) -> None:
    (batch,) = (model := likely.fit(table, "class", likely.Neighbors(k=5))).batches([POINT])
    (raw,) = (plain := likely.fit(table, "class", likely.Neighbors(k=5, scale=False))).batches([POINT])
    assert model.neighbours(batch)[1][0] < 0.6 < plain.neighbours(raw)[1][0]


def test_the_density_reading(table: dict[str, Any]) -> None:
    learner = likely.Neighbors(k=5, scale=False, reading="density")
    model = likely.fit(table, "class", learner)
    (batch,) = model.batches([POINT])
    radius = model.neighbours(batch)[1][0]
    volume = math.pi * radius**2
    np.testing.assert_allclose(np.exp(model.log_likelihood(batch)), [[1 / (50 * volume), 4 / (100 * volume)]])
    assert model.posterior(POINT).prob("c2") == pytest.approx(0.8)  # K_i/(n_i V) times n_i/n is K_i/K, over V
