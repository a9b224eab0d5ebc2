"""TAN against brute force: its tree against all trees, its scores against sums over whatever a gap may hold."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely.errors import ColumnError, SettingError

NAMES = ["a", "b", "c", "d", "e"]
LEVELS = {"a": "uv", "b": "uvw", "c": "uv", "d": "uvw", "e": "uv"}
TYPES = dict.fromkeys([*NAMES, "t"], "nominal")
EVERYTHING = [dict(zip(NAMES, cells, strict=True)) for cells in product(*([*LEVELS[n], None] for n in NAMES))]
"""All rows there can be, with and without gaps."""


def some_rows(seed: int, rows: int = 40, gaps: float = 0.15) -> dict[str, list[Any]]:
    """Columns in which attributes and class have to do with each other; some cells are missing."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 3, rows)
    out: dict[str, list[Any]] = {}
    for name in NAMES:
        code = np.where(rng.random(rows) < 0.6, hidden, rng.integers(0, 3, rows)) % len(LEVELS[name])
        cells = np.array(list(LEVELS[name]), object)[code]
        out[name] = np.where(rng.random(rows) < gaps, None, cells).tolist()
    out["t"] = np.array(["n", "y"])[(hidden + (rng.random(rows) < 0.3)) % 2].tolist()
    return out


def trees(size: int) -> Iterator[set[frozenset[int]]]:
    """All trees over `size` nodes, by Prüfer's sequences."""
    for sequence in product(range(size), repeat=size - 2):
        degree = [1 + sequence.count(k) for k in range(size)]
        links = set()
        for node in sequence:
            leaf = degree.index(1)
            links.add(frozenset((leaf, node)))
            degree[leaf] -= 1
            degree[node] -= 1
        links.add(frozenset(k for k in range(size) if degree[k] == 1))
        yield links


def direct_bits(data: dict[str, list[Any]], one: str, two: str) -> float:
    """I(one; two | t) over the rows that have both, times their share, row by row."""
    rows = [r for r in zip(data[one], data[two], data["t"], strict=True) if None not in r]
    both, left, right, classes = (
        Counter(key(r) for r in rows)
        for key in (lambda r: r, lambda r: (r[0], r[2]), lambda r: (r[1], r[2]), lambda r: r[2])
    )
    told = sum(n * math.log2(n * classes[c] / (left[a, c] * right[b, c])) for (a, b, c), n in both.items())
    return told / len(data["t"])


@given(st.integers(0, 10**6))
@settings(max_examples=25)
def test_no_other_tree_tells_more(seed: int) -> None:
    data = some_rows(seed)
    model = likely.fit(data, "t", likely.TreeAugmented(), types=TYPES)
    bits = {frozenset(p): direct_bits(data, NAMES[p[0]], NAMES[p[1]]) for p in combinations(range(5), 2)}
    links = {frozenset((v, int(u))) for v, u in enumerate(model.parents) if u >= 0}
    for pair, expected in bits.items():
        i, j = pair
        assert model.bits[i, j] == pytest.approx(expected, abs=1e-12)
    best = max(sum(bits[link] for link in tree) for tree in trees(5))
    assert len(links) == 4 and sum(bits[link] for link in links) == pytest.approx(best, abs=1e-12)
    # The exhibit lists the same links, parents first.
    (exhibit,) = model.exhibits()
    assert {frozenset((NAMES.index(r[0]), NAMES.index(r[1]))) for r in exhibit.rows[1:]} == links
    assert exhibit.rows[0][:2] == ("a", "–")


def direct_score(model: Any, row: dict[str, Any]) -> np.ndarray:
    """P(class, row) of a row without gaps: a product of table entries."""
    out = np.exp(model.log_prior)
    codes = [axis.levels.index[row[axis.name]] for axis in model.grid.axes]
    for v, u in enumerate(model.parents.tolist()):
        out = out * model.tables[v][codes[v], codes[u] if u >= 0 else 0]
    return out


@given(st.integers(0, 10**6), st.sampled_from([0, 0.5, 1]), st.sampled_from([None, "c", "e"]))
@settings(max_examples=12)
def test_a_gap_is_the_sum_over_its_levels(seed: int, pseudo_count: float, root: str | None) -> None:
    model = likely.fit(some_rows(seed), "t", likely.TreeAugmented(pseudo_count, root), types=TYPES)
    (batch,) = model.batches({n: [row[n] for row in EVERYTHING] for n in NAMES})
    joint = np.exp(model.log_joint(batch))
    full = {}
    for row in EVERYTHING:
        if None not in row.values():
            full[tuple(row.values())] = direct_score(model, row)
    assert sum(p.sum() for p in full.values()) == pytest.approx(1, abs=1e-12)
    for row, found in zip(EVERYTHING, joint, strict=True):
        ways = product(*(LEVELS[n] if row[n] is None else [row[n]] for n in NAMES))
        np.testing.assert_allclose(found, sum(full[way] for way in ways), rtol=1e-12, atol=1e-300)


