"""The one writer of tables: CSV or Parquet, batch by batch, to a file, standard output or a network."""

from __future__ import annotations

import base64
import io
import json
import struct
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from csv import writer
from errno import EBADF, EISDIR
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import pyarrow as pa

from likely.errors import ColumnError, InputError, TooLarge, shown
from likely.table.arrow import (
    ArrowArray,
    ArrowBatch,
    decode_batch,
    decode_dictionary,
    dictionary_encode,
    has_match,
    is_text,
    label_array,
    number_array,
)
from likely.table.formats.columnar import measure_ipc, read_ipc
from likely.table.formats.files import MAGIC, TemporaryFile, detect_format, file_errors
from likely.table.open import Opening, open_format
from likely.table.output.files import PartFile, check_output, kind_of_table
from likely.table.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Parquet, batch by batch. Dictionaries that batches bring are written as they are: nobody looks up a text again.

GROUP_ROWS, GROUP_BYTES = 1 << 17, 1 << 26
"""A row group has so many rows or bytes, unless a batch has more: dictionaries within it must be one."""


class ParquetGroups:
    """Batches of one table, gathered into row groups."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._writer: Any = None
        self._schema = pa.schema([])
        self._waiting: list[pa.RecordBatch] = []

    def write(self, batch: pa.RecordBatch) -> None:
        """Take in a batch; all must have the same columns."""
        if self._writer is None:
            batch = _with_columns(batch, [_usable(column) for column in batch.columns])
            self._schema = batch.schema
            self._writer = _open_writer(self._file, batch.schema)
        else:
            columns = [_like(column, type) for column, type in zip(batch.columns, self._schema.types, strict=True)]
            batch = _with_columns(batch, columns)
        self._waiting.append(batch)
        rows, size = (sum(x) for x in zip(*((b.num_rows, b.nbytes) for b in self._waiting), strict=True))
        if rows >= GROUP_ROWS or size >= GROUP_BYTES:
            self._write_group()

    def close(self) -> None:
        self._write_group()
        if self._writer is not None:
            self._writer.close()

    def _write_group(self) -> None:
        if self._waiting:
            whole = pa.Table.from_batches(self._waiting, self._schema).unify_dictionaries()
            self._waiting = []
            self._writer.write_table(whole, row_group_size=max(1, whole.num_rows))


def _open_writer(file: Any, schema: pa.Schema) -> Any:
    import pyarrow.parquet as pq

    plain = pa.schema([pa.field(f.name, _values_of(f.type)) for f in schema])
    # Of numbers a dictionary is rarely worth its making: without, files are smaller and written in half the time.
    texts: Any = [f.name for f in schema if is_text(_values_of(f.type))]
    writer = pq.ParquetWriter(file, schema, use_dictionary=texts or False, store_schema=False)
    # What Arrow reads the file as; its own note would say that columns are dictionaries.
    writer.add_key_value_metadata({"ARROW:schema": base64.b64encode(plain.serialize().to_pybytes()).decode()})
    return writer


def _values_of(type: Any) -> Any:
    return type.value_type if pa.types.is_dictionary(type) else type


def _usable(column: Any) -> ArrowArray:
    """A column with its dictionary, where that can be written."""
    if not pa.types.is_dictionary(column.type):
        return column  # type: ignore[no-any-return]
    if not is_text(column.type.value_type) or column.dictionary.null_count:
        return decode_dictionary(column)
    return column.cast(pa.dictionary(pa.int32(), column.type.value_type))  # type: ignore[no-any-return]


def _like(column: Any, type: Any) -> ArrowArray:
    """A column as the first batch has it."""
    own = _usable(column)
    if pa.types.is_dictionary(type) and not pa.types.is_dictionary(own.type):
        return dictionary_encode(own).cast(type)
    return own if pa.types.is_dictionary(type) else decode_dictionary(own)


def _with_columns(batch: pa.RecordBatch, columns: list[ArrowArray]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


# The one writer of tables: predictions as CSV or Parquet, batch by batch, to a file or standard output.

_OTHERS = (".json", ".jsonl", ".ndjson", ".arff", ".arrow", ".feather", ".ipc", ".xlsx", ".xls", ".bz2", ".zip")

FORMULA, NUMBER = r"^[=+\-@\t\r]", r"^[-+][\d.,]+([eE][-+]?\d+)?\s*%?$"
"""A text that a spreadsheet takes for a formula, unless it is a number."""
_TEXT, _PARQUET = ("", ".csv", ".txt", ".data", ".tsv", ".tab"), (".parquet", ".pq")
_PACKED: dict[str, Any] = {".gz": "gzip", ".zst": "zstd"}


class Sink:
    """Writes batches of one table; the file appears whole on success, and not at all on failure."""

    def __init__(self, path: str | None, quote_formulas: bool = False) -> None:
        self._quotes_formulas, self.formulas = quote_formulas, set[str]()
        given = None if path in (None, "-") else Path(str(path))
        # A pipe or a device takes bytes where it is; a link to a file keeps pointing at its file, which is replaced.
        self._device = given is not None and given.exists() and not given.is_file() and not given.is_dir()
        self._path = given if given is None or self._device else given.resolve()
        self._name = shown(path)
        suffixes = [s.lower() for s in self._path.suffixes] if self._path is not None else []
        self._packed = _PACKED.get(suffixes[-1]) if suffixes else None
        rest = suffixes[:-1] if self._packed else suffixes
        self._suffix = rest[-1] if rest else ""
        known = (*_TEXT, *(() if self._packed else _PARQUET))
        if (suffixes and suffixes[-1] in _OTHERS) or (self._packed and self._suffix not in known):
            raise InputError(f"Cannot write {self._name} as its name says. Call it .csv, .csv.gz, .tsv or .parquet.")
        self._part: PartFile | None = None
        self._file: Any = None
        self._groups: ParquetGroups | None = None
        self._begun = False

    def __enter__(self) -> Sink:
        if self._path is None:
            self._file = pa.PythonFile(cast(Any, sys.stdout.buffer), mode="w")
            return self
        check_output(self._path, kind_of_table(str(self._path)))
        with self._failures():
            if self._device:
                name = str(self._path)
            else:
                if self._path.is_dir():
                    raise IsADirectoryError(EISDIR, "it is a folder")
                self._part = PartFile(self._path)
                name = str(self._part.path)
            try:
                self._file = pa.OSFile(name, "wb")
                if self._packed:
                    self._file = pa.CompressedOutputStream(self._file, self._packed)
            except BaseException:
                self._leave()
                raise
        return self

    def _leave(self) -> None:
        """Take away what was not finished."""
        if self._part is not None:
            self._part.__exit__()

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """What the operating system says, as a sentence that names the file; a reader gone away stays what it is."""
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            where = "to standard output" if self._path is None else self._name
            why = "it is closed" if error.errno == EBADF else error.strerror or str(error)
            raise InputError(f"Cannot write {where}: {why}. Make room, or choose another place.") from None

    def write(self, batch: pa.RecordBatch) -> None:
        """Write one batch; all must have the same columns."""
        with self._failures():
            if self._suffix in _PARQUET:
                self._groups = self._groups or ParquetGroups(self._file)
                self._groups.write(batch)
            else:
                self._write_text(
                    self._without_formulas(decode_batch(batch)), "\t" if self._suffix in (".tsv", ".tab") else ","
                )

    def _without_formulas(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Note which columns have texts that a spreadsheet takes for formulas, or put a ' before these where asked."""
        names, columns = list(batch.schema.names), list(batch.columns)
        for k, column in enumerate(columns):
            if _is_text(column) and has_match(column, FORMULA):
                import pyarrow.compute as pc

                formulas = pc.and_not(
                    pc.match_substring_regex(column, FORMULA), pc.match_substring_regex(column, NUMBER)
                )
                if not pc.any(formulas).as_py():
                    continue
                if self._quotes_formulas:
                    quoted: Any = pc.binary_join_element_wise(
                        pa.scalar("'", column.type), column, pa.scalar("", column.type)
                    )
                    columns[k] = pc.if_else(formulas, quoted, column)
                else:
                    self.formulas.add(names[k])
            if names[k].startswith(tuple("=+-@\t\r")) and self._quotes_formulas:
                names[k] = f"'{names[k]}"
        return pa.RecordBatch.from_arrays(columns, names=names)

    def _write_text(self, batch: pa.RecordBatch, delimiter: str) -> None:
        import pyarrow.csv as csv

        if not self._begun:
            header = io.StringIO(newline="")
            # Only what would end a line is quoted, so that names with a carriage return need an end of line with one.
            writer(header, delimiter=delimiter, lineterminator="\r\n").writerow(batch.schema.names)
            self._file.write(header.getvalue().removesuffix("\r\n").encode() + b"\n")
            self._begun = True
        # Arrow quotes every text or none: quotes are needed only in batches with a cell that would be misread.
        quoted: Any = "needed" if any(_needs_quotes(c, delimiter) for c in batch.columns) else "none"
        options = csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style=quoted)
        try:
            csv.write_csv(batch, self._file, options)
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            nested = [f.name for f in batch.schema if pa.types.is_nested(f.type)]
            raise ColumnError(
                f"Column {shown(nested[0] if nested else batch.schema.names[0])} cannot be written as CSV. "
                "Write Parquet (-o FILE.parquet) or leave --keep out."
            ) from None

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        try:
            if kind is not None:
                with suppress(Exception):  # what went wrong is already being told
                    self._file.close() if self._path is not None else None
                return
            with self._failures():
                if self._groups is not None:
                    self._groups.close()
                self._file.close() if self._path is not None else sys.stdout.flush()
                if self._part is not None:
                    self._part.finish()
        finally:
            self._leave()


