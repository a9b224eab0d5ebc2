"""Runs scikit-learn's own tests of its five naive Bayes classes against ours, and prints which fail and how many pass.

The tests are those of the installed scikit-learn; nothing of them is kept here. The names are exchanged before its
test file is imported, as a user would exchange an import line. Exits 1 where a test fails that is not explained below.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

# Before scipy is imported: without it scikit-learn skips its tests of arrays of other libraries.
os.environ["SCIPY_ARRAY_API"] = "1"

import pytest
import sklearn
import sklearn.naive_bayes as theirs

import likely.sklearn as ours

NAMES = ("GaussianNB", "CategoricalNB", "MultinomialNB", "BernoulliNB", "ComplementNB")
EXPLAINED = {
    "test_gnb_check_update_with_no_data": "calls a private method that updates means: sums need none",
}


class Outcomes:
    """Collects what became of each test."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {}
        self.reasons: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or (report.when == "setup" and report.outcome != "passed"):
            name = report.nodeid.partition("::")[2].partition("[")[0]
            self.counts.setdefault(name, Counter())[report.outcome] += 1
            if report.outcome == "failed":
                self.reasons[name] = str(report.longrepr).strip().splitlines()[-1]


def main() -> int:
    for name in NAMES:
        setattr(theirs, name, getattr(ours, name))
    tests = Path(sklearn.__file__).parent / "tests" / "test_naive_bayes.py"
    found, said = Outcomes(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        # The settings of this project must not meet those tests.
        alone = ["-c", os.devnull, f"--rootdir={tests.parent}", "-p", "no:cacheprovider"]
        pytest.main([str(tests), "-q", *alone], plugins=[found])
    if not found.counts:
        print(said.getvalue(), file=sys.stderr)
        return 1
    print(f"{'test of scikit-learn':52}  passed  of")
    unexplained = 0
    for name, count in found.counts.items():
        ran = count["passed"] + count["failed"]
        why = EXPLAINED.get(name, "")
        unexplained += count["failed"] > 0 and not why
        if count["failed"]:
            print(f"{name:52}  {count['passed']:6}  {ran:2}  {why}".rstrip())
        if count["failed"] and not why:
            print(f"  {found.reasons[name]}")
    total: Counter[str] = sum(found.counts.values(), Counter())
    print(f"{'together':52}  {total['passed']:6}  {total['passed'] + total['failed']:2}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
