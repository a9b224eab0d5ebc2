"""The held-out engine: rows kept in memory, a part of them held out at a time, learners judged on that part.

Who chooses by held-out rows (pools, mixtures, tuned naive Bayes, temperatures, settings of text) keeps, deals, sums,
learns and scores here; what follows from the scores is the chooser's own, and in weighing.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from likely.errors import LikelyError, SettingError
from likely.machinery.arrays import Bools, Floats, Ints
from likely.machinery.threads import in_order
from likely.models import shapes
from likely.models.contracts import Learner, Learning, Model, Sweep
from likely.models.factors.bins import value_ranges
from likely.models.heldout.kept_rows import (
    LAST_HASH,
    GatheredRows,
    KeptRows,
    class_codes,
    most_kept,
    recode_target,
    sum_rows,
)
from likely.models.heldout.weighing import temperature_of
from likely.models.learning import learning, run
from likely.models.posterior import Matrix
from likely.sums.exact import plus_tuples
from likely.sums.summary import Summary
from likely.table.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray


A = TypeVar("A")
B = TypeVar("B")
PIECE = 16_384
"""Rows that a learner looks at at a time."""
MOST_SCORED, MOST_NUMBERS = 20_000, 1 << 24
"""Held-out rows that are scored at most, and numbers that scores may take up: more rows would say the same."""
MIX = np.uint64(0x9E3779B97F4A7C15)


def keep_rows(summary: Summary, parts: int, seed: int = 0) -> Learning[KeptRows]:
    """Rows to choose by, dealt to parts: all, or those with the smallest hashes of their content. One sweep.

    Of many rows, those that cannot be among them are not even copied: the smallest hashes lie below twice the share of
    rows that is wanted. Where most rows have their equal that may be too few, and a second sweep takes in all.
    """
    most = most_kept(summary)
    last = min(2 * most * (LAST_HASH // max(summary.rows, 1)), LAST_HASH)
    (gathered,) = yield Sweep(gather_rows, (summary, most, last))
    if last < LAST_HASH and gathered.short:
        (gathered,) = yield Sweep(gather_rows, (summary, most, LAST_HASH))
    rows: KeptRows = gathered.dealt(summary, parts, seed)
    return rows


def gather_rows(
    summary: Summary, most: int, last: int, batch: Batch, group: Ints, weight: Floats
) -> tuple[GatheredRows]:
    """The rows of a batch to choose by."""
    batch, group = recode_target(summary.classes, batch, group)
    return (GatheredRows.of(summary, batch, group, weight, most, last),)


def most_scored(row_size: int, least: int) -> int:
    """Held-out rows that are scored at most, `least` however many numbers the scores of a row are."""
    return min(MOST_SCORED, max(MOST_NUMBERS // max(row_size, 1), least))


@dataclass(frozen=True, eq=False)
class HeldOutParts:
    """Rows in memory, and for each part that is held out the sums of all rows that are not in it."""

    rows: KeptRows
    classes: tuple[str, ...]
    """Number the rows."""
    sums: Mapping[int, Summary]
    """Of each part that has rows."""
    training: Mapping[int, Summary]
    """Of all rows but those of a part. Empty where no part has others beside it."""
    total: Summary

    @classmethod
    def of(
        cls,
        summary: Summary,
        rows: KeptRows,
        requests: Iterable[str] = (),
        held: Iterable[int] | None = None,
        whole: Summary | None = None,
    ) -> HeldOutParts:
        """With sums of the first order and those requested. `held` are the parts that are held out (None: all, in
        turn); `whole` are sums of more rows than these, from which parts are taken then."""
        wanted = list(requests)

        def summed(part: int) -> Summary:
            return sum_rows(summary, [rows.batch.take(np.flatnonzero(rows.inside(part)))], wanted)

        each = enumerate(in_order(iter(range(rows.parts)), summed))
        parts = {part: own for part, own in each if own.rows}
        total = reduce(add, parts.values()).canonical() if whole is None else whole
        alone = whole is None and len(parts) < 2
        out = cls(rows, summary.classes, {} if alone else parts, {}, total)
        return out.holding(range(rows.parts) if held is None else held)

    def holding(self, parts: Iterable[int]) -> HeldOutParts:
        """The same with these parts held out."""
        return replace(self, training={part: self.total - self.sums[part] for part in parts if part in self.sums})

    @cached_property
    def known(self) -> Bools:
        """Whether each row is held out, and its class known to the parts that are not."""
        out = np.zeros(len(self.rows), np.bool_)
        for part, own in self.training.items():
            out |= self.rows.inside(part) & (class_codes(self.classes, own.classes)[self.rows.group] >= 0)
        return out

    def places(self, counted: Bools | None = None) -> NDArray[np.intp]:
        """The held-out rows that count (None: all), part after part."""
        inside = (self.rows.inside(part) for part in self.training)
        some = [np.flatnonzero(mine if counted is None else mine & counted) for mine in inside]
        return np.concatenate([np.empty(0, np.intp), *some])

    def sample(self, row_size: int, least: int = 100) -> NDArray[np.intp]:
        """Places of known rows, part after part: no more than `most_scored`, by content alone."""
        counted, most = self.known, most_scored(row_size, least)
        if len(self.rows) > most:  # not by the digits that deal
            counted = counted & (self.rows.hashes * MIX < np.uint64(int(most / len(self.rows) * 2**64)))
        return self.places(counted)

    def model(self, learner: Learner, part: int) -> Model:
        """What is learned from all rows but those of a part."""
        others = self.rows.take(np.flatnonzero(~self.rows.inside(part)))
        return learn_kept(learner, self.training[part], others, self.classes)

    def scores(
        self,
        learners: Sequence[Learner],
        places: NDArray[np.intp],
        score: Callable[[Model, Batch, Ints], Floats],
        improper: Callable[[int], LikelyError],
    ) -> Floats:
        """score(model, rows, their classes), (…, rows, …), by models that have not seen them: (learners, …, places, …).

        Places are part after part. One whose scores are no probabilities is refused, as `improper` says.
        """

        def scored(job: tuple[int, int]) -> Floats | None:
            h, part = job
            model = self.model(learners[h], part)
            if not model.proper:
                raise improper(h)
            some = self.rows.take(places[self.rows.part[places] == part])
            return score(model, some.batch, some.group) if len(some) else None

        parts = [*self.training]
        found = list(in_order(iter([(h, part) for h in range(len(learners)) for part in parts]), scored))
        each = [found[h * len(parts) : (h + 1) * len(parts)] for h in range(len(learners))]
        return np.stack([np.concatenate([one for one in own if one is not None], axis=-2) for own in each])

    def evidence(self, learner: Learner, places: NDArray[np.intp], bounded: bool = False) -> tuple[Floats, Learner]:
        """What the learner says of held-out rows beyond the prior, (places, classes), and what learns from all rows
        then. `bounded`: what it says as a member of a pool."""
        own_way = getattr(learner, "hold_out", None)  # who holds rows out itself scores them on the way
        if own_way is not None:
            found: tuple[Floats, Learner] = own_way(self, places)
            return found
        out = np.zeros((len(places), len(self.total.classes)))
        for part, own in self.training.items():
            inside, model = self.rows.part[places] == part, self.model(learner, part)
            if bounded:
                model = replace(model, score=shapes.bound(model.score, value_ranges(own)))
            said = evidence_of(model, self.rows.take(places[inside]), self.total.classes, own)
            out[inside] = shapes.soften(said) if bounded else said
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


def attempt(work: Callable[[A], B], given: A) -> B | LikelyError:
    """What comes of it, or the error that says why nothing does."""
    try:
        return work(given)
    except LikelyError as error:
        return error


def log_posterior(model: Model, batch: Batch, classes: tuple[str, ...]) -> Matrix:
    """log P(class | row) over these classes; a row that cannot be classified is all -inf."""
    return shapes.over_classes(shapes.log_posterior(model.log_joint(batch)), model.classes, classes)


# The temperature of a learner by held-out rows: what its evidence is multiplied by to be as sure as it may be.

PARTS = 5
"""Rows are dealt to so many parts."""


class Temperable(Learner, Protocol):
    """A learner with a temperature."""

    def untempered(self) -> Learner:
        """The same settings, with evidence as it is."""
        ...

    def tempered(self, model: Model, temperature: float, note: str) -> Model:
        """What `untempered` has learned, its evidence multiplied."""
        ...


def learn_temperature(learner: Temperable, summary: Summary) -> Learning[Model]:
    """The tempered model; as it is, where no row can be held out or knowledge names classes without rows."""
    plain = learner.untempered()
    unknown = float(summary.total.floats().min()) <= 0 if len(summary.classes) else True
    if unknown or len(summary.classes) < 2 or summary.rows < 2 * PARTS:
        model = yield from learning(plain, summary)
        return learner.tempered(model, 1.0, "The evidence is not scaled: too few rows or classes to hold any out.")
    summary = summary.canonical()
    rows = yield from keep_rows(summary, PARTS)
    temperature = _best_temperature(plain, summary, HeldOutParts.of(summary, rows, sorted(plain.needs(summary.schema))))
    model = yield from learning(plain, own_sums(plain, summary))
    if not model.proper:
        raise _improper(0)
    if temperature is None:
        return learner.tempered(model, 1.0, "The evidence is not scaled: no rows could be held out.")
    note = f"All evidence is scaled by {temperature:.3g}, the best factor on held-out rows."
    return learner.tempered(model, temperature, note)


def _best_temperature(plain: Learner, summary: Summary, parts: HeldOutParts) -> float | None:
    """The temperature with the best held-out log score; None where no row could be held out."""
    places = parts.sample(len(summary.classes))
    if not len(places):
        return None

    def logs_of(model: Model, batch: Batch, truth: Ints) -> Matrix:
        return log_posterior(model, batch, summary.classes)

    (logs,) = parts.scores([plain], places, logs_of, _improper)
    truth, total = parts.rows.group[places].astype(np.intp), summary.total.floats()
    return temperature_of(logs, truth, parts.rows.weight[places], total / total.sum(), float(total.sum()))


def _improper(candidate: int) -> SettingError:
    """Texts may be scored without a scale."""
    return SettingError("Scores of a text without a scale are not probabilities, so they have no temperature.")
