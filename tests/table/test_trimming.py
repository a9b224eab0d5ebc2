"""Blanks around a cell: no part of it in a text file, which is told; part of it in what is typed already."""

from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from table.reading import open_source

import likely

ROWS = {"x": [" a", "b", "b ", "a"] * 5, "y": ["van ", "car", "car", "van "] * 5}


def test_what_is_in_memory_is_never_trimmed() -> None:
    for data in (ROWS, pd.DataFrame(ROWS), pl.DataFrame(ROWS), pa.table(ROWS)):
        model = likely.fit(data, "y", likely.NaiveBayes())
        assert model.classes == ("car", "van ")
        assert set(model.levels("x")) == {" a", "a", "b", "b "}
        assert [str(c) for c in model.predict(data)] == ROWS["y"]
    frame = pd.DataFrame(ROWS)
    assert (likely.fit(frame, "y", likely.NaiveBayes()).predict(frame) == frame.y).all()


def test_typed_files_are_not_trimmed(tmp_path: Path) -> None:
    pq.write_table(pa.table(ROWS), tmp_path / "t.parquet")
    assert likely.summarize(tmp_path / "t.parquet", "y").classes == ("car", "van ")


def test_labels_that_differ_by_blanks_are_two() -> None:
    summary = likely.summarize({"x": ["a", "a "] * 10, "y": ["p", "q"] * 10}, "y")
    assert summary.schema["x"].kind == "nominal" and summary["x"].labels.names == ["a", "a "]


@pytest.mark.parametrize("cell", ["  ", " NA ", " ?"])
def test_what_is_missing_is_missing_with_blanks_too(cell: str) -> None:
    model = likely.fit({"x": ["a", "b", cell] * 5, "y": ["p", "q", "p"] * 5}, "y", likely.NaiveBayes())
    assert list(model.levels("x")) == ["a", "b"]


@pytest.mark.parametrize("packed", [False, True])
def test_text_files_are_trimmed_and_it_is_told(tmp_path: Path, packed: bool) -> None:
    lines = "".join(f"{x},\u00a0{y}\n" for x, y in zip(*ROWS.values(), strict=True)).encode()
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(b"x,y\n" + lines) if packed else b"x,y\n" + lines)
    source = open_source(path)
    assert source.notes == ()
    model = likely.fit(source, "y", likely.NaiveBayes())
    assert model.classes == ("car", "van") and list(model.levels("x")) == ["a", "b"]
    assert source.notes == ("Blanks around cells were trimmed: in 10 cells of 'x', 20 of 'y'.",)
    told = likely.look(path, "y").notes
    assert source.notes[0] in told


def test_exports_agree_on_blanks() -> None:
    import duckdb

    table = pa.table(ROWS)
    model = likely.fit(table, "y", likely.NaiveBayes())
    query = likely.export(model, "sql", table="vans", dialect="duckdb")
    with duckdb.connect() as base:
        base.register("vans", table)
        assert base.sql(query).to_arrow_table().column("prediction").to_pylist() == ROWS["y"]


def test_rows_that_are_written_again_stay_as_they_were(tmp_path: Path) -> None:
    lines = "".join(f"{x},{y}\n" for x, y in zip(*ROWS.values(), strict=True))
    (tmp_path / "t.csv").write_text("x,y\n" + lines)
    model = likely.fit(tmp_path / "t.csv", "y", likely.NaiveBayes())
    source = open_source(tmp_path / "t.csv")
    batches = [(batch.to_pydict(), found.best) for batch, found in model.posteriors(source, ["x", "y"])]
    assert batches[0][0] == ROWS
    assert list(batches[0][1]) == [str(c) for c in model.predict({"x": [x.strip() for x in ROWS["x"]]})]
