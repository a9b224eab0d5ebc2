"""Charts of lines: reliability (what was said against what happened) and the learning curve. Knows records, no rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from likely.evaluate.scores.calibration import Reliability
from likely.evaluate.scores.intervals import Measure
from likely.present.charts.drawing import Axis, Chart, Frame, at, line, path, svg, text, thin_line, ticks
from likely.present.words import clean, number, percent

if TYPE_CHECKING:
    from likely.evaluate.curve import Curve
    from likely.evaluate.scores.ranking import Ranking
    from likely.evaluate.trend import Trend


def reliability(found: Reliability) -> Chart:
    """What was said against what happened; the size of a dot tells how many rows it stands for."""
    what = "the class named" if found.of is None else found.of
    low = 0.0
    frame = Frame(
        Axis(low, 1.0, f"probability given to {what}", "percent"),
        Axis(0.0, 1.0, "how often it happened", "percent"),
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
    frame = Frame(Axis(0.0, 1.0, x, "percent"), Axis(0.0, 1.0, y, "percent"), width=240, height=200)
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
    frame = Frame(
        Axis(min(xs), max(xs), "rows learned from", "number"),
        Axis(low, high, unit, "percent" if share else "number"),
        top=40,
        height=150,
        width=340,
    )

    def place(rows: float, value: float) -> tuple[float, float]:
        return frame.across(math.log2(rows)), frame.up(min(value, high))

    body = [text(0, 14, title, "title"), _doublings(frame, [rows for rows, _ in (*dots, *ahead)])]
    if base:
        body.append(path([place(*one) for one in base], "ideal"))
        body.append(text(frame.left + frame.width, frame.up(base[-1][1]) - 5, "frequencies only", "tick inside", "end"))
    body.append(path([place(r, m.value or 0.0) for r, m in dots], "accent-line"))
    if ahead:
        body.append(path([place(r, m.value or 0.0) for r, m in (dots[-1], *ahead)], "expected"))
        body.append(text(*place(ahead[-1][0], ahead[-1][1].value or 0.0), "expected", "tick inside", "end"))
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
