"""Tables of databases: a query as a source whose rows stream as Arrow, or are counted where they lie.

The only room that shows what a database says; user, password and options of an address never leave it.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa

from likely.errors import InputError, SettingError, nearest, shown
from likely.table.addresses import Address, parse_address, refuse_connection_string
from likely.table.arrow import ROWS, is_text, plain_batch, plain_schema
from likely.table.databases.dialects import Dialect, DriverError, open_dialect
from likely.table.formats.files import TemporaryFile, file_errors
from likely.table.source import Source, check_names
from likely.table.texts.numbers import column_form

COUNT = "likely_count"
"""The name of the column in which counts come; longer where a column has that name."""


def database(address: str | os.PathLike[str], *, query: str | None = None, table: str | None = None) -> DatabaseSource:
    """A table of a database, or the rows of a query, for every verb that takes a table.

    `address` is postgresql://user:password@host/name, an SQLite or DuckDB file, or the address of any database for
    which there is a driver of ADBC. Nothing is written there. A database with a single table needs neither.

    >>> import duckdb, tempfile
    >>> place = os.path.join(tempfile.mkdtemp(), "games.duckdb")
    >>> with duckdb.connect(place) as base:
    ...     made = base.sql("create table games as select * from (values ('sun', 'yes'), ('rain', 'no')) t(sky, play)")
    >>> database(place, query="select play from games").schema.names
    ['play']
    """
    text = str(os.fspath(address))
    where = parse_address(text)
    if where is None and not os.path.exists(text):
        refuse_connection_string(text)
    path = os.path.expanduser(text) if where is None else ""
    name = os.path.basename(path) if where is None else where.shown
    if query is not None and table is not None:
        raise SettingError("A query already says which table it reads. Leave out either the query or the table.")
    if where is None:
        with file_errors(name), open(path, "rb"):
            pass
    elif where.scheme in ("sqlite", "duckdb") and not os.path.isfile(where.shown.partition("://")[2]):
        raise InputError(f"There is no file {shown(where.shown.partition('://')[2], 200)}. Check the path.")
    try:
        dialect = open_dialect(where, path)
    except DriverError as error:
        raise InputError(
            f"{name} cannot be opened: {_driver_message(where, error)}. Check the address and that it runs."
        ) from None
    if query is None:
        tables = _tables(dialect)
        table = _only_table(tables, name) if table is None else table
        if tables and table not in tables:
            rest = nearest(table, tables)
            raise InputError(f"{name} has no table {shown(table)}. {rest} A table that is not listed takes --query.")
        return DatabaseSource(dialect, name, where, f"select * from {tables.get(table, dialect.quoted(table))}", table)
    if not query.strip():
        raise SettingError("The query is empty. Write one such as: select * from people.")
    return DatabaseSource(dialect, name, where, query.strip().rstrip("; \n\t"), None)


class DatabaseSource(Source):
    """The rows of a query."""

    is_snapshot = True
    holder: TemporaryFile | None = None
    """The temporary file that the database is in, if it came in a stream."""

    def __init__(
        self, dialect: Dialect, place: str, address: Address | None, query: str, table: str | None = None
    ) -> None:
        what = "the query" if table is None else f"table {shown(table)}"
        self.name = f"{what} in {place}"
        self._dialect, self._address, self._query = dialect, address, query
        weakref.finalize(self, dialect.close)
        with self._failures(), dialect.stream(f"select * from ({query}\n) as likely_rows limit 0") as reader:
            given = reader.schema
        check_names(self.name, tuple(given.names))
        with self._failures():
            self._fields = {field.name: field for field in dialect.read_types(query, given)}
        with self._failures():
            self.schema = plain_schema(dialect.selected_schema(self._select(given.names), list(self._fields.values())))

    def _select(self, names: Sequence[str]) -> str:
        picked = ", ".join(self._dialect.column(self._fields[n]) for n in names)
        return f"select {picked} from ({self._query}\n) as likely_rows"

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        names = self.resolve_columns(columns)
        read = names or [self.schema.names[0]]
        for batch in self._streamed(self._select(read), read):
            yield batch if names else batch.select([])

    def _streamed(self, query: str, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        done, first = 0, self._dialect.types_first
        fields = [self._fields[n] for n in names]
        with self._failures(lambda: done), self._dialect.stream_typed(query, fields) as reader:
            for whole in reader:
                batch = whole.slice(1) if first else whole
                first = False
                for start in range(0, batch.num_rows, ROWS):
                    part = plain_batch(batch.slice(start, ROWS))
                    done += part.num_rows
                    yield part

    @contextmanager
    def _failures(self, done: Callable[[], int] = int) -> Iterator[None]:
        try:
            yield
        except DriverError as error:
            rows, message = done(), _driver_message(self._address, error)
            if rows:
                raise InputError(
                    f"{self.name} broke off after {rows:,} rows: {message}. Nothing was written; run again."
                ) from None
            raise InputError(
                f"{self.name} cannot be read: {message}. Correct the query, or ask who runs the database."
            ) from None

    def counts(self, columns: Sequence[str], most: int) -> pa.Table | None:
        """Each different row of these columns and, last, how often it occurs; None where there are more than `most`."""
        names = self.resolve_columns(columns)
        if any(not is_countable(self.schema.field(n).type) for n in names):
            return None
        count = COUNT
        while count in self.schema.names:  # of any column, counted now or not
            count += "_"
        inner = ", ".join(self._dialect.column(self._fields[n]) for n in names)
        quoted, text_key = self._dialect.quoted, self._dialect.text_key
        keys = [text_key(n) if is_text(self.schema.field(n).type) else quoted(n) for n in names]
        picked = ", ".join(f"{key} as {quoted(n)}" for key, n in zip(keys, names, strict=True))
        query = (
            f"select {picked}, count(*) as {quoted(count)} "
            f"from (select {inner} from ({self._query}\n) as likely_rows) as likely_cells "
            f"group by {', '.join(str(k) for k in range(1, len(names) + 1))} limit {most + 1}"
        )
        self._fields.setdefault(count, pa.field(count, pa.int64()))
        self._dialect.expect_counts(count)
        batches = [*self._streamed(query, [*names, count])]
        if sum(batch.num_rows for batch in batches) > most:
            return None
        if not batches:
            return pa.schema([*(self.schema.field(n) for n in names), pa.field(count, pa.int64())]).empty_table()
        return pa.Table.from_batches([batch.rename_columns([*names, count]) for batch in batches])


def is_countable(kind: pa.DataType) -> bool:
    """Whether a database takes two cells for equal if and only if they are read as equal."""
    return column_form(kind) not in ("other", "empty") and not (
        pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    )


def _driver_message(address: Address | None, error: DriverError) -> str:
    """What a driver said, fit to be shown."""
    message = str(error) if address is None else address.mask_secrets(error)
    return shown(" ".join(message.split()).rstrip("."), 300)


def _tables(dialect: Dialect) -> dict[str, str]:
    """The names of all tables, each with how SQL spells it."""
    try:
        with dialect.stream(dialect.tables) as reader:
            listed = reader.read_all()
    except DriverError:
        dialect.recover()
        return {}
    out: dict[str, str] = {}
    for schema, name in zip(*(column.to_pylist() for column in listed.columns), strict=True):
        parts = [str(part) for part in (schema, name) if part]
        out.setdefault(".".join(parts), ".".join(dialect.quoted(part) for part in parts))
    return out


def _only_table(tables: Iterable[str], name: str) -> str:
    known = list(tables)
    if len(known) == 1:
        return known[0]
    if not known:
        raise InputError(f"{name} has no tables that can be listed. Say which rows to read: --query 'select …'.")
    listed = ", ".join(shown(t, 40) for t in known[:8]) + (" …" if len(known) > 8 else "")
    raise InputError(f"{name} has {len(known):,} tables: {listed}. Say which: --table NAME, or --query 'select …'.")
