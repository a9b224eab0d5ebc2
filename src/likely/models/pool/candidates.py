"""Which learners a pool tries on a table: by its columns, its size, the effort, the purpose; and who may be one."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from likely.errors import SettingError, shown
from likely.models.additive.additive import Additive
from likely.models.additive.forest import Forest
from likely.models.contracts import Learner, Model
from likely.models.dependence.one_dependence import OneDependence
from likely.models.dependence.tree import TreeAugmented
from likely.models.full_bayes import FullBayes, LinearDiscriminant
from likely.models.learning import begin, restore
from likely.models.linear.logistic import Logistic
from likely.models.naive.naive import NaiveBayes
from likely.models.naive.tuned import TunedNaiveBayes
from likely.models.neighbors.neighbors import Neighbors
from likely.models.registry import LEARNERS, build_learner
from likely.models.settings import declared, settings_of
from likely.models.text_logistic.learner import TextLogistic, count_entries
from likely.sums.columns.counts import Counts
from likely.sums.contracts import State
from likely.sums.state import require
from likely.sums.summary import Summary

# Which learners a pool tries on a table: by its columns, its size, the effort, and what the model must be able to
# do.

Effort = Literal["quick", "normal", "best"]
Purpose = Literal["sql", "onnx", "pmml", "updates", "explaining"]

LEAST_RACED = 2_000
"""Rows from which on candidates race: those without weight on the first part are not tried on others."""
MOST_NEAR = 20_000
"""Rows up to which those that speak for what is near by (a forest, neighbours) are tried: beyond, boosting finds the
same, and neighbours take longer than all the rest."""
MOST_WORK = {"quick": 30_000_000, "normal": 30_000_000, "best": 200_000_000}
"""Rows times columns times classes up to which a logistic regression is tried: each sweep multiplies them all."""
MOST_LINKED = 150
"""Attributes up to which those that depend on each other (TreeAugmented, OneDependence, FullBayes) are tried."""
MOST_TUNED = 400
"""Numbers times classes up to which TunedNaiveBayes is tried: it learns every density once for each part of each
part. Levels are counted already, and a nominal attribute takes about a fifth of the time of a number."""
SAID_IN_SQL = ("gaussian", "binned")
"""Densities of numbers that SQL can say."""
MOST_WORDS = 1 << 24
"""Different words of texts, added over all texts, times classes up to which weights of words are tried."""
ORDERS: dict[Effort, tuple[Any, ...]] = {"quick": (1, 2), "normal": (1, "any"), "best": (1, 2, 3, "any")}
"""Orders of additive models. Below LEAST_RACED rows, normal tries what best does: it takes a tenth of a second there,
and tables of nothing but interactions of two or three (monk2, GAMETES) gain a tenth to four fifths of their log loss;
above, 2 and 3 gain nothing beside 1 and any, but for 2 where an attribute has many levels: pairs of them say what trees
over all attributes have too few leaves for (100,000 flights by airports: log loss .454, with 2 .450)."""
MANY_LEVELS = 100
RIDGE = 3.0
"""Holds back the many columns of squares and bins."""
ROWS_A_LEAF, MOST_LEAVES = 3_000, 256
"""Of many rows: rows for each leaf of a tree, and leaves at most."""
LARGER_RATE, MANY_ROWS = 0.2, 1_000_000
"""The rate of such trees, which grows with the root of rows beyond so many, to twice as much: the more rows, the more
each tree may say, and the longer it takes."""
STEPS = 0.05
"""Tolerance of logistic regressions: a twentieth of a nat of all rows' log-likelihood, which no probability shows."""

MOST_EXPLAINED = 10
"""Pairs of a model that is to be read."""
MOST_TOGETHER = 6
"""Numbers of one normal density that SQL and ONNX can say, as any of them may be missing."""


