"""The learning curve: how well a target is predicted after learning from few rows, twice as many, and so on."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Literal, Unpack

import numpy as np

from likely.errors import SettingError
from likely.evaluate.crossval.dealing import Folds, Lessons, deal_stratified, growing_lessons
from likely.evaluate.crossval.folds import FoldedRows, FoldSums, draft_folds, hold_copies_together, sum_folds
from likely.evaluate.crossval.validate import (
    FoldNotes,
    Judge,
    check_classes,
    check_whole,
    merge_notes,
    require_target,
    teach_lessons,
)
from likely.evaluate.scores.intervals import Measure, intervals, of_scorer, ratio_tested
from likely.evaluate.scores.scores import Scorer, Scores, total_moments
from likely.intake.engine import fits_in_memory
from likely.intake.reading import (
    GivenLearner,
    Reading,
    ReadingOptions,
    read_arguments,
    read_learner,
    try_dates,
    with_encoding,
)
from likely.machinery.distributions import student_bound
from likely.machinery.presented import Presented
from likely.models.contracts import Learner, Model
from likely.models.default import default_learner
from likely.models.naive.one_rule import Prior
from likely.sums import state
from likely.table.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Where a learning curve leads: a power law through losses at growing sizes, and what more rows would bring.

Verdict = Literal["forecast", "short", "unclear", "rising", "noisy"]
"""Whether a forecast is made; or there are too few sizes with a finite loss, no change that could be told from chance,
a loss that grows with the rows, or a curve that the power law does not fit."""

FEWEST = 4
"""Sizes: a law of three numbers goes through any three."""
EXPONENTS = np.geomspace(1 / 16, 2, 61)
"""What is tried for c. Slower than n^(-1/16) cannot be told from not at all, faster than n^-2 not from at once."""
MISFIT = 0.25
"""Share of the whole fall by which the law may miss the curve, in the mean."""
TIMES = (2.0, 4.0)
"""How many times the rows are looked forward to."""


@dataclass(frozen=True)
class Law:
    """loss(n) = a + b (n/rows)^-c, where `rows` are those of the largest size; a and b are not below zero."""

    a: float
    b: float
    c: float
    rows: float
    misfit: float
    """Root of the weighted mean square by which it misses the curve."""

    def loss(self, rows: float) -> float:
        """What the law says of a size."""
        return self.a + self.b * math.pow(rows / self.rows, -self.c)


@dataclass(frozen=True)
class Forecast:
    """The loss that is expected with `times` the rows of the largest size, and 95 % bounds for it."""

    times: float
    rows: float
    loss: float
    low: float
    high: float


@dataclass(frozen=True)
class Trend:
    """How a loss goes on: what the last step brought, the law of the curve, and what more rows would bring."""

    verdict: Verdict
    last_step: Measure
    """By how much the loss fell from the last size but one to the last; below zero it grew."""
    law: Law | None = None
    forecasts: tuple[Forecast, ...] = ()


def fit_power_law(rows: NDArray[np.float64], losses: NDArray[np.float64]) -> Law:
    """The law through the losses at these sizes by least squares, a size counting 1, 2, 3 … times from the smallest on.

    For each exponent that is tried the best a and b are had in closed form; the first of the best exponents is taken.

    >>> law = fit_power_law(np.array([1.0, 2, 4, 8, 16]), 0.25 + np.array([1.0, 2, 4, 8, 16]) ** -0.5)
    >>> round(law.a, 2), round(law.c, 1)
    (0.25, 0.5)
    """
    weight = np.arange(1.0, len(rows) + 1)
    weight /= weight.sum()
    best: Law | None = None
    mean = float(weight @ losses)
    for c in EXPONENTS.tolist():
        x = (rows / rows[-1]) ** -c
        middle = float(weight @ x)
        b = float(weight @ ((x - middle) * (losses - mean))) / float(weight @ (x - middle) ** 2)
        a = mean - b * middle
        if b < 0:
            a, b = mean, 0.0
        elif a < 0:
            a, b = 0.0, float(weight @ (x * losses)) / float(weight @ (x * x))
        misfit = float(np.sqrt(weight @ (losses - a - b * x) ** 2))
        if best is None or misfit < best.misfit:
            best = Law(a, b, c, float(rows[-1]), misfit)
    assert best is not None
    return best


def spread(values: NDArray[np.float64], weight: NDArray[np.float64]) -> Measure:
    """The mean of what folds say, and bounds by Student's t of how much they differ."""
    value = float(weight @ values / weight.sum())
    if len(values) < 2:
        return Measure(value)
    error = float(np.sqrt(((values - value) ** 2).sum() / (len(values) - 1) / len(values)))
    half = student_bound(len(values) - 1) * error
    return Measure(value, value - half, value + half)


