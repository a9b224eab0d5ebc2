"""Candidates judged on rows kept in memory: each part is scored by models of the others, then evidence is weighed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import LikelyError, shown
from likely.machinery.arrays import Floats, Longs
from likely.machinery.threads import in_order, teller
from likely.models.contracts import Learner
from likely.models.heldout.kept_rows import KeptRows, copies_sentence
from likely.models.heldout.search import HeldOutParts, attempt, most_scored
from likely.models.heldout.weighing import evidence_weights, tell_apart, weighted_logs
from likely.models.judgement import HeldOut, HeldOutAnswers, group_cells
from likely.models.pool.candidates import member_learner, member_spec
from likely.models.posterior import Matrix, first_best
from likely.models.registry import learner_titles, spoken_titles, step_name, weighed_names
from likely.models.shapes import Exhibit
from likely.sums.contracts import State
from likely.sums.state import read_array, read_mapping, read_number, read_text, read_whole, require
from likely.sums.summary import MOST_ROWS, Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray


# How candidates did on rows that they have not seen, and what is kept of them. Plain values; knows no rows.


@dataclass(frozen=True, eq=False)
class Trial:
    """How the candidates did on held-out rows."""

    candidates: tuple[dict[str, Any], ...]
    """As plain values."""
    weights: Floats
    """0: left out."""
    scores: Floats
    """Of each by itself, with the weight that is best for it alone: mean log probability of a row's class, in nats."""
    rows: int
    """Held-out rows that were scored."""
    score: float
    """Of the pool, by weights that have not seen the rows."""
    hits: float
    """Share of the held-out rows whose class the pool holds most probable."""
    remark: str = ""
    """The sentence why nothing was weighed, where nothing was."""
    answers: HeldOutAnswers | None = None
    """What was said of those rows; kept in memory only."""

    @classmethod
    def none(cls, remark: str) -> Trial:
        """Where nothing was tried."""
        return cls((), np.empty(0), np.empty(0), 0, math.nan, math.nan, remark)

    @property
    def kept(self) -> list[int]:
        """The candidates with weight."""
        return np.flatnonzero(self.weights).tolist()

    @property
    def held_out(self) -> HeldOut | None:
        return HeldOut(self.rows, self.hits, self.score) if self.rows else None

    @property
    def titles(self) -> tuple[str, ...]:
        return learner_titles([member_learner(spec) for spec in self.candidates])

    def notes(self) -> tuple[str, ...]:
        """What was decided, as sentences."""
        if self.remark:
            return (self.remark,)
        if not self.rows:
            return ()
        if not self.kept:
            return ("No candidate beats the class frequencies on held-out rows.",)
        count = f"{len(self.candidates)} candidates" if len(self.candidates) > 1 else "one candidate"
        return (
            f"Chosen from {count} on held-out rows: {weighed_names(self.spoken, self.weights[self.kept].tolist())}.",
        )

    @property
    def spoken(self) -> tuple[str, ...]:
        """What people call the candidates with weight."""
        return spoken_titles([member_learner(self.candidates[h]) for h in self.kept])

    def exhibit(self, weighed: bool) -> tuple[Exhibit, ...]:
        """Every candidate with its weight and score; how many rows they were is known where these weigh one each."""
        if not self.candidates:
            return ()
        titles = self.titles
        order = sorted(range(len(titles)), key=lambda k: (-self.weights[k], -self.scores[k], k))
        rows = tuple((titles[k], float(self.weights[k]), -float(self.scores[k]) / math.log(2)) for k in order)
        title = "Candidates on held-out rows" if weighed else f"Candidates on up to {self.rows:,} held-out rows"
        return (Exhibit(title, ("candidate", "weight", "log loss alone, at its best weight, bits"), rows),)

    def state(self) -> State:
        return {
            "candidates": list(self.candidates),
            "weights": self.weights,
            "scores": self.scores,
            "rows": self.rows,
            "score": None if math.isnan(self.score) else self.score,
            "hits": None if math.isnan(self.hits) else self.hits,
            "remark": self.remark,
        }

    @classmethod
    def from_state(cls, kept: object) -> Trial:
        told = read_mapping(kept, "a trial")
        candidates: Sequence[Any] = tuple(dict(c) for c in told["candidates"])
        weights, scores = (read_array(told[n], "f", 1, n).astype(np.float64) for n in ("weights", "scores"))
        require({len(weights), len(scores)} == {len(candidates)}, "every candidate has its figures")
        for spec in candidates:
            member_learner(spec)
        rows = read_whole(told["rows"], 0, MOST_ROWS, "the rows of a trial")
        figures = (_figure(told["score"]), _figure(told["hits"]))
        return cls(tuple(candidates), weights, scores, rows, *figures, read_text(told["remark"], "a remark"))


