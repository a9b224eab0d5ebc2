"""The sweeps of a pool: rows to choose by, kept in memory; where these are not all, what members want of all rows.

How candidates are judged is in choosing.py, the model in pool_model.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.machinery.arrays import Floats, Ints
from likely.machinery.steps import teller
from likely.models.contracts import Learner, Model, Search, begin_learning
from likely.models.heldout.dealing import recode_target, sum_rows
from likely.models.heldout.kept_rows import GatheredRows, KeptRows, most_kept
from likely.models.heldout.trying import SumTuple, learn_kept
from likely.models.model import check_weights
from likely.models.naive.naive import NaiveBayes
from likely.models.pool.choosing import Choice, choose_members
from likely.models.pool.members import learner_titles
from likely.models.pool.pool_model import PoolModel
from likely.models.pool.trial import Trial
from likely.models.prior import prior_quotients
from likely.models.quotient import log_of
from likely.sums.summary import Summary
from likely.table.batch import Batch

if TYPE_CHECKING:
    pass


ALL_PARTS, LEAST_HELD = 500_000, 400
"""Rows times columns times classes up to which every part is held out in turn; beyond, one part says enough, if it has
so many rows."""


@dataclass(frozen=True)
class PoolPlan:
    """What is tried, and how."""

    learner: Learner
    candidates: tuple[Learner, ...]
    parts: int
    seed: int
    every_part: bool
    beside: Mapping[str, Learner] = field(default_factory=dict)
    """Learners that are judged on the same rows, and not pooled."""


@dataclass(frozen=True)
class PoolSearch(Search):
    """Rows to choose by; then members that learn from all rows."""

    plan: PoolPlan
    summary: Summary
    choice: Choice | None = None
    members: Mapping[int, Model | Search | None] = field(default_factory=dict)
    """Once chosen, of each kept candidate its model, its search, or None: its sums are still to be swept."""

    @property
    def searches(self) -> dict[int, Search]:
        """Members that need to see rows again."""
        return {h: held for h, held in self.members.items() if isinstance(held, Search)}

    def beside(self, learners: Mapping[str, Learner]) -> PoolSearch:
        """The same, with others judged on the same rows."""
        return replace(self, plan=replace(self.plan, beside=learners))

    def look_at(self, batch: Batch, group: Ints, weight: Floats) -> tuple[Any, ...]:
        """Rows to choose by; else sums that members are made of; else what their searches want."""
        batch, group = recode_target(self.summary.classes, batch, group)
        if self.choice is None:
            return (GatheredRows.of(self.summary, batch, group, weight, most_kept(self.summary)),)
        if self._requests:
            return (sum_rows(self.summary, [batch], self._requests),)
        return tuple(SumTuple(search.look_at(batch, group, weight)) for search in self.searches.values())

    def step(self, sums: tuple[Any, ...]) -> Model | Search:
        """One phase is done; the next, or the model."""
        if self.choice is None:
            return self._chosen(sums[0].dealt(self.summary, self.plan.parts, self.plan.seed))
        if self._requests:
            return replace(self, summary=sums[0].canonical()).begun().finished()
        moved = {h: search.step(one.values) for (h, search), one in zip(self.searches.items(), sums, strict=True)}
        return replace(self, members={**self.members, **moved}).finished()

    @property
    def _requests(self) -> list[str]:
        """Statistics that members wait for."""
        waiting = [self._learner(h) for h, held in self.members.items() if held is None]
        wanted = frozenset().union(*(learner.needs(self.summary.schema) for learner in waiting))
        return sorted(wanted - self.summary.more.keys())

    def _learner(self, h: int) -> Learner:
        assert self.choice is not None
        return self.choice.learners[h]

    def _chosen(self, rows: KeptRows) -> Model | Search:
        """Candidates judged; those kept learn: from the rows in memory, where these are all."""
        plan, summary = self.plan, self.summary
        work = len(rows) * len(summary.schema.attributes) * len(summary.classes)
        many = work > ALL_PARTS and len(rows) >= LEAST_HELD * plan.parts and not plan.every_part
        held = range(1) if many else range(plan.parts)
        choice = choose_members(plan.candidates, summary, rows, held, plan.beside)
        after = replace(self, choice=choice, members=dict.fromkeys(choice.trial.kept))
        if not rows.whole:
            return (after if after._requests else after.begun()).finished()
        requests = after._requests
        whole = sum_rows(summary, [rows.batch], requests).canonical() if requests else summary
        titles, tell = learner_titles([after._learner(h) for h in after.members]), teller()
        members: dict[int, Model | Search | None] = {}
        for h, title in zip(after.members, titles, strict=True):
            tell(f"Learning {title} from all rows: {len(members) + 1} of {len(titles)}")
            members[h] = learn_kept(after._learner(h), whole, rows, summary.classes)
        return replace(after, summary=whole, members=members).finished()

    def begun(self) -> PoolSearch:
        """With members that have learned, or begun to, from the sums of all rows."""
        return replace(self, members={h: begin_learning(self._learner(h), self.summary) for h in self.members})

    def finished(self) -> Model | Search:
        """The model, once every member has learned from all rows."""
        done = [held for held in self.members.values() if isinstance(held, Model)]
        if self.choice is None or len(done) < len(self.members):
            return self
        kept, trial = list(self.members), self.choice.trial
        return pool_of(self.plan.learner, self.summary, done, trial.weights[kept], trial, self.choice.refused)


def pool_of(
    learner: Learner,
    summary: Summary,
    members: Sequence[Model],
    weights: Floats,
    trial: Trial,
    notes: Sequence[str] = (),
) -> PoolModel:
    """The pool of these members, with what they have to say."""
    titles = learner_titles([member.learner for member in members])
    own = [f"{title}: {note}" for title, member in zip(titles, members, strict=True) for note in member.notes]
    needed = frozenset().union(*(member.learner.needs(summary.schema) for member in members))
    prior = prior_quotients(summary, "observed", 0.0)
    return PoolModel(
        learner=learner,
        summary=summary.without(summary.more.keys() - needed),
        members=tuple(members),
        weights=np.asarray(weights, np.float64),
        prior=prior,
        log_prior=log_of(prior),
        trial=trial,
        notes=(*trial.notes(), *notes, *own),
        refuse_unseen=any(member.refuse_unseen for member in members),
    )


def start_pool(plan: PoolPlan, summary: Summary) -> Model | Search:
    """The search; or the one answer there is, where all rows have the same class, or too few to hold some out."""
    summary = summary.canonical()
    check_weights(summary)
    # By weight, as a row of weight 2 is the row twice (scikit-learn's check of sample weights).
    if len(summary.classes) < 2 or float(summary.total.floats().sum()) < 2 * plan.parts:
        why = "all rows have the same class" if len(summary.classes) < 2 else "there are too few rows to hold some out"
        model = NaiveBayes().model(summary)
        return pool_of(plan.learner, model.summary, [model], np.ones(1), Trial.none(f"Plain NaiveBayes: {why}."))
    return PoolSearch(plan, summary)
