"""What pairs and larger sets of attributes say, as plain values: rare and grouped levels, weights, size."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conformance.interacting import KINDS, additive
from conformance.test_conformance import asked
from portable.test_portable import agree, form_of

import likely
from likely.models import shapes
from likely.portable.describe import portable
from likely.portable.reading import cells_of, portable_of
from likely.portable.scoring import scores, terms
from likely.portable.writing import text_of


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_kind_is_what_its_portable_form_says(kind: Any) -> None:
    model = additive(*kind)
    agree(model, asked())
    form = form_of(model)
    made = {term.form for term in form.score.terms}
    assert {1: "BinTerm", 2: "PairTerm", 3: "TreesTerm", "any": "TreesTerm"}[kind[0]] in made
    # Of two classes that mirror each other, one is held.
    held = {len(t.table) for t in form.score.terms if t.form == "PairTerm"}
    held |= {len(t.values) for t in form.score.terms if t.form == "TreesTerm"}
    assert held <= {1 if kind[2] == 2 else 3}


@pytest.mark.parametrize("order", [2, "any"])
@pytest.mark.parametrize("missing", ["skip", "level"])
def test_many_levels_and_levels_that_are_rare(order: Any, missing: Any) -> None:
    """300 levels are more than there are codes, so that some share one; with `least_count` unseen ones are "other"."""
    rng = np.random.default_rng(4)
    place, x = rng.integers(0, 300, 4000), rng.normal(size=4000)
    number = rng.integers(0, 290, 4000) * 0.5
    target = np.where((place % 7 < 3) ^ (x > 0) ^ (number > 60), "u", "v")
    data = {"a": [f"l{k}" for k in place], "b": number.tolist(), "x": x.tolist(), "t": target.tolist()}
    data["a"][:40], data["b"][40:80], data["x"][80:120] = [None] * 40, [None] * 40, [None] * 40
    types = {"a": "nominal", "b": "nominal of numbers", "x": "number"}
    learner = likely.Additive(order=order, missing=missing, rounds=40)
    rows = [
        {"a": a, "b": b, "x": c}
        for a in ("l0", "l7", "l255", "l299", "new", "other", None)
        for b in (0, 0.5, 77, 1e9, None)
        for c in (-0.1, 3.0, None)
    ]
    for more in ({}, {"least_count": 12}):
        model = likely.fit(data, "t", learner, types=types, **more)
        assert ("other" in model.levels("a")) == bool(more)
        agree(model, rows)


def test_a_weight_multiplies_all_that_a_pair_or_a_set_says() -> None:
    for kind in ((2, "skip", 3), ("any", "level", 2)):
        whole = portable(additive(*kind))
        assert isinstance(whole.score, shapes.Sum)
        score = replace(whole.score, powers=(0.3,) * len(whole.score.terms))
        form, powered = form_of(additive(*kind)), portable_of(text_of(replace(whole, score=score))).score
        for row in asked()[:30]:
            cells = cells_of(form, row)
            all_ = scores(form, cells)
            for k, (a, b) in enumerate(zip(form.score.constant, all_, strict=True)):
                added = sum(own[k] for _, own in terms(powered, cells, form))
                assert math.isclose(added, 0.3 * (b - a), abs_tol=1e-12)


def test_codes_that_nothing_tells_apart_are_one() -> None:
    form = form_of(additive(2, "skip", 2))
    for term in form.score.terms:
        if term.form == "PairTerm":
            first, second = term.axes
            assert [len(column) for column in term.table] == [first.size * second.size]
            for axis in term.axes:
                assert axis.codes is None or set(axis.codes) <= set(range(-1, axis.size))
                assert axis.codes is not None or axis.size == len(axis.starts) + 1
    assert len(text_of(portable(additive(2, "skip", 2)))) < 120_000
