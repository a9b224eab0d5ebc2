"""How hypotheses are learned and weighed: by evidence at once, by held-out scores in further sweeps over the rows.

The sweeps: sums of each part of the rows; those of members that search; scores of rows by members that have not seen
their part. Knows nothing of what is done with the weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import SettingError, shown
from likely.models import kernels
from likely.models.model import Model, Search, unread_texts
from likely.models.pool.hashing import mixed
from likely.models.pool.hypotheses import Beliefs, Hypotheses
from likely.models.pool.stacking import stacked
from likely.models.posterior import Matrix
from likely.sums.summary import Summary
from likely.table.batch import Batch, Codes, Ints
from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

WHOLE = -1
"""In place of a part: members that learned from all rows."""

Job = tuple[int, int]
"""(hypothesis, part that it does not see)"""


def assembled(learner: Hypotheses, summary: Summary) -> Model | Search:
    """The model, where sums are enough to learn and weigh all members; else the search for it."""
    whole = {(h, WHOLE): member.learn(summary) for h, member in enumerate(learner.learners)}
    for h, held in enumerate(whole.values()):
        if isinstance(held, Model):
            _check_proper(held, learner.titles[h])
    if learner.weights != "held-out" and not any(isinstance(held, Search) for held in whole.values()):
        return _made(learner, summary, whole, *_known_weights(learner, summary), searched=False)
    return Assembly(learner, summary, whole)


@dataclass(frozen=True)
class Assembly(Search):
    """Members on their way, and what the next sweep is for."""

    learner: Hypotheses
    summary: Summary
    jobs: Mapping[Job, Model | Search]
    known: Mapping[int, tuple[str, ...]] | None = None
    """Once parts are summed, the classes of all rows that are not in a part: one that only it has is not among them."""

    @property
    def _dealing(self) -> bool:
        return self.learner.weights == "held-out" and self.known is None

    @property
    def _searches(self) -> dict[Job, Search]:
        return {job: held for job, held in self.jobs.items() if isinstance(held, Search)}

    def look_at(self, batch: Batch, group: Ints, weight: NDArray[np.float64]) -> tuple[Any, ...]:
        """Sums of each part; else what the members' own searches want; else scores of held-out rows."""
        batch, group = translated(self.summary, batch, group)
        part = dealt(batch, self.learner.parts)
        if self._dealing:
            return tuple(
                summed(self.summary, batch.take(np.flatnonzero(part == p)), self.summary.more)
                for p in range(self.learner.parts)
            )
        if self._searches:
            out = []
            for (_, hidden), search in self._searches.items():
                rows = np.flatnonzero(part != hidden)
                classes = (self.known or {}).get(hidden, self.summary.classes)
                own = among(self.summary.classes, classes)[group[rows]]
                out.append(Several(search.look_at(batch.take(rows), own, weight[rows])))
            return tuple(out)
        return (self._scored(batch, group, weight, part),)

    def step(self, sums: tuple[Any, ...]) -> Model | Search:
        """One phase is done; the next, or the model."""
        if self._dealing:
            return self._with_parts(sums)
        searches = self._searches
        if searches:
            moved = {job: s.step(part.values) for (job, s), part in zip(searches.items(), sums, strict=True)}
            for (h, _), held in moved.items():
                if isinstance(held, Model):
                    _check_proper(held, self.learner.titles[h])
            after = replace(self, jobs={**self.jobs, **moved})
            if after._searches or self.learner.weights == "held-out":
                return after
            known = _known_weights(self.learner, self.summary)
            return _made(self.learner, self.summary, after.jobs, *known, searched=True)
        beliefs, notes = stacked(self.learner.titles, *sums[0].arrays())
        return _made(self.learner, self.summary, self.jobs, beliefs, notes, searched=True)

    def _with_parts(self, parts: tuple[Summary, ...]) -> Search:
        """Members for each part, learned from the sums of all others."""
        some = [p for p, part in enumerate(parts) if part.rows]
        if len(some) < 2:
            raise SettingError("There are too few rows to hold some out. Use weights='evidence', or give weights.")
        jobs, known = dict(self.jobs), {}
        for p in some:
            training = reduce(add, (parts[other] for other in some if other != p)).canonical()
            known[p] = training.classes
            for h, member in enumerate(self.learner.learners):
                jobs[h, p] = member.learn(training)
        return replace(self, jobs=jobs, known=known)

    def _scored(self, batch: Batch, group: Ints, weight: NDArray[np.float64], part: Ints) -> _Scores:
        """For each row that counts, log P(its class | row, h) of members that have not seen its part."""
        scores = []
        for p in range(self.learner.parts):
            rows = np.flatnonzero((part == p) & (group >= 0))
            if not len(rows):
                continue
            some, truth = batch.take(rows), group[rows]
            found = np.full((len(rows), len(self.learner.members)), -np.inf)
            for h in range(found.shape[1]):
                model = self.jobs[h, p]
                assert isinstance(model, Model)
                found[:, h] = log_posterior(model, some, self.summary.classes)[np.arange(len(rows)), truth]
            scores.append((found, weight[rows]))
        return _Scores(scores, len(self.learner.members))


