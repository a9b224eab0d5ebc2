"""Parquet that is written with the dictionaries of its batches reads as if there had been none."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from likely.table.output import sink as parquet
from likely.table.output.sink import Sink


def coded(cells: list[str | None], texts: list[str | None], kind: pa.DataType | None = None) -> pa.DictionaryArray:
    places = [None if c is None else texts.index(c) for c in cells]
    return pa.DictionaryArray.from_arrays(pa.array(places, kind or pa.int32()), pa.array(texts, pa.string()))


def written(path: Path, *batches: dict[str, object]) -> pa.Table:
    """What a reader sees of batches that were written one after the other."""
    with Sink(str(path)) as sink:
        for columns in batches:
            sink.write(pa.RecordBatch.from_pydict(columns))
    return pq.read_table(path)


def test_dictionaries_may_differ_from_batch_to_batch(tmp_path: Path) -> None:
    first, second, third, fourth = ["b", None, "a"], ["c", "a", "a"], ["d", None, "é"], ["a", "z", None]
    table = written(
        tmp_path / "a.parquet",
        {"x.y": coded(first, ["a", "b"]), "n": pa.array([1.5, None, 2.0])},
        {"x.y": coded(second, ["c", "a", "unused"]), "n": pa.array([0.0, 1.0, 2.0])},
        {"x.y": pa.array(third), "n": pa.array([0.0, 1.0, 2.0])},  # a file of another kind among them
        {"x.y": coded(fourth, ["a", None, "z"], pa.uint8()), "n": pa.array([0.0, 1.0, 2.0])},
    )
    assert table.schema.field("x.y").type == pa.string()
    assert table["x.y"].to_pylist() == [*first, *second, *third, *fourth]
    assert table["n"].to_pylist() == [1.5, None, *[2.0], *[0.0, 1.0, 2.0] * 3]
    known = duckdb.sql(f"select typeof(\"x.y\"), count(*) from '{tmp_path / 'a.parquet'}' group by 1").fetchall()
    assert known == [("VARCHAR", 12)]


def test_a_plain_first_batch_decides_too(tmp_path: Path) -> None:
    table = written(tmp_path / "a.parquet", {"x": pa.array(["q"])}, {"x": coded(["a", None], ["a"])})
    assert table["x"].to_pylist() == ["q", "a", None] and table.schema.field("x").type == pa.string()


def test_types_stay_what_they_are(tmp_path: Path) -> None:
    moments = pa.array([datetime(2026, 11, 17, tzinfo=UTC)], pa.timestamp("us", "Europe/Vienna"))
    columns = {
        "when": moments,
        "large": pa.array(["a"], pa.large_string()),
        "numbers": pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array([7], pa.int64())),
        "list": pa.array([[1, 2]]),
        "flag": pa.array([True]),
        "float": pa.array([1.5], pa.float32()),
    }
    table = written(tmp_path / "a.parquet", columns)
    kinds = [moments.type, pa.large_string(), pa.int64(), pa.list_(pa.int64()), pa.bool_(), pa.float32()]
    assert table.schema.types == kinds and table.schema.metadata is None
    assert table["numbers"].to_pylist() == [7] and table["list"].to_pylist() == [[1, 2]]


def test_small_batches_share_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "GROUP_ROWS", 10)
    written(tmp_path / "a.parquet", *({"x": coded(["a", "b", None], ["b", "a"])} for _ in range(9)))
    file = pq.ParquetFile(tmp_path / "a.parquet")
    assert [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)] == [12, 12, 3]
    assert file.metadata.row_group(0).column(0).has_dictionary_page
    written(tmp_path / "b.parquet", {"x": coded([], [])})
    assert pq.read_table(tmp_path / "b.parquet").num_rows == 0
