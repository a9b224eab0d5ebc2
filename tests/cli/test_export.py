"""likely export: to standard output or a file, and what cannot be said is refused."""

from __future__ import annotations

import json

import pytest

import likely

TABLE = "sky = [red],wind,play\n" + "sun <b>,1.5,yes\n'); drop,2.5,no\nsun <b>,3.5,no\n" * 8


@pytest.fixture
def model(run, write) -> None:
    write("t.csv", TABLE)
    run("fit", "t.csv", "play", "--type", "wind=number", "-o", "m [x].likely").done()


def test_to_standard_output_and_to_a_file(model, run, tmp_path) -> None:
    for to in ("sql", "onnx", "pmml", "json", "python", "javascript"):
        wanted = likely.export(likely.load("m [x].likely"), to)
        done = run("export", "m [x].likely", "--to", to, "-o", f"out.{to}").done()
        assert done.out == "" and f"out.{to}: {len(wanted):,}" in done.err
        held = (tmp_path / f"out.{to}").read_bytes()
        assert held == (wanted if isinstance(wanted, bytes) else wanted.encode())
        if to != "onnx":
            assert run("export", "m [x].likely", "--to", to).done().out == wanted
    assert json.loads((tmp_path / "out.json").read_text())["attributes"][0]["name"] == "sky = [red]"


def test_sql_takes_its_words(model, run) -> None:
    out = (
        run("export", "m [x].likely", "--to", "sql", "--dialect", "mysql", "--table", "a.b", "--keep", "id").done().out
    )
    assert "FROM `a`.`b`" in out and "`id`" in out and "'''); drop'" in out
    run("export", "m [x].likely", "--to", "sql", "--dialect", "postgress").refused("Did you mean 'postgres'?")
    run("export", "m [x].likely", "--to", "json", "--dialect", "postgres").refused("dialect is of SQL")
    table = likely.fit({"on": ["2024-05-01", "2024-06-30"] * 3, "y": ["a", "b"] * 3}, "y", types={"on": "date"})
    table.save("dates.likely")
    run("export", "dates.likely", "--to", "sql").refused("such as --dialect postgres, duckdb or sqlite")
    run("export", "m [x].likely").refused("--to")
    run("export", "m [x].likely", "--to", "sq").refused("'sq'")
    run("export", "nowhere.likely", "--to", "sql").refused("Cannot read")


def test_what_cannot_be_said_is_refused(model, run) -> None:
    run("fit", "t.csv", "play", "--learner", "TreeAugmented", "-o", "tree.likely").done()
    for to in ("sql", "onnx", "pmml"):
        run("export", "tree.likely", "--to", to).refused("cannot say", "python")
    assert json.loads(run("export", "tree.likely", "--to", "json").done().out)["form"] == "Portable"
    run("fit", "t.csv", "play", "--learner", "Neighbors", "-o", "near.likely").done()
    run("export", "near.likely", "--to", "python").refused("needs the training rows")
