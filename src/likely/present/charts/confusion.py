"""The confusion matrix as a map of shades, for any number of classes. Knows counts and words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likely.present.charts.drawing import Chart, escape_text, svg

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 80
"""Classes that are drawn."""
SHADES = 8


def row_shares(table: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """Each line divided by its sum; a line of nothing stays so."""
    counts = np.array(table, np.float64)
    whole = counts.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(counts, whole, out=np.zeros_like(counts), where=whole > 0))


def confusion_map(names: Sequence[str], table: Sequence[Sequence[float]]) -> Chart:
    """Shares of each true class (a line) by the class named (a column), as shades; of many classes the first."""
    shares, count = row_shares(table)[:MOST, :MOST], min(len(names), MOST)
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
