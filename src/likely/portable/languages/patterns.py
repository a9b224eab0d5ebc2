"""Normal densities of several numbers as one quadratic form for each pattern of gaps, worked out beforehand.

Languages without loops can then say them: which numbers are there picks the weights. Knows no language and no model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from likely.portable.forms import CovarianceTerm
from likely.portable.joint_terms import cholesky_solve

MOST_TOGETHER = 6
"""Numbers of one density at most; every one more doubles the patterns."""

Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Pattern:
    """What a row adds that has just these numbers: peak - |d @ weights|**2 / 2, where d is 0 for what is missing."""

    weights: tuple[Matrix, ...]
    """For each class; row i is of attribute i."""
    peak: tuple[float, ...]


def patterns(term: CovarianceTerm) -> tuple[Pattern, ...]:
    """One for each set of numbers that are there: bit i of its place says that attribute i is. The first is of none."""
    size = len(term.attributes)
    return tuple(_pattern(term, [k for k in range(size) if place >> k & 1]) for place in range(1 << size))


def _pattern(term: CovarianceTerm, there: list[int]) -> Pattern:
    size, classes = len(term.attributes), range(len(term.mean))
    if len(there) == size:
        return Pattern(term.whitening, term.peak)
    weights, peak = [], []
    for c in classes:
        rows = [[0.0] * size for _ in range(size)]
        part = [[term.correlation[c][i][j] for j in there] for i in there]
        log_root = 0.0
        for k, own in enumerate(there):  # linear in d, so what each unit gives is all there is to know
            unit = [float(j == k) for j in range(len(there))]
            apart, log_root = cholesky_solve(part, unit, term.least[c])
            rows[own][: len(there)] = apart
        volume = 0.5 * len(there) * math.log(2 * math.pi) + log_root
        peak.append(-(volume + sum(math.log(term.deviation[c][k]) for k in there)) if there else 0.0)
        weights.append(tuple(map(tuple, rows)))
    return Pattern(tuple(weights), tuple(peak))
