"""Scores of probabilities against what happened, as exact sums: accuracy, log loss, Brier score, confusion."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.evaluate import kernels
from likely.evaluate.scores.losses import Chosen
from likely.machinery.records import dataclass
from likely.models.posterior import Posterior
from likely.sums.columns.counts import add_counts
from likely.sums.columns.numbers import Numbers
from likely.sums.exact import Exact
from likely.sums.weights import weights
from likely.table.batch import Ints

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Scores:
    """How good probabilities were. Log loss in bits a row; Brier summed over classes, so 0 is best and 2 is worst."""

    rows: float
    accuracy: float
    log_loss: float | None
    """Bits a row; None where some row's true class was held impossible, so that the loss is infinite."""
    brier: float
    unclassified: float
    """Weight of the rows that could not be classified; they count as wrong."""


class Scorer:
    """Adds up scores over rows; like every sum here it is exact, so threads cannot change a bit of it."""

    def __init__(self, classes: int, chosen: Chosen | None = None, folds: int = 1) -> None:
        self.chosen = chosen
        self.surprise = Numbers(folds, cap=64)
        self.brier = Numbers(folds, cap=64)
        self.right = Exact.zeros(2, folds)
        """Rows named wrongly, and rightly, by fold."""
        self.confusion = Exact.zeros(classes, classes)
        self.unclassified = Exact.zeros(1, classes)

    def update(
        self,
        joint: NDArray[np.float64],
        truth: Ints,
        weight: NDArray[np.float64] | None,
        names: tuple[str, ...],
        fold: int | Ints = 0,
    ) -> None:
        """Take in rows of one fold, or of as many as there are numbers: log joint scores, true classes, weights."""
        found = Posterior.of(names, joint, one=False)
        surprise, brier = np.empty(len(truth)), np.empty(len(truth))
        kernels.row_scores(joint, found.matrix, found.log_evidence, truth, surprise, brier)
        share, group = weights(weight), np.broadcast_to(np.asarray(fold, np.int32), len(truth)).copy()
        self.surprise.update(surprise, group, share)
        self.brier.update(brier, group, share)
        codes = found.codes.astype(np.int32)
        add_counts(codes, truth, share, self.confusion, self.unclassified)
        add_counts((codes == truth).astype(np.int32), group, share, self.right, self.right)
        if self.chosen is not None:
            self.chosen.update(found, truth, share)

    def __add__(self, other: Scorer) -> Scorer:
        out = Scorer(0)
        out.surprise = self.surprise + other.surprise
        out.brier = self.brier + other.brier
        out.confusion = self.confusion + other.confusion
        out.unclassified = self.unclassified + other.unclassified
        out.right = self.right + other.right
        if self.chosen is not None and other.chosen is not None:
            out.chosen = self.chosen + other.chosen
        return out

    def read(self, times: int = 1) -> Scores:
        """The scores, rounded once; of rows that were predicted so many times, each counts once."""
        weight, bits, _ = total_moments(self.surprise)
        scored, brier, _ = total_moments(self.brier)
        infinite = self.surprise.other.sum(1).fractions()[2]
        wrong, right = self.right.sum(1).fractions()
        all_rows = wrong + right
        return Scores(
            float(all_rows / times),
            float(right / all_rows),
            None if infinite else float(bits / weight) / float(np.log(2)),
            float(brier / scored),
            float(self.unclassified.sum(1).fractions()[0] / times),
        )

    def table(self, times: int = 1) -> Any:
        """Confusion: a row for each true class, a column for each predicted one."""
        return (self.confusion.floats().T / times).tolist()


def total_moments(held: Numbers) -> tuple[Fraction, Fraction, Fraction]:
    """Weight, sum and sum of squares over all folds."""
    weight, first, second = zip(*held.moments(), strict=True)
    return sum(weight, Fraction(0)), sum(first, Fraction(0)), sum(second, Fraction(0))
