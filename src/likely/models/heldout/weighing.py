"""What held-out rows say of evidence: weights of speakers, temperatures, and what it is worth to know a cell at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Bools, Floats, Hashes, Longs
from likely.machinery.jit import inner, kernel
from likely.models.heldout.kept_rows import scramble
from likely.models.linear.squares import cholesky_factor, cholesky_solve
from likely.models.posterior import Matrix
from likely.models.shapes import temper

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Weights of evidence: how much of what each speaker says is to be believed beside the others.

PRICE = 1.0
"""What a weight of 1 must bring at least, in nats over all rows: who does not has no weight."""
FARTHEST = 50.0
"""A term that puts a class so many nats below the best one is taken to be exactly so far, while naive Bayes is tuned:
one row that a density thought impossible must not decide. (Members of pools are bounded themselves.)"""
STEPS, HALVINGS, PASSES = 60, 30, 1000
TOLERANCE = 1e-6
"""Another step must promise so much, in nats over all rows."""


def evidence_weights(
    terms: Floats,
    start: Floats,
    truth: NDArray[np.intp],
    weight: Floats,
    price: float = PRICE,
    anchor: tuple[int, float] | None = None,
    begin: Floats | None = None,
) -> Floats:
    """The weights v >= 0 with the greatest held-out sum of weight * log P(class | row) - price * sum v, where
    log P(class | row) = start + sum over speakers of v * term, normalised.

    `terms` is (speakers, rows, classes), all finite, `start` (classes). The score is concave: Newton's steps, each to
    the top of a parabola within v >= 0, from `begin`. `anchor` names a speaker and a strength: in the place of the
    price it costs strength / 2 * (v - 1)**2, so that where rows are few it is believed as it is.
    """
    count = len(terms)
    if not count:
        return np.zeros(0)
    said = np.ascontiguousarray(terms.transpose(1, 0, 2))  # row by row, as it is gone through
    prices, pull = np.full(count, price), np.zeros(count)
    v = np.full(count, 1.0 / np.sqrt(count)) if begin is None else begin.copy()
    if anchor is not None:
        prices[anchor[0]], pull[anchor[0]] = 0.0, anchor[1]
    slope, mean, bend = np.empty(count), np.empty(count), np.empty((count, count))
    chance, value = np.empty(len(start)), np.empty(1)

    def value_at(at: Floats, whole: bool) -> float:
        """What is made as great as can be; if `whole`, `slope` and `bend` are those there."""
        if whole:
            add_pool_slopes(said, start, truth, weight, at, chance, mean, slope, bend, value)
        else:
            add_pool_score(said, start, truth, weight, at, chance, value)
        return float(value[0] - prices @ at - pull @ (at - 1) ** 2 / 2)

    best = value_at(v, True)
    for _ in range(STEPS):
        slope -= prices + pull * (v - 1)
        bend[np.diag_indices_from(bend)] += 1e-9 * np.trace(bend) / count + np.finfo(np.float64).tiny + pull
        stride = np.zeros(count)
        nearest_top(bend, slope, v, stride, PASSES, TOLERANCE)
        with np.errstate(over="ignore", invalid="ignore"):
            if not 0.5 * float(stride @ slope) > TOLERANCE or not np.isfinite(stride).all():
                break
        length, moved = 1.0, False
        for _ in range(HALVINGS):
            after = np.maximum(v + length * stride, 0.0)
            now = value_at(after, False)
            if now > best:
                moved = now - best > TOLERANCE
                v, best = after, now
                break
            length /= 2
        if not moved:
            break
        value_at(v, True)
    return v


@inner
def _pool_row(said: Floats, start: Floats, v: Floats, own: int, chance: Floats) -> float:
    """log P(own class | row) under these weights, and into `chance` the probability of each class."""
    top = -np.inf
    for c in range(start.size):
        score = start[c]
        for h in range(v.size):
            score += v[h] * said[h, c]
        chance[c] = score
        top = max(top, score)
    out, total = chance[own] - top, 0.0
    for c in range(start.size):
        chance[c] = np.exp(chance[c] - top)
        total += chance[c]
    for c in range(start.size):
        chance[c] /= total
    return out - np.log(total)  # type: ignore[no-any-return]


@kernel("f8[][][], f8[], i8[], f8[], f8[], f8[], f8[]")
def add_pool_score(
    said: Floats, start: Floats, truth: Longs, weight: Floats, v: Floats, chance: Floats, value: Floats
) -> None:
    """value[0] = the sum of weight * log P(class | row), of rows (rows, speakers, classes)."""
    value[0] = 0.0
    for r in range(truth.size):
        value[0] += weight[r] * _pool_row(said[r], start, v, truth[r], chance)


@kernel("f8[][][], f8[], i8[], f8[], f8[], f8[], f8[], f8[], f8[][], f8[]")
def add_pool_slopes(
    said: Floats, start: Floats, truth: Longs, weight: Floats, v: Floats, chance: Floats, mean: Floats, slope: Floats,
    bend: Floats, value: Floats,
) -> None:  # fmt: skip
    """The same, its gradient by v, and minus its Hessian: covariances of what speakers say under P(class | row)."""
    value[0] = 0.0
    for h in range(v.size):
        slope[h] = 0.0
        for k in range(v.size):
            bend[h, k] = 0.0
    for r in range(truth.size):
        value[0] += weight[r] * _pool_row(said[r], start, v, truth[r], chance)
        for h in range(v.size):
            mean[h] = 0.0
            for c in range(start.size):
                mean[h] += chance[c] * said[r, h, c]
            slope[h] += weight[r] * (said[r, h, truth[r]] - mean[h])
        for h in range(v.size):
            for k in range(h + 1):
                both = -mean[h] * mean[k]
                for c in range(start.size):
                    both += chance[c] * said[r, h, c] * said[r, k, c]
                bend[h, k] += weight[r] * both
    for h in range(v.size):
        for k in range(h):
            bend[k, h] = bend[h, k]


def weighted_logs(terms: Floats, start: Floats, v: Floats) -> Floats:
    """log P(class | row) under these weights, (rows, classes)."""
    active = np.flatnonzero(v)
    scores = start + np.einsum("a,arc->rc", v[active], terms[active])
    scores -= scores.max(axis=1, keepdims=True)
    return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))


def score_alone(terms: Floats, start: Floats, truth: NDArray[np.intp], weight: Floats) -> float:
    """The held-out log score of one speaker alone, its term (rows, classes) beside the prior."""
    logs = weighted_logs(tell_apart(terms, FARTHEST)[None], start, np.ones(1))
    return float(weight @ logs[np.arange(len(truth)), truth])


def tell_apart(terms: Floats, farthest: float) -> Floats:
    """Each term less that of the class it speaks for most, no class farther below it; nothing where it calls every
    class impossible."""
    top = terms.max(axis=-1, keepdims=True)
    found = np.maximum(terms - np.where(np.isfinite(top), top, 0.0), -farthest)
    return np.ascontiguousarray(np.where(np.isfinite(top), found, 0.0))


@kernel("f8[][], f8[], f8[], f8[], i8, f8")
def nearest_top(bend: Floats, slope: Floats, v: Floats, stride: Floats, passes: int, tolerance: float) -> None:
    """stride, from 0, to the greatest slope·s - s·bend·s / 2 with v + s >= 0: one weight after the other, in turn."""
    for _ in range(passes):
        gained = 0.0
        for k in range(v.size):
            left = slope[k]
            for j in range(v.size):
                left -= bend[k, j] * stride[j]
            step = max(left / bend[k, k], -v[k] - stride[k])
            stride[k] += step
            gained += step * (left - 0.5 * bend[k, k] * step)
        if gained <= 1e-3 * tolerance:
            break


# What it is worth to know a cell at all: offsets found on rows in which some cells are hidden.

ROWS = 2_048
"""Rows that are masked: those with the smallest hashes."""
PATTERNS = 4
"""Masks of each row."""
MOST_FITTED = 300
"""Attributes whose shares are found by rows: the strongest. Those of others follow from how strong they are."""
RIDGE = 10.0
"""Holds shares near those that follow from how strong the attributes are, in rows."""
NEWTON_STEPS = 40
UNIT = 2.0**-30
"""Gradients are rounded to multiples of this: their sums over rows are then exact, in any order."""
SMALL = 1e-6
"""The search ends when no offset moves by more."""

_STEP = np.uint64(0x9E3779B97F4A7C15)


def mask_rows(hashes: Hashes, attributes: int) -> Bools:
    """Which cells are known, (PATTERNS * rows, attributes): by the rows' hashes alone. Any number is as likely."""
    out = []
    places = np.arange(1, attributes + 1, dtype=np.uint64) * _STEP
    for pattern in range(PATTERNS):
        own = scramble(hashes + np.full(1, pattern + 1, np.uint64) * _STEP)  # arrays may overflow in silence
        share = (scramble(own) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        lots = (scramble(own[:, None] + places) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        out.append(lots < share[:, None])
    return np.concatenate(out)


def fit_offsets(
    score: Callable[[Bools], Floats],
    hashes: Hashes,
    there: Bools,
    truth: NDArray[np.intp],
    weight: Floats,
    total: Floats,
    strength: Floats,
) -> Floats:
    """What each attribute adds where it is known, (attributes, classes); over all attributes they add up to `total`.

    `score` gives the scores of all PATTERNS * rows masked rows without offsets, the prior among them; `there` says
    which cells of the rows are not missing. Maximises the log-likelihood of their classes, less RIDGE/2 times the
    squared distance from total * strength: Newton's method with Boehning's bound on the Hessian.
    """
    share = strength / strength.sum() if strength.sum() > 0 else np.full(len(strength), 1 / max(len(strength), 1))
    offsets = share[:, None] * total
    chosen = np.sort(np.argsort(-strength, kind="stable")[:MOST_FITTED])
    chosen = chosen[strength[chosen] > 0]
    if len(chosen) < 2 or not len(hashes) or not total.any():
        return offsets
    known = mask_rows(hashes, len(strength)) & np.tile(there, (PATTERNS, 1))
    base = score(known)
    truth, weight = np.tile(truth, PATTERNS), np.tile(weight, PATTERNS) / PATTERNS
    here = np.arange(len(truth))
    weight = weight / weight.mean()
    base = base + known @ offsets
    seen = known[:, chosen].astype(np.float64)
    counts = (seen * np.rint(weight / UNIT)[:, None]).T @ seen * UNIT if not _plain(weight) else seen.T @ seen
    factor = cholesky_factor(counts / 2 + RIDGE * np.eye(len(chosen)))
    assert factor is not None  # ridge makes it positive definite
    ones = cholesky_solve(factor, np.ones(len(chosen)))
    moved = np.zeros((len(chosen), len(total)))
    for _ in range(NEWTON_STEPS):
        now = base + seen @ moved
        now -= now.max(axis=1, keepdims=True)
        chance = np.exp(now)
        chance /= chance.sum(axis=1, keepdims=True)
        chance[here, truth] -= 1.0
        pull = np.rint(chance * weight[:, None] / UNIT)
        uphill = -(seen.T @ pull) * UNIT - RIDGE * moved
        step = cholesky_solve(factor, uphill)
        # The offsets' sum stays what it is.
        step -= ones[:, None] * (step.sum(axis=0) / ones.sum())
        moved += step
        if float(np.abs(step).max()) <= SMALL:
            break
    offsets[chosen] += moved
    return offsets


def _plain(weight: Floats) -> bool:
    return bool((weight == 1.0).all())


# Temperatures: how far a model's log-odds must be shrunk or stretched to be right on rows it has not seen.

LEAST, MOST = 1 / 32, 4.0
"""A temperature lies between these: beyond them a model says nothing, or no row is left that speaks against it."""
SPLITTINGS = 14
"""Bisections of an octave: the temperature is known to a ten-thousandth of it."""


def temperature_of(
    logs: Matrix, truth: NDArray[np.intp], weight: NDArray[np.float64], shares: NDArray[np.float64], rows: float
) -> float:
    """The temperature with the best held-out log score, once the shares of the classes count as one row of `rows` + 1.

    So no row costs more than log (rows + 1) or so, and a single one that a model thought impossible does not decide.
    The best octave is taken, then the slope is bisected to zero in it.
    """
    here = np.arange(len(truth))
    prior = shares[truth]
    some = np.isfinite(logs)
    finite = np.where(some, logs, 0.0)

    def looked(t: float) -> tuple[float, float]:
        chance = np.where(some, np.exp(temper(logs, t)), 0.0)
        own = chance[here, truth]
        whole = rows * own + prior
        pull = finite[here, truth] - (chance * finite).sum(axis=1)
        with np.errstate(divide="ignore"):
            value = float(weight @ np.log(whole))
        return value, float(weight @ (rows * own * pull / np.where(whole > 0, whole, 1.0)))

    octaves = np.exp2(np.arange(np.log2(LEAST), np.log2(MOST) + 1))
    found = [looked(float(t)) for t in octaves]
    best = int(np.argmax([value for value, _ in found]))
    rising = found[best][1] > 0
    other = best + 1 if rising else best - 1
    if not found[best][1] or not 0 <= other < len(octaves):
        return float(octaves[best])
    low, high = np.log2(octaves[min(best, other)]), np.log2(octaves[max(best, other)])
    for _ in range(SPLITTINGS):
        middle = (low + high) / 2
        if looked(float(np.exp2(middle)))[1] > 0:
            low = middle
        else:
            high = middle
    return float(np.exp2((low + high) / 2))
