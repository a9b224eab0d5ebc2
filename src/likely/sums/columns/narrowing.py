"""A column's sums in other or fewer words: numbers as levels, rare levels as one, rare words left out."""

from __future__ import annotations

from typing import TypeAlias

from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.exact import Exact
from likely.sums.words.words import Words
from likely.table.labels import Labels, number_label
from likely.table.schema import OTHER

ColumnStatistic: TypeAlias = Counts | Numbers | Words
"""What is kept of one column, as its kind says."""


def keep_names(statistic: ColumnStatistic, kept: tuple[str, ...]) -> ColumnStatistic:
    """What is kept of a column, with its rare levels as one, or without its rare words."""
    if isinstance(statistic, Words):
        return statistic if statistic.kept == kept else statistic.keeping(kept)
    assert isinstance(statistic, Counts)
    return statistic.keeping(frozenset(kept), OTHER)


def has_kept_names(statistic: ColumnStatistic, kept: tuple[str, ...]) -> bool:
    """Whether no name is held but those that are kept; words are then told to hold no others."""
    if isinstance(statistic, Words):
        statistic.kept = kept
        return {*statistic.tally().vocabulary} <= {"", *kept}
    return isinstance(statistic, Counts) and {*statistic.labels.names} <= {OTHER, *kept}


def levels_of(numbers: Numbers) -> Counts:
    """A complete tally of values as counts of levels; infinite numbers count as missing."""
    values, table = numbers.tally()
    out = Counts(numbers.groups)
    out.labels = Labels(number_label(v) for v in values.tolist())
    out.table = table
    missing = numbers.other.sum(0)
    out.other = Exact(missing.planes[:, None, :], missing.base)
    return out.canonical()
