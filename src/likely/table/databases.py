"""Tables that lie in a database: dialects, and the rows of a query as a source."""

from __future__ import annotations

import os
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from importlib import import_module
from typing import Any
from urllib.parse import quote, unquote

import pyarrow as pa

from likely.errors import InputError, SettingError, nearest, shown
from likely.table.arrow import (
    ROWS,
    ArrowField,
    ArrowReader,
    ArrowSchema,
    is_text,
    plain_batch,
    plain_schema,
    relation_reader,
)
from likely.table.formats.files import Address, TemporaryFile, file_errors, parse_address, refuse_connection_string
from likely.table.source import Source, check_names
from likely.table.texts.numbers import column_form

# What each kind of database wants: how it is reached, how its rows are streamed as Arrow, and how it spells things.

BYTES = 1 << 22
"""About so many bytes are fetched at a time from a server."""
EXTRA = "Install it with: pip install 'likely[databases]'."


class DriverError(Exception):
    """What a driver said, not yet fit for people: it may hold a password. Never leaves table/databases.py."""


class Dialect(ABC):
    """One open database. The rows of a query are the same, in the same order, as long as it is open."""

    tables: str
    """The query that lists the tables: schema (empty for the usual one) and name."""

    def quoted(self, name: str) -> str:
        """A name as SQL spells it, whatever is in it."""
        return '"' + name.replace('"', '""') + '"'

    def column(self, field: ArrowField) -> str:
        """How a column is selected so that its cells can be read: types that only the database knows become text."""
        return self.quoted(field.name)

    def text_key(self, name: str) -> str:
        """A column of text as something that is equal to nothing but itself where rows are grouped."""
        return self.quoted(name)

    @abstractmethod
    def stream(self, query: str) -> AbstractContextManager[ArrowReader]:
        """The rows of a query: a context that gives a reader of record batches."""

    def expect_counts(self, name: str) -> None:  # noqa: B027 - most have nothing to do
        """A column of counts is about to come under this name."""

    def recover(self) -> None:  # noqa: B027
        """Be ready for another query after one that failed."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the database."""

    types_first = False
    """Whether the first row of `stream_typed` only says the types."""

    def read_types(self, query: str, schema: ArrowSchema) -> ArrowSchema:
        """The columns of a query, before it is known how each is best selected."""
        return schema

    def selected_schema(self, query: str, fields: Sequence[ArrowField]) -> ArrowSchema:
        """The schema of a query whose columns are selected as `column` says."""
        with self.stream(f"{query} limit 0") as reader:
            return reader.schema

    def stream_typed(self, query: str, fields: Sequence[ArrowField]) -> AbstractContextManager[ArrowReader]:
        """The rows of such a query, for reading."""
        return self.stream(query)


class _Adbc(Dialect):
    """A database that is reached by a driver of ADBC."""

    def __init__(self, connection: Any, manager: Any, options: dict[str, str] | None = None) -> None:
        self._connection, self._errors = connection, (manager.Error, pa.ArrowException, OSError)
        self._options = options or {}

    @contextmanager
    def stream(self, query: str) -> Iterator[ArrowReader]:
        with _driver_errors(*self._errors), closing(self._connection.cursor()) as cursor:
            if self._options:
                cursor.adbc_statement.set_options(**self._options)
            cursor.execute(query)
            yield cursor.fetch_record_batch()

    def recover(self) -> None:
        with suppress(*self._errors):
            self._connection.rollback()

    def close(self) -> None:
        with suppress(*self._errors):
            self._connection.close()


class Postgres(_Adbc):
    """PostgreSQL, in one snapshot."""

    tables = (
        "select case table_schema when current_schema() then '' else table_schema::text end, table_name::text "
        "from information_schema.tables where table_schema not in ('pg_catalog', 'information_schema') order by 1, 2"
    )

    def __init__(self, address: Address) -> None:
        driver, manager = _driver("adbc_driver_postgresql.dbapi"), _driver("adbc_driver_manager")
        with _driver_errors(manager.Error, OSError):
            connection = driver.connect(address.whole)
            super().__init__(connection, manager, {"adbc.postgresql.batch_size_hint_bytes": str(BYTES)})
            with connection.cursor() as cursor:
                # One snapshot for all sweeps; and no workers or shared scans, which would shuffle the rows.
                cursor.execute("set transaction isolation level repeatable read, read only")
                cursor.execute("set max_parallel_workers_per_gather = 0")
                cursor.execute("set synchronize_seqscans = off")

    def column(self, field: ArrowField) -> str:
        name = self.quoted(field.name)
        # Numbers of any length too: as text they are the same whether they are streamed or counted.
        return f"{name}::text as {name}" if isinstance(field.type, pa.BaseExtensionType) else name

    def text_key(self, name: str) -> str:
        return f'{self.quoted(name)}::text collate "C"'


