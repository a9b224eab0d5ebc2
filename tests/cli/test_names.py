"""Names and levels are data: whatever they hold, they come back as they were and harm neither terminal nor file."""

from __future__ import annotations

import csv
import io
import json

import pytest

NAIVE = ("--learner", "NaiveBayes")
NASTY = (
    "a,b", 'quo"te', "new\nline", "emoji😀", "<b>html</b>", "x" * 10_000, "\x1b[31mred\x1b[0m", "-dash", "--type",
    "eq=ual", "[bold]b[/bold]", "\u202egnirts", "tab\there", "{0}", "%s", "中文字",
)  # fmt: skip


@pytest.fixture
def nasty(write) -> str:
    """A table whose names, levels and classes are all of them nasty."""
    out = io.StringIO(newline="")
    rows = csv.writer(out)
    rows.writerow([*NASTY, "class"])
    for k in range(48):
        rows.writerow([NASTY[(k // 3 + j) % len(NASTY)] for j in range(len(NASTY))] + [NASTY[k % 5]])
    write("nasty.csv", out.getvalue())
    return "nasty.csv"


def test_look(nasty, run) -> None:
    plain = run("look", nasty, "class", *NAIVE, "--all").done().out
    assert max(len(line) for line in plain.splitlines()) < 200
    assert "\u202e" not in plain and "<b>html</b>" in plain and "[bold]b[/bold]" in plain
    record = json.loads(run("look", nasty, "class", *NAIVE, "--json").done().out)
    assert {a["name"] for a in record["attributes"]} == set(NASTY)
    assert set(record["classes"]) == set(NASTY[:5])
    assert run("look", nasty, "class", *NAIVE, encoding="ascii").done().out.isascii()


@pytest.mark.parametrize("name", NASTY)
def test_each_name_can_be_asked_for(name, nasty, run) -> None:
    run("look", nasty, *NAIVE, "--type", f"{name}=ignore", "--", "class").done()
    assert "1 class" not in run("look", nasty, *NAIVE, "--", name).done().out


def test_each_name_can_be_shown(nasty, run) -> None:
    run("fit", nasty, "class", *NAIVE, "-o", "m.likely").done()
    for name in NASTY:
        assert "16 levels" in run("show", "m.likely", "--", name).done().out, name


def test_predict_gives_them_back(nasty, run, tmp_path) -> None:
    run("fit", nasty, "class", *NAIVE, "-o", "m.likely").done()
    given = list(csv.reader(io.StringIO((tmp_path / nasty).read_bytes().decode(), newline="")))
    for suffix, delimiter in (("csv", ","), ("tsv", "\t")):
        run("predict", "m.likely", nasty, "--keep", "-o", f"out.{suffix}").done()
        text = (tmp_path / f"out.{suffix}").read_bytes().decode()
        kept = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
        assert [row[: len(NASTY) + 1] for row in kept] == given
        assert kept[0][len(NASTY) + 1 :] == ["prediction", *(f"p({c})" for c in sorted(NASTY[:5]))]
        assert {row[len(NASTY) + 1] for row in kept[1:]} <= set(NASTY)


def test_a_refusal_quotes_them_harmlessly(nasty, run) -> None:
    run("look", nasty, "\x1b[31mrod").refused("x1b[31mrod")
    run("look", nasty, "y" * 10_000).refused("yyy…")
    run("look", "\x1b]0;title\x07.csv", "y").refused("There is no file")
