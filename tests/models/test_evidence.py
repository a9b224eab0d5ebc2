"""The evidence in closed form: the same by predicting row after row, by listing all tables, and by integration."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import dblquad
from scipy.special import logsumexp

import likely
from likely import Prior, Schema, Summary
from likely.models.pool.hypotheses import MEAN_ROWS, SPREAD_SHAPE, log_evidence
from likely.table.schema import Column

NB = likely.NaiveBayes
TYPES = {"a": "nominal", "x": "number", "y": "nominal"}


def summary_of(rows: list[tuple[Any, ...]], names: str, weight: str | None = None) -> Summary:
    data = {n: [r[k] for r in rows] for k, n in enumerate(names)}
    return likely.summarize(data, "y", types={n: TYPES[n] for n in names if n in TYPES}, weight=weight)


@pytest.mark.parametrize(
    "learner",
    [
        NB(prior_pseudo_count=0.5),
        NB(pseudo_count=0.3, missing="level"),
        NB(m_estimate=2, level_weights={"a": {"u": 0.5, "v": 0.3, "w": 0.2}}),
        NB(unseen="reserve", prior="uniform"),
        NB(m_estimate=3, missing="level", unseen="reserve", prior={"p": 0.4, "q": 0.6}),
    ],
    ids=repr,
)
def test_levels_by_predicting_row_after_row(learner: Any) -> None:
    rows = [("u", "p"), ("v", "q"), ("u", "p"), (None, "q"), ("w", "p"), ("w", "q"), (None, "p")]
    whole = summary_of(rows, "ay")
    levels = ("u", "v", "w")
    given = (learner.level_weights or {}).get("a")
    m, gamma = learner.m_estimate, learner.pseudo_count
    share = {v: gamma if m is None else m * (given[v] if given else 1 / 3) for v in levels}
    one = sum(share.values()) / 3
    extra = dict(share)
    if learner.missing == "level":
        extra[None] = one
    if learner.unseen == "reserve":
        extra["(other)"] = one
    log = 0.0
    seen: dict[Any, float] = {}
    for level, label in rows:
        if learner.prior == "observed":
            g = learner.prior_pseudo_count or 1.0
            log += math.log((seen.get(label, 0) + g) / (sum(seen.get(c, 0) for c in "pq") + 2 * g))
        else:
            log += math.log(0.5 if learner.prior == "uniform" else learner.prior[label])
        seen[label] = seen.get(label, 0) + 1
        if level in extra:
            there = sum(n for key, n in seen.items() if isinstance(key, tuple) and key[1] == label)
            log += math.log((seen.get((level, label), 0) + extra[level]) / (there + sum(extra.values())))
            seen[level, label] = seen.get((level, label), 0) + 1
    assert log_evidence(learner, whole) == pytest.approx(log, rel=1e-12)


def test_all_tables_of_three_rows_sum_to_one() -> None:
    # Levels and classes that a schema declares count whether or not a table has them; classes must all occur to count,
    # so the prior is given.
    learner = NB(pseudo_count=0.7, prior={"p": 0.25, "q": 0.75})
    logs = []
    for cells in product("uv", repeat=3):
        for labels in product("pq", repeat=3):
            data = {"a": ["u", "v", *cells], "y": ["p", "q", *labels]}
            logs.append(log_evidence(learner, likely.summarize(data, "y", types={"a": "nominal"})))
    before = log_evidence(learner, likely.summarize({"a": ["u", "v"], "y": ["p", "q"]}, "y", types={"a": "nominal"}))
    # P(three more rows | the first two), over all of them.
    assert logsumexp(np.array(logs) - before) == pytest.approx(0, abs=1e-12)


NUMBERS = [(1.0, "p"), (2.5, "p"), (2.0, "q"), (7.0, "q"), (8.5, "q"), (None, "p")]


def test_numbers_by_predicting_row_after_row() -> None:
    whole = summary_of(NUMBERS, "xy")
    learner = NB(prior="uniform")
    x = np.array([v for v, _ in NUMBERS if v is not None])
    centre, variance = x.mean(), x.var(ddof=1)
    log = 6 * math.log(0.5)
    for label in "pq":
        rows, mean, shape, scale = MEAN_ROWS, centre, SPREAD_SHAPE, SPREAD_SHAPE * variance
        for v in (v for v, c in NUMBERS if c == label and v is not None):
            log += stats.t.logpdf(v, 2 * shape, mean, math.sqrt(scale * (rows + 1) / (shape * rows)))
            scale += rows * (v - mean) ** 2 / (2 * (rows + 1))
            mean, rows, shape = (rows * mean + v) / (rows + 1), rows + 1, shape + 0.5
    assert log_evidence(learner, whole) == pytest.approx(log, rel=1e-12)


def test_numbers_by_integration() -> None:
    whole = summary_of(NUMBERS[:5], "xy")
    x = np.array([v for v, _ in NUMBERS[:5]])
    centre, variance = x.mean(), x.var(ddof=1)
    total = 5 * math.log(0.5)
    for label in "pq":
        own = np.array([v for v, c in NUMBERS[:5] if c == label])

        def density(mean: float, log_v: float, own: Any = own) -> float:
            v = math.exp(log_v)
            prior = stats.invgamma.pdf(v, SPREAD_SHAPE, scale=SPREAD_SHAPE * variance)
            prior *= stats.norm.pdf(mean, centre, math.sqrt(v / MEAN_ROWS))
            return float(prior * np.prod(stats.norm.pdf(own, mean, math.sqrt(v))) * v)

        total += math.log(dblquad(density, -6, 12, -60, 60, epsabs=1e-10)[0])
    assert log_evidence(NB(prior="uniform"), whole) == pytest.approx(total, rel=1e-4)


def test_bins_are_densities_too() -> None:
    whole = summary_of([r for r in NUMBERS if r[0] is not None], "xy")
    learner = NB(numbers="binned", bins={"x": [2.25, 7.5]}, prior="uniform")
    # p: one below 2.25, one between; q: one in each. Widths 1.25, 5.25, 1.
    log = 5 * math.log(0.5) + math.log(1 / 3 * 1 / 4) + math.log(1 / 3 * 1 / 4 * 1 / 5)
    log -= 2 * math.log(1.25) + 2 * math.log(5.25)
    assert log_evidence(learner, whole) == pytest.approx(log, rel=1e-12)
    for bins in ("width", "frequency"):
        assert math.isfinite(log_evidence(NB(numbers="binned", bins=bins, bin_count=2), whole) or math.nan)


@pytest.mark.parametrize(
    "learner",
    [
        NB(pseudo_count=0),
        NB(m_estimate=0),
        NB(numbers="kernel"),
        NB(numbers="binned"),
        Prior(),
    ],
    ids=repr,
)
def test_none_where_there_is_no_closed_form(learner: Any) -> None:
    assert log_evidence(learner, summary_of([("u", 1.0, "p"), ("v", 2.0, "q"), ("u", 4.0, "q")], "axy")) is None


def test_what_a_prior_calls_impossible_has_no_evidence() -> None:
    whole = summary_of([("u", "p"), ("v", "q")], "ay")
    assert log_evidence(NB(prior={"p": 1.0, "q": 0.0}), whole) == -math.inf
    assert log_evidence(NB(m_estimate=1, level_weights={"a": {"u": 1.0, "v": 0.0}}), whole) == -math.inf


def test_weight_two_is_the_row_twice_and_order_does_not_matter() -> None:
    rows = [("u", 1.0, "p"), ("v", 2.5, "q"), ("u", 4.0, "q"), ("u", 0.5, "p")]
    twice = log_evidence(NB(), summary_of(rows * 2, "axy"))
    heavy = likely.summarize(
        {"a": [r[0] for r in rows], "x": [r[1] for r in rows], "y": [r[2] for r in rows], "w": [2.0] * 4},
        "y",
        types=TYPES,
        weight="w",
    )
    assert log_evidence(NB(), heavy) == twice == log_evidence(NB(), summary_of(rows[::-1] * 2, "axy"))


def test_scale_shifts_the_evidence_by_the_unit_alone() -> None:
    base = log_evidence(NB(), summary_of([(v, c) for v, c in NUMBERS], "xy"))
    for factor in (1e-200, 1e200):
        other = log_evidence(NB(), summary_of([(v and v * factor, c) for v, c in NUMBERS], "xy"))
        assert other == pytest.approx(base - 5 * math.log(factor), rel=1e-9)


def test_evidence_prefers_the_attribute_that_matters() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["p", "q"], 300)
    told = np.where(rng.random(300) < 0.9, np.where(y == "p", "u", "v"), "u")
    noise = rng.permutation(told)
    one, two = (likely.summarize({"a": a, "y": y}, "y", types={"a": "nominal"}) for a in (told, noise))
    assert log_evidence(NB(), one) > log_evidence(NB(), two) + 20  # type: ignore[operator]


def test_an_empty_schema_is_the_classes_alone() -> None:
    summary = likely.summarize({"y": ["p", "p", "q"], "k": [1.0, 1.0, 1.0]}, "y", types={"k": "number"})
    assert isinstance(summary.schema, Schema) and isinstance(summary.schema.columns[0], Column)
    assert log_evidence(NB(), summary) == pytest.approx(math.log(1 / 2 * 2 / 3 * 1 / 4), rel=1e-12)
