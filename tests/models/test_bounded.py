"""In a pool, a number far outside of what a member has seen is its silence; a learner by itself stays as it is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import likely
from likely.models.factors.bins import value_ranges
from likely.models.shapes import NATS, Sum, bound, soften

EDGE = math.sqrt(2 * NATS)


def table(rows: int = 200, seed: int = 3) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b"], rows)
    x = rng.normal(size=(rows, 2)) * np.where(y == "a", 1.0, 2.0)[:, None] + np.where(y == "a", 0.0, 1.5)[:, None]
    return {"x": x[:, 0].tolist(), "z": x[:, 1].tolist(), "y": y.tolist()}


def pool_of(*members: Any) -> likely.Model:
    return likely.fit(table(), "y", likely.Pool(members, weights=(1.0,) * len(members)))


def chances(model: likely.Model, x: float | None, z: float | None = 0.5) -> list[float]:
    return model.posterior({"x": x, "z": z}).matrix[0].tolist()  # type: ignore[no-any-return]


def test_a_normal_density_says_no_more_than_where_the_bound_begins() -> None:
    pool, alone = pool_of(likely.NaiveBayes()), likely.fit(table(), "y", likely.NaiveBayes())
    normal = alone.factor_of("x").normal
    edge = float((normal.mean + EDGE * normal.deviation).max())
    assert chances(pool, 1e6) == pytest.approx(chances(pool, edge), rel=1e-9)
    assert chances(pool, 1e6) == chances(pool, 1e300)
    assert min(chances(pool, 1e6)) > 1e-12
    # By itself naive Bayes says what the textbook says; and so does the pool, where nothing is far.
    logs = -0.5 * ((60 - normal.mean) / normal.deviation) ** 2 - np.log(normal.deviation)
    (batch,) = alone.batches({"x": [60.0], "z": [None], "y": ["a"]})
    said = alone.log_joint(batch)[0] - alone.log_prior
    assert said[0] - said[1] == pytest.approx(logs[0] - logs[1], rel=1e-12) and abs(said[0] - said[1]) > 500
    assert chances(pool, 1.0) == pytest.approx(chances(alone, 1.0), rel=1e-12)
    assert pool.members[0].log_joint(batch).tolist() == alone.log_joint(batch).tolist()


@pytest.mark.parametrize(
    "learner",
    [
        likely.NaiveBayes(),
        likely.NaiveBayes(numbers="kernel"),
        likely.NaiveBayes(blocks=(("x", "z"),)),
        likely.FullBayes(),
    ],
    ids=repr,
)
def test_where_all_is_far_away_the_answer_is_the_prior(learner: Any) -> None:
    share = table()["y"].count("a") / 200
    assert chances(pool_of(learner), 1e6, -1e6) == pytest.approx([share, 1 - share], abs=1e-12)


def test_a_line_ends_where_training_did() -> None:
    model, data = pool_of(likely.Logistic()), table()
    farthest = max(data["x"], key=lambda v: abs(v - np.mean(data["x"])))
    assert chances(model, math.copysign(1e6, farthest)) == pytest.approx(chances(model, farthest), rel=1e-12)
    alone = likely.fit(data, "y", likely.Logistic())
    for x in data["x"]:
        assert chances(model, x) == pytest.approx(chances(alone, x), abs=1e-12)
    assert chances(alone, 1e6) != pytest.approx(chances(model, 1e6), abs=1e-6)


@pytest.mark.parametrize("z", [0.5, None])
def test_distances_of_several_numbers_have_a_limit(z: float | None) -> None:
    learner = likely.NaiveBayes(blocks=(("x", "z"),), missing="level")  # nothing is averaged over
    model = pool_of(learner)
    assert chances(model, 1e6, z) == pytest.approx(chances(model, 1e3, z), rel=1e-12)
    assert min(chances(model, 1e6, z)) > 1e-12
    alone = likely.fit(table(), "y", learner)
    assert min(chances(alone, 1e6, z)) == 0.0
    assert chances(model, 1.0, z) == pytest.approx(chances(alone, 1.0, z), rel=1e-12)


def test_typical_rows_of_many_numbers_are_no_outliers() -> None:
    """Of 120 numbers, half the squared distance is 60 nats on average, in the row's own class."""
    rng = np.random.default_rng(1)
    y = np.array(["a", "b"] * 300)
    x = rng.normal(size=(600, 120)) + 0.3 * (y == "b")[:, None]
    data = {**{f"x{k}": x[:, k].tolist() for k in range(120)}, "y": y.tolist()}
    learner = likely.FullBayes(shrinkage="auto")
    one = likely.fit(data, "y", learner).posterior(data).matrix
    other = likely.fit(data, "y", likely.Pool((learner,), weights=(1.0,))).posterior(data).matrix
    assert np.abs(one - other).max() < 1e-6


