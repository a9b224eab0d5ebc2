"""The working: the arithmetic of one answer, step by step, as a person would write it on a board.

Knows the factors and what they gave for one row; must not compute a score of its own: the logs are those of `terms`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from likely.errors import shown
from likely.models.posterior import Posterior
from likely.models.quotient import READABLE, Quotient
from likely.models.shapes import BinTable, Block, Density, JointTable, LevelTable, WordWeights, bin_of
from likely.table.batch import MISSING_CODE, UNSEEN_CODE, Batch, Codes, Texts
from likely.table.labels import label

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Values = tuple[Quotient | float, ...] | None

MOST_STEPS = 12
"""So many factors are written out; the rest are counted."""


@dataclass(frozen=True)
class Step:
    """One factor of the product: the prior, or P(cell | class) of one attribute."""

    name: str
    cell: str | None
    """The cell as the row has it; None for the prior and where it is missing."""
    values: Mapping[str, Quotient | float]
    """By class: counts over counts, or a density. Empty where the factor is left out."""
    log_values: Mapping[str, float]
    """Natural logs of the same, as the model adds them; 0 where the factor is left out."""
    note: str = ""
    """What is special about the cell, as a sentence for people."""
    cells: tuple[tuple[str, str | None], ...] = ()
    """For a block: each of its attributes that is in the factor, and its cell."""
    power: float = 1.0
    """What the factor is raised to."""

    @property
    def heading(self) -> str:
        """How the factor is called on the board."""
        if self.name == "":
            return f"P(class){self._raised}"
        sign = "P" if any(isinstance(v, Quotient) for v in self.values.values()) else "f"
        inside = ((name, "missing" if cell is None else cell) for name, cell in self.cells or ((self.name, self.cell),))
        return f"{sign}({', '.join(f'{_clean(name)}={_clean(cell)}' for name, cell in inside)} | class){self._raised}"

    @property
    def _raised(self) -> str:
        return "" if self.power == 1.0 else f"^{self.power:.3g}"

    def written(self, name: str) -> str:
        """The factor of one class."""
        value = self.values[name]
        out = str(value) if isinstance(value, Quotient) else _decimal(self.log_values[name] / self.power)
        return out if self.power == 1.0 else f"({out}){self._raised}"


@dataclass(frozen=True)
class Working:
    """P(class) times P(cell | class) for every cell, what it comes to, and the answer. `str` writes it out."""

    classes: tuple[str, ...]
    steps: tuple[Step, ...]
    """The prior, then the attributes in the order of the schema, those that are left out included."""
    products: Mapping[str, Fraction | float]
    """L(class), not normalised: a fraction where everything was counted, else a float (0.0 where it underflows)."""
    log10: Mapping[str, float]
    """The decimal log of L(class), which does not underflow."""
    posterior: Mapping[str, float]
    best: str | None
    """The most probable class, the first of equals; None where the row cannot be classified."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out or counted specially, as sentences."""
        return tuple(step.note for step in self.steps if step.note)

    def line(self, name: str) -> str:
        """The product of one class: `9/14 × 2/9 × 3/9 × 3/9 × 3/9 = 1/189 = 0.005291`."""
        written = _shorten([step.written(name) for step in self.steps if step.values])
        product = self.products[name]
        parts = [" × ".join(written)]
        if isinstance(product, Fraction):
            if product.denominator <= READABLE**2 and len(written) > 1:
                parts.append(str(product))
            if product.denominator == 1:
                return " = ".join(parts)
        return " = ".join([*parts, _decimal(self.log10[name] * math.log(10))])

    def __str__(self) -> str:
        headings = _shorten([step.heading for step in self.steps if step.values])
        lines = [f"L(class) = {' × '.join(headings)}"]
        lines += [f"L({_clean(name)}) = {self.line(name)}" for name in self.classes]
        lines += _shorten([*self.notes])
        if self.best is None:
            return "\n".join([*lines, "Every product is 0: the row cannot be classified."])
        chances = ", ".join(f"P({_clean(name)}) = {p:.4f}" for name, p in self.posterior.items())
        return "\n".join([*lines, f"{chances}: {_clean(self.best)}"])


def _clean(text: str) -> str:
    """A name or a cell as it may stand in a formula."""
    return shown(text, 30)[1:-1]


def _shorten(parts: list[str]) -> list[str]:
    if len(parts) <= MOST_STEPS:
        return parts
    return [*parts[:MOST_STEPS], f"… ({len(parts) - MOST_STEPS} more)"]


def _decimal(log: float) -> str:
    """e**log in four digits; as a power of ten where it is beyond a double."""
    return f"{math.exp(log):.4g}" if -700 < log < 700 or log == -math.inf else f"10^{log / math.log(10):.2f}"


class _Factor(Protocol):
    """A factor of a product, as `contracts.Factor`."""

    @property
    def name(self) -> str: ...


