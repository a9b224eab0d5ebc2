"""Terms of several attributes that are sums over codes or numbers: curves with products, pairs, trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from likely.machinery.arrays import Floats
from likely.models import kernels
from likely.models.shapes.column import Exhibit, Standard, bin_of
from likely.table.batch import Batch, Codes
from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Curve:
    """Adds known + z * (weight + square * z + sum over other numbers of half the weight of the product * their z), or
    `absent` where the cell is missing. So two numbers share what their product says."""

    name: str
    at: int
    units: tuple[Standard, ...]
    """This number (at `at`) and those that it has products with."""
    weights: Floats
    """(units and one more, classes): of the square where it is this one's, halves of products, and last of z itself."""
    known: Floats
    """What it says of the mean, z = 0."""
    absent: Floats

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes that it reads."""
        return tuple(unit.name for unit in self.units)

    def exhibits(self, classes: tuple[str, ...]) -> tuple[Exhibit, ...]:
        """None of its own."""
        return ()

    def add(self, batch: Batch, out: Floats) -> None:
        """Add the term of each row."""
        self._add([batch.cells[unit.name] for unit in self.units], out)

    def add_cells(self, cells: Floats, out: Floats) -> None:
        """The same for the cells of its own attribute alone: all others are at their mean, so products add nothing."""
        unknown = np.full(len(cells), np.nan)
        self._add([cells if j == self.at else unknown for j in range(len(self.units))], out)

    def _add(self, columns: Sequence[Floats], out: Floats) -> None:
        z = np.stack([unit.near(cells) for unit, cells in zip(self.units, columns, strict=True)], axis=1)
        there = np.isfinite(columns[self.at])
        kernels.add_curve(np.ascontiguousarray(z), self.at, self.weights, there, self.known, self.absent, out)


@dataclass(frozen=True)
class Axis:
    """An attribute as a few codes: of its levels, or of bins of a number (bin i: edges[i-1] <= x < edges[i])."""

    name: str
    levels: Labels
    edges: Floats | None = None
    groups: NDArray[np.int32] | None = None
    """The code of each level, where several levels share one; None: its place among the levels."""
    missing: int = -1
    """The code of a missing cell."""
    unseen: int = -1
    """The code of a level that is not among these."""
    count: int | None = None
    """How many codes there are, where that does not follow from levels and edges."""

    @property
    def size(self) -> int:
        """How many codes there are."""
        if self.count is not None:
            return self.count
        if self.edges is not None:
            return len(self.edges) + 1
        return len(self.levels) if self.groups is None else int(self.groups.max(initial=-1)) + 1

    @property
    def code_of(self) -> dict[str, int]:
        """The code of each level."""
        if self.groups is None:
            return self.levels.index
        return {name: int(code) for name, code in zip(self.levels.names, self.groups, strict=True)}

    def codes(self, cells: Any) -> NDArray[np.int32]:
        """The code of each cell; -1 where it has none."""
        if self.edges is not None:
            found = bin_of(self.edges, cells)
            return found if self.missing < 0 else np.where(found < 0, np.int32(self.missing), found)
        assert isinstance(cells, Codes)
        return self._places(cells.labels)[cells.codes]

    def _places(self, labels: Labels) -> NDArray[np.int32]:
        """The code here of each code of other labels, which are mostly the same as the last time."""
        held = self.__dict__.get("_held")
        if held is None or held[0] is not labels or held[1] != len(labels):
            code_of = self.code_of
            places = [code_of.get(name, self.unseen) for name in labels.names]
            # The last two places serve the codes of an unseen level (-2) and of a missing cell (-1).
            held = labels, len(labels), np.array([*places, self.unseen, self.missing], np.int32)
            self.__dict__["_held"] = held
        return held[2]


@dataclass(frozen=True, eq=False)
class PairTable:
    """What two attributes say together beyond what each says by itself; nothing where one of them is unknown."""

    name: str
    axes: tuple[Axis, Axis]
    cells: tuple[NDArray[np.int32], NDArray[np.int32]]
    """For each axis the place in the table of each code; the last code is that of a missing cell."""
    table: Floats
    """(places of the first, places of the second, classes)"""

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes that it covers."""
        return self.axes[0].name, self.axes[1].name

    def exhibits(self, classes: tuple[str, ...]) -> tuple[Exhibit, ...]:
        """None of its own."""
        return ()

    def add(self, batch: Batch, out: Floats) -> None:
        """Add the term of each row."""
        self.add_codes([axis.codes(batch.cells[axis.name]) for axis in self.axes], out)

    def add_codes(self, codes: Sequence[NDArray[np.int32]], out: Floats) -> None:
        """The same from the codes of the two attributes; -1 is unknown."""
        kernels.add_pairs(codes[0], codes[1], *self.cells, self.table, out)


