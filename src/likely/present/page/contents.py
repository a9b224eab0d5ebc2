"""Everything the page shows, as sections: words, tables and charts of a first look or of a model. Aggregates, no rows.

A part whose data is not there makes no section. What every face shows is built in report/; here is what a page adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from likely.evaluate.look import AttributeBits, Look
from likely.models.contracts import Model
from likely.present.charts.bars import gauge, scale
from likely.present.charts.confusion import MOST as MOST_MAPPED
from likely.present.charts.confusion import confusion_map
from likely.present.charts.drawing import Chart, colour, ticks
from likely.present.charts.lines import learning, precision_recall, reliability, roc
from likely.present.charts.planes import landscape, regions
from likely.present.charts.terms import heat_map
from likely.present.effects import find_pairs, pair_grid
from likely.present.page import answers
from likely.present.page.attributes import CARDS, MANY_CARDS, Card, card
from likely.present.page.graphs import MOST, Node, draw_graph, graph
from likely.present.report import look_tables as tables
from likely.present.report.comparison import present_comparison
from likely.present.report.curve import present_curve
from likely.present.report.look import size
from likely.present.report.model import exhibit_table
from likely.present.report.terms import NOT_APART, grid_bits, term_tables
from likely.present.sections import Bar, Section, Table
from likely.present.words import clean, plural

if TYPE_CHECKING:
    from likely.evaluate.compare import Comparison
    from likely.evaluate.curve import Curve

MOST_COLUMNS, MOST_CLASSES, MOST_ATTRIBUTES = 400, 60, 60
MOST_NOTES, MOST_EXHIBITS, MOST_LINES = 40, 6, 30
MAPS, MAP_STEPS = 3, 6
"""Pairs that are drawn, and in how many steps of each attribute."""


@dataclass(frozen=True)
class PlaneView:
    """The picture of two numbers: which colour is which class, and what learners name where."""

    key: tuple[tuple[str, str], ...]
    regions: tuple[tuple[str, Chart], ...]


@dataclass(frozen=True)
class Contents:
    """What the template sets. Words are not escaped here: the template does that."""

    title: str
    eyebrow: str
    headline: str
    sections: tuple[Section, ...]
    classes: Table
    cards: tuple[Card, ...] = ()
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
    cards = () if model is None else _cards(model, list(told), told)
    keys = {name: c.key for name, c in zip(told, cards, strict=False)}
    classes = _classes(record.classes)
    drawn, network = _network(model, record.target, keys, {name: a["bits"] for name, a in told.items()})
    sections = [
        _answer(record, classes),
        _whatif(model),
        _bits(record, keys),
        _attributes(cards),
        None if model is None else _pairs(model),
        _confusion(record),
        _ranks(record),
        _reliability(record),
        None if curve is None else _learning(curve),
        None if comparison is None else _comparison(comparison),
        _warnings(record.warnings, record.notes),
        _columns(tables.column_table(record.columns)),
        network,
        _plane(record),
        REPRODUCE,
    ]
    return Contents(
        title=f"{clean(record.target, 80)} in {clean(record.source, 80)}",
        eyebrow=size(record),
        headline=answers.answer_sentence(record),
        sections=tuple(s for s in sections if s is not None),
        classes=classes,
        cards=cards,
        graph=drawn,
        plane=None if record.plane is None else _plane_view(record),
        facts=answers.facts(record, version),
        programs=tuple(p for p in (command, answers.python(record)) if p),
    )


def model_contents(model: Model, command: str = "", version: str = "") -> Contents:
    """The page of a model alone: what it believes, without what only rows could tell."""
    target = "a density" if model.schema.target is None else model.schema.target.name
    order = [c.name for c in model.schema.attributes if c.name in model.summary.columns]
    cards = _cards(model, order, {})
    weights = dict(zip(model.classes, model.summary.total.floats().tolist(), strict=True))
    classes = _classes(weights)
    drawn, network = _network(model, target, {n: c.key for n, c in zip(order, cards, strict=False)}, {})
    sections = [
        Section("classes", "Classes", "Classes", tables=(classes,)),
        _whatif(model),
        _attributes(cards),
        _pairs(model),
        _warnings((), model.notes),
        _columns(tables.column_table(model.schema.columns)),
        network,
        REPRODUCE,
    ]
    size = f"{plural(model.summary.rows, 'row')}, {plural(len(model.classes), 'class')}"
    return Contents(
        title=f"A model of {clean(target, 80)}",
        eyebrow=f"{size}, {plural(len(order), 'attribute')}",
        headline=f"A model of {clean(target, 80)}",
        sections=tuple(s for s in sections if s is not None),
        classes=classes,
        cards=cards,
        graph=drawn,
        facts=answers.model_facts(model, version),
        programs=(command,) if command else (),
    )


REPRODUCE = Section("reproduce", "Make it again", "Make it again")


def _classes(weights: Mapping[str, float]) -> Table:
    """The shares of the classes, with bars in the colours of the classes; of many classes the first."""
    most = max(weights.values(), default=0.0) or 1.0
    bars = [Bar(w / most, kind=f"{colour(k, len(weights))} fill") for k, w in enumerate(weights.values())]
    out, rest = tables.share_table(weights).with_column("", bars), len(weights) - MOST_CLASSES
    return out if rest <= 0 else replace(out, rows=(*out.rows[:MOST_CLASSES], (f"{rest} more", "", "", "")))


def _answer(record: Look, classes: Table) -> Section:
    more = [answers.qualification(record), answers.ceiling_sentence(record)] if record.attributes else []
    charts: tuple[Chart, ...] = ()
    bounds = record.intervals.accuracy
    if record.attributes and record.decisions is None:
        low, high = 0.0 if bounds.low is None else bounds.low, 1.0 if bounds.high is None else bounds.high
        charts = (gauge(record.scores.accuracy, low, high, record.baseline.accuracy),)
    scores = tables.score_table(record)
    sentences = tuple(s for s in more if s)
    return Section("answer", "The answer", "The answer", sentences, (scores, classes), charts)


def _whatif(model: Model | None) -> Section | None:
    if model is None or model.schema.target is None or len(model.classes) < 2:
        return None
    return Section("whatif", "What if", "What if")


def _bits(record: Look, keys: dict[str, str]) -> Section | None:
    if not record.attributes:
        return None
    most = max((a["bits"] for a in record.attributes), default=0.0)
    steps = ticks(0.0, most) if most > 0 else [0.0, 1.0]
    table = tables.attribute_table(record, keys, steps[-1])
    marks = steps[:: max(1, (len(steps) - 1) // 2)]
    axis = scale([(s / steps[-1], f"{s:g}" + (" bits" if s == marks[-1] else "")) for s in marks])
    table = replace(table, title="", header=(*table.header[:-1], axis))
    rest = len(record.attributes) - MOST_ATTRIBUTES
    return Section(
        "bits",
        "What tells most",
        "What tells most",
        (
            f"There are {record.entropy:.3f} bits to be known about the class of a row. So many of them does each "
            "attribute tell alone; what two of them tell may be the same.",
        ),
        (table.first(MOST_ATTRIBUTES), tables.evidence_table(record)),
        notes=(f"{rest} more attributes tell less.",) if rest > 0 else (),
    )


def _cards(model: Model, order: list[str], told: dict[str, AttributeBits]) -> tuple[Card, ...]:
    known = [name for name in order if name in model.summary.columns][:CARDS]
    return tuple(card(model, n, f"a{k}", told.get(n), len(known) > MANY_CARDS) for k, n in enumerate(known))


def _attributes(cards: tuple[Card, ...]) -> Section | None:
    return Section("attributes", "Each attribute", "Each attribute") if cards else None


def _pairs(model: Model) -> Section | None:
    """What several attributes say together: the strongest pairs as maps, and all by strength."""
    found = term_tables(model)[1:]
    if not found:
        return None
    tables_, charts = [t for t in found if t.title.startswith("What")], []
    pairs = sorted((s, names) for names, s in model.term_strengths().items() if len(names) == 2)[::-1]
    for _, names in pairs[:MAPS]:
        grid = pair_grid(model, *find_pairs(model)[names], MAP_STEPS)
        bits, of = grid_bits(model, grid)
        sides = (colour(0), colour(1)) if len(model.classes) == 2 else ("many", colour(of, len(model.classes)))
        charts.append(heat_map((clean(names[0], 30), clean(names[1], 30)), grid.labels, bits, sides))
    words = "What attributes say together beyond what each says by itself, in bits, mean over rows."
    if charts and len(model.classes) == 2:
        words += f" In the maps + speaks for {clean(model.classes[1], 30)}, - for {clean(model.classes[0], 30)}."
    elif charts:
        words += " A map is of the class of which its pair says most."
    notes = (NOT_APART,) if any(len(names) > 2 for names in model.term_strengths()) else ()
    return Section("together", "Together", "What they say together", (words,), tuple(tables_), tuple(charts), notes)


def _confusion(record: Look) -> Section | None:
    if record.decisions is not None or not any(map(any, record.confusion)):
        return None
    matrix, names = tables.confusion_table(record), [clean(c, 40) for c in record.classes]
    words = "Each line is a true class, each column the class named. The stronger the colour, the greater the share of "
    words += "the line"
    charts: tuple[Chart, ...] = ()
    if not matrix.rows and len(names) <= MOST_MAPPED:
        charts, words = (confusion_map(names, record.confusion),), f"{words}; the diagonal is right"
    held = [matrix, tables.precision_table(record).first(MOST_CLASSES)]
    if len(names) > 2:
        held.insert(1, tables.error_table(record))
    sentences = (f"{words}.",) if matrix.rows or charts else ()
    return Section(
        "confusion", "Right and wrong", "Right and wrong", sentences, tuple(t for t in held if t.rows), charts
    )


def _ranks(record: Look) -> Section | None:
    ranking = record.trust.rankings.get(record.trust.positive)
    if ranking is None:
        return None
    lift, words = tables.lift_table(record), (answers.rank_sentence(ranking),)
    charts = roc(ranking), precision_recall(ranking)
    return Section("ranks", "Ranks", "Ranks", words, (lift,) if lift.rows else (), charts)


def _reliability(record: Look) -> Section | None:
    curves = record.trust.calibration
    if not curves or not curves[0].bins:
        return None
    words, table = answers.calibration_sentence(curves[0]), tables.calibration_table(record)
    return Section("reliability", "Reliability", "Reliability", (words,), (table,), (reliability(curves[0]),))


def _learning(curve: Curve) -> Section | None:
    charts = learning(curve)
    if not charts:
        return None
    return Section("learning", "More rows", "More rows", present_curve(curve).remarks, charts=charts)


def _comparison(found: Comparison) -> Section | None:
    report = present_comparison(found)
    if not report.tables:
        return None
    losses = [one.scores.log_loss for one in found.learners if one.scores is not None and one.intervals is not None]
    most = max((loss for loss in losses if loss is not None), default=1.0) or 1.0
    bars = [Bar((loss or 0.0) / most) for loss in losses]
    table = report.tables[0].with_column("log loss: shorter is better", bars)
    words = "All on the same folds; the best probabilities first."
    return Section("comparison", "Other learners", "Other learners", (words,), (table,), notes=report.remarks)


def _warnings(warnings: tuple[str, ...], notes: tuple[str, ...]) -> Section | None:
    if not warnings and not notes:
        return None
    return Section("warnings", "Beware", "Beware", warnings, notes=notes[:MOST_NOTES])


def _columns(table: Table) -> Section | None:
    if not table.rows:
        return None
    rest = len(table.rows) - MOST_COLUMNS
    notes = (f"{rest} more columns are not listed.",) if rest > 0 else ()
    title = "How each column was read"
    return Section("columns", "The columns", title, tables=(table.first(MOST_COLUMNS),), notes=notes)


def _network(
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
    return drawn, Section("graph", "The model", "The model", tables=tuple(held), notes=notes)


def _plane(record: Look) -> Section | None:
    if record.plane is None:
        return None
    words, charts = (answers.plane_sentence(record),), (landscape(record.plane),)
    return Section("plane", "Two numbers", "Two numbers", words, charts=charts)


def _plane_view(record: Look) -> PlaneView:
    plane = record.plane
    assert plane is not None
    key = tuple((colour(k), clean(c, 40)) for k, c in zip(plane.codes, plane.classes, strict=True))
    return PlaneView(key, regions(plane))
