"""What a pool's members say far outside of what they have seen is bounded, and every export bounds it alike."""

from __future__ import annotations

import math
import runpy
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conformance.databases import Duck, Lite
from conformance.test_additive import run_javascript
from conformance.test_conformance import agree, run_onnx

import likely

CLOSE = 1e-12
GAPS = {"missing": "level"}  # so that nothing is averaged over: SQL and ONNX answer rows with missing cells too
POOLS: dict[str, tuple[Any, ...]] = {
    "normal densities": (likely.NaiveBayes(**GAPS),),
    "lines": (likely.Logistic(ridge=0.1, **GAPS),),
    "a block": (likely.NaiveBayes(blocks=(("a", "b"),), **GAPS),),
    "one covariance": (likely.LinearDiscriminant(), likely.NaiveBayes(numbers="binned", **GAPS)),
    "all": (
        likely.NaiveBayes(**GAPS),
        likely.Logistic(ridge=0.1, **GAPS),
        likely.NaiveBayes(blocks=(("a", "b"),), **GAPS),
        likely.LinearDiscriminant(),
        likely.FullBayes(),
    ),
    "kernels": (likely.NaiveBayes(numbers="kernel", **GAPS),),
}
FAR = [None, 0.3, 2.0, -7.5, 40.0, -1e3, 1e6, 1e300, -1.7e308, math.inf]
ROWS = [{"a": a, "b": b} for a in FAR for b in FAR]


@pytest.fixture(scope="module", params=POOLS)
def model(request: pytest.FixtureRequest) -> likely.Model:
    rng = np.random.default_rng(5)
    group = rng.integers(0, 3, 300)
    x = (rng.normal(size=(300, 2)) @ np.array([[1.0, 0.6], [0.0, 0.8]])) * (1 + group[:, None]) + group[:, None]
    x[rng.random((300, 2)) < 0.1] = np.nan
    columns = {name: [None if math.isnan(v) else float(v) for v in x[:, k]] for k, name in enumerate("ab")}
    data = {**columns, "t": [f"c{k}" for k in group]}
    members = POOLS[request.param]
    learner = likely.Pool(members, weights=[0.9 - 0.1 * k for k in range(len(members))])
    return likely.fit(data, "t", learner, types={"a": "number", "b": "number"})


def has_kernels(model: likely.Model) -> bool:
    return len(model.members) == 1 and getattr(model.members[0].learner, "numbers", "") == "kernel"


def test_nothing_is_certain_far_out(model: likely.Model) -> None:
    assert model.references is None
    for row in ROWS:
        assert model.posterior(row).matrix.min() > 1e-60, row


def test_plain_python(model: likely.Model, tmp_path: Path) -> None:
    likely.export(model, "python", tmp_path / "model.py")
    said = runpy.run_path(str(tmp_path / "model.py"))
    for row in ROWS:
        agree(model, row, [*said["posterior"](row).values()], said["predict"](row), CLOSE)


def test_javascript(model: likely.Model, tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("needs node, and there is none")
    for row, (prediction, chances) in zip(ROWS, run_javascript(model, tmp_path, ROWS), strict=True):
        agree(model, row, chances, prediction, CLOSE)


@pytest.mark.parametrize("base", [Duck, Lite])
def test_sql(model: likely.Model, base: Any) -> None:
    if has_kernels(model):
        pytest.skip("SQL has no kernel densities")
    query = likely.export(model, "sql", dialect=base.dialect)
    cells = [[row["a"], row["b"]] for row in ROWS]
    found = base().run(query, "rows", ["a", "b"], ["double precision"] * 2, cells)
    for row, (*_, prediction, first, second, third) in zip(ROWS, found, strict=True):
        agree(model, row, [float(first), float(second), float(third)], prediction, CLOSE)


def test_onnx(model: likely.Model) -> None:
    for row, prediction, chances in run_onnx(likely.export(model, "onnx"), ROWS):
        agree(model, row, chances, prediction, CLOSE)


def test_pmml() -> None:
    if shutil.which("java") is None:
        pytest.skip("needs Java, and there is none")
    rng = np.random.default_rng(5)
    x = rng.normal(size=200)
    data = {"a": x.tolist(), "t": np.where(x + rng.normal(size=200) > 0, "u", "v").tolist()}
    model = likely.fit(data, "t", likely.Pool((likely.Logistic(),), weights=(0.8,)), types={"a": "number"})
    held = pytest.importorskip("pypmml").Model.fromString(likely.export(model, "pmml"))
    for a in (0.3, -7.5, 40.0, 1e6, -1e300):
        found = held.predict({"a": a})
        agree(model, {"a": a}, [found[f"p({c})"] for c in model.classes], found["prediction"], CLOSE)


def test_a_form_without_bounds_is_written_as_it_was() -> None:
    data = {"a": [1.0, 2.0, 3.5, 0.5] * 9, "b": [2.0, 1.0, 0.0] * 12, "t": ["u", "v"] * 18}
    for learner in (likely.FullBayes(), likely.LinearDiscriminant(), likely.NaiveBayes(numbers="kernel")):
        text = likely.export(likely.fit(data, "t", learner, types={"a": "number", "b": "number"}), "json")
        assert not [key for key in ("most", "ends", "floor") if f'"{key}"' in text]
