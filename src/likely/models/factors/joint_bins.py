"""The joint table of numbers that are cut into bins, perhaps beside levels: from a tally of whole rows.

Where to cut is known when the model is derived, so one sweep serves every choice of bins. What becomes of the counts is
in joint.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import SettingError, shown
from likely.models.factors.bins import least_of_bins
from likely.models.factors.categorical import domain
from likely.models.factors.joint import CellSettings, Table, extra_of
from likely.models.factors.value_tally import ValueTally, read_tally
from likely.models.setting_values import Closed
from likely.models.shapes import bin_names, bin_of
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.exact import Exact
from likely.sums.requests import request
from likely.sums.rows.rows import Rows
from likely.sums.summary import Summary
from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
) -> tuple[Table, list[str]]:
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
) -> Table:
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
    return Table(
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
