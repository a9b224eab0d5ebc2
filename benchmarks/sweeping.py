"""What a sweep costs beside the decoder at its best: pyarrow with dictionaries and all threads, its typed CSV reader.

Ours and theirs take turns in one process. Clock and processor time are both told: where others use the machine, only
the latter means something. Alone: `python benchmarks/sweeping.py --rows 2000000`; core.py takes it in.
"""

from __future__ import annotations

import argparse
import gc
import os
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import making
import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

import likely
from likely.apply.predict import predict_table
from likely.intake.reading import Reading

WIDE_ROWS, WIDE_COLUMNS = 60_000, 300
AIM, WIDE_AIM = 2.0, 2.5
"""Times the decoder, of few columns and of many."""


@dataclass(frozen=True)
class Measured:
    """The best of several turns: (clock, processor) seconds of likely and of the decoder."""

    what: str
    ours: tuple[float, float]
    theirs: tuple[float, float]
    aim: float
    cells: int
    per_cell: bool = False
    """Whether the aim is in nanoseconds of clock a cell; else it is a ratio."""

    @property
    def clock(self) -> float:
        return 1e9 * self.ours[0] / self.cells if self.per_cell else self.ours[0] / self.theirs[0]

    @property
    def processor(self) -> float:
        return 1e9 * self.ours[1] / self.cells if self.per_cell else self.ours[1] / self.theirs[1]


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    gc.collect()
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - processor


def turns(repeats: int, *contestants: Callable[[], Any]) -> list[tuple[float, float]]:
    """The best times of each, taking turns."""
    rounds = [[timed(work) for work in contestants] for _ in range(repeats)]
    return [(min(t[0] for t in each), min(t[1] for t in each)) for each in zip(*rounds, strict=True)]


def texts(path: Path) -> list[str]:
    return [f.name for f in pq.read_schema(path) if f.type == pa.string()]


def read_dictionaries(path: Path) -> pa.Table:
    """The quickest way from Parquet to a table that pyarrow has."""
    return pq.read_table(path, read_dictionary=texts(path))


def make_default(source: Path, to: Path) -> Path:
    """The same rows in row groups of the size that pyarrow writes."""
    if not to.exists():
        pq.write_table(pq.read_table(source), to)
    return to


def make_wide(folder: Path) -> tuple[Path, Path]:
    """A table of many columns, half of them levels, half numbers, as Parquet and CSV."""
    parquet, csv = folder / "wide.parquet", folder / "wide.csv"
    if not (parquet.exists() and csv.exists()):
        draw, half = np.random.default_rng(0), WIDE_COLUMNS // 2
        levels = pa.array([f"level {k}" for k in range(20)])

        def drawn(names: Any, count: int) -> Any:
            codes = pa.array(draw.integers(0, count, WIDE_ROWS).astype(np.int32))
            return pa.DictionaryArray.from_arrays(codes, names).cast(pa.string())

        columns = {f"nominal {k}": drawn(levels, 20) for k in range(half)}
        columns |= {f"number {k}": pa.array(draw.normal(size=WIDE_ROWS)) for k in range(half)}
        columns[making.TARGET] = drawn(pa.array(making.CLASSES), len(making.CLASSES))
        table = pa.table(columns)
        pq.write_table(table, parquet)
        pc.write_csv(table, csv)
    return parquet, csv


def make_numbers(folder: Path) -> tuple[Path, Path]:
    """A table of many columns, all of them numbers, as Parquet and CSV."""
    parquet, csv = folder / "numbers.parquet", folder / "numbers.csv"
    if not (parquet.exists() and csv.exists()):
        draw = np.random.default_rng(1)
        columns = {f"number {k}": pa.array(draw.normal(size=WIDE_ROWS)) for k in range(WIDE_COLUMNS)}
        columns[making.TARGET] = pa.array(draw.choice(making.CLASSES, WIDE_ROWS).astype(str))
        pq.write_table(pa.table(columns), parquet)
        pc.write_csv(pa.table(columns), csv)
    return parquet, csv


def measure(files: making.Files, folder: Path, repeats: int, threads: int) -> list[Measured]:
    """All cases, in one process."""
    target, cells = making.TARGET, files.rows * (len(making.NOMINAL) + len(making.NUMERIC) + 1)
    pa.set_cpu_count(threads)

    def ours(data: object) -> Callable[[], Any]:
        return lambda: likely.summarize(data, target=target, threads=threads)

    default = make_default(files.parquet, folder / f"default_{files.rows}.parquet")
    wide, wide_csv = make_wide(folder)
    numbers, numbers_csv = make_numbers(folder)
    many = WIDE_ROWS * (WIDE_COLUMNS + 1)
    out = []
    for what, path, count in (
        (f"Parquet, row groups of {making.ROW_GROUP:,}", files.parquet, cells),
        ("Parquet, row groups as pyarrow writes them", default, cells),
        (f"Parquet, {WIDE_COLUMNS} columns", wide, many),
        (f"Parquet, {WIDE_COLUMNS} numbers", numbers, many),
    ):
        pair = turns(repeats, ours(path), lambda p=path: read_dictionaries(p))  # type: ignore[misc]
        out.append(Measured(what, *pair, WIDE_AIM if count == many else AIM, count))
    for what, path, count in (
        ("CSV", files.csv, cells),
        (f"CSV, {WIDE_COLUMNS} columns", wide_csv, many),
        (f"CSV, {WIDE_COLUMNS} numbers", numbers_csv, many),
    ):
        pair = turns(repeats, ours(path), lambda p=path: pc.read_csv(p))  # type: ignore[misc]
        out.append(Measured(what, *pair, WIDE_AIM if count == many else AIM, count))
    table = read_dictionaries(default)
    coded = {name: pa.dictionary(pa.int32(), pa.string()) for name in texts(default)}
    chunks = pc.read_csv(files.csv, convert_options=pc.ConvertOptions(column_types=coded, strings_can_be_null=True))
    wide_table = read_dictionaries(wide)
    for what, held, count in (
        ("an Arrow table in memory", table, cells),
        (f"the same in {chunks.column(0).num_chunks} chunks, a dictionary each", chunks, cells),
        (f"{WIDE_COLUMNS} columns in memory", wide_table, many),
        (f"{WIDE_COLUMNS} numbers in memory", read_dictionaries(numbers), many),
    ):
        pair = turns(repeats, ours(held), lambda: read_dictionaries(default))
        out.append(Measured(what, *pair, 4.0, count, per_cell=True))
    return out