def _figure(kept: object) -> float:
    """A figure as a file keeps it: what is no number has become none."""
    return math.nan if kept is None else read_number(kept, -math.inf, math.inf, "a figure")


# Candidates judged on rows kept in memory: each part is scored by models of the others, then evidence is weighed.

LEAST_SCORED = 100
"""Held-out rows that are scored, however many candidates and classes there are."""
WORTH, WORTH_A_ROW = 2.0, 3e-4
"""Nats, over all held-out rows and for each of them, that a member must be worth beside the others: else it is left
out, as nobody would see the difference."""
ENOUGH = 300.0
"""Nats that held-out rows must cost the pool in all before no further part is held out: where few rows are doubtful,
more of them are needed to weigh by."""
GO_ON = 3
"""Those that are best by themselves go on in a race, with weight or not: where the first part is all but solved, few
rows tell who is needed."""
ANCHOR = 4.0
"""How strongly the first candidate, usually naive Bayes, is believed as it is, before held-out rows are seen: a weight
of 0 costs half of it."""


@dataclass(frozen=True, eq=False)
class Choice:
    """What was chosen: the trial, and of each candidate the learner that learns from all rows, or why it did not."""

    trial: Trial
    learners: tuple[Learner, ...]
    refused: tuple[str, ...]
    judged: JudgedRows | None = None
    """What candidates said of the held-out rows, for one more that joins them; in memory only."""


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Held-out rows, and what candidates said of them."""

    said: Mapping[int, Floats]
    start: Floats
    rows: KeptRows
    places: NDArray[np.intp]
    summary: Summary
    others: Mapping[str, Floats]
    """Of those that are judged beside, and not pooled."""


Tested = tuple[Floats, Learner]
"""What a candidate says of held-out rows beyond the prior, and what learns from all rows then."""


def choose_members(
    candidates: Sequence[Learner],
    summary: Summary,
    rows: KeptRows,
    most_parts: int,
    race: bool,
    beside: Mapping[str, Learner],
    everything: tuple[Summary, KeptRows],
    unlimited: Sequence[Learner] = (),
) -> Choice:
    """Weights for the candidates by how they do on held-out parts of the rows, `most_parts` of them at most.

    In a `race` all are tried on the first part, and those that have weight there, or are best by themselves, on further
    ones, until held-out rows have told enough. Those `beside` are judged on the same rows, with all that these and
    their summary have in `everything`: candidates may be given fewer columns. `unlimited` would be candidates if people
    need not read the model: they are tried as well, to say what that costs, and get no weight.
    """
    limit = len(candidates)
    groups = [[*range(limit)]]
    if unlimited:
        candidates = (*candidates, *(one for one in unlimited if one not in candidates))
        groups.append([candidates.index(one) for one in unlimited])
    refused: dict[int, str] = {}
    needs = [candidate.needs(summary.schema) for candidate in candidates]
    wanted = sorted(frozenset().union(*needs))
    started = {wish: attempt(summary.empty_statistic, wish) for wish in wanted}
    errors = {wish: str(one) for wish, one in started.items() if isinstance(one, LikelyError)}
    for h, wishes in enumerate(needs):
        if impossible := sorted(wishes & errors.keys()):
            refused[h] = errors[impossible[0]]
    parts = HeldOutParts.of(summary, rows, [wish for wish in wanted if wish not in errors], range(most_parts))
    titles, tell, start = spoken_titles(candidates), teller(), _log_shares(summary)
    most = most_scored(len(candidates) * len(summary.classes), LEAST_SCORED)

    def known_places(held: HeldOutParts) -> NDArray[np.intp]:
        """The held-out rows whose class the other parts know; where there are many, those with the smallest hashes."""
        return np.flatnonzero(held.known)[:most]

    def try_all(some: Sequence[int], held: HeldOutParts, places: NDArray[np.intp]) -> dict[int, Tested]:
        """What comes of each; who refuses is not tried again. The last take longest, so they begin."""

        def try_candidate(h: int) -> Tested | LikelyError:
            tell(f"Comparing {step_name(candidates[h])}, {h + 1} of {len(candidates)}")
            return attempt(lambda own: held.evidence(own, places, bounded=True), candidates[h])

        order = sorted(some, reverse=True)
        tested = dict(zip(order, in_order(iter(order), try_candidate), strict=True))
        refused.update({h: str(one) for h, one in tested.items() if isinstance(one, LikelyError)})
        return {h: one for h, one in sorted(tested.items()) if not isinstance(one, LikelyError)}

    open_to = [h for h in range(len(candidates)) if h not in refused]
    held = parts.holding([*parts.training][:1]) if race else parts
    places = known_places(held)
    found = try_all(open_to, held, places)
    scores = {h: _score_alone(one, start, rows, places) for h, (one, _) in found.items()}
    running = [*found]
    if race and found and len(places):
        truth, weight = rows.group[places].astype(np.int64), rows.weight[places]
        going, more = set[int](), 0
        for group in groups:
            own = [h for h in found if h in group]
            evidence = _stack({h: found[h][0] for h in own})
            weights = _weigh_all(evidence, start, truth, weight)
            logs = weighted_logs(evidence, start, weights)[np.arange(len(truth)), truth]
            more = max(more, math.ceil(min(ENOUGH / max(-float(weight @ logs), 1e-9), most_parts)) - 1)
            # The first goes on too: it is what is believed before rows speak (ANCHOR).
            going |= {*own[:1], *sorted(own, key=lambda h: (-scores[h], h))[:GO_ON]}
            going |= {h for h, w in zip(own, weights, strict=True) if w > 0}
        running = [h for h in found if h in going]
        if more and running and len(parts.training) > 1:
            further = parts.holding([*parts.training][1 : 1 + more])
            beyond = known_places(further)
            share = len(places) / max(len(places) + len(beyond), 1)
            again = try_all(running, further, beyond)
            running = [*again]
            for h, (said, learner) in again.items():
                found[h] = np.concatenate([found[h][0], said]), _between(found[h][1], learner, share)
            places = np.concatenate([places, beyond])
            held = parts.holding([*held.training, *further.training])
            scores |= {h: _score_alone(found[h][0], start, rows, places) for h in running}
    notes = tuple(f"{titles[h]} was not tried: {refused[h]}" for h in sorted(refused))
    if rows.copied:
        notes = (copies_sentence(rows.copied), *notes)
    notes = (*_unjudged(held), *notes)
    found = {h: one for h, one in found.items() if h not in refused}
    others: dict[str, Floats] = {}
    judges = held
    if beside and everything[1] is not rows:
        judges = HeldOutParts.of(everything[0].settled(), everything[1], held=held.training)
    for name, learner in beside.items():
        # By itself, so unbounded, also where it is a candidate.
        one = attempt(lambda own: judges.evidence(own, places), learner)
        if not isinstance(one, LikelyError):
            others[name] = one[0]
    judged = JudgedRows({h: found[h][0] for h in running if h < limit}, start, rows, places, summary, others)
    trial = _judge(judged)
    if unlimited and trial.rows:
        best = _judge(replace(judged, said={h: found[h][0] for h in groups[1] if h in running}))
        notes = (_cost_of_limit(trial.score, best.score), *notes)
    found, running = {h: one for h, one in found.items() if h < limit}, [*judged.said]
    weights = np.zeros(len(candidates))
    weights[running] = trial.weights if trial.rows else 0.0
    if trial.rows:
        trial = replace(
            trial,
            candidates=tuple(member_spec(candidates[h]) for h in found),
            weights=weights[[*found]],
            scores=np.array([scores[h] for h in found]),
        )
    order = {h: place for place, h in enumerate(found)}
    judged = replace(judged, said={order[h]: said for h, said in judged.said.items()})
    return Choice(trial, tuple(learner for _, learner in found.values()), notes, judged)


def with_candidate(choice: Choice, spoken_as: Learner, learner: Learner, said: Floats) -> Choice:
    """The choice with one candidate more, which said this of the held-out rows: weights are found anew.

    `spoken_as` is what was tried, `learner` what learns from all rows then.
    """
    trial, judged = choice.trial, choice.judged
    assert judged is not None
    last = len(trial.candidates)
    scores = np.append(trial.scores, _score_alone(said, judged.start, judged.rows, judged.places))
    judged = replace(judged, said={**judged.said, last: said})
    found, weights = _judge(judged), np.zeros(last + 1)
    weights[[*judged.said]] = found.weights
    if found.answers is not None and weights[last]:  # it has learned from all rows of the table but those that judge
        own = float(judged.summary.total.floats().sum() - found.answers.weight.sum())
        found = replace(found, answers=replace(found.answers, learned=own))
    candidates = (*trial.candidates, member_spec(spoken_as))
    trial = replace(found, candidates=candidates, weights=weights, scores=scores)
    return Choice(trial, (*choice.learners, learner), choice.refused, judged)


def _cost_of_limit(score: float, best: float) -> str:
    """What it costs that people can read the model."""
    own, other = (f"{-value / math.log(2):.4f}" for value in (score, best))
    return (
        f"Made to be read: curves, and ten pairs of attributes at most. Log loss on held-out rows: {own} bits a row; "
        f"without this limit {other}."
    )


def _stack(found: Mapping[int, Floats]) -> Floats:
    """What all say, (candidates, rows, classes): finite, as members are bounded (shapes/bounds.py)."""
    return np.stack([*found.values()]) if found else np.zeros((0, 0, 0))


def _between(one: Any, other: Any, share: float) -> Learner:
    """What learns from all rows, as two sets of held-out rows say, the first with this share of them."""
    if one == other or not hasattr(one, "rounds"):
        return other  # type: ignore[no-any-return]
    return replace(other, rounds=round(share * one.rounds + (1 - share) * other.rounds))  # type: ignore[no-any-return]


def _log_shares(summary: Summary) -> Floats:
    whole = summary.total.floats()
    return np.asarray(np.log(whole / whole.sum()))


def _score_alone(said: Floats, start: Floats, rows: KeptRows, places: NDArray[np.intp]) -> float:
    """The mean log probability of a row's class by one candidate, with the weight that is best for it alone."""
    truth, weight, alone = rows.group[places].astype(np.int64), rows.weight[places], said[None]
    if not len(truth):
        return math.nan
    v = evidence_weights(alone, start, truth, weight, price=0.0, begin=np.zeros(1))
    return float(weight @ weighted_logs(alone, start, v)[np.arange(len(truth)), truth] / weight.sum())


