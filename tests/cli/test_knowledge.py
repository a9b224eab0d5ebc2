"""Knowledge on the command line: in a spec, alone and with rows; learn; what is shown, compared and refused."""

from __future__ import annotations

import json

import pytest

import likely

KNOW = """
target = "disease"

[[knowledge]]
worth = 1000
levels = {flu = 0.01, "common = cold" = 0.99}

[[knowledge]]
attribute = "fever [red]"
given = "flu"
level = "true"
probability = 0.9
worth = 40

[[knowledge]]
attribute = "fever [red]"
given = "common = cold"
levels = {true = 0.2, "\\"true\\"" = 0.1}
worth = 40

[[knowledge]]
attribute = "température °C"
given = "flu"
mean = 39
deviation = 0.8
worth = 20
"""
ROWS = "disease,fever [red],température °C,n\nflu,true,39.5,1\n common = cold ,false,36.5,2\nflu,false,38.5,3\n"


@pytest.fixture
def known(run, write) -> None:
    write("know.toml", KNOW)
    write("rows.csv", ROWS)
    assert "0 rows, 2 classes, 2 attributes" in run("fit", "--spec", "know.toml", "-o", "k.likely").done().err


def test_the_spec_of_a_model_gives_the_same_model_again(known, run, write, tmp_path) -> None:
    page = run("show", "--spec", "k.likely").done().out
    assert page.count("[[knowledge]]") == 4 and "knowledge = " not in page
    write("again.toml", page)
    run("fit", "--spec", "again.toml", "-o", "again.likely").done()
    assert (tmp_path / "again.likely").read_bytes() == (tmp_path / "k.likely").read_bytes()
    assert "Both make the same assumptions" in run("diff", "again.toml", "k.likely").done().out


def test_learning_on_is_fitting_with_the_spec(known, run, write, tmp_path) -> None:
    done = run("learn", "k.likely", "rows.csv", "-o", "more.likely").done()
    assert "more.likely: 3 rows, 3 of them new." in done.err
    run("learn", "more.likely", "rows.csv", "-o", "twice.likely").done()
    run("merge", "more.likely", "more.likely", "-o", "merged.likely").done()
    assert (tmp_path / "twice.likely").read_bytes() == (tmp_path / "merged.likely").read_bytes()
    model, schema = likely.load("more.likely"), likely.load("k.likely").schema
    whole = likely.fit("rows.csv", learner=model.learner, schema=schema)
    whole.save("whole.likely")
    assert (tmp_path / "whole.likely").read_bytes() == (tmp_path / "more.likely").read_bytes()
    assert "0 rows remain" in run("unlearn", "more.likely", "rows.csv", "-o", "back.likely").done().err
    assert (tmp_path / "back.likely").read_bytes() == (tmp_path / "k.likely").read_bytes()
    run("learn", "k.likely", "more.likely", "-o", "other.likely").done()
    assert (tmp_path / "other.likely").read_bytes() == (tmp_path / "more.likely").read_bytes()


def test_rows_and_spec_at_once(known, run) -> None:
    done = run("fit", "rows.csv", "--spec", "know.toml", "-o", "m.likely").done()
    assert "3 rows, 2 classes, 3 attributes" in done.err  # n is an attribute that nothing was known of
    assert """'"true"' of 'fever [red]'""" in done.err


def test_a_model_of_knowledge_alone_predicts_and_is_shown(known, run) -> None:
    out = run("predict", "k.likely", "rows.csv").done().out.splitlines()
    assert out[0].startswith("prediction,p(common = cold),p(flu)") and len(out) == 4
    shown = run("show", "k.likely").done().out
    assert "from 0 rows" in shown and "4 pieces of knowledge" in shown and "no rows yet" in shown
    assert "Prior knowledge, compared with the rows" in shown and "température °C, deviation" in shown
    # 36 of 40 rows; 28 of the other class are kept for levels yet to come
    table = run("show", "k.likely", "fever [red]", "--fractions").done().out
    assert "36/40" in table and "8/40" in table
    page = json.loads(run("show", "k.likely", "--json").done().out)
    rows = page["tables"][-1]["rows"]
    assert rows[1] == {
        "of": "P(flu)",
        "in class": "–",
        "known": 0.01,
        "worth": 1000,
        "rows say": "–",
        "rows weigh": 0,
        "together": 0.01,
    }
    run("sample", "k.likely", "--rows", "3").done()


