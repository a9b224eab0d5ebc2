"""Everything the page says, gathered from what a first look found: words, numbers and charts. Aggregates, no rows.

A part whose data is not there is None or empty, and the page leaves its section out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from likely.evaluate.look import Look
from likely.models.contracts import Model
from likely.present.charts.bars import bar, scale
from likely.present.charts.drawing import Chart, colour
from likely.present.charts.lines import learning, reliability
from likely.present.charts.planes import landscape, regions
from likely.present.page import answers, trusting
from likely.present.page.attributes import CARDS, MANY_CARDS, Card, card
from likely.present.page.confusions import Confusion, confusion
from likely.present.page.graphs import MOST, Node, draw_graph, graph
from likely.present.report.charts import ticks
from likely.present.report.looking import called
from likely.present.report.words import clean, number, percent, plural

if TYPE_CHECKING:
    from likely.evaluate.compare import Comparison
    from likely.evaluate.curve import Curve

MOST_COLUMNS = 400
MOST_CLASSES = 60
LIFT = ("highest ranks", "of the class found", "of these right", "lift")
OF_CLASS = ("class", "rows", "found, with 95 % bounds", "right when named, with 95 % bounds")


@dataclass(frozen=True)
class Told:
    """One attribute in the list of what each tells."""

    name: str
    card: str
    bits: str
    share: str
    missing: str
    bar: Chart


@dataclass(frozen=True)
class Plain:
    """A plain table: a header, lines of words, and which columns are numbers."""

    header: tuple[str, ...]
    lines: tuple[tuple[str | Chart, ...], ...]
    numbers: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Contents:
    """What the template sets. Words are not escaped here: the template does that."""

    title: str
    eyebrow: str
    answer: answers.Answer | None
    classes: Plain
    scores: Plain | None = None
    bits: tuple[Told, ...] = ()
    entropy: str = ""
    bits_scale: Chart | None = None
    more_bits: int = 0
    cards: tuple[Card, ...] = ()
    evidence: Plain | None = None
    confusion: Confusion | None = None
    reliability: Chart | None = None
    reliable: str = ""
    ceiling: str = ""
    ranked: str = ""
    ranks: tuple[Chart, ...] = ()
    lift: Plain | None = None
    each_class: Plain | None = None
    learning: tuple[Chart, ...] = ()
    learned: tuple[str, ...] = ()
    comparison: Plain | None = None
    compared: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    columns: Plain | None = None
    more_columns: int = 0
    graph: Chart | None = None
    graph_more: int = 0
    exhibits: tuple[tuple[str, Plain], ...] = ()
    plane: Chart | None = None
    plane_note: str = ""
    regions: tuple[tuple[str, Chart], ...] = ()
    plane_key: tuple[tuple[str, str], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    command: str = ""
    python: str = ""
    whatif: bool = False
    whatif_refused: str = ""
    page: dict[str, Any] = field(default_factory=dict)
    """What the script knows besides the model."""


def of_look(
    record: Look,
    curve: Curve | None = None,
    comparison: Comparison | None = None,
    command: str = "",
    version: str = "",
) -> Contents:
    """The page of a first look."""
    model = record.model
    order = [a["name"] for a in record.attributes]
    cards = _cards(model, order, {a["name"]: a for a in record.attributes}) if model is not None else ()
    keys = {name: c.key for name, c in zip(order, cards, strict=False)}
    texts = {t.words.name for t in record.texts}
    told = _bits(record, keys, texts)
    size = f"{plural(record.rows, 'row')}, {plural(len(record.classes), 'class')}"
    drawn = None if record.plane is None else landscape(record.plane)
    curve_of, ranks, classes = trusting.reliable(record), trusting.ranked(record), trusting.each_class(record)
    return Contents(
        title=f"{clean(record.target, 80)} in {clean(record.source, 80)}",
        eyebrow=f"{size}, {plural(len(record.attributes), 'attribute')}",
        answer=answers.answer(record),
        classes=_classes(list(record.classes), list(record.classes.values())),
        scores=_scores(record),
        bits=told,
        entropy=f"{record.entropy:.3f}",
        bits_scale=_bits_scale(record),
        more_bits=len(record.attributes) - len(told),
        cards=cards,
        evidence=_evidence(record),
        confusion=None if record.decisions is not None else confusion(list(record.classes), record.confusion),
        reliability=None if curve_of is None else reliability(curve_of),
        reliable="" if curve_of is None else answers.reliable(curve_of),
        ceiling=trusting.ceiling(record),
        ranked=ranks[0],
        ranks=ranks[1],
        lift=Plain(LIFT, ranks[2], frozenset({1, 2, 3})) if ranks[2] else None,
        each_class=Plain(OF_CLASS, classes, frozenset({1, 2, 3})) if classes else None,
        learning=() if curve is None else learning(curve),
        learned=() if curve is None else _learned(curve),
        comparison=None if comparison is None else _comparison(comparison),
        compared=() if comparison is None else _compared(comparison),
        warnings=record.warnings,
        notes=record.notes,
        columns=_columns(record.columns),
        more_columns=max(0, len(record.columns) - MOST_COLUMNS),
        plane=drawn,
        plane_note=answers.plane(record),
        regions=() if record.plane is None else regions(record.plane),
        plane_key=()
        if record.plane is None
        else tuple((colour(k), clean(c, 40)) for k, c in zip(record.plane.codes, record.plane.classes, strict=True)),
        command=command,
        python=answers.python(record),
        facts=answers.facts(record, version),
        **_graph(model, record.target, keys, {a["name"]: a["bits"] for a in record.attributes}),
    )


def of_model(model: Model, command: str = "", version: str = "") -> Contents:
    """The page of a model alone: what it believes, without what only rows could tell."""
    target = "a density" if model.schema.target is None else model.schema.target.name
    order = [c.name for c in model.schema.attributes if c.name in model.summary.columns]
    cards = _cards(model, order, {})
    size = f"{plural(model.summary.rows, 'row')}, {plural(len(model.classes), 'class')}"
    return Contents(
        title=f"A model of {clean(target, 80)}",
        eyebrow=f"{size}, {plural(len(order), 'attribute')}",
        answer=None,
        classes=_classes(list(model.classes), model.summary.total.floats().tolist()),
        cards=cards,
        notes=model.notes,
        columns=_columns(model.schema.columns),
        more_columns=max(0, len(model.schema.columns) - MOST_COLUMNS),
        command=command,
        facts=answers.model_facts(model, version),
        **_graph(model, target, {n: c.key for n, c in zip(order, cards, strict=False)}, {}),
    )


def _cards(model: Model, order: list[str], told: dict[str, Any]) -> tuple[Card, ...]:
    known = [name for name in order if name in model.summary.columns][:CARDS]
    return tuple(card(model, n, f"a{k}", told.get(n, {}), len(known) > MANY_CARDS) for k, n in enumerate(known))


def _graph(model: Model | None, target: str, keys: dict[str, str], bits: dict[str, float]) -> dict[str, Any]:
    """The graph, where the model is one, and tables of what it believes as a whole. `keys` are those of the cards."""
    if model is None:
        return {}
    found = graph(model)
    drawn = None
    more = 0
    if found is not None and keys:
        nodes = [Node(name, key, bits.get(name, 0.0)) for name, key in keys.items() if name in found.names][:MOST]
        drawn, more = draw_graph(clean(target, 60), nodes, found), len(found.names) - len(nodes)
    apart = {e.title for text in model.texts for e in text.exhibits(model.classes)}
    exhibits = tuple(
        (
            e.title,
            Plain(
                tuple(clean(h, 40) for h in e.header),
                tuple(tuple(clean(c) if isinstance(c, str) else number(c) for c in r) for r in e.rows[:30]),
                frozenset(k for r in e.rows for k, c in enumerate(r) if not isinstance(c, str)),
            ),
        )
        for e in model.exhibits()[:6]
        if e.title not in apart
    )
    return {"graph": drawn, "graph_more": more, "exhibits": exhibits}


def _classes(names: list[str], weights: list[float]) -> Plain:
    total = sum(weights) or 1.0
    most = max(weights, default=0.0) or 1.0
    lines = tuple(
        (clean(c, 40), bar(w / most, f"{colour(k, len(names))} fill"), number(w), percent(w / total))
        for k, (c, w) in enumerate(zip(names, weights, strict=True))
    )
    rest = len(lines) - MOST_CLASSES
    told = ((f"{rest} more", "", "", ""),) if rest > 0 else ()
    return Plain(("class", "", "rows", "share"), (*lines[:MOST_CLASSES], *told), frozenset({2, 3}))


def _scores(record: Look) -> Plain:
    one, two, rule = record.scores, record.baseline, trusting.one_rule(record)

    def bits(value: float | None) -> str:
        return "infinite" if value is None else f"{value:.3f}"

    def wide(score: str) -> str:
        found = trusting.bounds(record, score)
        if found is None:
            return ""
        low, high = found
        return f"{100 * low:.1f} to {100 * high:.1f} %" if score == "accuracy" else f"{low:.3f} to {high:.3f}"

    lines: list[tuple[str, ...]] = []
    for name, score, told in (
        ("↑ accuracy", "accuracy", percent),
        ("↓ log loss, bits a row", "log_loss", bits),
        ("↓ Brier score", "brier", bits),
        ("↓ rows without an answer", "unclassified", number),
    ):
        if score == "unclassified" and not one.unclassified:
            continue
        each = (told(getattr(one, score)), wide(score), told(getattr(two, score)))
        lines.append((name, *each, *(() if rule is None else (told(getattr(rule[1], score)),))))
    header = ("score", called(record), "95 % interval", "frequencies only", *(() if rule is None else (rule[0],)))
    return Plain(header, tuple(lines), frozenset(range(1, len(header))))


def _bits(record: Look, keys: dict[str, str], texts: set[str]) -> tuple[Told, ...]:
    most = _most_bits(record)
    return tuple(
        Told(
            clean(a["name"], 60),
            keys.get(a["name"], ""),
            f"{'≥ ' if a['name'] in texts else ''}{a['bits']:.3f}",
            percent(a["share"]),
            percent(a["missing"]) if a["missing"] else "",
            bar(a["bits"] / most),
        )
        for a in record.attributes[:60]
    )


def _most_bits(record: Look) -> float:
    """Where the axis of the bits ends: at a round number."""
    most = max((a["bits"] for a in record.attributes), default=0.0)
    return ticks(0.0, most)[-1] if most > 0 else 1.0


def _bits_scale(record: Look) -> Chart:
    most = _most_bits(record)
    steps = ticks(0.0, most)
    steps = steps[:: max(1, (len(steps) - 1) // 2)]
    return scale([(s / most, f"{s:g}" + (" bits" if s == steps[-1] else "")) for s in steps])


def _evidence(record: Look) -> Plain | None:
    if not record.evidence:
        return None
    header = ("if", "is", "then the odds of", "go", "bits", "rows")
    lines = tuple(
        (clean(p.attribute, 30), clean(p.cell, 40), clean(p.label, 30), _times(p.bits), f"{p.bits:+.2f}",
         number(p.rows))
        for p in record.evidence
    )  # fmt: skip
    return Plain(header, lines, frozenset({3, 4, 5}))


def _times(bits: float) -> str:
    """A factor of the odds."""
    return f"×{2**bits:,.0f}" if 100 <= 2**bits < 1e6 else f"×{2**bits:.3g}"


def _learned(found: Curve) -> tuple[str, ...]:
    from likely.present.report.curves import of_curve

    return of_curve(found).remarks


def _comparison(found: Comparison) -> Plain | None:
    scored = [one for one in found.learners if one.scores is not None]
    if not scored:
        return None
    losses = [s.log_loss for one in scored if (s := one.scores) is not None and s.log_loss is not None]
    most = max(losses, default=1.0) or 1.0
    lines = []
    for one in scored:
        assert one.scores is not None
        loss = one.scores.log_loss
        lines.append(
            (
                clean(one.name, 40),
                percent(one.scores.accuracy),
                "infinite" if loss is None else f"{loss:.3f}",
                "" if loss is None else bar(loss / most),
                f"{one.scores.brier:.3f}",
            )
        )
    header = ("learner", "accuracy", "log loss, bits a row", "shorter is better", "Brier score")
    return Plain(header, tuple(lines), frozenset({1, 2, 4}))


def _compared(found: Comparison) -> tuple[str, ...]:
    odd = [f"{clean(o.name)} gives scores, not probabilities; its log loss is theirs." for o in found.learners
           if not o.proper]  # fmt: skip
    refused = [f"{clean(o.name)} is not in the table: {o.refused}" for o in found.learners if o.scores is None]
    return (*odd, *refused)


def _columns(columns: tuple[Any, ...]) -> Plain:
    lines = tuple((clean(c.name, 60), c.kind, c.role, clean(c.why, 120)) for c in columns[:MOST_COLUMNS])
    return Plain(("column", "kind", "role", "why"), lines)
