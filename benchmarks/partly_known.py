"""How good answers are where only some columns of a row are known: log loss on masked test rows, beside three rivals.

For k of m columns known, drawn at random for each row: the default as `posterior` answers; naive Bayes of likely;
LightGBM learned from six masked copies of each training row, a model made for this very task; the class frequencies.
Writes PARTLY_KNOWN.md. Needs pandas, lightgbm and the folder `shared` beside the clone:
`python benchmarks/partly_known.py`
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import likely

Floats = NDArray[np.float64]
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
REPORT = Path(__file__).with_name("PARTLY_KNOWN.md")
TABLES = ("adult", "churn", "german", "magic", "car", "ann_thyroid", "flare", "fars")
COPIES, TREES = 6, 150


def read(name: str, rows: int) -> tuple[pd.DataFrame, str]:
    """Some rows of a table, always the same, and its target, whose classes are texts."""
    adult = name == "adult"
    table = pd.read_csv(DATA / ("adult.csv" if adult else f"tables/{name}.tsv.gz"), sep="," if adult else "\t")
    target = "income" if adult else "target"
    table[target] = "c" + table[target].astype(str)
    order = np.random.default_rng(3).permutation(len(table))[:rows]
    return table.iloc[order].reset_index(drop=True), target


def mask(columns: pd.DataFrame, known: NDArray[np.bool_]) -> pd.DataFrame:
    """The table with unknown cells empty; numbers stay numbers."""
    out = {}
    for j, name in enumerate(columns):
        cells = pd.Series(np.where(known[:, j], columns[name].astype(object), None))
        out[name] = pd.to_numeric(cells) if pd.api.types.is_numeric_dtype(columns[name]) else cells.astype(object)
    return pd.DataFrame(out)


def draw(rows: int, columns: int, known: Any, seed: int) -> NDArray[np.bool_]:
    """Which cells are known: so many of each row."""
    ranks = np.random.default_rng(seed).random((rows, columns)).argsort(1).argsort(1)
    return np.asarray(ranks < np.reshape(known, (-1, 1)))


def log_loss(p: Floats, truth: NDArray[np.intp]) -> float:
    return float(-np.log(np.clip(p[np.arange(len(truth)), truth], 1e-9, 1)).mean())


def calibration_error(p: Floats, truth: NDArray[np.intp]) -> float:
    """|rows announced - rows true| of the last class, over ten bins, as a share of all rows."""
    own, hit = p[:, -1], truth == p.shape[1] - 1
    bins = np.minimum((own * 10).astype(int), 9)
    return float(sum(abs(own[bins == b].sum() - hit[bins == b].sum()) for b in range(10)) / len(own))


def judge(name: str, rows: int) -> tuple[list[str], list[float]]:
    """The lines of a table, and likely's log loss over that of masked LightGBM for each number of known columns."""
    table, target = read(name, rows)
    cut = int(0.7 * len(table))
    train, test = table.iloc[:cut].reset_index(drop=True), table.iloc[cut:].reset_index(drop=True)
    classes = sorted(train[target].unique())
    test = test[test[target].isin(classes)].reset_index(drop=True)
    x, z, truth = train.drop(columns=target), test.drop(columns=target), test[target].map(classes.index).to_numpy()
    m = z.shape[1]
    start = time.process_time()
    default = likely.fit(train, target)
    seconds = time.process_time() - start
    counted = likely.fit(train, target, likely.NaiveBayes())
    levels = {c: sorted(table[c].dropna().unique()) for c in z if not pd.api.types.is_numeric_dtype(table[c])}

    def coded(some: pd.DataFrame) -> pd.DataFrame:
        return some.assign(**{c: pd.Categorical(some[c], levels[c]) for c in levels})

    copies = [mask(x, draw(len(x), m, np.random.default_rng(s).integers(1, m + 1, len(x)), s)) for s in range(COPIES)]
    rival = lightgbm.LGBMClassifier(verbose=-1, n_estimators=TREES, n_jobs=1)
    rival.fit(coded(pd.concat(copies, ignore_index=True)), np.tile(train[target], COPIES))
    prior = np.tile([float(np.mean(train[target] == c)) for c in classes], (len(truth), 1))

    def answers(model: likely.Model, some: pd.DataFrame) -> Floats:
        found = model.posterior(some)
        return np.asarray(found.matrix[:, [list(found.classes).index(c) for c in classes]])

    lines, ratios = [], []
    for k in sorted({1, 2, 3, m // 3, m // 2, 2 * m // 3, m - 1, m} - {0}):
        some = z if k == m else mask(z, draw(len(z), m, k, 7))
        own = answers(default, some)
        place = [list(rival.classes_).index(c) for c in classes]
        losses = [
            log_loss(p, truth) for p in (own, answers(counted, some), rival.predict_proba(coded(some))[:, place], prior)
        ]
        if k < m:
            ratios.append(losses[0] / losses[2])
        error = calibration_error(own, truth)
        lines.append(f"| {name} | {k} of {m} | " + " | ".join(f"{v:.4f}" for v in losses) + f" | {error:.3f} |")
    print(f"{name}: {np.exp(np.mean(np.log(ratios))):.3f}; fit {seconds:.1f} s of processor", flush=True)
    return lines, ratios


def main(arguments: Sequence[str] | None = None) -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("tables", nargs="*", default=TABLES)
    options.add_argument("--rows", type=int, default=12_000)
    told = options.parse_args(arguments)
    warnings.simplefilter("ignore")
    lines, means, every = [], [], []
    for name in told.tables:
        own, ratios = judge(name, told.rows)
        lines += own
        every += ratios
        means.append(f"| {name} | {np.exp(np.mean(np.log(ratios))):.3f} |")
    means.append(f"| all | {np.exp(np.mean(np.log(every))):.3f} |")
    head = "Log loss in nats on masked test rows; the smaller the better. `python benchmarks/partly_known.py`"
    columns = "| table | known | likely | naive Bayes | LightGBM, masked | frequencies | calibration error of likely |"
    REPORT.write_text(
        f"# Rows of which only a part is known\n\n{head}\n\n"
        "| table | likely / LightGBM masked, geometric mean over k < m |\n|---|---:|\n" + "\n".join(means) + "\n\n"
        f"{columns}\n|---|---:|---:|---:|---:|---:|---:|\n" + "\n".join(lines) + "\n"
    )


if __name__ == "__main__":
    main()
