"""How sure a score is: bounds from rows, of each class too, and whether two learners differ by chance.

One method for one figure, wherever it is shown: Wilson's bounds of shares, Student's t over rows of means. A model that
learned from other rows would score otherwise, so variances over rows are times 1 + rows tested / rows learned from, and
those over folds, which share most of the rows that they teach, times 1/J + that ratio (Nadeau and Bengio).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.evaluate.scores.scores import HeldOutRows, Scorer, Scores, total_moments
from likely.machinery.distributions import student_bound, student_within
from likely.models.judgement import Measure as Measure

if TYPE_CHECKING:
    from numpy.typing import NDArray

NORMAL = 1.959963984540054
"""Standard errors to both sides that hold 95 % of a normal distribution."""
MOST_FREEDOM = 1000
"""Beyond, Student's t is as good as normal, and its sum is long."""


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
class Baselines:
    """The simple rules that a learner must beat, with 95 % bounds, and how it differs from them."""

    baseline_intervals: Intervals
    guess: str
    """The class that most of the rows judged have (of equals the first): what the baseline always names."""
    one_rule: Scores | None = None
    """Of the one attribute that tells most, chosen anew for each fold."""
    one_rule_intervals: Intervals | None = None
    one_attribute: str | None = None
    """That attribute, where all rows are learned from; None where none tells more than the frequencies."""
    naive_bayes: Scores | None = None
    """Of the textbook's naive Bayes, where another learner was chosen."""
    naive_bayes_intervals: Intervals | None = None
    against: tuple[Paired, ...] = ()
    """The learner's log loss and accuracy against those of the baselines, on the same folds."""


@dataclass(frozen=True)
class Parts:
    """Scores by fold (of all repeats), or by row where each was left out in turn."""

    weight: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    log_loss: NDArray[np.float64]
    """Bits a row; infinite where some row's true class was held impossible."""
    brier: NDArray[np.float64]
    ratio: float
    """Rows predicted for each row learned from."""
    one_model: bool = False
    """Whether each of these parts is a row that the same model predicted: independent, given that model."""

    def __add__(self, other: Parts) -> Parts:
        names = ("weight", "accuracy", "log_loss", "brier")
        both: dict[str, Any] = {n: np.concatenate([getattr(self, n), getattr(other, n)]) for n in names}
        return replace(self, **both)


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


def of_rows(found: HeldOutRows, always: int | None = None) -> Parts:
    """Rows that were left out in turn: each is a fold. `always` is the class that all were answered with, if any."""
    matrix, here = found.matrix, np.arange(len(found.truth))
    named = np.where(np.isneginf(found.log_odds).all(axis=1), -1, matrix.argmax(axis=1))
    if always is not None:
        named = np.full(len(here), always)
    hit = np.zeros_like(matrix)
    hit[here, found.truth] = 1.0
    brier = ((matrix - hit) ** 2).sum(axis=1)
    right = (named == found.truth).astype(np.float64)
    return Parts(found.weight, right, found.surprise / math.log(2), brier, 1 / max(len(here) - 1, 1))


def of_one_side(found: HeldOutRows, ratio: float, always: int | None = None) -> Parts:
    """Rows that one and the same model predicted: each by itself."""
    return replace(of_rows(found, always), ratio=ratio, one_model=True)


def ratio_tested(tests: NDArray[np.int64], trained: NDArray[np.int64]) -> float:
    """Rows predicted for each row learned from, in the mean over lessons."""
    some = (tests > 0) & (trained > 0)
    return float((tests[some] / trained[some]).mean()) if some.any() else 1.0


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


def intervals(whole: Scorer, parts: Parts, times: int = 1, together: bool = False) -> Intervals:
    """Bounds of the scores: Wilson's of the accuracy, Student's t over rows of the others.

    Rows count as many as would be as sure if all weighed the same. `together`: rows were dealt by groups or by time, so
    that those of a fold may be alike; there they count as fewer (`design_effect`).
    """
    read = whole.read()
    rows = whole.effective_rows(times)
    brier = _mean_bounds(read.brier, whole.brier, 1.0, rows, 2.0, parts, together, "brier")
    loss = Measure(None)
    if read.log_loss is not None:
        loss = _mean_bounds(read.log_loss, whole.surprise, math.log(2), rows, math.inf, parts, together, "log_loss")
    bounds = wilson(read.accuracy, rows / design_effect(read.accuracy, rows, parts, together))
    return Intervals(Measure(read.accuracy, *bounds), loss, brier)


