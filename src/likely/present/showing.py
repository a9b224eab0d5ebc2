"""The documents of results that no command prints as they are: answers, sums and columns, and charts beside tables.

`print` and notebooks show them (machinery/presented.py); which class has which is said at the front door.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np

from likely.apply.decide.decider import Decision
from likely.apply.explain.counterfactual import Counterfactual
from likely.apply.explain.sureness import Sureness
from likely.apply.tables import AttributeTables
from likely.errors import SettingError
from likely.evaluate.compare import Comparison
from likely.evaluate.curve import Curve
from likely.evaluate.look import Trust
from likely.evaluate.scores.subgroups import SubgroupScores
from likely.machinery.words import clean, number, percent, plural
from likely.models.posterior import Posterior, why_undecided
from likely.present.charts.bars import interval_chart
from likely.present.charts.drawing import Chart
from likely.present.charts.lines import learning
from likely.present.document import Document, Part, Table, bar_cell, numbers_from
from likely.present.report.evaluation import called, present_comparison, present_curve
from likely.present.report.look import (
    bins_of,
    calibration_sentence,
    column_table,
    lift_of,
    number_bounds,
    share_table,
    subgroup_table,
)
from likely.present.report.model import attribute_tables
from likely.sums.summary import Summary
from likely.table.schema import Schema

MOST_ROWS, MOST_CLASSES = 10, 8
"""Rows of a table and classes that are shown; `frame()` has all."""


def show_posterior(found: Posterior) -> Document:
    """How probable each class is; of a table, in its first rows."""
    told = () if found.proper else ("These are scores, not probabilities.",)
    if found.one:
        order = np.argsort(-found.matrix[0], kind="stable").tolist()
        best = f"cannot be classified: {why_undecided(found.proper)}" if found.undefined[0] else clean(found.best, 200)
        probabilities = ((clean(found.classes[k]), p) for k in order for p in found.matrix[0, k : k + 1].tolist())
        rows: tuple[tuple[str, ...], ...] = tuple((name, f"{p:.4g}", str(bar_cell(p))) for name, p in probabilities)
        return Document(best, (Table("", ("class", "P(class)", ""), rows, frozenset({1})), *told))
    names, first = [*found.classes, "–"], found.matrix[:MOST_ROWS, :MOST_CLASSES].tolist()
    rows = tuple(
        (number(k), clean(names[code]), *(f"{p:.4g}" for p in row))
        for k, (code, row) in enumerate(zip(found.codes[:MOST_ROWS].tolist(), first, strict=True), 1)
    )
    header = ("row", "class", *(f"P({clean(c, 20)})" for c in found.classes[:MOST_CLASSES]))
    table = Table(_first_of("", len(found)), header, rows, frozenset({0}) | numbers_from(2, len(header)))
    return Document(_rows_of(found.classes, len(found)), (table, *told))


def _first_of(what: str, rows: int) -> str:
    return what if rows <= MOST_ROWS else f"The first {MOST_ROWS} rows; frame() has all"


def _rows_of(classes: tuple[str, ...], rows: int) -> str:
    return f"{plural(rows, 'row')}, {plural(len(classes), 'class')}"


def show_decision(found: Decision) -> Document:
    """What each action is expected to cost; of a table, what is decided for its first rows."""
    if found.one:
        costs = zip(found.actions, found.expected[0].tolist(), strict=True)
        rows: tuple[tuple[str, ...], ...] = tuple(
            (clean(a), number(cost)) for a, cost in sorted(costs, key=lambda item: item[1])
        )
        table = Table("", ("action", "expected loss"), rows, frozenset({1}))
        return Document(clean(found.action or found.reason, 200), (table,))
    actions, reasons = found.action, found.reason
    assert isinstance(actions, list) and isinstance(reasons, list)
    each = zip(actions, reasons, found.expected.tolist(), strict=True)
    rows = tuple(
        (number(k), clean(a or why, 60), *(number(c) for c in costs[:MOST_CLASSES]))
        for k, (a, why, costs) in enumerate(islice(each, MOST_ROWS), 1)
    )
    header = ("row", "action", *(f"loss of {clean(a, 20)}" for a in found.actions[:MOST_CLASSES]))
    table = Table(_first_of("", len(found)), header, rows, frozenset({0}) | numbers_from(2, len(header)))
    return Document(f"{plural(len(found), 'row')}, {plural(len(found.actions), 'action')}", (table,))


def show_sureness(found: Sureness) -> Document:
    """The interval of each probability; of a table, of its most probable class in the first rows."""
    header = ("class", "P(class)", f"{100 * found.level:g} % interval")

    def line(row: int, k: int) -> tuple[str, ...]:
        low, high = float(found.low[row, k]), float(found.high[row, k])
        bounds = "–" if np.isnan(low) else f"{100 * low:.1f} to {100 * high:.1f} %"
        return clean(found.classes[k]), percent(float(found.matrix[row, k])), bounds

    if found.one:
        rows = tuple(line(0, k) for k in np.argsort(-found.matrix[0], kind="stable").tolist())
        return Document(found.words(), (Table("", header, rows, frozenset({1, 2})),))
    best = found.matrix[:MOST_ROWS].argmax(axis=1).tolist()
    rows = tuple((number(row + 1), *line(row, k)) for row, k in enumerate(best))
    title = _first_of("", len(found)).partition(";")[0]
    return Document(_rows_of(found.classes, len(found)), (Table(title, ("row", *header), rows, frozenset({0, 2, 3})),))


def show_counterfactual(found: Counterfactual) -> Document:
    """The fewest changes, or each that does it alone."""
    return Document("\n".join([found.headline, *(f"  {line}" for line in found.lines)]), found.remarks)


def show_summary(found: Summary) -> Document:
    """What was counted: the classes, and how each column was read."""
    classes = dict(zip(found.classes, found.total.floats().tolist(), strict=True))
    target = found.schema.target
    name = "a density" if target is None else clean(target.name)
    tables = (*((share_table(classes),) if target is not None else ()), column_table(found.schema.columns))
    return Document(f"Sums of {plural(found.rows, 'row')} for {name}", tables)


def show_schema(found: Schema) -> Document:
    """How each column is read, and why."""
    return Document(plural(len(found.columns), "column"), (column_table(found.columns),))


def show_tables(found: AttributeTables) -> Document:
    """Counts and probabilities of every attribute."""
    return Document(plural(len(found), "table"), attribute_tables(found))


def show_comparison(record: Comparison) -> Document:
    """The table of learners, and their scores as a chart."""
    try:
        chart: tuple[Part, ...] = (draw_comparison(record),)
    except SettingError:
        chart = ()
    document = present_comparison(record)
    return replace(document, parts=(*chart, *document.parts))


def draw_comparison(record: Comparison) -> Chart:
    """The log loss of each learner with its interval, or its accuracy where a log loss is infinite."""
    scored = [(one, one.scores, one.intervals) for one in record.learners]
    known = [(one, scores, bounds) for one, scores, bounds in scored if scores is not None and bounds is not None]
    if not known:
        raise SettingError("No learner could learn, so there is nothing to draw.")
    loss = all(scores.log_loss is not None and one.proper for one, scores, _ in known)
    points = [
        (called(one), replace(bounds.log_loss, value=scores.log_loss))
        if loss
        else (called(one), replace(bounds.accuracy, value=scores.accuracy))
        for one, scores, bounds in known
    ]
    title = f"Learners on {clean(record.target, 40)}, with 95 % intervals"
    return interval_chart(title, "log loss, bits a row: less is better" if loss else "accuracy", points, not loss)


def show_subgroups(found: SubgroupScores) -> Document:
    """How well the rows of each level are answered."""
    return Document(f"Scores by subgroup of {plural(len(found), 'attribute')}", (subgroup_table(found),))


def show_trust(found: Trust) -> Document:
    """How well rows are ranked, and whether probabilities can be taken at their word."""
    areas = [one.roc for one in found.rankings.values()]
    rows = tuple((clean(a.of, 40), f"{a.auc.value or 0.0:.4f}", number_bounds(a.auc)) for a in areas)
    tables = [Table("Area under ROC of each class", ("class", "area", "95 % interval"), rows, frozenset({1, 2}))]
    if found.positive in found.rankings:
        tables.append(lift_of(found.rankings[found.positive]))
    tables += [bins_of(curve) for curve in found.calibration[:1]]
    said = [calibration_sentence(curve) for curve in found.calibration[:1]]
    headline = f"How far the answers can be trusted; the class looked for is {clean(found.positive)}."
    return Document(headline, (*(t for t in tables if t.rows), *said))


def show_curve(record: Curve) -> Document:
    """What the learning curve says, and its chart."""
    document = present_curve(record)
    return replace(document, parts=(*learning(record)[:1], *document.parts))
