"""Figure I, and the last line of E: least squares, its hyperplane and its "don't know"; log-odds that are linear."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import likely

POINTS = {"x": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "y": [1.1, 2.9, 5.2, 6.8, 9.1, 10.9]}


def log_likelihood(constant: float, slope: float) -> float:
    """Of the points, were they a line with normal noise of variance 1."""
    return sum(
        -((y - constant - slope * x) ** 2) / 2 - math.log(2 * math.pi) / 2
        for x, y in zip(*POINTS.values(), strict=True)
    )


def test_with_gaussian_noise_the_line_of_maximum_likelihood_is_that_of_least_squares() -> None:
    line = likely.regress(POINTS, "y", types={"x": "number"})
    slope = line.weights[0].weight
    best = log_likelihood(line.constant, slope)
    steps = np.linspace(-0.5, 0.5, 21)
    around = [log_likelihood(line.constant + a, slope + b) for a in steps for b in steps if a or b]
    assert best > max(around)
    assert (line.constant, slope) == pytest.approx(np.polyfit(POINTS["x"], POINTS["y"], 1)[::-1], rel=1e-12)


def test_multi_response_on_iris(examples: Path) -> None:
    model = likely.fit(examples / "iris.csv", "species", likely.LeastSquares())
    true = [line.rsplit(",", 1)[1] for line in (examples / "iris.csv").read_text(encoding="utf-8").split()[1:]]
    wrong = sum(a != b for a, b in zip(model.predict(examples / "iris.csv"), true, strict=True))
    assert wrong == 23  # versicolor lies between the others, where its own regression hardly rises
    pairs = likely.fit(examples / "iris.csv", "species", likely.LeastSquares(mode="pairwise"))
    found = pairs.predict(examples / "iris.csv")
    assert sum(a != b for a, b in zip(found, true, strict=True)) < 5


@pytest.mark.parametrize("learner", [likely.LeastSquares(), likely.LeastSquares(mode="pairwise"), likely.Logistic()])
def test_the_hyperplane_of_two_classes_is_printed(learner: likely.LeastSquares | likely.Logistic) -> None:
    # Symmetric about x + z = 5, so that is where any of them must cut.
    x, z = [1.0, 2.0, 1.0, 3.0, 3.5, 4.0, 3.0, 4.0, 2.0, 1.5], [1.0, 1.0, 2.0, 1.5, 0.5, 4.0, 4.0, 3.0, 3.5, 4.5]
    rows = {"x": x, "z": z, "y": ["low"] * 5 + ["high"] * 5}
    rows = {name: [*column, *column] for name, column in rows.items()}
    rows["x"][10:], rows["z"][10:] = z, x
    model = likely.fit(rows, "y", learner, types={"x": "number", "z": "number"})
    plane = next(e for e in model.exhibits() if e.title == "Separating hyperplane")
    equation, side = " ".join(str(row[0]) for row in plane.rows), plane.rows[0][1]
    # Least squares is shown by its first class, log-odds by the second.
    assert equation.endswith(" = 0") and side == ("low" if isinstance(learner, likely.Logistic) else "high")
    there, here = side, "high" if side == "low" else "low"
    words = equation.replace("− ", "-").replace("+ ", "").replace("−", "-").split()
    a, b, c = (float(w.split("·")[0]) for w in words[:3])
    assert [w.split("·")[1] for w in words[:2]] == ["x", "z"]
    assert a == pytest.approx(b, rel=1e-4) and (a > 0) == (side == "high")
    for point in ((1.0, 1.0), (4.0, 4.0), (-c / a - 1, 1.2), (-c / a - 1, 0.8)):
        above = a * point[0] + b * point[1] + c > 0
        assert model.predict({"x": point[0], "z": point[1]}) == (there if above else here)


def test_log_odds_are_linear_in_the_attributes(examples: Path) -> None:
    model = likely.fit(examples / "iris.csv", "species", likely.Logistic(ridge=1.0))
    row = {"sepal_length": 6.0, "sepal_width": 3.0, "petal_length": 4.0, "petal_width": 1.3}

    def odds(petal: float) -> float:
        joint = np.log(model.posterior({**row, "petal_length": petal}).matrix[0])
        return float(joint[2] - joint[1])

    assert odds(5.0) - odds(4.0) == pytest.approx(odds(4.0) - odds(3.0), rel=1e-9)
    weights = next(r for r in model.exhibits()[0].rows if r[0] == "petal_length")
    assert odds(5.0) - odds(4.0) == pytest.approx(float(weights[3]) - float(weights[2]), rel=1e-9)
