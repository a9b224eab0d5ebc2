"""Columns that give the class away are found, and said first, with the accuracy that is left without them."""

from __future__ import annotations

from datetime import date, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.conftest import run_here as run

import likely


def filed(rows: int = 600, seed: int = 0) -> dict[str, list[Any]]:
    """Rows of three classes whose numbers were given in blocks, class by class in turn, with gaps; shuffled."""
    rng = np.random.default_rng(seed)
    blocks = rng.permuted(np.repeat(np.arange(3), rows // 60))
    y = np.repeat(blocks, 20)
    number = 50_000 + np.cumsum(rng.integers(1, 5, len(y)))
    x = rng.normal(size=len(y)) + 0.8 * y
    order = rng.permutation(len(y))
    return {"number": number[order].tolist(), "x": x[order].tolist(), "y": np.array(["p", "q", "r"])[y][order].tolist()}


def looked(table: dict[str, list[Any]], folder: Path) -> str:
    """What `likely look` says of the target y, on one line."""
    pq.write_table(pa.table(table), folder / "t.parquet")
    return " ".join(run("look", folder / "t.parquet", "y", "--no-page").done().out.split())


def test_an_identifier_in_blocks_is_said_first(tmp_path: Path) -> None:
    record = likely.look(filed(), "y")
    assert record.leaks == ("number",)
    without = likely.look({k: v for k, v in filed().items() if k != "number"}, "y")
    assert record.without_leaks == without.intervals.accuracy
    assert record.scores.accuracy > without.scores.accuracy + 0.1
    said = looked(filed(), tmp_path)
    first, _, rest = said.partition("Warning:")
    assert len(first.split()) < 100 and rest.startswith(" 'number' looks like an identifier")
    assert "--type number=ignore" in said and f"Without 'number': {100 * without.scores.accuracy:.1f} %" in said
    assert said.count("looks like an identifier") == 1
    assert "looks like an identifier" in record.warnings[0]
    found = likely.doctor(filed(), "y")
    assert found.findings[0].kind == "leak" and found.findings[0].columns == ("number",)
    assert "--type number=ignore" in found.findings[0].words


def test_the_same_learner_is_judged_without_it() -> None:
    learner = likely.NaiveBayes(numbers="binned")
    record = likely.look(filed(), "y", learner, folds=5, seed=3)
    plain = {k: v for k, v in filed().items() if k != "number"}
    assert record.without_leaks == likely.look(plain, "y", learner, folds=5, seed=3).intervals.accuracy


def test_a_column_that_gives_everything_is_said_first(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    y = rng.choice(["p", "q"], 300)
    table = {"x": (rng.normal(size=300) + (y == "p")).tolist(), "after": np.where(y == "p", "paid", "open").tolist()}
    record = likely.look({**table, "y": y.tolist()}, "y")
    assert record.leaks == ("after",) and record.scores.accuracy > 0.98
    assert record.without_leaks is not None and record.without_leaks.value is not None
    assert record.without_leaks.value < 0.85
    assert "Warning: 'after' alone nearly determines 'y'" in looked({**table, "y": y.tolist()}, tmp_path)
    alone = likely.look({"after": table["after"], "y": y.tolist()}, "y")
    assert alone.leaks == ("after",) and alone.without_leaks is None, "nothing is left without it"


@pytest.mark.parametrize(("name", "target"), [("iris", "species"), ("penguins", "species"), ("penguins", "sex")])
def test_a_number_that_measures_is_no_identifier(name: str, target: str, examples: Path) -> None:
    assert likely.look(examples / f"{name}.csv", target, likely.NaiveBayes()).leaks == ()


def test_whole_numbers_that_measure_are_no_identifiers() -> None:
    """All different, whole, and strong: but what they tell changes gradually."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 900)
    grams = np.round(1e6 * (y + rng.normal(size=900) * 0.3) + 1e7)
    names = np.array(["p", "q", "r"])[y]
    record = likely.look({"grams": grams.tolist(), "x": rng.normal(size=900).tolist(), "y": names.tolist()}, "y",
                         likely.NaiveBayes())  # fmt: skip
    assert record.leaks == () and record.scores.accuracy > 0.85
    noise = {"code": rng.permutation(10**6)[:900].tolist(), "x": grams.tolist(), "y": names.tolist()}
    assert likely.look(noise, "y", likely.NaiveBayes()).leaks == (), "identifiers that tell nothing do no harm"


@pytest.mark.long
def test_newsgroups(shared: Path) -> None:
    path = shared / "data" / "20news_bydate.parquet"
    if not path.exists():
        pytest.skip("needs ../shared/data/20news_bydate.parquet")
    record = likely.look(path, "group", likely.NaiveBayes())
    assert record.leaks == ("id",) and record.without_leaks is not None and record.without_leaks.value is not None
    assert record.scores.accuracy > record.without_leaks.value + 0.05


def test_a_date_that_tells_most_suggests_time() -> None:
    rng = np.random.default_rng(3)
    days = [(date(2024, 1, 1) + timedelta(days=int(k))).isoformat() for k in range(400)]
    y = np.where(np.arange(400) + 60 * rng.normal(size=400) > 200, "new", "old")
    table = {"day": days, "x": rng.normal(size=400).tolist(), "y": y.tolist()}
    told = [w for w in likely.look(table, "y", likely.NaiveBayes()).warnings if "--time" in w]
    assert len(told) == 1 and "'day' tells most about 'y'" in told[0]
    assert not any("--time" in w for w in likely.look(table, "y", likely.NaiveBayes(), time="day").warnings)


def test_of_few_rows_one_cut_is_enough_to_give_the_class_away() -> None:
    """Numbers with gaps, low ones of one class and high ones of the other: sixteen bins of 100 rows would hide it."""
    rng = np.random.default_rng(3)
    number = np.sort(rng.choice(100_000, 100, replace=False))
    order = rng.permutation(100)
    label = np.where(np.arange(100) < 50, "no", "yes")
    table = {"id": number[order].tolist(), "c": rng.choice(list("abc"), 100).tolist(), "y": label[order].tolist()}
    record = likely.look(table, "y", likely.NaiveBayes())
    assert record.leaks == ("id",) and record.warnings[0].startswith("'id' alone nearly determines 'y'")
    assert any(f.kind == "leak" and f.columns == ("id",) for f in likely.doctor(table, "y").findings)


def _by_time(rows: int) -> dict[str, list[Any]]:
    """What changed one day, and another column that tells a little."""
    random = np.random.default_rng(3)
    after = (np.arange(rows) > 0.6 * rows) ^ (random.random(rows) < 0.1)
    moments = np.datetime64("2024-01-01T00") + np.timedelta64(7, "h") * np.arange(rows)
    x = random.normal(0.4 * after, 1).round(3).tolist()
    return {
        "when": [str(m).replace("T", " ") + ":00" for m in moments],
        "x": x,
        "y": np.where(after, "b", "a").tolist(),
    }


def test_a_date_that_tells_most_is_among_the_first_lines_with_what_is_left_without_it() -> None:
    record = likely.look(_by_time(500), "y", likely.NaiveBayes())
    assert record.leaks == ("when",) and record.without_leaks is not None
    first = next(line for line in str(record).splitlines() if line.startswith("Warning"))
    assert first in str(record).partition("\n\n")[0], "before any table"
    assert "The date 'when' tells most" in first and "say time='when'." in first
    left = f"Without 'when': {100 * (record.without_leaks.value or 0):.1f} %"
    assert left in first and first.endswith("To leave it out: types={'when': 'ignore'}")
    assert record.warnings[0].endswith("To leave it out: --type when=ignore")  # as the command line says it
    assert left in unescape(record.page()).replace("\N{NO-BREAK SPACE}", " ")
    assert likely.look(_by_time(500), "y", likely.NaiveBayes(), time="when").leaks == ()


@pytest.mark.parametrize("name", ["when", "after", "id"])
def test_the_doctor_says_first_what_is_left(name: str) -> None:
    table = _by_time(400)
    if name != "when":
        del table["when"]
        table[name] = [f"was {label}" for label in table["y"]]
    if name == "id":
        places = np.argsort(np.argsort(np.array(table["y"]), kind="stable"), kind="stable")
        table["id"] = (100_000 + 37 * places).tolist()
    found = likely.doctor(table, "y")
    assert found.without_leaks == likely.look({k: v for k, v in table.items() if k != name}, "y").intervals.accuracy
    assert found.grave[0].columns == (name,)
    left = f"Without '{name}': {100 * (found.without_leaks.value or 0):.1f} %"
    first = next(line for line in str(found).splitlines() if line.startswith("Warning"))
    assert left in first and first.endswith(f"To leave it out: types={{'{name}': 'ignore'}}")
    assert str(found).splitlines()[3] == first, "before any table"
