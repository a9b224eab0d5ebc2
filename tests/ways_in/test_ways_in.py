"""One table, every way in: files, frames and databases give one summary, to the last bit, at the edges of types too."""

from __future__ import annotations

import csv
import io
import json
import lzma
import sqlite3
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import deltalake
import duckdb
import ibis
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter
from databases.conftest import Server
from pyarrow import dataset
from pyiceberg.catalog.sql import SqlCatalog

import likely
from likely.testing import bits as bits_of

BIG = 2**53
WHOLE = [BIG - 1, BIG, BIG + 1, BIG + 2, -BIG - 1, 2**63 - 1, -(2**63), 0]
UNSIGNED = [2**64 - 1, 2**64 - 2, BIG + 1, BIG, 0, 1, 2, 3]
DECIMALS = [Decimal(d) for d in ("12345678901234567890.123", "12345678901234567890.124", "0.100", "-0.001", "1.000")]
TABLE = pa.table(
    {
        "key": pa.array(WHOLE * 3, pa.int64()),
        "account": pa.array(UNSIGNED * 3, pa.uint64()),
        "price": pa.array((DECIMALS * 5)[:24], pa.decimal128(38, 3)),
        "x": pa.array([0.0, -0.0, 1.5, -2.25, None, 1e300, 5e-324, 0.1] * 3, pa.float64()),
        "flag": pa.array([True, False, None, True, True, False, False, True] * 3, pa.bool_()),
        "name": pa.array(["a", "b", None, "Ünï", "c d", "e,f", 'q"q', "z"] * 3, pa.string()),
        "y": pa.array(["no", "yes", "no"] * 8, pa.string()),
    }
)
TYPES = {
    "key": "nominal",
    "account": "nominal",
    "price": "nominal of numbers",  # of texts too, where 0.100 would else be another level than 0.1
    "x": "number",
    "flag": "nominal",
    "name": "nominal",
}


def bits(data: object, types: dict[str, str] = TYPES, how: Callable[..., Any] = likely.summarize) -> bytes:
    """The sums of a table, as bytes: statistics and classes, without the reasons why columns are read as they are."""
    tree = how(data, "y", types=types).canonical().state()
    return bits_of(SimpleNamespace(state=lambda: {key: value for key, value in tree.items() if key != "schema"}))


def plain_rows(table: pa.Table) -> list[dict[str, Any]]:
    return table.to_pylist()


