"""Evidence folded: each attribute has its own term and its Shapley share of what several say together."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import likely

Row = dict[str, Any]


def board(rows: int = 900, seed: int = 1) -> dict[str, list[Any]]:
    """Four attributes of which three decide together, with a level that helps by itself."""
    rng = np.random.default_rng(seed)
    x, y = rng.random(rows), rng.random(rows)
    side, sky = rng.integers(0, 2, rows), rng.integers(0, 3, rows)
    odd = ((x > 0.5).astype(int) + (y > 0.4) + side) % 2
    which = np.where(rng.random(rows) < 0.15, sky % 2, odd)
    return {
        "x": x.round(3).tolist(),
        "y": y.round(3).tolist(),
        "side": [f"s{k}" for k in side],
        "sky": [f"k{k}" for k in sky],
        "t": [f"c{k}" for k in which],
    }


def by_orders(names: list[str], value: Callable[[frozenset[str]], float]) -> dict[str, float]:
    """The Shapley value by its definition: the mean gain over all orders of becoming known."""
    out = dict.fromkeys(names, 0.0)
    orders = list(permutations(names))
    for order in orders:
        for k, name in enumerate(order):
            out[name] += (value(frozenset(order[: k + 1])) - value(frozenset(order[:k]))) / len(orders)
    return out


def log_odds(model: likely.Model, row: Row) -> float:
    return likely.explain(model, row, of="c1", against="c0").log_odds or 0.0


ROWS: list[Row] = [
    {"x": 0.7, "y": 0.1, "side": "s1", "sky": "k2"},
    {"x": 0.2, "y": 0.9, "side": "s0", "sky": "k1"},
]


@pytest.mark.parametrize(
    "learner",
    [likely.Additive(order="any"), likely.Additive(order=2), likely.Additive(order=3), likely.Forest(trees=20)],
    ids=str,
)
@pytest.mark.parametrize("row", ROWS)
def test_lines_are_shapley_values_of_what_the_terms_say(learner: Any, row: Row) -> None:
    """Trees, pairs and tables say what they say where other cells are unknown: the game needs nothing but the score."""
    model = likely.fit(board(), "t", learner)

    def score(known: frozenset[str]) -> float:
        (batch,) = model.batches(model.table_of_one({n: row[n] for n in known}))
        return float(model.score.scored(batch)[0][0] @ [-1.0, 1.0])

    said = by_orders([*row], score)
    for entry in likely.explain(model, row, of="c1", against="c0").entries[1:]:
        assert entry.log_ratio == pytest.approx(said[entry.name], abs=1e-10)


@pytest.mark.parametrize("known", [("x", "sky"), ("y", "side", "sky")])
def test_of_a_partly_known_row_lines_are_shapley_values_of_the_answers(known: tuple[str, ...]) -> None:
    model = likely.fit(board(), "t")
    row = {name: ROWS[0][name] for name in known}
    ledger = likely.explain(model, row, of="c1", against="c0")
    said = by_orders([*known], lambda some: log_odds(model, {n: row[n] for n in some}))
    for entry in ledger.entries[1:]:
        assert (entry.log_ratio or 0.0) == pytest.approx(said.get(entry.name, 0.0), abs=1e-10)
    assert ledger.log_odds == pytest.approx(math.fsum(e.log_ratio or 0.0 for e in ledger.entries), abs=1e-10)
    assert "averaged over" in str(ledger)


def test_one_known_value_says_all_that_moves_the_answer() -> None:
    model = likely.fit(board(), "t")
    ledger = likely.explain(model, {"sky": "k1"}, of="c1", against="c0")
    line = next(e for e in ledger.entries if e.name == "sky")
    prior = ledger.entries[0].log_ratio or 0.0
    assert line.log_ratio == pytest.approx((ledger.log_odds or 0.0) - prior, abs=1e-12)


def test_a_normal_density_of_several_numbers_is_told_number_by_number(examples: Any) -> None:
    model = likely.fit(examples / "iris.csv", "species", likely.FullBayes())
    row = {"sepal_length": 6.1, "sepal_width": 2.9, "petal_length": 4.9, "petal_width": 1.7}
    sides: Row = {"of": "Iris-virginica", "against": "Iris-versicolor"}
    ledger = likely.explain(model, row, **sides)
    said = by_orders([*row], lambda some: likely.explain(model, {n: row[n] for n in some}, **sides).log_odds or 0.0)
    assert [e.name for e in ledger.entries] == ["", *row]
    for entry in ledger.entries[1:]:
        assert entry.log_ratio == pytest.approx(said[entry.name], abs=1e-9)


def test_more_attributes_than_subsets_can_be_asked_of_add_up_too() -> None:
    rng = np.random.default_rng(2)
    which = rng.integers(0, 2, 400)
    table: dict[str, list[Any]] = {f"x{k}": (rng.normal(size=400) + which * (k % 3)).tolist() for k in range(12)}
    model = likely.fit({**table, "t": [f"c{k}" for k in which]}, "t", likely.FullBayes())
    row = {name: column[0] for name, column in table.items()}
    ledger = likely.explain(model, row, of="c1", against="c0")
    assert len(ledger.entries) == 13
    assert math.fsum(e.log_ratio or 0.0 for e in ledger.entries) == pytest.approx(ledger.log_odds, abs=1e-9)
