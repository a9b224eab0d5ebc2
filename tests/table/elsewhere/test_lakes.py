"""Delta and Iceberg tables: their present rows, never those of files that no longer count."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest
from table.reading import open_source, rows

import likely
from likely.errors import InputError


def lake(path: Path) -> Path:
    table = pa.table({"x": [1, 2, 3], "y": ["a", "b", "a"]})
    deltalake.write_deltalake(path, table, partition_by=["y"])
    deltalake.DeltaTable(path).delete("x = 2")
    return path


def test_deleted_rows_are_not_read(tmp_path: Path) -> None:
    path = lake(tmp_path / "lake")
    assert len(list(path.rglob("*.parquet"))) == 2  # the file of the deleted row lies there still
    assert sorted(rows(path), key=lambda row: str(row["x"])) == [{"x": 1, "y": "a"}, {"x": 3, "y": "a"}]
    assert open_source(path).notes == ("Read as a Delta table, in its version 1.",)
    assert likely.summarize(path, "y").classes == ("a",)


def test_parts_of_a_lake_are_not_read_by_accident(tmp_path: Path) -> None:
    lake(tmp_path / "all" / "lake")
    with pytest.raises(InputError, match="is a table of Delta: its log says which files count"):
        rows(tmp_path / "all")
    with pytest.raises(InputError, match="is a table of Delta"):
        likely.summarize(tmp_path / "all" / "lake", "y", keep=tmp_path / "kept")


def test_a_damaged_log_is_a_sentence(tmp_path: Path) -> None:
    path = lake(tmp_path / "lake")
    for log in (path / "_delta_log").glob("*.json"):
        log.write_text("{")
    with pytest.raises(InputError, match="is a Delta table that cannot be read here"):
        rows(path)


def test_without_the_library_the_extra_is_named(tmp_path: Path) -> None:
    path = lake(tmp_path / "lake")
    code = (
        "import sys; sys.modules['deltalake'] = None\n"
        "import likely\n"
        f"try: likely.summarize({str(path)!r})\nexcept Exception as error: print(error)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "pip install 'likely[delta]'" in told
