"""The plan of Auto's held-out search: candidates that refuse are left out, what is kept learns from all rows.

How candidates are judged is in trial.py, the model in auto_model.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import LikelyError
from likely.models.contracts import Learner, Model, Search
from likely.models.heldout.search import HeldOutSearch, Plan, attempt
from likely.models.model import check_weights, learnable
from likely.models.naive.naive import NaiveBayes
from likely.models.pool.auto_model import AutoModel
from likely.models.pool.members import learner_titles
from likely.models.pool.trial import Trial, judge_candidates
from likely.sums.summary import Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class AutoPlan(Plan[Trial]):
    """Candidates, and by how many standard errors a mixture must be better than a single simple one."""

    learner: Learner
    learners: tuple[Learner, ...]
    dealing: tuple[int, int]
    noise: float
    notes: tuple[str, ...] = ()

    def judge(
        self, summary: Summary, scores: NDArray[np.float64], truth: NDArray[np.intp], weight: NDArray[np.float64]
    ) -> Trial:
        """Temperatures, weights and what is kept."""
        total = summary.total.floats()
        shares = total / total.sum()
        return judge_candidates(self.learners, scores, truth, weight, shares, float(total.sum()), self.noise)

    def unjudged(self) -> Trial:
        """The first naive Bayes."""
        return Trial.of_first(self.learners)

    def kept(self, verdict: Trial) -> list[int]:
        """Those with weight."""
        return np.flatnonzero(verdict.weights).tolist()

    def without(self, refusals: Mapping[int, LikelyError]) -> AutoPlan:
        """The others, and a note why not these."""
        titles = learner_titles(self.learners)
        notes = [f"{titles[h]} was not tried: {refusals[h]}" for h in sorted(refusals)]
        left = tuple(c for h, c in enumerate(self.learners) if h not in refusals)
        return replace(self, learners=left, notes=(*self.notes, *notes))

    def model(self, summary: Summary, members: Mapping[int, Model], verdict: Trial) -> AutoModel:
        """The mixture of those with weight, or the single one."""
        kept, titles = self.kept(verdict), learner_titles(self.learners)
        models = tuple(members[h] for h in kept)
        needed = frozenset().union(*(self.learners[h].needs(summary.schema) for h in kept))
        own = [f"{titles[h]}: {note}" for h, model in zip(kept, models, strict=True) for note in model.notes]
        return AutoModel(
            learner=self.learner,
            summary=summary.without(summary.more.keys() - needed),
            members=models,
            weights=verdict.weights[kept],
            temperatures=verdict.temperatures[kept],
            trial=verdict,
            notes=(*verdict.notes(titles), *self.notes, *own),
            refuse_unseen=any(m.refuse_unseen for m in models),
        )


def start_auto_search(
    learner: Learner, summary: Summary, candidates: Sequence[Learner], dealing: tuple[int, int], noise: float
) -> Model | Search:
    """The search; or the one answer there is, where all rows are of one class, or too few to hold some out."""
    summary = summary.canonical()
    check_weights(summary)
    if len(summary.classes) < 2 or summary.rows < 2 * dealing[0]:
        why = "all rows are of one class" if len(summary.classes) < 2 else "there are too few rows to hold some out"
        return _naive_bayes(learner, summary, why)
    errors: dict[str, LikelyError] = {}
    for wish in sorted(frozenset().union(*(c.needs(summary.schema) for c in candidates))):
        started = attempt(summary.empty_statistic, wish)
        if isinstance(started, LikelyError):
            errors[wish] = started
    asked = (c.needs(summary.schema) & errors.keys() for c in candidates)
    refusals = {h: errors[min(wishes)] for h, wishes in enumerate(asked) if wishes}
    plan = AutoPlan(learner, tuple(candidates), dealing, noise).without(refusals)
    return HeldOutSearch(plan, summary) if plan.learners else _naive_bayes(learner, summary, plan.notes[0])


def _naive_bayes(learner: Learner, summary: Summary, why: str) -> AutoModel:
    """Naive Bayes as it is."""
    model = NaiveBayes().model(learnable(summary, text=True))
    return AutoModel(
        learner=learner,
        summary=model.summary,
        members=(model,),
        weights=np.ones(1),
        temperatures=np.ones(1),
        trial=Trial.none(),
        notes=(f"NaiveBayes was taken as it is: {why}.", *model.notes),
    )
