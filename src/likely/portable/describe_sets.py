"""Pairs and larger sets of attributes as portable forms. Codes that a term does not tell apart become one.

Reads shapes; knows no model and no arithmetic of scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likely.models import shapes
from likely.portable import forms

if TYPE_CHECKING:
    from numpy.typing import NDArray


def describe_pair(pair: shapes.PairTable, axes: Sequence[forms.Axis]) -> forms.PairTerm:
    """The form of a pair; `axes` have the codes of its shape."""
    (first, rows), (second, columns) = (
        _merge(axis, cells, shape.size + 1) for axis, shape, cells in zip(axes, pair.axes, pair.cells, strict=True)
    )
    table = pair.table[np.ix_(pair.cells[0][rows], pair.cells[1][columns])]
    return forms.PairTerm(pair.name, (first, second), _by_class(table.reshape(-1, table.shape[2])))


def describe_trees(trees: shapes.TreeSum, axes: Sequence[forms.Axis]) -> forms.TreesTerm:
    """The form of a sum of trees; `axes` have the codes of its shape."""
    merged: list[forms.Axis] = []
    turns: list[tuple[int, ...]] = [()] * len(trees.axis)
    for j, (axis, shape) in enumerate(zip(axes, trees.axes, strict=True)):
        nodes = np.flatnonzero(trees.axis == j)
        left = trees.left[nodes, : shape.size + 1] != 0
        # Codes that go the same way everywhere have the same number.
        alike = np.unique(left, axis=1, return_inverse=True)[1] if len(nodes) else np.zeros(shape.size + 1, np.intp)
        own, kept = _merge(axis, alike.reshape(-1), shape.size + 1)
        merged.append(own)
        for node, sides in zip(nodes.tolist(), left[:, kept], strict=True):
            changes = np.diff(np.concatenate([[True], sides]))
            turns[node] = tuple(np.flatnonzero(changes).tolist())
    leaf = trees.axis < 0
    return forms.TreesTerm(
        trees.name,
        tuple(merged),
        tuple(trees.roots.tolist()),
        tuple(trees.axis.tolist()),
        tuple(np.where(leaf, 0, trees.below).tolist()),
        tuple(turns),
        _by_class(trees.values),
    )


def _merge(axis: forms.Axis, alike: NDArray[np.integer], size: int) -> tuple[forms.Axis, NDArray[np.intp]]:
    """The axis with one code for codes that have the same number in `alike`, and for each new code one of the old ones.

    The last of the `size` old codes is that of a missing cell. New ones are in the order of the old, and bins become
    one only side by side.
    """
    missing = axis.missing >= 0
    known = alike[: size - 1]
    if axis.codes is None:
        new = np.concatenate([[True], known[1:] != known[:-1]])
        starts = tuple(s for s, opens in zip(axis.starts, new[1:].tolist(), strict=True) if opens)
        kept = np.flatnonzero(new)
        if missing:
            kept = np.append(kept, size - 1)
        last = len(kept) - 1 if missing else -1
        return forms.Axis(axis.attribute, len(kept), None, starts, missing=last), kept
    every = alike if missing else known
    _, first = np.unique(every, return_index=True)
    kept = np.sort(first)
    place = {int(alike[old]): k for k, old in enumerate(kept.tolist())}

    def renumber(code: int) -> int:
        return place[int(alike[code])] if code >= 0 else -1

    codes = tuple(renumber(code) for code in axis.codes)
    return forms.Axis(
        axis.attribute, len(kept), codes, unseen=renumber(axis.unseen), missing=renumber(axis.missing)
    ), kept


def _by_class(values: NDArray[np.float64]) -> tuple[forms.Scores, ...]:
    """(places, classes) as one tuple for each class; of two that mirror each other, the second's alone."""
    columns = values.T
    if len(columns) == 2 and bool((columns[0] == -columns[1]).all()):
        columns = columns[1:]
    return tuple(tuple(column) for column in columns.tolist())
