"""The loops over rows and classes when a model scores, compiled. They add terms in one fixed order."""

from __future__ import annotations

from typing import Any

import numpy as np

from likely.jit import kernel


@kernel("i4[], f8[][], f8[][]")
def add_levels(codes: Any, table: Any, out: Any) -> None:
    """out[i] += table[code of i]; the last row of the table serves -1 (missing), the one before -2 (unseen)."""
    for i in range(codes.size):
        c = codes[i]
        for k in range(out.shape[1]):
            out[i, k] += table[c, k]


@kernel("f8[], f8[], f8[], f8[], f8[], f8[][]")
def add_normal(x: Any, peak: Any, mean: Any, rate: Any, absent: Any, out: Any) -> None:
    """out[i] += peak - ((x - mean) * rate)**2 per class, or `absent` where x is missing or infinite."""
    for i in range(x.size):
        if np.isfinite(x[i]):
            for k in range(out.shape[1]):
                d = (x[i] - mean[k]) * rate[k]
                out[i, k] += peak[k] - d * d
        else:
            for k in range(out.shape[1]):
                out[i, k] += absent[k]


@kernel("f8[][], f8[]")
def normalise(scores: Any, evidence: Any) -> None:
    """Turn log joint scores into probabilities, in place; evidence[i] = log of their sum.

    A row that is impossible under every class is all zero, and its evidence is -inf.
    """
    for i in range(scores.shape[0]):
        top = -np.inf
        for k in range(scores.shape[1]):
            top = max(top, scores[i, k])
        if top == -np.inf:
            evidence[i] = -np.inf
            for k in range(scores.shape[1]):
                scores[i, k] = 0.0
            continue
        total = 0.0
        for k in range(scores.shape[1]):
            scores[i, k] = np.exp(scores[i, k] - top)
            total += scores[i, k]
        for k in range(scores.shape[1]):
            scores[i, k] /= total
        evidence[i] = top + np.log(total)
