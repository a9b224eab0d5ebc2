"""Laws of every naive Bayes model: terms add up to the score, posteriors are probabilities or say that they are not."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely.testing import bits

TYPES = {"a": "nominal", "b": "nominal", "x": "number", "y": "number", "t": "nominal"}
cells = {
    "a": st.sampled_from(["u", "v", "w", None]),
    "b": st.sampled_from(["0", "1", "ä\n,", None]),
    "x": st.sampled_from([1e9, 1e9 + 1e-7, 1.5, -3.0, 0.0, None]),
    "y": st.sampled_from([1e300, -1e300, 5e-324, 1e-200, 7.0, math.inf, -math.inf, math.nan, None]),
}
rows = st.lists(
    st.fixed_dictionaries(
        {**cells, "t": st.sampled_from(["c", "d", "e"]), "w": st.sampled_from([1.0, 2.0, 0.3, 1e-9])}
    ),
    min_size=1,
    max_size=10,
)
queries = st.lists(
    st.fixed_dictionaries(
        {
            "a": st.sampled_from(["u", "v", "new", None]),
            "b": st.sampled_from(["0", "2", None]),
            "x": st.sampled_from([1e9, 1.5, 1e300, math.inf, None]),
            "y": st.sampled_from([1e300, 1.7e308, -1e300, 0.0, 1e-200, math.nan, -math.inf, None]),
        }
    ),
    min_size=1,
    max_size=6,
)
learners = st.builds(
    likely.NaiveBayes,
    pseudo_count=st.sampled_from([0, 0.5, 1]),
    m_estimate=st.sampled_from([None, 0, 2.0]),
    prior=st.sampled_from(["observed", "uniform"]),
    prior_pseudo_count=st.sampled_from([0, 1]),
    variance=st.sampled_from(["unbiased", "ml"]),
    variance_floor=st.sampled_from([1e-6, 0.1, 1e-300]),
    missing=st.sampled_from(["skip", "level"]),
    unseen=st.sampled_from(["skip", "reserve"]),
    numbers=st.sampled_from(["gaussian", "kernel", "binned", {"x": "kernel", "y": "binned"}, {"*": "kernel"}]),
    bandwidth=st.sampled_from(["silverman", "scott", "likelihood", 0.1]),
    bins=st.sampled_from(["mdl", "width", "frequency"]),
    bin_count=st.sampled_from([2, 10]),
    bins_closed=st.sampled_from(["left", "right"]),
)


def columns(table: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in table] for name in table[0]}


def summarized(table: list[dict[str, Any]], weighted: bool) -> likely.Summary:
    data = columns(table)
    if not weighted:
        del data["w"]
    return likely.summarize(data, "t", types=TYPES, weight="w" if weighted else None)


@given(rows, queries, learners, st.booleans())
@settings(max_examples=80)
def test_every_law_of_a_model(
    table: list[dict[str, Any]], asked: list[dict[str, Any]], learner: likely.NaiveBayes, weighted: bool
) -> None:
    summary = summarized(table, weighted)
    model = learner.learn(summary)
    data = columns(asked)
    (batch,) = model.batches(data)

    # Terms, added in order, are the score to the last bit.
    joint, terms = model.log_joint(batch), model.terms(batch)
    assert terms.names == ("prior", *(f.name for f in model.factors))
    total = terms.array[:, 0].copy()
    for k in range(1, len(terms.names)):
        total += terms.array[:, k]
    assert total.tobytes() == joint.tobytes()
    assert not np.isnan(joint).any() and not np.isposinf(joint).any()

    # A posterior is a distribution, or undefined and all zero; never NaN.
    posterior = model.posterior(data)
    sums = posterior.matrix.sum(axis=1)
    assert not np.isnan(posterior.matrix).any()
    assert (posterior.matrix[posterior.undefined] == 0).all()
    np.testing.assert_allclose(sums[~posterior.undefined], 1, rtol=1e-12)
    assert [b is None for b in posterior.best] == posterior.undefined.tolist()
    assert (np.isneginf(joint).all(axis=1) == posterior.undefined).all()

    # One row is a batch of one, and its working shows the same numbers.
    for k, row in enumerate(asked):
        alone = model.posterior(row)
        assert alone.matrix.tobytes() == posterior.matrix[k : k + 1].tobytes()
        working = model.working(row)
        assert working.best == posterior.best[k]
        assert list(working.posterior.values()) == posterior.matrix[k].tolist()
        for step, logs in zip(working.steps, terms.array[k], strict=True):
            for name, log in zip(model.classes, logs, strict=True):
                assert step.log_values[name] == log
                if step.values:
                    value = float(step.values[name])
                    shown = math.log(value) if 0 < value < math.inf else (log if value else -math.inf)
                    assert math.isclose(shown, log, rel_tol=1e-12, abs_tol=1e-12) or (value < 1e-300 and log < -690)
                else:
                    assert log == 0
        assert str(working).count("\n") >= len(model.classes)


@given(rows, queries, learners)
@settings(max_examples=60)
def test_learning_changes_nothing_and_repeats_itself(
    table: list[dict[str, Any]], asked: list[dict[str, Any]], learner: likely.NaiveBayes
) -> None:
    summary = summarized(table, True)
    before, said = bits(summary), repr(learner)
    one = learner.learn(summary)
    first = one.posterior(columns(asked)).matrix.tobytes()
    one.working(asked[0])
    two = learner.learn(summary)
    assert two.posterior(columns(asked)).matrix.tobytes() == first
    assert bits(summary) == before and repr(learner) == said
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.likely"
        one.save(path)
        saved = path.read_bytes()
        back = likely.load(path)
        assert back.learner == learner
        assert back.posterior(columns(asked)).matrix.tobytes() == first
        back.save(path)
        assert path.read_bytes() == saved
