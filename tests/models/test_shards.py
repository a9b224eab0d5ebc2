"""Boosting by blocks of rows is boosting in one loop, to the last bit, however rows are cut."""

import numpy as np
import pytest

from likely.models.additive import shards
from likely.models.additive.boosting import Boosted
from likely.models.additive.coding import CodedRows, hash_codes
from likely.models.additive.recipe import Recipe, units_of
from likely.models.additive.shards import SharedBoosting


def made_rows(rng, count, sizes, classes, weights):
    codes = np.stack([rng.integers(0, size, count) for size in sizes], axis=1).astype(np.uint8)
    # Two attributes speak together only.
    told = (codes[:, 0] % 2 ^ codes[:, 1] % 2) * 1.5 + codes[:, 2] / sizes[2] + rng.normal(size=count) / 2
    group = np.clip((told * classes / 3).astype(int), 0, classes - 1).astype(np.int32)
    hashes = np.empty(count, np.uint64)
    hash_codes(codes, hashes)
    weight = {"one": np.ones(count), "whole": rng.integers(1, 4, count) * 1.0, "any": rng.random(count) + 1e-3}[weights]
    return CodedRows(codes, group, weight, hashes, 10**9).tallied()


def recipe_of(rng, sizes, classes, order, leaves, rising=False, apart=False):
    count = len(sizes)
    barred = np.zeros((count, count) if apart else (0, 0), np.bool_)
    if apart:
        barred[0, 1] = barred[1, 0] = True
    direction = np.zeros(count, np.int64)
    direction[2] = int(rising)
    nominal = (rng.integers(0, 2, count) == 1) & (direction == 0)
    start = np.zeros(1 if classes == 2 else classes)
    return Recipe(np.array(sizes) + 1, nominal, direction, barred, start, order, leaves, 0.1, 1.0, 1.0, 100)


CASES = [
    # classes, order, leaves, weights, rising, apart, most codes
    (2, 9, 16, "one", False, False, 250),
    (2, 9, 16, "whole", True, False, 30),
    (2, 1, 4, "any", False, False, 250),
    (2, 2, 16, "whole", False, True, 12),
    (3, 3, 64, "any", False, False, 250),
    (5, 9, 256, "one", False, False, 20),
    (2, 9, 256, "any", False, False, 3),
]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_grow_the_trees_of_one_loop(case, threads, monkeypatch):
    classes, order, leaves, weights, rising, apart, codes = case
    monkeypatch.setattr(shards, "LEAST_ROWS", 500)
    monkeypatch.setenv("LIKELY_THREADS", str(threads))
    rng = np.random.default_rng([classes, order, leaves, codes])
    sizes = [*rng.integers(3, codes + 1, 4).tolist()]
    rows = made_rows(rng, 3000, sizes, classes, weights)
    recipe = recipe_of(rng, sizes, classes, min(order, 4), leaves, rising, apart)
    out = rows.hashes % np.uint64(5) == 0
    given = recipe, rows.take(~out), rows.take(out), units_of(rows.total, len(rows))
    one, other = Boosted(*given), SharedBoosting(*given)
    one.grow(30)
    other.grow(30)
    assert len(one.trees) > 3
    assert one.losses == other.losses
    assert len(one.trees) == len(other.trees)
    for a, b in zip(one.trees, other.trees, strict=True):
        inside = a.attribute >= 0
        assert np.array_equal(a.attribute, b.attribute)
        assert np.array_equal(a.below, b.below)
        assert np.array_equal(a.mask[inside], b.mask[inside])
        assert np.array_equal(a.value, b.value)
        assert np.array_equal(a.cover, b.cover)


def test_machines_that_exchange_sums_grow_the_same_trees():
    """Two thirds of the rows elsewhere: what is exchanged is all that one needs to know of them."""
    import threading

    rng = np.random.default_rng(5)
    rows = made_rows(rng, 4000, [6, 9, 40, 3], 3, "whole")
    recipe, units = recipe_of(rng, [6, 9, 40, 3], 3, 4, 32), units_of(rows.total, len(rows))
    whole = SharedBoosting(recipe, rows, None, units)
    whole.grow(12)
    here, barrier, told = rng.integers(0, 3, len(rows)), threading.Barrier(3), {}

    def work(machine):
        def exchange(sums):
            told[machine] = sums.copy()
            barrier.wait()
            total = sum(told.values())
            barrier.wait()
            return total

        own = SharedBoosting(recipe, rows.take(here == machine), None, units, rows, exchange)
        own.grow(12)
        found[machine] = own.trees

    found: dict[int, list] = {}
    threads = [threading.Thread(target=work, args=(m,)) for m in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for machine in range(3):
        for a, b in zip(whole.trees, found[machine], strict=True):
            assert np.array_equal(a.value, b.value)
            assert np.array_equal(a.attribute, b.attribute)
            assert np.array_equal(a.cover, b.cover)
