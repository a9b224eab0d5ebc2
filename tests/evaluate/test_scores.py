"""Scores of held-out rows: their intervals, ranking and reliability, and what decisions cost."""

from __future__ import annotations

import json
import math
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import average_precision_score, precision_recall_fscore_support, roc_auc_score, roc_curve

import likely
from likely import Loss, Posterior
from likely.errors import SettingError
from likely.evaluate.attributes.redundancy import holm
from likely.evaluate.scores.intervals import Parts, class_scores, paired, resampled, wilson
from likely.evaluate.scores.ranking import kept_points, ranking, reliability
from likely.evaluate.scores.scores import Chosen, log_odds, loss_scores, probabilities
from likely.present.report.look import score_table
from likely.sums.contracts import weights
from likely.sums.tallies import equal_weight_bins


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
        assert (right.low, right.high) == pytest.approx(wilson(record.scores.accuracy, rows / (1 + 1 / 9)), abs=1e-3)
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


def test_the_fewer_rows_are_learned_from_the_less_sure_is_a_score() -> None:
    """Variances are times 1 + rows predicted / rows learned from: here 50 for 50, and 10 for 90."""
    rng = np.random.default_rng(7)
    y = ["p", "q"] * 50
    table = {"x": (rng.normal(size=100) + np.tile([1.0, 0.0], 50)).tolist(), "y": y}
    halves, tenths = (likely.look(table, "y", likely.NaiveBayes(), folds=k).intervals for k in (2, 10))
    for found, ratio in ((halves, 1.0), (tenths, 1 / 9)):
        right = found.accuracy
        assert (right.low, right.high) == pytest.approx(wilson(right.value, 100 / (1 + ratio)))


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
    tested = rows / (1 + 1 / 4)  # four folds teach what predicts the fifth
    for found in (right, last.accuracy):
        assert (found.low, found.high) == pytest.approx(wilson(found.value, tested), abs=1e-4)
    for one in record.per_class:
        own = wilson(one.recall.value, one.rows * tested / rows)
        assert (one.recall.low, one.recall.high) == pytest.approx(own, abs=1e-4)
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
    effective = weights.sum() ** 2 / (weights**2).sum()
    assert (found.low, found.high) == pytest.approx(wilson(found.value, effective / (1 + 1 / 9)), abs=1e-6)


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


# Ranks, curves and calibration: scikit-learn's numbers where the definitions agree, brute force where not.


SCORES = st.sampled_from([-np.inf, -3.0, -1.0, 0.0, 1e-12, 1.0, 1.0 + 2**-52, 700.0, np.inf])
ROWS = st.lists(st.tuples(SCORES, st.booleans(), st.sampled_from([1.0, 0.25, 3.0])), min_size=2, max_size=40)


@given(rows=ROWS)
def test_areas_are_those_of_scikit_learn(rows) -> None:
    score, hit, weight = (np.array(c) for c in zip(*rows, strict=True))
    assume(hit.any() and not hit.all())
    finite = np.clip(score, -1e300, 1e300)  # which scikit-learn asks for
    found = ranking(score, hit, weight, "it")
    assert found.roc.auc.value == pytest.approx(roc_auc_score(hit, finite, sample_weight=weight), abs=1e-12)
    expected = average_precision_score(hit, finite, sample_weight=weight)
    assert found.precision_recall.average_precision == pytest.approx(expected, abs=1e-12)
    false, true, _ = roc_curve(hit, finite, sample_weight=weight, drop_intermediate=False)
    assert np.array(found.roc.points) == pytest.approx(np.column_stack([false, true]), abs=1e-12)
    auc = found.roc.auc
    assert 0 <= auc.low <= auc.value + 1e-12 and auc.value <= auc.high + 1e-12 and auc.high <= 1
    last = found.lift.rows[-1]
    assert last.share == 1 and last.found == pytest.approx(1) and last.lift == pytest.approx(1)
    assert last.precision == pytest.approx(found.precision_recall.prevalence)


def test_lift_is_what_the_rows_above_have() -> None:
    score, hit = np.arange(100.0)[::-1], np.arange(100) < 30
    rows = {r.share: r for r in ranking(score, hit, np.ones(100)).lift.rows}
    assert rows[0.1].precision == pytest.approx(1) and rows[0.1].lift == pytest.approx(1 / 0.3)
    assert rows[0.3].found == pytest.approx(1) and rows[0.6].precision == pytest.approx(0.5)
    tied = ranking(np.zeros(100), hit, np.ones(100)).lift.rows
    assert all(r.lift == pytest.approx(1) for r in tied), "ties are cut as if shuffled"


