"""How charts are drawn: SVG written by hand, a frame with axes, words escaped; and a drawing as PNG."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from likely.errors import InputError, SettingError
from likely.machinery.words import cut, escape_text, moment, number
from likely.sums import state

# How charts are drawn: SVG written by hand, a frame with axes, words escaped. Knows numbers and words, no records.

COLOURS, MOST_COLOURS = 8, 20
"""Hues; and how many classes are told apart by hue, shade and pattern: of more the most frequent, others are grey."""
MOST_TICKS = 6
STYLE = Path(__file__).parent / "charts.css"


class Chart(str):
    """A drawing as SVG. A notebook shows it, a template takes it as it is, `save` writes it to a file."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return str(self)

    def save(self, path: str | os.PathLike[str], size: tuple[int, int] | None = None) -> None:
        """Write the drawing to a file: as PNG (of so many pixels) where its name ends so, else as SVG."""
        if os.fspath(path).lower().endswith(".png"):
            state.write(path, to_png(str(self), STYLE.read_text("utf-8"), size))
        else:
            state.write(path, str(self).encode())


def cut_middle(text: str, most: int) -> str:
    """A text that is not longer than so many characters, its beginning and its end kept: names differ at their ends.

    >>> cut_middle("mixed_cochlear_age_otitis_media", 20)
    'mixed_cochl…is_media'
    """
    last = 2 * (most - 1) // 5 + 1
    return (text if len(text) <= most else f"{text[: most - 1 - last]}…{text[-last:]}") or "''"


def colour(k: int, classes: int = 1) -> str:
    """The style class of class number k; one for all where the classes are too many to have each its own."""
    return f"k{k % COLOURS}" if classes <= COLOURS else "many"


def class_colours(weights: Sequence[float]) -> tuple[str, ...]:
    """The style class of each class: of many, the most frequent ones have colours and all others are grey.

    >>> class_colours([3, 5]), class_colours([1, 9, 8, 7, 6, 5, 4, 3, 2]), class_colours([*range(30)])[8:12]
    (('k0', 'k1'), ('k8', 'k0', 'k1', 'k2', 'k3', 'k4', 'k5', 'k6', 'k7'), ('other', 'other', 'k19', 'k18'))
    """
    if len(weights) <= COLOURS:
        return tuple(f"k{k}" for k in range(len(weights)))
    out = ["other"] * len(weights)
    for rank, k in enumerate(frequent_first(weights)[:MOST_COLOURS]):
        out[k] = f"k{rank}"
    return tuple(out)


def frequent_first(weights: Sequence[float]) -> list[int]:
    """The classes, the most frequent first; few classes stay in their own order.

    >>> frequent_first([3, 5]), frequent_first([1, 9, 8, 7, 6, 5, 4, 3, 2])
    ([0, 1], [1, 2, 3, 4, 5, 6, 7, 8, 0])
    """
    order = range(len(weights))
    return list(order) if len(weights) <= COLOURS else sorted(order, key=lambda k: -weights[k])


def at(value: float) -> str:
    """A coordinate in few characters.

    >>> at(12.0), at(3.14159), at(-0.01)
    ('12', '3.1', '0')
    """
    out = f"{value:.1f}"
    return ("0" if out == "-0.0" else out).removesuffix(".0")


def svg(width: float, height: float, label: str, body: str, kind: str = "") -> Chart:
    """A whole drawing that grows and shrinks with the page, and says what it shows."""
    named = f'class="chart {kind}"'.replace(' "', '"')
    return Chart(
        f'<svg {named} viewBox="0 0 {at(width)} {at(height)}" width="{at(width)}" height="{at(height)}" role="img" '
        f'aria-label="{escape_text(label, 400)}">{body}</svg>'
    )


def standalone(chart: Chart) -> Chart:
    """A drawing that brings its style along, bound to it, so that a notebook around it keeps its own."""
    head, _, body = chart.partition(">")
    named = head.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    return Chart(f"{named}><style>{_style()}</style>{body}")


@cache
def _style() -> str:
    css = STYLE.read_text("utf-8").replace(":root", ".chart")
    return css + ".chart { background: var(--paper) }"


def stacked_charts(charts: Sequence[Chart], title: str, description: str) -> Chart:
    """Drawings one below the other as one, with a title and a description for those who cannot see them."""
    body, top, wide = [text(46, 20, title, "title", most=80)], 32.0, 420.0
    for chart in charts:
        width, height = (float(n) for n in re.findall(r' (?:width|height)="([\d.]+)"', chart)[:2])
        body.append(chart.replace("<svg ", f'<svg x="0" y="{at(top)}" ', 1))
        top, wide = top + height + 8, max(wide, width)
    told = f"<title>{escape_text(title, 400)}</title><desc>{escape_text(description, 2000)}</desc>"
    return standalone(svg(wide, top, title, told + "".join(body)))


