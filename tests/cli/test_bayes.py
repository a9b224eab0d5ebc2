"""likely bayes: the working of the cancer test and its relatives, ugly names, and every bad number refused."""

from __future__ import annotations

import json

import pytest

CANCER = ["--prior", "cancer=0.008", "--likelihood", "cancer=0.98", "--likelihood", "no cancer=0.03"]
COSTS = ["--loss", "cancer:say none=10", "--loss", "no cancer:say cancer=1"]


def test_the_board(run) -> None:
    out = run("bayes", *CANCER, "--evidence", "positive", *COSTS).done().out
    for words in (
        "Evidence: positive",
        "no cancer   0.992  ×        0.03  =  0.02976     0.7915",
        "P(cancer | positive) = 0.00784 / 0.0376 = 49/235 ≈ 0.2085",
        "= 1/124 × 98/3 = 49/186 ≈ 0.2634",
        "(MAP): no cancer, 0.7915.",
        "(ML): cancer, 0.98.",
        "0.00784 × 10 + 0.02976 × 0  =   0.0784",
        "0.00784 × 0 + 0.02976 × 1   =  0.02976",
        "Least expected loss: say cancer",
    ):
        assert words in out, words
    assert run("bayes", *CANCER, *COSTS, encoding="ascii").done().out.isascii()


def test_json(run) -> None:
    record = json.loads(run("bayes", *CANCER, *COSTS, "--json").done().out)
    assert record["exact"] == {"cancer": "49/235", "no cancer": "186/235"}
    assert record["posterior"]["cancer"] == 49 / 235 and record["total"] == 0.0376
    assert (record["map"], record["ml"]) == ("no cancer", "cancer")
    assert record["decision"]["action"] == "say cancer"
    assert record["decision"]["unnormalised"] == {"say none": 0.0784, "say cancer": 0.02976}
    sure = json.loads(run("bayes", "--prior", "a=1", "--prior", "b=0", "--json").done().out)
    assert sure["odds"] == {"a": None, "b": 0.0} and sure["ml"] is None


def test_a_loss_in_a_file_and_abstaining(run, write) -> None:
    write("loss.toml", '[cancer]\n"send home" = 10\n["no cancer"]\noperate = 1\n')
    out = run("bayes", *CANCER, "--loss", "loss.toml").done().out
    assert "Least expected loss: operate" in out
    out = run("bayes", *CANCER, "--loss", "loss.toml", "--abstain", "1/10").done().out
    assert "Least expected loss: don't know" in out
    thirds = ["--loss", "a:x=1/3", "--loss", "b:y=1", "--prior", "a=1/2", "--prior", "b=1/2"]
    record = json.loads(run("bayes", *thirds, "--json").done().out)
    assert record["decision"]["expected"] == {"x": 1 / 6, "y": 0.5}


def test_several_pieces_of_evidence(run) -> None:
    once = ["--likelihood", "cancer=0.98", "--likelihood", "no cancer=0.03"]
    grouped = ["--prior", "cancer=0.008", "--evidence", "first test", *once, "--evidence", "second test", *once]
    out = run("bayes", *grouped).done().out
    assert "Evidence 1: first test" in out and "Evidence 2: second test" in out
    assert "P(cancer | first test, second test) = 0.20434 / (268/1175) = 2401/2680 ≈ 0.8959" in out
    record = json.loads(run("bayes", *grouped, "--json").done().out)
    tests = ["--prior", "cancer=0.008", "--test", "0.98,0.97", "--test", "98%,97%"]
    same = json.loads(run("bayes", *tests, "--json").done().out)
    assert same["exact"] == record["exact"] == {"cancer": "2401/2680", "no cancer": "279/2680"}
    negative = json.loads(run("bayes", *tests, "--result", "positive", "--result", "negative", "--json").done().out)
    assert negative["exact"]["cancer"] == "49/9070"
    assert [e["name"] for e in negative["evidence"]] == ["test 1 positive", "test 2 negative"]


def test_three_hypotheses_and_a_prior_alone(run) -> None:
    three = ["--prior", "a=1/2", "--prior", "b=1/3", "--likelihood", "a=0.1", "--likelihood", "b=0.2", "--likelihood"]
    record = json.loads(run("bayes", *three, "c=0.9", "--json").done().out)
    assert record["prior"]["c"] == pytest.approx(1 / 6)
    out = run("bayes", *three, "c=0.9").done().out
    assert out.count("against the others") == 3
    assert (
        "Most probable: sea bass, 0.7." in run("bayes", "--prior", "salmon=0.3", "--prior", "sea bass=0.7").done().out
    )
    dense = ["--prior", "a=0.5", "--likelihood", "a=12.5", "--likelihood", "b=2.5"]
    assert "5/6" in run("bayes", *dense, "--density").done().out
    run("bayes", *dense).refused("'12.5'", "above 1")


