"""`joint`: the joint table of some columns of a file or table, counted in one sweep. Knows sums and probability.

Rows are counted batch by batch and never kept; the counts are exact, whatever the batches and threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from likely.errors import ColumnError, InputError, SettingError, nearest, shown
from likely.intake.engine import sweep_sum
from likely.intake.options import CellOptions
from likely.intake.reading import Reading, with_encoding
from likely.intake.schema import check_strays, draft_schema
from likely.models.factors.bins import least_of_bins
from likely.models.setting_values import Closed
from likely.models.shapes import bin_names, bin_of
from likely.probability.joint import Joint
from likely.probability.cells import names_of as distinct
from likely.probability.cells import sorted_levels
from likely.probability.pages.joint_page import read_joint
from likely.probability.writing import event_text
from likely.sums.rows.cells import Cells
from likely.sums.weights import weights
from likely.table.batch import Batch, Codes
from likely.table.encode import Encoder
from likely.table.labels import Labels
from likely.table.source import Source

if TYPE_CHECKING:
    from likely.probability.numbers import Given
    from likely.table.schema import Schema

READING = ("missing", "weight", "encoding", "encoding_errors", "delimiter", "sheet", "threads", "progress")


def joint(
    data: object,
    variables: Sequence[str] | None = None,
    *,
    probability: str | None = None,
    edges: Mapping[str, Sequence[float]] | None = None,
    closed: Closed = "left",
    pseudo_count: Given = 0,
    **reading: Unpack[CellOptions],
) -> Joint:
    """The joint distribution of some columns, counted from a file or any table: a sample, with exact fractions.

    Every different cell of a column is a value; a column of numbers named in `edges` is cut there, each edge belonging
    to the bin above it, or below it (`closed="right"`). A row that lacks a value is left out; `left_out` counts them.
    `reading` takes what `summarize` does of missing, weight, encoding, encoding_errors, delimiter, sheet, threads and
    progress.

    A table typed by hand goes the same way. `probability` names the column that holds the probability of each cell
    (exactly, they must sum to 1), and the other columns, or those named, are the variables. A file that ends in .toml
    is a page that holds the table (docs/probability.md). Neither is a sample: it is the whole truth.

    >>> week = {"hours": [38, 40, 60], "sex": ["f", "m", "m"]}
    >>> j = joint(week, ["sex", "hours"], edges={"hours": [40]}, closed="right")
    >>> j.p(hours="above 40"), j.levels["hours"]
    (Fraction(1, 3), ('up to 40', 'above 40'))
    """
    for option in reading:
        if option not in READING:
            raise SettingError(f"joint does not take {shown(option)}. Give edges for numbers; all else are levels.")
    if is_page(data):
        if edges or pseudo_count or probability is not None or reading.get("weight") or reading.get("missing"):
            raise SettingError(f"{shown(data)} is a TOML file, which is complete. Name only variables besides it.")
        whole = read_joint(str(data))
        return whole if not variables else whole.marginal(*variables)
    how = Reading(**reading)
    if probability is not None:
        if edges or pseudo_count or how.weight is not None:
            raise SettingError("A table of probabilities takes no edges, weight or pseudo-count. Leave them out.")
        return with_encoding(data, how, lambda source: _typed(source, variables, probability, how))
    wanted = distinct(variables or ())
    cuts = _cuts(edges or {}, wanted, closed)
    bins = {name: bin_names(np.array((edges or {})[name], np.float64), closed) for name in cuts}

    def work(source: Source) -> Joint:
        return _counted(source, wanted, cuts, bins, how, pseudo_count)

    return with_encoding(data, how, work)


def is_page(data: object) -> bool:
    """Whether a table is named that stands in a TOML file."""
    return isinstance(data, (str, PathLike)) and str(data).lower().endswith(".toml")


def _typed(source: Source, variables: Sequence[str] | None, probability: str, how: Reading) -> Joint:
    """A table whose cells have a column of probabilities: each is read as a level, so that 0.1 is one tenth."""
    names = source.schema.names
    if probability not in names:
        raise ColumnError(f"{source.name} has no column {shown(probability)}. {nearest(probability, names)}")
    own = tuple(n for n in names if n != probability)
    for name in variables or ():
        if name not in own:
            raise ColumnError(f"{source.name} has no variable {shown(name)}. {nearest(name, own)}")
    if not own:
        raise ColumnError(f"{source.name} has no column beside {shown(probability)}. Give the values of each cell.")
    counted = _counted(source, (*own, probability), {}, {}, how, 0)
    if counted.left_out:
        raise InputError(f"{source.name} has a cell without a value or probability. Fill it in.")
    cells: dict[tuple[Any, ...], Any] = {}
    for (*cell, p), rows in (counted.counts or {}).items():
        if tuple(cell) in cells or rows != 1:
            where = event_text(dict(zip(own, cell, strict=True)))
            raise InputError(f"{source.name} gives the cell {where} more than once. Give it once.")
        cells[tuple(cell)] = p
    whole = Joint(cells, own, levels={n: counted.levels[n] for n in own})
    return whole if not variables else whole.marginal(*variables)


def _cuts(edges: Mapping[str, Sequence[float]], wanted: tuple[str, ...], closed: Closed) -> dict[str, Any]:
    if not wanted:
        raise SettingError("No variable is named. Name at least one column.")
    if closed not in ("left", "right"):
        raise SettingError(f"closed is {shown(closed)}. Say 'left' or 'right'.")
    out = {}
    for name, given in edges.items():
        if name not in wanted:
            raise SettingError(f"Edges are given for {shown(name)}, which is not a variable. {nearest(name, wanted)}")
        try:
            held = np.array([float(e) for e in given])
        except (TypeError, ValueError):
            held = np.array([np.nan])
        if not len(held) or not np.isfinite(held).all() or (np.diff(held) <= 0).any():
            raise SettingError(f"The edges of {shown(name)} must be finite numbers that increase, such as [20, 40].")
        out[name] = least_of_bins(held, closed)
    return out


class _Counter:
    def __init__(self, schema: Schema, wanted: tuple[str, ...], cuts: dict[str, Any], bins: dict[str, Labels]) -> None:
        self.encoder, self.cells = Encoder(schema), Cells(list(wanted), 1)
        self.rows = 0
        self._cuts, self._bins = cuts, bins

    def take(self, batch: Any, start: int) -> None:
        read = self.encoder.encode(batch, start)
        cells = dict(read.cells)
        for name, edges in self._cuts.items():
            cells[name] = Codes(bin_of(edges, cells[name]), self._bins[name])
        group = np.zeros(read.rows, np.int32)
        if read.weight is not None:
            group[read.weight <= 0] = -1
        self.rows += int(np.count_nonzero(group >= 0))
        self.cells.update(Batch(read.rows, cells), group, weights(read.weight))

    def __add__(self, other: _Counter) -> _Counter:
        out = copy(self)
        strays = {**self.encoder.strays, **other.encoder.strays}
        both = {n: self.encoder.strays.get(n, 0) + other.encoder.strays.get(n, 0) for n in strays}
        out.encoder = replace(self.encoder, strays=both)
        out.cells, out.rows = self.cells + other.cells, self.rows + other.rows
        return out


def _counted(
    source: Source,
    wanted: tuple[str, ...],
    cuts: dict[str, Any],
    bins: dict[str, list[str]],
    reading: Reading,
    pseudo_count: Given,
) -> Joint:
    names = source.schema.names
    for name in wanted:
        if name not in names:
            raise ColumnError(f"{source.name} has no column {shown(name)}. {nearest(name, names)}")
        if name == reading.weight:
            raise SettingError(f"Column {shown(name)} cannot be both a variable and the weight.")
    kinds = {n: "number" if n in cuts else "nominal" if n in wanted else "ignore" for n in names}
    draft = draft_schema(source, replace(reading, types={n: k for n, k in kinds.items() if n != reading.weight}))
    labels = {name: Labels(own) for name, own in bins.items()}
    counter = sweep_sum(
        source.batches(draft.schema.stored),
        lambda: _Counter(draft.schema, wanted, cuts, labels),
        reading.threads,
        reading.progress,
    )
    check_strays(draft, counter.encoder.strays, counter.rows)
    whole = counter.cells.canonical()
    weighed = whole.counts.table.sum(1).fractions()
    tally: dict[tuple[str, ...], Fraction] = {}
    lacking = Fraction(0)
    for levels, weight in zip(whole.rows(), weighed, strict=True):
        if None in levels:
            lacking += weight
        else:
            tally[tuple(levels)] = weight  # type: ignore[arg-type]
    if not tally:
        every = "has no rows" if not lacking else "has no row in which every variable has a value"
        raise InputError(f"{source.name} {every}. Give a table with at least one, or fewer variables.")
    order = {**sorted_levels(wanted, tally), **bins}
    out = Joint.from_counts(tally, wanted, sample=True, pseudo_count=pseudo_count, levels=order)  # type: ignore[arg-type]
    out.left_out = lacking
    return out
