"""One tree of a boosted sum: histograms of gradients, the best split, best-first growth. Compiled loops only.

Gradients and curvatures are whole numbers (multiples of a fixed unit), so that their sums are exact and no order of
rows changes a bit. Ties go to the first leaf, the first attribute, the first cut. Knows codes, no attributes.
"""

from __future__ import annotations

import numpy as np

from likely.machinery.arrays import Bools, Bytes, Floats, Ints, Longs
from likely.machinery.jit import inner, kernel

CODES = 256
"""Codes of an attribute at most."""
FREE, USED, BARRED = 0, 1, 2
"""Of an attribute while a tree grows: it may take part, takes part, must not take part beside those that do."""


@inner
def _fill(
    codes: Bytes, pull: Longs, rows: Ints, start: int, stop: int, offset: Longs, allowed: Ints, count: int, hist: Longs
) -> None:
    """Sum gradients and curvatures of some rows by the codes of the attributes that are allowed."""
    width = pull.shape[1]
    for a in range(count):
        j = allowed[a]
        for b in range(offset[j], offset[j + 1]):
            for k in range(width):
                hist[b, k] = 0
    if width == 2:  # two classes: one score
        for i in range(start, stop):
            r = rows[i]
            g, h = pull[r, 0], pull[r, 1]
            for a in range(count):
                j = allowed[a]
                b = offset[j] + codes[r, j]
                hist[b, 0] += g
                hist[b, 1] += h
        return
    for i in range(start, stop):
        r = rows[i]
        for a in range(count):
            j = allowed[a]
            into, own = hist[offset[j] + codes[r, j]], pull[r]
            for k in range(width):
                into[k] += own[k]


@inner
def _gain(left: Longs, whole: Longs, low: float, high: float, direction: int, settings: Floats) -> float:
    """By how much the loss falls if rows are parted so; -1 where it may not be."""
    ridge, least = settings[0], settings[1]
    classes = left.size // 2
    many_left, many_right = 0.0, 0.0
    out = 0.0
    for k in range(classes):
        gl, hl = float(left[2 * k]), float(left[2 * k + 1])
        gr, hr = float(whole[2 * k]) - gl, float(whole[2 * k + 1]) - hl
        many_left += hl
        many_right += hr
        out += gl * gl / (hl + ridge) + gr * gr / (hr + ridge)
    if many_left < least or many_right < least:
        return -1.0
    if direction != 0:
        # One column of scores: the answer must rise (or fall) from left to right, within the bounds from above.
        a = min(max(-float(left[0]) / (float(left[1]) + ridge), low), high)
        b = min(max(-float(whole[0] - left[0]) / (float(whole[1] - left[1]) + ridge), low), high)
        if (direction > 0 and a > b) or (direction < 0 and a < b):
            return -1.0
    return out


@inner
def _arrange(
    hist: Longs, first: int, size: int, nominal: bool, heavy: int, ridge: float, order: Ints, key: Floats
) -> int:
    """The codes that rows of a leaf have, but the last, of missing cells, in the order in which they are parted.

    Levels in the order of what they say of the class with most curvature: prefixes are then the best parts.
    """
    there = 0
    for b in range(size - 1):
        some = False
        for k in range(hist.shape[1]):
            some = some or hist[first + b, k] != 0
        if some:
            order[there] = b
            there += 1
    if nominal:
        for at in range(there):
            b = order[at]
            key[b] = float(hist[first + b, 2 * heavy]) / (float(hist[first + b, 2 * heavy + 1]) + ridge)
        for at in range(1, there):
            b = order[at]
            place = at
            while place > 0 and key[order[place - 1]] > key[b]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = b
    return there