@given(st.integers(0, 10**6), st.sampled_from([0, 1]))
@settings(max_examples=10)
def test_terms_added_in_order_are_the_score(seed: int, pseudo_count: float) -> None:
    model = likely.fit(some_rows(seed), "t", likely.TreeAugmented(pseudo_count), types=TYPES)
    (batch,) = model.batches({n: [row[n] for row in EVERYTHING] for n in NAMES})
    terms = model.terms(batch)
    assert terms.names == ("prior", *NAMES)
    total = terms.array[:, 0].copy()
    for k in range(1, len(terms.names)):
        total += terms.array[:, k]
    assert total.tobytes() == model.log_joint(batch).tobytes()
    for row, array in zip(EVERYTHING, terms.array, strict=True):
        for v, name in enumerate(NAMES):
            u = int(model.parents[v])
            if u >= 0 and row[NAMES[u]] is None:
                assert (array[v + 1] == 0).all(), (row, name)
            elif row[name] is not None:
                above = 0 if u < 0 else model.grid.axes[u].levels.index[row[NAMES[u]]]
                with np.errstate(divide="ignore"):
                    expected = np.log(model.tables[v][model.grid.axes[v].levels.index[row[name]], above])
                assert array[v + 1].tolist() == expected.tolist()


def test_tables_are_counts_with_pseudo_counts() -> None:
    data = some_rows(3)
    model = likely.fit(data, "t", likely.TreeAugmented(pseudo_count=0.5), types=TYPES)
    for v, u in enumerate(model.parents.tolist()):
        for k, c in enumerate(model.classes):
            rows = [r for r in zip(data[NAMES[v]], data[NAMES[u]] if u >= 0 else [""] * 40, data["t"], strict=True)]
            rows = [r for r in rows if None not in r and r[2] == c]
            above = [""] if u < 0 else LEVELS[NAMES[u]]
            for i, level in enumerate(LEVELS[NAMES[v]]):
                for j, b in enumerate(above):
                    some = [r for r in rows if r[1] == b]
                    share = (sum(r[0] == level for r in some) + 0.5) / (len(some) + 0.5 * len(LEVELS[NAMES[v]]))
                    assert model.tables[v][i, j, k] == pytest.approx(share, rel=1e-15)


def test_the_root_changes_arrows_and_not_links() -> None:
    data = some_rows(11, rows=400, gaps=0)
    one, two = (likely.fit(data, "t", likely.TreeAugmented(0, root), types=TYPES) for root in (None, "e"))
    links = [{frozenset((v, int(u))) for v, u in enumerate(m.parents) if u >= 0} for m in (one, two)]
    assert links[0] == links[1] and two.parents[4] == -1
    # Without gaps and pseudo-counts both are the same distribution.
    np.testing.assert_allclose(one.posterior(data).matrix, two.posterior(data).matrix, rtol=1e-12)


def test_a_root_that_is_none() -> None:
    data = some_rows(1)
    with pytest.raises(ColumnError, match="no column 'aa'"):
        likely.fit(data, "t", likely.TreeAugmented(root="aa"), types=TYPES)
    with pytest.raises(SettingError, match="'t' is no attribute"):
        likely.fit(data, "t", likely.TreeAugmented(root="t"), types=TYPES)
    model = likely.fit(
        {**data, "x": [1.0, 2.0] * 20}, "t", likely.TreeAugmented(root="x"), types={**TYPES, "x": "number"}
    )
    assert any("starts elsewhere than at 'x'" in note for note in model.notes)


def test_samples_come_home() -> None:
    model = likely.fit(some_rows(7, rows=300), "t", likely.TreeAugmented(), types=TYPES)
    again = likely.fit(model.sample(60_000, seed=1), "t", likely.TreeAugmented(), types=TYPES)
    assert again.parents.tolist() == model.parents.tolist()
    np.testing.assert_allclose(np.exp(again.log_prior), np.exp(model.log_prior), atol=0.01)
    for mine, theirs in zip(model.tables, again.tables, strict=True):
        np.testing.assert_allclose(theirs, mine, atol=0.05)
