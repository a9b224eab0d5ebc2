"""How a table is opened: what the user said about reading it, and the source that comes of it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Integral
from os import PathLike
from typing import Any, TypeAlias, TypedDict, TypeVar

from likely.errors import ColumnError, EncodingError, InputError, LikelyError, SettingError, nearest, shown
from likely.models.contracts import Learner, has_trait
from likely.models.registry import LEARNERS, learner_written
from likely.models.settings import check_choice
from likely.table.formats.files import list_files
from likely.table.formats.memory import TableSource, open_memory
from likely.table.open import open_source, open_watched_file
from likely.table.schema import Schema
from likely.table.source import Source
from likely.table.words import Tokens
from likely.table.wrappers import Repaired, concatenate, split_agreeing

# How a table is opened: what the user said about reading it, and the source that comes of it.

Progress = Callable[[int], None]
T = TypeVar("T")


@dataclass(frozen=True)
class Reading:
    """How a table is to be read: what the user said about it."""

    target: str | None = None
    types: Mapping[str, str] | None = None
    missing: Sequence[str] | None = None
    weight: str | None = None
    target_bins: int | Sequence[float] | None = None
    schema: Schema | None = None
    encoding: str | None = None
    delimiter: str | None = None
    threads: int | None = None
    progress: Progress | None = None
    encoding_errors: str = "strict"
    """What to do with text that is not sound UTF-8: 'strict' refuses it, 'replace' puts U+FFFD for what is broken."""
    tokens: Tokens | Mapping[str, Tokens] | None = None
    """What counts as a word of text columns: of all, or by column."""
    keep: str | PathLike[str] | None = None
    """The folder in which the sums of each file are kept between runs."""
    skip_bad: bool = False
    """Whether files that cannot be read are left out, and told, rather than refused."""
    push: bool = False
    """Whether a database is to count for itself where counts are enough."""
    least_count: int = 1
    """Levels and words of fewer rows are not kept by name: levels are "other", words are left out."""
    remark: Callable[[str], None] | None = None
    """Who is told, in sentences, what happened on the way; without it Python's warnings are."""
    keep_row_numbers: bool = False
    """Whether numbers that count the rows stay numbers, as a regression wants them."""
    sheet: str | None = None
    """The sheet of a workbook; the first that holds rows, where none is named."""
    dates: str = "whole"
    """Whether dates are attributes as they are ('whole'), or beside their weekday, month, day and hour ('parts')."""

    @property
    def by_file(self) -> bool:
        """Whether each file is to be summed by itself: because its sums are kept, or because it may be left out."""
        return self.keep is not None or self.skip_bad

    def tell(self, sentence: str) -> None:
        """Say what a person should know of how the table was read."""
        if self.remark is None:
            warnings.warn(sentence, stacklevel=3)
        else:
            self.remark(sentence)


def open_table(data: object, reading: Reading) -> Source:
    """The source of a table, in which broken text is replaced where that was asked for."""
    check_reading(reading)
    if reading.keep is not None:
        raise SettingError("The sums of files can be kept where a model or a summary is made of them: fit, summarize.")
    if reading.skip_bad and isinstance(data, (str, os.PathLike)) and os.fspath(data) != "-":
        source = _sound_files(str(os.fspath(data)), reading)
    else:
        source = open_source(data, encoding=reading.encoding, delimiter=reading.delimiter, sheet=reading.sheet)
    return Repaired(source) if reading.encoding_errors == "replace" else source


def check_reading(reading: Reading) -> None:
    """Refuse what nobody can mean."""
    check_choice("encoding_errors", reading.encoding_errors, ("strict", "replace"))
    check_choice("dates", reading.dates, ("whole", "parts"))
    least = reading.least_count
    if isinstance(least, bool) or not isinstance(least, int) or least < 1:
        raise SettingError(f"least_count is {shown(least)}. Give a whole number of rows, 1 or more.")


def _sound_files(path: str, reading: Reading) -> Source:
    """The files that can be read to their ends, as one table; the others are told. Costs a reading of all of them."""
    found = list_files(path)
    sources, bad = [], []
    for place, name in found:
        try:
            source = open_watched_file(place, name, reading.encoding, reading.delimiter, reading.sheet)
            for _ in source.batches():
                pass
        except EncodingError:
            sources.append(source)  # for with_encoding to read otherwise
        except LikelyError as error:
            bad.append(str(error))
        else:
            sources.append(source)
    if sources:
        sources, others = split_agreeing(sources)
        bad += [str(error) for error in others.values()]
    tell_left_out(reading, bad, len(found))
    return concatenate(sources, os.path.expanduser(path))


