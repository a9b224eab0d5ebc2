"""Figure D, Iris as the UCI has it: the full normal density, and the joint table of sepals cut into bins."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likely
from likely import FullBayes

POINT = {"sepal_length": 6.75, "sepal_width": 4.25}
LENGTHS, WIDTHS = (5.2, 6.1, 7.0), (2.8, 3.6)


@pytest.fixture(scope="module")
def sepals(examples: Path) -> dict[str, list[Any]]:
    """Sepals of setosa (c1) and of the others (c2)."""
    with open(examples / "iris.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    table: dict[str, list[Any]] = {name: [float(r[name]) for r in rows] for name in POINT}
    return {**table, "class": ["c1" if r["species"] == "Iris-setosa" else "c2" for r in rows]}


@pytest.fixture(scope="module")
def full(sepals: dict[str, list[Any]]) -> likely.Model:
    return likely.fit(sepals, "class", FullBayes(variance="ml"))


def binned(values: Any, edges: tuple[float, ...]) -> list[str]:
    """Bins that hold their upper edge, as the figure has them."""
    return [str(k) for k in np.searchsorted(edges, values, side="left")]


def cut(table: dict[str, list[Any]]) -> dict[str, list[str]]:
    return {"length": binned(table["sepal_length"], LENGTHS), "width": binned(table["sepal_width"], WIDTHS)}


@pytest.mark.parametrize("variance", ["unbiased", "ml"])
def test_three_errors_on_the_training_rows(examples: Path, variance: str) -> None:
    model = likely.fit(examples / "iris.csv", "species", FullBayes(variance=variance))
    with open(examples / "iris.csv", encoding="utf-8") as file:
        species = [r["species"] for r in csv.DictReader(file)]
    assert sum(a != b for a, b in zip(model.predict(examples / "iris.csv"), species, strict=True)) == 3


def test_priors_means_and_covariances_of_two_classes(full: likely.Model) -> None:
    assert [round(float(q), 2) for q in full.prior] == [0.33, 0.67]
    np.testing.assert_allclose(full.joint.mean, [[5.006, 3.418], [6.262, 2.872]], atol=5e-4)
    expected = [[[0.122, 0.098], [0.098, 0.142]], [[0.435, 0.121], [0.121, 0.110]]]
    np.testing.assert_allclose(full.joint.covariance, expected, atol=5e-4)


def test_densities_of_a_far_point(full: likely.Model) -> None:
    (batch,) = full.batches([POINT])
    densities = np.exp(full.log_joint(batch)[0] - full.log_prior)
    assert densities[0] == pytest.approx(4.914e-7, abs=5e-11)
    assert densities[1] == pytest.approx(2.589e-5, abs=5e-9)
    assert full.predict(POINT) == "c2"


def test_the_cells_of_the_joint_table(sepals: dict[str, list[Any]]) -> None:
    table = {**cut(sepals), "class": sepals["class"]}
    types = dict.fromkeys(table, "nominal")
    plain = likely.fit(table, "class", FullBayes(pseudo_count=0), types=types)
    counts = np.zeros((2, 4, 3))
    for (length, width), weights in zip(plain.joint.codes, plain.joint.counts.floats(), strict=True):
        counts[:, length, width] = weights
    assert counts[0].tolist() == [[1, 33, 5], [0, 3, 8], [0, 0, 0], [0, 0, 0]]
    assert counts[1].tolist() == [[6, 0, 0], [24, 15, 0], [13, 30, 0], [3, 7, 2]]

    near = {n: v[0] for n, v in cut({"sepal_length": [5.3], "sepal_width": [3.0]}).items()}
    far = {n: v[0] for n, v in cut({n: [v] for n, v in POINT.items()}).items()}
    assert likelihoods(plain, near) == pytest.approx([3 / 50, 15 / 100], rel=1e-14)
    assert plain.predict(near) == "c2"
    assert likelihoods(plain, far) == [0, 0] and plain.predict(far) is None

    smooth = likely.fit(table, "class", FullBayes(pseudo_count=1), types=types)
    assert smooth.joint.cells == 12
    assert likelihoods(smooth, far) == pytest.approx([1 / 62, 1 / 112], rel=1e-14)
    assert smooth.predict(far) == "c2"


def likelihoods(model: likely.Model, row: dict[str, str]) -> list[float]:
    (batch,) = model.batches([row])
    return [math.exp(v) for v in model.log_joint(batch)[0] - model.log_prior]
