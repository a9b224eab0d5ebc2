"""Naive Bayes that proves too sure of itself on held-out rows: its evidence weighed by one number, and judged anew.

Knows out-of-fold predictions, from the sweep that made them. The number that a row is judged by was learned from rows
of other folds, so that the scores are as honest as those before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from likely.evaluate.scores.scores import HeldOutRows
from likely.models.heldout.weighing import temperature_of
from likely.models.shapes import temper

LEAST_ROWS = 100
"""Below, naive Bayes is taken as the textbook has it: so few rows hardly tell how sure it may be."""
LEAST_GAIN = 0.01
"""Bits a row; less is not worth a word."""
SURE = 1.96
"""Standard errors by which a gain must differ from none: chance alone makes it so in one of forty tables."""
MOST_ROWS = 4000
"""From which the number is learned; more would say the same."""
PARTS = 2
"""Folds are in so many parts; rows of one are judged by the number that the others taught."""


@dataclass(frozen=True)
class Sharpened:
    """A temperature: below 1 the evidence is counted too often, above 1 too little."""

    temperature: float
    log_loss: float
    """Bits a row with it, out of fold but for this one number."""


def sharpened(found: HeldOutRows) -> Sharpened | None:
    """The best temperature; None where there are no rows, or some class is impossible whatever it is."""
    step = max(len(found.truth) // MOST_ROWS, 1)
    truth, weight = found.truth.astype(np.intp), found.weight
    if not len(truth):
        return None
    logs = -np.logaddexp(0.0, -found.log_odds)
    shares = np.bincount(truth, weight, len(found.classes)) / weight.sum()
    best = temperature_of(logs[::step], truth[::step], weight[::step], shares, float(weight.sum()))
    own = temper(logs, best)[np.arange(len(truth)), truth]
    # A sum, not a product of vectors, which several threads would take and round otherwise.
    loss = -float((weight * own).sum() / weight.sum()) / math.log(2) if np.isfinite(own).all() else math.inf
    return Sharpened(best, loss) if math.isfinite(loss) else None
