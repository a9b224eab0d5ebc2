"""A sum of terms is shown by strength, by curves and by grids; what is shown is what the model says."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import likely
from likely.machinery.words import signed
from likely.present.document import to_json
from likely.present.effects import coarsen, evidence_bits, find_effects, merge_steps, pair_grid, prior_of
from likely.present.report.model import present_attribute, present_model


def table(classes: int = 2, rows: int = 800) -> dict[str, list[Any]]:
    """A number that rises, two attributes that speak together only, one that says nothing; names that need care."""
    rng = np.random.default_rng(5)
    x, b, c, noise = rng.integers(0, 60, rows), *(rng.integers(0, 2, rows) for _ in range(2)), rng.integers(0, 9, rows)
    score = np.stack([np.zeros(rows), x / 12 - 2 + 3 * (b ^ c)] + [2.0 - x / 20] * (classes - 2), axis=1)
    hidden = rng.random(rows) < 0.05
    return {
        "<b>x = y</b>": [None if h else int(v) for v, h in zip(x, hidden, strict=True)],
        "b × c": [f"b{k}" for k in b],
        "c": [f"c|{k}" for k in c],
        "noise": [f"n{k}" for k in noise],
        "t": [f"k{k}" for k in (score + rng.gumbel(size=score.shape)).argmax(axis=1)],
    }


def fitted(classes: int = 2, **settings: Any) -> Any:
    return likely.fit(table(classes), "t", likely.Additive(**settings))


def test_a_curve_shows_the_bits_that_the_ledger_has() -> None:
    model = fitted(order=1)
    effect = find_effects(model)["<b>x = y</b>"]
    bits = evidence_bits(effect.logs, prior_of(model))[:, 1]
    rest = {n: v[0] for n, v in table().items() if n != "t"}
    for x in (0, 17, 33, 59):
        ledger = likely.explain(model, {**rest, "<b>x = y</b>": x}, of="k1", against="k0")
        entry = next(e for e in ledger.entries if e.name == "<b>x = y</b>")
        step = int(np.searchsorted(effect.edges, x, side="right"))
        assert bits[step] == pytest.approx((entry.log_ratio or 0.0) / math.log(2), abs=1e-9)


@pytest.mark.parametrize(
    "members", [(likely.Additive(order=3), likely.Logistic()), (likely.Additive(), likely.NaiveBayes())]
)
def test_the_curve_of_a_pool_has_what_every_member_says(members: Any) -> None:
    """A line or a density has no steps of its own: the curve, its mean and the ledger must still agree."""
    found = {n: v for n, v in table().items() if n != "noise"}
    model: Any = likely.fit(found, "t", likely.Pool(members))
    x, seen = "<b>x = y</b>", sorted({v for v in found["<b>x = y</b>"] if v is not None})

    rest = {n: v[0] for n, v in found.items() if n != "t"}

    def said(value: int) -> float:
        ledger = likely.explain(model, {**rest, x: value}, of="k1", against="k0")
        entry = next(e for e in ledger.entries if e.name == x)
        alone = [p for p in entry.parts if p.name == "by itself"] or [entry]
        return (alone[0].log_ratio or 0.0) / math.log(2)

    bits = {value: said(value) for value in seen}
    effect = find_effects(model)[x]
    steps = evidence_bits(effect.logs, prior_of(model))[:, 1]
    for k, step in enumerate(steps):  # each step says what some value in it says
        inside = [bits[v] for v in seen if int(np.searchsorted(effect.edges, v, side="right")) == k]
        assert not inside or min(abs(step - b) for b in inside) < 1e-9
    assert len(steps) > 20 and np.ptp(steps) == pytest.approx(np.ptp(list(bits.values())), rel=0.1)
    mean = float(np.mean([abs(bits[v]) if v is not None else 0.0 for v in found[x]]))
    headline = present_attribute(model, x).headline
    own = headline.removesuffix(" bits.").split(" its own term ")[1]
    assert float(own) == pytest.approx(mean, rel=0.03)
    lines = next(t for t in present_model(model).tables if t.title.startswith("How far each attribute moves")).rows
    assert next(row for row in lines if row[0] == x)[3] == own


def test_steps_are_put_together_by_what_they_say_and_weigh() -> None:
    runs = merge_steps(np.array([[0.0], [1.0], [1.1], [5.0]]), np.array([1.0, 1.0, 1.0, 1e-9]), 2)
    assert runs == [slice(0, 1), slice(1, 4)]  # the last weighs nothing, so joining it changes least
    effect = find_effects(fitted(order=1))["<b>x = y</b>"]
    few = coarsen(effect, 5)
    assert len(few.labels) == len(few.logs) == 5 and few.weight.sum() == pytest.approx(effect.weight.sum())
    assert few.weight @ few.logs == pytest.approx(effect.weight @ effect.logs)
    assert few.labels[0].startswith("up to") and few.labels[-1].endswith("or more")


def test_a_grid_shows_what_a_pair_says() -> None:
    model = fitted()
    effects = find_effects(model)
    grid = pair_grid(model, (effects["b × c"], effects["c"]), 6)
    bits = evidence_bits(grid.logs, prior_of(model))[..., 1]
    for i, b in enumerate(grid.labels[0]):
        for j, c in enumerate(grid.labels[1]):
            rest = {n: v[0] for n, v in table().items() if n != "t"}
            ledger = likely.explain(model, {**rest, "b × c": b, "c": c}, of="k1", against="k0")
            one = next(e for e in ledger.entries if e.name == "c")
            (half,) = [p for p in one.parts if p.name == "with b × c"]
            assert bits[i, j] == pytest.approx(2 * (half.log_ratio or 0.0) / math.log(2), abs=1e-9)
    assert abs(bits).min() > 0.3  # they speak together only


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_report_names_terms_by_strength(classes: int, order: int) -> None:
    model = fitted(classes, order=order, missing="level")
    titles = [t.title for t in present_model(model).tables]
    assert any(t.startswith("How far each attribute moves") for t in titles)
    assert any("columns" in t for t in titles) == (order > 1)
    for name in model.schema.names[:-1]:
        page = present_attribute(model, name)
        assert page.headline.startswith(name)
        json.loads(to_json(page))
    curve = present_attribute(model, "<b>x = y</b>").tables[0]
    assert curve.rows[-1][0] == "(missing)" and len(curve.rows) <= 21
    assert ("What two attributes say together, in the mean" in titles) == (order > 1)
    whole = json.loads(to_json(present_attribute(model, "<b>x = y</b>", everything=True)))
    assert len(whole["tables"][0]["rows"]) >= len(curve.rows)


def test_other_models_are_shown_as_before() -> None:
    model = likely.fit(table(), "t", likely.NaiveBayes())
    assert model.importance is None and find_effects(model) == {}
    assert not any("says by itself" in t.title for t in present_model(model).tables)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_plot_draws_the_term(classes: int) -> None:
    model = fitted(classes)
    assert 'class="chart values-chart"' in likely.plot(model, attribute="<b>x = y</b>")
    effect = find_effects(model)["c"]
    bits = evidence_bits(effect.logs, prior_of(model))
    drawn = likely.plot(model, attribute="c")
    assert signed(float(bits[0, 1 if classes == 2 else int(bits[0].argmax())])) in drawn
    assert "<b>x" not in likely.plot(model, attribute="<b>x = y</b>")


def test_bins_that_were_counted_are_shown_in_a_pool() -> None:
    """Tables of counted bins have a row more than those of other learners: the pool for updates has such members."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=300)
    table = {
        "x": x.tolist(),
        "z": rng.normal(size=300).tolist(),
        "t": ["a" if v > 0 else "b" for v in x + rng.normal(size=300)],
    }
    model = likely.fit(table, "t", likely.Pool((likely.TunedNaiveBayes(densities=("binned",)),), weights=(0.5,)))
    effects = find_effects(model)
    assert all(len(effect.logs) == len(effect.labels) == len(effect.weight) for effect in effects.values())
    for name, effect in effects.items():
        assert effect.edges is not None
        points = [-9.0, *effect.edges.tolist()]
        for value, logs in zip(points, effect.logs, strict=True):
            ledger = likely.explain(model, {"x": 0.0, "z": 0.0, name: value})
            (entry,) = (e for e in ledger.entries if e.name == name)
            assert entry.log_values["b"] - entry.log_values["a"] == pytest.approx(logs[1] - logs[0], abs=1e-9)
