"""Integrals over the values of a number: Gauss-Kronrod on panels that are halved where that pays. Knows no model.

Functions are smooth but for kinks where another action becomes the best; these are found first and bound panels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Kronrod's 15 points on [-1, 1] and their weights; every second one is a point of Gauss, with the weights below.
_HALF = np.array(
    [
        0.991455371120812639206854697526329,
        0.949107912342758524526189684047851,
        0.864864423359769072789712788640926,
        0.741531185599394439863864773280788,
        0.586087235467691130294144691693270,
        0.405845151377397166906606412076961,
        0.207784955007898467600689403773245,
    ]
)
_KRONROD = np.array(
    [
        0.022935322010529224963732008058970,
        0.063092092629978553290700663189204,
        0.104790010322250183839876322541518,
        0.140653259715525918745189590510238,
        0.169004726639267902826583426598550,
        0.190350578064785409913256402421014,
        0.204432940075298892414161999234649,
    ]
)
_GAUSS = np.array([0.129484966168869693270611432679082, 0.279705391489276667901467771423780,
                   0.381830050505118944950369775488975])  # fmt: skip
POINTS = np.concatenate([-_HALF, [0.0], _HALF[::-1]])
WEIGHTS = np.concatenate([_KRONROD, [0.209482141084727828012999174891714], _KRONROD[::-1]])
_COARSE = np.zeros(15)
_COARSE[1::2] = np.concatenate([_GAUSS, [0.417959183673469387755102040816327], _GAUSS[::-1]])

Choice = Callable[["NDArray[np.float64]"], "NDArray[np.intp]"]
Values = Callable[["NDArray[np.float64]"], "NDArray[np.float64]"]


def integrals(
    values: Values, edges: NDArray[np.float64], accuracy: NDArray[np.float64], most: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The integrals of several functions at once, from the first to the last edge, and how far each may be off.

    `values(x)` gives a row of values for each x. Panels are halved until every function is as accurate as `accuracy`
    says, or `most` points have been looked at. All weights are positive, so that what is never negative
    has no negative integral.

    >>> total, error = integrals(lambda x: np.exp(-x * x)[:, None], np.array([-9.0, 0.0, 9.0]), np.array([1e-12]), 9999)
    >>> bool(abs(total[0] - np.sqrt(np.pi)) < 1e-12), bool(error[0] < 1e-12)
    (True, True)
    """
    low, high = edges[:-1], edges[1:]
    fine, error = _panels(values, low, high)
    looked = 15 * len(low)
    while (error.sum(axis=0) > accuracy).any() and looked < most:
        # The panels that hold the last tenth of the error may stay as they are.
        share = (error / np.maximum(error.sum(axis=0), np.nextafter(0, 1))).max(axis=1)
        wide = (high - low) > 4 * np.spacing(np.maximum(np.abs(low), np.abs(high)))
        chosen = np.flatnonzero(wide & (share > 0.1 / len(low)))
        chosen = chosen[np.argsort(-share[chosen], kind="stable")][: max(1, (most - looked) // 30)]
        if not len(chosen):
            break
        middle = (low[chosen] + high[chosen]) / 2
        left, right = np.concatenate([low[chosen], middle]), np.concatenate([middle, high[chosen]])
        more, off = _panels(values, left, right)
        looked += 15 * len(left)
        kept = np.ones(len(low), np.bool_)
        kept[chosen] = False
        low, high = np.concatenate([low[kept], left]), np.concatenate([high[kept], right])
        fine, error = np.concatenate([fine[kept], more]), np.concatenate([error[kept], off])
    order = np.argsort(low, kind="stable")  # added up in one order, however the panels came about
    return fine[order].sum(axis=0), error[order].sum(axis=0)


def turns(choice: Choice, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where a choice between a few things changes, to the last bit: the first number on the other side.

    It is looked for between edges and between Kronrod's points of all panels. A kink that lies unseen between an edge
    and the first point would spoil both the integral and its estimate of error (tests/deciding/test_asking.py).

    >>> turns(lambda x: (x > 0.1).astype(np.intp), np.array([0.0, 1.0, 2.0])).tolist()
    [0.10000000000000002]
    """
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    points = np.unique(np.concatenate([edges, (middle[:, None] + half[:, None] * POINTS).reshape(-1)]))
    codes = choice(points)
    left, right, before, after = points[:-1], points[1:], codes[:-1], codes[1:]
    found: list[NDArray[np.float64]] = []
    while len(apart := np.flatnonzero(before != after)):
        left, right, before, after = left[apart], right[apart], before[apart], after[apart]
        low, high = left, right
        while len(open_ := np.flatnonzero(np.nextafter(low, high) < high)):
            at = low[open_] / 2 + high[open_] / 2
            same = choice(at) == before[open_]
            low, high = low.copy(), high.copy()
            low[open_[same]], high[open_[~same]] = at[same], at[~same]
        found.append(high)
        # Beyond it there may be a third thing, and another turn before the right end.
        left, before = high, choice(high)
    return np.unique(np.concatenate(found)) if found else np.empty(0)


def _panels(
    values: Values, low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    middle, half = (low + high) / 2, (high - low) / 2
    at = (middle[:, None] + half[:, None] * POINTS).reshape(-1)
    found = values(at).reshape(len(low), 15, -1) * half[:, None, None]
    fine, coarse = np.einsum("k,pkf->pf", WEIGHTS, found), np.einsum("k,pkf->pf", _COARSE, found)
    return fine, np.abs(fine - coarse)
