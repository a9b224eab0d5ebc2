"""Blocks on the command line: --block, its spec and its file, in every command; and options that exclude each other."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import likely

UGLY = ["a, b", '"quoted"', "x=y", "[red]", "ünï 😀", " "]


@pytest.fixture
def ugly(write) -> str:
    """Six nominal columns with names that no parser likes, and levels alike."""
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow([*UGLY[:5], "play"])
    for k in range(60):
        pair = "same" if k % 2 == k // 2 % 2 else "not"
        rows.writerow([f"[bold]{k % 2}", f"l,{k // 2 % 2}", f"={k % 3}", f"'{k % 5}", "" if k % 7 == 0 else "é", pair])
    write("ugly.csv", out.getvalue())
    return "ugly.csv"


def line(*names: str) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(names)
    return out.getvalue()


def test_ugly_names_in_every_command(run, ugly, tmp_path) -> None:
    block = ["--block", line("a, b", '"quoted"'), "--block", line("[red]", "x=y")]
    assert "Traceback" not in run("fit", ugly, "play", *block, "-o", "m.likely").done().err
    model = likely.load(tmp_path / "m.likely")
    assert [f.name for f in model.factors][:2] == ['a, b & "quoted"', "x=y & [red]"]
    shown = run("show", "m.likely").done().out
    assert 'Cells of a, b & "quoted" that weigh most, of 4 with rows and 4 in all' in shown and "[bold]0" in shown
    told = run("show", "m.likely", "[red]").done().out
    assert "The model takes [red] together with x=y" in told
    page = run("show", "--spec", "m.likely").done().out
    assert 'blocks = [["a, b", "\\"quoted\\""], ["[red]", "x=y"]]' in page
    (tmp_path / "spec.toml").write_text(page, "utf-8")
    run("fit", ugly, "--spec", "spec.toml", "-o", "again.likely").done()
    assert "Both make the same assumptions." in run("diff", "m.likely", "again.likely").done().out
    again = likely.load(tmp_path / "again.likely")
    assert again.summary == model.summary and again.schema == model.schema
    run("predict", "m.likely", ugly, "-o", "p.csv").done()
    assert len((tmp_path / "p.csv").read_text("utf-8").splitlines()) == 61
    drawn = run("sample", "m.likely", "-n", "5", "--seed", "1").done().out
    assert len(drawn.splitlines()) == 6
    looked = json.loads(run("look", ugly, "play", *block, "--json").done().out)
    assert looked["scores"]["accuracy"] == 1 > looked["baseline"]["accuracy"]
    run("fit", ugly, "play", *block, "--block", "ünï 😀", "-o", "n.likely").refused("'ünï 😀' is left out of the model")


def test_merged_and_unlearned(run, examples: Path, write, tmp_path) -> None:
    header, *rows = (examples / "weather.csv").read_text().splitlines(keepends=True)
    write("all.csv", header + "".join(rows))
    block = ["--block", "outlook, windy"]
    run("fit", "all.csv", "play", *block, "-o", "all.likely").done()
    for k in range(2):
        write(f"{k}.csv", header + "".join(rows[k::2]))
        run("fit", f"{k}.csv", "play", *block, "--schema", "all.likely", "-o", f"{k}.likely").done()
    run("merge", "0.likely", "1.likely", "-o", "m.likely").done()
    assert (tmp_path / "m.likely").read_bytes() == (tmp_path / "all.likely").read_bytes()
    for what in ("1.csv", "1.likely"):
        run("unlearn", "all.likely", what, "-o", "less.likely").done()
        assert (tmp_path / "less.likely").read_bytes() == (tmp_path / "0.likely").read_bytes()
    run("fit", "0.csv", "play", "--schema", "all.likely", "-o", "plain.likely").done()
    run("merge", "all.likely", "plain.likely", "-o", "x.likely").refused("keeps cells of 'outlook' & 'windy'")


def test_set_says_the_same_as_block(run, examples: Path, tmp_path) -> None:
    where = examples / "weather.csv"
    run("fit", where, "play", "--block", "outlook,windy", "-o", "a.likely").done()
    run("fit", where, "play", "--set", 'blocks=[["outlook", "windy"]]', "-o", "b.likely").done()
    assert (tmp_path / "a.likely").read_bytes() == (tmp_path / "b.likely").read_bytes()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--block", "outlook,wind"], "Did you mean 'windy'?"),
        (["--block", "outlook,play"], "'play' is the target"),
        (["--block", "outlook,windy", "--block", "windy,humidity"], "'windy' is in blocks 1 and 2"),
        (["--block", "windy,windy"], "twice in block 1"),
        (["--block", ""], "Block 1 is empty"),
        (["--block", 'a,"b'], "not a line of CSV"),
        (["--set", "blocks=outlook"], "not a list of blocks"),
        (["--set", "blocks=[[1]]"], "not the name of a column"),
        (["--learner", "TreeAugmented", "--block", "outlook,windy"], "TreeAugmented has no setting 'blocks'"),
        (["--m-estimate", "2", "--pseudo-count", "1"], "--m-estimate replaces --pseudo-count"),
        (["--set", "m-estimate=2", "--pseudo-count", "1"], "--m-estimate replaces --pseudo-count"),
        (["--type", "windy=nominal of dates"], "cannot be read as 'nominal of dates'"),
    ],
)
def test_what_is_refused(options, words, run, examples: Path, tmp_path) -> None:
    run("fit", examples / "weather.csv", "play", *options, "-o", "x.likely").refused(words)
    assert not (tmp_path / "x.likely").exists()


def test_numbers_together(run, examples: Path, tmp_path) -> None:
    where = examples / "iris.csv"
    block = ["--block", "petal_length,petal_width"]
    run("fit", where, "species", *block, "--set", "shrinkage=auto", "-o", "m.likely").done()
    assert "Covariance of Iris-setosa: petal_length & petal_width" in run("show", "m.likely").done().out
    told = run("show", "m.likely", "petal_width").done().out
    assert "has no spread" not in told and "The model takes petal_width together with petal_length" in told
    mixed = ["--type", "petal_width=nominal", *block]
    run("fit", where, "species", *mixed, "-o", "x.likely").refused("either levels or numbers", "TreeAugmented")
    twice = run("look", where, "species", "--block", "petal_length,petal_width,sepal_length,sepal_width").done().out
    assert "redundant" not in twice


def test_a_block_of_bins(run, examples) -> None:
    cut = ("--bins", "sepal_length=5.2,6.1,7", "--bins", "sepal_width=2.8,3.6", "--bins-closed", "right")
    block = ("--block", "sepal_length,sepal_width", "--numbers", "binned")
    run("fit", examples / "iris.csv", "species", *block, *cut, "-o", "m.likely").done()
    told = run("explain", "m.likely", "sepal_length=5.3", "sepal_width=3.0", "--working").done().out
    assert "'sepal_length' falls into the bin 'above 5.2 to 6.1'." in told and "L(Iris-setosa) = 50/150 × 4/62" in told
    tables = run("show", "m.likely", "--all").done().out
    assert "Cells of sepal_length & sepal_width that weigh most, of 11 with rows and 12 in all" in tables
    run("show", "m.likely", "sepal_length", "--all").refused("by itself")
    full = ("--learner", "FullBayes", "--set", "density=table", "--set", "bins={sepal_width=[2.8, 3.6]}")
    run("fit", examples / "iris.csv", "species", *full, "-o", "f.likely").done()
    told = run("explain", "f.likely", "sepal_length=5.3", "--working").done().out
    assert "cells of sepal_length × sepal_width × petal_length × petal_width = " in told
