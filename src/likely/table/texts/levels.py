"""Levels of nominal columns as codes: what a text, a number or a truth value is called, asked once for each.

Knows arrays and labels; no schema.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from likely.table.arrow import ArrowArray, TextArray, dictionary_encode, is_text
from likely.table.batch import MISSING_CODE, UNSEEN_CODE, Codes, Crossed, Texts
from likely.table.labels import Labels, decimal_label, label, number_label
from likely.table.schema import OTHER
from likely.table.texts.grammar import TextIndex
from likely.table.texts.numbers import BLANKS, Described, describe_cells, parse_numbers, token_hashes
from likely.table.views import cross_classes, indices, indices_and_times, plain_text, text_cells, translate_codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_UNSEEN = 1 << 16
"""Different texts that are remembered of a column whose levels are known: beyond them all are forgotten."""
FEW = 8
"""Texts that are looked up one by one, where levels are known."""


class LevelReader:
    """The codes of one nominal column, batch after batch. New levels are added to `labels` unless it is closed; those
    not `kept` are one.

    Each different text is looked at in Python once, whatever batches and dictionaries it comes in.
    """

    def __init__(
        self,
        missing: frozenset[str],
        labels: Labels,
        closed: bool,
        reading: str = "text",
        kept: frozenset[str] | None = None,
    ) -> None:
        self.labels = labels
        self._missing, self._closed, self._reading, self._kept = missing, closed, reading, kept
        self._forget()

    def _forget(self) -> None:
        self._spelled: dict[str | None, int] = {}  # codes of texts that came a few at a time
        self._index = TextIndex()
        self._places: NDArray[np.int32] = np.full(1, MISSING_CODE, np.int32)  # the last one serves null

    def read(self, array: TextArray) -> NDArray[np.int32]:
        """The code of each cell."""
        if self._closed and len(array) <= FEW and isinstance(array, pa.StringArray):
            return self._read_few(array)
        return self._read(array)

    def _read_few(self, array: Any) -> NDArray[np.int32]:
        """The same of a few texts, each of which is looked up once: kernels would take longer to call than to run."""
        spelled, texts = self._spelled, array.to_pylist()
        if any(text not in spelled for text in texts):
            if len(spelled) > MOST_UNSEEN:
                spelled.clear()
            spelled.update(zip(texts, self._read(array).tolist(), strict=True))
        return np.array([spelled[text] for text in texts], np.int32)

    def _read(self, array: TextArray) -> NDArray[np.int32]:
        if isinstance(array, pa.DictionaryArray):
            index, times = indices_and_times(array)
            places = self._entry_codes(array, times)
        elif len(array) == 0 or pa.types.is_null(array.type):
            return np.full(len(array), MISSING_CODE, np.int32)
        elif is_text(array.type):
            return self._find(text_cells(array), array)
        else:
            coded: Any = dictionary_encode(array)  # type: ignore[arg-type]
            index, places = indices(coded), np.full(len(coded.dictionary) + 1, MISSING_CODE, np.int32)
            self._name_codes(self._levels_of(coded.dictionary), np.ones(len(places), np.bool_), places)
        return _translated(index, places)

    def cross(self, array: TextArray, target: Codes) -> Codes | None:
        """The cells, counted with the classes of their rows in the pass that reads them; None where that does not pay:
        there are codes of another width, or a table of entries and classes would be as large as the rows."""
        if not isinstance(array, pa.DictionaryArray) or array.indices.type != pa.int32():
            return None
        if 4 * (len(array.dictionary) + 1) * (len(target.labels) + 1) > len(array):
            return None
        times = cross_classes(array, target.codes, len(target.labels))
        places = self._entry_codes(array, times.sum(axis=1))
        return Codes(lambda: _translated(indices(array), places), self.labels, Crossed(target, times, places))

    def _entry_codes(self, array: Any, times: NDArray[np.int64]) -> NDArray[np.int32]:
        """The code of each entry of a dictionary, last of null, where entry i is there times[i] times."""
        places = np.full(len(times), MISSING_CODE, np.int32)
        used = np.flatnonzero(times[:-1])
        if is_text(array.dictionary.type):
            texts = text_cells(array.dictionary).take(used)
            if times[-1]:  # what is null in the array is an empty text, and so missing
                texts = Texts(texts.data, np.append(texts.starts, 0), np.append(texts.ends, 0))
                used = np.append(used, len(times) - 1)
            places[used] = self._find(texts, array.dictionary, times[used])
        else:
            self._name_codes(self._levels_of(array.dictionary), times > 0, places)
        return places

    def _find(self, texts: Texts, array: TextArray, times: NDArray[np.int64] | None = None) -> NDArray[np.int32]:
        """The codes of texts; `array` says of which type they are, text i is there times[i] times."""
        if self._closed and self._index.known > MOST_UNSEEN:
            self._forget()
        before, index = self._index.known, self._index
        numbers = index.numbers(texts) if times is None else index.numbers(texts, times)
        if index.known > before:
            new = _text_array(index.texts(before), array.type)
            places = np.full(index.known + 1, MISSING_CODE, np.int32)
            places[:before] = self._places[:-1]
            self._places = places  # first, so that all is in order where a text proves to be none
            self._name_codes(self._levels_of(new), np.ones(len(new), np.bool_), places[before:])
        return _translated(numbers, self._places)

    def _levels_of(self, names: ArrowArray) -> list[str | None]:
        if self._reading == "number":
            return _number_levels(names, self._missing)
        texts = [_level(v) for v in names.to_pylist()]
        if self._closed and pa.types.is_boolean(names.type):
            # Truth values meet a column that was text: its file may have spelled them True or TRUE.
            spelled = {name.lower(): name for name in self.labels.names if name.lower() in ("true", "false")}
            texts = [text and spelled.get(text, text) for text in texts]
        return texts

    def _name_codes(self, texts: list[str | None], used: NDArray[np.bool_], places: NDArray[np.int32]) -> None:
        """Write the code of each level that is used; others stay as they are."""
        labels, missing, kept = self.labels, self._missing, self._kept
        for k, text in enumerate(texts):
            if text is not None and used[k] and text.strip() not in missing and text.strip():
                text = text if kept is None or text in kept else OTHER
                places[k] = labels.index.get(text, UNSEEN_CODE) if self._closed else labels.code(text)

    def take_description(self, missing: NDArray[np.uint64]) -> tuple[Described, Texts, NDArray[np.int64]]:
        """What the texts look like that were met since this was last asked, those texts, and how often each was."""
        texts, times = self._index.texts(), self._index.take_times()
        return describe_cells(texts, missing, times), texts, times


def _translated(index: NDArray[np.int32], places: NDArray[np.int32]) -> NDArray[np.int32]:
    out = np.empty(len(index), np.int32)
    translate_codes(index, places, out)
    return out


def encode_levels(
    array: TextArray,
    missing: frozenset[str],
    labels: Labels,
    closed: bool,
    reading: str = "text",
    kept: frozenset[str] | None = None,
) -> NDArray[np.int32]:
    """The codes of one array of a nominal column."""
    return LevelReader(missing, labels, closed, reading, kept).read(array)


def _text_array(texts: Texts, kind: pa.DataType) -> ArrowArray:
    """Texts that lie one after the other as an array: of texts, or of bytes where they came as such."""
    binary = pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    first = int(texts.starts[0])
    bounds = np.append(texts.starts, texts.ends[-1]) - first
    data = texts.data[first : int(texts.ends[-1])]
    buffers = [None, pa.py_buffer(bounds.data), pa.py_buffer(np.ascontiguousarray(data).data)]
    return pa.Array.from_buffers(pa.large_binary() if binary else pa.large_string(), len(texts), buffers)


def _number_levels(names: ArrowArray, missing: frozenset[str]) -> list[str | None]:
    """Numbers as levels: exact, whatever they are kept as, for 2**53 and 2**53 + 1 are one double (tests/ways_in)."""
    if pa.types.is_integer(names.type) or pa.types.is_decimal(names.type):
        return [label(v) for v in names.to_pylist()]
    values, _ = parse_numbers(names, token_hashes(tuple(missing)))
    out = [number_label(v) if np.isfinite(v) else None for v in values.tolist()]
    if is_text(names.type):
        spelled: Any = plain_text(names)
        for k, text in enumerate(spelled.to_pylist()):
            # A double holds up to 15 digits; with an exponent it is how programs write a double.
            if text is not None and out[k] is not None and len(text) > 15 and "e" not in text.lower():
                out[k] = decimal_label(Decimal(text.strip(BLANKS).replace(",", "")))
    return out


def _level(value: object) -> str | None:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return None if isinstance(value, float) and not np.isfinite(value) else label(value)
