"""The grid: every attribute as a few levels, numbers in bins that tell the classes apart, and the counts of all pairs.

Knows the sums of pairs and how to read a batch as levels; not what a learner makes of the counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import SettingError, shown
from likely.models.drawing import DrawnRows
from likely.models.factors.categorical import domain
from likely.models.factors.mdl import mdl_cuts
from likely.models.shapes import Axis
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.rows.pairs import Pairs
from likely.sums.summary import Summary
from likely.table.batch import Batch
from likely.table.labels import Labels, bin_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Grid:
    """`counts[i, j, class]` over the cells of all axes, axis after axis; symmetric, singles on the diagonal."""

    axes: tuple[Axis, ...]
    first: NDArray[np.int64]
    """Where the cells of each axis begin."""
    sizes: NDArray[np.int64]
    """How many levels each axis has."""
    counts: NDArray[np.float64]
    notes: tuple[str, ...]

    def codes(self, batch: Batch) -> NDArray[np.int32]:
        """The level of each row on each axis, (rows, axes); -1 where it is missing or was not in training."""
        out = np.empty((batch.rows, len(self.axes)), np.int32)
        for k, axis in enumerate(self.axes):
            out[:, k] = axis.codes(batch.cells[axis.name])
        return out

    def cells(self, k: int) -> slice:
        """The cells of axis k."""
        return slice(int(self.first[k]), int(self.first[k] + self.sizes[k]))


def grid_of(summary: Summary, learner: str) -> Grid:
    """Read the pairs of a summary: bins are joined by the classes of these very rows, levels are those of training."""
    pairs = summary.more.get("pairs")
    if not isinstance(pairs, Pairs):
        raise SettingError(
            f"{learner} learns from pairs, which this summary does not keep. Summarize with more='pairs'."
        )
    everyone = np.arange(len(pairs.cells))
    singles = pairs.table[everyone, everyone].floats()
    spans: dict[str, list[int]] = {name: [] for name in pairs.names}
    for k, (name, _) in enumerate(pairs.cells):
        spans[name].append(k)
    axes: list[Axis] = []
    notes: list[str] = []
    places = np.full(len(pairs.cells), -1, np.intp)
    size = 0
    for column in summary.schema.attributes:
        own = np.array(spans[column.name], np.intp)
        statistic = summary.columns[column.name]
        if isinstance(statistic, Counts):
            axis = Axis(column.name, Labels(domain(column, statistic)))
            places[own] = [size + axis.levels.index[pairs.cells[k][1]] for k in own]
        else:
            cuts = np.array(mdl_cuts(singles[own]), np.intp)
            edges = np.array(pairs.edges[column.name], np.float64)[cuts - 1]
            axis = Axis(column.name, Labels(bin_labels(edges.tolist()) if len(cuts) else ()), edges)
            places[own] = size + np.searchsorted(cuts, np.arange(len(own)), side="right") if len(cuts) else -1
        if not len(axis.levels):
            why = "it has no level in any row" if axis.edges is None else "no cut of its values separates the classes"
            notes.append(f"{shown(column.name)} is left out: {why}.")
            continue
        axes.append(axis)
        size += len(axis.levels)
    sizes = np.array([len(a.levels) for a in axes], np.int64)
    joined = pairs.table
    if places.tolist() != list(range(size)):
        joined = joined.scattered(places, 0, size).scattered(places, 1, size)
    return Grid(tuple(axes), np.cumsum(sizes) - sizes, sizes, _mirrored(joined.floats()), tuple(notes))


def _mirrored(upper: NDArray[np.float64]) -> NDArray[np.float64]:
    out = upper + upper.transpose(1, 0, 2)
    everyone = np.arange(len(out))
    out[everyone, everyone] = upper[everyone, everyone]
    return out


def shares(
    counts: NDArray[np.float64], pseudo_count: float, otherwise: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """(n + pseudo_count) / (N + pseudo_count * levels) over the last axis but one.

    Where that is 0/0: `otherwise`, or equal shares, to which ever smaller pseudo-counts lead.
    """
    bottom = counts.sum(axis=-2, keepdims=True) + pseudo_count * counts.shape[-2]
    out = np.broadcast_to(1 / counts.shape[-2] if otherwise is None else otherwise, counts.shape).copy()
    np.divide(counts + pseudo_count, bottom, out=out, where=bottom > 0)
    return out


def log(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Natural logs; the log of zero is minus infinity."""
    with np.errstate(divide="ignore"):
        return np.log(values)


def draw_places(chances: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.intp]:
    """For each row of chances (they need not sum to one, but some must be above zero) the index of one drawn."""
    below = np.cumsum(chances, axis=1)
    total = below[:, -1]
    at = np.minimum(rng.random(len(chances)) * total, np.nextafter(total, 0))
    out: NDArray[np.intp] = np.count_nonzero(below <= at[:, None], axis=1)
    return out


def sample_rows(
    summary: Summary, grid: Grid, codes: NDArray[np.intp], group: NDArray[np.intp], rng: np.random.Generator
) -> DrawnRows:
    """Rows of levels as rows of a table. A number is one of the values of its bin in training, whatever the class."""
    places = {axis.name: k for k, axis in enumerate(grid.axes)}
    out: dict[str, list[Any]] = {}
    for column in summary.schema.columns:
        if column.role == "target":
            out[column.name] = np.array(summary.classes, object)[group].tolist()
        if column.role != "attribute":
            continue
        statistic = summary.columns[column.name]
        place = places.get(column.name)
        if isinstance(statistic, Counts):
            names = [] if place is None else grid.axes[place].levels.names
            level = np.full(len(codes), -1) if place is None else codes[:, place]
            out[column.name] = np.array([*names, None], object)[level].tolist()
            continue
        # A number that was left out is of one bin.
        edges = None if place is None else grid.axes[place].edges
        level = np.zeros(len(codes), np.intp) if place is None else codes[:, place]
        values = _values(summary.column(column.name, Numbers), np.empty(0) if edges is None else edges, level, rng)
        out[column.name] = _dates(values) if column.kind == "date" else _with_gaps(values)
    return out


def _values(
    numbers: Numbers, edges: NDArray[np.float64], level: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.float64]:
    """A value of training for each bin in `level`, by weight; a bin without any gives its edge. NaN for -1."""
    values, table = numbers.tally()
    weight = table.sum(1).floats()
    bins = np.searchsorted(edges, values, side="right")
    out = np.full(len(level), np.nan)
    for k in range(len(edges) + 1):
        rows = np.flatnonzero(level == k)
        own = np.flatnonzero(bins == k)
        if len(own):
            below = np.cumsum(weight[own])
            at = rng.random(len(rows)) * below[-1]
            out[rows] = values[own[np.minimum(np.searchsorted(below, at, side="right"), len(own) - 1)]]
        elif len(edges):
            out[rows] = edges[k - 1] if k else np.nextafter(edges[0], -np.inf)
    return out


def _with_gaps(values: NDArray[np.float64]) -> list[float | None]:
    return [None if x != x else x for x in values.tolist()]


def _dates(values: NDArray[np.float64]) -> list[str | None]:
    """Seconds since 1970 as a file would spell them."""
    there = np.isfinite(values)
    stamps = np.datetime_as_string((np.where(there, values, 0.0) * 1e6).round().astype("M8[us]"))
    return [str(stamp) if known else None for stamp, known in zip(stamps, there.tolist(), strict=True)]
