"""Boosting of many rows: blocks of them sum gradients side by side, and what all say together grows the tree.

Sums are whole numbers, so that neither blocks nor threads nor machines change a bit: trees are those of `grow_rounds`
(rounds.py), which serves fewer rows in one compiled loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise

import numpy as np

from likely.machinery.arrays import Bools, Bytes, Floats, Ints, Longs
from likely.machinery.jit import kernel
from likely.machinery.threads import Crew, default_threads
from likely.models.additive.coding import CodedRows
from likely.models.additive.exchange import ALONE
from likely.models.additive.growing import (
    BARRED,
    FREE,
    USED,
    Rules,
    SplitRoom,
    gain_of,
    newton_step,
    part_rows,
    search,
    sum_left,
    tighten,
)
from likely.models.additive.histograms import (
    BLOCK,
    CODES,
    MASK,
    add_and_lose,
    add_and_pull,
    bundle_codes,
    fill,
    fill_bundled,
    padded,
)
from likely.models.additive.pairing import (
    COARSE,
    MOST_ROWS,
    NO_COARSE,
    PairSeeks,
    best_pair,
    coarse_codes,
    first_split,
    pair_pause,
)
from likely.models.additive.recipe import STRICT, Recipe, TreeArrays, Units, dither_of
from likely.models.additive.rounds import find_leaf, rate_of
from likely.models.contracts import Exchange

# What is done with a block of rows. Compiled loops; settings as `Recipe.settings` gives them.


@kernel(
    "u1[][], u1[][], i4[], i4[], i4[], i4[], i8, i4[], f8[], f8[], f8[][], u1[], f8[][], f8[], f8[][], i8[], i8[][], "
    "i8[], i4[], i4[], i8[], i8[][]"
)
def _start_tree(
    codes: Bytes, bundled: Bytes, begin: Ints, member: Ints, radix: Ints, every: Ints, bundle_from: int,
    group: Ints, weight: Floats, dither: Floats, scores: Floats, leaf: Bytes, steps: Floats, settings: Floats,
    room: Floats, packed: Longs, pull: Longs, offset: Longs, allowed: Ints, rows: Ints, base: Longs, hist: Longs,
) -> None:  # fmt: skip
    """Add the steps of the last tree to the scores; then gradients, and their histogram over all rows."""
    add_and_pull(scores, group, weight, dither, group.size, leaf, steps, settings[5], room, packed, pull)
    for i in range(rows.size):
        rows[i] = i
    if rows.size >= bundle_from:
        fill_bundled(
            bundled, begin, member, radix, every, pull, rows, 0, rows.size, offset, 0, offset[offset.size - 1], base,
            hist,
        )  # fmt: skip
    else:
        fill(codes, pull, rows, 0, rows.size, offset, allowed, allowed.size, 0, base, hist)


@kernel(
    "u1[][], u1[][], i4[], i4[], i4[], i4[], i8, u1[][], i8[][], i4[], i4[], i8[][], i8[][], u1[][], i8[], i4[], i8[], "
    "i8[][]"
)
def _part_leaves(
    codes: Bytes, bundled: Bytes, begin: Ints, member: Ints, radix: Ints, every: Ints, bundle_from: int,
    columns: Bytes, pull: Longs, rows: Ints, spare: Ints, spans: Longs, jobs: Longs, masks: Bytes, offset: Longs,
    allowed: Ints, base: Longs, hist: Longs,
) -> None:  # fmt: skip
    """Part the rows of some leaves, and sum those of the child that job names. jobs: leaf, attribute, child to sum
    (0: left, 1: right), left child; the right one is the next. `hist` has the children of all jobs, one behind the
    other."""
    total, count = offset[offset.size - 1], offset.size - 1
    for q in range(jobs.shape[0]):
        node, left = jobs[q, 0], jobs[q, 3]
        start, stop = spans[node, 0], spans[node, 1]
        to = part_rows(columns[jobs[q, 1]], masks[node], rows, start, stop, spare)
        spans[left, 0], spans[left, 1], spans[left + 1, 0], spans[left + 1, 1] = start, to, to, stop
        start, stop = spans[left + jobs[q, 2], 0], spans[left + jobs[q, 2], 1]
        if allowed.size == count and stop - start >= bundle_from:
            fill_bundled(
                bundled, begin, member, radix, every, pull, rows, start, stop, offset, q * total,
                jobs.shape[0] * total, base, hist,
            )  # fmt: skip
        else:
            fill(codes, pull, rows, start, stop, offset, allowed, allowed.size, q * total, base, hist)


@kernel("i4[], i8[][], i8[], u1[], f8[], f8[], i8[]")
def _name_leaves(
    rows: Ints, spans: Longs, nodes: Longs, leaf: Bytes, weight: Floats, settings: Floats, cover: Longs
) -> None:
    """The leaf of each row, and what the rows of each weigh, in units of losses."""
    for m in range(nodes.size):
        for r in range(spans[nodes[m], 0], spans[nodes[m], 1]):
            leaf[rows[r]] = m
            cover[m] += np.int64(np.rint(weight[rows[r]] * settings[6]))


@kernel("u1[][], i4[], i4[], u1[][], i4[], u1[]")
def _find_leaves(codes: Bytes, attribute: Ints, below: Ints, mask: Bytes, ends: Ints, leaf: Bytes) -> None:
    """The leaf that each row falls into; ends[node] is the leaf at a node."""
    for i in range(codes.shape[0]):
        leaf[i] = ends[find_leaf(codes, i, attribute, below, mask)]


@kernel("f8[][], i4[], f8[], u1[], f8[][], f8[], f8[][]", returns=1)
def _lose(
    scores: Floats, group: Ints, weight: Floats, leaf: Bytes, steps: Floats, settings: Floats, room: Floats
) -> int:
    return add_and_lose(scores, group, weight, 0, group.size, leaf, steps, settings[6], room)  # type: ignore[no-any-return]


@kernel("f8[][], i4[], f8[], f8[], u1[], f8[][], f8[], f8[][], i8[], i8[][]")
def _pull(
    scores: Floats, group: Ints, weight: Floats, dither: Floats, leaf: Bytes, steps: Floats, settings: Floats,
    room: Floats, packed: Longs, pull: Longs,
) -> None:  # fmt: skip
    add_and_pull(scores, group, weight, dither, group.size, leaf, steps, settings[5], room, packed, pull)


@kernel(
    "i8[][], i8, i8, i8[][], i8[][], i8[], i4[], i8[], b1[], i8[], f8[], i4[], f8[], i8[], f8[], i8[][], i8[][], f8[], "
    "i4[], f8[][], u1[][], i8"
)
def _search_children(
    jobs: Longs, first: int, last: int, sums_of: Longs, hist: Longs, slot: Longs, allowed: Ints, offset: Longs,
    nominal: Bools, direction: Longs, settings: Floats, order: Ints, key: Floats, upto: Longs, gain: Floats,
    sums: Longs, left_sums: Longs, gains: Floats, chosen: Ints, bounds: Floats, masks: Bytes, classes: int,
) -> None:  # fmt: skip
    """The best splits of the children of some leaves: `sums_of` has the histogram of the one that job names; that of
    the other is the rest of the leaf's, in whose place it goes."""
    total = offset[offset.size - 1]
    rules = Rules(offset, nominal, direction, settings[0], settings[1], settings[2])
    splits = SplitRoom(order, key, upto, gain)
    for q in range(first, last):
        node, left = jobs[q, 0], jobs[q, 3]
        small, large = left + jobs[q, 2], left + 1 - jobs[q, 2]
        for a in range(allowed.size):
            for b in range(offset[allowed[a]], offset[allowed[a] + 1]):
                for k in range(hist.shape[1]):
                    own = sums_of[q * total + b, k]
                    hist[slot[small] * total + b, k] = own
                    hist[slot[large] * total + b, k] -= own
        for k in range(classes):
            sums[left, k], sums[left + 1, k] = left_sums[node, k], sums[node, k] - left_sums[node, k]
        bounds[left, 0], bounds[left, 1] = bounds[node, 0], bounds[node, 1]
        tighten(left, left + 1, direction[jobs[q, 1]], settings[0], sums, bounds)
        for child in range(left, left + 2):
            gains[child], chosen[child] = search(
                hist, slot[child] * total, classes, sums[child], allowed, allowed.size, bounds[child, 0],
                bounds[child, 1], rules, splits, masks[child], left_sums[child],
            )  # fmt: skip


