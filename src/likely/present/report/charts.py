"""Charts as SVG, written by hand: panels of lines over one axis of sizes. Knows numbers and words, no records, no rows.

A chart takes the colour of the text around it, so that it is readable on light and on dark ground; words are escaped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 640, 260
"""Of one panel, in units of the drawing."""
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 40, 48
"""Margins for labels."""
MOST_TICKS = 6

STYLE = (
    ".likely-chart{color:#24292f;font:13px system-ui,sans-serif}"
    "@media(prefers-color-scheme:dark){.likely-chart{color:#d7dce2}}"
    ".likely-chart text{fill:currentColor}"
    ".likely-chart .grid{stroke:currentColor;stroke-opacity:.15}"
    ".likely-chart .axis{stroke:currentColor;stroke-opacity:.6}"
    ".likely-chart .line{fill:none;stroke-width:2}"
    ".likely-chart .plain{stroke:#2f81c9}.likely-chart .plain-dot{fill:#2f81c9}"
    ".likely-chart .dashed{stroke:currentColor;stroke-opacity:.6;stroke-dasharray:6 4}"
    ".likely-chart .dotted{stroke:#c2701c;stroke-dasharray:2 4}.likely-chart .dotted-dot{fill:#c2701c}"
)


@dataclass(frozen=True)
class Dot:
    """One point of a line, and the bounds between which it lies where they are known."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Line:
    """Points that are joined; `style` is plain, dashed (a base line) or dotted (what is expected)."""

    name: str
    dots: tuple[Dot, ...]
    style: str = "plain"


@dataclass(frozen=True)
class Panel:
    """Lines over one pair of axes; x runs by doublings (logarithmic) and is above zero."""

    title: str
    x_name: str
    y_name: str
    lines: tuple[Line, ...]
    percent: bool = False
    least: float | None = None
    """No tick below it, and none above `most`: a share ends at 1."""
    most: float | None = None


def chart(title: str, description: str, panels: Sequence[Panel]) -> str:
    """The panels one below the other, with a title and a description for those who cannot see them.

    >>> chart("<curve>", "", [])[:45]
    '<svg xmlns="http://www.w3.org/2000/svg" class'
    """
    height = 32 + HEIGHT * len(panels)
    body = [_panel(panel, 32 + HEIGHT * k) for k, panel in enumerate(panels)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="likely-chart" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" aria-label="{_told(title)}">\n'
        f"<title>{_told(title)}</title>\n<desc>{_told(description)}</desc>\n<style>{STYLE}</style>\n"
        f'<text x="{LEFT}" y="20" font-weight="bold">{_told(_cut(title, 80))}</text>\n' + "\n".join(body) + "\n</svg>\n"
    )


def _panel(panel: Panel, top: int) -> str:
    dots = [d for line in panel.lines for d in line.dots]
    if not dots:
        return f'<text x="{LEFT}" y="{top + TOP}">{_told(panel.title)}: there is nothing to draw.</text>'
    xs = [math.log2(d.x) for d in dots]
    left, right = min(xs), max(xs)
    ys = [v for d in dots for v in (d.y, d.low, d.high) if v is not None]
    steps = ticks(min(ys), max(ys), panel.least, panel.most)
    floor, roof = min(*ys, steps[0]), max(*ys, steps[-1])
    bottom, height = top + HEIGHT - BOTTOM, HEIGHT - TOP - BOTTOM

    def across(x: float) -> str:
        share = (math.log2(x) - left) / (right - left) if right > left else 0.5
        return f"{LEFT + 12 + share * (WIDTH - LEFT - RIGHT - 24):.1f}"

    def up(y: float) -> str:
        return f"{bottom - (y - floor) / (roof - floor) * height:.1f}" if roof > floor else f"{bottom - height / 2:.1f}"

    out = [f'<g><text x="{LEFT}" y="{top + 16}">{_told(panel.title)}</text>']
    for y in steps:
        word = f"{100 * y:.4g} %" if panel.percent else f"{y:.4g}"
        out.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{up(y)}" y2="{up(y)}"/>')
        out.append(f'<text x="{LEFT - 6}" y="{up(y)}" text-anchor="end" dominant-baseline="middle">{word}</text>')
    for x in _sizes(sorted({d.x for d in dots})):
        out.append(f'<line class="axis" x1="{across(x)}" x2="{across(x)}" y1="{bottom}" y2="{bottom + 5}"/>')
        out.append(f'<text x="{across(x)}" y="{bottom + 19}" text-anchor="middle">{_count(x)}</text>')
    out.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{bottom}" y2="{bottom}"/>')
    out.append(f'<text x="{WIDTH - RIGHT}" y="{bottom + 38}" text-anchor="end">{_told(panel.x_name)}</text>')
    out.append(f'<text x="{WIDTH - RIGHT}" y="{top + 16}" text-anchor="end">{_told(panel.y_name)}</text>')
    at = float(LEFT)
    for line in panel.lines:
        kind, name = _kind(line), _cut(line.name, 40)
        out.append(f'<line class="line {kind}" x1="{at:g}" x2="{at + 24:g}" y1="{bottom + 34}" y2="{bottom + 34}"/>')
        out.append(f'<text x="{at + 30:g}" y="{bottom + 38}">{_told(name)}</text>')
        at += 46 + 6.5 * len(name)
        out.append(_line(line, across, up))
    return "\n".join([*out, "</g>"])


def _kind(line: Line) -> str:
    return line.style if line.style in ("plain", "dashed", "dotted") else "plain"


def _line(line: Line, across: Callable[[float], str], up: Callable[[float], str]) -> str:
    kind = _kind(line)
    path = " ".join(f"{across(d.x)},{up(d.y)}" for d in line.dots)
    out = [f'<g><title>{_told(line.name)}</title><polyline class="line {kind}" points="{path}"/>']
    for d in line.dots:
        if d.low is not None and d.high is not None:
            x = across(d.x)
            out.append(f'<line class="line {kind}" x1="{x}" x2="{x}" y1="{up(d.low)}" y2="{up(d.high)}"/>')
        if kind != "dashed":
            out.append(f'<circle class="{kind}-dot" cx="{across(d.x)}" cy="{up(d.y)}" r="3.5"/>')
    return "".join([*out, "</g>"])


def ticks(low: float, high: float, least: float | None = None, most: float | None = None) -> list[float]:
    """Round numbers from below `low` to above `high`: steps of 1, 2 or 5 times a power of ten, few of them.

    >>> ticks(0.62, 0.97, most=1.0)
    [0.6, 0.7, 0.8, 0.9, 1.0]
    """
    wide = high - low or abs(high) or 1.0
    size = 10.0 ** math.floor(math.log10(wide / MOST_TICKS))
    step = next(size * k for k in (1, 2, 5, 10) if wide / (size * k) <= MOST_TICKS)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    found = [float(f"{k * step:.12g}") for k in range(first, max(last, first + 1) + 1)]
    return [v for v in found if (least is None or v >= least) and (most is None or v <= most)] or [low]


def _sizes(values: list[float]) -> list[float]:
    """Sizes that get a label: not nearer to each other than labels are wide."""
    out = values[-1:]
    span = math.log2(values[-1] / values[0]) or 1.0
    for x in reversed(values[:-1]):
        if math.log2(out[0] / x) >= span / 10:
            out.insert(0, x)
    return out


def _count(x: float) -> str:
    return f"{x:,.0f}" if x >= 10 else f"{x:.1f}".removesuffix(".0")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _told(text: str) -> str:
    """Words of any origin inside SVG: what means something to XML is escaped, what it cannot hold is replaced."""
    return escape("".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text))
