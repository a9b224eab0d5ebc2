"""What small things cost: one row through `model.posterior`, scikit-learn's face beside GaussianNB, memory of a sweep.

Processor time, the best of several turns; prints. `python benchmarks/answering.py`, with OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import making
import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
from sklearn.naive_bayes import GaussianNB

import likely
from likely.sklearn import NaiveBayesClassifier

CENSUS = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "adult.csv"
SHAPES = ((1_000, 10), (10_000, 10), (100_000, 10), (100_000, 50))
PEAK = """
import sys, likely
def memory(name):
    return int(next(l for l in open("/proc/self/status") if l.startswith(name)).split()[1]) / 1024
likely.summarize({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "x"]}, target="b")
start = memory("VmRSS")
likely.summarize(sys.argv[1], target=sys.argv[2], threads=2)
print(memory("VmHWM") - start)
"""


def best(work: Callable[[], object], turns: int = 5, times: int = 1) -> float:
    """The least processor seconds of a turn."""
    found = []
    for _ in range(turns):
        start = time.process_time()
        for _ in range(times):
            work()
        found.append((time.process_time() - start) / times)
    return min(found)


def one_row() -> None:
    with CENSUS.open(newline="") as file:
        cells = next(csv.DictReader(file))
    row = {n: float(v) if v.replace(".", "").isdigit() else v for n, v in cells.items() if n != "income"}
    for name, learner in (("naive Bayes", likely.NaiveBayes()), ("what fit makes", None)):
        model = likely.fit(CENSUS, "income", learner)
        model.posterior(row)
        print(f"one row of the census by {name}: {1e3 * best(lambda m=model: m.posterior(row), times=100):.2f} ms")


def face(rows: int, columns: int) -> str:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, rows)
    x = rng.normal(size=(rows, columns)) + 0.3 * y[:, None]
    ours, theirs = NaiveBayesClassifier().fit(x, y), GaussianNB().fit(x, y)
    fit = best(lambda: NaiveBayesClassifier().fit(x, y)) / best(lambda: GaussianNB().fit(x, y))
    predict = best(lambda: ours.predict_proba(x)) / best(lambda: theirs.predict_proba(x))
    return f"{rows:,} x {columns}: fit {fit:.1f} times GaussianNB's time, predict_proba {predict:.1f}"


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
    if CENSUS.exists():
        one_row()
    for shape in SHAPES:
        print(face(*shape))
    with tempfile.TemporaryDirectory() as scratch:
        peaks(Path(scratch))