def trend(rows: NDArray[np.float64], losses: NDArray[np.float64], weight: NDArray[np.float64], most: float) -> Trend:
    """Where the losses (folds, sizes) lead; infinite ones are left out. Folds count by weight; no loss is above `most`.

    What is expected is the loss at the largest size less what the law says that more rows bring. Its bounds come from
    leaving out each fold in turn (the jackknife), and from how much the law misses the curve.
    """
    last_step = Measure(None)
    if len(rows) > 1 and np.isfinite(losses[:, -2:]).all():
        last_step = spread(losses[:, -2] - losses[:, -1], weight)
    kept = np.flatnonzero(np.isfinite(losses).all(axis=0))
    if len(kept) < FEWEST or kept[-1] < len(rows) - 1 or len(losses) < 2:
        return Trend("short", last_step)
    rows, losses = rows[kept], losses[:, kept]
    fall = spread(losses[:, 0] - losses[:, -1], weight)
    assert fall.value is not None and fall.low is not None and fall.high is not None
    if fall.high <= 0:
        return Trend("rising" if fall.high < 0 else "unclear", last_step)
    if fall.low <= 0:
        return Trend("unclear", last_step)

    def mean(but: int | None) -> NDArray[np.float64]:
        share = np.where(np.arange(len(weight)) == but, 0.0, weight)
        return np.asarray(share @ losses / share.sum())

    whole = mean(None)
    law = fit_power_law(rows, whole)
    others = [(m, fit_power_law(rows, m)) for m in (mean(k) for k in range(len(weight)))]
    forecasts = []
    bound = student_bound(len(weight) - 1)
    for times in TIMES:
        at = times * float(rows[-1])

        def expected(losses: NDArray[np.float64], law: Law, at: float = at) -> float:
            return max(float(losses[-1]) - (law.loss(float(rows[-1])) - law.loss(at)), 0.0)

        left = np.array([expected(m, one) for m, one in others])
        error = float(np.sqrt((len(left) - 1) / len(left) * ((left - left.mean()) ** 2).sum()))
        value, half = expected(whole, law), bound * float(np.hypot(error, law.misfit))
        forecasts.append(Forecast(times, at, value, max(value - half, 0.0), min(value + half, most)))
    if law.misfit > MISFIT * fall.value or forecasts[0].high - forecasts[0].loss > fall.value:
        return Trend("noisy", last_step, law)
    return Trend("forecast", last_step, law, tuple(forecasts))


# The learning curve: how well a target is predicted after learning from few rows, twice as many, and so on.

LEARNER, BASELINE = "learner", "baseline"
MOST_FOLDS, MOST_STEPS = 50, 10


@dataclass(frozen=True)
class Point:
    """One size: how well rows are predicted that were not learned from, with 95 % bounds."""

    rows: float
    """Rows learned from, in the mean over the folds."""
    accuracy: Measure
    log_loss: Measure
    """Bits a row; None where some row's true class was held impossible."""
    brier: Measure
    unclassified: float
    """Weight of the rows that could not be classified; they count as wrong."""
    impossible: float
    """Weight of the rows whose true class was held impossible, so that their log loss is infinite."""
    lacking: dict[str, int]
    """Classes that were not among the rows learned from, and in how many folds."""
    baseline: Scores
    """Of the frequencies of the classes alone, learned from the same rows; its accuracy is that of always guessing the
    class which most of the rows judged have."""
    folds: tuple[Scores, ...]
    """Fold by fold; folds without rows are left out."""