def text(x: float, y: float, words: object, kind: str = "", anchor: str = "", most: int = 200) -> str:
    """Words at a place."""
    more = (f' class="{kind}"' if kind else "") + (f' text-anchor="{anchor}"' if anchor else "")
    return f'<text x="{at(x)}" y="{at(y)}"{more}>{escape_text(words, most)}</text>'


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


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line."""
    return path([(x1, y1), (x2, y2)], kind)


def path(points: Sequence[tuple[float, float]], kind: str, closed: bool = False) -> str:
    """Points that are joined, each as far as it is from the one before: that takes few characters.

    >>> path([(1, 2), (3.5, 2), (3.5, 1.5), (2, 0.25)], "curve")
    '<path class="curve" d="M1 2h2.5v-.5l-1.5-1.3"/>'
    """
    if not points:
        return ""
    tenths = [(round(10 * x), round(10 * y)) for x, y in points]
    d, before = f"M{tenths[0][0] / 10:g} {tenths[0][1] / 10:g}", ""
    for (x0, y0), (x1, y1) in pairwise(tenths):
        letter = "h" if y0 == y1 else "v" if x0 == x1 else "l"
        moves = [n for n in (x1 - x0, y1 - y0) if n]
        for k, move in enumerate(moves):
            word = re.sub(r"^(-?)0\.", r"\1.", f"{move / 10:g}")
            d += (letter if not k and letter != before else "" if word[0] == "-" else " ") + word
        before = letter if moves else before
    return f'<path class="{kind}" d="{d}{"Z" if closed else ""}"/>'


def thin_line(points: Sequence[tuple[float, float]], unseen: float = 0.4) -> list[tuple[float, float]]:
    """A line without the points that the eye would not miss (Ramer, Douglas and Peucker), heights within `unseen`.

    >>> thin_line([(0, 0), (1, 1), (2, 2), (3, 0)])
    [(0, 0), (2, 2), (3, 0)]
    """
    if len(points) < 3:
        return list(points)
    kept, open_runs = {0, len(points) - 1}, [(0, len(points) - 1)]
    while open_runs:
        first, last = open_runs.pop()
        (x0, y0), (x1, y1) = points[first], points[last]
        across, up = x1 - x0, y1 - y0
        far = math.hypot(across, up) or 1.0
        gaps = [abs(across * (y - y0) - up * (x - x0)) / far for x, y in points[first + 1 : last]]
        if (across, up) == (0, 0):
            gaps = [math.hypot(x - x0, y - y0) for x, y in points[first + 1 : last]]
        if gaps and max(gaps) > unseen:
            middle = first + 1 + gaps.index(max(gaps))
            kept.add(middle)
            open_runs += [(first, middle), (middle, last)]
    return [points[k] for k in sorted(kept)]


@dataclass(frozen=True)
class ChartAxis:
    """One axis: from where to where, how it is called with its unit, and how its numbers are written."""

    low: float
    high: float
    name: str
    form: str = "number"
    """number, percent, date, or count."""

    def steps(self, most: int = 6) -> list[float]:
        """Round numbers within the axis."""
        if self.form == "date":
            each = max(most - 2, 2)
            return [self.low + (self.high - self.low) * k / (each - 1) for k in range(each)]
        least = 1e-9 * (abs(self.low) + abs(self.high))
        found = [t for t in ticks(self.low, self.high) if self.low - least <= t <= self.high + least]
        return found[:: max(1, -(-len(found) // most))] or [self.low]

    def word(self, value: float) -> str:
        """A number of the axis."""
        if self.form == "percent":
            return f"{100 * value:.3g} %"
        if self.form == "date":
            return moment(round(value / 86400) * 86400)
        if self.form == "number" and abs(value) >= 10_000 and value == int(value):
            return _short(value).replace("-", "−")
        return number(value).replace("-", "−")


def _short(value: float) -> str:
    """A large round number in few characters."""
    for size, letter in ((1e9, "bn"), (1e6, "m"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.4g} {letter}" if abs(value) < 1e12 else f"{value:.3g}"
    return f"{value:g}"


@dataclass(frozen=True)
class ChartFrame:
    """The place of a chart within a drawing, and how numbers become places in it."""

    x: ChartAxis
    y: ChartAxis
    left: float = 46
    top: float = 24
    width: float = 380
    height: float = 180

    def across(self, value: float) -> float:
        span = self.x.high - self.x.low
        return self.left + ((value - self.x.low) / span if span else 0.5) * self.width

    def up(self, value: float) -> float:
        span = self.y.high - self.y.low
        return self.top + self.height - ((value - self.y.low) / span if span else 0.5) * self.height

    @property
    def bottom(self) -> float:
        return self.top + self.height

    def drawn(self, grid: bool = True, mark: Callable[[float], str] | None = None) -> str:
        """Axes with numbers, names and a light grid."""
        out = []
        for value in self.y.steps(6):
            y = self.up(value)
            if grid:
                out.append(line(self.left, y, self.left + self.width, y, "grid"))
            out.append(text(self.left - 6, y + 4, self.y.word(value), "tick", "end"))
        for value in self.x.steps():
            x = self.across(value)
            out.append(line(x, self.bottom, x, self.bottom + 4, "axis"))
            out.append(text(x, self.bottom + 17, (mark or self.x.word)(value), "tick", "middle"))
        out.append(line(self.left, self.bottom, self.left + self.width, self.bottom, "axis"))
        out.append(text(self.left + self.width, self.bottom + 34, self.x.name, "name", "end", 60))
        out.append(text(self.left - 40, self.top - 12, self.y.name, "name", "", 60))
        return "".join(out)


def key(classes: Sequence[tuple[str, str]], x: float, y: float, width: float) -> tuple[str, float]:
    """Which colour (a style class) is which class, in as many lines as it takes; and how high that is."""
    out, across, down = [], x, y
    for hue, name in classes:
        short = cut(name, 28)
        wide = 34 + 7.2 * len(short)
        if across + wide > x + width and across > x:
            across, down = x, down + 17
        out.append(f'<rect class="{hue} fill" x="{at(across)}" y="{at(down - 9)}" width="10" height="10" rx="2"/>')
        out.append(text(across + 14, down, short, "tick"))
        across += wide
    return "".join(out), down - y + 17


# A drawing as PNG. The one place that knows resvg, which reads SVG but not the variables of our style.

MOST_PIXELS = 16_384
"""Of a side."""


def to_png(svg: str, css: str, size: tuple[int, int] | None = None) -> bytes:
    """The drawing in this style, on its light ground; twice as large as it is on the page, or of this size."""
    try:
        import resvg_py
    except ImportError:
        raise SettingError(
            "PNG needs resvg-py, which is not installed. Install it: pip install 'likely[png]'."
        ) from None
    if size is not None and not all(1 <= side <= MOST_PIXELS for side in size):
        raise SettingError(f"A picture of {size[0]}×{size[1]} pixels is too large: {MOST_PIXELS:,} a side at most.")
    plain = re.sub(r"<style>.*?</style>", "", svg, flags=re.DOTALL)
    if "xmlns=" not in plain.partition(">")[0]:
        plain = plain.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    head, _, body = plain.partition(">")
    styled, ground = f"{head}><style>{plain_style(css)}</style>{body}", _colours(css)["--paper"]
    try:
        if size is None:
            return bytes(resvg_py.svg_to_bytes(svg_string=styled, background=ground, zoom=2))
        return bytes(resvg_py.svg_to_bytes(svg_string=styled, background=ground, width=size[0], height=size[1]))
    except ValueError as error:
        raise InputError(f"The picture cannot be written as PNG: {error}") from None


def plain_style(css: str) -> str:
    """The style of charts, variables replaced by their values: a rule of the colour of a class becomes one for each."""
    colours, out = _colours(css), []
    for selectors, rule in re.findall(r"([^{}]+)\{([^{}]*)\}", _light(css)):
        if re.match(r"\s*--", rule):  # says which variable a class has
            continue
        for k in (name[3:] for name in colours if re.fullmatch(r"--k\d+", name)) if "var(--k)" in rule else (None,):
            own = [s.strip() for s in selectors.split(",") if s.strip().startswith(".chart")]
            if k is not None:
                own = [re.sub(r"(\.[\w-]+)$", rf".k{k}\1", s) for s in own]
            said = rule.replace("var(--k)", colours.get(f"--k{k}", ""))
            for name, value in colours.items():
                said = said.replace(f"var({name})", value)
            if own:
                out.append(f"{', '.join(own)} {{{said}}}")
    return "\n".join(out)


def _light(css: str) -> str:
    """The style for a light ground, without what is said of dark ones."""
    css = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    return re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*\s*\}", "", css)


def _colours(css: str) -> dict[str, str]:
    root = re.search(r":root\s*\{([^}]*)\}", _light(css))
    assert root is not None
    return {name: value.strip() for name, value in re.findall(r"(--[\w-]+)\s*:\s*([^;]+)", root[1])}
