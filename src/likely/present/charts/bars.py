"""Bars: small ones for the cells of tables, a gauge, and charts of bars one below the other. Knows no records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from likely.present.charts.drawing import COLOURS, Axis, Chart, at, colour, escape_text, line, svg, text
from likely.present.words import percent

MOST = 40
LEFT, WIDTH, STEP = 150.0, 250.0, 22.0


def bar(share: float, kind: str = "accent", label: str = "") -> Chart:
    """One bar from the left; `share` of the cell."""
    wide = at(100 * min(max(share, 0.0), 1.0))
    return _bar(f'<rect class="{kind}" width="{wide}%" height="10" rx="1.5"/>', label)


def stacked(shares: Sequence[float], label: str = "") -> Chart:
    """Shares of the classes side by side; together they fill the cell. Of many classes, the greatest share alone."""
    if len(shares) > COLOURS:
        return bar(max(shares), "accent", label)
    out, start = [], 0.0
    for k, share in enumerate(shares):
        if share > 0.0005:
            out.append(
                f'<rect class="{colour(k)} fill" x="{at(100 * start)}%" width="{at(100 * share)}%" height="10"/>'
            )
        start += share
    return _bar("".join(out), label)


def diverging(value: float, most: float, kind: str, label: str = "") -> Chart:
    """A bar to the right of the middle, or to its left where the value is below zero."""
    wide = 50 * min(abs(value) / most, 1.0) if most > 0 else 0.0
    start = 50.0 if value >= 0 else 50.0 - wide
    body = f'<rect class="{kind} fill" x="{at(start)}%" width="{at(wide)}%" height="10"/>'
    return _bar(body + '<rect class="mid" x="50%" width="1" height="10"/>', label)


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


def gauge(value: float, low: float, high: float, base: float) -> Chart:
    """Accuracy on a line from 0 to 100 %: its interval, and the baseline."""
    label = f"accuracy {percent(value)}, interval {percent(low)} to {percent(high)}, baseline {percent(base)}"
    marks = "".join(
        f'<text class="tick" x="{k}%" y="60" text-anchor="{"start" if k == 0 else "end" if k == 100 else "middle"}">'
        f"{k} %</text>"
        for k in (0, 25, 50, 75, 100)
    )
    side = "end" if base > 0.5 else "start"
    shift = -6 if base > 0.5 else 6
    body = (
        '<rect class="track" y="26" width="100%" height="14" rx="7"/>'
        f'<rect class="accent" y="26" width="{at(100 * value)}%" height="14" rx="7"/>'
        f'<rect class="band" x="{at(100 * low)}%" y="22" width="{at(100 * (high - low))}%" height="22" rx="3"/>'
        f'<svg x="{at(100 * value)}%" overflow="visible">'
        '<rect class="mark" x="-1.5" y="20" width="3" height="26"/></svg>'
        f'<rect class="base" x="{at(100 * base)}%" y="14" width="2" height="32"/>'
        f'<svg x="{at(100 * base)}%" overflow="visible"><text class="tick" x="{shift}" y="12" text-anchor="{side}">'
        f"most frequent class {escape_text(percent(base))}</text></svg>{marks}"
    )
    return Chart(f'<svg class="gauge" role="img" aria-label="{escape_text(label)}">{body}</svg>')


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
    axis = Axis(low, high, unit, "percent" if shares else "number")
    top, bottom = 46.0, 46.0 + STEP * len(shown)

    def across(value: float) -> float:
        return LEFT + (min(max(value, low), high) - low) / (high - low) * WIDTH

    body = [text(0, 14, title, "title", most=70), text(LEFT, 34, unit, "name")]
    for step in axis.steps(5):
        body.append(line(across(step), top, across(step), bottom, "grid"))
        body.append(text(across(step), bottom + 15, axis.word(step), "tick", "middle"))
    for k, row in enumerate(shown):
        y = top + STEP * k
        start, end = sorted((across(0.0), across(row.value)))
        kind = "accent" if row.of is None else f"{colour(row.of)} fill"
        body.append(text(LEFT - 8, y + 15, row.name, "", "end", 22))
        body.append(
            f'<rect class="{kind}" x="{at(start)}" y="{at(y + 5)}" width="{at(max(end - start, 0.5))}" height="12"/>'
        )
        body.append(text(LEFT + WIDTH + 8, y + 15, row.words, "tick"))
    body.append(line(across(0.0), top, across(0.0), bottom, "axis"))
    if len(found) > MOST:
        body.append(text(0, bottom + 34, f"{len(found) - MOST} more are not shown", "tick"))
    return svg(480, bottom + (42 if len(found) > MOST else 22), f"{title}: {unit}", "".join(body), "rows")
