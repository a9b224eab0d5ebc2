"""A text file that is swept several times, parsed once: batches of the first sweep are kept where they are small.

Knows batches, not what they mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from likely.table.source import Source

MOST_BYTES = 64 << 20
"""Of a table whose batches take more, none are kept: memory does not grow with the rows."""


def parsed_once(source: Source) -> Source:
    """A source that gives the same batches; what is quick to read again stays as it is."""
    return ParsedOnce(source) if source.parsed else source


class ParsedOnce(Source):
    """Keeps the batches of the first sweep that reached the end, for all that asks for no other columns."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.name, self.schema, self.declared = source.name, source.schema, source.declared
        self.rows, self.notes = source.rows, source.notes
        self._kept: list[pa.RecordBatch] | None = None
        self._names: frozenset[str] = frozenset()

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        names = self.asked(columns)
        if self._kept is not None and names and self._names.issuperset(names):
            for batch in self._kept:
                yield batch.select(names)
            return
        held: list[pa.RecordBatch] | None = [] if names and self._kept is None else None
        size = 0
        for batch in self._source.batches(columns):
            if held is not None:
                size += batch.nbytes
                held = None if size > MOST_BYTES else held
            if held is not None:
                held.append(batch)
            yield batch
        if held is not None:
            self._kept, self._names = held, frozenset(names)

    def reopened(self, encoding: str) -> Source:
        return ParsedOnce(self._source.reopened(encoding))
