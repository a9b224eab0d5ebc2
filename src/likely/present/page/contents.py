"""Everything the page shows, in order: the first screen, the sections, the model as a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from likely.evaluate.look import Look
from likely.machinery.words import clean, escape_text, plural, weighed_rows
from likely.models.contracts import Model
from likely.models.shapes import Graph, graph_of
from likely.present.charts.bars import MOST_CLASSES as MOST_MAPPED
from likely.present.charts.bars import confusion_map, heat_map, scale
from likely.present.charts.drawing import Chart, at, class_colours, colour, frequent_first, svg, ticks
from likely.present.charts.lines import learning, precision_recall, reliability, roc
from likely.present.charts.planes import landscape, regions
from likely.present.effects import find_pairs, pair_grid
from likely.present.page import answers
from likely.present.page.answers import Headline, Rung
from likely.present.page.attributes import LEAST_BITS, Card, make_cards
from likely.present.report import look as tables
from likely.present.report.look import size
from likely.present.report.model import NOT_APART, exhibit_table, grid_bits, term_tables
from likely.present.sections import Bar, Section, Table

if TYPE_CHECKING:
    from likely.evaluate.compare import Comparison
    from likely.evaluate.curve import Curve


# The model as a graph: the target, the attributes that hang on it, and those that hang on each other. No rows.

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


# The sections of the page below its first screen: each a question, with sentences, tables and charts. No rows.

MOST_COLUMNS, MOST_CLASSES, MOST_ATTRIBUTES = 400, 60, 30
MOST_NOTES, MOST_EXHIBITS, MOST_LINES, MOST_NAMED = 40, 6, 30, 12
MAPS, MAP_STEPS = 3, 6
"""Pairs that are drawn, and in how many steps of each attribute."""
REPRODUCE = Section("reproduce", "Reproduce", "Reproduce this page")


@dataclass(frozen=True)
class PlaneView:
    """The picture of two numbers: which colour is which class, and what learners name where."""

    key: tuple[tuple[str, str], ...]
    regions: tuple[tuple[str, Chart], ...]


def present_whatif(model: Model | None) -> Section | None:
    """The controls; none where there is nothing to predict."""
    if model is None or model.schema.target is None or len(model.classes) < 2:
        return None
    return Section("whatif", "What if", "What if")


def present_bits(record: Look, keys: dict[str, str]) -> Section | None:
    """What each attribute reveals by itself; those that reveal nothing are only named."""
    if not record.attributes:
        return None
    telling = [a for a in record.attributes if a["bits"] >= LEAST_BITS]
    silent = [clean(a["name"], 40) for a in record.attributes if a["bits"] < LEAST_BITS]
    most = max((a["bits"] for a in telling), default=0.0)
    steps = ticks(0.0, most) if most > 0 else [0.0, 1.0]
    table = tables.attribute_table(record, keys, steps[-1]).first(len(telling))
    marks = steps[:: max(1, (len(steps) - 1) // 2)]
    axis = scale([(s / steps[-1], f"{s:g}" + (" bits" if s == marks[-1] else "")) for s in marks])
    table = replace(table, title="", header=(*table.header[:-1], axis)).first(MOST_ATTRIBUTES)
    notes = []
    if len(telling) > MOST_ATTRIBUTES:
        notes.append(f"{len(telling) - MOST_ATTRIBUTES} more attributes reveal less.")
    if silent:
        named = ", ".join(silent[:MOST_NAMED]) + (f" and {len(silent) - MOST_NAMED} more" * (len(silent) > MOST_NAMED))
        notes.append(f"{plural(len(silent), 'attribute')} reveal{'s' * (len(silent) == 1)} nothing alone: {named}.")
    words = (
        f"How much each attribute reveals on its own, of the {record.entropy:.3f} bits of uncertainty about the class "
        "of a row. Attributes can overlap, so their bits do not add up."
    )
    found = (table, tables.evidence_table(record)) if telling else (tables.evidence_table(record),)
    title = "Which attributes reveal most"
    return Section("bits", "Most telling", title, (words,), tuple(t for t in found if t.rows), notes=tuple(notes))


def present_attributes(cards: tuple[Card, ...], classes: tuple[str, ...]) -> Section | None:
    """The cards, with what their bits mean; those that say nothing are only named."""
    if not cards:
        return None
    words = (
        "What the model makes of each value. Evidence is in bits: one bit doubles the odds of the class it speaks for."
    )
    if len(classes) == 2:
        one, other = clean(classes[0], 40), clean(classes[1], 40)
        words += f" Above zero it speaks for {other}, below for {one}."
    elif len(classes) > 2:
        words += " The class that a value says most about is named; it is weighed against all others together."
    quiet = [card.name for card in cards if card.quiet]
    notes: tuple[str, ...] = ()
    if quiet:
        notes = (f"{plural(len(quiet), 'attribute')} say{'s' * (len(quiet) == 1)} nothing: {', '.join(quiet)}.",)
    return Section("attributes", "Attributes", "What each attribute says", (words,), notes=notes)


def present_pairs(model: Model) -> Section | None:
    """What several attributes say together: the strongest pairs as maps, and all by strength."""
    found = term_tables(model)[1:]
    if not found:
        return None
    tables_, charts = [t for t in found if t.title.startswith("What")], []
    pairs = sorted((s, names) for names, s in model.term_strengths().items() if len(names) == 2)[::-1]
    for _, names in pairs[:MAPS]:
        grid = pair_grid(model, *find_pairs(model)[names], MAP_STEPS)
        bits, of = grid_bits(model, grid)
        hues = class_colours(model.summary.total.floats().tolist())
        sides = (hues[0], hues[1]) if len(model.classes) == 2 else ("other", hues[of])
        charts.append(heat_map((clean(names[0], 30), clean(names[1], 30)), grid.labels, bits, sides))
    words = "What attributes say together, in bits; the tables give means over rows."
    if pairs:
        words += " A pair adds what the two say beyond what each says by itself."
    if charts and len(model.classes) == 2:
        words += f" In the maps, + speaks for {clean(model.classes[1], 30)} and − for {clean(model.classes[0], 30)}."
    elif charts:
        words += " A map shows the class its pair says most about."
    notes = (NOT_APART,) if any(len(names) > 2 for names in model.term_strengths()) else ()
    title = "What attributes say together"
    return Section("together", "Interactions", title, (words,), tuple(tables_), tuple(charts), notes)


def present_confusion(record: Look) -> Section | None:
    """Which classes are taken for which."""
    if record.decisions is not None or not any(map(any, record.confusion)):
        return None
    matrix, order = tables.confusion_table(record), frequent_first(list(record.classes.values()))
    names = [clean(c, 60) for c in record.classes]
    words = "Each line is a true class, each column the predicted one; the darker, the larger the share of the line."
    charts: tuple[Chart, ...] = ()
    if not matrix.rows and len(names) <= MOST_MAPPED:
        sorted_counts = [[record.confusion[i][j] for j in order] for i in order]
        charts = (confusion_map([names[k] for k in order], sorted_counts),)
        words = f"{words} The framed diagonal is right. Point at a cell for its count."
    precise = tables.precision_table(record)
    by = {row[0]: row for row in precise.rows}
    lines = tuple(by[clean(c, 40)] for c in (list(record.classes)[k] for k in order) if clean(c, 40) in by)
    held = [matrix, replace(precise, rows=lines if len(lines) == len(precise.rows) else precise.rows)]
    held[1] = held[1].first(MOST_CLASSES)
    if len(names) > 2:
        held.insert(1, tables.error_table(record))
    sentences = (words,) if matrix.rows or charts else ()
    return Section("confusion", "Errors", "Right and wrong", sentences, tuple(t for t in held if t.rows), charts)


def present_ranks(record: Look) -> Section | None:
    """ROC, precision and recall of the class looked for."""
    ranking = record.trust.rankings.get(record.trust.positive)
    if ranking is None:
        return None
    lift, words = tables.lift_table(record), (answers.rank_sentence(ranking),)
    charts = roc(ranking), precision_recall(ranking)
    return Section("ranks", "Ranking", "How well it ranks", words, (lift,) if lift.rows else (), charts)


def present_reliability(record: Look) -> Section | None:
    """What was said against what happened."""
    curves = record.trust.calibration
    if not curves or not curves[0].bins:
        return None
    words, table = answers.reliability_sentence(curves[0]), tables.calibration_table(record)
    title = "Can its probabilities be trusted?"
    return Section("reliability", "Calibration", title, (words,), (table,), (reliability(curves[0]),))


def present_learning(curve: Curve, learner: str) -> Section | None:
    """The learning curve; where it is not that of the page's own learner, that is said first."""
    from likely.present.report.evaluation import present_curve

    charts = learning(curve)
    if not charts:
        return None
    words = present_curve(curve).remarks
    if curve.learner != learner:
        words = ("The curve is that of naive Bayes, which is quick to learn; --study draws this model's own.", *words)
    return Section("learning", "Learning curve", "What more rows would bring", words, charts=charts)


