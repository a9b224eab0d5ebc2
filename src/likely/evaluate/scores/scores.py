"""Scores of probabilities against what happened, as exact sums: accuracy, log loss, Brier score, confusion."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.evaluate import kernels
from likely.evaluate.scores.losses import Chosen
from likely.machinery.arrays import Ints
from likely.models.posterior import Posterior
from likely.sums.columns.counts import add_counts
from likely.sums.columns.numbers import Numbers
from likely.sums.exact import Exact
from likely.sums.weights import weights

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


def is_better(accuracy: float, guessing: float) -> bool:
    """Whether an accuracy is better than that of always guessing one class, in the figures that people read: per cent
    with one decimal. Whoever says "no better than guessing" asks this.

    >>> is_better(0.7923, 0.7918), is_better(0.793, 0.792)
    (False, True)
    """
    return float(f"{100 * accuracy:.1f}") > float(f"{100 * guessing:.1f}")


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
        self.truth = Exact.zeros(classes, folds)
        """Rows of each class, by fold."""
        self.squares, self.lost_squares = Exact.zeros(classes, classes), Exact.zeros(1, classes)
        """Of the weights, as the confusion and the unclassified: they say how many equal rows would be as sure."""
        self.always: int | None = None
        """The class that every row was answered with, where that is so."""

    def update(
        self,
        joint: NDArray[np.float64],
        truth: Ints,
        weight: NDArray[np.float64] | None,
        names: tuple[str, ...],
        fold: int | Ints = 0,
        squares: NDArray[np.float64] | None = None,
    ) -> None:
        """Take in rows of one fold, or of as many as there are numbers: log joint scores, true classes, weights.

        `squares` are those of the weights, where a row stands for several that were put together.
        """
        found = Posterior.of(names, joint, one=False)
        surprise, brier = np.empty(len(truth)), np.empty(len(truth))
        kernels.row_scores(joint, found.matrix, found.log_evidence, truth, surprise, brier)
        share, group = weights(weight), np.broadcast_to(np.asarray(fold, np.int32), len(truth)).copy()
        self.surprise.update(surprise, group, share)
        self.brier.update(brier, group, share)
        codes = found.codes.astype(np.int32)
        add_counts(codes, truth, share, self.confusion, self.unclassified)
        add_counts((codes == truth).astype(np.int32), group, share, self.right, self.right)
        add_counts(truth, group, share, self.truth, self.truth)
        squared = share if weight is None else weights(weight**2 if squares is None else squares)
        add_counts(codes, truth, squared, self.squares, self.lost_squares)
        if self.chosen is not None:
            self.chosen.update(found, truth, share)

    def __add__(self, other: Scorer) -> Scorer:
        out = Scorer(0)
        out.surprise = self.surprise + other.surprise
        out.brier = self.brier + other.brier
        out.confusion = self.confusion + other.confusion
        out.unclassified = self.unclassified + other.unclassified
        out.right, out.truth = self.right + other.right, self.truth + other.truth
        out.squares, out.lost_squares = self.squares + other.squares, self.lost_squares + other.lost_squares
        out.always = self.always
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

    def always_guessing(self) -> Scorer:
        """The same rows, each answered with the class that most of them have (of equals the first).

        This is what "always guessing" means everywhere. Frequencies that are learned fold by fold would name now one
        class, now another where these are about as frequent, and always the wrong one where each row is left out in
        turn. Log loss and Brier score stay those of the frequencies.
        """
        frequent = self.truth.sum(1).fractions()
        k = max(range(len(frequent)), key=frequent.__getitem__)
        out, classes = copy(self), np.arange(len(frequent))
        to_k, none = np.full(len(frequent), k, np.intp), Exact.zeros(1, len(frequent))

        def all_to_k(table: Exact, lost: Exact) -> Exact:
            return table.scattered(to_k, 0, len(classes)) + lost.scattered(to_k[:1], 0, len(classes))

        out.right = self.truth.scattered((classes == k).astype(np.intp), 0, 2)
        out.confusion, out.unclassified = all_to_k(self.confusion, self.unclassified), none
        out.squares, out.lost_squares = all_to_k(self.squares, self.lost_squares), none
        out.always = k
        return out

    def effective_rows(self, times: int = 1) -> float:
        """How many rows of equal weight would be as sure as these (Kish): (sum of weights)² / sum of their squares."""
        weight = sum(self.right.sum(1).fractions(), Fraction(0))
        squares = sum(self.squares.sum(1).fractions(), Fraction(0)) + sum(self.lost_squares.fractions(), Fraction(0))
        return float(weight * weight / squares / times)

    def table(self, times: int = 1) -> Any:
        """Confusion: a row for each true class, a column for each predicted one."""
        return (self.confusion.floats().T / times).tolist()


def total_moments(held: Numbers) -> tuple[Fraction, Fraction, Fraction]:
    """Weight, sum and sum of squares over all folds."""
    weight, first, second = zip(*held.moments(), strict=True)
    return sum(weight, Fraction(0)), sum(first, Fraction(0)), sum(second, Fraction(0))
