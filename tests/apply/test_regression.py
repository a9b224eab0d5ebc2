"""Plain regression: rows without a target, levels, awkward columns, and the command."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from cli.conftest import run_here as run

import likely
from likely.errors import LikelyError


def test_rows_without_a_target_are_left_out_of_every_sum() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=50), rng.normal(size=50)
    gone = rng.random(50) < 0.3
    holes = likely.regress({"x": x, "y": np.where(gone, np.nan, y)}, "y", types={"x": "number"})
    without = likely.regress({"x": x[~gone], "y": y[~gone]}, "y", types={"x": "number"})
    assert (holes.constant, holes.weights, holes.r2) == (without.constant, without.weights, without.r2)
    assert holes.left_out == gone.sum() and holes.rows == without.rows == (~gone).sum()


def test_levels_and_missing_numbers() -> None:
    rows = {"c": ["u", "u", "v", "v", None], "x": [1.0, None, 3.0, None, 5.0], "y": [1.0, 2.0, 5.0, 6.0, 20.0]}
    found = likely.regress(rows, "y", types={"x": "number"})
    np.testing.assert_allclose(found.predict(rows), rows["y"], atol=1e-9)
    assert {(w.attribute, w.level) for w in found.weights} == {("c", "u"), ("c", "v"), ("x", ""), ("x", "(missing)")}
    by = {(w.attribute, w.level): w.weight for w in found.weights}
    assert found.constant + by["c", "u"] + by["x", "(missing)"] == pytest.approx(2.0)
    assert found.constant + by["c", "v"] + 3.0 * by["x", ""] == pytest.approx(5.0)
    assert found.predict({"c": "never", "x": 3.0}) == pytest.approx(found.constant + 3 * by["x", ""])


def test_threads_change_nothing() -> None:
    rng = np.random.default_rng(1)
    rows = {"a": rng.normal(1e9, 1e-3, 400), "b": rng.normal(size=400), "y": rng.normal(size=400)}
    one, two = (likely.regress(rows, "y", threads=n) for n in (1, 3))
    assert (one.constant, one.weights, one.r2) == (two.constant, two.weights, two.r2)


def test_corners() -> None:
    same = likely.regress({"x": [1.0, 2.0, 3.0], "y": [4.0, 4.0, 4.0]}, "y", types={"x": "number"})
    assert math.isnan(same.r2) and same.predict({"x": 9.0}) == 4.0 and "nothing to explain" in same.notes[-1]
    exact = likely.regress({"x": [1.0, 2.0], "y": [4.0, 6.0]}, "y", types={"x": "number"})
    assert exact.predict({"x": 3.0}) == pytest.approx(8.0) and math.isnan(exact.weights[0].error)
    none = likely.regress({"x": [1.0, 1.0, 1.0], "y": [1.0, 2.0, 6.0]}, "y", types={"x": "number"})
    assert none.predict({"x": 1.0}) == pytest.approx(3.0) and none.r2 == pytest.approx(0, abs=1e-15)
    rng = np.random.default_rng(2)
    wide = {f"x{k}": rng.normal(size=5) for k in range(12)} | {"y": rng.normal(size=5)}
    many = likely.regress(wide, "y", types={f"x{k}": "number" for k in range(12)})
    np.testing.assert_allclose(many.predict(wide), wide["y"], atol=1e-9)
    assert any("smallest norm" in n for n in many.notes)
    huge = likely.regress({"x": [1e300, 2e300, 3e300], "y": [1e-300, 2e-300, 3e-300]}, "y", types={"x": "number"})
    assert huge.predict({"x": 4e300}) == pytest.approx(4e-300)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"target": "z"}, "no column 'z'"),
        ({"ridge": -1.0}, "ridge"),
        ({"target_bins": 3}, "bins"),
        ({"target": "c"}, "not numbers"),
    ],
)
def test_sentences(arguments: dict[str, object], sentence: str) -> None:
    rows = {"x": [1.0, 2.0, 3.0], "c": ["u", "v", "w"], "y": [1.0, 2.0, 3.0]}
    with pytest.raises(LikelyError, match=sentence):
        likely.regress(rows, **{"target": "y", **arguments})  # type: ignore[arg-type]


def test_the_command(examples: Path) -> None:
    done = run("regress", str(examples / "iris.csv"), "petal_width")
    assert done.code == 0, done.err
    assert "explain 95.4 % of the variance of petal_width" in done.out and "petal_width = 0.0842117" in done.out
    found = json.loads(run("regress", str(examples / "iris.csv"), "petal_width", "--ridge", "10", "--json").out)
    assert found["target"] == "petal_width" and 0.9 < found["r2"] < 0.954 and found["residual"] is None
    wrong = run("regress", str(examples / "iris.csv"), "species")
    assert wrong.code == 2 and "species" in wrong.err and "Traceback" not in wrong.err


def test_errors_and_predictions_on_paper(tmp_path: Path) -> None:
    """Squared error and likelihood on training and held-out rows, and a prediction, against exact fractions."""
    x, y = [0, 1, 2, 3, 4, 5], [1, 3.5, 4, 8, 9.5, 10]
    xs, ys = [Fraction(v) for v in x], [Fraction(v) for v in y]
    n, sx, sy = 6, sum(xs), sum(ys)
    slope = (n * sum(a * b for a, b in zip(xs, ys, strict=True)) - sx * sy) / (n * sum(a * a for a in xs) - sx * sx)
    constant = (sy - slope * sx) / n
    squared = sum((b - constant - slope * a) ** 2 for a, b in zip(xs, ys, strict=True))
    (tmp_path / "line.csv").write_text("x,y\n" + "".join(f"{a},{b}\n" for a, b in zip(x, y, strict=True)))
    (tmp_path / "new.csv").write_text("y,x\n13,6\n,7\n15,8\n")
    asked = ["regress", tmp_path / "line.csv", "y", "x=-2", "--held-out", tmp_path / "new.csv"]
    found = json.loads(run(*asked, "--json").done().out)
    noise = float(squared / 6)
    assert found["prediction"] == pytest.approx(float(constant - 2 * slope), rel=1e-12)
    assert found["errors"]["squared"] == pytest.approx(float(squared), rel=1e-12) and found["errors"]["rows"] == 6
    assert found["errors"]["log_likelihood"] == pytest.approx(-3 * (math.log(2 * math.pi * noise) + 1), rel=1e-12)
    new = (13 - constant - 6 * slope) ** 2 + (15 - constant - 8 * slope) ** 2
    assert found["held_out"]["squared"] == pytest.approx(float(new), rel=1e-12) and found["held_out"]["rows"] == 2
    expected = -math.log(2 * math.pi * noise) - float(new) / (2 * noise)
    assert found["held_out"]["log_likelihood"] == pytest.approx(expected, rel=1e-12)
    out = run(*asked).done().out
    assert "Prediction: y = 1.21429 + 1.91429·−2 = −2.61429" in out
    assert "squared error 3.37143 over 6 rows, 0.561905 a row; log-likelihood -6.78436" in out
    assert "On held-out rows: squared error" in out
    run("regress", tmp_path / "line.csv", "y", "x=far").refused("'x' is a number, and 'far' is none")
    run("regress", tmp_path / "line.csv", "y", "z=1").refused("'z'")


def test_errors_by_weight_levels_and_a_perfect_line() -> None:
    rows = {"c": ["u", "v", "u", "v"], "y": [1.0, 5.0, 3.0, 9.0], "w": [1.0, 1.0, 3.0, 1.0]}
    found = likely.regress(rows, "y", weight="w")
    # u: mean (1 + 9) / 4 = 5/2, off by 9/4 + 3/4; v: mean 7, off by 4 + 4.
    assert found.squared_error == pytest.approx(11) and found.errors.rows == 6
    assert found.judge(rows).squared == pytest.approx(11) and found.judge(rows).rows == 6
    assert found.working({"c": "v"}).endswith(" = 7") and found.working({"c": None}).count("=") == 1
    perfect = likely.regress({"x": [0.1, 0.2, 0.3], "y": [0.3, 0.5, 0.7]}, "y", types={"x": "number"})
    assert perfect.squared_error == 0 and perfect.errors.log_likelihood == math.inf
    with pytest.raises(LikelyError, match="nothing is judged"):
        perfect.judge({"x": [1.0], "y": [None]})
