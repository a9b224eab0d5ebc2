"""What a first look says of scores beyond themselves: the baselines, and how far probabilities can be trusted.

Knows what cross-validation found; looks at no rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import ColumnError, nearest, shown
from likely.evaluate.crossval.temperature import Sharpened, sharpened
from likely.evaluate.crossval.validate import Validation
from likely.evaluate.look_sweep import LEARNER, SweepResult
from likely.evaluate.scores.calibration import Reliability, calibrations
from likely.evaluate.scores.intervals import Intervals, Paired, paired
from likely.evaluate.scores.ranking import Ranking, rankings
from likely.evaluate.scores.scores import Scores
from likely.evaluate.troubles.duplicates import RepeatedRows
from likely.models.naive.one_rule import OneRule

if TYPE_CHECKING:
    from likely.sums.summary import Summary

BASELINE, ONE_RULE, NAIVE_BAYES = "baseline", "one rule", "naive Bayes"
MOST_RANKED = 20
"""Classes up to which each is ranked against all others."""


@dataclass(frozen=True)
class Baselines:
    """The simple rules that a learner must beat, with 95 % bounds, and how it differs from them."""

    baseline_intervals: Intervals
    guess: str
    """The class that most of the rows judged have (of equals the first): what the baseline always names."""
    one_rule: Scores | None = None
    """Of the one attribute that tells most, chosen anew for each fold."""
    one_rule_intervals: Intervals | None = None
    one_attribute: str | None = None
    """That attribute, where all rows are learned from; None where none tells more than the frequencies."""
    naive_bayes: Scores | None = None
    """Of the textbook's naive Bayes, where another learner was chosen."""
    naive_bayes_intervals: Intervals | None = None
    against: tuple[Paired, ...] = ()
    """The learner's log loss and accuracy against those of the baselines, on the same folds."""


@dataclass(frozen=True)
class Trust:
    """How far the probabilities can be trusted."""

    positive: str
    """The class that is looked for, in lift and curves: the rarer of two, unless another was asked for."""
    calibration: tuple[Reliability, ...]
    """The curve that matters most first: of the class looked for, if there are two; else of the class named."""
    sharpened: Sharpened | None
    """What multiplying all evidence by one number would change."""
    rankings: dict[str, Ranking]
    """Of each class against all others."""
    macro_auc: float | None
    """The mean area under the ROC curve over all classes."""
    copies: RepeatedRows | None
    """Rows that occur more than once."""


def positive_class(asked: str | None, total: Summary) -> str:
    """The class that is looked for: as asked, else the rarest that has rows, of equals the last."""
    if asked is not None and asked not in total.classes:
        raise ColumnError(f"There is no class {shown(asked)}. {nearest(asked, total.classes)}")
    weights = total.total.floats()
    return asked or total.classes[len(weights) - 1 - int(np.argmin(weights[::-1]))]


def compare_baselines(found: Validation) -> Baselines:
    """The one rule, and how the learner differs from it and from the frequencies of the classes."""
    against = []
    for name, called in ((BASELINE, "frequencies only"), (ONE_RULE, "one attribute"), (NAIVE_BAYES, "naive Bayes")):
        for score in ("log_loss", "accuracy"):
            one = paired(found.parts[LEARNER], found.parts[name], called, score) if name in found.parts else None
            against += [] if one is None else [one]
    bounds = {name: found.bounds(name) for name in (BASELINE, ONE_RULE, NAIVE_BAYES) if name in found.scorers}
    always = found.scorers[BASELINE].always
    assert always is not None
    guess = found.classes[always]
    if ONE_RULE not in bounds:
        return Baselines(bounds[BASELINE], guess, against=tuple(against))
    naive = found.scorers[NAIVE_BAYES].read(found.times) if NAIVE_BAYES in bounds else None
    factors = OneRule().learn(found.total).factors
    one_rule, attribute = found.scorers[ONE_RULE].read(found.times), factors[0].name if factors else None
    return Baselines(
        bounds[BASELINE], guess, one_rule, bounds[ONE_RULE], attribute, naive, bounds.get(NAIVE_BAYES), tuple(against)
    )


def trust_scores(found: Validation, positive: str, seen: SweepResult) -> Trust:
    """What the predictions of rows, one by one, say."""
    rows, few = found.gathered[LEARNER], len(found.classes) <= MOST_RANKED
    ranked = rankings(rows) if few else {}
    areas = [one.roc.auc.value for one in ranked.values() if one.roc.auc.value is not None]
    proper = LEARNER not in found.improper
    return Trust(
        positive=positive,
        calibration=calibrations(rows, positive) if few else (),
        sharpened=sharpened(rows) if proper else None,
        rankings=ranked,
        macro_auc=float(np.mean(areas)) if areas else None,
        copies=seen.rows,
    )
