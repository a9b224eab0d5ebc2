"""Arrow as the rest of the house knows it: names of its types, plain columns, and columns of text over bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import pyarrow as pa

from likely.machinery.arrays import Bools, Bytes, Longs
from likely.machinery.jit import kernel
from likely.table.batch import Texts

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Arrow as the rest of the house knows it: names of its types, plain columns, arrays made of numpy, rows as bytes.

ArrowArray: TypeAlias = "pa.Array[Any]"
ArrowDictionary: TypeAlias = "pa.DictionaryArray[Any, Any]"
ArrowBatch: TypeAlias = pa.RecordBatch
ArrowField: TypeAlias = "pa.Field[Any]"
ArrowReader: TypeAlias = pa.RecordBatchReader
ArrowSchema: TypeAlias = pa.Schema
ArrowTable: TypeAlias = pa.Table
ArrowType: TypeAlias = pa.DataType

ROWS = 1 << 17
"""Rows of a batch at most."""
FEW = 1 << 12
"""Values of Python that are made into an array one by one."""


_PLAIN = frozenset(type.id for type in (pa.bool_(), pa.int64(), pa.float64(), pa.string(), pa.null()))
"""Types that are plain at first sight, by their number: tables of one row are read as well, time and again."""
_TEXTS = frozenset(t.id for t in (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()))


# -- plain types ------------------------------------------------------------------------------------------------


def is_text(type: pa.DataType) -> bool:
    """Whether cells are texts, or bytes that may be texts."""
    return type.id in _TEXTS


def plain_type(type: pa.DataType) -> pa.DataType:
    """The type without views, run-length codes, extensions and dictionaries."""
    if type.id in _PLAIN:
        return type
    if isinstance(type, pa.BaseExtensionType):
        return plain_type(type.storage_type)
    if pa.types.is_dictionary(type) or pa.types.is_run_end_encoded(type):
        return plain_type(type.value_type)
    if type == pa.string_view():
        return pa.string()
    return pa.binary() if type == pa.binary_view() else type


def release_pages() -> None:
    """Give back what a sweep has decoded: pages of many columns take up hundreds of megabytes. Once for each sweep, as
    the system clears whatever it hands out again: between shares of columns that took as long as decoding."""
    pa.default_memory_pool().release_unused()


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The names and plain types of a schema, without its metadata."""
    return pa.schema([pa.field(field.name, plain_type(field.type)) for field in schema])


def plain_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with each column in its plain type; dictionaries of plain values stay as they are."""
    if all(_is_plain(type) for type in batch.schema.types):
        return batch
    return pa.RecordBatch.from_arrays([_plain_array(c) for c in batch.columns], names=batch.schema.names)


def _is_plain(type: pa.DataType) -> bool:
    if type.id in _PLAIN:
        return True
    values = type.value_type if pa.types.is_dictionary(type) else type
    return plain_type(values) == values


def _plain_array(array: Any) -> ArrowArray:
    if isinstance(array.type, pa.BaseExtensionType):
        return _plain_array(array.storage)
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, _plain_array(array.dictionary))
    if pa.types.is_run_end_encoded(array.type):
        import pyarrow.compute

        compute: Any = pyarrow.compute
        return _plain_array(compute.run_end_decode(array))
    wanted = plain_type(array.type)
    return array if wanted == array.type else array.cast(wanted)  # type: ignore[no-any-return]


def decode_dictionary(array: Any) -> ArrowArray:
    """The array without a dictionary: those of two batches need not agree."""
    if isinstance(array, pa.DictionaryArray):
        return _functions().call_function("take", [array.dictionary, array.indices])  # type: ignore[no-any-return]
    return array.cast(array.type.value_type) if pa.types.is_dictionary(array.type) else array  # type: ignore[no-any-return]


def are_plain_alike(one: pa.Schema, two: pa.Schema) -> bool:
    """Whether both have the same columns, of texts, numbers and booleans alone: whoever reads these sees the same. Of
    moments and decimals others have views of their own."""
    columns = [[(field.name, _plain_name(field.type)) for field in schema] for schema in (one, two)]
    return columns[0] == columns[1] and all(kind for _, kind in columns[0])


def _plain_name(type: pa.DataType) -> str:
    if is_text(type):
        return "text"
    return str(type) if pa.types.is_boolean(type) or pa.types.is_integer(type) or pa.types.is_floating(type) else ""


def decode_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch without dictionaries."""
    if not any(pa.types.is_dictionary(type) for type in batch.schema.types):
        return batch
    return pa.RecordBatch.from_arrays([decode_dictionary(c) for c in batch.columns], names=batch.schema.names)


def dictionary_encode(array: ArrowArray) -> ArrowDictionary:
    """The array as codes and a dictionary of what is different in it."""
    return _functions().call_function("dictionary_encode", [array])  # type: ignore[no-any-return]


