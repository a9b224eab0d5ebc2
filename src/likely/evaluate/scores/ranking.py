"""How well rows are ranked by the probability of one class, and whether probabilities can be taken at their word."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import ColumnError, nearest, shown
from likely.evaluate.scores.intervals import NORMAL, Measure, wilson
from likely.evaluate.scores.scores import HeldOutRows, probabilities
from likely.machinery.arrays import distinct, quantile
from likely.sums.summary import Summary
from likely.sums.tallies import equal_weight_bins

if TYPE_CHECKING:
    from numpy.typing import NDArray


from likely.models.heldout.weighing import temperature_of
from likely.models.shapes import temper

# How well rows are ranked by the probability of one class: ROC, precision and recall, lift. Knows arrays only.

MOST_RANKED = 100
"""Classes up to which each is ranked against all others."""
MOST_POINTS = 200
"""Of a curve, as it is kept; areas are those of all of them."""
TENTHS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Shares of the rows at which lift is shown."""


@dataclass(frozen=True)
class Roc:
    """Of a class against all others: the share of its rows found against that of others mistaken for it."""

    of: str
    positives: float
    negatives: float
    auc: Measure
    """P(a row of the class ranks above one of another), ties half; bounds after DeLong, on the scale of log odds."""
    points: tuple[tuple[float, float], ...]
    """(share of the others, share of the class) at and above each threshold."""
    thresholds: tuple[float, ...] = ()
    """Of each point: the least P(class) of the rows that it stands for; 1 of the first, which stands for none."""


@dataclass(frozen=True)
class PrecisionRecall:
    """Of a class: the share of it found, against how many of the rows taken for it are."""

    of: str
    average_precision: float
    prevalence: float
    """Average precision of ranking by chance."""
    points: tuple[tuple[float, float], ...]
    """(recall, precision)."""


@dataclass(frozen=True)
class LiftRow:
    """The rows that rank highest, up to a share of all."""

    share: float
    found: float
    """Share of all rows of the class that is among them."""
    precision: float
    lift: float
    """Precision over prevalence."""
    bounds: tuple[float, float] = (0.0, 1.0)
    """95 % bounds of `found`, Wilson's; those of the lift are these, over the share."""


@dataclass(frozen=True)
class Lift:
    """How much more of a class is among the rows that rank highest than among all."""

    of: str
    rows: tuple[LiftRow, ...]


@dataclass(frozen=True)
class Ranking:
    """All that ranks say of one class."""

    roc: Roc
    precision_recall: PrecisionRecall
    lift: Lift


def positive_class(asked: str | None, total: Summary) -> str:
    """The class that is looked for: as asked, else the rarest that has rows, of equals the last."""
    if asked is not None and asked not in total.classes:
        raise ColumnError(f"There is no class {shown(asked)}. {nearest(asked, total.classes)}")
    weights = total.total.floats()
    return asked or total.classes[len(weights) - 1 - int(np.argmin(weights[::-1]))]


def rankings(found: HeldOutRows, by: float = 1.0) -> dict[str, Ranking]:
    """Of each class against all others; those without rows on either side are left out. `by` is how many times the
    variance of independent rows that of the scores is (`design_effect`)."""
    out = {}
    for k, name in enumerate(found.classes):
        hit = found.truth == k
        if found.weight[hit].sum() > 0 and found.weight[~hit].sum() > 0:
            squares = found.weight**2 if found.squares is None else found.squares
            sure = float(found.weight[hit].sum() ** 2 / squares[hit].sum()) / by
            out[name] = ranking(found.log_odds[:, k], hit, found.weight, name, by, sure)
    return out


def ranking(
    score: NDArray[np.float64],
    hit: NDArray[np.bool_],
    weight: NDArray[np.float64],
    of: str = "",
    by: float = 1.0,
    sure: float = 0.0,
) -> Ranking:
    """Everything of one class, from one sort; `by` is how many times the variance of independent rows that of the
    scores is, `sure` how many independent rows the class counts as for bounds of the lift.

    >>> found = ranking(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]), np.ones(4))
    >>> found.roc.auc.value, round(found.precision_recall.average_precision, 4)
    (0.75, 0.8333)
    """
    steps = _Steps(score, hit, weight)
    curve = np.column_stack([steps.false / steps.negatives, steps.true / steps.positives])
    kept = kept_points(curve)
    points = tuple((float(a), float(b)) for a, b in curve[kept])
    thresholds = (1.0, *probabilities(steps.values[::-1][kept]).tolist())
    precision, recall = steps.true / (steps.true + steps.false), steps.true / steps.positives
    # Sums, not products of vectors: those are taken by several threads, which wait for each other and round otherwise.
    average = float((np.diff(recall, prepend=0.0) * precision).sum())
    whole = steps.positives + steps.negatives
    prevalence = steps.positives / whole
    pairs = np.column_stack([recall, precision])
    kept = kept_points(pairs)
    upto = np.concatenate([[0.0], steps.true + steps.false]) / whole
    gained = np.concatenate([[0.0], recall])
    rows = []
    for share in TENTHS:
        # Ties are cut as if shuffled: so much of a step as is wanted.
        found = float(np.interp(share, upto, gained))
        bounds = wilson(found, sure) if sure > 0 else (0.0, 1.0)
        rows.append(LiftRow(share, found, found * prevalence / share, found / share, bounds))
    return Ranking(
        Roc(of, steps.positives, steps.negatives, _area(steps, hit, weight, by), ((0.0, 0.0), *points), thresholds),
        PrecisionRecall(of, average, prevalence, tuple((float(a), float(b)) for a, b in pairs[kept])),
        Lift(of, tuple(rows)),
    )


