"""Figure D, Iris as the UCI has it: what Gaussian naive Bayes makes of it. The full normal is another model."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import likely

POINT = {"sepal_length": 6.75, "sepal_width": 4.25}


@pytest.fixture(scope="module")
def iris(examples: Path) -> dict[str, list[str]]:
    header, *lines = (examples / "iris.csv").read_text(encoding="utf-8").split()
    columns = zip(*(line.split(",") for line in lines), strict=True)
    return dict(zip(header.split(","), map(list, columns), strict=True))


@pytest.fixture(scope="module")
def two_classes(iris: dict[str, list[str]]) -> likely.Model:
    table = {name: [float(v) for v in iris[name]] for name in POINT}
    labels = ["c1" if s == "Iris-setosa" else "c2" for s in iris["species"]]
    return likely.fit({**table, "class": labels}, "class", likely.NaiveBayes(variance="ml"))


def test_the_copy_is_the_one_of_the_uci(iris: dict[str, list[str]]) -> None:
    measures = [iris[name] for name in list(iris)[:4]]
    assert len(iris["species"]) == 150
    for row in (35, 38):
        assert [m[row - 1] for m in measures] == ["4.9", "3.1", "1.5", "0.1"]


@pytest.mark.parametrize("variance", ["unbiased", "ml"])
def test_six_errors_on_the_training_rows(examples: Path, iris: dict[str, list[str]], variance: str) -> None:
    model = likely.fit(examples / "iris.csv", "species", likely.NaiveBayes(variance=variance))
    assert [type(f).__name__ for f in model.factors] == ["Gaussian"] * 4
    wrong = [a != b for a, b in zip(model.predict(examples / "iris.csv"), iris["species"], strict=True)]
    assert sum(wrong) == 6


def test_priors_means_and_variances_of_two_classes(two_classes: likely.Model) -> None:
    assert [round(float(q), 2) for q in two_classes.prior] == [0.33, 0.67]
    length, width = two_classes.factors
    np.testing.assert_allclose([length.mean[0], width.mean[0]], [5.006, 3.418], atol=5e-4)
    np.testing.assert_allclose([length.mean[1], width.mean[1]], [6.262, 2.872], atol=5e-4)
    np.testing.assert_allclose(length.deviation**2, [0.122, 0.435], atol=5e-4)
    np.testing.assert_allclose(width.deviation**2, [0.142, 0.110], atol=5e-4)


def test_naive_densities_of_a_far_point(two_classes: likely.Model) -> None:
    working = two_classes.working(POINT)
    densities = {c: math.prod(step.values[c] for step in working.steps[1:]) for c in ("c1", "c2")}
    assert densities["c1"] == pytest.approx(3.998e-7, abs=5e-11)
    assert densities["c2"] == pytest.approx(9.597e-5, abs=5e-9)
    assert working.best == two_classes.predict(POINT) == "c2"