class Sqlite(_Adbc):
    """An SQLite file. A column holds whatever each row put there, so its types are looked up in all rows."""

    tables = (
        "select '' as place, name from sqlite_master where type in ('table', 'view') and name not like 'sqlite\\_%' "
        "escape '\\' order by 2"
    )
    types_first = True

    def __init__(self, path: str) -> None:
        driver, manager = _driver("adbc_driver_sqlite.dbapi"), _driver("adbc_driver_manager")
        with _driver_errors(manager.Error, OSError):
            connection = driver.connect(f"file:{quote(path)}?mode=ro")
        super().__init__(connection, manager, {"adbc.sqlite.query.batch_rows": str(ROWS // 2)})
        self._casts: dict[str, str] = {}

    def read_types(self, query: str, schema: ArrowSchema) -> ArrowSchema:
        kinds = ("text", "blob", "real", "integer")
        picked = ", ".join(f"total(typeof({self.quoted(name)}) = '{kind}')" for name in schema.names for kind in kinds)
        with self.stream(f"select {picked} from ({query}\n) as likely_rows") as reader:
            counts = [column[0].as_py() for column in reader.read_all().columns]
        types = []
        for k, name in enumerate(schema.names):
            text, blob, real, integer = (bool(n) for n in counts[4 * k : 4 * k + 4])
            cast = "text" if text or blob else "real" if real else "integer"
            self._casts[name] = cast
            kinds_of: dict[str, Any] = {"text": pa.string(), "real": pa.float64(), "integer": pa.int64()}
            types.append(pa.field(name, kinds_of[cast] if text or blob or real or integer else pa.null()))
        return pa.schema(types)

    def text_key(self, name: str) -> str:
        return f"{self.quoted(name)} collate binary"

    def selected_schema(self, query: str, fields: Sequence[ArrowField]) -> ArrowSchema:
        return pa.schema(list(fields))

    def column(self, field: ArrowField) -> str:
        name = self.quoted(field.name)
        return f"cast({name} as {self._casts.get(field.name, 'text')}) as {name}"

    def expect_counts(self, name: str) -> None:
        self._casts[name] = "integer"

    @contextmanager
    def stream_typed(self, query: str, fields: Sequence[ArrowField]) -> Iterator[ArrowReader]:
        """The rows of a query, after one that says the types: the driver takes them from the first rows it sees."""
        example = {"text": "''", "real": "0.5", "integer": "1"}
        first = ", ".join(f"{example[self._casts.get(f.name, 'text')]} as {self.quoted(f.name)}" for f in fields)
        with self.stream(f"select {first} union all select * from ({query}\n)") as reader:
            yield reader


class Duck(Dialect):
    """A DuckDB file."""

    tables = (
        "select case table_schema when 'main' then '' else table_schema end, table_name "
        "from information_schema.tables order by 1, 2"
    )

    def __init__(self, path: str) -> None:
        import duckdb

        self._error = duckdb.Error
        with _driver_errors(duckdb.Error):
            self._database = duckdb.connect(path, read_only=True, config={"memory_limit": "1GB", "threads": 2})

    @contextmanager
    def stream(self, query: str) -> Iterator[ArrowReader]:
        errors = (self._error, pa.ArrowException, OSError)
        with _driver_errors(*errors, until="LINE 1:"), closing(self._database.cursor()) as cursor:
            yield relation_reader(cursor.sql(query), ROWS)

    def column(self, field: ArrowField) -> str:
        name = self.quoted(field.name)
        return f"cast({name} as varchar) as {name}" if isinstance(field.type, pa.BaseExtensionType) else name

    def text_key(self, name: str) -> str:
        return f"cast({self.quoted(name)} as varchar) collate c"

    def close(self) -> None:
        self._database.close()


class Foreign(_Adbc):
    """Any other database for which there is a driver of ADBC; what it promises of its rows is its own affair."""

    tables = "select '' as place, table_name from information_schema.tables order by 2"

    def __init__(self, address: Address) -> None:
        manager = _driver("adbc_driver_manager")
        connect: Any = _driver("adbc_driver_manager.dbapi").connect
        name = {"grpc": "flightsql", "grpc+tls": "flightsql", "grpc+tcp": "flightsql"}.get(
            address.scheme, address.scheme
        )
        try:
            connect = import_module(f"adbc_driver_{name}.dbapi").connect
            given: dict[str, Any] = {"uri": address.whole}
        except ImportError:
            given = {"driver": name, "uri": address.whole}
        try:
            connection = connect(**given)
        except (manager.Error, TypeError, OSError) as error:
            lacking = f"there is no driver of ADBC for it here (look for the package adbc-driver-{name})"
            raise DriverError(lacking if "Could not load" in str(error) else str(error)) from None
        super().__init__(connection, manager)

    def selected_schema(self, query: str, fields: Sequence[ArrowField]) -> ArrowSchema:
        with self.stream(f"{query} limit 100") as reader:  # some drivers know types only where there are rows
            return reader.schema


def _driver(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0].replace("_", "-")
        raise InputError(
            f"Reading this database needs the package {package}, which is not installed. {EXTRA}"
        ) from None


@contextmanager
def _driver_errors(*errors: type[BaseException], until: str = "\0") -> Iterator[None]:
    """What a driver says, up to where it shows a query that is ours."""
    try:
        yield
    except errors as error:
        raise DriverError(str(error).split(until)[0]) from None


def open_dialect(address: Address | None, path: str) -> Dialect:
    """The database behind an address or in a file, opened."""
    if address is None:
        with open(path, "rb") as file:
            start = file.read(16)
        return Sqlite(path) if start.startswith(b"SQLite format 3") else Duck(path)
    if address.scheme in ("postgresql", "postgres"):
        return Postgres(address)
    if address.scheme in ("sqlite", "duckdb"):
        place = unquote(address.whole.partition("://")[2].partition("?")[0])
        return Sqlite(place) if address.scheme == "sqlite" else Duck(place)
    return Foreign(address)


# Tables of databases: a query as a source whose rows stream as Arrow, or are counted where they lie.

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
