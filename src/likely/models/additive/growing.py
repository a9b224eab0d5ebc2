"""One tree of a boosted sum: best splits by histograms of gradients, best-first growth. Compiled loops only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from likely.machinery.arrays import Bools, Bytes, Floats, Ints, Longs
from likely.machinery.jit import inner
from likely.models.additive.histograms import BITS, CODES, MASK, fill, fill_bundled
from likely.models.additive.recipe import STRICT

# The best split of a leaf, by histograms of packed gradients. Compiled loops only.

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


# One tree of a boosted sum: best-first growth by histograms of gradients. Compiled loops only.

FREE, USED, BARRED = 0, 1, 2
"""Of an attribute while a tree grows: it may take part, takes part, must not take part beside those that do."""
UNSEARCHED = -2
"""In the place of the attribute by which a leaf is parted best: not yet known."""


class LeafCells(NamedTuple):
    """The rows that are learned from, as codes: one by one and bundled (histograms.py)."""

    codes: Bytes
    bundled: Bytes
    begin: Ints
    member: Ints
    radix: Ints
    every: Ints
    """0, 1, 2 …"""
    many: int
    """From so many rows on, bundles are quicker."""


class GrownTree(NamedTuple):
    """A tree that is being written: node n is a leaf where attribute[n] is -1; else codes with mask 1 go to below[n],
    others to the next. Of leaf m: its node, its step."""

    attribute: Ints
    below: Ints
    mask: Bytes
    leaf_of: Ints
    step: Floats


class GrowRoom(NamedTuple):
    """Arrays that growing works in. sums[leaf] are the sums of a leaf, sums[leaves + leaf] those of the left part of
    its best split, spans[leaf] its rows, turn[leaf] the wave from which on it may be parted."""

    hist: Longs
    base: Longs
    sums: Longs
    rows: Ints
    spare: Ints
    allowed: Ints
    state: Ints
    gains: Floats
    chosen: Ints
    bounds: Floats
    masks: Bytes
    spans: Longs
    turn: Longs


@inner
def _take(j: int, apart: Bools, state: Ints) -> None:
    """An attribute takes part from now on, and those that must not be combined with it no longer can."""
    state[j] = USED
    for other in range(apart.shape[0]):
        if apart[j, other] and state[other] == FREE:
            state[other] = BARRED


@inner
def _list_allowed(state: Ints, open_: bool, allowed: Ints) -> int:
    """The attributes by which leaves may be parted: those that take part, and while more may, those that are free."""
    count = 0
    for j in range(state.size):
        if state[j] == USED or (open_ and state[j] == FREE):
            allowed[count] = j
            count += 1
    return count


@inner
def part_rows(column: Bytes, mask: Bytes, rows: Ints, start: int, stop: int, spare: Ints) -> int:
    """Put rows that go left, by the codes of one attribute, in front of the others, both in order; where the others
    begin."""
    to, behind = np.uint64(start), np.uint64(0)
    for i in range(np.uint64(start), np.uint64(stop)):
        r = rows[i]
        left = np.uint64(mask[np.uint64(column[np.uint64(r)])])
        # Both are written, and one of them kept: a branch would be guessed wrong for every other row.
        rows[to] = r
        spare[behind] = r
        to += left
        behind += np.uint64(1) - left
    for i in range(behind):
        rows[to + i] = spare[i]
    return np.int64(to)  # type: ignore[return-value]


@inner
def tighten(leaf: int, fresh: int, direction: int, ridge: float, sums: Longs, bounds: Floats) -> None:
    """Bounds of two new leaves, so that whatever lies below them keeps the direction."""
    low, high = bounds[leaf, 0], bounds[leaf, 1]
    one = min(max(-gradient_of(sums[leaf, 0]) / (curvature_of(sums[leaf, 0]) + ridge), low), high)
    two = min(max(-gradient_of(sums[fresh, 0]) / (curvature_of(sums[fresh, 0]) + ridge), low), high)
    middle = (one + two) / 2
    bounds[fresh, 0], bounds[fresh, 1] = low, high
    if direction > 0:
        bounds[leaf, 1], bounds[fresh, 0] = middle, middle
    elif direction < 0:
        bounds[leaf, 0], bounds[fresh, 1] = middle, middle


@inner
def newton_step(packed: int, low: float, high: float, ridge: float, rate: float, largest: float) -> float:
    """rate * -G / (H + ridge), within bounds and no longer than `largest`."""
    step = min(max(-gradient_of(packed) / (curvature_of(packed) + ridge), low), high)
    return rate * min(max(step, -largest), largest)  # type: ignore[no-any-return]


@inner
def gain_of(left: Longs, whole: Longs, classes: int, rules: Rules) -> float:
    """By how much the loss falls if rows are parted so; -1 where a part would be too small."""
    out, on_left, on_right = 0.0, 0.0, 0.0
    for k in range(classes):
        right = whole[k] - left[k]
        on_left += curvature_of(left[k])
        on_right += curvature_of(right)
        out += gradient_of(left[k]) ** 2 / (curvature_of(left[k]) + rules.ridge)
        out += gradient_of(right) ** 2 / (curvature_of(right) + rules.ridge)
        out -= gradient_of(whole[k]) ** 2 / (curvature_of(whole[k]) + rules.ridge)
    return -1.0 if on_left < rules.least or on_right < rules.least else max(out, 0.0)


@inner
def _sum_leaves(
    cells: LeafCells, pull: Longs, offset: Longs, leaf: int, fresh: int, free: int, leaves: int, room: GrowRoom
) -> None:
    """Histograms of two new leaves: of the smaller by its rows, of the other by subtraction from that of both, which is
    in the place of `leaf`. The root is a leaf without another one."""
    total, count, width = offset[offset.size - 1], offset.size - 1, room.hist.shape[1]
    hist, spans = room.hist, room.spans
    small, large = leaf, fresh
    if spans[small, 1] - spans[small, 0] > spans[large, 1] - spans[large, 0]:
        small, large = fresh, leaf
    if large == fresh and small != large:
        for a in range(free):
            for b in range(offset[room.allowed[a]], offset[room.allowed[a] + 1]):
                for k in range(width):
                    hist[fresh * total + b, k] = hist[leaf * total + b, k]
    start, stop = spans[small, 0], spans[small, 1]
    if free == count and stop - start >= cells.many:
        fill_bundled(
            cells.bundled, cells.begin, cells.member, cells.radix, cells.every, pull, room.rows, start, stop, offset,
            small * total, leaves * total, room.base, hist,
        )  # fmt: skip
    else:
        fill(cells.codes, pull, room.rows, start, stop, offset, room.allowed, free, small * total, room.base, hist)
    if small != large:
        for a in range(free):
            for b in range(offset[room.allowed[a]], offset[room.allowed[a] + 1]):
                for k in range(width):
                    hist[large * total + b, k] -= hist[small * total + b, k]


@inner
def _pick_leaf(
    many: int, classes: int, open_: bool, free: int, leaves: int, wave: int, rules: Rules, room: GrowRoom,
    splits: SplitRoom,
) -> int:  # fmt: skip
    """The leaf that gains most if it is parted, of those whose turn it is; -1 where none does. Leaves that were not
    searched yet are, and those again whose best split is no longer allowed."""
    while True:
        again, leaf = -1, -1
        for m in range(many):
            if room.chosen[m] == UNSEARCHED:
                again = m
                break
            if room.chosen[m] >= 0 and room.turn[m] <= wave and (leaf < 0 or room.gains[m] > room.gains[leaf]):
                leaf = m
        if again < 0:
            if leaf < 0:
                return -1
            state = room.state[room.chosen[leaf]]
            if state == USED or (state == FREE and open_):
                return leaf
            again = leaf
        found, at = search(
            room.hist, again * rules.offset[rules.offset.size - 1], classes, room.sums[again], room.allowed, free,
            room.bounds[again, 0], room.bounds[again, 1], rules, splits, room.masks[again], room.sums[leaves + again],
        )  # fmt: skip
        room.gains[again], room.chosen[again] = found, at


@inner
def grow_tree(
    cells: LeafCells, pull: Longs, rules: Rules, apart: Bools, leaves: int, widest: int, first: int, second: int,
    first_mask: Bytes, rate: float, largest: float, room: GrowRoom, splits: SplitRoom, tree: GrownTree,
) -> tuple[int, float]:  # fmt: skip
    """Grow a tree over the rows, which end up parted by leaf; the number of leaves, and what was gained in all.

    At most `widest` different attributes take part. Where `first` is not -1, it and `second` are to take part, and
    `first` parts the root by `first_mask`.
    """
    classes = tree.step.shape[1]
    offset, sums, spans, state = rules.offset, room.sums, room.spans, room.state
    for j in range(state.size):
        state[j] = FREE
    for i in range(room.rows.size):
        room.rows[i] = i
    taken, many, nodes, gain = 0, 1, 1, 0.0
    by_waves = leaves > STRICT and widest >= state.size and apart.shape[0] == 0
    wave, quota, room.turn[0] = 0, 1, 0
    spans[0, 0], spans[0, 1] = 0, room.rows.size
    room.bounds[0, 0], room.bounds[0, 1] = -np.inf, np.inf
    tree.attribute[0], tree.below[0], tree.leaf_of[0] = -1, -1, 0
    if first >= 0:
        _take(first, apart, state)
        _take(second, apart, state)
        taken = 2
    leaf, fresh = 0, 0
    while True:
        free = _list_allowed(state, taken < widest, room.allowed)
        _sum_leaves(cells, pull, offset, leaf, fresh, free, leaves, room)
        room.chosen[leaf], room.chosen[fresh] = UNSEARCHED, UNSEARCHED
        if many == 1:
            own = room.allowed[0]
            for k in range(classes):
                sums[0, k] = 0
                for b in range(offset[own], offset[own + 1]):
                    sums[0, k] += room.hist[b, k]
            if first >= 0:
                for b in range(CODES):
                    room.masks[0, b] = first_mask[b]
                size = offset[first + 1] - offset[first]
                sum_left(room.hist, offset[first], size, classes, first_mask, sums[leaves])
                room.chosen[0], room.gains[0] = first, gain_of(sums[leaves], sums[0], classes, rules)
                if room.gains[0] < 0.0:
                    return 1, 0.0
        if by_waves and quota == 0:
            if _pick_leaf(many, classes, taken < widest, free, leaves, wave + 1, rules, room, splits) < 0:
                break
            wave += 1
            for m in range(many):
                quota += 1 if room.chosen[m] >= 0 else 0
            quota = (quota + 1) // 2
        leaf = _pick_leaf(many, classes, taken < widest, free, leaves, wave, rules, room, splits)
        if leaf < 0:
            break
        quota -= 1
        room.turn[leaf], room.turn[many] = wave + 1 if by_waves else 0, wave + 1 if by_waves else 0
        j = room.chosen[leaf]
        if state[j] != USED:
            _take(j, apart, state)
            taken += 1
        gain += room.gains[leaf]
        to = part_rows(cells.codes[:, j], room.masks[leaf], room.rows, spans[leaf, 0], spans[leaf, 1], room.spare)
        node = tree.leaf_of[leaf]
        tree.attribute[node], tree.below[node] = j, nodes
        for b in range(CODES):
            tree.mask[node, b] = room.masks[leaf, b]
        fresh = many
        many += 1
        tree.leaf_of[leaf], tree.leaf_of[fresh] = nodes, nodes + 1
        for new in range(nodes, nodes + 2):
            tree.attribute[new], tree.below[new] = -1, -1
        nodes += 2
        spans[fresh, 0], spans[fresh, 1] = to, spans[leaf, 1]
        spans[leaf, 1] = to
        for k in range(classes):
            sums[fresh, k] = sums[leaf, k] - sums[leaves + leaf, k]
            sums[leaf, k] = sums[leaves + leaf, k]
        tighten(leaf, fresh, rules.direction[j], rules.ridge, sums, room.bounds)
        if many == leaves:
            break
    for m in range(many):
        for k in range(classes):
            low, high = (room.bounds[m, 0], room.bounds[m, 1]) if classes == 1 else (-np.inf, np.inf)
            tree.step[m, k] = newton_step(sums[m, k], low, high, rules.ridge, rate, largest)
    return many, gain
