"""Auto and TunedNaiveBayes: what is kept and why, the mixture and its ledger, files, specs, threads, awkward tables."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax, logsumexp

import likely
from likely.apply.spec import parse_spec, spec_of
from likely.errors import SettingError
from likely.models.default import MOST_ROWS, default_learner
from likely.models.heldout.tempering import temperature_of, tempered
from likely.models.learners import learner_named
from likely.models.naive.attribute_weights import attribute_weights
from likely.models.pool.auto import candidates
from likely.models.pool.auto_model import REST, AutoModel
from likely.models.pool.stacking import stacking_weights
from likely.models.pool.trial import judge_candidates
from likely.models.posterior import Posterior


def mixed_table(rows: int = 240, seed: int = 0) -> dict[str, list[Any]]:
    """A circle, a level that matters, one that does not, missing cells."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, rows))
    level = rng.integers(0, 3, rows)
    score = 2 * (x * x + y * y - 1.5) + (level == 1) - (level == 2) + rng.logistic(size=rows)
    gone = rng.random(rows) < 0.1
    return {
        "x [red]": [None if g else float(v) for g, v in zip(gone, x, strict=True)],
        "y=": [float(v) for v in y],
        "lev el": [("", "b", "c")[k] or None for k in level],
        "noise": [("u", "v")[k] for k in rng.integers(0, 2, rows)],
        "class": [("no", "yes")[int(s > 0)] for s in score],
    }


def columns(data: dict[str, list[Any]], rows: slice) -> dict[str, list[Any]]:
    return {name: cells[rows] for name, cells in data.items()}


# -- temperatures and weights -------------------------------------------------------------------------------


def test_a_temperature_is_the_best_there_is() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 400)
    logs = log_softmax(4 * (rng.normal(size=(400, 3)) + np.eye(3)[truth]), axis=1)
    weight = rng.uniform(0.5, 2, 400)

    def loss(t: float) -> float:
        return -float(weight @ log_softmax(t * logs, axis=1)[np.arange(400), truth])

    expected = minimize_scalar(loss, bounds=(0.01, 4), method="bounded", options={"xatol": 1e-8}).x
    found = temperature_of(logs, truth, weight, np.full(3, 1 / 3), 1e15)
    assert found == pytest.approx(expected, rel=1e-3)
    np.testing.assert_allclose(tempered(logs, found), log_softmax(found * logs, axis=1), atol=1e-12)


def test_one_impossible_row_does_not_decide_the_temperature() -> None:
    logs = np.log(np.array([[0.9, 0.1]] * 90 + [[0.1, 0.9]] * 10))
    truth = np.zeros(100, np.intp)
    usual = temperature_of(logs, truth, np.ones(100), np.array([0.5, 0.5]), 100)
    logs[0] = [-np.inf, 0.0]
    assert temperature_of(logs, truth, np.ones(100), np.array([0.5, 0.5]), 100) == pytest.approx(usual, rel=0.2)


def test_tempering_keeps_impossible_classes_and_rows() -> None:
    found = tempered(np.array([[0.0, -np.inf], [-np.inf, -np.inf]]), 0.5)
    np.testing.assert_array_equal(found, [[0.0, -np.inf], [-np.inf, -np.inf]])


