"""Runs scikit-learn's own checks of an estimator on each of ours, in a process of its own; prints what did not pass.

A process of its own, because the checks of the array API are skipped unless a variable is set before scipy is imported.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from typing import Any

if __name__ == "__main__":  # whoever only looks for examples in this file keeps its environment
    os.environ["SCIPY_ARRAY_API"] = "1"

from sklearn.utils.estimator_checks import check_estimator

import likely.sklearn as faces

WHOLE = (
    "FullBayesClassifier",
    "NeighborsClassifier",
    "DensityEstimator",
    "LogisticClassifier",
    "LeastSquaresRegressor",
)
"""These are also checked on whole numbers, of which the core makes levels."""
REAL = ("NaiveBayesClassifier", "TextLogisticClassifier")
"""These say that they take categories, so that they are given whole numbers; they are also checked on other numbers."""


QUICK: dict[str, dict[str, Any]] = {
    "AutoClassifier": {"effort": "quick", "parts": 2},
    "TunedNaiveBayesClassifier": {"parts": 2},
    "AdditiveClassifier": {"rounds": 30},
    "ForestClassifier": {"trees": 20},
    "PoolClassifier": {"members": ("NaiveBayes", "Logistic"), "parts": 2},
}
"""Settings for estimators that would otherwise try a whole family, or grow many trees, in each of their checks; a pool
must be told its members."""


def outcomes(estimator: Any) -> tuple[int, list[str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(estimator, on_fail=None, on_skip=None)
    bad = [f"{r['check_name']} {r['status']}: {r['exception']}" for r in found if r["status"] != "passed"]
    return len(found), bad


def with_categories(name: str, takes: bool) -> Any:
    """The estimator as one that says it takes categories, so that it is given whole numbers; or that it does not."""
    plain = getattr(faces, name)

    class Other(plain):  # type: ignore[misc, valid-type]
        __init__ = plain.__init__

        def __sklearn_tags__(self) -> Any:
            tags = super().__sklearn_tags__()
            tags.input_tags.categorical = takes
            return tags

    # Where a pickle looks for it.
    Other.__name__ = Other.__qualname__ = f"{name}OnOtherNumbers"
    globals()[Other.__name__] = Other
    return Other()


if __name__ == "__main__":
    if sys.argv[1] == "as they are":
        told = {name: outcomes(getattr(faces, name)(**QUICK.get(name, {}))) for name in faces.__all__}
    else:
        told = {f"{name} on whole numbers": outcomes(with_categories(name, True)) for name in WHOLE}
        told |= {f"{name} on other numbers": outcomes(with_categories(name, False)) for name in REAL}
    print(json.dumps(told))
