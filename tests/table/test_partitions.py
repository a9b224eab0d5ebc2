"""Folders that say the values of columns, folders with a log of their own, and connection strings that are no paths."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likely
from likely.errors import ColumnError, InputError
from likely.table.arrow import pack_schema
from likely.table.fragments import TextOptions, cut_files, open_fragment
from likely.table.open import open_source


@pytest.fixture
def hive(tmp_path: Path) -> Path:
    root = tmp_path / "hive"
    for year, place, rows in ((2023, "a%20b", 3), (2023, "c", 2), (2024, "__HIVE_DEFAULT_PARTITION__", 4)):
        folder = root / f"year={year}" / f"place={place}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"x": [float(year)] * rows, "y": ["n", "p", "n", "p"][:rows]}), folder / "part.parquet")
    (root / "_SUCCESS").touch()
    return root


def rows_of(data: object) -> list[dict[str, object]]:
    return [row for batch in open_source(data).batches() for row in batch.to_pylist()]


def test_partitions_are_columns(hive: Path) -> None:
    wanted = [("2023", "a b")] * 3 + [("2023", "c")] * 2 + [("2024", None)] * 4
    for data in (hive, f"{hive}/*/*/*.parquet", f"{hive}/**/*.parquet"):
        rows = rows_of(data)
        assert [(r["year"], r["place"]) for r in rows] == wanted
        assert list(rows[0]) == ["x", "y", "year", "place"]
    one = rows_of(f"{hive}/year=2023/place=c/*.parquet")
    assert [(r["year"], r["place"]) for r in one] == [("2023", "c")] * 2
    source = open_source(hive)
    assert [b.to_pydict() for b in source.batches(["place"])][1] == {"place": ["c", "c"]}
    summary = likely.summarize(hive, "y", types={"year": "nominal"})
    assert summary["year"].labels.names == ["2023", "2024"]
    table = pa.Table.from_pylist(rows_of(hive))
    pq.write_table(table, hive.parent / "whole.parquet")
    again = likely.summarize(hive.parent / "whole.parquet", "y", types={"year": "nominal"})
    assert again.canonical() == summary.canonical()


def test_a_file_that_is_named_alone_is_that_file(hive: Path) -> None:
    assert open_source(hive / "year=2023" / "place=c" / "part.parquet").schema.names == ["x", "y"]


def test_a_column_of_the_file_wins(tmp_path: Path) -> None:
    for year in (1, 2):
        (tmp_path / "t" / f"year={year}").mkdir(parents=True)
        (tmp_path / "t" / f"year={year}" / "a.csv").write_text(f"year,y\n{2000 + year},a\n")
    assert [r["year"] for r in rows_of(tmp_path / "t")] == ["2001", "2002"]


def test_fragments_have_the_columns_of_their_folders(hive: Path) -> None:
    cut = cut_files(str(hive), TextOptions())
    packed = pack_schema(cut.title.schema)
    rows = [r for f in cut.fragments for b in open_fragment(f, TextOptions(), packed).batches() for r in b.to_pylist()]
    assert rows == rows_of(hive)


def test_files_of_other_partitions_are_refused(hive: Path) -> None:
    pq.write_table(pa.table({"x": [1.0], "y": ["n"]}), hive / "stray.parquet")
    with pytest.raises(ColumnError, match=r"stray.parquet has no column 'year'"):
        open_source(hive)


def test_tables_with_a_log_that_cannot_be_read_are_refused_with_the_remedy(tmp_path: Path) -> None:
    delta, iceberg = tmp_path / "delta", tmp_path / "iceberg"
    (delta / "_delta_log").mkdir(parents=True)
    (delta / "_delta_log" / "00000000000000000000.json").write_text(json.dumps({"remove": {"path": "a.parquet"}}))
    (iceberg / "metadata").mkdir(parents=True)
    (iceberg / "metadata" / "v1.metadata.json").write_text("{}")
    for folder, what in ((delta, "a Delta table"), (iceberg, "an Iceberg table")):
        pq.write_table(pa.table({"x": [1]}), folder / "a.parquet")
        with pytest.raises(InputError, match=f"is {what}.*Export its present rows to Parquet"):
            open_source(folder)
        assert rows_of(f"{folder}/*.parquet") == [{"x": 1}]


@pytest.mark.parametrize(
    "text",
    [
        "host=db.example user=me password=hunter22 dbname=x",
        "dbname=x password = hunter22",
        "jdbc:postgresql://db.example/x?user=me&password=hunter22",
        "JDBC:sqlserver://db.example;databaseName=x;password=hunter22;",
        "Driver={PostgreSQL};Server=db.example;Pwd=hunter22;",
    ],
)
def test_connection_strings_are_refused_and_not_shown(text: str) -> None:
    for read in (open_source, likely.database, lambda t: likely.fit(t, "y")):
        with pytest.raises(InputError, match="postgresql://user:password@host/name") as refused:
            read(text)
        said = str(refused.value) + repr(refused.value.__context__) + repr(refused.value.__cause__)
        assert "hunter22" not in said and "db.example" not in said
