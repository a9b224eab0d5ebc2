"""The loops over cells, compiled. They know arrays only: no labels, no schema, no rounding.

A double is m * 2**p with a whole m below 2**53, so its multiples and squares are whole numbers on a fixed grid.
The grid is cut into digits of 32 bits, each summed in an int64: no sum of doubles is ever rounded.
"""

from __future__ import annotations

import numpy as np

from likely.machinery.arrays import Floats, Ints, Longs, Whole
from likely.machinery.jit import inner, kernel, upper_product

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
ONE = np.uint64(1)
FRACTION = np.uint64((1 << 52) - 1)
HIDDEN = np.uint64(1 << 52)
EXPONENT_AT = np.uint64(52)
EXPONENT = np.uint64(0x7FF)
SIGN_AT = np.uint64(63)


@kernel("i4[], i4[], i8[], i8[][], i8[][]")
def count(codes: Ints, group: Ints, chunk: Longs, table: Longs, other: Longs) -> None:
    """table[code, group] += chunk (1 where chunk is empty); a negative code -k goes to other[k-1].

    Rows with group < 0 are left out. Where `other` has no place k-1 its last one serves: an unseen level then counts
    as missing.
    """
    last = other.shape[0] - 1
    if chunk.size == 0:
        for i in range(codes.size):
            g = group[i]
            if g >= 0:
                c = codes[i]
                if c >= 0:
                    table[c, g] += 1
                else:
                    other[min(-1 - c, last), g] += 1
    else:
        for i in range(codes.size):
            g = group[i]
            if g >= 0:
                c = codes[i]
                if c >= 0:
                    table[c, g] += chunk[i]
                else:
                    other[min(-1 - c, last), g] += chunk[i]


@kernel("i8[][], i4[], i4[], i8[][], i8[][]")
def count_crossed(times: Longs, codes: Ints, groups: Ints, table: Longs, other: Longs) -> None:
    """`count` of rows that were counted: entry e, of code codes[e], is there times[e, 1 + c] times with class c, which
    is group groups[c]. times[:, 0] are rows without a class, which are left out."""
    last = other.shape[0] - 1
    for e in range(times.shape[0]):
        c = codes[e]
        for k in range(groups.size):
            g = groups[k]
            if g >= 0 and times[e, k + 1] != 0:
                if c >= 0:
                    table[c, g] += times[e, k + 1]
                else:
                    other[min(-1 - c, last), g] += times[e, k + 1]


@kernel("f8[]", returns=2)
def exponents(x: Floats) -> tuple[Whole, Whole]:
    """The least and greatest p over the finite non-zero x = m * 2**p; (1, 0) where there is none."""
    bits = x.view(np.uint64)
    least, most = np.int64(4096), np.int64(0)
    for i in range(bits.size):
        u = bits[i]
        e = np.int64((u >> EXPONENT_AT) & EXPONENT)
        if e == 0x7FF or (u << ONE) == 0:
            continue
        e = max(e, np.int64(1))
        least = min(least, e)
        most = max(most, e)
    if most == 0:
        return np.int64(1), np.int64(0)
    return least - 1075, most - 1075


@inner
def split_bits(u: Whole) -> tuple[Whole, Whole]:
    """The exponent e, 1 at least, and the mantissa m of the finite number of these bits: |x| = m * 2**(e - 1075)."""
    e = (u >> EXPONENT_AT) & EXPONENT
    m = u & FRACTION
    return (ONE, m) if e == 0 else (e, m | HIDDEN)


@kernel("f8[], i8, i8[][]")
def digits(x: Floats, base: int, planes: Longs) -> None:
    """Write the digits of each x >= 0 into planes[k, i], where plane k weighs 2**(32*(base+k))."""
    bits = x.view(np.uint64)
    for i in range(bits.size):
        e, m = split_bits(bits[i])
        p = np.int64(e) - 1075
        j = (p >> 5) - base
        s = np.uint64(p & 31)
        lo = (m & LOW) << s
        hi = ((m >> HALF) << s) + (lo >> HALF)
        planes[j, i] = np.int64(lo & LOW)
        planes[j + 1, i] = np.int64(hi & LOW)
        planes[j + 2, i] = np.int64(hi >> HALF)


