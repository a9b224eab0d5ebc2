"""likely joint: counts, probabilities and margins of a file, tables typed by hand, ugly names, bad input refused."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import pytest


def test_the_table_with_its_margins(run, examples) -> None:
    out = run("joint", examples / "weather.csv", "outlook", "play").done().out
    for line in (
        "P(outlook, play) in weather.csv: 14 rows, 5 of 6 cells occur.",
        "  sunny           3         2    5",
        "  sum             5         9   14",
        "  sunny     0.214286  0.142857  0.357143",
        "  sum       0.357143  0.642857         1",
    ):
        assert line in out.splitlines(), line
    assert "outlook and play may be independent: G = 4.789, 2 degrees of freedom" in out
    assert run("joint", examples / "weather.csv", "outlook", encoding="ascii").done().out.isascii()


def test_fractions(run, examples) -> None:
    query = ["--query", "P(play=yes | outlook=rainy)", "--target", "play"]
    out = run("joint", examples / "weather.csv", "outlook", "play", "--fractions", *query).done().out
    assert "  sunny        3/14      2/14   5/14" in out.splitlines()
    assert "= (3/14) / (5/14) = 3/5 ≈ 0.6" in out
    assert "Bayes error of play: 2/7 ≈ 0.2857." in out and "rainy        5/14  yes       3/5" in out


def test_given_and_queries_and_independence(run, examples) -> None:
    table = [examples / "abc.toml"]
    out = run("joint", *table, "--given", "C=1", "--query", "P(A=1 or B=1)").done().out
    assert "P(A, B | C=1) in abc.toml: 4 of 4 cells are possible." in out
    assert "Probabilities given C=1" in out and "5/6 ≈ 0.8333" in out
    out = run("joint", *table, "--independent", "B, C", "--independent", "A, B | C").done().out
    assert "B and C are independent." in out and "A and B are not independent given C" in out
    assert "A and C" not in out
    out = run("joint", *table, "A", "C", "--across", "A").done().out
    assert "  C    A=0  A=1  sum" in out.splitlines()
    run("joint", *table, "--given", "A=1, B=1, C=1").refused("leaves no variable open")


def test_json(run, examples) -> None:
    more = ["--query", "P(A=1 | C=1)", "--query", "P(B | A)", "--query", "P(A)", "--target", "C", "--json"]
    record = json.loads(run("joint", examples / "abc.toml", *more).done().out)
    assert record["variables"] == ["A", "B", "C"] and record["rows"] is None and record["given"] is None
    assert sum(Fraction(cell["exact"]) for cell in record["cells"]) == 1
    assert record["margins"]["C"] == [
        {"value": "0", "p": 0.7, "exact": "7/10"},
        {"value": "1", "p": 0.3, "exact": "3/10"},
    ]
    first, second, third = record["queries"]
    assert (first["query"], first["exact"]) == ("P(A=1 | C=1)", "2/3")
    assert second["table"][0]["given"] == {"A": "0"} and third["table"][1]["exact"] == "1/2"
    assert record["rule"]["bayes_error"]["exact"] == "1/4"
    assert [t["independent"] for t in record["independence"][:3]] == [False, False, True]
    counted = json.loads(run("joint", examples / "weather.csv", "play", "--json").done().out)
    assert counted["rows"] == 14 and counted["cells"][0] == {
        "values": {"play": "no"}, "p": 5 / 14, "exact": "5/14", "count": 5
    }  # fmt: skip


def test_tables_typed_by_hand(run, examples, write) -> None:
    out = run("joint", examples / "urns.csv", "--probability", "P", "--query", "P(first=red | second=black)").done().out
    assert "first and second are independent." in out and "(2/9) / (1/3) = 2/3" in out
    assert "7/9" not in run("joint", examples / "urns.csv", "first", "--probability", "P").done().out
    page = '[[cell]]\nvalues = {a = "x", b = 1}\nprobability = "1/3"\n'
    page += '[[cell]]\nvalues = {b = 2, a = "y"}\nprobability = "2/3"\n'
    write("cells.toml", page)
    record = json.loads(run("joint", "cells.toml", "--query", "P(b=2)", "--json").done().out)
    assert record["queries"][0]["exact"] == "2/3"
    write("cells.toml", page.replace("probability", "count").replace('"1/3"', "1").replace('"2/3"', "2"))
    assert json.loads(run("joint", "cells.toml", "--json").done().out)["rows"] == 3
    write("counts.toml", 'counts = [3, 1]\n[levels]\nv = ["x", "y"]\n')
    assert json.loads(run("joint", "counts.toml", "--json").done().out)["cells"][0]["exact"] == "3/4"


def test_ugly_names(run, write) -> None:
    # As in a file: quotes, bars, equals signs, blanks at the ends, words of the grammar, another alphabet.
    write("ugly.csv", '"a|b = ""c""",née or not\n"it\'s, so",1\n"x|y",2\n"x|y",1\n')
    columns = ['a|b = "c"', "née or not"]
    for query, value in (
        ("P('a|b = \"c\"'='x|y')", "2/3"),
        ("P('a|b = \"c\"'='it''s, so' | 'née or not'=1)", "1/2"),
        ('P("a|b = ""c"""="it\'s, so" or née or not=2)', "2/3"),
    ):
        found = json.loads(run("joint", "ugly.csv", *columns, "--query", query, "--json").done().out)["queries"][0]
        assert found["exact"] == value, query
        again = json.loads(run("joint", "ugly.csv", *columns, "--query", found["query"], "--json").done().out)
        assert again["queries"][0]["exact"] == value  # what it prints can be typed


