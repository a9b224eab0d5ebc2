"""The held-out search: candidates learn from all parts of the rows but one, and are scored on the rows of that one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from likely.errors import LikelyError, SettingError
from likely.machinery.arrays import Floats, Ints
from likely.machinery.threads import in_order
from likely.models import shapes
from likely.models.contracts import Learner, Model, Search, begin_learning
from likely.models.heldout.kept_rows import GatheredRows, KeptRows, class_codes, most_kept, recode_target, sum_rows
from likely.models.posterior import Matrix
from likely.sums.summary import Summary
from likely.table.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray


# A learner tried on rows kept in memory: what models of the other parts say of the rows of a part.

A = TypeVar("A")
B = TypeVar("B")
PIECE = 16_384
"""Rows that a search looks at at a time."""
MOST_SCORED, MOST_NUMBERS = 20_000, 1 << 24
"""Held-out rows that are scored at most, and numbers that scores may take up: more rows would say the same."""


def most_scored(row_size: int, least: int) -> int:
    """Held-out rows that are scored at most, `least` however many numbers the scores of a row are."""
    return min(MOST_SCORED, max(MOST_NUMBERS // max(row_size, 1), least))


@runtime_checkable
class HoldsOut(Protocol):
    """A learner that holds rows out itself: in a trial it scores them on the way, so that nothing is learned twice."""

    def hold_out(
        self, total: Summary, training: Mapping[int, Summary], rows: KeptRows, places: NDArray[np.intp]
    ) -> tuple[Floats, Learner]:
        """What models of the other parts say of the rows at `places` beyond the prior, (places, classes of `total`);
        and the learner that learns from all rows with what was found."""
        ...


def hold_out(
    learner: Learner, total: Summary, training: Mapping[int, Summary], rows: KeptRows, places: NDArray[np.intp]
) -> tuple[Floats, Learner]:
    """What the learner says of held-out rows (at `places`) beyond the prior, and what learns from all rows then."""
    if isinstance(learner, HoldsOut):
        return learner.hold_out(total, training, rows, places)
    out = np.zeros((len(places), len(total.classes)))
    for part, own in training.items():
        inside = rows.part[places] == part
        model = learn_kept(learner, own, rows.take(np.flatnonzero(rows.part != part)), total.classes)
        out[inside] = evidence_of(model, rows.take(places[inside]), total.classes, own)
    return out, learner


def evidence_of(model: Model, rows: KeptRows, classes: tuple[str, ...], training: Summary) -> Floats:
    """log P(class | row) less log P(class) of the rows learned from; nothing of classes that these did not have."""
    logs = log_posterior(model, rows.batch, classes)
    weight = training.total.floats()
    share = dict(zip(training.classes, np.log(weight / weight.sum()).tolist(), strict=True))
    known = np.array([name in share for name in classes])
    prior = np.array([share.get(name, 0.0) for name in classes])
    return np.where(known, logs - prior, 0.0)


def learn_kept(learner: Learner, summary: Summary, rows: KeptRows, classes: tuple[str, ...]) -> Model:
    """The model of these rows and their sums; a search looks at them until it is done. `classes` number the rows."""
    found = begin_learning(learner, own_sums(learner, summary))
    group = class_codes(classes, summary.classes)[rows.group]
    while isinstance(found, Search):
        sums: tuple[Any, ...] | None = None
        for start in range(0, len(rows), PIECE):
            cut = slice(start, start + PIECE)
            part = found.look_at(replace(rows.batch.sliced(cut), start=start), group[cut], rows.weight[cut])
            sums = part if sums is None else tuple(a + b for a, b in zip(sums, part, strict=True))
        assert sums is not None
        found = found.step(sums)
    return found


def own_sums(learner: Learner, summary: Summary) -> Summary:
    """The sums with those alone beyond the first order that a learner is made of: learners copy what they are given."""
    own = copy(summary)
    own.more = {name: own.more[name] for name in learner.needs(own.schema) if name in own.more}
    return own


def sums_without(parts: Mapping[int, Summary], held: Iterable[int]) -> tuple[Summary, dict[int, Summary]]:
    """The sums of all parts, and for each part that is held out those of all others, where there are others."""
    total = reduce(add, parts.values()).canonical()
    return total, {p: (total - parts[p]).canonical() for p in held if p in parts and len(parts) > 1}


def sums_of_parts(summary: Summary, rows: KeptRows, requests: Iterable[str]) -> dict[int, Summary]:
    """The sums of each part that has rows, of the first order and those requested."""
    wanted = list(requests)

    def summed(part: int) -> Summary:
        return sum_rows(summary, [rows.batch.take(np.flatnonzero(rows.inside(part)))], wanted)

    each = enumerate(in_order(iter(range(rows.parts)), summed))
    return {part: own for part, own in each if own.rows}


class SumTuple:
    """What one of several searches wants added up."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values

    def __add__(self, other: SumTuple) -> SumTuple:
        return SumTuple(tuple(a + b for a, b in zip(self.values, other.values, strict=True)))


