"""Whether each attribute, and whether it is missing, has anything to do with the class: by chance or not.

Reads sums alone; all tests of a table are corrected together. How much each tells is in attributes/information.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from likely.evaluate.attributes.information import BINS, Attribute, attributes, entropy, information, rows_a_weight
from likely.evaluate.attributes.repetition import holm, repetition
from likely.evaluate.attributes.word_information import documents, tables
from likely.machinery.distributions import chi_square_tail
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.quantiles import quantile_edges
from likely.sums.summary import Summary
from likely.sums.words.words import Words
from likely.table.labels import number_label

if TYPE_CHECKING:
    from numpy.typing import NDArray

Table: TypeAlias = "NDArray[np.float64]"

CHANCE = 0.01
"""An attribute tells something where chance alone would give as much less often, all tests considered (Holm)."""
LEAST_TEXTS = 5
"""Words that fewer texts have are not tested."""
BEST_WORDS = 20
"""So many words, those that stray farthest from independence, are tested by the exact moments."""


@dataclass(frozen=True)
class AttributeTests:
    """One attribute: what it tells about the class, and what its being missing does."""

    name: str
    kind: str
    bits: float
    """Information about the target in a row, corrected for the number of cells."""
    share: float
    """Of the target's entropy."""
    p: float
    """How often chance alone would make its values go with the classes as much."""
    p_of_all: float
    """The same, corrected for how many tests there were (Holm)."""
    missing: float
    """Share of rows without a value."""
    missing_share: float
    """Of the target's entropy: what being missing tells, whatever the value is."""
    p_missing: float
    p_missing_of_all: float
    missing_by_class: tuple[float, ...]
    """Share of the rows of each class without a value."""
    values: int
    """Different values; of numbers those that the tally keeps apart, of texts different words."""
    usual: str | None
    """The most frequent value, where it can be told."""
    usual_share: float
    """Its share of the rows that have a value."""

    @property
    def idle(self) -> bool:
        """Whether nothing was found that chance would not explain."""
        return self.p_of_all >= CHANCE and self.p_missing_of_all >= CHANCE


def association_tests(summary: Summary, found: list[Attribute] | None = None) -> tuple[AttributeTests, ...]:
    """Every attribute, the most informative first."""
    weights = summary.total.floats()
    scale = rows_a_weight(summary)
    whole = entropy(weights) if weights.any() else 0.0
    rough = []
    for a in attributes(summary) if found is None else found:
        statistic = summary.columns[a.name]
        gone = missing_by_class(statistic, weights)
        sides = scale * np.stack([weights - gone, gone])
        tells = information(sides / scale, scale) / whole if whole > 0 and gone.any() else 0.0
        rough.append(
            (a, statistic, gone, value_test(statistic, scale), association(sides) if gone.any() else 1.0, tells)
        )
    # One family: a table has as many chances to mislead as tests, two for an attribute with missing cells.
    corrected = holm([r[3] for r in rough] + [r[4] for r in rough if r[2].any()])
    of_gone = iter(corrected[len(rough) :])
    out = []
    for k, (a, statistic, gone, p, p_gone, tells) in enumerate(rough):
        p_gone_of_all = next(of_gone) if gone.any() else 1.0
        by_class = tuple(np.divide(gone, weights, out=np.zeros_like(gone), where=weights > 0).tolist())
        kind, missing = summary.schema[a.name].kind, a.missing
        out.append(
            AttributeTests(a.name, kind, a.bits, a.share, p, corrected[k], missing, tells, p_gone, p_gone_of_all,
                           by_class, *usual_value(statistic))
        )  # fmt: skip
    return tuple(out)


def missing_by_class(statistic: Any, weights: Table) -> Table:
    """The weight of the rows of each class without a value; infinite numbers have none."""
    if isinstance(statistic, Words):
        return np.maximum(weights - documents(statistic, len(weights)), 0.0)
    gone: Table = statistic.other.floats().sum(axis=0)
    return gone


