"""What learns where nobody says: the rule, and the pool that it most often is."""

from __future__ import annotations

import ast
import math
import os
from dataclasses import replace
from importlib import import_module
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax, logsumexp

import likely
from likely import Posterior
from likely.apply.fitting import load_model, unlearn
from likely.apply.spec import parse_spec, spec_of
from likely.apply.streams import follow
from likely.errors import SettingError
from likely.models.default import LEAST_ROWS, Default, default_learner, is_unasked
from likely.models.heldout.kept_rows import GatheredRows, content_hashes
from likely.models.heldout.weighing import evidence_weights, temperature_of
from likely.models.pool.candidates import pool_candidates
from likely.models.pool.choosing import stacking_weights
from likely.models.registry import learner_named
from likely.models.shapes import sum_of, temper

FEW = ("NaiveBayes", "TreeAugmented", likely.Logistic(), likely.Additive(order=2, rounds=40))


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
    np.testing.assert_allclose(temper(logs, found), log_softmax(found * logs, axis=1), atol=1e-12)


def test_one_impossible_row_does_not_decide_the_temperature() -> None:
    logs = np.log(np.array([[0.9, 0.1]] * 90 + [[0.1, 0.9]] * 10))
    truth = np.zeros(100, np.intp)
    usual = temperature_of(logs, truth, np.ones(100), np.array([0.5, 0.5]), 100)
    logs[0] = [-np.inf, 0.0]
    assert temperature_of(logs, truth, np.ones(100), np.array([0.5, 0.5]), 100) == pytest.approx(usual, rel=0.2)


def test_tempering_keeps_impossible_classes_and_rows() -> None:
    found = temper(np.array([[0.0, -np.inf], [-np.inf, -np.inf]]), 0.5)
    np.testing.assert_array_equal(found, [[0.0, -np.inf], [-np.inf, -np.inf]])