def tell_left_out(reading: Reading, bad: Sequence[str], files: int) -> None:
    """Say which files were left out, and why; refuse where none is left."""
    if not bad:
        return
    if len(bad) == files:
        many = "The file cannot" if files == 1 else f"None of the {files:,} files can"
        raise InputError(f"{many} be read, so nothing is left. The first: {bad[0]}")
    reading.tell(f"{len(bad):,} of {files:,} files {'was' if len(bad) == 1 else 'were'} left out:")
    for sentence in bad[:20]:
        reading.tell(f"- {sentence}")
    if len(bad) > 20:
        reading.tell(f"- and {len(bad) - 20:,} more.")


def with_encoding(data: object, reading: Reading, work: Callable[[Source], T]) -> T:
    """Do `work`; where the text proves not to be UTF-8 after all, once more as latin-1."""
    source = open_table(data, reading)
    try:
        return work(source)
    except EncodingError:
        if reading.encoding is not None:
            raise
        return work(source.reopen("latin-1"))


# What Python functions may be given as table, target, learner and options, made what the rest of the house takes.

GivenLearner: TypeAlias = Learner | type[Learner] | str | None
"""A learner, its class, or its name, with settings in parentheses or without; None: whoever usually learns."""
UNNAMED = "target"
"""The name of a target that was given as values without a name."""


def read_arguments(data: object, target: object, options: Mapping[str, Any]) -> tuple[object, Reading]:
    """The table and how to read it. A target given as values becomes a column of the table."""
    known = [f.name for f in fields(Reading)]
    for option in options:
        if option not in known:
            raise SettingError(f"There is no option {shown(option)} of reading a table. {nearest(option, known)}")
    table, name = read_target(data, target)
    return table, Reading(name, **options)


def read_target(data: object, target: object) -> tuple[object, str | None]:
    """The table, and the name of its target: a name, a whole number that names a column, or the column itself.

    >>> read_target({"x": [1, 2]}, 7)[1]
    '7'
    """
    if target is None or isinstance(target, str):
        return data, target
    if isinstance(target, Integral) and not isinstance(target, bool):
        return data, str(int(target))  # columns that are called by numbers are called by their digits
    if isinstance(target, tuple):
        raise ColumnError(
            f"The target {shown(target)} is a name of several parts. Give the columns plain names: "
            "df.columns = ['_'.join(map(str, c)) for c in df.columns]."
        )
    if not hasattr(target, "__len__") or isinstance(target, (Mapping, bytes)) or getattr(target, "ndim", 1) != 1:
        raise ColumnError(
            f"The target is a {type(target).__name__}. Give the name of a column, or the column: a list or a Series."
        )
    return _with_target(data, target)


def _with_target(data: object, target: Any) -> tuple[TableSource, str]:
    """A table in memory with these values as its target; a column of the same name is taken to be the same."""
    source = open_source(data)
    if not isinstance(source, TableSource):
        raise InputError(
            f"The target is a {type(target).__name__}, but {source.name} is not a table in memory. Name the column."
        )
    given = getattr(target, "name", None)
    name = UNNAMED if given is None else str(given)
    if len(target) != source.table.num_rows:
        raise ColumnError(
            f"The target has {len(target):,} values where the table has {source.table.num_rows:,} rows. Give it one "
            "for each row."
        )
    ours, theirs = getattr(data, "index", None), getattr(target, "index", None)
    if ours is not None and hasattr(ours, "equals") and hasattr(theirs, "equals") and not ours.equals(theirs):
        raise ColumnError(
            "The index of the target is not that of the table, so that which value belongs to which row is open. "
            "Give target.loc[table.index], or target.to_numpy() if the order is right."
        )
    column = open_memory({name: target})
    assert isinstance(column, TableSource)
    table = source.table
    if given is not None and name in table.column_names:
        table = table.drop_columns([name])
    return TableSource(table.append_column(name, column.table.column(0)), source.name), name


def read_learner(given: GivenLearner) -> Learner | None:
    """The learner that was meant.

    >>> read_learner("Neighbors(k=3)").k
    3
    """
    if given is None:
        return None
    if isinstance(given, str):
        return _learner_named(given)
    if isinstance(given, type):
        if given.__name__ in LEARNERS and LEARNERS[given.__name__] is given:
            return _learner_named(given.__name__)  # who needs a setting says so
        given = given()
    if isinstance(given, Learner):
        return given
    raise SettingError(
        f"The learner is {shown(given)}. Give a learner, such as likely.NaiveBayes(), or its name: 'NaiveBayes'."
    )


