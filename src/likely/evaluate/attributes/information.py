"""What each attribute says about the target, in bits, read off the sums: no rows are looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from likely.evaluate.attributes.word_information import LEAST_ROWS, Piece, WordStatistics, word_statistics
from likely.machinery.arrays import distinct
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.quantiles import quantile_edges
from likely.sums.summary import Summary
from likely.sums.words.words import Words
from likely.table.labels import bin_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

BINS = 16
"""Numbers are looked at in at most so many bins of about equal weight."""

Table: TypeAlias = "NDArray[np.float64]"


@dataclass(frozen=True)
class Attribute:
    """One attribute cut into cells: a level, or a bin of numbers, each with its weight in each class."""

    name: str
    bits: float
    """Information about the target in a row of the table, corrected for the number of cells (Miller and Madow), never
    below zero. A missing cell tells nothing, so an attribute that is mostly missing tells little."""
    share: float
    """Of the target's entropy."""
    missing: float
    """Share of rows without a value."""
    cells: tuple[str, ...]
    table: Table
    edges: tuple[float, ...] = ()
    words: WordStatistics | None = None
    """Of a text: its words, in place of cells. Its bits are those of its best word, so it tells at least these."""


def entropy(weights: Table) -> float:
    """In bits."""
    p = weights[weights > 0] / weights.sum()
    return float(-(p * np.log2(p)).sum())


def information(table: Table, scale: float = 1.0) -> float:
    """Mutual information of rows and columns in bits, corrected for its upward bias, not below zero.

    `scale` times the table is what the correction takes for rows.
    """
    total = table.sum()
    if total <= 0:
        return 0.0
    raw = entropy(table.sum(axis=0)) + entropy(table.sum(axis=1)) - entropy(table.ravel())
    rows, columns = (np.count_nonzero(table.sum(axis=a)) for a in (1, 0))
    return float(max(raw - (rows - 1) * (columns - 1) / (2 * scale * total * np.log(2)), 0.0))


def best_cut(values: NDArray[np.float64], per_class: Table) -> NDArray[np.float64]:
    """The one edge that tells most about the class, or none: a number that decides the target decides it here."""
    if len(values) < 2:
        return values[:0]
    below = np.cumsum(per_class, axis=0)
    sides = np.stack([below[:-1], np.maximum(below[-1] - below[:-1], 0)])
    whole = sides.sum(axis=2)

    def n_log_n(n: Table) -> Table:
        return np.where(n > 0, n * np.log2(np.where(n > 0, n, 1)), 0)

    uncertain = (n_log_n(whole) - n_log_n(sides).sum(axis=2)).sum(axis=0)
    best = int(np.argmin(uncertain))
    return values[best + 1 : best + 2]


def rows_a_weight(summary: Summary) -> float:
    """How many rows a weight of one stands for: weights that are shares would make every row a shred of one."""
    weight = float(summary.total.floats().sum())
    return max(1.0, summary.rows / weight) if weight > 0 else 1.0


def attributes(summary: Summary) -> list[Attribute]:
    """All attributes, the most informative first."""
    weights = summary.total.floats()
    scale = rows_a_weight(summary)
    dates = {column.name for column in summary.schema.columns if column.kind == "date"}
    whole = entropy(weights)
    found = [
        _text(word_statistics(name, statistic, summary.classes, float(weights.sum()), scale), whole)
        if isinstance(statistic, Words)
        else _attribute(name, statistic, whole, scale, name in dates)
        for name, statistic in summary.columns.items()
    ]
    return sorted(found, key=lambda a: -a.bits)


def _text(told: WordStatistics, whole: float) -> Attribute:
    share = told.bits / whole if whole > 0 else 0.0
    return Attribute(told.name, told.bits, share, told.missing, (), np.zeros((0, 0)), words=told)


def _attribute(name: str, statistic: Counts | Numbers, whole: float, scale: float, date: bool) -> Attribute:
    edges: tuple[float, ...] = ()
    if isinstance(statistic, Counts):
        table = statistic.table[: len(statistic.labels)].floats()
        cells = tuple(statistic.labels.names)
    else:
        values, weights = statistic.tally()
        per_class = weights.floats()
        cut = distinct(np.append(quantile_edges(values, per_class.sum(axis=1), BINS), best_cut(values, per_class)))
        edges = tuple(cut.tolist())
        table = np.zeros((len(cut) + 1, statistic.groups))
        np.add.at(table, np.searchsorted(cut, values, side="right"), per_class)
        cells = tuple(bin_labels(edges if date else _short(edges), date)) if edges else ("any",)
    gone, there = float(statistic.other.floats().sum()), float(table.sum())
    missing = gone / (gone + there) if gone + there else 0.0
    bits = information(table, scale) * (1 - missing)
    return Attribute(name, bits, bits / whole if whole > 0 else 0.0, missing, cells, scale * table, edges)


def _short(edges: tuple[float, ...]) -> tuple[float, ...]:
    """Edges in as few digits as tell them apart, four at least.

    >>> _short((1.4540761074623201, 6.428571428571429)), _short((1.00001, 1.00002))
    ((1.454, 6.429), (1.00001, 1.00002))
    """
    for digits in range(4, 17):
        told = tuple(float(f"{edge:.{digits}g}") for edge in edges)
        if len(set(told)) == len(edges):
            return told
    return edges


def evidence(found: list[Attribute], classes: tuple[str, ...], most: int = 10) -> list[Piece]:
    """The strongest single pieces of evidence, ranked by what remains of each after an allowance for chance."""
    pieces: list[Piece] = []
    for attribute in found:
        if attribute.words is not None:
            pieces += attribute.words.pieces
            continue
        table = attribute.table + 0.5
        inside, per_class = table, table.sum(axis=0)
        outside, per_rest = table.sum(axis=1, keepdims=True) - table, per_class.sum() - per_class
        if len(classes) < 2 or len(table) < 2:
            continue
        enough = attribute.table.sum(axis=1) >= LEAST_ROWS
        log_ratio = np.log(inside / per_class) - np.log(outside / per_rest)
        error = np.sqrt(np.maximum(1 / inside - 1 / per_class + 1 / outside - 1 / per_rest, 0))
        least = np.sign(log_ratio) * np.maximum(np.abs(log_ratio) - 1.64 * error, 0) / np.log(2)
        for cell, label in np.argwhere((least > 0) & enough[:, None]):
            rows = float(attribute.table[cell].sum())
            pieces.append(
                Piece(
                    attribute.name,
                    attribute.cells[cell],
                    classes[label],
                    float(log_ratio[cell, label] / np.log(2)),
                    float(least[cell, label]),
                    rows,
                    float(attribute.table[cell, label]) / rows,
                )
            )
    return sorted(pieces, key=lambda p: -p.least)[:most]
