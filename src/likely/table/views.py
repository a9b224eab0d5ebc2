"""Arrow's own buffers seen as numpy arrays, without copying: bytes, offsets, nulls and codes. Reads no meaning.

The loops over codes are compiled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from likely.errors import InputError
from likely.machinery.arrays import Bytes, Floats, Ints, Longs, Whole
from likely.machinery.jit import inner, kernel
from likely.table.arrow import ArrowArray, ArrowDictionary, TextArray, TextColumn
from likely.table.batch import Texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

S = TypeVar("S", bound=np.generic)
NO_CELLS: NDArray[np.bool_] = np.empty(0, np.bool_)


def numbers_in(buffer: object, kind: type[S] | str) -> NDArray[S]:
    """The memory of an Arrow buffer as numbers."""
    memory: Any = buffer
    return np.frombuffer(memory, kind)


def validity(array: ArrowArray) -> NDArray[np.bool_]:
    """Which cells are not null; empty where none is."""
    buffer = array.buffers()[0]
    if array.null_count == 0 or buffer is None:
        return np.zeros(len(array), np.bool_) if pa.types.is_null(array.type) else NO_CELLS
    first, skip = divmod(array.offset, 8)
    bits = numbers_in(buffer, np.uint8)[first : first + (skip + len(array) + 7) // 8]  # a slice pays for itself only
    return np.unpackbits(bits, bitorder="little")[skip : skip + len(array)].astype(np.bool_)


def plain_text(array: TextArray) -> TextArray:
    """The array as plain text, whatever kind of text it is kept as."""
    if isinstance(array, TextColumn):
        return array
    if pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type):
        # The same buffers, whatever bytes they hold: a cast would refuse all rows for the sake of one.
        kind = pa.large_string() if pa.types.is_large_binary(array.type) else pa.string()
        array = pa.Array.from_buffers(kind, len(array), array.buffers(), array.null_count, array.offset)
    return array if pa.types.is_string(array.type) or pa.types.is_large_string(array.type) else array.cast(pa.string())


def text_cells(array: TextArray) -> Texts:
    """The cells of any array as texts, over Arrow's own bytes; a dictionary is not decoded. Null is empty."""
    if isinstance(array, TextColumn):
        return array.cells
    if isinstance(array, pa.DictionaryArray):
        own, index = text_cells(array.dictionary), indices(array)
        if not len(own):
            return Texts(own.data, np.zeros(len(array), np.int64), np.zeros(len(array), np.int64))
        starts, ends = own.starts[index], own.ends[index]
        return Texts(own.data, starts, np.where(index < 0, starts, ends))
    plain: Any = plain_text(array)
    _, offsets, data = plain.buffers()
    if offsets is None or len(array) == 0:
        return Texts(np.empty(0, np.uint8), np.zeros(len(array), np.int64), np.zeros(len(array), np.int64))
    kind = "int64" if pa.types.is_large_string(plain.type) else "int32"
    at: NDArray[np.integer] = numbers_in(offsets, kind)[plain.offset : plain.offset + len(array) + 1]
    content = numbers_in(data, np.uint8) if data is not None and data.size else np.empty(0, np.uint8)
    _check_offsets(at, content.size)
    starts, ends, valid = at[:-1].astype(np.int64), at[1:].astype(np.int64), validity(plain)
    return Texts(content, starts, np.where(valid, ends, starts) if valid.size else ends)


def indices(array: ArrowDictionary) -> NDArray[np.int32]:
    """The indices of a dictionary array; null is -1."""
    index = array.indices
    bitmap, data = index.buffers()
    raw: NDArray[np.integer] = numbers_in(data, str(index.type))[index.offset : index.offset + len(index)]
    _check_codes(array, raw)
    out = np.ascontiguousarray(raw, np.int32)
    if index.null_count and bitmap is not None:
        marked = np.empty(len(out), np.int32)
        mark_nulls(out, numbers_in(bitmap, np.uint8), index.offset, marked)
        return marked
    return out


