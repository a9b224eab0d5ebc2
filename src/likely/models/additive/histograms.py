"""Histograms of packed gradients by code, and attributes of few codes bundled into one byte, which one pass serves all.

Compiled loops, and the layout they go by. Knows codes and packed gradients; no trees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likely.machinery.arrays import Bytes, Ints, Longs
from likely.machinery.jit import inner

CODES = 256
"""Codes of an attribute at most."""
MOST_CELLS = 512
"""Numbers that the histogram of a bundle has at most: all of them are to stay in the processor's first caches."""
LANES = 4
"""Scores of several classes are padded to a multiple of this, so that they are added side by side."""


def padded(scores: int) -> int:
    """Numbers that a row of packed gradients has."""
    return scores if scores == 1 else -(-scores // LANES) * LANES


@dataclass(frozen=True)
class Bundles:
    """Attributes whose codes together fit into a byte, as one code: that of the first, plus its codes times that of the
    second, and so on."""

    codes: Bytes
    """(rows, bundles)"""
    start: Ints
    """Where the attributes of each bundle begin in `member`; one more at the end."""
    member: Ints
    radix: Ints
    """How many codes each member has among the rows."""

    cells: int
    """Codes of all bundles of several attributes together."""
    pays_from: int
    """Rows from which bundles are quicker: sums of their codes must be shared out among the members."""


def bundle_codes(codes: Bytes, width: int) -> Bundles:
    """Attributes bundled in their order, those of fewest codes first (first fit); what fits with none stays alone."""
    count = codes.shape[1]
    radix = 1 + codes.max(axis=0).astype(np.int64) if len(codes) else np.ones(count, np.int64)
    bundles: list[list[int]] = []
    size = most = min(CODES, MOST_CELLS // width)
    size += 1
    for j in np.argsort(radix, kind="stable").tolist():
        if size * int(radix[j]) <= most:
            bundles[-1].append(j)
            size *= int(radix[j])
        else:
            bundles.append([j])
            size = int(radix[j])
    out = np.zeros((len(codes), len(bundles)), np.uint8)
    for b, members in enumerate(bundles):
        times = 1
        for j in members:
            out[:, b] += codes[:, j] * np.uint8(times % CODES)
            times *= int(radix[j])
    member = np.array([j for members in bundles for j in members], np.int32)
    start = np.concatenate([[0], np.cumsum([len(members) for members in bundles])]).astype(np.int32)
    sizes = [int(np.prod(radix[members])) for members in bundles]
    cells = sum(size for size, members in zip(sizes, bundles, strict=True) if len(members) > 1)
    work = sum(size * (len(members) + 1) for size, members in zip(sizes, bundles, strict=True) if len(members) > 1)
    saved = count - len(bundles)
    pays_from = work // saved if saved else len(codes) + 1
    return Bundles(out, start, member, radix[member].astype(np.int32), cells, pays_from)


@inner
def clear_cells(hist: Longs, first: int, last: int) -> None:
    """No gradients yet."""
    for b in range(first, last):
        for k in range(hist.shape[1]):
            hist[b, k] = 0


@inner
def _add_rows(
    codes: Bytes, pull: Longs, rows: Ints, start: int, stop: int, column: Ints, base: Longs, count: int, hist: Longs
) -> None:
    """hist[base + code] += pull, for the rows and some columns of codes.

    Places are unsigned: one that may be below zero is looked at twice, in the loop that takes most of the time.
    """
    width = pull.shape[1]
    columns = np.uint64(count)
    if width == 1:
        for i in range(start, stop):
            r = np.uint64(rows[i])
            one = pull[r, 0]
            for a in range(columns):
                hist[np.uint64(base[a]) + np.uint64(codes[r, np.uint64(column[a])]), 0] += one
    elif width == LANES:
        for i in range(start, stop):
            r = np.uint64(rows[i])
            one, two, three, four = pull[r, 0], pull[r, 1], pull[r, 2], pull[r, 3]
            for a in range(columns):
                b = np.uint64(base[a]) + np.uint64(codes[r, np.uint64(column[a])])
                p, q, s, t = hist[b, 0] + one, hist[b, 1] + two, hist[b, 2] + three, hist[b, 3] + four
                hist[b, 0], hist[b, 1], hist[b, 2], hist[b, 3] = p, q, s, t
    else:
        lanes = np.uint64(width)
        for i in range(start, stop):
            r = np.uint64(rows[i])
            for a in range(columns):
                b = np.uint64(base[a]) + np.uint64(codes[r, np.uint64(column[a])])
                for k in range(lanes):
                    hist[b, k] += pull[r, k]


@inner
def fill(
    codes: Bytes, pull: Longs, rows: Ints, start: int, stop: int, offset: Longs, allowed: Ints, count: int, place: int,
    base: Longs, hist: Longs,
) -> None:  # fmt: skip
    """Sum the gradients of some rows by the codes of the attributes that are allowed; `place` is where the histogram of
    the leaf begins."""
    for a in range(count):
        j = allowed[a]
        clear_cells(hist, place + offset[j], place + offset[j + 1])
        base[a] = place + offset[j]
    _add_rows(codes, pull, rows, start, stop, allowed, base, count, hist)


@inner
def fill_bundled(
    codes: Bytes, begin: Ints, member: Ints, radix: Ints, every: Ints, pull: Longs, rows: Ints, start: int, stop: int,
    offset: Longs, place: int, spare: int, base: Longs, hist: Longs,
) -> None:  # fmt: skip
    """The same for all attributes: sums by the codes of bundles (behind `spare`), then of their members."""
    width = pull.shape[1]
    clear_cells(hist, place, place + offset[offset.size - 1])
    at = spare
    for b in range(begin.size - 1):
        if begin[b + 1] - begin[b] == 1:
            base[b] = place + offset[member[begin[b]]]
            continue
        base[b] = at
        size = 1
        for m in range(begin[b], begin[b + 1]):
            size *= radix[m]
        at += size
    clear_cells(hist, spare, at)
    _add_rows(codes, pull, rows, start, stop, every, base, begin.size - 1, hist)
    for b in range(begin.size - 1):
        if begin[b + 1] - begin[b] == 1:
            continue
        size = 1
        for m in range(begin[b], begin[b + 1]):
            size *= radix[m]
        stride = 1
        for m in range(begin[b], begin[b + 1]):
            into = place + offset[member[m]]
            for high in range(0, size, stride * radix[m]):
                for digit in range(radix[m]):
                    own = base[b] + high + digit * stride
                    for low in range(stride):
                        for k in range(width):
                            hist[into + digit, k] += hist[own + low, k]
            stride *= radix[m]
