"""likely diff of two models, and likely window: names are data, and nothing is taken for markup."""

from __future__ import annotations

import json

import pytest

import likely

NASTY = "sky = [red]"


def table(sun: int, rain: int, wind: float = 0.0) -> str:
    rows = [f"sun <b>,{k % 7 + wind},yes" for k in range(sun)] + [f"'); drop,{k % 5},no" for k in range(rain)]
    return f"{NASTY},wind,the target\n" + "\n".join(rows) + "\n"


@pytest.fixture
def models(run, write) -> None:
    write("a.csv", table(60, 60))
    write("b.csv", table(150, 60, 2.5))
    run("fit", "a.csv", "the target", "--learner", "NaiveBayes", "--type", "wind=number", "-o", "a.likely").done()
    run("fit", "b.csv", "the target", "--schema", "a.likely", "--pseudo-count", 2, "-o", "b.likely").done()


def test_diff_says_what_changed_and_what_is_assumed_otherwise(models, run) -> None:
    done = run("diff", "a.likely", "b.likely").done()
    assert "1 difference" in done.out and "learner.pseudo_count" in done.out
    assert "Changed: the class frequencies and 2 attributes." in done.out  # sky = [red] in all, not given the class
    assert NASTY in done.out and "wind: mean and standard deviation" in done.out
    found = json.loads(run("diff", "a.likely", "b.likely", "--json").done().out)
    wind = next(a for a in found["changes"]["attributes"] if a["name"] == "wind")
    sky = next(a for a in found["changes"]["attributes"] if a["name"] == NASTY)
    assert wind["p_given_class"] < 1e-6 and sky["p_given_class"] == 1 and sky["p_overall"] < 0.01
    assert found["tables"][0]["rows"][0]["of"].endswith("pseudo_count")


def test_diff_of_the_same_of_one_that_grew_and_of_others(models, run, write) -> None:
    out = run("diff", "a.likely", "a.likely").done().out
    assert out == "Both make the same assumptions.\nTheir sums are identical, to the last bit.\n"
    run("learn", "a.likely", "b.csv", "-o", "grown.likely").done()
    assert "--grown compares only the new rows" in run("diff", "a.likely", "grown.likely").done().out
    new = json.loads(run("diff", "a.likely", "grown.likely", "--grown", "--json").done().out)["changes"]
    apart = json.loads(run("diff", "a.likely", "b.likely", "--json").done().out)["changes"]
    assert new == apart
    run("diff", "grown.likely", "a.likely", "--grown").refused("did not learn on")
    run("diff", "a.likely", "b.likely", "--chance", 7).refused("chance is '7.0'")
    run("fit", "a.csv", NASTY, "-o", "c.likely").done()
    run("diff", "a.likely", "c.likely").refused("'the target'", NASTY)
    assert "wind" in run("diff", "a.likely", "b.likely", "--all", "--chance", 1e-9).done().out


def test_a_window_is_begun_and_goes_on(models, run, write) -> None:
    first = ("--target", "the target", "--rows", 50, "--step", 25)
    assert "45 rows in 2 pieces; 120 added, 75 dropped" in run("window", "w [x].likely", "a.csv", *first).done().err
    done = run("window", "w [x].likely", "-", stdin=table(0, 30).encode()).done()
    assert "30 added" in done.err
    held = likely.Window.load("w [x].likely")
    assert held.came == 150 and held.model.classes == ("no",)
    assert run("predict", "w [x].likely", "b.csv").done().out.count("no,1") == 210
    run("window", "w [x].likely", "a.csv", "--rows", 9).refused("already a window", "--rows")
    run("window", "w [x].likely", "a.csv", "--target", "wind").refused("--target")
    run("window", "a.likely", "a.csv").refused("holds no window")
    run("window", "new.likely", "a.csv", "--target", "the target").refused("--rows N or --files N")
    run("window", "new.likely", "a.csv", "--rows", 10).refused("--target")
    run("window", "new.likely", "a.csv", "--rows", 10, "--target", "the targt").refused("Did you mean 'the target'?")
    run("window", "no/where.likely", "a.csv", *first).refused("no folder")


def test_a_window_of_files(models, run, write) -> None:
    done = run("window", "w.likely", "a.csv", "b.csv", "a.csv", "--target", "the target", "--files", 2).done()
    assert "330 rows in 2 pieces; 450 added, 120 dropped" in done.err
    wanted = likely.summarize("b.csv", schema=likely.load("w.likely").schema)
    assert likely.Window.load("w.likely").summary - likely.summarize("a.csv", schema=wanted.schema) == wanted
