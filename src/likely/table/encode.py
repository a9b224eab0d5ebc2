"""The one crossing from Arrow to numpy: a record batch becomes a `Batch`, read as the schema says.

A level is the text of its cell as it came: blanks around it are taken off where text files are read. No Python runs per
cell, only per distinct level.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from likely.errors import ColumnError, InputError, UnseenLevel, shown
from likely.table import cells
from likely.table.arrow import ArrowArray, ArrowBatch, ArrowType, dictionary_encode, is_text, number_array, text_array
from likely.table.batch import MISSING_CODE, UNSEEN_CODE, Batch, Cells, Codes, Floats, Texts, pack_texts
from likely.table.labels import Labels, bin_labels, decimal_label, label, number_label
from likely.table.schema import OTHER, Column, Schema
from likely.table.views import (
    count_codes,
    indices,
    numbers_in,
    plain_text,
    text_cells,
    translate_codes,
    validity,
)
from likely.table.words.tokens import first_broken, is_ascii

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


def _numbers_among(tokens: tuple[str, ...]) -> NDArray[np.float64]:
    """Those tokens that are numbers."""
    values, _ = parse_numbers(text_array(tokens), NO_TOKENS)
    return values[np.isfinite(values)]


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


def parse_numbers(array: ArrowArray, missing: NDArray[np.uint64], dates: bool = False) -> tuple[Floats, int]:
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
    if pa.types.is_boolean(kind):
        array = array.cast(pa.float64(), safe=False)
    elif pa.types.is_time(kind) or pa.types.is_duration(kind):
        array = array.cast(pa.int64() if array.type.bit_width == 64 else pa.int32())
    return np.ascontiguousarray(array.to_numpy(zero_copy_only=False), np.float64), 0


def _parse_texts(array: ArrowArray, missing: NDArray[np.uint64], dates: bool) -> tuple[Floats, NDArray[np.uint8]]:
    """The numbers (or dates) of texts, and the state of each cell as `cells.parse` has it."""
    texts = text_cells(array)
    out, state = np.empty(len(texts)), np.empty(len(texts), np.uint8)
    cells.parse(texts.data, texts.starts, texts.ends, missing, dates, out, state)
    return out, state


def find_strays(array: ArrowArray, missing: NDArray[np.uint64], dates: bool) -> NDArray[np.bool_]:
    """Which cells are neither missing nor numbers (or dates)."""
    if not is_text(array.type):
        return np.zeros(len(array), np.bool_)
    stray: NDArray[np.bool_] = _parse_texts(array, missing, dates)[1] == 2
    return stray


def _text_numbers(array: ArrowArray, missing: NDArray[np.uint64], dates: bool) -> tuple[Floats, int]:
    array = plain_text(array)
    out, state = _parse_texts(array, missing, dates)
    hard = np.flatnonzero(state == 3)
    if len(hard):
        # More than 15 digits, or a far exponent: Arrow's parser rounds these correctly (tests/table/test_cells.py).
        import pyarrow.compute

        compute: Any = pyarrow.compute
        texts = compute.replace_substring(compute.ascii_trim(array.take(number_array(hard)), BLANKS), ",", "")
        out[hard] = texts.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return out, int(np.count_nonzero(state == 2))


@dataclass(frozen=True, slots=True)
class Described:
    """The form, hash and word count of each cell (of each distinct cell where Arrow keeps a dictionary)."""

    forms: NDArray[np.uint8]
    hashes: NDArray[np.uint64]
    words: NDArray[np.int64]
    times: NDArray[np.int64]
    _array: ArrowArray

    def text(self, k: int) -> str:
        """The text of cell k."""
        return bytes(self._array[k].as_buffer()).decode("utf-8", "replace").strip()


def describe_text(array: ArrowArray, missing: NDArray[np.uint64]) -> Described:
    """What the cells of a text array look like."""
    if isinstance(array, pa.DictionaryArray):
        index = indices(array)
        times = count_codes(index, len(array.dictionary))
        names = plain_text(array.dictionary)
        array = pa.concat_arrays([names, pa.nulls(1, names.type)])
    else:
        array = plain_text(array)
        times = np.ones(len(array), np.int64)
    texts = text_cells(array)
    forms, hashes = np.empty(len(texts), np.uint8), np.empty(len(texts), np.uint64)
    words = np.empty(len(texts), np.int64)
    cells.describe(texts.data, texts.starts, texts.ends, missing, forms, hashes, words)
    return Described(forms, hashes, words, times, array)


def encode_levels(
    array: ArrowArray,
    missing: frozenset[str],
    labels: Labels,
    closed: bool,
    reading: str = "text",
    kept: frozenset[str] | None = None,
) -> NDArray[np.int32]:
    """The codes of a nominal column; new levels are added to `labels` unless it is closed, those not `kept` are one."""
    if isinstance(array, pa.DictionaryArray):
        names, index = array.dictionary, indices(array)
    elif len(array) == 0:
        return np.empty(0, np.int32)
    else:
        coded = dictionary_encode(array)
        names, index = coded.dictionary, indices(coded)
    texts = _number_levels(names, missing) if reading == "number" else [_level(v) for v in names.to_pylist()]
    if closed and pa.types.is_boolean(names.type):
        # Truth values meet a column that was text: its file may have spelled them True or TRUE.
        spelled = {name.lower(): name for name in labels.names if name.lower() in ("true", "false")}
        texts = [text and spelled.get(text, text) for text in texts]
    places = np.full(len(texts) + 1, MISSING_CODE, np.int32)  # the last place serves index -1, which is null
    used = count_codes(index, len(texts)) > 0
    for k, text in enumerate(texts):
        if text is not None and used[k] and text.strip() not in missing and text.strip():
            text = text if kept is None or text in kept else OTHER
            places[k] = labels.index.get(text, UNSEEN_CODE) if closed else labels.code(text)
    out = np.empty(len(index), np.int32)
    translate_codes(index, places, out)
    return out


def _number_levels(names: ArrowArray, missing: frozenset[str]) -> list[str | None]:
    """Numbers as levels: exact, whatever they are kept as, for 2**53 and 2**53 + 1 are one double (tests/ways_in)."""
    if pa.types.is_integer(names.type) or pa.types.is_decimal(names.type):
        return [label(v) for v in names.to_pylist()]
    values, _ = parse_numbers(names, token_hashes(tuple(missing)))
    out = [number_label(v) if np.isfinite(v) else None for v in values.tolist()]
    if is_text(names.type):
        for k, text in enumerate(plain_text(names).to_pylist()):
            # A double holds up to 15 digits; with an exponent it is how programs write a double.
            if text is not None and out[k] is not None and len(text) > 15 and "e" not in text.lower():
                out[k] = decimal_label(Decimal(text.strip(BLANKS).replace(",", "")))
    return out


def _level(value: object) -> str | None:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return None if isinstance(value, float) and not np.isfinite(value) else label(value)


def _levels(
    column: Column,
    array: ArrowArray,
    start: int,
    missing: frozenset[str],
    labels: Labels,
    closed: bool,
    kept: frozenset[str] | None = None,
) -> NDArray[np.int32]:
    try:
        return encode_levels(array, missing, labels, closed, column.reading, kept)
    except UnicodeDecodeError:
        _sound(column, array, start)
        raise


def _sound(column: Column, array: ArrowArray, start: int) -> Texts:
    """The texts of a column whose first row is number `start`, all of which must be sound UTF-8."""
    out = text_cells(array)
    broken = -1 if is_ascii(out.data, out.starts, out.ends) else first_broken(out.data, out.starts, out.ends)
    if broken >= 0:
        raise InputError(
            f"Row {start + broken + 1:,} of column {shown(column.name)} is not valid UTF-8. Repair it, or have "
            "what is broken replaced: --replace-invalid, or encoding_errors='replace'."
        )
    return out


@dataclass
class Encoder:
    """Turns record batches into batches. Open: levels are collected. Closed: `labels` are all there are.

    `strays` counts cells that should have been numbers; `unseen` counts levels that closed labels do not know;
    `absent` names columns that the table does not have, whose cells then count as missing.
    """

    schema: Schema
    labels: Mapping[str, Labels] | None = None
    classes: Labels | None = None
    refuse_unseen: bool = False
    strays: dict[str, int] = field(default_factory=dict)
    unseen: dict[str, int] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._tokens = token_hashes(self.schema.missing)
        self._missing = frozenset(self.schema.missing)
        self._gone = _numbers_among(self.schema.missing)  # such as -999: in a column of numbers it has no text
        self._kept = {c.name: frozenset(c.kept) for c in self.schema.attributes if c.kept is not None}
        self._own: dict[str, Labels] = {}
        target = self.schema.target
        if target is not None and target.edges and self.classes is None:
            self._own[target.name] = Labels(bin_labels(target.edges))

    def encode(self, batch: ArrowBatch, start: int = 0) -> Batch:
        """One record batch, whose first row is row number `start` of the table."""
        names = {name: k for k, name in enumerate(batch.schema.names)}
        out: dict[str, Cells] = {}
        target: Codes | None = None
        weight: Floats | None = None
        for column in self.schema.used:
            place = names.get(column.name)
            if place is None and column.role != "attribute":
                continue
            array = pa.nulls(batch.num_rows) if place is None else batch.column(place)
            if place is None:
                self.absent.add(column.name)
            if column.role == "target":
                target = self._target(column, array, start)
            elif column.role == "weight":
                weight = self._weight(column, array, start)
            elif column.kind == "nominal":
                out[column.name] = self._nominal(column, array, start)
            elif column.kind == "text":
                out[column.name] = self._texts(column, array, start)
            else:
                out[column.name] = self._numbers(column, array)
        return Batch(batch.num_rows, out, target, weight, start)

    def _numbers(self, column: Column, array: ArrowArray) -> Floats:
        try:
            values, strays = parse_numbers(array, self._tokens, column.reading == "date")
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
            raise InputError(
                f"Column {shown(column.name)} cannot be read as a {column.kind}: {shown(error, 120)}. "
                f"Say how to read it, e.g. --type {column.name}=nominal."
            ) from None
        if strays:
            self.strays[column.name] = self.strays.get(column.name, 0) + strays
        if len(self._gone):
            values = np.where(np.isin(values, self._gone), np.nan, values)
        return values

    def _nominal(self, column: Column, array: ArrowArray, start: int) -> Codes:
        closed = self.labels is not None
        labels = self.labels[column.name] if self.labels is not None else self._labels(column.name)
        codes = _levels(column, array, start, self._missing, labels, closed, self._kept.get(column.name))
        if closed:
            strange = np.flatnonzero(codes == UNSEEN_CODE)
            if len(strange):
                self.unseen[column.name] = self.unseen.get(column.name, 0) + len(strange)
                if self.refuse_unseen:
                    at = int(strange[0])
                    raise UnseenLevel(
                        f"Row {start + at + 1} has {shown(array[at].as_py())} in column {shown(column.name)}, "
                        "a level that training did not have. Learn with unseen='skip' (--unseen skip) to let it pass."
                    )
        return Codes(codes, labels)

    def _texts(self, column: Column, array: ArrowArray, start: int) -> Texts:
        out = _sound(column, array, start)
        cells.empty_missing(out.data, out.starts, out.ends, self._tokens)
        return out

    def _labels(self, name: str) -> Labels:
        return self._own.setdefault(name, Labels())

    def _target(self, column: Column, array: ArrowArray, start: int) -> Codes:
        labels = self.classes if self.classes is not None else self._labels(column.name)
        if column.edges:
            values = self._numbers(column, array)
            places = [labels.index.get(name, UNSEEN_CODE) for name in bin_labels(column.edges)]
            codes = np.array(places, np.int32)[np.searchsorted(np.array(column.edges), values, side="right")]
            return Codes(np.where(np.isnan(values), np.int32(MISSING_CODE), codes), labels)
        return Codes(_levels(column, array, start, self._missing, labels, self.classes is not None), labels)

    def _weight(self, column: Column, array: ArrowArray, start: int) -> Floats:
        values = self._numbers(column, array)
        bad = np.flatnonzero(~((values >= 0) & np.isfinite(values)))
        if len(bad):
            raise ColumnError(
                f"The weight in row {start + int(bad[0]) + 1} of column {shown(column.name)} is "
                f"{shown(array[int(bad[0])].as_py())}. Weights must be finite numbers, zero or more."
            )
        return values
