"""What one number, by which all evidence is multiplied, would do to probabilities that are too sure or too timid.

Knows out-of-fold predictions; the number is that of their best log score.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from likely.evaluate.scores.held_out import HeldOut
from likely.models.pool.tempering import temperature_of, tempered

MOST_ROWS = 4000
"""From which the number is learned; more would say the same."""


@dataclass(frozen=True)
class Sharpened:
    """A temperature: below 1 the evidence is counted too often, above 1 too little."""

    temperature: float
    log_loss: float
    """Bits a row with it, out of fold but for this one number."""


def sharpened(found: HeldOut) -> Sharpened | None:
    """The best temperature; None where there are no rows, or some class is impossible whatever it is."""
    step = max(len(found.truth) // MOST_ROWS, 1)
    truth, weight = found.truth.astype(np.intp), found.weight
    if not len(truth):
        return None
    logs = -np.logaddexp(0.0, -found.log_odds)
    shares = np.bincount(truth, weight, len(found.classes)) / weight.sum()
    best = temperature_of(logs[::step], truth[::step], weight[::step], shares, float(weight.sum()))
    own = tempered(logs, best)[np.arange(len(truth)), truth]
    loss = -float(weight @ own / weight.sum()) / math.log(2) if np.isfinite(own).all() else math.inf
    return Sharpened(best, loss) if math.isfinite(loss) else None
