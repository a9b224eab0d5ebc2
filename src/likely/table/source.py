"""The contract of a table that is swept: a Source is a re-iterable stream of Arrow batches, with a name and a schema.

Knows neither formats nor files (open.py chooses the reader), nor what a cell means (that is schema inference).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from likely.errors import ColumnError, nearest, shown

if TYPE_CHECKING:
    from likely.table.arrow import ArrowBatch, ArrowSchema, RowBatch


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a file itself says about a column (only ARFF does)."""

    kind: Literal["nominal", "number", "date", "text"]
    levels: tuple[str, ...] = ()


class Source(ABC):
    """A table that can be read again and again, always with the same rows in the same order."""

    name: str
    """How to call it in a sentence: 'adult.csv', 'standard input', 'the table'."""
    schema: ArrowSchema
    """Names (unique) and Arrow types; a string column may still arrive dictionary-encoded."""
    declared: Mapping[str, Declaration] = MappingProxyType({})
    rows: int | None = None
    """The number of rows where it is known without reading them."""
    opening_notes: tuple[str, ...] = ()
    """What was noticed when it was opened."""
    is_snapshot = False
    """Whether the source itself sees to it that its rows stay as they are while it is open."""
    parses_text = False
    """Whether its cells are made out of text in every sweep, which takes longer than anything done with them."""

    is_small = False
    """Whether one thread has swept it before others have started."""

    piece_count: float = 0
    """How many `pieces` threads may read side by side: infinite where there are enough for any, 0 where none is."""

    reads_columns_apart = False
    """Whether `pieces` of some columns cost what those columns cost, so that a wide table may be swept in shares."""

    @abstractmethod
    def batches(self, columns: Sequence[str] | None = None) -> Iterator[ArrowBatch]:
        """The rows in file order; the columns in the order asked, or all of them."""

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[Callable[[], Iterable[RowBatch]]]:
        """The rows in pieces, in file order: one after the other is drawn, and any thread may then read it by a call.

        Only where `piece_count` says so. What the rows do not allow raises `Uncut`; `batches` then has the last word.
        """
        raise NotImplementedError

    @property
    def notes(self) -> tuple[str, ...]:
        """How it was read, in sentences for people; there may be more after a sweep."""
        return self.opening_notes

    def reopen(self, encoding: str) -> Source:
        """The same table with its text read in another encoding; what is not text stays as it is."""
        return self

    def as_written(self) -> Source:
        """The same table, each cell as its file has it, blanks around it included: for rows that are written again."""
        return self

    def trim(self, batch: ArrowBatch) -> ArrowBatch:
        """A batch of `as_written` as `batches` would have given it."""
        return batch

    def resolve_columns(self, columns: Sequence[str] | None) -> list[str]:
        """The names of the columns to read; refuses, with the nearest name, what is not there."""
        names: list[str] = list(self.schema.names)
        if columns is None:
            return names
        known = set(names)
        for column in columns:
            if column not in known:
                raise ColumnError(f"{self.name} has no column {shown(column)}. {nearest(column, names)}")
        return list(columns)


class Uncut(Exception):
    """Rows that can be told only by a sweep from the first one. Never shown: they are then read that way."""


class SourceWrapper(Source):
    """A source around another one. Everything is as the inner one has it; a subclass states what it changes."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.name, self.schema, self.declared = source.name, source.schema, source.declared
        self.rows = source.rows
        self.is_small = source.is_small
        self.is_snapshot, self.parses_text = source.is_snapshot, source.parses_text

    @property
    def notes(self) -> tuple[str, ...]:
        return self.source.notes

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[ArrowBatch]:
        return self.source.batches(columns)

    def reopen(self, encoding: str) -> Source:
        return self.wrap(self.source.reopen(encoding))

    def as_written(self) -> Source:
        return self.wrap(self.source.as_written())

    def trim(self, batch: ArrowBatch) -> ArrowBatch:
        return self.source.trim(batch)

    def wrap(self, source: Source) -> Source:
        """The same wrapper around another source."""
        return type(self)(source)


HALF_CHARACTER = "with half of a character in it (a surrogate), which no table can hold."


def check_names(name: str, names: Sequence[str]) -> None:
    """Refuse a table without columns, and doubled names: a column must be told by its name."""
    doubled = [n for n, times in Counter(names).items() if times > 1]
    if doubled:
        listed = ", ".join(shown(n, 40) for n in doubled[:5]) + (" …" if len(doubled) > 5 else "")
        many = "these columns" if len(doubled) > 1 else "the column"
        raise ColumnError(f"{name} has {many} more than once: {listed}. Give every column its own name.")
    if not names:
        raise ColumnError(f"{name} has no columns.")
    halves = [n for n in names if has_half_character(n)]
    if halves:
        raise ColumnError(f"{name} has the column {shown(halves[0], 40)}, {HALF_CHARACTER} Rename it.")


def has_half_character(text: str) -> bool:
    """Whether a text cannot be written as UTF-8, because a surrogate stands alone in it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
