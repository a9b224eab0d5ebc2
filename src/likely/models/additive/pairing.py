"""Pairs of attributes that speak together only: found by sums over both, where parting by one alone gains nothing.

Greedy trees do not find them (exclusive or: neither attribute says anything by itself). Compiled loops over coarse
codes. Knows gradients and codes; no attributes' names.
"""

from __future__ import annotations

import numpy as np

from likely.machinery.arrays import Bools, Bytes, Floats, Longs
from likely.machinery.jit import inner, kernel

COARSE = 8
"""Codes of an attribute when pairs are sought."""
MOST_ROWS = 10_000
"""Rows by which pairs are sought at most."""
MOST_WORK = 50_000_000
"""Rows times pairs times scores at most: with more attributes fewer rows have a say, and none where too few would."""
LEAST_ROWS = 200


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
def _cell_gain(table: Longs, first: int, stop: int, step: int, total: Longs, ridge: float) -> float:
    """Gain of a sum over cells first, first + step …: sum over scores of G * G / (H + ridge)."""
    width = table.shape[1]
    for k in range(width):
        total[k] = 0
    for c in range(first, stop, step):
        for k in range(width):
            total[k] += table[c, k]
    out = 0.0
    for k in range(width // 2):
        out += float(total[2 * k]) ** 2 / (float(total[2 * k + 1]) + ridge)
    return out


@inner
def _pair_sums(one: Bytes, two: Bytes, pull: Longs, table: Longs) -> None:
    """Gradients and curvatures by the coarse codes of two attributes."""
    width = pull.shape[1]
    for c in range(COARSE * COARSE):
        for k in range(width):
            table[c, k] = 0
    for r in range(one.size):
        into, own = table[COARSE * one[r] + two[r]], pull[r]
        for k in range(width):
            into[k] += own[k]


@kernel("u1[][], i8[][], i8[], b1[][], f8[], i8[][], i8[]", returns=2)
def best_pair(
    codes: Bytes, pull: Longs, direction: Longs, apart: Bools, settings: Floats, table: Longs, total: Longs
) -> tuple[int, int]:
    """The two attributes that gain most together beyond what each gains alone; -1, -1 where there are none."""
    ridge = settings[0]
    cells = COARSE * COARSE
    best, first, second = 0.0, -1, -1
    for i in range(codes.shape[0]):
        for j in range(i + 1, codes.shape[0]):
            if direction[i] != 0 or direction[j] != 0 or (apart.shape[0] > 0 and apart[i, j]):
                continue
            _pair_sums(codes[i], codes[j], pull, table)
            found = _cell_gain(table, 0, cells, 1, total, ridge)
            for c in range(cells):
                found += _cell_gain(table, c, c + 1, 1, total, ridge)
            for c in range(COARSE):
                found -= _cell_gain(table, COARSE * c, COARSE * (c + 1), 1, total, ridge)
                found -= _cell_gain(table, c, cells, COARSE, total, ridge)
            if found > best:
                best, first, second = found, i, j
    return first, second


@inner
def _best_cut(table: Longs, group: Bytes, side: int, total: Longs, part: Longs, ridge: float) -> float:
    """What is gained at most if the cells of a side are parted by the second attribute, in order or one against all."""
    width = table.shape[1]
    out = 0.0
    for k in range(width):
        total[k] = 0
    for a in range(COARSE):
        if group[a] == side:
            for b in range(COARSE):
                for k in range(width):
                    total[k] += table[COARSE * a + b, k]
    for k in range(width // 2):
        out += float(total[2 * k]) ** 2 / (float(total[2 * k + 1]) + ridge)
    for alone in range(2):
        for k in range(width):
            part[k] = 0
        for b in range(COARSE):
            for k in range(width):
                if alone:
                    part[k] = 0
                for a in range(COARSE):
                    if group[a] == side:
                        part[k] += table[COARSE * a + b, k]
            found = 0.0
            for k in range(width // 2):
                g, h = float(part[2 * k]), float(part[2 * k + 1])
                found += g * g / (h + ridge)
                g, h = float(total[2 * k]) - g, float(total[2 * k + 1]) - h
                found += g * g / (h + ridge)
            out = max(out, found)
    return out


@kernel("u1[][], i8[][], i8, i8, f8[], i8[][], i8[], i8[], u1[], u1[]")
def first_split(
    codes: Bytes, pull: Longs, i: int, j: int, settings: Floats, table: Longs, total: Longs, part: Longs, group: Bytes,
    best_group: Bytes,
) -> None:  # fmt: skip
    """How the first attribute parts rows best if the second then parts each side: best_group has 1 for what goes left.

    Coarse codes in order, or one against all others.
    """
    _pair_sums(codes[i], codes[j], pull, table)
    best = -1.0
    for alone in range(2):
        for cut in range(COARSE):
            for c in range(COARSE):
                group[c] = 1 if (c == cut if alone else c <= cut) else 0
            found = _best_cut(table, group, 1, total, part, settings[0])
            found += _best_cut(table, group, 0, total, part, settings[0])
            if found > best:
                best = found
                for c in range(COARSE):
                    best_group[c] = group[c]
