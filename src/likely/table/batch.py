"""A batch: some rows of a table as numpy arrays, read as the schema says. Knows neither Arrow nor files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

Ints: TypeAlias = "NDArray[np.int32]"
Floats: TypeAlias = "NDArray[np.float64]"

MISSING_CODE = -1
UNSEEN_CODE = -2


@dataclass(frozen=True, slots=True)
class Codes:
    """A nominal column: each cell is a code into `labels`, MISSING_CODE, or (closed labels only) UNSEEN_CODE."""

    codes: Ints
    labels: Labels


@dataclass(frozen=True, slots=True)
class Batch:
    """`cells` holds `Codes` for nominal columns and floats (NaN is missing) for numbers and dates."""

    rows: int
    cells: dict[str, Codes | Floats]
    target: Codes | None = None
    weight: Floats | None = None
    start: int = 0
    """Position of the first row in the table."""

    def sliced(self, rows: slice) -> Batch:
        """A run of rows, without copying."""
        return self._at(rows, len(range(*rows.indices(self.rows))))

    def take(self, index: NDArray[Any]) -> Batch:
        """The rows at `index`."""
        return self._at(index, len(index))

    def only(self, names: Iterable[str]) -> Batch:
        """The same rows with these attributes alone."""
        return Batch(self.rows, {name: self.cells[name] for name in names}, self.target, self.weight, self.start)

    def _at(self, index: Any, rows: int) -> Batch:
        def some(cell: Codes | Floats) -> Codes | Floats:
            return Codes(cell.codes[index], cell.labels) if isinstance(cell, Codes) else cell[index]

        target = None if self.target is None else Codes(self.target.codes[index], self.target.labels)
        weight = None if self.weight is None else self.weight[index]
        return Batch(rows, {name: some(c) for name, c in self.cells.items()}, target, weight, self.start)