def attempt(work: Callable[[A], B], given: A) -> B | LikelyError:
    """What comes of it, or the error that says why nothing does."""
    try:
        return work(given)
    except LikelyError as error:
        return error


def log_posterior(model: Model, batch: Batch, classes: tuple[str, ...]) -> Matrix:
    """log P(class | row) over these classes; a row that cannot be classified is all -inf."""
    return shapes.over_classes(shapes.log_posterior(model.log_joint(batch)), model.classes, classes)


# The held-out search: candidates learn from all parts of the rows but one, and are scored on the rows of that part.

WHOLE = -1
"""In place of a part: learned from all rows."""
MIX = np.uint64(0x9E3779B97F4A7C15)

Job: TypeAlias = tuple[int, int]
"""(candidate, part that it does not see)"""
Scores: TypeAlias = "tuple[Matrix, NDArray[np.intp], NDArray[np.float64]]"
"""Of some held-out rows: scores, classes, weights."""
V = TypeVar("V")


class Plan(ABC, Generic[V]):
    """What is tried on held-out rows, and what follows from the scores: settings, never data. V is the verdict."""

    least_scored: ClassVar[int | None] = 100
    """Rows that are scored at least, however large a row's scores are. None: every row is scored, and those of classes
    that no other part has as well (else they are passed over: no candidate could name them)."""

    learners: tuple[Learner, ...]
    """The candidates."""
    dealing: tuple[int, int]
    """The number of parts, and the seed by which rows are dealt to them."""

    def row_size(self, summary: Summary) -> int:
        """How many numbers the scores of a row are."""
        return len(self.learners) * len(summary.classes)

    def score(self, summary: Summary, models: Sequence[Model], batch: Batch, truth: Ints) -> Matrix:
        """Scores (…, rows, …) of rows by models that have not seen them: here log P(class | row) of each candidate."""
        return np.stack([log_posterior(model, batch, summary.classes) for model in models])

    @abstractmethod
    def judge(self, summary: Summary, scores: Matrix, truth: NDArray[np.intp], weight: NDArray[np.float64]) -> V:
        """The verdict from the scores of held-out rows, their classes and weights."""

    @abstractmethod
    def unjudged(self) -> V:
        """The verdict where no row could be held out."""

    def kept(self, verdict: V) -> Sequence[int]:
        """The candidates that are to learn from all rows."""
        return range(len(self.learners))

    def improper(self, candidate: int) -> LikelyError:
        """Why a candidate is refused whose scores are no probabilities."""
        return SettingError("its scores are not probabilities.")

    @abstractmethod
    def model(self, summary: Summary, members: Mapping[int, Model], verdict: V) -> Model:
        """The model in which the search ends; `members` are the kept candidates, learned from all rows."""


