"""Cross-validation of any learners side by side: sums of all folds from shared sweeps, every row scored by models that
have not seen its fold. Learners that search (logistic regression) sweep again; all lessons of all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from numbers import Integral
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import InputError, LikelyError, SettingError, list_names, shown
from likely.evaluate.crossval.copies import hold_copies_together
from likely.evaluate.crossval.dealing import Deal, Folds, deal_rows, deal_stratified
from likely.evaluate.crossval.folds import FoldSums, sum_folds
from likely.evaluate.crossval.judge import Judge, Models, all_classes
from likely.evaluate.crossval.lessons import Lessons
from likely.evaluate.crossval.notes import FoldNotes, merge_notes
from likely.evaluate.crossval.row_folds import FoldedRows
from likely.evaluate.scores.held_out import HeldOut, HeldOutCollector, merge_held_out
from likely.evaluate.scores.intervals import (
    ClassScores,
    Intervals,
    Parts,
    intervals,
    of_rows,
    of_scorer,
    scores_by_class,
)
from likely.evaluate.scores.scores import Scorer
from likely.intake.engine import Worker
from likely.intake.reading import Reading
from likely.intake.schema import Draft, check_rows
from likely.models.contracts import Learner, LearnsTogether, Model, Search, begin_learning
from likely.models.naive.baseline import Prior
from likely.probability.loss import Loss
from likely.sums.summary import Summary
from likely.table.schema import Column, Schema
from likely.table.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

Learners = Mapping[str, Learner] | Callable[[Summary], Mapping[str, Learner]]
"""By name; or what names them once the sums of all rows are known."""
Watcher = Callable[[Summary], Worker]
"""Makes, from the sums of all rows, what is shown every piece that is scored."""
Derive = Callable[[Mapping[str, list[Model]]], Mapping[str, list[Model]]]


@dataclass
class Validation:
    """What cross-validation found: a scorer for each learner, or the sentence why it could not learn."""

    total: Summary
    scorers: dict[str, Scorer]
    refused: dict[str, str]
    extras: list[Any]
    classes: tuple[str, ...] = ()
    """Of the confusion: those of the rows, then those that only a learner's knowledge names."""
    improper: frozenset[str] = frozenset()
    """Learners whose posterior is made of scores that are no probabilities."""
    notes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What the models that a search found say of how it ended, and in how many folds if not in all."""
    parts: dict[str, Parts] = field(default_factory=dict)
    """Scores of each learner, fold by fold of every repeat; row by row where each was left out in turn."""
    gathered: dict[str, HeldOut] = field(default_factory=dict)
    """Rows with what was said of them, of those learners that were asked for; of the first repeat."""
    folds: int = 0
    times: int = 1
    """How often every row was predicted."""
    together: bool = False
    """Whether rows of a fold belong together, and may be alike: by group, by time, as copies."""
    told: tuple[str, ...] = ()
    """What there is to say of how the rows were dealt."""

    def bounds(self, name: str) -> Intervals:
        """The scores of a learner with 95 % bounds."""
        return intervals(self.scorers[name], self.times, self.parts[name] if self.together else None)

    def by_class(self, name: str) -> list[ClassScores]:
        """How well a learner names each class, with 95 % bounds."""
        together = self.parts[name] if self.together else None
        return scores_by_class(self.scorers[name], self.classes, self.times, together)


def teach_lessons(
    rows: FoldedRows, learners: Mapping[str, Learner], sums: FoldSums, lessons: Lessons
) -> tuple[Models, dict[tuple[str, int], str]]:
    """A model of each learner for each lesson, or why there is none. Sweeps as often as the learners want.

    Refusals are by learner and group of lessons; who is refused one lesson has none of its group.
    """
    models: Models = {}
    searches: dict[tuple[str, int], Search] = {}
    refused: dict[tuple[str, int], str] = {}
    wanted: dict[str, frozenset[str]] = {n: x.needs(rows.total.schema) for n, x in learners.items()}
    training = [sums.among(some) if some.any() and not some.all() else rows.total for some in lessons.seen]
    for statistic in sorted({s for names in wanted.values() for s in names}):
        try:
            rows.extend(statistic, training, lessons.seen)
        except LikelyError as error:
            refused |= {(n, g): str(error) for n, some in wanted.items() if statistic in some for g in lessons.group}
    for name, learner in learners.items():
        for k, summary in enumerate(training):
            group = name, lessons.group[k]
            if group in refused:
                continue
            try:
                held = begin_learning(learner, summary)
            except LikelyError as error:
                refused[group] = str(error)
                continue
            if isinstance(held, Search):
                searches[name, k] = held
            else:
                models[name, k] = held
    for key in [k for k in searches if (k[0], lessons.group[k[1]]) in refused]:
        del searches[key]
    for name, learner in learners.items():
        if isinstance(learner, LearnsTogether) and lessons.all_but_one and (name, 0) in searches:
            begun = learner.learn_together(rows.total, training)
            for k, model in (rows.search_together(begun) if begun is not None else {}).items():
                models[name, k] = model
                del searches[name, k]
    rows.search(searches, models, training, refused, lessons)
    return {key: m for key, m in models.items() if (key[0], lessons.group[key[1]]) not in refused}, refused


def teach_folds(
    rows: FoldedRows, learners: Mapping[str, Learner], sums: FoldSums
) -> tuple[dict[str, list[Model]], dict[str, str]]:
    """A model of each learner for each lesson of the deal, such as all rows but a fold; or why there is none."""
    lessons = _judging(rows.deal.lessons, sums)
    models, refused = teach_lessons(rows, learners, sums, lessons)
    kept, count = [n for n in learners if (n, 0) not in refused], len(lessons.fold)
    return {n: [models[n, k] for k in range(count)] for n in kept}, {n: why for (n, _), why in refused.items()}


def _judging(lessons: Lessons, sums: FoldSums) -> Lessons:
    """The lessons; one by which nothing is judged, since its fold has no rows, leaves none out."""
    seen = lessons.seen.copy()
    taught_by = np.array([int(sums.rows[some].sum()) for some in seen])
    seen[(_judged(lessons, sums) == 0) | (taught_by == 0)] = True
    return replace(lessons, seen=seen)


def _judged(lessons: Lessons, sums: FoldSums) -> NDArray[np.int64]:
    """The rows by which each lesson is judged."""
    return np.array([int(sums.rows[lessons.fold_of == fold].sum()) for fold in lessons.fold])


def validate(
    source: Source,
    first: Draft,
    reading: Reading,
    learners: Learners,
    folds: int | Folds,
    seed: int = 0,
    extra: Watcher | None = None,
    loss: Loss | None = None,
    derive: Derive | None = None,
    gather: frozenset[str] = frozenset(),
) -> Validation:
    """Cross-validate `learners` (or those that a function of the total names).

    `extra(total)` makes something that is shown every scored piece as well. With a loss, scorers also add up what is
    decided. `derive` makes further models out of those learned, to be scored on the same rows. Out-of-fold predictions
    of the learners in `gather` are kept.
    """
    asked = Folds(folds, seed) if isinstance(folds, int) else folds
    if asked.leave_one_out:
        return _each_left_out(source, first, reading, learners, extra, loss, gather)

    def once(k: int) -> Validation:
        deal = deal_rows(source, first, reading, asked, asked.seed + k)
        own = (None, loss, derive) if k else (extra, loss, derive, gather)
        return _once(source, first, reading, learners, deal, *own)

    return merge_repeats(once(k) for k in range(asked.repeats))


def merge_repeats(each: Iterable[Validation]) -> Validation:
    """What all repeats found; what was watched and gathered, of the first."""
    return reduce(_with, each)


def _with(found: Validation, more: Validation) -> Validation:
    """Another repeat beside those before it."""
    refused = {**more.refused, **found.refused}
    kept = [n for n in found.scorers if n in more.scorers]
    return replace(
        found,
        scorers={n: found.scorers[n] + more.scorers[n] for n in kept},
        refused=refused,
        notes={n: tuple(dict.fromkeys((*found.notes.get(n, ()), *more.notes.get(n, ())))) for n in kept},
        parts={n: found.parts[n] + more.parts[n] for n in kept},
        times=found.times + 1,
    )


def _once(
    source: Source,
    first: Draft,
    reading: Reading,
    learners: Learners,
    deal: Deal,
    extra: Watcher | None = None,
    loss: Loss | None = None,
    derive: Derive | None = None,
    gather: frozenset[str] = frozenset(),
) -> Validation:
    """Every row that is judged, once."""
    sums = sum_folds(source, first, reading, deal)
    check_classes(sums.total, source)
    if loss is not None:
        loss.check(sums.total.classes)  # a class that the loss does not name is refused before anything is learned
    rows = FoldedRows(source, sums.total, reading, deal)
    if (held := hold_copies_together(rows)) is not None:
        sums = sum_folds(source, first, reading, held)
        rows = FoldedRows(source, sums.total, reading, held)
    return validate_rows(rows, sums, learners, extra, loss, derive, gather)


def validate_rows(
    rows: FoldedRows,
    sums: FoldSums,
    learners: Learners,
    extra: Watcher | None = None,
    loss: Loss | None = None,
    derive: Derive | None = None,
    gather: frozenset[str] = frozenset(),
) -> Validation:
    """The same for rows whose folds are summed: learn all lessons, then score every row."""
    total, deal = sums.total, rows.deal
    asked = learners(total) if callable(learners) else learners
    models, refused = teach_folds(rows, asked, sums)
    if derive is not None:
        models |= derive(models)
    each = {(name, k): model for name, held in models.items() for k, model in enumerate(held)}
    classes = all_classes(total, each)

    def judge() -> Judge:
        own = {name: HeldOutCollector(total.rows, classes) for name in models if name in gather}
        watching = None if extra is None else extra(total)
        return Judge(rows, each, deal.lessons, lambda name, _: name, watching, loss, own, folds_apart=True)

    judges = rows.sweep(judge)
    tests = _judged(deal.lessons, sums)
    trained = np.array([int(sums.rows[some].sum()) for some in deal.lessons.seen])
    scorers = _guessing(asked, {name: reduce(add, (j.scorers[name] for j in judges)) for name in models})
    parts = {name: of_scorer(scorer, _ratio(tests, trained)) for name, scorer in scorers.items()}
    improper = frozenset(n for n, held in models.items() if not all(m.proper for m in held))
    notes = {
        name: merge_notes([FoldNotes.by(m) for m in held])
        for name, held in models.items()
        if any(m.search_state() for m in held)
    }
    kept = {n: merge_held_out([j.gathered[n] for j in judges]) for n in models if n in gather}
    count = len(deal.lessons.fold)
    return Validation(total, scorers, refused, [j.extra for j in judges], classes, improper, notes, parts, kept, count,
                      together=deal.together, told=deal.notes)  # fmt: skip


def _guessing(learners: Mapping[str, Learner], scorers: dict[str, Scorer]) -> dict[str, Scorer]:
    """Scorers, in which whoever knows nothing but the frequencies of the classes always names the same one."""
    return {n: s.always_guessing() if learners.get(n) == Prior() else s for n, s in scorers.items()}


def _ratio(tests: NDArray[np.int64], trained: NDArray[np.int64]) -> float:
    """Rows predicted for each row learned from, in the mean over lessons."""
    some = (tests > 0) & (trained > 0)
    return float((tests[some] / trained[some]).mean()) if some.any() else 1.0


def _each_left_out(
    source: Source,
    first: Draft,
    reading: Reading,
    learners: Learners,
    extra: Watcher | None,
    loss: Loss | None,
    gather: frozenset[str],
) -> Validation:
    """Each row predicted by what all others taught: in closed form where there is one, else by learning as often."""
    deal = deal_stratified(2, 0)
    sums = sum_folds(source, first, reading, deal)
    total = sums.total
    check_classes(total, source)
    from likely.evaluate.crossval.leave_one_out import LeaveOneOutJudge, closed_forms

    if total.rows < 2:
        raise InputError(f"{source.name} has only one row to learn from. To leave one out takes two or more.")
    if loss is not None:
        loss.check(total.classes)
    wanted = learners(total) if callable(learners) else learners
    rows = FoldedRows(source, total, reading, deal)
    closed = closed_forms(wanted, total)
    classes, others = total.classes, {n: x for n, x in wanted.items() if n not in closed}

    def judge() -> LeaveOneOutJudge:
        return LeaveOneOutJudge(closed, total.rows, classes, loss, None if extra is None else extra(total))

    judges = rows.sweep(judge)
    kept = {name: merge_held_out([j.gathered[name] for j in judges]) for name in closed}
    scorers = _guessing(wanted, {name: reduce(add, (j.scorers[name] for j in judges)) for name in closed})
    found = Validation(
        total,
        scorers,
        {},
        [j.extra for j in judges],
        classes,
        parts={name: of_rows(own, scorers[name].always) for name, own in kept.items()},
        gathered={n: own for n, own in kept.items() if n in gather},
        folds=total.rows,
        told=("Each row was predicted by a model trained on all the others.",),
    )
    if not others:
        return found
    asked = Folds(leave_one_out=True)
    try:
        slow = _once(source, first, reading, others, deal_rows(source, first, reading, asked), None, loss, None,
                     frozenset(others))  # fmt: skip
    except LikelyError as error:
        if not closed:
            raise
        return replace(found, refused=dict.fromkeys(others, str(error)))
    return replace(
        found,
        scorers={n: (found if n in closed else slow).scorers[n] for n in wanted if n in closed or n in slow.scorers},
        refused=slow.refused,
        classes=slow.classes if len(slow.classes) > len(classes) else classes,
        improper=slow.improper,
        notes=slow.notes,
        parts=found.parts | {n: of_rows(own, slow.scorers[n].always) for n, own in slow.gathered.items()},
        gathered=found.gathered | {n: own for n, own in slow.gathered.items() if n in gather},
    )


def check_whole(name: str, value: object, least: int, most: int) -> int:
    """A whole number between two others; refuse anything else."""
    if not isinstance(value, Integral) or isinstance(value, bool) or not least <= int(value) <= most:
        raise SettingError(f"{name} is {shown(value)}. It must be a whole number from {least:,} to {most:,}.")
    return int(value)


def require_target(schema: Schema) -> Column:
    """The target of a schema; refuse one that has none."""
    if schema.target is None:
        named = list_names([column.name for column in schema.columns])
        raise InputError(f"No target was named, so there is nothing to predict. Name a column. {named}")
    return schema.target


def check_classes(total: Summary, source: Source) -> None:
    """Refuse a table in which there is nothing to predict."""
    check_rows(total, source)
    target = total.schema.target
    if len(total.classes) < 2 and target is not None:
        raise InputError(
            f"Every row of {source.name} has the same class {shown(total.classes[0])} in column {shown(target.name)}, "
            "so there is nothing to predict. Choose another target."
        )
