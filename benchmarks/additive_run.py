"""One contestant of additive.py on one table, in a process and an environment of its own: prints a line of JSON.

    PYTHON additive_run.py CONTESTANT FOLDER

FOLDER holds train.parquet and test.parquet, whose last column is the target. One thread, defaults. Likely is imported
only where it is the contestant.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

CLIP = 1e-15
"""No probability is taken below this when the log loss is computed: of boosting, some are 0."""


def texts(frame: pd.DataFrame) -> list[str]:
    return [c for c in frame if not pd.api.types.is_numeric_dtype(frame[c])]


def as_categories(train: pd.DataFrame, test: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    train, test = train.copy(), test.copy()
    for column in texts(train):
        levels = sorted(set(train[column].dropna()) | set(test[column].dropna()))
        train[column] = pd.Categorical(train[column], levels)
        test[column] = pd.Categorical(test[column], levels)
    return train, test


def as_texts(train: pd.DataFrame, test: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    return tuple(part.assign(**{c: part[c].astype(object).fillna("(missing)").astype(str) for c in texts(train)})
                 for part in (train, test))  # type: ignore[return-value] # fmt: skip


def lightgbm() -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbose=-1)


def xgboost() -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_jobs=1, enable_categorical=True)


def hist() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(categorical_features="from_dtype")


def catboost(columns: list[str]) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(thread_count=1, verbose=0, cat_features=columns, allow_writing_files=False)


def ebm() -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=1)


RIVALS: dict[str, Callable[[], Any]] = {
    "LightGBM": lightgbm,
    "XGBoost": xgboost,
    "HistGradientBoosting": hist,
    "EBM": ebm,
}


def by_rival(name: str, train: pd.DataFrame, test: pd.DataFrame) -> tuple[Any, list[str], float, float]:
    target = train.columns[-1]
    classes, codes = np.unique(train[target].astype(str), return_inverse=True)
    rows, asked = train.drop(columns=target), test.drop(columns=target)
    rows, asked = (as_texts if name in ("CatBoost", "EBM") else as_categories)(rows, asked)
    model = catboost(texts(rows)) if name == "CatBoost" else RIVALS[name]()
    start = time.process_time()
    model.fit(rows, codes)
    fitted = time.process_time() - start
    start = time.process_time()
    return model.predict_proba(asked), list(classes), fitted, time.process_time() - start


def by_likely(order: str, train: pd.DataFrame, test: pd.DataFrame) -> tuple[Any, list[str], float, float]:
    import likely

    target = str(train.columns[-1])
    learner = likely.Additive(order=order if order == "any" else int(order))  # type: ignore[arg-type]
    likely.fit(train[:500], target, learner, threads=1)  # kernels are compiled once for good, not in each process
    start = time.process_time()
    model = likely.fit(train, target, learner, threads=1)
    fitted = time.process_time() - start
    asked = test.drop(columns=target)
    start = time.process_time()
    found = model.posterior(asked).matrix
    return found, list(model.classes), fitted, time.process_time() - start


def main(contestant: str, folder: Path) -> None:
    warnings.simplefilter("ignore")
    train, test = (pd.read_parquet(folder / f"{part}.parquet") for part in ("train", "test"))
    kind, _, order = contestant.partition(" order ")
    chances, classes, fitted, asked = by_likely(order, train, test) if order else by_rival(kind, train, test)
    place = {name: k for k, name in enumerate(classes)}
    truth = np.array([place[str(name)] for name in test[test.columns[-1]]])
    own = np.asarray(chances, np.float64)[np.arange(len(truth)), truth]
    result = {
        "log_loss": float(-np.log(np.clip(own, CLIP, 1)).mean()),
        "accuracy": float((np.asarray(chances).argmax(axis=1) == truth).mean()),
        "fit": fitted,
        "predict": asked,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
