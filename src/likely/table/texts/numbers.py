"""Numbers, dates and their parts, and forms of cells, with or without a unit, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from likely.machinery.arrays import Bytes, Floats, Longs, Whole
from likely.machinery.jit import address, inner, kernel
from likely.table.arrow import ArrowType, TextArray, is_text, label_array, number_array
from likely.table.batch import Texts, pack_texts
from likely.table.texts import cells
from likely.table.texts.grammar import (
    DECIMAL,
    EASY,
    LONG,
    NOT_A_NUMBER,
    ONCE,
    WHOLE,
    WORDS,
    is_blank,
    nearest_double,
    read_plain_number,
    trim_blanks,
)
from likely.table.views import count_codes, doubles, indices, numbers_in, plain_text, text_cells, validity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.table.arrow import ArrowArray


# Numbers, dates and forms of cells: what an array of Arrow's, or a column of text, says row by row.

NO_TOKENS: NDArray[np.uint64] = np.empty(0, np.uint64)
BLANKS = " \t\n\v\f\r"
"""The blanks around a cell that are no part of it."""


@lru_cache(maxsize=64)
def token_hashes(tokens: tuple[str, ...]) -> NDArray[np.uint64]:
    """Hashes of the cells that mean "missing"."""
    texts = pack_texts(tokens)
    out = np.zeros(len(texts), np.uint64)
    cells.hash_cells(texts.data, texts.starts, texts.ends, out)
    return out


def is_moment(kind: ArrowType) -> bool:
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def column_form(kind: ArrowType) -> str:
    """What Arrow knows of a column: text, number, date, boolean, empty, or other (nested and the like)."""
    if pa.types.is_dictionary(kind):
        return column_form(kind.value_type)
    if is_text(kind):
        return "text"
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if numeric or pa.types.is_time(kind) or pa.types.is_duration(kind):
        return "number"
    if is_moment(kind):
        return "date"
    if pa.types.is_boolean(kind):
        return "boolean"
    return "empty" if pa.types.is_null(kind) else "other"


def parse_numbers(array: Any, missing: NDArray[np.uint64], dates: bool = False) -> tuple[Floats, int]:
    """The cells as doubles (NaN: missing), and how many were neither missing nor numbers."""
    kind = array.type
    if isinstance(array, pa.DictionaryArray):
        values, strays = parse_numbers(array.dictionary, missing, dates)
        index = indices(array)
        out = np.where(index < 0, np.nan, values[index]) if len(values) else np.full(len(array), np.nan)
        if strays:
            strays = int(np.count_nonzero(find_strays(array.dictionary, missing, dates)[index[index >= 0]]))
        return out, strays
    if is_text(kind):
        return _text_numbers(array, missing, dates)
    if is_moment(kind):
        stamps = array.cast(pa.timestamp("us"), safe=False)
        micro = numbers_in(stamps.buffers()[1], np.int64)[stamps.offset : stamps.offset + len(stamps)]
        valid = validity(stamps)
        out = micro / 1e6
        return (np.where(valid, out, np.nan) if valid.size else out), 0
    if pa.types.is_null(kind):
        return np.full(len(array), np.nan), 0
    if pa.types.is_decimal(kind):
        # By way of text: Arrow's own step from decimal to double may miss the nearest one.
        return _text_numbers(array.cast(pa.string()), NO_TOKENS, False)
    if kind == pa.float64() and len(array):
        return doubles(array), 0
    if pa.types.is_boolean(kind):
        array = array.cast(pa.float64(), safe=False)
    elif pa.types.is_time(kind) or pa.types.is_duration(kind):
        array = array.cast(pa.int64() if array.type.bit_width == 64 else pa.int32())
    return np.ascontiguousarray(array.to_numpy(zero_copy_only=False), np.float64), 0


def parse_texts(array: TextArray, missing: NDArray[np.uint64], dates: bool) -> tuple[Floats, NDArray[np.uint8]]:
    """The numbers (or dates) of texts, and the state of each cell as `cells.parse` has it."""
    texts = text_cells(array)
    out, state = np.empty(len(texts)), np.empty(len(texts), np.uint8)
    cells.parse(texts.data, texts.starts, texts.ends, missing, dates, out, state)
    return out, state


def find_strays(array: TextArray, missing: NDArray[np.uint64], dates: bool) -> NDArray[np.bool_]:
    """Which cells are neither missing nor numbers (or dates)."""
    if not is_text(array.type):
        return np.zeros(len(array), np.bool_)
    stray: NDArray[np.bool_] = parse_texts(array, missing, dates)[1] == 2
    return stray


def _text_numbers(array: TextArray, missing: NDArray[np.uint64], dates: bool) -> tuple[Floats, int]:
    array = plain_text(array)
    out, state = parse_texts(array, missing, dates)
    _parse_hard(array, state, out)
    return out, int(np.count_nonzero(state == 2))


def _parse_hard(array: TextArray, state: NDArray[np.uint8], out: Floats) -> None:
    """The numbers that `cells.parse` leaves open, of more than 19 digits or a far exponent: Arrow's parser rounds these
    correctly (tests/table/test_cells.py)."""
    hard = np.flatnonzero(state == 3)
    if len(hard):
        import pyarrow.compute

        compute: Any = pyarrow.compute
        texts = compute.replace_substring(compute.ascii_trim(array.take(number_array(hard)), BLANKS), ",", "")
        out[hard] = texts.cast(pa.float64()).to_numpy(zero_copy_only=False)


@dataclass(frozen=True, slots=True)
class Described:
    """The form and hash of each cell (of each distinct cell where Arrow keeps a dictionary), and what all come to."""

    forms: NDArray[np.uint8]
    hashes: NDArray[np.uint64]
    totals: NDArray[np.int64]
    """How many cells have which form, and last how many words they have."""
    texts: Texts
    times: NDArray[np.int64]
    """How often each is there; empty where that is once."""

    def text(self, k: int) -> str:
        """The text of cell k."""
        part = self.texts.data[self.texts.starts[k] : self.texts.ends[k]]
        return part.tobytes().decode("utf-8", "replace").strip()


DIGITS = 15
"""A double holds whole numbers of so many digits, whichever they are."""


def has_short_numbers(seen: Described) -> bool:
    """Whether any cell is a whole number of so few digits that a double holds it."""
    if not seen.totals[cells.WHOLE]:
        return False
    whole = (seen.forms == cells.WHOLE) & (seen.times > 0 if len(seen.times) else True)
    starts, ends = seen.texts.starts[whole], seen.texts.ends[whole]
    if (ends - starts <= DIGITS).any():  # of nearly all tables, and soon found
        return True
    data = seen.texts.data
    digits = np.concatenate([np.zeros(1, np.int64), np.cumsum((data >= ord("0")) & (data <= ord("9")))])
    return bool((digits[ends] - digits[starts] <= DIGITS).any())


def describe_text(array: TextArray, missing: NDArray[np.uint64], times: NDArray[np.int64] | None = None) -> Described:
    """What the cells of a text array look like; `times` says how often each is there, where that is not once."""
    if isinstance(array, pa.DictionaryArray):
        index = indices(array)
        often = count_codes(index, len(array.dictionary)) if times is None else _add_times(index, array, times)
        own = text_cells(array.dictionary)
        # What is null in the array has no text; what is null in the dictionary has an empty one.
        nothing = np.zeros(1, np.int64)
        texts = Texts(own.data, np.concatenate([own.starts, nothing]), np.concatenate([own.ends, nothing]))
        return describe_cells(texts, missing, often)
    return describe_cells(text_cells(array), missing, ONCE if times is None else times)


def _add_times(index: NDArray[np.int32], array: Any, times: NDArray[np.int64]) -> NDArray[np.int64]:
    out = np.zeros(len(array.dictionary) + 1, np.int64)
    np.add.at(out, index, times)
    return out


def describe_cells(texts: Texts, missing: NDArray[np.uint64], times: NDArray[np.int64] = ONCE) -> Described:
    """What texts look like, of which number i is there times[i] times."""
    forms, hashes = np.empty(len(texts), np.uint8), np.empty(len(texts), np.uint64)
    totals = np.zeros(7, np.int64)
    cells.describe(texts.data, texts.starts, texts.ends, missing, times, forms, hashes, totals)
    return Described(forms, hashes, totals, texts, times)


def describe_numbers(
    arrays: Sequence[TextArray], missing: NDArray[np.uint64], dates: Sequence[bool]
) -> list[tuple[Floats, int, Described]]:
    """`parse_numbers` of columns of text that are no dictionaries, and what their cells look like: in one call."""
    columns = [plain_text(array) for array in arrays]
    texts = [text_cells(array) for array in columns]
    if len({len(own) for own in texts}) > 1:
        raise ValueError("columns of one batch have as many cells")
    shape, totals = (len(texts), len(texts[0])), np.zeros((len(texts), 9), np.int64)
    out, state = np.empty(shape), np.empty(shape, np.uint8)
    forms, hashes = np.empty(shape, np.uint8), np.empty(shape, np.uint64)
    words = [
        (address(own.data, np.uint8), len(own.data), address(own.starts, np.int64), address(own.ends, np.int64), date)
        for own, date in zip(texts, dates, strict=True)
    ]
    cells.describe_and_parse(np.array(words, np.int64), missing, out, state, forms, hashes, totals)
    found = []
    for k, (strays, hard) in enumerate(totals[:, 7:].tolist()):
        if hard:
            _parse_hard(columns[k], state[k], out[k])
        found.append((out[k], strays, Described(forms[k], hashes[k], totals[k, :7], texts[k], ONCE)))
    return found


def is_text_column(kind: ArrowType) -> bool:
    """Whether a column holds texts, in a dictionary or not."""
    return column_form(kind) == "text"


# Numbers written with a unit: 12.1 %, $1,234.50, € 3.20, (1,234.00 EUR). Which unit a cell has, and its number.

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
        plain[i] = _parse_with_unit(texts.text(i), unit)
    return plain, state == _STRAY


def _parse_with_unit(text: str, unit: str) -> float:
    """A number of many digits, or with a far exponent, by Python's own parser."""
    text = text.strip()
    unit = unit or next(own for own in UNITS if own in text)
    negative = "-" in text.partition(unit)[0][:1] or text.startswith("(") or text.partition(unit)[2].strip()[:1] == "-"
    digits = text.strip("()").replace(unit, "").replace(",", "").strip(" \u00a0\u202f\t\n\v\f\r").lstrip("+-")
    return -float(digits) if negative else float(digits)


