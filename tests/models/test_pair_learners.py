"""Laws of TreeAugmented and OneDependence alike: files, weights, merging, threads, folds, and what they refuse."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models.tables import ASKED, ROWS, TYPES, columns

import likely
from likely.apply.fitting import unlearn
from likely.errors import InputError, SettingError
from likely.models.registry import LEARNERS
from likely.sums import state
from likely.table.batch import Codes
from likely.table.labels import Labels

LEARN = st.one_of(
    st.builds(
        likely.TreeAugmented,
        pseudo_count=st.sampled_from([0, 0.5, 1]),
        root=st.sampled_from([None, "b", "x"]),
        prior=st.sampled_from(["observed", "uniform"]),
    ),
    st.builds(likely.OneDependence, pseudo_count=st.sampled_from([0, 0.5, 1]), minimum=st.sampled_from([0, 1, 5])),
)
BOTH = pytest.mark.parametrize(
    "learner", [likely.TreeAugmented(), likely.OneDependence()], ids=lambda x: type(x).__name__
)


def fitted(learner: Any, rows: list[dict[str, Any]], weighted: bool = False, **reading: Any) -> Any:
    data = columns(rows) if weighted else columns(rows, "w")
    return likely.fit(data, "t", learner, types=TYPES, weight="w" if weighted else None, **reading)


@given(ROWS, ASKED, LEARN, st.booleans())
@settings(max_examples=40)
def test_every_law_of_a_model(
    rows: list[dict[str, Any]], asked: list[dict[str, Any]], learner: Any, weighted: bool
) -> None:
    model = fitted(learner, rows, weighted)
    (batch,) = model.batches(columns(asked))
    joint = model.log_joint(batch)
    assert not np.isnan(joint).any() and not np.isposinf(joint).any()
    posterior = model.posterior(columns(asked))
    assert (np.isneginf(joint).all(axis=1) == posterior.undefined).all()
    np.testing.assert_allclose(posterior.matrix.sum(axis=1)[~posterior.undefined], 1, rtol=1e-12)
    for k, row in enumerate(asked):
        assert model.posterior(row).matrix.tobytes() == posterior.matrix[k : k + 1].tobytes()

    # Learning changes nothing, repeats itself, and comes back from a file bit by bit.
    before = state.dump(model.summary.state())
    assert learner.learn(model.summary).log_joint(batch).tobytes() == joint.tobytes()
    assert state.dump(model.summary.state()) == before
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.likely"
        model.save(path)
        saved = path.read_bytes()
        back = likely.load(path)
        assert back.learner == learner and back.notes == model.notes
        assert back.log_joint(batch).tobytes() == joint.tobytes()
        back.save(path)
        assert path.read_bytes() == saved

    # Labels of a batch are its own: another order, and levels nobody needs, change nothing.
    cells = dict(batch.cells)
    codes = cells["a"]
    assert isinstance(codes, Codes)
    names = ["nobody", *reversed(codes.labels.names)]
    moved = np.where(codes.codes < 0, codes.codes, len(names) - 1 - codes.codes).astype(np.int32)
    cells["a"] = Codes(moved, Labels(names))
    assert model.log_joint(replace(batch, cells=cells)).tobytes() == joint.tobytes()

    # What is drawn can be scored, and is possible. (A mean over parents speaks of all rows only where every cell may be
    # a parent: without smoothing, a row drawn by a rarer cell may be impossible to the others, as `sample` says.)
    drawn = model.sample(20, seed=3)
    assert set(drawn) == {"a", "b", "x", "c", "t"} and all(len(v) == 20 for v in drawn.values())
    again = model.posterior(drawn)
    assert not again.unseen
    if isinstance(learner, likely.TreeAugmented) or learner.pseudo_count > 0 or model.serves.all():
        assert not again.undefined.any()
    assert model.sample(20, seed=3) == drawn


@given(ROWS, ASKED, LEARN)
@settings(max_examples=40)
def test_weight_two_is_the_row_twice(rows: list[dict[str, Any]], asked: list[dict[str, Any]], learner: Any) -> None:
    data = columns(asked)
    once = fitted(learner, [{**row, "w": 2.0} for row in rows], weighted=True)
    twice = fitted(learner, [row for row in rows for _ in range(2)])
    assert once.posterior(data).matrix.tobytes() == twice.posterior(data).matrix.tobytes()


@given(ROWS, ROWS, ASKED, LEARN)
@settings(max_examples=40)
def test_two_halves_of_levels_learn_like_the_whole(
    one: list[dict[str, Any]], two: list[dict[str, Any]], asked: list[dict[str, Any]], learner: Any
) -> None:
    # Numbers are binned by the table they were counted in; without them pairs of any two tables can be added.
    def levels(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
        return columns(rows, "x", "w")

    types = {name: kind for name, kind in TYPES.items() if name != "x"}
    learner = replace(learner, root=None) if isinstance(learner, likely.TreeAugmented) else learner
    whole = likely.summarize(levels(one + two), "t", types=types, more=["pairs"])
    a, b = (likely.summarize(levels(part), schema=whole.schema, more=["pairs"]) for part in (one, two))
    expected = learner.learn(whole).posterior(columns(asked, "x")).matrix.tobytes()
    assert learner.learn(a + b).posterior(columns(asked, "x")).matrix.tobytes() == expected
    assert learner.learn(b + a + b - b).posterior(columns(asked, "x")).matrix.tobytes() == expected


@given(ROWS, ROWS, ASKED, LEARN)
@settings(max_examples=30)
def test_rows_are_unlearned_though_numbers_are_binned(
    one: list[dict[str, Any]], two: list[dict[str, Any]], asked: list[dict[str, Any]], learner: Any
) -> None:
    # The bins of what is taken away are those of the whole; what stays behind keeps them, and is learned anew.
    whole = fitted(learner, one + two)
    less = unlearn(whole, columns(two, "w"))
    rest = likely.summarize(columns(one, "w"), schema=whole.schema, more=whole.summary.more)
    assert less.summary.more["pairs"] == rest.more["pairs"]
    expected = learner.learn(rest).posterior(columns(asked)).matrix.tobytes()
    assert less.posterior(columns(asked)).matrix.tobytes() == expected
    back = less.summary + likely.summarize(columns(two, "w"), schema=whole.schema, more=less.summary.more)
    again = learner.learn(back).posterior(columns(asked)).matrix.tobytes()
    assert again == whole.posterior(columns(asked)).matrix.tobytes()


@BOTH
def test_threads_change_nothing(learner: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    path = tmp_path / "t.csv"
    lines = ["a,x,b,t"]
    for a, x, b, t in zip(*(rng.integers(0, n, 40_000) for n in (4, 1000, 3, 2)), strict=True):
        lines.append(f"l{a},{x + 300 * t},m{(a + t) % 3 if b else b},{'ny'[t]}")
    path.write_text("\n".join(lines))
    one, many = (likely.fit(path, "t", learner, threads=n) for n in (1, 3))
    assert one.posterior(path).matrix.tobytes() == many.posterior(path).matrix.tobytes()
    assert state.dump(one.summary.state()) == state.dump(many.summary.state())


@BOTH
def test_a_class_that_some_folds_do_not_have(learner: Any) -> None:
    rows = 200
    rng = np.random.default_rng(1)
    target = np.where(np.arange(rows) < 3, "rare", np.where(rng.random(rows) < 0.5, "n", "y"))
    data = {"a": np.where(rng.random(rows) < 0.8, target, "other").tolist(), "x": rng.random(rows).tolist()}
    record = likely.look({**data, "t": target.tolist()}, "t", learner)
    assert record.scores.accuracy > 0.8 and record.scores.rows == rows


@BOTH
def test_nothing_to_learn_from(learner: Any) -> None:
    rows = {"a": [None, None, None], "x": [1.0, 2.0, 1.5], "t": ["y", "y", "n"]}
    model = likely.fit(rows, "t", learner, types={"a": "nominal", "x": "number"})
    assert any("'x' is left out: no cut of its values" in note for note in model.notes)
    assert any("'a' is left out: it has no level" in note for note in model.notes)
    assert model.posterior({"a": "u", "x": 3.0}).prob("y") == pytest.approx(2 / 3, rel=1e-15)
    drawn = model.sample(500)
    assert set(drawn["a"]) == {None} and set(drawn["x"]) == {1.0, 2.0, 1.5}
    assert 0.6 < drawn["t"].count("y") / 500 < 0.73


@BOTH
def test_one_class_and_one_row(learner: Any) -> None:
    model = likely.fit({"a": ["u"], "b": ["v"], "t": ["n"]}, "t", learner, types={"a": "nominal", "b": "nominal"})
    assert model.posterior({"a": "u", "b": None}).best == "n"


@BOTH
def test_an_unseen_level_counts_as_missing_and_is_reported(learner: Any) -> None:
    data = {"a": ["u", "v", "u", "v"], "b": ["p", "q", "q", "p"], "t": ["n", "y", "n", "n"]}
    model = likely.fit(data, "t", learner)
    strange = model.posterior({"a": "new", "b": "p"})
    assert strange.unseen == {"a": 1}
    assert strange.matrix.tobytes() == model.posterior({"a": None, "b": "p"}).matrix.tobytes()


@BOTH
def test_a_summary_that_lacks_pairs_or_classes_is_refused(learner: Any) -> None:
    with pytest.raises(SettingError, match="learns from pairs"):
        learner.learn(likely.summarize({"a": ["u", "v"], "t": ["n", "y"]}, "t"))
    empty = likely.summarize({"a": ["u", "v"], "t": ["n", "y"]}, "t", more=["pairs"])
    with pytest.raises(InputError, match="no row with a class"):
        learner.learn(empty - empty)


@BOTH
@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), "1"])
def test_settings_out_of_range(learner: Any, value: object) -> None:
    name = "prior_pseudo_count" if isinstance(learner, likely.TreeAugmented) else "minimum"
    for setting in ("pseudo_count", name):
        with pytest.raises(SettingError, match=setting):
            replace(learner, **{setting: value})
    assert LEARNERS[type(learner).__name__] is type(learner)


@BOTH
def test_dates_are_cut_and_drawn_as_dates(learner: Any) -> None:
    days = [f"2020-{m:02}-{d:02}" for m in range(1, 7) for d in range(1, 29)]
    data = {"when": days, "t": ["n" if day < "2020-03-10" else "y" for day in days]}
    model = likely.fit(data, "t", learner)
    assert model.posterior({"when": "2020-01-05"}).best == "n"
    drawn = model.sample(300, seed=1)
    assert {day[:10] for day in drawn["when"]} <= set(days)
    assert (
        np.mean([(day < "2020-03-10") == (t == "n") for day, t in zip(drawn["when"], drawn["t"], strict=True)]) > 0.95
    )
