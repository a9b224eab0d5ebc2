"""Additive in every language, with two and three classes, gaps left out or taken as evidence, on awkward rows."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conformance.databases import Duck, Lite, Postgres
from conformance.interacting import KINDS, additive
from conformance.test_conformance import (  # noqa: F401
    COLUMNS,
    LEARNERS,
    TABLE,
    agree,
    asked,
    in_onnx,
    in_pmml,
    in_sql,
    is_averaged,
    models,
    run_onnx,
    server,
)
from conformance.test_conformance import KINDS as KINDS_OF_COLUMNS

import likely
from likely.errors import SettingError
from likely.models import shapes
from likely.portable.describe import Attribute, Portable, portable
from likely.portable.languages.onnx import to_onnx
from likely.portable.languages.pmml import to_pmml
from likely.portable.languages.sql import to_sql
from likely.portable.reading import portable_of
from likely.portable.scoring import posterior
from likely.portable.writing import text_of
from likely.table.labels import Labels


@pytest.mark.parametrize("base", [Duck, Lite])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_sql_in_this_process(kind: Any, base: Any) -> None:
    in_sql(base(), additive(*kind), base.dialect)


@pytest.mark.parametrize(("kind", "base"), zip(KINDS, cycle([Duck, Lite]), strict=False), ids=str)
def test_sql_of_no_dialect(kind: Any, base: Any) -> None:
    in_sql(base(), additive(*kind), None)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_sql_in_postgresql(kind: Any, server: Postgres) -> None:  # noqa: F811
    for dialect in (None, "postgres"):
        in_sql(server, additive(*kind), dialect)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_onnx(kind: Any) -> None:
    in_onnx(additive(*kind))


def test_levels_that_share_a_code_and_texts_that_are_not_used(server: Postgres) -> None:  # noqa: F811
    """300 levels are more than there are codes; what is learned from codes reads no text, and asks for none."""
    rng = np.random.default_rng(4)
    place, x = rng.integers(0, 300, 3000), np.round(rng.normal(size=3000), 2)
    target = np.where((place % 7 < 3) ^ (x > 0) ^ (x > 1.3), "u", "v")
    data: dict[str, Any] = {"a": [f"l{k}" for k in place], "x": x.tolist(), "t": target.tolist()}
    data["said"] = [f"some words no {k}" for k in range(3000)]
    types = {"a": "nominal", "x": "number", "said": "text"}
    rows = [{"a": a, "x": v} for a in ("l0", "l7", "l255", "l299", "new", "", None) for v in (-0.1, 3.0, 1.3, None)]
    runtime = pytest.importorskip("onnxruntime")
    for order, more in ((2, {}), ("any", {"least_count": 12}), (2, {"least_count": 12})):
        model = likely.fit(data, "t", likely.Additive(order=order, rounds=30), types=types, **more)  # type: ignore[arg-type]
        query = likely.export(model, "sql", keep=["id"])
        assert " IN (" not in str(query).split("likely_codes")[-1]
        for base in (Duck(), Lite(), server):
            kinds = ["integer", "text", "double precision"]
            found = base.run(query, "rows", ["id", "a", "x"], kinds, [[k, *r.values()] for k, r in enumerate(rows)])
            for key, prediction, *chances in found:
                if is_averaged(model, rows[int(key)]):
                    assert prediction is None and chances == [None, None]
                else:
                    agree(model, rows[int(key)], [float(p) for p in chances], prediction)
        session = runtime.InferenceSession(likely.export(model, "onnx"))
        assert [one.name for one in session.get_inputs()] == ["a", "x"]
        feed = {
            "a": np.array([[r["a"] or ""] for r in rows], object),
            "x": np.array([[math.nan if r["x"] is None else r["x"]] for r in rows]),
        }
        for row, prediction, own in zip(rows, *session.run(None, feed), strict=True):
            if is_averaged(model, row):
                assert not prediction and np.isnan(own).all()
                continue
            agree(model, row, own.tolist(), prediction)


@pytest.mark.parametrize("kind", [(2, "skip", 2), (2, "level", 3), ("any", "skip", 2), ("any", "level", 3)], ids=str)
def test_weights_before_terms(kind: Any) -> None:
    """A pool multiplies terms by weights: SQL and ONNX do, as plain Python does."""
    form = portable(additive(*kind))
    assert isinstance(form.score, shapes.Sum)
    powers = tuple(0.2 + 0.1 * k for k, _ in enumerate(form.score.terms))
    form = replace(form, score=replace(form.score, powers=powers), references=None)
    rows, read = asked(), portable_of(text_of(form))
    cells = [[k, *(row[c] for c in COLUMNS[1:])] for k, row in enumerate(rows)]
    for base in (Duck(), Lite()):
        found = base.run(to_sql(form, f'"{TABLE}"', None, ["id"]), TABLE, COLUMNS, KINDS_OF_COLUMNS, cells)
        for key, _, *chances in found:
            assert chances == pytest.approx(posterior(read, rows[int(key)]), abs=1e-9)
    for row, _, chances in run_onnx(to_onnx(form), rows):
        assert chances == pytest.approx(posterior(read, row), abs=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_pmml_by_another_program(kind: Any) -> None:
    if shutil.which("java") is None:
        pytest.skip("needs Java, and there is none")
    in_pmml(additive(*kind))


def test_pmml_of_rare_levels_and_of_classes_that_are_impossible() -> None:
    if shutil.which("java") is None:
        pytest.skip("needs Java, and there is none")
    rng = np.random.default_rng(4)
    place, x = rng.integers(0, 40, 2000), np.round(rng.normal(size=2000), 2)
    target = np.where((place % 7 < 3) ^ (x > 0), "u", "v")
    data = {"a": [f"l{k}" for k in place] + ["rare"] * 9, "x": [*x.tolist(), *[0.5] * 9], "t": [*target, *["u"] * 9]}
    types = {"a": "nominal", "x": "number"}
    model = likely.fit(data, "t", likely.Additive(rounds=30, missing="level"), types=types, least_count=12)
    held = pytest.importorskip("pypmml").Model.fromString(likely.export(model, "pmml"))
    for a in ("l0", "l7", "l39", "rare", "new", "other", None):
        for v in (-0.1, 1.3, None):
            found = held.predict({k: c for k, c in (("a", a), ("x", v)) if c is not None})
            agree(model, {"a": a, "x": v}, [found[f"p({c})"] for c in model.classes], found["prediction"])
    form = portable(model)
    assert isinstance(form.score, shapes.Sum)
    with pytest.raises(SettingError, match="PMML cannot say that a class is impossible"):
        to_pmml(replace(form, score=replace(form.score, constant=np.array([0.0, -math.inf]))))
    never = shapes.BinTable("x", np.array([0.5]), np.array([[0.0, 1.0], [-math.inf, 0.0], [0.0, 0.0]]))
    with pytest.raises(SettingError, match="PMML cannot say that a value of 'x' is impossible"):
        to_pmml(replace(form, score=shapes.Sum(np.zeros(2), (never,))))


JAVASCRIPT = """
import { readFileSync } from "node:fs";
const [file] = process.argv.slice(2);
const { posterior, predict } = await import(file);
const rows = JSON.parse(readFileSync(0, "utf-8"));
const number = (v) => (v && v.number !== undefined ? Number(v.number) : v);
const told = rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, v]) => [name, number(v)])));
console.log(JSON.stringify(told.map((row) => [predict(row), Object.values(posterior(row))])));
"""


def in_javascript(model: likely.Model, folder: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("needs node, and there is none")
    rows = asked()
    for row, (prediction, chances) in zip(rows, run_javascript(model, folder, rows), strict=True):
        agree(model, row, chances, prediction)


def run_javascript(
    model: likely.Model, folder: Path, rows: list[dict[str, Any]]
) -> list[tuple[str | None, list[float]]]:
    """For each row what the exported script predicts, and its probabilities."""
    likely.export(model, "javascript", folder / "model.mjs")
    (folder / "run.mjs").write_text(JAVASCRIPT)
    sent = json.dumps([{name: told(v) for name, v in row.items()} for row in rows])
    words = ["node", folder / "run.mjs", (folder / "model.mjs").as_uri()]
    done = subprocess.run(words, input=sent, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def told(value: Any) -> Any:
    """A cell as it travels: JSON has no infinite numbers."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")}
    return value


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_javascript_by_itself(kind: Any, tmp_path: Path) -> None:
    in_javascript(additive(*kind), tmp_path)


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_javascript_of_every_learner(models: dict[str, likely.Model], name: str, tmp_path: Path) -> None:  # noqa: F811
    in_javascript(models[name], tmp_path)


