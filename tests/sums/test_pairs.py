"""Counts of pairs and of whole rows of levels: what they count, in which order, and what they refuse."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely
from likely.errors import NotLearned, SchemaMismatch, SettingError
from likely.sums.exact import Exact
from likely.sums.rows.pairs import BINS, Cells, Pairs
from likely.sums.tallies import balanced_edges
from likely.table.batch import Batch, Codes
from likely.table.labels import Labels

LEVELS = st.sampled_from(["u", "v", "w", None])
ROWS = st.lists(
    st.tuples(LEVELS, st.sampled_from([1.0, 2.5, -3.0, 0.0, float("inf"), None]), LEVELS, st.sampled_from("no")),
    min_size=1,
    max_size=30,
)
TYPES = {"a": "nominal", "x": "number", "b": "nominal", "t": "nominal"}


def columns(rows: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {name: [row[k] for row in rows] for k, name in enumerate("axbt")}


@given(ROWS, st.booleans())
def test_every_pair_is_counted_once(rows: list[tuple[Any, ...]], weighted: bool) -> None:
    weight = [Fraction(k % 4, 8) if weighted else Fraction(1) for k in range(1, len(rows) + 1)]
    data: dict[str, Any] = columns(rows)
    if weighted:
        data["w"] = [float(w) for w in weight]
    if not any(weight):
        return
    summary = likely.summarize(data, "t", types=TYPES, weight="w" if weighted else None, more=["pairs"])
    pairs: Pairs = summary.more["pairs"]
    assert pairs.names == ["a", "x", "b"]
    assert pairs.cells == sorted(pairs.cells, key=lambda c: ("axb".index(c[0]), int(c[1]) if c[0] == "x" else 0, c[1]))

    def cells_of(row: tuple[Any, ...]) -> list[tuple[str, str] | None]:
        x = row[1]
        number = None if x is None or x == float("inf") else ("x", str(sum(e <= x for e in pairs.edges["x"])))
        return [row[0] and ("a", row[0]), number, row[2] and ("b", row[2])]

    table = np.array(pairs.table.fractions(), object).reshape(pairs.table.shape)
    for i, one in enumerate(pairs.cells):
        for j, two in enumerate(pairs.cells):
            for k, name in enumerate(summary.classes):
                counted = sum(
                    (
                        w
                        for row, w in zip(rows, weight, strict=True)
                        if row[3] == name and one in cells_of(row) and two in cells_of(row)
                    ),
                    Fraction(0),
                )
                assert table[i, j, k] == (counted if i <= j else 0)


@given(ROWS, ROWS)
def test_parts_add_up_whatever_levels_they_have(one: list[tuple[Any, ...]], two: list[tuple[Any, ...]]) -> None:
    # One part may have no level of an attribute at all: the order of attributes stays that of the schema.
    one, two = ([(*r[:1], None, *r[2:]) for r in part] for part in (one, two))
    both = likely.summarize(columns(one + two), "t", types=TYPES, more=["pairs"])
    a, b = (likely.summarize(columns(part), schema=both.schema, more=["pairs"]) for part in (one, two))
    assert (a + b).more["pairs"] == (b + a).more["pairs"] == both.more["pairs"]
    assert (both - b).more["pairs"] == a.canonical().more["pairs"]


def test_other_bins_are_refused_with_a_sentence() -> None:
    a, b = (
        likely.summarize({"x": [1.0, 2.0, high], "t": ["n", "y", "n"]}, "t", types={"x": "number"}, more=["pairs"])
        for high in (3.0, 4.0)
    )
    with pytest.raises(SchemaMismatch, match="'x' at other places"):
        _ = a + b
    assert (a + a).more["pairs"].table.floats().sum() == 6


def test_what_was_never_learned_cannot_be_unlearned() -> None:
    a = likely.summarize({"a": ["u", "v"], "b": ["u", "v"], "t": ["n", "n"]}, "t", more=["pairs", "cells"])
    b = likely.summarize({"a": ["u", "v"], "b": ["v", "u"], "t": ["n", "n"]}, "t", more=["pairs", "cells"])
    with pytest.raises(NotLearned, match="combination"):
        _ = a - b


def test_too_many_levels_are_refused_with_a_sentence() -> None:
    names = [str(k) for k in range(3100)]
    with pytest.raises(SettingError, match="3,102 levels would be too many"):
        likely.summarize(
            {"a": names * 2, "b": ["x", "y"] * 3100, "t": ["n", "y"] * 3100},
            "t",
            types={"a": "nominal"},
            more=["pairs"],
        )
    with pytest.raises(SettingError, match="in 100 classes would be too many"):
        likely.summarize(
            {"a": names[:600] * 10, "t": [str(k % 100) for k in range(6000)]},
            "t",
            types={"a": "nominal", "t": "nominal"},
            more=["pairs"],
        )


def test_a_heavy_value_leaves_bins_for_the_others() -> None:
    values = np.arange(1000.0)
    weight = np.where(values == 500, 1e6, 1.0)
    edges = balanced_edges(values, weight, BINS)
    assert len(edges) < BINS and {500.0, 501.0} <= set(edges.tolist())
    held = np.bincount(np.searchsorted(edges, values, side="right"), weight)
    assert held.max() == 1e6 and np.sort(held)[-2] <= 46


@given(
    st.lists(st.sampled_from([1.0, 2.0, 100.0, 1e-9, 1e300, 5e-324, float("inf")]), min_size=1, max_size=60),
    st.integers(1, 24),
)
def test_edges_are_values_in_order(weight: list[float], bins: int) -> None:
    values = np.sort(np.random.default_rng(0).standard_normal(len(weight)))
    edges = balanced_edges(values, np.array(weight), bins)
    assert len(edges) <= bins - 1 or len(values) <= bins
    assert (np.diff(edges) > 0).all() and set(edges) <= set(values[1:])


def test_an_unseen_level_in_a_joint_table_is_missing() -> None:
    # Codes -1 and -2 are one key; were they two of one name, the counts of the first would be lost.
    cells = Cells(["a"], 1)
    group = np.zeros(4, np.int32)
    cells.update(Batch(4, {"a": Codes(np.array([-1, -2, 0, -2], np.int32), Labels(["u"]))}), group)
    assert dict(zip(map(tuple, cells.rows()), cells.counts.canonical().table.floats()[:, 0], strict=True)) == {
        (None,): 3.0,
        ("u",): 1.0,
    }


def test_a_joint_table_without_columns_counts_rows() -> None:
    cells = Cells([], 2)
    cells.update(Batch(3, {}), np.array([0, 1, 1], np.int32))
    assert cells.rows() == [[]] and cells.counts.canonical().table.floats().tolist() == [[1.0, 2.0]]


def test_floats_of_a_sparse_table_are_those_of_its_fractions() -> None:
    table = Exact.zeros(2, 3)
    table.cover(-1, 2, 3)
    for (i, j), value in zip(product(range(2), range(3)), [0, 3, 0, -5, 0, 7], strict=True):
        table.planes[0, i, j] = value
    assert table.floats().tolist() == [[0.0, 3 / 2**32, 0.0], [-5 / 2**32, 0.0, 7 / 2**32]]
