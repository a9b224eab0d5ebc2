"""Rows that lack the same cells, together: so that a model works once for each pattern and never row by row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def patterns(there: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """For each pattern of cells that are there: their columns, and the rows that have just these.

    >>> [(c.tolist(), r.tolist()) for c, r in patterns(np.array([[True, True], [True, False], [True, True]]))]
    [([0], [1]), ([0, 1], [0, 2])]
    """
    if not len(there):
        return
    if there.all():
        yield np.arange(there.shape[1]), np.arange(len(there))
        return
    packed = np.packbits(there, axis=1)
    _, first, which = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    which = which.reshape(-1)
    order = np.argsort(which, kind="stable")
    for k, rows in enumerate(np.split(order, np.cumsum(np.bincount(which))[:-1])):
        yield np.flatnonzero(there[first[k]]), rows