def pool_candidates(summary: Summary, effort: Effort, purposes: Collection[Purpose] = ()) -> tuple[Learner, ...]:
    """The family as far as it fits, naive Bayes first."""
    numbers = sum(c.kind not in ("nominal", "text") for c in summary.schema.attributes)
    kept: list[Any] = []
    for learner in _family(summary, effort, purposes):
        one = _said_by(learner, purposes, numbers)
        if one is not None and one not in kept and _serves(one, purposes):
            kept.append(one)
    return tuple(kept)


def larger_member(candidates: Collection[Learner], summary: Summary) -> Additive | None:
    """A boosted sum with as many leaves as many rows can fill, where one of any order is a candidate as it comes: it
    is too large for people to read and for other languages, so that who asks for these has none."""
    rows, schema = summary.rows, summary.schema
    leaves = min(MOST_LEAVES, 1 << int(math.log2(max(rows // ROWS_A_LEAF, 1))))
    if Additive(order="any") not in candidates or leaves <= Additive(order="any").leaves or not schema.attributes:
        return None
    rate = LARGER_RATE * min(max(rows / MANY_ROWS, 1.0) ** 0.5, 2.0)
    return Additive(order="any", leaves=leaves, rate=round(rate, 2))


def _serves(learner: object, purposes: Collection[Purpose]) -> bool:
    """Whether a learner's models can do all that is asked."""
    return not {*purposes} & {*LEARNERS.entry(type(learner).__name__).unable}


def _said_by(learner: Any, purposes: Collection[Purpose], numbers: int) -> Any:
    """The same as people can read it, where that is asked for: with a few pairs of attributes, and nothing larger; and
    with such densities of numbers as the languages can say. None where there are none.

    SQL has no kernel densities, SQL and ONNX normal densities of a few numbers together only. PMML gives weights to
    tables alone: with numbers cut into bins, which may be another candidate.
    """
    blocks = isinstance(learner, NaiveBayes) and bool(learner.blocks)
    if "explaining" in purposes:
        if blocks or (isinstance(learner, Logistic) and learner.numbers == "squares"):
            return None
        if isinstance(learner, Additive) and learner.order != 1:
            learner = Additive(order=2, pairs=MOST_EXPLAINED)
    together = blocks or isinstance(learner, (FullBayes, LinearDiscriminant))
    if numbers > MOST_TOGETHER and together and {"sql", "onnx"} & {*purposes}:
        return None
    if isinstance(learner, TunedNaiveBayes) and "pmml" in purposes:
        return replace(learner, densities=("binned",))
    if isinstance(learner, (TunedNaiveBayes, NaiveBayes)) and "sql" in purposes:
        if isinstance(learner, TunedNaiveBayes):
            return replace(learner, densities=SAID_IN_SQL)
        learner = None if learner.numbers == "kernel" else learner
    if "pmml" not in purposes or not numbers:
        return learner
    if isinstance(learner, Logistic):
        return learner if learner.numbers == "binned" else None
    if isinstance(learner, NaiveBayes):
        return None if learner.blocks else replace(learner, numbers="binned")
    return learner


def _family(summary: Summary, effort: Effort, purposes: Collection[Purpose]) -> list[Any]:
    schema, wordless = summary.schema, summary.without_text()
    numbers = [c.name for c in schema.attributes if c.kind not in ("nominal", "text")]
    nominal = [c.name for c in schema.attributes if c.kind == "nominal"]
    count, rows, classes = len(numbers) + len(nominal), summary.rows, len(summary.classes)
    out: list[Any] = [NaiveBayes()]
    if 0 < count_entries(summary) * classes <= MOST_WORDS:
        out.append(TextLogistic())
    if not count:
        return out[-1:]  # it pools naive Bayes of words with weights of words itself
    # Of many rows it gains nothing beside boosting; but where rows are to be learned and unlearned there is none.
    thorough = effort == "best" or (effort == "normal" and (rows < LEAST_RACED or "updates" in purposes))
    if thorough and (len(numbers) + len(nominal) / 5) * classes <= MOST_TUNED:
        # Kernels take long to tune, and SQL cannot say them.
        out.append(TunedNaiveBayes(parts=3) if effort == "best" else TunedNaiveBayes(parts=3, densities=SAID_IN_SQL))
    linked = 2 <= count <= MOST_LINKED and effort != "quick"
    tried = [Logistic(tolerance=STEPS)]
    if numbers and effort != "quick":
        tried += [Logistic(numbers=how, ridge=RIDGE, tolerance=STEPS) for how in ("binned", "squares")]
    for learner in tried:
        if rows * learner.design(wordless).size * classes <= MOST_WORK[effort]:
            out.append(learner)
    if linked and not nominal:
        out += [LinearDiscriminant(), FullBayes(shrinkage="auto")]
    elif linked and len(numbers) > 1:
        out.append(NaiveBayes(blocks=(tuple(numbers),)))
    orders = ORDERS["best" if effort == "normal" and rows < LEAST_RACED else effort]
    if effort == "normal" and rows >= LEAST_RACED and _has_many_levels(summary):
        orders = (1, 2, "any")
    if effort != "quick" and rows <= MOST_NEAR:
        out.append(Forest())
    out += [Additive(order=order) for order in orders if order == "any" or order <= count]
    if effort == "best":
        if numbers:
            out += [NaiveBayes(numbers="binned"), NaiveBayes(numbers="kernel")]
        if linked:
            out += [TreeAugmented(), OneDependence()]
        if rows <= MOST_NEAR:
            out += [Neighbors(k=k, pseudo_count=1.0) for k in (1, 3, 10, 30)]
    return out


def _has_many_levels(summary: Summary) -> bool:
    """Whether an attribute has so many levels that trees over all attributes part few of their rows by a pair."""
    held = (summary.columns[c.name] for c in summary.schema.attributes)
    return any(isinstance(own, Counts) and len(own.labels) > MANY_LEVELS for own in held)


# Members of pools and mixtures: the learners that may be one.


def member_spec(member: Any) -> dict[str, Any]:
    """A member as plain values, all its settings spelled out."""
    learner = member_learner(member) if isinstance(member, (Mapping, str)) else member
    _refuse_mixture(type(learner).__name__)
    if isinstance(learner, type) or not isinstance(learner, Learner):
        raise SettingError(f"{shown(member)} is not a learner. Give settings such as NaiveBayes(pseudo_count=0.5).")
    return {"name": type(learner).__name__, **settings_of(learner)}


def check_members(members: Any) -> tuple[dict[str, Any], ...]:
    """The members one by one, as plain values; a single learner or spec is one member."""
    several = isinstance(members, Sequence) and not isinstance(members, str)
    return tuple(member_spec(member) for member in (members if several else [members]))


def _refuse_mixture(name: str) -> None:
    """Learners of other learners cannot be members."""
    if name in LEARNERS and any(setting == "members" for setting, _, _ in declared(LEARNERS[name])):
        raise SettingError(f"{name} cannot be a member of a mixture. Name its members instead.")


def member_learner(spec: Mapping[str, Any] | str) -> Learner:
    """The learner that plain values stand for."""
    settings = {"name": spec} if isinstance(spec, str) else dict(spec)
    name = settings.pop("name", None)
    if not isinstance(name, str):
        raise SettingError('A member needs the name of its learner, such as {"name": "NaiveBayes"}.')
    _refuse_mixture(name)
    learner: Learner = build_learner(name, settings)
    return learner


def restore_member(learner: Learner, summary: Summary, found: State) -> Model:
    """A member as a file keeps it: what a search found of it, or, where nothing, what its sums say."""
    if found:
        return restore(learner, summary, found)
    model = begin(learner, summary)
    require(isinstance(model, Model), "a member that searches was found")
    assert isinstance(model, Model)
    return model
