"""Additive beside gradient boosting and EBM: log loss, accuracy and processor time on thirteen tables; unknown cells.

    python benchmarks/additive.py --rivals PYTHON [--cache DIR] [--tables adult car …] [--again] [--limit SECONDS]

PYTHON is an environment with lightgbm, xgboost, catboost, scikit-learn and interpret-core. One 70/30 split by seed, one
thread each, defaults, processor seconds of fitting. What was measured is kept in DIR; `--again` measures anew. Writes
ADDITIVE.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import likely

HERE = Path(__file__).resolve().parent
DATA = HERE.parent.parent / "shared" / "data"
BOOSTING = ("LightGBM", "XGBoost", "HistGradientBoosting", "CatBoost")
OURS = ("Additive order 1", "Additive order 2", "Additive order 3", "Additive order any")
CONTESTANTS = (*OURS, *BOOSTING, "EBM")
TABLES = ("adult", "connect_4", "letter", "krkopt", "churn", "magic", "fars", "kddcup", "flights", "car", "dna",
          "ann_thyroid", "coil2000")  # fmt: skip
CUT = {"krkopt": 20_000}
LATE, FLIGHTS = 15, 200_000
Result = dict[str, Any]


def table(name: str) -> pd.DataFrame:
    """The table, target last."""
    if name == "adult":
        return pd.read_csv(DATA / "adult.csv")
    if name == "flights":
        frame = pd.read_parquet(DATA / "flights-3m.parquet")[:FLIGHTS]
        date = frame.columns[[pd.api.types.is_datetime64_any_dtype(frame[c]) for c in frame]]
        for column in date:  # no rival reads dates
            when = frame[column].dt
            frame = frame.assign(month=when.month, day=when.day, weekday=when.dayofweek).drop(columns=column)
        delay = next(c for c in frame.columns if "delay" in c.lower())
        return frame.assign(late=np.where(frame[delay] > LATE, "late", "in time")).drop(columns=delay)
    frame = pd.read_csv(DATA / "tables" / f"{name}.tsv.gz", sep="\t")
    return frame.sample(CUT[name], random_state=0) if name in CUT else frame


def split(name: str, folder: Path) -> None:
    """Write train.parquet and test.parquet; classes that training does not have are left out of the test."""
    frame = table(name)
    learned = np.random.default_rng(0).random(len(frame)) < 0.7
    train, test = frame[learned], frame[~learned]
    test = test[test.iloc[:, -1].isin(set(train.iloc[:, -1]))]
    train.reset_index(drop=True).to_parquet(folder / "train.parquet")
    test.reset_index(drop=True).to_parquet(folder / "test.parquet")


def measure(contestant: str, folder: Path, python: str, limit: float) -> Result:
    """One contestant in a fresh process."""
    runs = sys.executable if contestant in OURS else python
    command = [runs, str(HERE / "additive_run.py"), contestant, str(folder)]
    alone = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, check=False, env=os.environ | alone
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"more than {limit:.0f} s"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["no reason given"])[-1][:120]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def run(
    names: list[str], python: str, cache: Path, again: bool, limit: float, who: list[str]
) -> dict[str, dict[str, Result]]:
    """What was measured, by table and contestant."""
    out: dict[str, dict[str, Result]] = {}
    for name in names:
        kept = cache / f"{name}.json"
        out[name] = json.loads(kept.read_text()) if kept.exists() else {}
        wanted = [c for c in who if again or c not in out[name]]
        if not wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            split(name, Path(folder))
            for contestant in wanted:
                out[name][contestant] = measure(contestant, Path(folder), python, limit)
                print(name, contestant, out[name][contestant], flush=True)
                kept.write_text(json.dumps(out[name], indent=1))
    return out


def unknown(name: str) -> list[str]:
    """One cell hidden after the other: what the model says, beside averaging over what the cell may be."""
    frame = table(name)
    target = str(frame.columns[-1])
    learned = np.random.default_rng(0).random(len(frame)) < 0.7
    train, test = frame[learned].reset_index(drop=True), frame[~learned].reset_index(drop=True)[:500]
    lines = []
    learners = (likely.Additive(), likely.Additive(order="any"), likely.Logistic())
    for title, learner in zip(("Additive, order 2", "Additive, order any", "Logistic"), learners, strict=True):
        model = likely.fit(train, target, learner)
        place = {c: k for k, c in enumerate(model.classes)}
        truth = np.array([place[str(t)] for t in test[target]])
        here = np.arange(len(truth))
        losses: dict[str, list[float]] = {"hidden": [], "averaged": [], "mean log-odds": [], "distance": [], "log": []}
        for column in frame.columns[:-1]:
            values = train[column].sample(50, random_state=1).tolist()
            asked = test.drop(columns=target)
            each = np.stack([model.posterior(asked.assign(**{column: [v] * len(asked)})).matrix for v in values])
            mean = each.mean(axis=0)
            logs = np.exp(np.log(each).mean(axis=0))
            logs /= logs.sum(axis=1, keepdims=True)
            hidden = model.posterior(asked.assign(**{column: None})).matrix
            losses["hidden"].append(float(-np.log(hidden[here, truth]).mean()))
            losses["averaged"].append(float(-np.log(mean[here, truth]).mean()))
            losses["mean log-odds"].append(float(-np.log(logs[here, truth]).mean()))
            losses["distance"].append(float((mean * np.log(mean / hidden)).sum(axis=1).mean()))
            losses["log"].append(float((mean * np.log(mean / logs)).sum(axis=1).mean()))
        nothing = model.posterior(dict.fromkeys(frame.columns[:-1])).matrix[0]
        share = train[target].astype(str).value_counts(normalize=True).reindex(model.classes).to_numpy()
        off = float(np.abs(nothing - share).max())
        found = {k: float(np.mean(v)) for k, v in losses.items()}
        lines.append(
            f"| {name} | {title} | {found['hidden']:.4f} | {found['averaged']:.4f} | {found['mean log-odds']:.4f} | "
            f"{found['distance']:.4f} | {found['log']:.4f} | {off:.1e} |"
        )
        print(lines[-1], flush=True)
    return lines


def page(results: dict[str, dict[str, Result]], unknowns: list[str], note: str) -> str:
    """ADDITIVE.md."""
    out = ["# Additive beside gradient boosting", "", (__doc__ or "").split("\n\n")[2].strip(), "", note, "",
           "## Log loss on unseen rows (nats)", "",
           "| table | " + " | ".join(CONTESTANTS) + " | best order / best boosting |",
           "|---|" + "---|" * (len(CONTESTANTS) + 1)]  # fmt: skip
    for name, own in results.items():
        ours = [own[c]["log_loss"] for c in OURS if "log_loss" in own.get(c, {})]
        theirs = [own[c]["log_loss"] for c in BOOSTING if "log_loss" in own.get(c, {})]
        ratio = f"{min(ours) / min(theirs):.3f}" if ours and theirs else "–"
        out.append(
            f"| {name} | " + " | ".join(_cell(own.get(c), "log_loss", "{:.4f}") for c in CONTESTANTS) + f" | {ratio} |"
        )
    for title, key, form in (
        ("Accuracy on unseen rows", "accuracy", "{:.4f}"),
        ("Processor seconds to fit", "fit", "{:.2f}"),
    ):
        out += [
            "",
            f"## {title}",
            "",
            "| table | " + " | ".join(CONTESTANTS) + " |",
            "|---|" + "---|" * len(CONTESTANTS),
        ]
        out += [f"| {name} | " + " | ".join(_cell(own.get(c), key, form) for c in CONTESTANTS) + " |"
                for name, own in results.items()]  # fmt: skip
    out += ["", "## A cell that is unknown", "",
            "One cell of 500 test rows hidden, attribute after attribute; means over the attributes. *Averaged*: the "
            "model's answers averaged over 50 values of training rows. *Mean log-odds*: the average of log-odds.", "",
            "| table | learner | log loss, hidden | averaged | mean log-odds | distance of hidden from averaged (KL) "
            "| of mean log-odds | nothing known, off the prior by |",
            "|---|---|---|---|---|---|---|---|", *unknowns]  # fmt: skip
    return "\n".join(out) + "\n"


def _cell(result: Result | None, key: str, form: str) -> str:
    if result is None:
        return "–"
    return result.get("failed", "") or form.format(result[key])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rivals", required=True)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "likely-additive")
    parser.add_argument("--tables", nargs="*", default=list(TABLES))
    parser.add_argument("--who", nargs="*", default=list(CONTESTANTS))
    parser.add_argument("--note", default="", help="what a reader should know of this run")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--limit", type=float, default=600.0)
    given = parser.parse_args()
    given.cache.mkdir(parents=True, exist_ok=True)
    results = run(given.tables, given.rivals, given.cache, given.again, given.limit, given.who)
    unknowns = [line for name in ("adult", "churn") for line in unknown(name)]
    (HERE / "ADDITIVE.md").write_text(page(results, unknowns, given.note), encoding="utf-8")


if __name__ == "__main__":
    main()