def _unjudged(parts: HeldOutParts) -> tuple[str, ...]:
    """What is to be said of classes whose rows are all held out at once, so that nothing could name them."""
    held = np.isin(parts.rows.part, list(parts.training))
    groups = np.unique(parts.rows.group[held & ~parts.known]).tolist()
    if not groups:
        return ()
    named = shown(parts.classes[groups[0]])
    which = f"Class {named} was" if len(groups) == 1 else f"{len(groups)} classes, such as {named}, were"
    return (f"{which} not judged wholly: some of the time, all rows of the class were held out at once.",)


def _judge(judged: JudgedRows) -> Trial:
    """Weights, and the answers of pools whose weights have not seen the rows."""
    evidence, start, rows, places = _stack(judged.said), judged.start, judged.rows, judged.places
    truth, weight = rows.group[places].astype(np.int64), rows.weight[places]
    if not len(evidence) or not len(places):
        return Trial.none("No rows could be held out, so the members are not weighted.")
    here = np.arange(len(truth))
    weights = _weigh(evidence, start, truth, weight)
    side = _sides(rows, places)
    logs = np.empty((len(places), len(start)))
    for number in np.unique(side):
        mine = side == number
        others_say = _weigh(evidence[:, ~mine], start, truth[~mine], weight[~mine])
        logs[mine] = weighted_logs(evidence[:, mine], start, others_say)
    score = float(weight @ logs[here, truth] / weight.sum())
    hits = float(weight[first_best(logs) == truth].sum() / weight.sum())
    told = {n: weighted_logs(tell_apart(said, math.inf)[None], start, np.ones(1)) for n, said in judged.others.items()}
    parts = np.unique(rows.part[places])
    folds = len(parts)
    learned = float(rows.weight.sum() - rows.weight[np.isin(rows.part, parts)].sum() / folds)
    cells = group_cells(rows.batch, places)
    answers = HeldOutAnswers(logs, truth, weight, side, learned, told, folds, rows.squares[places], cells)
    # Equal rows were put together: what they weigh is how many they are, unless the table has weights of its own.
    count = round(float(weight.sum())) if judged.summary.schema.weight is None else len(places)
    return Trial((), weights, np.empty(0), count, score, hits, answers=answers)


