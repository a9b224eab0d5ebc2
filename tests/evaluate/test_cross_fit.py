"""How models answer rows that they did not learn from: whole rows, and such of which cells are made unknown."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import likely
from likely.evaluate.cross_fit import CrossFit, with_unknown
from likely.models.shapes.guarantee import masked_names
from likely.table.batch import Codes


def table_of(rng, rows):
    """Two numbers and two levels, each of which tells something."""
    y = rng.integers(0, 2, rows)
    return {
        "x": (rng.normal(size=rows) + y).tolist(),
        "z": (rng.normal(size=rows) - y).tolist(),
        "a": [f"a{k}" for k in (rng.random(rows) < 0.3 + 0.4 * y).astype(int)],
        "b": [f"b{k}" for k in rng.integers(0, 3, rows)],
        "y": [f"c{k}" for k in y],
    }


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(11)
    return table_of(rng, 700), table_of(rng, 2000)


@pytest.fixture(scope="module")
def model(tables):
    return likely.fit(tables[0], "y")


LEARNERS = [None, likely.NaiveBayes(), likely.Logistic(), likely.Additive(order=1)]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda own: type(own).__name__)
def test_sets_cover_rows_whole_and_partly_known(tables, learner) -> None:
    own = likely.fit(tables[0], "y", learner, judge=True)
    rng = np.random.default_rng(12)
    rows = {n: c for n, c in tables[1].items() if n != "y"}
    truth = np.array([own.classes.index(c) for c in tables[1]["y"]])
    names = list(rows)
    for unknown in range(len(names) + 1):
        gone = rng.random((len(truth), len(names))).argsort(axis=1).argsort(axis=1) < unknown
        partly = {
            n: [None if out else v for v, out in zip(rows[n], own_gone, strict=True)]
            for n, own_gone in zip(names, gone.T, strict=True)
        }
        answer = own.posterior(partly)
        assert set(answer.gaps.tolist()) == {[0, 1, 2, 3, 4][unknown]}
        inside = answer.sets(0.9)
        assert inside[np.arange(len(truth)), truth].mean() > 0.86
        low, high = answer.intervals(0.9)
        assert (low <= high).all()
        # Rows that are answered alike come out as their intervals say.
        order = np.argsort(answer.matrix[:, 1])
        for some in np.array_split(order, 4):
            share = truth[some].mean()
            noise = 2.6 * np.sqrt(0.25 / len(some))
            assert low[some, 1].mean() - noise <= share <= high[some, 1].mean() + noise


def test_no_model_has_seen_what_it_is_asked(model) -> None:
    found = CrossFit(model)
    part = next(iter(found.parts.training))
    others = found.model_without(part)
    mine = found.rows.inside(part)
    assert others.summary.total.floats().sum() == pytest.approx(found.rows.weight[~mine].sum())
    answers = found.answers()
    assert len(answers.truth) == len(found.places) and np.allclose(np.exp(answers.logs).sum(axis=1), 1)


def test_the_order_of_rows_changes_no_bit(tables, model) -> None:
    order = np.random.default_rng(1).permutation(len(tables[0]["y"]))
    other = likely.fit({n: [c[k] for k in order] for n, c in tables[0].items()}, "y")
    assert model.to_bytes() == other.to_bytes()


def test_cells_are_made_unknown_by_content(model) -> None:
    batch = model.kept_rows.batch
    names = masked_names(model.schema)
    gone = np.zeros((batch.rows, len(names)), np.bool_)
    gone[0] = True
    after = with_unknown(batch, names, gone)
    for name in names:
        cells, before = after.cells[name], batch.cells[name]
        if isinstance(cells, Codes):
            assert cells.codes[0] == -1 and np.array_equal(cells.codes[1:], before.codes[1:])
        else:
            assert np.isnan(cells[0]) and np.array_equal(cells[1:], before[1:], equal_nan=True)


def test_files_know_it_and_copies_hold_no_rows(model, tmp_path) -> None:
    row = {"x": 1.5, "a": "a1"}
    model.save(tmp_path / "m.likely")
    loaded = likely.load(tmp_path / "m.likely")
    for level in (0.5, 0.9, 0.99):
        assert loaded.posterior(row).set(level) == model.posterior(row).set(level)
        assert loaded.posterior(row).interval("c1", level) == model.posterior(row).interval("c1", level)
    assert loaded.kept_rows is None and pickle.loads(pickle.dumps(model)).kept_rows is None


def test_sums_alone_are_judged_where_that_is_asked(tables) -> None:
    plain = likely.fit(tables[0], "y", likely.NaiveBayes())
    with pytest.raises(likely.LikelyError, match="judge=True"):
        plain.posterior({"x": 1.0}).set()
    judged = likely.fit(tables[0], "y", likely.NaiveBayes(), judge=True)
    assert judged.judgement.accuracy.value == pytest.approx(0.8, abs=0.08)
    assert np.array_equal(judged.posterior(tables[1]).matrix, plain.posterior(tables[1]).matrix)


def test_what_was_learned_since_is_not_pretended(tables) -> None:
    judged = likely.fit(tables[0], "y", likely.NaiveBayes(), judge=True)
    more = likely.learn(judged, {n: c[:50] for n, c in tables[1].items()})
    with pytest.raises(likely.LikelyError, match="merged rows since"):
        more.posterior({"x": 1.0}).set()


def test_another_prior_has_other_answers(model) -> None:
    with pytest.raises(likely.LikelyError, match="prior of training"):
        likely.decide(model, {"x": 1.0}, prior={"c1": 0.1}, set_level=0.9)
    with pytest.raises(likely.LikelyError, match="level"):
        model.posterior({"x": 1.0}).set(95)


def test_decisions_abstain_where_what_is_left_calls_for_other_actions(model, tables) -> None:
    rows = {n: c for n, c in tables[1].items() if n != "y"}
    answer = model.posterior(rows)
    by_set = likely.decide(model, rows, set_level=0.9)
    several = answer.sets(0.9).sum(axis=1) > 1
    assert several.any() and [a is None for a in by_set.action] == several.tolist()
    assert {r for r, a in zip(by_set.reason, by_set.action, strict=True) if a is None} == {
        "too unsure: what is not ruled out calls for other actions"
    }
    low, high = answer.intervals(0.9)
    by_interval = likely.decide(model, rows, interval=0.9)
    # Of two classes at equal costs: the more probable one must stay so over the whole interval.
    best = answer.matrix.argmax(axis=1)
    at = np.arange(len(best))
    worst = np.maximum(np.minimum(low, answer.matrix)[at, best], 1 - np.maximum(high, answer.matrix)[at, 1 - best])
    assert [a is None for a in by_interval.action] == (worst < 0.5).tolist()
    always = likely.decide(model, rows, {"c0": {"ask": 1, "go": 2}, "c1": {"ask": 1, "go": 3}}, set_level=0.9)
    assert set(always.action) == {"ask"}  # one action for all classes needs no certainty
