"""The pool: the evidence of several models, each times its weight, added to one prior; and the sweeps that make it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from likely.errors import SettingError
from likely.machinery.arrays import Floats, Ints
from likely.machinery.threads import teller
from likely.models.contracts import HeldOut, HeldOutAnswers, Learner, Learning, Model, Sweep, Terms
from likely.models.fractions import log_of
from likely.models.heldout.kept_rows import recode_target, sum_rows
from likely.models.heldout.search import keep_rows, learn_kept, log_posterior
from likely.models.learning import learning, side_by_side
from likely.models.model import check_weights
from likely.models.naive.naive import NaiveBayes
from likely.models.pool.candidates import learner_titles, member_spec
from likely.models.pool.choosing import Choice, Trial, choose_members
from likely.models.posterior import Matrix
from likely.models.prior import prior_quotients
from likely.models.registry import build_learner
from likely.models.shapes import BinTable, Exhibit, LevelTable, Score, Sum, WordWeights, sum_of
from likely.sums.contracts import State
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


# The pool: the evidence of several models, each times its weight, added to one prior. A sum like any of its
# members.

REST = "(the rest)"
"""The last term: what members could not tell attribute by attribute."""
BLOCK = 4096
"""Rows that are scored at a time."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PoolModel(Model):
    """The prior, and the weighed evidence of the members."""

    members: tuple[Model, ...]
    """Those with weight."""
    weights: Floats
    log_prior: Floats
    trial: Trial

    def log_joint(self, batch: Batch) -> Matrix:
        """log P(class) + the terms, in order, (rows, classes)."""
        return self.scored(batch)[0]

    def scored(self, batch: Batch) -> tuple[Matrix, dict[str, tuple[int, int]]]:
        """`log_joint`, and the words of texts as the members that read any count them."""
        words: dict[str, tuple[int, int]] = {}
        for member in self.members:
            if member.texts:
                words |= member.scored(batch)[1]
        out = np.empty((batch.rows, len(self.classes)))
        for start in range(0, batch.rows, BLOCK):
            rows = slice(start, start + BLOCK)
            total = np.tile(self.log_prior, (len(out[rows]), 1))
            for term in self._lines(batch if batch.rows <= BLOCK else batch.sliced(rows)).values():
                total += term
            out[rows] = total
        return out, words

    def terms(self, batch: Batch) -> Terms:
        """The prior, then what each attribute, set of attributes or member says."""
        lines = self._lines(batch)
        prior = np.tile(self.log_prior, (batch.rows, 1))
        last = "rounding" if REST in lines else "attribute"
        return Terms(("prior", *lines), np.stack([prior, *lines.values()], axis=1), last=last)  # type: ignore[arg-type]

    def _lines(self, batch: Batch) -> dict[str, Floats]:
        """What is said by attribute, then by sets and members that are no sums, and last what is left over."""
        names = [column.name for column in self.schema.attributes]
        lines: dict[str, Floats] = {}
        rest: dict[str, Floats] = {}
        for whole, member, weight in zip(self._whole_lines, self.members, self.weights.tolist(), strict=True):
            for name, said in member_evidence(member, batch, self.log_prior, whole, weight):
                into = rest if name == REST else lines
                into[name] = into[name] + said if name in into else said
        ordered = {name: lines.pop(name) for name in names if name in lines}
        return ordered | lines | rest

    def choices(self) -> dict[str, tuple[str, str]]:
        """Which members were chosen: pools of the same members share that, whatever their weights."""
        kept = [self.trial.titles[h] for h in self.trial.kept]
        return {note: ("", " and ".join(kept)) for note in self.trial.notes()} if kept else {}

    @cached_property
    def _titles(self) -> tuple[str, ...]:
        return learner_titles([member.learner for member in self.members])

    @cached_property
    def _whole_lines(self) -> tuple[str, ...]:
        """What the one line of each member is called that is no sum over attributes: as its shape says, so that the
        page and exports name it alike.
        """
        return tuple(map(whole_line, self.members, self._titles))

    def shape(self) -> Score | None:
        """One sum of all members' terms, those of one attribute put together where they are tables."""
        return self._shape

    @cached_property
    def _shape(self) -> Score | None:
        terms: list[tuple[object, float]] = []
        for member, weight in zip(self.members, self.weights.tolist(), strict=True):
            own = member.shape()
            whole = None if own is None else sum_of(own)
            if whole is None:
                return None
            terms += [(term, weight * whole[1] * power) for term, power in whole[0].powered]
        joined = join_terms(terms, len(self.classes))
        return Sum(self.log_prior, tuple(t for t, _ in joined), tuple(power for _, power in joined))

    @property
    def shapeless(self) -> str:  # type: ignore[override]
        """The member that has no portable form, and how to do without it."""
        for title, member in zip(self._titles, self.members, strict=True):
            own = member.shape()
            if own is None or sum_of(own) is None:
                why = member.shapeless if own is None else "Its scores are not a sum of terms."
                return f"{title} is a member of this pool. {why} Fit with --for sql (or onnx, pmml) to leave it out."
        return "It has no portable form."

    def term_strengths(self) -> dict[tuple[str, ...], float]:
        """Those of members, weighed: what they say of the same attributes is taken to point the same way."""
        out: dict[tuple[str, ...], float] = {}
        for member, weight in zip(self.members, self.weights.tolist(), strict=True):
            for names, strength in member.term_strengths().items():
                out[names] = out.get(names, 0.0) + weight * strength
        return out

    def word_speakers(self, name: str) -> tuple[tuple[WordWeights, float], ...]:
        """Those of all members, by their weights."""
        each = zip(self.members, self.weights.tolist(), strict=True)
        return tuple((text, weight * power) for member, weight in each for text, power in member.word_speakers(name))

    @property
    def held_out(self) -> HeldOut | None:
        """How the pool did on rows held out."""
        return self.trial.held_out

    @property
    def held_out_answers(self) -> HeldOutAnswers | None:
        return self.trial.answers

    @property
    def leaves_missing_out(self) -> bool:
        """Where all members do."""
        return all(member.leaves_missing_out for member in self.members)

    @property
    def ledger_note(self) -> str:
        """The sentence that says whose terms these are."""
        if not self.members:
            return ""
        order = sorted(range(len(self.members)), key=lambda h: (-self.weights[h], h))
        named = ", ".join(f"{self._titles[h]} × {self.weights[h]:.3g}" for h in order)
        return f"Each line is the weighted sum of the evidence from the pool's members: {named}."

    @property
    def frozen(self) -> Learner:
        """What was chosen, as settings that choose no more."""
        members = tuple(member.frozen for member in self.members)
        if len(members) == 1 and self.weights[0] == 1.0:
            return members[0]
        pool: Learner = build_learner("Pool", {"members": members, "weights": tuple(self.weights.tolist())})
        return pool

    @property
    def describer(self) -> Model:
        """The member of most weight that says how rows come about; where none does, naive Bayes from the same sums."""
        for h in sorted(range(len(self.members)), key=lambda h: (-self.weights[h], h)):
            if self.members[h].generative and is_sum(self.members[h]):
                return self.members[h]
        return NaiveBayes(text="multinomial").model(self.summary)

    def exhibits(self) -> tuple[Exhibit, ...]:
        """Every candidate with weight and score; of a single member, its own exhibits as well."""
        return (
            *self.trial.exhibit(self.schema.weight is not None),
            *(self.members[0].exhibits() if len(self.members) == 1 else ()),
        )

    def search_state(self) -> State:
        """Everything: it took sweeps to find."""
        return {
            "kept": [member_spec(member.learner) for member in self.members],
            "members": [member.search_state() for member in self.members],
            "weights": self.weights,
            "notes": list(self.notes),
            "trial": self.trial.state(),
        }

    def lasting_state(self) -> State:
        """Weights stay as they are when rows are learned or unlearned, where sums are all it takes."""
        for title, member in zip(self._titles, self.members, strict=True):
            if member.search_state() and not member.lasting_state():
                raise SettingError(
                    f"{title}, a member of this pool, needs all rows again to learn. Fit again on all rows with the "
                    "same settings (likely show --spec prints them), or fit with --for updates, which leaves out such "
                    "members."
                )
        if not self.trial.rows:  # weights were given, or stay as they are already
            return self.search_state()
        # How it did on held-out rows was said of other rows.
        old = Trial.none("The weights were chosen before these rows were learned or unlearned.")
        return {**self.search_state(), "trial": old.state(), "notes": list(old.notes())}


