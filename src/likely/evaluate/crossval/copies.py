"""Copies of rows, as in a table that was oversampled, are dealt to one part: what has been learned from is not unseen.

Knows the rows once they are summed; no learner. `heldout.dealing` says what copies are.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np

from likely.evaluate.crossval.dealing import Deal, Dealer, Placed, spread_groups
from likely.evaluate.crossval.row_folds import FoldedRows
from likely.evaluate.troubles.duplicates import Duplicates, repeated_rows
from likely.intake.extend import closed_encoder
from likely.intake.row_cache import Piece
from likely.machinery.arrays import Ints
from likely.models.heldout.dealing import FEW_COPIES, copies_sentence, has_few_levels, value_tables
from likely.models.heldout.kept_rows import content_hashes
from likely.sums.summary import Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.table.arrow import ArrowBatch

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
