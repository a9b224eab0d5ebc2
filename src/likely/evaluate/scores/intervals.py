"""How sure a score is: bounds from rows and from folds, of each class too, and whether two learners differ by chance.

Folds share most of the rows that they teach, so that what they say is not independent: variances over folds are
corrected for it as Nadeau and Bengio do, times (1/J + rows tested / rows learned from) in place of 1/J.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.evaluate.scores.held_out import HeldOut
from likely.evaluate.scores.scores import Scorer, total_moments
from likely.machinery.distributions import student_bound, student_within
from likely.machinery.records import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

NORMAL = 1.959963984540054
"""Standard errors to both sides that hold 95 % of a normal distribution."""
MOST_FREEDOM = 1000
"""Beyond, Student's t is as good as normal, and its sum is long."""


@dataclass(frozen=True)
class Measure:
    """A number, and 95 % bounds for it; None where it is infinite, or where one fold alone says nothing of bounds."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Intervals:
    """The scores of a learner with 95 % bounds: of rows that were not learned from, and of learning from other rows."""

    accuracy: Measure
    log_loss: Measure
    """Bits a row."""
    brier: Measure


@dataclass(frozen=True)
class Paired:
    """One learner's score less another's on the same folds, and how often chance alone would set them so far apart."""

    other: str
    score: str
    difference: Measure
    p: float
    p_of_all: float
    """Corrected for how many learners are compared with that one (Holm)."""
    folds: int
    """Folds, or where a single part of the rows was held out, its rows."""
    test: str = "corrected resampled t (Nadeau and Bengio)"
    units: str = "folds"


@dataclass(frozen=True)
class Parts:
    """Scores by fold (of all repeats), or by row where each was left out in turn."""

    weight: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    log_loss: NDArray[np.float64]
    """Bits a row; infinite where some row's true class was held impossible."""
    brier: NDArray[np.float64]
    ratio: float
    """Rows predicted for each row learned from; 0 where each of these parts is a row that the same model predicted."""

    def __add__(self, other: Parts) -> Parts:
        return Parts(
            np.concatenate([self.weight, other.weight]),
            np.concatenate([self.accuracy, other.accuracy]),
            np.concatenate([self.log_loss, other.log_loss]),
            np.concatenate([self.brier, other.brier]),
            self.ratio,
        )


def of_scorer(scorer: Scorer, ratio: float) -> Parts:
    """Folds that have rows."""
    rows, right = scorer.right.sum(0).floats().tolist(), scorer.right[1].floats().tolist()
    some = [k for k, n in enumerate(rows) if n > 0]
    infinite = scorer.surprise.other[2].floats()
    loss, brier = scorer.surprise.moments(), scorer.brier.moments()

    def bits(k: int) -> float:
        return math.inf if infinite[k] else float(loss[k][1] / loss[k][0]) / math.log(2)

    return Parts(
        np.array([rows[k] for k in some]),
        np.array([right[k] / rows[k] for k in some]),
        np.array([bits(k) for k in some]),
        np.array([float(brier[k][1] / brier[k][0]) for k in some]),
        ratio,
    )


def of_rows(found: HeldOut) -> Parts:
    """Rows that were left out in turn: each is a fold."""
    matrix, here = found.matrix, np.arange(len(found.truth))
    named = np.where(np.isneginf(found.log_odds).all(axis=1), -1, matrix.argmax(axis=1))
    hit = np.zeros_like(matrix)
    hit[here, found.truth] = 1.0
    brier = ((matrix - hit) ** 2).sum(axis=1)
    right = (named == found.truth).astype(np.float64)
    return Parts(found.weight, right, found.surprise / math.log(2), brier, 1 / max(len(here) - 1, 1))


def of_one_side(found: HeldOut) -> Parts:
    """Rows that one and the same model predicted: each by itself, independent given that model."""
    return replace(of_rows(found), ratio=0.0)


def resampled(values: NDArray[np.float64], weight: NDArray[np.float64], ratio: float) -> tuple[float, float, int]:
    """The mean, its corrected standard error, and the degrees of freedom (0 where there is one fold)."""
    share = weight / weight.sum()
    mean, count = float(share @ values), len(values)
    if count < 2:
        return mean, math.nan, 0
    spread = float(share @ (values - mean) ** 2) * count / (count - 1)
    return mean, math.sqrt((1 / count + ratio) * spread), count - 1


