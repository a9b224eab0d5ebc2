"""The confusion matrix as a map of shades, for any number of classes. Knows counts and words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likely.present.charts.drawing import Chart, at, cut_middle, escape_text, svg, text
from likely.present.words import number, percent

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST, MOST_TITLED, LONGEST = 80, 50, 34
"""Classes that are drawn; up to how many a pointer shows counts; letters of a name."""
SHADES = 8


def row_shares(table: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """Each line divided by its sum; a line of nothing stays so."""
    counts = np.array(table, np.float64)
    whole = counts.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(counts, whole, out=np.zeros_like(counts), where=whole > 0))


def confusion_map(names: Sequence[str], table: Sequence[Sequence[float]]) -> Chart:
    """Shares of each true class (a line) by the class predicted (a column), as shades; of many classes the first.

    Lines and columns are named in full, as far as letters fit; a pointer on a cell shows its count.
    """
    shares, count = row_shares(table)[:MOST, :MOST], min(len(names), MOST)
    size = max(7.0, min(56.0, 480.0 / count))
    shown = [cut_middle(name, LONGEST) for name in names[:count]]
    room = 6.1 * max(map(len, shown), default=1)
    every = max(1, -(-11 // int(size)))
    left, top = room + 12, 26 + (room * 0.82 if count > 2 else 14)
    wide = size * count
    body = [
        f'<rect class="sheet" x="{at(left)}" y="{at(top)}" width="{at(wide)}" height="{at(wide)}"/>',
        text(0, 12, "predicted class →", "name"),
        text(0, top - 6, "true class ↓", "name"),
    ]
    for i, row in enumerate(shares.tolist()):
        for j, share in enumerate(row):
            if share > 0:
                kind = "right" if i == j else "wrong"
                told = f"{shown[i]} predicted as {shown[j]}: {number(table[i][j])} rows, {percent(share)} of {shown[i]}"
                title = f"<title>{escape_text(told)}</title>" if count <= MOST_TITLED else ""
                place = f'x="{at(left + size * j)}" y="{at(top + size * i)}" width="{at(size)}" height="{at(size)}"'
                body.append(f'<rect class="{kind} shade{max(1, round(SHADES * share))}" {place}>{title}</rect>')
    steps = "".join(
        f"M{at(left + size * k)} {at(top + size * k)}h{at(size)}v{at(size)}h-{at(size)}z" for k in range(count)
    )
    body.append(f'<path class="frame" d="{steps}"/>')
    for k in range(0, count, every):
        middle = size * (k + 0.5)
        body.append(text(left - 6, top + middle + 4, shown[k], "tick", "end"))
        x, y = at(left + middle + 3), at(top - 6)
        turn = f'transform="rotate(-55 {x} {y})"'
        body.append(f'<text class="tick" x="{x}" y="{y}" {turn}>{escape_text(shown[k])}</text>')
    label = f"Confusion of {count} classes: each line is a true class, each column the class predicted"
    return svg(left + wide + 0.62 * room, top + wide + 6, label, "".join(body), "confusion-map")