def _is_text(array: ArrowArray) -> bool:
    return pa.types.is_string(array.type) or pa.types.is_large_string(array.type)


def _needs_quotes(array: ArrowArray, delimiter: str) -> bool:
    return _is_text(array) and has_match(array, f'[{delimiter}"\r\n]|^\\s|\\s$')


DENSITY, PREDICTION, REMARKS = "log_density", "prediction", "remarks"
SET, LOW, HIGH = "set", "low", "high"
"""The columns of a table of densities, and of predicted classes."""


def prediction_names(classes: tuple[str, ...]) -> list[str]:
    """The columns of a table of predictions."""
    return [PREDICTION, *(f"p({name})" for name in classes)]


def prediction_batch(
    classes: tuple[str, ...],
    codes: NDArray[np.integer],
    matrix: NDArray[np.float64],
    kept: ArrowBatch | None = None,
    texts: Mapping[str, tuple[Sequence[str], NDArray[np.intp]]] | None = None,
    numbers: Mapping[str, NDArray[np.float64]] | None = None,
) -> pa.RecordBatch:
    """Predictions as a batch, after the columns of `kept`; a row that cannot be classified has empty cells. `texts` are
    more columns, with which of them each row has, and so are `numbers`, of which NaN is an empty cell."""
    names = prediction_names(classes)
    classified = codes >= 0
    arrays: list[ArrowArray] = [label_array(codes, classes, classified)]
    arrays += [number_array(matrix[:, k], classified) for k in range(len(classes))]
    for name, column in (numbers or {}).items():
        names.append(name)
        arrays.append(number_array(column, ~np.isnan(column)))
    for name, (each, place) in (texts or {}).items():
        names.append(name)
        arrays.append(label_array(place, each, np.array([text != "" for text in each], np.bool_)[place]))
    return _beside(kept, names, arrays)


