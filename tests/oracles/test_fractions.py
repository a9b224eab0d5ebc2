"""Beside exact rational arithmetic over rows, done in the plainest way: counts are sums, products are fractions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction as F
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import likely

LEVELS = {"a": ["x", "y", "z"], "b": ["p", "q"]}
CLASSES = ["c0", "c1", "c2"]


@dataclass(frozen=True)
class Case:
    rows: list[dict[str, Any]]
    query: dict[str, Any]
    settings: dict[str, Any]


weights = st.sampled_from([1.0, 2.0, 0.5, 0.1, 3.25])
some_rows = st.lists(
    st.fixed_dictionaries(
        {
            **{name: st.sampled_from([*levels, None]) for name, levels in LEVELS.items()},
            "t": st.sampled_from(CLASSES),
            "w": weights,
        }
    ),
    min_size=1,
    max_size=12,
)
smoothing = st.one_of(
    st.fixed_dictionaries({"pseudo_count": st.sampled_from([0.0, 0.5, 1.0, 2.0, 0.1])}),
    st.fixed_dictionaries({"m_estimate": st.sampled_from([0.0, 1.0, 2.5, 6.0])}),
    st.just({"m_estimate": 3.0, "level_weights": "unequal"}),
)
cases = st.builds(
    lambda rows, query, smooth, other: Case(rows, query, {**smooth, **other}),
    some_rows,
    st.fixed_dictionaries({name: st.sampled_from([*levels, "new", None]) for name, levels in LEVELS.items()}),
    smoothing,
    st.fixed_dictionaries(
        {
            "missing": st.sampled_from(["skip", "level"]),
            "unseen": st.sampled_from(["skip", "reserve"]),
            "prior": st.sampled_from(["observed", "uniform"]),
            "prior_pseudo_count": st.sampled_from([0.0, 1.0, 0.5]),
        }
    ),
)


def written(number: float) -> F:
    """0.1 in a setting means a tenth."""
    return F(str(number))


def products(case: Case, shares_of: dict[str, dict[str, F]]) -> dict[str, F]:
    """L(class) for every class that rows have, straight from the definition."""
    rows, chosen = case.rows, case.settings
    classes = sorted({r["t"] for r in rows})

    def weigh(label: str, **cells: Any) -> F:
        return sum((F(r["w"]) for r in rows if r["t"] == label and all(r[k] == v for k, v in cells.items())), F(0))

    out = {}
    for label in classes:
        extra = written(chosen["prior_pseudo_count"])
        product = (weigh(label) + extra) / (sum(map(weigh, classes), F(0)) + extra * len(classes))
        if chosen["prior"] == "uniform":
            product = F(1, len(classes))
        for name, cell in case.query.items():
            levels = sorted({r[name] for r in rows} - {None})
            shares = shares_of[name]
            one = sum(shares.values(), F(0)) / len(shares) if shares else smoothing_of_none(chosen)
            total = sum((weigh(label, **{name: level}) + shares[level] for level in levels), F(0))
            if chosen["missing"] == "level":
                total += weigh(label, **{name: None}) + one
            if chosen["unseen"] == "reserve":
                total += one
            if cell is None:
                if chosen["missing"] == "skip":
                    continue
                top = weigh(label, **{name: None}) + one
            elif cell not in levels:
                if chosen["unseen"] == "skip":
                    continue
                top = one
            else:
                top = weigh(label, **{name: cell}) + shares[cell]
            product *= top / total if total else F(0)
        out[label] = product
    return out


def smoothing_of_none(chosen: dict[str, Any]) -> F:
    return written(chosen.get("m_estimate", chosen.get("pseudo_count", 0.0)))


def shares_and_settings(case: Case) -> tuple[dict[str, dict[str, F]], dict[str, Any]]:
    """What smoothing adds to each level, and the settings that say so."""
    chosen, shares = dict(case.settings), {}
    unequal: dict[str, dict[str, float]] = {}
    for name in LEVELS:
        levels = sorted({r[name] for r in case.rows} - {None})
        if "m_estimate" not in chosen:
            shares[name] = {level: written(chosen["pseudo_count"]) for level in levels}
        elif chosen.get("level_weights") and len(levels) > 1:
            unequal[name] = {level: 0.25 if k else 1 - 0.25 * (len(levels) - 1) for k, level in enumerate(levels)}
            shares[name] = {level: written(chosen["m_estimate"]) * F(p) for level, p in unequal[name].items()}
        else:
            shares[name] = {level: written(chosen["m_estimate"]) / len(levels) for level in levels}
    if chosen.pop("level_weights", None):
        chosen["level_weights"] = unequal
    return shares, chosen


@given(cases)
@settings(max_examples=120)
def test_products_posteriors_and_logs_equal_exact_arithmetic(case: Case) -> None:
    shares, chosen = shares_and_settings(case)
    table = {name: [r[name] for r in case.rows] for name in (*LEVELS, "t", "w")}
    types = dict.fromkeys([*LEVELS, "t"], "nominal")
    model = likely.fit(table, "t", likely.NaiveBayes(**chosen), types=types, weight="w")
    expected = products(case, shares)
    working = model.working(case.query)
    assert working.products == expected
    total = sum(expected.values(), F(0))
    posterior = model.posterior(case.query)
    assert bool(posterior.undefined[0]) == (total == 0)
    wanted = [float(p / total) if total else 0.0 for p in expected.values()]
    np.testing.assert_allclose(posterior.matrix[0], wanted, rtol=1e-13, atol=0)
    if total:
        assert math.isclose(posterior.log_evidence[0], math.log(total), rel_tol=1e-12, abs_tol=1e-12)
    for name, product in expected.items():
        assert (
            working.log10[name] == -math.inf
            if not product
            else math.isclose(working.log10[name], math.log10(product), rel_tol=1e-12, abs_tol=1e-12)
        )


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.floats(-1e9, 1e9, width=32), st.sampled_from([1.0, 2.0, 0.5])),
        min_size=4,
        max_size=15,
    ),
    st.sampled_from(["unbiased", "ml"]),
    st.floats(-1e9, 1e9),
)
@settings(max_examples=100)
def test_normal_densities_equal_exact_moments(rows: list[tuple[str, float, float]], variance: str, x: float) -> None:
    below = 1 if variance == "unbiased" else 0

    def moments(part: list[tuple[str, float, float]]) -> tuple[F, F, F]:
        weight = sum((F(w) for _, _, w in part), F(0))
        mean = sum((F(w) * F(v) for _, v, w in part), F(0)) / weight
        square = sum((F(w) * (F(v) - mean) ** 2 for _, v, w in part), F(0))
        return weight, mean, square / (weight - below) if weight > below else F(0)

    classes = sorted({c for c, _, _ in rows})
    whole = moments(rows)
    table = {"x": [v for _, v, _ in rows], "t": [c for c, _, _ in rows], "w": [w for _, _, w in rows]}
    learner = likely.NaiveBayes(variance=variance, variance_floor=0.01)
    model = likely.fit(table, "t", learner, types={"x": "number"}, weight="w")
    if whole[2] == 0:
        assert not model.factors and len(model.notes) == 1
        return
    working = model.working({"x": x})
    for label in classes:
        weight, mean, spread = moments([r for r in rows if r[0] == label])
        borrows = weight <= 1 and (variance == "unbiased" or spread == 0)
        spread = whole[2] if borrows else max(spread, whole[2] * F(0.01))
        expected = -0.5 * math.log(2 * math.pi * spread) - float((F(x) - mean) ** 2 / spread / 2)
        # The mean is rounded once, so x near it differs by an ulp of the mean.
        slack = 1e-12 + 4e-16 * abs(float(mean)) / math.sqrt(spread) * math.sqrt(abs(2 * expected) + 10)
        assert math.isclose(working.steps[1].log_values[label], expected, rel_tol=1e-12, abs_tol=slack)