def test_diff_compares_knowledge_by_what_it_is_about(known, run, write) -> None:
    head, *parts = KNOW.split("[[knowledge]]")
    other = (
        "[[knowledge]]".join([head, *reversed(parts)])
        .replace("0.8", "0.9")
        .replace("probability = 0.9", "probability = 0.7")
    )
    write("other.toml", other)
    rows = json.loads(run("diff", "know.toml", "other.toml", "--json").done().out)["tables"][0]["rows"]
    assert rows == [
        {
            "of": "knowledge.fever [red] given flu: true",
            "one": '{"probability": 0.9, "worth": 40.0}',
            "two": '{"probability": 0.7, "worth": 40.0}',
        },
        {
            "of": "knowledge.température °C given flu",
            "one": '{"mean": 39.0, "deviation": 0.8, "worth": 20.0}',
            "two": '{"mean": 39.0, "deviation": 0.9, "worth": 20.0}',
        },
    ]


def test_knowledge_as_a_setting(run, examples) -> None:
    setting = 'knowledge=[{attribute="windy", given="yes", probability=0.5, worth=10}]'
    run("fit", examples / "weather.csv", "play", "--set", setting, "-o", "w.likely").done()
    assert "8/19" in run("show", "w.likely", "windy", "--fractions").done().out
    run("look", examples / "weather.csv", "play", "--set", setting).done()
    run("compare", examples / "weather.csv", "play").done()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("probability = 0.9", "probability = 1.9"), "1.9"),
        (("worth = 20", "worth = 0"), "worth"),
        (("deviation = 0.8", "deviation = -0.8"), "deviation"),
        (("mean = 39\n", ""), "lacks a mean"),
        (("mean = 39", "mean = 39\nprobability = 0.4"), "both"),
        (("mean = 39", "meen = 39"), "Did you mean 'mean'?"),
        (("mean = 39", 'mean = "hot"'), "hot"),
        (("worth = 20", "worth = 20\n[[knowledge]]" + KNOW.split("[[knowledge]]")[-1]), "twice"),
        (("0.99}", "0.999}"), "more than 1"),
        (("0.99}", "0.9}"), "no other class"),
        (("[[knowledge]]\nworth", '[learner]\nname="TreeAugmented"\n[[knowledge]]\nworth'), "'TreeAugmented'"),
        (("[[knowledge]]\nworth = 1000", '[learner]\nname="NaiveBayes"\nknowledge=[]\n[[knowledge]]\nworth = 1000'),
         "twice"),
        (('target = "disease"', "knowledge = 3"), "not TOML"),
        (('target = "disease"', ""), "TARGET"),
    ],
)  # fmt: skip
def test_what_a_spec_cannot_say(change, words, run, write) -> None:
    assert change[0] in KNOW
    write("bad.toml", KNOW.replace(*change))
    run("fit", "--spec", "bad.toml", "-o", "x.likely").refused(words)


def test_what_is_refused(known, run, write, tmp_path) -> None:
    write("knowledge.toml", 'target = "y"\nknowledge = [1]\n')
    run("fit", "--spec", "knowledge.toml", "-o", "x.likely").refused("[[knowledge]]")
    run("fit", "-o", "x.likely").refused("DATA")
    write("plain.toml", 'target = "y"\n')
    run("fit", "--spec", "plain.toml", "-o", "x.likely").refused("DATA")
    write("other.csv", "disease,fewer [red],température °C\nflu,true,39\n")
    run("fit", "other.csv", "--spec", "know.toml", "-o", "x.likely").refused("'fewer [red]'")
    run("learn", "k.likely", "other.csv", "-o", "x.likely").refused("'fever [red]'")
    write("empty.csv", "disease,fever [red],température °C\n")
    run("learn", "k.likely", "empty.csv", "-o", "x.likely").refused("no rows")
    run("learn", "k.likely", "nowhere.csv", "-o", "x.likely").refused("nowhere.csv")
    run("learn", "rows.csv", "rows.csv", "-o", "x.likely").refused("not a likely model")
    run("fit", "rows.csv", "disease", "--learner", "Logistic", "--type", "n=ignore", "-o", "l.likely").done()
    run("learn", "l.likely", "rows.csv", "-o", "x.likely").refused("must see the rows")
    assert not (tmp_path / "x.likely").exists()


def test_learning_is_for_any_model_and_summary(run, write, examples, tmp_path) -> None:
    header, *rows = (examples / "weather.csv").read_text().splitlines(keepends=True)
    run("fit", examples / "weather.csv", "play", "--learner", "TreeAugmented", "-o", "all.likely").done()
    for k in range(2):
        write(f"{k}.csv", header + "".join(rows[k::2]))
    run("fit", "0.csv", "play", "--learner", "TreeAugmented", "--schema", "all.likely", "-o", "half.likely").done()
    assert "14 rows, 7 of them new" in run("learn", "half.likely", "1.csv", "-o", "whole.likely").done().err
    assert (tmp_path / "whole.likely").read_bytes() == (tmp_path / "all.likely").read_bytes()
