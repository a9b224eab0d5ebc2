"""Factors and parts of models as terms of the portable form: one function for each. Computes no score."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.models.dependence.grid import Axis, Grid
from likely.models.factors.joint import Table
from likely.models.factors.normal import Normal
from likely.models.linear.design import FARTHEST, Standard
from likely.models.naive.blocks import LevelBlock, NumberBlock
from likely.models.quotient import log_of
from likely.portable import forms

if TYPE_CHECKING:
    from numpy.typing import NDArray

Levels = Mapping[str, tuple[str, ...]]
REACH = 4.0
"""How far from 0 standard units go where squares are taken of them (models/linear/curves.py)."""


def floats(values: Any) -> forms.Scores:
    """Numbers as Python's own."""
    return tuple(float(v) for v in values)


def matrix(rows: Any) -> tuple[forms.Scores, ...]:
    """Rows of numbers as Python's own."""
    return tuple(floats(row) for row in rows)


def terms_of(factor: Any, levels: Levels) -> Iterator[forms.Term]:
    """What a factor adds: one term, or for a block whose gaps are evidence one more for each attribute."""
    if isinstance(factor, Table):
        yield _table(" & ".join(factor.names), factor, levels)
    elif isinstance(factor, LevelBlock):
        yield _table(factor.name, factor.table, levels)
    elif isinstance(factor, Normal):
        yield _covariance(" & ".join(factor.names), factor)
    elif isinstance(factor, NumberBlock):
        yield _covariance(factor.name, factor.normal)
        for attribute, shares in zip(factor.names, factor.known or (), strict=False):
            known, gone = (floats(log_of(side)) for side in zip(*shares, strict=True))
            yield forms.PresenceTerm(factor.name, attribute, known, gone)
    else:
        yield term(factor, levels)


def term(factor: Any, levels: Levels) -> forms.Term:
    """What the factor (or part) of one attribute adds."""
    return _TERMS[type(factor).__name__](factor, levels)


def _levels(factor: Any, levels: Levels) -> forms.Term:
    return _of_table(factor.name, factor.labels.index, factor.log_table, levels)


def _level_weights(part: Any, levels: Levels) -> forms.Term:
    return _of_table(part.name, part.labels.index, part.table, levels)


def _of_table(name: str, index: Mapping[str, int], table: NDArray[np.float64], levels: Levels) -> forms.Term:
    """The last row of a table serves missing cells, the one before unseen levels."""
    unseen, missing = floats(table[-2]), floats(table[-1])
    rows = tuple(floats(table[index[level]]) if level in index else unseen for level in levels[name])
    return forms.LevelTerm(name, rows, unseen, missing)


def _normal(factor: Any, levels: Levels) -> forms.Term:
    return forms.NormalTerm(
        factor.name,
        floats(factor.mean),
        floats(factor.deviation),
        floats(factor.rate),
        floats(factor.peak),
        floats(factor.absent),
    )


def _kernel(factor: Any, levels: Levels) -> forms.Term:
    starts = factor.starts.tolist()
    own = [
        dict(zip(factor.points[a:b].tolist(), factor.weights[a:b].tolist(), strict=True)) for a, b in pairwise(starts)
    ]
    centres = sorted({x for part in own for x in part})
    return forms.KernelTerm(
        factor.name,
        tuple(centres),
        tuple(tuple(part.get(x, 0.0) for x in centres) for part in own),
        floats(factor.bandwidth),
        floats(factor.rate),
        floats(factor.peak),
        floats(factor.normal.absent),
    )


def _binned(factor: Any, levels: Levels) -> forms.Term:
    table = factor.levels.log_table
    return forms.BinTerm(factor.name, floats(factor.starts), matrix(table[:-2]), floats(table[-1]))


def _bin_weights(part: Any, levels: Levels) -> forms.Term:
    return forms.BinTerm(
        part.name, floats(part.edges), matrix(part.table[: len(part.edges) + 1]), floats(part.table[-1])
    )


