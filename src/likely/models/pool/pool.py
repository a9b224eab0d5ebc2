"""The pool: the evidence of several models, each times its weight, added to one prior; and the sweeps that make it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from likely.machinery.arrays import Floats, Ints
from likely.machinery.threads import in_order, teller
from likely.models.completing import with_references
from likely.models.contracts import Learner, Learning, Model, Sweep, work_terms
from likely.models.factors.bins import value_ranges
from likely.models.fractions import log_of
from likely.models.heldout.kept_rows import KeptRows, recode_target, sum_rows
from likely.models.heldout.search import keep_rows, learn_kept
from likely.models.learning import learning, side_by_side
from likely.models.model import check_weights
from likely.models.naive.naive import NaiveBayes, plain_naive_bayes
from likely.models.pool.candidates import LEAST_RACED, larger_member, member_spec
from likely.models.pool.choosing import Choice, Trial, choose_members, with_candidate
from likely.models.pool.dates import READ_IN_PARTS, choose_dates
from likely.models.pool.screening import leave_out_silent
from likely.models.posterior import Posterior
from likely.models.prior import prior_quotients
from likely.models.registry import build_learner, spoken_titles, step_name, weighed_names
from likely.models.shapes import (
    BinTable,
    Exhibit,
    LevelTable,
    Opaque,
    PairTable,
    Score,
    Sum,
    TreeSum,
    bound,
    log_posterior,
    soften,
    sum_of,
)
from likely.models.working.records import Quantity, Step, Working, signed
from likely.models.working.working import added
from likely.sums.summary import Summary
from likely.table.batch import Batch
from likely.table.labels import Labels

# Terms of one attribute put together: weighed tables over the same levels, or over bins, add up to one table.

Powered = tuple[object, float]


def join_terms(terms: Sequence[Powered], classes: int) -> list[Powered]:
    """The same sum with fewer terms: tables of one attribute become one, where its first one stood."""
    tables: dict[tuple[type, str], list[Any]] = {}
    for term, power in terms:
        for kind in (LevelTable, BinTable):
            if isinstance(term, kind):
                tables.setdefault((kind, term.name), []).append((term, power))
    out: list[Powered] = []
    done: set[tuple[type, str]] = set()
    for term, power in terms:
        if not isinstance(term, (LevelTable, BinTable)):
            out.append((term, power))
            continue
        key = (LevelTable if isinstance(term, LevelTable) else BinTable, term.name)
        if key not in done:
            done.add(key)
            some: Any = tables[key]
            join = _levels if isinstance(term, LevelTable) else _bins
            out.append((term, power) if len(some) == 1 else (join(some, classes), 1.0))
    return out


def _levels(tables: Sequence[tuple[LevelTable, float]], classes: int) -> LevelTable:
    """One table over all levels that any of them knows; what one does not know is unseen by it."""
    names = sorted({name for table, _ in tables for name in table.labels.names})
    whole = np.zeros((len(names) + 2, classes))
    for table, power in tables:
        places = [table.labels.index.get(name, -2) for name in names]
        whole += power * table.log_table[[*places, -2, -1]]
    return LevelTable(tables[0][0].name, Labels(names), whole)


def _bins(tables: Sequence[tuple[BinTable, float]], classes: int) -> BinTable:
    """One table over the bins that all edges together cut."""
    starts = np.unique(np.concatenate([table.starts for table, _ in tables]))
    whole = np.zeros((len(starts) + 2, classes))
    for table, power in tables:
        # The bin of each start, and before the first the first.
        places = np.concatenate([[0], np.searchsorted(table.starts, starts, side="right")]).astype(np.intp)
        whole[:-1] += power * table.log_table[places]
        whole[-1] += power * table.log_table[-1]
    return BinTable(tables[0][0].name, starts, whole)


def pool(
    scores: Sequence[Score],
    weights: Sequence[float],
    log_prior: Floats,
    titles: Sequence[str],
    order: Sequence[str],
    bounded: bool = True,
) -> Sum:
    """One sum of the terms of all scores, times their weights: attributes in this order, then sets, then what is none.

    A score that is no sum is one opaque term: what it says beyond the prior, with nothing impossible if `bounded`.
    """
    terms: list[Powered] = []
    for score, weight, title in zip(scores, weights, titles, strict=True):
        whole = sum_of(score)
        if whole is None or (whole[0].whole and whole[0].opaque is not None):
            terms.append(
                (Opaque(f"all values by {title}", Beyond(score, log_prior, bounded), _why(score, title)), weight)
            )
        else:
            terms += [(term, weight * whole[1] * power) for term, power in whole[0].powered]
    place = {name: k for k, name in enumerate(order)}
    terms.sort(key=lambda one: place.get(getattr(one[0], "name", ""), len(place)))
    joined = [scale(term, power) for term, power in join_terms(terms, len(log_prior))]
    return Sum(log_prior, tuple(t for t, _ in joined), tuple(power for _, power in joined))


def _why(score: Score, title: str) -> str:
    why = "Its scores are not a sum of terms." if score.opaque is None else score.opaque.why
    return f"{title} is a member of this pool. {why} Fit with --for sql (or onnx, pmml) to leave it out."


def scale(term: Any, power: float) -> Powered:
    """A sum of trees or a table of a pair times its power, as one with power 1: many are then scored by one call."""
    if isinstance(term, TreeSum):
        return replace(term, values=power * term.values), 1.0
    if isinstance(term, PairTable):
        return replace(term, table=power * term.table), 1.0
    return term, power


@dataclass(frozen=True, eq=False)
class Beyond:
    """What a score says of rows beyond the prior: log P(class | row) - log P(class)."""

    score: Score
    log_prior: Floats
    bounded: bool
    """Whether nothing is impossible."""

    def __call__(self, batch: Batch) -> Floats:
        logs, finite = log_posterior(self.score.scored(batch)[0]), np.isfinite(self.log_prior)
        evidence = np.where(finite, logs - np.where(finite, self.log_prior, 0.0), logs)
        return soften(evidence) if self.bounded else evidence


# The pool: the evidence of several models, each times its weight, added to one prior. A sum like any of its
# members.


def pool_of(
    learner: Learner,
    summary: Summary,
    members: Sequence[Model],
    weights: Floats,
    trial: Trial,
    refused: Sequence[str] = (),
    notes: Sequence[str] | None = None,
    bounded: bool = True,
) -> Model:
    """The prior, and the weighed evidence of the members, which are those with weight; terms of one attribute are one
    line. `refused` says which candidates were not tried; `notes` of a file stand in place of all notes; `bounded` is
    False for files of before members were bounded, which answer as they did (tests/kept)."""
    titles = spoken_titles([member.learner for member in members])
    if notes is None:
        own = [f"{title}: {note}" for title, member in zip(titles, members, strict=True) for note in member.notes]
        notes = (*trial.notes(), *refused, *own)
    needed = frozenset().union(*(member.learner.needs(summary.schema) for member in members))
    prior, weights = prior_quotients(summary, "observed", 0.0), np.asarray(weights, np.float64)
    log_prior, order = log_of(prior), [column.name for column in summary.schema.attributes]
    ranges = value_ranges(summary)
    scores = [bound(member.score, ranges) if bounded else member.score for member in members]
    kept = trial.spoken
    model = Model(
        learner=learner,
        summary=summary.without(summary.more.keys() - needed),
        score=pool(scores, weights.tolist(), log_prior, titles, order, bounded),
        prior=prior,
        log_prior=log_prior,
        members=tuple(members),
        weights=weights,
        notes=tuple(notes),
        refuse_unseen=any(member.refuse_unseen for member in members),
        details={"trial": trial},
        # Pools of the same members share them, whatever their weights.
        choices={
            **({note: ("", " and ".join(kept)) for note in trial.notes()} if kept else {}),
            **{note: ("dates", "read in parts") for note in notes if note.startswith(READ_IN_PARTS)},
        },
        ledger_note=_whose_terms(titles, weights),
        held_out=trial.held_out,
        held_out_answers=trial.answers,
        skips_missing=all(member.leaves_missing_out for member in members),
        unlasting=_why_unlasting(titles, members),
        show=_show_candidates,
        freeze=_freeze_pool,
        describe=_describe_rows,
        work=_work_pool,
    )
    state = {
        "kept": [member_spec(member.learner) for member in members],
        "members": [member.state for member in members],
        "weights": weights,
        "notes": list(model.notes),
        "trial": trial.state(),
        **({"bounded": True} if bounded else {}),
    }
    lasting = state
    if trial.rows:  # else weights were given, or stay as they are already
        # How it did on held-out rows was said of other rows.
        old = Trial.none("The weights were chosen before these rows were learned or unlearned.")
        lasting = {**state, "trial": old.state(), "notes": list(old.notes())}
    return replace(model, state=state, lasting=lasting)


def _whose_terms(titles: Sequence[str], weights: Floats) -> str:
    """The sentence that says whose terms these are."""
    return f"Each line adds up what its members say: {weighed_names(titles, weights.tolist())}." if titles else ""


def _why_unlasting(titles: Sequence[str], members: Sequence[Model]) -> str:
    """Why the pool can learn no other rows: weights stay as they are, but a member needs more than sums."""
    for title, member in zip(titles, members, strict=True):
        if member.state and not member.lasting:
            return (
                f"{title}, a member of this pool, needs all rows again to learn. Fit again on all rows with the "
                "same settings (likely show --spec prints them), or fit with --for updates, which leaves out such "
                "members."
            )
    return ""


def _freeze_pool(model: Model) -> Learner:
    """What was chosen, as settings that choose no more."""
    members = tuple(member.frozen for member in model.members)
    if len(members) == 1 and model.weights[0] == 1.0 and _says_the_same_alone(model):
        return members[0]
    frozen: Learner = build_learner("Pool", {"members": members, "weights": tuple(model.weights.tolist())})
    return frozen


def _says_the_same_alone(model: Model) -> bool:
    """Whether the first member of a pool says the same by itself."""
    score = model.members[0].score
    return not model.state.get("bounded") or bound(score, value_ranges(model.summary)) is score


def _describe_rows(model: Model) -> Model:
    """The member of most weight that says how rows come about; where none does, naive Bayes from the same sums."""
    for h in sorted(range(len(model.members)), key=lambda h: (-model.weights[h], h)):
        if model.members[h].generative:
            return model.members[h]
    return plain_naive_bayes(model)


def _work_pool(model: Model, batch: Batch, row: Mapping[str, object], posterior: Posterior) -> Working | None:
    """The workings of the members, and log P(class) + Σ weight · what each of them says beyond the prior."""
    if not model.members or (model.references is not None and model.references.unknown(batch) is not None):
        return work_terms(model, batch, row, posterior)  # an average over what the unknown cells may hold
    classes, log_prior = model.classes, model.log_prior
    assert log_prior is not None
    titles = spoken_titles([member.learner for member in model.members])
    bounded, ranges = bool(model.state.get("bounded")), value_ranges(model.summary)
    prior = dict(zip(classes, log_prior.tolist(), strict=True))
    steps = [Step("", None, prior, prior, title="log P(class)", texts={c: signed(v) for c, v in prior.items()})]
    parts, muted = [], []
    known = np.isfinite(log_prior)
    for k, (member, weight, title) in enumerate(zip(model.members, model.weights.tolist(), titles, strict=True), 1):
        scores = member.score, bound(member.score, ranges) if bounded else member.score
        pools = (pool([score], [1.0], log_prior, [title], [], bounded) for score in scores)
        alone, within = (
            np.where(known, one.scored(batch)[0][0] - np.where(known, log_prior, 0.0), 0.0) for one in pools
        )
        if not np.allclose(alone, within, rtol=1e-9, atol=1e-9):
            muted.append(f"e{k}")
        values = {c: weight * float(e) for c, e in zip(classes, within, strict=True)}
        texts = {c: f"{weight:.4g} × {signed(float(e))}" for c, e in zip(classes, within, strict=True)}
        steps.append(Step(title, None, values, values, title=f"{weight:.4g} × e{k}(class)", texts=texts))
        own = Posterior.of(classes, member.log_joint(batch), one=True, proper=member.proper)
        working = member.worked(batch, row, own)
        parts += [] if working is None else [(f"Member {k}, {title}", working)]
    remarks = [
        "e(class): what a member says beyond the prior, log(L(class) / P(class)), or g(class) less log P(class).",
        "P(class | x) = exp(g(class)) / the sum of exp(g) over the classes; logs are natural.",
    ]
    if muted:
        remarks.append(
            f"{', '.join(muted)}: held to a lower bound for some class, so that one far value does not decide alone."
        )
    weights = {f"e{k}": weight for k, weight in enumerate(model.weights.tolist(), 1)}
    quantities = [Quantity("weights of the members", weights)]
    found = added(classes, steps, posterior, sign="g({})", quantities=quantities, remarks=remarks)
    return replace(found, parts=tuple(parts))


def _show_candidates(model: Model) -> tuple[Exhibit, ...]:
    """Every candidate with weight and score; of a single member, its own exhibits as well."""
    return (
        *model.details["trial"].exhibit(model.schema.weight is not None),
        *(model.members[0].exhibits() if len(model.members) == 1 else ()),
    )


# The sweeps of a pool: rows to choose by, kept in memory; where these are not all, what members want of all rows.

ALL_PARTS = 500_000
"""Rows times columns times classes up to which more than one part may be held out."""


@dataclass(frozen=True)
class PoolPlan:
    """What is tried, and how."""

    learner: Learner
    candidates: Callable[[Summary], tuple[Learner, ...]]
    """By the columns and rows of a table."""
    parts: int
    seed: int
    every_part: bool
    beside: Mapping[str, Learner] = field(default_factory=dict)
    """Learners that are judged on the same rows, and not pooled."""
    larger: bool = False
    """Whether one more candidate learns from all rows but those that judge, where there are more than are kept."""
    unlimited: Callable[[Summary], tuple[Learner, ...]] | None = None
    """What is tried without the limit that `candidates` has, to say what it costs."""
    screens: bool = False
    """Whether attributes that tell nothing are left out, where there are many."""


def learn_pool(plan: PoolPlan, summary: Summary) -> Learning[Model]:
    """Rows to choose by, kept in memory; then members learn from all rows. The one answer there is, where all rows have
    the same class, or are too few to hold some out."""
    summary = summary.canonical()
    check_weights(summary)
    # By weight, as a row of weight 2 is the row twice (scikit-learn's check of sample weights).
    if len(summary.classes) < 2 or float(summary.total.floats().sum()) < 2 * plan.parts:
        summary = summary.settled()
        why = "all rows have the same class" if len(summary.classes) < 2 else "there are too few rows to hold some out"
        model = NaiveBayes().model(summary)
        return pool_of(plan.learner, model.summary, [model], np.ones(1), Trial.none(f"Plain NaiveBayes: {why}."))
    rows = yield from keep_rows(summary, plan.parts, plan.seed)
    race = len(rows) >= LEAST_RACED and not plan.every_part
    everything = summary, rows
    summary, told = leave_out_silent(*everything) if plan.screens else (summary, ())
    if told:
        rows = replace(rows, batch=rows.batch.only(column.name for column in summary.schema.attributes))
    work = len(rows) * len(summary.schema.attributes) * len(summary.classes)
    most = 1 if race and work > ALL_PARTS else plan.parts
    summary, choice = choose_dates(
        summary,
        lambda own: choose_members(
            plan.candidates(own),
            own,
            rows,
            most,
            race,
            plan.beside,
            everything if told else (own, rows),
            () if plan.unlimited is None else plan.unlimited(own),
        ),
    )
    choice = replace(choice, refused=(*told, *choice.refused))
    done: dict[int, Model] = {}
    if plan.larger and not rows.whole:
        choice, done = yield from _judge_larger(plan, summary, rows, choice)
    learners = [choice.learners[h] for h in choice.trial.kept if h not in done]
    requests = frozenset().union(*(learner.needs(summary.schema) for learner in learners))
    missing = sorted(requests - summary.more.keys())
    if not rows.whole:
        if missing:
            (summary,) = yield Sweep(_more_sums, (summary, missing))
            summary = summary.canonical()
        return with_references((yield from learn_members(plan.learner, summary, choice, done)), rows)
    if missing:
        summary = sum_rows(summary, [rows.batch], missing).canonical()
    tell = teller()

    def learn(h: int) -> Model:
        tell(f"Learning {step_name(learners[h])} from all rows, {h + 1} of {len(learners)}")
        return learn_kept(learners[h], summary, rows, summary.classes)

    members = list(in_order(iter(range(len(learners))), learn))
    return with_references(_pool_chosen(plan.learner, summary, members, choice), rows)


def _judge_larger(
    plan: PoolPlan, summary: Summary, rows: KeptRows, choice: Choice
) -> Learning[tuple[Choice, dict[int, Model]]]:
    """The choice with a candidate that has learned from all rows but those that judge, and its model."""
    larger = larger_member(plan.candidates(summary), summary)
    if larger is None or choice.judged is None or not choice.trial.rows:
        return choice, {}
    teller()(f"Learning {larger.spoken} from all rows but those that judge it")
    model, said, settled = yield from larger.learn_beside(summary, rows.take(choice.judged.places))
    return with_candidate(choice, larger, settled, said), {len(choice.trial.candidates): model}


def _more_sums(summary: Summary, requests: Sequence[str], batch: Batch, group: Ints, weight: Floats) -> tuple[Summary]:
    """The sums that members are made of."""
    batch, _ = recode_target(summary.classes, batch, group)
    return (sum_rows(summary, [batch], requests),)


def learn_members(
    learner: Learner, summary: Summary, choice: Choice, done: Mapping[int, Model] | None = None
) -> Learning[Model]:
    """The pool of what was chosen; members see all rows again, where they must, but for those that are done."""
    kept, done = choice.trial.kept, done or {}
    others = yield from side_by_side({h: learning(choice.learners[h], summary) for h in kept if h not in done})
    found = {**done, **others}
    return _pool_chosen(learner, summary, [found[h] for h in kept], choice)


def _pool_chosen(learner: Learner, summary: Summary, members: Sequence[Model], choice: Choice) -> Model:
    weights = choice.trial.weights[choice.trial.kept]
    return pool_of(learner, summary, members, weights, choice.trial, choice.refused)