def test_a_long_curve_keeps_its_ends() -> None:
    points = np.column_stack([np.linspace(0, 1, 5000), np.linspace(0, 1, 5000) ** 0.5])
    kept = [tuple(point) for point in points[kept_points(points)].tolist()]
    assert len(kept) <= 202 and kept[0] == (0, 0) and kept[-1] == (1, 1) and list(kept) == sorted(kept)


@settings(max_examples=50)
@given(st.lists(st.tuples(st.sampled_from([0.0, 1e-9, 0.1, 0.2, 0.5, 0.9, 1.0]), st.booleans(),
                          st.sampled_from([1.0, 0.5, 4.0])), min_size=1, max_size=60), st.integers(1, 12))  # fmt: skip
def test_calibration_by_brute_force(rows, bins: int) -> None:
    p, hit, weight = (np.array(c) for c in zip(*rows, strict=True))
    where = equal_weight_bins(p, weight, bins)
    assert sorted(set(where.tolist())) == list(range(where.max() + 1)) and where.max() < bins
    order = np.argsort(p, kind="stable")
    assert (np.diff(where[order]) >= 0).all() and all(len(set(where[p == v])) == 1 for v in set(p.tolist()))
    found = reliability(p, hit, weight, "it", bins)
    total, error = weight.sum(), 0.0
    for k, one in enumerate(found.bins):
        mine = where == k
        own = weight[mine].sum()
        given_, seen = (weight * p)[mine].sum() / own, (weight * hit)[mine].sum() / own
        assert one.weight == pytest.approx(own) and one.probability == pytest.approx(given_)
        assert one.share.value == pytest.approx(seen) and one.low == p[mine].min() and one.high == p[mine].max()
        error += own / total * abs(given_ - seen)
    assert found.error == pytest.approx(error, abs=1e-12)


def test_the_error_of_right_probabilities_is_no_news_and_that_of_wrong_ones_is() -> None:
    doubted = seen = 0
    for seed in range(80):
        rng = np.random.default_rng(1000 + seed)
        p = rng.random(400)
        right = reliability(p, rng.random(400) < p, np.ones(400))
        doubted += right.doubted
        assert right.error < 3 * right.by_chance
        sure = np.clip(p + 0.8 * (p - 0.5), 0, 1)
        wrong = reliability(sure, rng.random(400) < p, np.ones(400))
        seen += wrong.doubted
    assert doubted <= 6 and seen >= 68
    assert wrong.bias == pytest.approx(0, abs=0.06)


def test_odds_and_chances() -> None:
    joint = np.log(np.array([[0.2, 0.3, 0.5], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]), where=np.array(
        [[True] * 3, [False, False, True], [False] * 3]), out=np.full((3, 3), -np.inf))  # fmt: skip
    assert probabilities(log_odds(joint)).tolist() == [pytest.approx([0.2, 0.3, 0.5]), [0, 0, 1], [0, 0, 0]]


def test_precision_and_recall_are_those_of_scikit_learn(examples) -> None:
    rng = np.random.default_rng(0)
    truth, named = rng.integers(0, 3, 200), rng.integers(0, 3, 200)
    table = np.array([[((truth == a) & (named == b)).sum() for b in range(3)] for a in range(3)])
    theirs = np.array(precision_recall_fscore_support(truth, named)).T
    for one, row in zip(class_scores("abc", table.tolist(), table.sum(axis=1).tolist()), theirs, strict=True):
        assert [one.precision.value, one.recall.value, one.f1, one.rows] == pytest.approx(row.tolist())
    never = class_scores("ab", [[0, 2], [0, 3]], [2, 3])[0]
    assert never.precision.value is None and never.recall.value == 0 and never.f1 == 0


