"""Files cut into fragments that can be swept apart, on any machine that sees them: row groups, ranges of bytes, files.

Knows where a file may be cut and how a fragment is opened; rows come out as if the whole file had been read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from likely.errors import InputError
from likely.table.arrow import unpack_schema
from likely.table.formats.columnar import ParquetSource
from likely.table.formats.delimited import DelimitedSource
from likely.table.formats.files import Stamp, file_errors, list_files, split_inside
from likely.table.formats.text_file import TextFile
from likely.table.open import Opening, find_record_end, open_file
from likely.table.source import Source
from likely.table.wrappers import DeferredSource, RecastSource, Repaired, Watched, concatenate

BYTES = 64 << 20
"""About so large are the fragments of a file, in bytes of the file."""
_SCAN = 4 << 20


@dataclass(frozen=True)
class TextOptions(Opening):
    """How text files are read."""

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
class CutFiles:
    """Files that are read as one table: what it is like, and its fragments in the order of rows."""

    title: DeferredSource
    fragments: tuple[Fragment, ...]
    large: tuple[int, ...] = ()
    """Which of the fragments are large texts, to be cut into ranges by who has the time: `cut_text`."""


def cut_files(path: str, options: TextOptions, size: int = BYTES) -> CutFiles:
    """The fragments of the files that a path, a folder or a pattern stands for. Reads footers and headers only."""
    return cut_listed(list_files(path), os.path.expanduser(path), options, size)


def cut_listed(files: Iterable[tuple[str, str]], title: str, options: TextOptions, size: int = BYTES) -> CutFiles:
    """The same of files that are known: where each is, and what it is called."""
    out: list[Fragment] = []
    sources, large = [], []
    for place, name in files:
        if not os.path.isfile(split_inside(place)[0]):
            raise InputError(f"{name} is not a file, so executors cannot read it. Name files, or give a DataFrame.")
        stamp = Stamp.read(place, name)
        source = open_file(place, name, options)
        if source.is_snapshot:
            raise InputError(f"{name} is a database. Read it with Spark, and give the DataFrame.")
        sources.append(source)
        whole = Fragment(place, name, stamp, source.rows)
        if isinstance(source, ParquetSource):
            out += [replace(whole, rows=rows, groups=groups) for rows, groups in _groups(source, size)] or [whole]
        else:
            if isinstance(source, DelimitedSource) and source.text.cuttable and stamp.size > 2 * size:
                large.append(len(out))
            out.append(whole)
    return CutFiles(DeferredSource.describe(concatenate(sources, title)), tuple(out), tuple(large))


def _groups(source: ParquetSource, size: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Row groups, as many together as make up the size."""
    groups: list[int] = []
    rows = total = 0
    for group, (count, bytes_) in enumerate(source.groups()):
        if groups and total + bytes_ > size:
            yield rows, tuple(groups)
            groups, rows, total = [], 0, 0
        groups.append(group)
        rows, total = rows + count, total + bytes_
    if groups:
        yield rows, tuple(groups)


def cut_text(fragment: Fragment, options: TextOptions, size: int = BYTES) -> list[Fragment]:
    """A large text cut where rows end, quotes observed: reads the whole text once, which is quicker than parsing it."""
    source = open_file(fragment.path, fragment.name, options)
    assert isinstance(source, DelimitedSource)
    state, delimiter = np.array([0, 1, 0], np.int64), ord(source.layout.delimiter)
    out: list[Fragment] = []
    begin = at = source.layout.skip
    before = lines = source.layout.lines
    with file_errors(fragment.name), source.text.stream() as stream:
        stream.read(begin)
        while block := stream.read(_SCAN):
            used = 0
            while used < len(block):
                data = np.frombuffer(block, np.uint8)[used:]
                # Far from the end of a fragment nothing is cut; from there on the next end of a row is looked for.
                far = max(0, begin + size - at)
                ahead = data[:far] if far else data
                wanted = -1 if far else int(state[2]) + 1
                step = int(find_record_end(ahead, delimiter, 1, wanted, state))
                lines += block.count(b"\n", used, used + step)
                used, at = used + step, at + step
                if not far and int(state[2]) == wanted:
                    out.append(replace(fragment, begin=begin, end=at, lines=before))
                    begin, before = at, lines
    if at > begin or not out:
        out.append(replace(fragment, begin=begin, end=at, lines=before))
    return out


def open_fragment(fragment: Fragment, options: TextOptions, schema: bytes) -> Source:
    """The rows of a fragment, its cells of the types of the whole table."""
    if not os.path.exists(split_inside(fragment.path)[0]):
        raise InputError(
            f"{fragment.name} does not exist on an executor. Files must be where every machine can read them; "
            "or read them with Spark and give the DataFrame."
        )
    source = open_file(fragment.path, fragment.name, options)
    if fragment.groups is not None and isinstance(source, ParquetSource):
        source = source.only(fragment.groups)
    if fragment.end is not None and isinstance(source, DelimitedSource):
        text = TextRange(source.text.place, source.text.encoding, begin=fragment.begin, end=fragment.end)
        source = DelimitedSource(text, replace(source.layout, skip=0, lines=fragment.lines), source.opening_notes)
    if options.replace_invalid:
        source = Repaired(source)
    changed = "changed while it was read, or is another file on an executor. Run again when whoever writes it is done"
    return Watched(RecastSource(source, unpack_schema(schema)), fragment.path, fragment.stamp, changed)


@dataclass
class TextRange(TextFile):
    """Some bytes of a text, which begin and end between rows."""

    begin: int = 0
    end: int = 0

    def stream(self) -> pa.NativeFile:
        raw = super().stream()
        skipped = 3 if self.encoding == "utf-8-sig" else 0
        raw.seek(self.begin + skipped)
        return pa.BufferReader(raw.read_buffer(self.end - self.begin))
