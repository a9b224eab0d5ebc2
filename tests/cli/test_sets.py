"""Intervals and sets on the command line: predict, decide, explain, export, and fit --judge."""

from __future__ import annotations

import csv
import io
import json

import duckdb
import numpy as np
import pyarrow.csv as pc
import pytest

import likely


@pytest.fixture
def model(examples, run) -> str:
    run("fit", examples / "penguins.csv", "sex", "-o", "sex.likely").done()
    return "sex.likely"


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_predict_says_what_python_says(model, examples, run) -> None:
    told = run("predict", model, examples / "penguins.csv", "--set", 99, "--interval", 90, "--remarks").done()
    rows = rows_of(told.out)
    assert list(rows[0])[-4:] == ["low", "high", "set", "remarks"]
    answer = likely.load(model).posterior(examples / "penguins.csv")
    low, high = answer.intervals(0.9)
    for row, best, one, other, left in zip(rows, answer.codes, low, high, answer.set(0.99), strict=True):
        assert float(row["low"]) == one[best] and float(row["high"]) == other[best]
        assert tuple(row["set"].split(" | ")) == left and row["prediction"] in left
    assert {len(left) for left in answer.set(0.99)} == {1, 2}


def test_decide_abstains(model, examples, run) -> None:
    rows = rows_of(run("decide", model, examples / "penguins.csv", "--set", 99).done().out)
    sets = likely.load(model).posterior(examples / "penguins.csv").set(0.99)
    assert [row["action"] == "" for row in rows] == [len(left) > 1 for left in sets]
    told = json.loads(run("decide", model, examples / "penguins.csv", "--interval", 99, "--json").done().out)
    assert told["unsure"] == sum(one["action"] is None for one in told["rows"]) > 0
    run("decide", model, examples / "penguins.csv", "--set", 95, "--prior", "male=0.2").refused("prior of training")
    run("decide", model, examples / "penguins.csv", "--set", 100).refused("--set", "no level")
    shares = run("predict", model, examples / "penguins.csv", "--set", 0.99).done().out
    assert shares == run("predict", model, examples / "penguins.csv", "--set", 99).done().out


def test_explain_says_it_of_rows_whole_and_partly_known(model, run) -> None:
    told = run("explain", model, "species=Gentoo", "body_mass_g=5000", "--level", 95).done().out
    found = json.loads(
        run("explain", model, "species=Gentoo", "body_mass_g=5000", "--level", 0.95, "--json").done().out
    )
    sure = found["sureness"]
    assert sure["by"] == "held-out rows" and sure["level"] == 0.95
    answer = likely.load(model).posterior({"species": "Gentoo", "body_mass_g": 5000})
    assert tuple(sure["set"]) == answer.set(0.95)
    low, high = answer.interval(answer.best, 0.95)
    assert sure["classes"][answer.best] == {"probability": answer.matrix.max(), "low": low, "high": high}
    second = told.splitlines()[1]
    assert second.startswith("Of held-out rows answered like this, ") and "In the 95 % set: " in second


def test_naive_bayes_has_both_where_it_is_judged(examples, run) -> None:
    run("fit", examples / "iris.csv", "species", "--learner", "NaiveBayes", "-o", "plain.likely").done()
    told = run("explain", "plain.likely", "petal_length=1.4").done().out
    assert "Uncertainty (90 % interval)" in told and "held-out rows" not in told
    run("predict", "plain.likely", examples / "iris.csv", "--set", 95).refused("--judge")
    out = run("fit", examples / "iris.csv", "species", "--learner", "NaiveBayes", "--judge", "-o", "both.likely").done()
    assert "held-out rows: accuracy 9" in out.out + out.err
    told = run("explain", "both.likely", "petal_length=1.4").done().out
    assert "Uncertainty (90 % interval)" in told and "Of held-out rows answered like this" in told
    found = json.loads(run("explain", "both.likely", "petal_length=1.4", "--json").done().out)
    assert found["sureness"]["draws"] == 2000 and found["held_out_sureness"]["by"] == "held-out rows"
    run("fit", "-", "species", "--judge", "--every", 10, stdin=b"species,x\na,1\n").refused("--judge")


def test_sql_says_the_same_sets(examples, run) -> None:
    run("fit", examples / "penguins.csv", "species", "-o", "m.likely").done()
    query = run("export", "m.likely", "--to", "sql", "--set", 97, "--table", "birds").done().out
    birds = pc.read_csv(examples / "penguins.csv", convert_options=pc.ConvertOptions(null_values=["", "NA"]))
    with duckdb.connect() as database:
        database.register("birds", birds)
        said = database.sql(query).to_arrow_table()
    answer = likely.load("m.likely").posterior(examples / "penguins.csv")
    whole = answer.gaps == 0
    for k, name in enumerate(answer.classes):
        column = said[f"set({name})"].to_pylist()
        assert [value is None for value in column] == (~whole).tolist()
        assert [bool(value) for value, known in zip(column, whole, strict=True) if known] == (
            answer.sets(0.97)[whole, k].tolist()
        )
    assert np.array_equal(said["prediction"].to_pylist(), answer.best) or (~whole).any()
    run("export", "m.likely", "--to", "json", "--set", 97).refused("set is of SQL")