def design_effect(accuracy: float, rows: float, parts: Parts, together: bool) -> float:
    """How many times the variance of an accuracy is that of independent rows and a given model: 1 + ratio, or as folds
    differ, where rows of a fold may be alike and that is more. Precision and recall of the same rows are as unsure."""
    alone = NORMAL**2 * accuracy * (1 - accuracy) / rows
    by_folds = _fold_bound(parts, "accuracy") ** 2 / alone if together and alone > 0 else 0.0
    return max(by_folds, 1 + parts.ratio)


def _fold_bound(parts: Parts, score: str) -> float:
    """How far folds set a score to both sides, by the corrected resampled t."""
    _, error, freedom = resampled(getattr(parts, score), parts.weight, parts.ratio)
    return bound_of(freedom) * error if freedom else 0.0


def _mean_bounds(
    value: float, held: Any, unit: float, rows: float, most: float, parts: Parts, together: bool, score: str
) -> Measure:
    """Bounds of a mean over so many rows; none of a single row."""
    if rows <= 1:
        return Measure(value)
    weight, total, squares = total_moments(held)
    mean = total / weight
    variance = max(float(squares / weight - mean * mean), 0.0) * rows / (rows - 1)
    half = bound_of(max(round(rows) - 1, 1)) * math.sqrt(variance * (1 + parts.ratio) / rows) / unit
    half = max(half, _fold_bound(parts, score) if together else 0.0)
    return Measure(value, max(value - half, 0.0), min(value + half, most))


def paired(one: Parts, other: Parts, name: str, score: str) -> Paired | None:
    """How `one` differs from `other` in a score, on the same folds; None where that is infinite or folds are too few.

    Two learners that never differ have p = 1; those that differ by the same in every fold, p = 0.
    """
    a, b = getattr(one, score), getattr(other, score)
    if len(a) != len(b) or len(a) < 2 or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return None
    mean, error, freedom = resampled(a - b, one.weight, 0.0 if one.one_model else one.ratio)
    half = bound_of(freedom) * error
    if error == 0:
        p = 1.0 if mean == 0 else 0.0
    else:
        p = max(1 - student_within(abs(mean) / error, min(freedom, MOST_FREEDOM)), 0.0)
    found = Paired(name, score, Measure(mean, mean - half, mean + half), p, p, len(a))
    return replace(found, test="paired t", units="rows held out") if one.one_model else found


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
    labels: Sequence[str],
    confusion: Sequence[Sequence[float]],
    rows: Sequence[float],
    effective: Sequence[tuple[float, float]] = (),
) -> list[ClassScores]:
    """One record for each class. `rows` has the weight of each class, those that could not be classified included.

    `effective` are the rows named so, and those of the class, as they count for bounds; else their weights do.

    >>> [(c.label, c.precision.value, c.recall.value) for c in class_scores("ab", [[3, 1], [0, 4]], [4, 4])]
    [('a', 1.0, 0.75), ('b', 0.8, 1.0)]
    """
    out = []
    for k, label in enumerate(labels):
        hits, named = confusion[k][k], sum(row[k] for row in confusion)
        f1 = 2 * hits / (rows[k] + named) if rows[k] + named else None
        sure = effective[k] if effective else (named, rows[k])
        shares = _share(hits, named, sure[0]), _share(hits, rows[k], sure[1])
        out.append(ClassScores(label, rows[k], named, *shares, f1))
    return out


def scores_by_class(
    whole: Scorer, labels: Sequence[str], parts: Parts, times: int, together: bool
) -> list[ClassScores]:
    """The same of a scorer: rows count for the bounds as they do for those of the accuracy."""
    lost, table = whole.unclassified.floats()[0] / times, np.array(whole.table(times))
    squares, lost_squares = whole.squares.floats() / times, whole.lost_squares.floats()[0] / times
    rows = table.sum(axis=1) + lost
    by = design_effect(whole.read().accuracy, whole.effective_rows(times), parts, together)
    named = _effective(table.sum(axis=0), squares.sum(axis=1)) / by
    own = _effective(rows, squares.sum(axis=0) + lost_squares) / by
    effective = list(zip(named.tolist(), own.tolist(), strict=True))
    return class_scores(labels, table.tolist(), rows.tolist(), effective)


def _effective(weight: NDArray[np.float64], squares: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(weight**2, squares, out=np.zeros(len(weight)), where=squares > 0)


def _share(part: float, whole: float, rows: float) -> Measure:
    if not whole:
        return Measure(None)
    share = min(part / whole, 1.0)
    return Measure(share, *wilson(share, rows))
