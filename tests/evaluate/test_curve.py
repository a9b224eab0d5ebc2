"""The learning curve: every point is what really learning from exactly those rows gives; forecasts claim little."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely
from likely import Model
from likely.errors import SettingError
from likely.evaluate.crossval.dealing import Stratified as Dealer
from likely.evaluate.crossval.dealing import growing_lessons, k_fold
from likely.evaluate.curve import fit_power_law, trend
from likely.evaluate.scores.scores import Scorer, Scores
from likely.models.learning import begin
from likely.table.open import open_source

SUMS = {
    "NaiveBayes": likely.NaiveBayes(),
    "kernel": likely.NaiveBayes(numbers="kernel"),
    "binned": likely.NaiveBayes(numbers="binned"),
    "blocks": likely.NaiveBayes(blocks=(("x", "z"),)),
    "LinearDiscriminant": likely.LinearDiscriminant(ridge=1.0)
    if "ridge" in likely.LinearDiscriminant.__dataclass_fields__
    else likely.LinearDiscriminant(),
    "TreeAugmented": likely.TreeAugmented(),
    "OneDependence": likely.OneDependence(),
    "LeastSquares": likely.LeastSquares(ridge=1.0),
    "Neighbors": likely.Neighbors(k=3),
    "Mixture": likely.Mixture((likely.NaiveBayes(), likely.NaiveBayes(pseudo_count=0.5))),
}


def some_rows(count: int, seed: int = 0, weights: bool = False) -> list[dict[str, str]]:
    """Numbers, levels, missing cells and classes; a rare class where there are many rows."""
    rng = np.random.default_rng(seed)
    out = []
    for k in range(count):
        y = "rare" if k in (7, 8) else "ab"[int(rng.random() < 0.4)]
        x = "" if rng.random() < 0.05 else f"{rng.normal() + (y == 'a'):.2f}"
        level = f"l{min(int(rng.exponential(2) + (y == 'b')), 5)}" if rng.random() < 0.9 else "?"
        row = {"x": x, "z": f"{rng.normal():.1f}", "k": level, "y": "" if rng.random() < 0.05 else y}
        out.append(row | ({"w": str(int(rng.integers(0, 5)) / 4)} if weights else {}))
    return out


def dealt(rows: list[dict[str, str]], schema: Any, parts: int, seed: int) -> Any:
    dealer, start, out = Dealer(schema, parts, seed), 0, []
    for batch in open_source(rows).batches(["y"]):
        _, codes, ordinal = dealer.place(batch, start)
        out.append(dealer.folds(codes, ordinal))
        start += batch.num_rows
    return np.concatenate(out)


def refitted(
    rows: list[dict[str, str]], learner: Any, found: Any, size: int, weight: str | None = None
) -> list[Scores]:
    """The slow way: for each fold really learn from exactly the rows of this size, then score the fold."""
    whole = likely.summarize(rows, "y", weight=weight)
    whole = likely.summarize(rows, "y", weight=weight, more=learner.needs(whole.schema))
    part = dealt(rows, whole.schema, found.parts, found.seed)
    pieces = found.parts // found.folds
    out = []
    for fold in range(found.folds):
        order = [p % found.parts for p in range((fold + 1) * pieces, fold * pieces + found.parts)]
        seen = set(order[:size])
        training = [row for row, p in zip(rows, part, strict=True) if p in seen]
        judged = [row for row, p in zip(rows, part, strict=True) if p // pieces == fold and row["y"]]
        judged = [row for row in judged if weight is None or float(row[weight]) > 0]
        model = begin(learner, likely.summarize(training, schema=whole.schema, more=whole.more))
        if not isinstance(model, Model):
            model = likely.fit(training, learner=learner, schema=whole.schema)
        joint = np.full((len(judged), len(whole.classes)), -np.inf)
        places = [whole.classes.index(c) for c in model.classes]
        joint[:, places] = np.concatenate([model.log_joint(batch) for batch in model.batches(judged)])
        scorer = Scorer(len(whole.classes))
        truth = np.array([whole.classes.index(row["y"]) for row in judged], np.int32)
        share = None if weight is None else np.array([float(row[weight]) for row in judged])
        scorer.update(joint, truth, share, whole.classes)
        out.append(scorer.read())
    return out


def sizes_of(found: Any) -> list[int]:
    """Parts learned from at each size that is there."""
    sizes = [(found.folds - 1) * found.parts // found.folds]
    while sizes[0] > 1:
        sizes.insert(0, sizes[0] // 2)
    return sizes[-len(found.points) :]


@pytest.mark.parametrize("name", SUMS)
def test_every_point_is_that_of_refitting_to_the_last_bit(name: str) -> None:
    rows = [row for row in some_rows(210, 1) if row["y"] != "rare"]
    if name == "LinearDiscriminant":
        rows = [{n: v for n, v in row.items() if n != "k"} for row in rows]
    found = likely.curve(rows, "y", SUMS[name], seed=3)
    assert found.parts == 40 and len(found.points) >= 4
    for point, size in zip(found.points, sizes_of(found), strict=True):
        assert list(point.folds) == refitted(rows, SUMS[name], found, size), size


def test_weights_missing_classes_and_a_rare_one() -> None:
    rows = some_rows(300, 2, weights=True)
    for learner in (likely.NaiveBayes(), likely.TreeAugmented(), likely.Neighbors(k=3)):
        found = likely.curve(rows, "y", learner, weight="w")
        for point, size in zip(found.points, sizes_of(found), strict=True):
            assert list(point.folds) == refitted(rows, learner, found, size, "w"), size
        assert found.points[0].lacking["rare"] >= 3 and found.points[0].log_loss.value is None
        assert found.points[0].impossible > 0 and found.points[0].accuracy.value > 0.3
    assert found.log_loss.verdict == "short" and found.log_loss.last_step.value is None


@pytest.mark.parametrize("ridge", [1.0, 0.1])
def test_searches_are_those_of_refitting(ridge: float) -> None:
    rows = [row for row in some_rows(200, 4) if row["y"] != "rare"]
    learner = likely.Logistic(ridge=ridge)
    found = likely.curve(rows, "y", learner)
    for point, size in zip(found.points, sizes_of(found), strict=True):
        for one, slow in zip(point.folds, refitted(rows, learner, found, size), strict=True):
            assert one.accuracy == slow.accuracy
            assert one.log_loss == pytest.approx(slow.log_loss, rel=1e-7)


def test_texts() -> None:
    rng = np.random.default_rng(0)
    words = {"ham": ["lunch", "home", "see", "ok"], "spam": ["win", "cash", "now", "see"]}
    rows = []
    for k in range(240):
        y = "spam" if k % 3 == 0 else "ham"
        said = rng.choice([*words[y], "the", "a", f"w{rng.integers(60)}"], rng.integers(1, 9))
        rows.append({"t": " ".join(said), "x": f"{rng.normal() + k % 3:.2f}", "y": y})
    types = {"t": "text"}
    found = likely.curve(rows, "y", likely.NaiveBayes(), types=types)
    whole = likely.summarize(rows, "y", types=types)
    part, pieces, learner = dealt(rows, whole.schema, 40, 0), 8, likely.NaiveBayes()
    for point, size in zip(found.points, (1, 2, 4, 8, 16, 32), strict=True):
        for fold in range(5):
            seen = {p % 40 for p in range((fold + 1) * pieces, (fold + 1) * pieces + size)}
            training = [row for row, p in zip(rows, part, strict=True) if p in seen]
            judged = [row for row, p in zip(rows, part, strict=True) if p // pieces == fold]
            model = likely.fit(training, learner=learner, schema=whole.schema)
            right = np.mean([a == row["y"] for a, row in zip(model.predict(judged), judged, strict=True)])
            assert point.folds[fold].accuracy == right


@pytest.mark.parametrize(
    ("folds", "pieces", "steps"), [(2, 1, 6), (2, 8, 6), (3, 1, 2), (5, 8, 6), (10, 4, 6), (7, 2, 3)]
)
def test_lessons(folds: int, pieces: int, steps: int) -> None:
    lessons = growing_lessons(folds, pieces, steps)
    by_fold = [lessons.of_fold(f) for f in range(folds)]
    for f, own in enumerate(by_fold):
        assert not own.seen[:, own.fold_of == f].any()  # nothing is judged by what it was learned from
        assert own.seen[-1].sum() == (folds - 1) * pieces
        assert all((big | ~small).all() for small, big in pairwise(own.seen))
        assert list(own.group) == sorted(set(lessons.group)) and len(own.group) <= steps
    sizes = by_fold[0].seen.sum(axis=1).tolist()
    assert all(b // 2 == a for a, b in pairwise(sizes))
    assert all(o.seen.sum(axis=1).tolist() == sizes for o in by_fold)


def test_lessons_of_cross_validation() -> None:
    assert k_fold(4).all_but_one and not growing_lessons(5, 8, 6).all_but_one and growing_lessons(2, 1, 6).folds == 2


def test_threads_and_the_memory_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = some_rows(2000, 5, weights=True)
    for learner in (likely.NaiveBayes(), likely.TreeAugmented(), likely.Logistic()):
        told = {likely.curve(rows, "y", learner, weight="w", threads=n).json() for n in (1, 2, 4)}
        with monkeypatch.context() as patch:
            patch.setattr("likely.intake.engine.MOST_BYTES", 0)
            told.add(likely.curve(rows, "y", learner, weight="w", threads=2).json())
        assert len(told) == 1, learner


def test_the_seed_deals_otherwise_and_repeatably() -> None:
    rows = some_rows(300, 6)
    one, again, other = (likely.curve(rows, "y", likely.NaiveBayes(), seed=seed) for seed in (1, 1, 2))
    assert one == again and one.points != other.points


def test_few_rows_get_few_parts() -> None:
    for rows, folds, parts in ((4, 2, 2), (5, 2, 2), (9, 4, 4), (10, 5, 5), (20, 5, 10), (40, 5, 20), (80, 5, 40)):
        table = {"x": [float(k % 7) for k in range(rows)], "y": ["a", "b"] * (rows // 2) + ["a"] * (rows % 2)}
        found = likely.curve(table, "y", likely.NaiveBayes())
        assert (found.folds, found.parts) == (folds, parts), rows
        assert sum(s.rows for s in found.points[-1].folds) == rows
        assert any("only" in note for note in found.notes) == (parts < 40)


@dataclass(frozen=True)
class Choosy:
    """Learns from no fewer than 30 rows."""

    def needs(self, schema: Any) -> frozenset[str]:
        return frozenset()

    def learn(self, summary: Any) -> Any:
        if summary.rows < 30:
            raise SettingError("That is too little.")
        return likely.NaiveBayes().learn(summary)


def test_what_is_too_little_for_a_learner_is_told() -> None:
    table = {"x": [1.0, 2.0, 8.0, 9.0, 3.0] * 20, "y": ["a", "a", "b", "b", "a"] * 20}
    found = likely.curve(table, "y", Choosy())
    plain = likely.curve(table, "y", likely.NaiveBayes())
    few = [float(rows) for rows in found.refused]
    assert few == sorted(few) and max(few) < 30 <= found.points[0].rows and len(few) + len(found.points) == 6
    assert set(found.refused.values()) == {"That is too little."}
    assert found.points == plain.points[len(few) :]
    with pytest.raises(likely.LikelyError, match="too little"):
        likely.curve({"x": [1.0, 2.0] * 10, "y": ["a", "b"] * 10}, "y", Choosy())


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"x": [1.0, 2.0], "y": ["a", "a"]}, "the same class 'a'"),
        ({"x": [1.0, 2.0], "y": [None, None]}, "class in column 'y'"),
        ({"x": [], "y": []}, "no rows"),
        ({"x": [1.0, 2.0], "z": ["a", "b"]}, "no column 'y'"),
        ({"x": [1.0, 2.0], "y": ["a", "b"]}, "Give more rows"),
        ({"x": ["p", "q"] * 20, "y": ["a", "b"] * 20}, "would not fit"),
    ],
)
def test_what_has_no_curve(table: dict[str, Any], said: str) -> None:
    with pytest.raises(likely.LikelyError, match=said):
        likely.curve(table, "y", likely.LinearDiscriminant() if "fit" in said else None)


@pytest.mark.parametrize("wrong", [{"folds": 1}, {"folds": 2.5}, {"folds": 51}, {"steps": 0}, {"steps": True}])
def test_settings_out_of_range(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(likely.LikelyError, match=f"{name} is .* whole number"):
        likely.curve({"x": [1, 2], "y": ["a", "b"]}, "y", **wrong)


def test_json_is_plain() -> None:
    rows = [row for row in some_rows(200, 7) if row["y"] != "rare"]
    found = json.loads(likely.curve(rows, "y", likely.NaiveBayes()).json())
    assert found["points"][-1]["accuracy"]["low"] <= found["points"][-1]["accuracy"]["value"]
    assert found["log_loss"]["verdict"] in ("forecast", "unclear", "noisy", "rising")


# -- where it leads -------------------------------------------------------------------------------------------


@given(st.floats(0, 2), st.floats(0.01, 3), st.floats(0.1, 1.5))
def test_a_power_law_is_found_again(a: float, b: float, c: float) -> None:
    rows = 100 * 2.0 ** np.arange(7)
    truth = a + b * (rows / rows[-1]) ** -c
    law = fit_power_law(rows, truth)
    fall = truth[0] - truth[-1]
    assert law.misfit <= 0.01 * fall
    assert law.loss(2 * rows[-1]) == pytest.approx(a + b * 2**-c, abs=0.02 * fall)
    assert law.a >= 0 and law.b >= 0


@given(st.lists(st.floats(0, 10), min_size=4, max_size=9))
def test_no_law_is_outside_what_is_possible(losses: list[float]) -> None:
    rows = 2.0 ** np.arange(len(losses))
    law = fit_power_law(rows, np.array(losses))
    assert law.a >= 0 and law.b >= 0 and np.isfinite(law.misfit)
    assert law.loss(2 * rows[-1]) <= law.loss(rows[-1])


def test_forecasts_hold_in_most_worlds() -> None:
    """Noisy curves of a known law: the bounds hold what twice the rows really bring in about 95 of 100."""
    rng, held, made = np.random.default_rng(0), 0, 0
    rows = 50 * 2.0 ** np.arange(6)
    for _ in range(200):
        a, b, c = rng.uniform(0.1, 0.5), rng.uniform(0.05, 0.5), rng.uniform(0.3, 1.0)
        truth = a + b * (rows / rows[-1]) ** -c
        shift = rng.normal(size=(5, 1)) * 0.02  # folds are harder or easier throughout
        found = trend(rows, truth + shift + rng.normal(size=(5, 6)) * 0.01, np.ones(5), np.inf)
        if found.verdict == "forecast":
            made += 1
            one = found.forecasts[0]
            held += one.low <= a + b * 2**-c <= one.high
    assert made > 150 and held / made > 0.9


def test_verdicts() -> None:
    rows, ones = 10 * 2.0 ** np.arange(6), np.ones(5)
    rng = np.random.default_rng(1)
    assert trend(rows, rng.uniform(0.4, 0.6, (5, 6)), ones, 1.0).verdict == "unclear"
    falling = 0.1 + 0.5 * (rows / 10) ** -0.5 + rng.normal(size=(5, 6)) * 1e-3
    assert trend(rows, falling, ones, 1.0).verdict == "forecast"
    assert trend(rows, 1 - falling, ones, 1.0).verdict == "rising"
    wild = falling.copy()
    wild[:, 2] = 0.9
    assert trend(rows, wild, ones, 1.0).verdict == "noisy"
    infinite = falling.copy()
    infinite[0, :3] = np.inf
    assert trend(rows, infinite, ones, 1.0).verdict == "short"
    assert trend(rows[:3], falling[:, :3], ones, 1.0).verdict == "short"
    same = np.full((5, 6), 0.25)
    assert trend(rows, same, ones, 1.0).verdict == "unclear"


def test_adult(shared: Path) -> None:
    found = likely.curve(shared / "data" / "adult.csv", "income", likely.NaiveBayes(numbers="binned"))
    assert [round(p.rows) for p in found.points] == [1221, 2442, 4884, 9768, 19537, 39074]
    assert found.log_loss.verdict == "forecast" and found.log_loss.forecasts[0].loss < found.points[-1].log_loss.value
    assert 0.82 < found.points[0].accuracy.value < found.points[-1].accuracy.value < 0.85
