"""How far two attributes repeat each other given the class: in bits, by chance or not, and what it does to the odds.

Reads one table of counts (level of one, level of the other, class). Knows no rows, no files and no other attribute.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from likely.machinery.distributions import gamma_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

Counts3: TypeAlias = "NDArray[np.float64]"
"""(levels of one, levels of the other, classes)"""


@dataclass(frozen=True)
class Repetition:
    """What a table of two attributes and the class says."""

    bits: float
    """I(one; other | class), corrected for the number of cells (Miller and Madow), never below zero."""
    share: float
    """Of what there is to know, given the class, of the less varied of the two: 1 where one tells the other."""
    statistic: float
    """Pearson's chi-square, added up over the classes."""
    freedom: float
    """Degrees of freedom: (levels - 1) * (levels - 1) in each class, of the levels that the class has."""
    p: float
    """How often chance alone would give as much, were the two independent in every class."""


def _entropy(counts: NDArray[np.float64]) -> float:
    n = counts[counts > 0]
    return float(np.log(n.sum()) - (n * np.log(n)).sum() / n.sum()) if len(n) else 0.0


def repetition(table: Counts3) -> Repetition:
    """Measure and test one pair.

    The test adds Pearson's statistic over the classes. Its mean and variance where nothing but chance is at work are
    known exactly, however empty the table is, when the margins are held (Haldane 1940): the p-value is that of a
    gamma variable of that mean and variance. (The usual limit, chi-square, is off where cells expect few rows.)

    >>> copy = np.zeros((2, 2, 2)); copy[0, 0] = (30, 10); copy[1, 1] = (10, 30)
    >>> found = repetition(copy)
    >>> round(found.share, 2), found.p < 1e-9
    (0.98, True)
    """
    one, other, whole = table.sum(axis=1), table.sum(axis=0), table.sum(axis=(0, 1))
    total = float(whole.sum())
    if total <= 0:
        return Repetition(0.0, 0.0, 0.0, 0.0, 1.0)
    known = _entropy(whole)
    first, second = _entropy(one.ravel()) - known, _entropy(other.ravel()) - known
    levels, others = np.count_nonzero(one, axis=0), np.count_nonzero(other, axis=0)
    freedom = float((np.maximum(levels - 1, 0) * np.maximum(others - 1, 0)).sum())
    raw = first + second + known - _entropy(table.ravel())
    nats = max(raw - freedom / (2 * total), 0.0)
    least = min(first, second)
    statistic, mean, variance = _tested(table, one, other, whole)
    p = gamma_tail(mean * mean / variance, statistic * mean / variance) if variance > 0 else 1.0
    return Repetition(nats / math.log(2), min(nats / least, 1.0) if least > 0 else 0.0, statistic, freedom, p)


