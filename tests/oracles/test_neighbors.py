"""Nearest neighbours beside scikit-learn, on scaled numbers without ties, and beside a plain loop where there are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import likely


def points(seed: int, rows: int, columns: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    return rng.normal(size=(rows, columns)) * rng.uniform(0.1, 50, columns) + y[:, None], y


def named(x: Any) -> dict[str, Any]:
    return {f"x{k}": x[:, k] for k in range(x.shape[1])}


@pytest.mark.parametrize(("distance", "metric"), [("euclidean", "euclidean"), ("city-block", "manhattan")])
@pytest.mark.parametrize(("weights", "theirs"), [("equal", "uniform"), ("distance", "distance")])
@pytest.mark.parametrize("k", [1, 5, 40])
@pytest.mark.parametrize("scale", [True, False])
def test_scikit_learn(distance: Any, metric: str, weights: Any, theirs: str, k: int, scale: bool) -> None:
    x, y = points(k, 700, 5)  # more rows than one tile
    new, _ = points(k + 1, 200, 5)
    learner = likely.Neighbors(k=k, distance=distance, weights=weights, scale=scale)
    model = likely.fit({**named(x), "y": y}, "y", learner, types={"y": "nominal"})
    low, span = (x.min(0), np.ptp(x, axis=0)) if scale else (0.0, 1.0)
    other = KNeighborsClassifier(k, weights=theirs, metric=metric).fit((x - low) / span, y)
    expected = other.predict_proba((new - low) / span)
    np.testing.assert_allclose(model.posterior(named(new)).matrix, expected, rtol=1e-9, atol=1e-12)


CELLS: dict[str, list[Any]] = {"n": [1.0, 2.0, 4.0, None], "m": [0.0, 10.0, None], "c": ["u", "v", "w", None]}
SPAN = {"n": 3.0, "m": 10.0}


def apart(a: dict[str, Any], b: dict[str, Any], weight: dict[str, float], city: bool) -> float:
    total = 0.0
    for name, w in weight.items():
        one, two = a[name], b[name]
        if one is None or two is None:
            d = 1.0
        elif name in SPAN:
            d = abs(one - two) / SPAN[name]
        else:
            d = float(one != two)
        total += w * (d if city else d * d)
    return total if city else math.sqrt(total)


def posterior(rows: list[dict[str, Any]], query: dict[str, Any], learner: Any) -> dict[str, float]:
    """By the words of the docstring: places given out by distance; those at the k-th share what is left."""
    weight = {name: (learner.attribute_weights or {}).get(name, 1.0) for name in CELLS}
    near: dict[float, dict[str, float]] = {}
    for row in rows:
        d = round(apart(row, query, weight, learner.distance == "city-block"), 12)
        votes = near.setdefault(d, {"p": 0.0, "q": 0.0})
        votes[row["t"]] += row["w"]
    left, out = float(learner.k), {"p": 0.0, "q": 0.0}
    for d in sorted(near):
        whole = sum(near[d].values())
        share = min(1.0, left / whole)
        for name, value in near[d].items():
            out[name] += share * value
        left -= share * whole
        if left <= 0:
            break
    return {name: value / sum(out.values()) for name, value in out.items()}


@pytest.mark.parametrize("seed", range(20))
def test_ties_missing_cells_levels_and_weights(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [
        {
            **{name: values[rng.integers(len(values))] for name, values in CELLS.items()},
            "t": "pq"[rng.integers(2)],
            "w": float(rng.choice([1, 2, 0.25])),
        }
        for _ in range(int(rng.integers(4, 30)))
    ]
    rows += [{"n": n, "m": m, "c": "u", "t": t, "w": 1.0} for n, m, t in ((1.0, 0.0, "p"), (4.0, 10.0, "q"))]
    learner = likely.Neighbors(
        k=int(rng.integers(1, 8)),
        distance=["euclidean", "city-block"][int(rng.integers(2))],  # type: ignore[arg-type]
        attribute_weights=[None, {"c": 0.25, "n": 4}, {"m": 0}][int(rng.integers(3))],
    )
    types = {"n": "number", "m": "number", "c": "nominal", "t": "nominal"}
    table = {name: [row[name] for row in rows] for name in rows[0]}
    model = likely.fit(table, "t", learner, types=types, weight="w")
    for _ in range(20):
        query = {name: values[rng.integers(len(values))] for name, values in CELLS.items()}
        expected = posterior(rows, query, learner)
        found = model.posterior(query)
        np.testing.assert_allclose(found.matrix[0], [expected["p"], expected["q"]], rtol=1e-9, atol=1e-12)