@dataclass(frozen=True, repr=False)
class Curve(Presented):
    """Everything `likely curve` shows, without any row of the data.

    >>> import likely
    >>> rows = [{"sky": "sun" if k % 3 else "rain", "play": "y" if k % 3 else "n"} for k in range(60)]
    >>> found = likely.curve(rows, "play", folds=2, steps=2)
    >>> found.rows, found.folds
    (60, 2)
    """

    source: str
    target: str
    rows: int
    left_out: int
    learner: str
    folds: int
    parts: int
    seed: int
    points: tuple[Point, ...]
    """From the smallest size to the largest."""
    accuracy: Trend
    """Of the share of rows that are named wrongly."""
    log_loss: Trend
    refused: dict[str, str]
    """By the number of rows (about): why nothing could be learned from so few."""
    notes: tuple[str, ...]
    proper: bool = True
    """Whether the learner gives probabilities; else its log loss and Brier score are those of normalised scores."""

    def json(self) -> bytes:
        """The whole record as JSON."""
        return state.as_json(state.plain(self))


def curve(
    data: object,
    target: object = None,
    learner: GivenLearner = None,
    *,
    folds: int = 5,
    steps: int = 6,
    seed: int = 0,
    **reading: Unpack[ReadingOptions],
) -> Curve:
    """How well `target` is predicted after learning from ever more rows: `steps` sizes, each twice the one before.

    Each fold is predicted from some, at last from all, rows of the other folds. `reading` takes what `summarize` takes.

    >>> found = curve({"x": [1.0, 2.0, 8.0, 9.0] * 20, "y": ["a", "a", "b", "b"] * 20}, "y")
    >>> [(round(p.rows), p.accuracy.value) for p in found.points][-2:]
    [(32, 1.0), (64, 1.0)]
    """
    folds, steps = check_whole("folds", folds, 2, MOST_FOLDS), check_whole("steps", steps, 1, MOST_STEPS)
    data, how = read_arguments(data, target, reading)
    asked = read_learner(learner)
    how = try_dates(how, [asked])
    return with_encoding(data, how, lambda source: _curve(source, how, asked, folds, steps, seed))