def _sides(rows: KeptRows, places: NDArray[np.intp]) -> NDArray[np.int32]:
    """Rows that weights are found without, in turn: the parts, or, of a single one, two halves."""
    part = rows.part[places]
    if len(np.unique(part)) > 1:
        return part
    return ((rows.hashes[places] >> np.uint64(17)) & np.uint64(1)).astype(np.int32)


def _weigh_all(
    evidence: Floats, start: Floats, truth: Longs, weight: Floats, some: NDArray[np.intp] | None = None,
    begin: Floats | None = None,
) -> Floats:  # fmt: skip
    """The best weights of all candidates, or of some; the first of all, naive Bayes, is believed before rows speak."""
    active = np.arange(len(evidence)) if some is None else some
    anchor = (int(np.flatnonzero(active == 0)[0]), ANCHOR) if 0 in active else None
    begin = np.zeros(len(active)) if begin is None else begin
    return evidence_weights(evidence[active], start, truth, weight, anchor=anchor, begin=begin)


def _weigh(evidence: Floats, start: Floats, truth: Longs, weight: Floats) -> Floats:
    """The best weights, of as few candidates as will do."""
    here = np.arange(len(truth))

    def value_of(some: NDArray[np.intp], v: Floats) -> float:
        return float(weight @ weighted_logs(evidence[some], start, v)[here, truth])

    v = _weigh_all(evidence, start, truth, weight)
    active, v = np.flatnonzero(v > 0), v[v > 0]
    value = value_of(active, v)
    spread = np.sqrt(evidence.var(axis=2) @ (weight / weight.sum()))
    while len(active) > 1:
        # Of the one that says least, what the others cannot make up for were it left out.
        rest = np.delete(np.arange(len(active)), int(np.argmin(v * spread[active])))
        w = _weigh_all(evidence, start, truth, weight, active[rest], v[rest])
        now = value_of(active[rest], w)
        if value - now > max(WORTH, WORTH_A_ROW * float(weight.sum())):
            break
        active, v, value = active[rest][w > 0], w[w > 0], now
    out = np.zeros(len(evidence))
    out[active] = v
    return out