@kernel(
    "i8, i8, i8[][], i4[], i8[], b1[], i8[], f8[], i4[], f8[], i8[], f8[], i8[][], i8[][], f8[], i4[], f8[][], u1[][], "
    "i8"
)
def _search_leaf(
    node: int, place: int, hist: Longs, allowed: Ints, offset: Longs, nominal: Bools, direction: Longs,
    settings: Floats, order: Ints, key: Floats, upto: Longs, gain: Floats, sums: Longs, left_sums: Longs, gains: Floats,
    chosen: Ints, bounds: Floats, masks: Bytes, classes: int,
) -> None:  # fmt: skip
    """The best split of one leaf, by the attributes that are allowed now."""
    rules = Rules(offset, nominal, direction, settings[0], settings[1], settings[2])
    splits = SplitRoom(order, key, upto, gain)
    gains[node], chosen[node] = search(
        hist, place * offset[offset.size - 1], classes, sums[node], allowed, allowed.size, bounds[node, 0],
        bounds[node, 1], rules, splits, masks[node], left_sums[node],
    )  # fmt: skip


@kernel("i8[][], i8, i8[], b1[], i8[], f8[], i8[][], i8[][], f8[], u1[][], i8")
def _force_split(
    hist: Longs, attribute: int, offset: Longs, nominal: Bools, direction: Longs, settings: Floats, sums: Longs,
    left_sums: Longs, gains: Floats, masks: Bytes, classes: int,
) -> None:  # fmt: skip
    """What is gained by parting the root by an attribute and a mask that are given; -1 where a part is too small."""
    rules = Rules(offset, nominal, direction, settings[0], settings[1], settings[2])
    first, last = offset[attribute], offset[attribute + 1]
    sum_left(hist, first, last - first, classes, masks[0], left_sums[0])
    gains[0] = gain_of(left_sums[0], sums[0], classes, rules)


