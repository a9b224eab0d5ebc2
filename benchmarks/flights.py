"""Three million flights: log loss and clock of the default and of LightGBM with many leaves, in turn, two threads each.

Late by more than 15 minutes, by distance, origin, destination, hour, weekday and day of the year; and by the column
`date` as it comes, where LightGBM gets the same parts made by hand. 300,000 flights are predicted. Writes FLIGHTS.md.
Needs the folder `shared` beside the clone; LightGBM gets an environment of its own:
`python benchmarks/flights.py --cache DIR`
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from sets import DATA, FLIGHTS, LATE, own_environment

import likely

REPORT = Path(__file__).with_name("FLIGHTS.md")
BOOSTING = ("lightgbm==4.7.0", "scikit-learn", "pandas", "pyarrow")
RIVALS = {"LightGBM": {}, "LightGBM, 255 leaves, 600 rounds": {"num_leaves": 255, "n_estimators": 600}}
TESTED, THREADS = 300_000, 2

ASK = """
import json, sys, time, numpy as np, pandas as pd, pyarrow.parquet as pq
from lightgbm import LGBMClassifier
folder, settings = sys.argv[1], json.loads(sys.argv[2])
tables = [pq.read_table(f"{folder}/{part}.parquet").to_pandas() for part in ("train", "test")]
targets = [(table.pop("late") == "late").to_numpy().astype(int) for table in tables]
for name in tables[0]:
    if not pd.api.types.is_numeric_dtype(tables[0][name]):
        levels = sorted(tables[0][name].unique())
        for table in tables:
            table[name] = pd.Categorical(table[name], levels)
start = time.perf_counter()
model = LGBMClassifier(verbose=-1, **settings).fit(tables[0], targets[0])
seconds = time.perf_counter() - start
p = np.clip(model.predict_proba(tables[1])[np.arange(len(targets[1])), targets[1]], 1e-15, 1)
print(json.dumps([float(-np.log(p).mean()), seconds]))
"""


def read() -> tuple[pa.Table, pa.Table]:
    """The flights with parts made by hand, and with their date as it comes, both in the same order drawn by chance."""
    flights = pq.read_table(DATA / FLIGHTS)
    flights = flights.take(np.random.default_rng(0).permutation(len(flights)))
    date, rest = flights["date"], {name: flights[name] for name in ("distance", "origin", "destination")}
    late = pc.if_else(pc.greater(flights["delay"], LATE), "late", "in time")
    parts = {
        "hour": pc.hour(date),
        "weekday": pc.cast(pc.day_of_week(date), pa.string()),
        "day": pc.day_of_year(date),
    }
    return pa.table({**rest, **parts, "late": late}), pa.table({"date": date, **rest, "late": late})


def by_likely(train: pa.Table, test: pa.Table) -> tuple[float, float]:
    """Log loss and seconds of the clock, learning alone."""
    start = time.perf_counter()
    model = likely.fit(train, "late", threads=THREADS)
    seconds = time.perf_counter() - start
    found = model.posterior(test.drop_columns(["late"])).matrix
    truth = np.array([model.classes.index(name) for name in test["late"].to_pylist()])
    return float(-np.log(np.clip(found[np.arange(len(truth)), truth], 1e-15, 1)).mean()), seconds


def by_lightgbm(python: Path, settings: dict[str, int], train: pa.Table, test: pa.Table) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(train, f"{folder}/train.parquet")
        pq.write_table(test, f"{folder}/test.parquet")
        told = json.dumps({**settings, "n_jobs": THREADS})
        done = subprocess.run([str(python), "-c", ASK, folder, told], capture_output=True, text=True, check=True)
    loss, seconds = json.loads(done.stdout.splitlines()[-1])
    return loss, seconds


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "likely-quality")
    options.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000, 2_700_000])
    asked = options.parse_args()
    python = own_environment(asked.cache / "lightgbm", *BOOSTING)
    parts, dates = read()
    tests = parts.slice(0, TESTED), dates.slice(0, TESTED)
    by_likely(parts.slice(TESTED, 20_000), tests[0].slice(0, 1000))  # kernels are compiled
    lines = ["| rows | | log loss | seconds |", "|---:|---|---:|---:|"]
    for rows in asked.rows:
        train, raw = parts.slice(TESTED, rows), dates.slice(TESTED, rows)
        found = {"**likely**": by_likely(train, tests[0])}
        for name, settings in RIVALS.items():
            found[name] = by_lightgbm(python, settings, train, tests[0])
        found["**likely**, the date as it comes"] = by_likely(raw, tests[1])
        for name, (loss, seconds) in found.items():
            lines.append(f"| {rows:,} | {name} | {loss:.4f} | {seconds:.1f} |")
            print(lines[-1], file=sys.stderr, flush=True)
    head = [
        "# Many rows",
        "",
        "Written by `benchmarks/flights.py`; not to be changed by hand. Which flights are late, of 3 million: log loss "
        f"of {TESTED:,} others in nats, and seconds of the clock to learn, {THREADS} threads each; default settings "
        "but for what is said.",
        "",
    ]
    REPORT.write_text("\n".join([*head, *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
