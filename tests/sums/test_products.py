"""Sums of products against rational arithmetic over the rows, with numbers and weights that break sums which round."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import likely
from likely.errors import LikelyError
from likely.sums.contracts import weights
from likely.sums.rows import products
from likely.sums.rows.products import ONE, Feature, Products, slices
from likely.table.batch import Batch, Codes
from likely.table.labels import Labels

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
