"""Tallies of a number's values: found by a hash index, coarsened, cut into bins of about equal weight."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.machinery.arrays import Bytes, Floats, Hashes, Ints, Longs, Whole, distinct
from likely.machinery.jit import floats_at, hashes_at, inner, ints_at, kernel, leading_zeros, longs_at
from likely.sums.exact import Exact
from likely.sums.kernels import (
    EXPONENT,
    EXPONENT_AT,
    FRACTION,
    ONE,
    SIGN_AT,
    add_times_to_bin,
    add_to_bin,
    split_bits,
)
from likely.table.words import fold_product

if TYPE_CHECKING:
    from numpy.typing import NDArray


# The loops over the tally of a number's values, compiled. They know keys, which are the bits of doubles without the
# lowest, a hash index of them, and counts; no column, no rounding.


@inner
def _slot(key: Whole, secret: Hashes, mask: Whole) -> Any:
    """Where a key is looked for first. It depends on a secret: nobody can choose numbers that fall into one place."""
    return fold_product(key, secret[0]) & mask


@kernel("f8[], i4[], i8, i8, u8[], i8, i8, u8[], i4[], i4[]", returns=2)
def value_codes(
    x: Floats,
    group: Ints,
    start: int,
    level: int,
    keys: Hashes,
    known: int,
    limit: int,
    secret: Hashes,
    index: Ints,
    out: Ints,
) -> tuple[Whole, Whole]:
    """Write the code of each x into out, finding or adding its key (its bits without the lowest `level`).

    Stops before the first value that would be key number limit+1. Returns where it stopped and how many keys are known.
    NaN gives -1, minus infinity -2, plus infinity -3.
    """
    bits = x.view(np.uint64)
    drop = np.uint64(level)
    mask = np.uint64(index.size - 1)
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
        at = _slot(key, secret, mask)
        while index[at] >= 0 and keys[index[at]] != key:
            at = (at + ONE) & mask
        if index[at] < 0:
            if known == limit:
                return i, known
            keys[known] = key
            index[at] = known
            known += 1
        out[i] = index[at]
    return bits.size, known


X, DONE, KNOWN, WANTS, LEVEL, LIMIT, SECRET, KEYS, INDEX, PLACES, TABLE, OTHER, BINS, EXPONENTS, LEAST = range(15)
"""What `take_columns` is told of a column: addresses of its cells and of what is kept of it, and how large that is."""
SPACE, WIDER_BINS = 1, 2
"""What a column wants before it can take in its next row: room for one more value, or bins for other exponents."""


@inner
def _take_numbers(
    x: Floats,
    group: Ints,
    start: int,
    end: int,
    level: int,
    keys: Hashes,
    known: int,
    secret: Hashes,
    index: Ints,
    table: Longs,
    other: Longs,
    least: int,
    bins: Longs,
) -> tuple[Whole, Whole, Whole]:
    """`value_codes`, `count` and, where the tally has dropped bits, `bin_powers` of rows of weight one, in one pass:
    where it stopped, how many keys are known, and what it wants there.

    Places are unsigned: a place that may be below zero is looked at twice, which costs a quarter of the time here.
    """
    bits = x.view(np.uint64)
    drop = np.uint64(level)
    mask = np.uint64(index.size - 1)
    first, exponents = np.uint64(1075 + least), np.uint64(bins.shape[0])
    for i in range(np.uint64(start), np.uint64(end)):
        if group[i] < 0:
            continue
        g = np.uint64(group[i])
        u = bits[i]
        e, m = split_bits(u)
        if e == EXPONENT:
            other[0 if (u & FRACTION) != 0 else (1 if (u >> SIGN_AT) else 2), g] += 1
            continue
        if (u << ONE) == 0:
            u = np.uint64(0)  # minus zero is zero
        binned = level > 0 and u != 0
        if binned and e - first >= exponents:  # below the first as well, being unsigned
            return np.int64(i), known, np.int64(WIDER_BINS)
        key = u >> drop
        at = _slot(key, secret, mask)
        code = index[at]
        while code >= 0 and keys[np.uint64(code)] != key:
            at = (at + ONE) & mask
            code = index[at]
        if code < 0:
            if known == keys.size:
                return np.int64(i), known, np.int64(SPACE)
            keys[known] = key
            index[at] = known
            code = np.int32(known)
            known += 1
        table[np.uint64(code), g] += 1
        if binned:
            add_to_bin(bins, e - first, g, m, u >> SIGN_AT)
    return np.int64(end), known, np.int64(0)


@kernel("i8[][], i4[], i8, i8", returns=1)
def take_columns(columns: Longs, group: Ints, end: int, groups: int) -> Whole:
    """Take the rows up to `end`, of weight one, into the tallies of many columns, from where each is DONE; returns how
    many of them could not take in all, as they want something first."""
    waiting = np.int64(0)
    for c in range(columns.shape[0]):
        limit = columns[c, LIMIT]
        columns[c, DONE], columns[c, KNOWN], columns[c, WANTS] = _take_numbers(
            floats_at(columns[c, X], (end,)),
            group,
            columns[c, DONE],
            end,
            columns[c, LEVEL],
            hashes_at(columns[c, KEYS], (limit,)),
            columns[c, KNOWN],
            hashes_at(columns[c, SECRET], (np.int64(1),)),
            ints_at(columns[c, INDEX], (columns[c, PLACES],)),
            longs_at(columns[c, TABLE], (limit, groups)),
            longs_at(columns[c, OTHER], (np.int64(3), groups)),
            columns[c, LEAST],
            longs_at(columns[c, BINS], (columns[c, EXPONENTS], groups, np.int64(4))),
        )
        waiting += np.int64(columns[c, DONE] < end)
    return waiting


@kernel("u8[], i8, u8[], i4[]")
def fill_index(keys: Hashes, known: int, secret: Hashes, index: Ints) -> None:
    """Fill the empty hash index with the first `known` keys, all different."""
    mask = np.uint64(index.size - 1)
    for k in range(known):
        at = _slot(keys[k], secret, mask)
        while index[at] >= 0:
            at = (at + ONE) & mask
        index[at] = k


@inner
def _add_row(digits: Longs, row: int, sign: int, out: Longs, at: int) -> None:
    """Add row `row` of the digits [position, row, group], sign times, to row `at` of others."""
    for p in range(digits.shape[0]):
        for g in range(digits.shape[2]):
            out[p, at, g] += sign * digits[p, row, g]


@kernel("u8[], i8[][][], i8[], u8[], i8[][][]", returns=1)
def sort_tally(keys: Hashes, digits: Longs, order: Longs, ordered: Hashes, out: Longs) -> Whole:
    """Write keys in this order and what each weighs, digits [position, key, group], but none that weighs nothing.
    Returns how many are left."""
    left = np.int64(0)
    for k in range(order.size):
        at = np.uint64(order[k])
        some = np.int64(0)
        for p in range(digits.shape[0]):
            for g in range(digits.shape[2]):
                out[p, left, g] = digits[p, at, g]
                some |= digits[p, at, g]
        if some != 0:
            ordered[left] = keys[at]
            left += 1
    return left


@kernel("u8[], i8, i8[][][], i8, u8[], u8[], i4[], i8[][][]", returns=1)
def coarsen_keys(
    keys: Hashes, known: int, digits: Longs, bits: int, fewer: Hashes, secret: Hashes, index: Ints, out: Longs
) -> Whole:
    """Drop so many bits from the first `known` keys. Those that are left go to `fewer` and the empty `index`, and what
    they weigh, digits [position, key, group], is added up in `out`. Returns how many are left."""
    drop = np.uint64(bits)
    mask = np.uint64(index.size - 1)
    left = np.int64(0)
    for k in range(known):
        key = keys[k] >> drop
        at = _slot(key, secret, mask)
        while index[at] >= 0 and fewer[index[at]] != key:
            at = (at + ONE) & mask
        if index[at] < 0:
            fewer[left] = key
            index[at] = np.int32(left)
            left += 1
        _add_row(digits, k, 1, out, np.int64(index[at]))
    return left


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


BELOW_SIGN = np.uint64((1 << 63) - 1)
MANTISSA = 52


@kernel("f8[], i4[], i8, i8, u1[]", returns=1)
def mark_places(x: Floats, group: Ints, least: int, left: int, marks: Bytes) -> Whole:
    """Mark the place on the line of each x but for its bits below the first `left` of the
    mantissa, from exponent `least` on; what is below zero comes in the second half, zero nowhere. Says whether there is
    a zero, or -1 where a number is too small for a place."""
    bits = x.view(np.uint64)
    drop, below, half = np.uint64(MANTISSA - left), np.uint64(least << left), np.uint64(marks.size >> 1)
    zero = np.int64(0)
    for i in range(np.uint64(bits.size)):
        u = bits[i]
        e = (u >> EXPONENT_AT) & EXPONENT
        if group[i] < 0:
            continue
        if e - ONE < EXPONENT - ONE:
            marks[((u & BELOW_SIGN) >> drop) - below + (u >> SIGN_AT) * half] = 1
        elif (u << ONE) == 0:
            zero = np.int64(1)
        elif e == 0:
            return np.int64(-1)
    return zero


@kernel("u8[], i8, i8[][], i8, i8[][][]")
def bin_tally(keys: Hashes, known: int, table: Longs, least: int, bins: Longs) -> None:
    """Add the first `known` keys, whole doubles of which each is there table[k, g] times, to the bins of exponents."""
    for k in range(known):
        u = keys[k]
        if (u << ONE) == 0:
            continue
        e, m = split_bits(u)
        for g in range(table.shape[1]):
            if table[k, g] != 0:
                add_times_to_bin(bins, np.int64(e) - 1075 - least, g, m, u >> SIGN_AT, table[k, g])


@kernel("u8[], i8[][][], i8, u8[], i8[][][], i8, i8, u8[], i8[][][]", returns=1)
def merge_sorted_keys(
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


# Tallies: keys (the bits of doubles without the lowest) and what each weighs, found by a hash index, coarsened and
# merged. Knows no column.


AHEAD = 1 << 12
"""Cells to come that are sorted, at most, to find how many bits a tally must drop."""
PLACES_MARKED = 1 << 15
"""Places on the line, half of them below zero, to which cells are rounded, so that they need not be sorted."""


def index_size(known: int, least: int = 16) -> int:
    """Places of a hash index that is at most a quarter full: half full, one key in three is found at a second look."""
    while least < 4 * known:
        least *= 2
    return least


def index_keys(keys: Hashes, known: int, secret: Hashes, least: int = 16) -> NDArray[np.int32]:
    """A hash index of the first `known` keys, in places that the secret decides."""
    index = np.full(index_size(known, least), -1, np.int32)
    fill_index(keys, known, secret, index)
    return index


def bits_to_drop(ordered: Hashes, cap: int) -> int:
    """The fewest low bits whose loss leaves at most `cap` different ones of keys in order."""
    if len(ordered) <= cap:
        return 0
    return int(fewest_bits(ordered, cap, np.zeros(65, np.int64)))


def bits_to_drop_ahead(keys: Hashes, known: int, x: Floats, group: Ints, start: int, level: int, cap: int) -> int:
    """The same of the first `known` keys, in whatever order, together with those of the next of x[start:] (of groups
    not negative), at this level. They are to come, so what they need is needed anyway."""
    some = slice(start, start + AHEAD)
    ahead = x[some][(group[some] >= 0) & np.isfinite(x[some])] + 0.0  # minus zero is zero
    both = np.concatenate([keys[:known], ahead.view(np.uint64) >> np.uint64(level)])
    return bits_to_drop(np.sort(both), cap)


def bits_to_drop_of_many(x: Floats, group: Ints, least: int, most: int, cap: int) -> int:
    """The same of all x, whose exponents are given; 0 where rounding them does not tell."""
    left = min(MANTISSA, (PLACES_MARKED // (2 * (most - least + 1))).bit_length() - 1)
    marks = np.zeros(PLACES_MARKED, np.uint8)
    zero = mark_places(x, group, least + 1075, left, marks)
    bits = bits_to_drop(np.flatnonzero(marks.view(np.bool_)).view(np.uint64), cap - zero) if zero >= 0 else 0
    return MANTISSA - left + bits if 0 < bits <= left else 0


def coarsen_tally(
    keys: Hashes, known: int, table: Exact, bits: int, secret: Hashes
) -> tuple[Hashes, int, Exact, NDArray[np.int32]]:
    """Drop so many more bits from the first `known` keys, in whatever order, and add up what falls together.

    Keys, how many there are, what they weigh, and their hash index; with as much room for more as there was before.
    """
    digits, base = table.addable()
    fewer, out = np.zeros(len(keys), np.uint64), np.zeros_like(digits)
    index = np.full(index_size(known), -1, np.int32)
    left = coarsen_keys(keys, known, digits, bits, fewer, secret, index, out)
    return fewer, int(left), Exact(out, base), index


def merge_tallies(one: tuple[Hashes, Exact, int], two: tuple[Hashes, Exact, int], sign: int) -> tuple[Hashes, Exact]:
    """Two tallies in order as one, the second added or taken away; each is its keys, what they weigh, and how many
    bits are dropped. Keys without weight go."""
    (keys, table, drop), (others, other_table, other_drop) = one, two
    mine, theirs, base = table.beside(other_table)
    most = len(keys) + len(others)
    merged, digits = np.empty(most, np.uint64), np.zeros((len(mine), most, mine.shape[2]), np.int64)
    known = merge_sorted_keys(keys, mine, drop, others, theirs, other_drop, sign, merged, digits)
    merged, whole = merged[:known], Exact.settled(digits[:, :known], base)
    some = ~whole.is_zero().all(axis=1)
    return (merged, whole) if some.all() else (merged[some], whole[some].canonical())


# Numbers cut into bins of about equal weight: the one place where that is done. Knows values and weights.


def quantile_places(weight: Floats, bins: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """For each quantile k/bins the first value by which so much weight is reached, and whether it is reached exactly.

    >>> [part.tolist() for part in quantile_places(np.ones(4), 2)]
    [[1], [True]]
    """
    below = np.cumsum(weight)
    wanted = below[-1] * np.arange(1, bins) / bins
    places = np.minimum(np.searchsorted(below, wanted, side="left"), len(below) - 1)
    return places, below[places] == wanted


def quantile_edges(values: Floats, weight: Floats, bins: int) -> Floats:
    """Inner edges of at most `bins` bins that end with the quantiles; few values have a bin each.

    >>> quantile_edges(np.arange(6.0), np.array([90.0, 1, 1, 1, 1, 1]), 3).tolist()
    [1.0]
    """
    if len(values) <= bins:
        return values[1:]
    places = quantile_places(weight, bins)[0] + 1
    return distinct(values[places[places < len(values)]])


def balanced_edges(values: Floats, weight: Floats, bins: int) -> Floats:
    """Inner edges of at most `bins` bins of about equal weight: bin i holds edges[i-1] <= x < edges[i].

    A value that outweighs a bin gets one for itself, and the others share the rest: where nine rows in ten are zero,
    the tenth is still told apart (tests/sums/test_rows.py).

    >>> balanced_edges(np.arange(6.0), np.array([90.0, 1, 1, 1, 1, 1]), 3).tolist()
    [1.0, 4.0]
    """
    if len(values) <= bins:
        return values[1:]
    weight = np.nan_to_num(weight)  # infinite where it is beyond doubles
    weight = weight / weight.max()
    below = [0.0, *np.cumsum(weight).tolist()]
    # The least capacity, to 40 binary digits, with which greedy filling needs no more than `bins` bins.
    low, high, starts = 0.0, below[-1], [0]
    for _ in range(40):
        middle = (low + high) / 2
        heavy = [*np.flatnonzero(weight > middle).tolist(), len(weight)]
        starts_now = _fill(below, heavy, middle, bins) if len(heavy) <= bins else None
        if starts_now is None:
            low = middle
        else:
            high, starts = middle, starts_now
    return values[starts[1:]]


def _fill(below: list[float], heavy: list[int], capacity: float, bins: int) -> list[int] | None:
    """Where each bin starts if bins are filled up to `capacity`, the heavy ones alone; None if `bins` are too few."""
    starts: list[int] = []
    at, end = 0, len(below) - 1
    while at < end:
        if len(starts) == bins:
            return None
        starts.append(at)
        full = bisect_right(below, below[at] + capacity) - 1
        at = max(at + 1, min(full, heavy[bisect_left(heavy, at)]))
    return starts


def equal_weight_bins(values: Floats, weight: Floats, bins: int) -> NDArray[np.intp]:
    """The bin of each row by its value: about equal weight in each, equal values in one, none empty."""
    distinct, place = np.unique(values, return_inverse=True)
    each = np.bincount(place, weight, len(distinct))
    upto = np.cumsum(each)
    middle = (upto - each / 2) / (upto[-1] if len(upto) else 1.0)
    bin_of = np.minimum((middle * bins).astype(np.intp), bins - 1)
    _, dense = np.unique(bin_of, return_inverse=True)
    return np.asarray(dense[place], np.intp)


def apart_places(weight: Floats, bins: int) -> NDArray[np.intp]:
    """Where bins begin, but for the first: values that outweigh a bin have one each, others fill bins of equal weight.

    >>> apart_places(np.array([1.0, 1, 90, 1, 1, 1, 1]), 5).tolist()
    [2, 3, 5]
    """
    if len(weight) <= bins:
        return np.arange(1, len(weight))
    heavy = np.zeros(len(weight), np.bool_)
    while True:
        # A heavy value also parts what lies below it from what lies above, which costs a bin.
        each = weight[~heavy].sum() / max(bins - 2 * int(heavy.sum()), 1)
        new = ~heavy & (weight > each)
        if not new.any() or 2 * int((heavy | new).sum()) >= bins:
            break
        heavy |= new
    light = np.where(heavy, 0.0, weight)
    middle = np.cumsum(light) - light / 2
    which = np.floor(middle / each) if each > 0 else np.zeros(len(weight))
    begins = (which[1:] != which[:-1]) | heavy[1:] | heavy[:-1]
    return np.flatnonzero(begins) + 1