def decision_names(actions: tuple[str, ...]) -> list[str]:
    """The columns of a table of decisions."""
    return ["action", *(f"loss({name})" for name in actions), "margin", "reason"]


def decision_batch(
    actions: tuple[str, ...],
    others: tuple[str | None, ...],
    reasons: tuple[str, ...],
    codes: NDArray[np.integer],
    expected: NDArray[np.float64],
    margins: NDArray[np.float64],
    kept: ArrowBatch | None = None,
) -> pa.RecordBatch:
    """Decisions as a batch, after the columns of `kept`. Code -1-k has the action others[k] and the reason reasons[k].

    Numbers that are NaN are empty cells.
    """
    names = [*actions, *(o or "" for o in others)]
    actions_of = np.where(codes >= 0, codes, len(actions) - 1 - codes)
    has_action = np.array([True] * len(actions) + [o is not None for o in others])[actions_of]
    without = codes < 0
    arrays: list[ArrowArray] = [label_array(actions_of, names, has_action)]
    arrays += [number_array(expected[:, k], ~np.isnan(expected[:, k])) for k in range(len(actions))]
    arrays.append(number_array(margins, ~np.isnan(margins)))
    arrays.append(label_array(np.where(without, -1 - codes, 0), reasons, without))
    return _beside(kept, decision_names(actions), arrays)


def formula_remarks(names: Iterable[str]) -> list[str]:
    """A sentence on each column that was written with cells that a spreadsheet takes for formulas."""
    return [
        f"Cells of {shown(name)} begin with =, +, - or @, and spreadsheets take them for formulas. "
        "--quote-formulas puts ' before them."
        for name in sorted(names)
    ]


