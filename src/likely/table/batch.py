"""A batch: some rows of a table as numpy arrays, read as the schema says. Knows neither Arrow nor files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from likely.machinery.arrays import Bytes, Longs
from likely.machinery.arrays import Floats as Floats
from likely.machinery.arrays import Ints as Ints
from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

MISSING_CODE = -1
UNSEEN_CODE = -2


class Codes:
    """A nominal column: each cell is a code into `labels`, MISSING_CODE, or (closed labels only) UNSEEN_CODE."""

    __slots__ = ("_codes", "crossed", "labels")

    def __init__(self, codes: Ints | Callable[[], Ints], labels: Labels, crossed: Crossed | None = None) -> None:
        self._codes, self.labels = codes, labels
        self.crossed = crossed
        """The same cells counted already, for those who want no more of them."""

    @property
    def codes(self) -> Ints:
        """The code of each cell, made when it is first asked for."""
        if callable(self._codes):
            self._codes = self._codes()
        return self._codes


@dataclass(frozen=True, slots=True)
class Crossed:
    """How often each entry of a column's dictionary meets each class: a column that was counted while it was read."""

    target: Codes
    """The classes: those of the batch, unless someone has given its rows others since."""
    times: Longs
    """(entries and last null) x (no class, then the classes by their code)."""
    codes: Ints
    """The code of each entry, last of null."""


@dataclass(frozen=True, slots=True)
class Texts:
    """A text column: cell i is data[starts[i]:ends[i]], sound UTF-8, not copied; an empty one is missing."""

    data: Bytes
    starts: Longs
    ends: Longs

    def __len__(self) -> int:
        return len(self.starts)

    def take(self, index: Any) -> Texts:
        """The cells at `index` (a slice will do), over the same bytes."""
        return Texts(self.data, np.ascontiguousarray(self.starts[index]), np.ascontiguousarray(self.ends[index]))

    def text(self, row: int) -> str:
        """One cell as Python's text."""
        return self.data[self.starts[row] : self.ends[row]].tobytes().decode()


def pack_texts(cells: Sequence[str | None]) -> Texts:
    """Python's own texts as cells; None is missing."""
    parts = [(cell or "").encode() for cell in cells]
    bounds = np.cumsum([0, *(len(part) for part in parts)]).astype(np.int64)
    return Texts(np.frombuffer(b"".join(parts), np.uint8), bounds[:-1].copy(), bounds[1:].copy())


Cells: TypeAlias = Any
"""`Codes`, floats or `Texts`, as the kind of the column says."""


@dataclass(frozen=True, slots=True)
class Batch:
    """`cells` holds `Codes` for nominal columns, floats (NaN is missing) for numbers and dates, `Texts` for text."""

    rows: int
    cells: dict[str, Cells]
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
        def rows_of(cell: Cells) -> Cells:
            if isinstance(cell, Texts):
                return cell.take(index)
            return Codes(cell.codes[index], cell.labels) if isinstance(cell, Codes) else cell[index]

        target = None if self.target is None else Codes(self.target.codes[index], self.target.labels)
        weight = None if self.weight is None else self.weight[index]
        return Batch(rows, {name: rows_of(c) for name, c in self.cells.items()}, target, weight, self.start)
