"""What a sweep costs beside the decoder at its best: pyarrow with dictionaries and all threads, its typed CSV reader.

Ours and theirs take turns in one process. Clock and processor time are both told: where others use the machine, only
the latter means something. Alone: `python benchmarks/sweeping.py --rows 2000000`; core.py takes it in.
"""

from __future__ import annotations

import argparse
import gc
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import making
import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

import likely

WIDE_ROWS, WIDE_COLUMNS = 60_000, 300


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


def measure(files: making.Files, folder: Path, repeats: int, threads: int) -> list[Measured]:
    """All cases, in one process."""
    target, cells = making.TARGET, files.rows * (len(making.NOMINAL) + len(making.NUMERIC) + 1)
    pa.set_cpu_count(threads)

    def ours(data: object) -> Callable[[], Any]:
        return lambda: likely.summarize(data, target=target, threads=threads)

    default = make_default(files.parquet, folder / f"default_{files.rows}.parquet")
    wide, wide_csv = make_wide(folder)
    many = WIDE_ROWS * (WIDE_COLUMNS + 1)
    out = []
    for what, path, count in (
        (f"Parquet, row groups of {making.ROW_GROUP:,}", files.parquet, cells),
        ("Parquet, row groups as pyarrow writes them", default, cells),
        (f"Parquet, {WIDE_COLUMNS} columns", wide, many),
    ):
        pair = turns(repeats, ours(path), lambda p=path: read_dictionaries(p))  # type: ignore[misc]
        out.append(Measured(what, *pair, 2.0, count))
    for what, path, count in (("CSV", files.csv, cells), (f"CSV, {WIDE_COLUMNS} columns", wide_csv, many)):
        pair = turns(repeats, ours(path), lambda p=path: pc.read_csv(p))  # type: ignore[misc]
        out.append(Measured(what, *pair, 2.0, count))
    table = read_dictionaries(default)
    coded = {name: pa.dictionary(pa.int32(), pa.string()) for name in texts(default)}
    chunks = pc.read_csv(files.csv, convert_options=pc.ConvertOptions(column_types=coded, strings_can_be_null=True))
    for what, held in (
        ("an Arrow table in memory", table),
        (f"the same in {chunks.column(0).num_chunks} chunks, a dictionary each", chunks),
    ):
        pair = turns(repeats, ours(held), lambda: read_dictionaries(default))
        out.append(Measured(what, *pair, 6.0, cells, per_cell=True))
    return out


def main() -> None:
    options = argparse.ArgumentParser(description="Measure sweeps beside decoding.")
    options.add_argument("--rows", type=int, default=2_000_000)
    options.add_argument("--keep-data", type=Path, metavar="DIR")
    options.add_argument("--threads", type=int, default=2)
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.keep_data or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        found = measure(making.make(folder, [asked.rows])[0], folder, 3, asked.threads)
    load = f", load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"{asked.rows:,} rows, {asked.threads} threads, {os.cpu_count()} cores{load}\n")
    print("| sweep of | processor | clock | aim | likely, processor | decoder, processor |")
    print("|---|---:|---:|---:|---:|---:|")
    for m in found:
        unit = " ns a cell" if m.per_cell else "×"
        times = f"{m.ours[1]:.2f} s | {m.theirs[1]:.2f} s"
        print(f"| {m.what} | {m.processor:.2g}{unit} | {m.clock:.2g}{unit} | ≤ {m.aim:g}{unit} | {times} |")


if __name__ == "__main__":
    main()
