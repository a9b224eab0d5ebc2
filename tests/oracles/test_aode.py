"""AODE against the definition, row by row over the training rows; and as a distribution, where it is one."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models.tables import ASKED, ROWS, TYPES, columns

import likely


def direct(model: Any, rows: list[dict[str, Any]], asked: dict[str, Any], extra: float, minimum: float) -> list[float]:
    """P(class, row) by counting through the rows for every factor."""
    axes = {axis.name: axis for axis in model.grid.axes}

    def level(name: str, value: Any) -> Any:
        axis = axes[name]
        if value is None or (axis.edges is not None and not math.isfinite(value)):
            return None
        if axis.edges is not None:
            return sum(bool(e <= value) for e in axis.edges)
        return value if value in axis.levels.index else None

    def count(**wanted: Any) -> float:
        return math.fsum(
            row["w"]
            for row in rows
            if all(
                row["t"] == v if n == "t" else level(n, row[n]) == v if v != "known" else level(n, row[n]) is not None
                for n, v in wanted.items()
            )
        )

    def share(top: float, bottom: float, kinds: int, otherwise: float) -> float:
        return (top + extra) / (bottom + extra * kinds) if bottom + extra > 0 else otherwise

    def alone(n: str, v: Any, c: str) -> float:
        kinds = len(axes[n].levels)
        return share(count(**{n: v, "t": c}), count(**{n: "known", "t": c}), kinds, 1 / kinds)

    there = {n: v for n in axes if (v := level(n, asked[n])) is not None}
    parents = [n for n, v in there.items() if count(**{n: v}) >= minimum]
    out = []
    for c in model.classes:
        if not parents:
            out.append(count(t=c) / count() * math.prod(alone(n, v, c) for n, v in there.items()))
            continue
        total = 0.0
        for p in parents:
            x = there[p]
            pairs = len(axes[p].levels) * len(model.classes)
            part = share(count(**{p: x, "t": c}), count(**{p: "known"}), pairs, 1 / pairs)
            for n, v in there.items():
                if n != p:
                    top, bottom = count(**{p: x, n: v, "t": c}), count(**{p: x, n: "known", "t": c})
                    part *= share(top, bottom, len(axes[n].levels), alone(n, v, c))
            total += part
        out.append(total / len(parents))
    return out


@given(ROWS, ASKED, st.sampled_from([0, 0.5, 1]), st.sampled_from([0, 1, 3, 100]), st.booleans())
@settings(max_examples=60)
def test_the_definition_row_by_row(
    rows: list[dict[str, Any]], asked: list[dict[str, Any]], extra: float, minimum: float, weighted: bool
) -> None:
    rows = [{**row, "w": {1e-9: 0.5, 0.3: 0.25}.get(row["w"], row["w"]) if weighted else 1.0} for row in rows]
    learner = likely.OneDependence(extra, minimum)
    model = likely.fit(columns(rows), "t", learner, types=TYPES, weight="w")
    (batch,) = model.batches(columns(asked))
    found = np.exp(model.log_joint(batch))
    np.testing.assert_allclose(found, [direct(model, rows, row, extra, minimum) for row in asked], rtol=1e-11)


LEVELS = {"a": ["u", "v", "w", None], "b": ["0", "1", "ä\n,", None], "c": ["yes", "no", None]}


@given(ROWS, st.sampled_from([0.5, 1]), st.sampled_from([0, 1]))
@settings(max_examples=30)
def test_a_distribution_over_rows(rows: list[dict[str, Any]], extra: float, minimum: float) -> None:
    # Every level of training may be a parent. With a gap: over the cells that are there.
    types = {n: k for n, k in TYPES.items() if n != "x"}
    model = likely.fit(columns(rows, "x", "w"), "t", likely.OneDependence(extra, minimum), types=types)
    levels = [axis.levels.names for axis in model.grid.axes]
    for gaps in product([False, True], repeat=len(levels)):
        space = list(product(*([None] if gap else own for own, gap in zip(levels, gaps, strict=True))))
        data = {axis.name: [row[k] for row in space] for k, axis in enumerate(model.grid.axes)}
        if not data:
            continue
        (batch,) = model.batches(data)
        assert np.exp(model.log_joint(batch)).sum() == pytest.approx(1, abs=1e-12)


def test_a_rare_cell_is_no_parent_but_a_child() -> None:
    data = {"a": ["u"] * 9 + ["v"], "b": ["p", "q"] * 5, "t": ["n", "y"] * 5}
    usual, strict, none = (likely.fit(data, "t", likely.OneDependence(minimum=m)) for m in (1, 2, 100))
    row = {"a": "v", "b": "q"}
    assert usual.posterior(row).prob("y") != strict.posterior(row).prob("y")
    naive = likely.fit(data, "t", likely.NaiveBayes())
    assert none.posterior(row).prob("y") == pytest.approx(naive.posterior(row).prob("y"), rel=1e-12)


def test_many_improbable_cells_do_not_underflow() -> None:
    # Each attribute has a "v" in one row of each class, and no two attributes in the same row.
    data = {f"a{k}": ["v" if row // 2 == k else "u" for row in range(240)] for k in range(120)}
    model = likely.fit({**data, "t": ["n", "y"] * 120}, "t", likely.OneDependence(pseudo_count=1e-6))
    found = model.posterior({f"a{k}": "v" for k in range(120)})
    assert found.log_evidence[0] < -745
    assert found.prob("n") == pytest.approx(0.5, rel=1e-9)


def test_samples_come_home() -> None:
    rng = np.random.default_rng(2)
    hidden = rng.integers(0, 3, 500)
    data = {
        name: np.array(list("uvw"))[np.where(rng.random(500) < 0.7, hidden, rng.integers(0, 3, 500))].tolist()
        for name in "abc"
    }
    data["t"] = np.array(["n", "y"])[(hidden > 0).astype(int)].tolist()
    model = likely.fit(data, "t", likely.OneDependence())
    drawn = model.sample(80_000, seed=4)
    space = list(product("uvw", repeat=3))
    (batch,) = model.batches({name: [row[k] for row in space] for k, name in enumerate("abc")})
    joint = np.exp(model.log_joint(batch))
    rows = list(zip(*(drawn[name] for name in "abct"), strict=True))
    for row, chances in zip(space, joint, strict=True):
        for name, chance in zip(model.classes, chances.tolist(), strict=True):
            assert rows.count((*row, name)) / 80_000 == pytest.approx(chance, abs=0.006)
