"""Cross-validation of any learners side by side: sums of all folds from shared sweeps, every row scored by models that
have not seen its fold. Learners that search (logistic regression) sweep again; all folds of all of them at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any, TypeVar

import numpy as np

from likely.drafting import Draft, Reading, check_rows
from likely.engines.local import Worker, sweep
from likely.errors import InputError, LikelyError, shown
from likely.evaluate.folds import Dealer, FoldSums, fold_sums, parts
from likely.evaluate.losses import Chosen
from likely.evaluate.scores import Scorer
from likely.extending import Extender, grouped
from likely.holding import Held, Piece, small
from likely.loss import Loss
from likely.models.chords import Together
from likely.models.model import Learner, Model, Search
from likely.sums.numbers import Numbers
from likely.sums.summary import Summary
from likely.table.encode import Encoder
from likely.table.labels import Labels
from likely.table.source import Source
from likely.threads import in_order

Placed = tuple[Any, Any, Any]
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

    def _read(self) -> Iterator[Piece]:
        """The rows and the fold of each; rows that do not count have the fold after the last."""
        labels = {n: s.labels for n, s in self.total.columns.items() if not isinstance(s, Numbers)}
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

    def more(self, name: str, training: Sequence[Summary]) -> None:
        """One sweep: a statistic beyond the first order, for the total and for all rows but those of each fold."""
        workers = self.swept(lambda: _FoldExtender(self, frozenset({name})))
        dealt = [reduce(add, (w.extenders[k].more[name] for w in workers)) for k in range(self.folds)]
        total = self.total.more[name] = reduce(add, dealt)
        for summary, part in zip(training, dealt, strict=True):
            if summary is not self.total:
                # All rows but a fold's may not know a class that the fold does (tests/evaluate/test_compare.py).
                index = {c: k for k, c in enumerate(summary.classes)}
                places = np.array([index.get(c, -1) for c in self.total.classes], np.intp)
                summary.more[name] = (total - part).regrouped(places, len(summary.classes)).canonical()

    def search(
        self,
        searches: dict[tuple[str, int], Search],
        found: dict[tuple[str, int], Model],
        training: list[Summary],
        refused: dict[str, str],
    ) -> None:
        """Let every search have its sweeps, all of them in the same ones. Keys are (learner, fold).

        A class that only one fold has is not among those of its training rows, so that classes are numbered by fold.
        """
        while searches:
            running = dict(searches)

            def partial(piece: Piece) -> dict[tuple[str, int], Any]:
                out = {}
                for key, search in running.items():  # noqa: B023 - used up within the loop
                    rows = piece.batch.take(np.flatnonzero((piece.fold != key[1]) & (piece.fold < self.folds)))
                    out[key] = search.look_at(rows, *grouped(training[key[1]], rows))
                return out

            for key, value in self.summed(partial).items():
                try:
                    step = running[key].step(value)
                except LikelyError as error:
                    refused[key[0]] = str(error)
                    continue
                if isinstance(step, Search):
                    searches[key] = step
                else:
                    found[key] = step
                    del searches[key]
            for key in [k for k in searches if k[0] in refused]:
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


def all_classes(total: Summary, models: Mapping[str, list[Model]]) -> tuple[str, ...]:
    """The classes of the rows, then those that only knowledge names: they take their share of the probability."""
    more = {c for per_fold in models.values() for model in per_fold for c in model.classes}
    return (*total.classes, *sorted(more - set(total.classes)))


class _Judge:
    """Scores rows by the models that have not seen their fold."""

    def __init__(self, rows: Folded, models: Mapping[str, list[Model]], extra: Any, loss: Loss | None) -> None:
        classes = all_classes(rows.total, models)
        self.scorers = {name: Scorer(len(classes), None if loss is None else Chosen(loss, classes)) for name in models}
        self.extra = extra
        self._folds, self._models, self._classes = rows.folds, models, classes
        self._places = {
            name: [[classes.index(c) for c in m.classes] for m in per_fold] for name, per_fold in models.items()
        }

    def take(self, piece: Piece, start: int) -> None:
        if self.extra is not None:
            self.extra.take(piece.batch, start)
        for k, index in enumerate(parts(piece.fold, self._folds + 1)[:-1]):
            if not len(index):
                continue
            part = piece.batch.take(index)
            assert part.target is not None
            for name, scorer in self.scorers.items():
                joint = np.full((part.rows, len(self._classes)), -np.inf)
                joint[:, self._places[name][k]] = self._models[name][k].log_joint(part)
                scorer.update(joint, part.target.codes, part.weight, self._classes)


def learned(
    rows: Folded, learners: Mapping[str, Learner], sums: FoldSums
) -> tuple[dict[str, list[Model]], dict[str, str]]:
    """A model of each learner for each fold, or why there is none. Sweeps as often as the learners want."""
    models: dict[tuple[str, int], Model] = {}
    searches: dict[tuple[str, int], Search] = {}
    refused: dict[str, str] = {}
    wanted: dict[str, frozenset[str]] = {n: x.needs(rows.total.schema) for n, x in learners.items()}
    further = sorted({s for names in wanted.values() for s in names})
    sizes = sums.rows.tolist()
    training = [sums.rest(k) if 0 < count < rows.total.rows else rows.total for k, count in enumerate(sizes)]
    for name in further:
        try:
            rows.more(name, training)
        except LikelyError as error:
            refused |= {n: str(error) for n, names in wanted.items() if name in names}
    for name, learner in learners.items():
        if name in refused:
            continue
        try:
            for k, summary in enumerate(training):
                held = learner.learn(summary)
                if isinstance(held, Search):
                    searches[name, k] = held
                else:
                    models[name, k] = held
        except LikelyError as error:
            refused[name] = str(error)
            for key in [k for k in searches if k[0] == name]:
                del searches[key]
    for name, learner in learners.items():
        together = getattr(learner, "learn_together", None)
        if together is not None and (name, 0) in searches:
            begun = together(rows.total, training)
            for k, model in (rows.search_together(begun) if begun is not None else {}).items():
                models[name, k] = model
                del searches[name, k]
    rows.search(searches, models, training, refused)
    kept = [n for n in learners if n not in refused]
    return {n: [models[n, k] for k in range(rows.folds)] for n in kept}, refused


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
) -> Validation:
    """Cross-validate `learners` (or those that a function of the total names).

    `extra(total)` makes something that is shown every scored batch as well. With a loss, scorers also add up what is
    decided.
    """
    sums = fold_sums(source, first, reading, folds, seed)
    total = sums.total
    check_classes(total, source)
    if loss is not None:
        loss.check(total.classes)  # a class that the loss does not name is refused before anything is learned
    rows = Folded(source, total, reading, folds, seed)
    models, refused = learned(rows, learners(total) if callable(learners) else learners, sums)
    judges = rows.swept(lambda: _Judge(rows, models, None if extra is None else extra(total), loss))
    scorers = {name: reduce(add, (j.scorers[name] for j in judges)) for name in models}
    improper = frozenset(n for n, held in models.items() if not all(m.proper for m in held))
    notes = {name: _noted([m.notes for m in held]) for name, held in models.items() if any(m.found() for m in held)}
    return Validation(total, scorers, refused, [j.extra for j in judges], all_classes(total, models), improper, notes)


def _noted(notes: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The notes of the models of all folds, each once, those of most folds first."""
    count = Counter(note for each in notes for note in dict.fromkeys(each))
    folds = len(notes)
    return tuple(n if c == folds else f"{n} (In {c} of {folds} folds.)" for n, c in count.most_common())
