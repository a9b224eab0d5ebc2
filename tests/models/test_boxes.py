"""Neighbours found in boxes are those found without, to the last bit; and boxes are what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely
from likely.models.neighbors import nearest
from likely.models.neighbors.nearest import build_boxes


def some_table(seed: int, rows: int, coarse: bool) -> dict[str, Any]:
    """Numbers with ties, gaps and wild sizes, levels with gaps, weights of halves."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 4, rows).astype(float) if coarse else rng.normal(size=rows)
    z = rng.normal(size=rows) * 10.0 ** rng.integers(-3, 4, rows)
    x[rng.random(rows) < 0.1] = np.nan
    return {
        "x": x,
        "z": np.where(rng.random(rows) < 0.05, np.nan, np.round(z, int(coarse))),
        "k": np.array([f"l{min(int(v), 3)}" if v < 4 else None for v in rng.exponential(size=rows) * 1.5], object),
        "same": np.ones(rows),
        "w": rng.integers(1, 5, rows) / 2,
        "y": rng.choice(list("abc"), rows),
    }


TYPES = {"x": "number", "z": "number", "k": "nominal", "same": "number"}


@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(3, 300),
    coarse=st.booleans(),
    least=st.sampled_from([1, 3, 20]),
    k=st.sampled_from([1, 2, 5, 50, 1000]),
    distance=st.sampled_from(["euclidean", "city-block"]),
    weights=st.sampled_from(["equal", "distance"]),
    scale=st.booleans(),
)
def test_boxes_change_nothing(
    seed: int, rows: int, coarse: bool, least: int, k: int, distance: Any, weights: Any, scale: bool
) -> None:
    table = some_table(seed, rows, coarse)
    learner = likely.Neighbors(k=k, distance=distance, weights=weights, scale=scale)
    summary = likely.summarize(table, "y", types=TYPES, weight="w", more=["rows"])
    asked = {n: v for n, v in some_table(seed + 1, 40, coarse).items() if n not in ("w", "y")}
    asked["k"][0] = "never seen"
    found = []
    usual = nearest.LEAST
    for size in (least, 1 << 60):
        nearest.LEAST = size
        try:
            model = learner.learn(summary)
        finally:
            nearest.LEAST = usual
        assert (model.boxes.levels > 0) == (len(model.group) > size)
        found.append([part for batch in model.batches(asked) for part in model.neighbours(batch)])
    for one, other in zip(*found, strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("reading", ["posterior", "density"])
def test_far_away_queries_and_infinite_scales(reading: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    table = {"x": np.append(rng.normal(size=98), [1e300, -1e300]), "z": rng.normal(size=100), "y": ["a", "b"] * 50}
    asked = {"x": [0.0, 1e308, -1e308, np.nan, 5.0], "z": [1e308, 0.0, -1e308, 0.0, np.nan]}
    found = []
    for least in (2, 1 << 60):
        monkeypatch.setattr(nearest, "LEAST", least)
        model = likely.fit(table, "y", likely.Neighbors(k=3, reading=reading, scale=False), types={"x": "number"})
        found.append([part for batch in model.batches(asked) for part in model.neighbours(batch)])
    for one, other in zip(*found, strict=True):
        assert one.tobytes() == other.tobytes()


def test_boxes_hold_their_rows() -> None:
    rng = np.random.default_rng(0)
    points, codes = rng.normal(size=(3, 5000)), rng.integers(-1, 4, (2, 5000)).astype(np.int32)
    points[1, ::7] = np.nan
    held = build_boxes(points, codes, np.ones(3), np.ones(2), False)
    assert sorted(held.order.tolist()) == list(range(5000)) and 1 << held.levels == held.low.shape[1] > 10
    for b in range(1 << held.levels):
        start, stop = 5000 * b >> held.levels, 5000 * (b + 1) >> held.levels
        assert 0 < stop - start <= held.rows
        mine, levels = points[:, held.order[start:stop]], codes[:, held.order[start:stop]]
        np.testing.assert_array_equal(held.low[:, b], np.nanmin(mine, axis=1))
        np.testing.assert_array_equal(held.high[:, b], np.nanmax(mine, axis=1))
        np.testing.assert_array_equal(np.isfinite(held.most[:, b]), np.isnan(mine).any(axis=1))
        np.testing.assert_array_equal(held.first[:, b], levels.min(axis=1))
        np.testing.assert_array_equal(held.last[:, b], levels.max(axis=1))
    width = held.high - held.low
    assert width.mean() < 0.5 * (np.nanmax(points) - np.nanmin(points))  # they are small, or would be of no use
