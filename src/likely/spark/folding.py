"""Cross-validation where the rows are: the sums of all folds from one sweep, every row scored by models that have not
seen its fold.

A counting sweep says how many rows of each class lie before each part, so that rows are dealt as on one machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from likely.errors import SettingError
from likely.evaluate.compare import Comparison, compared
from likely.evaluate.crossval.dealing import Dealing, Folds, Stratified, deal_stratified
from likely.evaluate.crossval.folds import FoldObservation
from likely.evaluate.crossval.judge import Judge
from likely.evaluate.crossval.row_folds import FoldedRows, FoldExtender, plus_tables
from likely.evaluate.crossval.validate import Learners, Validation, check_classes, merge_repeats, validate_rows
from likely.intake.extend import classes_and_weights
from likely.intake.observe import Plan
from likely.intake.reading import Reading
from likely.intake.row_cache import Piece
from likely.intake.schema import Draft, draft_schema, plan_observation
from likely.models.contracts import Learner, Model
from likely.models.linear.newton import FoldNewton
from likely.spark.flow import SparkEngine
from likely.spark.parcel import packed, unpacked
from likely.spark.pieces import Places, Rows, sum_pieces
from likely.spark.spread import Spread
from likely.spark.tasks import Answer, Bundle, to_bytes
from likely.sums.summary import Summary
from likely.sums.trees import plus_tuples
from likely.table.encode import Encoder
from likely.table.schema import Schema
from likely.table.source import Source


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
        seen, start = FoldObservation.empty(Plan.under(self.schema), dealer, folds), self.places.start(part)
        for batch in source.batches(self.schema.stored):
            seen.take(dealer.place(batch, start), start)
            start += batch.num_rows
        yield 0, to_bytes(seen)


@dataclass(frozen=True)
class Take:
    """A worker takes the pieces of a part."""

    rows: Rows
    worker: Any

    def __call__(self, source: Source, part: int) -> Iterator[Answer]:
        encoder = self.rows.encoder()
        for batch, start, fold in self.rows.batches(source, part):
            self.worker.take(self.rows.piece(encoder, batch, start, fold), start)
        yield 0, to_bytes(Bundle(_held(self.worker)))


def _held(worker: Any) -> Any:
    """What a worker has summed, without what it sums by."""
    return worker.scorers if isinstance(worker, Judge) else [e.more for e in worker.extenders]


@dataclass(frozen=True)
class AskTogether:
    """What a search for all folds wants to know of a piece."""

    search: FoldNewton
    total: Summary

    def __call__(self, piece: Piece) -> tuple[Any, ...]:
        sheets = self.search.sheets(piece.batch, *classes_and_weights(self.total, piece.batch), piece.fold)
        return self.search.look_at(sheets)


class SpreadFolded(FoldedRows):
    """The rows of a spread table with their folds."""

    def __init__(self, spread: Spread, total: Summary, places: Places, reading: Reading, dealing: Dealing) -> None:
        super().__init__(spread.title, total, reading, deal_stratified(dealing.folds, dealing.seed))
        self._spread, self._rows = spread, Rows(total, places, dealing)

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

    def search_together(self, begun: FoldNewton) -> Mapping[int, Model]:
        while not begun.done:
            begun = begun.step(sum_pieces(self._spread, self._rows, AskTogether(begun, self.total), plus_tuples))
        return begun.models


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
