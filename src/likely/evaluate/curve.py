"""The learning curve: how well a target is predicted after learning from few rows, twice as many, and so on.

One sweep gives the sums of all sizes, one more scores every row by models that have not seen its fold.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Unpack

import numpy as np

from likely.errors import SettingError
from likely.evaluate.crossval.copies import hold_copies_together
from likely.evaluate.crossval.dealing import Folds, deal_stratified
from likely.evaluate.crossval.folds import FoldSums, draft_folds, sum_folds
from likely.evaluate.crossval.judge import Judge
from likely.evaluate.crossval.lessons import Lessons, growing_lessons
from likely.evaluate.crossval.notes import FoldNotes, merge_notes
from likely.evaluate.crossval.row_folds import FoldedRows
from likely.evaluate.crossval.validate import check_classes, check_whole, require_target, teach_lessons
from likely.evaluate.scores.intervals import Measure, intervals, of_scorer
from likely.evaluate.scores.scores import Scorer, Scores, total_moments
from likely.evaluate.trend import Trend, trend
from likely.intake.arguments import GivenLearner, read_arguments, read_learner
from likely.intake.options import ReadingOptions
from likely.intake.reading import Reading, with_encoding
from likely.intake.row_cache import fits_in_memory
from likely.models.contracts import Learner, Model
from likely.models.default import default_learner
from likely.models.naive.baseline import Prior
from likely.sums import state
from likely.table.source import Source

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


@dataclass(frozen=True)
class Curve:
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
    points, refused, sizes = [], judged.refused, {}
    for group in dict.fromkeys(lessons.group):
        of = [k for k, g in enumerate(lessons.group) if g == group]
        sizes[group] = float(np.mean([learned_from[k] for k in of]))
        if any(learned_from[k] == 0 and sums.rows[lessons.fold_of == lessons.fold[k]].any() for k in of):
            refused[group] = "A fold would have no rows to learn from. Give more rows."
        if group not in refused:
            each, baseline = ([judged.scorers[name, k] for k in of] for name in (LEARNER, BASELINE))
            together = rows.deal.together
            points.append(_point(sizes[group], each, baseline, judged.lacking.get(group, {}), together))
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


def _point(rows: float, each: list[Scorer], baseline: list[Scorer], lacking: dict[str, int], together: bool) -> Point:
    judged = [s for s in each if _weight(s) > 0]
    whole = reduce(add, judged)
    folds = [of_scorer(s, 1 / max(len(judged) - 1, 1)) for s in judged] if together else []
    bounds = intervals(whole, together=reduce(add, folds) if folds else None)
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