@inner
def add_to_bin(bins: Longs, k: int, g: int, m: Whole, negative: Whole) -> None:
    """Add the mantissa m (below 2**53), which is that of a number below zero or not, and m*m to bins[k, g].

    The sum of mantissas is held in two halves, that of squares in 128 bits: its lower 64 wrap around and carry.
    """
    flip = -np.int64(negative)
    signed = (np.int64(m) ^ flip) - flip
    bins[k, g, 0] += signed & np.int64(LOW)
    bins[k, g, 1] += signed >> np.int64(HALF)
    square = m * m
    low = np.uint64(bins[k, g, 2]) + square
    bins[k, g, 2] = np.int64(low)
    bins[k, g, 3] += np.int64(upper_product(m, m)) + np.int64(low < square)


@inner
def add_times_to_bin(bins: Longs, k: int, g: int, m: Whole, negative: Whole, times: Whole) -> None:
    """`add_to_bin` so many times, which are no more than a bin may take. (Once by this one takes a quarter longer.)"""
    flip = -np.int64(negative)
    signed = (np.int64(m) ^ flip) - flip
    bins[k, g, 0] += (signed & np.int64(LOW)) * times
    bins[k, g, 1] += (signed >> np.int64(HALF)) * times
    square = m * m
    share = square * np.uint64(times)
    low = np.uint64(bins[k, g, 2]) + share
    bins[k, g, 2] = np.int64(low)
    above = np.int64(upper_product(m, m)) * times + np.int64(upper_product(square, np.uint64(times)))
    bins[k, g, 3] += above + np.int64(low < share)


@kernel("f8[], i4[], i8, i8[][][]")
def bin_powers(x: Floats, group: Ints, least: int, bins: Longs) -> None:
    """Add the mantissa m of x = m * 2**p, and m*m, to the parts of bins[p - least, group]: no shifts, no rounding."""
    bits = x.view(np.uint64)
    for i in range(bits.size):
        g = group[i]
        u = bits[i]
        e, m = split_bits(u)
        if g < 0 or e == EXPONENT or (u << ONE) == 0:
            continue
        add_to_bin(bins, np.int64(e) - 1075 - least, g, m, u >> SIGN_AT)


@kernel("f8[][], i4[], i8, i8[][][]")
def bin_row_powers(x: Floats, group: Ints, least: int, bins: Longs) -> None:
    """`bin_powers` of rows of several columns: column k of group g is group g * columns + k of the bins."""
    bits = x.view(np.uint64)
    columns = np.uint64(x.shape[1])
    first = np.uint64(1075 + least)
    for i in range(np.uint64(x.shape[0])):
        if group[i] < 0:
            continue
        before = np.uint64(group[i]) * columns
        for k in range(columns):
            u = bits[i, k]
            e, m = split_bits(u)
            if e == EXPONENT or (u << ONE) == 0:
                continue
            add_to_bin(bins, e - first, before + k, m, u >> SIGN_AT)


@inner
def _add_product(planes: Longs, j: int, g: int, digit: Whole, times: Whole, sign: Whole) -> None:
    """Add digit * times (both below 2**32) at plane j, its upper half at the next."""
    product = digit * times
    planes[j, g] += sign * np.int64(product & LOW)
    planes[j + 1, g] += sign * np.int64(product >> HALF)


