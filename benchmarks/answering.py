"""What small things cost: a fit of 150 rows, one row, scikit-learn's face beside GaussianNB, memory of a sweep.

Processor time, the best of several turns, beside what is aimed at: the end is 1 where an aim is missed.
`python benchmarks/answering.py`, with OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import making
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

import likely
from likely.sklearn import NaiveBayesClassifier

CENSUS = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "adult.csv"
SHAPES = {(1_000, 10): 3.0, (10_000, 10): None, (100_000, 10): None, (100_000, 50): 1.0}
"""Rows and columns, and how many times GaussianNB's time a fit may take."""
PEAK = """
import sys, likely
def memory(name):
    return int(next(l for l in open("/proc/self/status") if l.startswith(name)).split()[1]) / 1024
likely.summarize({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "x"]}, target="b")
start = memory("VmRSS")
likely.summarize(sys.argv[1], target=sys.argv[2], threads=2)
print(memory("VmHWM") - start)
"""


missed: list[str] = []


def tell(what: str, value: float, aim: float | None = None, unit: str = "ms") -> None:
    """Print a figure beside what is aimed at."""
    if aim is not None and value > aim:
        missed.append(what)
    aims = "" if aim is None else f" (aim: {aim:g}{', missed' if value > aim else ''})"
    print(f"{what}: {value:.2f} {unit}{aims}")


def best(*works: Callable[[], object], turns: int = 9, times: int = 1) -> list[float]:
    """The least processor seconds of each, taken in turns."""
    found = [np.inf] * len(works)
    for work in works:
        work()
    for _ in range(turns):
        for k, work in enumerate(works):
            start = time.process_time()
            for _ in range(times):
                work()
            found[k] = min(found[k], (time.process_time() - start) / times)
    return found


def few_rows() -> None:
    iris = load_iris()
    frame = pd.DataFrame(iris.data, columns=iris.feature_names).assign(species=iris.target_names[iris.target])
    (seconds,) = best(lambda: likely.fit(frame, "species", likely.NaiveBayes()), times=20)
    tell("a frame of 150 rows, fit by naive Bayes", 1e3 * seconds, 2.0)


def one_row(rows: int = 300) -> None:
    with CENSUS.open(newline="") as file:
        cells = [{n: v for n, v in row.items() if n != "income"} for row in islice(csv.DictReader(file), rows)]
    each = [{n: float(v) if v.replace(".", "").isdigit() else v for n, v in row.items()} for row in cells]
    for name, learner, aim in (("naive Bayes", likely.NaiveBayes(), 0.1), ("what fit makes", None, 0.2)):
        model = likely.fit(CENSUS, "income", learner)
        for what in (model.posterior, model.predict):
            (seconds,) = best(lambda w=what: [w(row) for row in each])  # type: ignore[misc]
            tell(f"{what.__name__} of one row of the census by {name}", 1e3 * seconds / rows, aim)


def face(rows: int, columns: int, aim: float | None) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, rows)
    x = rng.normal(size=(rows, columns)) + 0.3 * y[:, None]
    ours, theirs, times = NaiveBayesClassifier(), GaussianNB(), max(1, 10_000 // rows)
    one, two = best(lambda: ours.fit(x, y), lambda: theirs.fit(x, y), times=times)
    tell(f"{rows:,} x {columns}: fit", one / two, aim, "times GaussianNB's time")
    one, two = best(lambda: ours.predict_proba(x), lambda: theirs.predict_proba(x), times=times)
    tell(f"{rows:,} x {columns}: predict_proba", one / two, None, "times GaussianNB's time")


def peaks(folder: Path, rows: int = 500_000) -> None:
    """Peak memory above imports, in a process of its own."""
    table = pa.Table.from_batches(making.blocks(rows))
    pq.write_table(table, folder / "t.parquet")
    pc.write_csv(table, folder / "t.csv")
    for name in ("t.parquet", "t.csv"):
        words = [sys.executable, "-c", PEAK, str(folder / name), making.TARGET]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        print(f"{name}, {rows:,} rows, two threads: {float(done.stdout):.0f} MB above imports")


if __name__ == "__main__":
    few_rows()
    if CENSUS.exists():
        one_row()
    for shape, aim in SHAPES.items():
        face(*shape, aim)
    with tempfile.TemporaryDirectory() as scratch:
        peaks(Path(scratch))
    sys.exit(1 if missed else 0)
