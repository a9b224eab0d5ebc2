"""Cross-validation of any learners side by side: sums of all folds from shared sweeps, every row scored by models that
have not seen its fold. Learners that search (logistic regression) sweep again; all lessons of all of them at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from likely.drafting import Draft, Reading, check_rows
from likely.engines.local import Worker, sweep
from likely.errors import InputError, LikelyError, shown
from likely.evaluate.folds import Dealer, FoldSums, fold_sums, parts
from likely.evaluate.lessons import Lessons, each_fold
from likely.evaluate.losses import Chosen
from likely.evaluate.scores import Scorer
from likely.extending import Extender, grouped
from likely.holding import Held, Piece, small
from likely.loss import Loss
from likely.models.chords import Together
from likely.models.model import Learner, Model, Search
from likely.sums.counts import Counts
from likely.sums.summary import Summary
from likely.table.encode import Encoder
from likely.table.labels import Labels
from likely.table.source import Source
from likely.threads import in_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

Placed = tuple[Any, Any, Any]
Models = dict[tuple[str, int], Model]
"""Of each learner, by name, for each lesson, by number."""
W = TypeVar("W", bound=Worker)


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


class Folded:
    """The rows of a source with their folds, sweep after sweep the same: kept in memory where they are few enough."""

    def __init__(self, source: Source, total: Summary, reading: Reading, folds: int, seed: int) -> None:
        self.source, self.total, self.reading, self.folds, self.seed = source, total, reading, folds, seed
        self.columns = [c.name for c in total.schema.used]
        self.held = Held(total, self._read)
        self._dealt: dict[str, list[Any]] = {}
        """Statistics beyond the first order, fold by fold."""

    def _read(self) -> Iterator[Piece]:
        """The rows and the fold of each; rows that do not count have the fold after the last."""
        labels = {n: s.labels for n, s in self.total.columns.items() if isinstance(s, Counts)}
        # Closed labels: threads share the encoder, and would step on each other's toes if it collected new ones.
        encoder = Encoder(self.total.schema, labels, Labels(self.total.classes))
        dealer = Dealer(self.total.schema, self.folds, self.seed)

        def piece(item: tuple[Placed, int]) -> Piece:
            (arrow, codes, ordinal), start = item
            batch = encoder.encode(arrow, start)
            assert batch.target is not None
            counts = batch.target.codes >= 0
            if batch.weight is not None:
                counts &= batch.weight > 0
            return Piece(batch, np.where(counts, dealer.folds(codes, ordinal), np.int32(self.folds)))

        yield from in_order(_placed(self.source.batches(self.columns), dealer), piece, self.reading.threads)

    def swept(self, worker: Callable[[], W]) -> Sequence[W]:
        """Workers that have taken all pieces between them."""
        return sweep(iter(self.held), worker, self.reading.threads, progress=self.reading.progress)

    def summed(self, partial: Callable[[Piece], dict[Any, tuple[Any, ...]]]) -> dict[Any, tuple[Any, ...]]:
        """What the pieces add under each key, summed in the order of the table: threads change nothing."""
        sums: dict[Any, tuple[Any, ...]] = {}
        for part in in_order(iter(self.held), partial, self.reading.threads):
            for key, value in part.items():
                sums[key] = value if key not in sums else tuple(a + b for a, b in zip(sums[key], value, strict=True))
        return sums

    def more(self, name: str, training: Sequence[Summary], seen: NDArray[np.bool_]) -> None:
        """A statistic beyond the first order, for the total and for the rows of each lesson; one sweep gives it all."""
        if name not in self._dealt:
            workers = self.swept(lambda: _FoldExtender(self, frozenset({name})))
            self._dealt[name] = [reduce(add, (w.extenders[k].more[name] for w in workers)) for k in range(self.folds)]
            self.total.more[name] = reduce(add, self._dealt[name])
        dealt, total = self._dealt[name], self.total.more[name]
        for summary, some in zip(training, seen, strict=True):
            if summary is not self.total:
                # All rows but a fold's may not know a class that the fold does (tests/evaluate/test_compare.py).
                index = {c: k for k, c in enumerate(summary.classes)}
                places = np.array([index.get(c, -1) for c in self.total.classes], np.intp)
                inside = [dealt[k] for k in np.flatnonzero(some)]
                outside = [dealt[k] for k in np.flatnonzero(~some)]
                own = total - reduce(add, outside) if len(outside) < len(inside) else reduce(add, inside)
                summary.more[name] = own.regrouped(places, len(summary.classes)).canonical()

    def search(
        self,
        searches: dict[tuple[str, int], Search],
        found: dict[tuple[str, int], Model],
        training: Sequence[Summary],
        refused: dict[tuple[str, int], str],
        lessons: Lessons | None = None,
    ) -> None:
        """Let every search have its sweeps, all of them in the same ones. Keys are (learner, lesson).

        A class that only one fold has is not among those of its training rows, so that classes are numbered by lesson.
        """
        lessons = each_fold(self.folds) if lessons is None else lessons
        seen = np.pad(lessons.seen, ((0, 0), (0, 1)))  # rows that do not count are in the fold after the last
        while searches:
            running = dict(searches)

            def partial(piece: Piece) -> dict[tuple[str, int], Any]:
                out = {}
                for key, search in running.items():  # noqa: B023 - used up within the loop
                    rows = piece.batch.take(np.flatnonzero(seen[key[1]][piece.fold]))
                    out[key] = search.look_at(rows, *grouped(training[key[1]], rows))
                return out

            for key, value in self.summed(partial).items():
                try:
                    step = running[key].step(value)
                except LikelyError as error:
                    refused[key[0], lessons.group[key[1]]] = str(error)
                    continue
                if isinstance(step, Search):
                    searches[key] = step
                else:
                    found[key] = step
                    del searches[key]
            for key in [k for k in searches if (k[0], lessons.group[k[1]]) in refused]:
                del searches[key]

    def search_together(self, begun: Together) -> Mapping[int, Model]:
        """Let a search for all folds have its sweeps; the models of those folds for which it found one."""

        def first(piece: Piece) -> Any:
            return begun.sheets(piece.batch, *grouped(self.total, piece.batch), piece.fold)

        held: list[Any] | None = None
        if small(self.total):
            held = list(in_order(iter(self.held), first, self.reading.threads))
        while not begun.done:
            sums: Any = None
            sheets: Any = iter(self.held) if held is None else held
            work: Any = begun.look_at if held is not None else lambda piece, s=begun: s.look_at(first(piece))
            for part in in_order(sheets, work, self.reading.threads):
                sums = part if sums is None else tuple(a + b for a, b in zip(sums, part, strict=True))
            begun = begun.step(sums)
        return begun.found


def _placed(batches: Any, dealer: Dealer) -> Any:
    start = 0
    for batch in batches:
        yield dealer.place(batch, start), start
        start += batch.num_rows


class _FoldExtender:
    def __init__(self, rows: Folded, names: frozenset[str]) -> None:
        self.extenders = [Extender(rows.total, names) for _ in range(rows.folds)]

    def take(self, piece: Piece, start: int) -> None:
        for extender, index in zip(self.extenders, parts(piece.fold, len(self.extenders) + 1), strict=False):
            if len(index):
                extender.update(piece.batch.take(index))


def all_classes(total: Summary, models: Models) -> tuple[str, ...]:
    """The classes of the rows, then those that only knowledge names: they take their share of the probability."""
    more = {c for model in models.values() for c in model.classes}
    return (*total.classes, *sorted(more - set(total.classes)))


class Judge:
    """Scores rows by the models that have not seen their fold; `slot` says under which key the scores are added up."""

    def __init__(
        self,
        rows: Folded,
        models: Models,
        lessons: Lessons,
        slot: Callable[[str, int], Hashable],
        extra: Any = None,
        loss: Loss | None = None,
    ) -> None:
        classes = all_classes(rows.total, models)
        self.scorers = {
            key: Scorer(len(classes), None if loss is None else Chosen(loss, classes))
            for key in dict.fromkeys(slot(*k) for k in models)
        }
        self.extra = extra
        self._classes, self._count = classes, lessons.folds
        self._fold = np.append(lessons.fold_of, np.int32(lessons.folds))
        self._by: list[list[tuple[Model, list[int], Scorer]]] = [[] for _ in range(lessons.folds)]
        for (name, k), model in models.items():
            places = [classes.index(c) for c in model.classes]
            self._by[lessons.fold[k]].append((model, places, self.scorers[slot(name, k)]))

    def take(self, piece: Piece, start: int) -> None:
        if self.extra is not None:
            self.extra.take(piece, start)
        for models, index in zip(self._by, parts(self._fold[piece.fold], self._count + 1), strict=False):
            if not len(index) or not models:
                continue
            part = piece.batch.take(index)
            assert part.target is not None
            for model, places, scorer in models:
                joint = np.full((part.rows, len(self._classes)), -np.inf)
                joint[:, places] = model.log_joint(part)
                scorer.update(joint, part.target.codes, part.weight, self._classes)


def taught(
    rows: Folded, learners: Mapping[str, Learner], sums: FoldSums, lessons: Lessons
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
            rows.more(statistic, training, lessons.seen)
        except LikelyError as error:
            refused |= {(n, g): str(error) for n, some in wanted.items() if statistic in some for g in lessons.group}
    for name, learner in learners.items():
        for k, summary in enumerate(training):
            group = name, lessons.group[k]
            if group in refused:
                continue
            try:
                held = learner.learn(summary)
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
        together = getattr(learner, "learn_together", None)
        if together is not None and lessons.all_but_one and (name, 0) in searches:
            begun = together(rows.total, training)
            for k, model in (rows.search_together(begun) if begun is not None else {}).items():
                models[name, k] = model
                del searches[name, k]
    rows.search(searches, models, training, refused, lessons)
    return {key: m for key, m in models.items() if (key[0], lessons.group[key[1]]) not in refused}, refused


def learned(
    rows: Folded, learners: Mapping[str, Learner], sums: FoldSums
) -> tuple[dict[str, list[Model]], dict[str, str]]:
    """A model of each learner for each fold, from all rows but the fold's; or why there is none."""
    models, refused = taught(rows, learners, sums, _rests(sums))
    kept = [n for n in learners if (n, 0) not in refused]
    return {n: [models[n, k] for k in range(rows.folds)] for n in kept}, {n: why for (n, _), why in refused.items()}


