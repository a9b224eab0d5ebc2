"""The held-out search: candidates learn from all parts of the rows but one, and are scored on the rows of that part.

In sweeps: sums of each part; what candidates that search themselves look at; scores of held-out rows; then, of what is
kept, the searches on all rows. Knows candidates as learners; what is tried, and what follows from scores, says a plan.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeAlias, TypeVar

import numpy as np

from likely.errors import LikelyError, SettingError
from likely.machinery.threads import in_order
from likely.models import kernels
from likely.models.contracts import Learner, Model, Search
from likely.models.heldout.dealing import class_codes, deal_rows, recode_target, sum_rows, uniform_numbers
from likely.models.posterior import Matrix
from likely.sums.summary import Summary
from likely.table.batch import Batch, Ints

if TYPE_CHECKING:
    from numpy.typing import NDArray

WHOLE = -1
"""In place of a part: learned from all rows."""
MOST_SCORED, MOST_NUMBERS = 20_000, 1 << 24
"""Held-out rows that are scored at most, and numbers that scores may take up: more rows would say the same."""

Job: TypeAlias = tuple[int, int]
"""(candidate, part that it does not see)"""
Scores: TypeAlias = "tuple[Matrix, NDArray[np.intp], NDArray[np.float64]]"
"""Of some held-out rows: scores, classes, weights."""
V = TypeVar("V")
A = TypeVar("A")
B = TypeVar("B")


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
        return SettingError("its scores are no probabilities.")

    def without(self, refusals: Mapping[int, LikelyError]) -> Self:
        """The plan without candidates that could not learn."""
        raise refusals[min(refusals)]

    @abstractmethod
    def model(self, summary: Summary, members: Mapping[int, Model], verdict: V) -> Model:
        """The model in which the search ends; `members` are the kept candidates, learned from all rows."""


@dataclass(frozen=True)
class HeldOutSearch(Search, Generic[V]):
    """Candidates on their way, and what the next sweep is for."""

    plan: Plan[V]
    summary: Summary
    """Of all rows; once parts are summed, with all that candidates are made of."""
    jobs: Mapping[Job, Model | Search] = field(default_factory=dict)
    known: Mapping[int, tuple[str, ...]] | None = None
    """Once parts are summed, the classes of all rows that are not in a part: one that only it has is not among them."""
    verdict: V | None = None

    @property
    def searches(self) -> dict[Job, Search]:
        """Candidates that need to see rows again."""
        return {job: held for job, held in self.jobs.items() if isinstance(held, Search)}

    def look_at(self, batch: Batch, group: Ints, weight: NDArray[np.float64]) -> tuple[Any, ...]:
        """Sums of each part; else what the candidates' own searches want; else scores of held-out rows."""
        batch, group = recode_target(self.summary.classes, batch, group)
        part = deal_rows(batch, *self.plan.dealing)
        if self.known is None:
            rows = (batch.take(np.flatnonzero(part == p)) for p in range(self.plan.dealing[0]))
            return tuple(sum_rows(self.summary, [some], self._requests) for some in rows)
        if not self.searches:
            return (self._score(batch, group, weight, part),)
        out = []
        for (_, hidden), search in self.searches.items():
            # Rows that do not count stay where they are: a search within may deal rows by their place, too.
            codes = class_codes(self.summary.classes, self.known.get(hidden, self.summary.classes))
            own = np.where(part == hidden, np.int32(-1), codes[group])
            out.append(SumTuple(search.look_at(batch, own, weight)))
        return tuple(out)

    def step(self, sums: tuple[Any, ...]) -> Model | Search:
        """One phase is done; the next, or the model."""
        if self.known is None:
            return self._learn_parts(sums).finished()
        if self.searches:
            pairs = list(zip(self.searches.items(), sums, strict=True))
            moved = in_order(iter(pairs), lambda one: (one[0][0], attempt(one[0][1].step, one[1].values)))
            return self._with_jobs(dict(moved)).finished()
        if not sums[0]:
            return self._judged(self.plan.unjudged()).finished()
        scores, truth, weight = zip(*sums[0], strict=True)
        rows = np.concatenate(scores, axis=-2), np.concatenate(truth), np.concatenate(weight)
        return self._judged(self.plan.judge(self.summary, *rows)).finished()

    def finished(self) -> Model | Search:
        """The model, once what was kept has learned from all rows."""
        if self.verdict is None or self.searches:
            return self
        members = {h: held for (h, p), held in self.jobs.items() if p == WHOLE and isinstance(held, Model)}
        return self.plan.model(self.summary, members, self.verdict)

    def learn_from_all(self, candidates: Iterable[int]) -> HeldOutSearch[V]:
        """With these candidates learned, or learning, from all rows."""
        return self._learned({(h, WHOLE): self.summary for h in candidates})

    @property
    def _requests(self) -> list[str]:
        """The statistics that candidates are made of."""
        return sorted(frozenset().union(*(c.needs(self.summary.schema) for c in self.plan.learners)))

    def _learn_parts(self, parts: tuple[Summary, ...]) -> HeldOutSearch[V]:
        """Candidates for each part, learned from the sums of all others."""
        some = [p for p, part in enumerate(parts) if part.rows]
        if len(some) < 2:
            return replace(self, known={})._judged(self.plan.unjudged())
        total = reduce(add, (parts[p] for p in some)).canonical()
        training = {p: (total - parts[p]).canonical() for p in some}
        summary = total if {*self._requests} - self.summary.more.keys() else self.summary
        after = replace(self, summary=summary, known={p: training[p].classes for p in some})
        return after._learned({(h, p): training[p] for h in range(len(self.plan.learners)) for p in some})

    def _judged(self, verdict: V) -> HeldOutSearch[V]:
        kept = [h for h in self.plan.kept(verdict) if (h, WHOLE) not in self.jobs]
        whole = {job: held for job, held in self.jobs.items() if job[1] == WHOLE}
        return replace(self, verdict=verdict, jobs=whole).learn_from_all(kept)

    def _learned(self, wanted: Mapping[Job, Summary]) -> HeldOutSearch[V]:
        """What candidates make of sums, given those alone that they are made of: learners copy what they are given."""

        def learn(job: Job) -> tuple[Job, Model | Search | LikelyError]:
            learner, own = self.plan.learners[job[0]], copy(wanted[job])
            own.more = {name: own.more[name] for name in learner.needs(own.schema) if name in own.more}
            return job, attempt(learner.learn, own)

        return self._with_jobs(dict(in_order(iter(wanted), learn)))

    def _with_jobs(self, jobs: Mapping[Job, Model | Search | LikelyError]) -> HeldOutSearch[V]:
        """Further on with these; candidates that could not learn some part, or whose scores are no probabilities, are
        left to the plan."""
        refusals: dict[int, LikelyError] = {}
        kept: dict[Job, Model | Search] = dict(self.jobs)
        for (h, p), held in sorted(jobs.items(), key=lambda one: one[0]):
            if isinstance(held, LikelyError):
                refusals.setdefault(h, held)
            elif isinstance(held, Model) and not held.proper:
                refusals.setdefault(h, self.plan.improper(h))
            else:
                kept[h, p] = held
        if not refusals:
            return replace(self, jobs=kept)
        if self.verdict is not None:
            raise refusals[min(refusals)]
        left = [h for h in range(len(self.plan.learners)) if h not in refusals]
        place = {h: k for k, h in enumerate(left)}
        jobs_left = {(place[h], p): held for (h, p), held in kept.items() if h in place}
        return replace(self, plan=self.plan.without(refusals), jobs=jobs_left)

    def _score(self, batch: Batch, group: Ints, weight: NDArray[np.float64], part: Ints) -> tuple[Scores, ...]:
        """Scores, classes and weights of the rows that count, by candidates that have not seen their part."""
        assert self.known is not None
        classes, least = self.summary.classes, self.plan.least_scored
        counted = (group >= 0) & (weight > 0)
        if least is not None:
            most = min(MOST_SCORED, max(MOST_NUMBERS // max(self.plan.row_size(self.summary), 1), least))
            if self.summary.rows > most:  # a sample, by place and seed alone
                lot = uniform_numbers(self.plan.dealing[1] + 1, batch.start, batch.rows)
                counted &= lot < most / self.summary.rows
        out = []
        for p, known in self.known.items():
            there = counted if least is None else counted & (class_codes(classes, known)[group] >= 0)
            rows = np.flatnonzero((part == p) & there)
            if len(rows):
                models: list[Any] = [self.jobs[h, p] for h in range(len(self.plan.learners))]
                scores = self.plan.score(self.summary, models, batch.take(rows), group[rows])
                out.append((scores, group[rows].astype(np.intp), weight[rows]))
        return tuple(out)


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


def log_posterior(model: Model, batch: Batch, classes: tuple[str, ...], joint: Matrix | None = None) -> Matrix:
    """log P(class | row) over these classes; a row that cannot be classified is all -inf. `joint` is the model's score,
    where it is known already."""
    joint = model.log_joint(batch) if joint is None else joint
    evidence = np.empty(len(joint))
    kernels.normalise(np.array(joint, np.float64, order="C"), evidence)
    own = joint - np.where(np.isneginf(evidence), 0.0, evidence)[:, None]
    if model.classes == classes:
        return own
    out = np.full((len(joint), len(classes)), -np.inf)
    kept = [k for k, name in enumerate(model.classes) if name in classes]
    out[:, [classes.index(model.classes[k]) for k in kept]] = own[:, kept]
    return out