def value_test(statistic: Any, scale: float = 1.0) -> float:
    """How often chance alone makes values go with the classes as much as they do.

    Levels: Pearson's statistic with its exact moments. Numbers: the same in bins that know nothing of the classes, or
    ranks (Kruskal and Wallis), whichever speaks louder, at twice its chance. Texts: the loudest word, times the words.
    """
    if isinstance(statistic, Counts):
        return association(scale * statistic.table[: len(statistic.labels)].floats())
    if isinstance(statistic, Words):
        return _word_test(statistic, scale)
    assert isinstance(statistic, Numbers)
    values, weight = statistic.tally()
    per_class = scale * weight.floats()
    if len(values) < 2:
        return 1.0
    cut = quantile_edges(values, per_class.sum(axis=1), BINS)
    table = np.zeros((len(cut) + 1, statistic.groups))
    np.add.at(table, np.searchsorted(cut, values, side="right"), per_class)
    return min(1.0, 2 * min(association(table), rank_test(per_class)))


def association(table: Table) -> float:
    """The p-value of a table (cells, classes) were the two independent (decision 0043)."""
    return repetition(table[:, :, None]).p


def rank_test(tally: Table) -> float:
    """Whether values, in order, rank higher in some classes than in others (Kruskal and Wallis, corrected for ties).

    >>> round(rank_test(np.array([[1.0, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]])), 4)
    0.0495
    """
    each, per_class = tally.sum(axis=1), tally.sum(axis=0)
    some = per_class > 0
    total = float(per_class.sum())
    if some.sum() < 2 or total < 3:
        return 1.0
    rank = np.cumsum(each) - (each - 1) / 2
    off = rank @ tally[:, some] / per_class[some] - (total + 1) / 2
    ties = 1 - float((each**3 - each).sum()) / (total**3 - total)
    if ties <= 1e-12:  # all values are the same
        return 1.0
    statistic = 12 / (total * (total + 1)) * float((per_class[some] * off**2).sum()) / ties
    return chi_square_tail(statistic, int(some.sum()) - 1)


def _word_test(words: Words, scale: float) -> float:
    have = scale * documents(words, words.groups)
    total, best, count = float(have.sum()), [], 0
    some = have > 0
    if some.sum() < 2:
        return 1.0
    for _, table in tables(words, words.groups):
        texts = scale * table[:, some]
        there = texts.sum(axis=1)
        texts = texts[(there >= LEAST_TEXTS) & (there <= total - 1)]
        there = texts.sum(axis=1)
        count += len(texts)
        off = ((texts - there[:, None] * have[some] / total) ** 2 / have[some]).sum(axis=1)
        stray = off * total * total / (there * (total - there))
        best += [(float(stray[k]), tuple(texts[k])) for k in np.argsort(-stray, kind="stable")[:BEST_WORDS]]
    loudest = sorted(best, reverse=True)[:BEST_WORDS]
    chances = [association(np.stack([np.array(row), have[some] - np.array(row)])) for _, row in loudest]
    return min(1.0, count * min(chances, default=1.0))


def usual_value(statistic: Any) -> tuple[int, str | None, float]:
    """How many values there are, which is the most frequent, and its share of the rows that have one."""
    if isinstance(statistic, Words):
        return len(statistic.tally().vocabulary), None, 0.0
    if isinstance(statistic, Counts):
        each = statistic.table[: len(statistic.labels)].floats().sum(axis=1)
        names: list[str] = list(statistic.labels.names)
    else:
        values, weight = statistic.tally()
        each = weight.floats().sum(axis=1)
        # A coarse tally has put values together, of which none need be frequent.
        if statistic.level:
            return len(values), None, 0.0
        best = int(each.argmax()) if len(each) else 0
        names = [""] * len(values)
        if names:
            names[best] = number_label(float(values[best]))
    if not len(each) or not each.sum():
        return 0, None, 0.0
    best = int(each.argmax())
    return len(each), names[best], float(each[best] / each.sum())
