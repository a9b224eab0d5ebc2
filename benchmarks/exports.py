"""How large the exports of Additive are, and what it costs to score rows with them, on a table like the Adult census.

    python benchmarks/exports.py ../shared/data/adult.csv [--target income] [--rows 10000] [--orders 1 2 3 any]

Sizes are thousands of characters (of bytes for ONNX). Times are seconds of processor time, all threads together, from
the text of the export to the last probability; `alone` is what a single row takes, which is mostly reading the text.
"""

from __future__ import annotations

import argparse
import sqlite3
import time
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import onnxruntime
import pyarrow as pa

import likely
from likely.models.contracts import Model

LANGUAGES = ("form", "python", "javascript", "sql", "onnx", "pmml")


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("table")
    words.add_argument("--target", default="income")
    words.add_argument("--rows", type=int, default=10_000)
    words.add_argument("--orders", nargs="*", default=["1", "2", "3", "any"])
    asked = words.parse_args()
    rows = duckdb.sql(f"SELECT * FROM read_csv('{asked.table}') LIMIT {asked.rows}").to_arrow_table()
    sizes, times = [], []
    for order in asked.orders:
        model = likely.fit(asked.table, asked.target, likely.Additive(order="any" if order == "any" else int(order)))
        sizes.append([order, *(f"{len(likely.export(model, to)) / 1000:,.0f}" for to in LANGUAGES)])  # type: ignore[arg-type]
        own = [order]
        for run in (in_duckdb, in_sqlite, in_onnx):
            own += [f"{measure(run, model, rows):.2f}", f"{measure(run, model, rows.slice(0, 1)):.2f}"]
        times.append(own)
    show(["order", *LANGUAGES], sizes)
    show(["order", "DuckDB", "alone", "SQLite", "alone", "onnxruntime", "alone"], times)


def show(header: list[str], rows: list[list[str]]) -> None:
    """A table in Markdown."""
    print(f"| {' | '.join(header)} |\n|{'---|' * len(header)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    print()


def measure(run: Callable[[Model, pa.Table], tuple[float, Any]], model: Model, rows: pa.Table) -> float:
    """Seconds of processor time; what comes out must be what the model says."""
    took, found = run(model, rows)
    assert np.abs(found - model.posterior(rows).matrix).max() < 1e-9
    return took


def in_duckdb(model: Model, rows: pa.Table) -> tuple[float, Any]:
    text = likely.export(model, "sql", dialect="duckdb", keep=["id"])
    base = duckdb.connect()
    base.register("own", rows.append_column("id", pa.array(range(rows.num_rows))))
    base.execute("CREATE TABLE rows AS SELECT * FROM own")
    started = time.process_time()
    found = base.execute(str(text)).fetchall()
    return time.process_time() - started, np.array([row[2:] for row in sorted(found)])


def in_sqlite(model: Model, rows: pa.Table) -> tuple[float, Any]:
    text = likely.export(model, "sql", dialect="sqlite", keep=["id"])
    base, names = sqlite3.connect(":memory:"), ["id", *rows.schema.names]
    base.execute("CREATE TABLE rows (" + ", ".join(f'"{n}"' for n in names) + ")")
    cells = [[k, *row.values()] for k, row in enumerate(rows.to_pylist())]
    base.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * len(names))})", cells)
    started = time.process_time()
    found = base.execute(str(text)).fetchall()
    return time.process_time() - started, np.array([row[2:] for row in sorted(found)])


def in_onnx(model: Model, rows: pa.Table) -> tuple[float, Any]:
    onnxruntime.set_default_logger_severity(3)
    written, feed = likely.export(model, "onnx"), {}
    started = time.process_time()
    session = onnxruntime.InferenceSession(written)
    took = time.process_time() - started
    for one in session.get_inputs():
        cells = rows[one.name].to_pylist()
        if one.type == "tensor(string)":
            feed[one.name] = np.array([["" if v is None else str(v)] for v in cells], object)
        else:
            feed[one.name] = np.array([[np.nan if v is None else v] for v in cells], np.float64)
    started = time.process_time()
    found = session.run(["probabilities"], feed)[0]
    return took + time.process_time() - started, found


if __name__ == "__main__":
    main()