def test_numbers_are_cut_and_rows_without_a_value_left_out(run, write) -> None:
    write("t.csv", "n,y\n1,a\n2,a\n3,b\n,b\n4,\n")
    out = run("joint", "t.csv", "y", "n", "--edges", "n=2", "--closed", "right").done().out
    assert "n=up to 2" in out and "3 rows" in out and "2 rows without a value left out." in out
    run("joint", "t.csv", "y", "n", "--edges", "n=2,x").refused("not a number")
    run("joint", "t.csv", "y", "--edges", "n=2").refused("not a variable")


def test_a_database(run, tmp_path: Path) -> None:
    import sqlite3

    with sqlite3.connect(tmp_path / "d.sqlite") as made:
        made.execute("create table t (a text, b text)")
        made.executemany("insert into t values (?, ?)", [("x", "1"), ("y", "2"), ("x", "2")])
    made.close()
    asked = ["d.sqlite", "a", "--query", "P(a=x)", "--json"]
    for more in (["--table", "t"], ["--sql", "select * from t where b = '2'"]):
        value = json.loads(run("joint", *asked, *more).done().out)["queries"][0]["exact"]
        assert value == ("2/3" if more[0] == "--table" else "1/2")


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("probabilities = [0.5, 0.4]\n[levels]\nA = [0, 1]", "sum to 0.9"),
        ("probabilities = [0.5]\n[levels]\nA = [0, 1]", "2 cells, but 1 probabilities"),
        ("counts = [1]\n[levels]\nA = [0, 1]", "1 counts for 2 cells"),
        ("probabilities = [0.5, 0.5]", "no [levels]"),
        ("probabilities = 1\n[levels]\nA = [0]", "no list of probabilities"),
        ("[levels]\nA = [0, 1]", "no cells"),
        ("probabilites = [1]", "Did you mean 'probabilities'?"),
        ("probabilities = [1]\n[levels]\nA = [0, 0]", "twice"),
        ("probabilities = [1]\n[levels]\nA = []", "list of single values"),
        ("probabilities = [nan]\n[levels]\nA = [0]", "finite number"),
        ("probabilities = [-1, 2]\n[levels]\nA = [0, 1]", "negative"),
        ("probabilities = [1e999999999, 2]\n[levels]\nA = [0, 1]", "finite number"),
        ("cell = 3", "cell is '3'"),
        ("[[cell]]\nvalues = {a = 1}", "either probability or count"),
        ("[[cell]]\nvalues = {a = 1}\ncount = 1\n[[cell]]\nvalues = {b = 1}\ncount = 1", "variables of the first"),
        ("[[cell]]\nvalues = {a = 1}\ncount = 1\n[[cell]]\nvalues = {a = 1}\ncount = 1", "same values"),
        ("[[cell]]\nvalues = {a = 1}\ncount = 1\n[[cell]]\nvalues = {a = 2}\nprobability = 1", "one or the other"),
        ("[[cell]]\nvalues = {a = [1]}\ncount = 1", "list where a single"),
        ("x = ", "not TOML"),
    ],
)
def test_bad_pages_are_refused(run, write, page: str, words: str) -> None:
    write("page.toml", page)
    run("joint", "page.toml").refused(words)


