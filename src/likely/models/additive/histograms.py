"""Gradients as whole numbers of a fixed unit, and their histograms by code. Sums are exact in any order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likely.machinery.arrays import Bytes, Floats, Ints, Longs
from likely.machinery.jit import inner

# Histograms of packed gradients by code, and attributes of few codes bundled into one byte, which one pass serves
# all.

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


# Gradients, curvatures and the loss of rows, as whole numbers of a fixed unit: their sums are exact in any order.

BITS = 30
"""A gradient and a curvature share 64 bits: gradient * 2**BITS + curvature. Sums and differences of such numbers are
those of both parts, as long as no curvature reaches 2**BITS, and no gradient 2**33: `gradient_unit` sees to that."""
MASK = (1 << BITS) - 1
BLOCK = 128
"""Rows whose chances are computed at once, so that they stay in the processor's first cache."""
LEAST_LOG = -24.0
"""In gradients, a class that is less probable than exp(this) times the most probable one has the probability 0: far
below the unit that gradients are rounded to."""


def gradient_unit(total: float, rows: int) -> float:
    """How many units a gradient of 1 is: the largest power of two with which the sums over all rows fit into 64 bits.

    A curvature is 1/4 at most; rounding adds less than one unit a row.

    >>> gradient_unit(1000.0, 1000) == 2.0**22
    True
    """
    return float(2.0 ** np.floor(np.log2((2.0 ** (BITS + 2) - 4.0 * (rows + 1)) / total)))


def loss_unit(total: float) -> float:
    """How many units a loss of 1 is: sums of losses up to a thousand a row fit into 64 bits."""
    return float(2.0 ** np.floor(np.log2(2.0**50 / total)))


@inner
def exp_below(x: float) -> float:
    """exp(x) for x <= 0, and 0 below LEAST_LOG: Taylor's sum at x / 64, squared six times.

    Right to ten digits, with the same bits on every processor; the compiler takes several rows at once.
    """
    r = max(x, LEAST_LOG) * 0.015625
    y = 1 / 362880 + r * (1 / 3628800)
    y = 1 / 40320 + r * y
    y = 1 / 5040 + r * y
    y = 1 / 720 + r * y
    y = 1 / 120 + r * y
    y = 1 / 24 + r * y
    y = 1 / 6 + r * y
    y = 0.5 + r * y
    y = 1.0 + r * y
    y = 1.0 + r * y
    y = y * y
    y = y * y
    y = y * y
    y = y * y
    y = y * y
    y = y * y
    return y if x >= LEAST_LOG else 0.0


@inner
def _add_steps(score: Floats, leaf: Bytes, step: Floats, k: int, top: Floats) -> None:
    """Add the steps of their leaves to one score of some rows, and see which score is the largest so far."""
    for i in range(score.size):
        score[i] += step[leaf[i], k]
    for i in range(score.size):
        top[i] = max(top[i], score[i])


@inner
def _exp_all(score: Floats, top: Floats, chance: Floats, total: Floats) -> None:
    """exp(score - top), and their sum."""
    for i in range(score.size):
        chance[i] = exp_below(score[i] - top[i])
        total[i] += chance[i]


@inner
def _logistic(top: Floats, chance: Floats, total: Floats) -> None:
    """The same of one score, the log-odds of the second of two classes."""
    for i in range(top.size):
        low = exp_below(-abs(top[i]))
        total[i] = 1.0 + low
        chance[i] = 1.0 if top[i] >= 0.0 else low
    for i in range(top.size):
        top[i] = max(top[i], 0.0)


@inner
def _chances(scores: Floats, first: int, last: int, leaf: Bytes, step: Floats, room: Floats) -> None:
    """Add the steps of their leaves to the scores (classes, rows) of a block of rows. Into `room`: the largest score of
    each row, the sum of exp(score - largest), and for each class exp(score - largest)."""
    many = last - first
    top, total = room[0, :many], room[1, :many]
    for i in range(many):
        top[i] = -np.inf
        total[i] = 0.0
    # Loops over whole slices: the compiler then takes several rows at once.
    for k in range(scores.shape[0]):
        _add_steps(scores[k, first:last], leaf[first:last], step, k, top)
    if scores.shape[0] == 1:
        _logistic(top, room[2, :many], total)
        return
    for k in range(scores.shape[0]):
        _exp_all(scores[k, first:last], top, room[2 + k, :many], total)


@inner
def _pack(
    chance: Floats, total: Floats, group: Ints, own: int, weight: Floats, dither: Floats, unit: float, out: Longs
) -> None:
    """Gradient and curvature of one class of some rows."""
    for i in range(chance.size):
        p = chance[i] / total[i]
        g = p - 1.0 if group[i] == own else p
        w = weight[i] * unit
        up, curve = np.floor(g * w + dither[i]), np.floor(p * (1.0 - p) * w + dither[i])
        out[i] = (np.int64(up) << BITS) + np.int64(curve)


@inner
def add_and_pull(
    scores: Floats, group: Ints, weight: Floats, dither: Floats, last: int, leaf: Bytes, step: Floats, unit: float,
    room: Floats, packed: Longs, pull: Longs,
) -> None:  # fmt: skip
    """Add the steps of the last tree, then gradient P - [own class] and curvature P (1 - P) of the negative
    log-likelihood, for each class of the rows up to `last`, packed.

    They are rounded up or down by what `dither` (in 0 to 1) says of the row: right on average, however small they are.
    """
    classes = scores.shape[0]
    for start in range(0, last, BLOCK):
        stop = min(start + BLOCK, last)
        many = stop - start
        _chances(scores, start, stop, leaf, step, room)
        for k in range(classes):
            _pack(
                room[2 + k, :many], room[1, :many], group[start:stop], 1 if classes == 1 else k, weight[start:stop],
                dither[start:stop], unit, packed[:many],
            )  # fmt: skip
            out = pull[start:stop]
            for i in range(many):
                out[i, k] = packed[i]


@inner
def add_and_lose(
    scores: Floats, group: Ints, weight: Floats, first: int, last: int, leaf: Bytes, step: Floats, unit: float,
    room: Floats,
) -> int:  # fmt: skip
    """Add the steps of the last tree, then the sum of w * -log P(own class), each rounded, in units."""
    classes = scores.shape[0]
    top, total = room[0], room[1]
    out = np.int64(0)
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        _chances(scores, start, stop, leaf, step, room)
        for i in range(stop - start):
            own = group[start + i]
            if classes > 1:
                score = scores[own, start + i]
            else:
                score = scores[0, start + i] if own == 1 else 0.0
            out += np.int64(np.rint((np.log(total[i]) + top[i] - score) * weight[start + i] * unit))
    return out  # type: ignore[return-value]
