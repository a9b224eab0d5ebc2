"""Tables that are already in memory: dicts, lists of rows, frames, matrices of word counts, and what speaks Arrow."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa

from likely.errors import ColumnError, InputError, shown
from likely.table.arrow import (
    ROWS,
    ArrowArray,
    ArrowBatch,
    ArrowTable,
    RowBatch,
    decode_batch,
    decode_dictionary,
    few_values,
    number_array,
    plain_batch,
    plain_schema,
    plain_type,
)
from likely.table.source import HALF_CHARACTER, Source, check_names, has_half_character

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Tables that are already in memory: dicts of columns, lists of rows, and anything that speaks Arrow.

PIECE = 1 << 16
"""Rows that a thread takes at a time. Smaller chunks are joined: each column of a batch costs a few calls."""

SMALL = 1 << 20
"""Bytes of a table of which one thread is done before others have started."""


class TableSource(Source):
    """An Arrow table in memory."""

    reads_columns_apart = True

    def __init__(self, table: pa.Table, name: str = "the table") -> None:
        check_names(name, tuple(table.schema.names))
        try:
            table.validate()  # sizes of buffers, at no cost; what lies in them is checked where it is read
        except pa.ArrowInvalid as error:
            said = shown(" ".join(str(error).split()), 160)
            raise InputError(f"{name} is not a sound Arrow table ({said}). Make it again.") from error
        if table.column(0).num_chunks > 64 + table.num_rows // 1024:
            table = table.combine_chunks()  # many tiny chunks would cost more than their rows
        self.name, self.table = name, table
        self.schema = plain_schema(table.schema)
        self.rows = table.num_rows
        self.is_small = table.nbytes < SMALL

    def with_column(self, name: str, column: ArrowArray) -> TableSource:
        """The table with one more column."""
        return TableSource(self.table.append_column(name, column), self.name)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        names = self.resolve_columns(columns)
        for batch in self.table.select(names or [self.table.schema.names[0]]).to_batches(max_chunksize=ROWS):
            if batch.num_rows:
                yield plain_batch(batch) if names else batch.select([])

    @property
    def piece_count(self) -> float:  # type: ignore[override]
        return -(-self.table.num_rows // self._piece)

    @property
    def _piece(self) -> int:
        """Rows of a piece: more of a large table, of which there is enough for every thread."""
        return 2 * PIECE if self.table.num_rows >= 16 * PIECE else PIECE

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[Callable[[], Iterable[RowBatch]]]:
        names = self.resolve_columns(columns)
        table = self.table.select(names or [self.table.schema.names[0]])
        for start in range(0, table.num_rows, self._piece):
            yield partial(_read_piece, table.slice(start, self._piece), bool(names))


def _read_piece(part: pa.Table, named: bool) -> Iterator[pa.RecordBatch]:
    """The rows of a part in one batch, where its chunks are sound and can be joined."""
    if part.column(0).num_chunks > 1:
        try:
            for column in part.columns:
                if pa.types.is_dictionary(column.type):
                    column.validate(full=True)  # Arrow follows codes unchecked when it joins dictionaries
            part = part.combine_chunks()
        except pa.ArrowException:
            pass  # what is unsound is told where it is read
    for batch in part.to_batches():
        if batch.num_rows:
            yield plain_batch(batch) if named else batch.select([])


def open_memory(data: object) -> Source:
    """Open what is already in memory; says what would be taken where it does not know the thing."""
    if isinstance(data, Mapping):
        return TableSource(_of_columns(data))
    if is_pandas(data):
        return TableSource(_of_pandas(data))
    if hasattr(data, "__arrow_c_stream__"):
        return TableSource(_of_stream(data))
    if hasattr(data, "__arrow_c_array__"):
        array = pa.array(cast(Any, data))
        if not pa.types.is_struct(array.type):
            raise InputError("The Arrow array is a single column. Give a table: {'its name': the array}.")
        return TableSource(pa.Table.from_batches([pa.RecordBatch.from_struct_array(array)]))
    if isinstance(data, (list, tuple)):
        return TableSource(_of_rows(data))
    kind = type(data).__name__
    hint = " Name its columns: dict(zip(names, X.T))." if isinstance(data, np.ndarray) else ""
    raise InputError(
        f"A {kind} is not a table that can be read.{hint} Give a path, a dict of columns, a list of dicts, "
        "or a pandas, polars, pyarrow or DuckDB table."
    )


def _of_stream(data: object) -> pa.Table:
    try:
        reader = pa.RecordBatchReader.from_stream(cast(Any, data))
        return pa.Table.from_batches([*reader], reader.schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
        kind = type(data).__name__
        raise InputError(f"The {kind} is not a table of named columns. Give it a name: {{'x': it}}.") from error


def is_pandas(data: object) -> bool:
    """Whether something is a frame of pandas, which need not be imported to tell."""
    return type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "columns")


def _of_pandas(frame: Any) -> pa.Table:
    if getattr(frame.columns, "nlevels", 1) > 1:
        raise ColumnError(
            "The columns of the frame have names of several parts (a MultiIndex). Give them plain names: "
            "df.columns = ['_'.join(map(str, c)) for c in df.columns]."
        )
    names = tuple(str(c) for c in frame.columns)
    check_names("the table", names)
    try:
        table: pa.Table = pa.Table.from_pandas(frame, preserve_index=False)
        return table.rename_columns(list(names))
    except (pa.ArrowException, TypeError, OverflowError, UnicodeEncodeError):
        return _of_columns({name: frame.iloc[:, i] for i, name in enumerate(names)})


def _of_rows(rows: Sequence[object]) -> pa.Table:
    if not rows:
        raise InputError("The list of rows is empty, so it has no columns. Give at least one row.")
    dicts = [row for row in rows if isinstance(row, Mapping)]
    if len(dicts) < len(rows):
        i, row = next((i, row) for i, row in enumerate(rows, 1) if not isinstance(row, Mapping))
        raise InputError(f"Row {i:,} of the list is a {type(row).__name__}. Every row must be a dict of its cells.")
    names = dict.fromkeys(name for row in dicts for name in row)
    if len(rows) == 1 and names and all(type(name) is str for name in names):
        table = _of_one_row(dict(dicts[0]))
        if table is not None:
            return table
    return _of_columns({name: [row.get(name) for row in dicts] for name in names})


def _of_one_row(row: dict[str, object]) -> pa.Table | None:
    """A row in one call of Arrow's, not one for each column; None where Arrow does not know a value."""
    check_names("the table", tuple(row))
    if "pandas" not in sys.modules:  # which that call would import
        try:
            cells = [few_values([value]) for value in row.values()]
        except UnicodeEncodeError:
            return None
        arrays = [cell for cell in cells if cell is not None]
        if len(arrays) == len(cells):
            return pa.table(arrays, names=list(row))
    try:
        return pa.Table.from_struct_array(pa.array([row], from_pandas=True))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None