def as_text(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def delimited(path: Path, delimiter: str) -> Path:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(TABLE.column_names)
    writer.writerows([as_text(v) for v in row.values()] for row in plain_rows(TABLE))
    path.write_text(out.getvalue(), encoding="utf-8")
    return path


def json_lines(path: Path) -> Path:
    # A number of JSON is a double for most readers, so decimals are written as text.
    lines = (json.dumps(row, default=str, ensure_ascii=False) for row in plain_rows(TABLE))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def parquet(path: Path) -> Path:
    pq.write_table(TABLE, path, row_group_size=7)
    return path


def arrow(path: Path, make: Callable[..., Any]) -> Path:
    with make(str(path), TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=5)
    return path


def duck(path: Path) -> Path:
    with duckdb.connect(str(path)) as base:
        base.register("rows_of_the_table", TABLE)
        base.execute("create table t as select * from rows_of_the_table")
    return path


def lite(path: Path) -> Path:
    base = sqlite3.connect(path)
    base.execute("create table t (key integer, account text, price text, x real, flag text, name text, y text)")
    for row in plain_rows(TABLE):
        cells = [row["key"], *(None if row[n] is None else as_text(row[n]) for n in ("account", "price"))]
        base.execute(
            "insert into t values (?,?,?,?,?,?,?)",
            [*cells, row["x"], as_text(row["flag"]) or None, row["name"], row["y"]],
        )
    base.commit()
    base.close()
    return path


def zipped(path: Path, inner: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(inner, inner.name)
        archive.writestr("README.txt", "What this is.")
        archive.writestr("__MACOSX/._t.csv", b"\0\5")
    return path


def xz(path: Path, inner: Path) -> Path:
    path.write_bytes(lzma.compress(inner.read_bytes()[:99]) + lzma.compress(inner.read_bytes()[99:]))
    return path


def workbook(path: Path, first: Callable[[Any], object] = lambda book: None) -> Path:
    """Keys beyond a double are texts there, as nobody could keep them otherwise."""
    with xlsxwriter.Workbook(path) as book:
        first(book)
        sheet = book.add_worksheet("rows")
        sheet.write_row(2, 1, TABLE.column_names)
        for k, row in enumerate(plain_rows(TABLE), 3):
            for column, (name, value) in enumerate(row.items(), 1):
                if value is not None:
                    typed = name in ("x", "flag", "name", "y")
                    sheet.write(k, column, value) if typed else sheet.write_string(k, column, str(value))
    return path


def frame_of_dictionaries() -> pa.Table:
    out = TABLE
    for name in ("key", "account", "name", "y"):
        out = out.set_column(out.schema.get_field_index(name), name, out.column(name).dictionary_encode())
    return out


def halves(folder: Path) -> list[Path]:
    pq.write_table(TABLE.slice(0, 10), folder / "b.parquet")
    pq.write_table(TABLE.slice(10), folder / "a.parquet")
    return [folder / "b.parquet", folder / "a.parquet"]


def signed(table: pa.Table) -> pa.Table:
    """The table for formats without unsigned numbers of 64 bits."""
    account = table.schema.get_field_index("account")
    return table.set_column(account, "account", table.column("account").cast(pa.decimal128(20, 0)))


def delta(path: Path) -> Path:
    """A table in several versions: rows that were deleted are in files that lie there still."""
    deltalake.write_deltalake(path, signed(TABLE))
    deltalake.write_deltalake(path, signed(TABLE), mode="append")
    deltalake.DeltaTable(path).restore(0)
    return path


def iceberg(path: Path) -> Path:
    path.mkdir()
    catalog = SqlCatalog("c", uri=f"sqlite:///{path}/c.db", warehouse=path.as_uri())
    catalog.create_namespace("n")
    table = catalog.create_table("n.t", schema=signed(TABLE).schema)
    table.append(signed(TABLE))
    table.append(signed(TABLE))
    table.overwrite(signed(TABLE))
    return path / "n" / "t"


WAYS: dict[str, Callable[[Path], object]] = {
    "csv": lambda folder: delimited(folder / "t.csv", ","),
    "tsv": lambda folder: delimited(folder / "t.tsv", "\t"),
    "json lines": lambda folder: json_lines(folder / "t.jsonl"),
    "parquet": lambda folder: parquet(folder / "t.parquet"),
    "arrow file": lambda folder: arrow(folder / "t.arrow", pa.ipc.new_file),
    "arrow stream": lambda folder: arrow(folder / "t.arrows", pa.ipc.new_stream),
    "arrow table": lambda _: TABLE,
    "arrow dictionaries": lambda _: frame_of_dictionaries(),
    "pandas": lambda _: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda _: pl.from_arrow(TABLE),
    "dict": lambda _: TABLE.to_pydict(),
    "rows": lambda _: plain_rows(TABLE),
    "rows backwards": lambda _: plain_rows(TABLE)[::-1],
    "zip": lambda folder: zipped(folder / "t.zip", delimited(folder / "t.csv", ",")),
    "parquet in zip": lambda folder: zipped(folder / "t.zip", parquet(folder / "t.parquet")),
    "xz": lambda folder: xz(folder / "t.csv.xz", delimited(folder / "t.csv", ",")),
    "json xz": lambda folder: xz(folder / "t.jsonl.xz", json_lines(folder / "t.jsonl")),
    "workbook": lambda folder: workbook(folder / "t.xlsx"),
    "second sheet": lambda folder: workbook(folder / "t.xlsx", lambda book: book.add_worksheet("notes")),
    "workbook in zip": lambda folder: zipped(folder / "t.zip", workbook(folder / "t.xlsx")),
    "polars lazy": lambda _: pl.from_arrow(TABLE).lazy(),  # type: ignore[union-attr]
    "narwhals": lambda _: nw.from_native(pl.from_arrow(TABLE)),
    "narwhals lazy": lambda _: nw.from_native(pl.from_arrow(TABLE).lazy()),  # type: ignore[union-attr]
    "narwhals pandas": lambda _: nw.from_native(TABLE.to_pandas(types_mapper=pd.ArrowDtype)),
    "dataset": lambda folder: dataset.dataset(parquet(folder / "t.parquet")),
    "scanner": lambda folder: dataset.dataset(parquet(folder / "t.parquet")).scanner(batch_size=5),
    "reader": lambda _: pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches(max_chunksize=5)),
    "ibis": lambda _: ibis.memtable(TABLE),
    "generator of rows": lambda _: (row for row in plain_rows(TABLE)),
    "generator of batches": lambda _: (batch for batch in TABLE.to_batches(max_chunksize=5)),
    "list of paths": lambda folder: halves(folder),
    "list of texts": lambda folder: [str(path) for path in halves(folder)],
    "file address": lambda folder: delimited(folder / "t.csv", ",").as_uri(),
    "delta": lambda folder: delta(folder / "delta"),
    "iceberg": lambda folder: iceberg(folder / "ice"),
    "duckdb": lambda folder: duck(folder / "t.duckdb"),
    "sqlite": lambda folder: lite(folder / "t.sqlite"),
}


@pytest.fixture(scope="module")
def wanted() -> bytes:
    return bits(TABLE)


@pytest.mark.parametrize("way", WAYS)
def test_every_way_gives_the_same_sums(way: str, tmp_path: Path, wanted: bytes) -> None:
    data = WAYS[way](tmp_path)
    if way in ("duckdb", "sqlite"):
        data = likely.database(data, table="t")
    assert bits(data) == wanted


def test_postgresql_gives_the_same_sums(postgres: Server, wanted: bytes) -> None:
    def literal(value: Any) -> str:
        return "null" if value is None else f"$q${as_text(value)}$q$"

    kinds = "key bigint, account numeric(20), price numeric(38, 3), x float8, flag boolean, name text, y text"
    rows = ", ".join(f"({', '.join(map(literal, row.values()))})" for row in plain_rows(TABLE))
    postgres.run(f"create table ways ({kinds})", f"insert into ways values {rows}")
    assert bits(likely.database(postgres.address, table="ways")) == wanted


def test_spark_gives_the_same_sums(spark: Any, tmp_path: Path, wanted: bytes) -> None:
    # Spark has no unsigned numbers of 64 bits: they are decimals there.
    account = TABLE.schema.get_field_index("account")
    table = TABLE.set_column(account, "account", TABLE.column("account").cast(pa.decimal128(20, 0)))
    pq.write_table(table, tmp_path / "t.parquet")
    from likely.spark import summarize

    assert bits(spark.read.parquet(str(tmp_path / "t.parquet")), how=summarize) == wanted
    pq.write_table(TABLE, tmp_path / "own.parquet")
    assert bits(str(tmp_path / "own.parquet"), how=summarize) == wanted


def test_levels_of_whole_numbers_and_decimals_are_exact() -> None:
    summary = likely.summarize(TABLE, "y", types=TYPES)
    assert set(summary["key"].labels.names) == {str(n) for n in WHOLE}
    assert set(summary["account"].labels.names) == {str(n) for n in UNSIGNED}
    assert len(summary["price"].labels.names) == len(DECIMALS)


def test_large_numbers_are_rounded_once_to_the_nearest_double(tmp_path: Path) -> None:
    """As numbers, in every format; and by no way in do they become levels of which two are one.

    Texts that come back row after row are keys, whose levels are exact; of stored numbers nobody counts the digits.
    """
    values = [BIG, BIG + 1, BIG + 2, BIG + 3] * 10
    target = ["a", "b"] * 20
    wanted = bits({"x": [float(v) for v in values], "y": target}, types={"x": "number"})
    for kind in (pa.int64(), pa.uint64(), pa.decimal128(38, 0), pa.decimal256(60, 2), pa.string()):
        table = pa.table({"x": pa.array(values, pa.int64()).cast(kind), "y": target})
        assert bits(table, types={"x": "number"}) == wanted, kind
        summary = likely.summarize(table, "y")
        if kind == pa.string():
            assert list(summary.columns["x"].labels.names) == [*map(str, values[:4])]
            continue
        assert summary.schema["x"].kind == "number" and "rounded" in summary.schema["x"].why, kind
    rows = "".join(f"{v},{t}\n" for v, t in zip(values, target, strict=True))
    (tmp_path / "t.csv").write_text("x,y\n" + rows)
    assert bits(tmp_path / "t.csv", types={"x": "number"}) == wanted


def test_a_numeric_target_is_exact_unasked(tmp_path: Path) -> None:
    values = [BIG, BIG + 1, BIG + 2]
    rows = {"x": ["a", "b", "c"] * 4, "y": values * 4}
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in zip(*rows.values(), strict=True)))
    for data in (rows, pd.DataFrame(rows), tmp_path / "t.csv"):
        model = likely.fit(data, "y", likely.NaiveBayes())
        assert model.classes == tuple(map(str, values))
        assert [str(c) for c in model.predict(rows)] == [str(v) for v in rows["y"]]


