"""Boosting: tree after tree, each a Newton step on what the sum so far leaves unexplained (Friedman 2001)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from likely.machinery.arrays import Bools, Floats, distinct
from likely.machinery.threads import default_threads
from likely.models.additive.coding import CodedRows, Coding, with_base
from likely.models.additive.exchange import ALONE, find_start, first_rows, sum_weights
from likely.models.additive.histograms import BLOCK, CODES, bundle_codes, padded
from likely.models.additive.pairing import COARSE, MOST_ROWS, NO_COARSE, PAIR_WAIT, coarse_codes, pair_pause
from likely.models.additive.recipe import Recipe, TreeArrays, Units, dither_of, units_of
from likely.models.additive.rounds import add_tree, grow_rounds, held_out_loss
from likely.models.additive.shards import LEAST_ROWS, SharedBoosting
from likely.models.contracts import Exchange
from likely.models.heldout.kept_rows import FEW_LEVELS, KeptRows, are_copies, deal_copies, equal_pairs, is_heavy
from likely.table.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Boosting: tree after tree, each a Newton step on what the sum so far leaves unexplained (Friedman 2001).

PARTS = 5
"""Rows are dealt to so many parts by the hash of their codes; the first is held out."""
ALL_PARTS = 4_000
"""Rows up to which every part is held out in turn: one alone would say too little of when to stop."""
MOST_TRIED = 200_000
"""Rows up to which trees are learned again from all of them, once held-out rows said how many."""
HELD_OUT, MOST_HELD_OUT = 20, 100_000
"""Of more rows, one in so many is held out; and about so many rows at most."""
PATIENCE, FIRST_PATIENCE = 25, 150
"""Rounds without a better held-out score, after which no further ones are tried; and those before the first better
one: attributes that tell something only together, such as the bits of a parity, cost before they gain."""
AT_ONCE = 50
"""Trees that one call of the compiled loop grows at most: it needs room for them."""


class Boosting(Protocol):
    """A sum of trees under way: rows to learn from, and rows that are held out."""

    trees: list[TreeArrays]
    ended: bool
    held_out_weight: float
    losses: list[int]
    """Of held-out rows, in units: before the first tree, and after each."""

    def grow(self, rounds: int) -> None:
        """So many trees more, or as many as help."""
        ...

    def loss_after(self, rounds: int) -> int:
        """The log loss of the held-out rows after so many trees, in units."""
        ...


class TreeChunk:
    """Room for some trees, one after the other, as the compiled loop writes them; the last is where it tries pairs."""

    def __init__(self, recipe: Recipe, rounds: int) -> None:
        leaves, nodes = recipe.leaves, 2 * recipe.leaves - 1
        self.attribute, self.below = np.empty((2, rounds + 1, nodes), np.int32)
        self.mask = np.zeros((rounds + 1, nodes, CODES), np.uint8)
        self.leaf_of = np.empty((rounds + 1, leaves), np.int32)
        self.step = np.empty((rounds + 1, leaves, recipe.scores))
        self.cover = np.zeros((rounds + 1, leaves))
        self.many = np.ones(rounds + 1, np.int64)
        self.losses = np.zeros(rounds, np.int64)

    def trees(self, count: int) -> Iterator[TreeArrays]:
        """The first trees."""
        for t in range(count):
            many = int(self.many[t])
            nodes = 2 * many - 1
            value, cover = np.zeros((nodes, self.step.shape[2])), np.zeros(nodes)
            value[self.leaf_of[t, :many]], cover[self.leaf_of[t, :many]] = self.step[t, :many], self.cover[t, :many]
            mask = self.mask[t, :nodes].copy()
            yield TreeArrays(self.attribute[t, :nodes].copy(), self.below[t, :nodes].copy(), mask, value, cover)


class Boosted:
    """A sum of trees under way: rows to learn from, and behind them rows that are held out."""

    def __init__(self, recipe: Recipe, learned: CodedRows, held_out: CodedRows | None, units: Units) -> None:
        self.recipe = recipe
        parts = [learned] if held_out is None else [learned, held_out]
        codes = np.concatenate([p.codes for p in parts]) if held_out is not None else learned.codes
        group, weight, hashes = (
            np.concatenate([getattr(p, name) for p in parts]) for name in ("group", "weight", "hashes")
        )
        scores, leaves, count = recipe.scores, recipe.leaves, len(recipe.sizes)
        score = np.repeat(recipe.start[:, None], len(group), axis=1)
        if learned.base is not None:
            score += np.concatenate([p.base for p in parts if p.base is not None]).T
        width = padded(scores)
        bundles = bundle_codes(learned.codes, width)
        dither = dither_of(hashes)
        leaf, pull = np.zeros(len(group), np.uint8), np.zeros((len(learned), width), np.int64)
        rows = (codes, bundles.codes, bundles.start, bundles.member, bundles.radix, np.arange(count, dtype=np.int32),
                bundles.pays_from, len(learned), group, weight, dither, score, leaf, pull)  # fmt: skip
        offset = recipe.offset
        settings = recipe.settings(units)
        rules = (offset, recipe.nominal, recipe.direction, recipe.apart, leaves, recipe.order, settings)
        coarse = coarse_codes(learned.codes, recipe.sizes, width) if recipe.seeks_pairs else NO_COARSE
        pause = pair_pause(count, coarse.shape[1], len(learned))
        pairs = (
            coarse, 1 + coarse.max(axis=1, initial=0).astype(np.int64), np.zeros((COARSE * COARSE, width), np.int64),
            np.zeros(2 * scores, np.int64), np.zeros((2, COARSE), np.uint8),
            np.array([0, 0, PAIR_WAIT, pause], np.int64),
        )  # fmt: skip
        split_room = np.zeros(2 * CODES, np.int32), np.zeros(CODES), np.zeros(CODES, np.int64), np.zeros(2 * CODES)
        cells = leaves * int(offset[-1]) + bundles.cells
        grow_room = (
            np.zeros((cells, width), np.int64), np.zeros(count, np.int64), np.zeros((2 * leaves, width), np.int64),
            *np.zeros((2, len(learned)), np.int32), *np.zeros((2, count), np.int32), np.zeros(leaves),
            np.zeros(leaves, np.int32), np.zeros((leaves, 2)), np.zeros((leaves + 1, CODES), np.uint8),
            np.zeros((leaves, 2), np.int64), np.zeros(leaves, np.int64),
        )  # fmt: skip
        room, pending = np.empty((2 + scores, BLOCK)), np.zeros((leaves, scores))
        row_room = room, np.empty(BLOCK, np.int64), np.zeros(2 * leaves, np.int32), pending
        self._arguments = (*rows, *rules, *pairs, *split_room, *grow_room, *row_room)
        # In units, as blocks of rows have it: the order of rows does not change a bit.
        self.held_out_weight = float(np.rint(weight[len(learned) :] * units.loss).sum() / units.loss)
        self.trees: list[TreeArrays] = []
        self.losses = [int(held_out_loss(score, group, weight, len(learned), leaf, pending, settings, room))]
        """Of held-out rows, in units: before the first tree, and after each."""
        self.ended = False

    def grow(self, rounds: int) -> None:
        """So many trees more, or as many as help."""
        while rounds and not self.ended:
            some = min(rounds, AT_ONCE)
            chunk = TreeChunk(self.recipe, some)
            grown = grow_rounds(*self._arguments, some, chunk.attribute, chunk.below, chunk.mask, chunk.leaf_of,
                                chunk.step, chunk.cover, chunk.many, chunk.losses)  # fmt: skip
            self.trees += chunk.trees(grown)
            self.losses += chunk.losses[:grown].tolist()
            self.ended = grown < some
            rounds -= some

    def loss_after(self, rounds: int) -> int:
        """The log loss of the held-out rows after so many trees, in units."""
        return self.losses[min(rounds, len(self.losses) - 1)]


def boosting_of(
    recipe: Recipe, learned: CodedRows, held_out: CodedRows | None, units: Units, exchange: Exchange = ALONE
) -> Boosting:
    """A sum of trees under way: of many rows by several threads or machines, else in one compiled loop. All say the
    same."""
    if exchange.places > 1:
        sample = first_rows(learned, MOST_ROWS, exchange)
        return SharedBoosting(recipe, learned, held_out, units, sample, exchange)
    shared = min(default_threads(), len(learned) // LEAST_ROWS) > 1
    return (SharedBoosting if shared else Boosted)(recipe, learned, held_out, units)


class Stopped(NamedTuple):
    """After how many rounds held-out rows were answered best; what they weigh, and their log loss then."""

    rounds: int
    weight: float
    loss: float


Boosts = tuple[list[TreeArrays], Stopped]


def boost(recipe: Recipe, rows: CodedRows, search: bool = True) -> Boosts:
    """The trees, learned from all rows, as many as are right for held-out rows. Without a search, as many as the recipe
    says."""
    if len(rows) > most_tried(search):
        return boost_many(recipe, rows, search)
    units = units_of(sum_weights(rows.weight), len(rows))
    held = range(PARTS) if len(rows) <= ALL_PARTS else range(1)
    trials = [trial for part in held if (trial := _held_out(recipe, rows, part, units)) is not None]
    found = Stopped(recipe.rounds, 0.0, 0.0) if not trials else _stop(trials, recipe, units)
    final = boosting_of(recipe, rows, None, units)
    final.grow(found.rounds)
    return final.trees, found


def _stop(trials: Sequence[Boosting], recipe: Recipe, units: Units) -> Stopped:
    rounds, in_units = best_rounds(trials, recipe.rounds)
    weight = sum(t.held_out_weight for t in trials)
    return Stopped(rounds, weight, in_units / units.loss / weight)


def most_tried(search: bool) -> int:
    """Rows up to which trees are learned several times, by one machine."""
    return MOST_TRIED if search else 0


def boost_many(
    recipe: Recipe, rows: CodedRows, search: bool, exchange: Exchange = ALONE, out: Bools | None = None
) -> Boosts:
    """The trees, learned once from all rows, here and elsewhere. With a search a few are held out (those of `out`,
    where that is given), and what the others teach is the answer: learning again from all rows would tell no more, with
    as many trees as were right for fewer."""
    _, count = find_start(rows, exchange)
    units = units_of(sum_weights(rows.weight, exchange), count)
    if not search:
        final = boosting_of(recipe, rows, None, units, exchange)
        final.grow(recipe.rounds)
        return final.trees, Stopped(recipe.rounds, 0.0, 0.0)
    if out is None:
        out = (rows.hashes & np.uint64(0xFFFFFFFF)) % np.uint64(max(HELD_OUT, count // MOST_HELD_OUT)) == 0
    only = boosting_of(recipe, rows.take(~out), rows.take(out), units, exchange)
    found = _stop([only], recipe, units)
    return only.trees[: found.rounds], found


def _held_out(recipe: Recipe, rows: CodedRows, part: int, units: Units) -> Boosting | None:
    """Learning from all parts but one, if that can be done."""
    # Bits that the order of rows (and a sample) goes by are not the ones that deal.
    dealt = (rows.hashes & np.uint64(0xFFFFFFFF)) % np.uint64(PARTS) == np.uint64(part)
    _, place = np.unique(rows.hashes, return_inverse=True)
    alike = np.asarray(np.bincount(place, rows.weight), np.float64)
    heavy = is_heavy(rows.weight, alike, PARTS, _has_copies(recipe, rows, alike))
    mine = np.where(dealt, rows.weight, 0.0)
    mine[heavy] = deal_copies(rows.hashes[heavy], rows.group[heavy], rows.weight[heavy], PARTS)[:, part]
    out, kept = (replace(rows, weight=side).take(side > 0) for side in (mine, rows.weight - mine))
    if not len(out) or not len(kept):
        return None
    return boosting_of(recipe, kept, out, units)


def _has_copies(recipe: Recipe, rows: CodedRows, alike: Floats) -> bool:
    """Whether equal rows are copies of each other; codes of numbers are coarser, so that more are equal by chance."""
    if float(alike.max(initial=0.0)) <= 1 or bool((recipe.nominal & (recipe.sizes <= FEW_LEVELS)).all()):
        return False
    classes = int(rows.group.max()) + 1

    def table(codes: NDArray[Any], size: int) -> Floats:
        places = codes.astype(np.intp) * classes + rows.group
        return np.asarray(np.bincount(places, rows.weight, size * classes), np.float64).reshape(size, classes)

    each = (table(codes, CODES) for codes in rows.codes.T)
    sizes = [len(distinct(codes)) for codes in rows.codes.T]
    return are_copies(alike, equal_pairs(each, table(np.zeros(len(rows)), 1)[0]), sizes)


def best_rounds(trials: Sequence[Boosting], most: int) -> tuple[int, int]:
    """The number of trees with the least held-out loss of all parts together (the first of equals), and that loss."""
    best, rounds, done, patience = sum(t.loss_after(0) for t in trials), 0, 0, FIRST_PATIENCE
    while done < most and done - rounds < patience and not all(t.ended for t in trials):
        for trial in trials:
            trial.grow(min(PATIENCE, most - done))
        for _ in range(min(PATIENCE, most - done)):
            done += 1
            loss = sum(t.loss_after(done) for t in trials)
            if loss < best:
                best, rounds, patience = loss, done, PATIENCE
            elif done - rounds >= patience:
                break
    return rounds, best


# Boosting in a trial: each part of the rows is scored by trees of the others, which the other parts say when to
# stop.


class Speaks(Protocol):
    """Who turns trees into evidence."""

    @property
    def told_by_trees(self) -> bool:
        """Whether trees say what the terms made of them say."""
        ...

    def evidence(self, coding: Coding, trees: list[TreeArrays], learned: CodedRows, batch: Batch) -> Floats: ...


def score_parts(
    learner: Speaks,
    coding: Coding,
    recipe: Recipe,
    given: Mapping[int, Floats],
    parts: Sequence[int],
    rows: KeptRows,
    places: NDArray[np.intp],
) -> tuple[Floats, int]:
    """What is said of the rows at `places`, (places, classes), and after how many rounds held-out rows say to stop."""
    two = len(coding.summary.classes) == 2
    whole = CodedRows.of(coding, rows.batch, rows.group, rows.weight, len(rows) + 1)
    units = units_of(sum_weights(whole.weight), len(whole))
    learned, out = (
        [whole.take(rows.part == part if inside else rows.part != part).tallied() for part in parts]
        for inside in (False, True)
    )
    trials = [
        boosting_of(recipe, with_base(one, given, two), with_base(other, given, two), units)
        for one, other in zip(learned, out, strict=True)
    ]
    rounds, _ = best_rounds(trials, recipe.rounds)
    most = max(len(trial.losses) for trial in trials)
    losses = np.array([[trial.loss_after(t) for t in range(most)] for trial in trials])
    said = np.zeros((len(places), len(coding.summary.classes)))
    for k, (part, own, trial) in enumerate(zip(parts, learned, trials, strict=True)):
        # Where several parts are held out, the rows of one have no say in when the trees that answer for them stop.
        others = int(np.delete(losses, k, axis=0).sum(axis=0).argmin()) if len(trials) > 1 else rounds
        inside = rows.part[places] == part
        said[inside] = score_rows(learner, coding, trial.trees[:others], given, own, rows.take(places[inside]))
    return said, rounds


def score_rows(
    learner: Speaks, coding: Coding, trees: list[TreeArrays], given: Mapping[int, Floats], learned: CodedRows,
    rows: KeptRows,
) -> Floats:  # fmt: skip
    """What trees say of rows beyond the prior, (rows, classes). Where a cell is unknown, terms are silent, not trees:
    such rows ask for the terms, as all do where terms are fewer than trees made."""
    two = len(coding.summary.classes) == 2
    asked = with_base(CodedRows.of(coding, rows.batch, rows.group, rows.weight, len(rows) + 1), given, two)
    out = np.zeros((len(rows), len(coding.summary.classes)))
    gaps = (coding.as_told(asked.codes) < 0).any(axis=1) | (not learner.told_by_trees)
    if trees and not gaps.all():
        out[~gaps] = _evidence_of_trees(trees, asked.take(~gaps), two)
    if trees and gaps.any():
        out[gaps] = learner.evidence(coding, trees, learned, rows.take(np.flatnonzero(gaps)).batch)
    return out


def _evidence_of_trees(trees: Sequence[TreeArrays], rows: CodedRows, two: bool) -> Floats:
    """What trees say of rows without an unknown cell, (rows, classes): the sum of their terms, but for rounding."""
    out = np.zeros((len(rows), trees[0].value.shape[1]))
    for tree in trees:
        add_tree(rows.codes, 0, len(rows), tree.attribute, tree.below, tree.mask, tree.value, out)
    if rows.base is not None:
        out += rows.base
    return np.concatenate([np.zeros((len(rows), 1)), out], axis=1) if two else out
