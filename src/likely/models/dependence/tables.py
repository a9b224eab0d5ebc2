"""The tables of a tree over attributes as they were counted: P(level | parent's level, class) in fractions, for people.

Reads the grid of pairs; the decimals that a model scores with are those of `grid.shares`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likely.models.dependence.grid import Grid
from likely.models.quotient import Quotient, as_written
from likely.models.shapes import Exhibit

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_CELLS = 400
"""More cells than this and a table is not printed among others."""


def link_quotients(grid: Grid, v: int, u: int, pseudo_count: float, level: int, above: int) -> tuple[Quotient, ...]:
    """P(level of axis v | level `above` of axis u, class) for each class, as `shares` has it; u is -1 for a root.

    Where a class has no row with that level of the parent, and no pseudo-counts: P(level | class), or equal shares.
    """
    own, extra = grid.cells(v), as_written(pseudo_count)
    alone = np.einsum("iik->ik", grid.counts[own, own])
    counts = alone if u < 0 else grid.counts[int(grid.first[u]) + above, own]
    out = []
    for k in range(counts.shape[1]):
        found = _quotient(counts[:, k], level, extra)
        if found is None and u >= 0:
            found = _quotient(alone[:, k], level, extra)
        out.append(found or Quotient(Fraction(1), Fraction(len(counts))))
    return tuple(out)


def _quotient(counts: NDArray[np.float64], level: int, extra: Fraction) -> Quotient | None:
    each = [as_written(n) for n in counts.tolist()]
    bottom = sum(each, Fraction(0)) + extra * len(each)
    return Quotient(each[level] + extra, bottom) if bottom else None


def link_exhibit(grid: Grid, v: int, u: int, pseudo_count: float, classes: tuple[str, ...]) -> Exhibit:
    """The whole table of one attribute, a row for each level (of each level of its parent), in fractions."""
    axis, parent = grid.axes[v], grid.axes[u] if u >= 0 else None
    rows: list[tuple[str | float, ...]] = []
    for above in range(1 if parent is None else len(parent.levels)):
        for level, name in enumerate(axis.levels.names):
            chances = link_quotients(grid, v, u, pseudo_count, level, above)
            given = () if parent is None else (parent.levels.names[above],)
            rows.append((*given, name, *map(str, chances)))
    inside = f"{axis.name} | class" if parent is None else f"{axis.name} | {parent.name}, class"
    header = (axis.name,) if parent is None else (parent.name, axis.name)
    return Exhibit(f"P({inside})", (*header, *(f"P(…|{c})" for c in classes)), tuple(rows))


def link_exhibits(
    grid: Grid, order: NDArray[np.int64], parents: NDArray[np.int64], pseudo_count: float, classes: tuple[str, ...]
) -> tuple[Exhibit, ...]:
    """The tables of all attributes, each after that of its parent; those that are too long to read are left out."""
    out = []
    for v in order.tolist():
        u = int(parents[v])
        if int(grid.sizes[v]) * (int(grid.sizes[u]) if u >= 0 else 1) * len(classes) <= MOST_CELLS:
            out.append(link_exhibit(grid, v, u, pseudo_count, classes))
    return tuple(out)
