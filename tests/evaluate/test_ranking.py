"""Ranks, curves and calibration: scikit-learn's numbers where the definitions agree, brute force where not."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, precision_recall_fscore_support, roc_auc_score, roc_curve

import likely
from likely.evaluate.scores.intervals import class_scores
from likely.evaluate.scores.ranking import ranking, reliability, thinned
from likely.evaluate.scores.scores import log_odds, probabilities
from likely.sums.tallies import equal_weight_bins

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
    kept = thinned(points)
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
    assert {p.other for p in record.baselines.against} == {"frequencies only", "one attribute", "naive Bayes"}
    assert record.baselines.naive_bayes is not None and record.dealing.dealt == "content"
    two = likely.look(examples / "weather.csv", "play")
    assert two.trust.positive == "no" and two.trust.calibration[0].of == "no" and len(two.trust.calibration) == 1
    assert likely.look(examples / "weather.csv", "play", positive="yes").trust.calibration[0].of == "yes"
    with pytest.raises(likely.LikelyError, match="'maybe'"):
        likely.look(examples / "weather.csv", "play", positive="maybe")
    assert two.trust.rankings["no"].roc.auc.value == pytest.approx(two.trust.rankings["yes"].roc.auc.value)
