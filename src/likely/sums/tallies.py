"""Tallies: keys (the bits of doubles without the lowest) and what each weighs, found by a hash index, coarsened
and merged. Knows no column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats, Hashes, Ints
from likely.sums import tally_kernels
from likely.sums.exact import Exact

if TYPE_CHECKING:
    from numpy.typing import NDArray


def index_size(known: int, least: int = 16) -> int:
    """Places of a hash index that is at most half full."""
    while least < 2 * known:
        least *= 4
    return least


def index_keys(keys: Hashes, known: int, secret: Hashes, least: int = 16) -> NDArray[np.int32]:
    """A hash index of the first `known` keys, in places that the secret decides."""
    index = np.full(index_size(known, least), -1, np.int32)
    tally_kernels.index_keys(keys, known, secret, index)
    return index


def bits_to_drop(ordered: Hashes, cap: int) -> int:
    """The fewest low bits whose loss leaves at most `cap` different ones of keys in order."""
    if len(ordered) <= cap:
        return 0
    return int(tally_kernels.fewest_bits(ordered, cap, np.zeros(65, np.int64)))


def bits_to_drop_ahead(keys: Hashes, known: int, x: Floats, group: Ints, start: int, level: int, cap: int) -> int:
    """The same of the first `known` keys, in whatever order, together with those of x[start:] (of groups not negative),
    at this level."""
    found, spare = (np.empty(known + len(x) - start, np.uint64) for _ in range(2))
    places, room = np.empty(1 << 11, np.int64), np.zeros(65, np.int64)
    return int(tally_kernels.fewest_bits_ahead(keys, known, x, group, start, level, cap, found, spare, places, room))


def coarsen_tally(
    keys: Hashes, known: int, table: Exact, bits: int, secret: Hashes
) -> tuple[Hashes, int, Exact, NDArray[np.int32]]:
    """Drop so many more bits from the first `known` keys, in whatever order, and add up what falls together.

    Keys, how many there are, what they weigh, and their hash index; with as much room for more as there was before.
    """
    digits, base = table.addable()
    fewer, out = np.zeros(len(keys), np.uint64), np.zeros_like(digits)
    index = np.full(index_size(known), -1, np.int32)
    left = tally_kernels.coarsen_keys(keys, known, digits, bits, fewer, secret, index, out)
    return fewer, int(left), Exact(out, base), index


def merge_tallies(one: tuple[Hashes, Exact, int], two: tuple[Hashes, Exact, int], sign: int) -> tuple[Hashes, Exact]:
    """Two tallies in order as one, the second added or taken away; each is its keys, what they weigh, and how many
    bits are dropped. Keys without weight go."""
    (keys, table, drop), (others, other_table, other_drop) = one, two
    mine, theirs, base = table.beside(other_table)
    most = len(keys) + len(others)
    merged, digits = np.empty(most, np.uint64), np.zeros((len(mine), most, mine.shape[2]), np.int64)
    known = tally_kernels.merge_tallies(keys, mine, drop, others, theirs, other_drop, sign, merged, digits)
    merged, whole = merged[:known], Exact.settled(digits[:, :known], base)
    some = ~whole.is_zero().all(axis=1)
    return (merged, whole) if some.all() else (merged[some], whole[some].canonical())
