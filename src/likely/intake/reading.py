"""How a table is opened: what the user said about reading it, and the source that comes of it.

Knows what may be said; not what any column means.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TypeVar

from likely.errors import EncodingError, InputError, LikelyError, SettingError, shown
from likely.models.settings import check_choice
from likely.table.formats.files import list_files
from likely.table.open import open_source, open_watched_file
from likely.table.schema import Schema
from likely.table.source import Source
from likely.table.words.tokens import Tokens
from likely.table.wrappers.concatenated import concatenate, split_agreeing
from likely.table.wrappers.repair import Repaired

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
