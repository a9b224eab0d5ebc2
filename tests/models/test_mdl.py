"""Supervised cuts by minimum description length, against the criterion written out for every cut."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.models.factors.bins import mdl_cuts


def entropy(counts: np.ndarray) -> float:
    n = counts.sum()
    return -sum(c / n * math.log2(c / n) for c in counts.tolist() if c > 0)


def spelled_out(table: np.ndarray, start: int, stop: int) -> list[int]:
    """Fayyad and Irani's recursion as it stands in the paper."""
    run = table[start:stop]
    whole = run.sum(axis=0)
    found = []
    for cut in range(1, len(run)):
        left, right = run[:cut].sum(axis=0), run[cut:].sum(axis=0)
        if left.sum() > 0 and right.sum() > 0:
            n = whole.sum()
            rest = left.sum() / n * entropy(left) + right.sum() / n * entropy(right)
            found.append((rest, cut, left, right))
    if not found:
        return []
    least = min(found, key=lambda f: f[0])[0]
    rest, cut, left, right = next(f for f in found if f[0] <= least + 1e-12)
    k, k1, k2 = ((c > 0).sum() for c in (whole, left, right))
    n = whole.sum()
    delta = math.log2(3.0 ** int(k) - 2) - (k * entropy(whole) - k1 * entropy(left) - k2 * entropy(right))
    if entropy(whole) - rest <= (math.log2(n - 1) + delta) / n:
        return []
    return [*spelled_out(table, start, start + cut), start + cut, *spelled_out(table, start + cut, stop)]


@given(st.lists(st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=1, max_size=12))
def test_the_criterion_spelled_out(rows: list[list[int]]) -> None:
    table = np.array(rows, float)
    cuts = mdl_cuts(table)
    assert cuts == sorted(set(cuts)) and all(0 < c < len(rows) for c in cuts)
    expected = spelled_out(table, 0, len(table))
    if cuts != expected:  # two cuts may leave the same entropy but for the last bit
        assert len(cuts) == len(expected)


def test_a_clear_change_is_found_whatever_the_weight() -> None:
    rows = [[20.0, 0.0]] * 10 + [[0.0, 20.0]] * 10
    assert mdl_cuts(np.array(rows)) == [10]
    assert mdl_cuts(np.array(rows) * 1e6) == [10]
    assert mdl_cuts(np.array(rows) * 1e-6) == []  # less than a row in all: nothing is worth a cut


@pytest.mark.parametrize(
    "table", [np.zeros((0, 2)), np.zeros((3, 2)), np.ones((1, 2)), np.ones((4, 1)), np.ones((4, 0))]
)
def test_nothing_to_cut(table: np.ndarray) -> None:
    assert mdl_cuts(table) == []


def test_a_thousand_classes_do_not_overflow() -> None:
    # 3**1000 is no double. By the criterion halving them pays: it saves 1000 bits and costs 595.
    assert 500 in mdl_cuts(np.eye(1000))