def test_javascript_refuses_unseen_levels_where_the_model_does(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node, and there is none")
    data = {"a": ["x", "y", "z"] * 9, "day": ["2020-01-31", "2021-02-01", "2022-03-01"] * 9, "t": ["u", "v", "u"] * 9}
    model = likely.fit(data, "t", likely.NaiveBayes(unseen="error"), types={"a": "nominal", "day": "date"})
    likely.export(model, "javascript", tmp_path / "model.mjs")
    program = (
        f"import {{ posterior }} from {json.dumps((tmp_path / 'model.mjs').as_uri())};"
        "console.log(JSON.stringify(posterior({ a: 'x', day: new Date('2021-02-01') })));"
        "try { posterior({ a: 'new' }); } catch (error) { console.log(error.message); }"
    )
    done = subprocess.run([node, "--input-type=module", "-e", program], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    wanted = model.posterior({"a": "x", "day": "2021-02-01"}).matrix[0].tolist()
    assert list(json.loads(first).values()) == pytest.approx(wanted, abs=1e-12)
    assert second == "The row has new in column a, a level that training did not have."


def test_trees_as_deep_as_they_can_be() -> None:
    """A chain of 200 nodes, beside which SQLite's parser would run out of room if each were inside the one before."""
    count, size = 401, 201
    axis = [0 if node % 2 == 0 and node < count - 1 else -1 for node in range(count)]
    below = [node + 1 if axis[node] == 0 else 0 for node in range(count)]
    left = np.zeros((count, 256), np.uint8)
    for node in range(count):
        left[node, : node // 2 + 1] = 1
    values = np.sin(np.arange(count))
    x = shapes.Axis("x", Labels(), np.arange(1.0, size))
    nodes = np.zeros(1, np.int32), np.array(axis, np.int32), np.array(below, np.int32)
    trees = shapes.TreeSum("x", (x,), *nodes, left, np.stack([-values, values], axis=1))
    cells = np.cos(np.arange(size * size)).reshape(size, size)
    places = np.arange(size, dtype=np.int32)
    pair = shapes.PairTable("x × x", (x, x), (places, places), np.stack([-cells, cells], axis=2))
    attributes = (Attribute("x", "number"),)
    form = Portable(("u", "v"), attributes, ("",), shapes.Sum(np.zeros(2), (trees, pair)), "made up", "t")
    read = portable_of(text_of(form))
    rows = [{"x": v} for v in (*(float(k) for k in range(-1, 203, 7)), 0.5, None)]
    for base in (Duck(), Lite()):
        found = base.run(to_sql(form, "rows", None), "rows", ["x"], ["double precision"], [[r["x"]] for r in rows])
        for row, (_, _, *chances) in zip(rows, found, strict=True):
            assert chances == pytest.approx(posterior(read, row), abs=1e-9)
