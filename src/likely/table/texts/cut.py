"""Delimited text cut into cells: where each cell of a block begins and ends. Compiled loops over bytes.

Reads rows as Arrow's parser reads them; a block in which anything is unusual is refused, and Arrow has the last word.
"""

from __future__ import annotations

import numpy as np

from likely.machinery.arrays import Bytes, Ints, Longs, Whole
from likely.machinery.jit import inner, kernel, trailing_zeros
from likely.table.words import load_eight

QUOTE, LINE_FEED, RETURN = 34, 10, 13
PADDING = 16
"""Bytes after the text of a block, which loops that take eight bytes at a time may look at."""
REFUSED = -1
_EIGHTH = np.uint64(3)
_ONE = np.uint64(1)
_LAST = np.uint64(1 << 63)
_HIGH = np.uint8(128)


@kernel("u1[], i8, i8, u1[], i8[]")
def mark_bytes(data: Bytes, size: int, delimiter: int, marks: Bytes, found: Longs) -> None:
    """Mark the bytes at which a cell may begin or end: delimiters, line ends and quotes.

    found: whether there is a byte beyond ASCII, a NUL, a quote.
    """
    cut = np.uint8(delimiter)
    most, least, quotes = np.uint8(0), np.uint8(255), np.uint8(0)
    for i in range(np.uint64(size)):
        c = data[i]
        quote = np.uint8(c == np.uint8(QUOTE))
        quotes |= quote
        most |= c
        least = min(least, c)
        marks[i] = np.uint8(c == np.uint8(LINE_FEED)) | np.uint8(c == np.uint8(RETURN)) | quote | np.uint8(c == cut)
    found[0] = np.int64(most >= _HIGH)
    found[1] = np.int64(least == 0)
    found[2] = np.int64(quotes)


@kernel("u1[], i8, i4[]", returns=1)
def list_marks(marks: Bytes, size: int, out: Ints) -> Whole:
    """The places of the marks, in order; `out` has two places more than there are. Returns how many there are."""
    count = np.int64(0)
    for word in range(np.uint64(size + 7) >> _EIGHTH):
        at = word << _EIGHTH
        bits = load_eight(marks, at)
        # Two at a time whether they are there or not: nobody can foretell how many there are, and a jump costs more.
        out[count] = np.int32(at + (np.uint64(trailing_zeros(bits | _LAST)) >> _EIGHTH))
        rest = bits & (bits - _ONE)
        out[count + 1] = np.int32(at + (np.uint64(trailing_zeros(rest | _LAST)) >> _EIGHTH))
        count += np.int64(bits != 0) + np.int64(rest != 0)
        rest &= rest - _ONE
        while rest != 0:
            out[count] = np.int32(at + (np.uint64(trailing_zeros(rest)) >> _EIGHTH))
            rest &= rest - _ONE
            count += 1
    return count


@kernel("u1[], i8", returns=1)
def count_quotes(data: Bytes, size: int) -> Whole:
    """How many quotes there are."""
    count = np.int64(0)
    for i in range(np.uint64(size)):
        count += np.int64(data[i] == np.uint8(QUOTE))
    return count


@kernel("u1[], i8, i8", returns=1)
def find_last_row_end(data: Bytes, size: int, delimiter: int) -> Whole:
    """Where the last row ends that ends with a line feed, quotes observed; 0 where none does.

    The data begins with a row.
    """
    quotes = np.uint8(0)
    for i in range(np.uint64(size)):
        quotes |= np.uint8(data[i] == np.uint8(QUOTE))
    last = np.int64(0)
    if quotes == 0:
        last = np.int64(size)
        while last > 0 and data[last - 1] != LINE_FEED:
            last -= 1
        return last
    inside, begins = False, True
    for k in range(size):
        c = data[k]
        if inside:
            inside = c != QUOTE
            begins = True  # a doubled quote opens again at once
        elif c == QUOTE and begins:
            inside = True
        elif c == LINE_FEED:
            last = np.int64(k + 1)
            begins = True
        else:
            begins = (c == delimiter) | (c == RETURN)
    return last


