"""Naive Bayes that proves too sure of itself on held-out rows: its evidence weighed by one number, and judged anew.

Knows out-of-fold predictions, from the sweep that made them. The number that a row is judged by was learned from rows
of other folds, so that the scores are as honest as those before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from likely.evaluate.crossval.validate import Validation
from likely.evaluate.scores.held_out import HeldOut, log_odds
from likely.evaluate.scores.intervals import of_rows, of_scorer
from likely.evaluate.scores.losses import Chosen
from likely.evaluate.scores.scores import Scorer
from likely.models.heldout.tempering import temperature_of, tempered
from likely.models.posterior import Matrix
from likely.probability.loss import Loss

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
class Tempered:
    """What all evidence, the prior too, is multiplied by, and what that does to the log loss."""

    temperature: float
    """Below 1: the geometric mean of what the parts of the rows predicted out of fold say; three digits."""
    before: float | None
    """Bits a row without it; None where they are infinite."""
    log_loss: float | None
    """Bits a row with it, each judged by a number that rows of other folds taught."""


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


def cooled(
    found: Validation, name: str, loss: Loss | None, leave_one_out: bool = False
) -> tuple[Validation, Tempered | None]:
    """The validation as if the learner's evidence had been weighed; as it was where that gains nothing beyond noise."""
    rows = found.gathered[name]
    if found.times > 1 or len(rows.truth) < LEAST_ROWS or name in found.improper or (rows.sampled and loss is not None):
        return found, None
    logs, truth = -np.logaddexp(0.0, -rows.log_odds), rows.truth.astype(np.intp)
    owns = [rows.fold % PARTS == part for part in range(PARTS)]
    if not all(own.any() for own in owns):
        return found, None
    heats = [_temperature(rows, logs, truth, ~own) for own in owns]
    whole = float(np.exp(np.mean(np.log(heats))))
    if whole >= 1:
        return found, None
    said = np.empty_like(logs)
    for own, heat in zip(owns, heats, strict=True):
        said[own] = tempered(logs[own], heat)
    if not _gains(rows, logs, said, truth):
        return found, None
    old, judged = found.scorers[name], replace(rows, log_odds=log_odds(said))
    new = Scorer(len(rows.classes), None if loss is None else Chosen(loss, rows.classes), old.right.shape[1])
    lessons = rows.fold if new.right.shape[1] > 1 else np.zeros_like(rows.fold)
    new.update(said, rows.truth, rows.weight, rows.classes, lessons)
    # Which class is named does not change, whatever rounding makes of ties; and `rows` may be a sample.
    new.right, new.confusion, new.unclassified = old.right, old.confusion, old.unclassified
    parts = of_rows(judged) if leave_one_out else of_scorer(new, found.parts[name].ratio)
    if leave_one_out:
        parts = replace(parts, accuracy=found.parts[name].accuracy)
    told = Tempered(float(f"{whole:.3g}"), old.read().log_loss, new.read().log_loss)
    return replace(
        found,
        scorers={**found.scorers, name: new},
        parts={**found.parts, name: parts},
        gathered={**found.gathered, name: judged},
    ), told


def _temperature(rows: HeldOut, logs: Matrix, truth: NDArray[np.intp], some: NDArray[np.bool_]) -> float:
    """The best number for some of the rows; of many, by a part of them."""
    index = np.flatnonzero(some)
    weight = rows.weight[index]
    shares = np.bincount(truth[index], weight, len(rows.classes)) / weight.sum()
    few = index[:: max(len(index) // MOST_ROWS, 1)]
    return temperature_of(logs[few], truth[few], rows.weight[few], shares, float(weight.sum()))


def _gains(rows: HeldOut, logs: Matrix, said: Matrix, truth: NDArray[np.intp]) -> bool:
    """Whether the log loss is less by more than the gains of single rows, which differ, would make it by chance.

    As for the number itself, the shares of the classes count as one row among all, so that no single row decides.
    """
    here, total = np.arange(len(truth)), float(rows.weight.sum())
    share = rows.weight / total
    prior = np.bincount(truth, rows.weight, len(rows.classes))[truth] / total

    def bounded(own: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.log2(total * np.exp(own) + prior)

    gain = bounded(said[here, truth]) - bounded(logs[here, truth])
    mean = float((share * gain).sum())
    spread = math.sqrt(float((share * (gain - mean) ** 2).sum()))
    return mean >= LEAST_GAIN and mean > SURE * spread / math.sqrt(len(gain))