def present_comparison_of(found: Comparison) -> Section | None:
    """The same rows predicted by other learners."""
    from likely.present.report.evaluation import present_comparison

    report = present_comparison(found)
    if not report.tables:
        return None
    losses = [one.scores.log_loss for one in found.learners if one.scores is not None and one.intervals is not None]
    most = max((loss for loss in losses if loss is not None), default=1.0) or 1.0
    bars = [Bar((loss or 0.0) / most) for loss in losses]
    table = report.tables[0].with_column("log loss: shorter is better", bars)
    words = "All on the same folds, best log loss first."
    return Section("comparison", "Other learners", "Other learners", (words,), (table,), notes=report.remarks)


def present_warnings(warnings: tuple[str, ...], notes: tuple[str, ...]) -> Section | None:
    """What to beware of."""
    if not warnings and not notes:
        return None
    return Section("warnings", "Warnings", "Read before relying on this", warnings, notes=notes[:MOST_NOTES])


def present_columns(table: Table) -> Section | None:
    """How each column was read."""
    if not table.rows:
        return None
    rest = len(table.rows) - MOST_COLUMNS
    notes = (f"{rest} more columns are not listed.",) if rest > 0 else ()
    title = "How each column was read"
    return Section("columns", "Columns", title, tables=(table.first(MOST_COLUMNS),), notes=notes)


