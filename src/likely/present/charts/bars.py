"""Bars: small ones for the cells of tables, a gauge, and charts of bars one below the other. Knows no records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from likely.present.charts.drawing import Axis, Chart, at, colour, escape_text, line, svg, text

MOST = 40
GREY = ("many", "other")
LEFT, WIDTH, STEP = 150.0, 250.0, 22.0


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
            out.append(f'<rect class="{hue} fill" x="{at(100 * start)}%" width="{at(100 * share)}%"/>')
        start += share
    return _bar("".join(out), label)


def diverging(value: float, most: float, kind: str, label: str = "") -> Chart:
    """A bar to the right of the middle, or to its left where the value is below zero."""
    wide = 50 * min(abs(value) / most, 1.0) if most > 0 else 0.0
    start = 50.0 if value >= 0 else 50.0 - wide
    body = f'<rect class="{kind} fill" x="{at(start)}%" width="{at(wide)}%"/>'
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
