"""Forest: what trees say is a function of the rows alone, is told attribute by attribute, and adds up to the answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import likely
from likely.testing import check_learner

Rows = dict[str, list[Any]]


def board(rows: int = 1200, classes: int = 2, seed: int = 3) -> Rows:
    """Two numbers whose classes are the cells of a board, a level that helps a little, noise, and gaps."""
    rng = np.random.default_rng(seed)
    x, y = rng.random(rows), rng.random(rows)
    which = ((x > 0.5).astype(int) + (y > 0.5) * (1 if classes == 2 else 2)) % classes
    sky = np.where(rng.random(rows) < 0.3, which, rng.integers(0, 4, rows))
    out: Rows = {
        "x": x.tolist(),
        "y": y.tolist(),
        "sky": [f"s{k}" for k in sky],
        "noise": rng.normal(size=rows).tolist(),
    }
    for name in ("sky", "noise"):
        gone = rng.random(rows) < 0.1
        out[name] = [None if g else v for g, v in zip(gone, out[name], strict=True)]
    return {**out, "t": [f"c{k}" for k in which]}


def taken(table: Rows, places: Any) -> Rows:
    return {name: [column[k] for k in places] for name, column in table.items()}


def chance(model: likely.Model, row: dict[str, Any], label: str) -> float:
    return float(model.posterior(row).matrix[0, model.classes.index(label)])


def test_the_contract_of_a_learner() -> None:
    check_learner(likely.Forest(trees=8, leaves=12), taken(board(), range(150)), "t")


@pytest.mark.parametrize("classes", [2, 4])
def test_a_checkerboard_is_learned(classes: int) -> None:
    model, new = likely.fit(board(classes=classes), "t", likely.Forest()), board(600, classes, seed=4)
    truth = new.pop("t")
    assert np.mean([said == t for said, t in zip(model.predict(new), truth, strict=True)]) > 0.9


def test_no_order_of_rows_and_no_batches_change_a_bit() -> None:
    table, learner = board(500), likely.Forest(trees=20)
    other = taken(table, np.random.default_rng(0).permutation(500))
    found = likely.fit(table, "t", learner).state["values"]
    assert likely.fit(other, "t", learner).state["values"].tobytes() == found.tobytes()
    cut = likely.fit(pa.Table.from_batches(pa.table(other).to_batches(max_chunksize=37)), "t", learner)
    assert cut.state["values"].tobytes() == found.tobytes()
    assert likely.fit(table, "t", likely.Forest(trees=20, seed=1)).state["values"].tobytes() != found.tobytes()


def test_a_row_of_weight_two_is_the_row_twice() -> None:
    table, learner = board(400), likely.Forest(trees=20)
    twice = likely.fit(taken(table, [*range(400), *range(0, 400, 3)]), "t", learner)
    heavy = {**table, "w": [2 if k % 3 == 0 else 1 for k in range(400)]}
    weighed = likely.fit(heavy, "t", learner, weight="w")
    for name in ("roots", "axis", "below", "left", "values"):
        assert weighed.state[name].tobytes() == twice.state[name].tobytes()


def test_the_lines_of_attributes_add_up_to_what_the_trees_say() -> None:
    model = likely.fit(board(classes=4), "t", likely.Forest(trees=30))
    for row in ({"x": 0.1, "y": 0.9, "sky": "s2", "noise": 0.4}, {"x": 0.7, "sky": "s1"}, {"y": 0.2, "sky": "new"}, {}):
        (batch,) = model.batches(model.table_of_one(row))
        joint = model.log_joint(batch)[0]
        ledger = likely.explain(model, row)
        total = np.sum([list(entry.log_values.values()) for entry in ledger.entries], axis=0)
        np.testing.assert_allclose(total, joint, rtol=0, atol=1e-12)
        lines = {entry.name for entry in ledger.entries if entry.kind == "value" and any(entry.log_values.values())}
        assert lines == {name for name in row if row[name] != "new"}
        assert not [entry for entry in ledger.entries if entry.kind in ("rest", "block")]
    (batch,) = model.batches(model.table_of_one({}))
    assert model.log_joint(batch)[0].tobytes() == model.log_prior.tobytes()


def test_a_pool_tells_the_lines_of_its_forest() -> None:
    members = (likely.NaiveBayes(), likely.Additive(order="any", rounds=30), likely.Forest(trees=20))
    model = likely.fit(board(), "t", likely.Pool(members, weights=(0.2, 0.5, 0.6)))
    row = {"x": 0.1, "y": 0.9, "sky": "s2", "noise": 0.4}
    (batch,) = model.batches(model.table_of_one(row))
    entries = likely.explain(model, row).entries
    total = np.sum([list(entry.log_values.values()) for entry in entries], axis=0)
    np.testing.assert_allclose(total, model.log_joint(batch)[0], rtol=0, atol=1e-12)
    assert {"x", "y", "sky", "noise"} <= {entry.name for entry in entries}
    assert not [entry for entry in entries if entry.kind == "rest"]
    chosen = likely.fit(board(), "t", likely.Auto(members=("NaiveBayes", likely.Forest(trees=20))))
    assert any(isinstance(member.learner, likely.Forest) for member in chosen.members)


def test_half_a_row_is_averaged_over_the_rest() -> None:
    model = likely.fit(board(), "t", likely.Forest(trees=30))
    assert model.references is not None
    table = board()
    left = [t for x, t in zip(table["x"], table["t"], strict=True) if x < 0.1]
    assert chance(model, {"x": 0.05}, "c1") == pytest.approx(left.count("c1") / len(left), abs=0.1)
    assert chance(model, {"x": 0.05, "y": 0.9}, "c1") > 0.8


def test_classes_and_attributes_that_say_nothing() -> None:
    plain: Rows = {"x": [1.0, 2.0, 3.0, 4.0] * 5, "one": ["a"] * 20, "gone": [None] * 20, "t": ["u", "u", "v", "v"] * 5}
    model = likely.fit(plain, "t", likely.Forest(trees=5), types={"gone": "number", "one": "nominal"})
    assert [term.names for term in model.score.terms] == [("x",)]
    single = likely.fit({**plain, "t": ["u"] * 20}, "t", likely.Forest(trees=5))
    assert single.predict({"x": 1.0}) == "u" and not single.state
    same = likely.fit({"x": [1.0] * 20, "t": plain["t"]}, "t", likely.Forest(trees=5), types={"x": "number"})
    assert not same.score.terms and chance(same, {"x": 1.0}, "u") == 0.5
    rare = likely.fit({"x": [1.0] * 19 + [9.0], "t": ["u"] * 19 + ["v"]}, "t", likely.Forest(trees=5, m_estimate=0.5))
    assert rare.predict({"x": 9.0}) == "v"
    empty = likely.fit(plain | {"w": [1, 1, 0, 0] * 5}, "t", likely.Forest(trees=5), weight="w")
    assert empty.predict({"x": 4.0}) == "u"


def test_most_rows_are_those_with_the_smallest_hashes() -> None:
    model = likely.fit(board(), "t", likely.Forest(trees=5, most_rows=200))
    assert any("Learned from 200 of the different rows" in note for note in model.notes)
    assert model.posterior({}).matrix[0].tolist() == pytest.approx(
        [np.mean([t == c for t in board()["t"]]) for c in ("c0", "c1")]
    )
