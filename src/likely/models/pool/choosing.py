"""Candidates judged on rows kept in memory: each part is scored by models of the others, then evidence is weighed.

Knows learners by their contract; what comes of it is a trial.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import LikelyError, shown
from likely.machinery.arrays import Floats
from likely.machinery.steps import teller
from likely.machinery.threads import in_order
from likely.models.contracts import HeldOutAnswers, Learner
from likely.models.heldout.dealing import class_codes, copies_sentence
from likely.models.heldout.kept_rows import KeptRows
from likely.models.heldout.trying import attempt, hold_out, most_scored, sums_of_parts, sums_without
from likely.models.heldout.weighing import evidence_weights, tell_apart, weighted_logs
from likely.models.pool.members import learner_titles, member_spec
from likely.models.pool.trial import Trial
from likely.models.posterior import first_best
from likely.sums.summary import Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray


LEAST_SCORED = 100
"""Held-out rows that are scored, however many candidates and classes there are."""
FARTHEST = 1e9
"""What a member says counts as it is while weights are found, as it will when rows are asked about; only impossible
is taken as this many nats."""
OUTLYING = 50.0
"""Nats by which a member, times its weight, sets classes apart in a row that is an outlier to it: the normal density of
a class may put one row beyond all measure."""
WORTH, WORTH_A_ROW = 2.0, 3e-4
"""Nats, over all held-out rows and for each of them, that a member must be worth beside the others: else it is left
out, as nobody would see the difference."""
ANCHOR = 4.0
"""How strongly the first candidate, usually naive Bayes, is believed as it is, before held-out rows are seen: a weight
of 0 costs half of it."""


@dataclass(frozen=True, eq=False)
class Choice:
    """What was chosen: the trial, and of each candidate the learner that learns from all rows, or why it did not."""

    trial: Trial
    learners: tuple[Learner, ...]
    refused: tuple[str, ...]


def choose_members(
    candidates: Sequence[Learner],
    summary: Summary,
    rows: KeptRows,
    held: Sequence[int],
    beside: Mapping[str, Learner],
) -> Choice:
    """Weights for the candidates by how they do on the parts that are held out, `held` of all.

    Those `beside` are judged on the same rows.
    """
    refused: dict[int, str] = {}
    needs = [candidate.needs(summary.schema) for candidate in candidates]
    wanted = sorted(frozenset().union(*needs))
    started = {wish: attempt(summary.empty_statistic, wish) for wish in wanted}
    errors = {wish: str(one) for wish, one in started.items() if isinstance(one, LikelyError)}
    for h, wishes in enumerate(needs):
        if impossible := sorted(wishes & errors.keys()):
            refused[h] = errors[impossible[0]]
    parts = sums_of_parts(summary, rows, [wish for wish in wanted if wish not in errors])
    total, training = sums_without(parts, held)
    places = _scored_rows(rows, training, summary, len(candidates))

    def tried(learner: Learner) -> tuple[Floats, Learner] | LikelyError:
        return attempt(lambda own: hold_out(own, total, training, rows, places), learner)

    titles, tell = learner_titles(candidates), teller()

    def try_candidate(h: int) -> tuple[Floats, Learner] | LikelyError:
        tell(f"Trying {titles[h]}: {h + 1} of {len(candidates)}")
        return tried(candidates[h])

    open_to = [h for h in range(len(candidates)) if h not in refused]
    found: dict[int, tuple[Floats, Learner]] = {}
    for h, one in zip(open_to, in_order(iter(open_to), try_candidate), strict=True):
        if isinstance(one, LikelyError):
            refused[h] = str(one)
        else:
            found[h] = one
    notes = tuple(f"{titles[h]} was not tried: {refused[h]}" for h in sorted(refused))
    if rows.copied:
        notes = (copies_sentence(rows.copied), *notes)
    notes = (*_unjudged(rows, training, summary), *notes)
    said = [evidence for evidence, _ in found.values()]
    evidence = tell_apart(np.stack(said), FARTHEST) if said else np.zeros((0, len(places), len(summary.classes)))
    others: dict[str, Floats] = {}
    for name, learner in beside.items():
        # Who is a candidate as well has been tried.
        same = next((found[h] for h in found if candidates[h] == learner), None)
        tested = same or tried(learner)
        if not isinstance(tested, LikelyError):
            others[name] = tested[0]
    trial = _judge([candidates[h] for h in found], evidence, rows, places, summary, others)
    return Choice(trial, tuple(learner for _, learner in found.values()), notes)


def _scored_rows(
    rows: KeptRows, training: Mapping[int, Summary], summary: Summary, candidates: int
) -> NDArray[np.intp]:
    """The held-out rows whose class the other parts know; where there are many, those with the smallest hashes."""
    places = np.flatnonzero(_is_known(rows, training, summary))
    return places[: most_scored(candidates * len(summary.classes), LEAST_SCORED)]


def _is_known(rows: KeptRows, training: Mapping[int, Summary], summary: Summary) -> NDArray[np.bool_]:
    """Whether each row is held out, and its class known to the parts that are not."""
    out = np.zeros(len(rows), np.bool_)
    for part, own in training.items():
        out |= rows.inside(part) & (class_codes(summary.classes, own.classes)[rows.group] >= 0)
    return out


def _unjudged(rows: KeptRows, training: Mapping[int, Summary], summary: Summary) -> tuple[str, ...]:
    """What is to be said of classes whose rows are all held out at once, so that nothing could name them."""
    held = np.isin(rows.part, list(training))
    groups = np.unique(rows.group[held & ~_is_known(rows, training, summary)]).tolist()
    if not groups:
        return ()
    named = shown(summary.classes[groups[0]])
    which = f"Class {named} was" if len(groups) == 1 else f"{len(groups)} classes, such as {named}, were"
    return (f"{which} not judged wholly: some of the time, all rows of the class were held out at once.",)


def _judge(
    candidates: Sequence[Learner],
    evidence: Floats,
    rows: KeptRows,
    places: NDArray[np.intp],
    summary: Summary,
    others: Mapping[str, Floats],
) -> Trial:
    """Weights, scores, and the answers of pools whose weights have not seen the rows."""
    specs = tuple(map(member_spec, candidates))
    count, truth, weight = len(specs), rows.group[places].astype(np.intp), rows.weight[places]
    if not count or not len(places):
        return Trial.none("No rows could be held out, so the members are not weighted.")
    whole = summary.total.floats()
    start = np.log(whole / whole.sum())
    here = np.arange(len(truth))
    scores = np.empty(count)
    for h in range(count):
        alone = evidence[h : h + 1]
        v = evidence_weights(alone, start, truth, weight, price=0.0, begin=np.zeros(1), farthest=FARTHEST)
        scores[h] = float(weight @ weighted_logs(alone, start, v, FARTHEST)[here, truth]) / float(weight.sum())
    weights = _weigh(evidence, start, truth, weight)
    side = _sides(rows, places)
    logs = np.empty((len(places), len(start)))
    for number in np.unique(side):
        mine = side == number
        others_say = _weigh(evidence[:, ~mine], start, truth[~mine], weight[~mine])
        logs[mine] = weighted_logs(evidence[:, mine], start, others_say, FARTHEST)
        # One outlier decides how far a member is believed, so that weights found without it are those of another pool:
        # in such rows no member counts for more than in the pool that is made (tests/models/test_announced.py).
        far = np.flatnonzero(mine)[(others_say[:, None] * -evidence[:, mine].min(axis=2)).max(axis=0) > OUTLYING]
        logs[far] = weighted_logs(evidence[:, far], start, np.minimum(others_say, weights), FARTHEST)
    share = weight / weight.sum()
    score = float(share @ logs[here, truth])
    hits = float(share @ (first_best(logs) == truth))
    told = {name: weighted_logs(said[None], start, np.ones(1), math.inf) for name, said in others.items()}
    learned = len(rows) - len(rows) // rows.parts
    folds = len(np.unique(rows.part[places]))
    answers = HeldOutAnswers(logs, truth, weight, side, learned, told, folds, rows.squares[places])
    # Equal rows were put together: what they weigh is how many they are, unless the table has weights of its own.
    judged = round(float(weight.sum())) if summary.schema.weight is None else len(places)
    return Trial(specs, weights, scores, judged, score, hits, answers=answers)


def _sides(rows: KeptRows, places: NDArray[np.intp]) -> NDArray[np.int32]:
    """Rows that weights are found without, in turn: the parts, or, of a single one, two halves."""
    part = rows.part[places]
    if len(np.unique(part)) > 1:
        return part
    return ((rows.hashes[places] >> np.uint64(17)) & np.uint64(1)).astype(np.int32)


def _weigh(evidence: Floats, start: Floats, truth: NDArray[np.intp], weight: Floats) -> Floats:
    """The best weights, of as few candidates as will do."""
    active = np.arange(len(evidence))
    here = np.arange(len(truth))

    def solved(some: NDArray[np.intp], begin: Floats) -> tuple[Floats, float]:
        anchor = (int(np.flatnonzero(some == 0)[0]), ANCHOR) if 0 in some else None
        v = evidence_weights(evidence[some], start, truth, weight, anchor=anchor, begin=begin, farthest=FARTHEST)
        return v, float(weight @ weighted_logs(evidence[some], start, v, FARTHEST)[here, truth])

    v, value = solved(active, np.zeros(len(active)))
    active, v = active[v > 0], v[v > 0]
    spread = np.sqrt(evidence.var(axis=2) @ (weight / weight.sum()))
    while len(active) > 1:
        # Of the one that says least, what the others cannot make up for were it left out.
        rest = np.delete(np.arange(len(active)), int(np.argmin(v * spread[active])))
        w, now = solved(active[rest], v[rest])
        if value - now > max(WORTH, WORTH_A_ROW * float(weight.sum())):
            break
        active, v, value = active[rest][w > 0], w[w > 0], now
    out = np.zeros(len(evidence))
    out[active] = v
    return out
