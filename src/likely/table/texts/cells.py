"""What the text of a cell means: a number, a date, a code, a missing value, or words. Compiled loops over bytes.

Knows bytes, and where cells begin and end; an empty cell is missing. The grammar is in texts/grammar.py.
"""

from __future__ import annotations

import numpy as np

from likely.machinery.arrays import Bytes, Floats, Hashes, Longs, Whole
from likely.machinery.jit import BLOCK, blank_bits, bytes_at, count_bits, hashes_at, inner, kernel, longs_at
from likely.table.texts.grammar import CODE as CODE
from likely.table.texts.grammar import DATE as DATE
from likely.table.texts.grammar import DECIMAL as DECIMAL
from likely.table.texts.grammar import (
    EASY,
    LONG,
    NOT_A_NUMBER,
    hash_text,
    hash_within,
    nearest_double,
    read_date,
    read_plain_number,
    trim_blanks,
)
from likely.table.texts.grammar import MISSING as MISSING
from likely.table.texts.grammar import WHOLE as WHOLE
from likely.table.texts.grammar import WORDS as WORDS
from likely.table.texts.grammar import is_blank as is_blank
from likely.table.words import fold_product

_ONE, _SIX_BITS, _BLOCK = np.uint64(1), np.uint64(63), np.uint64(BLOCK)
LONGEST_TOKEN = 64
"""Bytes of a text, with its blanks, that may still be a token for "missing"."""


@inner
def _filter_of(missing: Hashes) -> np.uint64:
    """A bit for each token: most cells are told by it to be none of them, without a look at any."""
    out = np.uint64(0)
    for k in range(missing.size):
        out |= np.uint64(1) << (missing[k] & _SIX_BITS)
    return out


@inner
def _is_token(h: np.uint64, missing: Hashes, some: np.uint64) -> bool:
    found = False
    if (some >> (h & _SIX_BITS)) & np.uint64(1):
        for k in range(missing.size):
            if missing[k] == h:
                found = True
    return found


@inner
def _count_words(data: Bytes, a: int, b: int) -> Whole:
    """How many runs of other bytes than blanks there are; data[a] is none."""
    count = np.uint64(1)
    before = np.uint64(0)
    at, end = np.uint64(a), np.uint64(b)
    while at + _BLOCK <= end:
        blank = blank_bits(data, at)
        count += count_bits(((blank << _ONE) | before) & ~blank)
        before = blank >> _SIX_BITS
        at += _BLOCK
    for k in range(at, end):
        blank = np.uint64(is_blank(data[k]))
        count += before & ~blank
        before = blank
    return np.int64(count)


@kernel("u1[], i8[], i8[], u8[], i8[], u1[], u8[], i8[]")
def describe(
    data: Bytes, starts: Longs, ends: Longs, missing: Hashes, times: Longs, forms: Bytes, hashes: Hashes, totals: Longs
) -> None:
    """The form and hash of each cell. `missing` holds the hashes of cells that mean "not known".

    Adds to totals how many cells have which form, and last how many words there are; cell i is there times[i] times,
    or once where that is empty. What is there not at all has the form MISSING, and no hash.
    """
    some = _filter_of(missing)
    for i in range(starts.size):
        forms[i] = MISSING
        hashes[i] = 0
        often = np.int64(1) if times.size == 0 else times[i]
        if often == 0:
            continue
        a, b = trim_blanks(data, starts[i], ends[i])
        h, whole = hash_within(data, starts[i], a, b, ends[i])
        if a == b or _is_token(h, missing, some):
            totals[MISSING] += often
            continue
        hashes[i] = whole
        form, ease, _, _, _, _ = read_plain_number(data, a, b)
        words: Whole = 1  # there are no blanks in a number
        if ease == NOT_A_NUMBER:
            words = _count_words(data, a, b)
            if not np.isnan(read_date(data, a, b)):
                form = np.int64(DATE)
        forms[i] = form
        totals[form] += often
        totals[WORDS + 1] += often * words


@inner
def _describe_and_parse(
    data: Bytes,
    starts: Longs,
    ends: Longs,
    missing: Hashes,
    dates: bool,
    out: Floats,
    state: Bytes,
    forms: Bytes,
    hashes: Hashes,
    totals: Longs,
) -> None:
    """`describe` and `parse` of cells that are there once each, in one pass.

    Two more totals say how many cells are neither missing nor numbers (or dates), and for how many a full parser must
    be asked.
    """
    some = _filter_of(missing)
    bits = out.view(np.uint64)
    for i in range(starts.size):
        forms[i] = MISSING
        hashes[i] = 0
        out[i] = np.nan
        state[i] = 1
        a, b = trim_blanks(data, starts[i], ends[i])
        h = hash_text(data, a, b)
        if a == b or _is_token(h, missing, some):
            totals[MISSING] += 1
            continue
        hashes[i] = h if b - a == ends[i] - starts[i] else hash_text(data, starts[i], ends[i])
        form, ease, value, digits, power, negative = read_plain_number(data, a, b)
        words: Whole = 1
        if ease == NOT_A_NUMBER or dates:
            date = read_date(data, a, b)
            if ease == NOT_A_NUMBER:
                words = _count_words(data, a, b)
                if not np.isnan(date):
                    form = np.int64(DATE)
            if dates:
                out[i] = date
                state[i] = 2 if np.isnan(date) else 0
            else:
                state[i] = 2
            totals[WORDS + 2] += np.int64(state[i] == 2)
        elif ease == EASY:
            out[i] = value
            state[i] = 0
        else:
            nearest = nearest_double(digits, power) if ease == LONG else np.uint64(0)
            state[i] = 3 if nearest == 0 else 0
            totals[WORDS + 3] += np.int64(nearest == 0)
            if nearest != 0:
                bits[i] = nearest | (np.uint64(1 << 63) if negative else np.uint64(0))
        forms[i] = form
        totals[form] += 1
        totals[WORDS + 1] += words


