"""Boosting by blocks of rows is boosting in one loop, to the last bit, however rows are cut."""

import gc
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from likely.models.additive import boosting, pairing, shards
from likely.models.additive.boosting import Boosted
from likely.models.additive.coding import CodedRows, hash_codes
from likely.models.additive.exchange import RowSums, keep_first
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
    same_trees(one.trees, other.trees)


class Machine:
    """One of several that exchange sums; threads play the machines."""

    threads = 1

    def __init__(self, place, told, barrier):
        self.place, self.places, self._told, self._barrier = place, len(told), told, barrier

    def __call__(self, sums):
        self._told[self.place] = sums.copy()
        self._barrier.wait(60)
        total = sum(self._told)
        self._barrier.wait(60)
        return total


def in_step(places, work):
    """What `work(exchange)` gives on each machine."""
    told, barrier = [None] * places, threading.Barrier(places)

    def run(place):
        try:
            return work(Machine(place, told, barrier))
        except BaseException:
            barrier.abort()
            raise

    with ThreadPoolExecutor(places) as pool:
        return list(pool.map(run, range(places)))


def same_trees(one, other):
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        inside = a.attribute >= 0
        assert np.array_equal(a.attribute, b.attribute)
        assert np.array_equal(a.below, b.below)
        assert np.array_equal(a.mask[inside], b.mask[inside])
        assert np.array_equal(a.value, b.value)
        assert np.array_equal(a.cover, b.cover)


@pytest.mark.parametrize("cuts", [(), (0, 2900), (1, 1500, 1500)], ids=str)
@pytest.mark.parametrize(("classes", "weights"), [(2, "whole"), (3, "any")])
def test_machines_that_exchange_sums_grow_the_same_trees(cuts, classes, weights, monkeypatch):
    """However rows are dealt, and where a machine has none at all."""
    monkeypatch.setattr(boosting, "MOST_TRIED", 1000)
    monkeypatch.setattr(boosting, "MOST_ROWS", 700)
    monkeypatch.setattr(pairing, "MOST_ROWS", 700)
    rng = np.random.default_rng(5)
    sizes = [6, 9, 40, 3]
    rows, recipe = made_rows(rng, 4000, sizes, classes, weights), recipe_of(rng, sizes, classes, 4, 32)
    recipe = replace(recipe, rounds=30)
    monkeypatch.setenv("LIKELY_THREADS", "1")
    alone, facts = boosting.boost(recipe, rows)
    assert len(alone) == facts[0] > 10
    bounds = [0, *cuts, len(rows)]
    sums = RowSums(rows)

    def work(exchange):
        own = rows.take(slice(bounds[exchange.place], bounds[exchange.place + 1]))
        trees = boosting.boost_many(recipe, own, True, exchange)
        there = RowSums(own, exchange)
        return trees, there.by_code, there.first, keep_first(own, 1700, exchange)

    answers = in_step(len(bounds) - 1, work)
    for (trees, told), by_code, first, _ in answers:
        same_trees(alone, trees)
        assert told == facts
        assert np.array_equal(by_code, sums.by_code)
        for name in ("codes", "group", "weight", "hashes"):
            assert np.array_equal(getattr(first, name), getattr(sums.first, name))
    kept = np.concatenate([answer[3].hashes for answer in answers])
    assert np.array_equal(kept, replace(rows, most=1700).tallied().hashes)


def test_threads_keep_nothing_alive(monkeypatch):
    """Who has grown trees is gone when nobody asks for it any more, and so are its threads."""
    monkeypatch.setattr(shards, "LEAST_ROWS", 500)
    monkeypatch.setattr(shards, "FEW_ROWS", 0)
    monkeypatch.setenv("LIKELY_THREADS", "2")
    rng, before = np.random.default_rng(8), threading.active_count()
    rows = made_rows(rng, 3000, [6, 9, 40, 3], 2, "one")
    boosting = SharedBoosting(recipe_of(rng, [6, 9, 40, 3], 2, 4, 16), rows, None, units_of(rows.total, len(rows)))
    boosting.grow(3)
    assert threading.active_count() == before + 1
    told = weakref.ref(boosting)
    del boosting
    gc.collect()
    assert told() is None
    for _ in range(200):
        if threading.active_count() == before:
            break
        time.sleep(0.01)
    assert threading.active_count() == before
