"""Everything the page shows, in order: the first screen and the sections, of a first look or of a model. No rows.

What every face shows is built in report/; sections are built in parts.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from likely.evaluate.look import Look
from likely.models.contracts import Model
from likely.present.charts.drawing import Chart, class_colours, frequent_first
from likely.present.page import answers
from likely.present.page import parts as of
from likely.present.page.answers import Headline, Rung
from likely.present.page.attributes import Card, make_cards
from likely.present.page.parts import MOST_CLASSES, REPRODUCE, PlaneView
from likely.present.report import look_tables as tables
from likely.present.report.look import size
from likely.present.sections import Bar, Section, Table
from likely.present.words import clean, plural, weighed_rows

if TYPE_CHECKING:
    from likely.evaluate.compare import Comparison
    from likely.evaluate.curve import Curve


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
    drawn, network = of.present_network(model, record.target, keys, {name: a["bits"] for name, a in told.items()})
    sections = [
        Section("answer", "Result", "Result", answers.lead_sentences(record), (tables.score_table(record), classes)),
        of.present_whatif(model),
        of.present_bits(record, keys),
        of.present_attributes(cards, tuple(record.classes)),
        None if model is None else of.present_pairs(model),
        of.present_confusion(record),
        of.present_ranks(record),
        of.present_reliability(record),
        None if curve is None else of.present_learning(curve, record.learner),
        None if comparison is None else of.present_comparison_of(comparison),
        of.present_warnings(record.warnings, record.notes),
        of.present_columns(tables.column_table(record.columns)),
        network,
        of.present_plane(record),
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
        plane=None if record.plane is None else of.view_plane(record),
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
    drawn, network = of.present_network(model, target, keys, {})
    sections = [
        Section("classes", "Classes", "Classes", tables=(classes,)),
        of.present_whatif(model),
        of.present_attributes(cards, model.classes),
        of.present_pairs(model),
        of.present_warnings((), model.notes),
        of.present_columns(tables.column_table(model.schema.columns)),
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
