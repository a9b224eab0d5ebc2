"""Workings on the command line: fractions, decimals and logs, neighbours as a table, averages over what is missing."""

from __future__ import annotations

import json

import pytest

SPAM = {(0, 0): 31, (0, 1): 65, (1, 0): 80, (1, 1): 40}
SPAM_ROWS = "viagra,lottery,mail,n\n" + "".join(
    f"v{v},l{w},{mail},{(9, 1)[v] * part}\n"
    for (v, w), share in SPAM.items()
    for mail, part in (("spam", share), ("ham", 100 - share))
)


def test_fractions_decimals_and_logs(run, examples) -> None:
    run("fit", examples / "four_days.csv", "play", "--learner", "NaiveBayes", "-o", "m.likely").done()
    row = ("sky=rainy", "temp=warm", "humid=normal")
    assert "L(yes) = 3/4 × 1/5 × 4/5 × 2/5" in run("explain", "m.likely", *row, "--working").done().out
    assert "L(yes) = 0.75 × 0.2 × 0.8 × 0.4 = 0.048" in run("explain", "m.likely", *row, "--decimals").done().out
    logs = run("explain", "m.likely", *row, "--logs").done().out
    assert "log10 L(yes) = −0.1249 − 0.699 − 0.09691 − 0.3979 = −1.319" in logs and "= −1.732" in logs
    assert "ln L(yes) = " in run("explain", "m.likely", *row, "--logs", "--log-base", "e").done().out
    run("explain", "m.likely", *row, "--logs", "--decimals").refused("one of them")
    found = json.loads(run("explain", "m.likely", *row, "--logs", "--json").done().out)["working"]
    assert found["steps"][1]["values"]["yes"] == {"fraction": "1/5", "value": 0.2}
    assert found["log10"]["yes"] == pytest.approx(-1.319, abs=5e-4)
    assert found["products"]["yes"] == {"fraction": "6/125", "value": 0.048}


def test_neighbours_are_a_table(run, examples) -> None:
    run("fit", examples / "iris.csv", "species", "--learner", "Neighbors", "--set", "k=3", "-o", "m.likely").done()
    told = run("explain", "m.likely", "petal_length=4.5", "petal_width=1.5", "--working").done().out
    assert "nearest rows (Euclidean distance, numbers scaled to [0, 1])" in told and "K(class) / K" in told
    found = json.loads(run("explain", "m.likely", "petal_length=4.5", "--working", "--json").done().out)["working"]
    assert found["tables"][0]["header"][-1] == "distance" and len(found["tables"][0]["rows"]) >= 3


def test_averages_over_a_missing_cell(run, write) -> None:
    write("mails.csv", SPAM_ROWS)
    learner = ("--learner", "FullBayes", "--set", "pseudo_count=0")
    run("fit", "mails.csv", "mail", *learner, "--weight", "n", "-o", "m.likely").done()
    write("new.csv", "viagra,lottery\n,l1\nv1,l1\n")
    out = run("predict", "m.likely", "new.csv", "--missing-by", "averaged").done()
    assert [line.split(",")[0] for line in out.out.splitlines()] == ["prediction", "spam", "ham"]
    assert float(out.out.splitlines()[1].split(",")[2]) == pytest.approx(0.625, abs=1e-12)
    assert "averaged over their values in training" in out.err
    told = run("explain", "m.likely", "lottery=l1", "--missing-by", "averaged", "--working").done().out
    assert "P(spam | x) = 0.9 × 0.65 + 0.1 × 0.4 = 0.625" in told
    found = json.loads(run("explain", "m.likely", "lottery=l1", "--missing-by", "averaged", "--working", "--json").out)
    assert found["posterior"]["spam"] == pytest.approx(0.625) == found["working"]["products"]["spam"]


def test_the_working_of_a_mixture_is_a_sum_over_hypotheses(run, examples) -> None:
    mixture = ("--learner", "Mixture", "--set", 'members=["NaiveBayes", "OneRule"]', "--set", "weights=[0.25, 0.75]")
    run("fit", examples / "weather.csv", "play", *mixture, "-o", "m.likely").done()
    out = run("explain", "m.likely", "outlook=sunny", "--working").done().out
    assert "P(class | x) = P(h1) × P(class | x, h1) + P(h2) × P(class | x, h2)" in out
    assert "h1 = NaiveBayes; h2 = OneRule." in out and "no sum" not in out
    found = json.loads(run("explain", "m.likely", "outlook=sunny", "--working", "--json").done().out)
    assert found["working"]["products"]["yes"] == pytest.approx(found["posterior"]["yes"])


def test_the_normal_equations_of_a_line(run, write) -> None:
    write("line.csv", "x,y\n0,1\n1,3.5\n2,4\n3,8\n4,9.5\n5,10\n")
    told = run("regress", "line.csv", "y", "--working").done().out
    rows = [line.split() for line in told.splitlines()]
    assert ["1", "6", "15", "36"] in rows and ["x", "15", "55", "123.5"] in rows
    assert "Normal equations" not in run("regress", "line.csv", "y").done().out
    found = json.loads(run("regress", "line.csv", "y", "--json").done().out)
    assert found["normal_equations"][0]["rows"][0] == ["1", 6.0, 15.0, 36.0]
