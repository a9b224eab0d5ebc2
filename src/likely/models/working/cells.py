"""The factor of one attribute, or of several together, in the working of a product: its value, its cell, what goes in.

Reads shapes and what they gave for one row; computes no score.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from likely.errors import shown
from likely.machinery.arrays import Floats
from likely.models.quotient import Quotient
from likely.models.shapes import (
    BinTable,
    Block,
    Density,
    JointTable,
    LevelTable,
    MultivariateNormal,
    Presence,
    WordWeights,
    bin_of,
)
from likely.models.working.density import normal_quantities, number_quantities
from likely.models.working.records import Quantity
from likely.models.working.words import text_quantities
from likely.models.working.writing import clean, exp
from likely.table.batch import MISSING_CODE, UNSEEN_CODE, Batch, Codes, Texts
from likely.table.labels import label

if TYPE_CHECKING:
    Values = tuple[Quotient | float, ...] | None


class FactorValue(NamedTuple):
    """P(cells | class) for each class (None: left out), what is special about the cells, and what goes into it."""

    values: Values
    note: str
    cell: str | None
    cells: tuple[tuple[str, str | None], ...] = ()
    quantities: tuple[Quantity, ...] = ()


def factor_value(
    factor: object, batch: Batch, logs: Floats, row: Mapping[str, object], classes: tuple[str, ...]
) -> FactorValue:
    """The factor at one row, `logs` being what it added to the score of each class."""
    if isinstance(factor, Block):
        return block_value(factor.joint, batch, logs, row, classes, factor.presence)
    if isinstance(factor, (JointTable, MultivariateNormal)):
        return block_value(factor, batch, logs, row, classes)
    name: str = factor.name  # type: ignore[attr-defined]
    cells = batch.cells[name]
    values, note, quantities = _cell_value(factor, cells, logs, classes)
    cell = label(row.get(name))
    note = note and f"{shown(name)} {note.format(shown(cell))}"
    return FactorValue(values, note, None if _is_missing(cells) else cell, (), quantities)


def _is_missing(cells: Codes | Texts | Floats) -> bool:
    if isinstance(cells, Texts):
        return bool(cells.starts[0] == cells.ends[0])
    return bool(cells.codes[0] == MISSING_CODE) if isinstance(cells, Codes) else bool(np.isnan(cells[0]))


def _densities(logs: Floats) -> tuple[float, ...] | None:
    """What logs are logs of; None where all of them are 0, which is how a factor is left out."""
    return tuple(map(exp, logs.tolist())) if logs.any() else None


def _cell_value(
    factor: object, cells: Any, logs: Floats, classes: tuple[str, ...]
) -> tuple[Values, str, tuple[Quantity, ...]]:
    """P(cell | class) for each class (None: left out), and what is special about the cell."""
    match factor:
        case LevelTable():
            return *_level_step(factor, cells, logs), ()
        case WordWeights():
            return _text_step(factor, cells, logs, classes)
        case BinTable():
            return *_bin_step(factor, cells, logs), ()
        case Density():
            values, note = _number_step(factor, cells, logs)
            return values, note, number_quantities(factor, classes) if np.isfinite(cells[0]) else ()
    return _densities(logs), "", ()


def _level_step(factor: LevelTable, cells: Codes, logs: Floats) -> tuple[Values, str]:
    code = int(factor.translated(cells)[0])
    values = factor.quotients(code) or _densities(logs)
    if code == MISSING_CODE:
        return values, "is missing: left out." if values is None else "is missing, which counts as a level."
    if code == UNSEEN_CODE:
        rest = "left out." if values is None else "it gets the share reserved for other levels."
        return values, "has the level {}, which training did not have: " + rest
    return values, ""


def _bin_step(factor: BinTable, cells: Floats, logs: Floats) -> tuple[Values, str]:
    code, levels = int(bin_of(factor.starts, cells)[0]), factor.levels
    values = (None if levels is None else levels.quotients(code)) or _densities(logs)
    if code >= 0:
        return values, "" if levels is None else f"falls into the bin {shown(levels.labels.names[code])}."
    why = "is missing" if np.isnan(cells[0]) else "is infinite"
    return values, f"{why}: left out." if values is None else f"{why}, which counts as a level."


def _text_step(
    factor: WordWeights, cells: Texts, logs: Floats, classes: tuple[str, ...]
) -> tuple[Values, str, tuple[Quantity, ...]]:
    """The product over the words of a text."""
    if _is_missing(cells):
        return None, "is missing: left out.", ()
    words = factor.scores.words(cells.text(0))
    known, every = (sum(times for _, k, times in words if k >= least) for least in (0, -math.inf))
    note = f"is scored by its words, of which {known:,} of {every:,} are known ({factor.settings.written()})."
    found = text_quantities(factor, cells, classes)
    return found.values or tuple(map(exp, logs.tolist())), note, found.quantities


def _number_step(factor: Density, cells: Floats, logs: Floats) -> tuple[Values, str]:
    known = factor.normal.known
    if np.isfinite(cells[0]):
        note = "" if known is None else "is known: its densities are multiplied by the chance that it is."
        return tuple(map(exp, logs.tolist())), note
    why = "is missing" if np.isnan(cells[0]) else "is infinite"
    if known is None:
        return None, f"{why}: left out."
    return tuple(gone for _, gone in known), f"{why}, which counts as a level."


def block_value(
    joint: JointTable | MultivariateNormal,
    batch: Batch,
    logs: Floats,
    row: Mapping[str, object],
    classes: tuple[str, ...],
    presence: tuple[Presence, ...] = (),
) -> FactorValue:
    """The factor of several cells together; those that are missing are summed over, or integrated out."""
    codes = {}
    for name in joint.names:
        cells = batch.cells[name]
        known = isinstance(cells, Codes) or np.isfinite(cells[0])
        codes[name] = int(cells.codes[0]) if isinstance(cells, Codes) else (0 if known else MISSING_CODE)
    gone, unseen = ([n for n, code in codes.items() if code == kind] for kind in (MISSING_CODE, UNSEEN_CODE))
    counted = isinstance(joint, JointTable)
    as_level = joint.missing_is_level if isinstance(joint, JointTable) else bool(presence)
    reserved = isinstance(joint, JointTable) and joint.reserve
    inside = {*codes} - {*([] if as_level else gone), *([] if reserved else unseen)}
    values: Values = None
    quantities: tuple[Quantity, ...] = ()
    bins: list[str] = []
    if isinstance(joint, JointTable):
        values = joint.quotients(batch)
        quantities = _table_quantities(joint) if values is not None else ()
        for k, code in enumerate(joint.translated(batch)[0].tolist()):
            if joint.starts_of(k) is not None and 0 <= code < len(joint.labels[k]):
                bins.append(f"{shown(joint.names[k])} falls into the bin {shown(joint.labels[k].names[code])}.")
    elif inside:
        values = tuple(map(exp, logs.tolist()))
        cells_of: list[Any] = [batch.cells[name] for name in joint.names]
        if not presence:  # with it the logs hold more than the density
            quantities = normal_quantities(joint, np.column_stack(cells_of)[0], logs, classes)
    left = "left out." if not inside else "summed over." if counted else "integrated out."
    notes = bins
    for names, taken, what in ((gone, as_level, "missing"), (unseen, reserved, "unseen in training")):
        if names:
            end = "which counts as a level." if taken else left
            notes.append(f"{', '.join(map(shown, names))}: {what}, {end}")
    there = tuple((n, None if n in gone else label(row.get(n))) for n in joint.names if n in inside)
    cell = " & ".join("missing" if n in gone else label(row.get(n)) or "" for n in joint.names) if inside else None
    return FactorValue(values, " ".join(notes), cell, there, quantities)


def _table_quantities(table: JointTable) -> tuple[Quantity, ...]:
    """What a cell of a joint table is divided by."""
    names = " × ".join(clean(name) for name in table.names)
    out = [Quantity(f"cells of {names}", {"": f"{' × '.join(map(str, table.sizes))} = {table.cells:,}"})]
    if table.extra:
        out.append(Quantity("pseudo-count of each cell", {"": table.extra}))
    return tuple(out)
