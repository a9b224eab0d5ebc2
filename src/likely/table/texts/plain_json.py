"""Lines of JSON with plain values, cut into cells by compiled loops, and the columns they give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa

from likely.machinery.arrays import Bytes, Hashes, Longs, Whole
from likely.machinery.jit import inner, kernel, trailing_zeros
from likely.table.arrow import ArrowArray, CellBatch, TextArray, TextColumn, bit_buffer, copied_texts
from likely.table.batch import Texts, pack_texts
from likely.table.texts import cells
from likely.table.texts.grammar import find_no_digit
from likely.table.words import first_broken, load_eight

# Lines of JSON with plain values (numbers, texts without escapes, true, false, null), cut into cells by compiled
# code.

BOOLEAN, WHOLE, SIGNED, DOUBLE, TEXT = range(5)
"""Kinds of values: of whole numbers those from 0 on, and those that are kept as their digits, with a sign or not."""
REFUSED = -1
PADDING = 16
"""Bytes of 0 that follow the lines, and the names."""
MOST_DIGITS = 18
"""As many fit into 64 bits."""

_QUOTE, _BACKSLASH, _LINE_END, _COMMA, _COLON, _MINUS, _PLUS, _POINT, _ZERO = 34, 92, 10, 44, 58, 45, 43, 46, 48
_OPEN, _CLOSE = 123, 125
_ONES = np.uint64(0x0101010101010101)
_HIGHS = np.uint64(0x8080808080808080)
_QUOTES, _BACKSLASHES, _BLANKS = (_ONES * np.uint64(c) for c in (_QUOTE, _BACKSLASH, 32))
_TRUE, _NULL = (np.uint64(int.from_bytes(word, "little")) for word in (b"true", b"null"))
_FALSE = np.uint64(int.from_bytes(b"false", "little"))
_FOUR, _FIVE = np.uint64((1 << 32) - 1), np.uint64((1 << 40) - 1)
_EIGHT = np.uint64(8)
_ONE = np.uint64(1)


@inner
def _skip_blanks(data: Bytes, p: Whole) -> Whole:
    while data[p] == 32 or data[p] == 9 or data[p] == 13:
        p += _ONE
    return p


@inner
def _find_text_end(data: Bytes, p: Whole, high: Longs) -> Whole:
    """Where the first quote, backslash or control character from p on is; notes in high[0] whether a byte on the way,
    or at most seven bytes later, is beyond ASCII."""
    while True:
        word = load_eight(data, p)
        quote, slash = word ^ _QUOTES, word ^ _BACKSLASHES
        # A byte borrows from the next only where it is itself such an end: the first one found is always right.
        ends = ((quote - _ONES) & ~quote) | ((slash - _ONES) & ~slash) | ((word - _BLANKS) & ~word)
        ends &= _HIGHS
        if word & _HIGHS:
            high[0] = 1
        if ends:
            return p + (np.uint64(trailing_zeros(ends)) >> np.uint64(3))
        p += _EIGHT


@inner
def _is_name(data: Bytes, p: Whole, names: Bytes, a: Whole, b: Whole) -> bool:
    """Whether the bytes from p on are the name from a to b, and then a quote."""
    size = b - a
    k = np.uint64(0)
    while k + _EIGHT <= size:
        if load_eight(data, p + k) != load_eight(names, a + k):
            return False
        k += _EIGHT
    left = (size - k) << np.uint64(3)
    differ = (load_eight(data, p + k) ^ load_eight(names, a + k)) & ((_ONE << left) - _ONE)
    return differ == 0 and data[p + size] == _QUOTE  # type: ignore[no-any-return]


@inner
def _find_number_end(data: Bytes, p: Whole, size: int, kind: int) -> Whole:
    """Where the number from p on ends; p itself where it is none, or none of this kind, or an unusual one."""
    begin = p + np.uint64(data[p] == _MINUS)
    end = np.uint64(find_no_digit(data, np.int64(begin), size))
    digits = end - begin
    if digits == 0 or digits > 300 or (data[begin] == _ZERO and digits > 1):
        return p
    if kind != DOUBLE:
        zero = data[begin] == _ZERO
        usual = digits <= MOST_DIGITS and data[end] != _POINT and (data[end] | 32) != 101
        return end if usual and (begin == p or (kind == SIGNED and not zero)) else p
    if data[end] == _POINT:
        point = end + _ONE
        end = np.uint64(find_no_digit(data, np.int64(point), size))
        if end == point or end - point > 300:
            return p
    if (data[end] | 32) == 101:
        end += _ONE
        end += np.uint64(data[end] == _MINUS or data[end] == _PLUS)
        power = end
        end = np.uint64(find_no_digit(data, np.int64(power), size))
        if end == power or end - power > 2:
            return p
    return end


@inner
def _find_value_end(data: Bytes, p: Whole, size: int, kind: int) -> Whole:
    """Where a value that is no text ends; p itself where it is not of this kind, or unusual."""
    word = load_eight(data, p)
    if kind == BOOLEAN:
        if (word & _FOUR) == _TRUE:
            return p + np.uint64(4)
        return p + np.uint64(5) if (word & _FIVE) == _FALSE else p
    return p if kind == TEXT else _find_number_end(data, p, size, kind)


@kernel("u1[], i8, u1[], u8[], u8[], i8[], i8[], i8[], i8[][], i8[][], i8[]", returns=1)
def cut_lines(
    data: Bytes,
    size: int,
    names: Bytes,
    name_starts: Longs,
    name_ends: Longs,
    kinds: Longs,
    places: Longs,
    seen: Longs,
    starts: Longs,
    ends: Longs,
    high: Longs,
) -> Whole:
    """Write where the cells of each line begin and end: those of column k to row places[k] of `starts` and `ends`,
    nowhere if that is negative. Both stay 0 where a value is null, or not there at all. Returns how many lines there
    are, or REFUSED. `seen` is zeros, one for each column; high[0] is set where there may be bytes beyond ASCII.
    """
    p, row, expected = np.uint64(0), np.int64(0), np.int64(0)
    whole = np.uint64(size)
    columns = np.int64(name_starts.size)
    while True:
        p = _skip_blanks(data, p)
        while p < whole and data[p] == _LINE_END:
            p = _skip_blanks(data, p + _ONE)
        if p >= whole:
            return row
        if data[p] != _OPEN:
            return np.int64(REFUSED)
        p = _skip_blanks(data, p + _ONE)
        if data[p] == _CLOSE:
            p += _ONE
        else:
            while True:
                if data[p] != _QUOTE:
                    return np.int64(REFUSED)
                p += _ONE
                k = expected if expected < columns else np.int64(0)
                if not _is_name(data, p, names, name_starts[k], name_ends[k]):
                    k = np.int64(0)
                    while k < columns and not _is_name(data, p, names, name_starts[k], name_ends[k]):
                        k += 1
                    if k == columns:
                        return np.int64(REFUSED)
                if seen[k] == row + 1:
                    return np.int64(REFUSED)
                seen[k] = row + 1
                expected = k + 1
                p = _skip_blanks(data, p + (name_ends[k] - name_starts[k]) + _ONE)
                if data[p] != _COLON:
                    return np.int64(REFUSED)
                p = _skip_blanks(data, p + _ONE)
                begin, end = np.uint64(0), np.uint64(0)
                if data[p] == _QUOTE:
                    begin = p + _ONE
                    end = _find_text_end(data, begin, high)
                    if kinds[k] != TEXT or data[end] != _QUOTE:
                        return np.int64(REFUSED)
                    p = end + _ONE
                elif (load_eight(data, p) & _FOUR) == _NULL:
                    p += np.uint64(4)
                else:
                    begin = p
                    end = _find_value_end(data, p, size, kinds[k])
                    if end == begin:
                        return np.int64(REFUSED)
                    p = end
                if places[k] >= 0:
                    starts[places[k], row] = np.int64(begin)
                    ends[places[k], row] = np.int64(end)
                p = _skip_blanks(data, p)
                if data[p] == _CLOSE:
                    p += _ONE
                    break
                if data[p] != _COMMA:
                    return np.int64(REFUSED)
                p = _skip_blanks(data, p + _ONE)
        row += 1
        p = _skip_blanks(data, p)
        if p < whole and data[p] != _LINE_END:
            return np.int64(REFUSED)


@kernel("u1[], i8", returns=1)
def count_line_ends(data: Bytes, size: int) -> Whole:
    """How many of the first bytes end a line."""
    count = np.int64(0)
    for k in range(np.uint64(size)):
        count += np.int64(data[k] == _LINE_END)
    return count


@kernel("u1[], i8", returns=1)
def find_last_line_end(data: Bytes, size: int) -> Whole:
    """Where the last line ends that has its end among the first bytes; 0 where none has."""
    last = np.int64(size)
    while last > 0 and data[last - 1] != _LINE_END:
        last -= 1
    return last


@kernel("u1[], i8[], i8[], i8[]")
def read_wholes(data: Bytes, starts: Longs, ends: Longs, out: Longs) -> None:
    """The whole numbers, from 0 on and of at most 18 digits, that cells are; 0 where there is none."""
    for i in range(starts.size):
        value = np.int64(0)
        for k in range(np.uint64(starts[i]), np.uint64(ends[i])):
            value = value * np.int64(10) + np.int64(data[k] - np.uint8(_ZERO))
        out[i] = value


# Columns of Arrow's from lines of JSON that have plain values. Knows which cells plain_json cut; no file.

KINDS = {"BOOLEAN": BOOLEAN, "BIGINT": WHOLE, "UBIGINT": WHOLE, "HUGEINT": SIGNED, "DOUBLE": DOUBLE, "VARCHAR": TEXT}
"""What DuckDB says of a column, and the kind of value that is cut."""
_NONE: Hashes = np.empty(0, np.uint64)


@dataclass(frozen=True)
class PlainLines:
    """Names and kinds of the columns that lines have."""

    names: Sequence[str]
    kinds: Longs
    packed: Bytes
    starts: Hashes
    ends: Hashes

    @classmethod
    def of(cls, kinds: Mapping[str, str]) -> Self | None:
        """For columns of these types of DuckDB's; None where a name may be written in several ways."""
        if any(c in '"\\' or c < " " for name in kinds for c in name):
            return None
        texts = pack_texts(list(kinds))
        packed = np.concatenate([texts.data, np.zeros(PADDING, np.uint8)])
        known = np.array([KINDS[kind] for kind in kinds.values()], np.int64)
        return cls(list(kinds), known, packed, texts.starts.astype(np.uint64), texts.ends.astype(np.uint64))

    def cut(self, data: Bytes, asked: Sequence[str]) -> CutLines | None:
        """The cells of the columns asked for, where all lines have the names and kinds of values that are known; None
        where one does not, or is written in an unusual way. `PADDING` zeros follow the lines."""
        size = len(data) - PADDING
        lines = int(count_line_ends(data, size)) + 1
        index = {name: k for k, name in enumerate(asked)}
        places = np.array([index.get(name, -1) for name in self.names], np.int64)
        starts, ends = (np.zeros((len(asked), lines), np.int64) for _ in range(2))
        seen, high = np.zeros(len(self.names), np.int64), np.zeros(1, np.int64)
        rows = cut_lines(data, size, self.packed, self.starts, self.ends, self.kinds, places, seen, starts, ends, high)
        broken = high[0] and first_broken(data, np.zeros(1, np.int64), np.array([size])) >= 0
        if rows == REFUSED or broken:
            return None
        kinds = {name: int(kind) for name, kind in zip(self.names, self.kinds, strict=True)}
        return CutLines(data, [kinds[name] for name in asked], starts[:, :rows], ends[:, :rows])


