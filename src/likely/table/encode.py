"""The one crossing from Arrow to numpy: a record batch becomes a `Batch`, read as the schema says.

A level is the text of its cell as it came: blanks around it are taken off where text files are read. No Python runs per
cell, only per distinct level.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from likely.errors import ColumnError, InputError, UnseenLevel, shown
from likely.machinery.arrays import Floats
from likely.table.arrow import RowBatch, TextArray, is_text, text_array
from likely.table.batch import MISSING_CODE, UNSEEN_CODE, Batch, Cells, Codes, Texts
from likely.table.labels import Labels, bin_labels
from likely.table.schema import Column, Schema
from likely.table.texts import cells
from likely.table.texts.levels import LevelReader
from likely.table.texts.numbers import (
    NO_TOKENS,
    Described,
    describe_numbers,
    describe_text,
    is_text_column,
    parse_numbers,
    parse_with_unit,
    take_part,
    token_hashes,
)
from likely.table.views import text_cells
from likely.table.words import first_broken, is_ascii

if TYPE_CHECKING:
    from numpy.typing import NDArray

CELLS = 1 << 17
"""Numbers that are read from texts in one call: what is noted of each on the way stays in the processor's cache."""


@lru_cache(maxsize=64)
def _numbers_among(tokens: tuple[str, ...]) -> NDArray[np.float64]:
    """Those tokens that are numbers."""
    values, _ = parse_numbers(text_array(tokens), NO_TOKENS)
    return values[np.isfinite(values)]


