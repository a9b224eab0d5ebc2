"""How many planted label errors `likely doctor` finds: real tables, some classes turned around, suspects by several
learners. Prints one table; writes nothing. Knows likely only as a user of it.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn import datasets

import likely
from likely.table.open import open_source

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
LEARNERS = {
    "TunedNaiveBayes": likely.TunedNaiveBayes(),
    "NaiveBayes": likely.NaiveBayes(),
    "Logistic": likely.Logistic(),
}


def tables(rows: int, seed: int) -> dict[str, dict[str, list[Any]]]:
    """Tables by name; the last column is the target."""
    out = {}
    for name in ("iris", "wine", "breast_cancer"):
        data = getattr(datasets, f"load_{name}")()
        columns = {str(n): data.data[:, k].tolist() for k, n in enumerate(data.feature_names)}
        out[name] = columns | {"class": [str(data.target_names[t]) for t in data.target]}
    for path in (SHARED / "arff" / "vote.arff", SHARED / "arff" / "hypothyroid.arff", SHARED / "adult.csv"):
        if path.exists():
            source = open_source(path)
            table = pa.Table.from_batches(list(source.batches(source.schema.names)))
            if len(table) > rows:
                table = table.take(np.random.default_rng(seed).permutation(len(table))[:rows])
            out[path.stem] = table.to_pydict()
    return out


def planted(table: dict[str, list[Any]], share: float, seed: int) -> tuple[dict[str, list[Any]], set[int]]:
    """The table with another class in a share of its rows, and the numbers of these."""
    rng = np.random.default_rng(seed)
    *_, target = table
    y = list(table[target])
    classes = sorted({c for c in y if c is not None})
    wrong = rng.choice(len(y), max(5, round(share * len(y))), replace=False)
    for k in wrong:
        y[k] = str(rng.choice([c for c in classes if c != y[k]]))
    return table | {target: y}, {int(k) + 1 for k in wrong}


def main() -> None:
    """Print, for each table and learner, how many of the first suspects are planted errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000, help="of larger tables, so many rows at random")
    parser.add_argument("--share", type=float, default=0.05, help="of the classes that are turned around")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    widths = (15, 6, 6, 10, 11, 10, 6, 6)
    head = ("table", "rows", "errors", "learner", "of first 10", "of as many", "named", "s")
    print(" ".join(f"{word:>{wide}}" for word, wide in zip(head, widths, strict=True)))
    for name, table in tables(given.rows, given.seed).items():
        spoiled, wrong = planted(table, given.share, given.seed)
        *_, target = table
        for called, learner in LEARNERS.items():
            at = time.perf_counter()
            found = likely.doctor(spoiled, target, learner, suspects=len(wrong), seed=given.seed).suspects
            hits = [s.row in wrong for s in found]
            took = f"{time.perf_counter() - at:.1f}"
            first, as_many = f"{sum(hits[:10])}/{min(10, len(wrong))}", f"{sum(hits)}/{len(wrong)}"
            cells = (name, len(table[target]), len(wrong), called, first, as_many, len(hits), took)
            print(" ".join(f"{cell:>{wide}}" for cell, wide in zip(cells, widths, strict=True)), flush=True)


if __name__ == "__main__":
    main()
