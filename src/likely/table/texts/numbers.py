"""Numbers, dates and forms of cells: what an array of Arrow's, or a column of text, says row by row.

Knows arrays and the grammar of cells; no schema. No Python runs per cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from likely.machinery.arrays import Floats
from likely.table.arrow import ArrowType, is_text, number_array
from likely.table.batch import Texts, pack_texts
from likely.table.columns import TextArray
from likely.table.texts import cells
from likely.table.texts.index import ONCE
from likely.table.views import count_codes, doubles, indices, numbers_in, plain_text, text_cells, validity

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_TOKENS: NDArray[np.uint64] = np.empty(0, np.uint64)
BLANKS = " \t\n\v\f\r"
"""The blanks around a cell that are no part of it."""


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
    array: TextArray, missing: NDArray[np.uint64], dates: bool
) -> tuple[Floats, int, Described | None]:
    """`parse_numbers`, and what the cells look like where they are texts: in one pass where that is possible."""
    if isinstance(array, pa.DictionaryArray) or not is_text(array.type):
        described = describe_text(array, missing) if is_text_column(array.type) else None
        return *parse_numbers(array, missing, dates), described
    array = plain_text(array)
    texts = text_cells(array)
    rows, totals = len(texts), np.zeros(9, np.int64)
    out, state = np.empty(rows), np.empty(rows, np.uint8)
    forms, hashes = np.empty(rows, np.uint8), np.empty(rows, np.uint64)
    cells.describe_and_parse(texts.data, texts.starts, texts.ends, missing, dates, out, state, forms, hashes, totals)
    strays, hard = totals[7:].tolist()
    if hard:
        _parse_hard(array, state, out)
    return out, strays, Described(forms, hashes, totals[:7], texts, ONCE)


def is_text_column(kind: ArrowType) -> bool:
    """Whether a column holds texts, in a dictionary or not."""
    return column_form(kind) == "text"
