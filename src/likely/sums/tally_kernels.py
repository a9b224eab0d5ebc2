"""The loops over the tally of a number's values, compiled. They know keys, which are the bits of doubles without the
lowest, a hash index of them, and counts; no column, no rounding.
"""

from __future__ import annotations

import numpy as np

from likely.machinery.arrays import Floats, Hashes, Ints, Longs, Whole
from likely.machinery.jit import inner, kernel, leading_zeros
from likely.sums.kernels import EXPONENT, EXPONENT_AT, FRACTION, HALF, HIDDEN, ONE, SIGN_AT, add_to_bin

SCRAMBLE = np.uint64(0x9E3779B97F4A7C15)


@inner
def _slot(key: Whole, mask: int) -> int:
    """Where a key is looked for first."""
    mixed = key * SCRAMBLE
    return np.int64((mixed ^ (mixed >> HALF)) & np.uint64(0x7FFFFFFFFFFFFFFF)) & mask  # type: ignore[return-value]


@kernel("f8[], i4[], i8, i8, u8[], i8, i8, i4[], i4[]", returns=2)
def value_codes(
    x: Floats, group: Ints, start: int, level: int, keys: Hashes, known: int, limit: int, index: Ints, out: Ints
) -> tuple[Whole, Whole]:
    """Write the code of each x into out, finding or adding its key (its bits without the lowest `level`).

    Stops before the first value that would be key number limit+1. Returns where it stopped and how many keys are known.
    NaN gives -1, minus infinity -2, plus infinity -3.
    """
    bits = x.view(np.uint64)
    drop = np.uint64(level)
    mask = np.int64(index.size - 1)
    for i in range(start, bits.size):
        u = bits[i]
        if ((u >> EXPONENT_AT) & EXPONENT) == EXPONENT:
            out[i] = -1 if (u & FRACTION) != 0 else (-2 if (u >> SIGN_AT) else -3)
            continue
        if group[i] < 0:
            out[i] = -1
            continue
        if (u << ONE) == 0:
            u = np.uint64(0)  # minus zero is zero
        key = u >> drop
        at = _slot(key, mask)
        while index[at] >= 0 and keys[index[at]] != key:
            at = (at + 1) & mask
        if index[at] < 0:
            if known == limit:
                return i, known
            keys[known] = key
            index[at] = known
            known += 1
        out[i] = index[at]
    return bits.size, known


@kernel("f8[], i4[], i8, i8, u8[], i8, i8, i4[], i8[][], i8[][], i8, i8[][][]", returns=2)
def take_numbers(
    x: Floats,
    group: Ints,
    start: int,
    level: int,
    keys: Hashes,
    known: int,
    limit: int,
    index: Ints,
    table: Longs,
    other: Longs,
    least: int,
    bins: Longs,
) -> tuple[Whole, Whole]:
    """`value_codes`, `count` and, where the tally has dropped bits, `bin_powers` of rows of weight one, in one pass."""
    bits = x.view(np.uint64)
    drop = np.uint64(level)
    mask = np.int64(index.size - 1)
    for i in range(start, bits.size):
        g = group[i]
        if g < 0:
            continue
        u = bits[i]
        e = np.int64((u >> EXPONENT_AT) & EXPONENT)
        m = u & FRACTION
        if e == 0x7FF:
            other[0 if m != 0 else (1 if (u >> SIGN_AT) else 2), g] += 1
            continue
        if (u << ONE) == 0:
            u = np.uint64(0)  # minus zero is zero
        key = u >> drop
        at = _slot(key, mask)
        code = np.int64(index[at])
        while code >= 0 and keys[code] != key:
            at = (at + 1) & mask
            code = np.int64(index[at])
        if code < 0:
            if known == limit:
                return i, known
            keys[known] = key
            index[at] = known
            code = np.int64(known)
            known += 1
        table[code, g] += 1
        if level > 0 and u != 0:
            if e == 0:
                e = np.int64(1)
            else:
                m |= HIDDEN
            add_to_bin(bins, e - 1075 - least, g, m, u >> SIGN_AT)
    return bits.size, known


@kernel("u8[], i8, i4[]")
def index_keys(keys: Hashes, known: int, index: Ints) -> None:
    """Fill the empty hash index with the first `known` keys, all different."""
    mask = np.int64(index.size - 1)
    for k in range(known):
        at = _slot(keys[k], mask)
        while index[at] >= 0:
            at = (at + 1) & mask
        index[at] = k


@kernel("u8[], i8, u8[], i4[], i8[]", returns=1)
def merge_keys(keys: Hashes, bits: int, fewer: Hashes, index: Ints, places: Longs) -> Whole:
    """Drop so many bits from all keys. Those that are left go to `fewer` and the empty `index`, and key k becomes
    number places[k] of them. Returns how many are left."""
    drop = np.uint64(bits)
    mask = np.int64(index.size - 1)
    known = np.int64(0)
    for k in range(keys.size):
        key = keys[k] >> drop
        at = _slot(key, mask)
        while index[at] >= 0 and fewer[index[at]] != key:
            at = (at + 1) & mask
        if index[at] < 0:
            fewer[known] = key
            index[at] = np.int32(known)
            known += 1
        places[k] = index[at]
    return known


@kernel("u8[], i8, i8[]", returns=1)
def fewest_bits(ordered: Hashes, cap: int, room: Longs) -> Whole:
    """The fewest low bits whose loss leaves at most `cap` different ones of keys in order; `room` is 65 zeros.

    Neighbours fall together once all bits up to the highest in which they differ are gone.
    """
    for k in range(1, ordered.size):
        apart = ordered[k] ^ ordered[k - 1]
        if apart != 0:
            room[np.int64(64) - np.int64(leading_zeros(apart))] += 1
    kept = np.int64(1)
    bits = np.int64(64)
    while bits > 0 and kept + room[bits] <= cap:
        kept += room[bits]
        bits -= 1
    return bits


@inner
def _add_row(digits: Longs, row: int, sign: int, out: Longs, at: int) -> None:
    for p in range(digits.shape[0]):
        for g in range(digits.shape[2]):
            out[p, at, g] += sign * digits[p, row, g]


@kernel("u8[], i8[][][], i8, u8[], i8[][][], i8, i8, u8[], i8[][][]", returns=1)
def merge_tallies(
    keys: Hashes,
    digits: Longs,
    drop: int,
    others: Hashes,
    other_digits: Longs,
    other_drop: int,
    sign: int,
    merged: Hashes,
    out: Longs,
) -> Whole:
    """Merge two tallies whose keys rise, each after so many bits of its keys were dropped; what has the same key falls
    together. Digits are [position, key, group]; those of the other are added `sign` times to `out`, which is zero.
    Returns how many keys there are: they rise again."""
    mine, theirs, known = 0, 0, 0
    shift, other_shift = np.uint64(drop), np.uint64(other_drop)
    while mine < keys.size or theirs < others.size:
        from_mine = mine < keys.size
        if from_mine and theirs < others.size:
            from_mine = (keys[mine] >> shift) <= (others[theirs] >> other_shift)
        key = keys[mine] >> shift if from_mine else others[theirs] >> other_shift
        if known == 0 or merged[known - 1] != key:
            merged[known] = key
            known += 1
        if from_mine:
            _add_row(digits, mine, 1, out, known - 1)
            mine += 1
        else:
            _add_row(other_digits, theirs, sign, out, known - 1)
            theirs += 1
    return known
