"""fit, merge, unlearn, show and predict: what they write, to the byte, and what they say."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
from itertools import permutations
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import likely


@pytest.fixture
def shards(run, write, examples: Path, tmp_path: Path) -> list[str]:
    """weather.csv in three files, each with a model that reads it as all.likely reads the whole."""
    header, *rows = (examples / "weather.csv").read_text().splitlines(keepends=True)
    write("all.csv", header + "".join(rows))
    run("fit", "all.csv", "play", "-o", "all.likely").done()
    for k in range(3):
        write(f"{k}.csv", header + "".join(rows[k::3]))
        run("fit", f"{k}.csv", "play", "--schema", "all.likely", "-o", f"{k}.likely").done()
    return [f"{k}.likely" for k in range(3)]


def test_merged_in_any_order_is_fitted_at_once(shards, run, tmp_path) -> None:
    whole = (tmp_path / "all.likely").read_bytes()
    for order in permutations(shards):
        assert "14 rows of 3 models" in run("merge", *order, "-o", "m.likely").done().err
        assert (tmp_path / "m.likely").read_bytes() == whole
    run("merge", "0.likely", "-o", "m.likely").done()
    assert (tmp_path / "m.likely").read_bytes() == (tmp_path / "0.likely").read_bytes()


@pytest.mark.parametrize("what", ["2.csv", "2.likely"])
def test_unlearned_is_never_learned(what, shards, run, tmp_path) -> None:
    run("merge", "0.likely", "1.likely", "-o", "two.likely").done()
    run("unlearn", "all.likely", what, "-o", "less.likely").done()
    assert (tmp_path / "less.likely").read_bytes() == (tmp_path / "two.likely").read_bytes()
    run("unlearn", "0.likely", "1.csv", "-o", "x.likely").refused("never learned")
    run("unlearn", "0.likely", "0.csv", "-o", "x.likely").refused("all the rows")
    assert not (tmp_path / "x.likely").exists()


def test_models_that_read_a_column_otherwise_do_not_merge(shards, run, tmp_path) -> None:
    run("fit", "all.csv", "play", "--type", "windy=ignore", "-o", "b.likely").done()
    run("merge", "all.likely", "b.likely", "-o", "x.likely").refused("'windy'", "--schema")
    run("fit", "all.csv", "windy", "-o", "b.likely").done()
    run("merge", "all.likely", "b.likely", "-o", "x.likely").refused("'windy'")
    assert not (tmp_path / "x.likely").exists()


def test_a_schema_reads_another_file_the_same_way(shards, run, write, tmp_path) -> None:
    rows = list(csv.reader(io.StringIO((tmp_path / "all.csv").read_text())))
    write("turned.csv", "\n".join(",".join(reversed(r)) for r in rows) + "\n")
    run("fit", "turned.csv", "play", "--schema", "all.likely", "-o", "turned.likely").done()
    assert (tmp_path / "turned.likely").read_bytes() == (tmp_path / "all.likely").read_bytes()
    write("less.csv", "\n".join(",".join(r[1:]) for r in rows) + "\n")
    run("fit", "less.csv", "play", "--schema", "all.likely", "-o", "x.likely").refused("'outlook'", "schema")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["windy"], ["target 'play', but 'windy'"]),
        (["play", "--weight", "windy"], ["no weight", "'windy'"]),
        (["play", "--type", "windy=ignore"], ["either --schema or --type"]),
        (["play", "--missing", "sunny"], ["either --schema or --missing"]),
        (["play", "--target-bins", "2"], ["either --schema or --target-bins"]),
    ],
)
def test_a_schema_is_not_contradicted_in_silence(options, words, shards, run) -> None:
    run("look", "all.csv", *options, "--schema", "all.likely").refused(*words)


def test_predictions_are_the_librarys(shards, run, tmp_path) -> None:
    model = likely.load(tmp_path / "all.likely")
    found = model.posterior(str(tmp_path / "all.csv"))
    printed = list(csv.reader(io.StringIO(run("predict", "all.likely", "all.csv").done().out)))
    assert printed[0] == ["prediction", "p(no)", "p(yes)"]
    assert [row[0] for row in printed[1:]] == list(found.best)
    assert [[float(p) for p in row[1:]] for row in printed[1:]] == found.matrix.tolist()
    run("predict", "all.likely", "all.csv", "--keep", "-o", "out.tsv").done()
    kept = list(csv.reader(io.StringIO((tmp_path / "out.tsv").read_text()), delimiter="\t"))
    given = list(csv.reader(io.StringIO((tmp_path / "all.csv").read_text())))
    assert kept == [a + b for a, b in zip(given, printed, strict=True)]
    run("predict", "all.likely", "all.csv", "-o", "out.csv.gz").done()
    text = gzip.decompress((tmp_path / "out.csv.gz").read_bytes()).decode()
    assert list(csv.reader(io.StringIO(text))) == printed
    run("predict", "all.likely", "all.csv", "-o", "out.parquet").done()
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column_names == printed[0] and table["p(no)"].to_pylist() == found.matrix[:, 0].tolist()


def test_predicting_tells_what_was_odd(shards, run, write) -> None:
    write("new.csv", "outlook,zebra\nsunny,1\nhail,2\n")
    ran = run("predict", "all.likely", "new.csv").done()
    assert ran.out.count("\n") == 3
    for sentence in ("Column 'humidity' is not in the table", "not seen in training: 1 cell of 'outlook'"):
        assert sentence in ran.err
    write("none.csv", "zebra\n1\n")
    run("predict", "all.likely", "none.csv").refused("none of the attributes of this model", "'outlook'")
    write("header.csv", "outlook,windy\n")
    assert run("predict", "all.likely", "header.csv", "--keep").done().out == "outlook,windy,prediction,p(no),p(yes)\n"
    write("clash.csv", "outlook,p(yes)\nsunny,1\n")
    run("predict", "all.likely", "clash.csv", "--keep").refused("'p(yes)'", "--keep")
    run("predict", "all.likely", "clash.csv").done()
    assert run("predict", "all.likely", "-", stdin=b"outlook\nsunny\n").done().out.count("\n") == 2


def test_a_row_that_cannot_be_classified_has_no_prediction(run, write) -> None:
    write("t.csv", "k,j,y\na,c,p\na,c,p\nb,d,q\nb,d,q\n")
    run("fit", "t.csv", "y", "--pseudo-count", "0", "-o", "m.likely").done()
    write("new.csv", "k,j\na,d\nb,d\n")
    ran = run("predict", "m.likely", "new.csv").done()
    assert ran.out.splitlines()[1:] == [",,", "q,0,1"]
    assert "1 row cannot be classified" in ran.err


def test_strays_and_refused_levels_when_predicting(run, write, tmp_path) -> None:
    write("t.csv", "x,k,y\n1.5,a,p\n2.5,a,p\n3.5,b,q\n7.5,b,q\n")
    run("fit", "t.csv", "y", "--unseen", "error", "-o", "m.likely").done()
    write("new.csv", "x,k\nabc,a\n")
    assert "so missing: 1 cell of 'x'" in run("predict", "m.likely", "new.csv").done().err
    write("out.csv", "old")
    write("new.csv", "x,k\n1,a\n2,zebra\n")
    run("predict", "m.likely", "new.csv", "-o", "out.csv").refused("Row 2", "'zebra'", "'k'", "--unseen skip")
    assert (tmp_path / "out.csv").read_text() == "old"


def test_text_that_proves_not_to_be_utf_8_late_is_read_alike_by_every_command(run, write, tmp_path) -> None:
    write("t.csv", b"town,class\n" + b"Berlin,a\nBonn,b\n" * 80_000 + "Köln,ä\n".encode("latin-1") * 10)
    run("fit", "t.csv", "class", "-o", "m.likely").done()
    assert "ä" in run("show", "m.likely").done().out
    run("predict", "m.likely", "t.csv", "-o", "out.csv").done()
    assert (tmp_path / "out.csv").read_text().splitlines()[-1].startswith("ä,")
    run("unlearn", "m.likely", "t.csv", "-o", "x.likely").refused("all the rows")


def test_show(shards, run) -> None:
    assert "NaiveBayes with the usual settings" in run("show", "all.likely").done().out
    fractions = run("show", "all.likely", "outlook", "--fractions").done().out
    assert "5/12" in fractions and "1/8" in fractions
    record = json.loads(run("show", "all.likely", "outlook", "--json").done().out)
    assert record["tables"][0]["rows"][0]["level"] == "overcast"
    assert "is the target" in run("show", "all.likely", "play").done().out
    run("show", "all.likely", "Outlook").refused("Did you mean 'outlook'")
    run("show", "all.csv").refused("not a likely model file")


def test_a_private_file_stays_private_when_it_is_replaced(run, examples, tmp_path) -> None:
    model, out = tmp_path / "m.likely", tmp_path / "out.csv"
    run("fit", examples / "weather.csv", "play", "-o", model)
    out.write_text("mine")
    out.chmod(0o600)
    run("predict", model, examples / "weather.csv", "-o", out)
    assert out.read_text().startswith("prediction,") and out.stat().st_mode & 0o777 == 0o600


def test_weights_are_counted_beside_rows(run, examples) -> None:
    counts = examples / "mpg_counts.csv"
    said = run("fit", counts, "mpg", "--weight", "rows", "-o", "m.likely").done().err
    assert said.startswith("m.likely: 16 rows that weigh 196, 2 classes")
    assert "from 16 rows that weigh 196" in run("show", "m.likely").done().out
    assert "16 rows that weigh 196," in run("look", counts, "mpg", "--weight", "rows", "--no-page").done().out
    assert "weigh" not in run("fit", examples / "weather.csv", "play", "-o", "w.likely").done().err


@pytest.mark.parametrize("learner", ["NaiveBayes", "Logistic", "Auto", "TreeAugmented"])
@pytest.mark.parametrize(("name", "target"), [("penguins", "sex"), ("weather_mixed", "play"), ("iris", "species")])
def test_neither_the_order_of_rows_nor_the_format_shows_in_a_file(
    name, target, learner, run, write, examples, monkeypatch
) -> None:
    """Bytes of the same rows, shuffled, and as Parquet, where numbers and booleans are stored as such. What the command
    line adds to a judgement (table, day, command) is left out where builds are to be repeated."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    header, *lines = (examples / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    whole = [header, *lines]
    run("fit", write("a.csv", "\n".join(whole) + "\n"), target, "--learner", learner, "-o", "a.likely").done()
    found = Path("a.likely").read_bytes()
    for seed in range(2):
        random.Random(seed).shuffle(lines)
        run("fit", write("b.csv", "\n".join([header, *lines]) + "\n"), target, "--learner", learner, "-o", "b.likely")
        assert Path("b.likely").read_bytes() == found
    pq.write_table(pyarrow.csv.read_csv("a.csv"), "c.parquet")
    run("fit", "c.parquet", target, "--learner", learner, "-o", "c.likely").done()
    assert Path("c.likely").read_bytes() == found


def test_who_reads_rows_once_is_told_who_learned(shards, run) -> None:
    def said(*words: str) -> str:
        done = run("fit", "all.csv", "play", *words, "-o", "once.likely").done()
        return done.out + done.err

    sentence = "Naive Bayes learned, because with --keep rows are not read again."
    assert sentence in said("--keep", "sums")
    assert sentence not in said()
    assert sentence not in said("--keep", "sums", "--learner", "NaiveBayes")
