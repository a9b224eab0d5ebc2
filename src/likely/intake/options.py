"""What Python functions may be told, by keyword, about reading a table: typed, so that editors complete it.

`Reading` (reading.py) holds what was said; this only names it for type checkers and people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TypedDict

from likely.intake.reading import Progress
from likely.table.schema import Schema
from likely.table.words.tokens import Tokens


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
