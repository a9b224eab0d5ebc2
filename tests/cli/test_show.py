"""likely show --all, --levels and --between: the tables of a lecture on the command line."""

from __future__ import annotations

import json
import math

import pytest


def test_all_tables_at_once(run, examples) -> None:
    run("fit", examples / "weather.csv", "play", "--learner", "NaiveBayes", "-o", "m.likely").done()
    told = run("show", "m.likely", "--all", "--fractions", "--levels-of", examples / "weather.csv").done().out
    lines = [line.split() for line in told.splitlines()]
    assert ["sunny", "3", "2", "4", "3", "3/5", "2/9", "4/8", "3/12"] in lines
    assert told.index("sunny") < told.index("overcast") < told.index("rainy")
    assert "The graph: play → outlook, temperature, humidity, windy." in told
    chosen = run("show", "m.likely", "outlook", "--all", "--levels", "outlook=rainy,sunny", "--levels", "play=yes,no")
    rows = [line.split() for line in chosen.done().out.splitlines()]
    assert ["rainy", "3", "2", "4", "3", "0.3333", "0.4", "0.3333", "0.375"] in rows
    found = json.loads(run("show", "m.likely", "--all", "--json").done().out)
    (row,) = [r for r in found["tables"][1]["rows"] if r["level"] == "sunny"]
    assert row["counts"] == {"no": 3.0, "yes": 2.0} and row["smoothed_counts"] == {"no": 4.0, "yes": 3.0}
    assert row["probabilities"]["yes"] == {"fraction": "3/12", "value": 0.25}
    run("show", "m.likely", "--levels", "outlook=sunny").refused("--all")
    run("show", "m.likely", "--all", "--levels", "outlook=snow").refused("no level 'snow'")
    run("show", "m.likely", "other", "--all").refused("other")


def test_a_tree_with_all_its_tables(run, examples) -> None:
    run("fit", examples / "weather.csv", "play", "--learner", "TreeAugmented", "-o", "m.likely").done()
    told = run("show", "m.likely", "--all").done().out
    assert "P(temperature | outlook, class)" in told and "outlook → windy" in told
    assert ["sunny", "cool", "1/6", "2/5"] in [line.split() for line in told.splitlines()]
    found = json.loads(run("show", "m.likely", "--all", "--json").done().out)
    assert found["given_parents"][0]["title"] == "P(outlook | class)"


def test_the_plane_between_two_of_three_classes(run, examples) -> None:
    run("fit", examples / "iris.csv", "species", "--learner", "Logistic", "-o", "m.likely").done()
    told = run("show", "m.likely", "--between", "Iris-setosa,Iris-virginica").done().out
    assert "·petal_width = 0" in told and "The hyperplane between Iris-setosa and Iris-virginica" in told
    found = json.loads(run("show", "m.likely", "--between", "Iris-setosa,Iris-virginica", "--json").done().out)
    assert [w["attribute"] for w in found["weights"]][-1] == "petal_width" and isinstance(found["constant"], float)
    run("show", "m.likely", "--between", "Iris-setosa").refused("two classes")
    run("show", "m.likely", "--between", "Iris-setosa,rose").refused("no class 'rose'")


def test_words_as_fractions(run, write) -> None:
    write("mails.csv", "label,mail\nx,a b a\nx,b b\ny,a c\n")
    text = ("--type", "mail=text", "--learner", "NaiveBayes", "--set", 'text={model="bernoulli"}')
    run("fit", "mails.csv", "label", *text, "-o", "m.likely").done()
    told = run("show", "m.likely", "mail", "--fractions").done().out
    assert ["b", "3/4", "1/3"] in [line.split() for line in told.splitlines()]


def test_weights_of_logistic_regression_are_log_odds(run, write) -> None:
    """Of two classes log(P / (1 − P)), and the hyperplane is where that is 0."""
    lines = [f"{h},{'yes' if h > 4 or h == 2 else 'no'}" for h in range(1, 9)]
    write("t.csv", "\n".join(["h,passed", *lines]) + "\n")
    run("fit", "t.csv", "passed", "--learner", "Logistic", "--set", "ridge=0", "-o", "m.likely").done()
    told = json.loads(run("show", "m.likely", "--json").done().out)["tables"]
    (weights,) = [t for t in told if t["title"] == "Weights of the log-odds of yes against no (nats)"]
    constant, slope = (row["weight"] for row in weights["rows"])
    for h in (1.0, 4.5, 8.0):
        chance = json.loads(run("explain", "m.likely", f"h={h}", "--json").done().out)["posterior"]["yes"]
        assert math.log(chance / (1 - chance)) == pytest.approx(constant + slope * h, rel=1e-9)
    plane = json.loads(run("show", "m.likely", "--between", "yes,no", "--json").done().out)
    assert plane["constant"] == pytest.approx(constant)
    (equation,) = [t for t in told if t["title"] == "Separating hyperplane"]
    assert equation["rows"][0]["above 0"] == "yes" and equation["rows"][0]["equation"].startswith(f"{slope:.6g}·h")
