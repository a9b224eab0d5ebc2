"""Logistic regression: log-odds linear in the attributes, by maximum likelihood. Settings, and which search serves.

The sweeps, one after the other, are in newton.py. Weights cannot be had from sums, so the file keeps them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from likely.errors import SettingError
from likely.models.contracts import Learning, Model
from likely.models.learning import looks_at_rows
from likely.models.linear import newton
from likely.models.linear.design import CURVES, CurveKind, Curves, Design
from likely.models.linear.log_odds import FACTS, log_odds_model
from likely.models.linear.newton import FoldLearning
from likely.models.model import learnable
from likely.models.settings import Settings, setting
from likely.models.shapes import FARTHEST
from likely.sums.contracts import State
from likely.sums.state import read_finite, read_number, read_texts
from likely.sums.summary import Summary
from likely.table.schema import Schema

MOST = 2_000
"""Weights (columns of the design times classes but one) for which curvature is still kept and solved."""
QUICK = 100
"""Those for which it is kept and solved, where the tolerance is as large as what steps by gradients leave."""
MOST_BY_STEPS = 500_000
"""Weights that can be found by gradients alone."""


@dataclass(frozen=True)
class Logistic(Settings):
    """log P(class | row) = constant + sum of weights * columns, less what makes the probabilities sum to 1.

    Columns of the design: (x - mean) / sd of each number, 0 where it is missing, and, only where training had missing
    cells, an indicator of that; an indicator of each level but the most frequent (the first of equals), all 0 for a
    missing cell or an unseen level. Maximises the weighted log-likelihood less ridge/2 times the sum of all squared
    weights of all classes; constants are free. (So for two classes, whose weights are opposite, ridge/4 times the
    squares of their differences.) Each class's weights are centred: over classes they sum to 0.

    The search goes by that. The model's terms are the same sum, measured from the prior (models/linear/log_odds.py):
    what is missing or unseen is unknown and adds exactly 0, so that with nothing known the answer is the prior. The
    indicators of missing cells take up what being missing says; only with missing="level" is that told of new rows.

    >>> Logistic(ridge=0.0).max_sweeps
    100
    """

    ridge: float = setting(
        1.0,
        "Ridge penalty on the weights: 1 is a standard normal prior on each weight. 0 is plain maximum likelihood, "
        "which does not exist for separable classes and is overconfident for nearly separable ones.",
        at_least=0,
    )
    max_sweeps: int = setting(100, "How often the rows are read, at most.", at_least=1, whole=True)
    tolerance: float = setting(
        1e-12,
        "The search ends when another step promises less than this, in units of log-likelihood.",
        at_least=0,
    )
    numbers: CurveKind = setting(
        "linear",
        "How numbers enter. linear: as they are, in standard units. squares: with their squares and the products of "
        "every two (of up to 40 numbers), no farther than 4 standard deviations. binned: as 8 bins of about equal "
        "weight. In the last two every level and bin has a weight, and ridge holds those of numbers in units of their "
        "spread.",
        choices=CURVES,
    )

    missing: Literal["skip", "level"] = setting(
        "skip",
        "What a missing number says, where training had missing ones: nothing, or what its indicator says.",
        choices=("skip", "level"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.numbers != "linear" and not self.ridge:
            raise SettingError(
                f"numbers={self.numbers!r} needs ridge above 0: the columns of a number depend on each other, so that "
                "plain maximum likelihood has no single answer."
            )

    @property
    def spoken(self) -> str:
        """By how numbers enter."""
        return {"linear": "", "squares": "logistic regression with squares"}.get(
            self.numbers, "logistic regression on bins"
        )

    def needs(self, schema: Schema) -> frozenset[str]:
        """Nothing beyond the first order: means, deviations and levels. The rest is found by looking at the rows."""
        return frozenset()

    @looks_at_rows
    def learn(self, summary: Summary) -> Learning[Model]:
        """The model; with a single class there is nothing to look for, else the rows are seen again and again."""
        summary = learnable(summary)
        design = self.design(summary)
        size, classes = design.size, len(summary.classes)
        weights = size * (classes - 1)
        if weights > (MOST_BY_STEPS if self.ridge else MOST):
            most = MOST_BY_STEPS if self.ridge else MOST
            raise SettingError(
                f"Logistic would need {weights:,} weights ({size:,} columns and levels for all but one of "
                f"{classes:,} classes); it takes {most:,} at most{'' if self.ridge else ' without ridge'}. Leave "
                "columns with many levels out (--type COLUMN=ignore), or use naive Bayes."
            )
        if classes == 1:
            return log_odds_model(self, design, np.zeros((size, 1)), {}, ())
        # Who asks for no more than steps promise is given steps, where Newton's curvature would be much to sum.
        many = QUICK if self.tolerance >= newton.LEAST_DECREMENT else MOST
        if isinstance(design, Design) and weights <= many:
            return (yield from newton.newton(self, design))
        return (yield from newton.lbfgs(self, design))

    def design(self, summary: Summary) -> Design | Curves:
        """The columns that a row is turned into."""
        return Design(summary) if self.numbers == "linear" else Curves(summary, self.numbers)

    def learn_folds(self, total: Summary, training: Sequence[Summary]) -> FoldLearning | None:
        """All folds of a cross-validation in the same sweeps, where that can be done."""
        if self.numbers != "linear":
            return None
        plain = [summary.canonical().without_text() for summary in (total, *training)]
        return newton.newton_folds(self, plain[0], plain[1:])

    def restore(self, summary: Summary, found: State) -> Model:
        """The model as a file keeps it."""
        facts = {k: read_number(found["facts"][k], -math.inf, math.inf, k) for k in FACTS}
        summary = learnable(summary)
        design = self.design(summary)
        # A million products with numbers in standard units, which end at 1e150, must add up to a double.
        shape = design.size, len(summary.classes)
        weights = read_finite(found["weights"], shape, "weights", least=-FARTHEST, most=FARTHEST)
        remarks = tuple(read_texts(found["remarks"], "remarks"))
        return log_odds_model(self, design, np.ascontiguousarray(weights), facts, remarks)
