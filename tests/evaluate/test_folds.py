"""Cross-validation from one sweep is what really refitting on each fold gives; folds are stratified and seeded."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, log_loss

import likely
from likely.errors import SettingError
from likely.evaluate.crossval.dealing import Stratified as Dealer
from likely.evaluate.crossval.dealing import deal_stratified
from likely.evaluate.crossval.folds import sum_folds
from likely.intake.reading import Reading
from likely.intake.schema import draft_schema
from likely.table.open import open_source


def dealt(data: object, schema: Any, folds: int, seed: int) -> Any:
    """The fold of every row, dealt batch by batch."""
    dealer, start, out = Dealer(schema, folds, seed), 0, []
    for batch in open_source(data).batches([schema.target.name]):
        _, codes, ordinal = dealer.place(batch, start)
        out.append(dealer.folds(codes, ordinal))
        start += batch.num_rows
    return np.concatenate(out)


def refitted(rows: list[dict], target: str, learner: Any, folds: int, seed: int, weight: str | None = None) -> dict:
    """The slow way: for each fold learn from all other rows anew, then predict it. Rows without a class are dropped."""
    whole = likely.summarize(rows, target, weight=weight)
    fold = dealt(rows, whole.schema, folds, seed)
    matrix = np.zeros((len(rows), len(whole.classes)))
    shares = np.zeros_like(matrix)
    for k in range(folds):
        rest = [row for row, f in zip(rows, fold, strict=True) if f != k]
        mine = np.flatnonzero(fold == k)
        if not len(mine):
            continue
        model = learner.learn(likely.summarize(rest, schema=whole.schema))
        places = [whole.classes.index(c) for c in model.classes]
        matrix[np.ix_(mine, places)] = model.posterior([rows[i] for i in mine]).matrix
        counts = model.summary.total.floats()
        shares[np.ix_(mine, places)] = counts / counts.sum()
    known = [i for i, row in enumerate(rows) if row[target] not in ("", "?")]
    truth = np.array([whole.classes.index(rows[i][target]) for i in known])
    weights = np.array([float(rows[i][weight]) if weight else 1.0 for i in known])
    labels = np.arange(len(whole.classes))
    out: dict[str, Any] = {"classes": list(whole.classes)}
    for name, p in (("scores", matrix[known]), ("baseline", shares[known])):
        most = np.bincount(truth, weights, len(labels)).argmax()
        named = p.argmax(axis=1) if name == "scores" else np.full(len(truth), most)  # always guessing one class
        surprise = -np.log2(p[np.arange(len(truth)), truth])
        if np.isfinite(surprise).all():  # and the sum of weights is no rounding away from what scikit-learn makes of it
            assert log_loss(truth, p, sample_weight=weights, labels=labels) / np.log(2) == pytest.approx(
                np.average(surprise, weights=weights), rel=1e-9
            )
        out[name] = {
            "rows": weights.sum(),
            "accuracy": accuracy_score(truth, named, sample_weight=weights),
            "log_loss": np.average(surprise, weights=weights),
            "brier": np.average(((p - np.eye(len(labels))[truth]) ** 2).sum(axis=1), weights=weights),
        }
    out["confusion"] = confusion_matrix(truth, matrix[known].argmax(axis=1), labels=labels, sample_weight=weights)
    return out


def check(record: Any, slow: dict) -> None:
    assert list(record.classes) == slow["classes"]
    for name in ("scores", "baseline"):
        for key, value in slow[name].items():
            assert getattr(getattr(record, name), key) == pytest.approx(value, rel=1e-11, abs=1e-12), (name, key)
    assert np.array(record.confusion) == pytest.approx(slow["confusion"])
    assert [sum(row) for row in record.confusion] == pytest.approx(list(record.classes.values()))


def table(path: Path) -> list[dict]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("name", "target", "folds", "seed"),
    [("iris", "species", 10, 0), ("iris", "species", 3, 7), ("weather", "play", 7, 0), ("weather_mixed", "play", 2, 1)],
)
def test_the_scores_are_those_of_refitting(name, target, folds, seed, examples) -> None:
    rows = table(examples / f"{name}.csv")
    learner = likely.NaiveBayes(prior_pseudo_count=1)
    check(likely.look(rows, target, learner, folds=folds, seed=seed), refitted(rows, target, learner, folds, seed))


def some_rows(count: int, seed: int = 0) -> list[dict]:
    """Rows with everything in them: missing cells and classes, rare levels, a rare class, weights."""
    rng = np.random.default_rng(seed)
    out = []
    for k in range(count):
        y = "abc"[min(int(rng.exponential()), 2)] if k else "rare"
        x = "" if rng.random() < 0.1 else repr(float(rng.normal() + (y == "a")))
        level = f"l{int(rng.exponential(3))}" if rng.random() < 0.9 else "?"
        w = str(float(rng.integers(0, 5)) / 4)
        out.append({"x": x, "k": level, "w": w, "y": "" if rng.random() < 0.05 else y})
    return out


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("missing", ["skip", "level"])
def test_missing_cells_rare_classes_and_weights(weight, missing) -> None:
    rows = some_rows(300)
    if weight is None:
        rows = [{k: v for k, v in row.items() if k != "w"} for row in rows]
    learner = likely.NaiveBayes(missing=missing)
    # The one row of class 'rare' is predicted by a model that does not know the class: an infinite loss, told as None.
    record = likely.look(rows, "y", learner, folds=5, weight=weight)
    if "rare" in record.classes:
        assert record.scores.log_loss is None
    rows = [row for row in rows if row["y"] != "rare"]
    record = likely.look(rows, "y", learner, folds=5, weight=weight)
    check(record, refitted(rows, "y", learner, 5, 0, weight))


def test_a_fold_taken_from_the_total_is_the_rest_read_alone() -> None:
    rows = [{k: v for k, v in row.items() if k != "w"} for row in some_rows(200, 3)]
    reading = Reading("y")
    source = open_source(rows)
    sums = sum_folds(source, draft_schema(source, reading), reading, deal_stratified(4, 0))
    total = sums.total
    fold = dealt(rows, total.schema, 4, 0)
    for k in range(4):
        part = sums.part(k)
        rest = [row for row, f in zip(rows, fold, strict=True) if f != k]
        own = [row for row, f in zip(rows, fold, strict=True) if f == k]
        assert total - part == sums.rest(k) == likely.summarize(rest, schema=total.schema)
        assert (total - part).rows == sums.rest(k).rows
        assert part == likely.summarize(own, schema=total.schema)
    assert total == likely.summarize(rows, "y")


@pytest.mark.parametrize("folds", [2, 3, 10])
def test_every_class_is_spread_evenly(folds) -> None:
    rng = np.random.default_rng(folds)
    y = rng.choice(["a", "b", "c"], 997, p=[0.7, 0.28, 0.02]).tolist()
    schema = likely.summarize({"x": list(range(997)), "y": y}, "y").schema
    fold = dealt({"y": y}, schema, folds, 0)
    for label in "abc":
        counts = np.bincount(fold[np.array(y) == label], minlength=folds)
        assert counts.max() - counts.min() <= 1


def test_the_seed_deals_otherwise_and_repeatably() -> None:
    y = ["a", "b"] * 100
    schema = likely.summarize({"x": list(range(200)), "y": y}, "y").schema
    one, again, other = (dealt({"y": y}, schema, 5, seed) for seed in (1, 1, 2))
    assert (one == again).all() and (one != other).any()
    # In the order of the rows no fold follows a pattern: a sorted table is dealt as well as a shuffled one.
    assert len({tuple(one[k : k + 10 : 2]) for k in range(0, 200, 10)}) > 5


def test_few_rows_get_few_folds() -> None:
    for rows, folds in ((2, 2), (3, 2), (5, 2), (6, 3), (14, 7), (19, 9), (20, 10), (40, 10)):
        table = {"x": [float(k % 7) for k in range(rows)], "y": ["a", "b"] * (rows // 2) + ["a"] * (rows % 2)}
        record = likely.look(table, "y", likely.NaiveBayes())
        assert record.dealing.folds == folds and record.scores.rows == rows, rows
    with pytest.raises(SettingError):
        likely.look({"x": [1, 2], "y": ["a", "b"]}, "y", folds=1)


def test_the_record_does_not_depend_on_threads_or_batches() -> None:
    rows = some_rows(2000, 5)
    told = {likely.look(rows, "y", likely.NaiveBayes(), weight="w", threads=threads).json() for threads in (1, 2, 4)}
    assert len(told) == 1
