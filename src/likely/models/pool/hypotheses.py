"""Hypotheses: learners with settings, and how much each is believed: by evidence, or by held-out scores. What mixtures
have in common; what is done with the weights is in mixture.py.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from likely.errors import SettingError, nearest, shown
from likely.machinery.arrays import Ints
from likely.models.contracts import Learner, Model, Search
from likely.models.heldout.search import HeldOutSearch, Plan
from likely.models.heldout.tempering import tempered
from likely.models.heldout.trying import log_posterior
from likely.models.model import learnable, unread_texts
from likely.models.pool.evidence import log_evidence
from likely.models.pool.members import check_members, learner_titles, member_learner, restore_member
from likely.models.pool.stacking import stack_scores
from likely.models.posterior import Matrix
from likely.models.settings import Settings, setting
from likely.models.shapes import Exhibit
from likely.sums.checks import read_array, read_shares, read_texts, require
from likely.sums.contracts import State
from likely.sums.summary import Summary
from likely.table.batch import Batch
from likely.table.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOLERANCE = 1e-9
"""How far given weights may be from summing to one."""


@dataclass(frozen=True)
class Hypotheses(Settings, ABC):
    """Settings that every mixture of hypotheses has: the members, and where P(h | data) comes from."""

    members: Sequence[Any] = setting(
        ...,
        'Learners, or plain values such as {"name": "NaiveBayes", "pseudo_count": 0.5}.',
        convert=check_members,
    )
    weights: str | Sequence[float] | Mapping[str, float] = setting(
        "evidence",
        "evidence: P(h | data) in proportion to P(h) P(data | h), where that has a closed form. held-out: weights that "
        "give the mixture the best log score on rows that its members have not seen (stacking; these are not "
        "P(h | data), as they say how useful a member is beside the others). Or a number for each member, or for each "
        "title.",
    )
    prior: tuple[float, ...] | None = setting(None, "P(h) before the data, for 'evidence'; equal where none is given.")
    temperatures: tuple[float, ...] | None = setting(
        None,
        "What the log-odds of each member are multiplied with, where they are to be shrunk (below 1) or stretched.",
    )
    parts: int = setting(
        5,
        "For held-out: rows are dealt by their content to this many parts; each is scored by members that "
        "learned from the others.",
        at_least=2,
        at_most=1000,
        whole=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        members = self.members
        if not members:
            raise SettingError(f"{type(self).__name__} has no members. Name at least one learner.")
        if isinstance(self.weights, str):
            if self.weights not in ("evidence", "held-out"):
                raise SettingError(
                    f"weights is {shown(self.weights)}. Say 'evidence', 'held-out', or give a number for each member."
                )
        else:
            given = self._by_title(self.weights) if isinstance(self.weights, Mapping) else self.weights
            object.__setattr__(self, "weights", _distribution(given, len(members), "weights"))
        if self.temperatures is not None:
            object.__setattr__(self, "temperatures", _temperatures(self.temperatures, len(members)))
        if self.prior is not None:
            if self.weights != "evidence":
                raise SettingError("A prior of hypotheses goes with weights='evidence' only.")
            object.__setattr__(self, "prior", _distribution(self.prior, len(members), "prior"))

    @property
    def learners(self) -> tuple[Learner, ...]:
        """The members as learners."""
        return tuple(member_learner(m) for m in self.members)

    @property
    def titles(self) -> tuple[str, ...]:
        """A name for each member: its learner and the settings that are not the usual ones; no two are the same."""
        return learner_titles(self.learners)

    def _by_title(self, weights: Mapping[str, float]) -> list[float]:
        titles = self.titles
        for name in weights:
            if name not in titles:
                raise SettingError(f"There is a weight for {shown(name)}. {nearest(str(name), titles)}")
        return [weights.get(title, 0.0) for title in titles]

    def needs(self, schema: Schema) -> frozenset[str]:
        """All that any member needs."""
        return frozenset().union(*(learner.needs(schema) for learner in self.learners))

    @abstractmethod
    def learn(self, summary: Summary) -> Model:
        """The model; refused where the rows must be seen again, as `likely.fit` does."""

    def begin(self, summary: Summary) -> Model | Search:
        """Let every member learn, and weigh them; a search, where members or weights need to see the rows again."""
        summary, plan = learnable(summary), MixturePlan(self, self.learners, (self.parts, 0))
        search = HeldOutSearch(plan, summary).learn_from_all(range(len(self.members)))
        if self.weights != "held-out":
            beliefs = replace(_known_weights(self, summary), searched=bool(search.searches))
            search = replace(search, verdict=beliefs)
        return search.finished()

    def restore(self, summary: Summary, found: State) -> Model:
        """The model as a search found it."""
        models: list[Model] = []
        for learner, own in zip(self.learners, found["members"], strict=True):
            models.append(restore_member(learner, summary, own))
        weight = read_shares(found["weights"], len(models), "weights of hypotheses")
        figure = read_array(found["figures"], "f", 1, "figures of hypotheses").astype(np.float64)
        require(len(figure) == len(models), "every hypothesis has its figure")
        beliefs = Beliefs(self.titles, weight, figure, True)
        return self.build_model(summary, tuple(models), beliefs, tuple(read_texts(found["notes"], "notes")))

    @abstractmethod
    def build_model(
        self, summary: Summary, models: tuple[Model, ...], beliefs: Beliefs, notes: tuple[str, ...]
    ) -> Model:
        """The model of these hypotheses, each as it was learned."""


@dataclass(frozen=True)
class Beliefs:
    """How much each hypothesis is believed, and why."""

    titles: tuple[str, ...]
    weight: NDArray[np.float64]
    """P(h | data), or stacking weights: they sum to one."""
    figure: NDArray[np.float64]
    """Of each hypothesis: log P(data | h), or its mean held-out log score; NaN where weights were given."""
    searched: bool
    """Whether rows were looked at again to find all this, so that the summary alone does not give it back."""
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> int:
        """The hypothesis of the greatest weight; the first of equals."""
        return int(self.weight.argmax())


@dataclass(frozen=True)
class MixturePlan(Plan[Beliefs]):
    """All members, from the start; the verdict is how much each is believed."""

    learner: Hypotheses
    learners: tuple[Learner, ...]
    dealing: tuple[int, int]
    least_scored: ClassVar[None] = None

    def score(self, summary: Summary, models: Sequence[Model], batch: Batch, truth: Ints) -> Matrix:
        """For each row log P(its class | row, h), (hypotheses, rows, 1)."""
        rows = np.arange(batch.rows)
        return np.stack([log_posterior(m, batch, summary.classes)[rows, truth] for m in models])[:, :, None]

    def judge(self, summary: Summary, scores: Matrix, truth: NDArray[np.intp], weight: NDArray[np.float64]) -> Beliefs:
        """The weights with which the mixture scores held-out rows best."""
        found, figure, notes = stack_scores(scores[:, :, 0].T, weight)
        return Beliefs(self.learner.titles, found, figure, True, notes)

    def unjudged(self) -> Beliefs:
        """There is no way around it."""
        raise SettingError("There are too few rows to hold some out. Use weights='evidence', or give weights.")

    def improper(self, candidate: int) -> SettingError:
        """Mixing needs probabilities."""
        return SettingError(
            f"The scores of {shown(self.learner.titles[candidate])} are not probabilities, so it cannot be a "
            "hypothesis of a mixture. Leave it out."
        )

    def model(self, summary: Summary, members: Mapping[int, Model], verdict: Beliefs) -> Model:
        """The mixture, with what members have to say."""
        unread = unread_texts(summary.schema)  # which the mixture says once, of all members
        models = tuple(members[h] for h in range(len(members)))
        notes = [f"{t}: {n}" for t, m in zip(verdict.titles, models, strict=True) for n in m.notes if n not in unread]
        return self.learner.build_model(summary, models, verdict, (*verdict.notes, *notes))


def _known_weights(learner: Hypotheses, summary: Summary) -> Beliefs:
    """Weights as given, or P(h | data) from closed-form evidence."""
    titles = learner.titles
    if isinstance(learner.weights, tuple):
        return Beliefs(titles, np.array(learner.weights), np.full(len(titles), np.nan), False)
    each = [log_evidence(member, summary) for member in learner.learners]
    for title, value in zip(titles, each, strict=True):
        if value is None:
            raise SettingError(
                f"There is no closed form for the evidence of {shown(title)}. "
                "Use weights='held-out', or give a weight for each member."
            )
    figure = np.array(each, np.float64)
    with np.errstate(divide="ignore"):
        score = figure + (0.0 if learner.prior is None else np.log(np.array(learner.prior)))
    if np.isneginf(score).all():
        raise SettingError("These rows are impossible under every hypothesis, so there is no posterior.")
    weight = np.exp(score - score.max())
    return Beliefs(titles, weight / weight.sum(), figure, False)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class HypothesesModel(Model):
    """A model of several hypotheses."""

    learner: Hypotheses
    members: tuple[Model, ...]
    beliefs: Beliefs

    def _answer(self, h: int, batch: Batch) -> Matrix:
        """log P(class | row) by a hypothesis, at its temperature; all -inf where it calls the row impossible."""
        logs, given = log_posterior(self.members[h], batch, self.classes), self.learner.temperatures
        return logs if given is None else tempered(logs, given[h])

    def exhibits(self) -> tuple[Exhibit, ...]:
        """The hypotheses and how much each is believed."""
        weights, beliefs = self.learner.weights, self.beliefs
        title, header = "Hypotheses, with the given weights", ["hypothesis", "weight"]
        if weights == "evidence":
            title, header = "Hypotheses", ["hypothesis", "P(h | data)", "log P(data | h)"]
        elif weights == "held-out":
            title = "Hypotheses, weighted for the best held-out log score of their mixture (stacking)"
            header = ["hypothesis", "weight", "held-out log score of a row"]
        columns = [beliefs.titles, beliefs.weight.tolist(), beliefs.figure.tolist()][: len(header)]
        if self.learner.temperatures is not None:
            header.append("temperature")
            columns.append(self.learner.temperatures)
        best = beliefs.titles[beliefs.best]
        name = "MAP hypothesis" if weights != "held-out" else "greatest weight"
        return (
            Exhibit(title, tuple(header), tuple(zip(*columns, strict=True))),
            Exhibit("The most probable hypothesis", (name,), ((best,),)),
        )

    def search_state(self) -> State:
        """Weights and members, where searches found them."""
        if not self.beliefs.searched:
            return {}
        return {
            "weights": self.beliefs.weight,
            "figures": self.beliefs.figure,
            "members": [m.search_state() for m in self.members],
            "notes": list(self.notes),
        }


def _temperatures(values: Sequence[float], size: int) -> tuple[float, ...]:
    given = list(values)
    if len(given) != size:
        raise SettingError(f"temperatures has {len(given)} numbers, but there are {size} members. Give one for each.")
    for value in given:
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < math.inf:
            raise SettingError(f"temperatures holds {shown(value)}. They must be finite numbers above zero.")
    return tuple(float(v) for v in given)


def _distribution(values: Sequence[float], size: int, name: str) -> tuple[float, ...]:
    """Numbers that are probabilities of the members."""
    given = list(values)
    if len(given) != size:
        raise SettingError(f"{name} has {len(given)} numbers, but there are {size} members. Give one for each.")
    for value in given:
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
            raise SettingError(f"{name} holds {shown(value)}. Probabilities of hypotheses lie between 0 and 1.")
    total = math.fsum(float(v) for v in given)
    if abs(total - 1) > TOLERANCE:
        raise SettingError(f"{name} sums to {total:.10g}, not to 1. Correct the numbers.")
    return tuple(float(v) for v in given)