@kernel("i8[], i8[][], f8[][], f8[], f8[], i8, f8[][]")
def _take_steps(
    nodes: Longs, sums: Longs, bounds: Floats, settings: Floats, rate: Floats, classes: int, steps: Floats
) -> None:
    """The step of each leaf."""
    for m in range(nodes.size):
        for k in range(classes):
            low, high = (bounds[nodes[m], 0], bounds[nodes[m], 1]) if classes == 1 else (-np.inf, np.inf)
            steps[m, k] = newton_step(sums[nodes[m], k], low, high, settings[0], rate[0], settings[4])


@kernel("u1[][], i8[], i8[][], i8, i8[], b1[][], f8[], i8[][], i8[], u1[][]", returns=2)
def _seek_pair(
    coarse: Bytes, many: Longs, pull: Longs, classes: int, direction: Longs, apart: Bools, settings: Floats,
    table: Longs, part: Longs, groups: Bytes,
) -> tuple[int, int]:  # fmt: skip
    """Two attributes that speak together only (-1, -1: none), and in groups[1] which coarse codes of the first go
    left."""
    i, j = best_pair(coarse, many, pull, classes, direction, apart, settings[0], table)
    if i >= 0:
        first_split(coarse, pull, classes, i, j, settings[0], table, part, groups[0], groups[1])
    return i, j


# Blocks of rows.