def _rests(sums: FoldSums) -> Lessons:
    """The lessons of cross-validation; a fold without rows, which nothing is judged by, leaves none out."""
    lessons = each_fold(len(sums.rows))
    lessons.seen[(sums.rows == 0) | (sums.rows == sums.rows.sum())] = True
    return lessons


def check_classes(total: Summary, source: Source) -> None:
    """Refuse a table in which there is nothing to predict."""
    check_rows(total, source)
    target = total.schema.target
    if len(total.classes) < 2 and target is not None:
        raise InputError(
            f"Every row of {source.name} has the same class {shown(total.classes[0])} in column {shown(target.name)}, "
            "so there is nothing to predict. Choose another target."
        )


def validate(
    source: Source,
    first: Draft,
    reading: Reading,
    learners: Mapping[str, Learner] | Callable[[Summary], Mapping[str, Learner]],
    folds: int,
    seed: int,
    extra: Any = None,
    loss: Loss | None = None,
    derive: Callable[[Mapping[str, list[Model]]], Mapping[str, list[Model]]] | None = None,
) -> Validation:
    """Cross-validate `learners` (or those that a function of the total names).

    `extra(total)` makes something that is shown every scored piece as well. With a loss, scorers also add up what is
    decided. `derive` makes further models out of those learned, to be scored on the same rows.
    """
    sums = fold_sums(source, first, reading, folds, seed)
    total = sums.total
    check_classes(total, source)
    if loss is not None:
        loss.check(total.classes)  # a class that the loss does not name is refused before anything is learned
    rows = Folded(source, total, reading, folds, seed)
    models, refused = learned(rows, learners(total) if callable(learners) else learners, sums)
    if derive is not None:
        models |= derive(models)
    each = {(name, k): model for name, held in models.items() for k, model in enumerate(held)}

    def judge() -> Judge:
        return Judge(rows, each, each_fold(folds), lambda name, _: name, None if extra is None else extra(total), loss)

    judges = rows.swept(judge)
    scorers = {name: reduce(add, (j.scorers[name] for j in judges)) for name in models}
    improper = frozenset(n for n, held in models.items() if not all(m.proper for m in held))
    notes = {name: noted([m.notes for m in held]) for name, held in models.items() if any(m.found() for m in held)}
    return Validation(total, scorers, refused, [j.extra for j in judges], all_classes(total, each), improper, notes)


def noted(notes: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The notes of the models of all folds, each once, those of most folds first."""
    count = Counter(note for each in notes for note in dict.fromkeys(each))
    folds = len(notes)
    return tuple(n if c == folds else f"{n} (In {c} of {folds} folds.)" for n, c in count.most_common())
