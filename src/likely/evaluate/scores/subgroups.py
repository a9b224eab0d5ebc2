"""Scores of the rows of each level of an attribute, from what was said of rows that were not learned from."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from likely.evaluate.scores.intervals import bound_of, of_rows, wilson
from likely.evaluate.scores.scores import HeldOutRows
from likely.machinery.presented import Presented
from likely.models.judgement import Measure, Subgroup, Subgroups
from likely.sums.columns.numbers import Numbers, update_numbers
from likely.sums.contracts import weights

SMALL = 30
"""Rows of equal weight below which a group is called small: its accuracy is known to some 15 points at best."""


class SubgroupScores(Presented, tuple[Subgroups, ...]):
    """Scores of the rows of each level, attribute by attribute."""

    __slots__ = ()


def find_subgroups(rows: HeldOutRows, positive: str, by: float) -> tuple[Subgroups, ...]:
    """Of each attribute with few levels. `by` is how many times the variance of independent rows and a given model
    that of the scores is (`design_effect`), so that bounds are those of the accuracy of all rows."""
    if positive not in rows.classes or not len(rows.truth):
        return ()
    looked_for = rows.classes.index(positive)
    hit, chance = (rows.truth == looked_for).astype(np.float64), rows.matrix[:, looked_for]
    figures = of_rows(rows).accuracy, chance, hit, chance - hit
    squares = rows.weight**2 if rows.squares is None else rows.squares
    out = []
    for name, cells in rows.cells.items():
        levels: tuple[str | None, ...] = (*cells.labels.names, None)
        codes = np.where(cells.codes < 0, len(levels) - 1, cells.codes).astype(np.int32)
        sums = [Numbers(len(levels), cap=64) for _ in figures]
        update_numbers(sums, figures, codes, weights(rows.weight))
        moments = zip(*(held.moments() for held in sums), strict=True)
        own = [
            _group(level, found, float(square), by)
            for level, found, square in zip(levels, moments, np.bincount(codes, squares, len(levels)), strict=True)
            if found[0][0] > 0
        ]
        out.append(Subgroups(name, positive, tuple(sorted(own, key=lambda g: (g.level is None, -g.rows)))))
    return tuple(out)


Moments = tuple[Fraction, Fraction, Fraction]


def _group(level: str | None, found: tuple[Moments, ...], squares: float, by: float) -> Subgroup:
    """Bounds as those of all rows: Wilson's of shares, Student's t of the mean gap."""
    weight = found[0][0]
    right, chance, hit, gap = (float(total / weight) for _, total, _ in found)
    rows = float(weight * weight / Fraction(squares))  # as many of equal weight would be as sure; no double overflows
    bounds = Measure(gap)
    if rows > 1:
        variance = max(float(found[3][2] / weight) - gap * gap, 0.0) * rows / (rows - 1)
        half = bound_of(max(round(rows) - 1, 1)) * math.sqrt(variance * by / rows)
        bounds = Measure(gap, max(gap - half, -1.0), min(gap + half, 1.0))
    accuracy, actual = Measure(right, *wilson(right, rows / by)), Measure(hit, *wilson(hit, rows))
    return Subgroup(level, float(weight), rows < SMALL, accuracy, chance, actual, bounds)
