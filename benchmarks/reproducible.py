"""Whether boosted models are the same bits when fitted again, on two threads, and on the rows in another order.

Whichever of likely, LightGBM, XGBoost, scikit-learn and interpret are installed are asked, all of the same numbers
(levels as numbers). Run: `python benchmarks/reproducible.py adult.csv income [rows, 0 for all [beginning of a name]]`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd


def read_table(path: str, target: str, rows: int) -> tuple[Any, Any]:
    """The table as floats, and its classes as numbers; a number as target is cut at its mean."""
    table = pd.read_parquet(path) if path.endswith(".parquet") else pd.read_csv(path, na_values="?")
    table = table.dropna(subset=[target]).iloc[: rows or None].reset_index(drop=True)
    y = table.pop(target)
    amount = pd.api.types.is_numeric_dtype(y) and y.nunique() > 20
    classes = (y > y.mean()).to_numpy(int) if amount else y.astype("category").cat.codes
    for name in table.columns:
        if not pd.api.types.is_numeric_dtype(table[name]):
            table[name] = table[name].astype("category").cat.codes.astype(float)
    return table.to_numpy(float), np.asarray(classes)


def libraries() -> Iterator[tuple[str, Callable[[int, Any, Any, Any], Any]]]:
    """Each library that is installed: its name, and a function from threads, rows, classes and questions to answers."""
    try:
        import lightgbm

        for name, more in (("", {}), (", deterministic", {"deterministic": True, "force_row_wise": True})):
            yield (
                f"LightGBM {lightgbm.__version__}{name}",
                lambda t, X, y, Q, more=more: (
                    lightgbm.LGBMClassifier(n_jobs=t, verbose=-1, **more).fit(X, y).predict_proba(Q)
                ),
            )
    except ImportError:
        pass
    try:
        import xgboost

        yield (
            f"XGBoost {xgboost.__version__}",
            lambda t, X, y, Q: xgboost.XGBClassifier(n_jobs=t).fit(X, y).predict_proba(Q),
        )
    except ImportError:
        pass
    try:
        import sklearn
        import threadpoolctl
        from sklearn.ensemble import HistGradientBoostingClassifier

        def hist(t: int, X: Any, y: Any, Q: Any) -> Any:
            with threadpoolctl.threadpool_limits(t):
                return HistGradientBoostingClassifier(random_state=0).fit(X, y).predict_proba(Q)

        yield f"HistGradientBoosting {sklearn.__version__}", hist
    except ImportError:
        pass
    try:
        import interpret
        from interpret.glassbox import ExplainableBoostingClassifier

        yield (
            f"EBM {interpret.__version__}",
            lambda t, X, y, Q: (
                ExplainableBoostingClassifier(n_jobs=t, random_state=0, outer_bags=4).fit(X, y).predict_proba(Q)
            ),
        )
    except ImportError:
        pass
    try:
        import likely

        def additive(t: int, X: Any, y: Any, Q: Any) -> Any:
            cells = {f"x{k}": column for k, column in enumerate(X.T)}
            model = likely.fit({**cells, "y": [f"c{k}" for k in y]}, "y", likely.Additive(), threads=t)
            return model.posterior({f"x{k}": column for k, column in enumerate(Q.T)}).matrix

        yield f"likely {likely.__version__} Additive", additive
    except ImportError:
        pass


def main() -> None:
    """Print a line for each library and change."""
    path, target, *more = sys.argv[1:]
    X, y = read_table(path, target, int(more[0]) if more else 0)
    order = np.random.default_rng(1).permutation(len(X))
    print(f"{len(X):,} rows, {X.shape[1]} columns")
    for name, answers in libraries():
        if not name.startswith(more[1] if len(more) > 1 else ""):
            continue
        first = answers(1, X, y, X)
        changes = (
            ("again", answers(1, X, y, X)),
            ("two threads", answers(2, X, y, X)),
            ("rows in another order", answers(1, X[order], y[order], X)),
        )
        for what, found in changes:
            differs = (found != first).any(axis=1)
            most = np.abs(found - first).max()
            print(f"{name} | {what} | {differs.sum():,} rows differ, most by {most:.2g}", flush=True)


if __name__ == "__main__":
    main()