class Several:
    """What one of several searches wants added up."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values

    def __add__(self, other: Several) -> Several:
        return Several(tuple(a + b for a, b in zip(self.values, other.values, strict=True)))


class _Scores:
    """Scores of rows, (rows, hypotheses), and the weights of the rows: they are kept, not added up."""

    def __init__(self, chunks: list[tuple[Matrix, NDArray[np.float64]]], members: int) -> None:
        self._chunks, self._members = chunks, members

    def __add__(self, other: _Scores) -> _Scores:
        return _Scores(self._chunks + other._chunks, self._members)

    def arrays(self) -> tuple[Matrix, NDArray[np.float64]]:
        scores = np.concatenate([np.empty((0, self._members)), *(s for s, _ in self._chunks)])
        return scores, np.concatenate([np.empty(0), *(w for _, w in self._chunks)])


def translated(summary: Summary, batch: Batch, group: Ints) -> tuple[Batch, Ints]:
    """The batch under the classes of the summary, whatever classes its reader knows."""
    if batch.target is None:
        return batch, group
    own = among(batch.target.labels.names, summary.classes)[batch.target.codes]
    own = np.where(group < 0, np.int32(-1), own)
    if batch.weight is not None:
        own = np.where(batch.weight > 0, own, np.int32(-1))
    return replace(batch, target=Codes(own, Labels(summary.classes))), own


def summed(summary: Summary, batch: Batch, wishes: Iterable[str]) -> Summary:
    """The sums of some rows, of the first order and those wished for, cut as the summary of all rows cuts."""
    out = Summary(summary.schema)
    out.labels = Labels(summary.classes)
    out.update(batch)
    out.more = {name: summary.empty_statistic(name) for name in wishes}
    out.update_more(batch, out.more)
    return out


def among(theirs: Sequence[str], ours: Sequence[str]) -> Ints:
    """Our code for each of their codes, -1 where we have none; the last two places serve the codes -2 and -1."""
    index = {name: k for k, name in enumerate(ours)}
    return np.array([*(index.get(name, -1) for name in theirs), -1, -1], np.int32)


def dealt(batch: Batch, parts: int, seed: int = 0) -> Ints:
    """The part of each row, by its place in the table alone."""
    return (mixed(seed, batch.start, batch.rows) % np.uint64(parts)).astype(np.int32)


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


def _known_weights(learner: Hypotheses, summary: Summary) -> tuple[Beliefs, tuple[str, ...]]:
    """Weights as given, or P(h | data) from closed-form evidence."""
    titles = learner.titles
    if isinstance(learner.weights, tuple):
        return Beliefs(titles, np.array(learner.weights), np.full(len(titles), np.nan), False), ()
    from likely.models.pool.evidence import log_evidence

    found = [log_evidence(member, summary) for member in learner.learners]
    for title, value in zip(titles, found, strict=True):
        if value is None:
            raise SettingError(
                f"There is no closed form for the evidence of {shown(title)}. "
                "Use weights='held-out', or give a weight for each member."
            )
    figure = np.array(found, np.float64)
    with np.errstate(divide="ignore"):
        score = figure + (0.0 if learner.prior is None else np.log(np.array(learner.prior)))
    if np.isneginf(score).all():
        raise SettingError("Every hypothesis says that these rows are impossible, so none can be believed.")
    weight = np.exp(score - score.max())
    return Beliefs(titles, weight / weight.sum(), figure, False), ()


def _check_proper(model: Model, title: str) -> None:
    if not model.proper:
        raise SettingError(
            f"The scores of {shown(title)} are not probabilities, so it cannot be a hypothesis of a mixture. "
            "Leave it out."
        )


def _made(
    learner: Hypotheses,
    summary: Summary,
    jobs: Mapping[Job, Model | Search],
    beliefs: Beliefs,
    notes: tuple[str, ...],
    *,
    searched: bool,
) -> Model:
    models = []
    said, unread = list(notes), unread_texts(summary.schema)  # which the mixture says once, of all members
    for h, title in enumerate(learner.titles):
        model = jobs[h, WHOLE]
        assert isinstance(model, Model)
        models.append(model)
        said += [f"{title}: {note}" for note in model.notes if note not in unread]
    return learner.made(summary, tuple(models), replace(beliefs, searched=searched), tuple(said))
