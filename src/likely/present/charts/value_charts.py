"""A number in one picture: what each value says of the classes, above how its values are spread over them.

Knows numbers and words; no models and no records.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats
from likely.present.charts.drawing import Axis, Chart, Frame, at, cut, key, line, path, svg, text, thin_line, ticks

if TYPE_CHECKING:
    pass


MOST_CURVES = 6
MOST_BITS, LEAST_BITS = 10.0, 0.5
"""Evidence beyond a thousand to one is drawn at the edge; an axis shows no less than this."""
LEFT, WIDE, CURVE_HIGH, SPREAD_HIGH = 46.0, 380.0, 118.0, 62.0


@dataclass(frozen=True)
class Spread:
    """A histogram: edges of its bins, and the share of each class in each bin, (bins, classes)."""

    edges: Floats
    shares: Floats
    density: tuple[Floats, Floats] | None = None
    """Places, and what the model has fitted there, as shares of a bin: (places, classes)."""


def value_chart(
    name: str,
    grid: Floats,
    bits: Floats | None,
    spread: Spread,
    classes: Sequence[str],
    hues: Sequence[str],
    dates: bool = False,
) -> Chart:
    """Bits that each value of `grid` says for each class, (values, classes), above the histograms of the classes.

    Of two classes one curve says both: above 0 it speaks for the second, below for the first. Where the values say
    nothing (None) there are histograms alone.
    """
    two, low, high = len(classes) == 2, float(spread.edges[0]), float(spread.edges[-1])
    across = Axis(low, high, name, "date" if dates else "number")
    if bits is None:
        drawn = [0, 1] if two else _loudest(spread.shares, spread.shares)
        frame = Frame(across, Axis(0.0, 1.0, ""), LEFT, 22, WIDE, SPREAD_HIGH)
        below, tall = _spread(frame, spread, drawn, classes, hues)
        return svg(440, frame.bottom + 26 + tall, f"{name}: how its values are spread", below, "values-chart")
    drawn = [1] if two else _loudest(bits, spread.shares)
    shown = [0, 1] if two else drawn
    finite = bits[:, drawn][np.isfinite(bits[:, drawn])]
    finite = np.clip(finite, -MOST_BITS, MOST_BITS)
    steps = ticks(min(-LEAST_BITS, float(finite.min(initial=0.0))), max(LEAST_BITS, float(finite.max(initial=0.0))))
    of = f" for {cut(classes[1], 24)} (above) or {cut(classes[0], 24)} (below)" if two else " for each class"
    top = Frame(across, Axis(steps[0], steps[-1], f"evidence{of}, bits"), LEFT, 22, WIDE, CURVE_HIGH)
    bottom = Frame(across, Axis(0.0, 1.0, ""), LEFT, top.bottom + 30, WIDE, SPREAD_HIGH)
    body = [text(0, 12, top.y.name, "name", most=90)]
    for value in steps[:: max(1, -(-len(steps) // 4))]:
        body.append(line(LEFT, top.up(value), LEFT + WIDE, top.up(value), "grid"))
        body.append(text(LEFT - 6, top.up(value) + 4, top.y.word(value), "tick", "end"))
    clipped = np.clip(np.nan_to_num(bits, posinf=steps[-1], neginf=steps[0]), steps[0], steps[-1])
    xs = [top.across(float(x)) for x in grid]
    if two:
        points = [(xs[0], top.up(0.0)), *_places(xs, clipped[:, 1], top), (xs[-1], top.up(0.0))]
        body.append(_two_sided(points, top, (hues[0], hues[1])))
    body.append(line(LEFT, top.up(0.0), LEFT + WIDE, top.up(0.0), "axis"))
    for k in () if two else drawn:
        body.append(path(_places(xs, clipped[:, k], top), f"{hues[k]} curve"))
    below, tall = _spread(bottom, spread, shown, classes, hues)
    body.append(below)
    label = f"{name}: what each value says{of}, in bits, and how its values are spread"
    return svg(440, bottom.bottom + 26 + tall, label, "".join(body), "values-chart")


def _places(xs: list[float], values: Floats, frame: Frame) -> list[tuple[float, float]]:
    return thin_line([(x, frame.up(float(v))) for x, v in zip(xs, values, strict=True)])


def _two_sided(points: list[tuple[float, float]], frame: Frame, hues: tuple[str, str]) -> str:
    """An area in the colour of the second class above zero, of the first below: one path, filled by a hard gradient."""
    drawn = path(points, "said", True)
    name = f"said-{zlib.crc32((drawn + ' '.join(hues)).encode()):08x}"
    turn = f"{(frame.up(0.0) - frame.top) / frame.height:.4f}"
    stops = f'<stop class="{hues[1]} stop" offset="{turn}"/><stop class="{hues[0]} stop" offset="{turn}"/>'
    across = f'x1="0" x2="0" y1="{at(frame.top)}" y2="{at(frame.bottom)}" gradientUnits="userSpaceOnUse"'
    return f'<linearGradient id="{name}" {across}>{stops}</linearGradient>' + drawn.replace(
        'class="said"', f'class="said" fill="url(#{name})"', 1
    )


def _spread(
    frame: Frame, spread: Spread, shown: Sequence[int], classes: Sequence[str], hues: Sequence[str]
) -> tuple[str, float]:
    """The histograms with their axis, and which colour is which class; and how high that is below the axis."""
    body = [text(0, frame.top - 8, "rows of each class", "name"), _histograms(frame, spread, shown, hues)]
    for value in frame.x.steps():
        x = frame.across(value)
        body.append(line(x, frame.bottom, x, frame.bottom + 4, "axis"))
        body.append(text(x, frame.bottom + 17, frame.x.word(value), "tick", "middle"))
    body.append(line(LEFT, frame.bottom, LEFT + WIDE, frame.bottom, "axis"))
    keys, tall = key([(hues[k], classes[k]) for k in shown], LEFT, frame.bottom + 36, WIDE)
    return "".join([*body, keys]), tall


def _loudest(bits: Floats, shares: Floats) -> list[int]:
    """The classes of which the values say most, of those that have rows here."""
    size = np.where(np.isfinite(bits), np.abs(bits), 0.0).max(axis=0) * (shares.sum(axis=0) > 0)
    return sorted(np.argsort(-size, kind="stable")[:MOST_CURVES].tolist())


def _histograms(frame: Frame, spread: Spread, shown: Sequence[int], hues: Sequence[str]) -> str:
    most = float(spread.shares[:, shown].max()) or 1.0
    out = []
    for k in shown:
        d = [f"M{at(frame.across(float(spread.edges[0])))} {at(frame.bottom)}"]
        for right, share in zip(spread.edges[1:], spread.shares[:, k], strict=True):
            d.append(f"V{at(frame.up(float(share) / most))}H{at(frame.across(float(right)))}")
        out.append(f'<path class="{hues[k]} area" d="{"".join(d)}V{at(frame.bottom)}Z"/>')
    if spread.density is not None:
        places, heights = spread.density
        for k in shown:
            up = np.minimum(heights[:, k] / most, 1.15)  # a narrow peak must not press the histogram flat
            points = [(frame.across(float(x)), frame.up(float(y))) for x, y in zip(places, up, strict=True)]
            out.append(path(points, f"{hues[k]} curve thin"))
    return "".join(out)
