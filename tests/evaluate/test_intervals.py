"""Bounds of scores and the paired test: scipy's where the definitions agree, and what they hold on average."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import likely
from likely.evaluate.attributes.redundancy import holm
from likely.evaluate.scores.intervals import Parts, paired, resampled, wilson
from likely.evaluate.scores.ranking import reliability
from likely.present.report.look import score_table


@given(st.integers(1, 5000), st.data())
def test_wilson(rows: int, data: st.DataObject) -> None:
    right = data.draw(st.integers(0, rows))
    low, high = wilson(right / rows, rows)
    theirs = stats.binomtest(right, rows).proportion_ci(method="wilson")
    assert low == pytest.approx(theirs.low, abs=1e-12) and high == pytest.approx(theirs.high, abs=1e-12)


def parts(values: np.ndarray, ratio: float) -> Parts:
    return Parts(np.ones(len(values)), values, values, values, ratio)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=30), st.sampled_from([0.0, 0.25, 1 / 9])
)
def test_the_paired_test_is_students_with_a_wider_error(values: list[tuple[float, float]], ratio: float) -> None:
    a, b = (np.array(v) for v in zip(*values, strict=True))
    found = paired(parts(a, ratio), parts(b, ratio), "b", "log_loss")
    assert found is not None and found.folds == len(a)
    d = a - b
    if d.std(ddof=1) < 1e-9:
        return
    error = math.sqrt((1 / len(d) + ratio) * d.var(ddof=1))
    t = d.mean() / error
    assert found.p == pytest.approx(2 * stats.t.sf(abs(t), len(d) - 1), abs=1e-9)
    half = stats.t.ppf(0.975, len(d) - 1) * error
    assert found.difference.low == pytest.approx(d.mean() - half, abs=1e-9)
    if ratio == 0:
        assert found.p == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=1e-9)


def test_what_the_paired_test_says_at_its_ends() -> None:
    same = paired(parts(np.array([0.5, 0.4]), 0.1), parts(np.array([0.5, 0.4]), 0.1), "b", "accuracy")
    assert same is not None and same.p == 1.0 and same.difference.value == 0.0
    always = paired(parts(np.array([0.5, 0.5]), 0.1), parts(np.array([0.25, 0.25]), 0.1), "b", "accuracy")
    assert always is not None and always.p == 0.0
    assert paired(parts(np.array([0.5]), 0.1), parts(np.array([0.5]), 0.1), "b", "accuracy") is None
    assert paired(parts(np.array([np.inf, 1]), 0.1), parts(np.array([0.5, 1]), 0.1), "b", "log_loss") is None
    mean, error, freedom = resampled(np.array([1.0]), np.array([3.0]), 0.1)
    assert mean == 1.0 and math.isnan(error) and freedom == 0


def test_bounds_hold_the_score_and_grow_narrower() -> None:
    rng = np.random.default_rng(0)
    widths = []
    for rows in (60, 600, 6000):
        y = rng.choice(["p", "q"], rows)
        table = {"x": (rng.normal(size=rows) + (y == "p")).tolist(), "y": y.tolist()}
        record = likely.look(table, "y", likely.NaiveBayes())
        for name in ("accuracy", "log_loss", "brier"):
            one = getattr(record.intervals, name)
            assert one.low <= one.value == pytest.approx(getattr(record.scores, name)) and one.value <= one.high
        right = record.intervals.accuracy
        assert (right.low, right.high) == wilson(record.scores.accuracy, rows)
        widths.append(right.high - right.low)
    assert widths[0] > widths[1] > widths[2]


def test_the_bounds_hold_the_truth_nineteen_times_of_twenty() -> None:
    rng = np.random.default_rng(1)
    truth, held = stats.norm.cdf(0.5), 0
    for seed in range(60):
        y = rng.choice(["p", "q"], 150)
        table = {"x": (rng.normal(size=150) + (y == "p")).tolist(), "y": y.tolist()}
        right = (
            likely.compare(table, "y", {"it": likely.LinearDiscriminant()}, folds=5, seed=seed)
            .learners[0]
            .intervals.accuracy
        )
        held += right.low <= truth <= right.high
    assert held >= 54


def test_compare_sets_every_learner_against_the_first() -> None:
    rng = np.random.default_rng(2)
    y = rng.choice(["p", "q"], 300)
    table = {"x": (rng.normal(size=300) + 2 * (y == "p")).tolist(), "y": y.tolist()}
    learners = {"it": likely.NaiveBayes(), "again": likely.NaiveBayes(), "prior": likely.Prior()}
    record = likely.compare(table, "y", learners, folds=5)
    by = {one.name: one for one in record.learners}
    assert not record.learners[0].against and record.learners[0].name == "it"
    again, prior = by["again"].against[0], by["prior"].against[0]
    assert again.p == 1.0 and again.score == prior.score == "log_loss" and prior.other == "it"
    assert prior.p_of_all < 0.01 < again.p_of_all and prior.difference.low > 0
    assert [prior.p_of_all, again.p_of_all] == holm([prior.p, again.p])
    assert prior.difference.value == pytest.approx(by["prior"].scores.log_loss - by["it"].scores.log_loss, abs=1e-9)


def test_halves_of_one_held_out_part_are_no_folds() -> None:
    """Where members were learned once, rows say how sure a score is: two halves, by Student's t, would say nothing."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=12_000)
    table = {"x": x.tolist(), "y": np.where(x + rng.normal(size=len(x)) > 0, "a", "b").tolist()}
    record = likely.look(table, "y", likely.Auto(members=("NaiveBayes", "Logistic")))
    plain = likely.look(table, "y")
    for found in (record, plain):
        low, high = found.intervals.accuracy.low, found.intervals.accuracy.high
        assert 0.005 < high - low < 0.06


