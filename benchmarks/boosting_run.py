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
    if name == "LightGBM":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_jobs=1, verbose=-1)
    if name == "XGBoost":
        from xgboost import XGBClassifier

        return XGBClassifier(n_jobs=1, enable_categorical=True, tree_method="hist")
    from catboost import CatBoostClassifier

    return CatBoostClassifier(thread_count=1, verbose=0, cat_features=levels, allow_writing_files=False)


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
            if name != "CatBoost":
                columns[column] = columns[column].astype("category")
    table = pd.DataFrame(columns)
    known, target = np.unique(told["target"], return_inverse=True)
    start = time.process_time()
    model = learner(name, levels).fit(table.iloc[told["train"]], target)
    found = model.predict_proba(table.iloc[told["test"]])
    seconds = time.process_time() - start
    out = np.zeros((len(told["test"]), told["classes"]))
    out[:, known] = found
    np.save(folder / "predicted.npy", out)
    print(seconds)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