def _learner_named(text: str) -> Learner:
    found: Learner = learner_written(text)
    return found


def require_purpose(reading: Reading, learner: Learner | None) -> None:
    """Refuse to learn a class where none is named, unless the learner wants whole rows."""
    has_target = reading.target is not None or (reading.schema is not None and reading.schema.target is not None)
    if not has_target and not has_trait(learner, "density"):
        raise SettingError(
            "No target was named, so there is nothing to predict. Name a column: fit(data, 'column'). "
            "For the probability of whole rows: fit(data, learner=likely.Density())."
        )


# What Python functions may be told, by keyword, about reading a table: typed, so that editors complete it.


class FileOptions(TypedDict, total=False):
    """How a file is opened; what its columns mean is settled otherwise."""

    encoding: str | None
    """Of text files: utf-8, latin-1 …; found out where it is not said."""
    encoding_errors: str
    """What to do with text that is not sound UTF-8: "strict" refuses it, "replace" puts U+FFFD for what is broken."""
    delimiter: str | None
    """Of CSV files: "," ";" "\\t" …; found out where it is not said."""
    threads: int | None
    """How many threads read and sum; all cores where it is not said. No result depends on it."""
    sheet: str | None
    """The sheet of a workbook; the first that holds rows, where none is named."""
    progress: Progress | None
    """Is called with the number of rows whenever some more were read."""


class MoreRowsOptions(FileOptions, total=False):
    """How more rows for a model or a summary are read: their columns mean what they meant there."""

    keep: str | PathLike[str] | None
    """The folder in which the sums of each file are kept, so that only new and changed files are read next time."""
    skip_bad: bool
    """Leave out files that cannot be read, and say so, rather than refuse."""
    push: bool
    """Let a database count for itself where counts are enough."""
    remark: Callable[[str], None] | None
    """Is told, in sentences, what happened on the way; without it Python's warnings are."""


class CellOptions(FileOptions, total=False):
    """How a file is opened, what counts as missing, and what rows weigh."""

    missing: Sequence[str] | None
    """Cells that count as missing, in place of the usual ones: ["-999", "?"]."""
    weight: str | None
    """The column that says how much each row counts."""


class ReadingOptions(MoreRowsOptions, CellOptions, total=False):
    """All that may be said about reading a table; `summarize` takes the same."""

    types: Mapping[str, str] | None
    """What columns mean, where that is not to be found out: {"zip": "nominal", "body": "text", "id": "ignore"}."""
    target_bins: int | Sequence[float] | None
    """Cut a target of numbers into so many bins of equally many rows, or at these numbers."""
    schema: Schema | None
    """Read every column as another summary or model did: its `schema`."""
    tokens: Tokens | Mapping[str, Tokens] | None
    """What counts as a word of text columns: of all, or by column."""
    dates: str
    """Whether dates are attributes as they are ("whole"), or beside their weekday, month, day and hour ("parts")."""
    least_count: int
    """Levels of fewer rows become one, "other", and such words are left out: no name that is rarer is kept."""


# About how many rows a table has, before it is read, for whoever waits. Knows footers and sizes of files, no cells.

SAMPLE = 1 << 18
"""Bytes of a text file by which the length of its lines is judged."""
PACKED = (".gz", ".zst", ".xz", ".zip", ".bz2", ".xlsx")


def expect_rows(data: object) -> int | None:
    """The rows of a table, about; None where that cannot be told without reading it.

    >>> expect_rows({"x": [1, 2, 3]})
    3
    """
    if not isinstance(data, (str, os.PathLike)):
        rows = getattr(data, "num_rows", None)
        if isinstance(data, dict) and data:
            rows = len(next(iter(data.values())))
        return rows if isinstance(rows, int) else None
    path = os.fspath(data)
    try:
        if not os.path.isfile(path) or path.endswith(PACKED):
            return None  # a folder would be opened a second time, file by file
        in_footer = path.endswith((".parquet", ".arrow", ".feather"))
        return open_source(path).rows if in_footer else _by_length_of_lines(path)
    except (LikelyError, OSError):
        return None


def _by_length_of_lines(path: str) -> int | None:
    """Bytes of the file by bytes of a line, of its first lines."""
    with open(path, "rb") as file:
        sample = file.read(SAMPLE)
    lines = sample.count(b"\n")
    if not lines or b"\0" in sample:
        return None
    return int(os.path.getsize(path) * lines / (sample.rindex(b"\n") + 1))