# Stacking: the weights of hypotheses with which their mixture scores held-out rows best. Knows scores, no rows.

GAP = 1e-7
"""Stacking stops when the mean log score is known to be this close to the best there is."""
ROUNDS = 5000
"""Rounds after which it stops all the same, and says so."""
STEPS, HALVINGS = 100, 40
"""Newton's steps among the same members at most, and how often one is halved."""
EM_STEPS = 20
"""Steps of expectation maximization where Newton's are stuck."""
ENTERING = 1e-3
"""The weight that a member begins with when it is let in, at most."""
TRIFLE = 1e-15
"""A weight that changes no sum of doubles."""


def stack_scores(
    scores: Matrix, weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, ...]]:
    """The weights of hypotheses with the best mixture, from log p_ih (rows, hypotheses); the mean score of each; and
    what there is to say."""
    order = np.lexsort([weight, *scores.T])  # so that the order of the rows does not matter to the last bit
    scores, weight = scores[order], weight[order]
    with np.errstate(invalid="ignore"):
        figure = (np.where(weight[:, None] > 0, scores, 0.0) * weight[:, None]).sum(axis=0) / weight.sum()
    top = scores.max(axis=1, initial=-np.inf)
    none = int(np.isneginf(top).sum())
    told = (f"No hypothesis gave the class of {none} held-out rows a chance; they do not count.",) if none else ()
    if none == len(top):
        return np.full(scores.shape[1], 1 / scores.shape[1]), figure, told
    chance = np.exp(scores - np.where(np.isneginf(top), 0.0, top)[:, None])
    return stacking_weights(chance, weight), figure, told