def inside(found: Any, most: float = 1.0) -> None:
    """The point in its interval, and the interval where such a figure can be."""
    if found.value is not None and found.low is not None:
        assert 0 <= found.low <= found.value <= found.high <= most


@pytest.mark.parametrize("learner", [likely.NaiveBayes(), likely.LeastSquares(mode="pairwise"), None])
@pytest.mark.parametrize("table", ["few", "rare", "people", "weighed"])
def test_no_interval_is_nonsense(learner: Any, table: str, examples: Path) -> None:
    rng = np.random.default_rng(3)
    data: Any = {"c": ["A"] * 4 + ["B"] * 4 + ["C"] * 4, "x": rng.normal(size=12).tolist()}
    target, weight = "c", None
    if table == "rare":
        data = {"x": rng.normal(size=200).tolist(), "c": ["b" if k % 40 == 0 else "a" for k in range(200)]}
    if table == "people":
        data, target = examples / "people.csv", "sex"
    if table == "weighed":
        data = {"x": rng.normal(size=60).tolist(), "c": list("ab") * 30, "w": ([0.01] * 59) + [0.5]}
        weight = "w"
    record = likely.look(data, target, learner, weight=weight)
    for found in (record.intervals, record.baselines.baseline_intervals):
        inside(found.accuracy), inside(found.log_loss, math.inf), inside(found.brier, 2.0)
    for one in record.per_class:
        inside(one.precision), inside(one.recall)
    for curve in record.trust.calibration:
        assert 0 <= curve.error <= 1
        for one_bin in curve.bins:
            inside(one_bin.share)
    shown = next(row for row in score_table(record).rows if row[0] == "calibration error")
    assert shown[2] == "", "an interval that need not hold its point is none"


def test_one_accuracy_of_the_same_rows_has_one_interval(examples: Path) -> None:
    path, learner = examples / "penguins.csv", likely.NaiveBayes()
    record = likely.look(path, "sex", learner, folds=5)
    compared = likely.compare(path, "sex", {"it": learner}, folds=5).learners[0]
    last = likely.curve(path, "sex", learner, folds=5).points[-1]
    right = record.intervals.accuracy
    assert compared.intervals is not None and compared.intervals.accuracy == right
    rows = sum(record.classes.values())
    for found in (right, last.accuracy):
        assert (found.low, found.high) == wilson(found.value, rows)
    for one in record.per_class:
        assert (one.recall.low, one.recall.high) == wilson(one.recall.value, one.rows)
        assert one.recall.high - one.recall.low > right.high - right.low, "half the rows say less"


def test_equal_weights_change_no_interval_and_unequal_ones_widen_it() -> None:
    rng = np.random.default_rng(4)
    y = rng.choice(["p", "q"], 400)
    table = {"x": (rng.normal(size=400) + (y == "p")).tolist(), "y": y.tolist()}
    plain = likely.look(table, "y", likely.NaiveBayes()).intervals.accuracy
    same = likely.look({**table, "w": [0.25] * 400}, "y", likely.NaiveBayes(), weight="w").intervals.accuracy
    assert (same.low, same.high) == pytest.approx((plain.low, plain.high))
    uneven = likely.look({**table, "w": [8.0] * 40 + [0.1] * 360}, "y", likely.NaiveBayes(), weight="w")
    found = uneven.intervals.accuracy
    weights = np.array([8.0] * 40 + [0.1] * 360)
    assert (found.low, found.high) == pytest.approx(wilson(found.value, weights.sum() ** 2 / (weights**2).sum()))


def test_groups_that_are_alike_count_as_fewer_rows() -> None:
    rng = np.random.default_rng(6)
    who = np.repeat(np.arange(20), 50)
    y = rng.choice(["p", "q"], 20)[who]
    x = rng.normal(size=20)[who] + 0.1 * rng.normal(size=1000) + 0.7 * (y == "p")
    table = {"who": [f"w{k}" for k in who], "x": x.tolist(), "y": y.tolist()}
    found = likely.look(table, "y", likely.NaiveBayes(), group="who")
    right = found.intervals.accuracy
    low, high = wilson(right.value, 1000)
    assert right.low < low and right.high > high
    inside(right)
    for one in found.per_class:
        inside(one.recall)
        assert (
            one.recall.high - one.recall.low
            > wilson(one.recall.value, one.rows)[1] - wilson(one.recall.value, one.rows)[0]
        )


def test_few_rows_are_not_called_worse_calibrated_than_chance_explains() -> None:
    """Outcomes are drawn by the probabilities themselves: rarely more than one in 40 is doubted, however few rows."""
    rng = np.random.default_rng(5)
    for rows in (2, 4, 12, 60):
        doubted = 0
        for seed in range(60):
            chance = rng.uniform(0.05, 0.95, rows)
            hit = rng.random(rows) < chance
            doubted += reliability(chance, hit, np.ones(rows), bins=2, seed=seed).doubted
        assert doubted <= 6, (rows, doubted)
    sure = np.full(60, 0.99)
    assert reliability(sure, np.arange(60) % 2 == 0, np.ones(60)).doubted