@pytest.mark.parametrize(
    "name",
    ["a b", 'quo"te', "a=b", "[red]", "中文", "", "a:b", "-dash", "\x1b[31mx", "new\nline", "x" * 500, "{0}", "%s"],
)
def test_ugly_names(name, run) -> None:
    options = [f"--prior={name}=0.25", f"--likelihood={name}=0.5", "--likelihood=other:=0.1", f"--evidence={name}"]
    out = run("bayes", *options, f"--loss={name}:act=1", "--loss=other::wait=2").done().out
    assert max(len(line) for line in out.splitlines()) < 250 and "\x1b" not in out
    record = json.loads(run("bayes", *options, f"--loss={name}:act=1", "--loss=other::wait=2", "--json").done().out)
    assert record["hypotheses"] == [name, "other:"]
    assert record["exact"][name] == "5/8"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], ["no prior", "--prior HYPOTHESIS=P"]),
        (["--prior", "cancer"], ["'cancer' has no equals sign"]),
        (["--prior", "cancer=high"], ["prior of 'cancer'", "'high'", "0.25"]),
        (["--prior", "cancer=-0.1"], ["negative"]),
        (["--prior", "cancer=8"], ["above 1", "divide it by 100"]),
        (["--prior", "cancer=1e-999999999"], ["finite"]),
        (["--prior", "a=0.5"], ["sum to 0.5", "0.5 too little"]),
        (["--prior", "a=0.5", "--prior", "a=0.5"], ["'a' twice"]),
        (["--prior", "a=0.5", "--prior", "b=0.4", *CANCER[2:4]], ["under 'a'", "is not given"]),
        (["--prior", "flu=0.5", "--prior", "cold=0.5", "--likelihood", "flu=1", "--likelihood", "clod=1"], ["'cold'?"]),
        (["--prior", "a=0.5", *CANCER[2:]], ["neither 'cancer' and 'no cancer'"]),
        (["--prior", "a=0.5", "--prior", "b=0.5", "--likelihood", "a=0.1"], ["under 'b'", "is not given"]),
        ([*CANCER, "--likelihood", "cancer=1"], ["'evidence 2'", "'no cancer'", "not given"]),
        ([*CANCER, "--evidence", "x", "--evidence", "y"], ["names 2 pieces", "gives 1"]),
        (["--prior", "a=0", "--prior", "b=1", "--likelihood", "a=1", "--likelihood", "b=0"], ["prior is zero"]),
        (["--prior", "a=0.5", "--likelihood", "a=0", "--likelihood", "b=0"], ["impossible under every"]),
        ([*CANCER, "--test", "0.9,0.9"], ["--test replaces --likelihood"]),
        (["--prior", "a=0.5", "--test", "0.9"], ["'0.9'", "0.98,0.97"]),
        (["--prior", "a=0.5", "--test", "0.9,x"], ["The specificity", "'x'"]),
        (["--prior", "a=0.5", "--result", "positive"], ["1 --result options for 0 --test"]),
        (["--prior", "a=0.5", "--test", "0.9,0.9", "--result", "maybe"], ["'maybe'", "'positive', 'negative'"]),
        (["--prior", "a=.5", "--prior", "b=.3", "--prior", "c=.2", "--test", ".9,.9"], ["names more"]),
        ([*CANCER, "--loss", "none.toml"], ["none.toml", "No such file"]),
        ([*CANCER, "--loss", "cancer=10"], ["no colon", "HYPOTHESIS:ACTION=COST"]),
        ([*CANCER, "--loss", "canser:home=10", "--loss", "no cancer:x=1"], ["'canser'", "Did you mean 'cancer'"]),
        ([*CANCER, "--loss", "cancer:home=10", "--loss", "cancer:cut=1"], ["does not name the class 'no cancer'"]),
        ([*CANCER, "--loss", "cancer:home=ten", "--loss", "no cancer:cut=1"], ["'home'", "'ten'"]),
        ([*CANCER, "--abstain", "1"], ["Give --loss"]),
        ([*CANCER, *COSTS, "--abstain", "much"], ["don't know", "'much'"]),
    ],
)
def test_refused(options, words, run) -> None:
    run("bayes", *options).refused(*words)