def _of_columns(columns: Mapping[object, object]) -> pa.Table:
    if not columns:
        raise ColumnError("The dict has no columns. Give a list of values for each name.")
    names = tuple(str(name) for name in columns)
    check_names("the table", names)
    scalars = [_is_scalar(values) for values in columns.values()]
    if any(scalars) and not all(scalars):
        name = names[scalars.index(True)]
        raise ColumnError(f"The column {shown(name)} is a single value while others are lists. Put it into a list.")
    arrays = [
        _array(name, [values] if scalars[0] else values) for name, values in zip(names, columns.values(), strict=True)
    ]
    for name, array in zip(names, arrays, strict=True):
        if len(array) != len(arrays[0]):
            raise ColumnError(
                f"The column {shown(name)} has {len(array):,} rows where {shown(names[0])} has {len(arrays[0]):,}. "
                "Give every column the same number of rows."
            )
    return pa.table(arrays, names=list(names))


def _is_scalar(values: object) -> bool:
    return isinstance(values, (str, bytes)) or not (hasattr(values, "__len__") or hasattr(values, "__iter__"))


def _array(name: str, values: Any) -> Any:
    """A column of Python values; where they are of several types, the text of each."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    if getattr(values, "ndim", 1) != 1:
        raise ColumnError(f"The column {shown(name)} has {values.ndim} dimensions. Give one column per name.")
    if not hasattr(values, "__arrow_c_stream__") and not hasattr(values, "__arrow_c_array__"):
        values = values if isinstance(values, (list, tuple, np.ndarray)) or hasattr(values, "dtype") else list(values)
    try:
        few = few_values(values) if isinstance(values, (list, tuple)) else None
        array = pa.array(values, from_pandas=True) if few is None else few
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        # from_pandas: NaN among texts is a missing cell.
        texts = [None if v is None or v != v else str(v) for v in values]
    else:
        return array
    for row, text in enumerate(texts, 1):
        if text is not None and has_half_character(text):
            raise ColumnError(
                f"Row {row:,} of the column {shown(name)} is {shown(text, 40)}, {HALF_CHARACTER} "
                "Take it out, or decode the text it came from again."
            )
    return pa.array(texts, pa.string())


# Frames in and out: a frame or a matrix as a table, and columns in the kind of frame that came in, its index kept.


@dataclass(frozen=True, eq=False)
class FrameKind:
    """The kind of frame that some rows came in. `index` is that of pandas; others have none."""

    library: str
    maker: Any = None
    index: Any = None

    @classmethod
    def of(cls, data: object) -> FrameKind | None:
        """The kind of a frame; None for what is no frame: a path, a dict, a list of rows, a stream."""
        if is_pandas(data):
            return cls("pandas", index=data.index)  # type: ignore[attr-defined]
        if isinstance(data, (pa.Table, pa.RecordBatch)):
            return cls("pyarrow")
        if type(data).__module__.partition(".")[0] == "polars" and type(data).__name__ == "DataFrame":
            return cls("polars", type(data))
        return None

    def frame(self, table: ArrowTable) -> Any:
        """A frame of this kind from an Arrow table (or batch) with as many rows."""
        if self.library == "pyarrow":
            return table
        if self.library == "polars":
            return self.maker(table)
        out = table.to_pandas()
        out.index = self.index
        return out

    def column(self, name: str, array: ArrowArray) -> Any:
        """An Arrow array as a column of this kind: a Series, or a chunked array."""
        table = pa.table([array], names=[name])
        return table.column(0) if self.library == "pyarrow" else self.frame(table)[name]


def to_frame(batch: ArrowBatch, frames: FrameKind | None) -> Any:
    """An Arrow batch in the kind of frame that came in; a pyarrow Table where none did."""
    table = pa.Table.from_batches([decode_batch(batch)])
    return table if frames is None else frames.frame(table)


def is_frame(data: object) -> bool:
    """Whether something is a table with named columns that Arrow can read, rather than an array of numbers."""
    return hasattr(data, "columns") and (is_pandas(data) or hasattr(data, "__arrow_c_stream__"))


def named_table(data: object, names: Sequence[str]) -> TableSource:
    """A frame, or a matrix (rows, columns), as a table whose columns have these names."""
    if isinstance(data, np.ndarray):
        return TableSource(pa.table([_column(data[:, k]) for k in range(data.shape[1])], names=list(names)))
    source = open_memory(data)
    assert isinstance(source, TableSource)
    # In one piece: what learners add up in floats must not depend on how a frame happens to be cut.
    return TableSource(source.table.rename_columns(list(names)).combine_chunks())


def _column(values: NDArray[np.generic]) -> object:
    """One column of a matrix: numbers as they are, without a detour; objects as `memory` reads them."""
    if values.dtype.kind in "iuf" and values.dtype.itemsize <= 8 and values.dtype != np.float16:
        return number_array(np.ascontiguousarray(values))
    if values.dtype.kind == "f":
        return number_array(values.astype(np.float64))
    source = open_memory({"x": values})
    assert isinstance(source, TableSource)
    return source.table.column(0)


def stack_tables(parts: Sequence[TableSource]) -> TableSource:
    """Tables with the same columns as one; a column that is empty or whole in one part may be anything in another."""
    tables = [
        pa.table([decode_dictionary(column) for column in part.table.columns], names=part.table.schema.names)
        for part in parts
    ]
    return TableSource(pa.concat_tables(tables, promote_options="permissive").combine_chunks())


# Counts of words (rows of a sparse matrix) as a table with one column of text, written out batch by batch.

WORDS = "words"
"""The name of the column."""
_MOST = 1 << 20
"""Words that a batch holds, about; a row is never cut."""


def are_counts(data: NDArray[np.number]) -> bool:
    """Whether all entries are whole numbers, zero or more."""
    return bool(np.all(data >= 0) and np.all(np.isfinite(data)) and np.all(data == np.floor(data)))


class CountedSource(Source):
    """Rows of word counts as texts, beside which other columns may stand."""

    def __init__(
        self,
        data: NDArray[np.number],
        indices: NDArray[np.integer],
        indptr: NDArray[np.integer],
        width: int,
        more: dict[str, ArrowArray] | None = None,
    ) -> None:
        if not are_counts(data):
            raise InputError(
                "A sparse matrix is read as counts of words, so its entries must be whole numbers, zero or more. "
                "Give counts (CountVectorizer): how words are damped and weighed is a setting of text."
            )
        self.name = "the matrix"
        self._data, self._indices, self._indptr, self._width = data.astype(np.int64), indices, indptr, width
        self._more = more or {}
        fields = [pa.field(WORDS, pa.string()), *(pa.field(n, plain_type(a.type)) for n, a in self._more.items())]
        self.schema = pa.schema(fields)
        self.rows = len(indptr) - 1

    def with_column(self, name: str, column: ArrowArray) -> CountedSource:
        """The table with one more column."""
        return CountedSource(self._data, self._indices, self._indptr, self._width, {**self._more, name: column})

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        names = self.resolve_columns(columns)
        # How many words there are up to each row: batches are cut where that passes a multiple of _MOST.
        per_row = np.concatenate([[0], np.cumsum(self._data)])[self._indptr]
        cuts = np.flatnonzero(np.diff(per_row // _MOST)) + 1
        bounds = np.unique(np.concatenate([[0], cuts, [len(per_row) - 1]])).tolist()
        letters, starts = _words(self._width)
        for low, high in pairwise(bounds):
            arrays = [
                self._texts(low, high, letters, starts) if n == WORDS else self._more[n].slice(low, high - low)
                for n in names
            ]
            yield pa.RecordBatch.from_arrays(arrays, names=names)

    def _texts(self, low: int, high: int, letters: NDArray[np.uint8], starts: NDArray[np.int64]) -> ArrowArray:
        """Rows low … high-1 as texts, each word as often as it was counted, with a blank after it."""
        entries = slice(int(self._indptr[low]), int(self._indptr[high]))
        times = self._data[entries]
        row = np.repeat(np.arange(high - low), np.diff(self._indptr[low : high + 1]))
        word = np.repeat(self._indices[entries], times)
        row = np.repeat(row, times)
        # A text without words is not a missing one: a row without counts is written as a full stop.
        empty = np.setdiff1d(np.arange(high - low), row, assume_unique=False)
        word = np.concatenate([word, np.full(len(empty), self._width)])
        row = np.concatenate([row, empty])
        order = np.argsort(row, kind="stable")
        word, row = word[order], row[order]
        size = (starts[1:] - starts[:-1])[word]
        ends = np.cumsum(size)
        at = np.repeat(starts[word] - (ends - size), size) + np.arange(int(ends[-1]) if len(ends) else 0)
        bounds = np.zeros(high - low + 1, np.int64)
        np.add.at(bounds[1:], row, size)
        offsets = np.cumsum(bounds)
        buffers = [None, pa.py_buffer(offsets.data), pa.py_buffer(letters[at].data)]
        return pa.Array.from_buffers(pa.large_string(), high - low, buffers).cast(pa.string())


def _words(width: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of the words x0, x1 … and of a full stop, one after the other, and where each begins."""
    words = [f"x{j} ".encode() for j in range(width)] + [b". "]
    starts = np.cumsum([0, *(len(w) for w in words)]).astype(np.int64)
    return np.frombuffer(b"".join(words), np.uint8), starts