def indices_and_times(array: ArrowDictionary) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The indices of a dictionary array (null is -1), and how often each occurs, last -1."""
    if array.indices.type != pa.int32():
        codes = indices(array)
        return codes, count_codes(codes, len(array.dictionary))
    raw, bits, offset = _raw_codes(array)
    out, times = np.empty(len(raw), np.int32), np.zeros(len(array.dictionary) + 1, np.int64)
    if read_codes(raw, bits, offset, out, times):
        raise InputError(_NOT_IN_DICTIONARY)
    return out, times


def _raw_codes(array: ArrowDictionary) -> tuple[NDArray[np.int32], NDArray[np.uint8], int]:
    """Codes of 32 bits, the bits that say which of them are not null (empty: none is), and the place of the first."""
    index = array.indices
    bitmap, data = index.buffers()
    raw = numbers_in(data, np.int32)[index.offset : index.offset + len(index)]
    nulls = index.null_count and bitmap is not None
    return raw, numbers_in(bitmap, np.uint8) if nulls else np.empty(0, np.uint8), index.offset


def doubles(array: ArrowArray) -> NDArray[np.float64]:
    """An array of doubles, NaN where it is null; not copied where nothing is."""
    bitmap, data = array.buffers()
    values = numbers_in(data, np.float64)[array.offset : array.offset + len(array)]
    if not array.null_count or bitmap is None:
        return values
    out = np.empty(len(values))
    fill_nulls(values, numbers_in(bitmap, np.uint8), array.offset, out)
    return out


def cross_classes(array: ArrowDictionary, classes: NDArray[np.int32], count: int) -> NDArray[np.int64]:
    """How often each entry of the dictionary, whose codes have 32 bits, meets each of so many classes.

    The last entry is null; the first class is none.
    """
    times = np.zeros((len(array.dictionary) + 1, count + 1), np.int64)
    if cross_codes(*_raw_codes(array), classes, times):
        raise InputError(_NOT_IN_DICTIONARY)
    return times


_NOT_IN_DICTIONARY = "The table is not sound: a column has codes that its dictionary does not have. Make it again."


def _check_codes(array: ArrowDictionary, codes: NDArray[np.integer]) -> None:
    """Refuse codes that point beyond the dictionary, where kernels would follow them (tests/table/test_unsound.py)."""
    size = len(array.dictionary)
    if not codes.size or (int(codes.min()) >= 0 and int(codes.max()) < size):
        return
    there = validity(array.indices)
    wrong = (codes < 0) | (codes >= size)
    if (wrong & there if there.size else wrong).any():  # what lies below a null is nobody's
        raise InputError(_NOT_IN_DICTIONARY)


def _check_offsets(offsets: NDArray[np.integer], size: int) -> None:
    """Refuse texts that begin or end outside of their bytes."""
    if int(offsets[0]) < 0 or int(offsets[-1]) > size or bool((offsets[1:] < offsets[:-1]).any()):
        raise InputError("The table is not sound: a text lies outside of its column's bytes. Make it again.")


def count_codes(index: NDArray[np.int32], size: int) -> NDArray[np.int64]:
    """How often each of `size` codes occurs, and last how often -1 does."""
    times = np.zeros(size + 1, np.int64)
    add_occurrences(index, times)
    return times


@kernel("i4[], u1[], i8, i4[], i8[]", returns=1)
def read_codes(codes: Ints, bitmap: Bytes, offset: int, out: Ints, times: Longs) -> Whole:
    """Copy codes, -1 where the bit of the bitmap (from `offset` on; empty: all are set) is not set, and count each.

    The last place of `times` counts -1. Returns how many codes the dictionary, which has as many texts as there are
    places before, does not have.
    """
    last = np.int64(times.size - 1)
    wrong = np.int64(0)
    if bitmap.size == 0:
        for i in range(codes.size):
            c = np.int64(codes[i])
            sound = (c >= 0) & (c < last)
            wrong += np.int64(not sound)
            out[i] = codes[i]
            times[c if sound else last] += 1
        return wrong
    for i in range(codes.size):
        at = offset + i
        there = (bitmap[at >> 3] >> np.uint8(at & 7)) & np.uint8(1)
        c = np.int64(codes[i]) if there else np.int64(-1)
        sound = (c >= 0) & (c < last)
        wrong += np.int64((not sound) & (there != 0))
        out[i] = np.int32(c) if sound else np.int32(-1)
        times[c if sound else last] += 1
    return wrong


@inner
def _bit(bitmap: Bytes, at: Whole) -> Whole:
    return np.uint64((bitmap[at >> np.uint64(3)] >> np.uint8(at & np.uint64(7))) & np.uint8(1))


@inner
def _count_cross(code: Whole, label: int, last: Whole, times: Longs) -> Whole:
    """Count one code below `last` with its class; 1 where the code is not below, and nothing is counted."""
    c = np.uint64(code)  # what is below zero is then above all
    if c >= last:
        return np.int64(1)
    times[c, np.uint64(label + 1) if label >= 0 else np.uint64(0)] += 1
    return np.int64(0)


@kernel("i4[], u1[], i8, i4[], i8[][]", returns=1)
def cross_codes(codes: Ints, bitmap: Bytes, offset: int, classes: Ints, times: Longs) -> Whole:
    """times[code, 1 + class] += 1; the last code serves null, class 0 whatever is below zero. Else as `read_codes`.

    Most bytes of a bitmap have all bits set: they are looked at eight rows at a time.
    """
    last = np.uint64(times.shape[0] - 1)
    wrong = np.int64(0)
    size = np.uint64(codes.size)
    if bitmap.size == 0:
        for i in range(size):
            wrong += _count_cross(np.int64(codes[i]), classes[i], last, times)
        return wrong
    start, one, eight = np.uint64(offset), np.uint64(1), np.uint64(8)
    row = np.uint64(0)
    while row < size:
        at = start + row
        if (at & np.uint64(7)) == 0 and row + eight <= size and bitmap[at >> np.uint64(3)] == 255:
            for k in range(row, row + eight):
                wrong += _count_cross(np.int64(codes[k]), classes[k], last, times)
            row += eight
        else:
            if _bit(bitmap, at):
                wrong += _count_cross(np.int64(codes[row]), classes[row], last, times)
            else:
                times[last, np.uint64(classes[row] + 1) if classes[row] >= 0 else np.uint64(0)] += 1
            row += one
    return wrong


@kernel("i4[], u1[], i8, i4[]")
def mark_nulls(codes: Ints, bitmap: Bytes, offset: int, out: Ints) -> None:
    """Copy codes, -1 where the bit of the bitmap (counted from `offset`) is not set."""
    for i in range(codes.size):
        at = offset + i
        there = (bitmap[at >> 3] >> np.uint8(at & 7)) & np.uint8(1)
        out[i] = codes[i] if there else -1


@kernel("f8[], u1[], i8, f8[]")
def fill_nulls(values: Floats, bitmap: Bytes, offset: int, out: Floats) -> None:
    """Copy numbers, NaN where the bit of the bitmap (counted from `offset`) is not set."""
    for i in range(values.size):
        at = offset + i
        there = (bitmap[at >> 3] >> np.uint8(at & 7)) & np.uint8(1)
        out[i] = values[i] if there else np.nan


@kernel("i4[], i8[]")
def add_occurrences(codes: Ints, times: Longs) -> None:
    """times[c] += 1 for each code c; the last place counts -1."""
    last = times.size - 1
    for i in range(codes.size):
        c = codes[i]
        times[c if c >= 0 else last] += 1


@kernel("i4[], i4[], i4[]")
def translate_codes(codes: Ints, places: Ints, out: Ints) -> None:
    """out[i] = places[codes[i]]; the last place serves -1."""
    last = places.size - 1
    for i in range(codes.size):
        c = codes[i]
        out[i] = places[c if c >= 0 else last]
