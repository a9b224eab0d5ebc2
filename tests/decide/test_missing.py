"""What a missing value may be: sums and integrals over it, and what to ask next."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction as F
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

import likely
from likely import Loss, ask, by_missing
from likely.apply.decide import missing
from likely.apply.decide.decider import decider
from likely.apply.decide.missing import combinations, integrals, spread, turns
from likely.errors import InputError, SettingError

RNG = np.random.default_rng(11)
ROWS = 80
TARGET = RNG.choice(["n", "y"], ROWS)
TABLE = {
    "sky": np.where(RNG.random(ROWS) < 0.7, np.where(TARGET == "y", "sun", "rain"), "fog").tolist(),
    "wind": [None if k % 7 == 0 else v for k, v in enumerate(RNG.choice(["weak", "strong"], ROWS).tolist())],
    "x": (RNG.normal(size=ROWS) + (TARGET == "y")).tolist(),
    "play": TARGET.tolist(),
}


def shares(cells: list) -> dict:
    known = [c for c in cells if c is not None]
    return {v: known.count(v) / len(known) for v in sorted(set(known))}


@pytest.mark.parametrize(
    "learner",
    [likely.NaiveBayes(), likely.TreeAugmented(), likely.Logistic(), likely.Neighbors(k=5), likely.LeastSquares()],
)
def test_averaged_is_the_sum_over_values_by_brute_force(learner) -> None:
    model = replace(likely.fit(TABLE, "play", learner), references=None)  # else it averages given what is known
    found = likely.decide(model, {"x": 0.3}, missing_by="averaged").posterior.matrix[0]
    by_hand = np.zeros(2)
    for (sky, p), (wind, q) in product(shares(TABLE["sky"]).items(), shares(TABLE["wind"]).items()):
        by_hand += p * q * model.posterior({"sky": sky, "wind": wind, "x": 0.3}).matrix[0]
    assert found == pytest.approx(by_hand, rel=1e-12)


def test_rows_without_a_gap_are_answered_as_ever_and_batches_do_not_matter() -> None:
    model = likely.fit(TABLE, "play")
    whole = {name: cells for name, cells in TABLE.items() if name != "play"} | {"wind": ["weak"] * ROWS}
    assert np.array_equal(
        likely.decide(model, whole, missing_by="averaged").posterior.matrix, model.posterior(whole).matrix
    )
    gaps = {
        "sky": [None, "sun", None, "fog"] * 5,
        "wind": ["weak", None, None, "strong"] * 5,
        "x": [0.1, None, 2.0, 1.0] * 5,
    }
    together = likely.decide(model, gaps, missing_by="averaged").posterior
    for k in range(4):
        alone = likely.decide(model, {n: c[k] for n, c in gaps.items()}, missing_by="averaged").posterior
        assert np.array_equal(alone.matrix[0], together.matrix[k + 8])


def test_the_density_of_a_row_stays_what_it_was() -> None:
    model = likely.fit(TABLE, "play", likely.NaiveBayes())
    row = {"x": 0.3, "sky": "fog"}
    assert likely.decide(model, row, missing_by="averaged").posterior.log_evidence[0] == pytest.approx(
        model.log_density(row)
    )


def test_few_numbers_are_each_taken_and_many_in_slices_of_equal_weight() -> None:
    few = likely.summarize({"x": [1.5, 1.5, 2.5, None], "y": ["a", "b", "a", "b"]}, "y", types={"x": "number"})
    values, share = spread(few.columns["x"])
    assert np.asarray(values).tolist() == [1.5, 2.5] and share == pytest.approx([2 / 3, 1 / 3])
    cells = RNG.normal(size=1000)
    many = likely.summarize({"x": cells.tolist(), "y": ["a", "b"] * 500}, "y")
    values, share = spread(many.columns["x"])
    assert len(share) == missing.SLICES and share == pytest.approx([1 / missing.SLICES] * missing.SLICES)
    assert np.asarray(values) @ share == pytest.approx(cells.mean())  # the mean is kept
    assert (np.diff(values) > 0).all()
    assert np.asarray(values)[0] == pytest.approx(np.average(np.sort(cells)[:32], weights=[1] * 31 + [0.25]))


def test_a_value_that_weighs_more_than_a_slice() -> None:
    cells = [5.0] * 900 + RNG.normal(size=100).tolist()
    values, share = spread(likely.summarize({"x": cells, "y": ["a", "b"] * 500}, "y").columns["x"])
    assert share.sum() == pytest.approx(1) and np.asarray(values) @ share == pytest.approx(np.mean(cells))


def test_more_combinations_than_can_be_tried_are_drawn_and_always_the_same() -> None:
    share = np.array([0.25, 0.75])
    index, weight = combinations([share] * 12)
    assert len(weight) == 4096 and weight.sum() == pytest.approx(1)
    index, weight = combinations([share] * 13)
    again, _ = combinations([share] * 13)
    assert len(weight) == missing.COMBINATIONS and all(np.array_equal(a, b) for a, b in zip(index, again, strict=True))
    assert np.mean([i.mean() for i in index]) == pytest.approx(0.75, abs=0.01)


def test_informative_and_left_out_are_what_learning_so_gives() -> None:
    skip, level = (likely.fit(TABLE, "play", likely.NaiveBayes(missing=m)) for m in ("skip", "level"))
    row = {"sky": "sun"}
    for model in (skip, level):
        found = likely.decide(model, row, missing_by="informative").posterior.matrix
        assert np.array_equal(found, level.posterior(row).matrix)
        assert np.array_equal(
            likely.decide(model, row, missing_by="left-out").posterior.matrix, skip.posterior(row).matrix
        )
    assert likely.decide(level, row).posterior.matrix == pytest.approx(level.posterior(row).matrix)
    assert not np.array_equal(skip.posterior(row).matrix, level.posterior(row).matrix)


def test_the_loss_survives() -> None:
    model = likely.fit(TABLE, "play", likely.NaiveBayes(), loss={"n": {"go": 3}, "y": {"stay": 1}})
    for way in missing.WAYS:
        assert decider(model, missing_by=way).loss == model.loss


def test_ways_that_a_learner_does_not_have_are_sentences() -> None:
    tree, near = likely.fit(TABLE, "play", likely.TreeAugmented()), likely.fit(TABLE, "play", likely.Neighbors())
    with pytest.raises(SettingError, match="TreeAugmented cannot take being missing as evidence"):
        by_missing(tree, "informative")
    with pytest.raises(SettingError, match="Neighbors has no way to leave missing cells out"):
        by_missing(near, "left-out")
    level = likely.fit(TABLE, "play", likely.Logistic(missing="level"))
    with pytest.raises(SettingError, match="Logistic must see the rows again to take missing cells otherwise"):
        by_missing(level, "left-out")
    assert by_missing(tree, "left-out") is tree


def test_a_pool_leaves_missing_cells_out_where_its_members_do() -> None:
    usual = [likely.NaiveBayes(), likely.TunedNaiveBayes(), likely.Logistic(), likely.Additive(order=1, rounds=5)]
    model = likely.fit(TABLE, "play", likely.Pool(usual, weights=[0.5] * 4))
    assert by_missing(model, "averaged") is model and by_missing(model, "left-out").references is None
    assert model.posterior({}).matrix[0] == pytest.approx(np.exp(model.log_prior))  # nothing known: the prior
    for odd in (likely.Neighbors(), likely.Additive(missing="level", rounds=5)):
        other = likely.fit(TABLE, "play", likely.Pool([*usual, odd], weights=[0.5] * 5))
        with pytest.raises(SettingError, match="Pool has no way to leave missing cells out"):
            by_missing(other, "left-out")


def test_an_attribute_without_any_value_is_left_alone() -> None:
    table = TABLE | {"gone": [None] * ROWS}
    model = likely.fit(table, "play", types={"gone": "number"})
    assert likely.decide(model, {"sky": "sun"}, missing_by="averaged").action in ("n", "y")


def test_values_under_which_a_row_is_impossible_say_nothing() -> None:
    table = {"a": ["u", "u", "v", "v"], "b": ["s", "t", "s", "s"], "y": ["n", "y", "n", "n"]}
    model = likely.fit(table, "y", likely.FullBayes(pseudo_count=0))
    # b=t never comes with a=v, so that only a=u says something of it.
    assert likely.decide(model, {"b": "t"}, missing_by="averaged").posterior.prob("y") == 1


def test_what_cannot_be_averaged_over_is_told() -> None:
    """Without a row there is no share of any value: a missing cell is then left out, and not silently."""
    known = likely.Knowledge("fever", given="flu", probability=0.9, worth=40)
    other = likely.Knowledge("fever", given="cold", probability=0.2, worth=40)
    model = likely.fit(None, "disease", likely.NaiveBayes(knowledge=[known, other]), types={"t [red]": "number"})
    told = " ".join(decider(model, missing_by="averaged").notes)
    assert "No row has a value of 't [red]', 'fever' to average over" in told
    rows = likely.learn(model, {"fever": [True], "t [red]": [1.5], "disease": ["flu"]})
    assert "No row" not in " ".join(decider(rows, missing_by="averaged").notes)


# What to ask next: value of information against brute force in fractions and scipy's integrals, and its laws.


LOSS = Loss({"a": {"p": 0, "q": 5, "r": 2}, "b": {"p": 3, "q": 0, "r": 1}, "c": {"p": 4, "q": 4, "r": 0}})
ASKING = np.random.default_rng(0)
ASKED_ROWS = 200
PLACE = ASKING.integers(0, 3, ASKED_ROWS)
ASKED_TABLE = {
    "x": (PLACE + ASKING.normal(size=ASKED_ROWS)).tolist(),
    "z": (PLACE**2 + 2 * ASKING.normal(size=ASKED_ROWS)).tolist(),
    "k": np.array(["u", "v", "w"])[np.where(ASKING.random(ASKED_ROWS) < 0.5, PLACE, 0)].tolist(),
    "j": ASKING.choice(["s", "t"], ASKED_ROWS).tolist(),
    "y": np.array(["a", "b", "c"])[PLACE].tolist(),
}


def by_name(found) -> dict:
    return {q.attribute: q for q in found.questions}


def least(weights, loss, classes):
    return min(
        sum(w * F(c) for w, c in zip(weights, column, strict=True)) for column in zip(*loss.rows(classes), strict=True)
    )


LEVELS = st.lists(st.sampled_from(["u", "v", "w"]), min_size=6, max_size=12)


@settings(max_examples=60)
@given(LEVELS, LEVELS, st.lists(st.sampled_from(["a", "b", "c"]), min_size=12, max_size=12), st.integers(0, 1))
def test_levels_agree_with_exact_fractions(first: list[str], second: list[str], target: list[str], extra: int) -> None:
    rows = min(len(first), len(second))
    table = {"k": first[:rows], "m": second[:rows], "y": target[:rows]}
    if len(set(table["k"])) < 2 or len(set(table["y"])) < 2 or len(set(table["m"])) < 2:
        return
    model = likely.fit(table, "y", likely.NaiveBayes(pseudo_count=extra), types={"k": "nominal", "m": "nominal"})
    classes = model.classes
    loss = Loss({c: dict(LOSS.costs[c]) for c in classes})

    def chance(name: str, level: str, of: str) -> F:
        own = [v for v, c in zip(table[name], table["y"], strict=True) if c == of]
        return F(own.count(level) + extra, len(own) + extra * len(set(table[name])))

    prior = [F(table["y"].count(c), rows) for c in classes]
    seen = table["m"][0]
    joint = {
        k: [p * chance("m", seen, c) * chance("k", k, c) for c, p in zip(classes, prior, strict=True)]
        for k in set(table["k"])
    }
    whole = [sum(column) for column in zip(*joint.values(), strict=True)]
    mass = sum(whole)
    before, after = least(whole, loss, classes), sum(least(w, loss, classes) for w in joint.values())
    found = by_name(ask(model, {"m": seen}, loss))["k"]
    assert found.drop == pytest.approx(float((before - after) / mass), abs=1e-13)
    assert found.drop >= 0

    def entropy(w):
        return -sum(float(v / sum(w)) * math.log2(v / sum(w)) for v in w if v) if sum(w) else 0.0

    told = entropy(whole) - sum(float(sum(w) / mass) * entropy(w) for w in joint.values())
    assert found.bits == pytest.approx(told, abs=1e-12) and found.error == 0


def test_normal_densities_agree_with_another_integral() -> None:
    model = likely.fit(ASKED_TABLE, "y", likely.NaiveBayes())
    found = by_name(ask(model, {"k": "u", "j": "s"}, LOSS))
    posterior = model.posterior({"k": "u", "j": "s"}).matrix[0]
    costs = np.array(LOSS.rows(model.classes), float)
    for name in ("x", "z"):
        (factor,) = (f for f in model.factors if f.name == name)  # type: ignore[attr-defined]
        densities = [stats.norm(m, d) for m, d in zip(factor.mean, factor.deviation, strict=True)]

        grid = np.linspace(-40, 40, 2_000_001)
        joint = np.column_stack([p * d.pdf(grid) for p, d in zip(posterior, densities, strict=True)])
        after = integrate.trapezoid((joint @ costs).min(axis=1), grid)
        assert found[name].drop == pytest.approx(min(posterior @ costs) - after, abs=1e-8)
        assert found[name].error < 1e-7


@pytest.mark.parametrize(
    "learner",
    [
        likely.NaiveBayes(),
        likely.NaiveBayes(numbers="kernel"),
        likely.NaiveBayes(numbers="binned"),
        likely.NaiveBayes(missing="level"),
        likely.NaiveBayes(unseen="reserve"),
        likely.NaiveBayes(variance_floor=1e-12),
        likely.NaiveBayes(blocks=(("x", "z"),)),
        likely.NaiveBayes(blocks=(("k", "j"),)),
        likely.TreeAugmented(),
        likely.OneDependence(),
    ],
    ids=repr,
)
def test_knowing_is_never_worth_less_than_nothing(learner) -> None:
    model = likely.fit(ASKED_TABLE, "y", learner)
    for row in ({}, {"z": 30.0, "k": "u"}):
        found = ask(model, row, LOSS)
        assert {q.attribute for q in found.questions} == {"x", "z", "k", "j"} - row.keys()
        drops = [q.drop for q in found.questions]
        assert min(drops) >= 0 and drops == sorted(drops, reverse=True)
        assert all(0 <= q.bits <= math.log2(3) for q in found.questions)
        # Knowing everything would save the whole expected loss and no more (the least cost of every class is 0).
        assert max(drops) <= found.now.expected_loss() + 1e-3


def test_drawing_rows_gives_the_same_drop() -> None:
    """The expected loss with the cell, over rows that the model itself draws."""
    model = likely.fit(ASKED_TABLE, "y", likely.NaiveBayes(blocks=(("x", "z"),)))
    rows = model.sample(100_000, seed=1)
    without = ask(model, {}, LOSS)
    for name in ("x", "k"):
        after = np.mean(likely.decide(model, {name: rows[name]}, LOSS).expected_loss())
        assert by_name(without)[name].drop == pytest.approx(without.now.expected_loss() - after, abs=0.01)


def test_a_copy_of_what_is_known_is_worth_nothing_in_a_block_and_the_joint_table() -> None:
    table = {"k": ASKED_TABLE["k"], "copy": ASKED_TABLE["k"], "y": ASKED_TABLE["y"]}
    for learner in (likely.NaiveBayes(blocks=(("k", "copy"),), pseudo_count=0), likely.FullBayes(pseudo_count=0)):
        model = likely.fit(table, "y", learner)
        (question,) = ask(model, {"k": "v"}, LOSS).questions
        assert question.drop == 0 and question.bits == pytest.approx(0, abs=1e-12)


def test_a_new_prior_moves_the_worth() -> None:
    model = likely.fit(ASKED_TABLE, "y", likely.NaiveBayes())
    plain, moved = by_name(ask(model, {}, LOSS)), ask(model, {}, LOSS, prior={"c": 0.999})
    assert max(q.drop for q in moved.questions) < 0.02 < plain["x"].drop
    assert moved.now.action == "r"


def test_nothing_missing_nothing_to_ask_and_the_unused_is_worth_nothing() -> None:
    model = likely.fit(ASKED_TABLE, "y", likely.NaiveBayes())
    assert ask(model, {"x": 1.0, "z": 1.0, "k": "u", "j": "s"}).questions == ()
    constant = likely.fit(ASKED_TABLE | {"one": [5.0] * ASKED_ROWS}, "y", likely.NaiveBayes(), types={"one": "number"})
    found = by_name(ask(constant, {"x": 1.0}))
    if "one" in found:
        assert found["one"].drop == 0 and "does not use" in found["one"].how


def test_what_cannot_be_asked_is_a_sentence() -> None:
    with pytest.raises(SettingError, match=r"not P\(row\)"):
        ask(likely.fit(ASKED_TABLE, "y", likely.LeastSquares()), {"x": 1.0})
    table = {"k": ["u", "v"] * 5, "j": ["s", "t"] * 5, "m": ["p", "q"] * 5, "y": ["a", "b"] * 5}
    model = likely.fit(table, "y", likely.NaiveBayes(pseudo_count=0))
    with pytest.raises(SettingError, match="impossible under every class"):
        ask(model, {"k": "u", "j": "t"})
    with pytest.raises(likely.LikelyError, match="'kk'"):
        ask(model, {"kk": "u"})


def test_where_a_missing_cell_means_something_else_it_says_so() -> None:
    assert ask(likely.fit(ASKED_TABLE, "y", likely.NaiveBayes()), {"k": "u"}, LOSS).notes == ()
    (note,) = ask(likely.fit(ASKED_TABLE, "y", likely.OneDependence()), {"k": "u"}, LOSS).notes
    assert "OneDependence does not sum over" in note


@settings(max_examples=25)
@given(st.floats(-5, 5), st.floats(1e-7, 10), st.floats(-5, 5))
@example(0.0, 2.0, 0.0078125)
def test_integrals_of_kinks_and_peaks(mean: float, deviation: float, kink: float) -> None:
    edges = np.unique(np.concatenate([mean + deviation * np.array([-40, -8, -4, -1, 0, 1, 4, 8, 40]), [kink - 60, 60]]))

    def values(x):
        density = stats.norm.pdf(x, mean, deviation)
        return np.column_stack([density, density * np.abs(x - kink)])

    edges = np.union1d(edges, turns(lambda x: (x >= kink).astype(np.intp), edges))
    (mass, away), error = integrals(values, edges, np.array([1e-10, 1e-10]), 100_000)
    d = (kink - mean) / deviation
    exact = deviation * (2 * stats.norm.pdf(d) + d * (2 * stats.norm.cdf(d) - 1))
    assert mass == pytest.approx(1, abs=1e-9) and away == pytest.approx(exact, abs=1e-8)
    assert (error < 1e-8).all()


def test_turns_are_found_to_the_last_bit_also_two_between_points() -> None:
    places = np.array([0.1, 0.1000001, 1 / 3, 0.9])
    found = turns(lambda x: np.searchsorted(places, x, side="right"), np.array([0.0, 1.0]))
    assert found.tolist() == places.tolist()


@pytest.mark.parametrize("row", [{"sky": ["sun", "rain"]}, "rows.csv", None, [{"sky": "sun"}]])
def test_one_row_is_asked_about(row: Any) -> None:
    """A table is refused with a sentence, by what to ask next and by the working alike."""
    model: Any = likely.fit({"sky": ["sun", "rain"], "play": ["yes", "no"]}, "play")
    for question in (lambda: likely.ask(model, row), lambda: model.working(row)):
        with pytest.raises(InputError, match="Give it as a dict of values"):
            question()


def test_what_to_ask_is_asked_of_the_default_itself_or_where_it_cannot_say_of_a_member() -> None:
    model = likely.fit(ASKED_TABLE, "y")
    assert type(model.learner).__name__ == "Auto" and model.references is not None
    found = ask(model, {"k": "u"}, LOSS)
    assert found.notes == () and all(q.how.startswith("averaged over") or not q.drop for q in found.questions)
    bare = replace(model, references=None)
    beside = ask(bare, {"k": "u"}, LOSS)
    assert "is not a generative model" in beside.notes[0]
    assert beside.questions == ask(model.describer, {"k": "u"}, LOSS).questions


def test_what_weighed_evidence_leaves_open_is_asked_of_naive_bayes() -> None:
    model = likely.fit(ASKED_TABLE, "y", likely.NaiveBayes(temperature=0.5))
    found, plain = ask(model, {"k": "u"}, LOSS), likely.fit(ASKED_TABLE, "y", likely.NaiveBayes())
    assert "NaiveBayes without scaling" in found.notes[0]
    assert found.questions == ask(plain, {"k": "u"}, LOSS).questions