@dataclass(frozen=True)
class CutLines:
    """Cells of some lines: cell i of column k is data[starts[k, i]:ends[k, i]], and null where it begins at 0."""

    data: Bytes
    kinds: Sequence[int]
    starts: Longs
    ends: Longs

    def read(self, schema: pa.Schema) -> pa.RecordBatch | None:
        """The values of the cells; None where a number is beyond what is read here."""
        columns = [self._column(k, field.type) for k, field in enumerate(schema)]
        return None if any(c is None for c in columns) else pa.record_batch(columns, schema=schema)

    def read_in_place(self, schema: pa.Schema) -> CellBatch | None:
        """The same, but texts are not copied."""
        rows = self.starts.shape[1]
        columns: list[TextArray] = []
        for k, field in enumerate(schema):
            if self.kinds[k] in (TEXT, SIGNED):
                column: TextArray | None = TextColumn(Texts(self.data, *self._edges(k)))
            else:
                column = self._column(k, field.type)
            if column is None:
                return None
            columns.append(column)
        return CellBatch(schema, columns, rows)

    def _edges(self, k: int) -> tuple[Longs, Longs]:
        return np.ascontiguousarray(self.starts[k]), np.ascontiguousarray(self.ends[k])

    def _column(self, k: int, kind: pa.DataType) -> ArrowArray | None:
        starts, ends = self._edges(k)
        there = starts != 0
        known = None if there.all() else there
        if self.kinds[k] in (TEXT, SIGNED):
            return copied_texts(Texts(self.data, starts, ends), known).cast(kind)
        if self.kinds[k] == BOOLEAN:
            held = bit_buffer(self.data[starts] == ord("t"))
        elif self.kinds[k] == WHOLE:
            wholes = np.empty(len(starts), np.int64)
            read_wholes(self.data, starts, ends, wholes)
            held = pa.py_buffer(wholes.data)
        else:
            values, state = np.empty(len(starts)), np.empty(len(starts), np.uint8)
            cells.parse(self.data, starts, ends, _NONE, False, values, state)
            if (state > 1).any() or not np.isfinite(values[there]).all():
                return None
            held = pa.py_buffer(values.data)
        return pa.Array.from_buffers(kind, len(starts), [bit_buffer(known), held])