def has_match(array: ArrowArray, pattern: str) -> bool:
    """Whether a regular expression matches in any of the texts."""
    compute = _functions()
    matches = compute.call_function("match_substring_regex", [array], compute.MatchSubstringOptions(pattern))
    return bool(compute.call_function("any", [matches]).as_py())


def _functions() -> Any:
    """The functions of Arrow, by `call_function`."""
    try:
        # pyarrow.compute, which methods of arrays import, makes functions and their documents: 50 ms for one call.
        import pyarrow._compute as compute
    except ImportError:  # it is no public name, so it may go away
        from pyarrow import compute  # type: ignore[no-redef]
    return compute


# -- arrays of numpy and Python ---------------------------------------------------------------------------------


def text_array(texts: Sequence[str], valid: Bools | None = None) -> ArrowArray:
    """Texts as an Arrow array, null where it is not `valid`. (`pa.array` would import pandas, which takes too long.)"""
    data = [text.encode() for text in texts]
    offsets = np.cumsum([0, *(len(d) for d in data)]).astype(np.int32)
    buffers = [bit_buffer(valid), pa.py_buffer(offsets.data), pa.py_buffer(b"".join(data))]
    return pa.Array.from_buffers(pa.string(), len(data), buffers)


def few_values(values: Sequence[object]) -> ArrowArray | None:
    """Values of Python as `pa.array(values, from_pandas=True)` makes them, without importing pandas as that does.

    None where they are of several kinds, or many: then the import costs less than this does.

    >>> few_values(["a", None]), few_values([1, "a"])
    (<pyarrow.lib.StringArray object at ...>
    [
      "a",
      null
    ], None)
    """
    kinds = set(map(type, values)) - {type(None)} if len(values) <= FEW else {object}
    if len(kinds) != 1:
        return None if kinds else pa.nulls(len(values))
    (kind,) = kinds
    known = np.array([value is not None for value in values])
    valid = None if known.all() else known
    if kind is str:
        return text_array(["" if value is None else cast(str, value) for value in values], valid)
    if kind is float:
        numbers = np.array(values, np.float64)  # None is NaN, which is no value
        known = ~np.isnan(numbers)
        return number_array(numbers, None if known.all() else known) if known.any() else pa.nulls(len(values))
    if kind is bool:
        buffers = [bit_buffer(valid), bit_buffer(np.array([value is True for value in values]))]
        return pa.Array.from_buffers(pa.bool_(), len(values), buffers)
    if kind is int and all(-(1 << 63) <= cast(int, value or 0) < 1 << 63 for value in values):
        return number_array(np.array([value or 0 for value in values], np.int64), valid)
    return None


def number_array(values: NDArray[np.generic], valid: Bools | None = None) -> ArrowArray:
    """A numpy array of numbers as an Arrow array, null where it is not `valid`."""
    data = pa.py_buffer(np.ascontiguousarray(values).data)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [bit_buffer(valid), data])


def bit_buffer(flags: Bools | None) -> Any:
    """Truth values as Arrow keeps them."""
    return None if flags is None else pa.py_buffer(np.packbits(flags, bitorder="little").data)


def label_array(codes: NDArray[np.integer], names: Sequence[str], valid: Bools | None = None) -> ArrowDictionary:
    """Codes into `names` as a dictionary array, null where they are not `valid`."""
    index = codes if valid is None else np.where(valid, codes, 0)
    return pa.DictionaryArray.from_arrays(number_array(index.astype(np.int32), valid), text_array(names))


def name_array(codes: NDArray[np.integer], names: Sequence[str], valid: Bools | None = None) -> ArrowArray:
    """Codes into `names` as texts, null where they are not `valid`."""
    return decode_dictionary(label_array(codes, names, valid))


# -- batches cut and joined -------------------------------------------------------------------------------------


def align_batches(batches: Iterable[pa.RecordBatch], rows: int, start: int = 0) -> Iterator[pa.RecordBatch]:
    """The same rows, cut only where the number of a row (the first is `start`) is a multiple of `rows`.

    What comes out may span several multiples. Little is copied: only what lies across a cut of the batches.

    >>> [b.num_rows for b in align_batches([pa.record_batch({"x": [1] * n}) for n in (3, 4, 9)], 4)]
    [4, 4, 8]
    """
    parts: list[pa.RecordBatch] = []
    need = rows - start % rows  # rows up to the next multiple
    for batch in batches:
        if not batch.num_columns:  # nothing to join: such rows are only counted
            yield batch
            continue
        at = 0
        if parts or need < rows:
            at = min(need, batch.num_rows)
            parts.append(batch.slice(0, at))
            need -= at
            if need:
                continue
            yield concat_batches(parts)
            parts, need = [], rows
        whole = (batch.num_rows - at) // rows * rows
        if whole:
            yield batch.slice(at, whole)
        if at + whole < batch.num_rows:
            parts = [batch.slice(at + whole)]
            need = rows - parts[0].num_rows
    if parts:
        yield concat_batches(parts)