def _tested(
    table: Counts3, one: NDArray[np.float64], other: NDArray[np.float64], whole: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Pearson's statistic over the classes, with its mean and variance under chance; classes of few rows are left out.

    For a class of n rows with margins r_i and s_j: mean n/(n-1) (R-1)(S-1), and variance
    2n/(n-3) (v-w)(v'-w') + n²/(n-1) w w', where v = (R-1)(n-R)/(n-1) and w = (Σ n/r_i - R²)/(n-2).
    """
    at, beside, group = np.nonzero(table)
    seen = table[at, beside, group]
    spread = np.bincount(group, seen * seen / (one[at, group] * other[beside, group]), len(whole))
    levels, others = np.count_nonzero(one, axis=0), np.count_nonzero(other, axis=0)
    some = (whole > 3) & (levels > 1) & (others > 1)
    n, r, s = whole[some], levels[some], others[some]
    if not len(n):
        return 0.0, 0.0, 0.0
    (v1, w1), (v2, w2) = _margin(one[:, some], n, r), _margin(other[:, some], n, s)
    statistic, mean = n * (spread[some] - 1), n / (n - 1) * (r - 1) * (s - 1)
    variance = 2 * n / (n - 3) * (v1 - w1) * (v2 - w2) + n * n / (n - 1) * w1 * w2
    return float(statistic.sum()), float(mean.sum()), float(variance.sum())


def _margin(
    margin: NDArray[np.float64], n: NDArray[np.float64], levels: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """v and w of `_tested` for one side of the table."""
    turned = np.divide(1.0, margin, out=np.zeros_like(margin), where=margin > 0).sum(axis=0)
    return (levels - 1) * (n - levels) / (n - 1), (n * turned - levels**2) / (n - 2)


@dataclass(frozen=True)
class Push:
    """What counting two attributes as if they were independent does to the odds of the true class."""

    bits: float
    """How much too far the pair moves the log-odds, in the mean over the rows: 1 bit is a factor of 2. A copy moves
    them by its whole evidence once more; below zero, the two together say more than each by itself."""
    gain: float
    """Bits a row by which the pair alone predicts the class better when its two are joined."""


def push(table: Counts3, pseudo_count: float = 1.0) -> Push:
    """Compare P(a | class) P(b | class) with P(a, b | class), for each row by what the other rows teach.

    Each row is left out of the counts that judge it, since otherwise a cell of one row would predict itself. Where
    rows are few the joint probability leans on independence: it is (n + k) / (e + k) times the product, where e is the
    count that independence expects. How strongly, k, is read off the table (`_leaning`). Differences have the sign of
    the evidence, so that those of chance cancel each other (tests/evaluate/test_repeating.py).
    """
    at, beside, group = np.nonzero(table)
    classes = table.shape[2]
    k = _leaning(table)
    if not len(at) or classes < 2 or math.isinf(k):
        return Push(0.0, 0.0)
    weight = table[at, beside, group]
    mine = np.arange(classes) == group[:, None]
    # A row counts for one, a row of less weight for as much as it has.
    own = np.where(mine, np.minimum(weight, 1.0)[:, None], 0.0)
    joint = table[at, beside] - own
    one, other = table.sum(axis=1)[at] - own, table.sum(axis=0)[beside] - own
    whole = table.sum(axis=(0, 1)) - own
    with np.errstate(divide="ignore", invalid="ignore"):
        prior = np.log(whole)
        first, second = (
            (n + pseudo_count) / (whole + size * pseudo_count)
            for n, size in zip((one, other), table.shape[:2], strict=True)
        )
        apart = prior + np.log(first) + np.log(second)
        expected = np.divide(one * other, whole, out=np.zeros_like(one), where=whole > 0)
        bond = np.log((joint + k) / (expected + k))
        before, twice, joined = (_log_odds(x, mine) for x in (prior, apart, apart + bond))
        good = np.isfinite(before) & np.isfinite(twice) & np.isfinite(joined)
    if not good.any():  # classes of one row each, which left out leave nothing to compare
        return Push(0.0, 0.0)
    before, twice, joined = before[good], twice[good], joined[good]
    share = weight[good] / weight[good].sum() / math.log(2)
    gain = np.logaddexp(0, -twice) - np.logaddexp(0, -joined)
    return Push(float((share * np.sign(twice - before) * (twice - joined)).sum()), float((share * gain).sum()))


def copy_push(table: Counts3, pseudo_count: float = 1.0) -> float:
    """What an attribute that was entered twice does: bits by which its evidence, once more, moves the log-odds.

    In the mean over the rows, of the true class against the others. Nothing is estimated, so no row is left out.

    >>> copy = np.zeros((2, 2, 2)); copy[0, 0] = (3, 1); copy[1, 1] = (1, 3)
    >>> round(copy_push(copy), 9)  # every row: log2 of (3 + 1) / (1 + 1)
    1.0
    """
    counts = table.sum(axis=1)
    at, group = np.nonzero(counts)
    if not len(at) or table.shape[2] < 2:
        return 0.0
    weight, whole = counts[at, group], counts.sum(axis=0)
    mine = np.arange(table.shape[2]) == group[:, None]
    with np.errstate(divide="ignore"):
        prior = np.log(whole)
        once = np.log((counts[at] + pseudo_count) / (whole + len(counts) * pseudo_count))
    moved = _log_odds(prior + 2 * once, mine) - _log_odds(prior + once, mine)
    good = np.isfinite(moved)
    return float((weight[good] * np.abs(moved[good])).sum() / weight[good].sum() / math.log(2)) if good.any() else 0.0


def _leaning(table: Counts3) -> float:
    """How far counts lean on independence, in rows: infinitely, where chance explains how they stray from it.

    If a true count is e times a gamma variable of mean 1 and shape k, then (n - e)² / e is 1 + e/k in the mean, so that
    Pearson's statistic exceeds what chance gives by (all rows) / k. (Empirical Bayes: a table full of exceptions is
    believed in its exceptions.)
    """
    statistic, mean, _ = _tested(table, table.sum(axis=1), table.sum(axis=0), table.sum(axis=(0, 1)))
    return float(table.sum()) / (statistic - mean) if statistic > mean else math.inf


def _log_odds(logs: NDArray[np.float64], mine: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Of the true class against all others."""
    rest = np.where(mine, -np.inf, logs)
    top = rest.max(axis=1, keepdims=True)
    out: NDArray[np.float64] = logs[mine] - top[:, 0] - np.log(np.exp(rest - top).sum(axis=1))
    return out


def holm(chances: list[float]) -> list[float]:
    """p-values that account for how many were looked at: below 0.01 with at most that chance for any of them (Holm).

    It holds however the tests depend on each other: pairs that share an attribute do.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(chances)), key=lambda k: chances[k])
    out, highest = [1.0] * len(chances), 0.0
    for rank, k in enumerate(order):
        highest = max(highest, min(1.0, (len(chances) - rank) * chances[k]))
        out[k] = highest
    return out
