"""Decisions about whole tables: streamed in several batches, the same as row by row; a file appears whole or not."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likely
from likely.apply.decide.decider import decide_table, decider
from likely.errors import ColumnError
from likely.intake.reading import Reading

LOSS = {"no [red]": {'go "out"': 5}, "yes, é": {"stay=home": 1}}
RNG = np.random.default_rng(2)
ROWS = 1000


@pytest.fixture(scope="module")
def table() -> dict:
    target = RNG.choice(list(LOSS), ROWS)
    return {
        "sky": np.where(RNG.random(ROWS) < 0.6, target, "fog").tolist(),
        "x": [None if k % 11 == 0 else float(v) for k, v in enumerate(RNG.normal(size=ROWS))],
        "play": target.tolist(),
    }


def test_batches_of_parquet_give_what_rows_give(table: dict, tmp_path: Path) -> None:
    model = likely.fit(table, "play", likely.NaiveBayes(), loss=LOSS)
    pq.write_table(pa.table(table), tmp_path / "rows.parquet", row_group_size=64)
    settings = {"prior": {"no [red]": 0.3}, "missing_by": "averaged", "unlike": 0.01, "training": table}
    how = decider(model, **settings)
    seen: list[int] = []
    done = decide_table(how, str(tmp_path / "rows.parquet"), str(tmp_path / "out.csv"), Reading(progress=seen.append))
    whole = likely.decide(model, table, **settings)
    with open(tmp_path / "out.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert done.rows == len(rows) == ROWS
    assert list(rows[0]) == ["action", 'loss(go "out")', "loss(stay=home)", "margin", "reason"]
    assert [r["action"] for r in rows] == whole.action
    assert [float(r["margin"]) for r in rows] == whole.margin.tolist()
    assert [float(r['loss(go "out")']) for r in rows] == whole.expected_loss('go "out"').tolist()
    assert done.strange == sum(r["reason"] == "unlike the training rows" for r in rows) > 0
    assert sum(done.chosen.values()) + done.strange == ROWS
    handed: list[int] = []
    decide_table(how, table, None, each=lambda d: handed.append(len(d)))
    assert sum(handed) == ROWS


def test_rows_without_an_action_are_empty_cells_with_a_reason(tmp_path: Path) -> None:
    table = {"k": ["u", "v"] * 5, "j": ["s", "t"] * 5, "y": ["a", "b"] * 5}
    how = decider(likely.fit(table, "y", likely.NaiveBayes(pseudo_count=0)))
    done = decide_table(how, {"k": ["u", "u"], "j": ["s", "t"]}, str(tmp_path / "out.csv"), keep=True)
    assert (tmp_path / "out.csv").read_text() == (
        "k,j,action,loss(a),loss(b),margin,reason\nu,s,a,0,1,1,\nu,t,,,,,every class is impossible\n"
    )
    assert done.undecided == 1 and "every class is impossible" in done.remarks[-1]
    decide_table(how, {"k": ["u", "u"], "j": ["s", "t"]}, str(tmp_path / "out.parquet"))
    assert pq.read_table(tmp_path / "out.parquet")["action"].to_pylist() == ["a", None]


def test_no_rows_are_a_header_alone(tmp_path: Path) -> None:
    how = decider(likely.fit({"k": ["u", "v"] * 5, "y": ["a", "b"] * 5}, "y"))
    (tmp_path / "none.csv").write_text("k\n")
    done = decide_table(how, str(tmp_path / "none.csv"), str(tmp_path / "out.csv"))
    assert done.rows == 0 and (tmp_path / "out.csv").read_text() == "action,loss(a),loss(b),margin,reason\n"


def test_kept_columns_must_not_be_hidden(tmp_path: Path) -> None:
    how = decider(likely.fit({"k": ["u", "v"] * 5, "y": ["a", "b"] * 5}, "y"))
    with pytest.raises(ColumnError, match="already has a column 'margin'"):
        decide_table(how, {"k": ["u"], "margin": [1]}, str(tmp_path / "out.csv"), keep=True)
    assert not (tmp_path / "out.csv").exists()


def test_scores_that_are_no_probabilities_are_told(table: dict, tmp_path: Path) -> None:
    how = decider(likely.fit(table, "play", likely.LeastSquares()), LOSS)
    assert any("not probabilities" in r for r in decide_table(how, table, str(tmp_path / "o.csv")).remarks)
