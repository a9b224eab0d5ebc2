"""Normal densities of several numbers in SQL, as quadratic forms for each pattern of gaps."""

from __future__ import annotations

import math
from collections.abc import Mapping

from likely.models.shapes import MultivariateNormal, limit_distances
from likely.portable.languages.flatten import patterns
from likely.portable.languages.statements import add_up, case, exp, is_above, is_below, number

# The normal density of several numbers in SQL: first what is how far from its mean, then turned, then squared.

TINY = 1e-150
"""Whose square is nothing, and whose product with a weight might be too small for PostgreSQL."""


class Quadratic:
    """One such term: its columns are called after its number."""

    def __init__(self, term: MultivariateNormal, place: int, columns: Mapping[str, str]) -> None:
        self.term, self.patterns = term, patterns(term)
        self.pattern = f"n{place}"
        self._x: list[exp.Expr] = [exp.column(columns[name]) for name in term.names]
        if term.ends is not None:
            self._x = [_within(x, low, high) for x, low, high in zip(self._x, *term.ends.tolist(), strict=True)]
        self._farthest = limit_distances(term.deviation)
        self._name = f"{place}"

    def apart(self) -> list[exp.Expr]:
        """The number of the pattern of gaps, and for each class how far each number is from its mean."""
        bits = [
            case([(x.is_(exp.null()), exp.Literal.number(0))], exp.Literal.number(1 << k))
            for k, x in enumerate(self._x)
        ]
        out = [exp.alias_(add_up(bits), self.pattern)]
        for c in range(len(self.term.mean)):
            out += [exp.alias_(self._off(c, k), f"d{self._name}_{c}_{k}") for k in range(len(self._x))]
        return out

    def _off(self, c: int, k: int) -> exp.Expr:
        """(x - mean) / deviation, x no farther from the mean than `farthest`; 0 where x is missing or at the mean."""
        mean, deviation = float(self.term.mean[c, k]), float(self.term.deviation[c, k])
        farthest = float(self._farthest[c, k])
        x, near, edge = self._x[k], TINY * deviation, farthest * (1 / deviation)
        below, above = is_below(x, mean, farthest), is_above(x, mean, farthest)
        at = exp.Between(this=x, low=number(mean - near), high=number(mean + near))
        off = exp.Mul(this=exp.paren(exp.Sub(this=x, expression=number(mean))), expression=number(1 / deviation))
        ends = [(condition, number(d)) for condition, d in ((below, -edge), (above, edge)) if condition is not None]
        return case([(x.is_(exp.null()), number(0.0)), *ends, (at, number(0.0))], off)

    def turned(self) -> list[exp.Expr]:
        """d @ weights of the row's own pattern, for each class and place."""
        out = []
        size = len(self._x)
        for c in range(len(self.term.mean)):
            for j in range(size):
                branches = []
                for place, pattern in enumerate(self.patterns):
                    parts = [
                        exp.Mul(this=exp.column(f"d{self._name}_{c}_{i}"), expression=number(row[j]))
                        for i, row in enumerate(pattern.weights[c])
                        if abs(row[j]) > TINY
                    ]
                    if parts:
                        branches.append((self._is(place), add_up(parts)))
                value = case(branches, number(0.0)) if branches else number(0.0)
                out.append(exp.alias_(value, f"y{self._name}_{c}_{j}"))
        return out

    def score(self, c: int) -> exp.Expr:
        """peak - |d @ weights|**2 / 2, no more than `most` below the lowest peak; nothing where there is no number."""
        squares = []
        for j in range(len(self._x)):
            y = exp.column(f"y{self._name}_{c}_{j}")
            small = exp.Between(this=y, low=number(-TINY), high=number(TINY))
            squares.append(case([(small, number(0.0))], exp.Mul(this=y, expression=y.copy())))
        peaks = [(self._is(place), number(p.peak[c])) for place, p in enumerate(self.patterns) if place]
        half = exp.Mul(this=number(0.5), expression=exp.paren(add_up(squares)))
        value: exp.Expr = exp.Sub(this=exp.paren(case(peaks)), expression=half)
        if self.term.most < math.inf:
            lowest = [(self._is(n), number(min(p.peak) - self.term.most)) for n, p in enumerate(self.patterns) if n]
            below = exp.LT(this=exp.paren(value), expression=exp.paren(case(lowest)))
            value = case([(below, exp.paren(case(lowest)))], value.copy())
        return case([(self._is(0), number(0.0))], value)

    def _is(self, place: int) -> exp.Expr:
        return exp.EQ(this=exp.column(self.pattern), expression=exp.Literal.number(place))


def _within(x: exp.Expr, low: float, high: float) -> exp.Expr:
    """A number, no less and no more than these; NULL stays so."""
    below, above = exp.LT(this=x, expression=number(low)), exp.GT(this=x.copy(), expression=number(high))
    return exp.paren(case([(below, number(low)), (above, number(high))], x.copy()))
