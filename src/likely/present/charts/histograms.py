"""Where the bins of a histogram lie, and what a model has fitted there. Reads tallies and factors; no rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats
from likely.models.contracts import Factor
from likely.models.shapes import Column

if TYPE_CHECKING:
    pass


BINS = 24
POINTS = 73
ENDS = (0.002, 0.998)


def bin_edges(values: Floats, weight: Floats) -> Floats | None:
    """Edges of at most BINS bins of equal width over nearly all values; whole numbers lie in the middle of theirs."""
    low, high = inner_range(values, weight)
    if not low < high or not np.isfinite(high - low):
        return None
    if (values == np.floor(values)).all() and high - low < 1e15:
        step = max(1, -(-int(high - low + 1) // BINS))
        count = -(-int(high - low + 1) // step)
        return np.asarray(low - 0.5 + step * np.arange(count + 1.0))
    edges = np.linspace(low, high, BINS + 1)
    edges[-1] = np.nextafter(edges[-1], np.inf)
    return edges if (np.diff(edges) > 0).all() else None


def inner_range(values: Floats, weight: Floats) -> tuple[float, float]:
    """From where to where nearly all values are, which come in order; all of them where those are one value."""
    below = np.cumsum(weight)
    ends = np.minimum(np.searchsorted(below, np.array(ENDS) * below[-1]), len(values) - 1)
    low, high = float(values[ends[0]]), float(values[ends[1]])
    return (low, high) if low < high else (float(values[0]), float(values[-1]))


def fitted(factor: Factor | None, grid: Floats, classes: int) -> Floats | None:
    """The log of the fitted density of each class at each place; None where the model has none of this number."""
    if not isinstance(factor, Column):
        return None
    out = np.zeros((len(grid), classes))
    factor.add_cells(np.ascontiguousarray(grid), out)
    return out
