"""One rule: the one attribute that tells most of the class, and nothing else. The baseline of what one column can do.

Knows sums only: which attribute that is follows from its counts, each row left out in turn, in closed form.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import shown
from likely.models.binned import Binned
from likely.models.categorical import Categorical
from likely.models.model import learnable
from likely.models.naive import NaiveBayes
from likely.models.product import Product
from likely.models.ranges import checked
from likely.sums.summary import Summary
from likely.table.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class OneRule:
    """P(class | row) = P(class | cell) of one attribute: the one with the best leave-one-out log score.

    Numbers are cut into bins (MDL). Where no attribute is better than the frequencies of the classes, none is used.

    >>> OneRule().pseudo_count
    1.0
    """

    pseudo_count: float = 1.0
    """Added to the count of every level in every class."""

    def __post_init__(self) -> None:
        checked(self, "pseudo_count")

    def needs(self, schema: Schema) -> frozenset[str]:
        """Counts and tallies of the first order are enough."""
        return frozenset()

    def learn(self, summary: Summary) -> Product:
        """Derive the model: a product of one factor at most."""
        summary = learnable(summary)
        plain = NaiveBayes(pseudo_count=self.pseudo_count, numbers="binned").product(summary)
        total = summary.total.floats()
        best, most = None, left_out_score(np.zeros((0, len(total))), total, total, self.pseudo_count)
        for factor in plain.factors:
            levels = factor.levels if isinstance(factor, Binned) else factor
            if not isinstance(levels, Categorical):
                continue
            score = left_out_score(levels.seen(), levels.counts.other.floats().sum(axis=0), total, self.pseudo_count)
            if score > most:
                best, most = factor, score
        told = "No attribute tells more than the frequencies of the classes."
        if best is not None:
            told = f"The one attribute is {shown(best.name)}."
        return replace(plain, learner=self, factors=() if best is None else (best,), notes=(told,))


def left_out_score(
    seen: NDArray[np.float64], gone: NDArray[np.float64], total: NDArray[np.float64], pseudo_count: float
) -> float:
    """Sum over rows of log P(class | level), the row's own count taken out; `gone` are the rows without a level.

    Classes of a single row, which no other row teaches, are passed over: they are alike for every attribute.

    >>> round(left_out_score(np.array([[4.0, 0.0], [0.0, 4.0]]), np.zeros(2), np.array([4.0, 4.0]), 1.0), 3)
    -1.961
    """
    score, levels, sums = 0.0, len(seen), seen.sum(axis=0)
    for k in np.flatnonzero(total > 1).tolist():
        own = np.zeros(len(total))
        own[k] = 1.0
        prior = total - own
        prior = prior / prior.sum()
        some = seen[:, k] > 0
        above = np.maximum(seen[some] - own, 0.0) + pseudo_count
        below = np.maximum(sums - own, 0.0) + pseudo_count * levels
        joint = prior * np.divide(above, below, out=np.zeros_like(above), where=below > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.log(joint[:, k] / joint.sum(axis=1))
            score += float(seen[some, k] @ np.nan_to_num(each, nan=-np.inf, neginf=-np.inf))
            score += float(gone[k] * np.log(prior[k])) if gone[k] else 0.0
    return score
