"""Cross-validation in one sweep: one summary for each fold; a model for a fold learns from the total minus the fold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.evaluate.crossval.dealing import Deal, Dealer, deal_stratified
from likely.intake.engine import sweep
from likely.intake.reading import Reading
from likely.intake.schema import Draft, check_strays, finalize_schema
from likely.sums.summary import Summary
from likely.table.batch import Codes, Ints
from likely.table.encode import Encoder
from likely.table.labels import Labels
from likely.table.schema import Schema
from likely.table.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray


def rows_by_fold(fold: Ints, folds: int) -> list[NDArray[np.intp]]:
    """The rows of each fold."""
    order = np.argsort(fold, kind="stable")
    ends = np.cumsum(np.bincount(fold, minlength=folds))
    return np.split(order, ends[:-1])


class FoldSummarizer:
    """One summary for all folds: its classes are pairs of class and fold, taken apart when the sweep is done."""

    def __init__(self, schema: Schema, dealer: Dealer, parts: int) -> None:
        self.encoder = Encoder(schema)
        plain = (replace(c, reading="text", edges=()) if c.role == "target" else c for c in schema.columns)
        self.summary = Summary(schema.with_columns(plain))  # the pairs are names, whatever the classes are
        self.rows = np.zeros(parts, np.int64)
        self._dealer, self._parts = dealer, parts
        self._pairs = Labels()

    def take(self, placed: tuple[Any, Ints, NDArray[np.int64]], start: int) -> None:
        batch, codes, ordinal = placed
        encoded = self.encoder.encode(batch, start)
        assert encoded.target is not None
        fold, folds = self._dealer.folds(codes, ordinal), self._parts
        for name in encoded.target.labels.names[len(self._pairs) // folds :]:
            for k in range(folds):
                self._pairs.code(_paired(name, k))
        pair = np.where((encoded.target.codes < 0) | (fold < 0), np.int32(-1), encoded.target.codes * folds + fold)
        counts = pair >= 0 if encoded.weight is None else (pair >= 0) & (encoded.weight > 0)
        self.rows += np.bincount(fold[counts], minlength=folds)
        self.summary.update(replace(encoded, target=Codes(pair, self._pairs)))


def _paired(name: str, fold: int) -> str:
    return f"{fold} {name}"


class FoldSums:
    """The sums of all rows, and those of any fold or of all but one: taken out of one summary of class and fold."""

    def __init__(self, whole: Summary, rows: NDArray[np.int64], first: Draft) -> None:
        whole = whole.canonical()  # once, not for every fold that is taken out of it
        self._whole, self.rows, self._first = whole, rows, first
        self._pairs = [(int(k), name) for k, name in (pair.split(" ", 1) for pair in whole.labels.names)]
        self._names = list(dict.fromkeys(name for _, name in self._pairs))
        self.total, _ = finalize_schema(first, self._taken(lambda fold: True))

    def part(self, fold: int) -> Summary:
        """The rows of one fold. Rows that are left out are counted with the first."""
        return self.among(np.arange(len(self.rows)) == fold)

    def rest(self, fold: int) -> Summary:
        """All rows but those of one fold: the total minus the part (tests/evaluate/test_folds.py)."""
        return self.among(np.arange(len(self.rows)) != fold)

    def among(self, seen: NDArray[np.bool_]) -> Summary:
        """The rows of those folds that are seen, as if the others had never been (tests/evaluate/test_curve.py)."""
        out = self._settled(self._taken(lambda k: bool(seen[k])))
        out.rows, out.left_out = int(self.rows[seen].sum()), self._whole.left_out if seen[0] else 0
        return out

    def _taken(self, wanted: Callable[[int], bool]) -> Summary:
        index = {name: k for k, name in enumerate(self._names)}
        out = self._whole.regrouped([index[name] if wanted(k) else -1 for k, name in self._pairs], self._names)
        out.schema = self._first.schema
        return out

    def _settled(self, summary: Summary) -> Summary:
        return summary.with_schema(self.total.schema).canonical()


def sum_folds(
    source: Source, first: Draft, reading: Reading, folds: int, seed: int, deal: Deal | None = None
) -> FoldSums:
    """One sweep: the sums of all rows and of each fold, all settled under one schema."""
    deal = deal_stratified(folds, seed) if deal is None else deal
    dealer, parts = deal.dealer(first.schema), deal.parts
    columns = [c.name for c in first.schema.used]
    workers = sweep(
        source.batches([*columns, *(c for c in deal.columns if c not in columns)]),
        lambda: FoldSummarizer(first.schema, dealer, parts),
        reading.threads,
        dealer.place,
        reading.progress,
    )
    whole = reduce(add, (w.summary for w in workers))
    check_strays([w.encoder for w in workers], first, whole.rows + whole.left_out)
    return FoldSums(whole, sum((w.rows for w in workers), np.zeros(parts, np.int64)), first)
