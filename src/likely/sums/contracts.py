"""The contracts of sums, on one screen: what every statistic does, and what one of pairs or rows may know of a table.

Knows no statistic. `Summary` keeps one `ColumnStatistic` for each attribute and a `RowStatistic` for each request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias

import numpy as np

from likely.machinery.arrays import Ints
from likely.sums.weights import EVERY_ROW_ONE, Weights
from likely.table.batch import Batch
from likely.table.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

State: TypeAlias = dict[str, Any]
"""What a file keeps of a statistic: names, numbers and arrays, by name."""


class Statistic(Protocol):
    """An exact sum over rows, for each group of them (a group is a class). Knows data, never settings."""

    @property
    def groups(self) -> int: ...
    @property
    def impossible(self) -> bool:
        """Whether something weighs less than nothing: rows were taken away that were never there."""
        ...

    def __add__(self, other: Self) -> Self:
        """Merge: exact, commutative, associative."""
        ...

    def __sub__(self, other: Self) -> Self:
        """Unlearn: the exact inverse of `+`."""
        ...

    def canonical(self) -> Self:
        """A copy in the one form that equal sums share."""
        ...

    def regrouped(self, places: NDArray[np.intp], groups: int) -> Self:
        """The same sums with group i called places[i], or left out where that is negative."""
        ...

    def state(self) -> State: ...
    @classmethod
    def from_state(cls, state: State) -> Self: ...


class TableSums(Protocol):
    """What a statistic of several columns reads of a summary before it begins: columns, levels, classes, rows."""

    schema: Schema
    rows: int

    @property
    def classes(self) -> tuple[str, ...]: ...
    @property
    def columns(self) -> Mapping[str, Any]: ...
    def without_text(self) -> TableSums: ...


class RowStatistic(Statistic, Protocol):
    """A statistic beyond the first order: it takes in whole rows."""

    @classmethod
    def over(cls, table: TableSums) -> Self:
        """An empty one for the table that a summary is of."""
        ...

    def update(self, batch: Batch, group: Ints, weights: Weights = EVERY_ROW_ONE) -> None:
        """Take in a batch; `group` says the class of each row (negative: left out)."""
        ...