class RowBlock:
    """Rows that are learned from: their scores, gradients, and the leaves that they are in while a tree grows."""

    def __init__(self, recipe: Recipe, rows: CodedRows, settings: Floats) -> None:
        count, width = len(recipe.sizes), padded(recipe.scores)
        bundles = bundle_codes(rows.codes, width)
        self._cells = (rows.codes, bundles.codes, bundles.start, bundles.member, bundles.radix,
                       np.arange(count, dtype=np.int32), bundles.pays_from)  # fmt: skip
        self._columns = np.ascontiguousarray(rows.codes.T)
        self._scored = ScoredRows(recipe, rows, settings)
        self._offset, self._settings = recipe.offset, settings
        self._rows, self._spare = np.empty((2, len(rows)), np.int32)
        self._spans, self._base = np.zeros((2 * recipe.leaves, 2), np.int64), np.zeros(count, np.int64)
        self._total, self._bundle_cells, self._width = int(self._offset[-1]), bundles.cells, width
        self._hist = np.zeros((0, width), np.int64)

    def start(self, steps: Floats) -> Longs:
        """The steps of the last tree are added to the scores; the histogram of gradients over all rows."""
        own, hist = self._scored, self._room(1)
        self._spans[0] = 0, len(self._rows)
        _start_tree(
            *self._cells, own.group, own.weight, own.dither, own.scores, own.leaf, steps, self._settings, own.room,
            own.packed, own.pull, self._offset, self._cells[5], self._rows, self._base, hist,
        )  # fmt: skip
        return hist[: self._total].copy()  # the room serves what follows

    def start_again(self) -> None:
        """Another tree over the same gradients."""
        self._rows[:] = np.arange(len(self._rows), dtype=np.int32)
        self._spans[0] = 0, len(self._rows)

    def count_rows(self, jobs: Longs) -> int:
        """Rows of the leaves that are to be parted."""
        return int((self._spans[jobs[:, 0], 1] - self._spans[jobs[:, 0], 0]).sum())

    def part(self, jobs: Longs, masks: Bytes, allowed: Ints) -> Longs:
        """Part the rows of some leaves; the histograms of the children that jobs name, one behind the other."""
        hist = self._room(len(jobs))
        _part_leaves(
            *self._cells, self._columns, self._scored.pull, self._rows, self._spare, self._spans, jobs, masks,
            self._offset, allowed, self._base, hist,
        )  # fmt: skip
        return hist[: len(jobs) * self._total]

    def finish(self, nodes: Longs) -> Longs:
        """The tree is grown, its leaves are these; what the rows of each weigh, in units of losses."""
        cover = np.zeros(len(nodes), np.int64)
        own = self._scored
        _name_leaves(self._rows, self._spans, nodes, own.leaf, own.weight, self._settings, cover)
        return cover

    def _room(self, jobs: int) -> Longs:
        cells = jobs * self._total + self._bundle_cells
        if len(self._hist) < cells:
            self._hist = np.zeros((cells, self._width), np.int64)
        return self._hist


class ScoredRows:
    """Rows with their scores, which follow the trees: those that are learned from, those that are held out, and those
    among which pairs are sought."""

    def __init__(self, recipe: Recipe, rows: CodedRows, settings: Floats) -> None:
        self.codes, self.group, self.weight, self._settings = rows.codes, rows.group, rows.weight, settings
        self.dither = dither_of(rows.hashes)
        self.scores = np.repeat(recipe.start[:, None], len(rows), axis=1)
        if rows.base is not None:
            self.scores += rows.base.T
        self.leaf = np.zeros(len(rows), np.uint8)
        self.pull = np.zeros((len(rows), padded(recipe.scores)), np.int64)
        self.room, self.packed = np.empty((2 + recipe.scores, BLOCK)), np.empty(BLOCK, np.int64)

    def follow(self, tree: TreeArrays) -> Floats:
        """The leaf of each row in this tree, and the steps of its leaves, which are not yet in the scores."""
        at = np.flatnonzero(tree.attribute < 0)
        ends = np.zeros(len(tree.attribute), np.int32)
        ends[at] = np.arange(len(at), dtype=np.int32)
        _find_leaves(self.codes, tree.attribute, tree.below, tree.mask, ends, self.leaf)
        return np.ascontiguousarray(tree.value[at])

    def lose(self, steps: Floats) -> int:
        """With these steps, the log loss in units."""
        return int(_lose(self.scores, self.group, self.weight, self.leaf, steps, self._settings, self.room))

    def update(self, steps: Floats) -> Longs:
        """With these steps, the gradients."""
        _pull(self.scores, self.group, self.weight, self.dither, self.leaf, steps, self._settings, self.room,
              self.packed, self.pull)  # fmt: skip
        return self.pull


# Trees, by what all blocks say together.

LEAST_ROWS = 100_000
"""Rows of a block at least: of fewer, adding up what blocks say takes as long as what it saves."""
FEW_ROWS = 8_000
"""Rows of leaves up to which one thread parts them for all."""
LEAST_CELLS = 1 << 15
"""Cells of histograms from which on several threads look for the best splits of leaves."""


class _TreeRoom:
    """What is known of the nodes of the tree that grows: of each its sums, its best split, where its histogram is."""

    def __init__(self, recipe: Recipe, width: int) -> None:
        nodes, cells = 2 * recipe.leaves, int(recipe.offset[-1])
        self.hist = np.zeros((recipe.leaves * cells, width), np.int64)
        self.slot = np.zeros(nodes, np.int64)
        self.sums, self.left_sums = np.zeros((nodes, width), np.int64), np.zeros((nodes, width), np.int64)
        self.gains, self.chosen = np.zeros(nodes), np.zeros(nodes, np.int32)
        self.bounds, self.masks = np.zeros((nodes, 2)), np.zeros((nodes, CODES), np.uint8)


