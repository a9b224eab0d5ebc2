"""What it is worth to know a cell at all: offsets found on rows in which some cells are hidden.

The evidence of a discriminative model (logistic regression, boosting) is an average of log-odds where nothing is known,
which is not the prior. Each attribute that is known adds its share of the difference, so that with nothing known the
answer is the prior, with everything known it is the model's, and in between it is as good as shares can make it. Knows
scores of rows; no attributes' names and no learner.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Bools, Floats, Hashes
from likely.models.heldout.dealing import scramble
from likely.models.linear.cholesky import cholesky_factor, cholesky_solve

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = 2_048
"""Rows that are masked: those with the smallest hashes."""
PATTERNS = 4
"""Masks of each row."""
MOST_FITTED = 300
"""Attributes whose shares are found by rows: the strongest. Those of others follow from how strong they are."""
RIDGE = 10.0
"""Holds shares near those that follow from how strong the attributes are, in rows."""
STEPS = 40
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
    for _ in range(STEPS):
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
