"""Folds: the sums and rows of each part; copies of rows in one part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from likely.evaluate.crossval.dealing import (
    Deal,
    Dealer,
    Folds,
    Placed,
    deal_stratified,
    set_apart,
    spread_groups,
)
from likely.evaluate.kernels import rows_by_fold
from likely.evaluate.troubles.rows import Duplicates, repeated_rows
from likely.intake.engine import Piece, RowCache, Worker, fits_in_memory, piece_rows, sweep, sweep_sum
from likely.intake.observe import Observation, ObservationPlan
from likely.intake.reading import Reading
from likely.intake.schema import Draft, check_strays, draft_schema, finalize_schema, guess_schema, plan_observation
from likely.intake.summarize import Extension, classes_and_weights, closed_encoder
from likely.machinery.arrays import Ints
from likely.machinery.threads import in_order
from likely.models.contracts import Sweep
from likely.models.heldout.kept_rows import FEW_COPIES, content_hashes, copies_sentence, has_few_levels, value_tables
from likely.sums.contracts import State
from likely.sums.exact import OrderedSum, plus_tuples
from likely.sums.summary import Summary
from likely.table.arrow import align_batches
from likely.table.batch import Batch, Codes
from likely.table.encode import Encoder
from likely.table.labels import Labels
from likely.table.schema import Schema
from likely.table.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.models.linear.newton import FoldSweep
    from likely.table.arrow import ArrowBatch


# Cross-validation in one sweep: one summary for each fold; a model for a fold learns from the total minus the fold.


class FoldObservation:
    """Rows observed fold by fold: the classes of its summary are pairs of fold and class, taken apart in `FoldSums`."""

    def __init__(self, seen: Observation, rows: NDArray[np.int64], dealer: Dealer | None = None) -> None:
        self.seen, self.rows, self._dealer = seen, rows, dealer
        self._pairs = Labels()

    @classmethod
    def empty(cls, plan: ObservationPlan, dealer: Dealer, parts: int) -> FoldObservation:
        assert plan.schema is not None
        seen = Observation(plan)
        seen.summary = Summary(_paired_schema(plan.schema))
        return cls(seen, np.zeros(parts, np.int64), dealer)

    def take(self, placed: Placed, start: int) -> None:
        """Rows as the dealer placed them."""
        batch, codes, ordinal = placed
        assert self._dealer is not None
        fold, folds = self._dealer.folds(codes, ordinal), len(self.rows)

        def pairs(encoded: Batch) -> Batch:
            assert encoded.target is not None
            for name in encoded.target.labels.names[len(self._pairs) // folds :]:
                for k in range(folds):
                    self._pairs.code(f"{k} {name}")
            pair = np.where((encoded.target.codes < 0) | (fold < 0), np.int32(-1), encoded.target.codes * folds + fold)
            counts = pair >= 0 if encoded.weight is None else (pair >= 0) & (encoded.weight > 0)
            self.rows += np.bincount(fold[counts], minlength=folds)
            return replace(encoded, target=Codes(pair, self._pairs))

        self.seen.update(batch, start, regroup=pairs)

    def canonicalize(self) -> None:
        self.seen.canonicalize()

    def __add__(self, other: FoldObservation) -> FoldObservation:
        return FoldObservation(self.seen + other.seen, self.rows + other.rows, self._dealer)

    def state(self) -> State:
        return {"seen": self.seen.state(), "rows": self.rows}

    @classmethod
    def from_state(cls, tree: State) -> FoldObservation:
        return cls(Observation.from_state(tree["seen"]), np.asarray(tree["rows"], np.int64))

    def sums(self, draft: Draft) -> FoldSums:
        """The sums of all folds under the schema by which they were observed."""
        assert self.seen.summary is not None
        check_strays(draft, self.seen.strays, self.seen.rows)
        return FoldSums(self.seen.summary.with_schema(_paired_schema(draft.schema)), self.rows, draft)


def _paired_schema(schema: Schema) -> Schema:
    """Pairs of fold and class are names, whatever the classes are."""
    plain = (replace(c, reading="text", edges=()) if c.role == "target" else c for c in schema.columns)
    return schema.with_columns(plain)


class FoldSums:
    """The sums of all rows, and those of any fold or of all but one: taken out of one summary of class and fold."""

    def __init__(self, whole: Summary, rows: NDArray[np.int64], draft: Draft) -> None:
        whole = whole.canonical()  # once, not for every fold that is taken out of it
        self._whole, self.rows, self._draft = whole, rows, draft
        self._pairs = [(int(k), name) for k, name in (pair.split(" ", 1) for pair in whole.labels.names)]
        self._names = list(dict.fromkeys(name for _, name in self._pairs))
        self.total = finalize_schema(draft, self._of_folds(lambda fold: True))

    def part(self, fold: int) -> Summary:
        """The rows of one fold. Rows that are left out are counted with the first."""
        return self.among(np.arange(len(self.rows)) == fold)

    def rest(self, fold: int) -> Summary:
        """All rows but those of one fold: the total minus the part (tests/evaluate/test_dealing.py)."""
        return self.among(np.arange(len(self.rows)) != fold)

    def among(self, seen: NDArray[np.bool_]) -> Summary:
        """The rows of those folds that are seen, as if the others had never been (tests/evaluate/test_curve.py)."""
        out = self._of_folds(lambda k: bool(seen[k])).with_schema(self.total.schema).canonical()
        out.rows, out.left_out = int(self.rows[seen].sum()), self._whole.left_out if seen[0] else 0
        return out

    def _of_folds(self, wanted: Callable[[int], bool]) -> Summary:
        index = {name: k for k, name in enumerate(self._names)}
        out = self._whole.regrouped([index[name] if wanted(k) else -1 for k, name in self._pairs], self._names)
        out.schema = self._draft.schema
        return out


@dataclass(frozen=True)
class FoldDraft(Draft):
    """A draft whose rows were dealt and summed in the sweep that it was made from."""

    deal: Deal = field(kw_only=True)
    observed: FoldObservation = field(kw_only=True)


def draft_folds(source: Source, reading: Reading, folds: Folds) -> Draft:
    """The draft of a source's schema without the column that rows are dealt by. Where they are dealt at random and a
    guess at it proves right, the sums of the folds come from the same sweep."""
    guess = guess_schema(source, reading, source) if folds.plain and reading.schema is None else None
    if guess is None or guess.target is None:
        return set_apart(source, draft_schema(source, reading), folds)
    deal = deal_stratified(folds.count, folds.seed)
    observed = _observe(source, plan_observation(source, reading, guess), reading, deal)
    draft = draft_schema(source, reading, observed.seen)
    fits = observed.seen.sums_under(draft.schema) is not None
    return FoldDraft(draft.schema, draft.open, draft.reading, deal=deal, observed=observed) if fits else draft


def sum_folds(source: Source, draft: Draft, reading: Reading, deal: Deal) -> FoldSums:
    """The sums of all rows and of each fold, all under one schema; one sweep, where the draft has not made it."""
    if isinstance(draft, FoldDraft) and draft.deal.same_as(deal):
        return draft.observed.sums(draft)
    return _observe(source, ObservationPlan.under(draft.schema), reading, deal).sums(draft)


def _observe(source: Source, plan: ObservationPlan, reading: Reading, deal: Deal) -> FoldObservation:
    assert plan.schema is not None
    dealer, columns = deal.dealer(plan.schema), plan.columns
    return sweep_sum(
        source.batches([*columns, *(c for c in deal.columns if c not in columns)]),
        lambda: FoldObservation.empty(plan, dealer, deal.parts),
        reading.threads,
        reading.progress,
        FoldObservation.canonicalize,
        dealer.place,
    )


# The rows of a source with the part that each was dealt to, sweep after sweep the same; learners sweep here.

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

    def fold_sweeper(self) -> Callable[[FoldSweep], tuple[Any, ...]]:
        """Who sums what all folds want to see. Rows as columns are the same in every sweep, and kept where they fit."""
        held = list[Any]()

        def summed(sweep: FoldSweep) -> tuple[Any, ...]:
            look, sums = LookAtFolds(sweep, self.total), OrderedSum(plus_tuples)
            pieces: Iterator[Any] = iter(self.held)
            work: Callable[[Any], tuple[Any, ...]] = look
            if fits_in_memory(self.total):
                held[:] = held or in_order(pieces, look.sheets, self.reading.threads)
                pieces, work = iter(held), sweep.look_at
            for part in in_order(pieces, work, self.reading.threads):
                sums.take(part)
            return sums.whole()  # type: ignore[no-any-return]

        return summed


@dataclass(frozen=True)
class LookAtFolds:
    """What a sweep for all folds sees of a piece."""

    sweep: FoldSweep
    total: Summary

    def sheets(self, piece: Piece) -> list[Any]:
        """The rows of each fold as columns."""
        return self.sweep.sheets(piece.batch, *classes_and_weights(self.total, piece.batch), piece.fold)

    def __call__(self, piece: Piece) -> tuple[Any, ...]:
        return self.sweep.look_at(self.sheets(piece))


@dataclass(frozen=True)
class LookAtLessons:
    """What the sweeps of all lessons see of a piece, by (learner, lesson).

    A class that only one fold has is not among those of its training rows, so that classes are numbered by lesson.
    """

    wanted: Mapping[tuple[str, int], Sweep]
    seen: NDArray[np.bool_]
    """Which lesson sees which fold, (lessons, folds and one more for rows that do not count)."""
    training: tuple[Summary, ...]

    def __call__(self, piece: Piece) -> dict[Any, tuple[Any, ...]]:
        out = {}
        for key, wanted in self.wanted.items():
            rows = piece.batch.take(np.flatnonzero(self.seen[key[1]][piece.fold]))
            out[key] = wanted.look_at(rows, *classes_and_weights(self.training[key[1]], rows))
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


# Copies of rows, as in a table that was oversampled, are dealt to one part: what has been learned from is not
# unseen.

MOST_COUNTS = 1 << 23
"""Different rows times classes up to which classes are spread evenly; beyond, hashes alone deal as well."""


def hold_copies_together(rows: FoldedRows) -> Deal | None:
    """The deal of rows that were dealt at random, with copies in one part; None where there are none to speak of."""
    deal, total = rows.deal, rows.total
    if deal.seed is None or has_few_levels(total) or _most_repeated(total) < FEW_COPIES:
        return None
    contents = reduce(add, (worker.contents for worker in rows.sweep(lambda: _ContentCounter(total))))
    found = repeated_rows(contents, total)
    if not found.belong_together:
        return None
    hashes, table = contents.by_class(len(total.classes))
    part = np.zeros(0, np.int64)
    if not found.sampled and table.size <= MOST_COUNTS:
        part = spread_groups(table, deal.parts, deal.seed)

    def dealer(_: object) -> Dealer:
        return _ByContent(total, hashes, part, deal.parts)

    note = copies_sentence(found.copied / found.rows)
    return replace(deal, dealer=dealer, seed=None, together=True, notes=(*deal.notes, note))


def _most_repeated(total: Summary) -> float:
    """The greatest share of rows that can have an equal: those whose value occurs again, in each attribute."""
    if any(column.role == "weight" for column in total.schema.columns):
        return 1.0  # what values weigh is not how often they occur
    least = 1.0
    for table in value_tables(total):
        each = table.sum(axis=1)
        least = min(least, float(each[each > 1].sum() / max(each.sum(), 1.0)))
    return least


class _ContentCounter:
    """Counts equal rows. One for each thread."""

    def __init__(self, total: Summary) -> None:
        self.contents, self._names = Duplicates(), [c.name for c in total.schema.attributes]

    def take(self, piece: Piece, start: int) -> None:
        """Some rows of the table."""
        self.contents.take(content_hashes(piece.batch, self._names), piece.batch, piece.fold, start)


class _ByContent:
    """Equal rows go to the same part: that of their content, or, where none is known, as their hash says."""

    def __init__(self, total: Summary, hashes: NDArray[np.uint64], part: NDArray[np.int64], parts: int) -> None:
        self._encoder, self._hashes, self._part, self._parts = closed_encoder(total), hashes, part, parts
        self._names = [c.name for c in total.schema.attributes]

    def place(self, batch: ArrowBatch, start: int) -> Placed:
        """The batch with each row's class code and its part."""
        encoded = self._encoder.encode(batch, start)
        assert encoded.target is not None
        own = content_hashes(encoded, self._names)
        ordinal = (own % np.uint64(self._parts)).astype(np.int64)
        if len(self._part):
            at = np.minimum(np.searchsorted(self._hashes, own), len(self._hashes) - 1)
            ordinal = np.where(self._hashes[at] == own, self._part[at], ordinal)
        return batch, encoded.target.codes, ordinal

    def folds(self, codes: Ints, ordinal: NDArray[np.int64]) -> Ints:
        """As it was placed; rows without a class are counted with the first part, and left out."""
        return np.where(codes < 0, np.int32(0), ordinal.astype(np.int32))
