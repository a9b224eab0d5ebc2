"""likely look from every kind of table, and with every option that changes how it is read."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest


def record(ran) -> dict:
    return json.loads(ran.done().out)


def scores(ran) -> tuple:
    found = record(ran)
    return found["rows"], found["scores"], found["confusion"], [a["name"] for a in found["attributes"]]


@pytest.fixture
def weather(examples: Path) -> bytes:
    return (examples / "weather.csv").read_bytes()


def test_one_table_in_many_forms_looks_the_same(run, write, weather, tmp_path) -> None:
    text = weather.decode()
    rows = [line.split(",") for line in text.splitlines()]
    names = rows[0]
    objects = [dict(zip(names, row, strict=True)) for row in rows[1:]]
    table = pa.table({n: [o[n] for o in objects] for n in names})
    (tmp_path / "folder").mkdir()
    pq.write_table(table.slice(0, 5), tmp_path / "folder" / "a.parquet")
    pq.write_table(table.slice(5), tmp_path / "folder" / "b.parquet")
    write("plain.csv", text)
    write("packed.csv.gz", gzip.compress(weather))
    write("packed.csv.zst", pa.compress(weather, "zstd", asbytes=True))
    write("bom.csv", b"\xef\xbb\xbf" + weather)
    write("wide.csv", text.encode("utf-16"))
    write("tabs.tsv", text.replace(",", "\t"))
    write("semicolons.txt", text.replace(",", ";"))
    write("lines.jsonl", "\n".join(json.dumps(o) for o in objects))
    declared = "\n".join(f"@attribute {n} string" for n in names)
    write("weather.arff", f"@relation w\n{declared}\n@data\n" + "\n".join(text.splitlines()[1:]))
    wanted = scores(run("look", "plain.csv", "play", "--json"))
    assert scores(run("look", "-", "play", "--json", stdin=weather)) == wanted
    for name in ("packed.csv.gz", "packed.csv.zst", "bom.csv", "wide.csv", "tabs.tsv", "semicolons.txt", "lines.jsonl",
                 "weather.arff", "folder", "folder/*.parquet"):  # fmt: skip
        assert scores(run("look", name, "play", "--json")) == wanted, name


def test_plain_text_when_piped(run, examples) -> None:
    out = run("look", examples / "iris.csv", "species", "--all").done().out
    first = "species in iris.csv: 150 rows, 3 classes, 4 attributes.\n"
    assert out.startswith(f"{first}The model predicts species correctly")
    for title in ("Scores on held-out rows", "Classes", "How far each attribute moves the answers",
                  "Strongest single values", "True class (rows)", "How the columns were read"):  # fmt: skip
        assert f"\n{title}" in out
    assert "setosa" in out and "Warning" not in out


@pytest.mark.parametrize(
    ("cells", "classes"),
    [
        (["0", "1", "2"], ["0", "1", "2"]),
        (["true", "false"], ["false", "true"]),
        (["2.5", "1.5", "10"], ["1.5", "2.5", "10"]),
        (["a", "b", "", "?"], ["a", "b"]),
        (["007", "042"], ["007", "042"]),
    ],
)
def test_a_target_may_be_of_any_kind(cells, classes, run, write) -> None:
    write("t.csv", "x,y\n" + "".join(f"{k % 13},{cells[k % len(cells)]}\n" for k in range(60)))
    found = record(run("look", "t.csv", "y", "--json"))
    assert list(found["classes"]) == classes
    assert found["left_out"] == sum(60 // len(cells) for c in cells if c in ("", "?"))
    assert any("no class" in w for w in found["warnings"]) == (found["left_out"] > 0)


def test_bins_of_a_target(run, write) -> None:
    write("t.csv", "x,y\n" + "".join(f"{k % 7},{k + 0.123456789}\n" for k in range(100)))
    found = record(run("look", "t.csv", "y", "--target-bins", "4", "--json"))
    assert found["classes"] == {"below 25": 25, "25 to below 50": 25, "50 to below 75": 25, "75 or more": 25}
    found = record(run("look", "t.csv", "y", "--target-bins", "10,90.5", "--json"))
    assert found["classes"] == {"below 10": 10, "10 to below 90.5": 81, "90.5 or more": 9}


def test_what_is_said_about_columns_holds(run, write) -> None:
    write("t.csv", "x,k,y\n" + "".join(f"{k % 5},{'abc?cb'[k % 6]},{'pq'[k % 2]}\n" for k in range(60)))

    def kinds(*options: str) -> dict:
        columns = record(run("look", "t.csv", "y", "--json", *options))["columns"]
        return {c["name"]: (c["kind"], c["role"]) for c in columns}

    assert kinds()["x"] == ("nominal", "attribute")
    assert kinds("--type", "x=number")["x"] == ("number", "attribute")
    assert kinds("--type", "x=text")["x"] == ("text", "attribute")
    assert kinds("--type", "x=ignore", "--type", "k=ignore")["x"] == ("ignored", "left out")
    assert kinds("--weight", "x")["x"] == ("number", "weight")

    def missing(*options: str) -> float:
        found = record(run("look", "t.csv", "y", "--json", *options))["attributes"]
        return {a["name"]: a["missing"] for a in found}["k"]

    assert missing() == pytest.approx(1 / 6)
    assert missing("--missing", "a", "--missing", "b") == pytest.approx(1 / 2)
    assert missing("--missing", "nothing") == 0


def test_the_settings_reach_the_learner(run, examples) -> None:
    told = {
        record(run("look", examples / "iris.csv", "species", "--learner", "NaiveBayes", "--json", *options))["scores"][
            "log_loss"
        ]
        for options in (
            (),
            ("--variance", "ml"),
            ("--variance-floor", "0.5"),
            ("--seed", "1"),
            ("--folds", "5"),
            ("--prior", "Iris-setosa=0.8", "--prior", "Iris-virginica=0.1", "--prior", "Iris-versicolor=0.1"),
        )
    }
    assert len(told) == 6


def test_everything_is_shown_on_request(run, write) -> None:
    names = ",".join(f"c{k}" for k in range(50))
    write(
        "t.csv",
        f"{names},y\n"
        + "".join(",".join(str((k * j) % 3) for j in range(50)) + f",{'pq'[k % 2]}\n" for k in range(40)),
    )
    plain = ("look", "t.csv", "y", "--learner", "NaiveBayes")
    some, all_ = run(*plain).done().out, run(*plain, "--all").done().out
    assert "--all shows 28 more attributes" in some and "c49" not in some and len(some.splitlines()) <= 26
    assert "--all" not in all_ and all_.count("c49") >= 2


def test_errors_on_the_rows_it_learned_from(run, examples) -> None:
    """Plain Gaussian naive Bayes errs on 6 of the 150 iris flowers that it has seen, full Bayes on 3."""
    iris, plain = examples / "iris.csv", ("--no-page", "--learner")
    out = run("look", iris, "species", "--training", *plain, "NaiveBayes").done().out
    assert "On the rows it learned from: 6 errors in 150 (accuracy 96.0 %, log loss " in out
    assert "3 errors in 150" in run("look", iris, "species", "--training", *plain, "FullBayes").done().out
    found = record(run("look", iris, "species", "--training", "--json", "--learner", "Logistic"))["training"]
    assert found["rows"] == 150 and found["accuracy"] > 0.95  # a learner that must see the rows again
    assert "learned from" not in run("look", iris, "species", *plain, "NaiveBayes").done().out
    counts = record(run("look", examples / "mpg_counts.csv", "mpg", "--weight", "rows", "--training", "--json"))
    assert counts["training"]["rows"] == 196
