"""Pictures of two numbers (the classes as ellipses with contours of the density, the regions of four learners), and of
a model as a graph."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from likely.evaluate.attributes.plane import ClassPlane, places
from likely.machinery.words import escape_text
from likely.models.contracts import Model
from likely.models.shapes import Graph, PairTable, graph_of, sum_of
from likely.models.shapes.lines import share_names
from likely.present.charts.drawing import Chart, ChartAxis, ChartFrame, at, colour, line, path, svg, text, thin_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEVELS = (0.05, 0.2, 0.5, 0.8)
"""Contours, as shares of the greatest density."""
CORNERS = 28


def landscape(found: ClassPlane) -> Chart:
    """Means of the classes, their ellipses (full, and those of naive Bayes), contours of the density of all rows."""
    frame = _frame(found, 400, 270)
    body = [frame.drawn(), '<g clip-path="url(#plane-clip)">', _contours(found, frame)]
    for code, mean, spread in zip(found.codes, found.means, found.spreads, strict=True):
        for kind, (a, b, c) in (("ring", spread), ("ring naive", (spread[0], 0.0, spread[2]))):
            for times in (2.0, 1.0):
                body.append(path(ellipse_points(frame, mean, (a, b, c), times), f"{colour(code)} {kind}", True))
    for name, code, mean in zip(found.classes, found.codes, found.means, strict=True):
        x, y = frame.across(mean[0]), frame.up(mean[1])
        body.append(
            line(x - 5, y, x + 5, y, f"{colour(code)} cross") + line(x, y - 5, x, y + 5, f"{colour(code)} cross")
        )
        body.append(f'<text class="mean" x="{at(x + 8)}" y="{at(y - 6)}">{escape_text(name, 24)}</text>')
    body.append("</g>")
    clip = (
        f'<clipPath id="plane-clip"><rect x="{at(frame.left)}" y="{at(frame.top)}" width="{at(frame.width)}" '
        f'height="{at(frame.height)}"/></clipPath>'
    )
    label = (
        f"{found.x} and {found.y}: means of the classes, ellipses at one and two standard deviations, dashed those of "
        "naive Bayes, contours of the density of all rows"
    )
    return svg(464, frame.bottom + 42, label, clip + "".join(body), "plane")


def regions(found: ClassPlane) -> tuple[tuple[str, Chart], ...]:
    """For each learner, the class that it names at each place, with the means of the classes."""
    out = []
    for name, codes in found.regions.items():
        frame = _frame(found, 250, 180)
        grid = np.array(codes).reshape(found.lines, found.columns)
        body = [filled_region(grid, code, frame) for code in sorted({*codes} - {-1})]
        body.append(frame.drawn(grid=False))
        for code, mean in zip(found.codes, found.means, strict=True):
            x, y = frame.across(mean[0]), frame.up(mean[1])
            if frame.left <= x <= frame.left + frame.width and frame.top <= y <= frame.bottom:
                body.append(f'<circle class="{colour(code)} dot" cx="{at(x)}" cy="{at(y)}" r="4.5"/>')
        label = f"Decision regions of {name} over {found.x} and {found.y}"
        out.append((name, svg(314, frame.bottom + 42, label, "".join(body), "plane")))
    return tuple(out)


def _frame(found: ClassPlane, width: float, height: float) -> ChartFrame:
    return ChartFrame(ChartAxis(*found.x_range, found.x), ChartAxis(*found.y_range, found.y), 48, 24, width, height)


def filled_region(grid: NDArray[np.int_], code: int, frame: ChartFrame) -> str:
    """The cells of one class as one path: a rectangle for each run of a line, and equal runs of lines together."""
    lines, columns = grid.shape
    wide, high = frame.width / columns, frame.height / lines
    open_runs: dict[tuple[int, int], int] = {}
    d = []

    def close(run: tuple[int, int], first: int, last: int) -> None:
        # Places, not lengths: neighbours then round an edge that they share alike, and leave no hairline between them.
        x, y = frame.left + run[0] * wide, frame.bottom - last * high
        d.append(f"M{at(x)} {at(y)}H{at(frame.left + run[1] * wide)}V{at(frame.bottom - first * high)}H{at(x)}z")

    for row in range(lines + 1):
        runs: set[tuple[int, int]] = set()
        if row < lines:
            edges = np.flatnonzero(np.diff(np.concatenate(([0], grid[row] == code, [0]))))
            runs = {(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)}
        for run in [r for r in open_runs if r not in runs]:
            close(run, open_runs.pop(run), row)
        for run in runs:
            open_runs.setdefault(run, row)
    return f'<path class="{colour(code)} region" d="{"".join(d)}"/>'


def ellipse_points(
    frame: ChartFrame, mean: tuple[float, float], spread: tuple[float, float, float], times: float
) -> list[tuple[float, float]]:
    """The ellipse at so many standard deviations."""
    values, vectors = np.linalg.eigh(np.array([[spread[0], spread[1]], [spread[1], spread[2]]]))
    axes = vectors * np.sqrt(np.maximum(values, 0.0)) * times
    turn = np.linspace(0, 2 * math.pi, CORNERS, endpoint=False)
    points = axes @ np.stack([np.cos(turn), np.sin(turn)])
    return [(frame.across(mean[0] + float(x)), frame.up(mean[1] + float(y))) for x, y in points.T]


def density(found: ClassPlane) -> NDArray[np.float64]:
    """The density of all rows at the places of the grid: a normal density for each class, by its share."""
    across, up = np.meshgrid(places(found.x_range, found.columns), places(found.y_range, found.lines))
    out = np.zeros(across.shape)
    for share, mean, (a, b, c) in zip(found.shares, found.means, found.spreads, strict=True):
        determinant = a * c - b * b
        if determinant <= 0:
            continue
        dx, dy = across - mean[0], up - mean[1]
        out += (
            share * np.exp(-(c * dx * dx - 2 * b * dx * dy + a * dy * dy) / (2 * determinant)) / math.sqrt(determinant)
        )
    return out


def _contours(found: ClassPlane, frame: ChartFrame) -> str:
    """Lines of equal density, by marching squares."""
    field = density(found)
    if not field.max() > 0:
        return ""
    field = field / field.max()
    xs = [frame.across(float(x)) for x in places(found.x_range, found.columns)]
    ys = [frame.up(float(y)) for y in places(found.y_range, found.lines)]
    return "".join(
        path(thin_line(joined, 0.15), "contour")
        for level in LEVELS
        for joined in join_segments(level_segments(field, level, xs, ys))
    )


Point = tuple[float, float]


def level_segments(
    field: NDArray[np.float64], level: float, xs: list[float], ys: list[float]
) -> list[tuple[Point, Point]]:
    out = []
    over = field > level
    mixed = over[:-1, :-1].astype(int) + over[1:, :-1] + over[:-1, 1:] + over[1:, 1:]
    for j, i in np.argwhere((mixed > 0) & (mixed < 4)):
        corners = ((j, i), (j, i + 1), (j + 1, i + 1), (j + 1, i))
        crossed = []
        for one, other in pairwise((*corners, corners[0])):
            a, b = float(field[one]), float(field[other])
            if (a > level) != (b > level):
                share = (level - a) / (b - a)
                x = xs[one[1]] + share * (xs[other[1]] - xs[one[1]])
                y = ys[one[0]] + share * (ys[other[0]] - ys[one[0]])
                crossed.append((round(x, 1), round(y, 1)))
        out += list(zip(crossed[::2], crossed[1::2], strict=True))
    return out


def join_segments(segments: list[tuple[Point, Point]]) -> list[list[Point]]:
    """Segments that meet as one line, so that they take up less of the file."""
    ends: dict[Point, list[int]] = {}
    for k, segment in enumerate(segments):
        for point in segment:
            ends.setdefault(point, []).append(k)
    left, out = set(range(len(segments))), []
    while left:
        start = left.pop()
        chain = list(segments[start])
        for _ in range(2):
            while True:
                following = next((k for k in ends[chain[-1]] if k in left), None)
                if following is None:
                    break
                left.remove(following)
                a, b = segments[following]
                chain.append(b if a == chain[-1] else a)
            chain.reverse()
        out.append(chain)
    return out


# The model as a graph: the target, the attributes that hang on it, and those that hang on each other. No rows.

MOST_NODES = 24
"""Attributes that are drawn: those that tell most."""


Rows: TypeAlias = Sequence[Sequence[str]]
MOST_LINKS = 12
"""Sets of attributes that are linked: the strongest. A sum may have a term for each pair."""
LEVELS_BESIDE, CLASSES_BESIDE = 8, 4
"""Levels and classes of the table beside a node."""


def graph(model: Model) -> Graph | None:
    """Of a model that is a graph, or of the terms of another sum: a term of several attributes takes them together."""
    shape = model.shape()
    found = None if shape is None else graph_of(shape)
    added = None if shape is None else sum_of(shape)
    if found is not None or added is None:
        return found
    terms = [term for term in added[0].terms if getattr(term, "names", ())]
    names = dict.fromkeys(name for term in terms for name in term.names)
    sets = [term for term in terms if len(term.names) > 1 and not share_names(term)]
    sets.sort(key=lambda term: -float(np.abs(term.table).max()) if isinstance(term, PairTable) else -math.inf)
    together = [tuple(term.names) for term in sets]
    return Graph(tuple(names), (), tuple(dict.fromkeys(together))) if names else None


def draw_graph(
    target: str,
    nodes: Sequence[tuple[str, str, float]],
    found: Graph,
    tables: Mapping[str, tuple[Rows, Rows]] | None = None,
) -> Chart:
    """The target on the left, an arrow to each attribute, as thick as what it tells alone; beside it P(level | class).

    A node is the name of an attribute, the card that it opens, and the bits that it tells. A table (rows of words, the
    header first) comes with another of its shape, which says the same otherwise to a pointer that rests on a number.
    """
    tables = tables or {}
    high, gap, left, top = 26.0, 34.0, 214.0, 14.0
    most = max((bits for _, _, bits in nodes), default=0.0) or 1.0
    arcs = bool(found.arrows or found.blocks)
    wide = 172.0 if arcs else 220.0
    edges, boxes, place, height = [], [], {}, top
    for name, _, _ in nodes:
        lines = 1 + min(len(tables[name][0]) - 1, LEVELS_BESIDE) if name in tables else 0
        slot = max(gap, LINE * lines + 14)
        place[name] = height + slot / 2 - (gap - high) / 2
        if lines:
            boxes.append(
                _table_beside(left + wide + (70 if arcs else 18), place[name] - LINE * lines / 2, tables[name])
            )
        height += slot
    height += 6
    middle = height / 2
    for name, card, bits in nodes:
        y = place[name]
        thick = 1 + 5 * bits / most
        edges.append(
            f'<path class="edge" stroke-width="{at(thick)}" '
            f'd="M122 {at(middle)}C170 {at(middle)} 166 {at(y)} {at(left)} {at(y)}"/>'
        )
        boxes.append(_box(left, y - high / 2, wide, high, name, card, 26 if wide > 200 else 20))
    right = left + wide
    for parent, child in found.arrows:
        if parent in place and child in place:
            a, b = place[parent], place[child]
            bend = right + 14 + min(abs(b - a) * 0.25, 34)
            edges.append(
                f'<path class="edge link" marker-end="url(#tip)" d="M{at(right)} {at(a)}C{at(bend)} {at(a)} {at(bend)} '
                f'{at(b)} {at(right + 5)} {at(b)}"/>'
            )
    for k, block in enumerate(found.blocks[:MOST_LINKS]):
        ys, out = sorted(place[n] for n in block if n in place), 12 + 8 * (k % 6)
        if len(ys) > 1:
            edges.append(
                f'<path class="edge link" d="M{at(right)} {at(ys[0])}h{out}V{at(ys[-1])}h-{out}'
                + "".join(f"M{at(right + out)} {at(y)}h-{out}" for y in ys[1:-1])
                + '"/>'
            )
    boxes.append(_box(2, middle - 17, 120, 34, target, "target", 14, "target"))
    tip = (
        '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path class="tip" d="M0 0L8 4L0 8z"/></marker>'
    )
    label = f"The model as a graph: {target} and {len(nodes)} attributes that depend on it"
    columns = max((min(len(table[0]), 1 + CLASSES_BESIDE) for table, _ in tables.values()), default=0)
    full = left + wide + (70 if arcs else 18) + FIRST + EACH * (columns - 2) + 8 if columns else 440
    drawn = svg(full, height, label, f"<defs>{tip}</defs>" + "".join(edges) + "".join(boxes), "graph")
    return Chart(drawn.replace('role="img"', 'role="group"', 1))


LINE, FIRST, EACH = 15.0, 140.0, 96.0
"""Of a table beside a node: the height of a line, the width of its first column and of each other."""


def _table_beside(x: float, y: float, tables: tuple[Rows, Rows]) -> str:
    """A small table whose numbers say more to a pointer that rests on them."""
    words, numbers = [], []
    for j, (row, more) in enumerate(list(zip(*tables, strict=True))[: 1 + LEVELS_BESIDE]):
        below = y + 11 + LINE * j
        words.append(text(x, below, row[0], most=18))
        for k in range(1, min(len(row), 1 + CLASSES_BESIDE)):
            hover = f"<title> {escape_text(str(more[k]), 40)}</title></text>" if more[k] != row[k] else "</text>"
            numbers.append(text(x + FIRST + EACH * (k - 1), below, row[k], most=16).replace("</text>", hover))
    return f'<g class="beside">{"".join(words)}</g><g class="beside numbers">{"".join(numbers)}</g>'


def _box(x: float, y: float, wide: float, high: float, name: str, card: str, most: int, kind: str = "") -> str:
    """A node that can be clicked, or reached by key."""
    return (
        f'<g class="node {kind}" role="button" tabindex="0" data-card="{escape_text(card)}" '
        f'aria-label="Table of {escape_text(name)}">'
        f'<rect x="{at(x)}" y="{at(y)}" width="{at(wide)}" height="{at(high)}" rx="6"/>'
        f'<text x="{at(x + wide / 2)}" y="{at(y + high / 2 + 4.5)}" text-anchor="middle">'
        f"{escape_text(name, most)}</text></g>"
    ).replace('node "', 'node"')
