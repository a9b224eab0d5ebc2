"""All sums of trees of a model as one array of nodes, scored by one call. Knows trees; no search, no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats
from likely.models import kernels
from likely.models.shapes.block import Axis, TreeSum
from likely.table.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class TreeSets:
    """Several sums of trees: what each says is what it says alone, to the last bit."""

    axes: tuple[Axis, ...]
    """The attributes of all sets, each once."""
    roots: NDArray[np.int32]
    bounds: NDArray[np.int32]
    """Where the roots of each set begin, and last where all end."""
    axis: NDArray[np.int32]
    below: NDArray[np.int32]
    left: NDArray[np.uint8]
    values: Floats

    @classmethod
    def join(cls, sets: Sequence[TreeSum]) -> TreeSets:
        """The nodes of all sets, one set after the other."""
        axes = list({axis.name: axis for own in sets for axis in own.axes}.values())
        places = {axis.name: k for k, axis in enumerate(axes)}
        starts = np.cumsum([0, *(len(own.axis) for own in sets)])
        parting, below, roots = [], [], []
        for own, start in zip(sets, starts.tolist(), strict=False):
            # The last place serves leaves, whose axis is -1.
            parting.append(np.array([*(places[a.name] for a in own.axes), -1], np.int32)[own.axis])
            below.append(own.below + np.int32(start))
            roots.append(own.roots + np.int32(start))
        return cls(
            tuple(axes),
            np.concatenate(roots).astype(np.int32),
            np.cumsum([0, *map(len, roots)]).astype(np.int32),
            np.concatenate(parting),
            np.concatenate(below).astype(np.int32),
            np.ascontiguousarray(np.concatenate([own.left for own in sets])),
            np.ascontiguousarray(np.concatenate([own.values for own in sets])),
        )

    def add(self, batch: Batch, codes: dict[int, NDArray[np.int32]], out: Floats) -> None:
        """Add what each set says of each row to its place in `out`, (sets, rows, classes), or all to the one place.

        `codes` are those of axes that are known already (`codes_of`).
        """
        each = np.stack([codes_of(axis, batch, codes) for axis in self.axes], axis=1)
        room = np.empty(self.values.shape[1])
        nodes = self.axis, self.below, self.left, self.values
        kernels.add_trees(np.ascontiguousarray(each, np.int32), self.roots, self.bounds, *nodes, room, out)


def codes_of(axis: Axis, batch: Batch, codes: dict[int, NDArray[np.int32]]) -> NDArray[np.int32]:
    """The codes of an axis in a batch, made once."""
    if id(axis) not in codes:
        codes[id(axis)] = axis.codes(batch.cells[axis.name])
    return codes[id(axis)]
