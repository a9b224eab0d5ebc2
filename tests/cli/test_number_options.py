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


def test_a_width_of_a_column_and_shares_of_levels(run, write, tmp_path) -> None:
    """--bandwidth in units of a column, and --level-weights: (n + m p) / (N + m) with p as given."""
    write("t.csv", "x,s,y\n1.5,u,a\n2.25,u,a\n4,v,a\n7,w,b\n8,u,b\n8.5,v,b\n")
    widths = ("--numbers", "kernel", "--bandwidth", "x=0.5", "--type", "x=number")
    shares = (
        "--m-estimate",
        4,
        "--level-weights",
        "s:u=0.5",
        "--level-weights",
        "s:v=0.25",
        "--level-weights",
        "s:w=0.25",
    )
    run("fit", "t.csv", "y", *widths, *shares, "-o", "m.likely").done()
    model = likely.load(tmp_path / "m.likely")
    assert model.learner.bandwidth == {"x": 0.5}
    assert "5/7" not in run("show", "m.likely", "s", "--fractions").done().out
    (table,) = likely.tables(model, attribute="s")
    assert [str(row.smoothed[0].value) for row in table.rows] == [
        "4/7",
        "2/7",
        "1/7",
    ]  # (2 + 2) / 7, (1 + 1) / 7, 1 / 7
    run("fit", "t.csv", "y", "--level-weights", "u=0.5", "-o", "m.likely").refused("no colon")
    run("fit", "t.csv", "y", *widths[:3], "x=none", "-o", "m.likely").refused("bandwidth is 'none'")
