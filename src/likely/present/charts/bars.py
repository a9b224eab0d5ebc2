"""Small bars for the cells of tables, in per cent of the cell's width so that words beside them keep their size."""

from __future__ import annotations

from collections.abc import Sequence

from likely.present.charts.drawing import COLOURS, Chart, at, colour, escape_text
from likely.present.words import percent


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
