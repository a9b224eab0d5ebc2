"""Stacking: the weights of hypotheses with which their mixture scores held-out rows best. Knows scores, no rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.models.hypotheses import Beliefs
from likely.models.posterior import Matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

GAP = 1e-7
"""Stacking stops when the mean log score is known to be this close to the best there is."""
ROUNDS = 5000
"""Rounds after which it stops all the same, and says so."""


def stacked(titles: tuple[str, ...], scores: Matrix, weight: NDArray[np.float64]) -> tuple[Beliefs, tuple[str, ...]]:
    """The weights that give sum_i weight_i log sum_h w_h p_ih its greatest value.

    Found by w_h <- w_h g_h with g_h = mean of p_ih / sum_h w_h p_ih, which never makes it worse; the best there is lies
    no more than max g_h - 1 above, as the score is concave.
    """
    notes = []
    order = np.lexsort([weight, *scores.T])  # so that the order of the rows does not matter to the last bit
    scores, weight = scores[order], weight[order]
    with np.errstate(invalid="ignore"):
        figure = (np.where(weight[:, None] > 0, scores, 0.0) * weight[:, None]).sum(axis=0) / weight.sum()
    top = scores.max(axis=1, initial=-np.inf)
    some = ~np.isneginf(top)
    if not some.all():
        notes.append(f"No hypothesis gave the class of {int((~some).sum())} held-out rows a chance; they do not count.")
    chance, share = np.exp(scores[some] - top[some, None]), weight[some]
    w = np.full(scores.shape[1], 1 / scores.shape[1])
    if not len(chance):
        return Beliefs(titles, w, figure, True), tuple(notes)
    share = share / share.sum()
    gap = np.inf
    for _ in range(ROUNDS):
        gain = (share / (chance @ w)) @ chance
        gap = float(gain.max()) - 1
        if gap <= GAP:
            break
        w = w * gain
        w /= w.sum()
    else:
        notes.append(f"The weights are not quite the best: their log score may be {gap:.2g} below it for each row.")
    return Beliefs(titles, w, figure, True), tuple(notes)