@given(st.integers(1, 8), st.integers(1, 60), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_weights_of_a_mixture_are_the_best_and_zeros_are_exact(members: int, rows: int, seed: int) -> None:
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


@given(st.integers(1, 7), st.integers(2, 4), st.booleans(), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_weights_of_evidence_are_the_best_there_are(count: int, classes: int, anchored: bool, seed: int) -> None:
    """Against a minimiser that knows nothing of their shape; two that say the same, and one that is mostly wrong."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, 120)
    terms = rng.normal(size=(count, 120, classes)) * rng.uniform(0.1, 3, (count, 1, 1))
    terms += rng.uniform(-0.5, 2, (count, 1, 1)) * np.eye(classes)[truth]
    terms[-1] = terms[0]
    start, weight = np.log(rng.dirichlet(np.ones(classes))), rng.choice([0.0, 1.0, 2.0], 120)
    strength = 3.0

    def loss(v: Any) -> float:
        scores = start + np.einsum("a,arc->rc", v, terms)
        own = weight @ (logsumexp(scores, axis=1) - scores[np.arange(120), truth])
        cost = v[1:].sum() + strength / 2 * (v[0] - 1) ** 2 if anchored else v.sum()
        return float(own + cost)

    found = evidence_weights(terms, start, truth, weight, anchor=(0, strength) if anchored else None)
    best = minimize(loss, np.ones(count), bounds=[(0, None)] * count, options={"ftol": 1e-15, "gtol": 1e-10})
    assert (found >= 0).all()
    assert loss(found) <= best.fun + 1e-4


def test_few_rows_leave_naive_bayes_as_it_is() -> None:
    """Where held-out rows say next to nothing, the anchor has its weight of 1; where they are many, they decide."""
    rng = np.random.default_rng(0)
    for rows, low, high in ((2, 0.75, 1.25), (4000, 0.3, 0.6)):
        truth = rng.integers(0, 2, rows)
        said = np.log(0.5) + np.where(np.eye(2)[truth] > 0, 1.0, 0.0) * (2 * (rng.random(rows) < 0.73) - 1)[:, None]
        found = evidence_weights(2 * said[None], np.zeros(2), truth, np.ones(rows), anchor=(0, 4.0))
        assert low <= found[0] <= high


# -- rows that are kept, and their parts --------------------------------------------------------------------


def gathered(data: dict[str, list[Any]], most: int = 10**6, cuts: int = 1) -> Any:
    """The rows as a search gathers them, in several batches."""
    summary = likely.summarize(data, "class")
    model = likely.fit(data, "class", likely.NaiveBayes())
    rows = len(data["class"])
    bounds = np.linspace(0, rows, cuts + 1).astype(int)
    out = None
    for low, high in pairwise(bounds.tolist()):
        (batch,) = model.batches(columns(data, slice(low, high)))
        group = batch.target.codes  # type: ignore[union-attr]
        one = GatheredRows.of(summary, batch, group, np.ones(batch.rows), most)
        out = one if out is None else out + one
    assert out is not None
    return out.dealt(summary, 5)


def test_what_is_kept_and_dealt_where_depends_on_content_alone() -> None:
    data = mixed_table(600)
    order = np.random.default_rng(1).permutation(600)
    turned = {name: [cells[k] for k in order] for name, cells in data.items()}
    for most in (10**6, 250):
        one, two = gathered(data, most, 1), gathered(turned, most, 7)
        assert len(one) == len(two) == (600 if most > 600 else 250) and one.whole is (most > 600)
        np.testing.assert_array_equal(one.part, two.part)
        np.testing.assert_array_equal(one.hashes, two.hashes)
        np.testing.assert_array_equal(one.group, two.group)
        assert np.bincount(one.part).min() > len(one) / 10


def test_equal_rows_are_in_one_part_unless_they_are_too_many() -> None:
    data = mixed_table(200)
    twice = {name: cells + cells for name, cells in data.items()}
    rows = gathered(twice)
    for value in np.unique(rows.hashes):
        assert len(np.unique(rows.part[rows.hashes == value])) == 1
    few = {"a": ["u", "v"] * 60, "b": ["p", "p", "q", "q"] * 30, "class": ["no", "yes", "yes", "no"] * 30}
    rows = gathered(few)
    assert rows.weight.sum() == pytest.approx(120)
    for part in range(5):
        assert len(np.unique(rows.hashes[rows.inside(part)])) == 4  # every combination is in every part
    lonely = gathered({name: cells[:12] for name, cells in data.items()})
    assert len(lonely) == 12  # a single row is never in two parts, however few rows there are


def test_hashes_tell_cells_apart() -> None:
    data = mixed_table(300)
    model = likely.fit(data, "class", likely.NaiveBayes())
    (batch,) = model.batches(data)
    assert len(np.unique(content_hashes(batch, list(batch.cells)))) == 300


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


def test_an_interaction_that_no_attribute_tells_is_found() -> None:
    """Exclusive or, in few different rows: each combination must be in every part."""
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 2, (2, 400))
    data = {"a": [f"v{k}" for k in a], "b": [f"v{k}" for k in b], "t": [f"c{k}" for k in a ^ b]}
    model = likely.fit(data, "t", likely.Auto())
    assert model.posterior({"a": "v0", "b": "v1"}).prob("c1") > 0.95
    assert model.posterior({"a": "v1", "b": "v1"}).prob("c0") > 0.95


def test_the_posterior_is_the_prior_times_powers_of_what_members_say_beyond_it() -> None:
    data = mixed_table()
    model = likely.fit(
        data, "class", likely.Pool((*FEW, likely.Neighbors(k=9, pseudo_count=1.0)), weights=(0.3, 0.2, 0.4, 0.5, 0.1))
    )
    assert len(model.members) == 5
    prior = np.array([data["class"].count(c) / 240 for c in model.classes])
    expected = np.log(prior)
    for member, weight in zip(model.members, (0.3, 0.2, 0.4, 0.5, 0.1), strict=True):
        alone = replace(likely.fit(data, "class", member.learner), references=None).posterior(data).matrix
        expected = expected + weight * (np.log(alone) - np.log(prior))
    bare = replace(model, references=None)
    np.testing.assert_allclose(bare.posterior(data).matrix, np.exp(log_softmax(expected, axis=1)), rtol=1e-9)


def test_where_nothing_is_known_the_pool_says_the_prior() -> None:
    data = mixed_table()
    model = likely.fit(data, "class", likely.Pool(FEW, weights=(0.3, 0.2, 0.4, 0.5)))
    share = data["class"].count("yes") / 240
    assert model.posterior({"noise": None}).prob("yes") == pytest.approx(share, abs=1e-12)
    assert model.posterior({"lev el": "never seen"}).prob("yes") == pytest.approx(share, abs=1e-12)


def test_files_and_specs_bring_the_same_model_back(tmp_path: Path) -> None:
    data = mixed_table()
    for learner in (likely.Auto(effort="quick"), likely.Auto(members=FEW), likely.TunedNaiveBayes()):
        model = likely.fit(data, "class", learner)
        model.save(tmp_path / "m.likely")
        again = likely.load(tmp_path / "m.likely")
        assert again.learner == learner and again.notes == model.notes and again.held_out == model.held_out
        np.testing.assert_array_equal(again.posterior(data).matrix, model.posterior(data).matrix)
        again.save(tmp_path / "n.likely")
        assert (tmp_path / "m.likely").read_bytes() == (tmp_path / "n.likely").read_bytes()
        spec = parse_spec(spec_of(model).toml(), "spec")
        frozen = likely.fit(data, "class", spec.learner, types=dict(spec.columns))
        np.testing.assert_allclose(frozen.posterior(data).matrix, model.posterior(data).matrix, atol=1e-9)


def test_threads_batches_and_order_do_not_change_what_is_chosen(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = mixed_table(300)
    table = pa.table(data)
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=37)
    turned = table.take(np.random.default_rng(5).permutation(300))
    found = []
    for given_data, threads in ((table, 1), (table, 3), (tmp_path / "t.parquet", 2), (turned, 2)):
        old = os.environ.get("LIKELY_THREADS")
        os.environ["LIKELY_THREADS"] = str(threads)
        try:
            model = likely.fit(given_data, "class", likely.Auto(members=FEW), threads=threads)
        finally:
            os.environ.pop("LIKELY_THREADS") if old is None else os.environ.update(LIKELY_THREADS=old)
        found.append((model.weights, model.posterior(data).matrix))
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


def test_a_row_of_weight_two_is_the_row_twice() -> None:
    data = mixed_table(200)
    twice = {name: cells + cells[:80] for name, cells in data.items()}
    weighed = {**data, "w": [2.0] * 80 + [1.0] * 120}
    one = likely.fit(twice, "class", likely.Auto(members=FEW))
    two = likely.fit(weighed, "class", likely.Auto(members=FEW), weight="w")
    np.testing.assert_allclose(one.posterior(data).matrix, two.posterior(data).matrix, rtol=1e-6)


def test_a_sample_chooses_and_all_rows_are_learned_from(monkeypatch: pytest.MonkeyPatch) -> None:
    data = mixed_table(2000)
    monkeypatch.setattr("likely.models.heldout.kept_rows.MOST_ROWS", 400)
    monkeypatch.setattr("likely.models.heldout.kept_rows.LEAST_KEPT", 400)
    model = likely.fit(data, "class", likely.Auto(members=FEW))
    assert model.trial.rows == 400 and model.summary.rows == 2000
    for member in model.members:
        alone = likely.fit(data, "class", member.learner)
        np.testing.assert_allclose(member.posterior(data).matrix, alone.posterior(data).matrix, rtol=1e-9)


def test_the_ledger_has_a_line_for_each_attribute_and_adds_up() -> None:
    data = mixed_table()
    model = likely.fit(
        data, "class", likely.Pool((*FEW, likely.Neighbors(k=9, pseudo_count=1.0)), weights=(0.3, 0.2, 0.4, 0.5, 0.1))
    )
    (batch,) = model.batches(columns(data, slice(0, 40)))
    terms = model.terms(batch)
    total = np.zeros(terms.array.shape[::2])
    for k in range(len(terms.names)):
        total = total + terms.array[:, k]
    np.testing.assert_allclose(total, model.log_joint(batch), atol=1e-15)  # what the unknown adds is itself rounded
    for row in range(3):
        cells = {name: column[row] for name, column in data.items() if name != "class"}
        ledger = likely.explain(model, cells)
        assert ledger.additive and any("Each line adds up what its members say: " in r for r in ledger.remarks)
        ratios = [e.log_ratio for e in ledger.entries if e.log_ratio is not None]
        assert math.fsum(ratios) == pytest.approx(ledger.log_odds, abs=1e-9)
        named = [e.name for e in ledger.entries]
        assert sum("neighbour voting" in name for name in named) == 1 and len(named) == len(set(named))
    # (In a tree, what is unknown has the term of what depends on it.)
    members = [likely.NaiveBayes(), likely.Logistic(), likely.Additive(order=2, rounds=40), likely.Neighbors(k=9)]
    model = likely.fit(data, "class", likely.Pool(members, weights=(0.3, 0.2, 0.4, 0.5)))
    unknown = likely.explain(model, {"y=": 0.5})
    silent = [e for e in unknown.entries if e.name in ("x [red]", "lev el", "noise")]
    assert len(silent) == 3 and all(not e.log_ratio for e in silent)
    assert not [e for e in unknown.entries if " × " in e.name]


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


def test_candidates_fit_the_table_the_effort_and_the_purpose() -> None:
    numbers = likely.summarize({"x": [1.5, 2.5, 3.5] * 9, "y": [1.25, 7.5, 3.5] * 9, "t": ["a", "b", "a"] * 9}, "t")

    def named(summary: Any, effort: Any = "normal", purposes: Any = ()) -> list[str]:
        return [type(c).__name__ for c in pool_candidates(summary, effort, purposes)]

    assert named(numbers)[0] == "NaiveBayes"
    assert {"FullBayes", "LinearDiscriminant", "Logistic", "Additive"} <= set(named(numbers))
    assert "TunedNaiveBayes" in named(numbers, "best") and "TunedNaiveBayes" in named(numbers, "normal", ("updates",))
    assert not {"Neighbors", "OneDependence"} & set(named(numbers))
    assert {"Neighbors", "OneDependence"} <= set(named(numbers, "best"))
    assert set(named(numbers, "quick")) == {"NaiveBayes", "Logistic", "Additive"}
    assert not {"Additive", "Logistic"} & set(named(numbers, "best", ("updates",)))
    assert not {"Neighbors", "OneDependence"} & set(named(numbers, "best", ("sql",)))
    unread = {"FullBayes", "Neighbors", "Forest", "TreeAugmented", "OneDependence"}
    assert not unread & set(named(numbers, "best", ("explaining",)))
    levels = likely.summarize({"x": ["u", "v", "w"] * 9, "y": ["1", "0", "1"] * 9, "t": ["a", "b", "a"] * 9}, "t")
    assert not {"FullBayes", "LinearDiscriminant"} & set(named(levels))


def test_what_is_meant_for_updates_learns_unlearns_and_merges(tmp_path: Path) -> None:
    data = mixed_table(400)
    first, more = columns(data, slice(0, 300)), columns(data, slice(300, None))
    model = likely.fit(first, "class", likely.Auto(for_=("updates",)))
    both = likely.learn(model, more)
    assert both.summary.rows == 400 and both.held_out is None
    back = unlearn(both, more)
    np.testing.assert_array_equal(back.posterior(data).matrix, model.posterior(data).matrix)
    other = likely.fit(first, "class", likely.Pool((likely.Additive(order=1, rounds=9),), weights=(1.0,)))
    with pytest.raises(SettingError, match="--for updates"):
        likely.learn(other, more)


def test_candidates_may_be_given_and_refusals_are_told() -> None:
    data = mixed_table()
    model = likely.fit(data, "class", likely.Auto(members=("NaiveBayes", likely.FullBayes(), likely.Prior())))
    assert any("full Bayes was not tried" in note for note in model.notes)
    with pytest.raises(SettingError, match="cannot be a member"):
        likely.Auto(members=(likely.Auto(),))
    with pytest.raises(SettingError, match="whole number"):
        likely.Auto(parts=1)
    with pytest.raises(SettingError, match="effort"):
        learner_named("Auto", {"effort": "none"})
    with pytest.raises(SettingError, match="cannot be meant for"):
        likely.Auto(for_=("cobol",))  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="members"):
        likely.Pool(("NaiveBayes",), weights=(1.0, 2.0))
    with pytest.raises(SettingError, match="numbers from 0"):
        likely.Pool(("NaiveBayes",), weights=(-1.0,))
    with pytest.raises(SettingError, match="temperatures"):
        likely.Mixture(("NaiveBayes",), (1.0,), temperatures=(0.0,))


def test_tuned_leaves_noise_out_and_weighs_copies_less() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 2000)
    a = np.where(rng.random(2000) < 0.85, truth, 1 - truth)
    data = {
        "a": [str(v) for v in a],
        "copy": [f"same {v}" for v in a],
        "copy too": [f"again {v}" for v in a],
        "noise": [str(v) for v in rng.integers(0, 5, 2000)],
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
    model: Any = likely.fit(table, "t", likely.Auto(members=("NaiveBayes", "Logistic", "Additive")))
    assert model.trial.rows == 199 and np.isfinite(model.trial.score) and 0.5 < model.trial.hits < 1
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


# What learns where nobody says: one function decides, and every face asks it.


SOURCE = Path(likely.__file__).parent
ROWS = 120
TABLE = {"a": list(np.resize(["p", "q", "q"], ROWS)), "x": list(np.arange(ROWS) / 7), "t": list("xyy" * (ROWS // 3))}

# Every file outside models/ that lets something learn without being told what, and what for. Spark uses fitting.py.
FACES = {
    "apply/fitting.py": {"fit", "sums"},
    "apply/streams.py": {"sums"},
    "evaluate/curve.py": {"fit"},
    "evaluate/study.py": {"textbook"},
    "evaluate/doctor.py": {"doubt"},
    "evaluate/look.py": {"fit", "textbook"},
    "evaluate/compare.py": {"textbook"},
    "spark/fitting.py": {"sums"},
}


def purposes(text: str) -> set[str]:
    """The purposes for which a source text asks for the default learner."""
    out: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "default_learner":
            out |= {n.value for n in ast.walk(node.args[0]) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return out


def test_every_face_asks_the_one_function() -> None:
    found = {p.relative_to(SOURCE).as_posix(): purposes(p.read_text(encoding="utf-8")) for p in SOURCE.rglob("*.py")}
    assert {p: what for p, what in found.items() if what and not p.startswith("models/")} == FACES


def test_no_face_has_a_learner_of_its_own() -> None:
    """`learner or NaiveBayes()` and its kin are how the faces once drifted apart."""
    for path in SOURCE.rglob("*.py"):
        if path.relative_to(SOURCE).parts[0] == "models":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            parts = node.values[1:] if isinstance(node, ast.BoolOp) else [getattr(node, "body", None)]
            parts += [node.orelse] if isinstance(node, ast.IfExp) else []
            if isinstance(node, ast.BoolOp | ast.IfExp):
                made = [p.func.id for p in parts if isinstance(p, ast.Call) and isinstance(p.func, ast.Name)]
                assert not {"NaiveBayes", "Auto", "TunedNaiveBayes", "Density"} & set(made), f"{path}:{node.lineno}"


@pytest.mark.parametrize(
    ("rows", "name", "reason"),
    [
        (LEAST_ROWS - 1, "NaiveBayes", "few rows"),
        (LEAST_ROWS, "Auto", "chosen"),
        (300_000, "Auto", "chosen"),
    ],
)
def test_fit_goes_by_the_number_of_rows(rows: int, name: str, reason: str) -> None:
    table = {"a": np.resize(["p", "q", "q"], rows), "t": np.resize(["x", "y"], rows)}
    found = default_learner("fit", likely.summarize(table, "t"))
    assert (type(found.learner).__name__, found.reason) == (name, reason)


def test_other_tables_and_purposes() -> None:
    summary, without = likely.summarize(TABLE, "t"), likely.summarize(TABLE)
    words = likely.summarize({"a": ["one word", "two words"] * 60, "t": ["x", "y"] * 60}, "t", types={"a": "text"})
    assert default_learner("fit", without) == Default(likely.NaiveBayes(), "no target")
    assert default_learner("fit", words) == Default(likely.Auto(), "chosen")
    few = likely.summarize({"a": ["one word", "two words"], "t": ["x", "y"]}, "t", types={"a": "text"})
    assert default_learner("fit", few) == Default(likely.NaiveBayes(), "few rows")
    assert default_learner("fit", likely.summarize({"t": ["x", "y"]}, "t")).reason == "nothing to choose"
    assert default_learner("sums", summary) == default_learner("sums") == Default(likely.NaiveBayes(), "sums")
    textbook = Default(likely.NaiveBayes(), "textbook")
    assert default_learner("textbook", summary) == default_learner("textbook") == textbook
    assert default_learner("doubt", summary).learner == likely.TunedNaiveBayes()
    assert default_learner("doubt", words).learner == likely.NaiveBayes()


@pytest.mark.parametrize("rows", [LEAST_ROWS - 1, LEAST_ROWS])
def test_what_is_taken_unasked_is_told_from_what_was_named(rows: int) -> None:
    """The page asks, to write commands without a learner where none is needed."""
    summary = likely.summarize({"a": np.resize(["p", "q", "q"], rows), "t": np.resize(["x", "y"], rows)}, "t")
    usual = default_learner("fit", summary).learner
    for learner in (usual, likely.NaiveBayes(), likely.NaiveBayes(pseudo_count=2), likely.Auto(), likely.Auto(parts=3)):
        assert is_unasked(learner, summary) == (learner == usual)


def test_the_faces_take_what_it_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With another rule for everything, every face has another learner."""
    asked: list[str] = []
    other = likely.NaiveBayes(pseudo_count=0.25)

    def rule(purpose: str, summary: Any = None) -> Default:
        asked.append(purpose)
        return Default(other, "sums")

    for path in FACES:
        if not path.startswith("cli/"):
            room = import_module(f"likely.{path.removesuffix('.py').replace('/', '.')}")
            monkeypatch.setattr(room, "default_learner", rule)
    models = [likely.fit(TABLE, "t"), likely.fit(TABLE, schema=likely.summarize(TABLE, "t").schema)]
    likely.summarize(TABLE, "t").save(tmp_path / "s.likely")
    models.append(load_model(tmp_path / "s.likely"))
    models.append(likely.Window("t", rows=60).learn(TABLE).model)
    models.append(follow(BytesIO(b"a,t\n" + b"p,x\nq,y\n" * 9), "t", every=6, write=lambda model: None))
    assert all(model.learner == other for model in models)
    assert asked == ["fit", "fit", "sums", "sums", "sums"]
    asked.clear()
    assert "pseudo_count=0.25" in likely.look(TABLE, "t", folds=2).learner
    likely.curve(TABLE, "t", folds=2, steps=2)
    likely.repeats(TABLE, "t", folds=2, most=0)
    likely.doctor(TABLE, "t", folds=2)
    # A look at a table in which a column gives the class away is a look without that column as well.
    assert asked == [*["textbook", "fit", "fit"] * 2, "fit", "textbook", "doubt"]


@pytest.mark.parametrize("rows", [400, 2600])
def test_what_is_made_to_be_read_has_ten_pairs_at_most_and_says_what_that_costs(rows: int) -> None:
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 2, (rows, 8))
    score = sum(bits[:, i] * bits[:, j] * (1 if (i + j) % 2 else -1) for i in range(8) for j in range(i)) + bits[:, 0]
    score = score * (1 - 2 * bits[:, 7]) + rng.normal(size=rows)
    data: dict[str, Any] = {f"b{k}": [str(v) for v in bits[:, k]] for k in range(8)}
    data["t"] = ["yes" if s > 0 else "no" for s in score]
    model, default = likely.fit(data, "t", for_="explaining"), likely.fit(data, "t")
    together = [names for term in sum_of(model.score)[0].terms if len(names := getattr(term, "names", ())) > 1]  # type: ignore[index]
    assert 0 < len({*together}) <= 10 and all(len(names) == 2 for names in together)
    assert model.held_out is not None and default.held_out is not None
    own, best = (f"{-one.held_out.score / math.log(2):.4f}" for one in (model, default))
    told = f"Log loss on held-out rows: {own} bits a row; without this limit {best}."
    assert own > best and any(note.endswith(told) for note in model.notes)
