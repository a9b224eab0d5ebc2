"""What two attributes say together, drawn as a map. Knows numbers and words; no models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats
from likely.present.charts.drawing import Chart, at, escape_text, svg, text
from likely.present.words import signed

if TYPE_CHECKING:
    pass


from likely.present.charts.confusion import SHADES
LEFT, TOP, CELL_WIDTH, CELL_HEIGHT = 130.0, 74.0, 52.0, 22.0


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
        words = "".join(
            f'<tspan x="{x}">{signed(b)}</tspan>' for x, b in zip(xs.split(), bits[i].tolist(), strict=True)
        )
        body.append(f'<text class="inside tick" y="{at(y)}" text-anchor="middle">{words}</text>')
    label = f"{names[0]} and {names[1]}: what they say together, in bits"
    return svg(wide + 40, high + 8, label, "".join(body), "heat-map")