@inner
def _search(
    hist: Longs, whole: Longs, offset: Longs, nominal: Bools, direction: Longs, allowed: Ints, count: int,
    low: float, high: float, settings: Floats, left: Longs, best_left: Longs, order: Ints, key: Floats, mask: Bytes,
) -> tuple[float, int]:  # fmt: skip
    """The best split of a leaf: its gain (0 where there is none) and attribute; `mask` has 1 for codes on the left,
    `best_left` their sums."""
    classes = left.size // 2
    before = 0.0
    heavy, most = 0, np.int64(-1)
    for k in range(classes):
        g, h = float(whole[2 * k]), float(whole[2 * k + 1])
        before += g * g / (h + settings[0])
        if whole[2 * k + 1] > most:
            most, heavy = whole[2 * k + 1], k
    best, chosen, best_place, best_missing = 0.0, -1, 0, False
    for a in range(count):
        j = allowed[a]
        first, size = offset[j], offset[j + 1] - offset[j]
        there = _arrange(hist, first, size, nominal[j], heavy, settings[2], order, key)
        last = first + size - 1
        gone = False
        for k in range(2 * classes):
            gone = gone or hist[last, k] != 0
        for side in range(2 if gone else 1):
            for k in range(2 * classes):
                left[k] = hist[last, k] if side else np.int64(0)
            for at in range(there - (0 if gone and side == 0 else 1)):
                b = order[at]
                for k in range(2 * classes):
                    left[k] += hist[first + b, k]
                found = _gain(left, whole, low, high, direction[j], settings) - before
                if found > best:
                    best, chosen, best_place, best_missing = found, j, at, side == 1
                    for k in range(2 * classes):
                        best_left[k] = left[k]
    if chosen < 0:
        return 0.0, -1
    first, size = offset[chosen], offset[chosen + 1] - offset[chosen]
    for b in range(CODES):
        mask[b] = 0
    there = _arrange(hist, first, size, nominal[chosen], heavy, settings[2], order, key)
    if nominal[chosen]:
        for at in range(best_place + 1):
            mask[order[at]] = 1
    else:
        # Codes that no row of the leaf has go with those below them.
        for b in range(order[best_place + 1] if best_place + 1 < there else size - 1):
            mask[b] = 1
    mask[size - 1] = 1 if best_missing else 0
    return best, chosen


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
def _part_rows(codes: Bytes, j: int, mask: Bytes, rows: Ints, start: int, stop: int, room: Ints) -> int:
    """Put rows that go left in front of the others, both in order; where the others begin."""
    to, behind = start, 0
    for i in range(start, stop):
        r = rows[i]
        if mask[codes[r, j]]:
            rows[to] = r
            to += 1
        else:
            room[behind] = r
            behind += 1
    for i in range(behind):
        rows[to + i] = room[i]
    return to


@inner
def _tighten(leaf: int, fresh: int, direction: int, ridge: float, sums: Longs, bounds: Floats) -> None:
    """Bounds of two new leaves, so that whatever lies below them keeps the direction."""
    low, high = bounds[leaf, 0], bounds[leaf, 1]
    one = min(max(-float(sums[leaf, 0]) / (float(sums[leaf, 1]) + ridge), low), high)
    two = min(max(-float(sums[fresh, 0]) / (float(sums[fresh, 1]) + ridge), low), high)
    middle = (one + two) / 2
    if direction > 0:
        bounds[leaf, 1], bounds[fresh, 0] = middle, middle
    else:
        bounds[leaf, 0], bounds[fresh, 1] = middle, middle