def whole_line(model: Model, title: str) -> str:
    """The name of all that a model says: of its block of attributes, where it is one, else of the model."""
    own = None if is_sum(model) else model.shape()
    found = None if own is None else sum_of(own)
    names = () if found is None else tuple(getattr(term, "names", ()) for term in found[0].terms)
    return " & ".join(names[0]) if len(names) == 1 and names[0] else f"all values by {title}"


def member_evidence(
    model: Model, batch: Batch, log_prior: Floats, whole: str, weight: float
) -> list[tuple[str, Floats]]:
    """What a model says of rows beyond the prior, times its weight, by attribute or set; of one that is no sum, in one
    line."""
    terms = None
    if is_sum(model):
        try:
            terms = model.terms(batch)
        except SettingError:
            terms = None
    if terms is None or terms.first != "prior":
        logs = log_posterior(model, batch, model.classes)
        finite = np.isfinite(log_prior)
        return [(whole, weight * np.where(finite, logs - np.where(finite, log_prior, 0.0), logs))]
    last = len(terms.names) - (terms.last != "attribute")
    said = weight * terms.array
    out = [(name, said[:, k]) for k, name in enumerate(terms.names) if 0 < k < last]
    if terms.last in ("rounding", "evidence"):
        out.append((REST, said[:, -1]))
    return out


