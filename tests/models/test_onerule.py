"""One rule takes the attribute that predicts best when each row is left out; its score is that of really doing so."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely.models.naive.one_rule import left_out_score, upper_bound


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("pq")), min_size=4, max_size=14),
       st.sampled_from([0.5, 1.0, 3.0]))  # fmt: skip
def test_the_score_is_that_of_leaving_rows_out(rows: list[tuple[str, str]], pseudo_count: float) -> None:
    classes = sorted({y for _, y in rows})
    levels = sorted({k for k, _ in rows})
    if len(classes) < 2 or min(sum(y == c for _, y in rows) for c in classes) < 2:
        return
    expected = 0.0
    for i, (k, y) in enumerate(rows):
        rest = [r for j, r in enumerate(rows) if j != i]
        joint = {}
        for c in classes:
            own = [r for r in rest if r[1] == c]
            share = (sum(r[0] == k for r in own) + pseudo_count) / (len(own) + pseudo_count * len(levels))
            joint[c] = len(own) / len(rest) * share
        expected += math.log(joint[y] / sum(joint.values()))
    seen = np.array([[sum(r == (k, c) for r in rows) for c in classes] for k in levels], float)
    found = left_out_score(seen, np.zeros(len(classes)), seen.sum(axis=0), pseudo_count)
    assert found == pytest.approx(expected, rel=1e-10)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=8),
       st.lists(st.booleans(), min_size=8, max_size=8), st.sampled_from([0.0, 0.5, 1.0, 3.0]),
       st.lists(st.integers(0, 3), min_size=3, max_size=3))  # fmt: skip
def test_no_way_of_joining_values_scores_above_the_bound(
    rows: list[tuple[int, int, int]], joined: list[bool], pseudo_count: float, gone: list[int]
) -> None:
    seen, lost = np.array(rows, float), np.array(gone, float)
    total = seen.sum(axis=0) + lost
    bins = np.cumsum([not j for j in joined[: len(rows)]])
    table = np.zeros((bins.max() + 1, 3))
    np.add.at(table, bins, seen)
    if total.sum() > 1:
        assert left_out_score(table, lost, total, pseudo_count) <= upper_bound(seen, lost, total) + 1e-9


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 1.0]))
def test_the_best_is_that_of_all_factors_made_and_scored(seed: int, pseudo_count: float) -> None:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 80)
    columns = {
        "a": (y + rng.normal(0, rng.uniform(0.3, 5), 80)).round(1).tolist(),
        "k": [f"k{v}" for v in np.where(rng.random(80) < 0.4, y, rng.integers(0, 5, 80))],
        "b": (y * rng.choice([-1, 1]) + rng.normal(0, rng.uniform(0.3, 5), 80)).tolist(),
        "c": (y // 2 + rng.normal(0, rng.uniform(0.3, 3), 80)).round().tolist(),
        "y": [f"c{v}" for v in y],
    }
    summary = likely.summarize(columns, "y")
    total = summary.total.floats()
    scores = {"": left_out_score(np.zeros((0, 3)), total, total, pseudo_count)}
    for factor in likely.NaiveBayes(pseudo_count=pseudo_count, numbers="binned").learn(summary).factors:
        levels = getattr(factor, "levels", factor)
        scores[factor.name] = left_out_score(levels.seen(), levels.counts.other.floats()[0], total, pseudo_count)
    best = max(scores, key=scores.__getitem__)
    assert [f.name for f in likely.OneRule(pseudo_count).learn(summary).factors] == ([best] if best else [])


def test_it_takes_the_best_attribute_and_none_where_none_helps(examples) -> None:
    model = likely.fit(examples / "iris.csv", "species", likely.OneRule())
    assert [f.name for f in model.factors] in (["petal_length"], ["petal_width"])
    rng = np.random.default_rng(0)
    noise = {"k": rng.choice(list("abcdefgh"), 60).tolist(), "y": (["p", "q"] * 30)}
    model = likely.fit(noise, "y", likely.OneRule())
    assert model.factors == () and "No attribute" in model.notes[0]
    assert model.posterior({"k": "a"}).prob("p") == 0.5
    assert likely.fit({"y": ["p", "q", "p"]}, "y", likely.OneRule()).posterior({}).prob("p") == pytest.approx(2 / 3)


def test_a_rule_is_kept_in_a_file_and_refuses_nonsense(tmp_path, examples) -> None:
    model = likely.fit(examples / "weather.csv", "play", likely.OneRule(pseudo_count=0.5))
    model.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    assert again.learner == model.learner and again.posterior({"outlook": "sunny"}).matrix == pytest.approx(
        model.posterior({"outlook": "sunny"}).matrix
    )
    with pytest.raises(likely.LikelyError):
        likely.OneRule(pseudo_count=-1)