def present_network(
    model: Model | None, target: str, keys: dict[str, str], bits: dict[str, float]
) -> tuple[Chart | None, Section | None]:
    """The graph, where the model is one, and tables of what it believes as a whole. `keys` are those of the cards."""
    if model is None:
        return None, None
    found, drawn, notes = graph(model), None, tuple[str, ...]()
    if found is not None and keys:
        nodes = [Node(name, key, bits.get(name, 0.0)) for name, key in keys.items() if name in found.names][:MOST]
        drawn, more = draw_graph(clean(target, 60), nodes, found), len(found.names) - len(nodes)
        notes = (f"{more} more attributes are not drawn.",) if more else ()
    apart = {e.title for text in model.texts for e in text.exhibits(model.classes)}
    held = [exhibit_table(e).first(MOST_LINES) for e in model.exhibits()[:MOST_EXHIBITS] if e.title not in apart]
    if drawn is None and not held:
        return None, None
    return drawn, Section("graph", "Model", "The model", tables=tuple(held), notes=notes)


def present_plane(record: Look) -> Section | None:
    """The picture of two numbers."""
    if record.plane is None:
        return None
    words, charts = (answers.plane_sentence(record),), (landscape(record.plane),)
    return Section("plane", "Two numbers", "Two numbers", words, charts=charts)


def view_plane(record: Look) -> PlaneView:
    """Its key, and the regions of learners."""
    plane = record.plane
    assert plane is not None
    key = tuple((colour(k), clean(c, 40)) for k, c in zip(plane.codes, plane.classes, strict=True))
    return PlaneView(key, regions(plane))


# Everything the page shows, in order: the first screen and the sections, of a first look or of a model. No rows.


@dataclass(frozen=True)
class Contents:
    """What the template sets. Words are not escaped here: the template does that."""

    title: str
    eyebrow: str
    headline: Headline
    sections: tuple[Section, ...]
    classes: Table
    ladder: tuple[Rung, ...] = ()
    """From guessing to the learner."""
    ladder_note: str = ""
    cards: tuple[Card, ...] = ()
    two: tuple[str, ...] = ()
    """The classes, where there are two."""
    graph: Chart | None = None
    plane: PlaneView | None = None
    facts: tuple[tuple[str, str], ...] = ()
    """How it was made, by name."""
    programs: tuple[str, ...] = ()
    """What makes it again: a command, a program."""
    whatif_refused: str = ""


