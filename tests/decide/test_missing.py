"""Missing cells, three ways: left out, averaged over what they may hold, or evidence by themselves."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import likely
from likely import by_missing
from likely.apply.decide import missing
from likely.apply.decide.decider import decider
from likely.apply.decide.missing import combinations, spread
from likely.errors import SettingError

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
    model = likely.fit(TABLE, "play", learner)
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
    assert by_missing(model, "left-out") is model
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
