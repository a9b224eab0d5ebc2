"""A table in parts that executors sweep: partitions of a DataFrame, or fragments of files."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from inspect import signature
from typing import Any
from urllib.parse import unquote, urlsplit

from likely.errors import ColumnError, InputError, LikelyError, SettingError, shown
from likely.intake.reading import Reading
from likely.spark import tasks
from likely.spark.parcel import error_from, packed, unpacked
from likely.spark.session import check_installed, failures, is_frame, session, use_this_python
from likely.sums import state
from likely.sums.exact import add_in_order
from likely.table.arrow import are_plain_alike, pack_schema
from likely.table.fragments import BYTES, CutFiles, TextOptions, cut_files, cut_listed, open_fragment
from likely.table.source import Source, check_names
from likely.table.wrappers import DeferredSource

# DataFrames that are nothing but Parquet files: tasks can then read these themselves, in a third of the time.

LEAST = 1 << 20
"""Bytes of the smallest fragments: there should be work for every task slot, but not only starts of tasks."""


def cut_scanned(frame: Any, schema: Any) -> CutFiles | None:
    """The fragments of the files that a DataFrame is all rows and columns of; None where it is anything else, or where
    cells might not be the same."""
    paths = _scanned_files(frame)
    if not paths:
        return None
    slots = max(1, int(frame.sparkSession.sparkContext.defaultParallelism))
    try:
        total = sum(os.path.getsize(path) for path in paths)
        size = min(BYTES, max(LEAST, total // (2 * slots)))
        found = cut_listed([(path, path) for path in paths], "the DataFrame", TextOptions(), size)
    except (OSError, LikelyError):
        return None  # Spark says what is wrong
    return found if are_plain_alike(found.title.schema, schema) else None


def _scanned_files(frame: Any) -> list[str]:
    """The paths of the Parquet files that Spark would do nothing but read; none where it would do more."""
    if not hasattr(frame, "_jdf"):  # Spark Connect keeps its plans to itself
        return []
    try:
        plan = frame._jdf.queryExecution().analyzed()
        relation = plan.relation() if _name_of(plan) == "LogicalRelation" else None
        if relation is None or _name_of(relation) != "HadoopFsRelation":
            return []
        if _name_of(relation.fileFormat()) != "ParquetFileFormat" or relation.partitionSchema().length():
            return []
        kept = frame.storageLevel  # what was cached is what counts, whatever the files hold by now
        if kept.useMemory or kept.useDisk:
            return []
        files = [urlsplit(address) for address in frame.inputFiles()]
    except Exception:  # another Spark may call these otherwise: then rows go through it
        return []
    return sorted(unquote(file.path) for file in files) if all(file.scheme == "file" for file in files) else []


def _name_of(thing: Any) -> str:
    return str(thing.getClass().getSimpleName())


# A table in parts that executors sweep: partitions of a DataFrame, or fragments of files that tasks open
# themselves.

LETTER = "part long, key long, data binary"
FAN = 32
"""About so many letters are add_in_order by one task."""
Letter = tuple[int, int, bytes]


class Spread(ABC):
    """A table whose rows are elsewhere, in parts that have an order."""

    title: DeferredSource
    spark: Any
    parts: int | None
    """How many parts there are, where that is known beforehand."""

    @abstractmethod
    def letters(self, task: tasks.Task, columns: Sequence[str]) -> Any:
        """The letters of a task on the rows of every part, as a DataFrame; the task may ask for these columns."""

    def collect(self, task: tasks.Task, columns: Sequence[str]) -> list[Letter]:
        """A task's letters themselves, for answers that are small."""
        with failures(self.title.name):
            return check_letters(self.letters(task, columns).collect())

    def sum_task(self, task: tasks.Task, columns: Sequence[str], kind: type[tasks.S]) -> tasks.S:
        """The sum of what a task answers, add_in_order by executors until few are left. Exact, so in any order."""
        with failures(self.title.name):
            sent, parts = self.letters(task, columns), self.parts
            if parts is None or parts > FAN:
                job = packed(tasks.Join(kind))
                for branches in [self.joiners()] if parts is None else _tree(parts):
                    sent = sent.repartition(branches, "part").mapInArrow(partial(tasks.of_letters, job), LETTER)
            whole = add_in_order(tasks.from_bytes(kind, data) for _, _, data in check_letters(sent.collect()))
        if whole is None:
            raise InputError(f"{self.title.name} has no rows. Give a table with at least one row.")
        return whole

    def joiners(self) -> int:
        """How many tasks join letters where it is not known how many there are: a shuffle's, but not too many."""
        return min(FAN // 2, int(self.spark.conf.get("spark.sql.shuffle.partitions", "200")))

    def count_rows(self) -> list[int]:
        """The rows of each part, in order."""
        first = list(self.title.schema.names)[:1]
        found = {part: rows for part, rows, _ in self.collect(tasks.Count(tuple(first)), first)}
        return [found.get(k, 0) for k in range(max(found, default=-1) + 1)]


def _tree(parts: int) -> list[int]:
    """How many tasks join letters, level by level, until few are left."""
    out = []
    while parts > FAN:
        parts = -(-parts // FAN)
        out.append(parts)
    return out


def check_letters(rows: Sequence[Any]) -> list[Letter]:
    """Letters that were collected; what is wrong in the first part that has something wrong is raised."""
    out = sorted(((r[0], r[1], bytes(r[2])) for r in rows), key=lambda r: r[:2])
    wrong = [r for r in out if r[2][:1] != tasks.SOUND]
    if wrong:
        raise error_from(state.parse(wrong[0][2][1:], "an executor's answer"))
    return [(part, key, data[1:]) for part, key, data in out]


def unstable(name: str) -> InputError:
    """Rows that are others each time they are read."""
    return InputError(
        f"The rows of {name} were others when they were read again, but this learner must see the same rows in every "
        "sweep. Persist the DataFrame, or write it to files and give their path."
    )


class Frame(Spread):
    """A DataFrame. Columns travel under numbers, since a name may hold anything."""

    def __init__(self, frame: Any) -> None:
        with failures("the DataFrame"):
            check_names("the DataFrame", tuple(frame.columns))
            self.spark, self.parts = frame.sparkSession, None
            use_this_python(self.spark)
            self.title = DeferredSource("the DataFrame", _arrow_schema(frame))
            self._frame = frame.toDF(*(f"c{k}" for k in range(len(frame.columns))))

    def letters(self, task: tasks.Task, columns: Sequence[str]) -> Any:
        wanted = [n for n in self.title.schema.names if n in set(columns)]
        job = packed((task, self.title.name, wanted, pack_schema(self.title.schema, wanted)))
        return self.picked(wanted).mapInArrow(partial(tasks.of_frame, job), LETTER)

    def picked(self, names: Sequence[str]) -> Any:
        """Some of the columns, as a DataFrame in which they are called c0, c1 … by their places in the whole."""
        places = {name: k for k, name in enumerate(self.title.schema.names)}
        return self._frame.select(*(f"c{places[name]}" for name in names))


def _arrow_schema(frame: Any) -> Any:
    """The types that the rows will arrive in."""
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    # Since 4.3 points in time need the zone that Spark sends them with; they are the same moments in any.
    zone = frame.sparkSession.conf.get("spark.sql.session.timeZone")
    how = {"timezone": zone} if "timezone" in signature(to_arrow_schema).parameters else {}
    for field in frame.schema:
        try:
            to_arrow_schema(StructType([field]), **how)
        except Exception:
            raise ColumnError(
                f"Column {shown(field.name)} of the DataFrame is {field.dataType.simpleString()}, which does not "
                "travel as Arrow. Drop or cast it first."
            ) from None
    return to_arrow_schema(frame.schema, **how)


class Files(Spread):
    """Files that every executor sees: tasks read their own fragments, so no row goes through Spark."""

    def __init__(self, found: CutFiles, how: TextOptions, spark: Any, size: int = BYTES) -> None:
        self.spark, self.title, self._how = spark, found.title, how
        self._fragments = list(found.fragments)
        self.parts = len(self._fragments)
        if found.large:
            self._cut_large(found.large, size)

    @classmethod
    def at(cls, path: str, reading: Reading, spark: Any = None, size: int = BYTES, master: str | None = None) -> Files:
        """Those that a path stands for."""
        invalid = reading.encoding_errors == "replace"
        how = TextOptions(reading.encoding, reading.delimiter, header_row=reading.header_row, replace_invalid=invalid)
        path = path if reading.sheet is None else os.path.join(path, reading.sheet)
        found = cut_files(os.path.abspath(os.path.expanduser(path)), how, size)
        # What is wrong with the files is said before a session is started, which takes seconds.
        return cls(found, how, session(master) if spark is None else spark, size)

    def _cut_large(self, large: Sequence[int], size: int) -> None:
        """Let executors look for the ends of rows in large texts."""
        every, whole = self._fragments, [self._fragments[k] for k in large]
        self._fragments, self.parts = whole, len(whole)
        found = {
            part: unpacked(data) for part, _, data in self.collect(tasks.Ranges(tuple(whole), self._how, size), [])
        }
        each = {k: found[place] for place, k in enumerate(large)}
        self._fragments = [part for k, one in enumerate(every) for part in each.get(k, [one])]
        self.parts = len(self._fragments)

    def letters(self, task: tasks.Task, columns: Sequence[str]) -> Any:
        job = packed((task, self._fragments, self._how, pack_schema(self.title.schema)))
        numbers = self.spark.range(0, self.parts, 1, self.parts)
        return numbers.mapInArrow(partial(tasks.of_files, job), LETTER)

    def first(self) -> Source:
        """The first fragment, opened here."""
        return open_fragment(self._fragments[0], self._how, pack_schema(self.title.schema))

    def count_rows(self) -> list[int]:
        known = [f.rows for f in self._fragments]
        return [k for k in known if k is not None] if None not in known else super().count_rows()


def spread_of(data: Any, reading: Reading, spark: Any = None, master: str | None = None, size: int = BYTES) -> Spread:
    """The parts of a DataFrame, or of the files that a path stands for."""
    if type(data).__module__.startswith("pyspark.pandas."):
        data = data.to_spark()
    if is_frame(data):
        whole = Frame(data)
        found = cut_scanned(data, whole.title.schema)
        return whole if found is None else Files(found, TextOptions(), data.sparkSession)
    if isinstance(data, (str, os.PathLike)) and os.fspath(data) != "-" and "://" not in os.fspath(data):
        check_installed()
        return Files.at(str(os.fspath(data)), reading, spark, size, master)
    raise SettingError(
        f"{shown(type(data).__name__)} cannot be spread over executors. Give a DataFrame of Spark, or a path."
    )
