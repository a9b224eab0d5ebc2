"""Files in many parts: fragments, partitions, archives."""

from __future__ import annotations

import json
import lzma
import os
import struct
import tempfile
import zipfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likely
from likely.errors import ColumnError, InputError
from likely.table.arrow import pack_schema
from likely.table.formats import containers
from likely.table.fragments import TextOptions, cut_files, open_fragment
from likely.table.open import open_source

CSV = "sky,play\nsun,yes\nrain,no\n"


def rows(data: object) -> list[dict[str, str]]:
    return [row for batch in open_source(data).batches() for row in batch.to_pylist()]


WANTED = [{"sky": "sun", "play": "yes"}, {"sky": "rain", "play": "no"}]


def archive(path: Path, **files: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, text in files.items():
            out.writestr(name.replace("__", "/").replace("_", "."), text)
    return path


def test_several_tables_are_listed_and_one_can_be_named(tmp_path: Path) -> None:
    path = archive(tmp_path / "d.zip", a_csv=CSV, in__b_csv="x,y\n1,2\n", readme_md="hello")
    with pytest.raises(
        InputError, match=r"d.zip holds 2 tables: 'a.csv', 'in/b.csv'. Name one, such as '.*d.zip/a.csv'"
    ):
        open_source(path)
    assert rows(path / "a.csv") == WANTED
    assert rows(f"{path}/in/b.csv") == [{"x": "1", "y": "2"}]
    with pytest.raises(InputError, match=r"d.zip has no 'a.cvs' within it. Did you mean 'a.csv'\?"):
        open_source(path / "a.cvs")


def test_a_single_file_is_the_table_whatever_its_name(tmp_path: Path) -> None:
    assert rows(archive(tmp_path / "d.zip", data_dat=CSV)) == WANTED


def test_what_pandas_packs_is_read(tmp_path: Path) -> None:
    frame = pd.DataFrame(WANTED)
    frame.to_csv(tmp_path / "t.csv.zip", index=False)
    frame.to_csv(tmp_path / "t.csv.xz", index=False)
    frame.to_json(tmp_path / "t.jsonl.zip", orient="records", lines=True)
    for name in ("t.csv.zip", "t.csv.xz", "t.jsonl.zip"):
        assert rows(tmp_path / name) == WANTED, name


def test_the_command_line_reads_them_and_keeps_sums_of_each(tmp_path: Path) -> None:
    path = archive(tmp_path / "d.zip", a_csv=CSV * 1, b_csv="sky,play\nsnow,no\n")
    for name, classes in (("a.csv", ("no", "yes")), ("b.csv", ("no",))):
        for _ in range(2):
            summary = likely.summarize(path / name, "play", keep=tmp_path / "kept")
            assert summary.classes == classes


def test_packed_within_packed(tmp_path: Path) -> None:
    inner = archive(tmp_path / "i.zip", a_csv=CSV)
    with zipfile.ZipFile(tmp_path / "o.zip", "w") as out:
        out.write(inner, "i.zip")
    with pytest.raises(InputError, match="packed twice"):
        open_source(tmp_path / "o.zip")


@pytest.mark.parametrize("cut", [10, 60, -30, -1])
def test_a_truncated_archive_is_a_sentence(tmp_path: Path, cut: int) -> None:
    path = archive(tmp_path / "d.zip", a_csv=CSV * 50)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(InputError, match=r"d.zip is not a sound zip archive"):
        open_source(path)


@pytest.mark.parametrize("cut", [8, 40, -20, -1])
def test_a_truncated_xz_is_a_sentence(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "d.csv.xz"
    path.write_bytes(lzma.compress(os.urandom(3000))[:cut])
    with pytest.raises(InputError, match=r"d.csv.xz (ends in the middle|has damaged)"):
        open_source(path)


def test_damaged_bytes_are_noticed(tmp_path: Path) -> None:
    path = archive(tmp_path / "d.zip", a_csv="sky,play\n" + "".join(f"{k},{k}\n" for k in range(999)))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(InputError, match="not a sound zip archive"):
        open_source(path)
    packed = bytearray(lzma.compress(os.urandom(3000)))
    packed[1500] ^= 0xFF
    (tmp_path / "d.xz").write_bytes(packed)
    with pytest.raises(InputError, match="damaged compressed data"):
        open_source(tmp_path / "d.xz")


def test_names_do_not_lead_out_of_the_archive(tmp_path: Path) -> None:
    """Nothing is written under a name of the archive's choosing."""
    with zipfile.ZipFile(tmp_path / "d.zip", "w") as out:
        out.writestr("../../escaped.csv", CSV)
    assert rows(tmp_path / "d.zip") == WANTED
    assert not (tmp_path.parent / "escaped.csv").exists() and not (tmp_path / "escaped.csv").exists()


def test_an_encrypted_member_is_a_sentence(tmp_path: Path) -> None:
    path = archive(tmp_path / "d.zip", a_csv=CSV)
    data = path.read_bytes()
    at = data.index(b"PK\x01\x02")
    data = data[:6] + struct.pack("<H", 1) + data[8 : at + 8] + struct.pack("<H", 1) + data[at + 10 :]
    path.write_bytes(data)
    with pytest.raises(InputError, match="is encrypted"):
        open_source(path)


def test_what_is_made_to_fill_a_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "_HARMLESS", 1 << 20)
    big = "a,b\n" + "1,2\n" * (1 << 20)
    with pytest.raises(InputError, match="over 200 times its size"):
        open_source(archive(tmp_path / "d.zip", a_csv=big))
    (tmp_path / "d.csv.xz").write_bytes(lzma.compress(big.encode()))
    with pytest.raises(InputError, match="over 200 times its size"):
        open_source(tmp_path / "d.csv.xz")


def test_names_that_lie(tmp_path: Path) -> None:
    for name in ("t.csv.xz", "t.csv.zip"):
        (tmp_path / name).write_text(CSV)
        with pytest.raises(InputError, match="named as if it were compressed"):
            open_source(tmp_path / name)
    archive(tmp_path / "d.zip", a_csv=CSV).rename(tmp_path / "d.csv")
    assert rows(tmp_path / "d.csv") == WANTED  # the first bytes decide, not the name


def test_an_empty_archive_and_one_of_folders(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "d.zip", "w"):
        pass
    with pytest.raises(InputError, match="archive without files"):
        open_source(tmp_path / "d.zip")


def test_no_temporary_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive(tmp_path / "d.zip", a_csv=CSV)
    held = tmp_path / "temporary"
    held.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(held))
    assert rows(path) == WANTED
    assert not list(held.iterdir())


def test_an_archive_in_a_stream(tmp_path: Path) -> None:
    with open(archive(tmp_path / "d.zip", a_csv=CSV), "rb") as stream:
        assert rows(stream) == WANTED


def test_a_folder_of_archives_is_one_table(tmp_path: Path) -> None:
    archive(tmp_path / "a.zip", a_csv=CSV)
    archive(tmp_path / "b.zip", b_csv=CSV)
    assert rows(tmp_path) == WANTED * 2


def test_fragments_of_an_archive_are_those_of_its_table(tmp_path: Path) -> None:
    from likely.table.arrow import pack_schema
    from likely.table.fragments import TextOptions, cut_files, open_fragment

    path = archive(tmp_path / "d.zip", a_csv=CSV, b_csv="x,y\n1,2\n")
    found = cut_files(str(path / "a.csv"), TextOptions())
    (fragment,) = found.fragments
    source = open_fragment(fragment, TextOptions(), pack_schema(found.title.schema))
    assert rows(source) == WANTED


# Folders that say the values of columns, folders with a log of their own, and connection strings that are no paths.


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