def test_where_classes_share_a_covariance_each_number_ends_where_training_did() -> None:
    model, data = pool_of(likely.LinearDiscriminant()), table()
    assert chances(model, 1e6) == pytest.approx(chances(model, max(data["x"])), rel=1e-12)
    assert chances(model, -1e6, None) == pytest.approx(chances(model, min(data["x"]), None), rel=1e-12)


def test_a_kernel_density_has_a_floor() -> None:
    model = pool_of(likely.NaiveBayes(numbers="kernel"))
    alone = likely.fit(table(), "y", likely.NaiveBayes(numbers="kernel"))
    assert chances(model, 1e6) == chances(model, 1e3) and min(chances(model, 1e6)) > 1e-12
    assert min(chances(alone, 1e3)) == 0.0
    assert chances(model, 1.0) == pytest.approx(chances(alone, 1.0), rel=1e-12)


def test_what_is_impossible_to_a_member_is_nearly_so_in_the_pool() -> None:
    levels = {"s": ["u", "v", "u", "u"] * 10, "t": ["p", "q", "q", "p"] * 10, "y": ["a", "b", "a", "a"] * 10}
    types = {"s": "nominal", "t": "nominal"}
    none = {"pseudo_count": 0}
    for learner in (
        likely.NaiveBayes(**none),
        likely.NaiveBayes(blocks=(("s", "t"),), **none),
        likely.FullBayes(**none),
        likely.TreeAugmented(**none),
    ):
        alone = likely.fit(levels, "y", learner, types=types)
        pool = likely.fit(levels, "y", likely.Pool((learner,), weights=(1.0,)), types=types)
        row = {"s": "v", "t": "q"}
        assert alone.posterior(row).prob("a") == 0.0
        assert 0.0 < pool.posterior(row).prob("a") < 1e-9, learner


def test_a_score_that_cannot_stray_is_itself() -> None:
    levels = {"s": ["u", "v", "u"] * 10, "y": ["a", "b", "a"] * 10}
    model = likely.fit(levels, "y", likely.NaiveBayes(), types={"s": "nominal"})
    assert bound(model.score, value_ranges(model.summary)) is model.score
    numbers = likely.fit(table(), "y", likely.NaiveBayes())
    assert isinstance(bound(numbers.score, value_ranges(numbers.summary)), Sum)
    assert likely.fit(levels, "y", likely.Pool((likely.NaiveBayes(),), weights=(1.0,))).frozen == likely.NaiveBayes()
    frozen = likely.fit(table(), "y", pool_of(likely.NaiveBayes()).frozen)
    assert chances(frozen, 1e6) == chances(pool_of(likely.NaiveBayes()), 1e6)


def test_ranges_hold_all_values_also_where_a_tally_has_dropped_bits() -> None:
    x = np.random.default_rng(0).normal(size=20_000)
    summary = likely.summarize({"x": x.tolist(), "y": ["a", "b"] * 10_000}, "y")
    low, high = value_ranges(summary)["x"]
    assert low <= x.min() < 0.99 * low and 0.99 * high < x.max() <= high


def test_soften_keeps_what_is_possible() -> None:
    logs = np.array([[-1.0, -900.0], [-np.inf, -2.0]])
    assert soften(logs).tolist() == [[-1.0, -900.0], [-27.0, -2.0]]


def test_every_line_of_a_ledger_is_as_bounded_as_the_answer() -> None:
    model = pool_of(likely.NaiveBayes(), likely.Logistic(), likely.LinearDiscriminant(), likely.FullBayes())
    ledger = likely.explain(model, {"x": 1e6, "z": 0.5})
    ratios = [e.log_ratio for e in ledger.entries if e.log_ratio is not None]
    assert math.fsum(ratios) == pytest.approx(ledger.log_odds, abs=1e-9)
    assert abs(ledger.log_odds) < 60