@dataclass(frozen=True, eq=False)
class TreeSum:
    """The sum of trees over several attributes. A tree is followed down to a leaf, or to where a cell is unknown: there
    it says the mean of what lies below, weighed by the training rows."""

    name: str
    axes: tuple[Axis, ...]
    roots: NDArray[np.int32]
    axis: NDArray[np.int32]
    """For each node the axis that parts it; -1 where it is a leaf."""
    below: NDArray[np.int32]
    """For each node the first of its two children; the other follows."""
    left: NDArray[np.uint8]
    """(nodes, 256): 1 where a code goes to the first child; after an axis's codes comes that of a missing cell."""
    values: Floats
    """(nodes, classes)"""

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes that it covers."""
        return tuple(axis.name for axis in self.axes)

    @property
    def share_names(self) -> tuple[str, ...]:
        """The attributes: what it says is told one by one."""
        return self.names

    adds_up: ClassVar[bool] = False

    def shares(self, batch: Batch) -> Floats:
        """The Shapley value of each attribute, (attributes, rows, classes): what it adds to the term when it becomes
        known, the mean over all orders in which attributes become known.

        The shares add up to leaf less root, but for rounding.
        """
        return self._shares(batch, 1)[:, :, 0].transpose(1, 0, 2)

    def shares_with(self, batch: Batch) -> Floats:
        """The same by partner, (attributes, attributes, rows, classes): what an attribute says by itself is at its own
        place; its share of what several say is parted equally among the others of them."""
        return self._shares(batch, len(self.axes)).transpose(1, 2, 0, 3)

    def _shares(self, batch: Batch, partners: int) -> Floats:
        codes = np.stack([axis.codes(batch.cells[axis.name]) for axis in self.axes], axis=1)
        out = np.zeros((batch.rows, len(self.axes), partners, self.values.shape[1]))
        nodes, path = (self.axis, self.below, self.left, self.values), np.empty(len(self.axes), np.int32)
        kernels.share_trees(np.ascontiguousarray(codes, np.int32), self.roots, *nodes, path, out)
        return out

    def exhibits(self, classes: tuple[str, ...]) -> tuple[Exhibit, ...]:
        """None of its own."""
        return ()

    def turns(self, node: int) -> list[int]:
        """The codes of a node's axis where the side changes; before the first of them it is that of the first child."""
        sides = self.left[node, : self.axes[self.axis[node]].size] != 0
        found: list[int] = np.flatnonzero(np.diff(np.concatenate([[True], sides]))).tolist()
        return found if self.axis[node] >= 0 else []

    def add(self, batch: Batch, out: Floats) -> None:
        """Add the term of each row."""
        self.add_codes([axis.codes(batch.cells[axis.name]) for axis in self.axes], out)

    def add_codes(self, codes: Sequence[NDArray[np.int32]], out: Floats) -> None:
        """The same from the codes of its attributes; -1 is unknown."""
        each = np.ascontiguousarray(np.stack(codes, axis=1), np.int32)
        bounds, room = np.array([0, len(self.roots)], np.int32), np.empty(self.values.shape[1])
        kernels.add_trees(each, self.roots, bounds, self.axis, self.below, self.left, self.values, room, out[None])


@dataclass(frozen=True, eq=False)
class Tree:
    """log P(level | parent's level, class) over a tree of attributes; those without a code are summed over."""

    axes: tuple[Axis, ...]
    order: NDArray[np.int64]
    """The axes, each after its parent."""
    parents: NDArray[np.int64]
    """The parent of each axis; -1 for a root."""
    tables: tuple[Floats, ...]
    """P(level | parent's level, class) of each axis, (levels, parent's levels, classes)."""

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes that it covers."""
        return tuple(axis.name for axis in self.axes)

    @property
    def share_names(self) -> tuple[str, ...]:
        """The attributes: what is said of them can be told one by one."""
        return self.names

    adds_up: ClassVar[bool] = True
    """Whether the shares, added in order, are all that it says, to the last bit."""

    def shares(self, batch: Batch) -> Floats:
        """One share for each attribute, (attributes, rows, classes).

        Under a known parent (or none) a known cell's share is log P(cell | parent's cell, class). A missing attribute
        cannot be told apart from what lies below it: its share is the log of the sum, over its levels, of what the
        cells below it say together, up to the next known ones; those have the share 0, as has a missing attribute
        with nothing known below it.
        """
        codes = np.empty((batch.rows, len(self.axes)), np.int32)
        for k, axis in enumerate(self.axes):
            codes[:, k] = axis.codes(batch.cells[axis.name])
        sizes, first, at = self._layout
        classes = self.tables[0].shape[2]
        out = np.empty((batch.rows, len(self.axes), classes))
        up, told = np.empty((int(sizes.sum()), classes)), np.empty(len(self.axes), np.int64)
        kernels.tree_terms(codes, self.order, self.parents, first, sizes, at, self._log_table, up, told, out)
        return out.transpose(1, 0, 2)

    @cached_property
    def _layout(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """How many codes each axis has, where those of each begin, and where the table of each begins."""
        sizes = np.array([axis.size for axis in self.axes], np.int64)
        starts = np.cumsum([0, *(table.size for table in self.tables)], dtype=np.int64)[:-1]
        return sizes, np.cumsum(sizes) - sizes, starts

    @cached_property
    def _log_table(self) -> Floats:
        """The logs of all tables, one after the other."""
        with np.errstate(divide="ignore"):
            return np.log(np.concatenate([table.reshape(-1) for table in self.tables]))  # type: ignore[no-any-return]
