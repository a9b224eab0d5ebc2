"""Precision, recall and F1 of each class, from the table of true classes against those named. Knows counts only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from likely.evaluate.scores.intervals import Measure, wilson


@dataclass(frozen=True)
class OfClass:
    """How well one class is named."""

    label: str
    rows: float
    """Weight of the rows of the class."""
    named: float
    """Weight of the rows that were taken for it."""
    precision: Measure
    """Share of the rows taken for it that are of it; None where none was."""
    recall: Measure
    """Share of its rows that were taken for it; None where it has none."""
    f1: float | None
    """2 * precision * recall / (precision + recall) = 2 * hits / (rows + named)."""


def of_classes(labels: Sequence[str], confusion: Sequence[Sequence[float]], rows: Sequence[float]) -> list[OfClass]:
    """One record for each class. `rows` has the weight of each class, those that could not be classified included.

    >>> [(c.label, c.precision.value, c.recall.value) for c in of_classes("ab", [[3, 1], [0, 4]], [4, 4])]
    [('a', 1.0, 0.75), ('b', 0.8, 1.0)]
    """
    out = []
    for k, label in enumerate(labels):
        hits, named = confusion[k][k], sum(row[k] for row in confusion)
        f1 = 2 * hits / (rows[k] + named) if rows[k] + named else None
        out.append(OfClass(label, rows[k], named, _share(hits, named), _share(hits, rows[k]), f1))
    return out


def _share(part: float, whole: float) -> Measure:
    if not whole:
        return Measure(None)
    share = min(part / whole, 1.0)
    return Measure(share, *wilson(share, whole))
