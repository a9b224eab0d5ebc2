"""Label suspects: the probabilities are those of really refitting, and planted errors are found."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import likely
from likely import NaiveBayes, doctor
from likely.evaluate import kernels
from likely.evaluate.troubles.rows import BELOW


def folds_of(y: list[str], folds: int, seed: int) -> np.ndarray:
    """The fold of each row, dealt as every cross-validation deals them."""
    order = {c: k for k, c in enumerate(dict.fromkeys(y))}
    codes = np.array([order[c] for c in y], np.int32)
    ordinal, out = np.empty(len(y), np.int64), np.empty(len(y), np.int32)
    kernels.ordinals(codes, np.zeros(len(order), np.int64), ordinal)
    kernels.stratified(codes, ordinal, folds, seed, out)
    return out


def test_probabilities_are_those_of_models_that_have_not_seen_the_row() -> None:
    rng = np.random.default_rng(4)
    y = rng.choice(["no", "yes", "perhaps"], 120).tolist()
    table = {
        "n": rng.normal(size=120) + [3.0 * ["no", "yes", "perhaps"].index(c) for c in y],
        "l": rng.choice(["a", "b"], 120).tolist(),
    }
    found = doctor(table | {"y": y}, "y", NaiveBayes(), suspects=120, folds=3, seed=7)
    fold = folds_of(y, 3, 7)
    schema = likely.summarize(table | {"y": y}, "y").schema
    expected, everyone = np.zeros((120, 3)), {}
    for k in range(3):
        rest = {
            name: [v for v, f in zip(column, fold, strict=True) if f != k]
            for name, column in (table | {"y": y}).items()
        }
        model = likely.fit(rest, learner=NaiveBayes(), schema=schema)
        own = {name: [v for v, f in zip(column, fold, strict=True) if f == k] for name, column in table.items()}
        expected[fold == k] = model.posterior(own).matrix
        everyone = {c: i for i, c in enumerate(model.classes)}
    given = expected[np.arange(120), [everyone[c] for c in y]]
    for suspect in found.suspects:
        assert suspect.probability == pytest.approx(given[suspect.row - 1], rel=1e-9)
        assert suspect.label == y[suspect.row - 1] and suspect.label != suspect.likely
        assert suspect.likely_probability == pytest.approx(expected[suspect.row - 1].max(), rel=1e-9)
    wanted = [k + 1 for k in np.argsort(given, kind="stable") if given[k] <= 0.2 and given[k] < expected[k].max()]
    assert [s.row for s in found.suspects] == wanted and len(wanted) > 2
    for surprise, below in zip(found.surprises, BELOW, strict=True):
        assert surprise.rows == (given <= below).sum()
        assert surprise.expected == pytest.approx(expected[expected <= below].sum())


@pytest.fixture(scope="module")
def planted() -> tuple[dict[str, object], set[int]]:
    """A real table, and 5 % of its classes turned around."""
    data = load_breast_cancer()
    rng = np.random.default_rng(2)
    wrong = rng.choice(len(data.target), len(data.target) // 20, replace=False)
    y = data.target.copy()
    y[wrong] = 1 - y[wrong]
    table: dict[str, object] = {str(data.feature_names[k]): data.data[:, k] for k in range(20, 28)}
    return table | {"y": np.array(["malignant", "benign"])[y]}, {int(w) + 1 for w in wrong}


def test_planted_errors_come_first(planted: tuple[dict[str, object], set[int]]) -> None:
    table, wrong = planted
    found = doctor(table, "y", suspects=len(wrong))
    hits = [s.row in wrong for s in found.suspects]
    assert sum(hits) >= 0.75 * len(wrong) and sum(hits[:10]) >= 8, hits
    worst = found.suspects[0]
    assert worst.against and worst.against[0].bits > 1 and worst.against[0].attribute in table
    rare = next(s for s in found.surprises if s.below == 0.01)
    assert rare.rows > 3 * rare.expected


def test_neither_threads_nor_how_many_are_asked_for_change_a_bit(planted: tuple[dict[str, object], set[int]]) -> None:
    table, _ = planted
    one = doctor(table, "y", NaiveBayes(), suspects=20, threads=1)
    three = doctor(table, "y", NaiveBayes(), suspects=20, threads=3)
    assert one.json() == three.json()
    assert doctor(table, "y", NaiveBayes(), suspects=5).suspects == one.suspects[:5]
    assert doctor(table, "y", NaiveBayes(), suspects=0).suspects == ()


def test_a_class_held_impossible_is_the_first_suspect_and_json_can_say_it() -> None:
    table = {"x": ["a", "b"] * 60, "y": ["p", "q"] * 59 + ["p", "p"]}
    found = doctor(table, "y", NaiveBayes(pseudo_count=0))
    assert found.suspects[0].row == 120 and found.suspects[0].probability == 0
    assert json.loads(found.json())["suspects"][0]["probability"] == 0


def test_scores_that_are_no_sums_name_no_evidence() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["p", "q"], 200)
    x = np.where(y == "p", 3.0, -3.0) + rng.normal(size=200)
    y[3] = "q" if y[3] == "p" else "p"
    found = doctor({"x": x, "y": y}, "y", likely.Neighbors(k=9))
    assert found.suspects[0].row == 4 and found.suspects[0].against == ()
