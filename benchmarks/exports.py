"""How large the exports of Additive are, and what it costs to score rows with them, on the Adult census.

    python benchmarks/exports.py adult.csv [--rows 10000] [--orders 1 2 3 any]

Prints characters (bytes of ONNX) and seconds of processor time, all threads together; reading the export is part of it.
"""

from __future__ import annotations

import argparse
import sqlite3
import time
from typing import Any

import duckdb
import numpy as np
import onnxruntime
import pyarrow as pa

import likely
from likely.models.contracts import Model

LANGUAGES = ("form", "python", "sql", "onnx", "pmml")


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("table")
    words.add_argument("--target", default="income")
    words.add_argument("--rows", type=int, default=10_000)
    words.add_argument("--orders", nargs="*", default=["1", "2", "3", "any"])
    asked = words.parse_args()
    rows = duckdb.sql(f"SELECT * FROM read_csv('{asked.table}') LIMIT {asked.rows}").to_arrow_table()
    for order in asked.orders:
        learner = likely.Additive(order="any" if order == "any" else int(order))
        model = likely.fit(asked.table, asked.target, learner)
        wanted = model.posterior(rows).matrix
        print(f"order {order}: {asked.rows:,} rows")
        for to in LANGUAGES:
            started = time.process_time()
            try:
                text = likely.export(model, to)  # type: ignore[arg-type]
            except likely.LikelyError as error:
                print(f"  {to:8} {error}")
                continue
            wrote = time.process_time() - started
            print(f"  {to:8} {len(text):>11,}   written in {wrote:.2f} s")
        for name, run in (("DuckDB", in_duckdb), ("SQLite", in_sqlite), ("ONNX", in_onnx), ("likely", in_likely)):
            started = time.process_time()
            found = run(model, rows)
            took = time.process_time() - started
            print(f"  {name:8} {took:8.2f} s   apart by {np.abs(found - wanted).max():.1e}")


def in_duckdb(model: Model, rows: pa.Table) -> Any:
    text = likely.export(model, "sql", dialect="duckdb", keep=["id"])
    started = time.process_time()
    base = duckdb.connect()
    base.register("own", rows.append_column("id", pa.array(range(rows.num_rows))))
    base.execute("CREATE TABLE rows AS SELECT * FROM own")
    found = sorted(base.execute(text).fetchall())
    print(f"    in DuckDB itself {time.process_time() - started:.2f} s")
    return np.array([row[2:] for row in found])


def in_sqlite(model: Model, rows: pa.Table) -> Any:
    text = likely.export(model, "sql", dialect="sqlite", keep=["id"])
    started = time.process_time()
    base = sqlite3.connect(":memory:")
    names = ["id", *rows.schema.names]
    base.execute("CREATE TABLE rows (" + ", ".join(f'"{n}"' for n in names) + ")")
    cells = [[k, *row.values()] for k, row in enumerate(rows.to_pylist())]
    base.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * len(names))})", cells)
    found = sorted(base.execute(text).fetchall())
    print(f"    in SQLite itself {time.process_time() - started:.2f} s")
    return np.array([row[2:] for row in found])


def in_onnx(model: Model, rows: pa.Table) -> Any:
    written = likely.export(model, "onnx")
    started = time.process_time()
    onnxruntime.set_default_logger_severity(3)
    session = onnxruntime.InferenceSession(written)
    feed: dict[str, Any] = {}
    for one in session.get_inputs():
        column = rows[one.name]
        if one.type == "tensor(string)":
            feed[one.name] = np.array([[str(v) if v is not None else ""] for v in column.to_pylist()], object)
        else:
            feed[one.name] = np.array(column.to_pylist(), np.float64)[:, None]
    loaded = time.process_time()
    found = session.run(["probabilities"], feed)[0]
    print(f"    loaded in {loaded - started:.2f} s, run in {time.process_time() - loaded:.2f} s")
    return found


def in_likely(model: Model, rows: pa.Table) -> Any:
    return model.posterior(rows).matrix


if __name__ == "__main__":
    main()
