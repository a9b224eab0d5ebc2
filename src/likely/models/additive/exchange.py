"""Sums over rows that may be on several machines, as whole numbers: neither the order of rows nor where they are
changes a bit. Knows coded rows and `Exchange`, which adds what machines say; nothing of trees, and nothing of Spark.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.machinery.arrays import Floats, Longs
from likely.models.additive.coding import CodedRows
from likely.models.additive.histograms import CODES
from likely.models.contracts import Exchange

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIGITS = 52
"""Bits of the weight of all rows together: sums of doubles that are whole numbers below 2**53 are exact."""
MOST_ASKED = 1 << 12
"""Rows that are asked what terms say of them at most: those with the smallest hashes."""
_EXPONENTS, _HALF = 1_100, 27
"""Exponents of doubles are above -1,100 and below 1,100; a mantissa is a number of 27 bits, and one of 26."""


@dataclass(frozen=True)
class Alone:
    """The exchange of one machine, which has all rows."""

    place: int = 0
    places: int = 1
    threads: int | None = None

    def __call__(self, sums: Longs) -> Longs:
        return sums


ALONE = Alone()


def sum_weights(weight: Floats, exchange: Exchange = ALONE) -> float:
    """The weight of all rows: their exact sum, rounded once.

    >>> sum_weights(np.array([1e16, 1.0, 1.0]))
    1.0000000000000002e+16
    """
    mantissa, exponent = np.frexp(weight)
    high = np.floor(np.ldexp(mantissa, _HALF))
    sums = np.zeros((2, 2 * _EXPONENTS), np.int64)
    np.add.at(sums[0], exponent + _EXPONENTS, high.astype(np.int64))
    low = np.ldexp(np.ldexp(mantissa, _HALF) - high, 53 - _HALF)
    np.add.at(sums[1], exponent + _EXPONENTS, low.astype(np.int64))
    whole = exchange(sums)
    each = (whole[0].astype(object) << (53 - _HALF)) + whole[1]
    two = Fraction(2)
    return float(sum(int(each[k]) * two ** int(k - _EXPONENTS - 53) for k in np.flatnonzero(each)))


def find_start(rows: CodedRows, exchange: Exchange) -> tuple[int, int]:
    """How many rows are before those that are here, and how many there are in all."""
    counts = np.zeros(exchange.places, np.int64)
    counts[exchange.place] = len(rows)
    counts = exchange(counts)
    return int(counts[: exchange.place].sum()), int(counts.sum())


def first_rows(rows: CodedRows, most: int, exchange: Exchange = ALONE) -> CodedRows:
    """The first of all rows, in the order of hashes, wherever they are."""
    if exchange.places == 1:
        return rows.take(slice(0, most))
    start, count = find_start(rows, exchange)
    # Each row as whole numbers, to which the others add 0.
    parts: list[NDArray[Any]] = [rows.codes, rows.group[:, None], rows.weight[:, None], rows.hashes[:, None]]
    parts += [] if rows.base is None else [rows.base]
    widths = [part.shape[1] * part.itemsize for part in parts]
    own = np.zeros((max(min(most, count) - start, 0), -(-sum(widths) // 8) * 8), np.uint8)[: len(rows)]
    places = np.cumsum([0, *widths])
    for part, at, width in zip(parts, places, widths, strict=False):
        own[:, at : at + width] = part[: len(own)].view(np.uint8).reshape(len(own), width)
    sums = np.zeros((min(most, count), own.shape[1] // 8), np.int64)
    sums[start : start + len(own)] = own.view(np.int64)
    whole = exchange(sums).view(np.uint8)
    codes, group, weight, hashes, *base = (
        np.ascontiguousarray(whole[:, at : at + width]).view(part.dtype)
        for part, at, width in zip(parts, places, widths, strict=False)
    )
    return CodedRows(codes, group[:, 0], weight[:, 0], hashes[:, 0], rows.most, rows.dropped, *base)


def keep_first(rows: CodedRows, most: int, exchange: Exchange) -> CodedRows:
    """The rows that are here, without those that are beyond so many in all: as `CodedRows.tallied` drops them."""
    start, count = find_start(rows, exchange)
    if count <= most:
        return rows
    last = np.zeros(1, np.uint64)
    if start <= most < start + len(rows):
        last[0] = rows.hashes[most - start]
    last = exchange(last.view(np.int64)).view(np.uint64)
    return replace(rows.take(slice(0, int(np.searchsorted(rows.hashes, last[0])))), dropped=True)


class RowSums:
    """What trees that were grown over rows are taken apart by: sums of weights by codes, and the first rows."""

    def __init__(self, rows: CodedRows, exchange: Exchange = ALONE) -> None:
        self.codes, self._exchange = rows.codes, exchange
        self.first = first_rows(rows, MOST_ASKED, exchange)
        total = sum_weights(rows.weight, exchange)
        self._digits = DIGITS - math.frexp(total)[1]
        self._weight = np.rint(np.ldexp(rows.weight, self._digits))
        here = [np.bincount(codes, self._weight, CODES).astype(np.int64) for codes in rows.codes.T]
        sums = exchange(np.array(here, np.int64).reshape(-1, CODES))
        self.by_code = np.ldexp(sums.astype(np.float64), -self._digits)
        """The weight of the rows with each code, (attributes, CODES)."""

    def tally(self, cells: NDArray[np.int64], size: int) -> Floats:
        """The weight of the rows in each cell."""
        here = np.bincount(cells, self._weight, size).astype(np.int64)
        return np.ldexp(self._exchange(here).astype(np.float64), -self._digits)