@given(st.integers(1, 8), st.integers(1, 60), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_weights_are_the_best_and_zeros_are_exact(members: int, rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    chance = rng.beta(0.5, 0.5, (rows, members)) * (rng.random((rows, members)) < 0.9)
    chance[:, -1] = chance[:, 0]  # two that say the same
    weight = rng.choice([1e-9, 1.0, 3.0], rows)
    w = stacking_weights(chance, weight)
    assert (w >= 0).all() and w.sum() == pytest.approx(1, abs=1e-12)
    some = chance.max(axis=1) > 0
    if some.any():
        share = weight[some] / weight[some].sum()
        gain = (share / (chance[some] @ w)) @ chance[some]
        assert gain.max() <= 1 + 1e-5  # no direction leads up: the score is concave, so this is the maximum


def test_weights_of_attributes_are_the_best_there_are() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 300)
    terms = rng.normal(size=(4, 300, 3))
    terms[0] += 2 * np.eye(3)[truth]
    terms[1] = terms[0] + 0.1 * rng.normal(size=(300, 3))
    terms[2] += np.eye(3)[truth]
    start = np.log([0.2, 0.3, 0.5])

    def loss(v: Any) -> float:
        scores = start + np.einsum("a,arc->rc", v, terms)
        return float((logsumexp(scores, axis=1) - scores[np.arange(300), truth]).sum() + v.sum())

    found = attribute_weights(terms, start, truth, np.ones(300))
    best = minimize(loss, np.ones(4), bounds=[(0, None)] * 4, options={"ftol": 1e-14, "gtol": 1e-9})
    assert loss(found) <= best.fun + 1e-4
    assert found[3] == pytest.approx(best.x[3], abs=0.02)


def test_a_simple_model_is_kept_within_noise_and_not_beyond() -> None:
    truth = np.array([0, 1] * 50)
    good = np.where(truth[:, None] == [0, 1], 0.8, 0.2)
    better = np.where(truth[:, None] == [0, 1], 0.95, 0.05)
    tried = (likely.Prior(), likely.NaiveBayes(), likely.Neighbors())
    prior = np.full((100, 2), 0.5)
    rng = np.random.default_rng(0)
    jitter = np.clip(good + rng.normal(0, 0.05, 100)[:, None] * [1, -1], 0.01, 0.99)

    def verdict(other: Any, noise: float = 1.0) -> Any:
        logs = np.log(np.stack([prior, jitter, other]))
        return judge_candidates(tried, logs, truth, np.ones(100), np.array([0.5, 0.5]), 100.0, noise)

    alike = verdict(jitter * 0.999 + 0.0005)
    assert alike.weights.tolist() == [0, 1, 0] and "kept alone" in alike.single
    assert not verdict(better * 0.9 + 0.05 * rng.random((100, 1)), noise=0.0).single


# -- the whole ----------------------------------------------------------------------------------------------


def test_auto_is_better_than_its_candidates_on_new_rows() -> None:
    data = mixed_table(1200)
    train, test = columns(data, slice(0, 800)), columns(data, slice(800, None))

    def loss(learner: Any) -> float:
        found = likely.fit(train, "class", learner).posterior(test)
        own = [found.classes.index(c) for c in test["class"]]
        return -float(np.log(found.matrix[np.arange(len(own)), own]).mean())

    auto = loss(likely.Auto())
    assert auto < loss(likely.NaiveBayes()) - 0.02
    assert auto < loss(likely.Logistic()) - 0.02
    assert auto < loss(likely.TreeAugmented())


def test_the_posterior_is_the_mixture_of_tempered_members() -> None:
    data = mixed_table()
    model = likely.fit(data, "class", likely.Auto(noise=0))
    assert isinstance(model, AutoModel)
    assert len(model.members) > 1 and (model.weights > 0).all()
    assert model.weights.sum() == pytest.approx(1, abs=1e-12)
    expected = 0.0
    for member, weight, t in zip(model.members, model.weights, model.temperatures, strict=True):
        alone = likely.fit(data, "class", member.learner).posterior(data).matrix
        power = alone**t
        expected = expected + weight * power / power.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.posterior(data).matrix, expected, rtol=1e-6, atol=1e-12)
    prior = [w for m, w in zip(model.members, model.weights, strict=True) if type(m.learner).__name__ == "Prior"]
    assert prior[0] >= 1 / (240 + 1) * (1 - 1e-12)
    told = model.exhibits()[0]
    assert len(told.rows) == len(model.trial.candidates) and "held-out" in told.title


def test_files_and_specs_bring_the_same_model_back(tmp_path: Path) -> None:
    data = mixed_table()
    for learner in (likely.Auto(noise=0), likely.Auto(noise=50), likely.TunedNaiveBayes()):
        model = likely.fit(data, "class", learner)
        model.save(tmp_path / "m.likely")
        again = likely.load(tmp_path / "m.likely")
        assert again.learner == learner and again.notes == model.notes
        np.testing.assert_array_equal(again.posterior(data).matrix, model.posterior(data).matrix)
        again.save(tmp_path / "n.likely")
        assert (tmp_path / "m.likely").read_bytes() == (tmp_path / "n.likely").read_bytes()
        spec = parse_spec(spec_of(model).toml(), "spec")
        frozen = likely.fit(data, "class", spec.learner, types=dict(spec.columns))
        np.testing.assert_array_equal(frozen.posterior(data).matrix, model.posterior(data).matrix)


