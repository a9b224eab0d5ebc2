"""Files cut into fragments that can be swept apart, on any machine that sees them: row groups, ranges of bytes, files.

Knows where a file may be cut and how a fragment is opened; rows come out as if the whole file had been read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from likely.errors import InputError, LikelyError
from likely.table.formats.blocks import ends
from likely.table.formats.columnar import ParquetSource
from likely.table.formats.delimited import DelimitedSource
from likely.table.formats.files import files_at, open_file, reading
from likely.table.formats.fingerprint import Stamp
from likely.table.formats.many import ManySource, Part
from likely.table.formats.text import Text
from likely.table.source import Source
from likely.table.wrappers.repair import Repaired
from likely.table.wrappers.transport import Title, schema_from

BYTES = 64 << 20
"""About so large are the fragments of a file, in bytes of the file."""
_SCAN = 4 << 20


@dataclass(frozen=True)
class How:
    """How text files are read."""

    encoding: str | None = None
    delimiter: str | None = None
    replace_invalid: bool = False


@dataclass(frozen=True)
class Fragment:
    """A part of a file, or all of it; the file must still be as it was when the fragment was cut."""

    path: str
    name: str
    stamp: Stamp
    rows: int | None = None
    groups: tuple[int, ...] | None = None
    """Row groups, of Parquet."""
    begin: int = 0
    end: int | None = None
    """A range of the bytes of a text (a mark at its beginning apart); the lines before it."""
    lines: int = 0


@dataclass(frozen=True)
class Cut:
    """Files that are read as one table: what it is like, and its fragments in the order of rows."""

    title: Title
    fragments: tuple[Fragment, ...]
    large: tuple[int, ...] = ()
    """Which of the fragments are large texts, to be cut into ranges by who has the time: `ranges`."""


def cut(path: str, how: How, size: int = BYTES) -> Cut:
    """The fragments of the files that a path, a folder or a pattern stands for. Reads footers and headers only."""
    out: list[Fragment] = []
    sources, large = [], []
    for place, name in files_at(path):
        if not os.path.isfile(place):
            raise InputError(f"{name} is no file, so executors cannot read it. Name files, or give a DataFrame.")
        stamp = Stamp.of(place, name)
        source = open_file(place, name, how.encoding, how.delimiter)
        if source.steady:
            raise InputError(f"{name} is a database. Read it with Spark, and give the DataFrame.")
        sources.append(source)
        whole = Fragment(place, name, stamp, source.rows)
        if isinstance(source, ParquetSource):
            out += [replace(whole, rows=rows, groups=groups) for rows, groups in _groups(source, size)] or [whole]
        else:
            if isinstance(source, DelimitedSource) and source.text.cuttable and stamp.size > 2 * size:
                large.append(len(out))
            out.append(whole)
    many = ManySource(sources, os.path.expanduser(path)) if len(sources) > 1 else sources[0]
    title = Title(many.name, many.schema, many.declared, many.notes)
    return Cut(title, tuple(out), tuple(large))


def _groups(source: ParquetSource, size: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Row groups, as many together as make up the size."""
    held: list[int] = []
    rows = held_bytes = 0
    for group, (count, taken) in enumerate(source.groups()):
        if held and held_bytes + taken > size:
            yield rows, tuple(held)
            held, rows, held_bytes = [], 0, 0
        held.append(group)
        rows, held_bytes = rows + count, held_bytes + taken
    if held:
        yield rows, tuple(held)


def ranges(fragment: Fragment, how: How, size: int = BYTES) -> list[Fragment]:
    """A large text cut where rows end, quotes observed: reads the whole text once, which is quicker than parsing it."""
    source = open_file(fragment.path, fragment.name, how.encoding, how.delimiter)
    assert isinstance(source, DelimitedSource)
    state, delimiter = np.array([0, 1, 0], np.int64), ord(source.layout.delimiter)
    out: list[Fragment] = []
    begin = at = source.layout.skip
    before = lines = source.layout.lines
    with reading(fragment.name), source.text.stream() as stream:
        stream.read(begin)
        while block := stream.read(_SCAN):
            used = 0
            while used < len(block):
                data = np.frombuffer(block, np.uint8)[used:]
                # Far from the end of a fragment nothing is cut; from there on the next end of a row is looked for.
                far = max(0, begin + size - at)
                some = data[:far] if far else data
                wanted = -1 if far else int(state[2]) + 1
                step = int(ends(some, delimiter, 1, wanted, state))
                lines += block.count(b"\n", used, used + step)
                used, at = used + step, at + step
                if not far and int(state[2]) == wanted:
                    out.append(replace(fragment, begin=begin, end=at, lines=before))
                    begin, before = at, lines
    if at > begin or not out:
        out.append(replace(fragment, begin=begin, end=at, lines=before))
    return out


def open_fragment(fragment: Fragment, how: How, schema: bytes) -> Source:
    """The rows of a fragment, its cells of the types of the whole table."""
    return _Fragment(fragment, how, schema_from(schema))


class _Fragment(Source):
    def __init__(self, fragment: Fragment, how: How, schema: pa.Schema) -> None:
        self.name, self.schema, self.rows, self.notes = fragment.name, schema, fragment.rows, ()
        self._fragment, self._how = fragment, how
        self._source = self._opened()
        self.declared = self._source.declared

    def _opened(self) -> Source:
        own = self._fragment
        if not os.path.exists(own.path):
            raise InputError(
                f"{own.name} is not there on an executor. Files must lie where every machine sees them; "
                "or read them with Spark and give the DataFrame."
            )
        source = open_file(own.path, own.name, self._how.encoding, self._how.delimiter)
        if own.groups is not None and isinstance(source, ParquetSource):
            source = source.only(own.groups)
        if own.end is not None and isinstance(source, DelimitedSource):
            text = Range(source.text.place, source.text.encoding, begin=own.begin, end=own.end)
            source = DelimitedSource(text, replace(source.layout, skip=0, lines=own.lines), source.notes)
        return Repaired(source) if self._how.replace_invalid else source

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        names = self.asked(columns)
        theirs = {f.name: f.type for f in self._source.schema}
        wanted = {n: self.schema.field(n).type for n in self.schema.names if theirs.get(n) != self.schema.field(n).type}
        try:
            yield from Part(self._source, self.schema, wanted).batches(names)
        except LikelyError:
            self._check()  # what looks damaged may just be half written
            raise
        self._check()

    def _check(self) -> None:
        now, then = Stamp.of(self._fragment.path, self.name), self._fragment.stamp
        if (now.size, now.written) != (then.size, then.written):
            raise InputError(
                f"{self.name} changed while it was read, or is another file on an executor. "
                "Run again when whoever writes it is done."
            )


@dataclass
class Range(Text):
    """Some bytes of a text, which begin and end between rows."""

    begin: int = 0
    end: int = 0

    def stream(self) -> Any:
        raw = super().stream()
        skipped = 3 if self.encoding == "utf-8-sig" else 0
        raw.seek(self.begin + skipped)
        return pa.BufferReader(raw.read_buffer(self.end - self.begin))
