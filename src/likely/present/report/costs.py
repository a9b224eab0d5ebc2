"""Words for what decisions cost in a look. Knows the scores of a loss; makes no page of its own."""

from __future__ import annotations

from likely.evaluate.scores.losses import LossScores
from likely.present.report.words import clean, number


def verdict(scores: LossScores, called: str) -> str:
    """What deciding costs, beside knowing nothing."""
    found = (
        f"{called} decides at a cost of {number(scores.mean)} a row on rows it has not learned from;\n"
        f"always choosing {clean(scores.constant, 30)} would cost {number(scores.constant_mean)}, "
        f"deciding by the frequencies of the classes {number(scores.baseline)}."
    )
    if scores.mean >= min(scores.constant_mean, scores.baseline):
        found += "\nNothing is gained: knowing nothing of a row costs no more."
    return found


def score_rows(scores: LossScores) -> tuple[tuple[str, ...], ...]:
    """Lines of the table of scores."""
    rows: tuple[tuple[str, ...], ...] = (
        ("expected loss, a row", number(scores.mean), number(scores.baseline), "lower is better"),
        (f"always {clean(scores.constant, 20)}", "", number(scores.constant_mean), "the best single action"),
    )
    if scores.undecided:
        rows += (("without an action", number(scores.undecided), "", "counted as the costliest action"),)
    return rows


def action_rows(scores: LossScores, classes: list[str]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Header and rows of a table of actions by true class."""
    header = ("true class", *(f"→ {clean(a, 20 if len(scores.actions) < 4 else 10)}" for a in scores.actions))
    rows = tuple((name, *map(number, row)) for name, row in zip(classes, scores.table, strict=True))
    return header, rows
