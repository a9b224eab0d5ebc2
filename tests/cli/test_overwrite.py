"""No command destroys a file: neither one that it reads, nor one of another kind than it writes, without --force."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import likely
from likely.apply.predict import predict_table
from likely.cli.listing import COMMANDS, commands
from likely.errors import InputError
from likely.intake.reading import Reading

PAGES = True
TABLE = "x,y,c\n" + "".join(f"{k % 9}.5,{k * k % 7}.5,{'ab'[k % 2]}\n" for k in range(40))

WRITERS: dict[str, tuple[str, ...]] = {
    "look": ("look", "d.csv", "c", "--learner", "NaiveBayes", "--folds", "2", "-o"),
    "fit": ("fit", "d.csv", "c", "--learner", "NaiveBayes", "-o"),
    "predict": ("predict", "m.likely", "d.csv", "-o"),
    "decide": ("decide", "m.likely", "d.csv", "-o"),
    "score": ("score", "d.csv", "--model", "m.likely", "-o"),
    "sample": ("sample", "m.likely", "-o"),
    "export": ("export", "m.likely", "--to", "sql", "-o"),
    "card": ("card", "m.likely", "-o"),
    "plot": ("plot", "d.csv", "c", "x", "y", "-o"),
    "normal": ("normal", "1", "2", "-o"),
    "curve": ("curve", "d.csv", "c", "--learner", "NaiveBayes", "--folds", "2", "--steps", "1", "--svg"),
    "joint": ("joint", "d.csv", "y", "c", "-o"),
    "learn": ("learn", "m.likely", "d.csv", "-o"),
    "unlearn": ("unlearn", "m.likely", "few.csv", "-o"),
    "merge": ("merge", "m.likely", "n.likely", "-o"),
}
"""A line of every command that writes a file, up to the file."""
NAMES = {
    "look": ".html",
    "joint": ".html",
    "plot": ".svg",
    "normal": ".svg",
    "curve": ".svg",
    "export": ".sql",
    "card": ".md",
}
NAMES |= {"fit": ".likely", "learn": ".likely", "unlearn": ".likely", "merge": ".likely"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text(TABLE)
    (tmp_path / "few.csv").write_text("\n".join(TABLE.split("\n")[:9]))
    model = likely.fit("d.csv", "c", likely.NaiveBayes())
    model.save("m.likely")
    model.save("n.likely")
    return tmp_path


def held(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


def test_every_command_that_writes_is_in_the_list() -> None:
    with commands.make_context("likely", [], resilient_parsing=True) as context:
        writing = {
            name
            for name in COMMANDS
            for option in getattr(commands.get_command(context, name), "params", ())
            if option.opts == ["--force"]
        }
    assert writing == {*WRITERS, "course"}  # which writes a folder: tests/cli/test_course.py


@pytest.mark.parametrize("name", WRITERS)
def test_inputs_stay(name: str, folder: Path, run: Callable[..., Any]) -> None:
    words = WRITERS[name]
    inputs = [w for w in words if (folder / w).is_file()]
    before = held(folder)
    for file in inputs:
        if (name, file) in {
            ("learn", "m.likely"),
            ("unlearn", "m.likely"),
            ("merge", "m.likely"),
            ("merge", "n.likely"),
        }:
            continue  # a model is updated into its own file
        run(*words, file).refused(file, "--force")
        assert held(folder) == before, name


@pytest.mark.parametrize("name", WRITERS)
def test_files_of_another_kind_stay(name: str, folder: Path, run: Callable[..., Any]) -> None:
    (folder / "data.sqlite").write_bytes(b"SQLite format 3\0" + bytes(100))
    (folder / "page.html").write_text("<!doctype html><title>My own page</title>")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(20))
    before = held(folder)
    for file in ("data.sqlite", "page.html", "picture.png"):
        if not (file.endswith(".png") and NAMES.get(name) == ".svg"):
            run(*WRITERS[name], file).refused(file, "--force")
    assert held(folder) == before, name


@pytest.mark.parametrize("name", WRITERS)
def test_older_outputs_are_replaced(name: str, folder: Path, run: Callable[..., Any]) -> None:
    out = f"out{NAMES.get(name, '.csv')}"
    run(*WRITERS[name], out).done()
    once = (folder / out).read_bytes()
    (folder / out).write_bytes(once + b"\n")
    run(*WRITERS[name], out).done()
    assert (folder / out).read_bytes() == once


def test_force_replaces(folder: Path, run: Callable[..., Any]) -> None:
    run("predict", "m.likely", "d.csv", "-o", "d.csv", "--force").done()
    assert (folder / "d.csv").read_text().startswith("prediction,")
    run("export", "n.likely", "--to", "sql", "--force", "-o", "n.likely").done()
    run("predict", "m.likely", "d.csv", "-o", "m.likely").refused("m.likely")


def test_other_ways_to_name_an_input(folder: Path, run: Callable[..., Any]) -> None:
    (folder / "link.csv").symlink_to("d.csv")
    (folder / "tables").mkdir()
    (folder / "tables" / "a.csv").write_text(TABLE)
    (folder / "costs.csv").write_text("class,a,b\na,0,1\nb,1,0\n")
    os.link(folder / "d.csv", folder / "hard.csv")
    for data, out in (
        ("d.csv", "link.csv"),
        ("link.csv", "d.csv"),
        ("d.csv", "./tables/../d.csv"),
        ("d.csv", str(folder / "d.csv")),
        (f"file://{folder}/d.csv", "d.csv"),
        ("[d].csv", "d.csv"),
        ("tables", "tables/a.csv"),
        ("tables/*.csv", "tables/a.csv"),
        ("d.csv", "hard.csv"),
    ):
        run("predict", "m.likely", data, "-o", out).refused("--force")
    run("decide", "m.likely", "d.csv", "--loss", "costs.csv", "-o", "costs.csv").refused("costs.csv")
    assert (folder / "d.csv").read_text() == TABLE == (folder / "tables" / "a.csv").read_text()
    run("predict", "m.likely", "tables", "-o", "tables/b.csv").done()


def test_standard_input_is_an_input(folder: Path) -> None:
    with open(folder / "d.csv", "rb") as stream:
        words = [sys.executable, "-m", "likely", "predict", "m.likely", "-", "-o", "d.csv"]
        done = subprocess.run(words, stdin=stream, capture_output=True, cwd=folder, check=False)
    assert done.returncode == 2 and b"--force" in done.stderr, done.stderr
    assert (folder / "d.csv").read_text() == TABLE


def test_the_library_refuses_as_well(folder: Path) -> None:
    model = likely.load("m.likely")
    with gzip.open("d.csv.gz", "wt") as file:
        file.write(TABLE)
    before = held(folder)
    for data, out in (("d.csv", "d.csv"), (Path("d.csv"), "d.csv"), ("d.csv.gz", "d.csv.gz"), ("d.csv", "m.likely")):
        with pytest.raises(InputError, match="Cannot write"):
            predict_table(model, data, out, Reading())
    for write in (model.save, model.summary.save):
        with pytest.raises(InputError, match="Cannot write"):
            write("d.csv")
    with pytest.raises(InputError, match="Cannot write"):
        likely.export(model, "json", "d.csv")
    assert held(folder) == before


def test_models_are_updated_in_place(folder: Path, run: Callable[..., Any]) -> None:
    run("learn", "m.likely", "d.csv", "-o", "m.likely").done()
    assert likely.load("m.likely").summary.rows == 80
    run("merge", "m.likely", "n.likely", "-o", "n.likely").done()
    assert likely.load("n.likely").summary.rows == 120


@pytest.mark.parametrize("name", ["train.py", "query.SQL", "notes.md", "pyproject.toml", "app.js", "book.ipynb"])
@pytest.mark.parametrize("command", ["predict", "decide", "score", "sample"])
def test_a_table_replaces_no_text_that_its_name_says_is_none(
    run: Callable[..., Any], folder: Path, command: str, name: str
) -> None:
    (folder / name).write_text("years, of, work\n")
    run(*WRITERS[command], name).refused("to be replaced by a table of text", "--force")
    assert (folder / name).read_text() == "years, of, work\n"
    run(*WRITERS[command], name, "--force").done()
    assert (folder / name).read_text() != "years, of, work\n"
    for other in ("old.csv", "old.txt", "old.data", "old"):
        (folder / other).write_text("a,b\n1,2\n")
        run(*WRITERS[command], other).done()