@dataclass(frozen=True)
class HeldOutSearch(Search, Generic[V]):
    """Rows are kept in memory, and candidates judged by them; then what is kept of these learns from all rows."""

    plan: Plan[V]
    summary: Summary
    """Of all rows, with all that candidates are made of."""
    jobs: Mapping[Job, Model | Search] = field(default_factory=dict)
    verdict: V | None = None

    @property
    def searches(self) -> dict[Job, Search]:
        """Candidates that need to see rows again."""
        return {job: held for job, held in self.jobs.items() if isinstance(held, Search)}

    def look_at(self, batch: Batch, group: Ints, weight: NDArray[np.float64]) -> tuple[Any, ...]:
        """Rows to choose by; else what the searches of those that were kept want."""
        batch, group = recode_target(self.summary.classes, batch, group)
        if self.verdict is None:
            return (GatheredRows.of(self.summary, batch, group, weight, most_kept(self.summary)),)
        return tuple(SumTuple(search.look_at(batch, group, weight)) for search in self.searches.values())

    def step(self, sums: tuple[Any, ...]) -> Model | Search:
        """One phase is done; the next, or the model."""
        if self.verdict is None:
            return self._chosen(sums[0].dealt(self.summary, *self.plan.dealing))
        moved = {job: search.step(one.values) for (job, search), one in zip(self.searches.items(), sums, strict=True)}
        self._require_proper(moved)
        return replace(self, jobs={**self.jobs, **moved}).finished()

    def finished(self) -> Model | Search:
        """The model, once what was kept has learned from all rows."""
        if self.verdict is None or self.searches:
            return self
        members = {h: held for (h, p), held in self.jobs.items() if p == WHOLE and isinstance(held, Model)}
        return self.plan.model(self.summary, members, self.verdict)

    def learn_from_all(self, candidates: Iterable[int]) -> HeldOutSearch[V]:
        """With these candidates learned, or learning, from all rows."""

        def learn(h: int) -> tuple[Job, Model | Search]:
            learner = self.plan.learners[h]
            return (h, WHOLE), begin_learning(learner, own_sums(learner, self.summary))

        learned = dict(in_order(iter(candidates), learn))
        self._require_proper(learned)
        return replace(self, jobs={**self.jobs, **learned})

    def _require_proper(self, models: Mapping[Job, Model | Search]) -> None:
        """Refuse a candidate whose scores are no probabilities."""
        for (h, _), model in models.items():
            if isinstance(model, Model) and not model.proper:
                raise self.plan.improper(h)

    def _chosen(self, rows: KeptRows) -> Model | Search:
        """Candidates judged by rows in memory."""
        requests = sorted(frozenset().union(*(c.needs(self.summary.schema) for c in self.plan.learners)))
        parts = sums_of_parts(self.summary, rows, requests)
        if len(parts) < 2:
            return self._judged(self.plan.unjudged()).finished()
        _, training = sums_without(parts, parts)

        def learn(job: Job) -> Model:
            return learn_kept(
                self.plan.learners[job[0]], training[job[1]], rows.take(~rows.inside(job[1])), self.summary.classes
            )

        jobs = [(h, p) for h in range(len(self.plan.learners)) for p in parts]
        models = dict(zip(jobs, in_order(iter(jobs), learn), strict=True))
        self._require_proper(models)
        told = [self._score(rows, p, training[p].classes, [models[h, p] for h in range(len(self.plan.learners))])
                for p in parts]  # fmt: skip
        some = [one for one in told if one is not None]
        if not some:
            return self._judged(self.plan.unjudged()).finished()
        scores, truth, weight = zip(*some, strict=True)
        verdict = self.plan.judge(
            self.summary, np.concatenate(scores, axis=-2), np.concatenate(truth), np.concatenate(weight)
        )
        return self._judged(verdict).finished()

    def _judged(self, verdict: V) -> HeldOutSearch[V]:
        kept = [h for h in self.plan.kept(verdict) if (h, WHOLE) not in self.jobs]
        return replace(self, verdict=verdict).learn_from_all(kept)

    def _score(self, rows: KeptRows, part: int, known: tuple[str, ...], models: list[Model]) -> Scores | None:
        """Scores, classes and weights of the rows of a part, by candidates that have not seen it."""
        classes, least = self.summary.classes, self.plan.least_scored
        counted = rows.inside(part)
        if least is not None:
            counted &= class_codes(classes, known)[rows.group] >= 0
            most = most_scored(self.plan.row_size(self.summary), least)
            if len(rows) > most:  # by content alone, and not by the digits that deal
                counted &= rows.hashes * MIX < np.uint64(int(most / len(rows) * 2**64))
        some = rows.take(np.flatnonzero(counted))
        if not len(some):
            return None
        scores = self.plan.score(self.summary, models, some.batch, some.group)
        return scores, some.group.astype(np.intp), some.weight
