"""Additive in every language, with two and three classes, gaps left out or taken as evidence, on awkward rows."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conformance.databases import Duck, Lite, Postgres
from conformance.interacting import KINDS, additive
from conformance.test_conformance import COLUMNS, TABLE, agree, asked, in_onnx, in_sql, run_onnx, server  # noqa: F401
from conformance.test_conformance import KINDS as KINDS_OF_COLUMNS

import likely
from likely.portable import forms
from likely.portable.describe import portable
from likely.portable.languages.onnx import to_onnx
from likely.portable.languages.sql import to_sql
from likely.portable.scoring import posterior


@pytest.mark.parametrize("base", [Duck, Lite])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_sql_in_this_process(kind: Any, base: Any) -> None:
    for dialect in (None, base.dialect):
        in_sql(base(), additive(*kind), dialect)


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
                agree(model, rows[int(key)], [float(p) for p in chances], prediction)
        session = runtime.InferenceSession(likely.export(model, "onnx"))
        assert [one.name for one in session.get_inputs()] == ["a", "x"]
        feed = {
            "a": np.array([[r["a"] or ""] for r in rows], object),
            "x": np.array([[math.nan if r["x"] is None else r["x"]] for r in rows]),
        }
        for row, prediction, own in zip(rows, *session.run(None, feed), strict=True):
            agree(model, row, own.tolist(), prediction)


@pytest.mark.parametrize("kind", [(2, "skip", 2), (2, "level", 3), ("any", "skip", 2), ("any", "level", 3)], ids=str)
def test_weights_before_terms(kind: Any) -> None:
    """A pool multiplies terms by weights: SQL and ONNX do, as plain Python does."""
    form = portable(additive(*kind))
    assert isinstance(form.score, forms.Sum)
    weighed = tuple(forms.PowerTerm(0.2 + 0.1 * k, term) for k, term in enumerate(form.score.terms))
    form = replace(form, score=forms.Sum(form.score.constant, weighed))
    rows = asked()
    cells = [[k, *(row[c] for c in COLUMNS[1:])] for k, row in enumerate(rows)]
    for base in (Duck(), Lite()):
        found = base.run(to_sql(form, f'"{TABLE}"', None, ["id"]), TABLE, COLUMNS, KINDS_OF_COLUMNS, cells)
        for key, _, *chances in found:
            assert chances == pytest.approx(posterior(form, rows[int(key)]), abs=1e-9)
    for row, _, chances in run_onnx(to_onnx(form), rows):
        assert chances == pytest.approx(posterior(form, row), abs=1e-9)
