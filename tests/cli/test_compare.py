"""likely compare with learners as one writes them, and what searches say under the table."""

from __future__ import annotations

import json

import pytest

import likely
from likely.errors import SettingError


def test_learners_with_settings(run, examples) -> None:
    iris = examples / "iris.csv"
    asked = ["Neighbors(k=3, distance='city-block')", "Neighbors( k = 1, )", "NaiveBayes, kernel", "TreeAugmented()"]
    ran = run("compare", iris, "species", "--json", *(x for name in asked for x in ("--learner", name))).done()
    found = {one["name"]: (one["learner"], one["settings"]) for one in json.loads(ran.out)["learners"]}
    assert found == {
        asked[0]: ("Neighbors", {"k": 3, "distance": "city-block"}),
        asked[1]: ("Neighbors", {"k": 1}),
        asked[2]: ("NaiveBayes", {"numbers": "kernel"}),
        asked[3]: ("TreeAugmented", {}),
    }
    same = likely.compare(iris, "species", {"three": likely.Neighbors(k=3, distance="city-block")})
    (one,) = (one for one in json.loads(ran.out)["learners"] if one["name"] == asked[0])
    assert same.learners[0].scores is not None and one["scores"]["accuracy"] == same.learners[0].scores.accuracy
    members = "Mixture(members=['NaiveBayes', {name='NaiveBayes', pseudo_count=0.5}])"
    assert "Mixture(members=" in run("compare", examples / "weather.csv", "play", "--learner", members).done().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Neighbors(k=3", "Write it like Neighbors(k=3, distance='city-block')."),
        ("Neighbors(k=)", "as TOML writes them"),
        ("Neighbors(k=3)x", "as TOML writes them"),
        ("Neighbors(k=3}\ny = {z=1)", "as TOML writes them"),
        ("Neighbors(k=True)", "as TOML writes them"),
        ("Neighbors(" + "[" * 5000 + ")", "as TOML writes them"),
        ("Neighbours(k=3)", "Did you mean 'Neighbors'?"),
        ("Neighbors(kk=3)", "Did you mean 'k'?"),
        ("Neighbors(k=0)", "one or more"),
        ("Neighbors(distance='[red]')", "distance"),
        ("(k=3)", "There is no learner ''"),
        ("", "There is no learner ''"),
        ("[red]\x1b(k=3)", "There is no learner"),
    ],
)
def test_what_is_no_learner_is_refused(run, examples, text: str, said: str) -> None:
    run("compare", examples / "iris.csv", "species", "--learner", text).refused(said)
    with pytest.raises(SettingError):
        likely.compare(examples / "iris.csv", "species", [text])


def test_how_searches_ended_stands_under_the_table(run, examples) -> None:
    learners = ("Logistic(max_sweeps=3)", "Logistic(ridge=0.0)", "Logistic")
    asked = [x for name in learners for x in ("--learner", name)]
    out = run("compare", examples / "iris.csv", "species", *asked).done().out
    assert "Logistic(max_sweeps=3): The search was stopped after 3 sweeps, before it had converged." in out
    assert "Logistic(ridge=0.0): " in out and "of 10 folds.)" in out and "\nLogistic: " not in out
    told = json.loads(run("compare", examples / "iris.csv", "species", "--json", *asked).done().out)["learners"]
    assert {one["name"]: bool(one["notes"]) for one in told} == dict(zip(learners, (True, True, False), strict=True))
    out = run("look", examples / "iris.csv", "species", "--learner", "Logistic", "--set", "max_sweeps=3").done().out
    assert "stopped after 3 sweeps" in out


@pytest.mark.parametrize(
    "learners",
    [
        {},
        [likely.TreeAugmented()],
        {3: likely.TreeAugmented()},
        likely.TreeAugmented(),
    ],
)
def test_learners_that_are_no_dict_of_learners(learners) -> None:
    with pytest.raises(SettingError, match="learners"):
        likely.compare({"x": [1.0, 2.0] * 9, "y": ["a", "b"] * 9}, "y", learners)


def test_learners_may_be_named_or_given_as_classes() -> None:
    table = {"x": ["a", "b", "a", "c"] * 6, "y": ["p", "q"] * 12}
    record = likely.compare(table, "y", {"one": likely.TreeAugmented, "two": "TreeAugmented"}, folds=3)
    assert [one.name for one in record.learners] == ["one", "two"]
    assert record.learners[0].scores == record.learners[1].scores
