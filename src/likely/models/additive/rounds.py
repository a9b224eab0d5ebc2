"""Rounds of boosting in one compiled loop, and rows that go down a finished tree."""

from __future__ import annotations

import numpy as np

from likely.machinery.arrays import Bools, Bytes, Floats, Ints, Longs, Whole
from likely.machinery.jit import inner, kernel
from likely.models.additive.growing import GrownTree, GrowRoom, LeafCells, Rules, SplitRoom, grow_tree
from likely.models.additive.histograms import CODES, add_and_lose, add_and_pull
from likely.models.additive.pairing import PAIR_WAIT, best_pair, first_split

# Rows that go down a finished tree of codes: scores of leaves, and what comes by each node. Compiled loops.


@inner
def _go_down(codes: Bytes, i: Whole, n: Whole, attribute: Ints, below: Ints, mask: Bytes) -> Whole:
    """The node below inner node n that row i comes to. (Places are unsigned: one that may be below zero costs more.)"""
    left = mask[n, np.uint64(codes[i, np.uint64(attribute[n])])]
    return np.uint64(below[n]) + (np.uint64(0) if left else np.uint64(1))


@inner
def find_leaf(codes: Bytes, i: int, attribute: Ints, below: Ints, mask: Bytes) -> Whole:
    """The node at which row i ends."""
    n = np.uint64(0)
    while attribute[n] >= 0:
        n = _go_down(codes, np.uint64(i), n, attribute, below, mask)
    return n


@kernel("u1[][], i8, i8, i4[], i4[], u1[][], f8[][], f8[][]")
def add_tree(
    codes: Bytes, first: int, last: int, attribute: Ints, below: Ints, mask: Bytes, value: Floats, out: Floats
) -> None:
    """out[i] += the value of the leaf that row i falls into."""
    for i in range(first, last):
        n = find_leaf(codes, i, attribute, below, mask)
        for k in range(out.shape[1]):
            out[i, k] += value[n, k]


@kernel("i4[], i4[], f8[], f8[][]")
def mean_below(attribute: Ints, below: Ints, cover: Floats, value: Floats) -> None:
    """The weight of training rows at each inner node, and the mean of what lies below it; those of leaves are given."""
    for n in range(attribute.size - 1, -1, -1):  # children come after their parents
        if attribute[n] >= 0:
            one, two = below[n], below[n] + 1
            cover[n] = cover[one] + cover[two]
            for k in range(value.shape[1]):
                if cover[n] > 0.0:
                    value[n, k] = (cover[one] * value[one, k] + cover[two] * value[two, k]) / cover[n]
                else:  # rows that weigh next to nothing beside the others
                    value[n, k] = (value[one, k] + value[two, k]) / 2.0


# Rounds of boosting in one compiled loop: gradients, the best tree, its steps added, the loss of held-out rows.

CAREFUL = 300
"""Trees after which steps grow longer, to twice the length after as many again: what still helps then needs so many
trees that the limit of rounds would end it first (connect_4: log loss .436, else .455)."""


@inner
def _descend(
    codes: Bytes, first: int, last: int, attribute: Ints, below: Ints, mask: Bytes, ends: Ints, leaf: Bytes
) -> None:
    """The leaf that each row falls into; ends[node] is the leaf at a node."""
    for i in range(first, last):
        leaf[i] = ends[find_leaf(codes, i, attribute, below, mask)]


@inner
def rate_of(tree: int, rate: float) -> float:
    """What the steps of a tree are multiplied by: where many trees help, later ones may be bolder."""
    return rate * (1.0 + max(tree - CAREFUL, 0) / CAREFUL)


@inner
def _copy_tree(one: GrownTree, to: GrownTree, many: int) -> None:
    for n in range(2 * many - 1):
        to.attribute[n], to.below[n] = one.attribute[n], one.below[n]
        if one.attribute[n] >= 0:
            for b in range(CODES):
                to.mask[n, b] = one.mask[n, b]
    for m in range(many):
        to.leaf_of[m] = one.leaf_of[m]
        for k in range(to.step.shape[1]):
            to.step[m, k] = one.step[m, k]


