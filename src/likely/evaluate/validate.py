"""Cross-validation of any learners side by side: sums of all folds from shared sweeps, every row scored by models that
have not seen its fold. Learners that search (logistic regression) sweep again; all folds of all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.drafting import Draft, Reading, check_rows
from likely.engines.local import sweep
from likely.errors import InputError, LikelyError, shown
from likely.evaluate.folds import Dealer, FoldSums, fold_sums, parts
from likely.evaluate.scores import Scorer
from likely.extending import Extender, grouped
from likely.models.model import Learner, Model, Search
from likely.sums.counts import Counts
from likely.sums.summary import Summary
from likely.table.batch import Batch, Ints
from likely.table.encode import Encoder
from likely.table.labels import Labels
from likely.table.source import Source
from likely.threads import in_order

if TYPE_CHECKING:
    pass

Placed = tuple[Any, Any, Any]


@dataclass
class Validation:
    """What cross-validation found: a scorer for each learner, or the sentence why it could not learn."""

    total: Summary
    scorers: dict[str, Scorer]
    refused: dict[str, str]
    extras: list[Any]
    improper: frozenset[str] = frozenset()
    """Learners whose posterior is made of scores that are no probabilities."""


class Folded:
    """The rows of a source with their folds, sweep after sweep the same."""

    def __init__(self, source: Source, total: Summary, reading: Reading, folds: int, seed: int) -> None:
        self.source, self.total, self.reading, self.folds, self.seed = source, total, reading, folds, seed
        self.columns = [c.name for c in total.schema.used]

    def dealer(self) -> Dealer:
        return Dealer(self.total.schema, self.folds, self.seed)

    def encoder(self) -> Encoder:
        labels = {n: s.labels for n, s in self.total.columns.items() if isinstance(s, Counts)}
        return Encoder(self.total.schema, labels, Labels(self.total.classes))

    def read(self, encoder: Encoder, dealer: Dealer, placed: Placed, start: int) -> tuple[Batch, Ints]:
        """A batch and the fold of each row; rows that do not count have the fold after the last."""
        arrow, codes, ordinal = placed
        batch = encoder.encode(arrow, start)
        assert batch.target is not None
        counts = batch.target.codes >= 0
        if batch.weight is not None:
            counts &= batch.weight > 0
        return batch, np.where(counts, dealer.folds(codes, ordinal), np.int32(self.folds))

    def more(self, names: frozenset[str], summaries: list[Summary]) -> None:
        """One sweep: the statistics beyond the first order, for each fold and (as their sum) for the total."""
        if not names:
            return
        dealer = self.dealer()
        workers = sweep(
            self.source.batches(self.columns),
            lambda: _FoldExtender(self, dealer, names),
            self.reading.threads,
            dealer.place,
            self.reading.progress,
        )
        for name in sorted(names):
            dealt = [reduce(add, (w.extenders[k].more[name] for w in workers)) for k in range(self.folds)]
            self.total.more[name] = reduce(add, dealt)
            for summary, part in zip(summaries, dealt, strict=True):
                # A fold without any row of a class does not know that class (tests/models/test_tree.py).
                index = {c: k for k, c in enumerate(summary.classes)}
                places = np.array([index.get(c, -1) for c in self.total.classes], np.intp)
                summary.more[name] = part.regrouped(places, len(summary.classes))

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
        encoder = self.encoder()
        while searches:
            dealer = self.dealer()
            running = dict(searches)

            def partial(item: tuple[Placed, int]) -> dict[tuple[str, int], Any]:
                batch, fold = self.read(encoder, dealer, *item)  # noqa: B023 - used up within the loop
                out = {}
                for key, search in running.items():  # noqa: B023
                    rows = batch.take(np.flatnonzero((fold != key[1]) & (fold < self.folds)))
                    out[key] = search.look_at(rows, *grouped(training[key[1]], rows))
                return out

            sums: dict[tuple[str, int], Any] = {}
            for part in in_order(_placed(self.source.batches(self.columns), dealer), partial, self.reading.threads):
                for key, value in part.items():
                    sums[key] = (
                        value if key not in sums else tuple(a + b for a, b in zip(sums[key], value, strict=True))
                    )
            for key, value in sums.items():
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


def _placed(batches: Any, dealer: Dealer) -> Any:
    start = 0
    for batch in batches:
        yield dealer.place(batch, start), start
        start += batch.num_rows


class _FoldExtender:
    def __init__(self, rows: Folded, dealer: Dealer, names: frozenset[str]) -> None:
        self.extenders = [Extender(rows.total, names) for _ in range(rows.folds)]
        self._rows, self._dealer, self._encoder = rows, dealer, rows.encoder()

    def take(self, placed: Placed, start: int) -> None:
        batch, fold = self._rows.read(self._encoder, self._dealer, placed, start)
        for extender, index in zip(self.extenders, parts(fold, len(self.extenders) + 1), strict=False):
            if len(index):
                extender.update(batch.take(index))


class _Judge:
    """Scores rows by the models that have not seen their fold."""

    def __init__(self, rows: Folded, dealer: Dealer, models: Mapping[str, list[Model]], extra: Any) -> None:
        classes = rows.total.classes
        self.scorers = {name: Scorer(len(classes)) for name in models}
        self.extra = extra
        self._rows, self._dealer, self._models, self._classes = rows, dealer, models, classes
        self._encoder = rows.encoder()
        self._places = {
            name: [[classes.index(c) for c in m.classes] for m in per_fold] for name, per_fold in models.items()
        }

    def take(self, placed: Placed, start: int) -> None:
        batch, fold = self._rows.read(self._encoder, self._dealer, placed, start)
        if self.extra is not None:
            self.extra.take(batch, start)
        for k, index in enumerate(parts(fold, self._rows.folds + 1)[:-1]):
            if not len(index):
                continue
            part = batch.take(index)
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
    parts_of = [sums.part(k) for k in range(rows.folds)] if further else []
    for name in further:
        try:
            rows.more(frozenset({name}), parts_of)
        except LikelyError as error:
            refused |= {n: str(error) for n, names in wanted.items() if name in names}
    training = []
    for k, count in enumerate(sums.rows.tolist()):
        if not 0 < count < rows.total.rows:
            training.append(rows.total)
        else:
            training.append(rows.total - parts_of[k] if rows.total.more else sums.rest(k))
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
) -> Validation:
    """Cross-validate `learners` (or those that a function of the total names).

    `extra(total)` makes something that is shown every scored batch as well.
    """
    sums = fold_sums(source, first, reading, folds, seed)
    total = sums.total
    check_classes(total, source)
    rows = Folded(source, total, reading, folds, seed)
    models, refused = learned(rows, learners(total) if callable(learners) else learners, sums)
    dealer = rows.dealer()
    judges = sweep(
        source.batches(rows.columns),
        lambda: _Judge(rows, dealer, models, None if extra is None else extra(total)),
        reading.threads,
        dealer.place,
        reading.progress,
    )
    scorers = {name: reduce(add, (j.scorers[name] for j in judges)) for name in models}
    improper = frozenset(n for n, held in models.items() if not all(m.proper for m in held))
    return Validation(total, scorers, refused, [j.extra for j in judges], improper)
