"""The confusion matrix: a table with shades where classes are few, a map of shades where they are many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.present.charts.drawing import Chart, cut, escape_text, svg
from likely.present.words import clean, number, percent

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEW = 10
"""Classes of a table."""
MOST = 80
SHADES = 8


@dataclass(frozen=True)
class Cell:
    """One cell of the table: rows, and how strong its shade is (0 to SHADES)."""

    rows: str
    shade: int
    right: bool


@dataclass(frozen=True)
class Line:
    """One true class: where its rows went, and how many were named rightly."""

    label: str
    cells: tuple[Cell, ...]
    recall: str


@dataclass(frozen=True)
class Confusion:
    """Everything the page shows of it."""

    labels: tuple[str, ...]
    lines: tuple[Line, ...]
    precision: tuple[str, ...]
    map: Chart | None
    worst: tuple[tuple[str, str, str, str], ...]
    """True class, class named in its place, rows, share of the true class."""


def confusion(classes: Sequence[str], table: Sequence[Sequence[float]]) -> Confusion | None:
    """Of the rows that were given an answer."""
    found = np.array(table, np.float64)
    if not found.size or not found.sum() > 0:
        return None
    per_true, per_named = found.sum(axis=1), found.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(per_true[:, None] > 0, found / per_true[:, None], 0.0)
    wrong = found.copy()
    np.fill_diagonal(wrong, 0.0)
    order = [(int(i), int(j)) for i, j in zip(*np.unravel_index(np.argsort(-wrong, axis=None, kind="stable")[:8],
             wrong.shape), strict=True) if wrong[i, j] > 0]  # fmt: skip
    names = [clean(c, 40) for c in classes]
    worst = tuple((names[i], names[j], number(float(wrong[i, j])), percent(float(shares[i, j]))) for i, j in order)
    if len(classes) > FEW:
        return Confusion(tuple(names), (), (), _map(names, shares) if len(names) <= MOST else None, worst)
    lines = tuple(
        Line(
            cut(names[i], 24),
            tuple(
                Cell(number(float(found[i, j])), round(SHADES * float(shares[i, j])), i == j)
                for j in range(len(classes))
            ),
            percent(float(shares[i, i])) if per_true[i] else "–",
        )
        for i in range(len(classes))
    )
    precision = tuple(percent(float(found[j, j] / n)) if n else "–" for j, n in enumerate(per_named))
    return Confusion(tuple(cut(n, 24) for n in names), lines, precision, None, worst if len(classes) > 2 else ())


def shares_map(names: Sequence[str], table: Sequence[Sequence[float]]) -> Chart:
    """The map of any confusion, however few the classes."""
    found = np.array(table, np.float64)
    per_true = found.sum(axis=1, keepdims=True)
    shares = np.divide(found, per_true, out=np.zeros_like(found), where=per_true > 0)
    return _map(names[:MOST], shares[:MOST, :MOST])


def _map(names: Sequence[str], shares: NDArray[np.float64]) -> Chart:
    """Shares of each true class (a line) by the class named (a column), as shades."""
    count = len(names)
    size = max(5.0, min(60.0, 380.0 / count))
    left, top = 112.0, 24.0
    body = [
        f'<rect class="sheet" x="{left:g}" y="{top:g}" width="{size * count:g}" height="{size * count:g}"/>',
        f'<text class="name" x="{left:g}" y="14">class named, in the same order →</text>',
    ]
    for shade in range(1, SHADES + 1):
        lines, columns = np.nonzero(np.ceil(SHADES * shares - 1e-9) == shade)
        for right in (False, True):
            d = "".join(
                f"M{left + size * j:g} {top + size * i:g}h{size:g}v{size:g}h-{size:g}z"
                for i, j in zip(lines.tolist(), columns.tolist(), strict=True)
                if (i == j) == right
            )
            if d:
                body.append(f'<path class="{"right" if right else "wrong"} shade{shade}" d="{d}"/>')
    every = max(1, -(-12 // int(size)))
    for i in range(0, count, every):
        y = top + size * (i + 0.5) + 3.5
        body.append(
            f'<text class="tick" x="{left - 5:g}" y="{y:g}" text-anchor="end">{escape_text(names[i], 16)}</text>'
        )
    label = f"Confusion of {count} classes: each line is a true class, each column the class named"
    return svg(left + size * count + 6, top + size * count + 6, label, "".join(body), "confusion-map")
