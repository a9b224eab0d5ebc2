"""Gradient boosting on one fold, in the environment that has it: `python boosting_run.py FOLDER NAME`.

Reads set.json (columns, which are numbers, classes of the rows to learn from, which rows are which), writes
predicted.npy, and prints the processor seconds of learning and predicting, with the usual settings and one thread.
Knows nothing of likely.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd


def learner(name: str, levels: list[str]) -> Any:
    if name.startswith("LightGBM"):
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_jobs=1, verbose=-1)
    if name == "XGBoost":
        from xgboost import XGBClassifier

        return XGBClassifier(n_jobs=1, enable_categorical=True, tree_method="hist")
    if name == "EBM":
        from interpret.glassbox import ExplainableBoostingClassifier

        return ExplainableBoostingClassifier(n_jobs=1)
    from catboost import CatBoostClassifier

    return CatBoostClassifier(thread_count=1, verbose=0, cat_features=levels, allow_writing_files=False)


def tempered(probabilities: Any, beta: float) -> Any:
    """Each probability to the power of beta, divided by their sum."""
    logs = beta * np.log(np.clip(probabilities, 1e-15, 1.0))
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def temperature(new: Any, table: Any, target: Any, classes: int) -> float:
    """The power by which the answers of models that have not seen the rows have the best log score."""
    from scipy.optimize import minimize_scalar
    from sklearn.model_selection import KFold

    said = np.zeros((len(target), classes))
    for learned, held in KFold(4, shuffle=True, random_state=0).split(target):
        model = new().fit(table.iloc[learned], target[learned])
        said[np.ix_(held, model.classes_)] = model.predict_proba(table.iloc[held])

    def loss(log_beta: float) -> float:
        answers = tempered(said, float(np.exp(log_beta)))
        return -float(np.log(np.clip(answers[np.arange(len(target)), target], 1e-300, 1.0)).mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-3.0, 2.0), method="bounded").x))


def main(folder: Path, name: str) -> None:
    warnings.simplefilter("ignore")
    told = json.loads((folder / "set.json").read_text())
    columns: dict[str, Any] = {}
    levels = [n for n in told["columns"] if n not in told["numeric"]]
    for column, cells in told["columns"].items():
        if column in told["numeric"]:
            columns[column] = np.array([np.nan if c is None else float(c) for c in cells])
        else:
            columns[column] = pd.Series(["(missing)" if c is None else c for c in cells])
            if name not in ("CatBoost", "EBM"):
                columns[column] = columns[column].astype("category")
    table = pd.DataFrame(columns)
    known, target = np.unique(told["target"], return_inverse=True)
    train = table.iloc[told["train"]]
    model = learner(name, levels)  # imports its library, which is not measured
    start = time.process_time()
    model = model.fit(train, target)
    found = model.predict_proba(table.iloc[told["test"]])
    if name.endswith("tempered"):
        found = tempered(found, temperature(lambda: learner(name, levels), train, target, len(known)))
    seconds = time.process_time() - start
    out = np.zeros((len(told["test"]), told["classes"]))
    out[:, known] = found
    np.save(folder / "predicted.npy", out)
    print(seconds)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
