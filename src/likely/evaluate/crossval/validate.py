"""Cross-validation of any learners side by side: every row scored by models that have not seen it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from numbers import Integral
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from likely.errors import InputError, LikelyError, SettingError, list_names, shown
from likely.evaluate.crossval.dealing import Deal, Folds, Lessons, deal_rows, deal_stratified
from likely.evaluate.crossval.folds import FoldedRows, FoldSums, LookAtLessons, hold_copies_together, sum_folds
from likely.evaluate.kernels import rows_by_fold
from likely.evaluate.scores.intervals import (
    ClassScores,
    Intervals,
    Parts,
    design_effect,
    intervals,
    of_one_side,
    of_rows,
    of_scorer,
    ratio_tested,
    scores_by_class,
)
from likely.evaluate.scores.scores import Chosen, HeldOutCollector, HeldOutRows, Scorer, log_odds, merge_held_out
from likely.evaluate.scores.subgroups import find_subgroups
from likely.intake.engine import PIECE, Piece, Worker
from likely.intake.reading import Reading
from likely.intake.schema import Draft, check_rows
from likely.models.contracts import Learner, Learning, Model
from likely.models.judgement import HeldOutAnswers, Subgroups, group_cells
from likely.models.learning import begin, in_step, run
from likely.models.loss import Loss
from likely.models.model import learnable
from likely.models.naive.one_rule import Prior
from likely.sums.summary import Summary
from likely.table.schema import Column, Schema
from likely.table.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.models.naive.leave_one_out import LeaveOneOut


# Scores rows by models that have not learned from them. Knows which part each row is in, and who has not seen it.

_Judged = tuple[Model, list[int], Scorer, HeldOutCollector | None, int]
"""A model, the places of its classes among all, who adds up its scores, who keeps what it says, and its lesson."""
Models = dict[tuple[str, int], Model]
"""Of each learner, by name, for each lesson, by number."""


def all_classes(total: Summary, models: Models) -> tuple[str, ...]:
    """The classes of the rows, then those that only knowledge names: they take their share of the probability."""
    more = {c for model in models.values() for c in model.classes}
    return (*total.classes, *sorted(more - set(total.classes)))


class Judge:
    """Scores rows by the models that have not seen their fold; `slot` says under which key the scores are added up."""

    def __init__(
        self,
        rows: FoldedRows,
        models: Models,
        lessons: Lessons,
        slot: Callable[[str, int], Hashable],
        extra: Worker | None = None,
        loss: Loss | None = None,
        gather: Mapping[str, HeldOutCollector] | None = None,
        folds_apart: bool = False,
    ) -> None:
        classes = all_classes(rows.total, models)
        apart = len(lessons.fold) if folds_apart else 1
        self.scorers = {
            key: Scorer(len(classes), None if loss is None else Chosen(loss, classes), apart)
            for key in dict.fromkeys(slot(*k) for k in models)
        }
        self.extra = extra
        self._classes, self._count = classes, lessons.folds
        self._fold = np.append(lessons.fold_of, np.int32(lessons.folds))
        self.gathered = {} if gather is None else gather
        self._by: list[list[_Judged]] = [[] for _ in range(lessons.folds)]
        for (name, k), model in models.items():
            places = [classes.index(c) for c in model.classes]
            found = model, places, self.scorers[slot(name, k)], self.gathered.get(name), k if folds_apart else 0
            self._by[lessons.fold[k]].append(found)

    def take(self, piece: Piece, start: int) -> None:
        if self.extra is not None:
            self.extra.take(piece, start)
        said: dict[int, list[_Said]] = {}
        for models, index in zip(self._by, rows_by_fold(self._fold[piece.fold], self._count + 1), strict=False):
            if not len(index) or not models:
                continue
            part = piece.batch.take(index)
            for model, places, scorer, gatherer, lesson in models:
                joint = np.full((part.rows, len(self._classes)), -np.inf)
                joint[:, places] = model.log_joint(part)
                said.setdefault(id(scorer), []).append(_Said(scorer, gatherer, joint, index, lesson))
        target, weight = piece.batch.target, piece.batch.weight
        assert target is not None
        # What the models of all folds say is added up at once: sums of few rows cost as much as those of many.
        for some in said.values():
            index, joint = np.concatenate([s.rows for s in some]), np.concatenate([s.joint for s in some])
            lessons = np.repeat(np.array([s.lesson for s in some], np.int32), [len(s.rows) for s in some])
            truth, share = target.codes[index], None if weight is None else weight[index]
            some[0].scorer.update(joint, truth, share, self._classes, lessons)
            if some[0].gatherer is not None:
                cells = group_cells(piece.batch, index)
                some[0].gatherer.take(piece.batch.start + index, truth, share, joint, lessons, cells)


class _Said(NamedTuple):
    """What a model says of the rows of its fold in a piece."""

    scorer: Scorer
    gatherer: HeldOutCollector | None
    joint: NDArray[np.float64]
    rows: NDArray[np.intp]
    lesson: int


# What the models of several folds say, as one: each note once, and of choices the most frequent. Knows no rows.


@dataclass(frozen=True)
class FoldNotes:
    """What the model of one fold says: plain notes, and for columns what was chosen by the rows, in words."""

    notes: tuple[str, ...] = ()
    choices: tuple[tuple[str, str], ...] = ()

    @classmethod
    def by(cls, model: Model) -> FoldNotes:
        chosen = model.choices
        return cls(tuple(n for n in model.notes if n not in chosen), tuple(chosen.values()))


def merge_notes(said: Sequence[FoldNotes]) -> tuple[str, ...]:
    """The notes of all folds, those of most folds first, and one on each column of which something was chosen."""
    count, folds = Counter(note for each in said for note in dict.fromkeys(each.notes)), len(said)
    out = [n if c == folds else f"{n} (In {c} of {folds} folds.)" for n, c in count.most_common()]
    made: dict[str, Counter[str]] = {}
    for each in said:
        for name, words in each.choices:
            made.setdefault(name, Counter())[words] += 1
    for name, counts in made.items():
        ((words, most),) = counts.most_common(1)
        where = "in every fold" if most == folds else f"in {most} of {folds} folds"
        whose = f"{shown(name)}: " if name else ""  # a choice about no column, such as the members of a pool
        out.append(f"{whose}{words}; chosen by log loss on held-out rows {where}.")
    return tuple(out)


# Cross-validation of any learners side by side: sums of all folds from shared sweeps, every row scored by models
# that have not seen its fold. Learners that search (logistic regression) sweep again; all lessons of all of them at
# once.

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
    gathered: dict[str, HeldOutRows] = field(default_factory=dict)
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
        return intervals(self.scorers[name], self.parts[name], self.times, self.together)

    def by_class(self, name: str) -> list[ClassScores]:
        """How well a learner names each class, with 95 % bounds."""
        return scores_by_class(self.scorers[name], self.classes, self.parts[name], self.times, self.together)

    def by_subgroup(self, name: str, positive: str) -> tuple[Subgroups, ...]:
        """How well a learner that was gathered answers the rows of each level, with 95 % bounds; not of parts of dates
        that were tried in vain."""
        used = {column.name for column in self.total.schema.attributes}
        found = find_subgroups(self.gathered[name], positive, self.design_effect(name))
        return tuple(one for one in found if one.attribute in used)

    def design_effect(self, name: str) -> float:
        """How many times the variance of independent rows that of a learner's scores is."""
        whole = self.scorers[name]
        rows = whole.effective_rows(self.times)
        return design_effect(whole.read().accuracy, rows, self.parts[name], self.together)