# Parts of dates as cells of their own: weekday, month, day of the month and of the year, hour. Knows seconds since
# 1970, in UTC.

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
LEVELS: dict[str, tuple[str, ...]] = {"weekday": WEEKDAYS, "month": MONTHS}
"""Parts that have names; the others are numbers."""
PARTS = ("weekday", "month", "day", "day of year", "hour")
_DAY = 86400
_NOTHING = np.empty(0)


MOST_SECONDS = 1e15
"""Since 1970, to either side: numbers that are farther away are read as dates, but are on no day."""


def take_part(
    array: TextArray, part: str, missing: NDArray[np.uint64], gone: NDArray[np.float64] = _NOTHING
) -> ArrowArray:
    """A part of the date in each cell; null where there is none, or where its seconds are among those that are `gone`.

    >>> import pyarrow as pa
    >>> dates = pa.array(["1969-12-31 23:10", "2024-02-29", "soon"])
    >>> for part in PARTS: print(take_part(dates, part, np.empty(0, np.uint64)).to_pylist())
    ['Wednesday', 'Thursday', None]
    ['December', 'February', None]
    [31.0, 29.0, None]
    [365.0, 60.0, None]
    [23.0, 0.0, None]
    """
    seconds, _ = parse_numbers(array, missing, dates=True)
    known = (np.abs(seconds) <= MOST_SECONDS) & ~np.isin(seconds, gone)
    whole = np.floor(np.where(known, seconds, 0.0)).astype(np.int64)
    days = whole // _DAY
    if part == "weekday":
        return _names((days + 3) % 7, known, WEEKDAYS)  # the first of January 1970 was a Thursday
    if part == "hour":
        return _numbers((whole - days * _DAY) // 3600, known)
    dates = days.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    if part == "month":
        return _names(months.astype(np.int64) % 12, known, MONTHS)
    begin = months if part == "day" else dates.astype("datetime64[Y]")
    return _numbers((dates - begin.astype("datetime64[D]")).astype(np.int64) + 1, known)


def _names(codes: NDArray[np.int64], known: NDArray[np.bool_], names: tuple[str, ...]) -> ArrowArray:
    if known.all():
        return label_array(codes.astype(np.int32), list(names))
    places: Any = pa.array(codes.astype(np.int32), mask=~known)
    return pa.DictionaryArray.from_arrays(places, list(names))


def _numbers(values: NDArray[np.int64], known: NDArray[np.bool_]) -> ArrowArray:
    return number_array(np.where(known, values, np.nan)) if known.all() else pa.array(values * 1.0, mask=~known)
