"""Linear classification: its laws, its awkward corners, and the sentences of what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likely
from likely.errors import LikelyError
from likely.models.shapes import Clipped, Opaque, Sum
from likely.testing import bits

BOTH = pytest.mark.parametrize(
    "learner", [likely.LeastSquares(), likely.LeastSquares(mode="pairwise")], ids=["multi", "pairwise"]
)
TYPES = {"x": "number", "z": "number"}


def table(seed: int = 0, rows: int = 240) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(1e6, 2, rows)
    x[rng.random(rows) < 0.1] = np.nan
    y = rng.choice(["a", "b", "c"], rows)
    colour = np.where(rng.random(rows) < 0.5, y, rng.choice(["a", "d"], rows)).tolist()
    colour[3] = None
    return {"x": x + (y == "a"), "z": rng.normal(size=rows), "colour": colour, "y": y.tolist()}


def some(rows: dict[str, Any], index: Any) -> dict[str, Any]:
    return {name: [column[k] for k in index] for name, column in rows.items()}


def scores(model: likely.Model, rows: dict[str, Any]) -> Any:
    return np.concatenate([model.log_joint(b) for b in model.batches({k: v for k, v in rows.items() if k != "y"})])


@BOTH
def test_laws_of_file_merging_weights_and_threads(learner: likely.LeastSquares, tmp_path: Path) -> None:
    rows = table()
    model = likely.fit(rows, "y", learner, types=TYPES)
    expected = scores(model, rows)
    assert not np.isnan(expected).any()
    model.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    assert again.learner == learner and scores(again, rows).tobytes() == expected.tobytes()
    before = bits(model.summary)
    learner.learn(model.summary)
    assert bits(model.summary) == before
    halves = [
        likely.summarize(some(rows, range(k, 240, 2)), schema=model.schema, more=["products"], threads=1)
        for k in (0, 1)
    ]
    assert scores(learner.learn(halves[1] + halves[0]), rows).tobytes() == expected.tobytes()
    assert scores(learner.learn(model.summary - halves[1]), rows).tobytes() == (
        scores(learner.learn(halves[0]), rows).tobytes()
    )
    twice = likely.fit(some(rows, [*range(240), *range(50)]), "y", learner, types=TYPES)
    heavy = {**rows, "w": [2] * 50 + [1] * 190}
    weighed = likely.fit(heavy, "y", learner, types=TYPES, weight="w")
    assert scores(weighed, rows).tobytes() == scores(twice, rows).tobytes()
    for threads in (1, 3):
        assert (
            scores(likely.fit(rows, "y", learner, types=TYPES, threads=threads), rows).tobytes() == expected.tobytes()
        )


@BOTH
def test_a_row_alone_scores_as_among_others(learner: likely.LeastSquares) -> None:
    rows = table(1)
    model = likely.fit(rows, "y", learner, types=TYPES)
    whole = scores(model, rows)
    for k in range(0, 240, 40):
        assert scores(model, some(rows, [k])).tobytes() == whole[k : k + 1].tobytes()


def test_posteriors_are_scores_not_probabilities() -> None:
    model = likely.fit(table(), "y", likely.LeastSquares(), types=TYPES)
    found = model.posterior({"x": 1e6, "z": 0.0, "colour": "a"})
    assert not found.proper and found.matrix.sum() == pytest.approx(1)
    with pytest.raises(LikelyError, match="Logistic gives scores that add up"):
        model.terms(next(iter(model.batches({"x": [1.0]}))))
    with pytest.raises(LikelyError, match="no rows can be drawn"):
        model.sample(3)


def test_outputs_below_zero_are_cut_off() -> None:
    model = likely.fit(
        {"x": [0.0, 1.0, 2.0, 3.0], "y": list("aabb")}, "y", likely.LeastSquares(), types={"x": "number"}
    )
    far = model.posterior({"x": 100.0})
    assert far.matrix.tolist() == [[0.0, 1.0]] and far.best == "b"
    middle = model.posterior({"x": 1.5})
    assert middle.matrix[0] == pytest.approx([0.5, 0.5])


def test_where_no_output_is_positive_the_largest_has_it_all() -> None:
    outputs = np.array([[-3.0, -1.0, -1.0], [0.0, 0.0, 0.0], [2.0, -1.0, 2.0]])
    given = Opaque("outputs", lambda _: outputs, "They are given here.")
    model = likely.fit(table(), "y", likely.LeastSquares(), types=TYPES)
    (batch,) = model.batches({"x": [1.0, 2.0, 3.0]})
    logs, _ = Clipped(Sum(np.zeros(3), (given,))).scored(batch)
    assert np.exp(logs).tolist() == [[0, 1, 0], [1, 0, 0], [0.5, 0, 0.5]]


def circle() -> dict[str, Any]:
    """Three classes around a middle in which each beats the next."""
    angle = np.arange(60) * 2 * np.pi / 60
    y = np.where(angle < 2 * np.pi / 3, "a", np.where(angle < 4 * np.pi / 3, "b", "c"))
    twist = angle + 1.2
    x = np.concatenate([3 * np.cos(angle), 0.3 * np.cos(twist)])
    return {"x": x, "z": np.concatenate([3 * np.sin(angle), 0.3 * np.sin(twist)]), "y": [*y, *y]}


def test_pairwise_does_not_know_where_the_duels_disagree() -> None:
    model = likely.fit(circle(), "y", likely.LeastSquares(mode="pairwise"), types=TYPES)
    votes = likely.fit(circle(), "y", likely.LeastSquares(mode="pairwise", ties="votes"), types=TYPES)
    grid = [(x, z) for x in np.linspace(-3, 3, 41) for z in np.linspace(-3, 3, 41)]
    points = {"x": [p[0] for p in grid], "z": [p[1] for p in grid]}
    found, voted = model.posterior(points), votes.posterior(points)
    outputs = np.concatenate([model.score.outputs.scored(b)[0] for b in model.batches(points)]) >= 0
    ring = (outputs == [True, False, True]).all(axis=1) | (outputs == [False, True, False]).all(axis=1)
    assert ring.any() and (found.undefined == ring).all()
    assert [b is None for b in found.best] == ring.tolist()
    assert not voted.undefined.any()
    np.testing.assert_allclose(voted.matrix[ring], 1 / 3)
    assert {b for b, r in zip(voted.best, ring, strict=True) if r} == {"a"}  # equal votes: the first class
    agree = [(a, b) for a, b, r in zip(found.best, voted.best, ring, strict=True) if not r]
    assert agree and all(a == b for a, b in agree)


@BOTH
def test_few_rows_many_columns(learner: likely.LeastSquares) -> None:
    rng = np.random.default_rng(3)
    rows = {f"x{k}": rng.normal(size=6) for k in range(30)} | {"y": list("aabbcc")}
    model = likely.fit(rows, "y", learner, types={f"x{k}": "number" for k in range(30)})
    assert model.predict({k: v for k, v in rows.items() if k != "y"}) == list("aabbcc")
    assert any("collinear" in note and "smallest norm" in note for note in model.notes)


@BOTH
def test_repeated_columns_share_the_weight(learner: likely.LeastSquares) -> None:
    rows = table(5)
    alone = likely.fit({k: rows[k] for k in ("z", "y")}, "y", learner, types={"z": "number"})
    twin = likely.fit(
        {"z": rows["z"], "z2": rows["z"], "y": rows["y"]}, "y", learner, types={"z": "number", "z2": "number"}
    )
    both = {"z": rows["z"], "z2": rows["z"]}
    np.testing.assert_allclose(
        *(np.concatenate([m.score.outputs.scored(b)[0] for b in m.batches(both)]) for m in (alone, twin)), atol=1e-12
    )
    shown = {row[0]: row[1:] for row in twin.exhibits()[0].rows}
    np.testing.assert_allclose(shown["z"], shown["z2"], rtol=1e-9)


@BOTH
def test_corners(learner: likely.LeastSquares) -> None:
    one = likely.fit({"x": [1.0, 2.0, 4.0], "y": ["a"] * 3}, "y", learner, types={"x": "number"})
    assert one.predict({"x": 3.0}) == "a" and one.posterior({"x": None}).matrix.tolist() == [[1.0]]
    each = likely.fit({"x": [1.0, 2.0, 4.0], "y": list("abc")}, "y", learner, types={"x": "number"})
    assert each.predict({"x": [1.0, 4.0]}) == ["a", "c"]
    single = likely.fit({"x": [1.0], "y": ["a"]}, "y", learner, types={"x": "number"})
    assert single.predict({"x": 7.0}) == "a" and any("left out" in n for n in single.notes)
    same = likely.fit({"x": [5.0] * 4, "z": [1.0, 2.0, 3.0, 4.0], "y": list("aabb")}, "y", learner, types=TYPES)
    assert any("'x' is left out" in n for n in same.notes) and same.predict({"z": 1.0}) == "a"
    empty = likely.fit({"c": ["u", "v", "u", "v"], "y": list("aabb")}, "y", learner)
    assert empty.posterior({"c": "never"}).matrix[0].sum() == pytest.approx(1)
    assert [t.title for t in one.exhibits()] in ([], ["Weights of each class"])


@BOTH
@pytest.mark.parametrize("scale", [1e300, 1e-300, 5e-320])
def test_huge_and_tiny_scales(learner: likely.LeastSquares, scale: float) -> None:
    rng = np.random.default_rng(7)
    x = np.concatenate([rng.normal(0, 1, 50), rng.normal(6, 1, 50)])
    rows = {"x": x * scale, "z": rng.normal(1e9, 1e-6, 100), "y": ["a"] * 50 + ["b"] * 50}
    model = likely.fit(rows, "y", learner, types=TYPES)
    assert model.predict({"x": [0.0, 6 * scale, -1.7e308, 1.7e308]}) == ["a", "b", "a", "b"]
    assert not np.isnan(scores(model, rows)).any()
    model.exhibits()


def test_a_mean_far_above_the_spread() -> None:
    rng = np.random.default_rng(8)
    near = rng.normal(size=200)
    y = np.where(near + 0.3 * rng.normal(size=200) > 0, "a", "b")
    far = likely.fit({"x": 1e9 + near * 1e-3, "y": y}, "y", likely.LeastSquares(), types={"x": "number"})
    exact = (1e9 + near * 1e-3) - 1e9
    close = likely.fit({"x": exact, "y": y}, "y", likely.LeastSquares(), types={"x": "number"})
    found = [
        np.concatenate([m.score.outputs.scored(b)[0] for b in m.batches({"x": c})])
        for m, c in ((far, 1e9 + exact), (close, exact))
    ]
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "settings",
    [{"mode": "many"}, {"ridge": -1}, {"ridge": float("nan")}, {"ties": "coin"}, {"tolerance": 2.0}, {"ridge": "x"}],
)
def test_settings_out_of_range(settings: dict[str, Any]) -> None:
    with pytest.raises(LikelyError, match=next(iter(settings))):
        likely.LeastSquares(**settings)


def test_a_summary_without_products() -> None:
    summary = likely.summarize(table(), "y", types=TYPES)
    with pytest.raises(LikelyError, match="sums of products"):
        likely.LeastSquares().learn(summary)
