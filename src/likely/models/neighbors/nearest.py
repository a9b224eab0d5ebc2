"""The search for the nearest rows, compiled: by all rows, or by boxes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats, Ints, Longs
from likely.machinery.jit import inner, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Training rows in boxes, made by halving again and again, so that neighbours are looked for in near boxes only.

LEAST = 200
"""Rows of a box that is not worth halving (measured on 8 numbers and on mixed columns, from 32 to 512)."""
MOST_BOXES = 1024
"""More are not worth having, as each query measures its distance from all of them."""


@dataclass(frozen=True)
class Boxes:
    """Rows in `order` are cut into `1 << levels` boxes of (nearly) equal numbers. Of each box, (columns, boxes): the
    least and the most of each number and code, and how far apart at most a number is, as one may be missing."""

    order: NDArray[np.intp]
    levels: int
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    most: NDArray[np.float64]
    first: NDArray[np.int32]
    last: NDArray[np.int32]

    @property
    def rows(self) -> int:
        """The most rows that a box has."""
        return (len(self.order) >> self.levels) + 1


def build_boxes(
    points: NDArray[np.float64],
    codes: NDArray[np.int32],
    far: NDArray[np.float64],
    apart: NDArray[np.float64],
    city: bool,
) -> Boxes:
    """Put rows, (columns, rows), into boxes; `far` and `apart` are what missing numbers and different codes add."""
    rows, levels = points.shape[1], 0
    while rows >> levels > LEAST and 1 << levels < MOST_BOXES:
        levels += 1
    order = np.arange(rows)
    _halve(points, codes, apart, int(city), levels, order, np.empty(rows))
    points, codes = points.take(order, axis=1), codes.take(order, axis=1)
    starts = (rows * np.arange(1 << levels, dtype=np.int64)) >> levels
    if not rows:
        starts = starts[:0]
    low = np.minimum.reduceat(np.where(np.isnan(points), np.inf, points), starts, axis=1)
    high = np.maximum.reduceat(np.where(np.isnan(points), -np.inf, points), starts, axis=1)
    gone = np.logical_or.reduceat(np.isnan(points), starts, axis=1)
    first, last = (np.ascontiguousarray(f.reduceat(codes, starts, axis=1)) for f in (np.minimum, np.maximum))
    return Boxes(order, levels, low, high, np.where(gone, far[:, None], np.inf), first, last)


@inner
def _select(key: Floats, order: Longs, low: int, high: int, middle: int) -> None:
    """Move keys low … high-1, and the order with them, so that none before `middle` is above one from there on."""
    high -= 1
    while low < high:
        pivot = key[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while key[i] < pivot:
                i += 1
            while key[j] > pivot:
                j -= 1
            if i <= j:
                key[i], key[j] = key[j], key[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@kernel("f8[][], i4[][], f8[], i8, i8, i8[], f8[]")
def _halve(points: Floats, codes: Ints, apart: Floats, city: int, levels: int, order: Longs, key: Floats) -> None:
    """Halve boxes where their rows are farthest apart: by a number, or by the codes of an attribute."""
    rows = order.size
    for level in range(levels):
        for place in range(1 << level):
            start, stop = rows * place >> level, rows * (place + 1) >> level
            widest, by = 0.0, -1
            for j in range(points.shape[0]):
                low, high = np.inf, -np.inf
                for r in range(start, stop):
                    x = points[j, order[r]]
                    if x == x:
                        low, high = min(low, x), max(high, x)
                width = high - low
                if width > 0.0:
                    width *= 1.0 if city else width
                    if width > widest:
                        widest, by = width, j
            for j in range(codes.shape[0]):
                if apart[j] > widest:
                    some = codes[j, order[start]]
                    for r in range(start, stop):
                        if codes[j, order[r]] != some:
                            widest, by = apart[j], points.shape[0] + j
                            break
            if by < 0:
                continue
            for r in range(start, stop):
                if by < points.shape[0]:
                    x = points[by, order[r]]
                    key[r] = x if x == x else np.inf
                else:
                    key[r] = codes[by - points.shape[0], order[r]]
            _select(key, order, start, stop, rows * (2 * place + 1) >> (level + 1))


@inner
def reaches(
    i: int, query: Floats, query_codes: Ints, low: Floats, high: Floats, most: Floats, first: Ints, last: Ints,
    unknown: Floats, apart: Floats, city: int, out: Floats,
) -> None:  # fmt: skip
    """For each box a distance that none of its rows is nearer to query i than."""
    for b in range(out.size):
        out[b] = 0.0
    for j in range(low.shape[0]):
        q, none = query[i, j], unknown[j]
        if q != q:
            for b in range(out.size):
                out[b] += none
            continue
        least, highest, cap = low[j], high[j], most[j]
        for b in range(out.size):
            below, above = least[b] - q, q - highest[b]
            x = below if below > 0.0 else 0.0  # so is infinity less infinity, of which there is no saying
            x = above if above > x else x
            x = x if city else x * x
            out[b] += x if x < cap[b] else cap[b]
    for j in range(first.shape[0]):
        q, step = query_codes[i, j], apart[j]
        least_code, highest_code = first[j], last[j]
        if q < 0:
            for b in range(out.size):
                out[b] += step
            continue
        for b in range(out.size):
            out[b] += 0.0 if least_code[b] <= q and q <= highest_code[b] else step


# The loop over all training rows that finds the nearest ones, compiled. Knows arrays of distances, no schema.

FIRST = 4
"""Boxes that are looked for as the nearest; by then neighbours are near enough to pass over most of the others."""


@inner
def _measure(
    i: int, query: Floats, query_codes: Ints, first: int, rows: Floats, codes: Ints, unknown: Floats, far: Floats,
    apart: Floats, city: int, out: Floats,
) -> None:  # fmt: skip
    """The distance of query i from each of the rows that begin with `first`, column by column."""
    for r in range(out.size):
        out[r] = 0.0
    for j in range(rows.shape[0]):
        q, none, gone = query[i, j], unknown[j], far[j]
        column = rows[j, first : first + out.size]
        if q != q:
            for r in range(out.size):
                out[r] += none
        elif city:
            for r in range(out.size):
                x = column[r] - q
                out[r] += abs(x) if x == x else gone
        else:
            for r in range(out.size):
                x = column[r] - q
                out[r] += x * x if x == x else gone
    for j in range(codes.shape[0]):
        level, step = query_codes[i, j], apart[j]
        cells = codes[j, first : first + out.size]
        if level < 0:
            for r in range(out.size):
                out[r] += step
        else:
            for r in range(out.size):
                out[r] += 0.0 if cells[r] == level else step


@inner
def _put(d: float, group: int, weight: float, k: int, grow: int, used: int, at: Floats, held: Floats) -> int:
    """Put a row at distance d into its slot, drop slots that are not needed any more; how many are used then."""
    last = held.shape[1] - 1
    s = used
    while s > 0 and at[s - 1] >= d:
        s -= 1
    if s == used or at[s] != d:
        for t in range(used, s, -1):
            at[t] = at[t - 1]
            for c in range(last + 1):
                held[t, c] = held[t - 1, c]
        at[s] = d
        for c in range(last + 1):
            held[s, c] = 0.0
        used += 1
    held[s, group] += weight
    held[s, last] += weight
    total = 0.0
    for t in range(used):
        total += held[t, last]
        if total >= k and (at[t] > 0.0 or not grow):
            return t + 1
    return used


@inner
def _count(k: int, city: int, inverse: int, used: int, at: Floats, held: Floats, votes: Floats) -> None:
    """The votes of the rows in the slots; the last slot is taken in part."""
    last = held.shape[1] - 1
    before = 0.0
    for t in range(used - 1):
        before += held[t, last]
    for c in range(last):
        votes[c] = 0.0
    for t in range(used):
        share = 1.0
        if t == used - 1 and before < k and before + held[t, last] > k:
            share = (k - before) / held[t, last]
        if inverse and at[0] < np.inf:
            if at[0] == 0.0:
                if t > 0:
                    break
            elif city:
                share *= at[0] / at[t]
            else:
                share *= np.sqrt(at[0] / at[t])
        for c in range(last):
            votes[c] += share * held[t, c]


@inner
def _look(
    i: int, query: Floats, query_codes: Ints, start: int, rows: Floats, codes: Ints, group: Ints, weight: Floats,
    unknown: Floats, far: Floats, apart: Floats, k: int, city: int, grow: int, used: int, farthest: float,
    tile: Floats, at: Floats, held: Floats,
) -> tuple[int, float]:  # fmt: skip
    """Look through the rows from `start` on that `tile` has room for: slots used then, and how far neighbours reach."""
    _measure(i, query, query_codes, start, rows, codes, unknown, far, apart, city, tile)
    size = held.shape[1] - 1
    for r in range(tile.size):
        if tile[r] <= farthest:
            who = start + r
            used = _put(tile[r], group[who], weight[who], k, grow, used, at, held)
            total = 0.0
            for t in range(used):
                total += held[t, size]
            if total >= k and (at[used - 1] > 0.0 or not grow):
                farthest = at[used - 1]
    return used, farthest


@kernel(
    "f8[][], i4[][], f8[][], i4[][], i4[], f8[], i8, f8[][], f8[][], f8[][], i4[][], i4[][], f8[], f8[], f8[], "
    "i8, i8, i8, i8, f8[], f8[], f8[], f8[][], f8[][], f8[]"
)
def nearest(
    query: Floats, query_codes: Ints, rows: Floats, codes: Ints, group: Ints, weight: Floats, levels: int,
    low: Floats, high: Floats, most: Floats, first: Ints, last: Ints, unknown: Floats, far: Floats, apart: Floats,
    k: int, city: int, grow: int, inverse: int, tile: Floats, away: Floats, at: Floats, held: Floats, votes: Floats,
    radius: Floats,
) -> None:  # fmt: skip
    """votes[i] = what the k nearest rows of query i weigh in each class; radius[i] = the distance of the k-th.

    `rows` and `codes` are (columns, rows), in the order of the boxes that `levels` … `last` describe. Distances are
    squared unless `city`; columns are scaled already. A column adds `unknown` where the query has no number, `far`
    where the row has none, and `apart` where codes differ or either is missing. Rows at one distance share one slot:
    `at` holds the distances in order, `held` what each class weighs there and, last, their sum; both need one slot more
    than can be filled. The last slot is taken in part, so that exactly k are counted. `grow`: slots at distance zero
    never close the ball. `inverse`: votes are divided by the distance, and rows at distance zero decide alone.

    Room to work in: `tile` for the distances of the rows of a box, `away` for those of the boxes.
    """
    size = weight.size
    for i in range(votes.shape[0]):
        used, farthest = 0, np.inf
        reaches(i, query, query_codes, low, high, most, first, last, unknown, apart, city, away)
        for turn in range(FIRST + away.size):
            box = turn - FIRST
            if turn < FIRST:
                box, least = 0, np.inf
                for b in range(away.size):
                    if away[b] < least:
                        box, least = b, away[b]
            if not away[box] <= farthest:  # or it was seen: that is marked by NaN
                continue
            start, stop = size * box >> levels, size * (box + 1) >> levels
            away[box] = np.nan
            some = tile[: stop - start]
            used, farthest = _look(
                i,
                query,
                query_codes,
                start,
                rows,
                codes,
                group,
                weight,
                unknown,
                far,
                apart,
                k,
                city,
                grow,
                used,
                farthest,
                some,
                at,
                held,
            )
        _count(k, city, inverse, used, at, held, votes[i])
        radius[i] = at[used - 1] if city else np.sqrt(at[used - 1])
