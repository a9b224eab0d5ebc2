"""likely score: densities of rows as a file, their sum, the unlikely rows, and a sentence where there is no density."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import Ran, run_here

import likely


def run(*arguments: object) -> Ran:
    return run_here("score", *arguments)


@pytest.fixture(scope="module")
def density(tmp_path_factory: Any, examples: Path) -> Path:
    path: Path = tmp_path_factory.mktemp("models") / "d.likely"
    likely.fit(examples / "people.csv", learner=likely.Density(pseudo_count=0)).save(path)
    return path


def test_the_sum_the_mean_and_the_rows(density: Path, examples: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    done = run(examples / "people.csv", "--model", density, "-o", out, "--lowest", 2)
    assert done.code == 0, done.err
    with open(out, encoding="utf-8") as file:
        values = [float(row["log_density"]) for row in csv.DictReader(file)]
    assert values == pytest.approx([math.log(0.1)] * 10)
    assert f"{10 * math.log(0.1):.8g}" in done.out and "log P of all 10 rows" in done.out
    assert [line.split()[0] for line in done.out.splitlines()[4:6]] == ["1", "2"]


def test_json_and_rows_that_are_impossible(density: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("height,weight,long_hair,sex\ns,l,y,f\nt,l,y,m\n?,l,,\n", encoding="utf-8")
    done = run(other, "--model", density, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert (found["rows"], found["impossible"], found["log_density"]) == (3, 1, None)
    assert found["lowest"][0] == {"row": 2, "log_density": None}
    assert found["lowest"][2]["log_density"] == pytest.approx(math.log(0.3))
    assert "impossible" in found["remarks"][0]
    piped = run(other, "--model", density, "-o", "-", "--keep")
    assert piped.out.splitlines()[0] == "height,weight,long_hair,sex,log_density"
    assert piped.out.splitlines()[2] == "t,l,y,m,-inf"
    assert "log P of all 3 rows" in piped.err


def test_a_classifier_gives_its_evidence(examples: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.likely"
    model = likely.fit(examples / "weather.csv", "play")
    model.save(path)
    done = run(examples / "weather.csv", "--model", path, "--json")
    expected = model.posterior(examples / "weather.csv").log_evidence
    assert json.loads(done.out)["log_density"] == pytest.approx(expected.sum())


def test_a_model_without_a_density_says_so(examples: Path, tmp_path: Path) -> None:
    model = likely.fit(examples / "weather.csv", "play", likely.LeastSquares())
    with pytest.raises(likely.LikelyError, match=r"not P\(row\)"):
        model.log_density(examples / "weather.csv")
    model.save(tmp_path / "m.likely")
    done = run(examples / "weather.csv", "--model", tmp_path / "m.likely")
    assert done.code == 2 and "not P(row)" in done.err


def test_held_out_rows_and_an_empty_table(density: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.csv"
    empty.write_text("height,weight,long_hair,sex\n", encoding="utf-8")
    done = run(empty, "--model", density, "-o", tmp_path / "none.csv")
    assert done.code == 0 and "no rows" in done.out
    assert (tmp_path / "none.csv").read_text(encoding="utf-8") == "log_density\n"
    bad = run(empty, "--model", tmp_path / "nothing.likely")
    assert bad.code == 2 and "Traceback" not in bad.err


def test_rows_are_weighed(examples: Path, tmp_path: Path) -> None:
    """196 cars in 16 lines: a line counts as often as its weight says, and one of weight 0 not at all."""
    counts = examples / "mpg_counts.csv"
    likely.fit(counts, weight="rows", learner=likely.Density(pseudo_count=0)).save(tmp_path / "m.likely")
    found = json.loads(run(counts, "--model", tmp_path / "m.likely", "--weight", "rows", "--json").done().out)
    assert (found["rows"], found["weight"]) == (16, 196) and found["log_density"] == pytest.approx(-466.19, abs=5e-3)
    with open(counts, encoding="utf-8") as file:
        cells = [int(row["rows"]) for row in csv.DictReader(file)]
    exact = sum(n * math.log(n / 196) for n in cells)  # the table of counts is the model
    assert found["log_density"] == pytest.approx(exact, rel=1e-12) and found["mean"] == pytest.approx(exact / 196)
    plain = json.loads(run(counts, "--model", tmp_path / "m.likely", "--json").done().out)
    assert plain["log_density"] == pytest.approx(sum(math.log(n / 196) for n in cells), rel=1e-12)
    odd = tmp_path / "odd.csv"
    odd.write_text("mpg,modelyear,maker,rows\nbad,70to74,america,2\nsuperb,70to74,america,0\n")
    more = ["--model", tmp_path / "m.likely", "--weight", "rows"]
    found = json.loads(run(odd, *more, "--json").done().out)
    assert found["log_density"] == pytest.approx(2 * math.log(54 / 196)) and found["weight"] == 2
    assert "16 rows that weigh 196" in run(counts, *more, "-o", tmp_path / "d.csv", "--keep").done().out
    assert "no column 'row'" in run(counts, "--model", tmp_path / "m.likely", "--weight", "row").err


def test_the_default_answers_by_its_model_of_rows(examples: Path, tmp_path: Path) -> None:
    """Its heaviest member that models rows says how probable rows are, and draws them; that is said in one line."""
    model = likely.fit(examples / "iris.csv", "species")
    heaviest = max(range(len(model.members)), key=lambda k: model.weights[k] if model.members[k].generative else -1)
    member = model.members[heaviest]
    assert model.log_density(examples / "iris.csv").tolist() == member.log_density(examples / "iris.csv").tolist()
    assert model.sample(5, seed=3) == member.sample(5, seed=3)
    model.save(tmp_path / "m.likely")
    out = run(examples / "iris.csv", "--model", tmp_path / "m.likely").done().out
    assert out.count("Auto is not a generative model: these are from FullBayes(shrinkage='auto')") == 1
