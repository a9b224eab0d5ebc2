"""Sweeps and cross-validation where the rows are, also where the place of a row matters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from likely.errors import EncodingError, SettingError
from likely.evaluate.compare import Comparison, compared
from likely.evaluate.crossval.dealing import Dealing, Folds, Stratified, deal_stratified
from likely.evaluate.crossval.folds import (
    FoldedRows,
    FoldExtender,
    FoldObservation,
    LookAtFolds,
    dealt_piece,
    plus_tables,
)
from likely.evaluate.crossval.validate import Judge, Learners, Validation, check_classes, merge_repeats, validate_rows
from likely.intake.engine import Piece, piece_rows
from likely.intake.observe import Observation, ObservationPlan
from likely.intake.reading import Reading
from likely.intake.schema import Draft, draft_schema, guess_schema, plan_observation
from likely.intake.summarize import LookAtPiece, More, Sweeper, closed_encoder
from likely.machinery.arrays import Ints
from likely.models.contracts import Learner, Sweep
from likely.models.learning import answer_apart
from likely.models.linear.newton import FoldSweep
from likely.spark import tasks
from likely.spark.parcel import packed, unpacked
from likely.spark.session import failures
from likely.spark.spread import LETTER, Files, Spread, check_letters, unstable
from likely.spark.tasks import Answer, Bundle, Extend, Observe, to_bytes
from likely.spark.together import count_places, work_together
from likely.sums.exact import OrderedSum, plus_tuples
from likely.sums.summary import Summary
from likely.table.arrow import align_batches, concat_batches, pack_table, unpack_batch
from likely.table.encode import Encoder
from likely.table.schema import Schema
from likely.table.source import Source
from likely.table.texts.numbers import column_form
from likely.table.wrappers import DeferredSource, OneSweepSource

if TYPE_CHECKING:
    from likely.table.arrow import ArrowBatch


# Sweeps in which the place of a row matters: pieces, cut at the same rows as on one machine and added as the same
# tree, so that even sums of floats agree to the last bit (decision 0096).

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
class PartReader:
    """How the rows of a part become pieces: read by closed labels, placed, dealt."""

    total: Summary
    places: Places
    dealing: Dealing | None = None

    def batches(self, source: Source, part: int) -> Iterator[tuple[ArrowBatch, int, Ints]]:
        """Batches cut where pieces are, the number of the first row of each, and the fold of each row."""
        if part >= len(self.places.rows):
            raise unstable(source.name)
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
            raise unstable(source.name)

    def encoder(self) -> Encoder:
        return closed_encoder(self.total)

    def piece(self, encoder: Encoder, batch: ArrowBatch, start: int, fold: Ints) -> Piece:
        return Piece(encoder.encode(batch, start), fold)


@dataclass(frozen=True)
class LookAt:
    """What `work` makes of each piece, added up as far as this part has them; pieces it has only a part of go on."""

    rows: PartReader
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


def sum_pieces(spread: Spread, rows: PartReader, work: Callable[[Piece], Any], plus: Callable[[Any, Any], Any]) -> Any:
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


# A spread table on the one road to a summary: each sweep is done where the rows are.

T = TypeVar("T")


def with_encoding(
    open_spread: Callable[[Reading], Spread], reading: Reading, work: Callable[[SparkEngine, Reading], T]
) -> T:
    """Do `work`; where a text proves not to be UTF-8 after all, once more as latin-1."""
    if reading.by_file or reading.push:
        raise SettingError("keep, skip_bad and push are of one machine. Leave them out where Spark sweeps.")
    # Neither travels: nobody listens where the rows are.
    reading = replace(reading, progress=None, remark=None, threads=1)
    try:
        return work(SparkEngine(open_spread(reading)), reading)
    except EncodingError:
        if reading.encoding is not None:
            raise
        again = replace(reading, encoding="latin-1")
        return work(SparkEngine(open_spread(again)), again)


@dataclass(frozen=True)
class SparkEngine:
    """Executors sweep the parts of a table."""

    spread: Spread

    @property
    def title(self) -> DeferredSource:
        return self.spread.title

    def guess(self, reading: Reading) -> Schema | None:
        """By the first rows where the driver can see them; else texts are taken for levels, unless all is text."""
        if isinstance(self.spread, Files):
            return guess_schema(self.title, reading, self.spread.first())
        forms = {column_form(field.type) for field in self.title.schema}
        names = list(self.title.schema.names)
        nothing = OneSweepSource(self.title.name, names, self.title.schema, iter(()))
        return None if forms == {"text"} else guess_schema(self.title, reading, nothing)

    def observe(self, plan: ObservationPlan) -> Observation:
        if not plan.columns and plan.schema is None:
            return Observation(plan)
        return self.spread.sum_task(Observe(plan), plan.columns, Observation)

    def extend(self, summary: Summary, names: frozenset[str], like: More | None) -> More:
        columns = summary.schema.stored
        more: More = self.spread.sum_task(Extend(summary, names, like), columns, Bundle).held
        return more

    def sweeper(self, summary: Summary) -> Sweeper:
        """Rows are counted before the first sweep that brings sums home: the place of a row matters to some."""
        readers: list[PartReader] = []

        def answer(sweep: Sweep) -> Any:
            if not readers:
                readers.append(PartReader(summary, Places(tuple(self.spread.count_rows()))))
            look = LookAtPiece(replace(sweep, together=None), summary)
            return sum_pieces(self.spread, readers[0], look, plus_tuples)

        def together(sweep: Sweep) -> Any:
            places = count_places(self.spread.spark, summary.rows)
            return work_together(self.spread, sweep, summary, places) if places else answer(sweep)

        return lambda sweep: answer_apart(sweep, together, answer)


# Cross-validation where the rows are: the sums of all folds from one sweep, every row scored by models that have
# not seen its fold.


@dataclass(frozen=True)
class CountClasses:
    """The classes of a part in the order in which they come up, with their rows; keyed by all rows of the part."""

    schema: Schema

    def __call__(self, source: Source, part: int) -> Iterator[Answer]:
        target = self.schema.target
        assert target is not None
        encoder = Encoder(self.schema.with_columns([target]))
        counts, rows, names = np.zeros(0, np.int64), 0, []
        for batch in source.batches([target.name]):
            found = encoder.encode(batch, rows).target
            assert found is not None
            names = found.labels.names
            counts = np.concatenate([counts, np.zeros(len(names) - len(counts), np.int64)])
            counts += np.bincount(found.codes[found.codes >= 0], minlength=len(names))
            rows += batch.num_rows
        yield rows, packed(dict(zip(names, counts.tolist(), strict=True)))


def placed(spread: Spread, schema: Schema) -> Places:
    """Where each part begins, for rows that are dealt to folds."""
    target = schema.target
    assert target is not None
    found = {part: (rows, unpacked(data)) for part, rows, data in spread.collect(CountClasses(schema), [target.name])}
    parts = [found.get(k, (0, {})) for k in range(max(found, default=-1) + 1)]
    ahead: dict[str, int] = {name: 0 for _, counts in parts for name in counts}
    before = []
    for _, counts in parts:
        before.append(dict(ahead))
        for name, count in counts.items():
            ahead[name] += count
    return Places(tuple(rows for rows, _ in parts), tuple(before))


@dataclass(frozen=True)
class SumFolds:
    """The sums of each fold under a schema."""

    schema: Schema
    places: Places
    dealing: Dealing

    def __call__(self, source: Source, part: int) -> Iterator[Answer]:
        folds = self.dealing.folds
        dealer = Stratified(self.schema, folds, self.dealing.seed, self.places.before[part])
        seen, start = FoldObservation.empty(ObservationPlan.under(self.schema), dealer, folds), self.places.start(part)
        for batch in source.batches(self.schema.stored):
            seen.take(dealer.place(batch, start), start)
            start += batch.num_rows
        yield 0, to_bytes(seen)


@dataclass(frozen=True)
class Take:
    """A worker takes the pieces of a part."""

    rows: PartReader
    worker: Any

    def __call__(self, source: Source, part: int) -> Iterator[Answer]:
        encoder = self.rows.encoder()
        for batch, start, fold in self.rows.batches(source, part):
            self.worker.take(self.rows.piece(encoder, batch, start, fold), start)
        yield 0, to_bytes(Bundle(_held(self.worker)))


def _held(worker: Any) -> Any:
    """What a worker has summed, without what it sums by."""
    return worker.scorers if isinstance(worker, Judge) else [e.more for e in worker.extenders]


class SpreadFolded(FoldedRows):
    """The rows of a spread table with their folds."""

    def __init__(self, spread: Spread, total: Summary, places: Places, reading: Reading, dealing: Dealing) -> None:
        super().__init__(spread.title, total, reading, deal_stratified(dealing.folds, dealing.seed))
        self._spread, self._rows = spread, PartReader(total, places, dealing)

    def sweep(self, worker: Callable[[], Any]) -> Sequence[Any]:
        """One worker, with what all of them have summed."""
        out = worker()
        if isinstance(out, Judge) and out.extra is not None:
            raise NotImplementedError("what watches rows as they are scored does not travel")
        found = self._spread.sum_task(Take(self._rows, out), self.columns, Bundle)
        if isinstance(out, Judge):
            out.scorers = found.held
        elif isinstance(out, FoldExtender):
            for extender, more in zip(out.extenders, found.held, strict=True):
                extender.more = more
        return [out]

    def sum_pieces(self, partial: Callable[[Piece], dict[Any, tuple[Any, ...]]]) -> dict[Any, tuple[Any, ...]]:
        return sum_pieces(self._spread, self._rows, partial, plus_tables) or {}

    def fold_sweeper(self) -> Callable[[FoldSweep], tuple[Any, ...]]:
        return lambda sweep: sum_pieces(self._spread, self._rows, LookAtFolds(sweep, self.total), plus_tuples)


def compare_spread(
    engine: SparkEngine,
    reading: Reading,
    learners: Mapping[str, Learner] | None,
    also: Mapping[str, Learner],
    folds: Folds,
) -> Comparison:
    """Learners side by side on the same folds."""
    if not folds.plain:
        raise SettingError(
            f"Spark deals rows to folds at random, not by {folds.how}. Leave that out, or compare on one machine."
        )
    spread, drafts, places = engine.spread, list[Draft](), list[Places]()

    def draft(source: Source, how: Reading, _: Folds) -> Draft:
        if not drafts:
            seen = None if how.schema is not None else engine.observe(plan_observation(engine.title, how))
            drafts.append(draft_schema(engine.title, how, seen))
            places.extend([placed(spread, drafts[0].schema)] if drafts[0].schema.target else [])
        return drafts[0]

    def once(source: Source, first: Draft, how: Reading, who: Learners, dealing: Dealing) -> Validation:
        task = SumFolds(first.schema, places[0], dealing)
        sums = spread.sum_task(task, first.schema.stored, FoldObservation).sums(first)
        check_classes(sums.total, source)
        return validate_rows(SpreadFolded(spread, sums.total, places[0], how, dealing), sums, who)

    def validate(source: Source, first: Draft, how: Reading, who: Learners, asked: Folds) -> Validation:
        return merge_repeats(
            once(source, first, how, who, Dealing(asked.count, asked.seed + k)) for k in range(asked.repeats)
        )

    return compared(engine.title, reading, learners, also, folds, validate, draft)
