"""What is known of how good a model is, as plain records: figures with bounds, scores by subgroup. Knows no rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.table.batch import Batch, Codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_LEVELS = 20
"""An attribute of more levels makes no subgroups: there would be few rows in each, and nobody would read them."""


@dataclass(frozen=True)
class Measure:
    """A number, and 95 % bounds for it; None where it is infinite, or where one fold alone says nothing of bounds."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Subgroup:
    """How well the rows of one level of an attribute are answered, out of fold."""

    level: str | None
    """None: the rows in which the attribute is missing."""
    rows: float
    """What they weigh."""
    small: bool
    """Whether they are so few that little can be said of them: read the bounds, not the figure."""
    accuracy: Measure
    predicted: float
    """Mean probability of the class looked for."""
    actual: Measure
    """Share of the rows that are of it."""
    gap: Measure
    """Predicted less actual: above zero where too much is promised. Of 20 groups one has bounds without zero by
    chance."""


@dataclass(frozen=True)
class Subgroups:
    """The rows of each level of an attribute, those of most rows first, missing cells last."""

    attribute: str
    of: str
    """The class looked for."""
    groups: tuple[Subgroup, ...]


def group_cells(batch: Batch, rows: NDArray[np.intp]) -> Mapping[str, Codes]:
    """The attributes by whose levels rows are told apart, with their cells in some rows of a batch."""
    few = {name: c for name, c in batch.cells.items() if isinstance(c, Codes) and 1 < len(c.labels) <= MOST_LEVELS}
    return {name: Codes(cells.codes[rows].astype(np.int8), cells.labels) for name, cells in few.items()}
