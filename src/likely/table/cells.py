"""What the text of a cell means: a number, a date, a code, a missing value, or words. Compiled loops over bytes.

Knows bytes, and where cells begin and end; an empty cell is missing. There is one grammar of numbers and dates, used
to infer a column and to read it.
"""

from __future__ import annotations

import numpy as np

from likely.machinery.arrays import Bytes, Floats, Hashes, Longs, Whole
from likely.machinery.jit import inner, kernel
from likely.table.words.tokens import fold_block, load_eight, mix_bits

MISSING, WHOLE, DECIMAL, CODE, DATE, WORDS = range(6)
"""Forms of a cell. CODE is a whole number with leading zeros, such as 007: a name, not a quantity."""

NOT_A_NUMBER, EASY, LONG, HARD = range(4)
POWERS = 10.0 ** np.arange(23)
"""Powers of ten that are exact as doubles: a number of at most 15 digits times one of them is rounded once."""

LONGEST_TOKEN = 64
"""Bytes of a text, with its blanks, that may still be a token for "missing"."""

LEAST_POWER, MOST_POWER = -342, 308
"""Beyond these powers of ten every number of at most 19 digits is zero or infinite as a double."""


def _powers_of_five() -> Hashes:
    """The first 128 bits of 5**q for each q, as two words: reciprocals rounded up, the rest cut (Lemire 2021)."""
    words = []
    for q in range(LEAST_POWER, MOST_POWER + 1):
        if q >= 0:
            size = (5**q).bit_length()
            value = 5**q << 128 - size if size <= 128 else 5**q >> size - 128
        else:
            divisor = 5**-q
            size = (divisor - 1).bit_length()
            value = (1 << (size + 127 if q >= -27 else 2 * size + 128)) // divisor + 1
            value >>= max(value.bit_length() - 128, 0)
        words.append((value >> 64, value & (1 << 64) - 1))
    return np.array(words, np.uint64)


FIVES = _powers_of_five()

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
_PRIME = np.uint64(0x100000001B3)
_BASIS = np.uint64(0xCBF29CE484222325)


@inner
def _hash(data: Bytes, a: int, b: int) -> np.uint64:
    h = _BASIS
    while b - a > 64:
        h = fold_block(h, load_eight(data, np.uint64(a)))
        a += 8
    for k in range(a, b):
        h = (h ^ np.uint64(data[k])) * _PRIME
    return max(mix_bits(h), np.uint64(1))


@inner
def is_blank(c: int) -> Whole:
    return np.int64(c == 32) | (np.int64(c >= 9) & np.int64(c <= 13))


@inner
def _trim(data: Bytes, a: int, b: int) -> tuple[int, int]:
    while a < b and (data[a] == 32 or (9 <= data[a] <= 13)):
        a += 1
    while b > a and (data[b - 1] == 32 or (9 <= data[b - 1] <= 13)):
        b -= 1
    return a, b


