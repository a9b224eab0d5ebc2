"""The sections of the page below its first screen: each a question, with sentences, tables and charts. No rows.

A part whose data is not there makes no section.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from likely.evaluate.look import Look
from likely.models.contracts import Model
from likely.present.charts.bars import scale
from likely.present.charts.confusion import MOST as MOST_MAPPED
from likely.present.charts.confusion import confusion_map
from likely.present.charts.drawing import Chart, class_colours, colour, frequent_first, ticks
from likely.present.charts.lines import learning, precision_recall, reliability, roc
from likely.present.charts.planes import landscape, regions
from likely.present.charts.terms import heat_map
from likely.present.effects import find_pairs, pair_grid
from likely.present.page import answers
from likely.present.page.attributes import LEAST_BITS, Card
from likely.present.page.graphs import MOST, Node, draw_graph, graph
from likely.present.report import look_tables as tables
from likely.present.report.model import exhibit_table
from likely.present.report.terms import NOT_APART, grid_bits, term_tables
from likely.present.sections import Bar, Section, Table
from likely.present.words import clean, plural

if TYPE_CHECKING:
    from likely.evaluate.compare import Comparison
    from likely.evaluate.curve import Curve

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
    from likely.present.report.curve import present_curve

    charts = learning(curve)
    if not charts:
        return None
    words = present_curve(curve).remarks
    if curve.learner != learner:
        words = ("The curve is that of naive Bayes, which is quick to learn; --study draws this model's own.", *words)
    return Section("learning", "Learning curve", "What more rows would bring", words, charts=charts)


def present_comparison_of(found: Comparison) -> Section | None:
    """The same rows predicted by other learners."""
    from likely.present.report.comparison import present_comparison

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
