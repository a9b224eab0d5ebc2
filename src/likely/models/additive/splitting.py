"""The best split of a leaf, by histograms of packed gradients. Compiled loops only.

Ties go to the first attribute, then the first cut. Knows codes, no attributes and no rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from likely.machinery.arrays import Bools, Bytes, Floats, Ints, Longs
from likely.machinery.jit import inner
from likely.models.additive.gradients import BITS, MASK
from likely.models.additive.histograms import CODES

FAINT = 1 / 64
"""A class whose curvature in a leaf is below this share of ridge has no say in how the leaf is parted."""


class Rules(NamedTuple):
    """What splits go by: codes of attributes, whether they have an order, and settings (in units of gradients)."""

    offset: Longs
    nominal: Bools
    direction: Longs
    ridge: float
    least: float
    level_ridge: float


class SplitRoom(NamedTuple):
    """Arrays that a search for splits works in."""

    order: Ints
    """Codes, twice."""
    key: Floats
    upto: Longs
    """Sums up to each code, class after class."""
    gain: Floats
    """For each code: what is gained, curvature on its left."""


@inner
def gradient_of(packed: int) -> float:
    return float(packed >> BITS)


@inner
def curvature_of(packed: int) -> float:
    return float(packed & MASK)


@inner
def _sort(order: Ints, count: int, key: Floats) -> None:
    """Sort codes by their keys, equal ones as they stand: merge sort."""
    step = 1
    while step < count:
        for start in range(0, count, 2 * step):
            a, middle, stop = start, min(start + step, count), min(start + 2 * step, count)
            b = middle
            for to in range(start, stop):
                if a < middle and (b >= stop or key[order[a]] <= key[order[b]]):
                    order[CODES + to] = order[a]
                    a += 1
                else:
                    order[CODES + to] = order[b]
                    b += 1
        for at in range(count):
            order[at] = order[CODES + at]
        step *= 2


@inner
def _arrange(hist: Longs, first: int, size: int, nominal: bool, heavy: int, ridge: float, room: SplitRoom) -> int:
    """The codes that rows of a leaf have, but the last, of missing cells, in the order in which they are parted.

    Levels in the order of what they say of the class with most curvature: prefixes are then the best parts.
    """
    there = 0
    for b in range(size - 1):
        for k in range(hist.shape[1]):
            if hist[first + b, k] != 0:
                room.order[there] = b
                there += 1
                break
    if nominal:
        for at in range(there):
            packed = hist[first + room.order[at], heavy]
            room.key[room.order[at]] = gradient_of(packed) / (curvature_of(packed) + ridge)
        _sort(room.order, there, room.key)
    return there


@inner
def _measure_cuts(
    hist: Longs, first: int, missing: int, many: int, classes: int, whole: Longs, rules: Rules, room: SplitRoom
) -> None:
    """For each of the first codes in their order: what is gained by parting behind it, and the curvature before it.

    gain = sum over classes of G * G / (H + ridge) on both sides. Where `missing` is 1, missing cells go left.
    """
    ridge = rules.ridge
    gain, curve, upto = room.gain[:CODES], room.gain[CODES:], room.upto
    for at in range(many):
        gain[at], curve[at] = 0.0, 0.0
    for k in range(classes):
        if curvature_of(whole[k]) < FAINT * ridge:
            continue
        total = hist[missing, k] if missing >= 0 else np.int64(0)
        place, column = np.uint64(first), np.uint64(k)  # unsigned: a place that may be below zero is looked at twice
        for at in range(many):
            total += hist[place + np.uint64(room.order[at]), column]
            upto[at] = total
        g, h = gradient_of(whole[k]), curvature_of(whole[k]) + ridge
        for at in range(many):
            gl, hl = gradient_of(upto[at]), curvature_of(upto[at])
            gr, hr = g - gl, h - hl
            curve[at] += hl
            hl += ridge
            gain[at] += (gl * gl * hr + gr * gr * hl) / (hl * hr)


@inner
def keeps_direction(left: int, whole: int, low: float, high: float, direction: int, ridge: float) -> bool:
    """Whether the answer rises (or falls) from left to right, within the bounds from above; for one score."""
    right = whole - left
    a = min(max(-gradient_of(left) / (curvature_of(left) + ridge), low), high)
    b = min(max(-gradient_of(right) / (curvature_of(right) + ridge), low), high)
    return a <= b if direction > 0 else a >= b  # type: ignore[no-any-return]


@inner
def search(
    hist: Longs, place: int, classes: int, whole: Longs, allowed: Ints, count: int, low: float, high: float,
    rules: Rules, room: SplitRoom, mask: Bytes, best_left: Longs,
) -> tuple[float, int]:  # fmt: skip
    """The best split of a leaf: its gain (0 where there is none) and attribute; `mask` has 1 for codes on the left,
    `best_left` their sums."""
    before, curve = 0.0, 0.0
    heavy, most = 0, -1.0
    for k in range(classes):
        g, h = gradient_of(whole[k]), curvature_of(whole[k])
        if h > most:
            most, heavy = h, k
        if h >= FAINT * rules.ridge:
            before += g * g / (h + rules.ridge)
            curve += h
    best, chosen, best_place, best_missing = 0.0, -1, 0, False
    for a in range(count):
        j = allowed[a]
        first, size = place + rules.offset[j], rules.offset[j + 1] - rules.offset[j]
        there = _arrange(hist, first, size, rules.nominal[j], heavy, rules.level_ridge, room)
        last = first + size - 1
        gone = False
        for k in range(classes):
            gone = gone or hist[last, k] != 0
        for side in range(2 if gone else 1):
            many = there - (0 if gone and side == 0 else 1)
            _measure_cuts(hist, first, last if side else -1, many, classes, whole, rules, room)
            for at in range(many):
                found, on_left = room.gain[at] - before, room.gain[CODES + at]
                if found > best and on_left >= rules.least and curve - on_left >= rules.least:
                    if rules.direction[j] != 0 and not keeps_direction(
                        room.upto[at], whole[0], low, high, rules.direction[j], rules.ridge
                    ):
                        continue
                    best, chosen, best_place, best_missing = found, j, at, side == 1
    if chosen < 0:
        return 0.0, -1
    first, size = place + rules.offset[chosen], rules.offset[chosen + 1] - rules.offset[chosen]
    there = _arrange(hist, first, size, rules.nominal[chosen], heavy, rules.level_ridge, room)
    for b in range(CODES):
        mask[b] = 0
    if rules.nominal[chosen]:
        for at in range(best_place + 1):
            mask[room.order[at]] = 1
    else:
        # Codes that no row of the leaf has go with those below them.
        for b in range(room.order[best_place + 1] if best_place + 1 < there else size - 1):
            mask[b] = 1
    mask[size - 1] = 1 if best_missing else 0
    sum_left(hist, first, size, classes, mask, best_left)
    return best, chosen


@inner
def sum_left(hist: Longs, first: int, size: int, classes: int, mask: Bytes, out: Longs) -> None:
    """The sums of the codes that go left."""
    for k in range(classes):
        out[k] = 0
    for b in range(size):
        if mask[b]:
            for k in range(classes):
                out[k] += hist[first + b, k]
