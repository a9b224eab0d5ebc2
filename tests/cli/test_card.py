"""likely card, and what the command line writes into a judgement: the table, the day, the command, but no path."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from html.parser import HTMLParser

import pytest

import likely

PENGUINS = "penguins.csv"


@pytest.fixture
def penguins(write, examples):
    return write(PENGUINS, (examples / PENGUINS).read_bytes())


def test_the_judgement_says_what_it_is_from(run, penguins, tmp_path) -> None:
    folder = tmp_path / "my secret folder"
    folder.mkdir()
    run("fit", penguins, "sex", "-o", folder / "m.likely").done()
    found = likely.load(folder / "m.likely").judgement
    assert found is not None and found.origin is not None and found.version == likely.__version__
    assert (found.origin.table, found.origin.command) == (PENGUINS, "likely fit penguins.csv sex -o '…/m.likely'")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found.origin.day)
    assert b"secret" not in (folder / "m.likely").read_bytes()


def test_the_address_of_a_database_is_not_told(run, penguins, tmp_path) -> None:
    with closing(sqlite3.connect(tmp_path / "p.sqlite")) as base:
        header, *rows = csv.reader(penguins.read_text(encoding="utf-8").splitlines())
        base.execute(f"create table birds ({', '.join(header)})")
        base.executemany(f"insert into birds values ({', '.join('?' * len(header))})", rows)
        base.commit()
    address = f"sqlite:///{tmp_path}/p.sqlite?mode=ro&secret=hunter2"
    for data in ("p.sqlite", tmp_path / "p.sqlite", address):
        ran = run("fit", data, "sex", "--table", "birds", "-o", "m.likely")
        if data == address and ran.code:
            continue  # sqlite may refuse what it does not know
        found = likely.load(tmp_path / "m.likely").judgement
        assert found is not None and found.origin is not None
        assert "birds" in found.origin.command and "hunter2" not in str(found.origin)
        assert str(tmp_path) not in str(found.origin) and " object at " not in found.origin.table


def test_a_build_that_is_repeated_makes_the_same_file(run, penguins, write, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    other = write("other.csv", penguins.read_bytes())
    for table, out in ((penguins, "a.likely"), (other, "b.likely")):
        run("fit", table, "sex", "-o", out).done()
    assert (tmp_path / "a.likely").read_bytes() == (tmp_path / "b.likely").read_bytes()
    found = likely.load(tmp_path / "a.likely").judgement
    assert found is not None and found.origin is not None and found.origin.day == "1970-01-02"
    assert replace(found, origin=None) == likely.fit(penguins, "sex").judgement


def test_a_model_of_sums_says_nothing_of_when(run, penguins, tmp_path, monkeypatch) -> None:
    for day, out in (("0", "a.likely"), ("999999999", "b.likely")):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", day)
        run("fit", penguins, "sex", "--learner", "NaiveBayes", "-o", out).done()
    assert (tmp_path / "a.likely").read_bytes() == (tmp_path / "b.likely").read_bytes()
    assert "Not judged: NaiveBayes holds no rows out." in run("card", "a.likely").done().out


def test_what_is_printed_is_what_was_found(run, penguins, tmp_path) -> None:
    run("fit", penguins, "sex", "-o", "m.likely").done()
    looked = run("look", penguins, "sex").done().out
    right, bounds = re.search(r"correctly for (\S+ %) of unseen rows \((\S+ %)\)", looked).groups()
    sentence = f"Accuracy {right} ({bounds}) on 333 held-out rows; always guessing male gets 50.5 %."
    model = likely.load(tmp_path / "m.likely")
    card = run("card", "m.likely").done().out
    for words in (sentence, f"sha256 {model.digest}", "penguins.csv", "Torgersen", "To be filled in"):
        assert words in card, words
    assert sentence in run("show", "m.likely").done().out and sentence in run("show", "m.likely", "--all").done().out
    for language in ("sql", "python", "javascript", "json"):
        out = run("export", "m.likely", "--to", language).done().out
        assert sentence in out and model.digest in out and PENGUINS in out, language
    tables = {
        table["title"]: table["rows"] for table in json.loads(run("card", "m.likely", "--json").done().out)["tables"]
    }
    assert {"attribute": "species", "level": "Adelie"}.items() <= tables[
        "Scores by subgroup: accuracy, and how much of female is predicted and found"
    ][0].items()


def test_a_card_in_markdown_and_html(run, write, tmp_path) -> None:
    rows = [f"{'<b>' if k % 3 else '*a*'},{k % 10},{'</script>' if k % 10 < 5 else 'no'}" for k in range(200)]
    write("t.csv", "\n".join(["g<i>,x,y", *rows]) + "\n")
    run("fit", "t.csv", "y", "-o", "m.likely").done()
    run("card", "m.likely", "-o", "card.md").done()
    text = (tmp_path / "card.md").read_text(encoding="utf-8")
    assert text.startswith("# Model card: y\n") and "| g\\<i\\> |" in text and "<b>" not in text
    assert text == likely.card(likely.load(tmp_path / "m.likely"))
    run("card", "m.likely", "-o", "card.html").done()
    page = (tmp_path / "card.html").read_text(encoding="utf-8")
    assert "default-src &#39;none&#39;" in page and "<b>" not in page and "g&lt;i&gt;" in page
    HTMLParser().feed(page)
    run("card", "m.likely", "-o", "card.txt").done()
    assert (tmp_path / "card.txt").read_text(encoding="utf-8") == text


def test_a_model_that_learned_more_is_not_called_judged(run, penguins, write) -> None:
    run("fit", penguins, "sex", "--for", "updates", "-o", "m.likely").done()
    assert "on 333 held-out rows" in run("card", "m.likely").done().out
    write("more.csv", "".join(penguins.read_text(encoding="utf-8").splitlines(keepends=True)[:3]))
    run("learn", "m.likely", "more.csv", "-o", "n.likely").done()
    out = run("card", "n.likely").done().out
    assert "Not judged: the weights were chosen before these rows were learned or unlearned." in out
    assert "held-out row" not in out and "Scores" not in out.replace("Scores are of rows", "")
