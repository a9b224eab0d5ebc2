"""Who likely is compared with on quality: five learners of scikit-learn; Khiops, LightGBM, XGBoost, CatBoost and
InterpretML's EBM in environments of their own.

Every one is given the same numbers and levels. Knows nothing of likely.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sets import TARGET, Codes, Set, own_environment
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

KHIOPS = ("khiops==11.0.1.1", "khiops-core==11.0.1")
TREES = {"Khiops": 10, "Khiops without trees": 0}
"""How many trees it makes attributes of: ten as it comes; without, it is a selective naive Bayes alone."""
BOOSTING = ("lightgbm==4.7.0", "xgboost==3.2.0", "catboost==1.2.10", "interpret-core==0.7.8", "pandas", "scikit-learn")
BOOSTERS = {
    "LightGBM": "lightgbm",
    "LightGBM, tempered": "lightgbm",
    "XGBoost": "xgboost",
    "CatBoost": "catboost",
    "EBM": "interpret",
}
"""As they come: no setting is tuned, for likely's neither; tempered by one temperature, found by four parts in turn."""
MOST_SECONDS = {"EBM": 300}
"""Of one fold; whoever takes longer has no result on that set."""
MISSING = "(missing)"
"""The level that stands for a missing one."""

Matrix = NDArray[np.float64]

SCIKIT: dict[str, Callable[[], Any]] = {
    "sklearn GaussianNB": GaussianNB,
    "sklearn LogisticRegression": lambda: LogisticRegression(max_iter=1000),
    "sklearn RandomForest(200)": lambda: RandomForestClassifier(200, random_state=0),
    "sklearn HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "sklearn KNeighbors(10)": lambda: KNeighborsClassifier(10),
}


@lru_cache(maxsize=1)
def frame(data: Set) -> pd.DataFrame:
    """The attributes as scikit-learn takes them: floats, and texts."""
    columns: dict[str, Any] = {}
    for name, cells in data.columns.items():
        if name in data.numeric:
            columns[name] = np.array([np.nan if c is None else float(c) for c in cells])
        else:
            columns[name] = np.array([MISSING if c is None else c for c in cells], object)
    return pd.DataFrame(columns)


def prepared(data: Set, learner: Any) -> Any:
    """The same preparation for all: numbers imputed by the median and standardised, levels one-hot."""
    numeric = [n for n in data.columns if n in data.numeric]
    nominal = [n for n in data.columns if n not in data.numeric]
    numbers = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    levels = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(make_column_transformer((numbers, numeric), (levels, nominal)), learner)


def by_scikit(name: str, data: Set, train: Codes, test: Codes) -> tuple[Matrix, float]:
    """P(class | row) of the test rows, and the seconds of learning and predicting."""
    whole = frame(data)
    learning, asking, target = whole.iloc[train], whole.iloc[test], data.codes[train]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        model = prepared(data, SCIKIT[name]()).fit(learning, target)
        found = model.predict_proba(asking)
        seconds = time.process_time() - start
    out = np.zeros((len(test), len(data.classes)))
    out[:, model.classes_] = found
    return out, seconds


# -- boosting -----------------------------------------------------------------------------------------------


class TooSlow(Exception):
    """It was not done in time."""


class Boosting:
    """A library of gradient boosting, in a process of its own; its seconds are the processor's."""

    def __init__(self, folder: Path, name: str) -> None:
        self._name = name
        self._python = own_environment(folder / "boosting", *BOOSTING)

    def __call__(self, data: Set, train: Codes, test: Codes) -> tuple[Matrix, float]:
        """P(class | row) of the test rows, and the seconds of learning and predicting."""
        told = {
            "columns": data.columns,
            "numeric": sorted(data.numeric),
            "classes": len(data.classes),
            "target": data.codes[train].tolist(),
            "train": train.tolist(),
            "test": test.tolist(),
        }
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            (folder / "set.json").write_text(json.dumps(told))
            env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
            program = [str(self._python), str(Path(__file__).with_name("boosting_run.py")), scratch, self._name]
            most = MOST_SECONDS.get(self._name)
            try:
                done = subprocess.run(program, env=env, capture_output=True, text=True, check=False, timeout=most)
            except subprocess.TimeoutExpired:
                raise TooSlow(f"not done in {most} seconds") from None
            if done.returncode:
                sys.exit(f"{self._name} failed on {data.name}:\n{done.stderr}")
            return np.load(folder / "predicted.npy"), float(done.stdout.split()[-1])


# -- Khiops -------------------------------------------------------------------------------------------------


class Khiops:
    """Khiops, called on files; one process, so that it is timed as the others are."""

    def __init__(self, folder: Path, trees: int) -> None:
        self._trees = str(trees)
        self._python = own_environment(folder / "khiops", *KHIOPS)

    def __call__(self, data: Set, train: Codes, test: Codes) -> tuple[Matrix, float]:
        """P(class | row) of the test rows, and the seconds of learning and predicting, files included."""
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            self._write(data, train, test, folder)
            return self._asked(data, folder)

    @staticmethod
    def _write(data: Set, train: Codes, test: Codes, folder: Path) -> None:
        kinds = {name: "Numerical" if name in data.numeric else "Categorical" for name in data.columns}
        lines = [f"\t{kind}\t{name};" for name, kind in (kinds | {TARGET: "Categorical"}).items()]
        (folder / "set.kdic").write_text("\n".join(["Dictionary\tSet", "{", *lines, "};", ""]))
        names = [f"k{code}" for code in data.codes]  # names without blanks or quotes
        for name, rows in (("train.txt", train), ("test.txt", test)):
            with (folder / name).open("w", newline="") as file:
                write = csv.writer(file, delimiter="\t", lineterminator="\n").writerow
                write([*data.columns, TARGET])
                for i in rows:
                    write([*("" if c[i] is None else c[i] for c in data.columns.values()), names[i]])

    def _asked(self, data: Set, folder: Path) -> tuple[Matrix, float]:
        # Its library looks for its programs on the path; with one process it starts no MPI.
        path = os.pathsep.join([str(self._python.parent), os.environ.get("PATH", "")])
        env = {**os.environ, "PATH": path, "KHIOPS_PROC_NUMBER": "1"}
        env.pop("PYTHONPATH", None)
        program = [str(self._python), str(Path(__file__).with_name("khiops_run.py")), str(folder), self._trees]
        done = subprocess.run(program, env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"Khiops failed on {data.name}:\n{done.stderr}")
        table = pd.read_csv(folder / "predicted.txt", sep="\t")
        out = np.zeros((len(table), len(data.classes)))
        for code in range(len(data.classes)):
            if (name := f"Prob{TARGET}k{code}") in table:
                out[:, code] = table[name]
        return out, float(done.stdout.split()[-1])
