"""A text file that is swept several times, parsed once: batches of the first sweep are kept where they are small.

Knows batches, not what they mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from likely.errors import LikelyError
from likely.machinery.threads import in_order
from likely.table.columns import CellBatch
from likely.table.source import Source, SourceWrapper, Uncut

if TYPE_CHECKING:
    from likely.table.arrow import ArrowBatch
    from likely.table.columns import RowBatch

MOST_BYTES = 64 << 20
"""Of a table whose batches take more, none are kept: memory does not grow with the rows."""


def parse_once(source: Source) -> Source:
    """A source that gives the same batches; what is quick to read again stays as it is."""
    return ParsedOnce(source) if source.parses_text else source


class ParsedOnce(SourceWrapper):
    """Keeps the batches of the first sweep that reached the end, for all that asks for no other columns.

    A sweep that was broken off, such as a look at the first rows, is taken up again by the next one of its columns.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.parses_text = False
        self._kept: list[ArrowBatch] | None = None
        self._names: frozenset[str] = frozenset()
        self._broken_off: tuple[list[str], list[ArrowBatch], Iterator[ArrowBatch]] | None = None

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[ArrowBatch]:
        names = self.resolve_columns(columns)
        if self._kept is not None and names and self._names.issuperset(names):
            for batch in self._kept:
                yield batch.select(names)
            return
        before, rest = self._take_up(names, columns)
        kept: list[ArrowBatch] | None = list(before) if names and self._kept is None else None
        size = sum(batch.nbytes for batch in before)
        try:
            yield from before
            for batch in rest:
                if kept is not None:
                    size += batch.nbytes
                    kept = None if size > MOST_BYTES else kept
                if kept is not None:
                    kept.append(batch)
                yield batch
        except GeneratorExit:
            if kept is not None:
                self._broken_off = names, kept, rest
            raise
        if kept is not None:
            self._kept, self._names = kept, frozenset(names)

    def _take_up(
        self, names: list[str], columns: Sequence[str] | None
    ) -> tuple[list[ArrowBatch], Iterator[ArrowBatch]]:
        """What a sweep of these columns that was broken off had read, and the rest of it; else a new sweep."""
        broken, self._broken_off = self._broken_off, None
        if broken is not None and broken[0] == names:
            return broken[1], broken[2]
        return [], self._sweep(names, columns)

    def _sweep(self, names: list[str], columns: Sequence[str] | None) -> Iterator[ArrowBatch]:
        """The batches of a source, in pieces that threads read side by side where it has such; the source's own sweep
        goes on where these cannot be read."""
        given = 0
        if names and self.source.piece_count:
            try:
                for batches in in_order(self.source.pieces(columns), _read_piece):
                    for batch in batches:
                        given += batch.num_rows
                        yield batch
                return
            except (Uncut, LikelyError):
                pass
        for batch in self.source.batches(columns):
            passed = min(given, batch.num_rows)
            given -= passed
            if passed < batch.num_rows or not names:
                yield batch.slice(passed) if passed else batch


def _read_piece(piece: Callable[[], Iterable[RowBatch]]) -> list[ArrowBatch]:
    return [batch.to_arrow() if isinstance(batch, CellBatch) else batch for batch in piece()]
