"""The rows of a source with the part that each was dealt to, sweep after sweep the same; searches sweep here.

Knows parts and lessons; nothing of scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from likely.errors import LikelyError
from likely.evaluate.crossval.dealing import Deal, Dealer, Placed
from likely.evaluate.crossval.lessons import Lessons, k_fold
from likely.evaluate.sampling import rows_by_fold
from likely.intake.engine import Worker, sweep
from likely.intake.extend import Extension, classes_and_weights, closed_encoder
from likely.intake.reading import Reading
from likely.intake.row_cache import Piece, RowCache, fits_in_memory, piece_rows
from likely.machinery.threads import in_order
from likely.models.contracts import Model, Search
from likely.sums.summary import Summary
from likely.sums.trees import OrderedSum, plus_tuples
from likely.table.arrow import align_batches
from likely.table.encode import Encoder
from likely.table.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.models.linear.newton import FoldNewton
    from likely.table.arrow import ArrowBatch

W = TypeVar("W", bound=Worker)


class FoldedRows:
    """The rows of a source with their folds, sweep after sweep the same: kept in memory where they are few enough."""

    def __init__(self, source: Source, total: Summary, reading: Reading, deal: Deal) -> None:
        self.source, self.total, self.reading, self.deal, self.folds = source, total, reading, deal, deal.parts
        own = total.schema.stored
        self.columns = [*own, *(c for c in self.deal.columns if c not in own)]
        self.held = RowCache(total, self._read)
        self._dealt: dict[str, list[Any]] = {}
        """Statistics beyond the first order, fold by fold."""

    def _read(self) -> Iterator[Piece]:
        """The rows and the fold of each; rows that do not count have the fold after the last."""
        encoder, dealer = closed_encoder(self.total), self.deal.dealer(self.total.schema)

        def piece(item: tuple[Placed, int]) -> Piece:
            return dealt_piece(encoder, dealer, self.folds, *item)

        batches = align_batches(self.source.batches(self.columns), piece_rows(self.total.schema))
        yield from in_order(_placed(batches, dealer), piece, self.reading.threads)

    def sweep(self, worker: Callable[[], W]) -> Sequence[W]:
        """Workers that have taken all pieces between them."""
        return sweep(iter(self.held), worker, self.reading.threads, progress=self.reading.progress)

    def sum_pieces(self, partial: Callable[[Piece], dict[Any, tuple[Any, ...]]]) -> dict[Any, tuple[Any, ...]]:
        """What the pieces add under each key, summed in the order of the table: threads change nothing."""
        sums = OrderedSum(plus_tables)
        for part in in_order(iter(self.held), partial, self.reading.threads):
            sums.take(part)
        return sums.whole() or {}

    def extend(self, name: str, training: Sequence[Summary], seen: NDArray[np.bool_]) -> None:
        """A statistic beyond the first order, for the total and for the rows of each lesson; one sweep gives it all."""
        if name not in self._dealt:
            workers = self.sweep(lambda: FoldExtender(self, frozenset({name})))
            self._dealt[name] = [reduce(add, (w.extenders[k].more[name] for w in workers)) for k in range(self.folds)]
            self.total.more[name] = reduce(add, self._dealt[name])
        dealt, total = self._dealt[name], self.total.more[name]
        for summary, some in zip(training, seen, strict=True):
            if summary is not self.total:
                # All rows but a fold's may not know a class that the fold does (tests/evaluate/test_compare.py).
                index = {c: k for k, c in enumerate(summary.classes)}
                places = np.array([index.get(c, -1) for c in self.total.classes], np.intp)
                inside = [dealt[k] for k in np.flatnonzero(some)]
                outside = [dealt[k] for k in np.flatnonzero(~some)]
                own = total - reduce(add, outside) if len(outside) < len(inside) else reduce(add, inside)
                summary.more[name] = own.regrouped(places, len(summary.classes)).canonical()

    def search(
        self,
        searches: dict[tuple[str, int], Search],
        found: dict[tuple[str, int], Model],
        training: Sequence[Summary],
        refused: dict[tuple[str, int], str],
        lessons: Lessons | None = None,
    ) -> None:
        """Let every search have its sweeps, all of them in the same ones. Keys are (learner, lesson).

        A class that only one fold has is not among those of its training rows, so that classes are numbered by lesson.
        """
        lessons = k_fold(self.folds) if lessons is None else lessons
        seen = np.pad(lessons.seen, ((0, 0), (0, 1)))  # rows that do not count are in the fold after the last
        while searches:
            running = dict(searches)
            for key, value in self.sum_pieces(Looking(running, seen, tuple(training))).items():
                try:
                    step = running[key].step(value)
                except LikelyError as error:
                    refused[key[0], lessons.group[key[1]]] = str(error)
                    continue
                if isinstance(step, Search):
                    searches[key] = step
                else:
                    found[key] = step
                    del searches[key]
            for key in [k for k in searches if (k[0], lessons.group[k[1]]) in refused]:
                del searches[key]

    def search_together(self, begun: FoldNewton) -> Mapping[int, Model]:
        """Let a search for all folds have its sweeps; the models of those folds for which it found one."""

        def first(piece: Piece) -> Any:
            return begun.sheets(piece.batch, *classes_and_weights(self.total, piece.batch), piece.fold)

        held: list[Any] | None = None
        if fits_in_memory(self.total):
            held = list(in_order(iter(self.held), first, self.reading.threads))
        while not begun.done:
            sums = OrderedSum(plus_tuples)
            sheets: Any = iter(self.held) if held is None else held
            work: Any = begun.look_at if held is not None else lambda piece, s=begun: s.look_at(first(piece))
            for part in in_order(sheets, work, self.reading.threads):
                sums.take(part)
            begun = begun.step(sums.whole())
        return begun.models


@dataclass(frozen=True)
class Looking:
    """What the searches of all lessons see of a piece, by (learner, lesson)."""

    running: Mapping[tuple[str, int], Search]
    seen: NDArray[np.bool_]
    """Which lesson sees which fold, (lessons, folds and one more for rows that do not count)."""
    training: tuple[Summary, ...]

    def __call__(self, piece: Piece) -> dict[Any, tuple[Any, ...]]:
        out = {}
        for key, search in self.running.items():
            rows = piece.batch.take(np.flatnonzero(self.seen[key[1]][piece.fold]))
            out[key] = search.look_at(rows, *classes_and_weights(self.training[key[1]], rows))
        return out


def plus_tables(one: dict[Any, tuple[Any, ...]], two: dict[Any, tuple[Any, ...]]) -> dict[Any, tuple[Any, ...]]:
    """Tuples of sums, key by key."""
    return {key: plus_tuples(value, two[key]) for key, value in one.items()}


def dealt_piece(encoder: Encoder, dealer: Dealer, parts: int, placed: Placed, start: int) -> Piece:
    """Rows and the part of each; rows that do not count have the part after the last."""
    arrow, codes, ordinal = placed
    batch = encoder.encode(arrow, start)
    assert batch.target is not None
    fold = dealer.folds(codes, ordinal)
    counts = (batch.target.codes >= 0) & (fold >= 0)
    if batch.weight is not None:
        counts &= batch.weight > 0
    return Piece(batch, np.where(counts, fold, np.int32(parts)))


def _placed(batches: Iterable[ArrowBatch], dealer: Dealer) -> Iterator[tuple[Placed, int]]:
    start = 0
    for batch in batches:
        yield dealer.place(batch, start), start
        start += batch.num_rows


class FoldExtender:
    def __init__(self, rows: FoldedRows, names: frozenset[str]) -> None:
        self.extenders = [Extension(rows.total, names) for _ in range(rows.folds)]

    def take(self, piece: Piece, start: int) -> None:
        for extender, index in zip(self.extenders, rows_by_fold(piece.fold, len(self.extenders) + 1), strict=False):
            if len(index):
                extender.update(piece.batch.take(index))
