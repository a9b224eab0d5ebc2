"""Tables that are already in memory: dicts of columns, lists of rows, and anything that speaks Arrow.

Knows Python and Arrow containers; must not guess what a value means. What can be read only once is kept as a table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
import pyarrow as pa

from likely.errors import ColumnError, InputError, shown
from likely.table.arrow import ROWS, ArrowArray, few_values, plain_batch, plain_schema
from likely.table.columns import RowBatch
from likely.table.source import HALF_CHARACTER, Source, check_names, has_half_character

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
