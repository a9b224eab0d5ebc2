"""How rows are dealt to folds, and the sums of folds."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, confusion_matrix, log_loss

import likely
from likely.errors import LikelyError, SettingError
from likely.evaluate.crossval import validate as leave_one_out
from likely.evaluate.crossval.dealing import Folds, deal_rows, deal_stratified, set_apart
from likely.evaluate.crossval.dealing import Stratified as Dealer
from likely.evaluate.crossval.folds import sum_folds
from likely.evaluate.crossval.validate import validate
from likely.evaluate.scores.scores import Scorer, Scores
from likely.intake.reading import Reading
from likely.intake.schema import draft_schema
from likely.table.open import open_source


def some_rows(count: int, seed: int = 0) -> list[dict[str, str]]:
    """Rows with everything in them: missing cells and classes, rare levels, a rare class, groups, times, weights."""
    rng = np.random.default_rng(seed)
    out = []
    for k in range(count):
        y = "abc"[min(int(rng.exponential()), 2)] if k else "rare"
        x = "" if rng.random() < 0.1 else repr(float(rng.normal() + (y == "a")))
        level = f"l{int(rng.exponential(3))}" if rng.random() < 0.9 else "?"
        group = "" if rng.random() < 0.02 else f"g {int(rng.exponential(8))}='[red]'"
        when = "" if rng.random() < 0.02 else f"2024-{1 + k * 12 // count:02d}-{int(rng.integers(1, 28)):02d}"
        w = str(float(rng.integers(0, 5)) / 4)
        out.append({"x": x, "k": level, "g": group, "t": when, "w": w, "y": "" if rng.random() < 0.05 else y})
    return out


def parts_of(rows: list[dict[str, str]], folds: Folds, **reading: Any) -> np.ndarray:
    """The part of each row."""
    how = Reading("y", **reading)
    source = open_source(rows)
    first = set_apart(source, draft_schema(source, how), folds)
    dealer, out, start = deal_rows(source, first, how, folds).dealer(first.schema), [], 0
    for batch in source.batches(["y", *([folds.column] if folds.column else [])]):
        _, codes, ordinal = dealer.place(batch, start)
        out.append(np.where(codes < 0, -1, dealer.folds(codes, ordinal)))
        start += batch.num_rows
    return np.concatenate(out)


def refitted(rows: list[dict[str, str]], part: np.ndarray, seen: Any, learner: Any, **reading: Any) -> Scores:
    """The slow way: every part is scored by a model fitted to the rows of those parts that it may see."""
    whole = likely.summarize([r for r, p in zip(rows, part, strict=True) if p >= 0], "y", **reading)
    scorer, weight = Scorer(len(whole.classes)), reading.get("weight")
    for k in range(part.max() + 1):
        rest = [r for r, p in zip(rows, part, strict=True) if p >= 0 and seen(p, k)]
        mine = [r for r, p in zip(rows, part, strict=True) if p == k and (weight is None or float(r[weight]) > 0)]
        if not rest or not mine:
            continue
        model = learner.learn(likely.summarize(rest, schema=whole.schema))
        joint = np.full((len(mine), len(whole.classes)), -np.inf)
        places = [whole.classes.index(c) for c in model.classes]
        joint[:, places] = np.concatenate([model.log_joint(b) for b in model.batches(mine)])
        truth = np.array([whole.classes.index(r["y"]) for r in mine], np.int32)
        share = None if weight is None else np.array([float(r[weight]) for r in mine])
        scorer.update(joint, truth, share, whole.classes)
    return scorer.read()


@pytest.mark.parametrize("weight", [None, "w"])
def test_groups_stay_together_and_scores_are_those_of_refitting(weight: str | None) -> None:
    rows = some_rows(200)
    more = {"types": {"t": "ignore"} | ({} if weight else {"w": "ignore"}), "weight": weight}
    part = parts_of(rows, Folds(4, group="g"), **more)
    for group in {r["g"] for r in rows}:
        assert len({p for r, p in zip(rows, part, strict=True) if r["g"] == group and p >= 0}) <= 1, group
    sizes = np.bincount(part[part >= 0])
    assert len(sizes) == 4 and sizes.max() < 2 * sizes.min()
    learner = likely.NaiveBayes()
    record = likely.look(rows, "y", learner, folds=4, group="g", **more)
    slow = refitted(rows, part, lambda p, k: p != k, learner, types={**more["types"], "g": "ignore"}, weight=weight)
    assert record.scores == slow and record.dealing.dealt == "group" and record.dealing.dealt_by == "g"
    assert "g" not in [a["name"] for a in record.attributes]
    compared = likely.compare(rows, "y", {"it": learner}, folds=4, group="g", **more)
    assert compared.learners[0].scores == slow
    assert any("stay in one fold" in note for note in record.notes)


def test_time_learns_from_the_past_alone() -> None:
    rows = some_rows(240, 1)
    more = {"types": {"g": "ignore", "w": "ignore"}}
    part = parts_of(rows, Folds(5, time="t"), **more)
    when = np.array([r["t"] for r in rows])
    for k in range(5):
        assert max(when[part == k].tolist()) < min(when[part == k + 1].tolist())
    sizes = np.bincount(part[part >= 0])
    assert len(sizes) == 6 and sizes.max() <= 1.3 * sizes.min()
    learner = likely.NaiveBayes()
    record = likely.look(rows, "y", learner, folds=5, time="t", **more)
    assert record.scores == refitted(rows, part, lambda p, k: p < k, learner, types={**more["types"], "t": "ignore"})
    assert record.dealing.folds == 5 and record.scores.rows == (part > 0).sum()
    assert any("no time" in note for note in record.notes)


@pytest.mark.parametrize(
    "cells", [[3, 1, 2] * 10, [1.5, 2.5, -1.0] * 10, ["2020-01-01", "2019-05-05", "2021-01-01"] * 10]
)
def test_equal_times_are_in_one_part(cells: list[Any]) -> None:
    table = {"t": cells, "x": list(range(30)), "y": ["a", "b", "a", "b", "b"] * 6}
    record = likely.look(table, "y", likely.NaiveBayes(), folds=10, time="t", types={"x": "number"})
    assert record.dealing.folds == 2 and record.scores.rows == 20
    assert any("few different times" in note for note in record.notes)


def test_repeats_are_the_mean_of_single_ones() -> None:
    rows = [{n: r[n] for n in ("x", "k", "y")} for r in some_rows(150) if r["y"] != "rare"]
    one = [likely.look(rows, "y", likely.NaiveBayes(), folds=3, seed=seed) for seed in (7, 8, 9)]
    all_of = likely.look(rows, "y", likely.NaiveBayes(), folds=3, seed=7, repeats=3)
    assert all_of.scores.accuracy == pytest.approx(np.mean([r.scores.accuracy for r in one]), rel=1e-12)
    assert all_of.scores.log_loss == pytest.approx(np.mean([r.scores.log_loss for r in one]), rel=1e-12)
    assert all_of.scores.rows == one[0].scores.rows and all_of.dealing.repeats == 3
    assert np.array(all_of.confusion) == pytest.approx(np.mean([r.confusion for r in one], axis=0))
    assert all_of.baselines.against[0].folds == 9
    compared = likely.compare(rows, "y", {"it": likely.NaiveBayes()}, folds=3, seed=7, repeats=3)
    assert compared.learners[0].scores == all_of.scores


LEARNERS = (
    likely.NaiveBayes(),
    likely.NaiveBayes(missing="level", unseen="reserve", m_estimate=2.0, variance="ml"),
    likely.NaiveBayes(pseudo_count=0, prior="uniform", attribute_weights={"k": 0.5, "x": 2.0}),
    likely.NaiveBayes(missing="level", prior_pseudo_count=1.0, variance_floor=0.1, temperature=0.5),
    likely.Prior(pseudo_count=1),
)
NUMBERS = st.sampled_from([None, 0.0, 1.0, 1e9, 1e9 + 1e-6, -3.5, 1e-3, 5e12, 0.1])
ROWS = st.lists(
    st.tuples(NUMBERS, st.sampled_from([None, "a", "b", "c"]), st.sampled_from(["p", "q", "r"]),
              st.sampled_from([1.0, 1.0, 2.0, 0.25])), min_size=4, max_size=10,
)  # fmt: skip


@settings(max_examples=25)
@given(rows=ROWS, weighted=st.booleans(), learner=st.sampled_from(LEARNERS))
def test_leaving_a_row_out_in_closed_form_is_learning_without_it(rows: Any, weighted: bool, learner: Any) -> None:
    x, k, y, w = (list(column) for column in zip(*rows, strict=True))
    table = {"x": x, "k": k, "w": w, "y": y}
    if len(set(y)) < 2:
        return
    reading = Reading("y", types={"x": "number", **({} if weighted else {"w": "ignore"})},
                      weight="w" if weighted else None)  # fmt: skip
    source = open_source(table)
    first = draft_schema(source, reading)
    fast = validate(source, first, reading, {"it": learner}, Folds(leave_one_out=True))
    try:
        slow = _slowly(source, first, reading, learner)
    except LikelyError:
        return
    if "it" in slow.refused:
        return
    assert "it" in fast.parts
    for name in ("weight", "accuracy", "log_loss", "brier"):
        one, other = getattr(fast.parts["it"], name), getattr(slow.parts["it"], name)
        if name == "accuracy":  # a tie may be broken by the last digit
            tied = ~np.isclose(fast.parts["it"].brier, slow.parts["it"].brier, rtol=1e-6)
            assert not tied.any()
            continue
        assert np.allclose(one, other, rtol=1e-6, atol=1e-9), (name, one, other)


def _slowly(source: Any, first: Any, reading: Reading, learner: Any) -> Any:
    kept = leave_one_out.closed_forms
    leave_one_out.closed_forms = lambda *_: {}  # type: ignore[assignment]
    try:
        return validate(source, first, reading, {"it": learner}, Folds(leave_one_out=True))
    finally:
        leave_one_out.closed_forms = kept  # type: ignore[assignment]


def test_leave_one_out_of_what_has_no_closed_form() -> None:
    rows = [{n: r[n] for n in ("x", "k", "y")} for r in some_rows(40) if r["y"] not in ("", "rare")]
    learner = likely.NaiveBayes(numbers="kernel")
    record = likely.look(rows, "y", learner, leave_one_out=True)
    part = np.arange(len(rows))
    assert record.scores == refitted(rows, part, lambda p, k: p != k, learner)
    assert record.dealing.folds == len(rows) and record.dealing.dealt == "leave-one-out"
    both = likely.compare(rows, "y", {"kernel": learner, "plain": likely.NaiveBayes()}, leave_one_out=True)
    assert {one.name for one in both.learners if one.scores is not None} == {"kernel", "plain"}
    (other,) = (one for one in both.learners if one.against)
    assert other.against[0].folds == len(rows)


@pytest.mark.parametrize("how", [{"group": "g"}, {"time": "t"}, {"repeats": 2}, {"leave_one_out": True}])
def test_threads_change_nothing(how: dict[str, Any]) -> None:
    rows = [r for r in some_rows(500, 3) if r["y"] != "rare"]
    told = {
        likely.look(rows, "y", likely.NaiveBayes(), folds=3, weight="w", threads=n, **how).json() for n in (1, 2, 4)
    }
    assert len(told) == 1


@pytest.mark.parametrize(
    ("table", "how", "said"),
    [
        ({"g": ["a"] * 8}, {"group": "g"}, "one group"),
        ({"g": [None] * 8}, {"group": "g"}, "have no cell"),
        ({"g": ["a", "b"] * 4}, {"group": "h"}, "no column 'h'"),
        ({"g": ["a", "b"] * 4}, {"group": "y"}, "is the target"),
        ({"g": ["a", "b"] * 4}, {"time": "g"}, "neither numbers nor dates"),
        ({"g": [3] * 8}, {"time": "g"}, "1 different times"),
        ({"g": list(range(8))}, {"time": "g", "group": "x"}, "at once"),
        ({"g": list(range(8))}, {"time": "g", "repeats": 2}, "Leave repeats out"),
        ({"g": list(range(8))}, {"leave_one_out": True, "repeats": 2}, "Leave repeats out"),
        ({"g": list(range(8))}, {"repeats": 0}, "1 or more"),
        ({"g": list(range(8))}, {"folds": 1}, "2 or more"),
    ],
)
def test_what_cannot_be_dealt(table: dict[str, Any], how: dict[str, Any], said: str) -> None:
    whole = {"x": [float(k) for k in range(8)], **table, "y": ["a", "b"] * 4}
    for run in (likely.look, likely.compare):
        more = {} if run is likely.look else {"learners": {"it": likely.NaiveBayes()}}
        with pytest.raises(LikelyError, match=said):
            run(whole, "y", **how, **more)


def test_groups_that_are_numbers_and_fewer_than_folds() -> None:
    table = {"g": [1, 2, 3] * 10, "x": [float(k % 7) for k in range(30)], "y": ["a", "b"] * 15}
    record = likely.look(table, "y", likely.NaiveBayes(), group="g")
    assert record.dealing.folds == 3 and any("only 3 groups" in note for note in record.notes)
    assert replace(Folds(group="g"), group=None).plain


def test_copies_in_other_folds_are_told_of() -> None:
    rng = np.random.default_rng(0)
    x = np.round(rng.normal(size=200), 6)
    table = {"x": np.concatenate([x, x]).tolist(), "z": np.tile(rng.normal(size=200), 2).tolist(),
             "y": np.tile(rng.choice(["a", "b"], 200), 2).tolist()}  # fmt: skip
    record = likely.look(table, "y", likely.NaiveBayes(), leave_one_out=True)
    assert record.trust.copies is not None and record.trust.copies.copied == 400 and record.trust.copies.across > 100
    assert any("have a copy in another fold" in w and "--group" in w for w in record.warnings)
    record = likely.look(table, "y", likely.NaiveBayes())
    assert record.trust.copies is not None and record.trust.copies.copied == 400 and record.trust.copies.across == 0
    assert any("held out together" in w for w in record.warnings)
    few = {"k": ["a", "b"] * 100, "y": ["p", "q", "q", "p"] * 50}
    assert not any("copy" in w for w in likely.look(few, "y", likely.NaiveBayes()).warnings), (
        "few levels repeat by chance"
    )


# Cross-validation from one sweep is what really refitting on each fold gives; folds are stratified and seeded.


def dealt(data: object, schema: Any, folds: int, seed: int) -> Any:
    """The fold of every row, dealt batch by batch."""
    dealer, start, out = Dealer(schema, folds, seed), 0, []
    for batch in open_source(data).batches([schema.target.name]):
        _, codes, ordinal = dealer.place(batch, start)
        out.append(dealer.folds(codes, ordinal))
        start += batch.num_rows
    return np.concatenate(out)


def learned_anew(rows: list[dict], target: str, learner: Any, folds: int, seed: int, weight: str | None = None) -> dict:
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
    check(likely.look(rows, target, learner, folds=folds, seed=seed), learned_anew(rows, target, learner, folds, seed))


def rows_of_three_classes(count: int, seed: int = 0) -> list[dict]:
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
    rows = rows_of_three_classes(300)
    if weight is None:
        rows = [{k: v for k, v in row.items() if k != "w"} for row in rows]
    learner = likely.NaiveBayes(missing=missing)
    # The one row of class 'rare' is predicted by a model that does not know the class: an infinite loss, told as None.
    record = likely.look(rows, "y", learner, folds=5, weight=weight)
    if "rare" in record.classes:
        assert record.scores.log_loss is None
    rows = [row for row in rows if row["y"] != "rare"]
    record = likely.look(rows, "y", learner, folds=5, weight=weight)
    check(record, learned_anew(rows, "y", learner, 5, 0, weight))


def test_a_fold_taken_from_the_total_is_the_rest_read_alone() -> None:
    rows = [{k: v for k, v in row.items() if k != "w"} for row in rows_of_three_classes(200, 3)]
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
    rows = rows_of_three_classes(2000, 5)
    told = {likely.look(rows, "y", likely.NaiveBayes(), weight="w", threads=threads).json() for threads in (1, 2, 4)}
    assert len(told) == 1
