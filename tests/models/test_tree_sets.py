"""Sums of trees scored in one call say what each says when it is scored alone, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from likely.models.shapes import Axis, TreeSum
from likely.models.shapes.lines import TreeSets
from likely.table.batch import Batch
from likely.table.labels import Labels

CLASSES = 3


def tree_sum(draw: np.random.Generator, axes: tuple[Axis, ...], trees: int) -> TreeSum:
    """Trees of two levels over random axes; the children of a node follow one another."""
    parting, below, roots = list[int](), list[int](), list[int]()
    for _ in range(trees):
        start = len(parting)
        roots.append(start)
        parting += [*draw.integers(0, len(axes), 3).tolist(), -1, -1, -1, -1]
        below += [start + 1, start + 3, start + 5, 0, 0, 0, 0]
    nodes = len(parting)
    names = " & ".join(axis.name for axis in axes)
    left, values = draw.integers(0, 2, (nodes, 256)).astype(np.uint8), draw.normal(size=(nodes, CLASSES))
    kinds = (np.array(part, np.int32) for part in (roots, parting, below))
    return TreeSum(names, axes, *kinds, left, values)


@pytest.mark.parametrize("rows", [1, 7, 100])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_sets_say_together_what_each_says_alone(rows: int, count: int) -> None:
    draw = np.random.default_rng(10 * rows + count)
    axes = [Axis(f"x{k}", Labels(), np.linspace(-1, 1, 2 + k), missing=3 + k if k % 2 else -1) for k in range(5)]
    sets = []
    for k in range(count):
        chosen = draw.permutation(5)[: 2 + k % 3]  # in any order: places of axes differ from set to set
        sets.append(tree_sum(draw, tuple(axes[j] for j in chosen), 1 + 3 * k))
    cells = {axis.name: np.where(draw.random(rows) < 0.3, np.nan, draw.normal(size=rows)) for axis in axes}
    batch = Batch(rows, cells)
    joined = TreeSets.join(sets)
    apart, together = np.zeros((count, rows, CLASSES)), np.zeros((count, rows, CLASSES))
    for out, own in zip(apart, sets, strict=True):
        own.add(batch, out)
    joined.add(batch, {}, together)
    np.testing.assert_array_equal(together, apart)
    base = draw.normal(size=(rows, CLASSES))
    one, other = base.copy(), base.copy()
    for own in sets:
        own.add(batch, one)
    joined.add(batch, {}, other[None])
    np.testing.assert_array_equal(other, one)