class _Steps:
    """Weights of rows of the class and of others at and above each different score, the highest first."""

    def __init__(self, score: NDArray[np.float64], hit: NDArray[np.bool_], weight: NDArray[np.float64]) -> None:
        self.values, self.place = np.unique(score, return_inverse=True)
        count = len(self.values)
        self.ups = np.bincount(self.place, weight * hit, count)
        self.downs = np.bincount(self.place, weight * ~hit, count)
        self.true, self.false = np.cumsum(self.ups[::-1]), np.cumsum(self.downs[::-1])
        self.positives, self.negatives = float(self.true[-1]), float(self.false[-1])


def _area(steps: _Steps, hit: NDArray[np.bool_], weight: NDArray[np.float64], by: float) -> Measure:
    """The area under the ROC curve by ranks, and DeLong's bounds, for a variance that is `by` times as large."""
    place, ups, downs, up, down = steps.place, steps.ups, steps.downs, steps.positives, steps.negatives
    # Of each row of the class, the share of others below it; of each other row, that of the class above it.
    beaten = ((np.cumsum(downs) - downs / 2) / down)[place[hit]]
    losing = (1 - (np.cumsum(ups) - ups / 2) / up)[place[~hit]]
    shares = weight[hit] / up, weight[~hit] / down
    value = float((shares[0] * beaten).sum())
    variance = 0.0
    for share, each in zip(shares, (beaten, losing), strict=True):
        rows = len(each)
        variance += float((share * share * (each - value) ** 2).sum()) * (rows / (rows - 1) if rows > 1 else 1.0)
    if variance <= 0 or not 0 < value < 1:
        return Measure(value, *wilson(value, float(min(hit.sum(), (~hit).sum())) / by))
    middle, half = math.log(value / (1 - value)), NORMAL * math.sqrt(variance * by) / (value * (1 - value))
    low, high = (1 / (1 + math.exp(-min(max(b, -700.0), 700.0))) for b in (middle - half, middle + half))
    return Measure(value, low, high)


def kept_points(points: NDArray[np.float64], most: int = MOST_POINTS) -> NDArray[np.intp]:
    """The places of at most so many points of a curve: the first and last, and those evenly between them along its
    length."""
    if len(points) <= most:
        return np.arange(len(points))
    length = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(points, axis=0)).sum(axis=1))])
    wanted = np.searchsorted(length, np.linspace(0, length[-1], most))
    return np.asarray(distinct(np.append(np.minimum(wanted, len(points) - 1), [0, len(points) - 1])), np.intp)


# Whether probabilities can be taken at their word: how often rows that were given p turn out so. Knows arrays.

BINS = 10
ROWS_A_BIN = 10
"""Of few rows there are fewer bins, but two at least."""
LEAST_DOUBTED = 0.0005
"""A calibration error that is told as 0.0 points is no reason for doubt: where every answer is all but certain and
right, rounding alone exceeds what chance would make."""
MOST_DRAWN = 2000
"""Rows whose outcomes are drawn one by one."""
DRAWS = 2000
"""Of what chance would make; seeded."""


@dataclass(frozen=True)
class Bin:
    """Rows to which about the same probability was given."""

    weight: float
    low: float
    """The least probability among them."""
    high: float
    probability: float
    """Mean of what was given."""
    share: Measure
    """Of those for which it turned out so."""


@dataclass(frozen=True)
class Reliability:
    """A reliability curve, out of fold. Bins have about equal weight; rows of equal probability share one."""

    of: str | None
    """The class whose probability this is; None: of whichever class was named."""
    bins: tuple[Bin, ...]
    error: float
    """Expected calibration error: the mean over rows of |probability - share| of their bin. It has no interval: noise
    alone makes an error, so that bounds of what is behind it need not hold it."""
    by_chance: float
    """What the error would be, in the mean, if every probability were right: rows are few and bins are noisy."""
    bias: float
    """Mean probability less the share: above zero where too much is promised."""
    doubted: bool
    """Whether chance hardly explains the error: outcomes drawn by the probabilities make one so large in less than one
    of 40 draws."""