def teach_lessons(
    rows: FoldedRows, learners: Mapping[str, Learner], sums: FoldSums, lessons: Lessons
) -> tuple[Models, dict[tuple[str, int], str]]:
    """A model of each learner for each lesson, or why there is none. Sweeps as often as the learners want.

    Refusals are by learner and group of lessons; who is refused one lesson has none of its group.
    """
    models: Models = {}
    begun: dict[tuple[str, int], Learning[Model]] = {}
    refused: dict[tuple[str, int], str] = {}
    wanted: dict[str, frozenset[str]] = {n: x.needs(rows.total.schema.settled) for n, x in learners.items()}
    training = [sums.among(some) if some.any() and not some.all() else rows.total for some in lessons.seen]

    def refuse(key: tuple[str, int], error: LikelyError) -> list[tuple[str, int]]:
        """Who is refused one lesson has none of its group."""
        group = key[0], lessons.group[key[1]]
        refused[group] = str(error)
        return [other for other in begun if (other[0], lessons.group[other[1]]) == group]

    for statistic in sorted({s for names in wanted.values() for s in names}):
        try:
            rows.extend(statistic, training, lessons.seen)
        except LikelyError as error:
            refused |= {(n, g): str(error) for n, some in wanted.items() if statistic in some for g in lessons.group}
    for name, learner in learners.items():
        for k, summary in enumerate(training):
            if (name, lessons.group[k]) in refused:
                continue
            try:
                held = begin(learner, summary)
            except LikelyError as error:
                for other in refuse((name, k), error):
                    del begun[other]
                continue
            if isinstance(held, Model):
                models[name, k] = held
            else:
                begun[name, k] = held
    for name, learner in learners.items():
        together = getattr(learner, "learn_folds", None)
        if together is not None and lessons.all_but_one and (name, 0) in begun:
            steps = together(rows.total, training)
            for k, model in ({} if steps is None else run(steps, rows.fold_sweeper())).items():
                models[name, k] = model
                del begun[name, k]
    seen = np.pad(lessons.seen, ((0, 0), (0, 1)))  # rows that do not count are in the fold after the last
    found = run(in_step(begun, refuse), lambda some: rows.sum_pieces(LookAtLessons(some, seen, tuple(training))))
    models |= found
    if rows.total.has_gaps:  # judged as they answer: averaged over what is missing
        from likely.models.completing import complete, needs_references

        averaged = {key: complete(model) for key, model in models.items() if needs_references(model)}
        models |= run(in_step(averaged), lambda some: rows.sum_pieces(LookAtLessons(some, seen, tuple(training))))
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
    parts = {name: of_scorer(scorer, ratio_tested(tests, trained)) for name, scorer in scorers.items()}
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


