"""The contracts of sums: what every statistic does, what learners may ask for, and row weights as whole digits."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias

import numpy as np

from likely.errors import SettingError, nearest, shown
from likely.machinery.arrays import Ints
from likely.sums import kernels
from likely.table.batch import Batch
from likely.table.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Row weights as whole digits, so that a weighted sum is as exact as a count.


@dataclass(frozen=True, slots=True)
class Weights:
    """weight[i] = sum of chunks[k, i] * 2**(32*(base+k)). One empty chunk stands for "every row weighs one"."""

    chunks: tuple[NDArray[np.int64], ...]
    base: int

    @property
    def plain(self) -> bool:
        return self.chunks[0].size == 0

    def nothing(self) -> NDArray[np.bool_]:
        """Which rows weigh nothing."""
        return np.bitwise_or.reduce(self.chunks) == 0  # type: ignore[no-any-return]

    def take(self, index: slice) -> Weights:
        return self if self.plain else Weights(tuple(c[index] for c in self.chunks), self.base)


EVERY_ROW_ONE = Weights((np.empty(0, np.int64),), 0)


def weights(values: NDArray[np.float64] | None) -> Weights:
    """Cut weights (finite, not negative) into digit planes; planes of zeros are dropped, so whole weights give one."""
    if values is None:
        return EVERY_ROW_ONE
    values = np.ascontiguousarray(values)
    least, most = kernels.exponents(values)
    if least > most:
        return Weights((np.zeros(len(values), np.int64),), 0)
    base = least >> 5
    planes = np.zeros(((most >> 5) - base + 3, len(values)), np.int64)
    positive = np.flatnonzero(values > 0)
    some = np.zeros((len(planes), len(positive)), np.int64)
    kernels.digits(values[positive], base, some)
    planes[:, positive] = some
    kept = np.flatnonzero(planes.any(axis=1))
    return Weights(tuple(planes[kept[0] : kept[-1] + 1]), int(base + kept[0]))


# The contracts of sums, on one screen: what every statistic does, and what one of pairs or rows may know of a
# table.

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


# What learners ask for beyond the first order: a statistic by name, of all columns or of some. Knows no statistic.


def request(name: str, columns: Iterable[str] | None = None) -> str:
    """One spelling for each wish, so that equal ones are swept once and a file can keep them.

    >>> request("cells", ["outlook", "windy"]), request("cells")
    ('cells["outlook","windy"]', 'cells')
    """
    if columns is None:
        return name
    return name + json.dumps([*columns], ensure_ascii=False, separators=(",", ":"))


def parse_request(wish: str, known: Collection[str]) -> tuple[str, tuple[str, ...] | None]:
    """The statistic that a request names, and its columns; None where it is of all of them.

    >>> parse_request('cells["outlook","windy"]', ["cells"])
    ('cells', ('outlook', 'windy'))
    """
    name, bracket, rest = wish.partition("[")
    if name not in known:
        raise SettingError(f"There is no statistic {shown(name)} to be kept of rows. {nearest(name, known)}")
    if not bracket:
        return name, None
    try:
        columns = json.loads(bracket + rest)
    except ValueError:
        columns = []
    if not columns or not all(isinstance(c, str) for c in columns) or len({*columns}) < len(columns):
        raise SettingError(f'{shown(wish)} is not a list of columns. Write it like this: {name}["age","income"].')
    return name, tuple(columns)