def bound_of(freedom: int) -> float:
    """Standard errors to both sides that hold 95 %."""
    return student_bound(min(freedom, MOST_FREEDOM))


def wilson(share: float, rows: float) -> tuple[float, float]:
    """Wilson's bounds of a share of so many rows: never empty, also where all or none were right.

    >>> tuple(round(b, 3) for b in wilson(1.0, 10))
    (0.722, 1.0)
    """
    z = NORMAL * NORMAL / rows
    middle = (share + z / 2) / (1 + z)
    half = NORMAL / (1 + z) * float(np.sqrt(max(share * (1 - share), 0.0) / rows + z / (4 * rows)))
    low, high = max(middle - half, 0.0), min(middle + half, 1.0)
    return (0.0 if share <= 0 else low), (1.0 if share >= 1 else high)


def doubt(held: Any, rows: float) -> float:
    """1.96 standard errors of a mean over so many rows."""
    weight, total, squares = total_moments(held)
    if not weight:
        return 0.0
    mean = total / weight
    return NORMAL * float(np.sqrt(float(squares / weight - mean * mean) / rows))


def intervals(whole: Scorer, parts: Parts, rows: int) -> Intervals:
    """Bounds of the scores of `rows` rows: the wider of what rows and folds say.

    Of rows: Wilson's for the accuracy, 1.96 standard errors for the others. Of folds: the corrected resampled t.
    """
    read = whole.read()

    def wider(value: float, low: float, high: float, each: NDArray[np.float64], most: float) -> Measure:
        _, error, freedom = resampled(each, parts.weight, parts.ratio)
        half = bound_of(freedom) * error if freedom else 0.0
        return Measure(value, max(min(low, value - half), 0.0), min(max(high, value + half), most))

    right = wider(read.accuracy, *wilson(read.accuracy, rows), parts.accuracy, 1.0)
    half = doubt(whole.brier, rows)
    brier = wider(read.brier, read.brier - half, read.brier + half, parts.brier, 2.0)
    loss = Measure(None)
    if read.log_loss is not None:
        half = doubt(whole.surprise, rows) / math.log(2)
        loss = wider(read.log_loss, read.log_loss - half, read.log_loss + half, parts.log_loss, math.inf)
    return Intervals(right, loss, brier)


def paired(one: Parts, other: Parts, name: str, score: str) -> Paired | None:
    """How `one` differs from `other` in a score, on the same folds; None where that is infinite or folds are too few.

    Two learners that never differ have p = 1; those that differ by the same in every fold, p = 0.
    """
    a, b = getattr(one, score), getattr(other, score)
    if len(a) != len(b) or len(a) < 2 or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return None
    mean, error, freedom = resampled(a - b, one.weight, one.ratio)
    half = bound_of(freedom) * error
    if error == 0:
        p = 1.0 if mean == 0 else 0.0
    else:
        p = max(1 - student_within(abs(mean) / error, min(freedom, MOST_FREEDOM)), 0.0)
    found = Paired(name, score, Measure(mean, mean - half, mean + half), p, p, len(a))
    return found if one.ratio else replace(found, test="paired t", units="rows held out")


@dataclass(frozen=True)
class ClassScores:
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


def class_scores(
    labels: Sequence[str], confusion: Sequence[Sequence[float]], rows: Sequence[float]
) -> list[ClassScores]:
    """One record for each class. `rows` has the weight of each class, those that could not be classified included.

    >>> [(c.label, c.precision.value, c.recall.value) for c in class_scores("ab", [[3, 1], [0, 4]], [4, 4])]
    [('a', 1.0, 0.75), ('b', 0.8, 1.0)]
    """
    out = []
    for k, label in enumerate(labels):
        hits, named = confusion[k][k], sum(row[k] for row in confusion)
        f1 = 2 * hits / (rows[k] + named) if rows[k] + named else None
        out.append(ClassScores(label, rows[k], named, _share(hits, named), _share(hits, rows[k]), f1))
    return out


def _share(part: float, whole: float) -> Measure:
    if not whole:
        return Measure(None)
    share = min(part / whole, 1.0)
    return Measure(share, *wilson(share, whole))
