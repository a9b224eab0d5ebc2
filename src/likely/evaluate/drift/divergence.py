"""How far an attribute is from what it was: divergence in bits, mean and spread, and how often it is missing.

Reads two summaries, whatever the classes; whether chance explains a change is said in evaluate/drift/changes.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from likely.evaluate.attributes.information import rows_a_weight
from likely.evaluate.attributes.repetition import holm, repetition
from likely.evaluate.attributes.word_information import documents
from likely.evaluate.drift.changes import Change
from likely.evaluate.drift.shifts import Scales, level_tables, mean_and_deviation, number_tables
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.summary import Summary
from likely.sums.words.words import Words

if TYPE_CHECKING:
    from numpy.typing import NDArray

Weights: TypeAlias = "NDArray[np.float64]"

BINS = 16
"""Numbers are compared in at most so many bins, of about as many rows of the two together."""


@dataclass(frozen=True)
class Amount:
    """How much one attribute changed, over all classes."""

    name: str
    bits: float
    """Jensen and Shannon's divergence of its values: what a value tells of which of the two it is from, were both
    equally likely. 0: nothing, 1: all. Corrected for chance, never below zero. Of a text: of having its loudest word.
    """
    missing_before: float
    missing_after: float
    """Shares of rows without a value."""
    p_missing: float
    """How often chance alone would change these shares as much, all attributes considered (Holm)."""
    mean_before: float | None = None
    mean_after: float | None = None
    deviation_before: float | None = None
    deviation_after: float | None = None

    @property
    def shift(self) -> float | None:
        """By how many of its first standard deviations the mean moved."""
        if self.mean_before is None or self.mean_after is None or not self.deviation_before:
            return None
        return (self.mean_after - self.mean_before) / self.deviation_before


def amounts(one: Summary, two: Summary, changed: tuple[Change, ...]) -> tuple[Amount, ...]:
    """One for each change, in their order."""
    scales = rows_a_weight(one), rows_a_weight(two)
    one, two = (s.canonical().regrouped([0] * len(s.canonical().classes), [""]) for s in (one, two))
    rough = [_amount(one, two, change, scales) for change in changed]
    corrected = holm([amount.p_missing for amount in rough])
    return tuple(replace(amount, p_missing=p) for amount, p in zip(rough, corrected, strict=True))


def divergence(one: Weights, two: Weights) -> float:
    """Jensen and Shannon's divergence in bits of two tallies of rows, each of which counts as a half.

    Less what chance alone gives in the mean, (k - 1) (1/n + 1/m) / (8 log 2), for k values that occur.

    >>> round(divergence(np.array([400.0, 0]), np.array([0, 400.0])), 3)
    0.999
    """
    n, m = float(one.sum()), float(two.sum())
    if n <= 0 or m <= 0:
        return 0.0
    p, q = one / n, two / m
    raw = _entropy((p + q) / 2) - (_entropy(p) + _entropy(q)) / 2
    cells = int(np.count_nonzero(one + two))
    return max(raw - (cells - 1) * (1 / n + 1 / m) / (8 * math.log(2)), 0.0)


def _entropy(p: Weights) -> float:
    some = p[p > 0]
    return float(-(some * np.log2(some)).sum())


def _amount(one: Summary, two: Summary, change: Change, scales: Scales) -> Amount:
    a, b = one.columns[change.name], two.columns[change.name]
    there = [s * _there(held) for s, held in zip(scales, (a, b), strict=True)]
    rows = [s * float(t.total.floats().sum()) for s, t in zip(scales, (one, two), strict=True)]
    gone = [max(r - t, 0.0) for r, t in zip(rows, there, strict=True)]
    chance = repetition(np.array([there, gone])[:, :, None]).p if any(gone) else 1.0
    before, after = (g / r if r else 0.0 for g, r in zip(gone, rows, strict=True))
    if isinstance(a, Words):
        return Amount(change.name, _of_word(change, there), before, after, chance)
    if isinstance(a, Counts) and isinstance(b, Counts):
        _, *sides = level_tables(a, b, scales)
        return Amount(change.name, divergence(*(s[:-1, 0] for s in sides)), before, after, chance)
    assert isinstance(a, Numbers) and isinstance(b, Numbers)
    _, sides, _ = number_tables(a, b, scales, BINS)
    bits = divergence(*(s[:-1, 0] for s in sides))
    ((mean, wide),), ((mean_after, wide_after),) = mean_and_deviation(a), mean_and_deviation(b)
    return Amount(change.name, bits, before, after, chance, mean, mean_after, wide, wide_after)


def _there(held: Any) -> float:
    """The weight of the rows that have a value."""
    if isinstance(held, Words):
        return float(documents(held, held.groups).sum())
    if isinstance(held, Counts):
        return float(held.table.floats().sum())
    return float(held.weight().floats().sum())


def _of_word(change: Change, there: list[float]) -> float:
    """Of having the word that speaks loudest, or not."""
    if not change.cells:
        return 0.0
    have = change.cells[0].rows_before, change.cells[0].rows_after
    one, two = (np.array([h, max(t - h, 0.0)]) for h, t in zip(have, there, strict=True))
    return divergence(one, two)
