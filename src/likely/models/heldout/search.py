"""The held-out search: candidates learn from all parts of the rows but one, and are scored on the rows of that part.

One sweep keeps rows in memory, by which all is judged; what is kept then learns from all rows. Knows candidates as
learners; what is tried, and what follows from scores, says a plan.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

import numpy as np

from likely.errors import LikelyError, SettingError
from likely.machinery.arrays import Ints
from likely.machinery.threads import in_order
from likely.models.contracts import Learner, Model, Search, begin_learning
from likely.models.heldout.dealing import class_codes, recode_target
from likely.models.heldout.kept_rows import GatheredRows, KeptRows, most_kept
from likely.models.heldout.trying import (
    SumTuple,
    learn_kept,
    log_posterior,
    most_scored,
    own_sums,
    sums_of_parts,
    sums_without,
)
from likely.models.posterior import Matrix
from likely.sums.summary import Summary
from likely.table.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