def look_contents(
    record: Look,
    curve: Curve | None = None,
    comparison: Comparison | None = None,
    command: str = "",
    version: str = "",
) -> Contents:
    """The page of a first look."""
    model = record.model
    told = {a["name"]: a for a in record.attributes}
    cards = () if model is None else make_cards(model, list(told), told)
    keys = {name: c.key for name, c in zip(told, cards, strict=False) if not c.quiet}
    classes = _classes(record.classes)
    drawn, network = present_network(model, record.target, keys, {name: a["bits"] for name, a in told.items()})
    sections = [
        Section("answer", "Result", "Result", answers.lead_sentences(record), (tables.score_table(record), classes)),
        present_whatif(model),
        present_bits(record, keys),
        present_attributes(cards, tuple(record.classes)),
        None if model is None else present_pairs(model),
        present_confusion(record),
        present_ranks(record),
        present_reliability(record),
        None if curve is None else present_learning(curve, record.learner),
        None if comparison is None else present_comparison_of(comparison),
        present_warnings(record.warnings, record.notes),
        present_columns(tables.column_table(record.columns)),
        network,
        present_plane(record),
        REPRODUCE,
    ]
    return Contents(
        title=f"{clean(record.target, 80)} in {clean(record.source, 80)}",
        eyebrow=size(record),
        headline=answers.headline(record),
        sections=tuple(s for s in sections if s is not None),
        classes=classes,
        ladder=answers.ladder(record),
        ladder_note=answers.ladder_note(record),
        cards=cards,
        two=_two(tuple(record.classes)),
        graph=drawn,
        plane=None if record.plane is None else view_plane(record),
        facts=answers.facts(record, version),
        programs=tuple(p for p in (command, answers.python(record)) if p),
    )


def model_contents(model: Model, command: str = "", version: str = "") -> Contents:
    """The page of a model alone: what it believes, without what only rows could tell."""
    target = "a density" if model.schema.target is None else model.schema.target.name
    order = [c.name for c in model.schema.attributes if c.name in model.summary.columns]
    cards = make_cards(model, order, {})
    weights = dict(zip(model.classes, model.summary.total.floats().tolist(), strict=True))
    classes = _classes(weights)
    keys = {n: c.key for n, c in zip(order, cards, strict=False) if not c.quiet}
    drawn, network = present_network(model, target, keys, {})
    sections = [
        Section("classes", "Classes", "Classes", tables=(classes,)),
        present_whatif(model),
        present_attributes(cards, model.classes),
        present_pairs(model),
        present_warnings((), model.notes),
        present_columns(tables.column_table(model.schema.columns)),
        network,
        REPRODUCE,
    ]
    rows = weighed_rows(model.summary.rows, float(model.summary.total.floats().sum()))
    size = f"{rows}, {plural(len(model.classes), 'class')}"
    return Contents(
        title=f"A model of {clean(target, 80)}",
        eyebrow=f"{size}, {plural(len(order), 'attribute')}",
        headline=Headline(f"A model of {clean(target, 80)}"),
        sections=tuple(s for s in sections if s is not None),
        classes=classes,
        cards=cards,
        two=_two(model.classes),
        graph=drawn,
        facts=answers.model_facts(model, version),
        programs=(command,) if command else (),
    )


def _two(classes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(clean(c, 40) for c in classes) if len(classes) == 2 else ()


def _classes(weights: Mapping[str, float]) -> Table:
    """The shares of the classes, with bars in the colours of the classes; many are sorted, and cut."""
    most, each = max(weights.values(), default=0.0) or 1.0, list(weights.values())
    hues, order, names = class_colours(each), frequent_first(each), list(weights)
    bars = [Bar(each[k] / most, kind=f"{hues[k]} fill") for k in order]
    out, rest = (
        tables.share_table({names[k]: each[k] for k in order}).with_column("", bars),
        len(weights) - MOST_CLASSES,
    )
    return out if rest <= 0 else replace(out, rows=(*out.rows[:MOST_CLASSES], (f"{rest} more", "", "", "")))