@inner
def _add_scaled(u: Whole, c: Whole, g: int, first: Longs, base1: int, second: Longs, base2: int) -> None:
    """Add c * x to first[:, g] and c * x*x to second, digit by digit; u are the bits of x, which is finite, and c is
    below 2**32."""
    e, m = split_bits(u)
    p = np.int64(e) - 1075
    ml = m & LOW
    mh = m >> HALF
    j = (p >> 5) - base1
    s = np.uint64(p & 31)
    lo = ml << s
    hi = (mh << s) + (lo >> HALF)
    sign = np.int64(-1) if u >> SIGN_AT else np.int64(1)
    _add_product(first, j, g, lo & LOW, c, sign)
    _add_product(first, j + 1, g, hi & LOW, c, sign)
    _add_product(first, j + 2, g, hi >> HALF, c, sign)
    cross = (ml * mh) << ONE
    low = ml * ml
    t = (low >> HALF) + (cross & LOW)
    v = (t >> HALF) + (cross >> HALF) + mh * mh
    j = ((2 * p) >> 5) - base2
    s = np.uint64((2 * p) & 31)
    d = (low & LOW) << s
    one = np.int64(1)
    _add_product(second, j, g, d & LOW, c, one)
    d = ((t & LOW) << s) + (d >> HALF)
    _add_product(second, j + 1, g, d & LOW, c, one)
    d = ((v & LOW) << s) + (d >> HALF)
    _add_product(second, j + 2, g, d & LOW, c, one)
    d = ((v >> HALF) << s) + (d >> HALF)
    _add_product(second, j + 3, g, d & LOW, c, one)
    _add_product(second, j + 4, g, d >> HALF, c, one)


@kernel("f8[], i4[], i8[], i8[][], i8, i8[][], i8")
def add_scaled_powers(
    x: Floats, group: Ints, chunk: Longs, first: Longs, base1: int, second: Longs, base2: int
) -> None:
    """Add chunk * x to first[:, group] and chunk * x*x to second; chunk is whole and below 2**32."""
    bits = x.view(np.uint64)
    for i in range(bits.size):
        u = bits[i]
        finite = ((u >> EXPONENT_AT) & EXPONENT) != EXPONENT
        if group[i] >= 0 and finite and chunk[i] != 0 and (u << ONE) != 0:
            _add_scaled(u, np.uint64(chunk[i]), group[i], first, base1, second, base2)


@kernel("f8[], i8[], i8[][], i8[][], i8[][], i8, i8[][], i8")
def add_tallied_powers(
    x: Floats, places: Longs, table: Longs, weight: Longs, first: Longs, base1: int, second: Longs, base2: int
) -> None:
    """The same of tallies: x[k], all finite, is there table[k, g] times (below 2**32) in group places[k] + g."""
    bits = x.view(np.uint64)
    for k in range(bits.size):
        for g in range(table.shape[1]):
            at = places[k] + g
            weight[0, at] += table[k, g]
            if table[k, g] != 0 and (bits[k] << ONE) != 0:
                _add_scaled(bits[k], np.uint64(table[k, g]), at, first, base1, second, base2)


@kernel("i4[][], i4[], i8[], i8[][][]")
def count_pairs(codes: Ints, group: Ints, chunk: Longs, table: Longs) -> None:
    """table[a, b, group] += chunk (1 where it is empty) for all cells a, b of a row, a not after b."""
    for i in range(codes.shape[0]):
        g = group[i]
        if g < 0:
            continue
        times = np.int64(1) if chunk.size == 0 else chunk[i]
        for j in range(codes.shape[1]):
            b = codes[i, j]
            if b < 0:
                continue
            for k in range(j + 1):
                a = codes[i, k]
                if a >= 0:
                    table[a, b, g] += times


