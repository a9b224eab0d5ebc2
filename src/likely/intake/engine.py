"""The local engine: sweeps over the batches of a source on the threads of this machine; rows kept between sweeps."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from likely.errors import LikelyError
from likely.machinery.arrays import Ints
from likely.machinery.threads import default_threads
from likely.sums.summary import Summary
from likely.sums.words.counting import Words
from likely.table.arrow import release_pages
from likely.table.batch import Batch, Codes, Texts
from likely.table.schema import Schema
from likely.table.source import Source, Uncut

# The local engine: a sweep over the batches of a source on the threads of this machine.


class Worker(Protocol):
    """What one thread keeps: it takes in batches, and is merged with its fellows when all is done."""

    def take(self, batch: Any, start: int) -> None: ...


class AddableWorker(Worker, Protocol):
    """A worker that can be added to its fellows."""

    def __add__(self, other: Self) -> Self: ...


T = TypeVar("T")
W = TypeVar("W", bound=Worker)
S = TypeVar("S", bound=AddableWorker)


def crew_for(source: Source, threads: int | None) -> int:
    """How many threads sweep a source: as many as were asked for, else what the table is worth."""
    return 1 if threads is None and source.is_small else threads or default_threads()


def sweep(
    batches: Iterator[Any],
    worker: Callable[[], W],
    threads: int | None = None,
    prepare: Callable[[Any, int], Any] | None = None,
    progress: Callable[[int], None] | None = None,
    finish: Callable[[W], None] | None = None,
) -> Sequence[W]:
    """Let `threads` workers take all batches; returns the workers.

    `prepare(batch, start)` runs under the lock, in the order of the file: for what depends on the rows before.
    `progress(rows)` is told how many rows have been drawn. `finish(worker)` is called when there are no more batches,
    by the thread of the worker, so that all workers come to rest at the same time.
    """
    count = threads or default_threads()
    workers = [worker() for _ in range(count)]
    lock = threading.Lock()
    failures: list[BaseException] = []
    start = 0

    def run(own: W) -> None:
        nonlocal start
        try:
            while True:
                with lock:
                    if failures:
                        return
                    batch = next(batches, None)
                    if batch is None:
                        break
                    at, start = start, start + batch.num_rows
                    ready = batch if prepare is None else prepare(batch, at)
                    if progress is not None:
                        progress(start)
                own.take(ready, at)
            if finish is not None:
                finish(own)
        except BaseException as error:
            failures.append(error)

    _run_crew(workers, run, failures)
    return workers


def _run_crew(workers: Sequence[T], run: Callable[[T], None], failures: list[BaseException]) -> None:
    """Let each worker run on a thread of its own; whatever failed first is raised."""
    if len(workers) == 1:
        run(workers[0])
    else:
        crew = [threading.Thread(target=run, args=(w,), daemon=True) for w in workers]
        for thread in crew:
            thread.start()
        try:
            for thread in crew:
                thread.join()
        except BaseException as error:
            # Interrupted: the threads end with their batch. One that still ran when Python ends would bring it down.
            failures.append(error)
            for thread in crew:
                thread.join()
            raise
    release_pages()
    if failures:
        raise failures[0]


def _drawn(
    pieces: Iterator[Callable[[], Iterable[Any]]], lock: threading.Lock, failures: list[BaseException]
) -> Iterator[Callable[[], Iterable[Any]]]:
    """The pieces that one thread draws, among others that do so too; none any more once one has failed."""
    while True:
        with lock:
            piece = None if failures else next(pieces, None)
        if piece is None:
            return
        yield piece


def _sweep_pieces(
    pieces: Iterator[Callable[[], Iterable[Any]]],
    worker: Callable[[], W],
    threads: int,
    progress: Callable[[int], None] | None,
    finish: Callable[[W], None] | None,
) -> Sequence[W]:
    """Let workers draw pieces, one after the other, and read them side by side."""
    workers = [worker() for _ in range(threads)]
    lock = threading.Lock()
    failures: list[BaseException] = []
    rows = 0

    def run(own: W) -> None:
        nonlocal rows
        try:
            for piece in _drawn(pieces, lock, failures):
                for batch in piece():
                    own.take(batch, 0)
                    if progress is not None:
                        with lock:
                            rows += batch.num_rows
                            progress(rows)
            if finish is not None and not failures:
                finish(own)
        except BaseException as error:
            failures.append(error)

    _run_crew(workers, run, failures)
    return workers


def sweep_pieces(
    source: Source,
    columns: Sequence[str],
    worker: Callable[[], S],
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
    finish: Callable[[S], None] | None = None,
) -> S:
    """The sum of what all threads took of a source whose pieces they read themselves, in whatever order.

    No worker knows the numbers of its rows. Where something in the rows is wrong, the sweep in the order of the file
    says what and where, so that is made anew.
    """
    count = threads or default_threads()
    if source.piece_count >= count:  # fewer are swept in order, as Arrow's threads then decode column by column
        try:
            return reduce(add, _sweep_pieces(source.pieces(columns), worker, count, progress, finish))
        except (Uncut, LikelyError):
            pass
    return sweep_sum(source.batches(columns), worker, threads, progress, finish)


def sweep_shares(
    source: Source,
    shares: Sequence[tuple[Sequence[str], Callable[[], W]]],
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
    finish: Callable[[W], None] | None = None,
) -> list[W] | None:
    """Sweep a source of many columns in shares of them: their names, and who takes their cells.

    What is kept of a column is kept once, not by each thread. Where columns can be read apart, each share is swept by
    itself; else threads draw pieces of all columns and go with each from share to share.
    None where something in the rows is wrong: a sweep in the order of the file says what and where.
    """
    count = threads or default_threads()
    workers = [make() for _, make in shares]
    try:
        if source.reads_columns_apart:
            pieces: list[Iterator[Any]] = [source.pieces(names) for names, _ in shares]
            _sweep_apart(pieces, workers, count, progress, finish)
        else:
            names = list(dict.fromkeys(name for own, _ in shares for name in own))
            _sweep_together(source.pieces(names), workers, count, progress)
            if finish is not None:
                _run_each(workers, finish, count)
    except (Uncut, LikelyError):
        return None
    return workers


def _run_each(items: Sequence[T], work: Callable[[T], None], threads: int) -> None:
    """Do the work of each item, on several threads."""
    waiting, lock, failures = iter(items), threading.Lock(), list[BaseException]()

    def run(_: object) -> None:
        try:
            while not failures:
                with lock:
                    item = next(waiting, None)
                if item is None:
                    return
                work(item)
        except BaseException as error:
            failures.append(error)

    _run_crew(range(min(threads, len(items))), run, failures)


def _sweep_apart(
    pieces: Sequence[Iterator[Callable[[], Iterable[Any]]]],
    workers: Sequence[W],
    threads: int,
    progress: Callable[[int], None] | None,
    finish: Callable[[W], None] | None,
) -> None:
    """Let each worker take all of its pieces, whichever thread it is on."""
    lock, rows = threading.Lock(), 0

    def take_all(place: int) -> None:
        nonlocal rows
        own = workers[place]
        for piece in pieces[place]:
            for batch in piece():
                own.take(batch, 0)
                if progress is not None:
                    with lock:
                        rows += batch.num_rows
                        progress(rows // len(workers))
        if finish is not None:
            finish(own)

    _run_each(range(len(workers)), take_all, threads)


def _sweep_together(
    pieces: Iterator[Callable[[], Iterable[Any]]],
    workers: Sequence[W],
    threads: int,
    progress: Callable[[int], None] | None,
) -> None:
    """Let all workers take every batch: a thread goes from one that is free to the next."""
    locks = [threading.Lock() for _ in workers]
    lock, rows, failures = threading.Lock(), 0, list[BaseException]()

    def hand_round(batch: Any, first: int) -> None:
        left = [*range(first, len(workers)), *range(first)]
        while left:
            free = next((k for k in left if locks[k].acquire(blocking=False)), None)
            if free is None:
                free = left[0]
                locks[free].acquire()
            try:
                workers[free].take(batch, 0)
            finally:
                locks[free].release()
            left.remove(free)

    def run(thread: int) -> None:
        nonlocal rows
        try:
            for piece in _drawn(pieces, lock, failures):
                for batch in piece():
                    hand_round(batch, thread * len(workers) // threads)
                    rows_read = batch.num_rows
                    del batch  # before the next is read: there is room for one
                    if progress is not None:
                        with lock:
                            rows += rows_read
                            progress(rows)
        except BaseException as error:
            failures.append(error)

    _run_crew(range(threads), run, failures)


def sweep_sum(
    batches: Iterator[Any],
    worker: Callable[[], S],
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
    finish: Callable[[S], None] | None = None,
    prepare: Callable[[Any, int], Any] | None = None,
) -> S:
    """The sum of what all threads took."""
    return reduce(add, sweep(batches, worker, threads, prepare, progress, finish))


# Rows kept between sweeps, where they are few enough: encoded once, in pieces that threads can share.

MOST_BYTES = 256 << 20
"""Rows that take up more are read again in every sweep."""
WORD = 8
"""Bytes that a word of a text takes up, with what stands around it: a guess, before the texts are read again."""
PIECE = 16_384
"""Rows of a piece: many enough to be worth a call, few enough for two threads to share 50,000 rows."""


@dataclass(frozen=True)
class Piece:
    """Some rows, and the fold of each (where there are folds)."""

    batch: Batch
    fold: Ints = field(default_factory=lambda: np.empty(0, np.int32))

    @property
    def num_rows(self) -> int:
        return self.batch.rows

    @property
    def size(self) -> int:
        """Bytes that its cells take up."""
        return sum(_bytes(cells) for cells in self.batch.cells.values()) + 12 * self.num_rows

    def pieces(self, most: int = PIECE) -> Iterator[Piece]:
        """Cut to at most so many rows."""
        for start in range(0, self.batch.rows, most):
            rows = slice(start, start + most)
            yield Piece(replace(self.batch.sliced(rows), start=self.batch.start + start), self.fold[rows])


def piece_rows(schema: Schema) -> int:
    """Rows of a piece of such a table: fewer where they are wide, so that a piece stays small."""
    cells = sum(64 if c.kind == "text" else 1 for c in schema.used)
    rows = PIECE
    while rows > 256 and rows * cells > 1 << 20:
        rows //= 2
    return rows


def fits_in_memory(summary: Summary) -> bool:
    """Whether all rows of a table, encoded, may be kept."""
    kinds = [c.kind for c in summary.schema.used]
    each = sum({"nominal": 4, "text": 16}.get(kind, 8) for kind in kinds) + 4
    words = sum(_words(s) for s in summary.columns.values() if isinstance(s, Words))
    return (summary.rows + summary.left_out) * each + words * WORD <= MOST_BYTES


def _words(statistic: Words) -> float:
    """How many words there are in all texts (in texts of weight one)."""
    held = statistic.tally()
    upto = int(held.starts[1]) if len(held.vocabulary) and held.vocabulary.ends[1] == 0 else 0
    return float(held.times[:upto] @ held.weight[np.arange(upto)].floats())


class RowCache:
    """The pieces of a table, sweep after sweep the same: kept, or read anew."""

    def __init__(self, summary: Summary, read: Callable[[], Iterable[Piece]]) -> None:
        self._keep, self._read = fits_in_memory(summary), read
        self._most = piece_rows(summary.schema)
        self._pieces: list[Piece] | None = None

    def __iter__(self) -> Iterator[Piece]:
        if self._pieces is not None:
            yield from self._pieces
            return
        kept, size = list[Piece](), 0
        for whole in self._read():
            for piece in whole.pieces(self._most):
                if self._keep:
                    kept.append(piece)
                    size += piece.size
                    if size > MOST_BYTES:  # texts may have far more bytes than words
                        self._keep, kept = False, []
                yield piece
        if self._keep:
            self._pieces = kept


def _bytes(cells: object) -> int:
    if isinstance(cells, Texts):
        return int((cells.ends - cells.starts).sum()) + 16 * len(cells)
    return cells.codes.nbytes if isinstance(cells, Codes) else np.asarray(cells).nbytes
