"""Exact sums of x and of x*x, per group of rows, the quick way: whole mantissas are added up apart for each exponent.

Nothing is shifted while rows come in; bins of exponents are moved to the digits of exact sums now and then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats, Hashes, Ints, Longs
from likely.machinery.jit import inner, kernel
from likely.sums import kernels, tallies
from likely.sums.contracts import Weights
from likely.sums.exact import Exact

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROOM = 1 << 19
"""Rows that a bin may take: each adds less than 2**42 + 1 to the upper half of a sum of squares."""
LOW, HALF = np.int64(0xFFFFFFFF), np.int64(32)
_PARTS = 4
"""Per exponent and group: the sum of mantissas in two halves of 32 bits, that of their squares in two of 64 bits."""


class Powers:
    """The sums of the first and second powers of numbers; NaN and infinities are passed over."""

    __slots__ = ("_bins", "_first", "_least", "_rows", "_second")

    def __init__(self, groups: int) -> None:
        nothing = np.zeros((1, groups), np.int64)  # shared until something is added to it
        self._first, self._second = Exact(nothing, tidy=True), Exact(nothing, tidy=True)
        self._bins: NDArray[np.int64] = np.zeros((0, groups, _PARTS), np.int64)
        self._least = 0
        self._rows = 0

    @classmethod
    def of(cls, first: Exact, second: Exact) -> Powers:
        """Sums that are known already."""
        out = cls.__new__(cls)
        out._first, out._second = first, second
        out._bins, out._least, out._rows = np.zeros((0, first.shape[0], _PARTS), np.int64), 0, 0
        return out

    @classmethod
    def of_tally(cls, keys: Hashes, counts: Longs) -> Powers | None:
        """The sums of values of which each, by its bits, is there so often; None where these are too many for bins."""
        rows = int(counts.sum())
        if rows > ROOM:
            return None
        out = cls(counts.shape[1])
        least, most = kernels.exponents(keys.view(np.float64))
        if least <= most:
            out._make_bins(least, most, rows)
            tallies.bin_tally(keys, len(keys), counts, least, out._bins)
        return out

    def resize(self, groups: int) -> None:
        """Grow to so many groups."""
        self._empty_bins()
        self._bins = np.zeros((0, groups, _PARTS), np.int64)
        self._first.resize(groups)
        self._second.resize(groups)

    def add(self, x: Floats, group: Ints, weights: Weights) -> None:
        """Take in numbers with their groups (negative: left out) and weights."""
        least, most = kernels.exponents(x)
        if least > most:
            return
        if weights.plain:
            for start in range(0, len(x), ROOM):
                some = slice(start, start + ROOM)
                self._make_bins(least, most, len(x[some]))
                kernels.bin_powers(x[some], group[some], self._least, self._bins)
            return
        first, second = self._first, self._second
        low, high = weights.base, weights.base + len(weights.chunks)
        first.cover((least >> 5) + low, (most >> 5) + 3 + high, len(x))
        second.cover((2 * least >> 5) + low, (2 * most >> 5) + 5 + high, len(x))
        for k, chunk in enumerate(weights.chunks, weights.base):
            kernels.add_scaled_powers(x, group, chunk, first.planes, first.base - k, second.planes, second.base - k)

    def add_rows(self, x: Floats, group: Ints) -> None:
        """Take in rows of several columns, (rows, columns): what is in column k of group g goes to group
        g * columns + k."""
        least, most = kernels.exponents(x.reshape(-1))
        if least > most:
            return
        for start in range(0, len(x), ROOM):
            some = slice(start, start + ROOM)
            self._make_bins(least, most, len(x[some]))
            kernels.bin_row_powers(x[some], group[some], self._least, self._bins)

    def _make_bins(self, least: int, most: int, rows: int) -> None:
        """Bins for the exponents least … most, with room for so many rows."""
        self.reserve(rows)
        self.widen(least, most)

    @property
    def bins(self) -> tuple[NDArray[np.int64], int]:
        """The bins that `tallies.take_columns` adds rows to, for which room was reserved, and the first's exponent."""
        return self._bins, self._least

    def reserve(self, rows: int) -> None:
        """Room for so many rows in each bin."""
        if self._rows + rows > ROOM:
            self._empty_bins()
        self._rows += rows

    def widen(self, least: int, most: int) -> None:
        """Bins for the exponents least … most as well."""
        have = len(self._bins)
        low = min(least, self._least) if have else least
        high = max(most, self._least + have - 1) if have else most
        if high - low + 1 != have:
            grown = np.zeros((high - low + 1, *self._bins.shape[1:]), np.int64)
            grown[self._least - low : self._least - low + have] = self._bins
            self._bins, self._least = grown, low

    def _empty_bins(self) -> None:
        """Move what the bins hold to the exact sums."""
        if not self._rows:
            return
        least, most = self._least, self._least + len(self._bins) - 1
        first, second = self._first, self._second
        first.cover(least >> 5, (most >> 5) + 4, 2 * len(self._bins))
        second.cover(2 * least >> 5, (2 * most >> 5) + 6, 4 * len(self._bins))
        move_bins(self._bins, least, first.planes, first.base, second.planes, second.base)
        self._bins[...] = 0
        self._rows = 0

    def sums(self) -> tuple[Exact, Exact]:
        """Sum of x and sum of x*x in each group."""
        self._empty_bins()
        return self._first, self._second


@inner
def _add_at(value: int, bit: int, planes: Longs, base: int, g: int) -> None:
    """Add value * 2**bit to the digits of planes[:, g]."""
    at = (bit >> 5) - base
    shift = np.int64(bit & 31)
    low = (value & LOW) << shift
    high = (value >> HALF) << shift
    planes[at, g] += low & LOW
    planes[at + 1, g] += (low >> HALF) + (high & LOW)
    planes[at + 2, g] += high >> HALF


@kernel("i8[][][], i8, i8[][], i8, i8[][], i8")
def move_bins(bins: Longs, least: int, first: Longs, base1: int, second: Longs, base2: int) -> None:
    """Add what `kernels.add_to_bin` put into bins[k, g], of exponent least + k, to the digits of both sums."""
    for k in range(bins.shape[0]):
        p = least + k
        for g in range(bins.shape[1]):
            _add_at(bins[k, g, 0], p, first, base1, g)
            _add_at(bins[k, g, 1], p + 32, first, base1, g)
            low = bins[k, g, 2]  # unsigned: its halves are added one by one
            _add_at(low & LOW, 2 * p, second, base2, g)
            _add_at((low >> HALF) & LOW, 2 * p + 32, second, base2, g)
            _add_at(bins[k, g, 3], 2 * p + 64, second, base2, g)