def test_threads_and_batches_do_not_change_a_bit(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = mixed_table(300)
    table = pa.table(data)
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=37)
    found = []
    for given_data, threads in ((table, 1), (table, 3), (tmp_path / "t.parquet", 2)):
        old = os.environ.get("LIKELY_THREADS")
        os.environ["LIKELY_THREADS"] = str(threads)
        try:
            model = likely.fit(given_data, "class", likely.Auto(noise=0), threads=threads)
        finally:
            os.environ.pop("LIKELY_THREADS") if old is None else os.environ.update(LIKELY_THREADS=old)
        found.append((model.weights, model.temperatures, model.posterior(data).matrix))
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_allclose(one, two, rtol=0 if other is found[1] else 1e-7)


def test_the_ledger_is_that_of_members_that_are_sums_and_says_so() -> None:
    data = mixed_table()
    for noise in (0.0, 50.0):
        model = likely.fit(data, "class", likely.Auto(noise=noise))
        (batch,) = model.batches(columns(data, slice(0, 40)))
        terms = model.terms(batch)
        total = np.zeros(terms.array.shape[::2])
        for k in range(len(terms.names)):
            total = total + terms.array[:, k]
        np.testing.assert_allclose(total, model.log_joint(batch), atol=1e-12)
        assert terms.names[-1] == REST
        row = {name: cells[1] for name, cells in data.items() if name != "class"}
        ledger = likely.explain(model, row)
        assert ledger.additive and any("ledger of" in r for r in ledger.remarks)
        assert math.fsum(e.log_ratio for e in ledger.entries if e.log_ratio is not None) == pytest.approx(
            ledger.log_odds, abs=1e-9
        )
        assert ("rest" in [e.kind for e in ledger.entries]) == (len(model.members) > 1)


@pytest.mark.parametrize("learner", [likely.Auto(), likely.TunedNaiveBayes(), likely.Auto(parts=2, seed=5)])
def test_awkward_tables_have_a_defined_answer(learner: Any) -> None:
    one = {"a": ["u", "v"] * 10, "t": ["c"] * 20}
    assert likely.fit(one, "t", learner).predict({"a": "u"}) == "c"
    few = {"a": ["u", "v", "u"], "x": [1.0, 2.0, 3.5], "t": ["c", "d", "c"]}
    assert sum(likely.fit(few, "t", learner).posterior({"a": "u", "x": 2}).matrix[0]) == pytest.approx(1)
    rare = {"a": [str(k % 4) for k in range(60)], "x": [float(k * k % 17) for k in range(60)]}
    rare["t"] = ["lonely", *("ab"[k % 2] for k in range(59))]
    model = likely.fit(rare, "t", learner)
    found = model.posterior({"a": "new", "x": math.inf})
    assert found.classes == ("a", "b", "lonely") and found.matrix.sum() == pytest.approx(1)
    nothing = model.posterior({"a": None, "x": None})
    assert nothing.matrix.sum() == pytest.approx(1)
    huge = {"x": [1e300, -1e300, 5e-324, 1e9, 1e9 + 1e-7, None] * 5, "t": ["a", "b", "b", "a", "b", "a"] * 5}
    assert isinstance(likely.fit(huge, "t", learner).posterior(huge), Posterior)


def test_weights_of_rows_count_as_rows_and_zero_does_not_count() -> None:
    data = mixed_table(150)
    ones = likely.fit({**data, "w": [1.0] * 150}, "class", likely.Auto(), weight="w")
    plain = likely.fit(data, "class", likely.Auto())
    np.testing.assert_array_equal(ones.posterior(data).matrix, plain.posterior(data).matrix)


