"""How long the classes with scikit-learn's names take beside scikit-learn's: ratios of CPU time on one thread.

Run from the top folder: python benchmarks/drop_in.py
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.naive_bayes as theirs

import likely.sklearn as ours

ONE = dict.fromkeys(("LIKELY_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
ROWS, COLUMNS, TURNS = 100_000, 20, 5


def seconds(one: Callable[[], Any], two: Callable[[], Any]) -> tuple[float, float]:
    """The least CPU time of each, taken in turns."""
    best = [np.inf, np.inf]
    for _ in range(TURNS):
        for k, work in enumerate((one, two)):
            start = time.process_time()
            work()
            best[k] = min(best[k], time.process_time() - start)
    return best[0], best[1]


def main() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, ROWS)
    numbers = rng.normal(size=(ROWS, COLUMNS)) + 0.3 * y[:, None]
    levels = rng.integers(0, 6, (ROWS, COLUMNS))
    pairs: list[tuple[Any, Any, Any]] = [
        (ours.GaussianNB(), theirs.GaussianNB(), numbers),
        (ours.CategoricalNB(), theirs.CategoricalNB(), levels),
        (ours.MultinomialNB(), theirs.MultinomialNB(), levels),
        (ours.BernoulliNB(), theirs.BernoulliNB(), numbers),
        (ours.ComplementNB(), theirs.ComplementNB(), levels),
        (ours.NaiveBayesClassifier(), theirs.GaussianNB(), numbers),
        (ours.NaiveBayesClassifier(), theirs.CategoricalNB(), levels),
    ]
    print(f"{'likely.sklearn':22}{'beside':16}{'fit':>6}{'predict_proba':>16}")
    for mine, peer, x in pairs:
        mine.fit(x[:1000], y[:1000]).predict_proba(x[:1000])  # everything is loaded
        fit = seconds(lambda: mine.fit(x, y), lambda: peer.fit(x, y))  # noqa: B023 - used up within the loop
        ask = seconds(lambda: mine.predict_proba(x), lambda: peer.predict_proba(x))  # noqa: B023
        names = f"{type(mine).__name__:22}{type(peer).__name__:16}"
        print(f"{names}{fit[0] / fit[1]:6.2f}{ask[0] / ask[1]:16.2f}")


if __name__ == "__main__":
    if os.environ | ONE != os.environ:  # libraries look at these when they are loaded
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | ONE)
    main()