class _Attributes:
    """Which attributes may take part in the tree that grows."""

    def __init__(self, recipe: Recipe) -> None:
        self._apart, self._widest = recipe.apart, recipe.order
        self._state, self._taken = np.full(len(recipe.sizes), FREE), 0

    def take(self, j: int) -> None:
        """An attribute takes part from now on."""
        if self._state[j] != USED:
            self._state[j] = USED
            self._taken += 1
            if len(self._apart):
                self._state[self._apart[j] & (self._state == FREE)] = BARRED

    def allowed(self) -> Ints:
        """Those that take part, and while more may, those that are free."""
        free = (self._state == USED) | ((self._state == FREE) & (self._taken < self._widest))
        return np.flatnonzero(free).astype(np.int32)

    @property
    def are_free(self) -> bool:
        """Whether all may take part, whatever comes."""
        return self._widest >= len(self._state) and not len(self._apart)

    def may(self, j: int) -> bool:
        return bool(self._state[j] == USED or (self._state[j] == FREE and self._taken < self._widest))


class SharedBoosting:
    """A sum of trees under way, over blocks of rows, and behind them rows that are held out.

    `sample` are the first of all rows, where these are elsewhere too; `exchange` adds what is said there.
    """

    def __init__(
        self,
        recipe: Recipe,
        learned: CodedRows,
        held_out: CodedRows | None,
        units: Units,
        sample: CodedRows | None = None,
        exchange: Exchange = ALONE,
    ) -> None:
        self.recipe, self._exchange = recipe, exchange
        self._settings = settings = recipe.settings(units)
        threads = max(min(exchange.threads or default_threads(), len(learned) // LEAST_ROWS), 1)
        cuts = [len(learned) * t // threads for t in range(threads + 1)]
        self._blocks = [RowBlock(recipe, learned.take(slice(a, b)), settings) for a, b in pairwise(cuts)]
        self._crew = Crew(threads)
        self._held_out = None if held_out is None else ScoredRows(recipe, held_out, settings)
        width = padded(recipe.scores)
        first = learned.take(slice(0, MOST_ROWS)) if sample is None else sample
        self._coarse = coarse_codes(first.codes, recipe.sizes, width) if recipe.seeks_pairs else NO_COARSE
        self._sample = ScoredRows(recipe, first.take(slice(0, self._coarse.shape[1])), settings)
        weight = 0 if held_out is None else int(np.rint(held_out.weight * units.loss).sum())
        rows, weight = exchange(np.array([len(learned), weight], np.int64)).tolist()
        self.held_out_weight = weight / units.loss
        self._seeks = PairSeeks(pair_pause(len(recipe.sizes), self._coarse.shape[1], rows))
        self._steps = self._sample_steps = np.zeros((recipe.leaves, recipe.scores))
        self._room = _TreeRoom(recipe, width)
        self._search_rooms = [_search_room() for _ in range(threads)]
        self.trees: list[TreeArrays] = []
        loss = 0 if self._held_out is None else self._held_out.lose(self._steps)
        self._root, told = self._start(np.array([loss], np.int64))
        self.losses = told.tolist()
        """Of held-out rows, in units: before the first tree, and after each."""
        self.ended = False

    def grow(self, rounds: int) -> None:
        """So many trees more, or as many as help."""
        for _ in range(rounds):
            if self.ended:
                return
            tree = self._grow_best()
            if tree is None:
                self.ended = True
                return
            self.trees.append(tree)

    def loss_after(self, rounds: int) -> int:
        """The log loss of the held-out rows after so many trees, in units."""
        return int(self.losses[min(rounds, len(self.losses) - 1)])

    def _sum(self, parts: Sequence[Longs]) -> Longs:
        """What all blocks say together, here and elsewhere."""
        return self._exchange(parts[0] if len(parts) == 1 else reduce(np.add, parts))

    def _grow_best(self) -> TreeArrays | None:
        """The next tree: the one that grows by itself, or one that begins with two attributes that speak together."""
        root = self._root
        self._sample.update(self._sample_steps)
        grown = self._grow_tree(root, None)
        found = None if grown is None else self._name_rows(grown)
        if self._coarse.shape[0] > 1 and self._seeks.are_due(len(self.trees)):
            pair = self._seek_pair()
            if pair is not None:
                self._crew.each(lambda block: block.start_again(), self._blocks)
                other = self._grow_tree(root, pair)
                if other is not None and other.gain > (0.0 if grown is None else grown.gain):
                    found = self._name_rows(other)
                    self._seeks.pay(len(self.trees))
        if found is None:
            return None
        tree, self._steps, cover = found
        self._sample_steps = self._sample.follow(tree)
        loss = 0 if self._held_out is None else self._held_out.lose(self._held_out.follow(tree))
        self._root, told = self._start(np.append(cover, loss))
        tree.cover[...] = np.where(tree.attribute < 0, told[np.cumsum(tree.attribute < 0) - 1], 0)
        self.losses.append(int(told[-1]))
        return tree

    def _start(self, more: Longs) -> tuple[Longs, Longs]:
        """The steps of the last tree are added to the scores; the histogram of gradients over all rows. What more is
        said of it goes the same way, as each exchange takes its time."""
        here = reduce(np.add, self._crew.each(lambda block: block.start(self._steps), self._blocks))
        sums = self._exchange(np.concatenate([here.reshape(-1), more]))
        return sums[: here.size].reshape(here.shape), sums[here.size :]

    def _seek_pair(self) -> tuple[int, int, Bytes] | None:
        """Two attributes that speak together only, and the codes of the first that go left."""
        coarse, recipe, groups = self._coarse, self.recipe, np.zeros((2, COARSE), np.uint8)
        i, j = _seek_pair(
            coarse, 1 + coarse.max(axis=1).astype(np.int64), self._sample.pull, recipe.scores, recipe.direction,
            recipe.apart, self._settings, np.zeros((COARSE * COARSE, padded(recipe.scores)), np.int64),
            np.zeros(2 * recipe.scores, np.int64), groups,
        )  # fmt: skip
        if i < 0:
            return None
        mask = np.zeros(CODES, np.uint8)
        mask[self._sample.codes[:, i]] = groups[1, coarse[i]]
        return i, j, mask

    def _grow_tree(self, root: Longs, pair: tuple[int, int, Bytes] | None) -> _TreeDraft | None:
        """A tree over the gradients of now, best leaf first; None where no part of the rows would gain."""
        recipe, room, attributes = self.recipe, self._room, _Attributes(self.recipe)
        offset = recipe.offset
        room.hist[: len(root)] = root
        room.sums[0] = root[: offset[1]].sum(axis=0)
        room.slot[0], room.bounds[0] = 0, (-np.inf, np.inf)
        if pair is None:
            self._search(0, attributes.allowed())
        else:
            attributes.take(pair[0])
            attributes.take(pair[1])
            room.masks[0], room.chosen[0] = pair[2], pair[0]
            _force_split(room.hist, pair[0], offset, recipe.nominal, recipe.direction, self._settings, room.sums,
                         room.left_sums, room.gains, room.masks, recipe.scores)  # fmt: skip
            if room.gains[0] < 0:
                return None
        tree, parted = _TreeDraft(), 0
        by_waves = recipe.leaves > STRICT and attributes.are_free
        while len(tree.leaves) < recipe.leaves:
            # Leaves that may be parted, the best first, of equals that of the lowest number.
            found = [(-float(room.gains[n]), leaf, n) for leaf, n in enumerate(tree.leaves) if room.chosen[n] >= 0]
            if not found:
                break
            found.sort()
            if not attributes.may(int(room.chosen[found[0][2]])):
                self._search(found[0][2], attributes.allowed())
                continue
            wave = found[: min((len(found) + 1) // 2 if by_waves else 1, recipe.leaves - len(tree.leaves))]
            for negative, leaf, node in wave:
                attributes.take(int(room.chosen[node]))
                tree.part(leaf, int(room.chosen[node]), room.masks[node], -negative, 2 * parted + 1)
                parted += 1
            self._part([node for _, _, node in wave], parted - len(wave), attributes.allowed())
        return tree if len(tree.leaves) > 1 else None

    def _search(self, node: int, allowed: Ints) -> None:
        """The best split of a node by itself."""
        room, recipe = self._room, self.recipe
        _search_leaf(
            node, int(room.slot[node]), room.hist, allowed, recipe.offset, recipe.nominal, recipe.direction,
            self._settings, *self._search_rooms[0], room.sums, room.left_sums, room.gains, room.chosen, room.bounds,
            room.masks, recipe.scores,
        )  # fmt: skip

    def _part(self, nodes: Sequence[int], parted: int, allowed: Ints) -> None:
        """Part leaves, and search their children. The child of less curvature is summed, the other is what is left."""
        room, recipe, scores = self._room, self.recipe, self.recipe.scores
        jobs = np.empty((len(nodes), 4), np.int64)
        jobs[:, 0], jobs[:, 1] = nodes, room.chosen[nodes]
        curve = room.sums[nodes, :scores] & MASK, room.left_sums[nodes, :scores] & MASK
        jobs[:, 2] = 2 * curve[1].sum(axis=1) > curve[0].sum(axis=1)
        jobs[:, 3] = 2 * (parted + np.arange(len(nodes))) + 1
        small, large = jobs[:, 3] + jobs[:, 2], jobs[:, 3] + 1 - jobs[:, 2]
        room.slot[small], room.slot[large] = parted + 1 + np.arange(len(nodes)), room.slot[nodes]
        blocks, few = self._blocks, sum(block.count_rows(jobs) for block in self._blocks) < FEW_ROWS
        each = (
            [block.part(jobs, room.masks, allowed) for block in blocks]
            if few
            else self._crew.each(lambda block: block.part(jobs, room.masks, allowed), blocks)
        )
        sums = self._sum(each)

        def search_some(t: int) -> None:
            first, last = len(nodes) * t // threads, len(nodes) * (t + 1) // threads
            _search_children(
                jobs, first, last, sums, room.hist, room.slot, allowed, recipe.offset, recipe.nominal,
                recipe.direction, self._settings, *self._search_rooms[t], room.sums, room.left_sums, room.gains,
                room.chosen, room.bounds, room.masks, scores,
            )  # fmt: skip

        threads = len(self._search_rooms) if len(sums) >= LEAST_CELLS else 1
        self._crew.each(search_some, range(threads)) if threads > 1 else search_some(0)

    def _name_rows(self, grown: _TreeDraft) -> tuple[TreeArrays, Floats, Longs]:
        """The tree, the steps of its leaves by number, and what the rows here weigh in each leaf, in the order of
        nodes. Rows know their leaf from now on."""
        room, recipe, nodes = self._room, self.recipe, np.array(grown.leaves, np.int64)
        steps = np.zeros((recipe.leaves, recipe.scores))
        rate = np.array([rate_of.function(len(self.trees), recipe.rate)])
        _take_steps(nodes, room.sums, room.bounds, self._settings, rate, recipe.scores, steps)
        cover = reduce(np.add, self._crew.each(lambda block: block.finish(nodes), self._blocks))
        value = np.zeros((len(grown.attribute), recipe.scores))
        value[grown.leaf_of] = steps[: len(nodes)]
        masks = np.zeros((len(grown.attribute), CODES), np.uint8)
        for at, mask in grown.masks.items():
            masks[at] = mask
        tree = TreeArrays(np.array(grown.attribute, np.int32), np.array(grown.below, np.int32), masks, value,
                          np.zeros(len(value)))  # fmt: skip
        return tree, steps, cover[np.argsort(grown.leaf_of)]


class _TreeDraft:
    """A tree that is being written, as `growing.GrownTree`: of each leaf its node there, and its node in the room."""

    def __init__(self) -> None:
        self.attribute, self.below, self.leaf_of, self.leaves = [-1], [-1], [0], [0]
        self.masks: dict[int, Bytes] = {}
        self.gain = 0.0

    def part(self, leaf: int, j: int, mask: Bytes, gain: float, left: int) -> None:
        """A leaf is parted; `left` is its left child in the room."""
        node, fresh = self.leaf_of[leaf], len(self.attribute)
        self.attribute[node], self.below[node], self.masks[node] = j, fresh, mask.copy()
        self.attribute += [-1, -1]
        self.below += [-1, -1]
        self.leaf_of[leaf], self.leaves[leaf] = fresh, left
        self.leaf_of.append(fresh + 1)
        self.leaves.append(left + 1)
        self.gain += gain


def _search_room() -> tuple[Ints, Floats, Longs, Floats]:
    return np.zeros(2 * CODES, np.int32), np.zeros(CODES), np.zeros(CODES, np.int64), np.zeros(2 * CODES)
