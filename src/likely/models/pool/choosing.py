"""The search of Auto, in sweeps: sums of each part of the rows; those of candidates that search; scores of held-out
rows; then, for what was kept, those of members that search on all rows. How they are judged is in judging.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import LikelyError
from likely.machinery.threads import in_order
from likely.models.model import Learner, Model, Search, learnable
from likely.models.pool.assembling import Several, among, dealt, log_posterior, summed, translated
from likely.models.pool.auto import Auto
from likely.models.pool.chosen import Chosen, Trial
from likely.models.pool.hashing import mixed
from likely.models.pool.hypotheses import spec_of_member, titles_of
from likely.models.pool.judging import Verdict, judged
from likely.sums.summary import Summary
from likely.table.batch import Batch, Ints

if TYPE_CHECKING:
    from numpy.typing import NDArray

WHOLE = -1
"""In place of a part: learned from all rows."""
MOST_SCORED, MOST_NUMBERS = 20_000, 1 << 24
"""Held-out rows that are scored at most, and numbers that scores may take up: more rows would say the same."""

Job = tuple[int, int]
"""(candidate, part that it does not see)"""


def begun(learner: Auto, summary: Summary) -> Model | Search:
    """The search; or the one answer there is, where all rows are of one class, or too few to hold some out."""
    summary = summary.canonical()
    if len(summary.classes) < 2 or summary.rows < 2 * learner.parts:
        why = "all rows are of one class" if len(summary.classes) < 2 else "there are too few rows to hold some out"
        return _alone(learner, summary, why)
    candidates, refused = learner.candidates(summary), {}
    for wish in sorted(frozenset().union(*(c.needs(summary.schema) for c in candidates))):
        started = _tried(summary.empty_statistic, wish)
        if isinstance(started, LikelyError):
            refused[wish] = started
    titles = titles_of(candidates)
    out = [h for h, c in enumerate(candidates) if c.needs(summary.schema) & refused.keys()]
    notes = [
        f"{titles[h]} was not tried: {refused[min(candidates[h].needs(summary.schema) & refused.keys())]}" for h in out
    ]
    kept = tuple(c for h, c in enumerate(candidates) if h not in out)
    return Choosing(learner, summary, kept, notes=tuple(notes)) if kept else _alone(learner, summary, notes[0])


def _alone(learner: Auto, summary: Summary, why: str) -> Chosen:
    """Naive Bayes as it is, or the first candidate that sums are enough for."""
    from likely.models.naive.naive import NaiveBayes

    model = NaiveBayes().model(learnable(summary, text=True))
    one = np.ones(1)
    trial = Trial((), np.empty(0), np.empty(0), np.empty(0), 0, float("nan"))
    said = f"NaiveBayes was taken as it is: {why}."
    return Chosen(
        learner=learner,
        summary=model.summary,
        members=(model,),
        weights=one,
        temperatures=one,
        trial=trial,
        notes=(said, *model.notes),
    )


@dataclass(frozen=True)
class Choosing(Search):
    """Candidates on their way, and what the next sweep is for."""

    learner: Auto
    summary: Summary
    """Of all rows; once parts are summed, with all that candidates are made of."""
    candidates: tuple[Learner, ...]
    jobs: Mapping[Job, Model | Search] | None = None
    """None before the parts are summed."""
    known: Mapping[int, tuple[str, ...]] | None = None
    """The classes of all rows that are not in a part."""
    verdict: Verdict | None = None
    notes: tuple[str, ...] = ()

    @property
    def _searches(self) -> dict[Job, Search]:
        return {job: held for job, held in (self.jobs or {}).items() if isinstance(held, Search)}

    def look_at(self, batch: Batch, group: Ints, weight: NDArray[np.float64]) -> tuple[Any, ...]:
        """Sums of each part; else what the candidates' own searches want; else scores of held-out rows."""
        batch, group = translated(self.summary, batch, group)
        part = dealt(batch, self.learner.parts, self.learner.seed)
        if self.jobs is None:
            wishes = self._wishes
            some = (batch.take(np.flatnonzero(part == p)) for p in range(self.learner.parts))
            return tuple(summed(self.summary, rows, wishes) for rows in some)
        if self._searches:
            out = []
            for (_, hidden), search in self._searches.items():
                # Rows that do not count stay where they are: a search within may deal rows by their place, too.
                classes = (self.known or {}).get(hidden, self.summary.classes)
                own = np.where(part == hidden, np.int32(-1), among(self.summary.classes, classes)[group])
                out.append(Several(search.look_at(batch, own, weight)))
            return tuple(out)
        return (self._scored(batch, group, weight, part),)

    def step(self, sums: tuple[Any, ...]) -> Model | Search:
        """One phase is done; the next, or the model."""
        if self.jobs is None:
            return self._with_parts(sums)._settled()
        searches = self._searches
        if searches:
            pairs = list(zip(searches.items(), sums, strict=True))
            moved = dict(in_order(iter(pairs), lambda one: (one[0][0], _tried(one[0][1].step, one[1].values))))
            return self._without_refusals({**self.jobs, **moved})._settled()
        return self._judged(sums[0])._settled()

    def _settled(self) -> Model | Search:
        """The model, once what was kept has learned from all rows."""
        if self.verdict is None or self._searches:
            return self
        return self._made()

    @property
    def _wishes(self) -> list[str]:
        """The statistics that candidates are made of."""
        return sorted(frozenset().union(*(c.needs(self.summary.schema) for c in self.candidates)))

    def _with_parts(self, parts: tuple[Summary, ...]) -> Choosing:
        """Candidates for each part, learned from the sums of all others; those that refuse are left out."""
        some = [p for p, part in enumerate(parts) if part.rows]
        if len(some) < 2:
            return replace(self, jobs={}, known={}, verdict=Verdict.of_first(self.candidates))._with_whole()
        total = reduce(add, (parts[p] for p in some)).canonical()
        training = {p: (total - parts[p]).canonical() for p in some}
        wanted = [(h, p) for h in range(len(self.candidates)) for p in some]
        made = in_order(iter(wanted), lambda job: (job, self._learned(job[0], training[job[1]])))
        known = {p: training[p].classes for p in some}
        return replace(self, summary=total, known=known)._without_refusals(dict(made))

    def _learned(self, h: int, summary: Summary) -> Any:
        """What a candidate makes of sums, given those alone that it is made of: learners copy what they are given."""
        own = copy(summary)
        own.more = {name: summary.more[name] for name in self.candidates[h].needs(summary.schema)}
        return _tried(self.candidates[h].learn, own)

    def _without_refusals(self, jobs: dict[Job, Any]) -> Choosing:
        """Candidates that could not learn some part are no candidates; a note says why."""
        refused = {h: held for (h, _), held in sorted(jobs.items(), reverse=True) if isinstance(held, LikelyError)}
        improper = {h for (h, _), held in jobs.items() if isinstance(held, Model) and not held.proper}
        titles = titles_of(self.candidates)
        notes = [f"{titles[h]} was not tried: {refused[h]}" for h in sorted(refused)]
        notes += [f"{titles[h]} was not tried: its scores are no probabilities." for h in sorted(improper)]
        out = {*refused, *improper}
        if out and self.verdict is not None:
            raise refused[min(refused)]
        kept = [h for h in range(len(self.candidates)) if h not in out]
        place = {h: k for k, h in enumerate(kept)}
        return replace(
            self,
            candidates=tuple(self.candidates[h] for h in kept),
            jobs={(place[h], p): held for (h, p), held in jobs.items() if h in place},
            notes=(*self.notes, *notes),
        )

    # -- held-out rows --------------------------------------------------------------------------------------

    def _scored(self, batch: Batch, group: Ints, weight: NDArray[np.float64], part: Ints) -> _Scores:
        """For each row that counts, log P(class | row) of candidates that have not seen its part."""
        assert self.jobs is not None
        shape = (len(self.candidates), len(self.summary.classes))
        most = min(MOST_SCORED, max(MOST_NUMBERS // (shape[0] * shape[1]), 100))
        counted = (group >= 0) & (weight > 0)
        if self.summary.rows > most:  # a sample, by place and seed alone
            lot = mixed(self.learner.seed + 1, batch.start, batch.rows) >> np.uint64(11)
            counted &= lot.astype(np.float64) * 2.0**-53 < most / self.summary.rows
        found = []
        for p in range(self.learner.parts):
            # A class that no other part has cannot be told by any candidate: its rows say nothing of which is better.
            known = among(self.summary.classes, (self.known or {}).get(p, ()))[group] >= 0
            rows = np.flatnonzero((part == p) & counted & known)
            if not len(rows):
                continue
            some = batch.take(rows)
            logs = np.empty((shape[0], len(rows), shape[1]))
            for h in range(shape[0]):
                model = self.jobs[h, p]
                assert isinstance(model, Model)
                logs[h] = log_posterior(model, some, self.summary.classes)
            found.append((logs, group[rows].astype(np.intp), weight[rows]))
        return _Scores(found, shape)

    def _judged(self, scores: _Scores) -> Choosing:
        """Temperatures, weights and what is kept; then the kept ones on all rows."""
        total = self.summary.total.floats()
        verdict = judged(self.candidates, *scores.arrays(), total / total.sum(), float(total.sum()), self.learner.noise)
        return replace(self, verdict=verdict)._with_whole()

    def _with_whole(self) -> Choosing:
        assert self.verdict is not None
        jobs = [(h, WHOLE) for h in np.flatnonzero(self.verdict.weights).tolist()]
        made = in_order(iter(jobs), lambda job: (job, self._learned(job[0], self.summary)))
        return self._without_refusals(dict(made)) if self.verdict.rows else replace(self, jobs=dict(made))

    def _made(self) -> Chosen:
        verdict, jobs = self.verdict, self.jobs
        assert verdict is not None and jobs is not None
        kept = np.flatnonzero(verdict.weights).tolist()
        models: list[Any] = [jobs[h, WHOLE] for h in kept]
        titles = titles_of(self.candidates)
        needed = frozenset().union(*(self.candidates[h].needs(self.summary.schema) for h in kept))
        trial = Trial(
            tuple(spec_of_member(c) for c in self.candidates),
            verdict.weights,
            verdict.temperatures,
            verdict.scores,
            verdict.rows,
            verdict.mixture,
            verdict.single,
            verdict.hits,
        )
        said = [f"{titles[h]}: {note}" for h, model in zip(kept, models, strict=True) for note in model.notes]
        return Chosen(
            learner=self.learner,
            summary=self.summary.without(self.summary.more.keys() - needed),
            members=tuple(models),
            weights=verdict.weights[kept],
            temperatures=verdict.temperatures[kept],
            trial=trial,
            notes=(*verdict.notes(titles), *self.notes, *said),
            refuse_unseen=any(m.refuse_unseen for m in models),
        )


class _Scores:
    """Logs of rows, (candidates, rows, classes), with their classes and weights: they are kept, not added up."""

    def __init__(self, chunks: list[tuple[Any, Any, Any]], shape: tuple[int, int]) -> None:
        self._chunks, self._shape = chunks, shape

    def __add__(self, other: _Scores) -> _Scores:
        return _Scores(self._chunks + other._chunks, self._shape)

    def arrays(self) -> tuple[Any, Any, Any]:
        members, classes = self._shape
        logs = np.concatenate([np.empty((members, 0, classes)), *(c[0] for c in self._chunks)], axis=1)
        truth = np.concatenate([np.empty(0, np.intp), *(c[1] for c in self._chunks)])
        return logs, truth, np.concatenate([np.empty(0), *(c[2] for c in self._chunks)])


def _tried(work: Any, given: Any) -> Any:
    """What comes of it, or the sentence why nothing does."""
    try:
        return work(given)
    except LikelyError as error:
        return error