@kernel("f8[][], i8[], i8[], i8[][][][], i8, i8")
def add_products(x: Floats, chunk: Longs, room: Longs, planes: Longs, base: int, g: int) -> None:
    """planes[:, a, b, g] += x[i, a] * x[i, b] over the rows i, each counted chunk times (once where that is empty).

    `room` holds as many places as x has columns. All of x is finite.
    """
    bits = x.view(np.uint64)
    for i in range(x.shape[0]):
        c = np.uint64(1) if chunk.size == 0 else np.uint64(chunk[i])
        if c == 0:
            continue
        count = 0
        for a in range(x.shape[1]):
            if x[i, a] != 0.0:
                room[count] = a
                count += 1
        for left in range(count):
            a = room[left]
            u = bits[i, a]
            e, m = split_bits(u)
            ml = m & LOW
            mh = m >> HALF
            for right in range(left, count):
                b = room[right]
                w = bits[i, b]
                f, n = split_bits(w)
                nl = n & LOW
                nh = n >> HALF
                sign = np.int64(-1) if (u ^ w) >> SIGN_AT else np.int64(1)
                p = np.int64(e + f) - 2150
                j = (p >> 5) - base
                s = np.uint64(p & 31)
                low = ml * nl
                cross = ml * nh + mh * nl
                t = (low >> HALF) + (cross & LOW)
                v = (t >> HALF) + (cross >> HALF) + mh * nh
                d = (low & LOW) << s
                for k in range(5):
                    if k == 1:
                        d = ((t & LOW) << s) + (d >> HALF)
                    elif k == 2:
                        d = ((v & LOW) << s) + (d >> HALF)
                    elif k == 3:
                        d = ((v >> HALF) << s) + (d >> HALF)
                    elif k == 4:
                        d = d >> HALF
                    product = (d & LOW) * c
                    if product != 0:
                        one = sign * np.int64(product & LOW)
                        two = sign * np.int64(product >> HALF)
                        planes[j + k, a, b, g] += one
                        if a != b:
                            planes[j + k, b, a, g] += one
                        if two != 0:
                            planes[j + k + 1, a, b, g] += two
                            if a != b:
                                planes[j + k + 1, b, a, g] += two


@kernel("i8[][]", returns=1)
def carry_digits(planes: Longs) -> Whole:
    """Pass on what is above 32 bits of each digit [position, entry] to the next; says whether that is more than the
    last may hold."""
    wide = np.int64(0)
    last = planes.shape[0] - 1
    low, half = np.int64(LOW), np.int64(HALF)
    for i in range(planes.shape[1]):
        carried = np.int64(0)
        for p in range(last):
            digit = planes[p, i] + carried
            planes[p, i] = digit & low
            carried = digit >> half
        planes[last, i] += carried
        if abs(planes[last, i]) >> np.int64(61):
            wide = np.int64(1)
    return wide


@kernel("i8[][]", returns=3)
def trim_digits(planes: Longs) -> tuple[Whole, Whole, Whole]:
    """Drop the lowest of carried digits [position, entry] while they are all zero, and join the top ones to those below
    while they are small. Returns the first that is left, how many are (none where all is zero), and by how many
    positions the first has moved up."""
    first, last, moved = 0, planes.shape[0] - 1, 0
    low, half = np.int64(LOW), np.int64(HALF)
    while True:
        some = np.int64(0)
        for i in range(planes.shape[1]):
            some |= planes[first, i]
        if first == last and some == 0:
            return first, 0, moved
        if some != 0 and (first < last or (some & low) != 0):
            break
        if first < last:
            first += 1
        else:
            for i in range(planes.shape[1]):
                planes[first, i] >>= half
        moved += 1
    while first < last:
        wide = np.int64(0)
        for i in range(planes.shape[1]):
            wide |= (planes[last, i] ^ (planes[last, i] >> np.int64(63))) >> np.int64(29)
        if wide != 0:
            break
        for i in range(planes.shape[1]):
            planes[last - 1, i] += planes[last, i] << half
        last -= 1
    return first, last - first + 1, moved


@kernel("i8[][][], i8[], i8[][][]")
def add_places(values: Longs, places: Longs, out: Longs) -> None:
    """out[p, places[i]] += values[p, i], for all p and i."""
    for p in range(values.shape[0]):
        for i in range(places.size):
            at = places[i]
            for k in range(values.shape[2]):
                out[p, at, k] += values[p, i, k]
