"""What several attributes say together, as frozen plain values: joint tables, normal densities, trees, pairs.

Part of `forms`, which says how cells are read; what each form means is defined by `joint_terms`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Scores: TypeAlias = tuple[float, ...]


@dataclass(frozen=True)
class Axis:
    """An attribute as a few codes: of its levels, or of bins (the number of `starts` that are at most x)."""

    attribute: str
    size: int
    """So many codes there are, 0 … size - 1."""
    codes: tuple[int, ...] | None
    """The code of each level of the attribute, -1 where the cell is left out; None: the axis is of bins."""
    starts: tuple[float, ...] = ()
    unseen: int = -1
    missing: int = -1


@dataclass(frozen=True)
class TableTerm:
    """Adds log(sum of the counts of matching cells + extra * combinations left out) - log_total.

    Matching are those whose codes are the row's on all axes where it has one; nothing is added where it has none.
    `combinations left out` is the product of the sizes of the axes without a code.
    """

    name: str
    axes: tuple[Axis, ...]
    cells: tuple[tuple[int, ...], ...]
    """Codes, one for each axis; no two the same."""
    counts: tuple[Scores, ...]
    """Of each cell in each class."""
    extra: float
    log_extra: float
    """Its log, for where extra * combinations is beyond a double."""
    log_total: Scores


@dataclass(frozen=True)
class CovarianceTerm:
    """Adds the log density of the numbers that are finite, under a normal density for each class; nothing without any.

    d = (x - mean) / deviation, with |x - mean| no more than `farthest`; of a complete row it is
    peak - |d @ whitening|**2 / 2. Else the same of the part: -(n log 2 pi + log det R + d R**-1 d) / 2 - sum of log
    deviation, with R the rows and columns of `correlation` that are there; no pivot of its Cholesky decomposition is
    taken below `least`.
    """

    name: str
    attributes: tuple[str, ...]
    mean: tuple[Scores, ...]
    """For each class, of each attribute; so are the others."""
    deviation: tuple[Scores, ...]
    farthest: tuple[Scores, ...]
    correlation: tuple[tuple[Scores, ...], ...]
    least: Scores
    whitening: tuple[tuple[Scores, ...], ...]
    peak: Scores
    pooled: bool = False
    """Whether the classes differ in their means alone."""


@dataclass(frozen=True)
class TreeTerm:
    """Adds log P(code | code of the parent, class) over a tree of axes; axes without a code are summed over.

    tables[axis][code][parent's code] are scores; a root has one parent's code, 0.
    """

    name: str
    axes: tuple[Axis, ...]
    order: tuple[int, ...]
    """The axes, each after its parent."""
    parents: tuple[int, ...]
    """-1: none."""
    tables: tuple[tuple[tuple[Scores, ...], ...], ...]


@dataclass(frozen=True)
class PairTerm:
    """Adds what the table says at the codes of a row; nothing where it has no code on one of the axes."""

    name: str
    axes: tuple[Axis, Axis]
    table: tuple[Scores, ...]
    """For each class, of each pair of codes, those of the second axis running fastest. If it is of one class, there are
    two: it is of the second, and the first has the same with the other sign."""


@dataclass(frozen=True)
class TreesTerm:
    """Adds the sum of trees over its axes: each is followed from its root to a leaf, or to the first node whose axis
    has no code, and adds the values of where that ends."""

    name: str
    axes: tuple[Axis, ...]
    roots: tuple[int, ...]
    axis: tuple[int, ...]
    """Of each node, the place of its axis; -1: a leaf."""
    below: tuple[int, ...]
    """Of each node, its first child; the second follows. Both come after the node."""
    turns: tuple[tuple[int, ...], ...]
    """Of each node, in order: a code goes to the first child where an even number of them are at most the code."""
    values: tuple[Scores, ...]
    """For each class, of each node; of one class alone as the table of a pair is."""
