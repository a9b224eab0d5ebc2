"""Baselines: the prior alone, and the one attribute that says most of the class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import shown
from likely.models.contracts import Model
from likely.models.factors.bins import ValueTally, binned_table, read_tally
from likely.models.factors.categorical import domain, observed_counts
from likely.models.factors.numeric import NumberSettings
from likely.models.model import learnable
from likely.models.naive.naive import NaiveBayes
from likely.models.naive.product import product_of
from likely.models.prior import prior_quotients
from likely.models.settings import Prior as PriorSetting
from likely.models.settings import Settings, prior_setting, setting
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.summary import Summary
from likely.table.schema import Column, Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray


# One rule: the one attribute that tells most of the class, and nothing else. The baseline of what one column can
# do.


@dataclass(frozen=True)
class OneRule(Settings):
    """P(class | row) = P(class | cell) of one attribute: the one with the best leave-one-out log score.

    Numbers are cut into bins (MDL). Where no attribute is better than the frequencies of the classes, none is used.

    >>> OneRule().pseudo_count
    1.0
    """

    pseudo_count: float = setting(1.0, "Added to the count of every level in every class.", at_least=0)

    def needs(self, schema: Schema) -> frozenset[str]:
        """Counts and tallies of the first order are enough."""
        return frozenset()

    def learn(self, summary: Summary) -> Model:
        """Derive the model: a product of one factor at most."""
        summary = learnable(summary)
        plain = NaiveBayes(pseudo_count=self.pseudo_count, numbers="binned")
        best = self._best(summary, plain.number_settings())
        told = "No attribute beats the class frequencies."
        if best is not None:
            told = f"The chosen attribute is {shown(best)}."
        # Only the factor that is wanted is made.
        some = summary.schema.with_columns(c for c in summary.schema.columns if c.role != "attribute" or c.name == best)
        return replace(plain.product(summary.with_schema(some)), learner=self, summary=summary, notes=(told,))

    def _best(self, summary: Summary, numbers: NumberSettings) -> str | None:
        """The attribute with the best score, of equals the first; None where none beats the frequencies."""
        total, best = summary.total.floats(), None
        most = left_out_score(np.zeros((0, len(total))), total, total, self.pseudo_count)
        places = {column.name: k for k, column in enumerate(summary.schema.attributes)}

        def score(seen: NDArray[np.float64], gone: NDArray[np.float64]) -> float:
            return left_out_score(seen, gone, total, self.pseudo_count)

        waiting: list[tuple[float, Column, ValueTally, NDArray[np.float64]]] = []
        for column in summary.schema.attributes:
            held = summary.columns[column.name]
            if not isinstance(held, (Counts, Numbers)):
                continue
            gone = held.other.floats().sum(axis=0)
            if isinstance(held, Counts):
                found = score(observed_counts(domain(column, held), held), gone)
                if found > most:
                    best, most = column.name, found
            else:
                tally = read_tally(held)
                waiting.append((upper_bound(tally.weights, gone, total), column, tally, gone))
        # Cutting takes time: numbers come last, the most promising first, and only while they can still be the best.
        for bound, column, tally, gone in sorted(waiting, key=lambda one: -one[0]):
            if bound < most:
                break
            found = score(binned_table(tally, numbers.edges(column.name, tally), numbers.closed).floats(), gone)
            if found > most or (found == most and best is not None and places[column.name] < places[best]):
                best, most = column.name, found
        return best


def upper_bound(seen: NDArray[np.float64], gone: NDArray[np.float64], total: NDArray[np.float64]) -> float:
    """What the score of an attribute cannot exceed, however its values are joined into bins.

    A row that is left out only lowers the chance of its own class; with all rows in, no chances score better than the
    shares of the classes at each value; and joining values makes that less. (Rows that weigh less than one may gain by
    being left out: a whole one is taken out for them, so that then there is no bound.)

    >>> upper_bound(np.array([[4.0, 0.0], [0.0, 4.0]]), np.zeros(2), np.array([4.0, 4.0]))
    0.0
    """
    if ((seen > 0) & (seen < 1)).any():
        return np.inf
    some = total > 1
    told, prior = seen[:, some], (total[some] - 1) / (total.sum() - 1)
    whole = told.sum(axis=1, keepdims=True)
    share = np.divide(told, whole, out=np.ones_like(told), where=told > 0)
    lost = gone[some]
    with np.errstate(divide="ignore"):
        return float((told * np.log(share)).sum() + (lost[lost > 0] * np.log(prior[lost > 0])).sum())


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


# The baseline: the prior alone. Whatever the row, each class is as probable as it was in training.


@dataclass(frozen=True)
class Prior(Settings):
    """P(class | row) = P(class).

    >>> Prior().prior
    'observed'
    """

    prior: PriorSetting = prior_setting()
    pseudo_count: float = setting(0.0, "Added to the count of every class when the prior is observed.", at_least=0)

    def needs(self, schema: Schema) -> frozenset[str]:
        """The counts of the classes are enough."""
        return frozenset()

    def learn(self, summary: Summary) -> Model:
        """Derive the model: a product without factors."""
        summary = learnable(summary)
        prior = prior_quotients(summary, self.prior, self.pseudo_count)
        return product_of(self, summary, prior, (), describes_rows=False)


# What a look sets every learner against.

FREQUENCIES = Prior()
"""The shares of the classes, whatever the row."""
BEST_ATTRIBUTE = OneRule()
"""What one attribute can do alone."""
