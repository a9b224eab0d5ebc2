"""A learner tried on rows kept in memory: what models of the other parts say of the rows of a part.

Knows learners by their contract.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from likely.errors import LikelyError
from likely.machinery.arrays import Floats
from likely.machinery.threads import in_order
from likely.models import kernels
from likely.models.contracts import Learner, Model, Search, begin_learning
from likely.models.heldout.dealing import class_codes, sum_rows
from likely.models.heldout.kept_rows import KeptRows
from likely.models.posterior import Matrix
from likely.sums.summary import Summary
from likely.table.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray


A = TypeVar("A")
B = TypeVar("B")
PIECE = 16_384
"""Rows that a search looks at at a time."""
MOST_SCORED, MOST_NUMBERS = 20_000, 1 << 24
"""Held-out rows that are scored at most, and numbers that scores may take up: more rows would say the same."""


def most_scored(row_size: int, least: int) -> int:
    """Held-out rows that are scored at most, `least` however many numbers the scores of a row are."""
    return min(MOST_SCORED, max(MOST_NUMBERS // max(row_size, 1), least))


@runtime_checkable
class HoldsOut(Protocol):
    """A learner that holds rows out itself: in a trial it scores them on the way, so that nothing is learned twice."""

    def hold_out(
        self, total: Summary, training: Mapping[int, Summary], rows: KeptRows, places: NDArray[np.intp]
    ) -> tuple[Floats, Learner]:
        """What models of the other parts say of the rows at `places` beyond the prior, (places, classes of `total`);
        and the learner that learns from all rows with what was found."""
        ...


def hold_out(
    learner: Learner, total: Summary, training: Mapping[int, Summary], rows: KeptRows, places: NDArray[np.intp]
) -> tuple[Floats, Learner]:
    """What the learner says of held-out rows (at `places`) beyond the prior, and what learns from all rows then."""
    if isinstance(learner, HoldsOut):
        return learner.hold_out(total, training, rows, places)
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
    """The model of these rows and their sums; a search looks at them until it is done. `classes` number the rows."""
    found = begin_learning(learner, own_sums(learner, summary))
    group = class_codes(classes, summary.classes)[rows.group]
    while isinstance(found, Search):
        sums: tuple[Any, ...] | None = None
        for start in range(0, len(rows), PIECE):
            cut = slice(start, start + PIECE)
            part = found.look_at(replace(rows.batch.sliced(cut), start=start), group[cut], rows.weight[cut])
            sums = part if sums is None else tuple(a + b for a, b in zip(sums, part, strict=True))
        assert sums is not None
        found = found.step(sums)
    return found


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


class SumTuple:
    """What one of several searches wants added up."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values

    def __add__(self, other: SumTuple) -> SumTuple:
        return SumTuple(tuple(a + b for a, b in zip(self.values, other.values, strict=True)))


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