@kernel(
    # rows
    "u1[][], u1[][], i4[], i4[], i4[], i4[], i8, i8, i4[], f8[], f8[], f8[][], u1[], i8[][], "
    # rules
    "i8[], b1[], i8[], b1[][], i8, i8, f8[], "
    # pairs
    "u1[][], i8[], i8[][], i8[], u1[][], i8[], "
    # room of splits and of growing
    "i4[], f8[], i8[], f8[], i8[][], i8[], i8[][], i4[], i4[], i4[], i4[], f8[], i4[], f8[][], u1[][], i8[][], i8[], "
    "f8[][], i8[], i4[], f8[][], "
    # trees
    "i8, i4[][], i4[][], u1[][][], i4[][], f8[][][], f8[][], i8[], i8[]",
    returns=1,
)
def grow_rounds(
    codes: Bytes, bundled: Bytes, begin: Ints, member: Ints, radix: Ints, every: Ints, bundle_from: int, learned: int,
    group: Ints, weight: Floats, dither: Floats, scores: Floats, leaf: Bytes, pull: Longs,
    offset: Longs, nominal: Bools, direction: Longs, apart: Bools, leaves: int, widest: int, settings: Floats,
    coarse: Bytes, coarse_many: Longs, pair_table: Longs, pair_part: Longs, pair_groups: Bytes, progress: Longs,
    order: Ints, key: Floats, upto: Longs, gain: Floats, hist: Longs, base: Longs, sums: Longs, rows: Ints, spare: Ints,
    allowed: Ints, state: Ints, gains: Floats, chosen: Ints, bounds: Floats, masks: Bytes, spans: Longs,
    turn: Longs,    room: Floats, packed: Longs, ends: Ints, pending: Floats,
    rounds: int, attribute: Ints, below: Ints, mask: Bytes, leaf_of: Ints, step: Floats, cover: Floats, many: Longs,
    losses: Longs,
) -> int:  # fmt: skip
    """So many rounds more; how many trees were grown, fewer only where none helps any more.

    The rows up to `learned` are learned from; losses[t] is that of the others after tree t. `leaf` and `pending` are
    the leaves of the last tree and their steps, which are not yet in the scores of learned rows. settings: as
    `Recipe.settings` gives them. cover: the weight of the rows of each leaf, in units of losses. progress: trees so
    far, the tree at which pairs are sought next, how long to wait after that where it was in vain, and where it was
    not. Arrays of trees have room for one more, in which a tree of a pair is grown.
    """
    classes = scores.shape[0]
    cells = LeafCells(codes, bundled, begin, member, radix, every, bundle_from)
    rules = Rules(offset, nominal, direction, settings[0], settings[1], settings[2])
    splits = SplitRoom(order, key, upto, gain)
    grow_room = GrowRoom(hist, base, sums, rows, spare, allowed, state, gains, chosen, bounds, masks, spans, turn)
    for t in range(rounds):
        add_and_pull(scores, group, weight, dither, learned, leaf, pending, settings[5], room, packed, pull)
        best = 0.0
        many[t] = 1
        i, j = -1, -1
        seek = coarse.shape[0] > 1 and progress[0] >= progress[1]
        for attempt in range(2 if seek else 1):
            at = rounds if attempt else t
            if attempt:
                i, j = best_pair(coarse, coarse_many, pull, classes, direction, apart, settings[0], pair_table)
                progress[1], progress[2] = progress[0] + progress[2], 2 * progress[2]
                if i < 0:
                    break
                first_split(
                    coarse, pull, classes, i, j, settings[0], pair_table, pair_part, pair_groups[0], pair_groups[1]
                )
                for b in range(CODES):
                    masks[leaves, b] = 0
                for r in range(coarse.shape[1]):
                    masks[leaves, codes[r, i]] = pair_groups[1, coarse[i, r]]
            tree = GrownTree(attribute[at], below[at], mask[at], leaf_of[at], step[at])
            rate = rate_of(progress[0], settings[3])
            found, gained = grow_tree(
                cells, pull, rules, apart, leaves, widest, i, j, masks[leaves], rate, settings[4], grow_room, splits,
                tree,
            )  # fmt: skip
            if found == 1 or (attempt and gained <= best):
                continue
            if attempt:
                _copy_tree(tree, GrownTree(attribute[t], below[t], mask[t], leaf_of[t], step[t]), found)
                progress[1], progress[2] = progress[0] + progress[3], PAIR_WAIT
            best, many[t] = gained, found
            for m in range(found):
                cover[t, m] = 0.0
                for r in range(spans[m, 0], spans[m, 1]):
                    leaf[rows[r]] = m
                    cover[t, m] += np.rint(weight[rows[r]] * settings[6])
        if many[t] == 1:
            # Steps that were pending are in the scores.
            for m in range(leaves):
                for k in range(classes):
                    pending[m, k] = 0.0
            return t
        progress[0] += 1
        for m in range(many[t]):
            ends[leaf_of[t, m]] = m
            for k in range(classes):
                pending[m, k] = step[t, m, k]
        if learned < group.size:
            _descend(codes, learned, group.size, attribute[t], below[t], mask[t], ends, leaf)
            losses[t] = add_and_lose(scores, group, weight, learned, group.size, leaf, pending, settings[6], room)
    return rounds


@kernel("f8[][], i4[], f8[], i8, u1[], f8[][], f8[], f8[][]", returns=1)
def held_out_loss(
    scores: Floats, group: Ints, weight: Floats, learned: int, leaf: Bytes, pending: Floats, settings: Floats,
    room: Floats,
) -> int:  # fmt: skip
    """The log loss of the held-out rows before the first tree, in units."""
    return add_and_lose(scores, group, weight, learned, group.size, leaf, pending, settings[6], room)  # type: ignore[no-any-return]
