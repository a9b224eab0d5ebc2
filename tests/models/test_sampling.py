"""Rows drawn from a product: repeatable, within what the factors say, and home again when refitted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import likely
from likely.errors import SettingError

NB = likely.NaiveBayes


def table(rows: int = 3000) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    y = rng.choice(["p", "q", "r"], rows, p=[0.5, 0.3, 0.2])
    shift = np.where(y == "p", 0, np.where(y == "q", 4, -3))
    x = rng.normal(size=rows) + shift
    z = rng.exponential(2 + np.abs(shift), rows)
    a = np.where(rng.random(rows) < 0.3 + 0.2 * (y == "q"), "u", "v").astype(object)
    gone = rng.random(rows) < np.where(y == "p", 0.3, 0.1)
    return {
        "x": np.where(gone, None, x).tolist(),
        "z": z.tolist(),
        "a": np.where(rng.random(rows) < 0.2, None, a).tolist(),
        "y": y.tolist(),
    }


LEARNERS = [
    NB(),
    NB(missing="level"),
    NB(numbers="kernel", missing="level"),
    NB(numbers="binned", bins="frequency", missing="level"),
    NB(numbers={"x": "kernel", "z": "binned"}, bins={"z": [2, 4, 8]}, unseen="reserve"),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_samples_come_home(learner: Any) -> None:
    data = table()
    model = likely.fit(data, "y", learner)
    drawn = model.sample(20_000, seed=1)
    assert list(drawn) == ["x", "z", "a", "y"] and all(len(c) == 20_000 for c in drawn.values())
    assert drawn == model.sample(20_000, seed=1) and drawn != model.sample(20_000, seed=2)
    back = learner.learn(likely.summarize(drawn, "y", schema=model.schema))
    np.testing.assert_allclose(np.exp(back.log_prior), np.exp(model.log_prior), atol=0.02)
    asked = {n: c[:300] for n, c in data.items() if n != "y"}
    ours, theirs = model.posterior(asked).matrix, back.posterior(asked).matrix
    assert np.abs(ours - theirs).mean() < 0.03
    share = np.mean([v is None for v in drawn["a"]])
    assert share == pytest.approx(0.2 if learner.missing == "level" else 0, abs=0.02)
    before, after = (
        np.mean([v is None for v, c in zip(part["x"], part["y"], strict=True) if c == "p"]) for part in (data, drawn)
    )
    assert after == pytest.approx(before if learner.missing == "level" else 0, abs=0.015)
    assert all(v is None or isinstance(v, float) for v in drawn["z"])


def test_bins_end_with_the_values_of_training() -> None:
    data = {"x": [1.0, 2, 3, 9], "y": list("aabb")}
    model = likely.fit(data, "y", NB(numbers="binned", bins={"x": [2.5, 5]}), types={"x": "number"})
    x = np.array(model.sample(5000)["x"])
    assert x.min() >= 1 and x.max() <= 9
    codes, counts = np.unique(np.searchsorted([2.5, 5], x, side="right"), return_counts=True)
    assert codes.tolist() == [0, 1, 2]
    # P(a) = P(b) = 1/2; with a pseudo-count of one (3, 1, 1)/5 and (1, 2, 2)/5.
    np.testing.assert_allclose(counts / 5000, [0.4, 0.3, 0.3], atol=0.03)
    outside = NB(numbers="binned", bins={"x": [-5, 20]}).learn(model.summary).sample(2000)["x"]
    ends = {v for v in outside if not 1 <= v <= 9}
    assert all(v < -5 or -5 <= v < 20 or v == 20 for v in ends) and 20.0 in ends


def test_dates_are_drawn_as_dates() -> None:
    days = {"d": ["2024-01-01", "2024-02-01", "2024-03-01", "2024-04-01"] * 5, "y": list("aabb") * 5}
    drawn = likely.fit(days, "y", types={"d": "date"}).sample(4)
    assert all(2023 <= d.year <= 2024 for d in drawn["d"])
    far = {"d": ["0002-01-01", "9998-02-01", "5000-03-01", "2000-04-01", None] * 4, "y": list("abaab") * 4}
    drawn = likely.fit(far, "y", NB(missing="level"), types={"d": "date"}).sample(500)["d"]
    assert {None} < {d if d is None else "date" for d in drawn} and all(d is None or d.year <= 9999 for d in drawn)


def test_edges_of_sampling() -> None:
    model = likely.fit({"a": ["u", None], "y": ["p", "q"]}, "y", NB(pseudo_count=0), types={"a": "nominal"})
    assert model.sample(0) == {"a": [], "y": []}
    drawn = model.sample(50)
    # Class q never showed the attribute.
    assert {(a, y) for a, y in zip(drawn["a"], drawn["y"], strict=True)} == {("u", "p"), (None, "q")}
    for rows, seed in ((-1, 0), (2.5, 0), (1, -1), (1, "x")):
        with pytest.raises(SettingError):
            model.sample(rows, seed)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "learner", [likely.NaiveBayes(), likely.TreeAugmented(), likely.OneDependence(), likely.Prior()]
)
@pytest.mark.parametrize(("rows", "seed"), [(-1, 0), (2, -1), (2.5, 0), (2, 0.5)])
def test_a_draw_that_makes_no_sense_is_refused_with_a_sentence(learner: likely.Model, rows: int, seed: int) -> None:
    model = likely.fit({"a": ["x", "y", "x", "y"], "b": ["u", "v", "v", "u"], "y": ["p", "p", "q", "q"]}, "y", learner)
    with pytest.raises(likely.LikelyError, match="whole number"):
        model.sample(rows, seed)
