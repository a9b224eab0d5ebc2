"""Pairs of attributes that speak together only: found by sums over both, where parting by one alone gains nothing.

Greedy trees do not find them (exclusive or: neither attribute says anything by itself). Compiled loops over coarse
codes. Knows gradients and codes; no attributes' names.
"""

from __future__ import annotations

import numpy as np

from likely.machinery.arrays import Bools, Bytes, Longs
from likely.machinery.jit import inner
from likely.models.additive.growing import curvature_of, gradient_of
from likely.models.additive.histograms import LANES, clear_cells

COARSE = 8
"""Codes of an attribute when pairs are sought."""
MOST_ROWS = 10_000
"""Rows by which pairs are sought at most."""
MOST_WORK = 10_000_000
"""Rows times pairs times scores at most: with more attributes fewer rows have a say, and none where too few would."""
LEAST_ROWS = 200
PAIR_WAIT = 10
"""Trees after which two attributes that speak together only are sought again where that was in vain; each time in vain
twice as many."""
NO_COARSE = np.empty((0, 0), np.uint8)


def pair_pause(attributes: int, sample: int, rows: int) -> int:
    """Trees between searches for pairs that were not in vain: seeking is to take no longer than growing trees."""
    return attributes * (attributes - 1) // 2 * sample // (2 * max(rows * attributes, 1))


class PairSeeks:
    """When two attributes that speak together only are sought: `grow_rounds` counts in the same way."""

    def __init__(self, pause: int) -> None:
        self._next, self._wait, self._pause = 0, PAIR_WAIT, pause

    def are_due(self, trees: int) -> bool:
        """Whether to seek now; a search counts as one in vain until `pay`."""
        if trees < self._next:
            return False
        self._next, self._wait = trees + self._wait, 2 * self._wait
        return True

    def pay(self, trees: int) -> None:
        """The search was not in vain."""
        self._next, self._wait = trees + self._pause, PAIR_WAIT


def coarse_codes(codes: Bytes, sizes: Longs, scores: int) -> Bytes:
    """The first rows (their order is that of hashes, so they are a sample) as coarse codes, (attributes, rows)."""
    pairs = len(sizes) * (len(sizes) - 1) // 2
    rows = min(len(codes), MOST_ROWS, MOST_WORK // max(pairs * scores, 1))
    if rows < min(LEAST_ROWS, len(codes)):
        return np.empty((0, 0), np.uint8)
    out = np.empty((len(sizes), rows), np.uint8)
    for j in range(len(sizes)):
        own = codes[:rows, j]
        if sizes[j] <= COARSE:
            out[j] = own
            continue
        upto = np.cumsum(np.bincount(own, minlength=int(sizes[j])))
        middle = (upto - np.bincount(own, minlength=int(sizes[j])) / 2) / rows
        out[j] = np.minimum((middle * COARSE).astype(np.uint8), COARSE - 1)[own]
    return out


@inner
def _cell_gain(table: Longs, first: int, stop: int, step: int, classes: int, ridge: float) -> float:
    """Gain of a sum over cells first, first + step …: sum over classes of G * G / (H + ridge)."""
    out = 0.0
    for k in range(classes):
        total = np.int64(0)
        for c in range(first, stop, step):
            total += table[c, k]
        out += gradient_of(total) ** 2 / (curvature_of(total) + ridge)
    return out


@inner
def _pair_sums(one: Bytes, two: Bytes, pull: Longs, table: Longs) -> None:
    """Packed gradients by the coarse codes of two attributes."""
    width = pull.shape[1]
    clear_cells(table, 0, COARSE * COARSE)
    if width == 1:
        for r in range(one.size):
            table[COARSE * one[r] + two[r], 0] += pull[r, 0]
    elif width == LANES:
        for r in range(one.size):
            c = COARSE * one[r] + two[r]
            p, q, s, t = (
                table[c, 0] + pull[r, 0],
                table[c, 1] + pull[r, 1],
                table[c, 2] + pull[r, 2],
                table[c, 3] + pull[r, 3],
            )
            table[c, 0], table[c, 1], table[c, 2], table[c, 3] = p, q, s, t
    else:
        for r in range(one.size):
            into, own = table[COARSE * one[r] + two[r]], pull[r]
            for k in range(width):
                into[k] += own[k]


@inner
def best_pair(
    codes: Bytes, many: Longs, pull: Longs, classes: int, direction: Longs, apart: Bools, ridge: float, table: Longs
) -> tuple[int, int]:
    """The two attributes that gain most together beyond what each gains alone; -1, -1 where there are none.

    many: how many coarse codes each attribute has.
    """
    cells = COARSE * COARSE
    best, first, second = 0.0, -1, -1
    for i in range(codes.shape[0]):
        for j in range(i + 1, codes.shape[0]):
            if direction[i] != 0 or direction[j] != 0 or (apart.shape[0] > 0 and apart[i, j]):
                continue
            _pair_sums(codes[i], codes[j], pull, table)
            found = _cell_gain(table, 0, cells, 1, classes, ridge)
            for c in range(many[i]):
                found -= _cell_gain(table, COARSE * c, COARSE * (c + 1), 1, classes, ridge)
                for d in range(many[j]):
                    found += _cell_gain(table, COARSE * c + d, COARSE * c + d + 1, 1, classes, ridge)
            for d in range(many[j]):
                found -= _cell_gain(table, d, cells, COARSE, classes, ridge)
            if found > best:
                best, first, second = found, i, j
    return first, second


@inner
def _best_cut(table: Longs, group: Bytes, side: int, classes: int, part: Longs, ridge: float) -> float:
    """What is gained at most if the cells of a side are parted by the second attribute, in order or one against all."""
    whole, left = part[:classes], part[classes:]
    coarse = group.size  # a number that the compiler does not know: it would unroll all loops
    out = 0.0
    for k in range(classes):
        whole[k] = 0
    for a in range(coarse):
        if group[a] == side:
            for b in range(coarse):
                for k in range(classes):
                    whole[k] += table[coarse * a + b, k]
    for k in range(classes):
        out += gradient_of(whole[k]) ** 2 / (curvature_of(whole[k]) + ridge)
    for alone in range(2):
        for k in range(classes):
            left[k] = 0
        for b in range(coarse):
            found = 0.0
            for k in range(classes):
                if alone:
                    left[k] = 0
                for a in range(coarse):
                    if group[a] == side:
                        left[k] += table[coarse * a + b, k]
                right = whole[k] - left[k]
                found += gradient_of(left[k]) ** 2 / (curvature_of(left[k]) + ridge)
                found += gradient_of(right) ** 2 / (curvature_of(right) + ridge)
            out = max(out, found)
    return out


@inner
def first_split(
    codes: Bytes, pull: Longs, classes: int, i: int, j: int, ridge: float, table: Longs, part: Longs, group: Bytes,
    best_group: Bytes,
) -> None:  # fmt: skip
    """How the first attribute parts rows best if the second then parts each side: best_group has 1 for what goes left.

    Coarse codes in order, or one against all others.
    """
    _pair_sums(codes[i], codes[j], pull, table)
    best = -1.0
    coarse = group.size
    for alone in range(2):
        for cut in range(coarse):
            for c in range(coarse):
                group[c] = 1 if (c == cut if alone else c <= cut) else 0
            found = 0.0
            for side in range(2):
                found += _best_cut(table, group, side, classes, part, ridge)
            if found > best:
                best = found
                for c in range(coarse):
                    best_group[c] = group[c]
