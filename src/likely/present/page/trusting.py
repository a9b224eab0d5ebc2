"""The sections of the page that say how good the model is: errors, ranking, subgroups, calibration, others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.evaluate.look import Look
from likely.evaluate.scores.ranking import Ranking, Reliability, kept_points
from likely.machinery.distributions import chi_square_tail
from likely.machinery.words import clean, number, percent, tie
from likely.models.judgement import Subgroup, Subgroups
from likely.present.charts.bars import MOST_CLASSES as MOST_MAPPED
from likely.present.charts.bars import confusion_map
from likely.present.charts.drawing import Chart, frequent_first
from likely.present.charts.lines import gain, learning, precision_recall, reliability, roc
from likely.present.document import Document, Part, Styled, Table, bar_cell, numbers_from
from likely.present.report import look as tables

if TYPE_CHECKING:
    from likely.evaluate.compare import Comparison
    from likely.evaluate.curve import Curve

MOST_CLASSES, MOST_NAMED = 60, 3
MOST_FIGURES = 160
"""Points of the curves of ranking, over all classes, that the script has."""


def list_of(sentences: Sequence[str], style: str = "notes") -> tuple[Document, ...]:
    """Sentences as a list; none where there are none."""
    return (Document("", tuple(sentences), style=style),) if sentences else ()


def rank_sentence(found: Ranking) -> str:
    """How well rows of the class looked for rank above the others."""
    area = found.roc.auc
    wide = "" if area.low is None else f" (95 % interval: {tables.number_bounds(area, 3)})"
    return (
        f"A row of {clean(found.roc.of, 40)} ranks above a row of another class with probability "
        f"{area.value:.3f}{wide}: the area under the ROC curve. By chance it would be 0.5."
    )


def reliability_sentence(found: Reliability) -> str:
    """What the reliability curve comes to, and how it is drawn."""
    drawn = "On the dashed line, what was said is what happened; larger dots stand for more rows, thin lines are 95 %"
    return f"{tables.calibration_sentence(found)} {drawn} intervals."


def chart_parts(charts: Sequence[Chart]) -> tuple[Part, ...]:
    """Charts as parts of a document: several stand side by side."""
    return (Document("", tuple(charts), style="charts"),) if len(charts) > 1 else tuple(charts)


def present_confusion(record: Look) -> Document | None:
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
    found = [t for t in held if t.rows]
    if found and not charts:
        found[0] = replace(found[0], style="confusion")
    maps = tuple(Document("Confusion map", (chart,), style="scroll") for chart in charts)
    return Document("Right and wrong", (*sentences, *maps, *found), "confusion", "Errors")


def present_ranks(record: Look) -> Document | None:
    """What is reached where so many rows are called, and ROC, precision and recall, of the class looked for; a script
    adds the slider and the choice of another class."""
    ranking = record.trust.rankings.get(record.trust.positive)
    if ranking is None:
        return None
    words = (
        "Call the rows to which the model gives a class with the highest probability: how much of the class is "
        "reached, and how many of those called are right, on held-out rows?"
    )
    charts = chart_parts((gain(ranking), roc(ranking), precision_recall(ranking)))
    lift = replace(tables.lift_of(ranking), style="narrow", key="lift")
    fold = Document("The table behind the chart", (lift,), style="fold")
    parts = (words, Document("", (), style="w", key="threshold"), *charts, rank_sentence(ranking), fold)
    return Document("How well it ranks, and whom to call", parts, "ranks", "Ranking")


def ranking_figures(record: Look) -> list[dict[str, Any]]:
    """What the script of the ranking section needs of each class: points (false positive rate, recall, threshold), how
    many rows stand behind them, the area under ROC, and what is reached by the shares of the table."""
    out, rankings = [], record.trust.rankings.values()
    for one in rankings:
        curve = np.column_stack([np.array(one.roc.points), np.array(one.roc.thresholds)])
        kept = curve[kept_points(curve[:, :2], max(20, MOST_FIGURES // max(len(rankings), 1)))]
        out.append({
            "of": one.roc.of, "rows": [one.roc.positives, one.roc.negatives],
            "points": [[float(f"{v:.4g}") for v in point] for point in kept],
            "said": tie(rank_sentence(one)), "lift": [float(f"{row.found:.4g}") for row in one.lift.rows],
        })  # fmt: skip
    return sorted(out, key=lambda each: each["of"] != record.trust.positive)


def present_subgroups(record: Look) -> Document | None:
    """How well the rows of each level are answered, attribute by attribute."""
    if not record.subgroups or record.decisions is not None:
        return None
    whole, of = record.scores.accuracy, clean(record.subgroups[0].of, 30)
    words = (
        f"Held-out rows by the level that they have, whether or not the model uses it. Of all of them {percent(whole)} "
        f"are answered right. Where {of} is predicted more often than found, too much of it is promised."
    )
    each = [(own, group) for own in record.subgroups for group in own.groups if not group.small]
    below = [one for one in each if (one[1].accuracy.high or 1.0) < whole]
    worse = sorted(clearly_worse(each, whole), key=lambda one: _right(one[1]))
    off = [one for one in each if (one[1].gap.low or 0.0) > 0 or (one[1].gap.high or 0.0) < 0]
    off.sort(key=lambda one: -abs(one[1].gap.value or 0.0))
    notes = []
    if worse:
        named = ", ".join(f"{_group_name(*one)} {percent(_right(one[1]))}" for one in worse[:MOST_NAMED])
        notes.append(f"Clearly less often right, even with {len(each)} groups looked at (Holm's rule): "
                     f"{named}{_more(len(worse))}.")  # fmt: skip
    elif below:
        notes.append(f"None of {len(each)} groups is clearly less often right. {len(below)} of them have an interval "
                     "below that share; by chance about one in 40 does.")  # fmt: skip
    if off:
        named = ", ".join(
            f"{_group_name(*one)} ({percent(one[1].predicted)} predicted, {percent(one[1].actual.value or 0.0)} found)"
            for one in off[:MOST_NAMED]
        )
        notes.append(f"Predicted and found differ in {len(off)} of {len(each)} groups; by chance about one in 20 does: "
                     f"{named}{_more(len(off))}.")  # fmt: skip
    widest = max(record.subgroups, key=lambda own: np.ptp([_right(g) for g in own.groups if not g.small] or [0.0]))
    rest = len(record.subgroups) - 1
    also = (Styled(f"The same of {rest} more attributes: choose above.", "note"),) if rest else ()
    choice = Document("", (), style="w", key="groups")
    parts = (words, *list_of(notes), choice, _subgroup_table(widest), *also)
    return Document("Is it as good for every group?", parts, "subgroups", "Subgroups")


def clearly_worse(each: Sequence[tuple[Subgroups, Subgroup]], whole: float) -> list[tuple[Subgroups, Subgroup]]:
    """Groups that are less often right than all rows beyond chance: by Holm's rule one of them all is named in vain in
    one look of 20."""
    spread = whole * (1 - whole)
    if not spread > 0:
        return []
    far = [(whole - _right(group)) * math.sqrt(group.rows / spread) for _, group in each]
    order = sorted(range(len(each)), key=lambda k: -far[k])
    out = []
    for rank, k in enumerate(order):
        if far[k] <= 0 or chi_square_tail(far[k] ** 2, 1) / 2 > 0.05 / (len(each) - rank):
            break
        out.append(each[k])
    return out


def subgroup_figures(record: Look) -> list[list[Any]]:
    """What the script needs to show another attribute: of each its groups, as cells of the table."""
    shown = () if record.decisions is not None else record.subgroups
    return [[own.attribute, [_cells(group) for group in own.groups]] for own in shown]


def _cells(group: Subgroup) -> list[str]:
    """A line of the table: level, rows, accuracy with its bounds, what is predicted, what is found."""
    cells = (
        "(missing)" if group.level is None else clean(group.level, 40),
        f"{number(group.rows)}{' (few)' if group.small else ''}",
        percent(_right(group)),
        tables.share_bounds(group.accuracy),
        percent(group.predicted),
        percent(group.actual.value or 0.0),
    )
    return [tie(cell) for cell in cells]


def _right(group: Subgroup) -> float:
    return group.accuracy.value or 0.0


def _group_name(own: Subgroups, group: Subgroup) -> str:
    return f"{clean(own.attribute, 24)} {'missing' if group.level is None else f'= {clean(group.level, 30)}'}"


def _more(count: int) -> str:
    return f" and {count - MOST_NAMED} more" if count > MOST_NAMED else ""


def _subgroup_table(own: Subgroups) -> Table:
    """The table of one attribute; small groups are said to be small."""
    of, name = clean(own.of, 20), clean(own.attribute, 40)
    header = (name, "rows", "accuracy", "95 % interval", f"{of} predicted", f"{of} found")
    rows = tuple(tuple(_cells(group)) for group in own.groups)
    return Table("", header, rows, numbers_from(1, 6), "groups", "groups", f"Scores by {name}")


def present_reliability(record: Look) -> Document | None:
    """What was said against what happened."""
    curves = record.trust.calibration
    if not curves or not curves[0].bins:
        return None
    words, table = reliability_sentence(curves[0]), tables.calibration_table(record)
    parts = (words, reliability(curves[0]), replace(table, style="narrow"))
    return Document("Can its probabilities be trusted?", parts, "reliability", "Calibration")


def present_learning(curve: Curve, learner: str) -> Document | None:
    """The learning curve; where it is not that of the page's own learner, that is said first."""
    from likely.present.report.evaluation import present_curve

    charts = learning(curve)
    if not charts:
        return None
    words = present_curve(curve).remarks
    if curve.learner != learner:
        words = ("The curve is that of naive Bayes, which is quick to learn; --study draws this model's own.", *words)
    return Document("What more rows would bring", (*words, *chart_parts(charts)), "learning", "Learning curve")


def present_comparison_of(found: Comparison) -> Document | None:
    """The same rows predicted by other learners."""
    from likely.present.report.evaluation import present_comparison

    report = present_comparison(found)
    if not report.tables:
        return None
    losses = [one.scores.log_loss for one in found.learners if one.scores is not None and one.intervals is not None]
    most = max((loss for loss in losses if loss is not None), default=1.0) or 1.0
    bars = [bar_cell((loss or 0.0) / most) for loss in losses]
    table = replace(report.tables[0].with_column("log loss: shorter is better", bars), style="wide")
    words = "All on the same folds, best log loss first."
    return Document("Other learners", (words, table, *list_of(report.remarks)), "comparison", "Other learners")
