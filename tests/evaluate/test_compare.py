"""likely.compare: the scores of every learner are those of `look`, and of really refitting it on each fold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likely
from likely import Model
from likely.evaluate.crossval.dealing import Stratified as Dealer
from likely.evaluate.scores.scores import Scorer, Scores
from likely.models.default import MOST_FOR_AUTO, MOST_FOR_NEIGHBORS, field_of
from likely.models.learning import begin
from likely.models.registry import LEARNERS
from likely.present.report.evaluation import present_comparison
from likely.table.open import open_source

MEMBERS = (likely.NaiveBayes(), likely.NaiveBayes(pseudo_count=0.5))
SUMS = {
    "Prior": likely.Prior(pseudo_count=1),
    "NaiveBayes": likely.NaiveBayes(),
    "kernel": likely.NaiveBayes(numbers="kernel"),
    "binned": likely.NaiveBayes(numbers="binned"),
    "FullBayes": likely.FullBayes(shrinkage="auto"),
    "LinearDiscriminant": likely.LinearDiscriminant(),
    "TreeAugmented": likely.TreeAugmented(),
    "OneDependence": likely.OneDependence(),
    "multi": likely.LeastSquares(),
    "pairwise": likely.LeastSquares(mode="pairwise", ridge=1.0),
    "Neighbors": likely.Neighbors(k=3),
    "Mixture": likely.Mixture(MEMBERS),
}
"""They learn from sums (or from rows that are kept as such), so that nothing but the sums of the fold counts."""


def refitted(data: Any, target: str, learner: Any, folds: int, seed: int, weight: str | None = None) -> Scores:
    """The slow way: each fold is scored by a model that was fitted to all other rows.

    The fine bins of pairs are those of the whole table, which look at no class (docs/decisions/0020).
    """
    whole = likely.summarize(data, target, weight=weight)
    whole = likely.summarize(data, target, weight=weight, more=learner.needs(whole.schema))
    dealer, start, fold = Dealer(whole.schema, folds, seed), 0, []
    for batch in open_source(data).batches([target]):
        _, codes, ordinal = dealer.place(batch, start)
        fold.append(dealer.folds(codes, ordinal))
        start += batch.num_rows
    deal = np.concatenate(fold)
    scorer = Scorer(len(whole.classes))
    for k in range(folds):
        mine = [{**row} for row, f in zip(data, deal, strict=True) if f == k and row[target] not in ("", "?")]
        mine = [row for row in mine if weight is None or float(row[weight]) > 0]
        if not mine:
            continue
        rest = [row for row, f in zip(data, deal, strict=True) if f != k]
        model = begin(learner, likely.summarize(rest, schema=whole.schema, more=whole.more))
        if not isinstance(model, Model):
            model = likely.fit(rest, learner=learner, schema=whole.schema)
        joint = np.full((len(mine), len(whole.classes)), -np.inf)
        places = [whole.classes.index(c) for c in model.classes]
        joint[:, places] = np.concatenate([model.log_joint(batch) for batch in model.batches(mine)])
        truth = np.array([whole.classes.index(row[target]) for row in mine], np.int32)
        share = None if weight is None else np.array([float(row[weight]) for row in mine])
        scorer.update(joint, truth, share, whole.classes)
    return scorer.read()


def rows_of(path: Path) -> list[dict[str, str]]:
    header, *lines = path.read_text().splitlines()
    return [dict(zip(header.split(","), line.split(","), strict=True)) for line in lines]


def some_rows(count: int) -> list[dict[str, str]]:
    """Rows with everything in them: missing cells and classes, a rare class, weights."""
    rng = np.random.default_rng(3)
    out = []
    for k in range(count):
        y = "rare" if k == 7 else "abc"[min(int(rng.exponential()), 2)]
        x = "" if rng.random() < 0.1 else f"{rng.normal() + (y == 'a'):.1f}"
        level = f"l{min(int(rng.exponential(2)), 5)}" if rng.random() < 0.9 else "?"
        weight = str(int(rng.integers(0, 5)) / 4)
        out.append({"x": x, "k": level, "w": weight, "y": "" if rng.random() < 0.05 else y})
    return out


@pytest.mark.parametrize(
    ("name", "target", "folds", "seed"),
    [("iris", "species", 5, 1), ("weather", "play", 4, 0), ("weather_mixed", "play", 3, 2)],
)
def test_scores_are_those_of_refitting_to_the_last_bit(
    name: str, target: str, folds: int, seed: int, examples: Path
) -> None:
    rows = rows_of(examples / f"{name}.csv")
    record = likely.compare(rows, target, SUMS, folds=folds, seed=seed)
    learned = {one.name: one.scores for one in record.learners if one.scores is not None}
    refused = {one.name: one.refused for one in record.learners if one.scores is None}
    expected = {"iris": set(), "weather": {"LinearDiscriminant"}, "weather_mixed": {"LinearDiscriminant", "FullBayes"}}[
        name
    ]
    assert refused.keys() == expected and all("would not fit" in why for why in refused.values())
    for title, scores in learned.items():
        assert scores == refitted(rows, target, SUMS[title], folds, seed), title


def test_missing_cells_weights_and_a_class_of_one_fold() -> None:
    rows = some_rows(120)
    learners = {n: x for n, x in SUMS.items() if n not in ("FullBayes", "LinearDiscriminant")}
    record = likely.compare(rows, "y", learners, folds=4, weight="w")
    assert not [one for one in record.learners if one.refused]
    for one in record.learners:
        slow = refitted(rows, "y", learners[one.name], 4, 0, "w")
        assert one.scores == slow, one.name


@pytest.mark.parametrize("name", ["iris", "weather_mixed"])
def test_searches_are_those_of_refitting(name: str, examples: Path) -> None:
    rows, target = rows_of(examples / f"{name}.csv"), "species" if name == "iris" else "play"
    learners = {"Logistic": likely.Logistic(), "none": likely.Logistic(ridge=0.1)}
    record = likely.compare(rows, target, learners, folds=4)
    for one in record.learners:
        slow, assured = refitted(rows, target, learners[one.name], 4, 0), one.scores
        assert assured is not None and slow.log_loss is not None
        assert assured.accuracy == slow.accuracy and assured.rows == slow.rows
        assert assured.log_loss == pytest.approx(slow.log_loss, rel=1e-7)
        assert assured.brier == pytest.approx(slow.brier, rel=1e-7)


def test_a_learner_scores_alone_as_among_others(examples: Path) -> None:
    """Of a table of few rows and mixed columns, tests/cli/test_family.py."""
    data, target, more = examples / "iris.csv", "species", {"folds": 3}
    record = likely.compare(data, target, seed=3, **more)
    for one in record.learners:
        learner = LEARNERS[one.learner](**one.settings)
        if one.scores is None:
            with pytest.raises(likely.LikelyError, match="would not fit"):
                likely.look(data, target, learner, seed=3, **more)
            continue
        alone = likely.look(data, target, learner, seed=3, **more)
        assert (alone.scores, alone.dealing.folds) == (one.scores, record.dealing.folds), one.name


def test_threads_and_the_order_of_learners_change_nothing() -> None:
    rows = some_rows(3000)
    told = {likely.compare(rows, "y", weight="w", folds=3, threads=threads).json() for threads in (1, 3)}
    assert len(told) == 1
    (text,) = told
    found = json.loads(text)
    assert [one["name"] for one in found["learners"]][-2:] == ["FullBayes", "LinearDiscriminant"]
    some = dict(reversed(SUMS.items()))
    assert {o.name: o.scores for o in likely.compare(rows, "y", some, folds=3, weight="w").learners} == {
        o.name: o.scores for o in likely.compare(rows, "y", SUMS, folds=3, weight="w").learners
    }


def test_the_best_log_loss_comes_first_and_refusals_last(examples: Path) -> None:
    record = likely.compare(examples / "weather_mixed.csv", "play")
    losses = [one.scores.log_loss for one in record.learners if one.scores is not None]
    finite = [x for x in losses if x is not None]
    assert finite == sorted(finite) and losses[: len(finite)] == finite
    assert [one.scores is None for one in record.learners] == sorted(one.scores is None for one in record.learners)
    page = present_comparison(record)
    assert "bits a row (0.4189–1.0558), on 14 rows, cross-validated in 7 folds" in page.headline
    assert "LeastSquares outputs scores, not probabilities, so its log loss is not comparable." in page.remarks
    assert "corrected resampled t" in page.remarks[0] and "No significant difference from" in page.remarks[1]
    assert [r.split(" was not")[0] for r in page.remarks if " was not compared" in r] == [
        "FullBayes",
        "LinearDiscriminant",
        "The model",
    ]


def test_where_nothing_helps_the_headline_says_so() -> None:
    table = {"x": [1.0] * 20, "k": ["a", "a", "b", "b"] * 5, "y": ["p", "q"] * 10}
    page = present_comparison(likely.compare(table, "y"))
    assert "no learner beats the class frequencies" in page.headline
    one = {"x": [k + 0.5 for k in range(20)], "y": ["rare", *(["p"] * 10), *(["q"] * 9)]}
    assert "every log loss is infinite" in present_comparison(likely.compare(one, "y")).headline


def test_a_refusal_stops_nobody_else() -> None:
    table = {"k": ["u", "v"] * 20, "y": ["a", "b"] * 20}
    learners = {"ball": likely.Neighbors(reading="density"), "NaiveBayes": likely.NaiveBayes()}
    by = {one.name: one for one in likely.compare(table, "y", learners, folds=2).learners}
    assert "volume" in by["ball"].refused and by["NaiveBayes"].scores is not None


def test_the_slow_are_left_out_of_large_tables() -> None:
    all_of_them, none = field_of(MOST_FOR_AUTO)
    assert not none and {"Auto", "Neighbors"} <= set(all_of_them)
    few, without = field_of(MOST_FOR_AUTO + 1)
    assert set(all_of_them) - set(few) == {"Auto"} == set(without) and "--learner Auto" in without["Auto"]
    fewer, left = field_of(MOST_FOR_NEIGHBORS + 1)
    assert set(few) - set(fewer) == {"Neighbors"} and set(left) == {"Auto", "Neighbors"}
    assert "--learner Neighbors" in left["Neighbors"]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"x": [1.0, 2.0], "y": ["a", "a"]}, "the same class 'a'"),
        ({"x": [1.0, 2.0], "y": [None, None]}, "class in column 'y'"),
        ({"x": [], "y": []}, "no rows"),
    ],
)
def test_what_cannot_be_compared(table: dict[str, Any], said: str) -> None:
    with pytest.raises(likely.LikelyError, match=said):
        likely.compare(table, "y")


def test_numbers_of_folds(examples: Path) -> None:
    with pytest.raises(likely.LikelyError):
        likely.compare(examples / "weather.csv", "play", folds=1)
    assert likely.compare(examples / "weather.csv", "play", {"p": likely.Prior()}, folds=14).dealing.folds == 7