@kernel("i8[][], u8[], f8[][], u1[][], u1[][], u8[][], i8[][]")
def describe_and_parse(
    columns: Longs, missing: Hashes, out: Floats, state: Bytes, forms: Bytes, hashes: Hashes, totals: Longs
) -> None:
    """The same of many columns: the address of the bytes of each and how many there are, the addresses of starts and
    ends, and whether it holds dates. What is found of column c is in row c."""
    rows = out.shape[1]
    for c in range(columns.shape[0]):
        data = bytes_at(columns[c, 0], (columns[c, 1],))
        starts, ends = longs_at(columns[c, 2], (rows,)), longs_at(columns[c, 3], (rows,))
        dates = columns[c, 4] != 0
        _describe_and_parse(data, starts, ends, missing, dates, out[c], state[c], forms[c], hashes[c], totals[c])


@kernel("u1[], i8[], i8[], u8[], i8, f8[], u1[]")
def parse(data: Bytes, starts: Longs, ends: Longs, missing: Hashes, dates: bool, out: Floats, state: Bytes) -> None:
    """The number (or date) of each cell; `state` says 0 fine, 1 missing, 2 not a number, 3 ask a full parser."""
    some = _filter_of(missing)
    bits = out.view(np.uint64)
    for i in range(starts.size):
        out[i] = np.nan
        state[i] = 1
        a, b = trim_blanks(data, starts[i], ends[i])
        if a == b or (missing.size > 0 and _is_token(hash_text(data, a, b), missing, some)):
            continue
        if dates:
            out[i] = read_date(data, a, b)
            state[i] = 2 if np.isnan(out[i]) else 0
        else:
            _, ease, value, digits, power, negative = read_plain_number(data, a, b)
            state[i] = 2 if ease == NOT_A_NUMBER else (0 if ease == EASY else 3)
            if ease == EASY:
                out[i] = value
            elif ease == LONG:
                nearest = nearest_double(digits, power)
                if nearest != 0:
                    state[i] = 0
                    bits[i] = nearest | (np.uint64(1 << 63) if negative else np.uint64(0))


@kernel("u1[], i8[], i8[], u8[]")
def hash_cells(data: Bytes, starts: Longs, ends: Longs, out: Hashes) -> None:
    """The hash of each trimmed cell."""
    for i in range(starts.size):
        a, b = trim_blanks(data, starts[i], ends[i])
        out[i] = hash_text(data, a, b)


HASHES, ROWS, DONE, CEILING, KEPT, PLACES, KEY, KNOWN, LIMIT = range(9)
"""What `keep_small` is told of a column: where hashes and the set begin, and how many of them there are."""


@kernel("u8[][]", returns=1)
def keep_small(columns: Hashes) -> Whole:
    """Add each non-zero hash below the ceiling of its column to the open-addressed set that is kept of it, from where
    it is DONE; stop when that holds its limit. Returns in how many columns that was so.

    A secret key says where each is looked for: hashes of chosen texts would all be in one place.
    """
    waiting = np.int64(0)
    for c in range(columns.shape[0]):
        hashes = hashes_at(np.int64(columns[c, HASHES]), (np.int64(columns[c, ROWS]),))
        kept = hashes_at(np.int64(columns[c, KEPT]), (np.int64(columns[c, PLACES]),))
        ceiling, key, known, limit = columns[c, CEILING], columns[c, KEY], columns[c, KNOWN], columns[c, LIMIT]
        mask = np.uint64(kept.size - 1)
        i, rows = columns[c, DONE], columns[c, ROWS]
        while i < rows:
            h = hashes[i]
            if h != 0 and h < ceiling:
                at = fold_product(h, key) & mask
                while kept[at] != 0 and kept[at] != h:
                    at = (at + _ONE) & mask
                if kept[at] == 0:
                    if known == limit:
                        waiting += 1
                        break
                    kept[at] = h
                    known += _ONE
            i += _ONE
        columns[c, DONE], columns[c, KNOWN] = i, known
    return waiting


@kernel("u1[], i8[], i8[], u8[]")
def empty_missing(data: Bytes, starts: Longs, ends: Longs, missing: Hashes) -> None:
    """Empty every short cell that is one of the tokens for "missing": ends[i] = starts[i]."""
    for i in range(starts.size):
        a, b = starts[i], ends[i]
        if b - a <= LONGEST_TOKEN:
            a, b = trim_blanks(data, a, b)
            h = hash_text(data, a, b)
            for k in range(missing.size):
                if h == missing[k]:
                    ends[i] = starts[i]
