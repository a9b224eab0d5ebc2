"""Additive where the rows are: the model of one machine to the last bit, however rows are cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from spark.rows import frame

import likely
import likely.spark
from likely.models.additive import additive, boosting
from likely.spark import together
from likely.sums import state


def flights(rows: int, seed: int) -> pa.Table:
    """Two classes, levels, and rows that are often equal."""
    rng = np.random.default_rng(seed)
    place, hour = rng.integers(0, 12, rows), rng.integers(0, 24, rows)
    late = rng.random(rows) < 0.2 + 0.5 * (place % 3 == hour % 3)
    days = rng.choice(["Mon", "Tue", "Sun"], rows)
    return pa.table(
        {"place": [f"p{k}" for k in place], "hour": hour, "day": days, "y": np.where(late, "late", "in time")}
    )


def numbers(rows: int, seed: int) -> pa.Table:
    """Several classes, numbers, and missing cells."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, rows))
    y = (x + z * (x > 0) + rng.normal(size=rows) / 2 > [[-0.5], [0.5]]).sum(axis=0)
    return pa.table(
        {
            "x": pa.array(x, mask=rng.random(rows) < 0.1),
            "z": np.round(z, 2),
            "k": pa.array(rng.choice(["a", "b", "c"], rows), mask=rng.random(rows) < 0.05),
            "y": pa.array(np.array(["low", "middle", "high"])[y], mask=rng.random(rows) < 0.01),
        }
    )


def weighed(rows: int, seed: int) -> pa.Table:
    """Weights that are no whole numbers, and some that are 0."""
    return flights(rows, seed).append_column("w", pa.array(np.random.default_rng(seed).choice([0.0, 0.1, 1.7], rows)))


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few rows are many here."""
    monkeypatch.setattr(boosting, "MOST_TRIED", 300)
    monkeypatch.setattr(additive, "MOST_HOME", 300)
    monkeypatch.setattr(together, "LEAST_ROWS", 500)


@pytest.fixture
def worked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """In how many places tasks worked together, each time."""
    found: list[int] = []
    work = together.work_together

    def noted(spread: Any, sweep: Any, summary: Any, places: int) -> Any:
        found.append(places)
        return work(spread, sweep, summary, places)

    monkeypatch.setattr("likely.spark.folding.work_together", noted)
    return found


def bits(model: likely.Model) -> bytes:
    return state.dump({"summary": model.summary.state(), "found": model.state, "notes": list(model.notes)})


TABLES = [
    pytest.param(weighed, {"weight": "w"}, 4, id="weights"),
    pytest.param(weighed, {"weight": "w"}, 32, id="weights, long", marks=pytest.mark.long),
    pytest.param(flights, {}, 32, id="levels", marks=pytest.mark.long),
    pytest.param(numbers, {}, 32, id="numbers", marks=pytest.mark.long),
]


@pytest.mark.parametrize(("make", "more", "leaves"), TABLES)
def test_terms_are_those_of_one_machine_to_the_last_bit(
    spark: Any, make: Any, more: dict[str, Any], leaves: int, many: None, worked: list[int]
) -> None:
    """Few trees: an exchange takes a second."""
    table, learner = make(3_000, 7), likely.Additive(order="any", leaves=leaves, rounds=1 + leaves // 16)
    here = likely.fit(table, "y", learner, **more)
    rows = table.take(np.random.default_rng(1).permutation(len(table)))
    there = likely.spark.fit(frame(spark, rows, [0, 0, 1_000, 1_001, 3_000]), "y", learner, **more)
    assert bits(there) == bits(here)
    assert worked == [2]


def test_members_of_a_pool_go_one_after_the_other(spark: Any, many: None, worked: list[int]) -> None:
    table, learner = flights(3_000, 3), likely.Additive("any", rounds=1, leaves=2)
    pool = likely.Pool(members=(likely.NaiveBayes(), learner), weights=(0.5, 0.5))
    there = likely.spark.fit(frame(spark, table, [0, 1_000, 3_000]), "y", pool)
    assert bits(there) == bits(likely.fit(table, "y", pool))
    assert worked == [2]


def test_few_different_rows_come_home(spark: Any, many: None, worked: list[int]) -> None:
    table, learner = flights(3_000, 3).drop(["hour"]), likely.Additive(rounds=40)
    there = likely.spark.fit(frame(spark, table, [0, 1_000, 3_000]), "y", learner)
    assert bits(there) == bits(likely.fit(table, "y", learner))
    assert worked == [2]
