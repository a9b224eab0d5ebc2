"""Bars, gauges, maps of shades and histograms, large and as small as words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.evaluate.scores.intervals import Measure
from likely.machinery.arrays import Floats
from likely.machinery.words import escape_text, number, percent, signed
from likely.models.contracts import Factor
from likely.models.shapes import Column
from likely.present.charts.drawing import Chart, ChartAxis, at, colour, cut_middle, line, svg, text, ticks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    pass


# Bars: small ones for the cells of tables, a gauge, and charts of bars one below the other. Knows no records.

MOST = 40
GREY = ("many", "other")
WIDTH, STEP, LETTER = 250.0, 22.0, 7.1
"""Of a chart of lines: its axis, a line, and a letter of its words, in the mean."""


def bar(share: float, kind: str = "accent", label: str = "") -> Chart:
    """One bar from the left; `share` of the cell."""
    wide = at(100 * min(max(share, 0.0), 1.0))
    return _bar(f'<rect class="{kind}" width="{wide}%" rx="1.5"/>', label)


def stacked(shares: Sequence[float], label: str = "", hues: Sequence[str] = ()) -> Chart:
    """Shares of the classes side by side; together they fill the cell. Those without a colour come last, as one."""
    hues = hues or [colour(k, len(shares)) for k in range(len(shares))]
    out, start = [], 0.0
    grey = sum(share for share, hue in zip(shares, hues, strict=True) if hue in GREY)
    parts = [*((s, h) for s, h in zip(shares, hues, strict=True) if h not in GREY), (grey, "other")]
    for share, hue in parts:
        if share > 0.0005:
            place = f' x="{at(100 * start)}%"' if start else ""
            out.append(f'<rect class="{hue}"{place} width="{at(100 * share)}%"/>')
        start += share
    return _bar("".join(out), label)


def diverging(value: float, most: float, kind: str, label: str = "") -> Chart:
    """A bar to the right of the middle, or to its left where the value is below zero."""
    wide = 50 * min(abs(value) / most, 1.0) if most > 0 else 0.0
    start = 50.0 if value >= 0 else 50.0 - wide
    body = f'<rect class="{kind}" x="{at(start)}%" width="{at(wide)}%"/>'
    return Chart(_bar(body, label).replace('class="bar"', 'class="bar sided"', 1))


def scale(marks: Sequence[tuple[float, str]]) -> Chart:
    """An axis for a column of bars: words at shares of its width."""
    out = []
    for share, words in marks:
        anchor = "start" if share < 0.02 else "end" if share > 0.98 else "middle"
        between = ' class="between"' if anchor == "middle" else ""
        out.append(f'<text{between} x="{at(100 * share)}%" y="9" text-anchor="{anchor}">{escape_text(words)}</text>')
        out.append(f'<rect class="mid" x="{at(100 * min(share, 0.998))}%" y="12" width="1" height="4"/>')
    return Chart(f'<svg class="scale" aria-hidden="true">{"".join(out)}</svg>')


def _bar(body: str, label: str) -> Chart:
    named = f'role="img" aria-label="{escape_text(label)}"' if label else 'aria-hidden="true"'
    return Chart(f'<svg class="bar" {named}>{body}</svg>')


def rung(share: float, low: float | None, high: float | None, kind: str) -> Chart:
    """One line of a ladder of shares: a bar from 0 to 100 %, with a thin line for its interval."""
    body = ['<rect class="track" y="3" width="100%" height="14" rx="2"/>']
    body.append(f'<rect class="{kind}" y="3" width="{at(100 * share)}%" height="14" rx="2"/>')
    if low is not None and high is not None:
        body.append(f'<rect class="mark" x="{at(100 * low)}%" y="9.2" width="{at(100 * (high - low))}%" height="1.6"/>')
        body += [f'<rect class="mark" x="{at(100 * end)}%" y="5" width="1.6" height="10"/>' for end in (low, high)]
    return Chart(f'<svg class="rung" aria-hidden="true">{"".join(body)}</svg>')


@dataclass(frozen=True)
class NamedBar:
    """One bar: its name, its length, what is written beside it, and the class whose colour it has (None: of none)."""

    name: str
    value: float
    words: str
    of: int | None = None


def bar_chart(title: str, unit: str, found: Sequence[NamedBar], shares: bool = False) -> Chart:
    """The bars over one axis, from zero to both sides where values have both signs."""
    shown = list(found[:MOST])
    values = [r.value for r in shown if abs(r.value) != float("inf")] or [0.0]
    low, high = min(0.0, *values), max(0.0, *values)
    if low == high:
        high = 1.0
    if shares:
        high = max(high, 1.0)
    axis = ChartAxis(low, high, unit, "percent" if shares else "number")
    lines = NamedLines(axis, [(row.name, row.words) for row in shown])
    body = []
    for k, row in enumerate(shown):
        start, end = sorted((lines.across(0.0), lines.across(row.value)))
        kind = "accent" if row.of is None else f"{colour(row.of)} fill"
        place = f'x="{at(start)}" y="{at(lines.middle(k) - 6)}" width="{at(max(end - start, 0.5))}" height="12"'
        body.append(f'<rect class="{kind}" {place}/>')
    return lines.drawn(title, [*body, lines.rule(0.0)], len(found) - len(shown))


def interval_chart(title: str, unit: str, found: Sequence[tuple[str, Measure]], shares: bool = False) -> Chart:
    """A dot for each value with a line for its interval, one below the other over one axis."""
    shown = [(name, m) for name, m in found if m.value is not None][:MOST]
    ends = [v for _, m in shown for v in (m.value, m.low, m.high) if v is not None] or [0.0]
    steps = ticks(min(ends), max(ends), 0.0, 1.0 if shares else None)
    axis = ChartAxis(min(*ends, *steps), max(*ends, *steps), unit, "percent" if shares else "number")
    words = [percent(m.value or 0.0) if shares else number(m.value or 0.0) for _, m in shown]
    lines = NamedLines(axis, [(name, told) for (name, _), told in zip(shown, words, strict=True)])
    body = []
    for k, (_, m) in enumerate(shown):
        y = lines.middle(k)
        if m.low is not None and m.high is not None:
            body.append(line(lines.across(m.low), y, lines.across(m.high), y, "whisker"))
        body.append(f'<circle class="accent" cx="{at(lines.across(m.value or 0.0))}" cy="{at(y)}" r="4"/>')
    return lines.drawn(title, body, len(found) - len(shown))


@dataclass(frozen=True)
class NamedLines:
    """Lines one below the other over one axis, each with a name before it and words behind it, none of them clipped."""

    axis: ChartAxis
    named: Sequence[tuple[str, str]]
    top: float = 46.0

    @property
    def left(self) -> float:
        return max(80.0, 12 + LETTER * max((len(cut_middle(name, LONGEST)) for name, _ in self.named), default=1))

    def across(self, value: float) -> float:
        low, high = self.axis.low, self.axis.high
        return self.left + (min(max(value, low), high) - low) / ((high - low) or 1.0) * WIDTH

    def middle(self, k: int) -> float:
        return self.top + STEP * (k + 0.5)

    def rule(self, value: float) -> str:
        """The axis, upright."""
        x = self.across(value)
        return line(x, self.top, x, self.top + STEP * len(self.named), "axis")

    def drawn(self, title: str, body: Sequence[str], more: int) -> Chart:
        """The whole drawing; `more` lines had no room."""
        bottom, unit = self.top + STEP * len(self.named), self.axis.name
        out = [text(0, 14, title, "title", most=90), text(self.left, 34, unit, "name")]
        for step in self.axis.steps(5):
            out.append(line(self.across(step), self.top, self.across(step), bottom, "grid"))
            out.append(text(self.across(step), bottom + 15, self.axis.word(step), "tick", "middle"))
        out += body
        for k, (name, words) in enumerate(self.named):
            out.append(text(self.left - 8, self.middle(k) + 4, cut_middle(name, LONGEST), "", "end"))
            out.append(text(self.left + WIDTH + 8, self.middle(k) + 4, words, "tick"))
        if more:
            out.append(text(0, bottom + 34, f"{more} more are not shown", "tick"))
        behind = LETTER * max((len(words) for _, words in self.named), default=1) + 12
        above = max(LETTER * len(title[:90]) + 8, self.left + LETTER * len(unit))
        wide = max(self.left + WIDTH + max(behind, 24.0), above)
        return svg(wide, bottom + (42 if more else 22), f"{title}: {unit}", "".join(out), "rows")


# The confusion matrix as a map of shades, for any number of classes. Knows counts and words.

MOST_CLASSES, MOST_TITLED, LONGEST, LEAST_NUMBERED = 80, 50, 34, 34
"""Classes that are drawn; up to how many a pointer shows counts; letters of a name; a place that a number fits into."""
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
    shares, count = row_shares(table)[:MOST_CLASSES, :MOST_CLASSES], min(len(names), MOST_CLASSES)
    size = max(7.0, min(56.0, 480.0 / count))
    shown = [cut_middle(name, LONGEST) for name in names[:count]]
    room = 6.7 * max(map(len, shown), default=1)
    every = max(1, -(-11 // int(size)))
    left, top = max(room + 12, 92.0), 34 + max(room * 0.82, 14)
    wide, numbered = size * count, size >= LEAST_NUMBERED
    body = [
        f'<rect class="sheet" x="{at(left)}" y="{at(top)}" width="{at(wide)}" height="{at(wide)}"/>',
        text(left, 12, "predicted class →", "name"),
        text(0, top + wide + 18, "↑ true class", "name"),
    ]
    for i, row in enumerate(shares.tolist()):
        for j, share in enumerate(row):
            if share > 0:
                kind = "right" if i == j else "wrong"
                told = f"{shown[i]} predicted as {shown[j]}: {number(table[i][j])} rows, {percent(share)} of {shown[i]}"
                title = f"<title>{escape_text(told)}</title>" if count <= MOST_TITLED else ""
                place = f'x="{at(left + size * j)}" y="{at(top + size * i)}" width="{at(size)}" height="{at(size)}"'
                body.append(f'<rect class="{kind} shade{max(1, round(SHADES * share))}" {place}>{title}</rect>')
            if numbered and table[i][j]:
                middle = left + size * (j + 0.5)
                told = number(table[i][j], 3 if size < 44 else 4)
                body.append(
                    text(middle, top + size * (i + 0.5) + 4, told, "tick on" if share > 0.5 else "tick", "middle")
                )
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
    return svg(left + wide + max(0.62 * room, 24.0), top + wide + 26, label, "".join(body), "confusion-map")


# Drawings as small as words: how the values of an attribute are spread over the classes. Knows counts, no records.

WIDE, HIGH = 96, 24
MOST_COLUMNS = 24


def spark(counts: Floats, hues: Sequence[str], label: str) -> Chart:
    """A column for each bin or level, stacked by class: `counts` is (columns, classes)."""
    counts = counts[:MOST_COLUMNS]
    most = float(counts.sum(axis=1).max()) if counts.size else 0.0
    if not most > 0:
        return Chart()
    step = WIDE // len(counts)
    above = np.cumsum(counts, axis=1) / most * HIGH
    # What is rare is still there.
    above = np.where((above[:, -1:] > 0) & (above == above[:, -1:]), np.maximum(above, 1), above)
    body = ""
    for k in range(counts.shape[1] - 1, -1, -1):
        if counts[:, k].any():
            steps = "".join(f"V{HIGH - round(v)}h{step}" for v in above[:, k].tolist())
            body += f'<path class="{hues[k]}" d="M0 {HIGH}{steps}V{HIGH}z"/>'
    return Chart(
        f'<svg class="spark" viewBox="0 0 {step * len(counts)} {HIGH}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape_text(label)}">{body}</svg>'
    )


# What two attributes say together, drawn as a map. Knows numbers and words; no models.

MAP_LEFT, TOP, CELL_WIDTH, CELL_HEIGHT = 130.0, 74.0, 52.0, 22.0


def heat_map(
    names: tuple[str, str], labels: tuple[Sequence[str], Sequence[str]], bits: Floats, sides: tuple[str, str]
) -> Chart:
    """What two attributes say together: a place for each two steps, in the colour of the class that it speaks for.

    `sides` are the style classes of what is below 0 and of what is above.
    """
    lines, columns = bits.shape
    most = float(np.abs(bits).max()) or 1.0
    wide, high = MAP_LEFT + CELL_WIDTH * columns, TOP + CELL_HEIGHT * lines
    body = [text(0, 14, f"{names[0]} ↓  {names[1]} →", "name", most=60)]
    for j, label in enumerate(labels[1]):
        x = MAP_LEFT + CELL_WIDTH * (j + 0.4)
        turned = f'transform="rotate(-28 {at(x)} {at(TOP - 6)})"'
        body.append(f'<text class="tick" x="{at(x)}" y="{at(TOP - 6)}" {turned}>{escape_text(label, 15)}</text>')
    shades = np.ceil(SHADES * np.abs(bits) / most).astype(int)
    for side, above in zip(sides, (False, True), strict=True):
        for shade in range(1, SHADES + 1):
            places = np.argwhere((shades == shade) & ((bits > 0) == above)).tolist()
            d = "".join(
                f"M{at(MAP_LEFT + CELL_WIDTH * j)} {at(TOP + CELL_HEIGHT * i)}h{at(CELL_WIDTH)}v{at(CELL_HEIGHT)}"
                f"h-{at(CELL_WIDTH)}z"
                for i, j in places
            )
            body.append(f'<path class="{side} heat shade{shade}" d="{d}"/>' if d else "")
    for i, label in enumerate(labels[0]):
        y = TOP + CELL_HEIGHT * i + 15
        body.append(text(MAP_LEFT - 6, y, label, "tick", "end", 19))
        # One text a line, its words placed one by one.
        xs = " ".join(at(MAP_LEFT + CELL_WIDTH * (j + 0.5)) for j in range(columns))
        words = "".join(
            f'<tspan x="{x}">{signed(b)}</tspan>' for x, b in zip(xs.split(), bits[i].tolist(), strict=True)
        )
        body.append(f'<text class="inside tick" y="{at(y)}" text-anchor="middle">{words}</text>')
    label = f"{names[0]} and {names[1]}: what they say together, in bits"
    return svg(wide + 40, high + 8, label, "".join(body), "heat-map")


# Where the bins of a histogram lie, and what a model has fitted there. Reads tallies and factors; no rows.

BINS = 24
POINTS = 73
ENDS = (0.002, 0.998)


def bin_edges(values: Floats, weight: Floats) -> Floats | None:
    """Edges of at most BINS bins of equal width over nearly all values; whole numbers lie in the middle of theirs."""
    low, high = inner_range(values, weight)
    if not low < high or not np.isfinite(high - low):
        return None
    if (values == np.floor(values)).all() and high - low < 1e15:
        step = max(1, -(-int(high - low + 1) // BINS))
        count = -(-int(high - low + 1) // step)
        return np.asarray(low - 0.5 + step * np.arange(count + 1.0))
    edges = np.linspace(low, high, BINS + 1)
    edges[-1] = np.nextafter(edges[-1], np.inf)
    return edges if (np.diff(edges) > 0).all() else None


def inner_range(values: Floats, weight: Floats) -> tuple[float, float]:
    """From where to where nearly all values are, which come in order; all of them where those are one value."""
    below = np.cumsum(weight)
    ends = np.minimum(np.searchsorted(below, np.array(ENDS) * below[-1]), len(values) - 1)
    low, high = float(values[ends[0]]), float(values[ends[1]])
    return (low, high) if low < high else (float(values[0]), float(values[-1]))


def fitted(factor: Factor | None, grid: Floats, classes: int) -> Floats | None:
    """The log of the fitted density of each class at each place; None where the model has none of this number."""
    if not isinstance(factor, Column):
        return None
    out = np.zeros((len(grid), classes))
    factor.add_cells(np.ascontiguousarray(grid), out)
    return out