def test_candidates_fit_the_table() -> None:
    numbers = likely.summarize({"x": [1.5, 2.5, 3.5] * 9, "y": [1.25, 7.5, 3.5] * 9, "t": ["a", "b", "a"] * 9}, "t")
    names = [type(c).__name__ for c in candidates(numbers)]
    assert {"FullBayes", "LinearDiscriminant", "Neighbors", "Logistic", "TunedNaiveBayes"} <= set(names) and names[
        0
    ] == "Prior"
    levels = likely.summarize({"x": ["u", "v", "w"] * 9, "y": ["1", "0", "1"] * 9, "t": ["a", "b", "a"] * 9}, "t")
    assert not {"FullBayes", "LinearDiscriminant"} & {type(c).__name__ for c in candidates(levels)}


def test_candidates_may_be_given_and_refusals_are_told() -> None:
    data = mixed_table()
    model = likely.fit(data, "class", likely.Auto(members=("NaiveBayes", likely.FullBayes(), likely.Prior()), noise=0))
    assert any("FullBayes was not tried" in note for note in model.notes)
    with pytest.raises(SettingError, match="cannot be a member"):
        likely.Auto(members=(likely.Auto(),))
    with pytest.raises(SettingError, match="whole number"):
        likely.Auto(parts=1)
    with pytest.raises(SettingError, match="finite number"):
        learner_named("Auto", {"noise": -1})
    with pytest.raises(SettingError, match="temperatures"):
        likely.Mixture(("NaiveBayes",), (1.0,), temperatures=(0.0,))


def test_tuned_leaves_noise_out_and_weighs_copies_less() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 600)
    a = np.where(rng.random(600) < 0.85, truth, 1 - truth)
    data = {
        "a": [str(v) for v in a],
        "copy": [f"same {v}" for v in a],
        "copy too": [f"again {v}" for v in a],
        "noise": [str(v) for v in rng.integers(0, 5, 600)],
        "t": [("no", "yes")[k] for k in truth],
    }
    model: Any = likely.fit(data, "t", likely.TunedNaiveBayes())
    assert model.weights["noise"] < 0.35
    assert sum(model.weights[n] for n in ("a", "copy", "copy too")) == pytest.approx(1, abs=0.2)
    sure = model.posterior({"a": "1", "copy": "same 1", "copy too": "again 1"}).prob("yes")
    share = truth[a == 1].mean()
    assert sure == pytest.approx(share, abs=0.03)  # three copies of one witness are one witness
    plain = likely.fit(data, "t", likely.NaiveBayes())
    assert plain.posterior({"a": "1", "copy": "same 1", "copy too": "again 1"}).prob("yes") > 0.98


def test_a_class_of_one_row_is_not_judged_and_costs_nothing() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 200)
    table = {"x": (truth + rng.normal(size=200)).tolist(), "t": [*(f"c{k}" for k in truth[:-1]), "alone"]}
    model: Any = likely.fit(table, "t", likely.Auto(("Prior", "NaiveBayes", "Logistic")))
    assert model.trial.rows == 199 and np.isfinite(model.trial.kept) and 0.5 < model.trial.hits < 1
    assert "alone" in model.classes and np.isfinite(model.trial.scores).all()


def test_classes_of_a_single_row_do_not_make_tuned_doubt_every_attribute() -> None:
    """Held out, they are unknown to the others: no weight could tell them, so they must not decide the weights."""
    rng = np.random.default_rng(4)
    a = rng.choice(["p", "q"], 300)
    t = np.where(rng.random(300) < 0.9, np.where(a == "p", "x", "y"), "y").astype(object)
    t[::15] = [f"lone {k}" for k in range(20)]
    model: Any = likely.fit({"a": a, "t": t}, "t", likely.TunedNaiveBayes())
    assert model.weights["a"] > 0.3
    assert model.predict({"a": "p"}) == "x" and model.predict({"a": "q"}) == "y"


def test_so_many_rows_that_choosing_takes_minutes_are_left_to_naive_bayes() -> None:
    for rows, name in ((99, "NaiveBayes"), (100, "Auto"), (MOST_ROWS, "Auto"), (MOST_ROWS + 1, "NaiveBayes")):
        table = {"a": np.resize(["p", "q", "q"], rows), "t": np.resize(["x", "y"], rows)}
        assert type(default_learner("fit", likely.summarize(table, "t")).learner).__name__ == name
