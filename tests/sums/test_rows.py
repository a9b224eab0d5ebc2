"""Rows as a tally: equal rows are one, weights are exact, classes can be renamed, joined and left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import likely
from likely.errors import NotLearned, SettingError
from likely.sums.contracts import weights
from likely.sums.rows import rows as room
from likely.sums.rows.rows import Rows
from likely.table.batch import Batch, Codes
from likely.table.labels import Labels


def taken(
    x: list[float], colour: list[int], group: list[int], weight: list[float] | None = None, names: str = "ab"
) -> Rows:
    out = Rows(["x"], ["colour"], 3)
    cells: dict[str, Any] = {"x": np.array(x), "colour": Codes(np.array(colour, np.int32), Labels(names))}
    share = weights(None if weight is None else np.array(weight))
    out.update(Batch(len(x), cells), np.array(group, np.int32), share)
    return out


def test_equal_rows_are_one_and_their_weights_add_up() -> None:
    nan, inf = float("nan"), float("inf")
    held = taken([1, 1, -0.0, 0.0, nan, inf], [0, 0, 1, 1, -1, -1], [0] * 6, [0.1, 0.2, 1, 1, 1, 1])
    numbers, codes, group, weight = held.arrays
    found = {str(x): w for (x,), w in zip(numbers.tolist(), weight.tolist(), strict=True)}
    assert found == {"0.0": 2, "1.0": 0.1 + 0.2, "nan": 2}  # an infinite number counts as missing
    assert len(codes) == len(group) == 3


def test_rows_without_a_class_are_left_out() -> None:
    assert len(taken([1, 2, 3], [0, 0, 0], [0, -1, 2]).arrays[0]) == 2


def test_classes_can_be_joined_renamed_and_left_out() -> None:
    held = taken([1, 1, 2, 2], [0, 0, 0, 1], [0, 1, 2, 2])
    joined = held.regrouped(np.array([1, 1, -1]), 2)
    numbers, _, group, weight = joined.arrays
    assert (numbers.tolist(), group.tolist(), weight.tolist()) == ([[1.0]], [1], [2.0])
    assert joined.groups == 2
    assert [x.names for x in joined.labels] == [["a"]]  # no row of what is left has the other level
    assert held == taken([2, 1, 2, 1], [1, 0, 0, 0], [2, 1, 2, 0])


def test_levels_are_known_by_name_whatever_their_codes() -> None:
    assert taken([1, 2], [0, 1], [0, 1]) == taken([1, 2], [1, 0], [0, 1], names="ba")
    assert taken([1, 2], [0, 1], [0, 1]) + taken([1], [0], [0], names="c") == taken(
        [1, 1, 2], [2, 0, 1], [0, 0, 1], names="abc"
    )


def test_a_level_that_no_row_had_is_unseen_and_learned_when_taken_in() -> None:
    held = taken([1], [0], [0])
    batch = Batch(3, {"x": np.zeros(3), "colour": Codes(np.array([0, 1, -1], np.int32), Labels("xa"))})
    assert held.read(batch)[1][:, 0].tolist() == [-2, 0, -1]


def test_what_was_never_there_cannot_be_taken_away() -> None:
    less = taken([1], [0], [0]) - taken([2], [0], [0])
    assert less.impossible
    assert not (less + taken([2], [0], [0])).impossible
    kept = likely.summarize({"x": [1.5, 2.5, 3.5], "y": ["a", "b", "a"]}, "y", more=["rows"])
    swapped = likely.summarize({"x": [2.5, 1.5, 3.5], "y": ["a", "b", "a"]}, "y", more=["rows"], schema=kept.schema)
    with pytest.raises(NotLearned):
        kept - swapped


def test_too_many_rows_are_refused_before_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_CELLS", 3)
    with pytest.raises(SettingError, match="too many"):
        likely.summarize({"x": [1.5, 2.5, 3.5], "z": [1.5, 2.5, 3.5], "y": ["a", "b", "a"]}, "y", more=["rows"])


def test_a_summary_saves_merges_and_forgets_its_rows(tmp_path: Any) -> None:
    table = {"x": [1.5, 2.5, 3.5, 2.5], "c": ["u", "v", None, "v"], "y": ["a", "b", "a", "b"]}
    whole = likely.summarize(table, "y", more=["rows"])
    halves = [
        likely.summarize({n: v[k::2] for n, v in table.items()}, "y", more=["rows"], schema=whole.schema)
        for k in range(2)
    ]
    assert (halves[0] + halves[1]).more["rows"] == whole.more["rows"]
    assert (whole - halves[0]).more["rows"] == halves[1].more["rows"]
    whole.save(tmp_path / "s.likely")
    assert likely.load(tmp_path / "s.likely", likely.Summary).more["rows"] == whole.more["rows"]
