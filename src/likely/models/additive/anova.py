"""Trees as a sum of terms: those over one or two attributes become tables; all others stay trees, and are one term.

Tables are purified (functional ANOVA by the weights of training rows; Lengerich and others 2020): a pair holds only
what its attributes say together, and the mean of every term is 0. Knows codes and scores; no names, no files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Bytes, Floats, Ints
from likely.machinery.jit import kernel
from likely.models.additive.exchange import RowSums
from likely.models.additive.recipe import TreeArrays
from likely.models.additive.rounds import add_tree, mean_below
from likely.models.kernels import add_levels, add_pairs, add_trees, share_trees

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALL = 1e-13
"""Purifying ends when nothing larger than this is moved any more."""
MOST_TURNS = 2_000
DECIMALS = 4
"""Digits after the point of what a term says of a class, in nats: far below what rows can tell, and short in files,
pages and exports. A table is rounded before it is taken apart, so the sum of what came of it rises where it rose."""


@dataclass(frozen=True)
class Pair:
    """What two attributes say together: for each of them the place of each code, and (places, places, scores)."""

    cells: tuple[Ints, Ints]
    table: Floats


@dataclass(frozen=True)
class TreeSet:
    """Trees over the same attributes, as arrays over all their nodes; attributes are numbered within the set."""

    roots: Ints
    axis: Ints
    below: Ints
    left: Bytes
    values: Floats


@dataclass(frozen=True)
class Anova:
    """constant + what each attribute says, each pair, and the trees over more; by codes, the last of which is
    "missing"."""

    constant: Floats
    mains: tuple[Floats, ...]
    """(codes, scores) for each attribute."""
    pairs: dict[tuple[int, int], Pair]
    sets: dict[tuple[int, ...], TreeSet]

    def add_codes(self, codes: NDArray[np.int32], out: Floats) -> None:
        """Add the terms of rows, given as codes (rows, attributes) with -1 where one is unknown; not the constant."""
        columns = np.ascontiguousarray(codes.T)
        for at in (*((j,) for j in range(len(self.mains))), *self.pairs, *self.sets):
            self._add_term(at, columns, out)

    def _add_term(self, at: tuple[int, ...], columns: NDArray[np.int32], out: Floats) -> None:
        """Add the term of one set of attributes; codes are (attributes, rows)."""
        if len(at) == 1:
            table = self.mains[at[0]]
            # One more row, which serves unknown codes: they say nothing.
            add_levels(columns[at[0]], np.concatenate([table, np.zeros((1, table.shape[1]))]), out)
        elif len(at) == 2:
            pair = self.pairs[at[0], at[1]]
            add_pairs(columns[at[0]], columns[at[1]], *pair.cells, pair.table, out)
        else:
            trees, own = self.sets[at], np.ascontiguousarray(columns[list(at)].T)
            room = np.empty(out.shape[1])
            bounds = np.array([0, len(trees.roots)], np.int32)
            add_trees(own, trees.roots, bounds, trees.axis, trees.below, trees.left, trees.values, room, out[None])

    def weigh_attributes(self, codes: NDArray[np.int32]) -> Floats:
        """How much each attribute says of rows, given as in `add_codes`: the mean square of its own term and of its
        share of all larger ones."""
        columns, classes = np.ascontiguousarray(codes.T), len(self.constant)
        out = np.zeros(len(self.mains))
        for at in (*((j,) for j in range(len(self.mains))), *self.pairs):
            said = np.zeros((len(codes), classes))
            self._add_term(at, columns, said)
            out[list(at)] += ((said / len(at)) ** 2).mean()
        for at, trees in self.sets.items():
            own, path = np.ascontiguousarray(codes[:, list(at)]), np.empty(len(at), np.int32)
            shares = np.zeros((len(codes), len(at), 1, classes))
            share_trees(own, trees.roots, trees.axis, trees.below, trees.left, trees.values, path, shares)
            out[list(at)] += (shares**2).mean(axis=(0, 2, 3))
        return out

    def with_strongest_pairs(self, most: int, rows: RowSums) -> Anova:
        """The same with so many pairs at most: those whose mean square over rows is greatest, of equals the first."""

        def mean_square(at: tuple[int, int]) -> float:
            (one, other), table = self.pairs[at].cells, self.pairs[at].table
            both = one[rows.codes[:, at[0]]].astype(np.int64) * table.shape[1] + other[rows.codes[:, at[1]]]
            weight = rows.tally(both, table.shape[0] * table.shape[1])
            return float((weight[:, None] * table.reshape(len(weight), -1) ** 2).sum())

        kept = sorted(sorted(self.pairs), key=lambda at: -mean_square(at))[:most]
        return replace(self, pairs={at: self.pairs[at] for at in sorted(kept)})

    def for_two_classes(self) -> Anova:
        """Log-odds of the second of two classes as scores of both."""
        both = np.array([-0.5, 0.5])
        pairs = {at: Pair(pair.cells, np.ascontiguousarray(pair.table * both)) for at, pair in self.pairs.items()}
        sets = {
            at: TreeSet(t.roots, t.axis, t.below, t.left, np.ascontiguousarray(t.values * both))
            for at, t in self.sets.items()
        }
        mains = tuple(np.ascontiguousarray(table * both) for table in self.mains)
        return Anova(self.constant * both, mains, pairs, sets)


def round_scores(scores: Floats) -> Floats:
    """Scores with DECIMALS digits; a log-odds of two classes, of which each gets half, with as many after halving."""
    half = 2.0 if scores.shape[-1] == 1 else 1.0
    return np.ascontiguousarray(np.round(scores / half, DECIMALS) * half + 0.0)  # + 0.0: no -0


def decompose(trees: Sequence[TreeArrays], rows: RowSums, sizes: Sequence[int], start: Floats) -> Anova:
    """The sum of the trees and of `start`, taken apart."""
    constant = start.copy()
    mains = [np.zeros((size, len(start))) for size in sizes]
    weights = [weight[:size] for weight, size in zip(rows.by_code, sizes, strict=True)]
    by_set: dict[tuple[int, ...], list[TreeArrays]] = {}
    for tree in trees:
        by_set.setdefault(tree.attributes, []).append(tree)
    pairs: dict[tuple[int, int], Pair] = {}
    larger: list[TreeArrays] = []
    for places, own in by_set.items():
        if len(places) == 1:
            (j,) = places
            codes = np.arange(sizes[j], dtype=np.uint8)[:, None]
            for tree in own:
                _add_renumbered(tree, places, np.ascontiguousarray(codes), mains[j])
            mains[j] = round_scores(mains[j])
        elif len(places) == 2:
            i, j = places
            pairs[i, j] = _pair(own, (i, j), sizes, rows, mains)
        else:
            larger += own
    sets: dict[tuple[int, ...], TreeSet] = {}
    if larger:
        every = tuple(sorted({j for tree in larger for j in tree.attributes}))
        sets[every], mean = _tree_set(larger, every)
        constant += mean
    for j, weight in enumerate(weights):
        if weight.any():
            mean = round_scores(weight @ mains[j] / weight.sum())
            mains[j] = round_scores(mains[j] - mean)
            mains[j][weight == 0] = 0.0  # a code that no row has says nothing
            constant += mean
    return Anova(constant, tuple(mains), pairs, sets)


def _add_renumbered(tree: TreeArrays, places: tuple[int, ...], codes: Bytes, out: Floats) -> None:
    """Add what a tree says of rows that have its attributes alone."""
    own = _renumber(tree.attribute, places)
    add_tree(codes, 0, len(codes), own, tree.below, tree.mask, tree.value, out)


def _renumber(attribute: Ints, places: tuple[int, ...]) -> Ints:
    """Attributes numbered within a set."""
    inside = np.array([*places], np.int32)
    return np.where(attribute < 0, -1, np.searchsorted(inside, attribute)).astype(np.int32)


def _pair(
    trees: list[TreeArrays], places: tuple[int, int], sizes: Sequence[int], rows: RowSums, mains: list[Floats]
) -> Pair:
    """The trees over two attributes as one table, purified; what one of them says by itself goes to `mains`."""
    cells, first = [], []
    for place in places:
        masks = np.concatenate([t.mask[t.attribute == place] for t in trees])[:, : sizes[place]]
        # Codes that no tree parts share a place.
        _, kept, which = np.unique(masks, axis=1, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(kept))
        cells.append(rank[which.reshape(-1)].astype(np.int32))
        first.append(np.sort(kept))
    shape = (len(first[0]), len(first[1]))
    grid = np.stack(np.meshgrid(*first, indexing="ij"), axis=-1).reshape(-1, 2).astype(np.uint8)
    scores = mains[0].shape[1]
    flat = np.zeros((shape[0] * shape[1], scores))
    for tree in trees:
        _add_renumbered(tree, places, grid, flat)
    whole = round_scores(flat.reshape(*shape, scores))
    i, j = places
    both = cells[0][rows.codes[:, i]].astype(np.int64) * shape[1] + cells[1][rows.codes[:, j]]
    weight = rows.tally(both, shape[0] * shape[1]).reshape(shape)
    one, other = np.zeros((shape[0], scores)), np.zeros((shape[1], scores))
    turns = np.array([SMALL])
    _purify(whole.copy(), weight, one, other, turns, MOST_TURNS)
    one, other = round_scores(one), round_scores(other)
    mains[i] += one[cells[0]]
    mains[j] += other[cells[1]]
    return Pair((cells[0], cells[1]), round_scores(whole - one[:, None] - other))


@kernel("f8[][][], f8[][], f8[][], f8[][], f8[], i8")
def _purify(table: Floats, weight: Floats, one: Floats, other: Floats, small: Floats, most: int) -> None:
    """Move the weighted mean of every row and column of a table to the attributes, until all of them are 0.

    That is the least-squares fit of a sum of one attribute each, by coordinate descent. Where no row of training was,
    the table keeps what the trees say, less what was moved.
    """
    for _turn in range(most):
        moved = 0.0
        for k in range(table.shape[2]):
            for a in range(table.shape[0]):
                total, mean = 0.0, 0.0
                for b in range(table.shape[1]):
                    total += weight[a, b]
                    mean += weight[a, b] * table[a, b, k]
                if total > 0.0:
                    mean /= total
                    moved = max(moved, abs(mean))
                    one[a, k] += mean
                    for b in range(table.shape[1]):
                        table[a, b, k] -= mean
            for b in range(table.shape[1]):
                total, mean = 0.0, 0.0
                for a in range(table.shape[0]):
                    total += weight[a, b]
                    mean += weight[a, b] * table[a, b, k]
                if total > 0.0:
                    mean /= total
                    moved = max(moved, abs(mean))
                    other[b, k] += mean
                    for a in range(table.shape[0]):
                        table[a, b, k] -= mean
        if moved <= small[0]:
            break


def _tree_set(trees: list[TreeArrays], places: tuple[int, ...]) -> tuple[TreeSet, Floats]:
    """The trees over a set of attributes, with means in their inner nodes; and their mean, which is taken off."""
    roots, axis, below, left, values = [], [], [], [], []
    at = 0
    whole = np.zeros(trees[0].value.shape[1])
    for tree in trees:
        value = round_scores(tree.value)
        mean_below(tree.attribute, tree.below, tree.cover.copy(), value)
        value = round_scores(value)
        whole += value[0]
        values.append(round_scores(value - value[0]))
        roots.append(at)
        axis.append(_renumber(tree.attribute, places))
        below.append(np.where(tree.attribute < 0, 0, tree.below + at).astype(np.int32))
        left.append(tree.mask)
        at += len(value)
    found = TreeSet(
        np.array(roots, np.int32),
        np.concatenate(axis),
        np.concatenate(below),
        np.ascontiguousarray(np.concatenate(left)),
        np.ascontiguousarray(np.concatenate(values)),
    )
    return found, whole