@inner
def _wide_blank(data: Bytes, a: int, b: int) -> int:
    """How many bytes the blank beyond ASCII has that begins at a; 0 where there is none before b."""
    c = data[a]
    if c == 0xC2 and b - a >= 2 and (data[a + 1] == 0x85 or data[a + 1] == 0xA0):
        return 2
    if b - a < 3:
        return 0
    d, e = data[a + 1], data[a + 2]
    if c == 0xE2 and d == 0x80 and (e <= 0x8A or e == 0xA8 or e == 0xA9 or e == 0xAF):
        return 3
    wide = (c == 0xE1 and d == 0x9A and e == 0x80) or (c == 0xE2 and d == 0x81 and e == 0x9F)
    return 3 if wide or (c == 0xE3 and d == 0x80 and e == 0x80) else 0


@inner
def _is_edge(c: int) -> bool:
    return c == 32 or (9 <= c <= 13) or (28 <= c <= 31)


@inner
def _trim(data: Bytes, a: int, b: int) -> tuple[int, int]:
    """The cell without what Python's `strip` takes off."""
    while a < b:
        step = 1 if _is_edge(data[a]) else (_wide_blank(data, a, b) if data[a] >= 0xC2 else 0)
        if step == 0:
            break
        a += step
    while b > a:
        step = 1 if _is_edge(data[b - 1]) else 0
        if step == 0 and data[b - 1] >= 128:
            if b - a >= 2 and _wide_blank(data, b - 2, b) == 2:
                step = 2
            elif b - a >= 3 and _wide_blank(data, b - 3, b) == 3:
                step = 3
        if step == 0:
            break
        b -= step
    return a, b


@inner
def _undouble(data: Bytes, a: int, b: int) -> int:
    """Take one of each two quotes out of a cell, in place; returns its new end."""
    out = a
    k = a
    while k < b:
        data[out] = data[k]
        k += 2 if data[k] == QUOTE else 1
        out += 1
    return out


@kernel("u1[], i8, i8, i4[], i8, i8[], i8[][], i8[][], i8[]", returns=1)
def cut_cells(
    data: Bytes,
    size: int,
    delimiter: int,
    marks: Ints,
    count: int,
    places: Longs,
    starts: Longs,
    ends: Longs,
    trimmed: Longs,
) -> Whole:
    """Cell j of row i begins at starts[places[j], i] and ends at ends[places[j], i]; returns the number of rows.

    The text ends with a line end; places[j] is negative where column j is not wanted. trimmed[j] counts the cells that
    had blanks around them. REFUSED where rows have other numbers of cells, or something follows a closing quote.
    """
    columns = places.size
    row, column, begin = np.int64(0), np.int64(0), np.int64(0)
    quoted = np.int64(0)  # 1 within quotes, 2 behind them
    closed, doubled, passed = np.int64(0), np.int64(0), np.int64(-1)
    for mark in range(count):
        k = np.int64(marks[mark])
        c = data[k]
        if c == QUOTE:
            if quoted == 0:
                if k == begin:
                    quoted = np.int64(1)
                    doubled = np.int64(0)
            elif quoted == 2:
                return np.int64(REFUSED)
            elif k != passed:
                if data[k + 1] == QUOTE:
                    doubled = np.int64(1)
                    passed = k + 1
                else:
                    quoted = np.int64(2)
                    closed = k
            continue
        if quoted == 1:
            continue
        a, b = begin, k
        if quoted == 2:
            if k != closed + 1:
                return np.int64(REFUSED)
            a, b = begin + 1, closed
            if doubled == 1:
                b = _undouble(data, a, b)
        elif c != delimiter and column == 0 and a == b:
            begin = k + 1  # a line without anything in it
            continue
        begin = k + 1
        if column >= columns:
            return np.int64(REFUSED)
        place = places[column]
        if place >= 0:
            if a < b:
                first, last = data[a], data[b - 1]
                if first <= 32 or last <= 32 or first >= 128 or last >= 128:
                    x, y = _trim(data, a, b)
                    trimmed[column] += np.int64(y - x != b - a)
                    a, b = x, y
            starts[place, row] = a
            ends[place, row] = b
        quoted = np.int64(0)
        column += 1
        if c != delimiter:
            if column != columns:
                return np.int64(REFUSED)
            column = np.int64(0)
            row += 1
    return row if quoted == 0 and column == 0 and begin == size else np.int64(REFUSED)
