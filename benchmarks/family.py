"""The family's benchmarks: what each learner costs once the sums are there, and `compare` in ten folds beside
scikit-learn's cross_val_score on the same learners, as ratios of one run. Writes FAMILY.md.
"""

from __future__ import annotations

import argparse
import gc
import os
import time
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

import likely
from likely.models.default import field_of

HERE = Path(__file__).resolve().parent
AIM = 5.0


def numbers(rows: int) -> pd.DataFrame:
    """A table of eight numbers and four classes that depend on them."""
    random = np.random.default_rng(0)
    target = random.integers(0, 4, rows)
    columns = {f"x{k}": random.normal(size=rows) * (1 + k / 4) + 0.6 * target * (k % 3) for k in range(8)}
    return pd.DataFrame(columns | {"y": np.array(list("abcd"))[target]})


def mixed(rows: int) -> pd.DataFrame:
    """The same with four nominal columns more."""
    random = np.random.default_rng(1)
    table = numbers(rows)
    codes = table["y"].map({"a": 0, "b": 1, "c": 2, "d": 3}).to_numpy()
    for k, levels in enumerate((2, 5, 12, 30)):
        table.insert(0, f"n{k}", [f"level {c}" for c in (random.integers(0, levels, rows) + codes) % levels])
    return table


PEERS: dict[str, Callable[[], Any]] = {
    "NaiveBayes": GaussianNB,
    "FullBayes": QuadraticDiscriminantAnalysis,
    "LinearDiscriminant": LinearDiscriminantAnalysis,
    "LeastSquares": lambda: RidgeClassifier(alpha=1e-9),
    "Logistic": lambda: LogisticRegression(C=1.0, max_iter=200),
    "Neighbors": lambda: KNeighborsClassifier(5),
}


def peer(name: str) -> Any:
    """A learner of scikit-learn with the preparation that it needs for mixed columns."""
    scaler = MinMaxScaler() if name == "Neighbors" else StandardScaler()
    ready = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), make_column_selector(dtype_exclude="number")),
        (scaler, make_column_selector(dtype_include="number")),
    )
    return make_pipeline(ready, PEERS[name]())


def best_of(turns: int, *works: Callable[[], Any]) -> list[float]:
    """The best time of each, taking turns."""
    best = [float("inf")] * len(works)
    for _ in range(turns):
        for k, work in enumerate(works):
            gc.collect()
            start = time.perf_counter()
            work()
            best[k] = min(best[k], time.perf_counter() - start)
    return best


def versus(name: str, table: pd.DataFrame, names: list[str], turns: int) -> tuple[str, float, float]:
    """`compare` of these learners in ten folds against cross_val_score on each of them (accuracy and log loss)."""
    learners = {n: field_of(len(table))[0].get(n) or likely.Neighbors() for n in names}
    features, target = table.drop(columns="y"), table["y"]
    folds = StratifiedKFold(10, shuffle=True, random_state=0)

    def theirs() -> None:
        for n in names:
            cross_val_score(
                peer(n), features, target, cv=folds, scoring="neg_log_loss" if n != "LeastSquares" else "accuracy"
            )

    likely.compare(table.head(2000), "y", learners)  # kernels are loaded
    ours, other = best_of(turns, lambda: likely.compare(table, "y", learners), theirs)
    return name, ours, other


def main() -> None:
    """Measure and write."""
    options = argparse.ArgumentParser()
    options.add_argument("--rows", type=int, default=100_000)
    options.add_argument("--turns", type=int, default=2)
    options.add_argument("--out", type=Path, default=HERE / "FAMILY.md")
    asked = options.parse_args()
    warnings.filterwarnings("ignore")
    lines = ["# What the family costs", ""]
    stamp = datetime.now(UTC).date()
    busy = f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} when it began"
    lines += [f"Written by `python benchmarks/family.py --rows {asked.rows} --turns {asked.turns}` on {stamp}; {busy}."]
    lines += [
        "On a busy machine ratios are off as well: BLAS, which scikit-learn leans on, waits for its own threads.",
        "",
    ]
    lines += ["## `compare` in ten folds against cross_val_score on the same learners", ""]
    lines += ["| learners | rows | likely | scikit-learn | ratio | aim |", "|---|---|---|---|---|---|"]
    cases = [
        (
            "naive, full, pooled, linear",
            numbers(asked.rows),
            ["NaiveBayes", "FullBayes", "LinearDiscriminant", "LeastSquares"],
        ),
        (
            "the same and logistic",
            numbers(asked.rows),
            ["NaiveBayes", "FullBayes", "LinearDiscriminant", "LeastSquares", "Logistic"],
        ),
        ("neighbours", numbers(asked.rows // 10), ["Neighbors"]),
        ("neighbours", numbers(asked.rows // 2), ["Neighbors"]),
        ("mixed columns: linear, logistic", mixed(asked.rows), ["LeastSquares", "Logistic"]),
    ]
    for title, table, names in cases:
        what, ours, other = versus(title, table, names, asked.turns)
        met = "met" if other / ours >= AIM else "missed"
        lines.append(
            f"| {what} | {len(table):,} | {ours:.2f} s | {other:.2f} s | {other / ours:.1f}× | ≥ {AIM:g}× {met} |"
        )
        print(lines[-1], flush=True)
    lines += ["", "## Learning from one summary", ""]
    lines += ["| learner | seconds to learn, the sums given |", "|---|---|"]
    table = mixed(asked.rows)
    chosen, _ = field_of(asked.rows)
    wanted = {n for x in chosen.values() for n in x.needs(likely.summarize(table.head(1000), "y").schema)} - {"rows"}
    summary = likely.summarize(table, "y", more=sorted(wanted))
    for name, learner in chosen.items():
        if name in ("Logistic", "Neighbors", "FullBayes", "LinearDiscriminant"):
            continue  # they look at rows again, or take numbers only
        (seconds,) = best_of(3, lambda learner=learner: learner.learn(summary))
        lines.append(f"| {name} | {seconds:.4f} |")
        print(lines[-1], flush=True)
    asked.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
