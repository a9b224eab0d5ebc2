"""One rule takes the attribute that predicts best when each row is left out; its score is that of really doing so."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely.models.onerule import left_out_score


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
