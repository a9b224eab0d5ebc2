"""What may be said about reading a table, declared once: Python, command line, spec, scikit-learn and app read it.

Knows words and ranges, no tables, and imports nothing heavy: help must not wait. A new option is one more field of
`Reading` (and a line of the typed keywords below it, for editors), and the code that acts on it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, TypedDict

from likely.models.settings import SWITCH, Form, Setting, Settings, declared, flag_of, setting

if TYPE_CHECKING:
    from likely.table.schema import Schema
    from likely.table.words import Tokens

Progress = Callable[[int], None]

# What options are about.

FILE = "file"
"""How the bytes of a file become cells."""
COLUMNS = "columns"
"""What columns mean; a schema says all of it."""
NAMES = "names"
"""Which names are kept once all rows are summed; a schema says that too."""
WORKING = "working"
"""Who works and who is told of it; no result depends on it."""
SEVERAL = "several files"
"""What is done with many files, or with a database."""

_READING = "Reading the table"
"""The heading of help. An option without one is offered by the commands that list it themselves, or by none."""
_WORDS = {
    "shortest_word": Setting("For texts: ignore words with fewer characters.", whole=True, form=Form("N")),
    "word_pairs": Setting("For texts: also count pairs of neighbouring words.", choices=SWITCH),
    "stop_words": Setting("For texts: ignore the words in this file.", form=Form("FILE")),
    "char_grams": Setting("For texts: use runs of N to M characters instead of words.", form=Form("N|N,M")),
    "vocabulary": Setting("For texts: keep at most N words in memory.", whole=True, form=Form("N")),
}


@dataclass(frozen=True)
class Reading(Settings):
    """How a table is to be read: what the user said about it."""

    target: str | None = None
    types: Mapping[str, str] | None = setting(
        None,
        'How columns are read, where that is not left to inference: {"zip": "nominal"}.',
        about=COLUMNS,
        group=_READING,
        form=Form(
            "COLUMN=KIND",
            flag="--type",
            multiple=True,
            meaning="nominal, 'nominal of numbers', number, 'number in %', date, 'date in parts', text or ignore.",
        ),
        faces={"spec": "columns", "scikit-learn": "types", "app": "types"},
    )
    missing: Sequence[str] | None = setting(
        None,
        "Cells that mean 'missing', in place of the usual ones.",
        about=COLUMNS,
        group=_READING,
        form=Form(
            "TOKEN",
            multiple=True,
            meaning="A cell that means missing; replaces '?', 'NA', 'null' …, unless 'usual' is named too.",
        ),
        faces={"spec": "missing", "scikit-learn": "missing_cells", "app": "missing"},
    )
    dates: str = setting(
        "auto",
        "Use dates as they are (whole), or also their weekday, month, day, day of year and hour as attributes (parts). "
        "auto: the default learner keeps the parts where held-out rows say so; other learners use dates as they are.",
        choices=("auto", "whole", "parts"),
        about=COLUMNS,
        group=_READING,
    )
    weight: str | None = setting(
        None,
        "Column with the weight of each row.",
        about=COLUMNS,
        group=_READING,
        form=Form("COLUMN"),
        faces={"spec": "weight"},
    )
    target_bins: int | Sequence[float] | None = setting(
        None,
        "Cut a numeric target into N bins of about equal size, or at given edges: 10,20,30.",
        about=COLUMNS,
        group=_READING,
        form=Form("N|EDGES"),
        faces={"spec": "target_bins", "app": "target_bins"},
    )
    schema: Schema | None = setting(
        None,
        "Read every column as another summary or model did: its `schema`.",
        about=COLUMNS,
        group=_READING,
        form=Form("FILE.likely", meaning="Read the columns as this model's were read."),
    )
    sheet: str | None = setting(
        None,
        "The sheet of a workbook; the first that holds rows, where none is named.",
        about=FILE,
        group=_READING,
        form=Form("NAME", meaning="DATA is a workbook (.xlsx, .ods …): read this sheet.", eager=True),
        faces={"app": "sheet"},
    )
    header_row: int | None = setting(
        None,
        "The row of a text file or sheet that names the columns; what is above it is left out. By default the first.",
        at_least=1,
        whole=True,
        optional=True,
        about=FILE,
        group=_READING,
        form=Form("N"),
        faces={"app": "header_row"},
    )
    encoding: str | None = setting(
        None,
        "Encoding of a text file; UTF-8 is tried first, then latin-1.",
        about=FILE,
        group=_READING,
        form=Form("NAME"),
    )
    delimiter: str | None = setting(
        None,
        "What separates the cells of a text file; detected by default.",
        about=FILE,
        group=_READING,
        form=Form("CHAR", meaning="What separates cells, also by name: tab, space; detected by default."),
    )
    encoding_errors: str = setting(
        "strict",
        "What to do with invalid UTF-8: 'strict' refuses it, 'replace' puts U+FFFD for it.",
        choices=("strict", "replace"),
        about=FILE,
        group=_READING,
        form=Form(
            read=lambda _: "replace",
            switch=True,
            flag="--replace-invalid",
            meaning="Replace invalid UTF-8 with U+FFFD instead of refusing it.",
        ),
    )
    tokens: Tokens | Mapping[str, Tokens] | None = setting(
        None,
        "What counts as a word of texts: of all, or by column.",
        about=COLUMNS,
        group="Text",
        form=Form(flag="--word-pairs and the like", parts=_WORDS),
        faces={"spec": "tokens", "scikit-learn": "tokens"},
    )
    least_count: int = setting(
        1,
        "Levels with fewer rows become 'other', and such words are left out: no rarer name is kept or shown.",
        at_least=1,
        whole=True,
        about=NAMES,
        group=_READING,
        form=Form("N"),
    )
    skip_bad: bool = setting(
        False,
        "For many files: leave out and list those that cannot be read.",
        choices=SWITCH,
        about=SEVERAL,
        group=_READING,
    )
    threads: int | None = setting(
        None,
        "Threads to use; by default all cores. Results do not depend on it.",
        at_least=1,
        whole=True,
        optional=True,
        about=WORKING,
        group=_READING,
        form=Form("N"),
    )
    keep: str | PathLike[str] | None = setting(
        None,
        "Cache the sums of each file here, and read only new and changed files.",
        about=SEVERAL,
        form=Form("FOLDER"),
    )
    push: bool = setting(
        False, "For a database: let it do the counting where counts are enough.", choices=SWITCH, about=SEVERAL
    )
    remark: Callable[[str], None] | None = setting(
        None,
        "Is told, in sentences, what happened on the way; without it Python's warnings are.",
        about=SEVERAL,
    )
    progress: Progress | None = setting(
        None, "Is called with the number of rows whenever some more were read.", about=WORKING
    )
    keep_row_numbers: bool = False
    """Whether numbers that count the rows stay numbers, as a regression wants them."""
    tries_dates: bool = False
    """Whether what learns tries parts of dates, and keeps them where held-out rows say so."""

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

    def under(self, schema: Schema) -> Reading:
        """The same, but the schema says what columns mean."""
        unsaid: dict[str, Any] = {n: usual for n, usual, one in declared(Reading) if one.about in (COLUMNS, NAMES)}
        return replace(self, **{**unsaid, "target": None, "schema": schema})


# The same by keyword, typed, so that editors complete it; a test compares. What each means is said above.


class FileOptions(TypedDict, total=False):
    """How a file is opened; what its columns mean is settled otherwise."""

    sheet: str | None
    header_row: int | None
    encoding: str | None
    delimiter: str | None
    encoding_errors: str
    threads: int | None
    progress: Progress | None


class MoreRowsOptions(FileOptions, total=False):
    """How more rows for a model or a summary are read: their columns mean what they meant there."""

    skip_bad: bool
    keep: str | PathLike[str] | None
    push: bool
    remark: Callable[[str], None] | None


class CellOptions(FileOptions, total=False):
    """How a file is opened, what counts as missing, and what rows weigh."""

    missing: Sequence[str] | None
    weight: str | None


class ReadingOptions(MoreRowsOptions, CellOptions, total=False):
    """All that may be said about reading a table."""

    types: Mapping[str, str] | None
    dates: str
    target_bins: int | Sequence[float] | None
    schema: Schema | None
    tokens: Tokens | Mapping[str, Tokens] | None
    least_count: int


# How the declaration is read.


def options_about(*about: str) -> list[str]:
    """The options that are about these things.

    >>> options_about(FILE)
    ['sheet', 'header_row', 'encoding', 'delimiter', 'encoding_errors']
    """
    return [name for name, _, one in declared(Reading) if one.about in about]


def options_of(face: str) -> dict[str, str]:
    """The options that a face takes, and what it calls them.

    >>> options_of("scikit-learn")
    {'types': 'types', 'missing': 'missing_cells', 'tokens': 'tokens'}
    """
    return {name: one.faces[face] for name, _, one in declared(Reading) if face in one.faces}


def said_options(values: Mapping[str, Any] | Reading, among: Collection[str]) -> Iterator[str]:
    """Those of some options that are not at their default.

    >>> list(said_options(Reading(dates="parts", threads=2), options_about(COLUMNS)))
    ['dates']
    """
    for name, default, _ in declared(Reading):
        value = getattr(values, name) if isinstance(values, Reading) else values.get(name, default)
        if name in among and (value is not None if default is None else value != default):
            yield name


def option_flag(name: str) -> str:
    """What an option is called on the command line.

    >>> option_flag("types"), option_flag("least_count")
    ('--type', '--least-count')
    """
    return flag_of(name, next((one.form for key, _, one in declared(Reading) if key == name), None))


def write_options(values: Mapping[str, Any]) -> list[str]:
    """Options as a terminal takes them; of values that one option can say.

    >>> write_options({"types": {"zip": "nominal"}, "missing": ["", "-9"], "skip_bad": True, "target_bins": [2, 4]})
    ['--type', 'zip=nominal', '--missing', '-9', '--target-bins', '2,4', '--skip-bad']
    """
    out: list[str] = []
    for name in said_options(values, values):
        value, flag = values[name], option_flag(name)
        if value is True:
            out.append(flag)
        elif isinstance(value, Mapping):
            out += [word for key, one in value.items() for word in (flag, f"{key}={one}")]
        elif isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
            out += [word for one in value if one for word in (flag, one)]
        else:
            out += [flag, ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)]
    return out
