"""How one attribute shifted between two samples: tests and shares of its cells, given the class and in all.

Reads tables of counts (cell, class) of the two, or tallies of values and words. Knows no rows, files or schemas.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from likely.errors import shown
from likely.evaluate.attributes.repetition import repetition
from likely.evaluate.attributes.word_information import documents, tables
from likely.machinery.distributions import chi_square_tail
from likely.models.factors.gaussian import root_of
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.quantiles import quantile_edges
from likely.sums.words.words import Words
from likely.table.labels import bin_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_CELLS = 10
"""Cells of one attribute that are kept, those that speak loudest first."""
BINS = 12
LEAST_TEXTS = 5
"""Words that fewer texts of the two have are not tested: they could not be significant."""

Table: TypeAlias = "NDArray[np.float64]"
Scales: TypeAlias = tuple[float, float]
"""How many rows a weight of one stands for, on each side."""


@dataclass(frozen=True)
class Moved:
    """A cell of an attribute: how frequent it was in rows of a class, and how frequent it is."""

    cell: str
    label: str
    """The class; empty where all rows are meant."""
    before: float
    after: float
    rows_before: float
    rows_after: float
    surprise: float
    """How many standard errors it grew (or shrank, below zero), were there nothing but chance."""


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation of a number in rows of a class, from the exact sums; None where there are none."""

    label: str
    mean_before: float | None
    mean_after: float | None
    deviation_before: float | None
    deviation_after: float | None


@dataclass(frozen=True)
class Shift:
    """One attribute in two samples."""

    given: float
    """How often chance alone would give as much, the class of each row being known."""
    overall: float
    """The same, whatever the class."""
    moved: float
    """Share of rows that would have to have another value for the first to be as the second, given the class."""
    cells: tuple[Moved, ...]
    spreads: tuple[Spread, ...] = ()
    new: tuple[str, ...] = ()
    """Levels that only the second has."""
    gone: tuple[str, ...] = ()
    """Levels that only the first has."""


def level_tables(one: Counts, two: Counts, scales: Scales) -> tuple[list[str], Table, Table]:
    """Names of levels, and rows of each level and class on both sides; the last line is of missing cells."""
    names = sorted({*one.labels.names, *two.labels.names})
    place = {name: k for k, name in enumerate(names)}
    sides = []
    for counts, scale in zip((one, two), scales, strict=True):
        table = np.zeros((len(names) + 1, counts.groups))
        table[[place[n] for n in counts.labels.names]] = counts.table[: len(counts.labels)].floats()
        table[-1] = counts.other.floats().sum(axis=0)
        sides.append(scale * table)
    return names, sides[0], sides[1]


def number_tables(one: Numbers, two: Numbers, scales: Scales, bins: int) -> tuple[Table, list[Table], list[Table]]:
    """Edges of bins of about as many rows of the two together, rows by bin and class, and rows by value and class.

    The last line of a table of bins is of missing cells.
    """
    both = one + two
    values, pooled = both.tally()
    cut = quantile_edges(values, pooled.floats().sum(axis=1), bins) if len(values) else values
    binned, tallied = [], []
    for numbers, scale in zip((one, two), scales, strict=True):
        own, weight = numbers.coarsened(both.level).tally()
        by_value, table = np.zeros((len(values), numbers.groups)), np.zeros((len(cut) + 2, numbers.groups))
        by_value[np.searchsorted(values, own)] = scale * weight.floats()
        np.add.at(table, np.searchsorted(cut, values, side="right"), by_value)
        table[-1] = scale * numbers.other.floats().sum(axis=0)
        binned.append(table)
        tallied.append(by_value)
    return cut, binned, tallied


def of_levels(one: Counts, two: Counts, classes: tuple[str, ...], scales: Scales) -> Shift:
    """Levels, and being missing as one more."""
    names, *sides = level_tables(one, two, scales)
    given, overall = homogeneity_test(*sides), homogeneity_test(*map(_over_classes, sides))
    had, has = ({n for n, w in zip(names, side.sum(axis=1), strict=False) if w > 0} for side in sides)
    new, gone = tuple(n for n in names if n not in had), tuple(n for n in names if n not in has)
    cells = most_moved(sides[0], sides[1], (*names, "missing"), classes)
    return Shift(given, overall, total_variation(*sides), cells, new=new, gone=gone)


def of_numbers(one: Numbers, two: Numbers, classes: tuple[str, ...], scales: Scales, date: bool = False) -> Shift:
    """Numbers: their ranks tell that they rose or fell, bins that they spread otherwise; each may be the one that does.

    Both tests hold whatever the distribution is; a test of means would not, where a few numbers are huge.
    """
    cut, sides, ranked = number_tables(one, two, scales, BINS)
    names = (*(bin_labels(tuple(cut.tolist()), date) if len(cut) else ("any",)), "missing")
    given = smaller_of_two(homogeneity_test(*sides), wilcoxon_test(*ranked))
    overall = smaller_of_two(homogeneity_test(*map(_over_classes, sides)), wilcoxon_test(*map(_over_classes, ranked)))
    spreads = tuple(
        Spread(label, a[0], b[0], a[1], b[1])
        for label, a, b in zip(classes, mean_and_deviation(one), mean_and_deviation(two), strict=True)
    )
    return Shift(given, overall, total_variation(*sides), most_moved(sides[0], sides[1], names, classes), spreads)


def _over_classes(table: Table) -> Table:
    out: Table = table.sum(axis=1, keepdims=True)
    return out


