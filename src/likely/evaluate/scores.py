"""Scores of probabilities against what happened, as exact sums: accuracy, log loss, Brier score, confusion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.evaluate import kernels
from likely.evaluate.losses import Chosen
from likely.evaluate.reliability import Reliability
from likely.models.posterior import Posterior
from likely.sums.counts import add_counts
from likely.sums.exact import Exact
from likely.sums.numbers import Numbers
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

    def __init__(self, classes: int, chosen: Chosen | None = None) -> None:
        self.chosen = chosen
        self.surprise = Numbers(1, cap=64)
        self.brier = Numbers(1, cap=64)
        self.confusion = Exact.zeros(classes, classes)
        self.unclassified = Exact.zeros(1, classes)
        self.reliability = Reliability(classes)

    def update(
        self, joint: NDArray[np.float64], truth: Ints, weight: NDArray[np.float64] | None, names: tuple[str, ...]
    ) -> None:
        """Take in rows: their log joint scores, true classes and weights."""
        found = Posterior.of(names, joint, one=False)
        surprise, brier = np.empty(len(truth)), np.empty(len(truth))
        kernels.row_scores(joint, found.matrix, found.log_evidence, truth, surprise, brier)
        share, group = weights(weight), np.zeros(len(truth), np.int32)
        self.surprise.update(surprise, group, share)
        self.brier.update(brier, group, share)
        add_counts(found.codes.astype(np.int32), truth, share, self.confusion, self.unclassified)
        self.reliability.update(found, truth, share)
        if self.chosen is not None:
            self.chosen.update(found, truth, share)

    def __add__(self, other: Scorer) -> Scorer:
        out = Scorer(0)
        out.surprise = self.surprise + other.surprise
        out.brier = self.brier + other.brier
        out.confusion = self.confusion + other.confusion
        out.unclassified = self.unclassified + other.unclassified
        out.reliability = self.reliability + other.reliability
        if self.chosen is not None and other.chosen is not None:
            out.chosen = self.chosen + other.chosen
        return out

    def read(self) -> Scores:
        """The scores, rounded once."""
        ((weight, bits, _),) = self.surprise.moments()
        ((all_rows, brier, _),) = self.brier.moments()
        infinite = self.surprise.other.sum(1).fractions()[2]
        right = sum(np.diagonal(np.array(self.confusion.fractions()).reshape(self.confusion.shape)))
        return Scores(
            float(all_rows),
            float(right / all_rows),
            None if infinite else float(bits / weight) / float(np.log(2)),
            float(brier / all_rows),
            float(self.unclassified.sum(1).fractions()[0]),
        )

    def table(self) -> Any:
        """Confusion: a row for each true class, a column for each predicted one."""
        return self.confusion.floats().T.tolist()
