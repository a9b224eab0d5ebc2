"""What is summed over pairs and products of cells, and over whole rows: against sums in Python."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely
from likely.errors import LikelyError, NotLearned, SchemaMismatch, SettingError
from likely.sums.contracts import weights
from likely.sums.exact import Exact
from likely.sums.rows import products
from likely.sums.rows import rows as room
from likely.sums.rows.pairs import BINS, Cells, Pairs
from likely.sums.rows.products import ONE, Feature, Products, slices
from likely.sums.rows.rows import Rows
from likely.sums.tallies import balanced_edges
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


# Counts of pairs and of whole rows of levels: what they count, in which order, and what they refuse.


LEVELS = st.sampled_from(["u", "v", "w", None])
ROWS = st.lists(
    st.tuples(LEVELS, st.sampled_from([1.0, 2.5, -3.0, 0.0, float("inf"), None]), LEVELS, st.sampled_from("no")),
    min_size=1,
    max_size=30,
)
TYPES = {"a": "nominal", "x": "number", "b": "nominal", "t": "nominal"}


def columns(rows: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {name: [row[k] for row in rows] for k, name in enumerate("axbt")}


@given(ROWS, st.booleans())
def test_every_pair_is_counted_once(rows: list[tuple[Any, ...]], weighted: bool) -> None:
    weight = [Fraction(k % 4, 8) if weighted else Fraction(1) for k in range(1, len(rows) + 1)]
    data: dict[str, Any] = columns(rows)
    if weighted:
        data["w"] = [float(w) for w in weight]
    if not any(weight):
        return
    summary = likely.summarize(data, "t", types=TYPES, weight="w" if weighted else None, more=["pairs"])
    pairs: Pairs = summary.more["pairs"]
    assert pairs.names == ["a", "x", "b"]
    assert pairs.cells == sorted(pairs.cells, key=lambda c: ("axb".index(c[0]), int(c[1]) if c[0] == "x" else 0, c[1]))

    def cells_of(row: tuple[Any, ...]) -> list[tuple[str, str] | None]:
        x = row[1]
        number = None if x is None or x == float("inf") else ("x", str(sum(e <= x for e in pairs.edges["x"])))
        return [row[0] and ("a", row[0]), number, row[2] and ("b", row[2])]

    table = np.array(pairs.table.fractions(), object).reshape(pairs.table.shape)
    for i, one in enumerate(pairs.cells):
        for j, two in enumerate(pairs.cells):
            for k, name in enumerate(summary.classes):
                counted = sum(
                    (
                        w
                        for row, w in zip(rows, weight, strict=True)
                        if row[3] == name and one in cells_of(row) and two in cells_of(row)
                    ),
                    Fraction(0),
                )
                assert table[i, j, k] == (counted if i <= j else 0)


@given(ROWS, ROWS)
def test_parts_add_up_whatever_levels_they_have(one: list[tuple[Any, ...]], two: list[tuple[Any, ...]]) -> None:
    # One part may have no level of an attribute at all: the order of attributes stays that of the schema.
    one, two = ([(*r[:1], None, *r[2:]) for r in part] for part in (one, two))
    both = likely.summarize(columns(one + two), "t", types=TYPES, more=["pairs"])
    a, b = (likely.summarize(columns(part), schema=both.schema, more=["pairs"]) for part in (one, two))
    assert (a + b).more["pairs"] == (b + a).more["pairs"] == both.more["pairs"]
    assert (both - b).more["pairs"] == a.canonical().more["pairs"]


def test_other_bins_are_refused_with_a_sentence() -> None:
    a, b = (
        likely.summarize({"x": [1.0, 2.0, high], "t": ["n", "y", "n"]}, "t", types={"x": "number"}, more=["pairs"])
        for high in (3.0, 4.0)
    )
    with pytest.raises(SchemaMismatch, match="'x' at other places"):
        _ = a + b
    assert (a + a).more["pairs"].table.floats().sum() == 6


def test_what_was_never_learned_cannot_be_unlearned() -> None:
    a = likely.summarize({"a": ["u", "v"], "b": ["u", "v"], "t": ["n", "n"]}, "t", more=["pairs", "cells"])
    b = likely.summarize({"a": ["u", "v"], "b": ["v", "u"], "t": ["n", "n"]}, "t", more=["pairs", "cells"])
    with pytest.raises(NotLearned, match="combination"):
        _ = a - b


def test_too_many_levels_are_refused_with_a_sentence() -> None:
    names = [str(k) for k in range(3100)]
    with pytest.raises(SettingError, match="3,102 levels would be too many"):
        likely.summarize(
            {"a": names * 2, "b": ["x", "y"] * 3100, "t": ["n", "y"] * 3100},
            "t",
            types={"a": "nominal"},
            more=["pairs"],
        )
    with pytest.raises(SettingError, match="in 100 classes would be too many"):
        likely.summarize(
            {"a": names[:600] * 10, "t": [str(k % 100) for k in range(6000)]},
            "t",
            types={"a": "nominal", "t": "nominal"},
            more=["pairs"],
        )


def test_a_heavy_value_leaves_bins_for_the_others() -> None:
    values = np.arange(1000.0)
    weight = np.where(values == 500, 1e6, 1.0)
    edges = balanced_edges(values, weight, BINS)
    assert len(edges) < BINS and {500.0, 501.0} <= set(edges.tolist())
    held = np.bincount(np.searchsorted(edges, values, side="right"), weight)
    assert held.max() == 1e6 and np.sort(held)[-2] <= 46


@given(
    st.lists(st.sampled_from([1.0, 2.0, 100.0, 1e-9, 1e300, 5e-324, float("inf")]), min_size=1, max_size=60),
    st.integers(1, 24),
)
def test_edges_are_values_in_order(weight: list[float], bins: int) -> None:
    values = np.sort(np.random.default_rng(0).standard_normal(len(weight)))
    edges = balanced_edges(values, np.array(weight), bins)
    assert len(edges) <= bins - 1 or len(values) <= bins
    assert (np.diff(edges) > 0).all() and set(edges) <= set(values[1:])


def test_an_unseen_level_in_a_joint_table_is_missing() -> None:
    # Codes -1 and -2 are one key; were they two of one name, the counts of the first would be lost.
    cells = Cells(["a"], 1)
    group = np.zeros(4, np.int32)
    cells.update(Batch(4, {"a": Codes(np.array([-1, -2, 0, -2], np.int32), Labels(["u"]))}), group)
    assert dict(zip(map(tuple, cells.rows()), cells.counts.canonical().table.floats()[:, 0], strict=True)) == {
        (None,): 3.0,
        ("u",): 1.0,
    }


def test_a_joint_table_without_columns_counts_rows() -> None:
    cells = Cells([], 2)
    cells.update(Batch(3, {}), np.array([0, 1, 1], np.int32))
    assert cells.rows() == [[]] and cells.counts.canonical().table.floats().tolist() == [[1.0, 2.0]]


def test_floats_of_a_sparse_table_are_those_of_its_fractions() -> None:
    table = Exact.zeros(2, 3)
    table.cover(-1, 2, 3)
    for (i, j), value in zip(product(range(2), range(3)), [0, 3, 0, -5, 0, 7], strict=True):
        table.planes[0, i, j] = value
    assert table.floats().tolist() == [[0.0, 3 / 2**32, 0.0], [-5 / 2**32, 0.0, 7 / 2**32]]


# Sums of products against rational arithmetic over the rows, with numbers and weights that break sums which round.


NASTY = [1e300, -1e300, 5e-324, -2.2e-308, 1e9 + 1e-7, 1e9, 0.1, -1 / 3, 0.0, -0.0, 7.0, float("nan"), float("inf")]
LARGEST = 1.7976931348623157e308
FEATURES: list[Feature] = [
    ONE,
    ("value", "x", ""),
    ("there", "x", ""),
    ("value", "y", ""),
    ("there", "y", ""),
    ("level", "c", "red"),
]


def rows(seed: int, count: int, values: Any = NASTY) -> tuple[Batch, Any]:
    rng = np.random.default_rng(seed)
    colours = Labels(["blue", "red", "never"])
    cells: dict[str, Any] = {
        "x": rng.choice(values, count),
        "y": rng.choice([*values, LARGEST], count),
        "c": Codes(rng.integers(-2, 2, count).astype(np.int32), colours),
    }
    return Batch(count, cells), rng.integers(-1, 2, count).astype(np.int32)


def value(feature: Feature, batch: Batch, row: int) -> Fraction:
    kind, column, level = feature
    if kind == "one":
        return Fraction(1)
    cells = batch.cells[column]
    if isinstance(cells, Codes):
        code = cells.codes[row]
        return Fraction(int(code >= 0 and cells.labels.names[code] == level))
    x = float(cells[row])
    return Fraction(0) if not np.isfinite(x) else Fraction(x) if kind == "value" else Fraction(1)


def by_hand(features: list[Feature], batch: Batch, group: Any, weight: Any = None) -> list[Fraction]:
    out = [[[Fraction(0)] * 2 for _ in features] for _ in features]
    for r in range(batch.rows):
        if group[r] < 0:
            continue
        w = Fraction(1) if weight is None else Fraction(float(weight[r]))
        f = [value(feature, batch, r) for feature in features]
        for i, a in enumerate(f):
            for j, b in enumerate(f):
                out[i][j][group[r]] += w * a * b
    return [x for table in out for row in table for x in row]


def swept(batch: Batch, group: Any, weight: Any = None) -> Products:
    out = Products(FEATURES, 2)
    out.update(batch, group, weights(weight))
    return out


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_those_of_rational_arithmetic(seed: int, weighted: bool) -> None:
    batch, group = rows(seed, 60)
    weight = np.random.default_rng(seed).choice([0.1, 3.0, 0.0, 1e300, 5e-324, 1.0], 60) if weighted else None
    found = swept(batch, group, weight).canonical()
    assert {f[2] for f in found.features if f[0] == "level"} == {"blue", "red"}  # blue came late; never never came
    assert found.table.fractions() == by_hand(found.features, batch, group, weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("few", [False, True])
def test_many_blocks_of_numbers_with_every_bit_set(weighted: bool, few: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    # More rows than are held before they are written; every bit set makes every slice as large as can be.
    monkeypatch.setattr(products, "_alone", lambda *_: -1.0 if few else 1e300)
    count = (products.HELD + 1) * products.BLOCK + 3
    full = float(2**53 - 1)
    batch = Batch(count, {"x": np.full(count, full), "y": np.full(count, -full / 2**70)})
    found = Products([f for f in FEATURES if f[0] != "level"], 1)
    heavy = np.full(count, full * 2.0**-30)
    found.update(batch, np.zeros(count, np.int32), weights(heavy if weighted else None))
    total = count * (Fraction(heavy[0]) if weighted else 1)
    x, y = Fraction(full), Fraction(-full / 2**70)
    row = [Fraction(1), x, Fraction(1), y, Fraction(1)]
    assert found.table.fractions() == [total * a * b for a in row for b in row]


@pytest.mark.parametrize("weighted", [False, True])
def test_both_ways_give_the_same_bits(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    batch, group = rows(3, 300, [*NASTY, 0.7, 12.5, -3.1])
    weight = np.random.default_rng(1).choice([0.1, 3.0, 1 / 3, 2.0**40 + 1], 300) if weighted else None
    found = []
    for few in (True, False):
        monkeypatch.setattr(products, "_alone", lambda *_, few=few: -1.0 if few else 1e300)
        found.append(swept(batch, group, weight).canonical())
    assert found[0] == found[1]


def test_slices_add_up_to_the_number() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 3)) * 10.0 ** rng.uniform(-320, 300, (200, 3))
    x[:3] = [[5e-324, -LARGEST, 0.0], [2.2e-308, 1.0, -0.0], [1e9 + 1e-7, -1e-300, LARGEST]]
    for width in (14, 21):
        sums = [[Fraction(0)] * 3 for _ in x]
        for k, part, columns in slices(x, width):
            assert np.abs(part).max() < 2**width and (part == np.trunc(part)).all()
            for i, j in zip(*np.nonzero(part), strict=True):
                sums[i][columns[j]] += Fraction(part[i, j]) * Fraction(2) ** (width * k)
        assert sums == [[Fraction(v) for v in row] for row in x.tolist()]


def test_merging_and_unlearning() -> None:
    (one, g1), (two, g2) = rows(1, 40), rows(2, 50)
    two.cells["c"] = Codes(two.cells["c"].codes, Labels(["green", "red", "never"]))  # type: ignore[union-attr]
    a, b = swept(one, g1), swept(two, g2)
    both = Products(FEATURES, 2)
    both.update(one, g1)
    both.update(two, g2)
    assert a + b == both == b + a
    assert both - b == a and both - a == b
    assert not (both - b).impossible
    assert (a - b).impossible
    assert (a - b) + b == a
    assert Products.from_state(both.state()) == both


def test_what_was_never_learned_is_found_out() -> None:
    labels = Labels(["u", "v"])
    learned = Batch(2, {"c": Codes(np.array([0, 1], np.int32), labels), "d": Codes(np.array([0, 1], np.int32), labels)})
    other = Batch(2, {"c": Codes(np.array([0, 1], np.int32), labels), "d": Codes(np.array([1, 0], np.int32), labels)})
    a, b = Products([ONE], 1), Products([ONE], 1)
    a.update(learned, np.zeros(2, np.int32))
    b.update(other, np.zeros(2, np.int32))
    assert (a - b).impossible  # each column alone looks right; the pairs of levels do not


def test_through_the_front_door_over_threads_and_shards() -> None:
    rng = np.random.default_rng(4)
    table = {"x": rng.normal(1e9, 1e-3, 500), "c": rng.choice(["a", "b"], 500), "t": rng.choice(["no", "yes"], 500)}
    types = {"x": "number"}
    whole = likely.summarize(table, "t", types=types, more=("products",))
    alone = likely.summarize(table, "t", types=types, more=("products",), threads=1)
    assert whole.more["products"] == alone.more["products"]
    parts = [
        likely.summarize({k: v[i::3] for k, v in table.items()}, schema=whole.schema, more=("products",))
        for i in range(3)
    ]
    assert (parts[0] + parts[1] + parts[2]).more["products"].state().keys() == {"features", "table"}
    assert (parts[2] + (parts[0] + parts[1])).more["products"] == whole.more["products"]
    assert (whole - parts[1]).more["products"] == (parts[0] + parts[2]).more["products"]


def test_too_many_products_are_refused() -> None:
    rng = np.random.default_rng(5)
    table = {"c": [f"level {k % 1600}" for k in range(3200)], "t": rng.choice(["no", "yes"], 3200)}
    with pytest.raises(LikelyError, match="would be too large"):
        likely.summarize(table, "t", types={"c": "nominal"}, more=("products",))


@pytest.mark.parametrize("size", [1, products.TILE - 1, products.TILE, 2 * products.TILE + 5])
def test_a_symmetric_product_is_the_whole_one(size: int) -> None:
    rng = np.random.default_rng(size)
    left, share = rng.normal(size=(300, size)), rng.random((300, 1))
    half = products.tiled(left.T, left * share, symmetric=True)
    np.testing.assert_allclose(half, left.T @ (left * share), rtol=1e-12, atol=1e-12)
    upper = np.triu_indices(size)
    np.testing.assert_array_equal(half[upper], products.tiled(left.T, left * share)[upper])
