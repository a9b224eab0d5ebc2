"""Bars one below the other, each with a name and a number: what single charts show in place of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from likely.present.charts.drawing import Axis, Chart, at, colour, line, svg, text

MOST = 40
LEFT, WIDTH, STEP = 150.0, 250.0, 22.0


@dataclass(frozen=True)
class Row:
    """One bar: its name, its length, what is written beside it, and the class whose colour it has (None: of none)."""

    name: str
    value: float
    words: str
    of: int | None = None


def rows(title: str, unit: str, found: Sequence[Row], percent: bool = False) -> Chart:
    """The bars over one axis, from zero to both sides where values have both signs."""
    shown = list(found[:MOST])
    values = [r.value for r in shown if abs(r.value) != float("inf")] or [0.0]
    low, high = min(0.0, *values), max(0.0, *values)
    if low == high:
        high = 1.0
    if percent:
        high = max(high, 1.0)
    axis = Axis(low, high, unit, "percent" if percent else "number")
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
