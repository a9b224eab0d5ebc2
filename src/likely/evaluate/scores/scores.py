"""Scores of probabilities and decisions against what happened, as exact sums; and predictions one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.apply.decide.decider import Costs, make_decision
from likely.evaluate import kernels
from likely.machinery.arrays import Ints
from likely.models.loss import Loss
from likely.models.posterior import Posterior
from likely.sums.columns.counts import add_counts
from likely.sums.columns.numbers import Numbers
from likely.sums.contracts import Weights, weights
from likely.sums.exact import Exact
from likely.table.batch import Codes

if TYPE_CHECKING:
    from numpy.typing import NDArray


# What decisions cost against what happened: actions by true class as exact sums, and the mean cost they come to.


@dataclass(frozen=True)
class LossScores:
    """What deciding cost on rows that were not learned from, a row, beside what it would cost to know nothing."""

    actions: tuple[str, ...]
    mean: float
    """Mean cost of the actions of the learner."""
    baseline: float
    """Mean cost of the actions that the frequencies of the classes suggest, out of fold."""
    constant: str
    """The one action that would have cost least if always chosen."""
    constant_mean: float
    undecided: float
    """Weight of the rows without an action; they count as if the costliest action had been chosen."""
    table: tuple[tuple[float, ...], ...]
    """Weight of each action (columns) in each true class (rows)."""


class Chosen:
    """Adds up, by true class, how often each action is chosen."""

    def __init__(self, loss: Loss, classes: tuple[str, ...]) -> None:
        self.loss, self.classes = loss, classes
        self._costs = Costs(loss, classes)
        self.table = Exact.zeros(len(loss.actions), len(classes))
        self.undecided = Exact.zeros(1, len(classes))

    def update(self, found: Posterior, truth: Ints, share: Weights) -> None:
        """Take in rows: their posterior, true classes and weights."""
        codes: NDArray[np.int32] = make_decision(found, self.loss, costs=self._costs).codes.astype(np.int32)
        add_counts(codes, truth, share, self.table, self.undecided)

    def __add__(self, other: Chosen) -> Chosen:
        out = Chosen(self.loss, self.classes)
        out.table, out.undecided = self.table + other.table, self.undecided + other.undecided
        return out

    def weights(self) -> tuple[list[list[Fraction]], list[Fraction]]:
        """What each action weighs in each class, (classes, actions), and the rows without one, by class; exact."""
        flat, wide = self.table.fractions(), len(self.classes)
        by_action = [flat[k * wide : (k + 1) * wide] for k in range(len(self.loss.actions))]
        return [list(row) for row in zip(*by_action, strict=True)], list(self.undecided.fractions())

    def mean(self) -> Fraction:
        """The mean cost, exact."""
        rows, none = self.weights()
        costs = [[Fraction(c) for c in row] for row in self.loss.rows(self.classes)]
        spent = sum(
            (w * c for ws, cs in zip(rows, costs, strict=True) for w, c in zip(ws, cs, strict=True)), Fraction(0)
        )
        spent += sum((w * max(cs) for w, cs in zip(none, costs, strict=True)), Fraction(0))
        return spent / (sum(map(sum, rows), Fraction(0)) + sum(none, Fraction(0)))


def loss_scores(own: Chosen, baseline: Chosen, times: int = 1) -> LossScores:
    """The scores, rounded once; of rows that were predicted so many times, each counts once."""
    rows, none = own.weights()
    totals = [sum(row, Fraction(0)) + lost for row, lost in zip(rows, none, strict=True)]
    costs = [[Fraction(c) for c in row] for row in own.loss.rows(own.classes)]
    whole = sum(totals, Fraction(0))
    always = [sum((t * row[a] for t, row in zip(totals, costs, strict=True)), Fraction(0)) / whole
              for a in range(len(own.loss.actions))]  # fmt: skip
    best = min(range(len(always)), key=always.__getitem__)
    return LossScores(
        own.loss.actions,
        float(own.mean()),
        float(baseline.mean()),
        own.loss.actions[best],
        float(always[best]),
        float(sum(none, Fraction(0)) / times),
        tuple(tuple(float(w / times) for w in row) for row in rows),
    )


# Scores of probabilities against what happened, as exact sums: accuracy, log loss, Brier score, confusion.


@dataclass(frozen=True)
class Scores:
    """How good probabilities were. Log loss in bits a row; Brier summed over classes, so 0 is best and 2 is worst."""

    rows: float
    accuracy: float
    log_loss: float | None
    """Bits a row; None where some row's true class was held impossible, so that the loss is infinite."""
    brier: float
    unclassified: float
    """Weight of the rows that could not be classified; they count as wrong."""