def reliability(
    chance: NDArray[np.float64],
    hit: NDArray[np.bool_],
    weight: NDArray[np.float64],
    of: str | None = None,
    bins: int = BINS,
    seed: int = 0,
) -> Reliability:
    """The curve of probabilities against what happened.

    >>> found = reliability(np.array([0.2] * 5 + [0.8] * 5), np.array([True] + [False] * 4 + [True] * 4 + [False]),
    ...                     np.ones(10))
    >>> [(round(b.probability, 2), b.share.value) for b in found.bins], round(found.error, 6)
    ([(0.2, 0.2), (0.8, 0.8)], 0.0)
    """
    where = equal_weight_bins(chance, weight, bins)
    count = int(where.max()) + 1 if len(where) else 0
    total = np.asarray(np.bincount(where, weight, count), np.float64)
    given, seen = np.bincount(where, weight * chance, count), np.bincount(where, weight * hit, count)
    unit = np.ldexp(weight, -np.frexp(weight.max(initial=0.0))[1])  # squares of huge weights are beyond a double
    # As many rows of equal weight as would be as sure.
    rows = np.bincount(where, unit, count) ** 2 / np.bincount(where, unit**2, count)
    gap = (given - seen) / total
    alone = np.sqrt(np.bincount(where, weight * chance * (1 - chance), count) / total / np.maximum(rows, 1.0))
    share = total / max(float(total.sum()), 1e-300)
    table = []
    for k in range(count):
        mine = chance[where == k]
        p = float(seen[k] / total[k])
        bounds = wilson(p, float(rows[k]))
        table.append(
            Bin(float(total[k]), float(mine.min()), float(mine.max()), float(given[k] / total[k]), Measure(p, *bounds))
        )
    expected, value = float(np.sqrt(2 / np.pi) * (share @ alone)), float(share @ np.abs(gap))
    by_chance = _error_by_chance(chance, weight, where, total, alone, seed) if count else 0.0
    doubted = value > max(by_chance, LEAST_DOUBTED)
    return Reliability(of, tuple(table), value, expected, float((share * gap).sum()), doubted)


def _error_by_chance(
    chance: NDArray[np.float64],
    weight: NDArray[np.float64],
    where: NDArray[np.intp],
    total: NDArray[np.float64],
    alone: NDArray[np.float64],
    seed: int,
) -> float:
    """The error that right probabilities exceed in one of 40 draws: outcomes are drawn by them, row by row where rows
    are few; the mean of many is normal."""
    draw = np.random.default_rng(seed)
    share = total / total.sum()
    if len(chance) > MOST_DRAWN:
        return float(quantile(np.abs(alone * draw.standard_normal((DRAWS, len(total)))) @ share, 0.975))
    off = (draw.random((DRAWS, len(chance))) < chance) - chance
    gaps = np.array([off[:, where == k] @ weight[where == k] for k in range(len(total))])
    return float(quantile(np.abs(gaps).sum(axis=0) / total.sum(), 0.975))


def calibrations(found: HeldOutRows, positive: str, each: bool = True) -> tuple[Reliability, ...]:
    """The curve that matters first: of the class asked about, if there are two; else of the class that was named.

    Then, of `each`, that of each class, where there are more than two.
    """
    matrix, here = found.matrix, np.arange(len(found.truth))
    wanted = (found.classes.index(positive),) if len(found.classes) == 2 else range(len(found.classes) if each else 0)
    bins = min(max(len(here) // ROWS_A_BIN, 2), BINS)
    by_class = [reliability(matrix[:, k], found.truth == k, found.weight, found.classes[k], bins) for k in wanted]
    if len(found.classes) == 2:  # that of the other class is its mirror image
        return tuple(by_class)
    named = matrix.argmax(axis=1)
    return (reliability(matrix[here, named], found.truth == named, found.weight, None, bins), *by_class)


# One number by which all evidence is weighed, where held-out rows prove a model too sure of itself, or too timid.

MOST_ROWS = 4000
"""From which the number is learned; more would say the same."""


@dataclass(frozen=True)
class Sharpened:
    """A temperature: below 1 the evidence is counted too often, above 1 too little."""

    temperature: float
    log_loss: float
    """Bits a row with it, out of fold but for this one number."""


def sharpened(found: HeldOutRows) -> Sharpened | None:
    """The best temperature; None where there are no rows, or some class is impossible whatever it is."""
    step = max(len(found.truth) // MOST_ROWS, 1)
    truth, weight = found.truth.astype(np.intp), found.weight
    if not len(truth):
        return None
    logs = -np.logaddexp(0.0, -found.log_odds)
    shares = np.bincount(truth, weight, len(found.classes)) / weight.sum()
    best = temperature_of(logs[::step], truth[::step], weight[::step], shares, float(weight.sum()))
    own = temper(logs, best)[np.arange(len(truth)), truth]
    # A sum, not a product of vectors, which several threads would take and round otherwise.
    loss = -float((weight * own).sum() / weight.sum()) / math.log(2) if np.isfinite(own).all() else math.inf
    return Sharpened(best, loss) if math.isfinite(loss) else None
