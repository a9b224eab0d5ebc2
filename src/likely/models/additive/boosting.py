"""Boosting: tree after tree, each a Newton step on what the sum so far leaves unexplained (Friedman 2001).

The number of trees is found on held-out rows; then all rows are learned from. Knows coded rows; no attributes' names.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Bytes, Floats, Ints, Longs
from likely.models.additive.coding import CodedRows
from likely.models.additive.descending import add_leaves, add_tree
from likely.models.additive.gradients import UNIT, log_loss_units, softmax_gradients
from likely.models.additive.growing import CODES, grow_tree
from likely.models.additive.pairing import COARSE, best_pair, coarse_codes, first_split
from likely.models.heldout.dealing import deal_copies, is_heavy

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST_TOTAL = 2.0**40
"""Weights are scaled by a power of two so that all together are no larger: sums of gradients then fit into 64 bits."""
LARGEST_STEP = 4.0
"""No Newton step is longer than this, in nats: where a class is rare, curvature tells little of how far to go."""
LEVEL_RIDGE = 10.0
"""Levels are ordered by gradient / (curvature + this), so that rare ones do not come first."""
PARTS = 5
"""Rows are dealt to so many parts by the hash of their codes; the first is held out."""
ALL_PARTS = 4_000
"""Rows up to which every part is held out in turn: one alone would say too little of when to stop."""
MOST_TRIED = 300_000
"""Rows by which the number of trees is found at most: those with the smallest hashes."""
PAIR_WAIT = 10
"""Trees after which two attributes that speak together only are sought again; twice as many after each time in vain."""
NO_PAIR, NO_COARSE = np.empty(0, np.int32), np.empty((0, 0), np.uint8)
PATIENCE = 25
"""Rounds without a better held-out score, after which no further ones are tried."""


@dataclass(frozen=True)
class TreeArrays:
    """A tree: node n is a leaf where attribute[n] is -1; else codes with mask 1 go to below[n], others to the next."""

    attribute: Ints
    below: Ints
    mask: Bytes
    """(nodes, CODES)"""
    value: Floats
    """(nodes, scores), of leaves."""

    @property
    def attributes(self) -> tuple[int, ...]:
        """Those that take part, in order."""
        return tuple(sorted({int(j) for j in self.attribute if j >= 0}))


@dataclass(frozen=True)
class _Grown:
    """A tree, its rows by leaf, and what it gains."""

    tree: TreeArrays
    rows: Ints
    spans: Longs
    values: Floats
    gain: float


@dataclass(frozen=True)
class Recipe:
    """How trees are grown."""

    sizes: NDArray[np.int64]
    nominal: NDArray[np.bool_]
    direction: NDArray[np.int64]
    """1 where the score must rise with the codes of an attribute, -1 where it must fall."""
    apart: NDArray[np.bool_]
    """Attributes that must not be in one tree."""
    start: Floats
    """The scores before the first tree."""
    order: int
    leaves: int
    rate: float
    ridge: float
    least: float
    rounds: int

    @property
    def scores(self) -> int:
        """How many scores a row has: one for each class, or one for two."""
        return len(self.start)


class Boosted:
    """A sum of trees under way: rows to learn from, and behind them rows that are held out."""

    def __init__(self, recipe: Recipe, learned: CodedRows, held_out: CodedRows | None, scale: float) -> None:
        self.recipe = recipe
        parts = [learned] if held_out is None else [learned, held_out]
        self.codes = np.concatenate([p.codes for p in parts]) if held_out is not None else learned.codes
        self.group = np.concatenate([p.group for p in parts])
        self.weight = np.concatenate([p.weight for p in parts]) * scale
        self.learned, self.all = len(learned), len(self.group)
        scores, leaves, count = recipe.scores, recipe.leaves, len(recipe.sizes)
        self.scores = np.tile(recipe.start, (self.all, 1))
        if learned.base is not None:
            self.scores += np.concatenate([p.base for p in parts if p.base is not None])
        self.pull = np.zeros((self.learned, 2 * scores), np.int64)
        self.offset = np.concatenate([[0], np.cumsum(recipe.sizes)]).astype(np.int64)
        # One row more or less is what ridge and least curvature are measured by, so they are scaled as weights are.
        one = scale / UNIT
        self.settings = np.array([recipe.ridge * one, recipe.least * one, LEVEL_RIDGE * one, recipe.rate, LARGEST_STEP])
        self.hist = np.zeros((leaves, int(self.offset[-1]), 2 * scores), np.int64)
        self.room = (
            np.zeros((2 * leaves, 2 * scores), np.int64),
            np.zeros(2 * scores, np.int64),
            np.zeros(2 * scores, np.int64),
            np.zeros(CODES + 2 * count, np.int32),
            np.zeros(CODES),
            np.zeros(leaves),
            np.zeros(leaves, np.int32),
            np.zeros((leaves, 2)),
            np.zeros((leaves, CODES), np.uint8),
        )
        self.spare = np.empty(self.learned, np.int32)
        self.coarse = coarse_codes(learned.codes, recipe.sizes, 2 * scores) if recipe.order > 1 else NO_COARSE
        self.next_pair, self.pair_wait = 0, PAIR_WAIT
        self.no_mask = np.zeros(CODES, np.uint8)
        self.trees: list[TreeArrays] = []

    def grow(self) -> bool:
        """One more tree; False where none helps."""
        softmax_gradients(
            self.scores, self.group, self.weight, self.learned, np.empty(self.recipe.scores), self.pull
        )  # fmt: skip
        best = self._grown(NO_PAIR, self.no_mask)
        if len(self.coarse) > 1 and len(self.trees) >= self.next_pair:
            paired = self._with_pair()
            self.next_pair, self.pair_wait = len(self.trees) + self.pair_wait, 2 * self.pair_wait
            if paired is not None and (best is None or paired.gain > best.gain):
                best, self.next_pair, self.pair_wait = paired, 0, PAIR_WAIT
        if best is None:
            return False
        self.trees.append(best.tree)
        add_leaves(best.rows, best.spans, best.values, self.scores)
        if self.all > self.learned:
            add_tree(self.codes, self.learned, self.all, *_parts(best.tree), self.scores)
        return True

    def _with_pair(self) -> _Grown | None:
        """A tree that begins with the two attributes that gain most together."""
        recipe, coarse = self.recipe, self.coarse
        pull = self.pull[: coarse.shape[1]]
        width = 2 * recipe.scores
        table, total, part = np.zeros((COARSE * COARSE, width), np.int64), *np.zeros((2, width), np.int64)
        i, j = best_pair(coarse, pull, recipe.direction, recipe.apart, self.settings, table, total)
        if i < 0:
            return None
        group, best = np.zeros((2, COARSE), np.uint8)
        first_split(coarse, pull, i, j, self.settings, table, total, part, group, best)
        mask = np.zeros(CODES, np.uint8)
        mask[self.codes[: coarse.shape[1], i]] = best[coarse[i]]
        return self._grown(np.array([i, j], np.int32), mask)

    def _grown(self, first: Ints, mask: Bytes) -> _Grown | None:
        """The best tree; with two attributes given, the best that begins with them."""
        recipe = self.recipe
        leaves, scores = recipe.leaves, recipe.scores
        rows = np.arange(self.learned, dtype=np.int32)
        attribute, below = np.empty(2 * leaves, np.int32), np.empty(2 * leaves, np.int32)
        masks, value = np.zeros((2 * leaves, CODES), np.uint8), np.zeros((2 * leaves, scores))
        leaf_of, spans, gain = np.empty(leaves, np.int32), np.zeros((leaves, 2), np.int64), np.zeros(1)
        nodes = grow_tree(
            self.codes, self.pull, rows, self.spare, self.offset, recipe.nominal, recipe.direction, recipe.apart,
            leaves, recipe.order, first, mask, self.settings, self.hist, *self.room, attribute, masks, below, leaf_of,
            value, spans, gain,
        )  # fmt: skip
        if nodes == 1:
            return None
        many = (nodes + 1) // 2
        tree = TreeArrays(attribute[:nodes].copy(), below[:nodes].copy(), masks[:nodes].copy(), value[:nodes].copy())
        return _Grown(tree, rows, np.ascontiguousarray(spans[:many]), value[leaf_of[:many]], float(gain[0]))

    def held_out_loss(self) -> int:
        """The log loss of the rows that are held out, in units."""
        return int(log_loss_units(self.scores, self.group, self.weight, self.learned, self.all))


def _parts(tree: TreeArrays) -> tuple[Ints, Ints, Bytes, Floats]:
    return tree.attribute, tree.below, tree.mask, tree.value


def weight_scale(rows: CodedRows) -> float:
    """The power of two by which weights are multiplied: 1, unless their sum is too large, or they are mostly below 1,
    so that rounding would be seen."""
    if not len(rows) or len(rows) <= rows.total <= LARGEST_TOTAL:
        return 1.0
    most = LARGEST_TOTAL if rows.total > LARGEST_TOTAL else 2.0 * len(rows)
    return float(2.0 ** np.floor(np.log2(most / rows.total)))


def boost(recipe: Recipe, rows: CodedRows, search: bool = True) -> tuple[list[TreeArrays], tuple[int, float, float]]:
    """The trees, learned from all rows; and how many were right for held-out rows, of what weight and loss per row.

    Without a search, as many as the recipe says.
    """
    scale = weight_scale(rows)
    tried = rows.take(slice(0, MOST_TRIED)) if len(rows) > MOST_TRIED else rows
    held = range(0) if not search else range(PARTS) if len(rows) <= ALL_PARTS else range(1)
    trials = [trial for part in held if (trial := _held_out(recipe, tried, part, scale)) is not None]
    rounds, loss, weight = recipe.rounds, 0.0, 0.0
    if trials:
        rounds, units = best_rounds(trials, recipe.rounds)
        weight = sum(float(t.weight[t.learned :].sum()) for t in trials) / scale
        loss = units * UNIT / scale / weight
    final = Boosted(recipe, rows, None, scale)
    for _ in range(rounds):
        if not final.grow():
            break
    return final.trees, (rounds, weight, loss)


def _held_out(recipe: Recipe, rows: CodedRows, part: int, scale: float) -> Boosted | None:
    """Learning from all parts but one, if that can be done."""
    # Bits that the order of rows (and a sample) goes by are not the ones that deal.
    dealt = (rows.hashes & np.uint64(0xFFFFFFFF)) % np.uint64(PARTS) == np.uint64(part)
    heavy = is_heavy(rows.weight, rows.total, PARTS)
    mine = np.where(dealt, rows.weight, 0.0)
    mine[heavy] = deal_copies(rows.hashes[heavy], rows.group[heavy], rows.weight[heavy], PARTS)[:, part]
    out, kept = (replace(rows, weight=side).take(side > 0) for side in (mine, rows.weight - mine))
    if not len(out) or not len(kept):
        return None
    return Boosted(recipe, kept, out, scale)


def best_rounds(trials: list[Boosted], most: int) -> tuple[int, int]:
    """The number of trees with the least held-out loss of all parts together (the first of equals), and that loss."""
    best, rounds = sum(t.held_out_loss() for t in trials), 0
    for done in range(1, most + 1):
        if not any([t.grow() for t in trials]):
            break
        loss = sum(t.held_out_loss() for t in trials)
        if loss < best:
            best, rounds = loss, done
        elif done - rounds >= PATIENCE:
            break
    return rounds, best
