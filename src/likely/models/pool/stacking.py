"""Stacking: the weights of hypotheses with which their mixture scores held-out rows best. Knows scores, no rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.models.posterior import Matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

GAP = 1e-7
"""Stacking stops when the mean log score is known to be this close to the best there is."""
ROUNDS = 5000
"""Rounds after which it stops all the same, and says so."""
STEPS, HALVINGS = 100, 40
"""Newton's steps among the same members at most, and how often one is halved."""
EM_STEPS = 20
"""Steps of expectation maximization where Newton's are stuck."""
ENTERING = 1e-3
"""The weight that a member begins with when it is let in, at most."""
TRIFLE = 1e-15
"""A weight that changes no sum of doubles."""


def stack_scores(
    scores: Matrix, weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, ...]]:
    """The weights of hypotheses with the best mixture, from log p_ih (rows, hypotheses); the mean score of each; and
    what there is to say."""
    order = np.lexsort([weight, *scores.T])  # so that the order of the rows does not matter to the last bit
    scores, weight = scores[order], weight[order]
    with np.errstate(invalid="ignore"):
        figure = (np.where(weight[:, None] > 0, scores, 0.0) * weight[:, None]).sum(axis=0) / weight.sum()
    top = scores.max(axis=1, initial=-np.inf)
    none = int(np.isneginf(top).sum())
    told = (f"No hypothesis gave the class of {none} held-out rows a chance; they do not count.",) if none else ()
    if none == len(top):
        return np.full(scores.shape[1], 1 / scores.shape[1]), figure, told
    chance = np.exp(scores - np.where(np.isneginf(top), 0.0, top)[:, None])
    return stacking_weights(chance, weight), figure, told


def stacking_weights(chance: Matrix, share: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights w >= 0 that sum to one and give sum_i share_i log sum_h w_h chance_ih its greatest value; members
    that add nothing have exactly 0. Rows that no member gives a chance do not count.

    Begins with the best member alone. Newton's steps on the weights above 0; one that would fall below becomes 0; when
    they have settled, the member that would gain most is let in (an active set). The multiplier of "sum to one" is 1,
    as the slopes g_h, weighed, sum to 1: so the weights make sum share log - sum w as great as can be.
    """
    some = chance.max(axis=1, initial=0.0) > 0
    chance, share = chance[some], share[some]
    members = chance.shape[1]
    w = np.zeros(members)
    if not len(chance):
        w[0] = 1.0
        return w
    share = share / share.sum()
    chance = chance / chance.max(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        alone = share @ np.log(chance)
    if np.isneginf(alone.max()):  # each is certain of something that is not so: all have a say at first
        w[:] = 1 / members
    else:
        w[int(alone.argmax())] = 1.0
    for _ in range(ROUNDS):
        w, gain = _newton(chance, share, w)
        if float(gain.max()) - 1 <= GAP:
            break
        new = int(gain.argmax())
        if w[new] > 0:
            # No Newton step is upward, as where a weight of next to nothing carries rows that nobody else gives a
            # chance: steps of expectation maximization, which never lead down, go around it.
            after = _em_steps(chance, share, w)
            if np.array_equal(after, w):
                break
            w = after
            continue
        w = _let_in(chance, share, w, new)
    return np.asarray(w / w.sum())


def _let_in(chance: Matrix, share: NDArray[np.float64], w: NDArray[np.float64], new: int) -> NDArray[np.float64]:
    """The weights with some for a new member: so little that the score is no worse."""
    part, before = ENTERING, _value(chance, share, w)
    while True:
        after = w * (1 - part)
        after[new] = part
        if part < TRIFLE or _value(chance, share, after) >= before:
            return after
        part /= 4


def _value(chance: Matrix, share: NDArray[np.float64], w: NDArray[np.float64]) -> float:
    """What is made as great as can be: the score, less the sum of the weights."""
    mix = chance @ w
    return float(share @ np.log(mix)) - float(w.sum()) if (mix > 0).all() else -np.inf


def _em_steps(chance: Matrix, share: NDArray[np.float64], w: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights after some steps w_h <- w_h g_h."""
    for _ in range(EM_STEPS):
        w = w * ((share / (chance @ w)) @ chance)
        w = w / w.sum()
    return w


def _newton(
    chance: Matrix, share: NDArray[np.float64], w: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights that have settled among those above 0, and the slope of every member there."""
    best = _value(chance, share, w)
    for _ in range(STEPS):
        mix = chance @ w
        gain = (share / mix) @ chance
        free = np.flatnonzero(w > 0)
        slope = gain[free] - 1
        if float(np.abs(slope).max()) <= GAP:
            break
        each = chance[:, free] / mix[:, None]
        bend = each.T @ (share[:, None] * each)
        bend[np.diag_indices_from(bend)] *= 1 + 1e-9  # two members that say the same have no curvature between them
        stride = np.linalg.solve(bend, slope)
        below = stride < 0
        reach = float((w[free][below] / -stride[below]).min(initial=np.inf))
        length = min(1.0, reach)
        for _ in range(HALVINGS):
            after = w.copy()
            after[free] = np.maximum(w[free] + length * stride, 0.0)
            if length == reach:
                after[free[below][np.argmin(w[free][below] / -stride[below])]] = 0.0
            now = _value(chance, share, after)
            if now >= best:
                break
            length /= 2
        else:
            break
        if now - best <= 1e-15 and length == 1.0:
            w, best = after, now
            break
        w, best = after, now
    mix = chance @ w
    return w, (share / mix) @ chance
