"""The summary: late classes and levels, the order of classes, what cannot be unlearned, and schemas that disagree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws.nasty import TABLE, of_summary

import likely
from likely import Schema, Summary
from likely.errors import NotLearned, SchemaMismatch
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.table.batch import Batch, Codes, pack_texts
from likely.table.labels import Labels, bin_labels
from likely.table.schema import Column
from likely.testing import bits, some_rows, swept


def ints(values: list[int]) -> np.ndarray:
    return np.array(values, np.int32)


def batch(classes: list[str | None], x: list[float], colour: list[str], weight: list[float] | None = None) -> Batch:
    """A batch as an encoder of its own would make it."""

    def codes(names: list[str | None]) -> Codes:
        labels = Labels()
        return Codes(ints([-1 if n is None else labels.code(n) for n in names]), labels)

    cells = {
        "x": np.array(x, float),
        "when": np.array(x, float),
        "colour": codes(colour),
        "note": pack_texts([""] * len(x)),
    }
    return Batch(len(x), cells, codes(classes), None if weight is None else np.array(weight, float))


def test_classes_and_levels_that_appear_late() -> None:
    summary = Summary(TABLE)
    summary.update(batch([], [], []))
    summary.update(batch([None, None], [1, 2], ["red", "red"]))
    assert (summary.classes, summary.rows, summary.left_out) == ((), 0, 2)
    summary.update(batch(["b"], [1], ["red"]))
    summary.update(batch(["a", "b", "c", None], [2, 3, 4, 5], ["blue", "green", "red", "never"]))
    own = summary.canonical()
    assert (own.classes, own.rows, own.left_out) == (("a", "b", "c"), 4, 3)
    assert own.total.floats().tolist() == [1, 2, 1]
    colour, x = own["colour"], own["x"]
    assert isinstance(colour, Counts) and isinstance(x, Numbers)
    assert colour.labels.names == ["blue", "green", "red"]
    assert colour.table.floats().tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 1]]
    assert [m[:2] for m in x.moments()] == [(1, 2), (2, 4), (1, 4)]


def schema_of(target: Column) -> Schema:
    return Schema((*TABLE.columns[:-1], target))


@pytest.mark.parametrize(
    ("target", "names", "ordered"),
    [
        (Column("class", "nominal", "target", "text"), ["b", "B", "a", "10", "9"], ["10", "9", "B", "a", "b"]),
        (Column("class", "nominal", "target", "number"), ["10", "9", "-1", "2.5"], ["-1", "2.5", "9", "10"]),
        (
            Column("class", "nominal", "target", "number", edges=(5.0, 40.0, 300.0)),
            list(reversed(bin_labels([5, 40, 300]))),
            bin_labels([5, 40, 300]),
        ),
    ],
    ids=["text", "numbers by size", "bins from low to high"],
)
def test_classes_come_in_schema_order(target: Column, names: list[str], ordered: list[str]) -> None:
    summaries = []
    for some in (names, names[::-1], sorted(names)):
        summary = Summary(schema_of(target))
        for name in some:
            summary.update(batch([name], [1], ["red"]))
        summaries.append(summary)
        assert list(summary.canonical().classes) == ordered
        assert list((Summary(summary.schema) + summary).classes) == ordered
    assert len({bits(s) for s in summaries}) == 1


def test_a_class_without_weight_is_no_class() -> None:
    one = Summary(TABLE)
    one.update(batch(["a", "b"], [1, 2], ["red", "blue"]))
    other = Summary(TABLE)
    other.update(batch(["b"], [2], ["blue"]))
    assert (one - other).classes == ("a",)
    nothing = one - one
    assert (nothing.classes, nothing.rows) == ((), 0)
    assert nothing + one == one
    assert bits(nothing) == bits(Summary(TABLE))


PLAYED = {"sky": ["sun", "rain", "sun"], "degrees": [20.5, 11.25, 30.75], "play": ["yes", "no", "yes"]}


def played(rows: dict[str, list], schema: Schema) -> Summary:
    return likely.summarize(rows, "play", schema=schema)


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        ({"sky": ["rain"], "degrees": [20.5], "play": ["yes"]}, "'sky'"),
        ({"sky": ["fog"], "degrees": [20.5], "play": ["yes"]}, "'sky'"),
        ({"sky": ["sun"], "degrees": [20.25], "play": ["yes"]}, "'degrees'"),
        ({"sky": ["sun"], "degrees": [None], "play": ["yes"]}, "'degrees'"),
        ({"sky": [None], "degrees": [20.5], "play": ["yes"]}, "'sky'"),
        ({"sky": ["sun"], "degrees": [20.5], "play": ["maybe"]}, "'maybe'"),
        ({"sky": ["rain"] * 2, "degrees": [11.25] * 2, "play": ["no"] * 2}, "'no'"),
        ({"sky": ["sun", "sun"], "degrees": [20.5, 1.0], "play": ["yes", None]}, "never learned"),
    ],
    ids=["level", "new level", "number", "missing number", "missing level", "class", "too often", "row without class"],
)
def test_rows_that_were_never_learned_cannot_be_unlearned(rows: dict[str, list], named: str) -> None:
    whole = likely.summarize(PLAYED, "play", types={"sky": "nominal", "degrees": "number"})
    kept = bits(whole)
    with pytest.raises(NotLearned, match="never learned") as caught:
        whole - played(rows, whole.schema)
    assert named in str(caught.value)
    assert bits(whole) == kept, "what could not be unlearned leaves the summary as it was"


@settings(max_examples=25)
@given(case=of_summary(), seed=st.integers(0, 2**32))
def test_unlearning_more_than_all_is_refused(case: object, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(case.rows)
    some = swept(case.make, [some_rows(case.batch, order[: case.rows // 2])])
    whole = swept(case.make, [case.batch])
    if whole.rows > some.rows or whole.left_out > some.left_out:
        with pytest.raises(NotLearned):
            some - whole


def test_schemas_that_disagree_name_the_column() -> None:
    one = likely.summarize(PLAYED, "play", types={"degrees": "number"})
    for other in (
        likely.summarize(PLAYED, "play", types={"degrees": "nominal"}),
        likely.summarize({**PLAYED, "wind": [1.5, 2.5, 3.5]}, "play", types={"degrees": "number"}),
    ):
        with pytest.raises(SchemaMismatch, match=r"'degrees'|'wind'"):
            one + other
        with pytest.raises(SchemaMismatch, match=r"'degrees'|'wind'"):
            one - other
    with pytest.raises(SchemaMismatch, match="missing"):
        one + likely.summarize(PLAYED, "play", types={"degrees": "number"}, missing=["-"])


def test_a_table_without_a_target() -> None:
    summary = likely.summarize({"x": [1.5, 2.5, None], "c": ["a", "b", "a"]})
    assert (summary.classes, summary.rows) == (("",), 3)
    assert summary + summary - summary == summary


def test_rows_are_counted_beside_the_sums() -> None:
    columns = {"x": [1.5, 2.5, 4.5], "class": ["a", "b", "a"], "weight": [2.0, 1.0, 0.0]}
    weighted = likely.summarize(columns, "class", weight="weight")
    twice = {"x": [1.5, 1.5, 2.5], "class": ["a", "a", "b"], "weight": [1.0, 1.0, 1.0]}
    repeated = likely.summarize(twice, "class", weight="weight", schema=weighted.schema)
    assert weighted == repeated
    assert (weighted.rows, weighted.left_out) == (2, 1)
    assert (repeated.rows, repeated.left_out) == (3, 0)


def test_equal_means_equal_beyond_the_first_order() -> None:
    # The same counts of each column, but other pairs of cells.
    one = {"a": ["u", "u", "v", "v"], "b": ["x", "x", "z", "z"], "y": ["p"] * 4}
    two = {**one, "b": ["x", "z", "x", "z"]}
    assert likely.summarize(one, "y") == likely.summarize(two, "y")
    for name in ("pairs", "cells", "rows", "products"):
        assert likely.summarize(one, "y", more=[name]) != likely.summarize(two, "y", more=[name])
        assert likely.summarize(one, "y", more=[name]) == likely.summarize(one, "y", more=[name])
        assert likely.summarize(one, "y", more=[name]) != likely.summarize(one, "y")
