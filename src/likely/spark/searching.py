"""The further sweeps of learners that must look at the rows again, done where the rows are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from likely.intake.extend import classes_and_weights
from likely.intake.row_cache import Piece
from likely.models.contracts import Model, Search
from likely.spark.pieces import Places, Rows, sum_pieces
from likely.spark.spread import Spread
from likely.sums.summary import Summary
from likely.sums.trees import plus_tuples


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
