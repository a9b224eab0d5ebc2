"""Numbers written with a unit: 12.1 %, $1,234.50, € 3.20, (1,234.00 EUR). Which unit a cell has, and its number.

Knows bytes and the units listed here. One grammar infers a column and reads it, by every road that cells come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from likely.machinery.arrays import Bytes, Floats, Longs, Whole
from likely.machinery.jit import inner, kernel
from likely.table.arrow import is_text
from likely.table.texts.grammar import (
    DECIMAL,
    EASY,
    LONG,
    NOT_A_NUMBER,
    WHOLE,
    WORDS,
    is_blank,
    nearest_double,
    read_plain_number,
    trim_blanks,
)
from likely.table.texts.numbers import Described, find_strays, parse_numbers, parse_texts
from likely.table.views import indices, plain_text, text_cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.table.columns import TextArray

UNITS = ("%", "$", "€", "£", "¥", "₹", "USD", "EUR", "GBP", "CHF")
"""The per cent sign stands behind its number; the others before it or behind it."""
ANY_UNIT = ""
"""Any of them: for sums of cells of which it is not yet known that they share one."""
_LETTERS = np.zeros((len(UNITS), 4), np.uint8)
_SIZES = np.array([len(unit.encode()) for unit in UNITS], np.int64)
for _k, _unit in enumerate(UNITS):
    _LETTERS[_k, : _SIZES[_k]] = np.frombuffer(_unit.encode(), np.uint8)
_FIRST = np.zeros(256, np.bool_)
"""Bytes with which a number with a unit may begin."""
_FIRST[[*b"0123456789.+-(", *_LETTERS[1:, 0].tolist()]] = True
_PARSED, _STRAY, _LATER = 0, 2, 4


@inner
def _skip_blanks(data: Bytes, a: int, b: int) -> tuple[int, int]:
    """Blanks taken off both ends, those that do not break a line (U+00A0, U+202F) too."""
    moved = True
    while moved and a < b:
        moved = False
        if is_blank(data[a]):
            a += 1
            moved = True
        elif b - a >= 2 and data[a] == 0xC2 and data[a + 1] == 0xA0:
            a += 2
            moved = True
        elif b - a >= 3 and data[a] == 0xE2 and data[a + 1] == 0x80 and data[a + 2] == 0xAF:
            a += 3
            moved = True
    moved = True
    while moved and a < b:
        moved = False
        if is_blank(data[b - 1]):
            b -= 1
            moved = True
        elif b - a >= 2 and data[b - 2] == 0xC2 and data[b - 1] == 0xA0:
            b -= 2
            moved = True
        elif b - a >= 3 and data[b - 3] == 0xE2 and data[b - 2] == 0x80 and data[b - 1] == 0xAF:
            b -= 3
            moved = True
    return a, b


@inner
def _stands_at(data: Bytes, a: int, b: int, unit: int) -> bool:
    size = _SIZES[unit]
    if b - a < size:
        return False
    same = True
    for k in range(size):
        same = same and data[a + k] == _LETTERS[unit, k]
    return same


@inner
def split_unit(data: Bytes, a: int, b: int) -> tuple[Whole, int, int, bool]:
    """(unit, begin, end, negative) of a number with a unit, its digits from begin to end; unit -1 where it is none."""
    no = (np.int64(-1), a, b, False)
    a, b = trim_blanks(data, a, b)
    if b - a < 2 or not _FIRST[data[a]]:
        return no
    negative, signed = False, False
    if data[a] == 40 and data[b - 1] == 41:  # (1,234): bookkeepers' minus
        negative, signed = True, True
        a, b = _skip_blanks(data, a + 1, b - 1)
    if a < b and not signed and (data[a] == 43 or data[a] == 45):
        negative, signed = data[a] == 45, True
        a += 1
    unit = np.int64(-1)
    for k in range(1, _SIZES.size):
        if unit < 0 and _stands_at(data, a, b, k):
            unit = np.int64(k)
            a, b = _skip_blanks(data, a + _SIZES[k], b)
    for k in range(_SIZES.size):
        if unit < 0 and _stands_at(data, max(a, b - _SIZES[k]), b, k):
            unit = np.int64(k)
            a, b = _skip_blanks(data, a, b - _SIZES[k])
    if unit < 0 or a >= b:
        return no
    if not signed and (data[a] == 43 or data[a] == 45):
        negative = data[a] == 45
        a += 1
    if a >= b or not ((48 <= data[a] <= 57) or data[a] == 46):
        return no
    return unit, a, b, negative


@kernel("u1[], i8[], i8[], u1[], i8[], i8[]")
def count_units(data: Bytes, starts: Longs, ends: Longs, forms: Bytes, times: Longs, counts: Longs) -> None:
    """Add to counts how many cells of words are numbers with which unit, and last how many are not."""
    for i in range(starts.size):
        if forms[i] != WORDS:
            continue
        often = np.int64(1) if times.size == 0 else times[i]
        unit, a, b, _ = split_unit(data, starts[i], ends[i])
        if unit >= 0:
            form, _, _, _, _, _ = read_plain_number(data, a, b)
            if form != WHOLE and form != DECIMAL:
                unit = np.int64(-1)
        counts[unit if unit >= 0 else counts.size - 1] += often


@kernel("u1[], i8[], i8[], i8, f8[], u1[]")
def parse_units(data: Bytes, starts: Longs, ends: Longs, unit: int, out: Floats, state: Bytes) -> None:
    """The numbers of cells that are none without their unit (state 2); state 4 leaves one to a full parser."""
    bits = out.view(np.uint64)
    for i in range(starts.size):
        if state[i] != _STRAY:
            continue
        found, a, b, negative = split_unit(data, starts[i], ends[i])
        if found < 0 or (unit >= 0 and found != unit):
            continue
        form, ease, value, digits, power, _ = read_plain_number(data, a, b)
        if ease == NOT_A_NUMBER or (form != WHOLE and form != DECIMAL):
            continue
        if ease == EASY:
            out[i] = -value if negative else value
            state[i] = _PARSED
            continue
        nearest = nearest_double(digits, power) if ease == LONG else np.uint64(0)
        state[i] = _LATER if nearest == 0 else _PARSED
        if nearest != 0:
            bits[i] = nearest | (np.uint64(1 << 63) if negative else np.uint64(0))


def tally_units(seen: Described) -> NDArray[np.int64]:
    """How many of the cells that are words are numbers with which unit, and last how many are not."""
    counts = np.zeros(len(UNITS) + 1, np.int64)
    texts = seen.texts
    count_units(texts.data, texts.starts, texts.ends, seen.forms, seen.times, counts)
    return counts


def parse_with_unit(array: Any, missing: NDArray[np.uint64], unit: str) -> tuple[Floats, int]:
    """The cells as doubles (NaN: missing), with this unit or without one, and how many are neither."""
    values, state = _parse(array, missing, unit)
    return values, int(np.count_nonzero(state))


def find_unit_strays(array: TextArray, missing: NDArray[np.uint64], unit: str) -> NDArray[np.bool_]:
    """Which cells are neither missing nor numbers with this unit or without one."""
    return _parse(array, missing, unit)[1]


def _parse(array: Any, missing: NDArray[np.uint64], unit: str) -> tuple[Floats, NDArray[np.bool_]]:
    """The numbers, and which cells are strays."""
    if isinstance(array, pa.DictionaryArray):
        values, stray = _parse(array.dictionary, missing, unit)
        index = indices(array)
        here = index >= 0
        out, odd = np.full(len(array), np.nan), np.zeros(len(array), np.bool_)
        out[here], odd[here] = values[index[here]], stray[index[here]]
        return out, odd
    if not is_text(array.type):
        return parse_numbers(array, missing)[0], find_strays(array, missing, False)
    array = plain_text(array)
    plain, _ = parse_numbers(array, missing)
    _, state = parse_texts(array, missing, False)
    state[state == 3] = _PARSED  # which `parse_numbers` has had parsed in full
    texts = text_cells(array)
    parse_units(texts.data, texts.starts, texts.ends, -1 if unit == ANY_UNIT else UNITS.index(unit), plain, state)
    for i in np.flatnonzero(state == _LATER).tolist():
        plain[i] = _parse_hard(texts.text(i), unit)
    return plain, state == _STRAY


def _parse_hard(text: str, unit: str) -> float:
    """A number of many digits, or with a far exponent, by Python's own parser."""
    text = text.strip()
    unit = unit or next(own for own in UNITS if own in text)
    negative = "-" in text.partition(unit)[0][:1] or text.startswith("(") or text.partition(unit)[2].strip()[:1] == "-"
    digits = text.strip("()").replace(unit, "").replace(",", "").strip(" \u00a0\u202f\t\n\v\f\r").lstrip("+-")
    return -float(digits) if negative else float(digits)
