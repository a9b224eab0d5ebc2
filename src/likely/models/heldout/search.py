"""The held-out search: candidates learn from all parts of the rows but one, and are scored on the rows of that one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

import numpy as np

from likely.errors import LikelyError, SettingError
from likely.machinery.arrays import Floats, Ints
from likely.machinery.threads import in_order
from likely.models import kernels
from likely.models.contracts import Learner, Learning, Model, Sweep
from likely.models.heldout.kept_rows import GatheredRows, KeptRows, class_codes, most_kept, recode_target, sum_rows
from likely.models.learning import begin, learning, run, side_by_side
from likely.models.posterior import Matrix
from likely.sums.exact import plus_tuples
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


def hold_out(
    learner: Learner, total: Summary, training: Mapping[int, Summary], rows: KeptRows, places: NDArray[np.intp]
) -> tuple[Floats, Learner]:
    """What the learner says of held-out rows (at `places`) beyond the prior, and what learns from all rows then."""
    own_way = getattr(learner, "hold_out", None)  # who holds rows out itself scores them on the way
    if own_way is not None:
        found: tuple[Floats, Learner] = own_way(total, training, rows, places)
        return found
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
    """The model of these rows and their sums, seen as often as it takes. `classes` number the rows."""
    group = class_codes(classes, summary.classes)[rows.group]

    def summed(sweep: Sweep) -> tuple[Any, ...]:
        cuts = (slice(start, start + PIECE) for start in range(0, len(rows), PIECE))
        return reduce(
            plus_tuples,
            (
                sweep.look_at(replace(rows.batch.sliced(cut), start=cut.start), group[cut], rows.weight[cut])
                for cut in cuts
            ),
        )

    return run(learning(learner, own_sums(learner, summary)), summed)


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


# The held-out search: candidates learn from all parts of the rows but one, and are scored on the rows of that part.

MIX = np.uint64(0x9E3779B97F4A7C15)

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


Begun: TypeAlias = "dict[int, Model | Learning[Model]]"
"""Candidates that have learned from all rows, or begun to."""


def choose_held_out(plan: Plan[V], summary: Summary, begun: Begun | None = None) -> Learning[Model]:
    """Rows are kept in memory, and candidates judged by them; then what is kept of these learns from all rows, of which
    `summary` has all that candidates are made of. `begun` are those that have begun to before."""
    (gathered,) = yield Sweep(gather_rows, (summary, most_kept(summary)))
    verdict = judge_candidates(plan, summary, gathered.dealt(summary, *plan.dealing))
    kept = begin_candidates(plan, summary, plan.kept(verdict)) if begun is None else begun
    return plan.model(summary, (yield from learn_candidates(plan, kept)), verdict)


def gather_rows(summary: Summary, most: int, batch: Batch, group: Ints, weight: Floats) -> tuple[GatheredRows]:
    """The rows of a batch to choose by."""
    batch, group = recode_target(summary.classes, batch, group)
    return (GatheredRows.of(summary, batch, group, weight, most),)


def begin_candidates(plan: Plan[V], summary: Summary, candidates: Iterable[int]) -> Begun:
    """These candidates, as far as they learn from sums; one whose scores are no probabilities is refused."""

    def begin_one(h: int) -> tuple[int, Model | Learning[Model]]:
        learner = plan.learners[h]
        return h, begin(learner, own_sums(learner, summary))

    begun = dict(in_order(iter(candidates), begin_one))
    _require_proper(plan, {h: held for h, held in begun.items() if isinstance(held, Model)})
    return begun


def learn_candidates(plan: Plan[V], begun: Begun) -> Learning[dict[int, Model]]:
    """The same, learned from all rows."""
    waiting = {h: held for h, held in begun.items() if not isinstance(held, Model)}
    found = yield from side_by_side(waiting)
    _require_proper(plan, found)
    return {h: held if isinstance(held, Model) else found[h] for h, held in begun.items()}


def _require_proper(plan: Plan[V], models: Mapping[int, Model]) -> None:
    """Refuse a candidate whose scores are no probabilities."""
    for h, model in models.items():
        if not model.proper:
            raise plan.improper(h)


def judge_candidates(plan: Plan[V], summary: Summary, rows: KeptRows) -> V:
    """The verdict on candidates by rows in memory."""
    requests = sorted(frozenset().union(*(c.needs(summary.schema) for c in plan.learners)))
    parts = sums_of_parts(summary, rows, requests)
    if len(parts) < 2:
        return plan.unjudged()
    _, training = sums_without(parts, parts)

    def learn(job: tuple[int, int]) -> Model:
        h, part = job
        others = rows.take(np.flatnonzero(~rows.inside(part)))
        return learn_kept(plan.learners[h], training[part], others, summary.classes)

    jobs = [(h, part) for h in range(len(plan.learners)) for part in parts]
    models = dict(zip(jobs, in_order(iter(jobs), learn), strict=True))
    for (h, _), model in models.items():
        _require_proper(plan, {h: model})
    told = [
        _score(plan, summary, rows, part, training[part].classes, [models[h, part] for h in range(len(plan.learners))])
        for part in parts
    ]
    some = [one for one in told if one is not None]
    if not some:
        return plan.unjudged()
    scores, truth, weight = zip(*some, strict=True)
    return plan.judge(summary, np.concatenate(scores, axis=-2), np.concatenate(truth), np.concatenate(weight))


def _score(
    plan: Plan[V], summary: Summary, rows: KeptRows, part: int, known: tuple[str, ...], models: list[Model]
) -> Scores | None:
    """Scores, classes and weights of the rows of a part, by candidates that have not seen it."""
    counted, least = rows.inside(part), plan.least_scored
    if least is not None:
        counted &= class_codes(summary.classes, known)[rows.group] >= 0
        most = most_scored(plan.row_size(summary), least)
        if len(rows) > most:  # by content alone, and not by the digits that deal
            counted &= rows.hashes * MIX < np.uint64(int(most / len(rows) * 2**64))
    some = rows.take(np.flatnonzero(counted))
    if not len(some):
        return None
    scores = plan.score(summary, models, some.batch, some.group)
    return scores, some.group.astype(np.intp), some.weight
