"""Attributes that repeat each other, found on a random sample of rows (chosen by row number, so repeatable)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.evaluate.information import Attribute, entropy, information
from likely.table.batch import Batch, Codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAMPLE = 5000
MOST_ATTRIBUTES = 60
MOST_LEVELS = 64
SAME = 0.9
"""Two attributes repeat each other when one tells at least this share of the other."""


@dataclass(frozen=True)
class Pair:
    """Two attributes that repeat each other."""

    one: str
    other: str
    share: float
    """How much of the less varied one the other tells."""


class Sample:
    """Codes of some rows for the attributes worth comparing: levels, or bins of numbers; -1 is missing."""

    def __init__(self, found: list[Attribute]) -> None:
        self.attributes = [a for a in found if 2 <= len(a.cells) <= MOST_LEVELS][:MOST_ATTRIBUTES]
        self._rows: list[NDArray[np.int16]] = []

    def take(self, batch: Batch, rows: NDArray[np.intp]) -> None:
        """Keep the codes of these rows."""
        out = np.empty((len(rows), len(self.attributes)), np.int16)
        for k, attribute in enumerate(self.attributes):
            cell = batch.cells[attribute.name]
            if isinstance(cell, Codes):
                out[:, k] = cell.codes[rows]
            else:
                x = cell[rows]
                codes = np.searchsorted(np.array(attribute.edges), x, side="right")
                out[:, k] = np.where(np.isfinite(x), codes, -1)
        self._rows.append(out)

    def __add__(self, other: Sample) -> Sample:
        out = Sample(self.attributes)
        out._rows = self._rows + other._rows
        return out

    def pairs(self) -> list[Pair]:
        """The pairs that repeat each other, the most alike first."""
        if not self._rows:
            return []
        codes = np.concatenate(self._rows)
        found = []
        for i, one in enumerate(self.attributes):
            for j, other in enumerate(self.attributes[:i]):
                a, b = codes[:, i].astype(np.intp), codes[:, j]
                both = (a >= 0) & (b >= 0)
                if np.count_nonzero(both) < 30:
                    continue
                size = len(one.cells), len(other.cells)
                cells = np.bincount(a[both] * size[1] + b[both], minlength=size[0] * size[1])
                table = cells.reshape(size).astype(np.float64)
                least = min(entropy(table.sum(axis=0)), entropy(table.sum(axis=1)))
                if least < 0.1:
                    continue
                share = information(table) / least
                if share >= SAME:
                    found.append(Pair(other.name, one.name, min(share, 1.0)))
        return sorted(found, key=lambda p: (-p.share, p.one, p.other))
