"""The summary and what may be asked of it beyond the first order."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws.nasty import TABLE, of_summary

import likely
from likely import Schema, Summary
from likely.errors import LikelyError, NotLearned, SchemaMismatch
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.contracts import parse_request, request, weights
from likely.sums.rows.pairs import distinct_rows
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


# Requests: a statistic of some columns is summed, added, subtracted and saved as one of all columns is.


NAMES = st.text(max_size=5)


@given(st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_a_request_says_its_columns(names: list[str]) -> None:
    assert parse_request(request("cells", names), ["cells"]) == ("cells", tuple(names))
    assert parse_request(request("cells"), ["cells"]) == ("cells", None)


@pytest.mark.parametrize("wish", ["cells[", "cells[]", 'cells["a","a"]', "cells[1]", "cells{}", "cell", "", "[]"])
def test_what_is_no_request(wish: str) -> None:
    with pytest.raises(LikelyError):
        likely.summarize(data(), "t", more=[wish])


def test_columns_that_are_not_there() -> None:
    with pytest.raises(LikelyError, match="no column 'bb'"):
        likely.summarize(data(), "t", more=['cells["a","bb"]'])
    with pytest.raises(LikelyError, match="'t' is target"):
        likely.summarize(data(), "t", more=['cells["a","t"]'])


def data(rows: int = 40, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    out: dict[str, Any] = {n: [f"{n}{v}" for v in rng.integers(0, 3, rows)] for n in ("a", 'b"],', "b")}
    out |= {n: rng.standard_normal(rows).tolist() for n in "xyz"}
    out["t"] = ["pq"[v] for v in rng.integers(0, 2, rows)]
    return out


WISHES = [request("cells", ["a", 'b"],']), request("products", ["x", "z"]), request("pairs", ["a", "b"]), "cells"]


@pytest.mark.parametrize("wish", [*WISHES, request("rows", ["a", "x"])])
def test_sums_of_some_columns_are_the_sums_of_a_table_of_those(wish: str) -> None:
    """Levels and numbers of other columns leave no trace, even those that come after the sums were begun."""
    found = likely.summarize(data(), "t", more=[wish]).more[wish]
    name, columns = parse_request(wish, ["cells", "products", "pairs", "rows"])
    kept = [*(columns or data()), "t"]
    alone = likely.summarize({n: v for n, v in data().items() if n in kept}, "t", more=[name])
    assert found == alone.more[name]


def test_merged_unlearned_and_saved(tmp_path: Path) -> None:
    whole = likely.summarize(data(), "t", more=WISHES)
    parts = [
        likely.summarize({n: v[k::2] for n, v in data().items()}, schema=whole.schema, more=whole.more) for k in (0, 1)
    ]
    assert parts[0] + parts[1] == whole and whole - parts[1] == parts[0]
    whole.save(tmp_path / "s.likely")
    back = likely.load(tmp_path / "s.likely", likely.Summary)
    assert back == whole and {*back.more} == {*WISHES}
    with pytest.raises(LikelyError, match=re.escape("keeps products of 'x' & 'z' of its rows")):
        whole + whole.without([WISHES[1]])


@cache
def levels(number: int) -> Labels:
    return Labels(f"l{k}" for k in range(number))


@given(
    st.sampled_from([[], [2, 1], [3, 0, 4], [600, 600], [90_000, 90_000, 3], [90_000] * 4]),
    st.integers(0, 40),
    st.integers(0, 9),
)
def test_different_rows_of_codes(sizes: list[int], rows: int, seed: int) -> None:
    """Looked up, sorted as numbers or sorted as rows: the same cells."""
    rng = np.random.default_rng(seed)
    # Few of the levels, the last among them, so that rows repeat; unseen and missing cells are one.
    codes = [rng.choice([-2, -1, *({0, n - 1} if n else ())], rows).astype(np.int32) for n in sizes]
    found, places = distinct_rows([Codes(c, levels(n)) for c, n in zip(codes, sizes, strict=True)], rows)
    wanted = [tuple(max(int(c[k]), -1) + 1 for c in codes) for k in range(rows)]
    assert [tuple(found[p].tolist()) for p in places] == wanted
    assert len(found) == len({*wanted}) == len({*map(tuple, found.tolist())})


# Counts against collections.Counter, with labels that grow, are shared, or come in another order.


ROW = st.tuples(
    st.sampled_from(["a", "b", "c", "ä", "", None]),
    st.integers(-1, 2),
    st.sampled_from([1.0, 2.0, 0.0, 0.1, 5e-324, 1e300]),
)


def group(values: list[int]) -> np.ndarray:
    return np.array(values, np.int32)


@settings(max_examples=150)
@given(st.lists(st.lists(ROW, max_size=15), max_size=5), st.booleans(), st.booleans())
def test_counts_are_counters(batches: list[list[tuple]], weighted: bool, shared: bool) -> None:
    counts, expected = Counts(3), Counter()
    labels = Labels()
    for rows in batches:
        labels = labels if shared else Labels(["a level without rows"])
        codes = group([-1 if name is None else labels.code(name) for name, _, _ in rows])
        weight = weights(np.array([w for _, _, w in rows])) if weighted else weights(None)
        counts.update(Codes(codes, labels), group([g for _, g, _ in rows]), weight)
        for name, g, w in rows:
            if g >= 0:
                expected[name, g] += Fraction(w) if weighted else 1
    own = counts.canonical()
    found = dict(zip(own.labels.names, np.array(own.table.fractions()).reshape(-1, 3), strict=True))
    for g in range(3):
        assert own.other.fractions()[g] == expected[None, g]
        assert {n: v[g] for n, v in found.items() if v[g]} == {
            n: v for (n, k), v in expected.items() if k == g and n is not None and v
        }
    assert own.labels.names == sorted({n for (n, _), v in expected.items() if n is not None and v})


def test_labels_that_grow_behind_its_back_are_levels_without_rows() -> None:
    # An encoder shares its labels with all the counts it feeds: one may meet levels that another never sees.
    labels = Labels(["a"])
    one, two = Counts(1), Counts(1)
    for counts in (one, two):
        counts.update(Codes(group([0]), labels), group([0]))
    two.update(Codes(group([labels.code("b"), labels.code("c")]), labels), group([0, 0]))
    assert one.canonical().labels.names == ["a"]
    assert (one + two).labels.names == (two + one).labels.names == ["a", "b", "c"]
    assert (one + two) - two == one
    assert one.state()["labels"] == ["a"]


def test_more_levels_than_expected() -> None:
    counts, labels = Counts(1), Labels()
    for start in range(0, 5000, 1000):
        codes = group([labels.code(str(k)) for k in range(start, start + 1000)])
        counts.update(Codes(codes, labels), np.zeros(1000, np.int32))
    assert len(counts.canonical().labels) == 5000
    assert counts.canonical().table.floats().sum() == 5000


def test_an_unseen_level_counts_as_missing_and_harms_nothing() -> None:
    counts = Counts(1)
    counts.update(Codes(group([-2, -1, 0]), Labels(["a"])), np.zeros(3, np.int32))
    assert counts.other.fractions() == [2]


def test_what_was_never_there_is_noticed() -> None:
    one, two = Counts(1), Counts(1)
    one.update(Codes(group([0]), Labels(["a"])), group([0]))
    two.update(Codes(group([0]), Labels(["b"])), group([0]))
    assert (one - two).impossible
    assert not (one + two - two).impossible
    missing = Counts(1)
    missing.update(Codes(group([-1]), Labels([])), group([0]))
    assert (one - missing).impossible