def _text(factor: Any, levels: Levels) -> forms.Term:
    settings, vocabulary = factor.settings, factor.scores.vocabulary
    return forms.TextTerm(
        factor.name,
        tuple(vocabulary[k] for k in range(len(vocabulary))),
        matrix(factor.scores.weights),
        floats(factor.base),
        "binary" if settings.model == "bernoulli" else settings.damping,
        1.0 if settings.scale == "none" else float(settings.scale),
        bool(settings.length),
    )


def _unit(standard: Standard, farthest: float) -> forms.Unit:
    center, rest, spread = float(standard.center), float(standard.rest), float(standard.spread)
    return forms.Unit(standard.name, int(standard.shift), center, rest, spread, farthest)


def _slope(part: Any, levels: Levels) -> forms.Term:
    unit = _unit(part.standard, FARTHEST)
    return forms.SlopeTerm(part.name, unit, floats(part.weights), floats(part.absent))


def _curve(part: Any, levels: Levels) -> forms.Term:
    units = tuple(_unit(u, REACH) for u in part.units)
    return forms.CurveTerm(part.name, int(part.at), units, matrix(part.weights), floats(part.absent))


_TERMS: dict[str, Callable[[Any, Levels], forms.Term]] = {
    "Categorical": _levels,
    "Gaussian": _normal,
    "KernelDensity": _kernel,
    "Binned": _binned,
    "TextFactor": _text,
    "LevelWeights": _level_weights,
    "NumberWeights": _slope,
    "SquareWeights": _curve,
    "BinWeights": _bin_weights,
}


# -- several attributes together ------------------------------------------------------------------------------------


def axis(found: Axis, levels: Levels) -> forms.Axis:
    """An axis of a grid; unseen levels and missing cells are left out."""
    size = len(found.levels)
    if found.edges is not None:
        return forms.Axis(found.name, size, None, floats(found.edges))
    return forms.Axis(found.name, size, tuple(found.levels.index.get(level, -1) for level in levels[found.name]))


def grid_axes(grid: Grid, levels: Levels) -> tuple[forms.Axis, ...]:
    """The axes of a grid."""
    return tuple(axis(found, levels) for found in grid.axes)


def _table(name: str, table: Table, levels: Levels) -> forms.Term:
    axes = []
    for attribute, labels, size in zip(table.names, table.labels, table.sizes, strict=True):
        unseen = len(labels) if table.reserve else -1
        gone = len(labels) + table.reserve if table.missing_is_level else -1
        codes = tuple(labels.index.get(level, unseen) for level in levels[attribute])
        axes.append(forms.Axis(attribute, size, codes, (), unseen, gone))
    cells = tuple(tuple(map(int, row)) for row in table.codes)
    return forms.TableTerm(
        name,
        tuple(axes),
        cells,
        matrix(table.counts.floats()),
        float(table.extra),
        _log(table.extra) if table.extra else -math.inf,
        log_total_of(table),
    )


def log_total_of(table: Table) -> forms.Scores:
    """The log of what all cells weigh in each class; 0 where that is nothing, and every cell is impossible."""
    whole = table.extra * table.cells
    return tuple(_log(n + whole) if n + whole else 0.0 for n in table.totals())


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


def _covariance(name: str, normal: Normal) -> forms.Term:
    whole = normal.whitened(np.arange(len(normal.names)))
    means, deviations = matrix(normal.mean), matrix(normal.deviation)
    alike = all(len(part) > 1 and (part == part[0]).all() for part in (normal.deviation, normal.correlation))
    return forms.CovarianceTerm(
        name,
        normal.names,
        means,
        deviations,
        tuple(matrix(rows) for rows in normal.correlation),
        floats(normal.least),
        tuple(matrix(whitening) for whitening, _ in whole),
        tuple(-float(volume) for _, volume in whole),
        alike,
    )