def test_exports_do_not_confuse_levels_that_are_one_double() -> None:
    values = [BIG, BIG + 1, BIG + 2] * 4
    table = pa.table({"key": pa.array(values, pa.int64()), "y": ["a", "b", "c"] * 4})
    model = likely.fit(table, "y", likely.NaiveBayes(), types={"key": "nominal"})
    wanted = [str(c) for c in model.predict(table)]
    assert wanted == ["a", "b", "c"] * 4
    query = likely.export(model, "sql", table="keys", dialect="duckdb")
    with duckdb.connect() as base:
        base.register("keys", table)
        assert base.sql(query).to_arrow_table().column("prediction").to_pylist() == wanted


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64(), pa.decimal128(38, 0), pa.decimal256(60, 0)])
def test_classes_of_large_whole_numbers_stay_apart(kind: pa.DataType) -> None:
    values = [BIG, BIG + 1, BIG + 2]
    table = pa.table({"x": ["a", "b", "c"] * 4, "y": pa.array(values * 4, kind)})
    assert likely.summarize(table, "y", types={"y": "nominal"}).classes == tuple(map(str, values))
    assert likely.summarize(table.to_pydict(), "y", types={"y": "nominal"}).classes == tuple(map(str, values))


def test_small_and_narrow_types_are_what_they_say() -> None:
    values = [0, 1, 2, 3, 5, 8] * 4
    wanted = bits({"x": [float(v) for v in values], "y": ["a", "b"] * 12}, types={"x": "number"})
    for kind in (
        pa.int8(),
        pa.uint8(),
        pa.int16(),
        pa.int32(),
        pa.uint64(),
        pa.float32(),
        pa.float16(),
        pa.decimal128(9, 2),
    ):
        plain = (
            [np.float16(v) for v in values]
            if kind == pa.float16()
            else [Decimal(v) for v in values]
            if pa.types.is_decimal(kind)
            else values
        )
        table = pa.table({"x": pa.array(plain, kind), "y": ["a", "b"] * 12})
        assert bits(table, types={"x": "number"}) == wanted, kind


def test_dates_are_the_same_instant_however_they_are_typed(tmp_path: Path) -> None:
    texts = ["2020-01-31", "1969-12-31", "2021-07-01"] * 4
    target = ["a", "b"] * 6
    wanted = bits({"d": texts, "y": target}, types={"d": "date"})
    days = pa.array(texts).cast(pa.date32())
    for kind in (
        pa.date32(),
        pa.date64(),
        pa.timestamp("s"),
        pa.timestamp("ms"),
        pa.timestamp("us"),
        pa.timestamp("ns"),
        pa.timestamp("us", "UTC"),
    ):
        assert bits(pa.table({"d": days.cast(kind), "y": target}), types={"d": "date"}) == wanted, kind
    zoned = days.cast(pa.timestamp("us", "UTC")).cast(pa.timestamp("us", "Europe/Paris"))
    assert bits(pa.table({"d": zoned, "y": target}), types={"d": "date"}) == wanted
    (tmp_path / "d.csv").write_text(
        "d,y\n" + "".join(f"{d}T02:00:00+02:00,{t}\n" for d, t in zip(texts, target, strict=True))
    )
    assert bits(tmp_path / "d.csv", types={"d": "date"}) == wanted
