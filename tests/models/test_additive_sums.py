"""Sums of trees: how they are grown and how they are scored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from likely.machinery.jit import kernel
from likely.models.additive.growing import Rules, SplitRoom, search
from likely.models.additive.histograms import (
    BITS,
    BLOCK,
    CODES,
    LEAST_LOG,
    MASK,
    add_and_pull,
    bundle_codes,
    exp_below,
    fill,
    fill_bundled,
    gradient_unit,
    padded,
)
from likely.models.shapes import Axis, TreeSum
from likely.models.shapes.lines import TreeSets
from likely.table.batch import Batch
from likely.table.labels import Labels

RIDGE = 1.5


@kernel("f8[], f8[]")
def exp_each(values: Any, out: Any) -> None:
    for i in range(values.size):
        out[i] = exp_below(values[i])


@kernel("f8[][], i4[], f8[], f8[], u1[], f8[][], f8[], f8[][], i8[], i8[][]")
def pull_all(
    scores: Any, group: Any, weight: Any, dither: Any, leaf: Any, step: Any, unit: Any, room: Any, packed: Any, out: Any
) -> None:
    add_and_pull(scores, group, weight, dither, group.size, leaf, step, unit[0], room, packed, out)


@kernel("u1[][], i8[][], i4[], i8[], i4[], i8[], i8[][]")
def fill_plain(codes: Any, pull: Any, rows: Any, offset: Any, every: Any, base: Any, hist: Any) -> None:
    fill(codes, pull, rows, 0, rows.size, offset, every, every.size, 0, base, hist)


@kernel("u1[][], i4[], i4[], i4[], i4[], i8[][], i4[], i8[], i8[], i8[][]")
def fill_bundles(
    codes: Any, begin: Any, member: Any, radix: Any, every: Any, pull: Any, rows: Any, offset: Any, base: Any, hist: Any
) -> None:
    spare = offset[offset.size - 1]
    fill_bundled(codes, begin, member, radix, every, pull, rows, 0, rows.size, offset, 0, spare, base, hist)


@kernel("i8[][], i8, i8[], i8[], b1[], i8[], i4[], f8[], i4[], f8[], i8[], f8[], u1[], i8[], f8[]", returns=1)
def best_split(
    hist: Any, classes: int, whole: Any, offset: Any, nominal: Any, direction: Any, every: Any, settings: Any,
    order: Any, key: Any, upto: Any, gain: Any, mask: Any, left: Any, found: Any,
) -> int:  # fmt: skip
    rules = Rules(offset, nominal, direction, settings[0], settings[1], settings[2])
    room = SplitRoom(order, key, upto, gain)
    best, chosen = search(hist, 0, classes, whole, every, every.size, -1e300, 1e300, rules, room, mask, left)
    found[0] = best
    return chosen  # type: ignore[no-any-return]


def random_pull(rng: Any, rows: int, width: int) -> Any:
    return (rng.integers(-(2**20), 2**20, (rows, width)) << BITS) + rng.integers(0, 2**18, (rows, width))


def test_exp_is_right_to_ten_digits_and_zero_far_below() -> None:
    values = np.concatenate([np.linspace(LEAST_LOG, 0, 10_001), [LEAST_LOG - 1e-9, -700.0, -np.inf]])
    out = np.empty_like(values)
    exp_each(values, out)
    assert np.abs(out[:-3] / np.exp(values[:-3]) - 1).max() < 1e-10 and out[10_000] == 1.0
    assert out[-3:].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("scores", [1, 3, 26])
@pytest.mark.parametrize("weight", [1e-6, 1.0, 1e12])
def test_packed_sums_are_those_of_both_parts_even_where_all_rows_are_wrong(scores: int, weight: float) -> None:
    """The worst sums there can be: every row sure of a class that is not its own, or in doubt between two."""
    rows = 3000
    rng = np.random.default_rng(1)
    weights, group = rng.random(rows) * weight, np.zeros(rows, np.int32)
    unit = gradient_unit(float(weights.sum()), rows)
    for sure in (30.0, 0.0):
        score = np.zeros((scores, rows))
        score[-1] = sure  # of the other of two classes, or of the last
        pull = np.zeros((rows, padded(scores)), np.int64)
        pull_all(
            score, group, weights, rng.random(rows), np.zeros(rows, np.uint8), np.zeros((1, scores)), np.array([unit]),
            np.empty((2 + scores, BLOCK)), np.empty(BLOCK, np.int64), pull,
        )  # fmt: skip
        gradients, curvatures = pull >> BITS, pull & MASK
        total = pull.sum(axis=0)
        assert (total >> BITS).tolist() == gradients.sum(axis=0).tolist()
        assert (total & MASK).tolist() == curvatures.sum(axis=0).tolist()
        p = 1 / (1 + np.exp(-sure)) if scores == 1 else np.exp(sure) / (np.exp(sure) + scores - 1)
        assert gradients[:, scores - 1].sum() / unit == pytest.approx(p * weights.sum(), rel=1e-5)
        assert curvatures[:, scores - 1].sum() / unit == pytest.approx(
            p * (1 - p) * weights.sum(), rel=1e-5, abs=1e-5 * weights.sum()
        )


@pytest.mark.parametrize("width", [1, 4, 8])
@pytest.mark.parametrize("seed", range(5))
def test_bundled_histograms_are_the_plain_ones(width: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    radix = np.array([2, 3, 256, 1, 2, 5, 17, 2, 2, 3, 3, 40])
    codes = (rng.random((500, len(radix))) * radix).astype(np.uint8)
    pull = random_pull(rng, 500, width)
    rows = np.sort(rng.choice(500, 300, replace=False)).astype(np.int32)
    offset = np.concatenate([[0], np.cumsum(radix + 1)]).astype(np.int64)
    bundles = bundle_codes(codes, width)
    assert bundles.codes.shape[1] < len(radix)
    every = np.arange(len(radix), dtype=np.int32)
    plain, base = np.full((int(offset[-1]), width), 7, np.int64), np.zeros(len(radix), np.int64)
    fill_plain(codes, pull, rows, offset, every, base, plain)
    bundled = np.full((int(offset[-1]) + bundles.cells, width), 7, np.int64)
    fill_bundles(bundles.codes, bundles.start, bundles.member, bundles.radix, every, pull, rows, offset, base, bundled)
    expected = np.zeros_like(plain)
    for j in range(len(radix)):
        np.add.at(expected, offset[j] + codes[rows, j], pull[rows])
    assert np.array_equal(plain, expected) and np.array_equal(bundled[: len(plain)], expected)


def gain_of(pull: Any, left: Any) -> float:
    out = 0.0
    for side in (left, ~left):
        total = pull[side].sum(axis=0)
        out += float(((total >> BITS).astype(float) ** 2 / ((total & MASK) + RIDGE)).sum())
    return out


@pytest.mark.parametrize("classes", [1, 3])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_split_is_the_best_of_all(classes: int, seed: int) -> None:
    """Two ordered attributes with missing cells: every cut, with missing cells on either side, by brute force."""
    rng = np.random.default_rng(seed)
    sizes, rows = [6, 9], 80
    codes = np.stack([rng.integers(0, size, rows) for size in sizes], axis=1).astype(np.uint8)
    pull = random_pull(rng, rows, padded(classes))
    pull[:, classes:] = 0
    offset = np.array([0, 6, 15], np.int64)
    hist, every = np.zeros((15, padded(classes)), np.int64), np.arange(2, dtype=np.int32)
    fill_plain(codes, pull, np.arange(rows, dtype=np.int32), offset, every, np.zeros(2, np.int64), hist)
    mask, left, found = np.zeros(CODES, np.uint8), np.zeros(padded(classes), np.int64), np.zeros(1)
    chosen = best_split(
        hist, classes, pull.sum(axis=0), offset, np.zeros(2, np.bool_), np.zeros(2, np.int64), every,
        np.array([RIDGE, 0.0, 10.0]), np.zeros(2 * CODES, np.int32), np.zeros(CODES), np.zeros(CODES, np.int64),
        np.zeros(2 * CODES), mask, left, found,
    )  # fmt: skip
    before = gain_of(pull, np.ones(rows, np.bool_))
    best = max(
        gain_of(pull, (codes[:, j] <= cut) & (codes[:, j] < size - 1) | (side & (codes[:, j] == size - 1)))
        for j, size in enumerate(sizes)
        for cut in range(size - 1)
        for side in (False, True)
    )
    goes_left = mask[codes[:, chosen]] == 1
    assert found[0] == pytest.approx(best - before, rel=1e-9)
    assert gain_of(pull, goes_left) == pytest.approx(best, rel=1e-9)
    assert np.array_equal(left, pull[goes_left].sum(axis=0))


# Sums of trees scored in one call say what each says when it is scored alone, to the last bit.


CLASSES = 3


def tree_sum(draw: np.random.Generator, axes: tuple[Axis, ...], trees: int) -> TreeSum:
    """Trees of two levels over random axes; the children of a node follow one another."""
    parting, below, roots = list[int](), list[int](), list[int]()
    for _ in range(trees):
        start = len(parting)
        roots.append(start)
        parting += [*draw.integers(0, len(axes), 3).tolist(), -1, -1, -1, -1]
        below += [start + 1, start + 3, start + 5, 0, 0, 0, 0]
    nodes = len(parting)
    names = " & ".join(axis.name for axis in axes)
    left, values = draw.integers(0, 2, (nodes, 256)).astype(np.uint8), draw.normal(size=(nodes, CLASSES))
    kinds = (np.array(part, np.int32) for part in (roots, parting, below))
    return TreeSum(names, axes, *kinds, left, values)


@pytest.mark.parametrize("rows", [1, 7, 100])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_sets_say_together_what_each_says_alone(rows: int, count: int) -> None:
    draw = np.random.default_rng(10 * rows + count)
    axes = [Axis(f"x{k}", Labels(), np.linspace(-1, 1, 2 + k), missing=3 + k if k % 2 else -1) for k in range(5)]
    sets = []
    for k in range(count):
        chosen = draw.permutation(5)[: 2 + k % 3]  # in any order: places of axes differ from set to set
        sets.append(tree_sum(draw, tuple(axes[j] for j in chosen), 1 + 3 * k))
    cells = {axis.name: np.where(draw.random(rows) < 0.3, np.nan, draw.normal(size=rows)) for axis in axes}
    batch = Batch(rows, cells)
    joined = TreeSets.join(sets)
    apart, together = np.zeros((count, rows, CLASSES)), np.zeros((count, rows, CLASSES))
    for out, own in zip(apart, sets, strict=True):
        own.add(batch, out)
    joined.add(batch, {}, together)
    np.testing.assert_array_equal(together, apart)
    base = draw.normal(size=(rows, CLASSES))
    one, other = base.copy(), base.copy()
    for own in sets:
        own.add(batch, one)
    joined.add(batch, {}, other[None])
    np.testing.assert_array_equal(other, one)
