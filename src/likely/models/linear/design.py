"""The design of linear models: how the cells of a row become columns of numbers, and what weights on them say of a row.

A number is measured from its mean in standard deviations (0 where it is missing), a level is an indicator.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from textwrap import wrap
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from likely.errors import shown
from likely.models.contracts import Factor
from likely.models.shapes import Exhibit, LevelTable, Slope, Standard
from likely.sums.columns.numbers import Numbers
from likely.table.batch import Batch
from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

FAR = Fraction(2) ** 1000
"""A mean so many spreads from zero, as weights of 1e-300 beside 1e300 make it: no double tells such a column's values
apart, so it has no spread (tests/models/test_extremes.py)."""
BLOCK = 8192
"""Rows scored at a time, so that their scores stay in the processor's cache."""


def standard(name: str, weight: Fraction, first: Fraction, second: Fraction, gone: bool) -> Standard | None:
    """The standard units of a column from its exact sums (weight, x, x*x); None where it has no spread."""
    if not weight:
        return None
    mean = first / weight
    variance = second / weight - mean * mean
    if not variance:
        return None
    shift = (variance.numerator.bit_length() - variance.denominator.bit_length()) // 2
    scaled = mean / Fraction(2) ** shift
    if abs(scaled) >= FAR:
        return None
    center = float(scaled)
    spread = math.sqrt(variance / Fraction(4) ** shift)
    return Standard(name, mean, shift, spread, center, float(scaled - Fraction(center)), gone)


def standard_of(name: str, numbers: Numbers) -> Standard | None:
    """The standard units of a column over all classes."""
    weight, first, second = (sum(part, Fraction(0)) for part in zip(*numbers.moments(), strict=True))
    return standard(name, weight, first, second, not numbers.other.is_zero().all())


Weighed: TypeAlias = Slope | LevelTable


def outputs(constant: NDArray[np.float64], parts: Sequence[Factor], batch: Batch) -> NDArray[np.float64]:
    """constant + what each attribute adds, in order, (rows, outputs)."""
    out = np.empty((batch.rows, len(constant)))
    out[:] = constant
    for start in range(0, batch.rows, BLOCK):
        rows = slice(start, start + BLOCK)
        block = batch.sliced(rows)
        for part in parts:
            part.add(block, out[rows])
    return out


def level_weights(name: str, weights: dict[str, NDArray[np.float64]], size: int) -> LevelTable:
    """Weights of the levels of one attribute; an unseen level and a missing cell add nothing."""
    nothing = np.zeros((2, size))
    rows = np.concatenate([np.array(list(weights.values())).reshape(-1, size), nothing])
    return LevelTable(name, Labels(weights), np.ascontiguousarray(rows))


def constant_notes(names: Iterable[str]) -> list[str]:
    """The notes on numbers that have no spread, and so no column."""
    why = "it has too few different values for a variance"
    return [f"{shown(name)} is left out: {why}." for name in names]


# -- for people ---------------------------------------------------------------------------------------------


def constant_of(constant: float, parts: Iterable[Weighed], k: int) -> float:
    """Output k of a row whose numbers are 0 and whose levels are none, in the attributes' own units."""
    whole = Fraction(constant)
    for part in parts:
        if isinstance(part, Slope):
            whole += part.standard.at_zero(float(part.weights[k]))
    try:
        return float(whole)
    except OverflowError:
        return math.inf if whole > 0 else -math.inf


def weight_rows(parts: Iterable[Weighed]) -> list[tuple[str, str, list[float]]]:
    """(attribute, level, weight for each output), weights of numbers in their own units."""
    out: list[tuple[str, str, list[float]]] = []
    for part in parts:
        if isinstance(part, LevelTable):
            rows = zip(part.labels.names, part.log_table.tolist(), strict=False)
            out += [(part.name, level, row) for level, row in rows]
            continue
        out.append((part.name, "", [part.standard.raw(w) for w in part.weights.tolist()]))
        if part.standard.gone:
            # What replaces weight * x in a row where x is missing: the mean's share, and the indicator's weight.
            at_mean = [
                float(np.float64(a) - np.float64(_finite(part.standard.at_zero(w))))
                for a, w in zip(part.absent.tolist(), part.weights.tolist(), strict=True)
            ]
            out.append((part.name, "(missing)", at_mean))
    return out


def _finite(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def exhibit(title: str, names: Sequence[str], constant: NDArray[np.float64], parts: Sequence[Weighed]) -> Exhibit:
    """The weights of every output as a table."""
    rows: list[tuple[str | float, ...]] = [
        ("(constant)", *(constant_of(float(c), parts, k) for k, c in enumerate(constant)))
    ]
    for attribute, level, weights in weight_rows(parts):
        name = attribute if not level else f"{attribute} {level}" if level == "(missing)" else f"{attribute} = {level}"
        rows.append((name, *weights))
    return Exhibit(title, ("attribute", *names), tuple(rows))


def hyperplane(constant: float, parts: Sequence[Weighed], k: int) -> str:
    """Where output k is zero, as an equation in the attributes' own units.

    A level stands for 1 in rows that have it, and for 0 in all others.
    """
    words: list[str] = []
    for attribute, level, weights in weight_rows(parts):
        if weights[k]:
            name = attribute if not level else f"[{attribute}={level}]" if level != "(missing)" else f"[no {attribute}]"
            words.append(f"{_signed(weights[k], bool(words))}·{name}")
    at = constant_of(constant, parts, k)
    if not words:
        sign = "=" if at == 0 else "<" if at < 0 else ">"
        return f"{_signed(at, False)} {sign} 0 in every row: no attribute has a weight, so no plane parts the classes"
    words.append(_signed(at, bool(words)))
    return " ".join(words) + " = 0"


def plane_exhibit(equation: str, above: str) -> Exhibit:
    """The separating hyperplane of two classes, in lines that fit a table; `above` is the class where it is above 0."""
    lines = wrap(equation, 58, break_long_words=False, break_on_hyphens=False)
    rows = tuple((line, above if k == 0 else "…") for k, line in enumerate(lines))
    return Exhibit("Separating hyperplane", ("equation", "above 0"), rows)


def _signed(value: float, inside: bool) -> str:
    if not inside:
        return f"{value:.6g}".replace("-", "−", 1)
    return f"{'−' if value < 0 else '+'} {abs(value):.6g}"