def is_better(accuracy: float, guessing: float) -> bool:
    """Whether an accuracy is better than that of always guessing one class, in the figures that people read: per cent
    with one decimal. Whoever says "no better than guessing" asks this.

    >>> is_better(0.7923, 0.7918), is_better(0.793, 0.792)
    (False, True)
    """
    return float(f"{100 * accuracy:.1f}") > float(f"{100 * guessing:.1f}")


class Scorer:
    """Adds up scores over rows; like every sum here it is exact, so threads cannot change a bit of it."""

    def __init__(self, classes: int, chosen: Chosen | None = None, folds: int = 1) -> None:
        self.chosen = chosen
        self.surprise = Numbers(folds, cap=64)
        self.brier = Numbers(folds, cap=64)
        self.right = Exact.zeros(2, folds)
        """Rows named wrongly, and rightly, by fold."""
        self.confusion = Exact.zeros(classes, classes)
        self.unclassified = Exact.zeros(1, classes)
        self.truth = Exact.zeros(classes, folds)
        """Rows of each class, by fold."""
        self.squares, self.lost_squares = Exact.zeros(classes, classes), Exact.zeros(1, classes)
        """Of the weights, as the confusion and the unclassified: they say how many equal rows would be as sure."""
        self.always: int | None = None
        """The class that every row was answered with, where that is so."""

    def update(
        self,
        joint: NDArray[np.float64],
        truth: Ints,
        weight: NDArray[np.float64] | None,
        names: tuple[str, ...],
        fold: int | Ints = 0,
        squares: NDArray[np.float64] | None = None,
    ) -> None:
        """Take in rows of one fold, or of as many as there are numbers: log joint scores, true classes, weights.

        `squares` are those of the weights, where a row stands for several that were put together.
        """
        found = Posterior.of(names, joint, one=False)
        surprise, brier = np.empty(len(truth)), np.empty(len(truth))
        kernels.row_scores(joint, found.matrix, found.log_evidence, truth, surprise, brier)
        share, group = weights(weight), np.broadcast_to(np.asarray(fold, np.int32), len(truth)).copy()
        self.surprise.update(surprise, group, share)
        self.brier.update(brier, group, share)
        codes = found.codes.astype(np.int32)
        add_counts(codes, truth, share, self.confusion, self.unclassified)
        add_counts((codes == truth).astype(np.int32), group, share, self.right, self.right)
        add_counts(truth, group, share, self.truth, self.truth)
        squared = share if weight is None else weights(weight**2 if squares is None else squares)
        add_counts(codes, truth, squared, self.squares, self.lost_squares)
        if self.chosen is not None:
            self.chosen.update(found, truth, share)

    def __add__(self, other: Scorer) -> Scorer:
        out = Scorer(0)
        out.surprise = self.surprise + other.surprise
        out.brier = self.brier + other.brier
        out.confusion = self.confusion + other.confusion
        out.unclassified = self.unclassified + other.unclassified
        out.right, out.truth = self.right + other.right, self.truth + other.truth
        out.squares, out.lost_squares = self.squares + other.squares, self.lost_squares + other.lost_squares
        out.always = self.always
        if self.chosen is not None and other.chosen is not None:
            out.chosen = self.chosen + other.chosen
        return out

    def read(self, times: int = 1) -> Scores:
        """The scores, rounded once; of rows that were predicted so many times, each counts once."""
        weight, bits, _ = total_moments(self.surprise)
        scored, brier, _ = total_moments(self.brier)
        infinite = self.surprise.other.sum(1).fractions()[2]
        wrong, right = self.right.sum(1).fractions()
        all_rows = wrong + right
        return Scores(
            float(all_rows / times),
            float(right / all_rows),
            None if infinite else float(bits / weight) / float(np.log(2)),
            float(brier / scored),
            float(self.unclassified.sum(1).fractions()[0] / times),
        )

    def always_guessing(self) -> Scorer:
        """The same rows, each answered with the class that most of them have (of equals the first).

        This is what "always guessing" means everywhere. Frequencies that are learned fold by fold would name now one
        class, now another where these are about as frequent, and always the wrong one where each row is left out in
        turn. Log loss and Brier score stay those of the frequencies.
        """
        frequent = self.truth.sum(1).fractions()
        k = max(range(len(frequent)), key=frequent.__getitem__)
        out, classes = copy(self), np.arange(len(frequent))
        to_k, none = np.full(len(frequent), k, np.intp), Exact.zeros(1, len(frequent))

        def all_to_k(table: Exact, lost: Exact) -> Exact:
            return table.scattered(to_k, 0, len(classes)) + lost.scattered(to_k[:1], 0, len(classes))

        out.right = self.truth.scattered((classes == k).astype(np.intp), 0, 2)
        out.confusion, out.unclassified = all_to_k(self.confusion, self.unclassified), none
        out.squares, out.lost_squares = all_to_k(self.squares, self.lost_squares), none
        out.always = k
        return out

    def effective_rows(self, times: int = 1) -> float:
        """How many rows of equal weight would be as sure as these (Kish): (sum of weights)² / sum of their squares."""
        weight = sum(self.right.sum(1).fractions(), Fraction(0))
        squares = sum(self.squares.sum(1).fractions(), Fraction(0)) + sum(self.lost_squares.fractions(), Fraction(0))
        return float(weight * weight / squares / times)

    def table(self, times: int = 1) -> Any:
        """Confusion: a row for each true class, a column for each predicted one."""
        return (self.confusion.floats().T / times).tolist()