def working(
    classes: tuple[str, ...],
    prior: tuple[Quotient, ...],
    factors: Sequence[_Factor],
    powers: Sequence[float],
    terms: Floats,
    batch: Batch,
    row: Mapping[str, object],
    posterior: Posterior,
) -> Working:
    """Write down the answer for a batch of one row; `terms` are its logs, (1 + factors, classes), and `powers` what the
    prior and each factor are raised to."""

    def by_class(values: Floats) -> dict[str, float]:
        return dict(zip(classes, values.tolist(), strict=True))

    steps = [Step("", None, dict(zip(classes, prior, strict=True)), by_class(terms[0]), power=powers[0])]
    for factor, logs, power in zip(factors, terms[1:], powers[1:], strict=True):
        plain = logs / power if power else logs
        if isinstance(factor, Block):
            values, note, cell, cells = _block_step(factor, batch, plain, row)
        else:
            values, note = _cell_step(factor, batch.cells[factor.name], plain)
            cell, cells = label(row.get(factor.name)), ()
            note = note and f"{shown(factor.name)} {note.format(shown(cell))}"
            cell = None if _is_missing(batch.cells[factor.name]) else cell
        if not power:
            values, note = None, f"{shown(factor.name)} has the weight 0: left out."
        named = {} if values is None else dict(zip(classes, values, strict=True))
        steps.append(Step(factor.name, cell, named, by_class(logs), note, cells, power or 1.0))
    totals = by_class(terms.sum(axis=0))
    unpowered = all(power == 1.0 for power in powers)
    return Working(
        classes,
        tuple(steps),
        {name: _product([s.values[name] for s in steps if s.values], totals[name], unpowered) for name in classes},
        {name: total / math.log(10) for name, total in totals.items()},
        by_class(posterior.matrix[0]),
        None if posterior.undefined[0] else classes[int(posterior.codes[0])],
    )


def _product(values: list[Quotient | float], log: float, unpowered: bool) -> Fraction | float:
    counted = [v for v in values if isinstance(v, Quotient)]
    if len(counted) < len(values) or not unpowered:
        return math.exp(log) if log < 709 else math.inf  # scores of texts may be large
    if any(v.value == 0 for v in counted):
        return Fraction(0)
    # Two long products and one reduction; reducing at every step is slow where there are thousands.
    return prod((v.top for v in counted), start=Fraction(1)) / prod((v.bottom for v in counted), start=Fraction(1))


def _is_missing(cells: Codes | Texts | Floats) -> bool:
    if isinstance(cells, Texts):
        return bool(cells.starts[0] == cells.ends[0])
    return bool(cells.codes[0] == MISSING_CODE) if isinstance(cells, Codes) else bool(np.isnan(cells[0]))


def _densities(logs: Floats) -> tuple[float, ...] | None:
    """What logs are logs of; None where all of them are 0, which is how a factor is left out."""
    return tuple(math.exp(v) if v < 709 else math.inf for v in logs.tolist()) if logs.any() else None


def _cell_step(factor: object, cells: Any, logs: Floats) -> tuple[Values, str]:
    """P(cell | class) for each class (None: left out), and what is special about the cell."""
    match factor:
        case LevelTable():
            return _level_step(factor, cells, logs)
        case WordWeights():
            return _text_step(factor, cells, logs)
        case BinTable():
            return _bin_step(factor, cells, logs)
        case Density():
            return _number_step(factor, cells, logs)
    return _densities(logs), ""


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


def _text_step(factor: WordWeights, cells: Texts, logs: Floats) -> tuple[Values, str]:
    """The product over the words of a text."""
    if _is_missing(cells):
        return None, "is missing: left out."
    words = factor.scores.words(cells.text(0))
    known, every = (sum(times for _, k, times in words if k >= least) for least in (0, -math.inf))
    note = f"is scored by its words, of which {known:,} of {every:,} are known ({factor.settings.written()})."
    return tuple(math.exp(v) if v < 709 else math.inf for v in logs.tolist()), note


def _number_step(factor: Density, cells: Floats, logs: Floats) -> tuple[Values, str]:
    known = factor.normal.known
    if np.isfinite(cells[0]):
        note = "" if known is None else "is known: its densities are multiplied by the chance that it is."
        return tuple(math.exp(v) if v < 709 else math.inf for v in logs.tolist()), note
    why = "is missing" if np.isnan(cells[0]) else "is infinite"
    if known is None:
        return None, f"{why}: left out."
    return tuple(gone for _, gone in known), f"{why}, which counts as a level."


def _block_step(
    block: Block, batch: Batch, logs: Floats, row: Mapping[str, object]
) -> tuple[Values, str, str | None, tuple[tuple[str, str | None], ...]]:
    """The factor of several cells together; those that are missing are summed over, or integrated out."""
    codes = {}
    for name in block.names:
        cells = batch.cells[name]
        known = isinstance(cells, Codes) or np.isfinite(cells[0])
        codes[name] = int(cells.codes[0]) if isinstance(cells, Codes) else (0 if known else MISSING_CODE)
    gone, unseen = ([n for n, code in codes.items() if code == kind] for kind in (MISSING_CODE, UNSEEN_CODE))
    joint = block.joint
    as_level = joint.missing_is_level if isinstance(joint, JointTable) else bool(block.presence)
    reserved = isinstance(joint, JointTable) and joint.reserve
    inside = {*codes} - {*([] if as_level else gone), *([] if reserved else unseen)}
    values: Values = None
    if isinstance(joint, JointTable):
        values = joint.quotients(batch)
    elif inside:
        values = tuple(math.exp(v) if v < 709 else math.inf for v in logs.tolist())
    left = "left out." if not inside else "summed over." if isinstance(joint, JointTable) else "integrated out."
    notes = []
    for names, taken, what in ((gone, as_level, "missing"), (unseen, reserved, "unseen in training")):
        if names:
            end = "which counts as a level." if taken else left
            notes.append(f"{', '.join(map(shown, names))}: {what}, {end}")
    there = tuple((n, None if n in gone else label(row.get(n))) for n in block.names if n in inside)
    cell = " & ".join("missing" if n in gone else label(row.get(n)) or "" for n in block.names) if inside else None
    return values, " ".join(notes), cell, there