def test_bad_input_is_refused(run, examples, write) -> None:
    weather = examples / "weather.csv"
    run("joint", weather).refused("No variable is named")
    run("joint", weather, "sky").refused("no column 'sky'")
    run("joint", weather, "play", "play").refused("twice")
    run("joint", weather, "play", "--query", "P(play=maybe)").refused("maybe")
    run("joint", weather, "play", "--given", "sky=sunny").refused("no variable 'sky'")
    run("joint", weather, "play", "--target", "sky").refused("no variable 'sky'")
    run("joint", weather, "play", "--across", "sky").refused("no variable 'sky'")
    run("joint", weather, "play", "outlook", "--independent", "play").refused("two variables")
    run("joint", weather, "play", "--probability", "P").refused("no column 'P'")
    run("joint", weather, "play", "--probability", "windy").refused("more than once")
    write("words.csv", "a,P\nx,one\n")
    run("joint", "words.csv", "--probability", "P").refused("'one'", "finite number")
    run("joint", weather, "play", "--pseudo-count", "-1").refused("negative")
    run("joint", "missing.toml").refused("Cannot read")
    run("joint", examples / "abc.toml", "A", "--weight", "x").refused("TOML file")
    run("joint", examples / "urns.csv", "--probability", "P", "--weight", "P").refused("takes no")
    write("twice.csv", "a,P\nx,1/2\nx,1/2\n")
    run("joint", "twice.csv", "--probability", "P").refused("more than once")
    write("twice.csv", "a,P\nx,1/2\nx,1/3\n")
    run("joint", "twice.csv", "--probability", "P").refused("more than once")
    write("gap.csv", "a,P\nx,1\ny,\n")
    run("joint", "gap.csv", "--probability", "P").refused("without a value or probability")
    write("only.csv", "P\n1\n")
    run("joint", "only.csv", "--probability", "P").refused("no column beside")


def test_the_page(run, examples, tmp_path: Path) -> None:
    ran = run("joint", examples / "weather.csv", "outlook", "play", "-o", "joint.html").done()
    assert "'joint.html'" in ran.err
    text = (tmp_path / "joint.html").read_text("utf-8")
    assert "Content-Security-Policy" in text and "likely joint" in text and "http://www.w3.org" in text
    wide = "a,b\n" + "".join(f"{k},{k}\n" for k in range(100))
    (tmp_path / "wide.csv").write_text(wide)
    run("joint", "wide.csv", "a", "b", "-o", "wide.html").refused("10,000 cells")
    assert not (tmp_path / "wide.html").exists()
    lines = run("joint", "wide.csv", "a", "b").done().out
    assert "… 36 more" in lines and "… 36 more" not in run("joint", "wide.csv", "a", "b", "--all").done().out


def test_margins_are_those_of_counting(run, examples) -> None:
    with open(examples / "iris.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    edges = ["--edges", "petal_length=2.5,5", "--json"]
    record = json.loads(run("joint", examples / "iris.csv", "species", "petal_length", *edges).done().out)
    long = sum(float(r["petal_length"]) >= 5 for r in rows)
    margin = {m["value"]: m for m in record["margins"]["petal_length"]}
    assert margin["5 or more"]["count"] == long and Fraction(margin["5 or more"]["exact"]) == Fraction(long, 150)