# Scores of a model from what it said while it was made: of rows that nothing of it had seen. No row is swept again.


def with_answers(
    found: Validation, name: str, answers: HeldOutAnswers, loss: Loss | None, always: str = ""
) -> Validation:
    """The validation with the scores of these answers for the learner of this name, and of those judged beside it.

    Who is called `always` knows only the frequencies of the classes, and so names the same one for all rows.
    """
    classes, truth = found.total.classes, answers.truth.astype(np.int32)
    sides, fold = np.unique(answers.side, return_inverse=True)
    ratio = float(answers.weight.sum()) / answers.folds / answers.learned

    def scored(one: str, logs: NDArray[np.float64]) -> Scorer:
        out = Scorer(len(classes), None if loss is None else Chosen(loss, classes), len(sides))
        out.update(np.ascontiguousarray(logs), truth, answers.weight, classes, fold.astype(np.int32), answers.squares)
        return out.always_guessing() if one == always else out

    def gathered(logs: NDArray[np.float64]) -> HeldOutRows:
        places = np.arange(len(truth), dtype=np.int64)
        odds, some = log_odds(np.ascontiguousarray(logs)), len(truth) < found.total.rows
        own, cells = fold.astype(np.int32), answers.cells
        return HeldOutRows(classes, places, truth, answers.weight, odds, own, some, cells, answers.squares)

    def parts(logs: NDArray[np.float64], scorer: Scorer) -> Parts:
        # Of one fold there is no spread, and halves of it by which weights were found share their members: there rows
        # are what scores are compared on.
        return of_scorer(scorer, ratio) if answers.folds > 1 else of_one_side(gathered(logs), ratio, scorer.always)

    said = {name: answers.logs, **answers.beside}
    scorers = {one: scored(one, logs) for one, logs in said.items()}
    left: Mapping[str, Scorer] = {n: s for n, s in found.scorers.items() if n not in scorers}
    return replace(
        found,
        scorers={**left, **scorers},
        parts={**found.parts, **{one: parts(logs, scorers[one]) for one, logs in said.items()}},
        gathered={**found.gathered, name: gathered(answers.logs)},
        classes=classes,
        folds=len(sides),
        told=(),
        together=False,
    )


# Leave-one-out in closed form: every row is scored by sums from which its own contribution was taken, in one sweep.


def closed_forms(learners: Mapping[str, Learner], total: Summary) -> dict[str, LeaveOneOut]:
    """Those learners that have a closed form, by name."""
    from likely.models.naive.leave_one_out import leave_one_out

    own = learnable(total, text=True)
    found = {name: leave_one_out(learner, own) for name, learner in learners.items()}
    return {name: held for name, held in found.items() if held is not None}


class LeaveOneOutJudge:
    """Scores rows, each by what all others taught. One for each thread."""

    def __init__(
        self, held: Mapping[str, LeaveOneOut], rows: int, classes: tuple[str, ...], loss: Loss | None, extra: Any
    ) -> None:
        self._held, self._classes, self.extra = held, classes, extra
        self.scorers = {n: Scorer(len(classes), None if loss is None else Chosen(loss, classes)) for n in held}
        self.gathered = {n: HeldOutCollector(rows, classes) for n in held}

    def take(self, piece: Piece, start: int) -> None:
        """Score some rows."""
        if self.extra is not None:
            self.extra.take(piece, start)
        batch = piece.batch
        assert batch.target is not None
        counts = batch.target.codes >= 0
        if batch.weight is not None:
            counts &= batch.weight > 0
        index = np.flatnonzero(counts)
        for first in range(0, len(index), PIECE):
            rows = index[first : first + PIECE]
            part = batch.take(rows)
            assert part.target is not None
            weight = np.ones(part.rows) if part.weight is None else part.weight
            for name, held in self._held.items():
                joint = held.log_joint(part, part.target.codes, weight)
                self.scorers[name].update(joint, part.target.codes, part.weight, self._classes)
                cells = group_cells(batch, rows)
                self.gathered[name].take(batch.start + rows, part.target.codes, part.weight, joint, None, cells)
