"""Training rows in boxes, made by halving again and again, so that neighbours are looked for in near boxes only.

Knows arrays, no schema. The distance of a box is added up as that of a row is, column by column in the same order.
Since rounding keeps order, no row is measured nearer than its box: what is found is the same as without boxes, to the
last bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats, Ints, Longs
from likely.machinery.jit import inner, kernel
from likely.machinery.records import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
