"""Copies of rows are held out together, and said; rows that repeat by nature are dealt one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.conftest import run_here as run

import likely


def noisy(rows: int, seed: int) -> dict[str, list[Any]]:
    """Six numbers, of which two tell something."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 6))
    score = x[:, 0] + 0.5 * x[:, 1] + 1.5 * rng.normal(size=rows)
    return {**{f"x{k}": x[:, k].tolist() for k in range(6)}, "y": np.where(score > 0, "a", "b").tolist()}


ONCE, FRESH = noisy(300, 1), noisy(5000, 2)
FIVE = {name: cells * 5 for name, cells in ONCE.items()}


def accuracy(model: Any) -> float:
    said = model.posterior(FRESH)
    return float(np.mean(np.array(said.classes)[said.matrix.argmax(axis=1)] == np.array(FRESH["y"])))


@pytest.mark.parametrize("learner", [None, likely.Additive(), likely.Neighbors(k=1)], ids=["Auto", "Additive", "1-NN"])
def test_an_oversampled_table_promises_what_new_rows_keep(learner: Any) -> None:
    record = likely.look(FIVE, "y", learner, picture=True)
    assert record.model is not None
    assert record.scores.accuracy == pytest.approx(accuracy(record.model), abs=0.05)
    told = [w for w in record.warnings if "100.0 % of the rows have a copy" in w and "held out together" in w]
    assert len(told) == 1 and not any("have a copy" in note for note in record.notes)
    # Five copies say no more than one.
    once = likely.look(ONCE, "y", learner).intervals.accuracy
    five = record.intervals.accuracy
    assert five.high - five.low > 0.8 * (once.high - once.low)


def test_fit_compare_and_curve_hold_copies_out_together(tmp_path: Path) -> None:
    model = likely.fit(FIVE, "y")
    assert model.held_out is not None and model.held_out.hits == pytest.approx(accuracy(model), abs=0.05)
    assert any("100.0 % of the rows have a copy" in note for note in model.notes)
    pq.write_table(pa.table(FIVE), table := tmp_path / "five.parquet")
    compared = run("compare", table, "y", "--learner", "Neighbors(k=1)", "--learner", "Prior").done().out
    curved = run("curve", table, "y", "--learner", "Neighbors", "--set", "k=1", "--steps", "3").done().out
    assert "have a copy" in " ".join(compared.split()) and "have a copy" in " ".join(curved.split())
    shares = [one.scores.accuracy for one in likely.compare(FIVE, "y", ["Neighbors(k=1)", "Prior"]).learners]
    shares += [point.accuracy.value for point in likely.curve(FIVE, "y", likely.Neighbors(k=1), steps=3).points]
    assert max(shares) < 0.7


def test_rows_weighed_five_are_the_same_as_rows_five_times() -> None:
    weighed = likely.fit({**ONCE, "w": [5.0] * 300}, "y", weight="w")
    assert weighed.held_out is not None and weighed.held_out.hits == pytest.approx(accuracy(weighed), abs=0.05)


def test_a_few_copies_are_held_out_together_too() -> None:
    table = {name: cells + cells[:60] for name, cells in ONCE.items()}
    record = likely.look(table, "y", likely.Neighbors(k=1))
    assert any("33.3 % of the rows have a copy" in w for w in record.warnings)
    plain = likely.look(ONCE, "y", likely.Neighbors(k=1))
    assert not any("copy" in w for w in plain.warnings)


def test_rows_of_few_levels_repeat_by_nature() -> None:
    """What they mean is learned from their equals: held out together, they would be predicted by chance."""
    rng = np.random.default_rng(0)
    a, b, c = (rng.choice(list("uv"), 400) for _ in range(3))
    table = {"a": a.tolist(), "b": b.tolist(), "c": c.tolist(),
             "y": np.where((a == b) ^ (c == "u"), "on", "off").tolist()}  # fmt: skip
    for learner in (None, likely.FullBayes()):
        record = likely.look(table, "y", learner)
        assert record.scores.accuracy == 1.0 and not any("copy" in w for w in record.warnings)
    # Columns that depend on each other repeat more than chance would make them, and yet by nature.
    bound = {f"k{j}": a.tolist() for j in range(8)} | {"y": np.where(b == "u", "on", "off").tolist()}
    assert not any("held out together" in w for w in likely.look(bound, "y", likely.FullBayes()).warnings)


def test_a_row_that_makes_up_much_of_the_table_is_dealt_one_by_one() -> None:
    """Nobody's measurements: many rows of zeros among others. Held out together, nothing would be known of them."""
    rng = np.random.default_rng(3)
    zero = rng.random(1000) < 0.3
    x = np.where(zero[:, None], 0.0, rng.normal(size=(1000, 3)))
    y = np.where(zero, "idle", np.where(x[:, 0] > 0, "up", "down"))
    table = {**{f"x{k}": x[:, k].tolist() for k in range(3)}, "y": y.tolist()}
    model = likely.fit(table, "y")
    assert model.held_out is not None and model.held_out.hits > 0.9
