"""A file that may change while it is read: whoever reads it to its end is told so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from likely.errors import InputError, LikelyError
from likely.table.formats.fingerprint import Stamp
from likely.table.source import Source, SourceWrapper

if TYPE_CHECKING:
    from likely.table.arrow import ArrowBatch
    from likely.table.columns import RowBatch


class Watched(SourceWrapper):
    """A file as a table; reading it to its end fails if the file is no longer the one that had this stamp."""

    def __init__(self, source: Source, path: str, stamp: Stamp, changed: str = "") -> None:
        super().__init__(source)
        self.piece_count = source.piece_count
        self.reads_columns_apart = source.reads_columns_apart
        self._path, self._stamp = path, stamp
        self._changed = changed or "changed while it was read. Run again when whoever writes it is done, or read a copy"

    def wrap(self, source: Source) -> Source:
        return Watched(source, self._path, self._stamp, self._changed)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[ArrowBatch]:
        try:
            yield from self.source.batches(columns)
        except LikelyError:
            self._check()  # what looks damaged may just be half written
            raise
        self._check()

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[Callable[[], Iterable[RowBatch]]]:
        def checked(piece: Callable[[], Iterable[RowBatch]]) -> Iterator[RowBatch]:
            try:
                yield from piece()
            except LikelyError:
                self._check()
                raise
            self._check()  # after each, as others may still be read when the last one is drawn

        try:
            for piece in self.source.pieces(columns):
                yield partial(checked, piece)
        except LikelyError:
            self._check()
            raise
        self._check()

    def _check(self) -> None:
        if not Stamp.read(self._path, self.name).same_content(self._stamp):
            raise InputError(f"{self.name} {self._changed}.")
