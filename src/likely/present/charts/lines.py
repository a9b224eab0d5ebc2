"""Charts of lines: reliability (what was said against what happened) and the learning curve. Knows records, no rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from likely.evaluate.scores.calibration import Reliability
from likely.present.charts.drawing import Axis, Chart, Frame, at, line, path, svg, text
from likely.present.report.charts import ticks
from likely.present.report.words import number, percent

if TYPE_CHECKING:
    from likely.evaluate.curve import Curve


def reliability(found: Reliability) -> Chart:
    """What was said against what happened; the size of a dot tells how many rows it stands for."""
    what = "the class named" if found.of is None else found.of
    low = 0.0
    frame = Frame(
        Axis(low, 1.0, f"probability given to {what}", "percent"),
        Axis(0.0, 1.0, "how often it was so", "percent"),
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
        told = f"said {percent(b.probability)}, was so in {percent(b.share.value or 0.0)} of {number(b.weight)} rows"
        radius = 2.5 + 5.5 * math.sqrt(b.weight / most)
        body.append(f'<circle class="accent" cx="{at(x)}" cy="{at(y)}" r="{at(radius)}"><title>{told}</title></circle>')
    label = f"Reliability: probability given to {what} against how often it was so"
    return svg(372, frame.bottom + 44, label, "".join(body), "reliability")


def learning(found: Curve) -> tuple[Chart, ...]:
    """Accuracy and log loss after ever more rows, each with its 95 % interval, and the frequencies alone."""
    out = []
    for name, unit, share in (("accuracy", "accuracy", True), ("log_loss", "log loss, bits a row", False)):
        dots = [(p.rows, getattr(p, name)) for p in found.points if getattr(p, name).value is not None]
        base = [(p.rows, getattr(p.baseline, name)) for p in found.points if getattr(p.baseline, name) is not None]
        if len(dots) < 2:
            continue
        heights = [v for _, m in dots for v in (m.value, m.low, m.high) if v is not None] + [y for _, y in base]
        steps = ticks(min(heights), max(heights), 0.0, 1.0 if share else None)
        low, high = min(*heights, steps[0]), max(*heights, steps[-1])
        xs = [math.log2(rows) for rows, _ in dots]
        frame = Frame(
            Axis(min(xs), max(xs), "rows learned from", "number"),
            Axis(low, high, unit, "percent" if share else "number"),
            top=24,
            height=150,
            width=340,
        )
        body = [_doublings(frame, [rows for rows, _ in dots])]
        if base:
            body.append(path([(frame.across(math.log2(r)), frame.up(y)) for r, y in base], "ideal"))
            body.append(
                text(frame.left + frame.width, frame.up(base[-1][1]) - 5, "frequencies only", "tick inside", "end")
            )
        body.append(path([(frame.across(math.log2(r)), frame.up(m.value)) for r, m in dots], "accent-line"))
        for rows, m in dots:
            x, y = frame.across(math.log2(rows)), frame.up(m.value)
            if m.low is not None and m.high is not None:
                body.append(line(x, frame.up(m.low), x, frame.up(m.high), "whisker"))
            told = percent(m.value) if share else f"{m.value:.4f} bits"
            body.append(
                f'<circle class="accent" cx="{at(x)}" cy="{at(y)}" r="4">'
                f"<title>{told} after {number(round(rows))} rows</title></circle>"
            )
        label = f"Learning curve: {unit} after ever more rows"
        out.append(svg(408, frame.bottom + 44, label, "".join(body), "learning"))
    return tuple(out)


def _doublings(frame: Frame, sizes: list[float]) -> str:
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
