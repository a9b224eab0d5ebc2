"""What decisions cost against what happened: actions by true class as exact sums, and the mean cost they come to."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likely.apply.decide.decision import Costs, make_decision
from likely.machinery.arrays import Ints
from likely.models.posterior import Posterior
from likely.probability.loss import Loss
from likely.sums.columns.counts import add_counts
from likely.sums.exact import Exact
from likely.sums.weights import Weights

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class LossScores:
    """What deciding cost on rows that were not learned from, a row, beside what it would cost to know nothing."""

    actions: tuple[str, ...]
    mean: float
    """Mean cost of the actions of the learner."""
    baseline: float
    """Mean cost of the actions that the frequencies of the classes suggest, out of fold."""
    constant: str
    """The one action that would have cost least if always chosen."""
    constant_mean: float
    undecided: float
    """Weight of the rows without an action; they count as if the costliest action had been chosen."""
    table: tuple[tuple[float, ...], ...]
    """Weight of each action (columns) in each true class (rows)."""


class Chosen:
    """Adds up, by true class, how often each action is chosen."""

    def __init__(self, loss: Loss, classes: tuple[str, ...]) -> None:
        self.loss, self.classes = loss, classes
        self._costs = Costs(loss, classes)
        self.table = Exact.zeros(len(loss.actions), len(classes))
        self.undecided = Exact.zeros(1, len(classes))

    def update(self, found: Posterior, truth: Ints, share: Weights) -> None:
        """Take in rows: their posterior, true classes and weights."""
        codes: NDArray[np.int32] = make_decision(found, self.loss, costs=self._costs).codes.astype(np.int32)
        add_counts(codes, truth, share, self.table, self.undecided)

    def __add__(self, other: Chosen) -> Chosen:
        out = Chosen(self.loss, self.classes)
        out.table, out.undecided = self.table + other.table, self.undecided + other.undecided
        return out

    def weights(self) -> tuple[list[list[Fraction]], list[Fraction]]:
        """What each action weighs in each class, (classes, actions), and the rows without one, by class; exact."""
        flat, wide = self.table.fractions(), len(self.classes)
        by_action = [flat[k * wide : (k + 1) * wide] for k in range(len(self.loss.actions))]
        return [list(row) for row in zip(*by_action, strict=True)], list(self.undecided.fractions())

    def mean(self) -> Fraction:
        """The mean cost, exact."""
        rows, none = self.weights()
        costs = [[Fraction(c) for c in row] for row in self.loss.rows(self.classes)]
        spent = sum(
            (w * c for ws, cs in zip(rows, costs, strict=True) for w, c in zip(ws, cs, strict=True)), Fraction(0)
        )
        spent += sum((w * max(cs) for w, cs in zip(none, costs, strict=True)), Fraction(0))
        return spent / (sum(map(sum, rows), Fraction(0)) + sum(none, Fraction(0)))


def loss_scores(own: Chosen, baseline: Chosen, times: int = 1) -> LossScores:
    """The scores, rounded once; of rows that were predicted so many times, each counts once."""
    rows, none = own.weights()
    totals = [sum(row, Fraction(0)) + lost for row, lost in zip(rows, none, strict=True)]
    costs = [[Fraction(c) for c in row] for row in own.loss.rows(own.classes)]
    whole = sum(totals, Fraction(0))
    always = [sum((t * row[a] for t, row in zip(totals, costs, strict=True)), Fraction(0)) / whole
              for a in range(len(own.loss.actions))]  # fmt: skip
    best = min(range(len(always)), key=always.__getitem__)
    return LossScores(
        own.loss.actions,
        float(own.mean()),
        float(baseline.mean()),
        own.loss.actions[best],
        float(always[best]),
        float(sum(none, Fraction(0)) / times),
        tuple(tuple(float(w / times) for w in row) for row in rows),
    )