def make_json(source: Path, to: Path, rows: int) -> Path:
    """The first rows as lines of JSON."""
    if not to.exists():
        duckdb.sql(f"COPY (SELECT * FROM '{source}' LIMIT {rows}) TO '{to}' (FORMAT json)")
    return to


def measure_json(files: making.Files, folder: Path, repeats: int, threads: int) -> Measured:
    """JSON lines beside DuckDB's reading of the same."""
    rows = min(files.rows, 500_000)
    path = make_json(files.parquet, folder / f"{rows}.jsonl", rows)

    def theirs() -> None:
        connection = duckdb.connect(config={"threads": threads})
        connection.execute("CREATE TABLE t AS SELECT * FROM read_json(?, format='newline_delimited')", [str(path)])

    pair = turns(repeats, lambda: likely.summarize(path, target=making.TARGET, threads=threads), theirs)
    return Measured(f"JSON lines, {rows:,} rows", *pair, AIM, rows * 17)


def measure_prediction(files: making.Files, folder: Path, repeats: int, threads: int) -> list[Measured]:
    """Predictions from Parquet and CSV to Parquet, beside reading and writing the same rows."""
    model = likely.fit(files.parquet, making.TARGET, likely.NaiveBayes())
    out = []
    for what, path in (("Parquet", files.parquet), ("CSV", files.csv)):
        mine, other = folder / "mine.parquet", folder / "other.parquet"

        def ours(path: Path = path, to: Path = mine) -> None:
            predict_table(model, path, str(to), Reading(threads=threads), keep=True)

        def theirs(path: Path = path, to: Path = other) -> None:
            pq.write_table(read_dictionaries(path) if path.suffix == ".parquet" else pc.read_csv(path), to)

        pair = turns(repeats, ours, theirs)
        out.append(Measured(f"predictions beside the rows, {what} to Parquet", *pair, AIM, files.rows * 17))
    return out


def ceiling() -> float:
    """How much faster two threads of plain arithmetic are than one, on this machine: no sweep can gain more."""
    from likely.sums.tallies import fewest_bits

    keys = np.sort(np.random.default_rng(0).integers(0, 1 << 62, 1 << 15).astype(np.uint64))  # stays in the cache

    def work() -> None:
        for _ in range(3000):
            fewest_bits(keys, 2048, np.zeros(65, np.int64))

    def both() -> None:
        crew = [threading.Thread(target=work) for _ in range(2)]
        for thread in crew:
            thread.start()
        for thread in crew:
            thread.join()

    work()
    one, two = turns(3, work, both)
    return 2 * one[0] / two[0]


def main() -> None:
    options = argparse.ArgumentParser(description="Measure sweeps beside decoding.")
    options.add_argument("--rows", type=int, default=2_000_000)
    options.add_argument("--keep-data", type=Path, metavar="DIR")
    options.add_argument("--threads", type=int, default=2)
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.keep_data or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        files = making.make(folder, [asked.rows])[0]
        found = {
            threads: [
                *measure(files, folder, 3, threads),
                measure_json(files, folder, 3, threads),
                *measure_prediction(files, folder, 3, threads),
            ]
            for threads in dict.fromkeys([asked.threads, 1])
        }
    load = f", load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"{asked.rows:,} rows, {asked.threads} threads, {os.cpu_count()} cores{load}\n")
    print("| sweep of | processor | clock | aim | threads gain | likely, clock | decoder, clock |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for m, one in zip(found[asked.threads], found[1], strict=True):
        unit = " ns a cell" if m.per_cell else "×"
        times = f"{m.ours[0]:.2f} s | {m.theirs[0]:.2f} s"
        gain = f"{one.ours[0] / m.ours[0]:.2f}×"
        print(f"| {m.what} | {m.processor:.2g}{unit} | {m.clock:.2g}{unit} | ≤ {m.aim:g}{unit} | {gain} | {times} |")
    print(f"\nTwo threads of plain arithmetic gain {ceiling():.2f}× here: no sweep can gain more.")


if __name__ == "__main__":
    main()
