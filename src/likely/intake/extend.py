"""Further sweeps: statistics beyond the first order, and the searches of learners that must look at the rows again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.intake.row_cache import Piece, RowCache, piece_rows
from likely.machinery.arrays import Ints
from likely.machinery.threads import in_order
from likely.models.contracts import Model, Search
from likely.models.model import numbered
from likely.sums.columns.counts import Counts
from likely.sums.contracts import RowStatistic
from likely.sums.rows.pairs import Pairs
from likely.sums.summary import Summary
from likely.sums.trees import OrderedSum, plus_tuples
from likely.table.arrow import align_batches
from likely.table.batch import Batch
from likely.table.encode import Encoder
from likely.table.labels import Labels
from likely.table.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.table.arrow import ArrowBatch

More = Mapping[str, RowStatistic]
"""Statistics beyond the first order, by request."""


class Extension:
    """Takes rows into statistics beyond the first order, begun from a summary of the first.

    `like` holds statistics of another summary, with which those of this one are to be added or taken away.
    """

    def __init__(self, summary: Summary, names: frozenset[str], like: More | None = None) -> None:
        self.more = {name: summary.empty_statistic(name) for name in sorted(names)}
        cut = (like or {}).get("pairs")
        if isinstance(cut, Pairs) and "pairs" in names:
            self.more["pairs"] = Pairs.over(summary, cut)
        self._summary = summary.without(summary.more)
        self._encoder = Encoder(summary.schema)

    def update(self, batch: Batch) -> None:
        self._summary.update_more(batch, self.more)

    def take(self, batch: ArrowBatch, start: int) -> None:
        self.update(self._encoder.encode(batch, start))

    def __add__(self, other: Extension) -> Extension:
        out = copy(self)
        out.more = {name: held + other.more[name] for name, held in self.more.items()}
        return out


def classes_and_weights(summary: Summary, batch: Batch) -> tuple[Ints, NDArray[np.float64]]:
    """The class of each row among the summary's (negative: none), and its weight."""
    target = batch.target
    if target is None:
        return np.zeros(batch.rows, np.int32), np.ones(batch.rows)
    index = {name: k for k, name in enumerate(summary.classes)}
    places = np.array([*(index.get(n, -1) for n in target.labels.names), -1, -1], np.int32)
    return places[target.codes], np.ones(batch.rows) if batch.weight is None else batch.weight


def closed_encoder(total: Summary) -> Encoder:
    """The encoder of rows whose sums are known.

    Closed labels: threads share the encoder, and would step on each other's toes if it collected new ones.
    """
    labels = {n: s.labels for n, s in total.columns.items() if isinstance(s, Counts)}
    return Encoder(total.schema, labels, Labels(total.classes))


def run_search(source: Source, search: Model | Search, summary: Summary, threads: int | None = None) -> Model:
    """Give a search its sweeps. Partial results are added in the order of the file, so threads change nothing."""
    columns, encoder = summary.schema.stored, closed_encoder(summary)

    def read() -> Iterator[Piece]:
        batches = numbered(align_batches(source.batches(columns), piece_rows(summary.schema)))
        yield from in_order(batches, lambda item: Piece(encoder.encode(item[1], item[0])), threads)

    rows = RowCache(summary, read)
    while isinstance(search, Search):
        running = search

        def partial(piece: Piece) -> tuple[Any, ...]:
            return running.look_at(piece.batch, *classes_and_weights(summary, piece.batch))  # noqa: B023

        sums = OrderedSum(plus_tuples)
        for part in in_order(iter(rows), partial, threads):
            sums.take(part)
        search = running.step(sums.whole())
    return search