@inner
def _product(x: np.uint64, y: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The upper and lower word of x * y."""
    xl, xh, yl, yh = x & LOW, x >> HALF, y & LOW, y >> HALF
    low = xl * yl
    middle = xh * yl + (low >> HALF)
    other = xl * yh + (middle & LOW)
    return xh * yh + (middle >> HALF) + (other >> HALF), (other << HALF) | (low & LOW)


@inner
def _nearest_double(digits: np.uint64, power: int) -> np.uint64:
    """digits * 10**power as the bits of the nearest double (Eisel and Lemire); zero where it would not be normal.

    tests/table/test_cells.py holds it against Python's own parser.
    """
    none = np.uint64(0)
    if power < LEAST_POWER or power > MOST_POWER:
        return none
    zeros = 0
    w = digits
    while (w >> np.uint64(63)) == 0:
        w <<= np.uint64(1)
        zeros += 1
    high, low = _product(w, FIVES[power - LEAST_POWER, 0])
    if (high & np.uint64(0x1FF)) == np.uint64(0x1FF):
        more, _ = _product(w, FIVES[power - LEAST_POWER, 1])
        low += more
        if more > low:
            high += np.uint64(1)
    top = high >> np.uint64(63)
    shift = top + np.uint64(9)
    mantissa = high >> shift
    exponent = ((217706 * power) >> 16) + 63 + np.int64(top) - zeros + 1023
    if exponent <= 0:
        return none
    if (
        low <= np.uint64(1)
        and -4 <= power <= 23
        and (mantissa & np.uint64(3)) == np.uint64(1)
        and (mantissa << shift) == high
    ):
        mantissa &= ~np.uint64(1)  # half way between two doubles: to the even one
    mantissa = (mantissa + (mantissa & np.uint64(1))) >> np.uint64(1)
    if mantissa >= np.uint64(1 << 53):
        mantissa = np.uint64(1 << 52)
        exponent += 1
    if exponent >= 0x7FF:
        return none
    return (mantissa & np.uint64((1 << 52) - 1)) | (np.uint64(exponent) << np.uint64(52))  # type: ignore[no-any-return]


@inner
def _number(data: Bytes, a: int, b: int) -> tuple[np.int64, np.int64, float, np.uint64, np.int64, bool]:
    """(form, ease, value, digits, power, negative).

    EASY: the value is right. LONG: the number is digits * 10**power. HARD: a full parser must be asked.
    """
    no = (np.int64(WORDS), np.int64(NOT_A_NUMBER), 0.0, np.uint64(0), np.int64(0), False)
    negative = False
    if a < b and (data[a] == 43 or data[a] == 45):
        negative = data[a] == 45
        a += 1
    if b - a == 3 or b - a == 8:
        word = np.uint64(0)
        for k in range(a, b):
            word = (word << np.uint64(8)) | np.uint64(data[k] | 32)
        if word == 0x696E66 or word == 0x696E66696E697479:  # inf, infinity
            infinite = -np.inf if negative else np.inf
            return np.int64(DECIMAL), np.int64(EASY), infinite, np.uint64(0), np.int64(0), negative
    value = np.uint64(0)
    count = 0  # digits that matter
    whole = 0  # digits before the point, thousands marks apart
    scale = 0
    since_mark = -1
    start = a
    while a < b:
        c = data[a]
        if 48 <= c <= 57:
            whole += 1
            if since_mark >= 0:
                since_mark += 1
            if count > 0 or c != 48:
                count += 1
                if count <= 19:
                    value = value * np.uint64(10) + np.uint64(c - 48)
                else:
                    scale += 1
        elif c == 44:
            if whole == 0 or (since_mark < 0 and whole > 3) or (since_mark >= 0 and since_mark != 3):
                return no
            since_mark = 0
        else:
            break
        a += 1
    if since_mark >= 0 and since_mark != 3:
        return no
    leading_zero = whole > 1 and data[start] == 48
    fraction = 0
    if a < b and data[a] == 46:
        a += 1
        while a < b and 48 <= data[a] <= 57:
            fraction += 1
            if count > 0 or data[a] != 48:
                count += 1
            if count <= 19:
                value = value * np.uint64(10) + np.uint64(data[a] - 48)
                scale -= 1
            a += 1
        if fraction == 0 and whole == 0:
            return no
        decimal = True
    else:
        decimal = False
    if whole + fraction == 0:
        return no
    if a < b and (data[a] == 101 or data[a] == 69):
        a += 1
        down = False
        if a < b and (data[a] == 43 or data[a] == 45):
            down = data[a] == 45
            a += 1
        if a == b:
            return no
        power = 0
        while a < b and 48 <= data[a] <= 57:
            power = min(power * 10 + int(data[a] - 48), 99999)
            a += 1
        scale += -power if down else power
        decimal = True
    if a != b:
        return no
    form = np.int64(DECIMAL if decimal else (CODE if leading_zero else WHOLE))
    if count == 0:
        return form, np.int64(EASY), -0.0 if negative else 0.0, value, np.int64(scale), negative
    if count <= 15 and -22 <= scale <= 22:
        x = np.float64(np.int64(value))
        x = x / POWERS[-scale] if scale < 0 else x * POWERS[scale]
        return form, np.int64(EASY), -x if negative else x, value, np.int64(scale), negative
    return form, np.int64(LONG if count <= 19 else HARD), 0.0, value, np.int64(scale), negative


@inner
def _two(data: Bytes, a: int) -> np.int64:
    x, y = data[a], data[a + 1]
    if 48 <= x <= 57 and 48 <= y <= 57:
        return np.int64(x - 48) * 10 + np.int64(y - 48)
    return np.int64(-1)


@inner
def _date(data: Bytes, a: int, b: int) -> float:
    """Seconds since 1970 of an ISO date (2001-12-31 or 2001/12/31), with a time and zone or not; NaN if it is none."""
    if b - a < 10 or data[a + 4] != data[a + 7] or (data[a + 4] != 45 and data[a + 4] != 47):
        return np.nan
    century, year, month, day = _two(data, a), _two(data, a + 2), _two(data, a + 5), _two(data, a + 8)
    if century < 0 or year < 0 or month < 1 or month > 12 or day < 1:
        return np.nan
    year += 100 * century
    leap = (year % 4 == 0 and year % 100 != 0) or year % 400 == 0
    longest = 31 if month in (1, 3, 5, 7, 8, 10, 12) else (30 if month != 2 else (29 if leap else 28))
    if day > longest:
        return np.nan
    # Days since 1970 of the civil calendar, counting years from March so that the leap day comes last.
    y = year - 1 if month <= 2 else year
    era = y // 400
    of_era = y - 400 * era
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    days = 146097 * era + 365 * of_era + of_era // 4 - of_era // 100 + of_year - 719468
    seconds = np.float64(days * 86400)
    a += 10
    if a == b:
        return seconds
    if (data[a] != 84 and data[a] != 116 and data[a] != 32) or b - a < 6 or data[a + 3] != 58:
        return np.nan
    hour, minute = _two(data, a + 1), _two(data, a + 4)
    if hour < 0 or hour > 24 or minute < 0 or minute > 59:
        return np.nan
    seconds += 3600 * hour + 60 * minute
    a += 6
    if a < b and data[a] == 58:
        if b - a < 3:
            return np.nan
        second = _two(data, a + 1)
        if second < 0 or second > 60:
            return np.nan
        seconds += second
        a += 3
        if a < b and (data[a] == 46 or data[a] == 44):
            a += 1
            part, unit = 0.0, 1.0
            if a == b or not 48 <= data[a] <= 57:
                return np.nan
            while a < b and 48 <= data[a] <= 57:
                if unit < 1e9:
                    part = 10 * part + np.float64(data[a] - 48)
                    unit *= 10
                a += 1
            seconds += part / unit
    if a == b or (a + 1 == b and (data[a] == 90 or data[a] == 122)):
        return seconds  # type: ignore[no-any-return]
    if (data[a] != 43 and data[a] != 45) or b - a < 3:
        return np.nan
    sign = -1 if data[a] == 43 else 1
    hour = _two(data, a + 1)
    a += 3
    minute = np.int64(0)
    if a < b:
        if data[a] == 58:
            a += 1
        if b - a != 2:
            return np.nan
        minute = _two(data, a)
    if hour < 0 or hour > 24 or minute < 0 or minute > 59:
        return np.nan
    return seconds + sign * (3600 * hour + 60 * minute)  # type: ignore[no-any-return]


@kernel("u1[], i8[], i8[], u8[], u1[], u8[], i8[]")
def describe(
    data: Bytes, starts: Longs, ends: Longs, missing: Hashes, forms: Bytes, hashes: Hashes, words: Longs
) -> None:
    """The form, hash and number of words of each cell. `missing` holds the hashes of cells that mean "not known"."""
    for i in range(starts.size):
        forms[i] = MISSING
        hashes[i] = 0
        words[i] = 0
        a, b = _trim(data, starts[i], ends[i])
        h = _hash(data, a, b)
        gone = a == b
        for k in range(missing.size):
            if missing[k] == h:
                gone = True
        if gone:
            continue
        hashes[i] = h if b - a == ends[i] - starts[i] else _hash(data, starts[i], ends[i])
        form, ease, _, _, _, _ = _number(data, a, b)
        if ease == NOT_A_NUMBER and not np.isnan(_date(data, a, b)):
            form = np.int64(DATE)
        forms[i] = form
        count: Whole = 1
        for k in range(np.uint64(a + 1), np.uint64(b)):
            count += is_blank(data[k - np.uint64(1)]) & ~is_blank(data[k]) & 1
        words[i] = count


@kernel("u1[], i8[], i8[], u8[], i8, f8[], u1[]")
def parse(data: Bytes, starts: Longs, ends: Longs, missing: Hashes, dates: bool, out: Floats, state: Bytes) -> None:
    """The number (or date) of each cell; `state` says 0 fine, 1 missing, 2 not a number, 3 ask a full parser."""
    bits = out.view(np.uint64)
    for i in range(starts.size):
        out[i] = np.nan
        state[i] = 1
        a, b = _trim(data, starts[i], ends[i])
        gone = a == b
        if not gone and missing.size > 0:
            h = _hash(data, a, b)
            for k in range(missing.size):
                if missing[k] == h:
                    gone = True
        if gone:
            continue
        if dates:
            out[i] = _date(data, a, b)
            state[i] = 2 if np.isnan(out[i]) else 0
        else:
            _, ease, value, digits, power, negative = _number(data, a, b)
            state[i] = 2 if ease == NOT_A_NUMBER else (0 if ease == EASY else 3)
            if ease == EASY:
                out[i] = value
            elif ease == LONG:
                nearest = _nearest_double(digits, power)
                if nearest != 0:
                    state[i] = 0
                    bits[i] = nearest | (np.uint64(1 << 63) if negative else np.uint64(0))


@kernel("u1[], i8[], i8[], u8[]")
def hash_cells(data: Bytes, starts: Longs, ends: Longs, out: Hashes) -> None:
    """The hash of each trimmed cell."""
    for i in range(starts.size):
        a, b = _trim(data, starts[i], ends[i])
        out[i] = _hash(data, a, b)


@kernel("u8[], u8, u8[], i8, i8, i8", returns=2)
def keep_small(hashes: Hashes, ceiling: int, kept: Hashes, known: int, limit: int, start: int) -> tuple[int, int]:
    """Add each non-zero hash below `ceiling` to the open-addressed set `kept`; stop when it holds `limit`."""
    mask = np.int64(kept.size - 1)
    for i in range(start, hashes.size):
        h = hashes[i]
        if h == 0 or h >= ceiling:
            continue
        at = np.int64(h & np.uint64(0x7FFFFFFFFFFFFFFF)) & mask
        while kept[at] != 0 and kept[at] != h:
            at = (at + 1) & mask
        if kept[at] == 0:
            if known == limit:
                return i, known
            kept[at] = h
            known += 1
    return hashes.size, known


@kernel("u1[], i8[], i8[], u8[]")
def empty_missing(data: Bytes, starts: Longs, ends: Longs, missing: Hashes) -> None:
    """Empty every short cell that is one of the tokens for "missing": ends[i] = starts[i]."""
    for i in range(starts.size):
        a, b = starts[i], ends[i]
        if b - a <= LONGEST_TOKEN:
            a, b = _trim(data, a, b)
            h = _hash(data, a, b)
            for k in range(missing.size):
                if h == missing[k]:
                    ends[i] = starts[i]
