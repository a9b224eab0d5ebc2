"""Joint tables: P(row of levels or bins | class) for every cell of the product of the domains, from counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import SettingError, shown
from likely.models.factors.bins import ValueTally, least_of_bins, read_tally
from likely.models.factors.categorical import domain
from likely.models.fractions import as_written
from likely.models.settings import Closed
from likely.models.shapes import JointTable, bin_names, bin_of
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.contracts import request
from likely.sums.exact import Exact
from likely.sums.rows.pairs import Cells
from likely.sums.rows.rows import Rows
from likely.sums.summary import Summary
from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray


# How a joint table is counted: from whole rows, with pseudo-counts.


@dataclass(frozen=True, slots=True)
class CellSettings:
    """How counts of cells become probabilities."""

    pseudo_count: float
    reserve: bool
    m_estimate: float | None = None
    """Weight in rows of a uniform table, which replaces the pseudo-count."""
    missing_is_level: bool = False


def table(
    summary: Summary, settings: CellSettings, columns: tuple[str, ...] | None = None
) -> tuple[JointTable, list[str]]:
    """Derive the table of all nominal attributes, or of these, and what was special about it.

    Rows with a missing cell count in the prior alone, unless being missing is a level.
    """
    held: list[tuple[int, str, Labels]] = []
    notes: list[str] = []
    wanted = [c for c in summary.schema.attributes if c.kind == "nominal" and (columns is None or c.name in columns)]
    cells = summary.more.get(request("cells", columns), summary.more.get("cells"))
    kept = cells.names if isinstance(cells, Cells) else [c.name for c in wanted]
    for column in wanted:
        k, counts = kept.index(column.name), summary.columns[column.name]
        assert isinstance(counts, Counts)
        levels = domain(column, counts)
        if levels:
            held.append((k, column.name, Labels(levels)))
        else:
            notes.append(f"{shown(column.name)} is left out: every cell is missing.")
    if held and not isinstance(cells, Cells):
        raise SettingError(
            "This summary keeps no counts of whole rows, which a joint table is made of. Fit the table itself, or "
            f"summarize it with more=['{request('cells', columns)}']."
        )
    own = cells.canonical() if isinstance(cells, Cells) else Cells([], len(summary.classes))
    rows = own.rows() if held else []
    gone = [len(labels) + settings.reserve if settings.missing_is_level else -1 for _, _, labels in held]
    codes = [
        [g if (level := row[k]) is None else labels.index[level] for (k, _, labels), g in zip(held, gone, strict=True)]
        for row in rows
    ]
    matrix = np.array(codes, np.int64).reshape(len(rows), len(held))
    complete = np.flatnonzero((matrix >= 0).all(axis=1)) if held else np.empty(0, np.intp)
    # Rows that differ only in columns that are not wanted are one cell.
    codes_of, place = np.unique(matrix[complete], axis=0, return_inverse=True)
    places = place.reshape(-1).astype(np.intp)
    counted = own.counts.table[complete] if held else Exact.zeros(0, len(summary.classes))
    counted = counted.scattered(places, 0, len(codes_of))
    if held:
        lost = float((own.counts.table.sum(0) - counted.sum(0)).sum(0).floats())
        if lost:
            notes.append(f"Rows of weight {lost:,.6g} lack a cell: they count in the prior, not in the joint table.")
    names, labels = tuple(name for _, name, _ in held), tuple(labels for _, _, labels in held)
    extra, counts_of = extra_of(settings, labels), counted.canonical()
    return JointTable(names, labels, settings.reserve, codes_of, counts_of, extra, settings.missing_is_level), notes


def extra_of(settings: CellSettings, labels: tuple[Labels, ...]) -> Fraction:
    """The pseudo-count of each cell."""
    if settings.m_estimate is None:
        return as_written(settings.pseudo_count)
    return as_written(settings.m_estimate) / max(math.prod(map(len, labels)), 1)


# The joint table of numbers that are cut into bins, perhaps beside levels: from a tally of whole rows.


@dataclass(frozen=True, slots=True)
class CutSettings:
    """Where numbers are cut: the inner edges of a column, and to which bin an edge belongs."""

    edges: Callable[[str, ValueTally], NDArray[np.float64]]
    closed: Closed


@dataclass(frozen=True, eq=False)
class _Axis:
    name: str
    labels: Labels
    codes: NDArray[np.int64]
    """The code of each row, -1 where its cell is missing."""
    starts: NDArray[np.float64] | None = None
    ends: tuple[float, float] | None = None
    """The least and the greatest value of training."""


def binned_joint_table(
    summary: Summary, settings: CellSettings, cut: CutSettings, columns: tuple[str, ...] | None = None
) -> tuple[JointTable, list[str]]:
    """Derive the table of all attributes but texts, or of these, and what was special about it."""
    rows = summary.more.get(request("rows", columns), summary.more.get("rows"))
    if not isinstance(rows, Rows):
        raise SettingError(
            "This summary keeps no tally of whole rows, which a joint table of bins is made of. Fit the table itself, "
            f"or summarize it with more=['{request('rows', columns)}']."
        )
    own = rows.canonical()
    numbers, codes, group, weight = own.whole()
    notes: list[str] = []
    axes: list[_Axis] = []
    for column in summary.schema.attributes:
        if column.kind == "text" or (columns is not None and column.name not in columns):
            continue
        statistic = summary.columns[column.name]
        if isinstance(statistic, Counts):
            place = own.nominal.index(column.name)
            labels = Labels(domain(column, statistic))
            known = [*(labels.index.get(level, -1) for level in own.labels[place].names), -1]
            axis = _Axis(column.name, labels, np.array(known, np.int64)[codes[:, place]])
        else:
            values = numbers[:, own.numeric.index(column.name)]
            axis = _number_axis(column.name, summary.column(column.name, Numbers), values, cut, notes)
        if len(axis.labels):
            axes.append(axis)
        else:
            notes.append(f"{shown(column.name)} is left out: every cell is missing.")
    return _table(axes, group, weight, len(summary.classes), settings, notes), notes


def _number_axis(
    name: str, statistic: Numbers, values: NDArray[np.float64], cut: CutSettings, notes: list[str]
) -> _Axis:
    tally = read_tally(statistic)
    if not len(tally.values):
        return _Axis(name, Labels(), np.full(len(values), -1, np.int64))
    edges = cut.edges(name, tally)
    if not len(edges):
        notes.append(f"{shown(name)} has a single bin, which carries no information: no cut was found or given.")
    starts = least_of_bins(edges, cut.closed)
    ends = float(tally.values[0]), float(tally.values[-1])
    return _Axis(name, Labels(bin_names(edges, cut.closed)), bin_of(starts, values).astype(np.int64), starts, ends)


def _table(
    axes: list[_Axis],
    group: NDArray[np.int32],
    weight: Exact,
    classes: int,
    settings: CellSettings,
    notes: list[str],
) -> JointTable:
    """Count the rows of each cell in each class."""
    reserves = [settings.reserve and axis.starts is None for axis in axes]
    gone = [len(a.labels) + r if settings.missing_is_level else -1 for a, r in zip(axes, reserves, strict=True)]
    each = [np.where(axis.codes < 0, g, axis.codes) for axis, g in zip(axes, gone, strict=True)]
    matrix = np.column_stack(each) if each else np.empty((0, 0), np.int64)
    complete = np.flatnonzero((matrix >= 0).all(axis=1)) if each else np.empty(0, np.intp)
    cells, place = np.unique(matrix[complete], axis=0, return_inverse=True)
    both = place.reshape(-1).astype(np.intp) * classes + group[complete]
    flat = weight[complete].scattered(both, 0, len(cells) * classes)
    counts = Exact(flat.planes.reshape(-1, len(cells), classes), flat.base).canonical()
    if each:
        lost = float(weight.sum(0).floats()) - float(weight[complete].sum(0).floats())
        if lost:
            notes.append(f"Rows of weight {lost:,.6g} lack a cell: they count in the prior, not in the joint table.")
    labels = tuple(axis.labels for axis in axes)
    return JointTable(
        tuple(axis.name for axis in axes),
        labels,
        settings.reserve,
        cells.astype(np.int64).reshape(len(cells), len(axes)),
        counts,
        extra_of(settings, labels),
        settings.missing_is_level,
        tuple(axis.starts for axis in axes),
        tuple(axis.ends for axis in axes),
    )
