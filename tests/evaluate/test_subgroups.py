"""Scores by subgroup: sums over the rows of each level, whoever judged, and however rows were read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import likely
from likely.evaluate.scores.intervals import wilson
from likely.evaluate.scores.scores import HeldOutRows
from likely.evaluate.scores.subgroups import find_subgroups
from likely.table.batch import Codes
from likely.table.labels import Labels

PENGUINS = "examples/penguins.csv"


def rows_of(weight: list[float], squares: list[float] | None = None) -> HeldOutRows:
    """Five rows: P(a) is 3/4, 3/4, 1/4, 1/4, 1/2 and the truth a, b, b, b, a; the last two have no level."""
    odds = np.log([3.0, 3.0, 1 / 3, 1 / 3, 1.0])
    codes = np.array([1, 1, 0, -1, -1], np.int8)
    return HeldOutRows(
        ("a", "b"),
        np.arange(5),
        np.array([0, 1, 1, 1, 0], np.int32),
        np.array(weight),
        np.column_stack([odds, -odds]),
        np.zeros(5, np.int32),
        cells={"g": Codes(codes, Labels(["few", "many"]))},
        squares=None if squares is None else np.array(squares),
    )


def test_figures_are_those_of_the_rows() -> None:
    (found,) = find_subgroups(rows_of([1.0] * 5), "a", 1.0)
    assert (found.attribute, found.of) == ("g", "a")
    many, few, missing = found.groups
    assert [g.level for g in found.groups] == ["many", "few", None]
    assert [g.rows for g in found.groups] == [2.0, 1.0, 2.0]
    assert many.accuracy.value == 0.5 and (many.accuracy.low, many.accuracy.high) == wilson(0.5, 2)
    assert (many.predicted, many.actual.value, many.gap.value) == (0.75, 0.5, 0.25)
    assert few.accuracy.value == 1.0 and few.gap.low is None  # of a single row there are no bounds of a mean
    assert missing.accuracy.value == 1.0 and missing.actual.value == 0.5
    assert all(g.small for g in found.groups)


def test_rows_that_weigh_more_and_rows_that_were_put_together() -> None:
    weighed, together = rows_of([2.0] * 5), rows_of([40.0] * 5, [40.0] * 5)
    one, forty = (find_subgroups(rows, "a", 2.0)[0].groups[0] for rows in (weighed, together))
    assert (one.accuracy.low, one.accuracy.high) == wilson(0.5, 2 / 2)  # two rows are two, whatever each weighs
    assert (forty.accuracy.low, forty.accuracy.high) == wilson(0.5, 80 / 2)
    assert forty.rows == 80 and not forty.small and one.small


@pytest.mark.parametrize(
    "how", [{}, {"folds": 5}, {"learner": "NaiveBayes"}, {"leave_one_out": True, "learner": "OneRule"}]
)
def test_groups_add_up_to_all_rows(how: dict[str, Any]) -> None:
    record = likely.look(PENGUINS, "sex", **how)
    assert [own.attribute for own in record.subgroups] == ["species", "island", "year"]
    for own in record.subgroups:
        assert own.of == record.trust.positive
        rows = sum(g.rows for g in own.groups)
        assert rows == record.scores.rows
        right = sum(g.rows * (g.accuracy.value or 0.0) for g in own.groups)
        assert right / rows == pytest.approx(record.scores.accuracy, abs=1e-12)
        of = sum(g.rows * (g.actual.value or 0.0) for g in own.groups)
        assert of == pytest.approx(record.classes[own.of], abs=1e-9)
        assert all(g.gap.value == pytest.approx(g.predicted - (g.actual.value or 0.0)) for g in own.groups)


def test_threads_change_nothing() -> None:
    one, many = (likely.look(PENGUINS, "species", "NaiveBayes", threads=n).subgroups for n in (1, 4))
    assert one == many and one[0].attribute == "island"


def test_columns_of_many_levels_and_numbers_make_none() -> None:
    rng = np.random.default_rng(1)
    table = {
        "many": [f"v{k % 40}" for k in range(400)],
        "x": rng.normal(size=400).tolist(),
        "y": [("a", "b")[k % 2] for k in range(400)],
    }
    assert likely.look(table, "y", "NaiveBayes").subgroups == ()
