"""Every learner on the command line, from a table to a file and all that can be asked of the file; and bad input."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from itertools import cycle

import pytest

import likely

SETTINGS = {
    "NaiveBayes": ["numbers=kernel"],
    "Prior": ["pseudo_count=1"],
    "FullBayes": ["shrinkage=auto"],
    "LinearDiscriminant": ["shrinkage=0.1"],
    "TreeAugmented": ["pseudo_count=0.5"],
    "OneDependence": ["minimum=2"],
    "LeastSquares": ["mode=pairwise"],
    "Additive": ["order=3", "rate=0.2"],
    "Forest": ["trees=9", "leaves=8"],
    "Logistic": ["ridge=0.5"],
    "TextLogistic": ["ridge=0.5"],
    "Neighbors": ["k=3", "distance='city-block'"],
    "Mixture": ['members=["NaiveBayes", {name="NaiveBayes", pseudo_count=0.5}]'],
    "Gibbs": ['members=["NaiveBayes", "TreeAugmented"]', "weights=held-out", "seed=3"],
    "Pool": ['members=["NaiveBayes", "TreeAugmented"]', "weights=[0.75, 0.5]"],
    "Density": ["pseudo_count=0.5"],
    "OneRule": ["pseudo_count=0.5"],
    "TunedNaiveBayes": ["parts=2"],
    "Auto": ["parts=2", 'members=["Prior", "NaiveBayes", "TreeAugmented"]'],
}
NAMES = [name for name in likely.__all__ if hasattr(getattr(likely, name), "needs")]
"""Whatever learns."""
OF_MEMBERS = ("Mixture", "Gibbs", "Pool")
"""They learn nothing until members are named."""
CHOOSING = ("Auto", "TunedNaiveBayes")
"""Their spec is what they chose."""
GENERATIVE = ("OneRule", "NaiveBayes", "FullBayes", "LinearDiscriminant", "TreeAugmented", "OneDependence", "Density")
SEARCHED = ("Additive", "Forest", "Logistic", "Gibbs")
"""What rows taught them cannot be derived from a summary."""
UGLY = (
    '"a""b","c\nd",😀=x,[bold]x[/bold],"y\n=",\u202eevil,#=\'1\'\n'
    + "".join(f'{k}.5,l{k % 3},{k * k / 7:.2f},"[red]{k % 2}",{"pq"[k % 2]},k{k % 4},{k % 7}.5\n' for k in range(30))
)  # fmt: skip


def settings(name: str) -> list[str]:
    return [word for s in SETTINGS[name] for word in ("--set", s)]


def test_the_help_names_every_learner(run) -> None:
    assert sorted(NAMES) == sorted(SETTINGS)
    words = " ".join(run("fit", "--help").done().out.split())
    assert all(name in words for name in NAMES)


TAUGHT = [name for name in NAMES if name not in CHOOSING]
TABLES = [(name, "iris") for name in TAUGHT] + list(
    zip(TAUGHT, cycle(["weather", "weather_mixed", "vote"]), strict=False)
)
"""Each learner with numbers alone, and with one of the tables that have levels."""


@pytest.mark.parametrize(("name", "table"), sorted({*TABLES, ("FullBayes", "weather_mixed")}))
def test_from_a_table_to_all_that_a_model_can_tell(name, table, run, write, examples, request, tmp_path) -> None:
    if table == "vote":
        data, target, attribute = request.getfixturevalue("shared") / "data/arff/vote.arff", "Class", "immigration"
    else:
        data, target = examples / f"{table}.csv", "species" if table == "iris" else "play"
        attribute = {"iris": "petal_length"}.get(table, "temperature")
    asked = [] if name == "Density" else [target]
    ran = run("fit", data, *asked, "--learner", name, *settings(name), "-o", "m.likely")
    mixed = table == "weather_mixed"
    if (name == "LinearDiscriminant" and table != "iris") or (name == "FullBayes" and mixed):
        ran.refused("would not fit", "NaiveBayes, TreeAugmented")
        return
    ran.done()
    assert "the class ''" not in ran.err and ("class" in ran.err) == (name != "Density")

    # What it says of itself.
    page = run("show", "m.likely").done().out
    assert f"by {name}(" in page and "''" not in page
    assert attribute in run("show", "m.likely", attribute).done().out
    run("show", "m.likely", attribute + "x").refused(f"Did you mean '{attribute}'")

    # Its assumptions make the same model again.
    write("s.toml", run("show", "m.likely", "--spec").done().out)
    run("fit", data, "--spec", "s.toml", "-o", "again.likely").done()
    assert run("diff", "m.likely", "s.toml").done().out == "Both make the same assumptions.\n"
    out = run("diff", "m.likely", "again.likely").done().out
    assert out.startswith("Both make the same assumptions.\nTheir sums are identical")
    one, two = likely.load(tmp_path / "m.likely"), likely.load(tmp_path / "again.likely")
    assert one.learner == two.learner and one.schema == two.schema and one.summary == two.summary

    # Predictions, and scores that are no probabilities.
    if name == "Density":
        run("predict", "m.likely", data).refused("no class to predict", "likely score")
    else:
        ran = run("predict", "m.likely", data).done()
        assert run("predict", "again.likely", data).done().out == ran.out
        assert ("not probabilities" in ran.err) == (name == "LeastSquares")
        shares = [[float(x) for x in row[1:]] for row in list(csv.reader(io.StringIO(ran.out)))[1:] if row[0]]
        assert all(math.isclose(sum(row), 1, rel_tol=1e-9) for row in shares)

    # Merging and unlearning, or why not.
    ran = run("merge", "m.likely", "again.likely", "-o", "both.likely")
    if name in SEARCHED:
        ran.refused("must see the rows")
        run("unlearn", "m.likely", data, "-o", "x.likely").refused("all the rows")
    else:
        assert f"{2 * one.summary.rows:,} rows of 2 models" in ran.done().err
        run("unlearn", "both.likely", "again.likely", "-o", "less.likely").done()
        assert (tmp_path / "less.likely").read_bytes() == (tmp_path / "m.likely").read_bytes()
        assert "remain" in run("unlearn", "both.likely", data, "-o", "less.likely").done().err
        assert likely.load(tmp_path / "less.likely").summary == one.summary

    # Rows drawn, and how probable rows are.
    ran, scored = run("sample", "m.likely", "-n", 3), run("score", data, "--model", "m.likely", "--json")
    if name in GENERATIVE:
        assert ran.done().out.count("\n") == 4
        assert run("sample", "m.likely", "-n", 3).out == ran.out
        assert json.loads(scored.done().out)["rows"] == one.summary.rows + one.summary.left_out
    elif one.describer is not one:  # a model of rows beside it answers, which is said
        assert one.describer.generative and ran.done().out.count("\n") == 4
        assert "these are from" in ran.err and "these are from" in json.loads(scored.done().out)["remarks"][0]
    else:
        scored.refused("not P(row)", "Density")
        assert (ran.code == 0) == (name == "Prior") or ran.refused("none can be drawn")


@pytest.mark.parametrize("table", ["weather_mixed", "iris"])
@pytest.mark.parametrize("name", CHOOSING)
def test_what_was_chosen_is_a_spec_that_gives_the_same_answers(name, table, run, write, examples, tmp_path) -> None:
    data, target = examples / f"{table}.csv", "species" if table == "iris" else "play"
    run("fit", data, target, "--learner", name, *settings(name), "-o", "m.likely").done()
    assert f"by {name}(" in run("show", "m.likely").done().out
    write("s.toml", run("show", "m.likely", "--spec").done().out)
    assert f'name = "{name}"' not in (tmp_path / "s.toml").read_text()
    run("fit", data, "--spec", "s.toml", "-o", "again.likely").done()
    one, two = likely.load(tmp_path / "m.likely"), likely.load(tmp_path / "again.likely")
    assert two.posterior(data).matrix == pytest.approx(one.posterior(data).matrix, rel=1e-9)
    assert "these are from" in run("score", data, "--model", "m.likely").done().out
    # What was chosen stays as it is when rows come and go, where sums are all that it takes.
    run("merge", "m.likely", "m.likely", "-o", "both.likely").done()
    run("unlearn", "both.likely", "m.likely", "-o", "less.likely").done()
    again = likely.load(tmp_path / "less.likely")
    assert again.posterior(data).matrix.tolist() == one.posterior(data).matrix.tolist()


@pytest.mark.parametrize("name", ["TreeAugmented", "OneDependence"])
def test_a_density_over_levels_sums_to_one(name, run, write, tmp_path) -> None:
    write("t.csv", "a,b,y\n" + "".join(f"{'uv'[k % 2]},{'xyz'[k % 3]},{'pq'[k % 5 < 2]}\n" for k in range(40)))
    run("fit", "t.csv", "y", "--learner", name, "-o", "m.likely").done()
    write("all.csv", "a,b\n" + "".join(f"{a},{b}\n" for a in "uv" for b in "xyz"))
    run("score", "all.csv", "--model", "m.likely", "-o", "out.csv").done()
    values = [float(x) for x in (tmp_path / "out.csv").read_text().splitlines()[1:]]
    assert math.fsum(map(math.exp, values)) == pytest.approx(1)


@pytest.mark.parametrize("name", ["TreeAugmented", "Neighbors", "NaiveBayes", "Prior"])
def test_a_prior_that_was_given_is_shown(name, run, examples) -> None:
    run("fit", examples / "weather.csv", "play", "--learner", name, "--set", "prior=uniform", "-o", "m.likely").done()
    tables = json.loads(run("show", "m.likely", "--json").done().out)["tables"]
    assert [row["P(class)"] for row in tables[0]["rows"]] == [0.5, 0.5]


def test_an_attribute_of_a_model_without_tables_shows_the_training_rows(run, examples) -> None:
    run("fit", examples / "weather_mixed.csv", "play", "--learner", "TreeAugmented", "-o", "m.likely").done()
    assert "share in training of each level" in run("show", "m.likely", "outlook").done().out
    (row, _) = json.loads(run("show", "m.likely", "temperature", "--json").done().out)["tables"][0]["rows"]
    assert (row["mean"], row["sd"]) == (74.6, pytest.approx(7.893, abs=1e-3))
    run("fit", examples / "weather_mixed.csv", "--learner", "Density", "-o", "m.likely").done()
    page = json.loads(run("show", "m.likely", "outlook", "--json").done().out)
    assert page["tables"][0]["rows"][0].keys() == {"level", "n", "P(level)"}


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("FullBayes", "LinearDiscriminant", *OF_MEMBERS)])
def test_names_that_no_one_should_give(name, run, write, tmp_path) -> None:
    write("t.csv", UGLY)
    target = [] if name == "Density" else ["y\n="]
    run("fit", "t.csv", *target, "--learner", name, "-o", "m.likely").done()
    run("show", "m.likely").done()
    write("s.toml", run("show", "m.likely", "--spec").done().out)
    run("fit", "t.csv", "--spec", "s.toml", "-o", "again.likely").done()
    one, two = likely.load(tmp_path / "m.likely"), likely.load(tmp_path / "again.likely")
    assert one.schema == two.schema and one.summary == two.summary
    for attribute in ('a"b', "c\nd", "😀=x", "[bold]x[/bold]", "\u202eevil"):
        run("show", "m.likely", "--", attribute).done()
    if target:
        run("predict", "m.likely", "t.csv", "--keep", "-o", "out.csv").done()


def test_compare_as_a_table_and_as_json(run, examples) -> None:
    ran = run("compare", examples / "weather_mixed.csv", "play", "--folds", 3, "--seed", 5).done()
    assert (
        "on 14 rows, cross-validated in 3 folds" in ran.out and "FullBayes was not compared: FullBayes takes" in ran.out
    )
    told = [run("compare", examples / "weather_mixed.csv", "play", "--json", "--threads", n).done().out for n in (1, 3)]
    assert len(set(told)) == 1
    record = json.loads(told[0])
    assert (record["folds"], record["rows"], record["seed"]) == (7, 14, 0)
    for one in record["learners"]:
        if "," in one["name"]:
            continue
        ran = run("look", examples / "weather_mixed.csv", "play", "--learner", one["name"], "--json")
        if one["name"] == "Auto":  # of so few rows it is not asked, though it would answer
            assert one["scores"] is None and "14 rows are too few" in one["refused"] and ran.done().out
        elif one["scores"] is None:
            assert one["refused"] in ran.refused().err
        else:
            assert json.loads(ran.done().out)["scores"] == one["scores"]
    ran = run(
        "compare",
        examples / "iris.csv",
        "species",
        "--learner",
        "LinearDiscriminant",
        "--learner",
        "TreeAugmented",
        "--json",
    ).done()
    assert [one["name"] for one in json.loads(ran.out)["learners"]] == ["LinearDiscriminant", "TreeAugmented"]


def test_compare_refuses_in_sentences(run, examples, write) -> None:
    weather = examples / "weather.csv"
    run("compare", weather, "play", "--learner", "Tre").refused("no learner 'Tre'", "Did you mean 'TreeAugmented'")
    run("compare", weather, "play", "--learner", "TAN").refused("'TreeAugmented'", "'OneDependence'", "'Prior'")
    run("compare", weather, "play", "--learner", "LinearDiscriminant").refused("takes numbers only")
    run("compare", weather, "play", "--learner", "Density").refused("no target")
    run("compare", weather, "play", "--learner", "Mixture").refused("needs the setting members")
    run("compare", weather, "ply").refused("Did you mean 'play'")
    run("compare", examples / "iris.csv", "petal_length").refused("likely regress")
    run("fit", examples / "iris.csv", "petal_length", "--learner", "LeastSquares", "-o", "m").refused("likely regress")
    write("one.csv", "a,y\n1,p\n2,p\n")
    run("compare", "one.csv", "y").refused("the same class 'p'")


@pytest.mark.parametrize(
    ("name", "setting", "words"),
    [
        ("TreeAugmented", "pseudocount=1", ["no setting 'pseudocount'", "Did you mean 'pseudo_count'"]),
        ("TreeAugmented", "pseudo_count=abc", ["pseudo_count", "finite number"]),
        ("TreeAugmented", "pseudo_count=true", ["pseudo_count is 'True'. It must be a finite number"]),
        ("TreeAugmented", "root=outlok", ["Did you mean 'outlook'"]),
        ("TreeAugmented", "root=5", ["root of TreeAugmented cannot be '5'"]),
        ("TreeAugmented", "prior=odd", ["prior of TreeAugmented cannot be 'odd'", "'observed'"]),
        ("TreeAugmented", "pseudo_count", ["no equals sign"]),
        ("TreeAugmented", "x=" + "[" * 5000, ["no setting 'x'"]),
        ("Prior", "pseudo_count=-1", ["pseudo_count", "zero or more"]),
        ("Neighbors", "k=0", ["k is '0'"]),
        ("Neighbors", "k=2.5", ["whole number"]),
        ("Neighbors", "attribute_weights={outlok=1}", ["Did you mean 'outlook'"]),
        ("LeastSquares", "mode=both", ["multi, pairwise"]),
        ("Logistic", "ridge=-1", ["ridge"]),
        ("FullBayes", "shrinkage=2", ["shrinkage", "between 0 and 1"]),
        ("FullBayes", "prior={yes=0.5,no=0.6}", ["sums to 1.1"]),
        ("Mixture", "members=[]", ["no members"]),
        ("Mixture", "weights=held-out", ["needs the setting members"]),
        ("Mixture", 'members=["LeastSquares"]', ["not probabilities"]),
        ("Mixture", 'members=[{name="TreeAugmented",x=1}]', ["TreeAugmented has no setting 'x'"]),
        ("Gibbs", 'members=["NaiveBayes","TreeAugmented"]', ["evidence of 'TreeAugmented'", "held-out"]),
        ("Density", "density=naive", ["takes no target"]),
    ],
)
def test_a_setting_that_does_not_fit(name, setting, words, run, examples, tmp_path) -> None:
    run("fit", examples / "weather.csv", "play", "--learner", name, "--set", setting, "-o", "m.likely").refused(*words)
    assert not (tmp_path / "m.likely").exists()


BAD = {
    "singular": "a,b,c,y\n" + "".join(f"{k}.5,{2 * k}.5,{k * k}.25,{'pq'[k % 2]}\n" for k in range(12)),
    "wide": ",".join(f"x{j}" for j in range(20)) + ",y\n"
    + "".join(",".join(f"{math.sin(k * 7 + j):.3f}" for j in range(20)) + f",{'pq'[k % 2]}\n" for k in range(8)),
    "separable": "a,y\n" + "".join(f"{k}.5,{'pq'[k > 9]}\n" for k in range(20)),
    "constant": "a,b,y\n" + "".join(f"1,k,{'pq'[k % 2]}\n" for k in range(8)),
    "one row each": "a,y\n" + "".join(f"{k}.5,c{k}\n" for k in range(4)),
    "one class": "a,y\n" + "".join(f"{k}.5,c\n" for k in range(6)),
    "levels": ",".join(f"x{j}" for j in range(12)) + ",y\n"
    + "".join(",".join(f"v{(k + j * (k // 10)) % 10}" for j in range(12)) + f",{'pq'[k % 2]}\n" for k in range(60)),
    "holes": "a,b,y\n"
    + "".join(f"{'' if k % 3 else k + 0.5},{'' if k % 2 else k / 4},{'pq'[k % 7 > 2]}\n" for k in range(40)),
    "nothing": "a,b,y\n" + "".join(f",?,{'pq'[k % 2]}\n" for k in range(10)),
    "text": "a,y\n" + "".join(f"the quick brown fox number {k} jumps over {k * k},{'pq'[k % 2]}\n" for k in range(60)),
    "weights": "a,w,y\n" + "".join(f"{k / 4},{k % 4 / 2},{'pqr'[k % 3]}\n" for k in range(40)),
}  # fmt: skip


@pytest.mark.parametrize("table", BAD)
def test_hard_tables_give_a_defined_result_or_a_sentence(table, run, write) -> None:
    write("t.csv", BAD[table])
    write("new.csv", "a,b,x0,w\n1e300,zebra,v99,-1\n,,,\nnan,?,v1,x\n")
    weight = ["--weight", "w"] if table == "weights" else []
    for name in NAMES:
        if name in (*OF_MEMBERS, "Density"):
            continue
        ran = run("fit", "t.csv", "y", "--learner", name, *weight, "-o", "m.likely")
        if ran.code:
            ran.refused("would not fit")
            assert name in ("LinearDiscriminant", "FullBayes")
            continue
        for data in ("t.csv", "new.csv"):
            found = run("predict", "m.likely", data).done().out.splitlines()[1:]
            for row in found:
                shares = [float(x) for x in row.split(",")[1:] if x]
                assert not any(map(math.isnan, shares)) and (not shares or math.isclose(sum(shares), 1, rel_tol=1e-9))
        run("show", "m.likely").done()
    ran = run("compare", "t.csv", "y", "--folds", 3, *weight)
    if table == "one class":
        ran.refused("the same class 'c'")
    else:
        assert not re.search(r"\bnan\b", ran.done().out)


def test_what_was_special_is_told(run, write) -> None:
    def told(table: str, name: str, *more: str) -> str:
        write("t.csv", BAD[table])
        return str(run("fit", "t.csv", "y", "--learner", name, *more, "-o", "m.likely").done().err)

    assert "held up by variance_floor" in told("wide", "FullBayes") and "variance_floor" in told(
        "singular", "LinearDiscriminant"
    )
    assert "collinear" in told("wide", "LeastSquares")
    assert "separable" in told("separable", "Logistic") and "separable" in told(
        "separable", "Logistic", "--set", "ridge=0"
    )
    assert "fewer than k = 99" in told("separable", "Neighbors", "--set", "k=99")
    told("levels", "FullBayes")
    assert "1,000,000,000,000 in all" in run("show", "m.likely").done().out
    assert "left out: no cut" in told("holes", "TreeAugmented")
    assert "only NaiveBayes and TextLogistic can use" in told("text", "TreeAugmented")


def test_a_pair_of_classes_that_disagrees_gives_no_answer(run, examples) -> None:
    run(
        "fit", examples / "iris.csv", "species", "--learner", "LeastSquares", "--set", "mode=pairwise", "-o", "m.likely"
    ).done()
    ran = run(
        "predict", "m.likely", "-", stdin=b"sepal_length,sepal_width,petal_length,petal_width\n9,0.1,1,9\n"
    ).done()
    assert ("no class wins all its duels" in ran.err) == (",,," in ran.out)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in (*OF_MEMBERS, "Density", "LinearDiscriminant")])
def test_a_look_names_the_learner(name, run, examples) -> None:
    out = run("look", examples / "weather.csv", "play", "--learner", name).done().out
    called = {"NaiveBayes": "Naive Bayes", "LeastSquares": "Least squares", "Neighbors": "Neighbour voting"}.get(
        name, ""
    )
    assert re.search(rf"\n{called}[\w -]* predicts \w+ correctly for \d+", out)
