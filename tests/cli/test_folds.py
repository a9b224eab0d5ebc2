"""How rows are dealt, on the command line: groups, time, repeats, leave-one-out; what look and compare say of trust."""

from __future__ import annotations

import json

import pytest

LINES = [
    "g,when,colour,size,y",
    *(
        f'"g {k % 6}=[red]",2024-01-{1 + k % 28:02d},{("[x]", "red")[k % 3 > 0]},{k % 7},{("b c", "<script>")[k % 2]}'
        for k in range(60)
    ),
]


@pytest.fixture
def table(write):
    return write("ugly =name.csv", "\n".join(LINES) + "\n")


@pytest.mark.parametrize(
    ("options", "folds", "title"),
    [
        (["--folds", "3"], 3, "each of 3 folds"),
        (["--folds", "3", "--repeats", "2"], 3, "; 2 times"),
        (["--group", "g"], 6, "rows with the same g are in one fold"),
        (["--time", "when", "--folds", "4"], 4, "In the order of when: each of 4 parts"),
        (["--leave-one-out"], 60, "from all the others"),
        (["--folds", "n"], 60, "from all the others"),
    ],
)
def test_rows_are_dealt_as_asked(run, table, options: list[str], folds: int, title: str) -> None:
    out = run("look", table, "y", "--learner", "NaiveBayes", *options).done().out
    assert title in out and "95 % interval" in out and "guessing" in out and "area under ROC" in out
    told = json.loads(run("look", table, "y", "--learner", "NaiveBayes", "--json", *options).done().out)
    assert told["folds"] == folds and told["intervals"]["accuracy"]["low"] <= told["scores"]["accuracy"]
    learners = ["--learner", "NaiveBayes", "--learner", "Prior"]
    told = json.loads(run("compare", table, "y", "--json", *learners, *options).done().out)
    assert told["folds"] == folds and told["learners"][1]["against"][0]["test"].startswith("corrected resampled t")
    assert "vs. the first" in run("compare", table, "y", *learners, *options).done().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--group", "h"], "no column 'h'"),
        (["--group", ""], "names no column"),
        (["--group", "y"], "is the target"),
        (["--time", "colour"], "neither numbers nor dates"),
        (["--time", "when", "--group", "g"], "at once"),
        (["--time", "when", "--repeats", "2"], "Leave repeats out"),
        (["--positive", "[red]"], "There is no class '[red]'"),
        (["--temperature", "0"], "temperature is '0.0'"),
        (["--temperature", "warm"], "temperature is 'warm'"),
    ],
)
def test_what_is_refused(run, table, options: list[str], said: str) -> None:
    run("look", table, "y", *options).refused(said)


@pytest.mark.parametrize("count", ["1", "1001", "x", "", "N"])
def test_no_number_of_folds(run, table, count: str) -> None:
    assert run("look", table, "y", "--folds", count).code == 2


def test_all_shows_the_curves(run, table) -> None:
    plain = ("look", table, "y", "--learner", "NaiveBayes")
    short, full = (run(*plain, *more).done().out for more in ([], ["--full"]))
    assert full == run(*plain, "--all").done().out
    for title in (
        "Calibration: how often",
        "Lift: how much of",
        "with 95 % intervals\n",
        "Naive Bayes less the baselines",
    ):
        assert title in full
    assert "Lift:" not in short and "--all shows" in short
    assert "<script>" in run(*plain, "--all", "--positive", "<script>").done().out


def test_a_temperature_on_the_command_line_and_in_a_spec(run, table, tmp_path) -> None:
    run("fit", table, "y", "--temperature", "auto", "-o", "m.likely").done()
    spec = run("show", "m.likely", "--spec").done().out
    assert "temperature = " in spec and "auto" not in spec.split("temperature")[1].splitlines()[0]
    (tmp_path / "s.toml").write_text(spec)
    run("fit", table, "--spec", "s.toml", "-o", "n.likely").done()
    rows = [run("predict", f"{name}.likely", table, "-o", "-").done().out for name in "mn"]
    assert rows[0] == rows[1]
    assert "temperature" in run("show", "m.likely").done().out


@pytest.mark.parametrize(
    ("lines", "options", "said"),
    [
        (["x,y", "1,a", "2,a"], [], "nothing to predict"),
        (["x,y", "1,a", "2,a"], ["--leave-one-out"], "nothing to predict"),
        (["g,x,y", "1,1,a", "1,2,b", "1,3,a"], ["--group", "g"], "one group"),
        (["x,y"], ["--leave-one-out"], "no rows"),
        (["t,x,y", "1,1,a", "1,2,b"], ["--time", "t"], "none come before others"),
    ],
)
def test_tables_that_cannot_be_dealt(run, write, lines: list[str], options: list[str], said: str) -> None:
    run("look", write("t.csv", "\n".join(lines) + "\n"), "y", *options).refused(said)
    run("compare", write("t.csv", "\n".join(lines) + "\n"), "y", "--learner", "Prior", *options).refused(said)


def test_fewer_rows_than_folds_have_a_result(run, write) -> None:
    path = write("t.csv", "x,y\n1,a\n2,b\n3,a\n")
    for options in ([], ["--leave-one-out"], ["--folds", "500"]):
        told = json.loads(run("look", path, "y", "--json", *options).done().out)
        assert told["rows"] == 3 and told["folds"] in (2, 3)
