"""What deciding costs, cross-validated: against the same sums by hand, exact and whatever the threads."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest

import likely
from likely import Loss, Posterior
from likely.errors import SettingError
from likely.evaluate.scores.scores import Chosen, loss_scores
from likely.sums.contracts import weights

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
