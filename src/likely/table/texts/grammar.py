"""The grammar of numbers and dates, the hash of a cell, and the different texts of a column. Knows bytes only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Bytes, Hashes, Ints, Longs, Whole
from likely.machinery.jit import inner, kernel, leading_zeros, trailing_zeros, upper_product
from likely.table.batch import Texts
from likely.table.words import draw_keys, fold_block, fold_product, load_eight, mix_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray


# The grammar of numbers and dates, and the hash of a cell: steps that kernels are made of. Knows bytes only.

MISSING, WHOLE, DECIMAL, CODE, DATE, WORDS = range(6)
"""Forms of a cell. CODE is a whole number with leading zeros, such as 007: a name, not a quantity."""

NOT_A_NUMBER, EASY, LONG, HARD = range(4)
POWERS = 10.0 ** np.arange(23)
"""Powers of ten that are exact as doubles: a number of at most 15 digits times one of them is rounded once."""

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

HALF = np.uint64(32)
_EIGHT, _EIGHTH = np.uint64(8), np.uint64(3)
_ODD = np.uint64(0x9E3779B97F4A7C15)
_TENS = 10 ** np.arange(9, dtype=np.uint64)
_ZEROS, _SEVEN_BITS = np.uint64(0x3030303030303030), np.uint64(0x7F7F7F7F7F7F7F7F)
_ABOVE_NINE, _HIGH_BITS = np.uint64(0x7676767676767676), np.uint64(0x8080808080808080)


@inner
def last_bytes(data: Bytes, a: int, b: int) -> np.uint64:
    """The bytes from a to b, one to eight of them, as a number, the first one lowest. Looks at no byte behind b."""
    count = np.uint64(b - a)
    if b >= 8:
        return load_eight(data, np.uint64(b - 8)) >> ((_EIGHT - count) << _EIGHTH)  # type: ignore[no-any-return]
    out = np.uint64(0)
    for k in range(count):
        out |= np.uint64(data[np.uint64(a) + k]) << (k << _EIGHTH)
    return out


@inner
def hash_text(data: Bytes, a: int, b: int) -> np.uint64:
    """The hash of data[a:b], eight bytes at a time; never 0."""
    h = np.uint64(b - a) * _ODD
    while b - a > 8:
        h = fold_block(h, load_eight(data, np.uint64(a)))
        a += 8
    return _end_hash(h, data, a, b)  # type: ignore[no-any-return]


@inner
def hash_within(data: Bytes, start: int, a: int, b: int, end: int) -> tuple[np.uint64, np.uint64]:
    """The hashes of data[a:b] and of data[start:end] around it: side by side, as each waits for its multiplications."""
    if a != start or b == end:
        h = hash_text(data, a, b)
        return h, (h if b - a == end - start else hash_text(data, start, end))
    one, two = np.uint64(b - a) * _ODD, np.uint64(end - a) * _ODD
    while b - a > 8:
        block = load_eight(data, np.uint64(a))
        one, two = fold_block(one, block), fold_block(two, block)
        a += 8
    first = _end_hash(one, data, a, b)
    while end - a > 8:
        two = fold_block(two, load_eight(data, np.uint64(a)))
        a += 8
    return first, _end_hash(two, data, a, end)


@inner
def _end_hash(h: np.uint64, data: Bytes, a: int, b: int) -> np.uint64:
    """The hash of a text of which at most eight bytes, data[a:b], are left."""
    if a < b:
        h = fold_block(h, last_bytes(data, a, b))
    return max(mix_bits(h), np.uint64(1))


@inner
def is_blank(c: int) -> Whole:
    return np.int64(c == 32) | (np.int64(c >= 9) & np.int64(c <= 13))


@inner
def trim_blanks(data: Bytes, a: int, b: int) -> tuple[int, int]:
    while a < b and (data[a] == 32 or (9 <= data[a] <= 13)):
        a += 1
    while b > a and (data[b - 1] == 32 or (9 <= data[b - 1] <= 13)):
        b -= 1
    return a, b


@inner
def nearest_double(digits: np.uint64, power: int) -> np.uint64:
    """digits * 10**power as the bits of the nearest double (Eisel and Lemire); zero where it would not be normal.

    tests/table/test_cells.py holds it against Python's own parser.
    """
    none = np.uint64(0)
    if power < LEAST_POWER or power > MOST_POWER:
        return none
    zeros = np.int64(leading_zeros(digits))
    w = digits << np.uint64(zeros)
    five = FIVES[power - LEAST_POWER, 0]
    high, low = upper_product(w, five), w * five
    if (high & np.uint64(0x1FF)) == np.uint64(0x1FF):
        more = upper_product(w, FIVES[power - LEAST_POWER, 1])
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
def read_number(data: Bytes, a: int, b: int) -> tuple[np.int64, np.int64, float, np.uint64, np.int64, bool]:
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
def _digit_value(word: np.uint64) -> np.uint64:
    """The number that eight bytes from 0 to 9 spell, the first one lowest: pairs, then fours, then all, at once."""
    word = word * np.uint64(10) + (word >> _EIGHT)
    pairs, low = np.uint64(0x000000FF000000FF), np.uint64(16)
    upper = (word & pairs) * np.uint64(0x000F424000000064)
    return (upper + ((word >> low) & pairs) * np.uint64(0x0000271000000001)) >> HALF


@inner
def find_no_digit(data: Bytes, a: Whole, b: Whole) -> Whole:
    """Where the digits from a on end, at b at the latest."""
    while a + 8 <= b:
        word = load_eight(data, np.uint64(a)) ^ _ZEROS
        no_digit = (((word & _SEVEN_BITS) + _ABOVE_NINE) | word) & _HIGH_BITS
        if no_digit != 0:
            return a + (np.int64(trailing_zeros(no_digit)) >> 3)
        a += 8
    while a < b and 48 <= data[a] <= 57:
        a += 1
    return a


@inner
def _join_digits(data: Bytes, a: int, b: int, value: np.uint64) -> np.uint64:
    """The number whose digits are those of `value`, followed by those from a to b."""
    while b - a >= 8:
        value = value * _TENS[8] + _digit_value(load_eight(data, np.uint64(a)) ^ _ZEROS)
        a += 8
    if a < b:
        count = np.uint64(b - a)
        digits = (last_bytes(data, a, b) << ((_EIGHT - count) << _EIGHTH)) ^ (_ZEROS << ((_EIGHT - count) << _EIGHTH))
        value = value * _TENS[count] + _digit_value(digits)
    return value


@inner
def read_plain_number(data: Bytes, a: int, b: int) -> tuple[np.int64, np.int64, float, np.uint64, np.int64, bool]:
    """What `read_number` gives; quicker where there are only digits, at most 19, and a point between two of them."""
    begin = a + 1 if a < b and data[a] == 45 else a
    point = find_no_digit(data, begin, b)
    whole = point - begin
    fraction = b - point - 1 if point < b else 0
    plain = 0 < whole <= 19
    if plain and point < b:
        plain = data[point] == 46 and fraction > 0 and whole + fraction <= 19
        plain = plain and find_no_digit(data, point + 1, b) == b
    if not plain:
        return read_number(data, a, b)  # type: ignore[no-any-return]
    negative = begin > a
    digits = _join_digits(data, begin, point, np.uint64(0))
    form = np.int64(CODE if whole > 1 and data[begin] == 48 else WHOLE)
    if fraction > 0:
        digits = _join_digits(data, point + 1, b, digits)
        form = np.int64(DECIMAL)
    scale = np.int64(-fraction)
    if digits < np.uint64(10**15):
        x = np.float64(np.int64(digits)) / POWERS[fraction]
        return form, np.int64(EASY), -x if negative else x, digits, scale, negative
    return form, np.int64(LONG), 0.0, digits, scale, negative


@inner
def _two(data: Bytes, a: int) -> np.int64:
    x, y = data[a], data[a + 1]
    if 48 <= x <= 57 and 48 <= y <= 57:
        return np.int64(x - 48) * 10 + np.int64(y - 48)
    return np.int64(-1)


@inner
def read_date(data: Bytes, a: int, b: int) -> float:
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


# The different texts of a column, numbered in the order in which they come: a hash table over bytes.

ONCE: NDArray[np.int64] = np.empty(0, np.int64)
"""Every cell is there once."""


class TextIndex:
    """Texts by number, and how often each was met since `take_times`."""

    __slots__ = ("_bounds", "_data", "_hashes", "_keys", "_slots", "_times", "known")

    def __init__(self) -> None:
        self.known, self._keys = 0, draw_keys()
        self._data: NDArray[np.uint8] = np.zeros(1 << 10, np.uint8)
        self._bounds: NDArray[np.int64] = np.zeros(33, np.int64)
        self._hashes: NDArray[np.uint64] = np.zeros(32, np.uint64)
        self._times: NDArray[np.int64] = np.zeros(32, np.int64)
        self._slots: NDArray[np.int32] = np.full(128, -1, np.int32)

    def numbers(self, texts: Texts, times: NDArray[np.int64] = ONCE) -> NDArray[np.int32]:
        """The number of each text, new ones included; text i is counted times[i] times."""
        out, done = np.empty(len(texts), np.int32), 0
        while True:
            done, self.known = number_texts(
                texts.data, texts.starts, texts.ends, times, self._keys,
                self._data, self._bounds, self._hashes, self._times, self._slots, self.known, done, out,
            )  # fmt: skip
            if done == len(texts):
                return out
            self._grow(int(texts.ends[done] - texts.starts[done]))

    def _grow(self, size: int) -> None:
        """Room for more texts, one of so many bytes among them."""
        used = int(self._bounds[self.known])
        if used + size > len(self._data):
            self._data = np.concatenate([self._data, np.zeros(max(len(self._data), size), np.uint8)])
        if self.known == len(self._hashes):
            more = 3 * self.known
            self._bounds = np.concatenate([self._bounds, np.zeros(more, np.int64)])
            self._hashes = np.concatenate([self._hashes, np.zeros(more, np.uint64)])
            self._times = np.concatenate([self._times, np.zeros(more, np.int64)])
            self._slots = np.full(4 * len(self._slots), -1, np.int32)
            index_hashes(self._hashes, self.known, self._slots)

    def texts(self, first: int = 0) -> Texts:
        """The texts from number `first` on."""
        bounds = self._bounds[first : self.known + 1]
        return Texts(self._data, bounds[:-1].copy(), bounds[1:].copy())

    def take_times(self) -> NDArray[np.int64]:
        """How often each text was met since this was last asked."""
        out = self._times[: self.known].copy()
        self._times[:] = 0
        return out


@inner
def _keyed_hash(data: Bytes, a: int, b: int, keys: Hashes) -> np.uint64:
    """The hash of data[a:b] by secret keys: for places in memory, never to be kept or to decide anything."""
    h = keys[0] ^ np.uint64(b - a)
    while b - a > 8:
        h = fold_product(h ^ load_eight(data, np.uint64(a)), keys[1])
        a += 8
    if a < b:
        h = fold_product(h ^ last_bytes(data, a, b), keys[1])
    return fold_product(h ^ keys[0], keys[2])  # type: ignore[no-any-return]


@inner
def _same(data: Bytes, a: int, b: int, other: Bytes, c: int, d: int) -> bool:
    """Whether data[a:b] and other[c:d], which are of the same length, are the same bytes."""
    while b - a > 8:
        if load_eight(data, np.uint64(a)) != load_eight(other, np.uint64(c)):
            return False
        a += 8
        c += 8
    return a == b or last_bytes(data, a, b) == last_bytes(other, c, d)


@kernel("u1[], i8[], i8[], i8[], u8[], u1[], i8[], u8[], i8[], i4[], i8, i8, i4[]", returns=2)
def number_texts(
    data: Bytes,
    starts: Longs,
    ends: Longs,
    times: Longs,
    keys: Hashes,
    held: Bytes,
    bounds: Longs,
    hashes: Hashes,
    counts: Longs,
    slots: Ints,
    known: int,
    start: int,
    out: Ints,
) -> tuple[Whole, Whole]:
    """Write the number of each text into out, and add new ones; stops before the first for which there is no room.

    Text e is held[bounds[e]:bounds[e+1]]. Returns where it stopped, and how many are known.
    """
    mask = np.int64(slots.size - 1)
    for i in range(start, starts.size):
        a, b = starts[i], ends[i]
        h = _keyed_hash(data, a, b, keys)
        at = np.int64(h & np.uint64(0x7FFFFFFFFFFFFFFF)) & mask
        e = np.int64(slots[at])
        while e >= 0 and (
            hashes[e] != h
            or bounds[e + 1] - bounds[e] != b - a
            or not _same(data, a, b, held, bounds[e], bounds[e + 1])
        ):
            at = (at + 1) & mask
            e = np.int64(slots[at])
        if e < 0:
            begin = bounds[known]
            if known == hashes.size or begin + b - a > held.size:
                return i, known
            for k in range(b - a):
                held[begin + k] = data[a + k]
            bounds[known + 1] = begin + b - a
            hashes[known] = h
            counts[known] = 0
            slots[at] = known
            e = np.int64(known)
            known += 1
        out[i] = np.int32(e)
        counts[e] += 1 if times.size == 0 else times[i]
    return starts.size, known


@kernel("u8[], i8, i4[]")
def index_hashes(hashes: Hashes, known: int, slots: Ints) -> None:
    """Fill the empty slots with the first `known` texts, all different."""
    mask = np.int64(slots.size - 1)
    for e in range(known):
        at = np.int64(hashes[e] & np.uint64(0x7FFFFFFFFFFFFFFF)) & mask
        while slots[at] >= 0:
            at = (at + 1) & mask
        slots[at] = e