def of_words(one: Words, two: Words, classes: tuple[str, ...], scales: Scales) -> Shift:
    """Texts: each word as a yes or no, tested over the classes (Cochran, Mantel and Haenszel).

    The p-value allows for how many words were looked at.
    """
    have = [scale * documents(words, len(classes)) for words, scale in zip((one, two), scales, strict=True)]
    vocabulary, mine, theirs = one.tally().vocabulary.merged(two.tally().vocabulary)
    texts = np.zeros((2, len(vocabulary), len(classes)))
    for side, (words, places, scale) in enumerate(((one, mine, scales[0]), (two, theirs, scales[1]))):
        for first, table in tables(words, len(classes)):
            texts[side, places[first : first + len(table)]] = scale * table
    some = np.flatnonzero(texts.sum(axis=(0, 2)) >= LEAST_TEXTS)
    if not len(some) or not have[0].sum() or not have[1].sum():
        return Shift(1.0, 1.0, 0.0, ())
    p_given, order, surprise = _best_word(texts[:, some], np.stack(have))
    p_overall, _, _ = _best_word(texts[:, some].sum(axis=2, keepdims=True), np.stack(have).sum(axis=1, keepdims=True))
    cells, moved = [], 0.0
    for k in order[:MOST_CELLS]:
        rows = texts[:, some[k]].sum(axis=1)
        before, after = (float(r / h.sum()) for r, h in zip(rows, have, strict=True))
        word = f"with {shown(vocabulary[int(some[k])])}"
        cells.append(Moved(word, "", before, after, float(rows[0]), float(rows[1]), float(surprise[k])))
        moved = max(moved, abs(after - before))
    return Shift(p_given, p_overall, moved, tuple(cells))


def _best_word(texts: NDArray[np.float64], have: Table) -> tuple[float, NDArray[np.intp], NDArray[np.float64]]:
    """The p-value of the most surprising word, for as many as there are; all words in order; surprise of each."""
    total = have.sum(axis=0)
    there = texts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.where(total > 0, there * have[1] / total, 0.0)
        variance = expected * have[0] * (total - there) / (total * np.maximum(total - 1, 1))
    variance = np.where(total > 1, variance, 0.0).sum(axis=1)
    off = (texts[1] - expected).sum(axis=1)
    surprise = np.divide(off, np.sqrt(variance), out=np.zeros_like(off), where=variance > 0)
    order = np.argsort(-np.abs(surprise), kind="stable")
    best = float(surprise[order[0]])
    return min(1.0, len(surprise) * chi_square_tail(best * best, 1)), order, surprise


def homogeneity_test(one: Table, two: Table) -> float:
    """How often chance alone makes two tables (cells, classes) so different in their cells given the class."""
    return repetition(np.stack([one, two])).p


def smaller_of_two(first: float, second: float) -> float:
    """A p-value for two tests of which one is enough."""
    return min(1.0, 2 * min(first, second))


def wilcoxon_test(one: Table, two: Table) -> float:
    """Whether values (in order, by class) rank higher in one of the two: Wilcoxon's rank sums, squared, over classes.

    >>> low, high = np.array([[1.0], [1], [1], [0], [0], [0]]), np.array([[0.0], [0], [0], [1], [1], [1]])
    >>> round(wilcoxon_test(low, high), 4)
    0.0495
    """
    pooled = one + two
    n, first, second = pooled.sum(axis=0), one.sum(axis=0), two.sum(axis=0)
    rank = np.cumsum(pooled, axis=0) - (pooled - 1) / 2
    off = (one * rank).sum(axis=0) - first * (n + 1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        ties = (pooled**3 - pooled).sum(axis=0) / (n * (n - 1))
        variance = np.where(n > 1, first * second / 12 * (n + 1 - ties), 0.0)
    some = variance > 1e-9 * np.maximum(n, 1.0)  # rounding leaves a trace where all values are the same
    return chi_square_tail(float((off[some] ** 2 / variance[some]).sum()), int(some.sum()))


def total_variation(one: Table, two: Table) -> float:
    """The total variation between the two, in the mean over the classes that both have."""
    n, m = one.sum(axis=0), two.sum(axis=0)
    some = (n > 0) & (m > 0)
    if not some.any():
        return 0.0
    apart = np.abs(one[:, some] / n[some] - two[:, some] / m[some]).sum(axis=0) / 2
    return float(np.average(apart, weights=(n + m)[some]))


def most_moved(one: Table, two: Table, names: tuple[str, ...], classes: tuple[str, ...]) -> tuple[Moved, ...]:
    """The cells that moved most for chance: (after - before) in standard errors, for given margins of each class."""
    n, m = one.sum(axis=0), two.sum(axis=0)
    total, there = n + m, one + two
    with np.errstate(divide="ignore", invalid="ignore"):
        off = two - there * m / total
        error = np.sqrt(there * (total - there) * n * m / (total * total * np.maximum(total - 1, 1)))
        surprise = np.where(error > 0, off / error, 0.0)
    surprise = np.where((n > 0) & (m > 0), surprise, 0.0)
    order = np.argsort(-np.abs(surprise), axis=None, kind="stable")[:MOST_CELLS]
    out = []
    for k, c in zip(*np.unravel_index(order, surprise.shape), strict=True):
        if surprise[k, c]:
            shares = float(one[k, c] / n[c]), float(two[k, c] / m[c])
            out.append(Moved(names[k], classes[c], *shares, float(one[k, c]), float(two[k, c]), float(surprise[k, c])))
    return tuple(out)


def mean_and_deviation(numbers: Numbers) -> list[tuple[float | None, float | None]]:
    """Mean and deviation (n - 1) of each class: fractions to the last step."""
    out: list[tuple[float | None, float | None]] = []
    for n, first, second in numbers.moments():
        mean = None if not n else float(first / n)
        squares = None if n <= 1 else (second - first * first / n) / (n - 1)
        # The root of a fraction: the squares of huge numbers are beyond a double.
        out.append((mean, None if squares is None else root_of(squares) if squares else 0.0))
    return out