def stacking_weights(chance: Matrix, share: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights w >= 0 that sum to one and give sum_i share_i log sum_h w_h chance_ih its greatest value; members
    that add nothing have exactly 0. Rows that no member gives a chance do not count.

    Begins with the best member alone. Newton's steps on the weights above 0; one that would fall below becomes 0; when
    they have settled, the member that would gain most is let in (an active set). The multiplier of "sum to one" is 1,
    as the slopes g_h, weighed, sum to 1: so the weights make sum share log - sum w as great as can be.
    """
    some = chance.max(axis=1, initial=0.0) > 0
    chance, share = chance[some], share[some]
    members = chance.shape[1]
    w = np.zeros(members)
    if not len(chance):
        w[0] = 1.0
        return w
    share = share / share.sum()
    chance = chance / chance.max(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        alone = share @ np.log(chance)
    if np.isneginf(alone.max()):  # each is certain of something that is not so: all have a say at first
        w[:] = 1 / members
    else:
        w[int(alone.argmax())] = 1.0
    for _ in range(ROUNDS):
        w, gain = _newton(chance, share, w)
        if float(gain.max()) - 1 <= GAP:
            break
        new = int(gain.argmax())
        if w[new] > 0:
            # No Newton step is upward, as where a weight of next to nothing carries rows that nobody else gives a
            # chance: steps of expectation maximization, which never lead down, go around it.
            after = _em_steps(chance, share, w)
            if np.array_equal(after, w):
                break
            w = after
            continue
        w = _let_in(chance, share, w, new)
    return np.asarray(w / w.sum())


def _let_in(chance: Matrix, share: NDArray[np.float64], w: NDArray[np.float64], new: int) -> NDArray[np.float64]:
    """The weights with some for a new member: so little that the score is no worse."""
    part, before = ENTERING, _value(chance, share, w)
    while True:
        after = w * (1 - part)
        after[new] = part
        if part < TRIFLE or _value(chance, share, after) >= before:
            return after
        part /= 4


def _value(chance: Matrix, share: NDArray[np.float64], w: NDArray[np.float64]) -> float:
    """What is made as great as can be: the score, less the sum of the weights."""
    mix = chance @ w
    return float(share @ np.log(mix)) - float(w.sum()) if (mix > 0).all() else -np.inf


def _em_steps(chance: Matrix, share: NDArray[np.float64], w: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights after some steps w_h <- w_h g_h."""
    for _ in range(EM_STEPS):
        w = w * ((share / (chance @ w)) @ chance)
        w = w / w.sum()
    return w


def _newton(
    chance: Matrix, share: NDArray[np.float64], w: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights that have settled among those above 0, and the slope of every member there."""
    best = _value(chance, share, w)
    for _ in range(STEPS):
        mix = chance @ w
        gain = (share / mix) @ chance
        free = np.flatnonzero(w > 0)
        slope = gain[free] - 1
        if float(np.abs(slope).max()) <= GAP:
            break
        each = chance[:, free] / mix[:, None]
        bend = each.T @ (share[:, None] * each)
        bend[np.diag_indices_from(bend)] *= 1 + 1e-9  # two members that say the same have no curvature between them
        stride = np.linalg.solve(bend, slope)
        below = stride < 0
        reach = float((w[free][below] / -stride[below]).min(initial=np.inf))
        length = min(1.0, reach)
        for _ in range(HALVINGS):
            after = w.copy()
            after[free] = np.maximum(w[free] + length * stride, 0.0)
            if length == reach:
                after[free[below][np.argmin(w[free][below] / -stride[below])]] = 0.0
            now = _value(chance, share, after)
            if now >= best:
                break
            length /= 2
        else:
            break
        if now - best <= 1e-15 and length == 1.0:
            w, best = after, now
            break
        w, best = after, now
    mix = chance @ w
    return w, (share / mix) @ chance
