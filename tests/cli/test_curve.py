"""likely curve: the table, the chart, JSON, and what is refused."""

from __future__ import annotations

import json
import random
from xml.etree import ElementTree

import pytest

NAIVE = ("--learner", "NaiveBayes")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def ugly(write) -> str:
    """Names and classes that a shell, CSV, XML and rich's markup stumble over."""
    chance = random.Random(0)
    lines = ['"a=b, <c>","ü ""q"" [b]",tar & <get>']
    for _ in range(400):
        y = chance.choice(["[red]", "</svg>"])
        a = y if chance.random() < 0.7 else chance.choice(["[red]", "=1"])
        lines.append(f'"{a}",{chance.gauss(y == "[red]", 1):.3f},"{y}"')
    write("ug <l> y.csv", "\n".join(lines) + "\n")
    return "ug <l> y.csv"


def test_the_table_says_what_more_rows_would_buy(run, ugly) -> None:
    out = run("curve", ugly, "tar & <get>", *NAIVE).done().out
    assert "tar & <get> in ug <l> y.csv: 400 rows." in out
    assert "Learning curve: each of 5 folds" in out and "guessing" in out and "▇" in out
    assert "The last step, from 160 to 320 rows, changed accuracy by " in out
    assert "With twice the rows, expect" in out or "cannot be said" in out


def test_the_chart_is_sound_and_says_everything_in_words(run, ugly, tmp_path) -> None:
    run("curve", ugly, "tar & <get>", *NAIVE, "--svg", "c.svg", "--steps", "5").done()
    root = ElementTree.parse(tmp_path / "c.svg").getroot()
    assert root.tag == f"{SVG}svg" and root.get("role") == "img"
    assert root.findtext(f"{SVG}title") == "Learning curve of tar & <get> in ug <l> y.csv"
    assert "Always guessing the most frequent class gets" in (root.findtext(f"{SVG}desc") or "")
    words = [t.text for t in root.iter(f"{SVG}text")]
    assert {"Accuracy", "Log loss", "rows learned from", "bits a row", "20", "320"} <= set(words)
    circles = [*root.iter(f"{SVG}circle")]
    assert len(circles) >= 10
    for c in circles:
        assert 0 <= float(c.get("cx", "nan")) <= 640 and 0 <= float(c.get("cy", "nan")) <= 552


def test_json_and_seeds(run, ugly) -> None:
    args = ("curve", ugly, "tar & <get>", "--json")
    one = run(*args, *NAIVE).done().out
    record = json.loads(one)
    assert [round(p["rows"]) for p in record["points"]] == [10, 20, 40, 80, 160, 320]
    assert record["folds"] == 5 and record["parts"] == 40
    assert run(*args, *NAIVE, "--threads", "1").done().out == one != run(*args, *NAIVE, "--seed", "1").done().out
    other = json.loads(run(*args, "--folds", "10", "--steps", "3", "--learner", "Logistic").done().out)
    assert (other["folds"], len(other["points"]), round(other["points"][-1]["rows"])) == (10, 3, 360)


def test_an_infinite_loss_is_explained(run, write) -> None:
    chance = random.Random(1)
    lines = ["x,y", "1,rare", "2,rare", *(f"{chance.gauss(0, 1):.2f},{chance.choice('ab')}" for _ in range(200))]
    write("rare.csv", "\n".join(lines) + "\n")
    out = run("curve", "rare.csv", "y", *NAIVE).done().out
    assert "infinite" in out and "'rare' was not among the rows learned from in " in out
    why = "there are too few sizes at which it is finite"
    assert f"log loss would change with twice the rows cannot be predicted: {why}" in out


def test_few_rows(run, examples) -> None:
    out = run("curve", examples / "weather.csv", "play", "--svg", "w.svg").done().out
    assert "There are only 14 rows, so they make 5 parts rather than 40, in 5 folds." in out


def test_bad_input(run, ugly, write) -> None:
    run("curve", ugly, "target").refused("has no column 'target'")
    run("curve", ugly).refused("TARGET")
    run("curve", ugly, "tar & <get>", "--folds", "1").refused("--folds")
    run("curve", ugly, "tar & <get>", "--steps", "11").refused("--steps")
    run("curve", ugly, "tar & <get>", "--svg", "no/such/c.svg").refused("there is no folder")
    write("one.csv", "x,y\n1,a\n2,a\n")
    run("curve", "one.csv", "y").refused("the same class 'a'")
    write("two.csv", "x,y\n1,a\n2,b\n")
    run("curve", "two.csv", "y").refused("Give more rows")
    write("none.csv", "x,y\n1,\n2,\n")
    run("curve", "none.csv", "y").refused("None of the 2 rows")
