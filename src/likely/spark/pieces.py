"""Sweeps in which the place of a row matters: pieces, cut at the same rows as on one machine and added as the same
tree, so that even sums of floats agree to the last bit (decision 0096).

A piece that lies across parts is put together again before it is looked at. Searches have their further sweeps so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import InputError
from likely.evaluate.crossval.dealing import Dealing, Stratified
from likely.evaluate.crossval.row_folds import dealt_piece
from likely.intake.extend import classes_and_weights, closed_encoder
from likely.intake.row_cache import Piece, piece_rows
from likely.machinery.arrays import Ints
from likely.models.contracts import Model, Search
from likely.spark import tasks
from likely.spark.parcel import packed, unpacked
from likely.spark.session import failures
from likely.spark.spread import LETTER, Spread, check_letters
from likely.sums.summary import Summary
from likely.sums.trees import OrderedSum, plus_tuples
from likely.table.arrow import align_batches, concat_batches, pack_table, unpack_batch
from likely.table.encode import Encoder
from likely.table.source import Source

if TYPE_CHECKING:
    from likely.table.arrow import ArrowBatch

MOST_BLOCKS = 64
"""At most about so many sums come back to the driver."""


@dataclass(frozen=True)
class Places:
    """Where each part begins: rows before it and, where rows are dealt to folds, how many of them are in each class."""

    rows: tuple[int, ...]
    """Of each part."""
    before: tuple[Mapping[str, int], ...] = ()
    """For each part: the classes of the whole table, in the order in which they come up, with their rows before it."""

    @property
    def total(self) -> int:
        return sum(self.rows)

    def start(self, part: int) -> int:
        return list(accumulate(self.rows, initial=0))[part]


@dataclass(frozen=True)
class Rows:
    """How the rows of a part become pieces: read by closed labels, placed, dealt."""

    total: Summary
    places: Places
    dealing: Dealing | None = None

    def batches(self, source: Source, part: int) -> Iterator[tuple[ArrowBatch, int, Ints]]:
        """Batches cut where pieces are, the number of the first row of each, and the fold of each row."""
        if part >= len(self.places.rows):
            raise _unstable(source.name)
        start, size = self.places.start(part), piece_rows(self.total.schema)
        end = start + self.places.rows[part]
        dealer = None
        if self.dealing is not None:
            own = self.places.before[part]
            dealer = Stratified(self.total.schema, self.dealing.folds, self.dealing.seed, own)
        encoder = closed_encoder(self.total)
        columns = self.total.schema.stored
        for whole in align_batches(source.batches(columns), size, start):
            at = 0
            while at < whole.num_rows:
                batch = whole.slice(at, size - start % size)
                fold = np.empty(0, np.int32)
                if dealer is not None:
                    fold = dealt_piece(encoder, dealer, dealer.folds_count, dealer.place(batch, start), start).fold
                yield batch, start, fold
                at, start = at + batch.num_rows, start + batch.num_rows
        if start != end:
            raise _unstable(source.name)

    def encoder(self) -> Encoder:
        return closed_encoder(self.total)

    def piece(self, encoder: Encoder, batch: ArrowBatch, start: int, fold: Ints) -> Piece:
        return Piece(encoder.encode(batch, start), fold)


def _unstable(name: str) -> InputError:
    return InputError(
        f"The rows of {name} were others when they were read again, but this learner must see the same rows in every "
        "sweep. Persist the DataFrame, or write it to files and give their path."
    )


@dataclass(frozen=True)
class LookAt:
    """What `work` makes of each piece, added up as far as this part has them; pieces it has only a part of go on."""

    rows: Rows
    work: Callable[[Piece], Any]
    plus: Callable[[Any, Any], Any]
    top: int
    """Blocks of 2**top pieces are the largest; those of one such block meet in one task."""

    def __call__(self, source: Source, part: int) -> Iterator[tuple[int, bytes]]:
        size, encoder = piece_rows(self.rows.total.schema), closed_encoder(self.rows.total)
        sums: OrderedSum[Any] | None = None
        for batch, start, fold in self.rows.batches(source, part):
            number = start // size
            if start % size or (batch.num_rows < size and start + batch.num_rows < self.rows.places.total):
                yield number >> self.top, packed((None, number, start, pack_table(batch), fold))
                continue
            if sums is None:
                sums = OrderedSum(self.plus, number, self.top)
            sums.take(self.work(self.rows.piece(encoder, batch, start, fold)))
        for level, place, block in [] if sums is None else sums.blocks:
            yield (place << level) >> self.top, packed((level, place, block))


@dataclass(frozen=True)
class Finish:
    """Puts pieces together whose rows came from several parts, and adds up what belongs to one large block."""

    look: LookAt

    def __call__(self, sent: Iterable[tuple[int, int, bytes]]) -> Iterator[tuple[int, bytes]]:
        blocks: dict[int, list[tuple[int, int, Any]]] = {}
        torn: dict[int, list[tuple[int, bytes, Any]]] = {}
        top = self.look.top
        for _, key, data in sent:
            what = unpacked(data)
            if what[0] is None:
                torn.setdefault(what[1], []).append(what[2:])
            else:
                blocks.setdefault(key, []).append(what)
        encoder = closed_encoder(self.look.rows.total)
        for number in sorted(torn):
            some = sorted(torn.pop(number), key=lambda s: s[0])
            batch = concat_batches([unpack_batch(data) for _, data, _ in some])
            fold = np.concatenate([f for _, _, f in some])
            piece = self.look.rows.piece(encoder, batch, some[0][0], fold)
            blocks.setdefault(number >> top, []).append((0, number, self.look.work(piece)))
        for key, held in blocks.items():
            sums = OrderedSum(self.look.plus, top=top)
            for level, place, block in sorted(held, key=lambda b: b[1] << b[0]):
                sums.take_block(level, place, block)
            for one in sums.blocks:
                yield key, packed(one)


def sum_pieces(spread: Spread, rows: Rows, work: Callable[[Piece], Any], plus: Callable[[Any, Any], Any]) -> Any:
    """What `work` makes of all pieces, added up in the order of rows."""
    pieces = -(-rows.places.total // piece_rows(rows.total.schema))
    top = 0
    while pieces >> top > MOST_BLOCKS:
        top += 1
    look = LookAt(rows, work, plus, top)
    columns = rows.total.schema.stored
    with failures(spread.title.name):
        branches = max(1, min(spread.joiners(), pieces))
        sent = spread.letters(look, columns).repartition(branches, "key")
        found = check_letters(sent.mapInArrow(partial(tasks.of_letters, packed(Finish(look))), LETTER).collect())
    sums = OrderedSum(plus)
    for block in sorted((unpacked(data) for _, _, data in found), key=lambda b: b[1] << b[0]):
        sums.take_block(*block)
    return sums.whole()


@dataclass(frozen=True)
class Ask:
    """What a search wants to know of a piece."""

    search: Search
    summary: Summary

    def __call__(self, piece: Piece) -> tuple[Any, ...]:
        return self.search.look_at(piece.batch, *classes_and_weights(self.summary, piece.batch))


def run_search(spread: Spread, search: Model | Search, summary: Summary) -> Model:
    """Give a search its sweeps. A counting sweep comes first: the place of a row matters to some."""
    rows = Rows(summary, Places(tuple(spread.count_rows())))
    while isinstance(search, Search):
        search = search.step(sum_pieces(spread, rows, Ask(search, summary), plus_tuples))
    return search