def concat_batches(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Batches of the same columns as one; text that some keep as a dictionary and others do not becomes plain."""
    if len(batches) == 1:
        return batches[0]
    columns = []
    for k in range(batches[0].num_columns):
        arrays: list[Any] = [b.column(k) for b in batches]
        if len({a.type for a in arrays}) > 1:
            arrays = [decode_dictionary(a) for a in arrays]
        columns.append(pa.concat_arrays(arrays))
    return pa.RecordBatch.from_arrays(columns, names=batches[0].schema.names)


# -- bytes ------------------------------------------------------------------------------------------------------


def pack_table(rows: pa.Table | pa.RecordBatch) -> bytes:
    """Rows as bytes that anyone's Arrow can read."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write(rows)
    return sink.getvalue().to_pybytes()


def unpack_table(data: bytes) -> pa.Table:
    """The rows that `pack_table` wrote."""
    return pa.ipc.open_stream(data).read_all()


def unpack_batch(data: bytes) -> pa.RecordBatch:
    """The batch that `pack_table` wrote."""
    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        return reader.read_next_batch()


def pack_schema(schema: pa.Schema, names: Sequence[str] | None = None) -> bytes:
    """Names and types of columns (of all, or of these) as bytes."""
    selected = schema if names is None else pa.schema([schema.field(name) for name in names])
    return selected.serialize().to_pybytes()


def unpack_schema(data: bytes) -> pa.Schema:
    """The names and types that `pack_schema` wrote."""
    return pa.ipc.read_schema(pa.py_buffer(data))


def relation_reader(relation: Any, rows: int) -> ArrowReader:
    """A query of DuckDB as Arrow batches of so many rows. (By its class: a relation takes other names for columns.)"""
    has_new_name = hasattr(type(relation), "to_arrow_reader")  # since DuckDB 1.5
    read = relation.to_arrow_reader if has_new_name else relation.fetch_record_batch
    reader: ArrowReader = read(rows)
    return reader


# Columns of text as a block of delimited text has them: cells over its bytes, where Arrow would have copied them
# all.


class TextColumn:
    """Cells of text. Has what is asked of an Arrow array of strings by those who read cells."""

    __slots__ = ("cells",)
    type = pa.string()
    null_count = 0

    def __init__(self, cells: Texts) -> None:
        self.cells = cells

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, row: int) -> Any:
        return pa.scalar(self.cells.text(row))

    def take(self, rows: ArrowArray) -> ArrowArray:
        """Some cells, copied into an array of Arrow's."""
        return text_array([self.cells.text(int(row)) for row in np.asarray(rows)])

    def to_arrow(self) -> ArrowArray:
        """All cells, copied into an array of Arrow's."""
        return copied_texts(self.cells)


TextArray: TypeAlias = "ArrowArray | TextColumn"


@dataclass(frozen=True, slots=True)
class CellBatch:
    """Rows of a text file, cut into cells that are not yet read, but for those that the file says are no text."""

    schema: pa.Schema
    columns: Sequence[TextArray]
    num_rows: int

    def column(self, key: int | str) -> TextArray:
        return self.columns[self.schema.get_field_index(key) if isinstance(key, str) else key]

    def to_arrow(self) -> ArrowBatch:
        """The same rows as a batch of Arrow's, which does not hold on to the block of text."""
        arrays = [c.to_arrow() if isinstance(c, TextColumn) else c for c in self.columns]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


RowBatch: TypeAlias = "ArrowBatch | CellBatch"
"""Rows that an encoder can read."""


def copied_texts(cells: Texts, there: Bools | None = None) -> ArrowArray:
    """Texts as an array of Arrow's, null where they are not `there`."""
    offsets = np.zeros(len(cells) + 1, np.int32)
    np.cumsum(cells.ends - cells.starts, out=offsets[1:])
    data = np.empty(int(offsets[-1]), np.uint8)
    starts, ends = np.ascontiguousarray(cells.starts), np.ascontiguousarray(cells.ends)
    copy_cells(cells.data, starts, ends, data)
    buffers = [bit_buffer(there), pa.py_buffer(offsets.data), pa.py_buffer(data.data)]
    return pa.Array.from_buffers(pa.string(), len(cells), buffers)


@kernel("u1[], i8[], i8[], u1[]")
def copy_cells(data: Bytes, starts: Longs, ends: Longs, out: Bytes) -> None:
    """The bytes of all cells, one after the other."""
    at = np.uint64(0)
    for i in range(starts.size):
        for k in range(np.uint64(starts[i]), np.uint64(ends[i])):  # unsigned: nobody counts from the end
            out[at] = data[k]
            at += np.uint64(1)
