"""How good any learner could be: bounds of the least possible error, after Cover and Hart, from nearest neighbours.

In the limit of many rows the error e of the nearest neighbour is at most twice that of the best rule there is:
with K classes the best lies between (K-1)/K (1 - sqrt(1 - K/(K-1) e)) and e.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from likely.evaluate.sampling import sample_rows, sample_share
from likely.evaluate.scores.intervals import Measure, wilson
from likely.intake.extend import Extension
from likely.intake.row_cache import Piece
from likely.machinery.records import dataclass
from likely.models.neighbors.neighbors import Neighbors
from likely.sums.summary import Summary
from likely.table.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAMPLE = 2000
PARTS = 2
"""Rows of one part look for their neighbour among those of the others."""
MOST_CELLS = 400_000
"""Rows times attributes: of wide tables, fewer rows."""
FEWEST = 50


@dataclass(frozen=True)
class Ceiling:
    """What the best possible learner could reach with these attributes."""

    rows: int
    """Looked at: all rows, or a sample of them."""
    neighbour: Measure
    """Error of naming the class of the nearest other row."""
    low: float
    """The least error there can be, if there are rows enough: no lower (by the lower bound of the neighbour's)."""
    high: float
    """And no higher (by the upper one)."""

    @property
    def accuracy(self) -> tuple[float, float]:
        """The same as a range for the best accuracy."""
        return 1 - self.high, 1 - self.low


def least_error(neighbour: float, classes: int) -> float:
    """The lower bound for the best rule, from the error of the nearest neighbour.

    >>> round(least_error(0.18, 2), 3), least_error(0.5, 2), least_error(0.9, 2)
    (0.1, 0.5, 0.5)
    """
    most = (classes - 1) / classes
    return most * (1 - math.sqrt(max(1 - neighbour / most, 0.0)))


class Sampled:
    """Keeps some rows, by row number. One for each thread."""

    def __init__(self, total: Summary, seed: int = 0) -> None:
        wide = max(len(total.schema.attributes), 1)
        self._share = sample_share(total, max(min(SAMPLE, MOST_CELLS // wide), FEWEST))
        self._seed = seed + 1
        self.kept: list[tuple[int, Batch]] = []

    def take(self, piece: Piece, start: int) -> None:
        """Some rows of the table."""
        rows = sample_rows(piece.batch, piece.batch.start, self._share, self._seed)
        if len(rows):
            self.kept.append((piece.batch.start, piece.batch.take(rows)))


def ceiling(total: Summary, sampled: list[Sampled]) -> Ceiling | None:
    """The bounds, from the rows that were kept; None where they are too few, or the attributes are texts."""
    batches = [batch for _, batch in sorted((one for s in sampled for one in s.kept), key=lambda one: one[0])]
    count = sum(b.rows for b in batches)
    kinds = {c.kind for c in total.schema.attributes}
    if count < FEWEST or not kinds or "text" in kinds or len(total.classes) < 2:
        return None
    wrong, place = 0.0, 0
    parts: list[NDArray[np.intp]] = []
    for batch in batches:
        parts.append((place + np.arange(batch.rows)) % PARTS)
        place += batch.rows
    for part in range(PARTS):
        rest = [b.take(np.flatnonzero(p != part)) for b, p in zip(batches, parts, strict=True)]
        model = Neighbors(k=1).learn(_summarize(total, rest))
        places = np.array([*(total.classes.index(c) for c in model.classes), -1])
        for batch, own in zip(batches, parts, strict=True):
            rows = batch.take(np.flatnonzero(own == part))
            if rows.rows:
                assert rows.target is not None
                named = places[model.log_joint(rows).argmax(axis=1)]
                wrong += float((named != rows.target.codes).sum())
    error = wrong / count
    bounds = wilson(error, count)
    classes = len(total.classes)
    return Ceiling(count, Measure(error, *bounds), least_error(bounds[0], classes), bounds[1])


def _summarize(total: Summary, batches: list[Batch]) -> Summary:
    """The summary of these rows, with the rows themselves."""
    out = Summary(total.schema)
    for batch in batches:
        out.update(batch)
    out = out.canonical()
    extender = Extension(out, frozenset({"rows"}))
    for batch in batches:
        extender.update(batch)
    out.more["rows"] = extender.more["rows"]
    return out
