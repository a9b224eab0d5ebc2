"""The terms of a sum, drawn: what each value of a number says as a curve of steps, what two attributes say as a map.

Knows numbers and words; no models.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likely.present.charts.drawing import COLOURS, Axis, Chart, Frame, at, colour, escape_text, key, line, svg, text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MOST_CURVES = 6
SHADES = 8
LEFT, TOP, CELL_WIDTH, CELL_HEIGHT = 130.0, 74.0, 52.0, 22.0


def effect_curve(
    name: str, edges: Floats, ends: tuple[float, float], bits: Floats, classes: Sequence[str], dates: bool = False
) -> Chart | None:
    """Bits that each value says for a class: of two classes for the second, of more for those of which it says most."""
    low, high = ends
    if not low < high or not np.isfinite(high - low):
        return None
    inside = (edges > low) & (edges < high)
    first = int(np.searchsorted(edges, low, side="right"))
    steps = bits[first : first + int(inside.sum()) + 1]
    drawn = [1] if len(classes) == 2 else sorted(np.argsort(-np.abs(steps).max(axis=0), kind="stable")[:MOST_CURVES])
    bottom, top = min(0.0, float(steps[:, drawn].min())), max(0.0, float(steps[:, drawn].max()))
    if bottom == top:
        return None
    of = f" for {classes[1]}" if len(classes) == 2 else ""
    frame = Frame(
        Axis(low, high, name, "date" if dates else "number"), Axis(bottom, top, f"evidence{of}, bits"), height=150
    )
    body = [frame.drawn(), line(frame.left, frame.up(0.0), frame.left + frame.width, frame.up(0.0), "axis")]
    hue = {k: k if len(classes) <= COLOURS else place for place, k in enumerate(drawn)}
    rights = [*edges[inside].tolist(), high]
    for k in drawn:
        d = f"M{at(frame.left)} {at(frame.up(float(steps[0, k])))}"
        for right, after in zip(rights, [*steps[1:, k].tolist(), None], strict=True):
            d += f"H{at(frame.across(right))}" + ("" if after is None else f"V{at(frame.up(after))}")
        body.append(f'<path class="{colour(hue[k])} curve" d="{d}"/>')
    below = frame.bottom + 46
    if len(classes) > 2:
        keys, tall = key([(hue[k], classes[k]) for k in drawn], frame.left - 40, below + 12, 420)
        body.append(keys)
        below += tall
    return svg(440, below, f"{name}: what each value says{of}, in bits", "".join(body), "effect")


def heat_map(
    names: tuple[str, str], labels: tuple[Sequence[str], Sequence[str]], bits: Floats, sides: tuple[str, str]
) -> Chart:
    """What two attributes say together: a place for each two steps, in the colour of the class that it speaks for.

    `sides` are the style classes of what is below 0 and of what is above.
    """
    lines, columns = bits.shape
    most = float(np.abs(bits).max()) or 1.0
    wide, high = LEFT + CELL_WIDTH * columns, TOP + CELL_HEIGHT * lines
    body = [text(0, 14, f"{names[0]} ↓  {names[1]} →", "name", most=60)]
    for j, label in enumerate(labels[1]):
        x = LEFT + CELL_WIDTH * (j + 0.4)
        turned = f'transform="rotate(-28 {at(x)} {at(TOP - 6)})"'
        body.append(f'<text class="tick" x="{at(x)}" y="{at(TOP - 6)}" {turned}>{escape_text(label, 15)}</text>')
    shades = np.ceil(SHADES * np.abs(bits) / most).astype(int)
    for side, above in zip(sides, (False, True), strict=True):
        for shade in range(1, SHADES + 1):
            places = np.argwhere((shades == shade) & ((bits > 0) == above)).tolist()
            d = "".join(
                f"M{at(LEFT + CELL_WIDTH * j)} {at(TOP + CELL_HEIGHT * i)}h{at(CELL_WIDTH)}v{at(CELL_HEIGHT)}"
                f"h-{at(CELL_WIDTH)}z"
                for i, j in places
            )
            body.append(f'<path class="{side} heat shade{shade}" d="{d}"/>' if d else "")
    for i, label in enumerate(labels[0]):
        y = TOP + CELL_HEIGHT * i + 15
        body.append(text(LEFT - 6, y, label, "tick", "end", 19))
        # One text a line, its words placed one by one.
        xs = " ".join(at(LEFT + CELL_WIDTH * (j + 0.5)) for j in range(columns))
        words = "".join(f'<tspan x="{x}">{b:+.2f}</tspan>' for x, b in zip(xs.split(), bits[i].tolist(), strict=True))
        body.append(f'<text class="inside tick" y="{at(y)}" text-anchor="middle">{words}</text>')
    label = f"{names[0]} and {names[1]}: what they say together, in bits"
    return svg(wide + 40, high + 8, label, "".join(body), "heat-map")
