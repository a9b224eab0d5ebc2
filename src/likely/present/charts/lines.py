"""Charts of lines: reliability, the learning curve, and what each value of a number says."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from likely.evaluate.scores.intervals import Measure
from likely.evaluate.scores.ranking import Reliability
from likely.machinery.arrays import Floats
from likely.machinery.words import clean, cut, number, percent
from likely.present.charts.drawing import Chart, ChartAxis, ChartFrame, at, key, line, path, svg, text, thin_line, ticks

if TYPE_CHECKING:
    from likely.evaluate.curve import Curve, Trend
    from likely.evaluate.scores.ranking import Ranking

    pass


# Charts of lines: reliability (what was said against what happened) and the learning curve. Knows records, no rows.


def reliability(found: Reliability) -> Chart:
    """What was said against what happened; the size of a dot tells how many rows it stands for."""
    what = "the class named" if found.of is None else found.of
    low = 0.0
    frame = ChartFrame(
        ChartAxis(low, 1.0, f"probability given to {what}", "percent"),
        ChartAxis(0.0, 1.0, "how often it happened", "percent"),
        width=300,
        height=240,
        top=24,
    )
    body = [frame.drawn()]
    body.append(line(frame.across(0), frame.up(0), frame.across(1), frame.up(1), "ideal"))
    most = max((b.weight for b in found.bins), default=1.0)
    points = [(frame.across(b.probability), frame.up(b.share.value or 0.0)) for b in found.bins]
    body.append(path(points, "accent-line"))
    for b, (x, y) in zip(found.bins, points, strict=True):
        if b.share.low is not None and b.share.high is not None:
            body.append(line(x, frame.up(b.share.low), x, frame.up(b.share.high), "whisker"))
        told = f"said {percent(b.probability)}, happened in {percent(b.share.value or 0.0)} of {number(b.weight)} rows"
        radius = 2.5 + 5.5 * math.sqrt(b.weight / most)
        body.append(f'<circle class="accent" cx="{at(x)}" cy="{at(y)}" r="{at(radius)}"><title>{told}</title></circle>')
    label = f"Reliability: probability given to {what} against how often it happened"
    return svg(372, frame.bottom + 44, label, "".join(body), "reliability")


def roc(found: Ranking) -> Chart:
    """Rows of the class looked for that are found, against others mistaken for it."""
    of = clean(found.roc.of, 40)
    return _square(found.roc.points, "false positive rate", f"recall of {of}", "ROC curve", diagonal=True)


def gain(found: Ranking) -> Chart:
    """How much of the class is reached, by how many of the rows that rank highest are called."""
    of, whole = clean(found.roc.of, 40), found.roc.positives + found.roc.negatives
    points = [(_called(found, point) / whole, point[1]) for point in found.roc.points]
    return _square(points, "rows called, highest first", f"reached of {of}", "Gain", diagonal=True)


def _called(found: Ranking, point: tuple[float, float]) -> float:
    """How many rows stand at and above a threshold."""
    return point[0] * found.roc.negatives + point[1] * found.roc.positives


def precision_recall(found: Ranking) -> Chart:
    """How many of those named are right, against how many are found."""
    of, curve = clean(found.roc.of, 40), found.precision_recall
    return _square(curve.points, f"recall of {of}", "precision", "Precision and recall", level=curve.prevalence)


def _square(
    points: Sequence[tuple[float, float]],
    x: str,
    y: str,
    title: str,
    diagonal: bool = False,
    level: float | None = None,
) -> Chart:
    """A curve of shares against shares."""
    frame = ChartFrame(ChartAxis(0.0, 1.0, x, "percent"), ChartAxis(0.0, 1.0, y, "percent"), width=240, height=200)
    body = [frame.drawn()]
    if diagonal:
        body.append(line(frame.across(0), frame.up(0), frame.across(1), frame.up(1), "ideal"))
    if level is not None:
        body.append(line(frame.across(0), frame.up(level), frame.across(1), frame.up(level), "ideal"))
    every = max(1, len(points) // 400)
    kept = [p for k, p in enumerate(points) if k % every == 0 or k == len(points) - 1]
    body.append(path(thin_line([(frame.across(a), frame.up(b)) for a, b in kept]), "accent-line"))
    return svg(312, frame.bottom + 42, f"{title}: {y} against {x}", "".join(body), "ranks")


def learning(found: Curve) -> tuple[Chart, ...]:
    """Accuracy and log loss after ever more rows with 95 % bounds, the frequencies alone, and what more would bring."""
    drawn = (
        _learning(found, "accuracy", "Accuracy", "share of rows", found.accuracy, True),
        _learning(found, "log_loss", "Log loss", "bits a row", found.log_loss, False),
    )
    return tuple(chart for chart in drawn if chart is not None)


def _learning(found: Curve, name: str, title: str, unit: str, trend: Trend, share: bool) -> Chart | None:
    dots = [(p.rows, m) for p in found.points if (m := getattr(p, name)).value is not None]
    base = [(p.rows, y) for p in found.points if (y := getattr(p.baseline, name)) is not None]
    if len(dots) < 2:
        return None
    ahead = [
        (f.rows, Measure(1 - f.loss, 1 - f.high, 1 - f.low) if share else Measure(f.loss, f.low, f.high))
        for f in trend.forecasts
    ]
    bounds = [v for _, m in (*dots, *ahead) for v in (m.value, m.low, m.high) if v is not None]
    heights = bounds + [y for _, y in base]
    # One loss beyond measure must not press the rest of the curve flat: it stands at the top, with its number.
    most = max(heights) if share else min(max(heights), _reach([m.value or 0.0 for _, m in (*dots, *ahead)], base))
    most = max(most, min(heights))
    steps = ticks(min(heights), most, 0.0, 1.0 if share else None)
    low, high = min(*heights, steps[0]), max(most, steps[-1])
    xs = [math.log2(rows) for rows, _ in (*dots, *ahead)]
    frame = ChartFrame(
        ChartAxis(min(xs), max(xs), "rows learned from", "number"),
        ChartAxis(low, high, unit, "percent" if share else "number"),
        top=40,
        height=150,
        width=340,
    )

    def place(rows: float, value: float) -> tuple[float, float]:
        return frame.across(math.log2(rows)), frame.up(min(value, high))

    body = [text(0, 14, title, "title"), _doublings(frame, [rows for rows, _ in (*dots, *ahead)])]
    if base:
        body.append(path([place(*one) for one in base], "ideal"))
        body.append(text(frame.left + frame.width, frame.up(base[-1][1]) - 5, "guessing", "tick inside", "end"))
    body.append(path([place(r, m.value or 0.0) for r, m in dots], "accent-line"))
    if ahead:
        body.append(path([place(r, m.value or 0.0) for r, m in (dots[-1], *ahead)], "expected"))
        x, y = place(ahead[-1][0], ahead[-1][1].value or 0.0)
        body.append(text(x, y - 9, "expected", "tick inside", "end"))
    for kind, each in (("accent", dots), ("ahead", ahead)):
        for rows, m in each:
            x, y = place(rows, m.value or 0.0)
            if m.low is not None and m.high is not None and m.low < high:
                body.append(line(x, frame.up(m.low), x, frame.up(min(m.high, high)), "whisker"))
            if (m.value or 0.0) > high:
                body.append(text(x + 8, y + 4, f"↑ {m.value:.3g}", "tick inside"))
            words = percent(m.value or 0.0) if share else f"{m.value or 0.0:.4f} bits"
            words += f" after {number(round(rows))} rows"
            body.append(f'<circle class="{kind}" cx="{at(x)}" cy="{at(y)}" r="4"><title>{words}</title></circle>')
    label = f"Learning curve: {title.lower()}, {unit}, after ever more rows"
    return svg(408, frame.bottom + 44, label, "".join(body), "learning")


def _reach(values: list[float], base: Sequence[tuple[float, float]]) -> float:
    """How high the axis of a loss goes: three times what is usual, and never below the frequencies alone."""
    usual = sorted(values)[len(values) // 2]
    return max([3 * usual, *(1.25 * y for _, y in base)])


def _doublings(frame: ChartFrame, sizes: list[float]) -> str:
    """Axes whose x runs by doublings: marks at the sizes themselves, as far as their words have room."""
    out = []
    for value in frame.y.steps(5):
        out.append(line(frame.left, frame.up(value), frame.left + frame.width, frame.up(value), "grid"))
        out.append(text(frame.left - 6, frame.up(value) + 4, frame.y.word(value), "tick", "end"))
    last = math.inf
    for rows in reversed(sizes):
        x = frame.across(math.log2(rows))
        out.append(line(x, frame.bottom, x, frame.bottom + 4, "axis"))
        if last - x >= 48:
            out.append(text(x, frame.bottom + 17, f"{rows:,.0f}", "tick", "middle"))
            last = x
    out.append(line(frame.left, frame.bottom, frame.left + frame.width, frame.bottom, "axis"))
    out.append(text(frame.left + frame.width, frame.bottom + 34, frame.x.name, "name", "end"))
    out.append(text(frame.left - 40, frame.top - 12, frame.y.name, "name"))
    return "".join(out)


# A number in one picture: what each value says of the classes, above how its values are spread over them.

MOST_CURVES = 6
MOST_BITS, LEAST_BITS = 10.0, 0.5
"""Evidence beyond a thousand to one is drawn at the edge; an axis shows no less than this."""
LEFT, WIDE, CURVE_HIGH, SPREAD_HIGH = 46.0, 380.0, 118.0, 62.0


@dataclass(frozen=True)
class ValueSpread:
    """A histogram: edges of its bins, and the share of each class in each bin, (bins, classes)."""

    edges: Floats
    shares: Floats
    density: tuple[Floats, Floats] | None = None
    """Places, and what the model has fitted there, as shares of a bin: (places, classes)."""


def value_chart(
    name: str,
    grid: Floats,
    bits: Floats | None,
    spread: ValueSpread,
    classes: Sequence[str],
    hues: Sequence[str],
    dates: bool = False,
) -> Chart:
    """Bits that each value of `grid` says for each class, (values, classes), above the histograms of the classes.

    Of two classes one curve says both: above 0 it speaks for the second, below for the first. Where the values say
    nothing (None) there are histograms alone.
    """
    two, low, high = len(classes) == 2, float(spread.edges[0]), float(spread.edges[-1])
    across = ChartAxis(low, high, name, "date" if dates else "number")
    if bits is None:
        drawn = [0, 1] if two else _loudest(spread.shares, spread.shares)
        frame = ChartFrame(across, ChartAxis(0.0, 1.0, ""), LEFT, 22, WIDE, SPREAD_HIGH)
        below, tall = _spread(frame, spread, drawn, classes, hues)
        return svg(440, frame.bottom + 26 + tall, f"{name}: how its values are spread", below, "values-chart")
    coloured = np.array([hue != "other" for hue in hues])
    drawn = [1] if two else _loudest(bits, spread.shares * coloured)
    shown = [0, 1] if two else drawn
    finite = bits[:, drawn][np.isfinite(bits[:, drawn])]
    finite = np.clip(finite, -MOST_BITS, MOST_BITS)
    steps = ticks(min(-LEAST_BITS, float(finite.min(initial=0.0))), max(LEAST_BITS, float(finite.max(initial=0.0))))
    of = f" for {cut(classes[1], 24)} (above) or {cut(classes[0], 24)} (below)" if two else " for each class"
    top = ChartFrame(across, ChartAxis(steps[0], steps[-1], f"evidence{of}, bits"), LEFT, 22, WIDE, CURVE_HIGH)
    bottom = ChartFrame(across, ChartAxis(0.0, 1.0, ""), LEFT, top.bottom + 30, WIDE, SPREAD_HIGH)
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


def _places(xs: list[float], values: Floats, frame: ChartFrame) -> list[tuple[float, float]]:
    return thin_line([(x, frame.up(float(v))) for x, v in zip(xs, values, strict=True)])


def _two_sided(points: list[tuple[float, float]], frame: ChartFrame, hues: tuple[str, str]) -> str:
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
    frame: ChartFrame, spread: ValueSpread, shown: Sequence[int], classes: Sequence[str], hues: Sequence[str]
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


def _histograms(frame: ChartFrame, spread: ValueSpread, shown: Sequence[int], hues: Sequence[str]) -> str:
    most = float(spread.shares[:, shown].max()) or 1.0
    out = []
    for k in shown:
        xs = [frame.across(float(edge)) for edge in spread.edges]
        ys = [frame.up(float(share) / most) for share in spread.shares[:, k]]
        steps = [(x, y) for own, y in zip(pairwise(xs), ys, strict=True) for x in own]
        out.append(path([(xs[0], frame.bottom), *steps, (xs[-1], frame.bottom)], f"{hues[k]} area", True))
    if spread.density is not None:
        places, heights = spread.density
        for k in shown:
            up = np.minimum(heights[:, k] / most, 1.15)  # a narrow peak must not press the histogram flat
            points = [(frame.across(float(x)), frame.up(float(y))) for x, y in zip(places, up, strict=True)]
            out.append(path(points, f"{hues[k]} curve thin"))
    return "".join(out)
