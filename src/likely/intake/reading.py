"""How a table is opened as the user said (options.py): the source, the target, the learner that was meant."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, fields, replace
from numbers import Integral
from typing import Any, TypeAlias, TypeVar

from likely.errors import ColumnError, EncodingError, InputError, LikelyError, SettingError, nearest, shown
from likely.intake.options import CellOptions as CellOptions
from likely.intake.options import MoreRowsOptions as MoreRowsOptions
from likely.intake.options import Progress as Progress
from likely.intake.options import Reading as Reading
from likely.intake.options import ReadingOptions as ReadingOptions
from likely.machinery.threads import steps_in_notebook
from likely.models.contracts import Learner, has_trait
from likely.models.registry import LEARNERS, learner_written
from likely.table.formats.files import list_files
from likely.table.formats.memory import TableSource, open_memory
from likely.table.open import Opening, open_source, open_watched_file
from likely.table.source import Source
from likely.table.wrappers import Repaired, concatenate, split_agreeing

T = TypeVar("T")


def opening_of(reading: Reading) -> Opening:
    """What the reading says of how a file becomes cells."""
    return Opening(reading.encoding, reading.delimiter, reading.sheet, reading.header_row)


def open_table(data: object, reading: Reading) -> Source:
    """The source of a table, in which broken text is replaced where that was asked for."""
    if reading.keep is not None:
        raise SettingError("The sums of files can be kept where a model or a summary is made of them: fit, summarize.")
    if reading.skip_bad and isinstance(data, (str, os.PathLike)) and os.fspath(data) != "-":
        source = _sound_files(str(os.fspath(data)), reading)
    else:
        source = open_source(data, **asdict(opening_of(reading)))
    return Repaired(source) if reading.encoding_errors == "replace" else source


def _sound_files(path: str, reading: Reading) -> Source:
    """The files that can be read to their ends, as one table; the others are told. Costs a reading of all of them."""
    found = list_files(path)
    sources, bad = [], []
    for place, name in found:
        try:
            source = open_watched_file(place, name, opening_of(reading))
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
    with steps_in_notebook():
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


def try_dates(reading: Reading, learners: Collection[Learner | None]) -> Reading:
    """The same, for such learners (None: the one that is taken where nobody says): parts of dates are tried where one
    of them chooses by held-out rows, and the rows are there to choose by."""
    sums_alone = reading.keep is not None or reading.push
    tries = any(learner is None or has_trait(learner, "tries dates") for learner in learners)
    tries = tries and not sums_alone
    return reading if tries == reading.tries_dates else replace(reading, tries_dates=tries)


def require_purpose(reading: Reading, learner: Learner | None) -> None:
    """Refuse to learn a class where none is named, unless the learner wants whole rows."""
    has_target = reading.target is not None or (reading.schema is not None and reading.schema.target is not None)
    if not has_target and not has_trait(learner, "density"):
        raise SettingError(
            "No target was named, so there is nothing to predict. Name a column: fit(data, 'column'). "
            "For the probability of whole rows: fit(data, learner=likely.Density())."
        )


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
