"""Auto and Pool: learners whose model is a pool of others' evidence. Settings only.

`Auto` says itself who is tried (candidates.py); `Pool` is told. How they learn is in pool.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np

from likely.errors import SettingError, shown
from likely.models.contracts import Trait
from likely.models.learning import looks_at_rows
from likely.models.pool.candidates import (
    Effort,
    Purpose,
    check_members,
    member_learner,
    member_spec,
    pool_candidates,
    restore_member,
)
from likely.models.pool.choosing import Choice, Trial
from likely.models.pool.pool import PoolPlan, learn_members, learn_pool, pool_of
from likely.models.settings import Settings, parts_setting, setting
from likely.sums.contracts import State
from likely.sums.state import read_finite, read_texts, require
from likely.sums.summary import Summary
from likely.table.schema import Schema

if TYPE_CHECKING:
    from likely.models.contracts import Learner, Learning, Model

MOST_WEIGHT = 1e6
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)


def check_purposes(value: Any) -> tuple[Purpose, ...]:
    """What a model must be able to do, one by one."""
    several = [value] if isinstance(value, str) else list(value) if isinstance(value, Collection) else [value]
    for one in several:
        if one not in PURPOSES:
            raise SettingError(f"A model cannot be meant for {shown(one)}. Say one or more of: {', '.join(PURPOSES)}.")
    return tuple(purpose for purpose in PURPOSES if purpose in several)


def check_pool_weights(value: Any) -> Any:
    """held-out, or a number for each member."""
    if isinstance(value, str):
        if value != "held-out":
            raise SettingError(f"weights is {shown(value)}. Say 'held-out', or give a number for each member.")
        return value
    if not isinstance(value, Sequence):
        raise SettingError(f"weights is {shown(value)}. Say 'held-out', or give a number for each member.")
    for one in value:
        if isinstance(one, bool) or not isinstance(one, (int, float)) or not 0 <= float(one) <= MOST_WEIGHT:
            raise SettingError(f"weights holds {shown(one)}. They must be numbers from 0 to {MOST_WEIGHT:g}.")
    return tuple(float(one) for one in value)


@dataclass(frozen=True)
class Auto(Settings):
    """log P(class | row) = log P(class) + sum over members h of w_h * evidence of h, less what normalises it.

    The evidence of a member is log P_h(class | row) - log P(class). Candidates are learned from all parts of the rows
    but one, and score the rows of that part; weights w_h >= 0 make the pool's held-out log score the best, and are
    exactly 0 for what adds nothing. The prior has no weight: where nothing is known of a row, the answer is the prior.
    What is kept then learns from all rows. Rows are dealt to parts by a hash of their content, equal rows to the same
    unless most rows have their equal.

    >>> Auto().effort
    'normal'
    """

    traits: ClassVar[frozenset[Trait]] = frozenset({"tries dates"})
    effort: Effort = setting(
        "normal",
        "How much is tried. quick: naive Bayes, logistic regression and additive models of order 1 and 2. best: also "
        "neighbours and what else there is, every part of the rows held out in turn.",
        choices=("quick", "normal", "best"),
    )
    for_: tuple[Purpose, ...] = setting(
        (),
        "What the model must be able to do: sql, onnx, pmml (be exported), updates (learn, unlearn, merge), explaining "
        "(be read: curves, and ten pairs of attributes at most; what that costs is said). Candidates that cannot are "
        "left out.",
        convert=check_purposes,
    )
    members: Sequence[Any] = setting(
        (), "Candidates; none: those that fit the columns and the number of rows.", convert=check_members
    )
    parts: int = parts_setting()
    seed: int = setting(0, "Seed for assigning rows to parts.", whole=True)

    def needs(self, schema: Schema) -> frozenset[str]:
        """Nothing beforehand: what candidates are made of is summed from the rows that are chosen by."""
        return frozenset()

    def candidates(self, summary: Summary) -> tuple[Learner, ...]:
        """What is tried on these columns and rows."""
        given = tuple(map(member_learner, self.members))
        return given or pool_candidates(summary, self.effort, self.for_)

    def _without_limit(self, summary: Summary) -> tuple[Learner, ...]:
        """What would be tried if nobody had to read it."""
        return pool_candidates(summary, self.effort, [p for p in self.for_ if p != "explaining"])

    @looks_at_rows
    def learn(self, summary: Summary) -> Learning[Model]:
        """The pool of what held-out rows choose; with a single class there is nothing to choose."""
        return self.learn_beside(summary, {})

    def learn_beside(self, summary: Summary, others: Mapping[str, Learner]) -> Learning[Model]:
        """The same, with others judged on the same held-out rows."""
        thorough, larger = self.effort == "best", not self.for_ and self.effort != "quick"
        if "pmml" in self.for_:
            summary = summary.settled()  # which cannot say how parts of dates are found
        limited = "explaining" in self.for_ and not self.members
        screens = not self.members and "updates" not in self.for_  # models of other rows must know the same columns
        unlimited = self._without_limit if limited else None
        plan = PoolPlan(self, self.candidates, self.parts, self.seed, thorough, others, larger, unlimited, screens)
        return learn_pool(plan, summary)

    def restore(self, summary: Summary, found: State) -> Model:
        """The model as a file keeps it."""
        return restore_pool(self, summary, found)


@dataclass(frozen=True)
class Pool(Settings):
    """The logarithmic pool of given members: their evidence, each times its weight, added to one prior.

    >>> from likely.models.naive.naive import NaiveBayes
    >>> Pool((NaiveBayes(),), weights=(0.5,)).weights
    (0.5,)
    """

    members: Sequence[Any] = setting(
        ..., 'Learners, or plain values such as {"name": "NaiveBayes", "pseudo_count": 0.5}.', convert=check_members
    )
    weights: Literal["held-out"] | Sequence[float] = setting(
        "held-out", "held-out: found as Auto does. Or a number for each member.", convert=check_pool_weights
    )
    parts: int = parts_setting()
    seed: int = setting(0, "Seed for assigning rows to parts.", whole=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.members:
            raise SettingError("Pool has no members. Name at least one learner.")
        if not isinstance(self.weights, str) and len(self.weights) != len(self.members):
            raise SettingError(
                f"weights has {len(self.weights)} numbers, but there are {len(self.members)} members. Give one for "
                "each."
            )

    @property
    def learners(self) -> tuple[Learner, ...]:
        """The members as learners."""
        return tuple(map(member_learner, self.members))

    def needs(self, schema: Schema) -> frozenset[str]:
        """All that any member needs, where nothing is to be chosen."""
        if self.weights == "held-out":
            return frozenset()
        return frozenset().union(*(learner.needs(schema) for learner in self.learners))

    @looks_at_rows
    def learn(self, summary: Summary) -> Learning[Model]:
        """Let members learn; find their weights where none are given."""
        if isinstance(self.weights, str):
            return learn_pool(PoolPlan(self, lambda _: self.learners, self.parts, self.seed, True), summary)
        summary, weights = summary.canonical(), np.array(self.weights)
        trial = replace(Trial.none(""), candidates=tuple(map(member_spec, self.learners)), weights=weights)
        trial = replace(trial, scores=np.full(len(weights), np.nan))
        return learn_members(self, summary, Choice(trial, self.learners, ()))

    def restore(self, summary: Summary, found: State) -> Model:
        """The model as a file keeps it."""
        return restore_pool(self, summary, found)


def restore_pool(learner: Learner, summary: Summary, found: State) -> Model:
    """The model as a file keeps it."""
    members: list[Model] = []
    for spec, own in zip(found["kept"], found["members"], strict=True):
        members.append(restore_member(member_learner(spec), summary, own))
    weights = read_finite(found["weights"], (len(members),), "weights of members", least=0.0, most=MOST_WEIGHT)
    trial = Trial.from_state(found["trial"])
    for member in members:
        require(member.classes == summary.classes, "members know the classes of the pool")
    notes, bounded = read_texts(found["notes"], "notes"), bool(found.get("bounded"))
    return pool_of(learner, summary, members, weights, trial, notes=notes, bounded=bounded)