def total_moments(held: Numbers) -> tuple[Fraction, Fraction, Fraction]:
    """Weight, sum and sum of squares over all folds."""
    weight, first, second = zip(*held.moments(), strict=True)
    return sum(weight, Fraction(0)), sum(first, Fraction(0)), sum(second, Fraction(0))


# Out-of-fold predictions of rows, one by one: for curves and ranks, which no sum gives. Of many rows, a sample.

MOST_NUMBERS = 4_000_000
"""Rows times classes that are kept; of more rows a sample is, by row number and seed."""


@dataclass(frozen=True)
class HeldOutRows:
    """Rows in the order of the table, with what was said of each class before the row was learned from."""

    classes: tuple[str, ...]
    row: NDArray[np.int64]
    """Number in the table, from 0."""
    truth: Ints
    weight: NDArray[np.float64]
    log_odds: NDArray[np.float64]
    """(rows, classes): log P(class) - log P(any other); finer than a probability near 0 and 1."""
    fold: Ints
    """In which each row was predicted; where all were left out in turn, its place among them."""
    sampled: bool = False
    cells: Mapping[str, Codes] = field(default_factory=dict)
    """Of the attributes that make subgroups, the level of each row."""
    squares: NDArray[np.float64] | None = None
    """Of the weights of rows that were put together; None: each is a row of its own."""

    @property
    def matrix(self) -> NDArray[np.float64]:
        """P(class | row)."""
        return probabilities(self.log_odds)

    @property
    def surprise(self) -> NDArray[np.float64]:
        """-log P(true class)."""
        return np.logaddexp(0.0, -self.log_odds[np.arange(len(self.truth)), self.truth])


