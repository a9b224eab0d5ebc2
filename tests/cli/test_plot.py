"""`likely plot` and `likely normal` as a lecturer types them."""

from __future__ import annotations

import json
import math

import pytest


@pytest.mark.parametrize(
    "words",
    [
        ["petal_length", "petal_width"],
        ["--show", "points,ellipses,naive"],
        ["--show", "regions", "--learner", "Neighbors", "--set", "k=3", "--point", "4.9,1.6", "--neighbors", "5"],
        ["--show", "contours", "--learner", "NaiveBayes", "--level", "0.05", "--size", "800x800"],
        ["--chart", "bits", "--learner", "NaiveBayes"],
        ["--attribute", "petal_width", "--learner", "NaiveBayes"],
    ],
)
@pytest.mark.parametrize("form", ["svg", "png"])
def test_pictures_of_a_table(run, examples, tmp_path, words, form) -> None:
    out = tmp_path / f"a.{form}"
    run("plot", examples / "iris.csv", "species", *words, "-o", out).done()
    assert out.read_bytes().startswith(b"\x89PNG" if form == "png" else b"<svg")


def test_a_line_and_a_model(run, examples, tmp_path) -> None:
    run("plot", examples / "iris.csv", "petal_width", "petal_length", "--line", "-o", "line.svg").done()
    assert "least of all lines" in (tmp_path / "line.svg").read_text()
    run("fit", examples / "weather.csv", "play", "-o", "m.likely").done()
    run("plot", "m.likely", "--attribute", "outlook", "-o", "o.svg").done()
    assert "overcast" in (tmp_path / "o.svg").read_text()
    run("plot", "m.likely", "-o", "g.svg").done()
    run("plot", "m.likely", "--chart", "bits", "-o", "b.svg").refused("need the table")


def test_bad_pictures(run, examples) -> None:
    iris = examples / "iris.csv"
    run("plot", iris, "species", "-o", "a.svg", "--show", "dots").refused("'dots'")
    run("plot", iris, "species", "-o", "a.svg", "--point", "1").refused("--point")
    run("plot", iris, "species", "-o", "a.svg", "--size", "big").refused("--size")
    run("plot", iris, "species", "a", "b", "c", "-o", "a.svg").refused("two numbers")
    run("plot", iris, "petal_width", "--line", "-o", "a.svg").refused("one column")


def test_a_normal_density_is_worked_out(run, tmp_path) -> None:
    out = run("normal", "73", "6.2", "--between", "66,80", "-o", "n.png").done().out
    assert "z = (66 - 73) / 6.2 = -1.129" in out and "= 0.741116" in out
    assert (tmp_path / "n.png").read_bytes().startswith(b"\x89PNG")
    record = json.loads(run("normal", "--json", "--between=-inf,0", "--", "0", "1").done().out)
    assert record["probability"] == 0.5 and record["between"] == [None, 0.0]
    run("normal", "0", "0").refused("above zero")
    run("normal", "0", "1", "--between", "2,1").refused("lower value")


def test_the_density_at_a_point_and_the_area_around_it(run) -> None:
    """f(66) = 0.0340 where the mean is 73 and sd 6.2, and width · f is near the exact area."""
    out = run("normal", "73", "6.2", "--at", "66").done().out
    assert "f(66) = exp(-(66 - 73)² / (2 · 6.2²)) / (6.2 · √(2π)) = 0.03402" in out
    record = json.loads(run("normal", "73", "6.2", "--at", "66", "--width", "2", "--json").done().out)
    height = math.exp(-((7 / 6.2) ** 2) / 2) / (6.2 * math.sqrt(2 * math.pi))
    area = (math.erf(-6 / 6.2 / math.sqrt(2)) - math.erf(-8 / 6.2 / math.sqrt(2))) / 2
    assert record["density"] == pytest.approx(height, rel=1e-12) and record["between"] == [65, 67]
    assert record["width_times_density"] == pytest.approx(2 * height, rel=1e-12)
    assert record["probability"] == pytest.approx(area, rel=1e-12)
    run("normal", "0", "1", "--width", "2").refused("--at")
    run("normal", "0", "1", "--at", "0", "--between", "0,1").refused("one of them")
    run("normal", "0", "1", "--at", "0", "--width", "0").refused("above zero")