def is_sum(model: Model) -> bool:
    """Whether the scores of a model are a sum over attributes."""
    return type(model).terms is not Model.terms


# The sweeps of a pool: rows to choose by, kept in memory; where these are not all, what members want of all rows.

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


def learn_pool(plan: PoolPlan, summary: Summary) -> Learning[PoolModel]:
    """Rows to choose by, kept in memory; then members learn from all rows. The one answer there is, where all rows have
    the same class, or are too few to hold some out."""
    summary = summary.canonical()
    check_weights(summary)
    # By weight, as a row of weight 2 is the row twice (scikit-learn's check of sample weights).
    if len(summary.classes) < 2 or float(summary.total.floats().sum()) < 2 * plan.parts:
        why = "all rows have the same class" if len(summary.classes) < 2 else "there are too few rows to hold some out"
        model = NaiveBayes().model(summary)
        return pool_of(plan.learner, model.summary, [model], np.ones(1), Trial.none(f"Plain NaiveBayes: {why}."))
    rows = yield from keep_rows(summary, plan.parts, plan.seed)
    work = len(rows) * len(summary.schema.attributes) * len(summary.classes)
    many = work > ALL_PARTS and len(rows) >= LEAST_HELD * plan.parts and not plan.every_part
    held = range(1) if many else range(plan.parts)
    choice = choose_members(plan.candidates, summary, rows, held, plan.beside)
    learners = [choice.learners[h] for h in choice.trial.kept]
    requests = frozenset().union(*(learner.needs(summary.schema) for learner in learners))
    missing = sorted(requests - summary.more.keys())
    if not rows.whole:
        if missing:
            (summary,) = yield Sweep(_more_sums, (summary, missing))
            summary = summary.canonical()
        return (yield from learn_members(plan.learner, summary, choice))
    if missing:
        summary = sum_rows(summary, [rows.batch], missing).canonical()
    titles, tell = learner_titles(learners), teller()
    members: list[Model] = []
    for learner, title in zip(learners, titles, strict=True):
        tell(f"Learning {title} from all rows: {len(members) + 1} of {len(titles)}")
        members.append(learn_kept(learner, summary, rows, summary.classes))
    return _pool_chosen(plan.learner, summary, members, choice)


def _more_sums(summary: Summary, requests: Sequence[str], batch: Batch, group: Ints, weight: Floats) -> tuple[Summary]:
    """The sums that members are made of."""
    batch, _ = recode_target(summary.classes, batch, group)
    return (sum_rows(summary, [batch], requests),)


def learn_members(learner: Learner, summary: Summary, choice: Choice) -> Learning[PoolModel]:
    """The pool of what was chosen; members see all rows again, where they must."""
    kept = choice.trial.kept
    found = yield from side_by_side({h: learning(choice.learners[h], summary) for h in kept})
    return _pool_chosen(learner, summary, [found[h] for h in kept], choice)


def _pool_chosen(learner: Learner, summary: Summary, members: Sequence[Model], choice: Choice) -> PoolModel:
    weights = choice.trial.weights[choice.trial.kept]
    return pool_of(learner, summary, members, weights, choice.trial, choice.refused)


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
