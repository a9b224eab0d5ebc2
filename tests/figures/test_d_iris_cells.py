"""Figure D, Iris cut into bins: the joint probability of both numbers, by full Bayes and by a block of naive Bayes."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likely

EDGES = {"sepal_length": (5.2, 6.1, 7.0), "sepal_width": (2.8, 3.6)}
CELLS = {
    "c1": ((1, 33, 5), (0, 3, 8), (0, 0, 0), (0, 0, 0)),
    "c2": ((6, 0, 0), (24, 15, 0), (13, 30, 0), (3, 7, 2)),
}
MIDDLES = (5.0, 5.6, 6.5, 7.5), (2.5, 3.2, 4.0)
"""A number of each bin."""


@pytest.fixture(scope="module")
def table(examples: Path) -> dict[str, list[Any]]:
    _, *lines = (examples / "iris.csv").read_text(encoding="utf-8").split()
    rows = [line.split(",") for line in lines]
    return {
        "sepal_length": [float(r[0]) for r in rows],
        "sepal_width": [float(r[1]) for r in rows],
        "class": ["c1" if r[4] == "Iris-setosa" else "c2" for r in rows],
    }


def learners(pseudo_count: float) -> list[Any]:
    block = [["sepal_length", "sepal_width"]]
    how: dict[str, Any] = {"pseudo_count": pseudo_count, "bins": EDGES, "bins_closed": "right"}
    return [likely.FullBayes(density="table", **how), likely.NaiveBayes(numbers="binned", blocks=block, **how)]


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("pseudo_count", [0, 1])
def test_every_cell(which: int, pseudo_count: int, table: dict[str, list[Any]]) -> None:
    model = likely.fit(table, "class", learners(pseudo_count)[which])
    for (i, length), (j, width) in product(enumerate(MIDDLES[0]), enumerate(MIDDLES[1])):
        working = model.working({"sepal_length": length, "sepal_width": width})
        for name, total in (("c1", 50), ("c2", 100)):
            value = working.steps[1].values[name]
            assert (value.top, value.bottom) == (CELLS[name][i][j] + pseudo_count, total + 12 * pseudo_count)
            assert working.products[name] == F(total, 150) * value.value


@pytest.mark.parametrize("which", [0, 1])
def test_the_two_points_of_the_book(which: int, table: dict[str, list[Any]]) -> None:
    plain = likely.fit(table, "class", learners(0)[which])
    near = plain.working({"sepal_length": 5.3, "sepal_width": 3.0})
    assert {c: str(v) for c, v in near.steps[1].values.items()} == {"c1": "3/50", "c2": "15/100"}
    assert near.best == "c2"
    far = {"sepal_length": 6.75, "sepal_width": 4.25}
    assert plain.working(far).products == {"c1": 0, "c2": 0} and plain.predict(far) is None
    smoothed = likely.fit(table, "class", learners(1)[which]).working(far)
    assert {c: str(v) for c, v in smoothed.steps[1].values.items()} == {"c1": "1/62", "c2": "1/112"}
    assert smoothed.best == "c2"
    assert "'sepal_length' falls into the bin 'above 6.1 to 7'." in str(smoothed)
    assert "cells of sepal_length × sepal_width = 4 × 3 = 12" in str(smoothed)


@pytest.mark.parametrize("which", [0, 1])
def test_a_missing_number_is_summed_over(which: int, table: dict[str, list[Any]]) -> None:
    model = likely.fit(table, "class", learners(1)[which])
    found = model.working({"sepal_length": 5.0, "sepal_width": None}).steps[1].values
    assert {c: str(v) for c, v in found.items()} == {"c1": "42/62", "c2": "9/112"}  # 39 + 3 and 6 + 3
    beyond = model.working({"sepal_length": 99.0, "sepal_width": -99.0}).steps[1].values  # the end bins reach out
    assert {c: str(v) for c, v in beyond.items()} == {"c1": "1/62", "c2": "4/112"}


def test_found_edges_and_levels_beside_bins(examples: Path) -> None:
    learner = likely.FullBayes(density="table", bins="width", bin_count=3, pseudo_count=1)
    model = likely.fit(examples / "weather_mixed.csv", "play", learner)
    _, *lines = (examples / "weather_mixed.csv").read_text(encoding="utf-8").split()
    header = (examples / "weather_mixed.csv").read_text(encoding="utf-8").split()[0].split(",")
    rows = [dict(zip(header, line.split(","), strict=True)) for line in lines]

    def bins(row: dict[str, str]) -> tuple[object, ...]:
        out: list[object] = [row["outlook"], row["windy"]]
        for name in ("temperature", "humidity"):
            values = [float(r[name]) for r in rows]
            low, high = min(values), max(values)
            out.append(int(np.searchsorted([low + (high - low) * k / 3 for k in (1, 2)], float(row[name]), "right")))
        return tuple(out)

    cells = 3 * 2 * 3 * 3
    for row in rows:
        working = model.working(
            {k: v if k in ("outlook", "windy") else float(v) for k, v in row.items() if k != "play"}
        )
        for name in ("no", "yes"):
            own = [r for r in rows if r["play"] == name]
            same = sum(bins(r) == bins(row) for r in own)
            assert working.steps[1].values[name].value == F(same + 1, len(own) + cells)


def test_a_block_beside_other_attributes_a_file_and_a_merge(table: dict[str, list[Any]], tmp_path: Path) -> None:
    wide = {**table, "third": [str(k % 3) for k in range(150)]}
    learner = learners(1)[1]
    model = likely.fit(wide, "class", learner)
    assert [f.name for f in model.factors] == ["sepal_length & sepal_width", "third"]
    model.save(tmp_path / "m.likely")
    rows = [{"sepal_length": 5.3, "sepal_width": 3.0, "third": "1"}, {"sepal_length": None, "third": "2"}]
    again = likely.load(tmp_path / "m.likely")
    assert again.posterior(rows).matrix.tolist() == model.posterior(rows).matrix.tolist()
    halves = [{name: cells[k::2] for name, cells in wide.items()} for k in (0, 1)]
    more = ['rows["sepal_length","sepal_width"]']
    one, other = (likely.summarize(half, "class", more=more, types={"third": "nominal"}) for half in halves)
    assert learner.learn(one + other).posterior(rows).matrix.tolist() == model.posterior(rows).matrix.tolist()
    whole = (one + other) - one
    assert learner.learn(whole).posterior(rows).matrix.tolist() == learner.learn(other).posterior(rows).matrix.tolist()


def test_terms_and_samples_and_intervals(table: dict[str, list[Any]]) -> None:
    model = likely.fit(table, "class", learners(1)[1])
    (batch,) = model.batches(table)
    np.testing.assert_allclose(model.terms(batch).array.sum(axis=1), model.log_joint(batch), rtol=1e-12)
    for one in (model, likely.fit(table, "class", learners(1)[0])):
        drawn = one.sample(2000, seed=3)
        assert drawn.keys() == table.keys() and min(drawn["sepal_length"]) >= 4.3 and max(drawn["sepal_length"]) <= 7.9
        again = likely.fit(drawn, "class", learners(0)[0])
        share = float(again.working({"sepal_length": 5.0, "sepal_width": 3.2}).steps[1].values["c1"])
        assert share == pytest.approx(34 / 62, abs=0.05)
    assert likely.sureness(model, {"sepal_length": 5.3, "sepal_width": 3.0}) is not None


def test_missing_cells_may_be_a_level_and_the_cross_validated_score_is_there(table: dict[str, list[Any]]) -> None:
    holed = {**table, "sepal_width": [None if k % 7 == 0 else v for k, v in enumerate(table["sepal_width"])]}
    learner = likely.NaiveBayes(numbers="binned", bins=EDGES, blocks=[["sepal_length", "sepal_width"]], missing="level")
    found = likely.fit(holed, "class", learner).working({"sepal_length": 5.0}).steps[1].values
    lengths = [
        (v, w) for v, w, c in zip(holed["sepal_length"], holed["sepal_width"], holed["class"], strict=True) if c == "c1"
    ]
    assert found["c1"].value == F(sum(v < 5.2 and w is None for v, w in lengths) + 1, 50 + 5 * 4)
    look = likely.look(table, "class", learners(1)[1], folds=5)
    assert look.scores.accuracy > 0.8


@pytest.mark.parametrize("which", [0, 1])
def test_what_to_ask_next_sums_over_the_bins(which: int, table: dict[str, list[Any]]) -> None:
    model = likely.fit(table, "class", learners(1)[which])
    (question,) = likely.ask(model, {"sepal_length": 5.0}).questions
    assert question.attribute == "sepal_width" and question.how == "summed over 3 bins"
    joint = np.array([[(n + 1) / 62 / 3 for n in CELLS["c1"][0]], [(n + 1) / 112 * 2 / 3 for n in CELLS["c2"][0]]])
    expected = (joint.sum(axis=1).min() - joint.min(axis=0).sum()) / joint.sum()
    assert question.drop == pytest.approx(expected, rel=1e-9)


def test_what_does_not_go_together_is_refused(table: dict[str, list[Any]]) -> None:
    with pytest.raises(likely.LikelyError, match="density='table'"):
        likely.fit(table, "class", likely.FullBayes(bins=EDGES))
    mixed = {**table, "third": ["u", "v", "w"] * 50}
    with pytest.raises(likely.LikelyError, match="cuts numbers into bins"):
        likely.fit(mixed, "class", likely.FullBayes())
    with pytest.raises(likely.LikelyError, match="cut the numbers into bins"):
        likely.fit(mixed, "class", likely.NaiveBayes(blocks=[["sepal_length", "third"]]))
    kernel = likely.NaiveBayes(numbers="kernel", blocks=[["sepal_length", "sepal_width"]])
    with pytest.raises(likely.LikelyError, match="gaussian or binned"):
        likely.fit(table, "class", kernel)
    with pytest.raises(likely.LikelyError, match="not a numeric attribute"):
        likely.fit(mixed, "class", likely.FullBayes(density="table", bins={"third": (1.0,)}))
