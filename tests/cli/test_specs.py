"""--spec means the same to every command that learns, and text is read by the same options everywhere."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likely

SPEC = """
target = "the = target"

[learner]
name = "NaiveBayes"
blocks = [["a", "b"]]

[columns]
c = "ignore"

[[knowledge]]
worth = 7
levels = {yes = 0.5, no = 0.5}

[loss.yes]
"stay [red]" = 3

[loss.no]
go = 1
"""


@pytest.fixture
def table(write) -> str:
    """Two columns that matter only together, and one that gives the class away."""
    rows = [f"{k % 2},{k // 2 % 2},{k},{'yes' if (k % 2) ^ (k // 2 % 2) else 'no'}" for k in range(40)]
    return write("t.csv", "a,b,c,the = target\n" + "\n".join(rows) + "\n")


def test_look_takes_a_spec(run, write, table) -> None:
    spec = write("s [red].toml", SPEC)
    found = json.loads(run("look", table, "--spec", spec, "--json").done().out)
    assert found["scores"]["accuracy"] == 1.0  # by the block alone
    assert found["decisions"]["actions"] == ["stay [red]", "go"] and found["decisions"]["mean"] == 0
    assert [c["role"] for c in found["columns"] if c["name"] == "c"] == ["left out"]
    apart = run("look", table, "the = target", "--learner", "NaiveBayes", "--type", "c=ignore", "--json").done()
    assert json.loads(apart.out)["scores"]["accuracy"] < 0.9
    run("look", table, "--spec", spec, "--pseudo-count", 2).refused("already sets", "--pseudo-count")
    run("look", table, "--spec", spec, "--loss", write("l.toml", "[a]\nb = 1\n[c]\nd = 1\n")).refused(
        "Leave --loss out"
    )
    run("look", table).refused("TARGET")


def test_repeats_takes_a_spec(run, write, table) -> None:
    found = json.loads(run("repeats", table, "--spec", write("s.toml", SPEC), "--json").done().out)
    assert found["target"] == "the = target"
    run("repeats", table).refused("TARGET")


def test_compare_takes_a_spec(run, write, table) -> None:
    spec = write("s.toml", SPEC)
    found = json.loads(run("compare", table, "--spec", spec, "--learner", "NaiveBayes", "--json").done().out)
    by_name = {one["name"]: one for one in found["learners"]}
    assert set(by_name) == {"NaiveBayes", "s.toml"}
    assert by_name["s.toml"]["scores"]["accuracy"] == 1.0 > by_name["NaiveBayes"]["scores"]["accuracy"]
    assert by_name["s.toml"]["settings"].keys() == {"blocks", "knowledge"}
    usual = json.loads(run("compare", table, "--spec", spec, "--folds", 3, "--json").done().out)
    assert {"s.toml", "Prior", "TreeAugmented"} <= {one["name"] for one in usual["learners"]}
    run("compare", table, "--spec", spec, "--type", "a=nominal").refused("already sets", "--type")
    run("compare", table).refused("TARGET")


def test_a_spec_may_begin_with_a_byte_order_mark(run, write, table) -> None:
    run("fit", table, "--spec", write("s.toml", "\ufeff" + SPEC), "-o", "m.likely").done()


@pytest.mark.parametrize("tab", ["tab", "\\t", "\t"])
def test_a_tab_has_a_name_for_every_command(run, write, tab) -> None:
    rows = "a, x\ty\n" + "u, 1\tp\nv, 2\tq\n" * 10
    data = write("t.txt", rows)
    how = ("--delimiter", tab)
    run("fit", data, "y", *how, "-o", "m.likely").done()
    assert "40 rows" in run("learn", "m.likely", data, *how, "-o", "n.likely").done().err
    assert "20 rows" in run("unlearn", "n.likely", data, *how, "-o", "o.likely").done().err
    assert likely.load("o.likely").summary == likely.load("m.likely").summary
    assert run("predict", "m.likely", data, *how).done().out.splitlines()[1].startswith("p,")
    assert run("decide", "m.likely", data, *how).done().out.splitlines()[1].startswith("p,")
    assert run("explain", "m.likely", "--row", 2, data, *how).done().out.startswith("y is q")
    run("ask", "m.likely", "--row", 2, data, *how).done()
    run("score", data, "--model", "m.likely", *how).done()


def test_a_prior_names_a_class_once(run, table) -> None:
    run("fit", table, "the = target", "--prior", "yes=0.4", "--prior", "yes=0.5", "--prior", "no=0.5", "-o", "m.likely"
        ).refused("twice", "'yes'")  # fmt: skip


def test_learned_curves_are_settings_to_be_edited(run, write) -> None:
    levels = ["it's", 'a "b"', "x.y", "ünï ☃"]
    rows = {
        'sky\'s "colour" [1].x': [levels[k * k % 4 if k % 3 else k % 4] for k in range(200)],
        "n.1": [float(k * 7 % 50) for k in range(200)],
        "class = '?'": ["no" if k * 7 % 50 < 20 or k % 4 == 1 else "yes" for k in range(200)],
    }
    sky, number, target = rows
    types = {sky: "nominal", number: "number"}
    model = likely.fit(rows, target, likely.Additive(order=1), types=types)
    model.save(file := write("m.likely", ""))
    page = run("show", file, "--spec", "--curves").done().out
    pq.write_table(pa.table(rows), write("t.parquet", ""))

    def learned(page: str) -> likely.Model:
        run("fit", "t.parquet", "--spec", write("page.toml", page), "-o", "again.likely").done()
        return likely.load("again.likely")

    # Learned from the same rows with all curves given, it is the same model.
    same = learned(page)
    assert same.learner.curves == {name: model.curve(name) for name in (sky, number)}
    assert same.learner == replace(likely.Additive(order=1), curves=same.learner.curves)
    asked = {name: [*rows[name], None] for name in (sky, number)}
    np.testing.assert_array_equal(same.posterior(asked).matrix, model.posterior(asked).matrix)
    one = learned(run("show", file, number, "--spec", "--curves").done().out)
    assert one.learner.curves == {number: model.curve(number)}
    assert learned(run("show", file, "--spec").done().out).learner.curves == {}
    run("show", file, "--curves").refused("--spec --curves")
    run("show", file, "other", "--spec", "--curves").refused("other")
    likely.fit(rows, target, likely.NaiveBayes(), types=types).save(file)
    run("show", file, "--spec", "--curves").refused("NaiveBayes takes no curves", "Additive")
