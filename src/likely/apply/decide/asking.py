"""What to ask next: how much learning each missing cell of a row would lower the expected loss.

P(v | row) is the density of the row with v over that without; it needs a model of rows, and asks it for nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from likely.apply.decide.decider import Costs, Decision, decider, make_decision
from likely.apply.decide.missing import integrals, is_missing, panels, starts_of, turns
from likely.apply.decide.priors import NewPrior, describer_sentence
from likely.errors import SettingError, shown
from likely.machinery.presented import Presented
from likely.models.contracts import Model, setting_of
from likely.models.loss import Loss
from likely.models.posterior import Matrix, Posterior
from likely.models.shapes import References
from likely.table.batch import UNSEEN_CODE, Batch, Codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

ACCURACY = 1e-9
"""How accurate integrals over numbers are, as a share of the largest difference between two costs."""
LOOKED = 200_000
"""The most numbers that one attribute is tried at."""


@dataclass(frozen=True)
class Question:
    """What learning one missing attribute is worth: the expected drop of the expected loss, and information."""

    attribute: str
    drop: float
    """How much lower the loss of the best action will be, expected, once the attribute is known. Never negative."""
    bits: float
    """Expected information about the class."""
    how: str
    """How its values were gone through."""
    error: float = 0.0
    """How far `drop` may be off, where it was integrated."""


@dataclass(frozen=True, repr=False)
class Questions(Presented):
    """The decision as things stand, and the missing attributes, those worth most first."""

    now: Decision
    questions: tuple[Question, ...]
    notes: tuple[str, ...] = ()


def ask(
    model: Model,
    row: Mapping[str, object] | Batch,
    loss: Loss | Mapping[str, object] | None = None,
    *,
    prior: NewPrior | None = None,
) -> Questions:
    """For each attribute that the row lacks, the expected drop of the expected loss from learning it, ranked.

    drop = min over actions of E[cost | row] - sum over v of P(v | row) * min over actions of E[cost | row, v]

    Levels and bins are summed over; numbers with a density are integrated over.

    >>> import likely
    >>> table = {"sky": ["sun", "sun", "rain", "rain"] * 5, "day": ["a", "b"] * 10, "play": ["y", "y", "n", "n"] * 5}
    >>> model = likely.fit(table, target="play")
    >>> [(q.attribute, round(q.drop, 3)) for q in ask(model, {}).questions]
    [('sky', 0.417), ('day', 0.0)]
    """
    asked_of, model = model, model if model.references is not None else model.of_rows
    how = decider(model, asked_of.loss if loss is None else loss, prior=prior)
    batch = row if isinstance(row, Batch) else next(model.batches(model.table_of_one(row)))
    found = Posterior.of(model.classes, how.model.log_joint(batch), one=True, proper=model.proper)
    now = make_decision(found, how.loss)
    if found.undefined[0]:
        raise SettingError("The row is impossible under every class, so what to ask next cannot be computed.")
    lacking = [c for c in model.schema.attributes if is_missing(batch.cells[c.name])[0]]
    if model.references is not None:
        lacking = [c for c in lacking if c.part is None]  # who learns the date knows its parts
    asked = _Question(how.model, batch, found, Costs(how.loss, model.classes))
    questions = [asked.about(c.name) for c in lacking if c.kind != "text"]
    told = (f"What {shown(c.name)} is worth cannot be computed: it is free text." for c in lacking if c.kind == "text")
    asked.notes += told
    scale = asked.costs.span or 1.0
    # What differs by rounding alone is equal; equals stay in the order of the columns.
    ranked = sorted(questions, key=lambda q: (-round(q.drop / scale, 12), -round(q.bits, 12)))
    notes = [] if model is asked_of else [describer_sentence(asked_of, model)]
    return Questions(now, tuple(ranked), (*notes, *asked.notes))


class _Question:
    """One row, and what becomes of it when a cell is filled in."""

    def __init__(self, model: Model, batch: Batch, found: Posterior, costs: Costs) -> None:
        self.model, self.batch, self.costs = model, batch, costs
        self.evidence, self.chances = float(found.log_evidence[0]), found.matrix[0]
        self.notes: list[str] = []

    def about(self, name: str) -> Question:
        cells = self.batch.cells[name]
        if self.model.references is not None:
            return self._drawn(name, self.model.references)
        if isinstance(cells, Codes):
            codes = np.arange(len(cells.labels), dtype=np.int32)
            if setting_of(self.model.learner, "unseen") == "reserve":
                codes = np.append(codes, np.int32(UNSEEN_CODE))
            words = f"summed over {len(codes)} levels" if len(codes) != 1 else "it has one level only"
            return self._summed(name, self.joint(name, Codes(codes, cells.labels)), words)
        starts = starts_of(self.model.learned, name)
        if starts is not None:
            points = np.concatenate([[np.nextafter(starts[0], -np.inf)], starts]) if len(starts) else np.zeros(1)
            return self._summed(name, self.joint(name, points), f"summed over {len(points)} bins")
        return self._integrated(name)

    def joint(self, name: str, cells: Codes | NDArray[np.float64]) -> Matrix:
        """P(class, row with each of these cells) / P(row)."""
        count = len(cells.codes if isinstance(cells, Codes) else cells)
        part = self.batch.take(np.zeros(count, np.intp))
        log_joint = self.model.log_joint(replace(part, cells=part.cells | {name: cells}))
        with np.errstate(over="ignore"):
            return np.exp(log_joint - self.evidence)

    def _drawn(self, name: str, references: References) -> Question:
        """P(v | row) by the references that are like the row, as answers are averaged over them; of a date with its
        parts."""
        names = [axis.name for axis in references.axes]
        place, parts = names.index(name), [c.name for c in self.model.schema.attributes if c.part_of == name]
        places = [place, *(names.index(part) for part in parts)]
        gone = np.stack([is_missing(self.batch.cells[axis.name]) for axis in references.axes], axis=1)
        drawn, _ = references.draw(self.batch, gone, len(references.codes))
        known = drawn[0][references.codes[drawn[0], place] < references.axes[place].size]
        codes, first, times = np.unique(
            references.codes[known][:, places], axis=0, return_index=True, return_counts=True
        )
        part = self.batch.take(np.zeros(len(codes), np.intp))
        only = np.zeros((len(codes), len(references.axes)), np.bool_)
        only[:, places] = True
        filled = references.fill(part, only, known[first][:, None])
        chances = Posterior.of(self.model.classes, self.model.log_joint(filled)).matrix
        joint = chances * (times / max(int(times.sum()), 1))[:, None]
        return self._summed(name, joint, f"averaged over {len(codes)} values that rows like this one have")

    def _summed(self, name: str, joint: Matrix, words: str) -> Question:
        if len(joint) < 2 or (joint == joint[0]).all():
            return Question(name, 0.0, 0.0, "the model does not use it" if len(joint) > 1 else words)
        self._compare(name, joint.sum(axis=0))
        regret, inner = self._regret(joint).sum(axis=0), float(_information(joint).sum())
        return self._question(name, joint.sum(axis=0), regret, inner, words)

    def _regret(self, joint: Matrix) -> Matrix:
        """For each value, how much more each action costs than the best one: never below zero, also when rounded."""
        expected = self.costs.expected(joint, apart=True)
        return expected - expected.min(axis=1, keepdims=True)  # type: ignore[no-any-return]

    def _integrated(self, name: str) -> Question:
        edges = panels(self.model.learned, name)
        if len(edges) < 2 or _flat(self.joint(name, edges)):
            return Question(name, 0.0, 0.0, "the model does not use it")
        classes = len(self.chances)

        def values(x: NDArray[np.float64]) -> Matrix:
            joint = self.joint(name, x)
            return np.column_stack([joint, self._regret(joint), _information(joint)])

        def best(x: NDArray[np.float64]) -> NDArray[np.intp]:
            return self._regret(self.joint(name, x)).argmin(axis=1)  # type: ignore[no-any-return]

        edges = np.union1d(edges, turns(best, edges))
        span = max(self.costs.span, np.nextafter(0, 1))
        accuracy = np.array([*[ACCURACY] * classes, *[ACCURACY * span] * len(self.costs.loss.actions), ACCURACY])
        total, error = integrals(values, edges, accuracy, LOOKED)
        whole, regret, inner = total[:classes], total[classes:-1], float(total[-1])
        if not whole.sum() > 0:
            return Question(name, 0.0, 0.0, "no plausible number was found", float("inf"))
        self._compare(name, whole)
        missed = abs(float(whole.sum()) - 1.0) if self._consistent() else 0.0  # mass that the panels did not see
        off = float(error[classes:-1].max()) + (float(error[:classes].sum()) + missed) * span
        return self._question(name, whole, regret, inner, "integrated", off)

    def _question(
        self,
        name: str,
        whole: NDArray[np.float64],
        regret: NDArray[np.float64],
        inner: float,
        words: str,
        error: float = 0.0,
    ) -> Question:
        """`whole` is what the classes weigh without the cell: the sum of what they weigh with each of its values.

        The best action that knows nothing of the cell is the one of least regret over all its values; that regret is
        what knowing saves. Where one action is best for every value, the drop is thus zero to the last bit.
        """
        mass = float(whole.sum())
        bits = (inner - float(_information(whole[None])[0])) / mass / math.log(2)
        return Question(name, float(regret.min()) / mass, max(0.0, bits), words, error / mass)  # bits: but for rounding

    def _consistent(self) -> bool:
        """Whether a score leaves a missing cell out by summing over its values."""
        return bool(setting_of(self.model.learner, "missing") != "level")

    def _compare(self, name: str, whole: NDArray[np.float64]) -> None:
        """Say so where a missing cell means something else than that its value is not known."""
        if (
            self.model.references is not None
            or self.notes
            or not whole.sum() > 0
            or np.allclose(whole / whole.sum(), self.chances, atol=1e-6, rtol=0)
        ):
            return
        self.notes.append(
            f"{self.model.called()} does not sum over the values of a missing cell, so that drops are "
            "counted from the average over what may be learned, not from the loss as things stand."
        )


def _information(joint: Matrix) -> NDArray[np.float64]:
    """Sum over classes of w * log(w / sum of all w), for each row of weights: minus entropy times weight, in nats."""
    whole = joint.sum(axis=1, keepdims=True)
    share = np.divide(joint, whole, out=np.zeros_like(joint), where=whole > 0)
    out: NDArray[np.float64] = (joint * np.log(share, out=np.zeros_like(share), where=share > 0)).sum(axis=1)
    return out


def _flat(joint: Matrix) -> bool:
    """Whether a number says nothing, wherever it is."""
    return bool((joint == joint[0]).all())