def probabilities(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Odds as probabilities.

    >>> probabilities(np.array([0.0, -np.inf, np.log(3)])).round(3).tolist()
    [0.5, 0.0, 0.75]
    """
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (1.0 + np.exp(-log_odds)))


class HeldOutCollector:
    """Takes rows, in any order; `read` puts them into that of the table."""

    def __init__(self, rows: int, classes: tuple[str, ...], seed: int = 0) -> None:
        self._classes, self._seed = classes, seed
        most = max(MOST_NUMBERS // max(len(classes), 1), 1)
        self._ceiling = -1 if rows <= most else int(most / rows * 2.0**63)
        self._chunks: list[tuple[NDArray[np.int64], Ints, NDArray[np.float64], NDArray[np.float64], Ints | None]] = []
        self._cells: list[Mapping[str, Codes]] = []

    def take(
        self,
        row: NDArray[np.int64],
        truth: Ints,
        weight: NDArray[np.float64] | None,
        joint: NDArray[np.float64],
        fold: Ints | None = None,
        cells: Mapping[str, Codes] | None = None,
    ) -> None:
        """Some rows: their numbers, classes, weights, the log scores of their classes, folds if there are any, and the
        levels that make subgroups."""
        cells = {} if cells is None else cells
        weight = np.ones(len(row)) if weight is None else weight
        if self._ceiling >= 0:
            kept = np.zeros(len(row), np.bool_)
            kernels.chosen_rows(np.ascontiguousarray(row), self._ceiling, self._seed, kept)
            row, truth, weight, joint = row[kept], truth[kept], weight[kept], joint[kept]
            fold = None if fold is None else fold[kept]
            cells = {name: Codes(own.codes[kept], own.labels) for name, own in cells.items()}
        self._chunks.append((row, truth, weight, log_odds(joint), fold))
        self._cells.append(cells)

    def __add__(self, other: HeldOutCollector) -> HeldOutCollector:
        out = HeldOutCollector(0, self._classes, self._seed)
        out._ceiling, out._chunks = self._ceiling, self._chunks + other._chunks
        out._cells = self._cells + other._cells
        return out

    def read(self) -> HeldOutRows:
        """All rows that were kept."""
        row = np.concatenate([np.empty(0, np.int64), *(c[0] for c in self._chunks)])
        order = np.argsort(row, kind="stable")
        truth = np.concatenate([np.empty(0, np.int32), *(c[1] for c in self._chunks)])[order]
        weight = np.concatenate([np.empty(0), *(c[2] for c in self._chunks)])[order]
        held = np.concatenate([np.empty((0, len(self._classes))), *(c[3] for c in self._chunks)])[order]
        folds = (np.full(len(c[0]), -1, np.int32) if c[4] is None else c[4] for c in self._chunks)
        fold = np.concatenate([np.empty(0, np.int32), *folds])[order]
        fold = np.where(fold < 0, np.arange(len(fold), dtype=np.int32), fold)
        cells = {
            name: Codes(np.concatenate([own[name].codes for own in self._cells])[order], first.labels)
            for name, first in (self._cells[0] if self._cells else {}).items()
        }
        return HeldOutRows(self._classes, row[order], truth, weight, held, fold, self._ceiling >= 0, cells)


def merge_held_out(parts: Iterable[HeldOutCollector]) -> HeldOutRows:
    """What all threads took."""
    first, *others = parts
    for other in others:
        first = first + other
    return first.read()


def log_odds(joint: NDArray[np.float64]) -> NDArray[np.float64]:
    """log odds of each class against all others; of a row that is impossible throughout, minus infinity."""
    out = np.empty_like(joint)
    kernels.log_odds(np.array(joint, np.float64, order="C"), out)
    return out