@kernel(
    "u1[][], i8[][], i4[], i4[], i8[], b1[], i8[], b1[][], i8, i8, i4[], u1[], f8[], i8[][][], i8[][], i8[], i8[], "
    "i4[], f8[], f8[], i4[], f8[][], u1[][], i4[], u1[][], i4[], i4[], f8[][], i8[][], f8[]",
    returns=1,
)
def grow_tree(
    codes: Bytes,
    pull: Longs,
    rows: Ints,
    room: Ints,
    offset: Longs,
    nominal: Bools,
    direction: Longs,
    apart: Bools,
    leaves: int,
    widest: int,
    first: Ints,
    first_mask: Bytes,
    settings: Floats,
    hist: Longs,
    sums: Longs,
    left: Longs,
    best_left: Longs,
    order: Ints,
    key: Floats,
    gains: Floats,
    chosen: Ints,
    bounds: Floats,
    masks: Bytes,
    attribute: Ints,
    mask: Bytes,
    below: Ints,
    leaf_of: Ints,
    value: Floats,
    spans: Longs,
    gain: Floats,
) -> int:
    """Grow a tree over these rows, which end up parted by leaf; the number of nodes, and what was gained in all.

    At most `widest` different attributes take part. `first` (with `first_mask`), where it is not empty: two attributes
    that are to take part, the first of which parts the root. settings: ridge, least curvature of a leaf, ridge of the
    order of levels (all in units), rate, largest step. For node n: attribute[n] (-1: a leaf), mask[n] (1: the code goes
    left), children below[n] (left) and below[n] + 1, value[n] of a leaf; leaf_of[leaf] is its node, spans[leaf] its
    rows. sums[leaf] are the sums of a leaf, sums[leaves + leaf] those of the left part of its best split.
    """
    width = pull.shape[1]
    count = offset.size - 1
    scratch, allowed, state = order[:CODES], order[CODES : CODES + count], order[CODES + count : CODES + 2 * count]
    for j in range(count):
        state[j] = FREE
    taken = 0
    free = _list_allowed(state, True, allowed)
    _fill(codes, pull, rows, 0, rows.size, offset, allowed, free, hist[0])
    for k in range(width):
        sums[0, k] = 0
        for b in range(offset[0], offset[1]):
            sums[0, k] += hist[0, b, k]
    spans[0, 0], spans[0, 1] = 0, rows.size
    bounds[0, 0], bounds[0, 1] = -np.inf, np.inf
    attribute[0], below[0], leaf_of[0] = -1, -1, 0
    gain[0] = 0.0
    if first.size:
        for j in first:
            _take(j, apart, state)
        taken = first.size
        chosen[0], gains[0] = first[0], 0.0
        for k in range(width):
            sums[leaves, k] = 0
            for b in range(offset[first[0]], offset[first[0] + 1]):
                if first_mask[b - offset[first[0]]]:
                    sums[leaves, k] += hist[0, b, k]
        for b in range(CODES):
            masks[0, b] = first_mask[b]
        found = _gain(sums[leaves], sums[0], -np.inf, np.inf, 0, settings)
        if found < 0.0:  # a part would be too small
            return 1
        for k in range(width // 2):
            found -= float(sums[0, 2 * k]) ** 2 / (float(sums[0, 2 * k + 1]) + settings[0])
        gains[0] = found
    else:
        gains[0], at = _search(
            hist[0], sums[0], offset, nominal, direction, allowed, free, bounds[0, 0], bounds[0, 1], settings, left,
            best_left, scratch, key, masks[0],
        )  # fmt: skip
        chosen[0] = at
        for k in range(width):
            sums[leaves, k] = best_left[k]
    nodes, many = 1, 1
    while many < leaves:
        leaf = -1
        for m in range(many):
            if chosen[m] >= 0 and (leaf < 0 or gains[m] > gains[leaf]):
                leaf = m
        if leaf < 0:
            break
        j = chosen[leaf]
        if state[j] != USED:
            if state[j] == BARRED or taken == widest:
                # Its best split is no longer allowed: look again among those that are.
                free = _list_allowed(state, taken < widest, allowed)
                gains[leaf], at = _search(
                    hist[leaf], sums[leaf], offset, nominal, direction, allowed, free, bounds[leaf, 0],
                    bounds[leaf, 1], settings, left, best_left, scratch, key, masks[leaf],
                )  # fmt: skip
                chosen[leaf] = at
                for k in range(width):
                    sums[leaves + leaf, k] = best_left[k]
                continue
            _take(j, apart, state)
            taken += 1
        gain[0] += gains[leaf]
        start, stop = spans[leaf, 0], spans[leaf, 1]
        to = _part_rows(codes, j, masks[leaf], rows, start, stop, room)
        node = leaf_of[leaf]
        attribute[node], below[node] = j, nodes
        for b in range(CODES):
            mask[node, b] = masks[leaf, b]
        fresh = many
        many += 1
        leaf_of[leaf], leaf_of[fresh] = nodes, nodes + 1
        for new in range(nodes, nodes + 2):
            attribute[new], below[new] = -1, -1
        nodes += 2
        spans[fresh, 0], spans[fresh, 1] = to, stop
        spans[leaf, 1] = to
        for k in range(width):
            sums[fresh, k] = sums[leaf, k] - sums[leaves + leaf, k]
            sums[leaf, k] = sums[leaves + leaf, k]
        bounds[fresh, 0], bounds[fresh, 1] = bounds[leaf, 0], bounds[leaf, 1]
        if direction[j] != 0:
            _tighten(leaf, fresh, direction[j], settings[0], sums, bounds)
        if many == leaves:
            break
        free = _list_allowed(state, taken < widest, allowed)
        # The histogram of the smaller part by its rows, of the other by subtraction.
        small, large = (leaf, fresh) if to - start <= stop - to else (fresh, leaf)
        if small == leaf:
            for a in range(free):
                for b in range(offset[allowed[a]], offset[allowed[a] + 1]):
                    for k in range(width):
                        hist[fresh, b, k] = hist[leaf, b, k]
        _fill(codes, pull, rows, spans[small, 0], spans[small, 1], offset, allowed, free, hist[small])
        for a in range(free):
            for b in range(offset[allowed[a]], offset[allowed[a] + 1]):
                for k in range(width):
                    hist[large, b, k] -= hist[small, b, k]
        for part in (leaf, fresh):
            gains[part], at = _search(
                hist[part], sums[part], offset, nominal, direction, allowed, free, bounds[part, 0], bounds[part, 1],
                settings, left, best_left, scratch, key, masks[part],
            )  # fmt: skip
            chosen[part] = at
            for k in range(width):
                sums[leaves + part, k] = best_left[k]
    for m in range(many):
        node = leaf_of[m]
        for k in range(width // 2):
            step = -float(sums[m, 2 * k]) / (float(sums[m, 2 * k + 1]) + settings[0])
            if width == 2:
                step = min(max(step, bounds[m, 0]), bounds[m, 1])
            value[node, k] = settings[3] * min(max(step, -settings[4]), settings[4])
    return nodes