def test_look_has_all_of_it(examples) -> None:
    record = likely.look(examples / "iris.csv", "species")
    told = json.loads(record.json())
    assert [c["label"] for c in told["per_class"]] == list(record.classes)
    assert set(record.trust.rankings) == set(record.classes) and record.trust.macro_auc > 0.97
    assert record.trust.calibration[0].of is None and len(record.trust.calibration) == 4
    assert record.baselines.one_rule.accuracy > 0.9 and record.baselines.one_attribute in (
        "petal_length",
        "petal_width",
    )
    assert {p.other for p in record.baselines.against} == {"guessing", "one attribute", "naive Bayes"}
    assert record.baselines.naive_bayes is not None and record.dealing.dealt == "content"
    two = likely.look(examples / "weather.csv", "play")
    assert two.trust.positive == "no" and two.trust.calibration[0].of == "no" and len(two.trust.calibration) == 1
    assert likely.look(examples / "weather.csv", "play", positive="yes").trust.calibration[0].of == "yes"
    with pytest.raises(likely.LikelyError, match="'maybe'"):
        likely.look(examples / "weather.csv", "play", positive="maybe")
    assert two.trust.rankings["no"].roc.auc.value == pytest.approx(two.trust.rankings["yes"].roc.auc.value)


# What deciding costs, cross-validated: against the same sums by hand, exact and whatever the threads.


LOSS = Loss({"a": {"x": "1/3", "y": 2}, "b": {"x": 3, "y": 0}}, abstain="1/2")
NAMES = ("a", "b")


def test_sums_by_hand() -> None:
    chances = np.array([[0.9, 0.1], [0.5, 0.5], [0.05, 0.95], [0.99, 0.01]])
    with np.errstate(divide="ignore"):
        found = Posterior.of(NAMES, np.log(chances), one=False)
    truth, weight = np.array([0, 1, 0, 1], np.int32), np.array([1.0, 2.0, 0.5, 0.25])
    chosen = Chosen(LOSS, NAMES)
    chosen.update(found, truth, weights(weight))
    # Expected: x costs p/3 + 3(1-p), y 2p, don't know 1/2. Rows: don't know, don't know, y, x.
    spent = F(1, 2) * 1 + F(1, 2) * 2 + 2 * F(1, 2) + 3 * F(1, 4)
    assert chosen.mean() == spent / F(15, 4)
    other = Chosen(LOSS, NAMES)
    other.update(found, truth, weights(None))
    scores = loss_scores(chosen, other)
    assert scores.table == ((0, 0.5, 1), (0.25, 0, 2)) and scores.undecided == 0
    assert scores.constant == "don't know" and scores.constant_mean == 0.5
    whole = chosen + other
    assert whole.mean() == (spent + F(1, 2) * 2 + 2 + 3) / (F(15, 4) + 4)


def test_rows_without_an_action_count_as_the_costliest() -> None:
    chosen = Chosen(LOSS, NAMES)
    found = Posterior.of(NAMES, np.full((2, 2), -np.inf), one=False)
    chosen.update(found, np.array([0, 1], np.int32), weights(None))
    assert chosen.mean() == F(5, 2) and loss_scores(chosen, chosen).undecided == 2


def test_look_decides_out_of_fold_and_threads_do_not_matter() -> None:
    rng = np.random.default_rng(4)
    target = rng.choice(NAMES, 300, p=[0.7, 0.3])
    table = {"x": (rng.normal(size=300) + 2 * (target == "b")).tolist(), "y": target.tolist()}
    records = [likely.look(table, "y", likely.NaiveBayes(), loss=LOSS, folds=5, threads=n) for n in (1, 3)]
    assert records[0].decisions == records[1].decisions
    found = records[0].decisions
    assert found is not None and found.mean < min(found.baseline, found.constant_mean)
    share = float(np.mean(target == "a"))
    always = {"x": share / 3 + 3 * (1 - share), "y": 2 * share, "don't know": 0.5}
    assert found.constant == min(always, key=always.__getitem__)
    assert found.constant_mean == pytest.approx(always[found.constant]) == pytest.approx(found.baseline)
    zero_one = likely.look(table, "y", likely.NaiveBayes(), loss=Loss.zero_one(NAMES), folds=5)
    assert zero_one.decisions is not None
    assert zero_one.decisions.mean == pytest.approx(1 - zero_one.scores.accuracy)
    assert zero_one.decisions.baseline == pytest.approx(1 - zero_one.baseline.accuracy)
    assert zero_one.decisions.table == zero_one.confusion


def test_a_class_that_the_loss_does_not_name_is_refused() -> None:
    with pytest.raises(SettingError, match="does not name the class 'c'"):
        likely.look({"x": ["u", "v", "w"] * 5, "y": ["a", "b", "c"] * 5}, "y", likely.NaiveBayes(), loss=LOSS)
