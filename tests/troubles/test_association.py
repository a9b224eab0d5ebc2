"""Whether an attribute has anything to do with the class: against scipy's tests, and how often chance is blamed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from likely import summarize
from likely.evaluate.troubles.columns import association, association_tests, rank_test

ROWS = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 3)), min_size=3, max_size=60)


@given(ROWS)
@settings(max_examples=60, deadline=None)
def test_ranks_are_those_of_kruskal_and_wallis(rows: list[tuple[int, int]]) -> None:
    groups = [[x for x, c in rows if c == k] for k in range(4)]
    values = sorted({x for x, _ in rows})
    tally = np.array([[float(g.count(v)) for g in groups] for v in values])
    some = [g for g in groups if g]
    if len(some) < 2 or len(values) < 2:
        assert rank_test(tally) == 1.0
    else:
        assert rank_test(tally) == pytest.approx(stats.kruskal(*some).pvalue, rel=1e-9)


def test_levels_agree_with_pearson_where_rows_are_many() -> None:
    table = np.array([[310.0, 402, 290], [288, 361, 330], [200, 150, 260]])
    assert association(table) == pytest.approx(stats.chi2_contingency(table).pvalue, rel=0.05, abs=1e-12)
    weak = np.array([[510.0, 490], [480, 520]])
    assert association(weak) == pytest.approx(stats.chi2_contingency(weak, correction=False).pvalue, rel=0.02)


def test_chance_alone_is_rarely_taken_for_more() -> None:
    """A number is cut into bins without looking at the class: a best cut would be significant far too often."""
    rng = np.random.default_rng(5)
    table = {f"n{k}": rng.normal(size=150) for k in range(150)}
    table |= {
        f"l{k}": rng.choice(list("abcdefgh"), 150, p=[0.5, 0.2, 0.1, 0.1, 0.04, 0.03, 0.02, 0.01]) for k in range(150)
    }
    found = association_tests(summarize(table | {"y": rng.choice(["p", "q", "r"], 150)}, "y"))
    assert len(found) == 300 and all(t.idle for t in found)
    for kind in ("number", "nominal"):
        share = np.mean([t.p < 0.05 for t in found if t.kind == kind])
        assert 0.0 < share < 0.09, (kind, share)


def test_what_tells_is_found_in_values_and_in_what_is_missing() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["p", "q"], 400)
    gone = rng.random(400) < np.where(y == "p", 0.6, 0.1)
    table = {
        "shifted": rng.normal(size=400) + (y == "p"),
        "wider": rng.normal(size=400) * np.where(y == "p", 3.0, 1.0),
        "gaps": [None if g else v for g, v in zip(gone, rng.normal(size=400).tolist(), strict=True)],
        "noise": rng.normal(size=400),
        "text": [f"one two three {'four' if c == 'p' and k % 3 else 'five'} x{k}" for k, c in enumerate(y)],
        "y": y,
    }
    found = {t.name: t for t in association_tests(summarize(table, "y"))}
    assert {name for name, t in found.items() if t.p_of_all < 0.01} == {"shifted", "wider", "text"}
    assert {name for name, t in found.items() if t.p_missing_of_all < 0.01} == {"gaps"}
    assert found["noise"].idle and not found["gaps"].idle
    shares = found["gaps"].missing_by_class
    assert shares == pytest.approx([gone[y == c].mean() for c in ("p", "q")])
    wanted = stats.chi2_contingency([[sum(gone & (y == c)), sum(~gone & (y == c))] for c in "pq"], correction=False)
    assert found["gaps"].p_missing == pytest.approx(wanted.pvalue, rel=0.3)


def test_the_usual_value() -> None:
    table = {"x": ["a"] * 99 + ["b"], "n": [7.0] * 60 + [float(k) for k in range(40)], "y": ["p", "q"] * 50}
    found = {t.name: t for t in association_tests(summarize(table, "y"))}
    assert (found["x"].usual, found["x"].usual_share, found["x"].values) == ("a", 0.99, 2)
    assert (found["n"].usual, found["n"].usual_share, found["n"].values) == ("7", 0.61, 40)


def test_weights_that_are_shares_stand_for_rows() -> None:
    rng = np.random.default_rng(1)
    y = rng.choice(["p", "q"], 200)
    table = {"x": np.where(rng.random(200) < 0.7, y, "z"), "y": y, "w": np.full(200, 1 / 200)}
    (light,), (whole,) = (
        association_tests(summarize(table, "y", weight=w, types={} if w else {"w": "ignore"})) for w in ("w", None)
    )
    assert light.p == pytest.approx(whole.p, rel=1e-9)