def density_batch(values: NDArray[np.float64], kept: ArrowBatch | None = None) -> pa.RecordBatch:
    """log P(row) as a batch, after the columns of `kept`; -inf where the row is impossible."""
    return _beside(kept, [DENSITY], [number_array(values)])


def _beside(kept: ArrowBatch | None, names: list[str], arrays: list[ArrowArray]) -> pa.RecordBatch:
    """New columns, after those of `kept` if there are any."""
    if kept is None:
        return pa.RecordBatch.from_arrays(arrays, names=names)
    return pa.RecordBatch.from_arrays([*kept.columns, *arrays], names=[*kept.schema.names, *names])


def empty_batch(schema: pa.Schema) -> pa.RecordBatch:
    """No rows of a table, for a header without predictions."""
    return pa.RecordBatch.from_pylist([], schema=schema)


def batch_of(columns: dict[str, list[object]]) -> pa.RecordBatch:
    """Columns of Python values as a batch."""
    return pa.RecordBatch.from_pydict(columns)


# Tables as bytes, on their way over a network: CSV, JSON lines or Arrow in, and out again. Knows no model.

Format = Literal["csv", "json", "arrow"]
_SUFFIX: dict[Format, str] = {"csv": ".csv", "json": ".jsonl", "arrow": ".arrow"}


_HOLDS: dict[Format, str] = {"csv": "delimited", "json": "json", "arrow": "ipc"}


@contextmanager
def read_payload(data: bytes, format: Format, unpacked: int) -> Iterator[Source]:
    """The table that these bytes hold, of at most `unpacked` bytes once decompressed; it is gone when the block ends.

    Bytes are read as the format that they were sent as and no other: what is found in them by its first bytes could be
    a database, whose views may read any file of this machine.
    """
    name = f"request{_SUFFIX[format]}"
    if format == "arrow":
        stream = data[8:] if data.startswith(b"ARROW1") else data  # a file is its stream, between magic and footer
        try:
            size = measure_ipc(stream)
        except (pa.ArrowException, ValueError, OSError, struct.error) as error:
            message = shown(" ".join(str(error).split()), 160)
            raise InputError(f"{name} is not a sound Arrow stream ({message}). Send it again.") from error
        if size.bytes > unpacked:
            raise _too_large(unpacked)
        yield read_ipc(stream, name)
        return
    body = TemporaryFile()
    body.hide()
    with open(body.path, "wb") as file:
        file.write(_unpack(data, name, unpacked))
    if detect_format(body.path, name)[1] != _HOLDS[format]:
        raise InputError(f"{name} does not hold what it was sent as. Send CSV, JSON lines or an Arrow stream.")
    yield open_format(body.path, name, Opening(), body)


def _unpack(data: bytes, name: str, most: int) -> bytes:
    """The bytes, decompressed where they are compressed."""
    packed: Any = next((kind for magic, kind in MAGIC if data.startswith(magic)), None)
    if packed is not None:
        with file_errors(name), pa.CompressedInputStream(pa.BufferReader(data), packed) as stream:
            data = stream.read(most + 1)
        if data.startswith(tuple(magic for magic, _ in MAGIC)):
            raise InputError(f"{name} is compressed twice. Compress it once.")
    if len(data) > most:
        raise _too_large(most)
    return data


def _too_large(most: int) -> TooLarge:
    return TooLarge(f"The table is larger than {most:,} bytes once decompressed. Send fewer rows at a time.")


def write_payload(batches: Iterable[ArrowBatch], format: Format) -> bytes:
    """Batches of one table (at least one, with or without rows) as bytes."""
    batches = map(decode_batch, batches)
    if format == "json":
        rows = (row for batch in batches for row in batch.to_pylist())
        return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows).encode()
    if format == "arrow":
        stream, writer = pa.BufferOutputStream(), None
        for batch in batches:
            writer = writer or pa.ipc.new_stream(stream, batch.schema)
            writer.write_batch(batch)
        cast(Any, writer).close()
        return stream.getvalue().to_pybytes()
    with tempfile.TemporaryDirectory(prefix="likely-") as folder:
        path = Path(folder) / "answer.csv"
        with Sink(str(path)) as sink:
            for batch in batches:
                sink.write(batch)
        return path.read_bytes()