def _curve(source: Source, reading: Reading, asked: Learner | None, folds: int, steps: int, seed: int) -> Curve:
    pieces = 1
    while (folds - 1) * pieces < 1 << (steps - 1):
        pieces *= 2
    first = draft_folds(source, reading, Folds(folds * pieces, seed))
    require_target(first.schema)
    deal = deal_stratified(folds * pieces, seed)
    sums = sum_folds(source, first, reading, deal)
    total = sums.total
    check_classes(total, source)
    notes = [*source.notes]
    fewer, coarser = min(folds, max(2, total.rows // 2)), pieces
    while coarser > 1 and total.rows < 2 * fewer * coarser:
        coarser //= 2
    if (fewer, coarser) != (folds, pieces):
        # Fewer than two rows a part: fewer parts, so that something is learned from the smallest.
        deal = deal_stratified(fewer * coarser, seed)
        sums = sum_folds(source, first, reading, deal)
        notes.insert(0, f"There are only {total.rows:,} rows, so they make {fewer * coarser} parts rather than "
                        f"{folds * pieces}, in {fewer} folds.")  # fmt: skip
    lessons = growing_lessons(fewer, coarser, steps)
    learner = asked or default_learner("fit", total).learner
    rows = FoldedRows(source, total, reading, deal)
    if (held := hold_copies_together(rows)) is not None:
        sums = sum_folds(source, first, reading, held)
        rows = FoldedRows(source, sums.total, reading, held)
    return _draw(rows, learner, sums, lessons, seed, (*rows.deal.notes, *notes))


@dataclass
class _Judged:
    """What the models of all lessons said of rows that they had not learned from; by group, which is a size."""

    scorers: dict[tuple[str, int], Scorer] = field(default_factory=dict)
    refused: dict[int, str] = field(default_factory=dict)
    lacking: dict[int, dict[str, int]] = field(default_factory=dict)
    """Classes that were not among the rows learned from, and in how many folds."""
    notes: dict[int, list[FoldNotes]] = field(default_factory=dict)
    proper: bool = True

    def hear(self, group: int, model: Model, classes: tuple[str, ...]) -> None:
        """Take note of what a model of the learner knows."""
        self.proper = self.proper and model.proper
        for label in (c for c in classes if c not in model.classes):
            lacking = self.lacking.setdefault(group, {})
            lacking[label] = lacking.get(label, 0) + 1
        self.notes.setdefault(group, []).append(FoldNotes.by(model) if model.search_state() else FoldNotes())


def _judge(rows: FoldedRows, learner: Learner, sums: FoldSums, lessons: Lessons) -> _Judged:
    out, total = _Judged(), sums.total
    # Where rows are kept in memory, sweeps are cheap, and models of one fold at a time take up less than all.
    for fold in range(lessons.folds) if fits_in_memory(total) else [None]:
        taken = lessons if fold is None else lessons.of_fold(fold)
        numbers = [k for k, f in enumerate(lessons.fold) if fold is None or f == fold]
        models, refused = teach_lessons(rows, {LEARNER: learner, BASELINE: Prior()}, sums, taken)
        out.refused |= {g: why for (name, g), why in refused.items() if name == LEARNER or g not in out.refused}
        for (name, k), model in models.items():
            if name == LEARNER:
                out.hear(taken.group[k], model, total.classes)
        judges = rows.sweep(lambda m=models, t=taken: Judge(rows, m, t, _apart))  # type: ignore[misc]
        for name, k in models:
            out.scorers[name, numbers[k]] = reduce(add, (j.scorers[name, k] for j in judges))
    return out


def _draw(
    rows: FoldedRows,
    learner: Learner,
    sums: FoldSums,
    lessons: Lessons,
    seed: int,
    notes: tuple[str, ...],
) -> Curve:
    total = sums.total
    judged = _judge(rows, learner, sums, lessons)
    learned_from = [int(sums.rows[seen].sum()) for seen in lessons.seen]
    predicted = [int(sums.rows[lessons.fold_of == fold].sum()) for fold in lessons.fold]
    points, refused, sizes = [], judged.refused, {}
    for group in dict.fromkeys(lessons.group):
        of = [k for k, g in enumerate(lessons.group) if g == group]
        taught, tests = (np.array([rows_of[k] for k in of]) for rows_of in (learned_from, predicted))
        sizes[group] = float(taught.mean())
        if ((taught == 0) & (tests > 0)).any():
            refused[group] = "A fold would have no rows to learn from. Give more rows."
        if group not in refused:
            each, baseline = ([judged.scorers[name, k] for k in of] for name in (LEARNER, BASELINE))
            ratio, lacking = ratio_tested(tests, taught), judged.lacking.get(group, {})
            points.append(_point(sizes[group], each, baseline, lacking, ratio, rows.deal.together))
    last = lessons.group[-1]
    if last in refused:
        raise SettingError(refused[last])
    counts, weight = np.array([p.rows for p in points]), np.array([s.rows for s in points[-1].folds])
    wrong = np.array([[1 - s.accuracy for s in p.folds] for p in points]).T
    losses = np.array([[np.inf if s.log_loss is None else s.log_loss for s in p.folds] for p in points]).T
    assert total.schema.target is not None
    return Curve(
        rows.source.name,
        total.schema.target.name,
        total.rows,
        total.left_out,
        repr(learner),
        lessons.folds,
        len(sums.rows),
        seed,
        tuple(points),
        trend(counts, wrong, weight, 1.0),
        trend(counts, losses, weight, np.inf),
        {f"{sizes[g]:.4g}": refused[g] for g in sorted(refused)},
        (*notes, *merge_notes(judged.notes[last])),
        judged.proper,
    )


def _apart(name: str, lesson: int) -> tuple[str, int]:
    """Each lesson is scored by itself."""
    return name, lesson


def _point(
    rows: float, each: list[Scorer], baseline: list[Scorer], lacking: dict[str, int], ratio: float, together: bool
) -> Point:
    judged = [s for s in each if _weight(s) > 0]
    whole = reduce(add, judged)
    bounds = intervals(whole, reduce(add, (of_scorer(s, ratio) for s in judged)), together=together)
    return Point(
        rows,
        bounds.accuracy,
        bounds.log_loss,
        bounds.brier,
        whole.read().unclassified,
        float(whole.surprise.other.sum(1).fractions()[2]),
        lacking,
        reduce(add, baseline).always_guessing().read(),
        tuple(s.read() for s in judged),
    )


def _weight(scorer: Scorer) -> float:
    return float(total_moments(scorer.brier)[0])
