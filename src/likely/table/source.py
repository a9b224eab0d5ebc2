"""The door for tables: any file, frame, dict or stream becomes a Source, a re-iterable stream of Arrow batches.

Knows which reader fits which thing; must not know what a cell means (that is schema inference) nor any learner.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Literal

import pyarrow as pa

from likely.errors import ColumnError, InputError, nearest, shown


@dataclass(frozen=True, slots=True)
class Declared:
    """What a file itself says about a column (only ARFF does)."""

    kind: Literal["nominal", "number", "date", "text"]
    levels: tuple[str, ...] = ()


class Source(ABC):
    """A table that can be read again and again, always with the same rows in the same order."""

    name: str
    """How to call it in a sentence: 'adult.csv', 'standard input', 'the table'."""
    schema: pa.Schema
    """Names (unique) and Arrow types; a string column may still arrive dictionary-encoded."""
    declared: Mapping[str, Declared]
    rows: int | None
    """The number of rows where it is known without reading them."""
    notes: tuple[str, ...]
    """How it was read, in sentences for people."""
    steady = False
    """Whether the source itself sees to it that its rows stay as they are while it is open."""
    parsed = False
    """Whether its cells are made out of text in every sweep, which takes longer than anything done with them."""

    @abstractmethod
    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows in file order; the columns in the order asked, or all of them."""

    def reopened(self, encoding: str) -> Source:
        """The same table with its text read in another encoding; what is not text stays as it is."""
        return self

    def asked(self, columns: Sequence[str] | None) -> list[str]:
        """The names of the columns to read; refuses, with the nearest name, what is not there."""
        names: list[str] = list(self.schema.names)
        if columns is None:
            return names
        known = set(names)
        for column in columns:
            if column not in known:
                raise ColumnError(f"{self.name} has no column {shown(column)}. {nearest(column, names)}")
        return list(columns)


def open_source(data: object, *, encoding: str | None = None, delimiter: str | None = None) -> Source:
    """Open a table: a path, a folder, a glob, '-' for standard input, a dict, a list of dicts, or any Arrow stream.

    >>> [batch.to_pydict() for batch in open_source({"play": ["yes", "no"]}).batches()]
    [{'play': ['yes', 'no']}]
    """
    if isinstance(data, Source):
        return data
    if isinstance(data, (str, PathLike)):
        from likely.table.formats.files import open_path

        path = fspath(data)
        if isinstance(path, bytes):
            raise InputError(f"The path {shown(path)} is bytes; give it as text.")
        return open_path(path, encoding, delimiter)
    if callable(getattr(data, "read", None)) and not hasattr(data, "__arrow_c_stream__"):
        from likely.table.formats.files import open_stream

        return open_stream(data, "the stream", encoding, delimiter)
    from likely.table.formats.memory import open_memory

    return open_memory(data)
