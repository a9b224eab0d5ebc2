"""Nearest neighbours: settings, ties, missing cells, priors, densities, odd tables, files and merging."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely.errors import ColumnError, InputError, SettingError
from likely.testing import bits

TYPES = {"x": "number", "z": "number", "c": "nominal", "t": "nominal"}
VALUES = [0.0, 1.0, 2.5, -1e300, 1e300, 1.7e308, -1.7e308, 5e-324, 1e-200, math.inf, math.nan, None]
ROW = st.fixed_dictionaries(
    {
        "x": st.sampled_from(VALUES),
        "z": st.sampled_from([3.0, 4.0, None]),
        "c": st.sampled_from(["u", "v", None]),
        "t": st.sampled_from(["p", "q", "r"]),
        "w": st.sampled_from([1.0, 2.0, 0.3, 1e-9, 5e-324, 1e15]),
    }
)
LEARNERS = st.builds(
    likely.Neighbors,
    k=st.sampled_from([1, 2, 5, 1000]),
    distance=st.sampled_from(["euclidean", "city-block"]),
    weights=st.sampled_from(["equal", "distance"]),
    attribute_weights=st.sampled_from([None, {"x": 0}, {"c": 0.1, "z": 7}, {"x": 0, "z": 0, "c": 0}]),
    prior=st.sampled_from(["observed", "uniform"]),
    scale=st.booleans(),
)


def columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def fitted(rows: list[dict[str, Any]], learner: Any, **more: Any) -> Any:
    table = dict(sorted(columns(rows).items()))  # the order of columns is the schema's, whatever that of a row's keys
    types = {n: k for n, k in TYPES.items() if n in table}
    return likely.fit(table, "t", learner, types=types, weight="w" if "w" in table else None, **more)


@settings(max_examples=30)
@given(st.lists(ROW, min_size=1, max_size=12), st.lists(ROW, min_size=1, max_size=5), LEARNERS)
def test_laws(rows: list[dict[str, Any]], asked: list[dict[str, Any]], learner: Any) -> None:
    try:
        model = fitted(rows, learner)
    except InputError as refusal:  # weights so small that no double holds their sum in full
        assert "weigh less than 2.2e-308 together" in str(refusal) and min(r["w"] for r in rows) < 1e-300
        return
    queries = [{n: row[n] for n in ("x", "z", "c")} for row in asked]
    found = model.posterior(columns(queries))
    assert not np.isnan(found.matrix).any() and not found.undefined.any()
    np.testing.assert_allclose(found.matrix.sum(axis=1), 1, rtol=1e-12)
    # The order of rows does not matter, nor whether rows come one by one.
    again = fitted(rows[::-1], learner)
    assert again.posterior(columns(queries)).matrix.tobytes() == found.matrix.tobytes()
    for k, query in enumerate(queries):
        assert model.posterior(query).matrix.tobytes() == found.matrix[k : k + 1].tobytes()
    # Learning changed nothing, and two halves learned apart are the whole.
    before = bits(model.summary)
    learner.learn(model.summary)
    assert bits(model.summary) == before
    half = len(rows) // 2
    if half:
        parts = [
            likely.summarize(columns(part), schema=model.schema, more=["rows"]) for part in (rows[:half], rows[half:])
        ]
        merged = learner.learn(parts[0] + parts[1])
        assert merged.posterior(columns(queries)).matrix.tobytes() == found.matrix.tobytes()


@settings(max_examples=30)
@given(st.lists(ROW, min_size=1, max_size=10), LEARNERS)
def test_weight_two_is_the_row_twice(rows: list[dict[str, Any]], learner: Any) -> None:
    plain = [{n: v for n, v in row.items() if n != "w"} for row in rows]
    heavy = [{**row, "w": 2.0} for row in plain]
    twice = fitted(plain * 2, learner)
    table = columns([{n: row[n] for n in ("x", "z", "c")} for row in plain])
    assert fitted(heavy, learner).posterior(table).matrix.tobytes() == twice.posterior(table).matrix.tobytes()


def test_one_neighbour_makes_no_error_on_its_own_rows(examples: Path) -> None:
    header, *lines = (examples / "iris.csv").read_text(encoding="utf-8").split()
    truth = [line.split(",")[-1] for line in lines]
    for distance in ("euclidean", "city-block"):
        model = likely.fit(examples / "iris.csv", "species", likely.Neighbors(k=1, distance=distance))  # type: ignore[arg-type]
        assert model.predict(examples / "iris.csv") == truth  # rows that repeat are of one class
    assert header.startswith("sepal_length")


def test_the_file_and_the_threads_change_nothing(tmp_path: Path, examples: Path) -> None:
    learner = likely.Neighbors(
        k=7,
        weights="distance",
        attribute_weights={"petal_width": 2},
        prior={"Iris-setosa": 0.2, "Iris-versicolor": 0.5, "Iris-virginica": 0.3},
    )
    one = likely.fit(examples / "iris.csv", "species", learner, threads=1)
    two = likely.fit(examples / "iris.csv", "species", learner, threads=2)
    one.save(tmp_path / "n.likely")
    three = likely.load(tmp_path / "n.likely")
    assert three.learner == learner
    (batch,) = one.batches(examples / "iris.csv")
    assert one.log_joint(batch).tobytes() == two.log_joint(batch).tobytes() == three.log_joint(batch).tobytes()


def test_rows_at_the_last_distance_share_the_places_left() -> None:
    rows = [{"x": float(x), "t": t} for x, t in ((0, "p"), (1, "q"), (1, "q"), (-1, "p"), (1, "p"), (9, "q"))]
    model = fitted(rows, likely.Neighbors(k=3))
    (batch,) = model.batches([{"x": 0.0}])
    votes, radius = model.neighbours(batch)
    np.testing.assert_allclose(votes, [[1 + 2 / 4 * 2, 2 / 4 * 2]])  # four rows share two places
    assert radius[0] == pytest.approx(0.1)


def test_fewer_rows_than_k_all_count_and_a_note_says_so() -> None:
    model = fitted([{"x": 1.0, "t": "p"}, {"x": 2.0, "t": "q"}, {"x": 3.0, "t": "q"}], likely.Neighbors(k=50))
    assert model.posterior({"x": 1.0}).prob("q") == pytest.approx(2 / 3)
    assert any("fewer than k = 50" in note for note in model.notes)


def test_rows_of_nothing_but_missing_cells() -> None:
    rows = [{"x": None, "z": None, "c": None, "t": t} for t in "ppq"]
    model = fitted(rows, likely.Neighbors(k=2))
    assert model.posterior({"x": 1.0}).prob("p") == pytest.approx(2 / 3)  # all are as far away as can be
    assert any("missing in every row" in note for note in model.notes)


def test_a_missing_cell_is_far_from_everything_another_missing_cell_included() -> None:
    rows = [{"c": "u", "t": "p"}, {"c": None, "t": "q"}, {"c": "v", "t": "p"}]
    model = fitted(rows, likely.Neighbors(k=1))
    assert model.posterior({"c": None}).prob("q") == pytest.approx(1 / 3)
    assert model.posterior({"c": "u"}).prob("p") == 1
    assert model.posterior({"c": "never seen"}).prob("q") == pytest.approx(1 / 3)


def test_one_class_and_one_row() -> None:
    assert fitted([{"x": 1.0, "t": "p"}], likely.Neighbors()).posterior({"x": 5.0}).prob("p") == 1


def test_a_constant_column_adds_nothing() -> None:
    rows = [{"x": 7.0, "z": float(k), "t": "pq"[k % 2]} for k in range(6)]
    model = fitted(rows, likely.Neighbors(k=1))
    assert model.predict({"x": 1e300, "z": 3.0}) == "q"


def test_given_priors_reweigh_the_votes() -> None:
    rows = [{"x": 0.0, "t": "p"}] * 3 + [{"x": 0.0, "t": "q"}]
    for reading in ("posterior", "density"):
        table = [*rows, {"x": 1.0, "t": "p"}, {"x": 1.0, "t": "q"}]
        even = fitted(table, likely.Neighbors(k=4, prior="uniform", reading=reading))  # type: ignore[arg-type]
        near = np.array([3 / 4, 1 / 2]) if reading == "posterior" else np.array([1.0, 1.0])
        expected = near / near.sum()  # the ball of a density grows beyond the rows that lie on the point itself
        np.testing.assert_allclose(even.posterior({"x": 0.0}).matrix[0], expected)


def test_neighbours_at_distance_zero_decide_alone() -> None:
    rows = [{"x": 0.0, "t": "p"}, *({"x": 0.001, "t": "q"} for _ in range(9)), {"x": 1.0, "t": "q"}]
    model = fitted(rows, likely.Neighbors(k=10, weights="distance"))
    assert model.posterior({"x": 0.0}).prob("p") == 1
    assert model.posterior({"x": 0.002}).prob("p") == pytest.approx(0.5 / 9.5)


@pytest.mark.parametrize("distance", ["euclidean", "city-block"])
def test_a_density_in_the_units_of_the_table(distance: Any) -> None:
    # Rows spread evenly over a box have a density of one over its area, however they are scaled and weighed.
    rng = np.random.default_rng(3)
    table = {"x": rng.uniform(0, 10, 20_000), "z": rng.uniform(0, 0.5, 20_000), "t": ["p"] * 20_000}
    learner = likely.Neighbors(k=200, distance=distance, reading="density", attribute_weights={"x": 4})
    model = likely.fit(table, "t", learner)
    (batch,) = model.batches([{"x": 5.0, "z": 0.25}, {"x": 4.0, "z": None}, {"x": None, "z": None}])
    np.testing.assert_allclose(np.exp(model.log_likelihood(batch))[:, 0], [1 / 5, 1 / 10, 1], rtol=0.2)


def test_the_density_of_one_dimension_by_hand() -> None:
    rows = [{"x": float(x), "t": t} for x, t in ((0, "p"), (2, "p"), (5, "q"), (10, "q"))]
    model = fitted(rows, likely.Neighbors(k=2, reading="density"))
    (batch,) = model.batches([{"x": 1.0}, {"x": 2.0}])
    # x = 1: both p at distance 1, V = 2; x = 2: p at 0 and 2 (tied with nothing), V = 4.
    np.testing.assert_allclose(np.exp(model.log_likelihood(batch)), [[2 / (2 * 2), 0], [2 / (2 * 4), 0]], atol=1e-15)


@pytest.mark.parametrize(
    "bad",
    [
        {"k": 0},
        {"k": 1.5},
        {"k": True},
        {"distance": "chess"},
        {"weights": "none"},
        {"scale": "yes"},
        {"reading": "fast"},
        {"attribute_weights": {"x": -1}},
        {"attribute_weights": {"x": math.nan}},
        {"reading": "density", "weights": "distance"},
    ],
)
def test_settings_out_of_range_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SettingError):
        likely.Neighbors(**bad)


def test_what_cannot_be_learned_is_a_sentence() -> None:
    rows = [{"x": 1.0, "c": "u", "t": "p"}, {"x": 2.0, "c": "v", "t": "q"}]
    with pytest.raises(SettingError, match="numbers only"):
        fitted(rows, likely.Neighbors(reading="density"))
    with pytest.raises(ColumnError):
        fitted(rows, likely.Neighbors(attribute_weights={"y": 1}))
    with pytest.raises(SettingError, match="not an attribute"):
        fitted(rows, likely.Neighbors(attribute_weights={"t": 1}))
    with pytest.raises(SettingError, match="same point"):
        fitted([{"x": 1.0, "t": "p"}, {"x": 1.0, "t": "q"}], likely.Neighbors(reading="density"))
    with pytest.raises(InputError, match=r"weigh more than 1\.8e\+308 together"):
        fitted([{"x": float(k), "t": "p", "w": 1.7e308} for k in range(2)], likely.Neighbors())
    with pytest.raises(SettingError, match="rows themselves"):
        likely.Neighbors().learn(likely.summarize(columns(rows), "t"))
