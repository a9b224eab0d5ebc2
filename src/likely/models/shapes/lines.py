"""The lines of a sum, and how they are added to rows: one by one, or several by one call. Knows terms; no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.machinery.arrays import Floats
from likely.models import kernels
from likely.models.shapes.block import Axis, PairTable, TreeSum
from likely.models.shapes.joint import JointTable, MultivariateNormal
from likely.table.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = dict[str, tuple[int, int]]
    """For each text column how many words there were, and how many are not known."""


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


class Work:
    """What is known of the rows of a block while they are scored: codes of axes and shares of terms, made once."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.codes: dict[int, NDArray[np.int32]] = {}
        """By axis: two models may cut one attribute in different ways."""
        self.shares: dict[int, Floats] = {}
        self.words: Words = {}

    def shares_of(self, term: Any) -> Floats:
        """What a term says, attribute by attribute, (shares, rows, classes)."""
        if id(term) not in self.shares:
            self.shares[id(term)] = term.shares(self.batch)
        return self.shares[id(term)]


@dataclass(frozen=True, eq=False)
class TermPart:
    """A term in a line: all that it says, or its share number `share`, times `power`."""

    term: Any
    power: float
    share: int | None = None

    def add(self, work: Work, out: Floats) -> None:
        """Add it to each row of `out`."""
        if not self.power:
            return
        if self.share is not None:
            said = work.shares_of(self.term)[self.share]
            out += said if self.power == 1.0 else self.power * said
        elif self.power == 1.0:
            self._add_whole(work, out)
        else:
            each = np.zeros_like(out)
            self._add_whole(work, each)
            out += self.power * each

    def _add_whole(self, work: Work, out: Floats) -> None:
        if isinstance(self.term, PairTable):
            self.term.add_codes([codes_of(axis, work.batch, work.codes) for axis in self.term.axes], out)
            return
        words = self.term.add(work.batch, out)
        if words is not None:
            work.words[self.term.name] = words


@dataclass(frozen=True, eq=False)
class Line:
    """What one attribute or set of attributes says: one term, or several, which are added to each other first."""

    name: str
    parts: tuple[TermPart, ...]
    count = 1

    @property
    def tree(self) -> TreeSum | None:
        """The sum of trees that it is, where it is one."""
        if len(self.parts) != 1 or self.parts[0].power != 1.0 or not isinstance(self.parts[0].term, TreeSum):
            return None
        return self.parts[0].term

    @property
    def share(self) -> tuple[Any, int] | None:
        """The term and the number of its share that it is, where it is one."""
        part = self.parts[0]
        return (
            (part.term, part.share) if len(self.parts) == 1 and part.power == 1.0 and part.share is not None else None
        )

    def add(self, work: Work, out: Floats) -> None:
        """Add it to each row of `out`."""
        if len(self.parts) == 1:
            self.parts[0].add(work, out)
            return
        room = np.zeros_like(out)
        self.add_apart(work, room[None])
        out += room

    def add_apart(self, work: Work, out: Floats) -> None:
        """Add it to the one place of `out`, (1, rows, classes), which holds nothing yet."""
        for part in self.parts:
            part.add(work, out[0])


@dataclass(frozen=True, eq=False)
class TreeRun:
    """Several lines, each of which is one sum of trees."""

    trees: TreeSets
    count: int

    @classmethod
    def of(cls, lines: Sequence[Line]) -> TreeRun:
        """These lines, whose axes of one name are the same."""
        return cls(TreeSets.join([line.tree for line in lines if line.tree is not None]), len(lines))

    def add(self, work: Work, out: Floats) -> None:
        """Add all of them to each row of `out`."""
        self.trees.add(work.batch, work.codes, out[None])

    def add_apart(self, work: Work, out: Floats) -> None:
        """Add each to its place in `out`, (lines, rows, classes)."""
        self.trees.add(work.batch, work.codes, out)


@dataclass(frozen=True, eq=False)
class ShareRun:
    """Several lines, which are the shares of one term."""

    term: Any
    count: int

    def add(self, work: Work, out: Floats) -> None:
        """Add all of them, in order, to each row of `out`."""
        kernels.add_shares(np.ascontiguousarray(work.shares_of(self.term).transpose(1, 0, 2)), out)

    def add_apart(self, work: Work, out: Floats) -> None:
        """Add each to its place in `out`, (lines, rows, classes)."""
        out += work.shares_of(self.term)


def fits_trees(run: Sequence[Line], line: Line) -> bool:
    """Whether a line is a sum of trees as those of the run are, with the same axes where they have the same names."""
    if line.tree is None or run[0].tree is None:
        return False
    known = {axis.name: axis for one in run if one.tree is not None for axis in one.tree.axes}
    return all(known.get(axis.name, axis) is axis for axis in line.tree.axes)


def follows_share(run: Sequence[Line], line: Line) -> bool:
    """Whether a line is the next share of the term whose shares the run is."""
    before, after = run[-1].share, line.share
    return before is not None and after is not None and before[0] is after[0] and before[1] + 1 == after[1]


def join_run(run: Sequence[Line]) -> Sequence[Line | TreeRun | ShareRun]:
    """Lines that follow each other as one step, where one call adds them."""
    share = run[0].share
    if share is not None and len(run) == len(share_names(share[0])):
        return [ShareRun(share[0], len(run))]
    return [TreeRun.of(run)] if run[0].tree is not None else run


def join_lines(lines: Sequence[Line]) -> tuple[Line | TreeRun | ShareRun, ...]:
    """The lines as steps: those that follow each other and can be added by one call are one."""
    runs: list[list[Line]] = []
    for line in lines:
        if runs and (fits_trees(runs[-1], line) or follows_share(runs[-1], line)):
            runs[-1].append(line)
        else:
            runs.append([line])
    return tuple(step for run in runs for step in join_run(run))


def share_names(term: Any) -> tuple[str, ...]:
    """What the shares of a term are called that can be told attribute by attribute; none where it is one line."""
    names: tuple[str, ...] = getattr(term, "share_names", ())
    return names


def line_name(term: Any) -> str:
    """What the line of a term is called."""
    return " & ".join(term.names) if isinstance(term, (JointTable, MultivariateNormal)) else term.name
