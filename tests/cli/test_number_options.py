"""Options for numbers on the command line: --numbers, --bandwidth, --bins, --bin-count, --bins-closed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import likely


def fitted(run: Any, examples: Path, *options: str) -> Any:
    run("fit", examples / "iris.csv", "species", "-o", "m.likely", *options).done()
    return likely.load("m.likely").learner


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), {}),
        (("--numbers", "kernel"), {"numbers": "kernel"}),
        (("--numbers", "kernel", "--bandwidth", "likelihood"), {"numbers": "kernel", "bandwidth": "likelihood"}),
        (
            ("--numbers", "petal_width=kernel", "--bandwidth", "0.5"),
            {"numbers": {"petal_width": "kernel"}, "bandwidth": 0.5},
        ),
        (
            ("--numbers", "binned", "--numbers", "petal_width=kernel", "--bins", "width", "--bin-count", "5"),
            {"numbers": {"*": "binned", "petal_width": "kernel"}, "bins": "width", "bin_count": 5},
        ),
        (
            (
                "--numbers",
                "binned",
                "--bins",
                "frequency",
                "--bins",
                "sepal_length=5.2,6.1,7",
                "--bins-closed",
                "right",
            ),
            {
                "numbers": "binned",
                "bins": {"*": "frequency", "sepal_length": (5.2, 6.1, 7.0)},
                "bins_closed": "right",
            },
        ),
    ],
)
def test_options_become_settings(run: Any, examples: Path, options: Any, expected: Any) -> None:
    assert fitted(run, examples, "--learner", "NaiveBayes", *options) == likely.NaiveBayes(**expected)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--numbers", "normal"), "numbers is 'normal'"),
        (("--bandwidth", "wide"), "bandwidth is 'wide'"),
        (("--numbers", "binned", "--bins", "sepal_length=2,1"), "Put the edges in order"),
        (("--numbers", "binned", "--bins", "sepal_length=a,b"), "bins of 'sepal_length' is 'a,b'"),
        (("--bins", "sepal_length=2"), "There are bins for 'sepal_length', which is gaussian"),
    ],
)
def test_options_that_make_no_sense_are_told(run: Any, examples: Path, options: Any, words: str) -> None:
    run("fit", examples / "iris.csv", "species", "-o", "m.likely", *options).refused(words)
