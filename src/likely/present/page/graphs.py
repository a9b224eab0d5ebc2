"""The model as a graph: the target, the attributes that hang on it, and those that hang on each other. No rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from likely.models.contracts import Model
from likely.models.shapes import Graph, graph_of
from likely.present.charts.drawing import Chart, at, escape_text, svg

MOST = 24
"""Attributes that are drawn: those that tell most."""


@dataclass(frozen=True)
class Node:
    """One attribute: what it is called, which table it opens, and how much it tells."""

    name: str
    card: str
    bits: float


def graph(model: Model) -> Graph | None:
    """Of a model that is a graph; None for others."""
    shape = model.shape()
    return None if shape is None else graph_of(shape)


def draw_graph(target: str, nodes: Sequence[Node], found: Graph) -> Chart:
    """The target on the left, an arrow to each attribute, as thick as what it tells alone."""
    high, gap, left, top = 26.0, 34.0, 214.0, 14.0
    height = top + gap * len(nodes) + 6
    middle, most = height / 2, max((n.bits for n in nodes), default=0.0) or 1.0
    arcs = bool(found.arrows or found.blocks)
    wide = 172.0 if arcs else 220.0
    edges, boxes = [], []
    place = {n.name: top + gap * k + high / 2 for k, n in enumerate(nodes)}
    for node in nodes:
        y = place[node.name]
        thick = 1 + 5 * node.bits / most
        edges.append(
            f'<path class="edge" stroke-width="{at(thick)}" '
            f'd="M122 {at(middle)}C170 {at(middle)} 166 {at(y)} {at(left)} {at(y)}"/>'
        )
        boxes.append(_box(left, y - high / 2, wide, high, node.name, node.card, 26 if wide > 200 else 20))
    right = left + wide
    for parent, child in found.arrows:
        if parent in place and child in place:
            a, b = place[parent], place[child]
            bend = right + 14 + min(abs(b - a) * 0.25, 34)
            edges.append(
                f'<path class="edge link" marker-end="url(#tip)" d="M{at(right)} {at(a)}C{at(bend)} {at(a)} {at(bend)} '
                f'{at(b)} {at(right + 5)} {at(b)}"/>'
            )
    for block in found.blocks:
        ys = sorted(place[n] for n in block if n in place)
        if len(ys) > 1:
            edges.append(
                f'<path class="edge link" d="M{at(right)} {at(ys[0])}h12V{at(ys[-1])}h-12'
                + "".join(f"M{at(right + 12)} {at(y)}h-12" for y in ys[1:-1])
                + '"/>'
            )
    boxes.append(_box(2, middle - 17, 120, 34, target, "target", 14, "target"))
    tip = (
        '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path class="tip" d="M0 0L8 4L0 8z"/></marker>'
    )
    label = f"The model as a graph: {target} and {len(nodes)} attributes that depend on it"
    out = svg(440, height, label, f"<defs>{tip}</defs>" + "".join(edges) + "".join(boxes), "graph")
    return Chart(out.replace('role="img"', 'role="group"', 1))


def _box(x: float, y: float, wide: float, high: float, name: str, card: str, most: int, kind: str = "") -> str:
    """A node that can be clicked, or reached by key."""
    return (
        f'<g class="node {kind}" role="button" tabindex="0" data-card="{escape_text(card)}" '
        f'aria-label="Table of {escape_text(name)}">'
        f'<rect x="{at(x)}" y="{at(y)}" width="{at(wide)}" height="{at(high)}" rx="6"/>'
        f'<text x="{at(x + wide / 2)}" y="{at(y + high / 2 + 4.5)}" text-anchor="middle">'
        f"{escape_text(name, most)}</text></g>"
    ).replace('node "', 'node"')
