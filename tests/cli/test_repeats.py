"""likely repeats, and the line of likely explain that says how sure the number is."""

from __future__ import annotations

import json
import random

import pytest


@pytest.fixture
def ugly(write) -> str:
    """Two columns that repeat each other, under names that a shell, CSV and rich's markup stumble over."""
    chance = random.Random(0)
    lines = ['"a=b, c","ü ""q"" [b]",[bold]x,tar get']
    for _ in range(500):
        y = chance.choice(["[red]", "ja 'so'"])
        a = y if chance.random() < 0.7 else chance.choice(["[red]", "=1"])
        lines.append(f'"{a}","{a}!",{chance.gauss(0, 1):.3f},"{y}"')
    write("ugly.csv", "\n".join(lines) + "\n")
    return "ugly.csv"


def test_a_pair_is_named_and_what_would_change(run, ugly) -> None:
    out = run("repeats", ugly, "tar get").done().out
    assert "1 pair is not independent given the class, as naive Bayes takes them to be" in out
    assert 'a=b, c and ü "q" [b]: what would change (10 folds)' in out or 'ü "q" [b] and a=b, c: what would' in out
    assert "unchanged" in out and "joined" in out and "without a=b, c" in out and "improves log loss from" in out
    assert "p < 0.001" in out


def test_the_advice_can_be_typed(run, ugly) -> None:
    import shlex

    out = run("repeats", ugly, "tar get").done().out
    (advice,) = [line.partition("Try ")[2].removesuffix(".") for line in out.splitlines() if "Try --" in line]
    assert "No pair" in run("repeats", ugly, "tar get", *shlex.split(advice)).done().out


def test_json_has_every_pair(run, ugly) -> None:
    record = json.loads(run("repeats", ugly, "tar get", "--json", "--most", "1", "--folds", "5").done().out)
    assert record["folds"] == 5 and len(record["pairs"]) == 3 and len(record["counted"]) == 1
    assert {change["without"] for change in record["counted"][0]["changes"]} == {None, "a=b, c", 'ü "q" [b]'}
    every = run("repeats", ugly, "tar get", "--all", "--most", "0").done().out
    assert every.count("[bold]x") == 2 and "what would change" not in every


def test_bad_input(run, ugly, write) -> None:
    run("repeats", ugly, "targ").refused("Did you mean 'tar get'?")
    run("repeats", ugly, "tar get", "--learner", "Logistic").refused("Logistic does not assume independent attributes")
    run("repeats", ugly, "tar get", "--most", "-1").refused("most")
    write("one.csv", "x,y\na,p\nb,q\na,p\nb,q\n")
    assert "no two attributes" in run("repeats", "one.csv", "y").done().out


def test_explain_says_how_sure_it_is(run, ugly, examples) -> None:
    run("fit", str(examples / "weather.csv"), "play", "-o", "w.likely").done()
    row = ("outlook=sunny", "temperature=cool", "humidity=high", "windy=true")
    out = run("explain", "w.likely", *row).done().out
    assert "Uncertainty (90 % interval): 72 %, between 20 and 96: only 1 case like this ('temperature' is 'cool'" in out
    told = json.loads(run("explain", "w.likely", *row, "--json", "--level", "0.5").done().out)["sureness"]
    assert told["level"] == 0.5 and 0.4 < told["classes"]["no"]["low"] < told["classes"]["no"]["probability"]
    assert told["thinnest"] == {"attribute": "temperature", "value": "cool", "class": "no", "cases": 1.0}
    run("explain", "w.likely", *row, "--level", "1").refused("--level")
    run("fit", str(examples / "weather.csv"), "play", "--learner", "TreeAugmented", "-o", "t.likely").done()
    assert "Uncertainty" not in run("explain", "t.likely", *row).done().out
    assert json.loads(run("explain", "t.likely", *row, "--json").done().out)["sureness"] is None
    run("fit", ugly, "tar get", "--learner", "NaiveBayes", "-o", "u.likely").done()
    assert "Uncertainty (" in run("explain", "u.likely", "a=b, c==1").done().out


def test_a_column_entered_twice_has_one_advice(run, examples) -> None:
    """Both were said: keep one, and leave them as they are."""
    out = run("repeats", examples / "weather_twice.csv", "play").done().out
    assert "Keep one: --type sky=ignore" in out and "leave them as they are" not in out
    assert "none of the changes tried improves log loss" in out