def _sound(column: Column, array: TextArray, start: int) -> Texts:
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
    witnessed: frozenset[str] = frozenset()
    """Columns of numbers or dates of which `witness` is told what their texts look like, batch by batch."""
    witness: Callable[[Mapping[str, Described]], None] | None = None
    crosses: bool = False
    """Whether nominal columns are counted with the target as they are read: `Codes.crossed`. Of open labels only."""
    described: set[str] = field(default_factory=set)
    """Columns whose texts in the last batch were told, or are counted for `take_description`."""
    strays: dict[str, int] = field(default_factory=dict)
    unseen: dict[str, int] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._tokens = token_hashes(self.schema.missing)
        self._missing = frozenset(self.schema.missing)
        self.gone = _numbers_among(self.schema.missing)  # such as -999: in a column of numbers it has no text
        self._kept = {c.name: frozenset(c.kept) for c in self.schema.attributes if c.kept is not None}
        self._own: dict[str, Labels] = {}
        self._mine: dict[str, LevelReader] = {}
        self._by_thread: dict[int, dict[str, LevelReader]] = {}  # no threading.local, which executors cannot be sent
        target = self.schema.target
        if target is not None and target.edges and self.classes is None:
            self._own[target.name] = Labels(bin_labels(target.edges))

    def fresh(self) -> Encoder:
        """The same encoder with nothing noticed yet; what it knows of levels is shared."""
        out = copy(self)
        out.described, out.strays, out.unseen, out.absent = set(), {}, {}, set()
        return out

    def encode(self, batch: RowBatch, start: int = 0) -> Batch:
        """One record batch, whose first row is row number `start` of the table."""
        names = {name: k for k, name in enumerate(batch.schema.names)}
        out: dict[str, Cells] = {}
        target: Codes | None = None
        weight: Floats | None = None
        texts: list[tuple[Column, TextArray]] = []
        seen: dict[str, Described] = {}
        self.described.clear()
        for column in sorted(self.schema.used, key=lambda c: c.role != "target"):  # others are counted with it
            place = names.get(column.name)
            part = None
            if column.part is not None and (place is None or batch.column(place).null_count == batch.num_rows):
                part, place = column.part, names.get(column.stored_as, place)  # a part may also be given as such
            if place is None and column.role != "attribute":
                continue
            array = pa.nulls(batch.num_rows) if place is None else batch.column(place)
            if place is None:
                self.absent.add(column.stored_as)
            elif part is not None and batch.schema.names[place] != column.name:
                array = take_part(array, part, self._tokens, self.gone)
            if column.role == "target":
                target = self._target(column, array, start)
            elif column.role == "weight":
                weight = self._weight(column, array, start)
            elif column.kind == "nominal":
                out[column.name] = self._nominal(column, array, start, target if self.crosses else None)
            elif column.kind == "text":
                out[column.name] = self._texts(column, array, start)
            elif column.unit is None and column.name in self.witnessed and is_text(array.type):
                out[column.name] = None  # its place; all of these are read in a few calls
                texts.append((column, array))
            else:
                out[column.name] = self._numbers(column, array, seen)
        self._tell(seen)
        step = max(1, CELLS // max(1, batch.num_rows))
        for at in range(0, len(texts), step):
            columns, arrays = zip(*texts[at : at + step], strict=True)
            read = describe_numbers(arrays, self._tokens, [c.reading == "date" for c in columns])
            for column, (values, strays, _) in zip(columns, read, strict=True):
                out[column.name] = self._known(column, values, strays)
            self._tell({column.name: described for column, (*_, described) in zip(columns, read, strict=True)})
        return Batch(batch.num_rows, out, target, weight, start)

    def _tell(self, seen: Mapping[str, Described]) -> None:
        if seen and self.witness is not None:
            self.witness(seen)
            self.described.update(seen)

    def _numbers(self, column: Column, array: TextArray, seen: dict[str, Described]) -> Floats:
        try:
            if column.unit is not None:
                values, strays = parse_with_unit(array, self._tokens, column.unit)
            else:
                values, strays = parse_numbers(array, self._tokens, column.reading == "date")
            if column.name in self.witnessed and is_text_column(array.type):
                seen[column.name] = describe_text(array, self._tokens)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
            raise InputError(
                f"Column {shown(column.name)} cannot be read as a {column.kind}: {shown(error, 120)}. "
                f"Say how to read it, e.g. --type {column.name}=nominal."
            ) from None
        return self._known(column, values, strays)

    def _known(self, column: Column, values: Floats, strays: int) -> Floats:
        """The numbers without those that mean "missing"; strays are counted."""
        if strays:
            self.strays[column.name] = self.strays.get(column.name, 0) + strays
        if len(self.gone):
            values = np.where(np.isin(values, self.gone), np.nan, values)
        return values

    def _nominal(self, column: Column, array: TextArray, start: int, target: Codes | None) -> Codes:
        closed = self.labels is not None
        if target is not None and not closed:
            counted = self._cross(column, array, start, target)
            if counted is not None:
                return counted
        labels = self.labels[column.name] if self.labels is not None else self._labels(column.name)
        codes = self._codes(column, array, start, labels, closed)
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

    def _texts(self, column: Column, array: TextArray, start: int) -> Texts:
        out = _sound(column, array, start)
        cells.empty_missing(out.data, out.starts, out.ends, self._tokens)
        return out

    def _labels(self, name: str) -> Labels:
        return self._own.setdefault(name, Labels())

    def _target(self, column: Column, array: TextArray, start: int) -> Codes:
        labels = self.classes if self.classes is not None else self._labels(column.name)
        if column.edges:
            values = self._numbers(column, array, {})
            places = [labels.index.get(name, UNSEEN_CODE) for name in bin_labels(column.edges)]
            codes = np.array(places, np.int32)[np.searchsorted(np.array(column.edges), values, side="right")]
            return Codes(np.where(np.isnan(values), np.int32(MISSING_CODE), codes), labels)
        return Codes(self._codes(column, array, start, labels, self.classes is not None), labels)

    def _codes(self, column: Column, array: TextArray, start: int, labels: Labels, closed: bool) -> NDArray[np.int32]:
        self.described.add(column.name)
        try:
            return self._reader(column, labels, closed).read(array)
        except UnicodeDecodeError:
            _sound(column, array, start)  # refuses it, with the row
            raise

    def _cross(self, column: Column, array: TextArray, start: int, target: Codes) -> Codes | None:
        self.described.add(column.name)
        try:
            return self._reader(column, self._labels(column.name), False).cross(array, target)
        except UnicodeDecodeError:
            _sound(column, array, start)
            raise

    def _reader(self, column: Column, labels: Labels, closed: bool) -> LevelReader:
        readers = self._readers
        if column.name not in readers:
            kept = self._kept.get(column.name) if column.role == "attribute" else None
            readers[column.name] = LevelReader(self._missing, labels, closed, column.reading, kept)
        return readers[column.name]

    @property
    def _readers(self) -> dict[str, LevelReader]:
        """The readers of nominal columns; each thread's own where labels are closed, as threads may share these."""
        if self.labels is None:
            return self._mine
        return self._by_thread.setdefault(threading.get_ident(), {})

    def take_description(self, name: str) -> tuple[Described, Texts, NDArray[np.int64]] | None:
        """What the texts of a nominal column look like that were read since this was last asked, those texts, and how
        often each was read; None where none was."""
        reader = self._mine.get(name)
        return None if reader is None else reader.take_description(self._tokens)

    def _weight(self, column: Column, array: TextArray, start: int) -> Floats:
        values = self._numbers(column, array, {})
        bad = np.flatnonzero(~((values >= 0) & np.isfinite(values)))
        if len(bad):
            raise ColumnError(
                f"The weight in row {start + int(bad[0]) + 1} of column {shown(column.name)} is "
                f"{shown(array[int(bad[0])].as_py())}. Weights must be finite numbers, zero or more."
            )
        return values
