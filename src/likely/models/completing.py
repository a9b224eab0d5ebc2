"""How rows that stand for the table are made, so that a model answers from any part of a row.

References are nobody's rows: each cell comes from one of the five rows nearest to one that was drawn, numbers are those
of bins, and one that equals a row of the table, which fewer than five rows are equal to, is left out. All of it goes by
the content of rows, so that their order changes nothing. How answers are averaged over them: shapes/references.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.machinery.arrays import Bools, Bytes, Floats, Hashes, Longs
from likely.machinery.jit import kernel
from likely.models.additive.coding import MOST_CODES, Coding, coding_of, hash_codes
from likely.models.contracts import Learning, Model, Sweep, setting_of
from likely.models.factors.bins import read_tally
from likely.models.heldout.importance import measure_importance
from likely.models.heldout.kept_rows import LAST_HASH, KeptRows, lasting_rows, most_lasting, scramble
from likely.models.heldout.search import PARTS, gather_rows
from likely.models.posterior import first_best
from likely.models.shapes import Axis, Completed, Opaque, References, Sum
from likely.models.shapes.references import WIDTH
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.summary import Summary
from likely.table.batch import Batch, Codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST, LEAST, CELLS = 1500, 200, 40_000
"""References at most, and at least, and cells of them that are wanted at most."""
LOOKED_AT, LEAST_LOOKED_AT, WORK = 5_000, 500, 200_000_000
"""Different rows that references are made of and dependence is measured on: at most, of wide tables, and cells that are
compared at most."""
BINS, COARSE = 64, 8
"""Bins of a number; and of codes, where two attributes are compared."""
EACH = 30
"""References that a level should have: rare ones are drawn more often than their share, and weigh less then."""
NEAREST = 5
"""Rows that the cells of a reference come from; and rows of the table that one must be equal to, or to none."""
TRIES = 8
STRAY = 0.1
"""Share of the cells that are taken to say nothing of those beside them."""
STRONG = 0.3
"""Nats that two attributes tell of each other from which on a difference counts in full."""
LEVEL_ROWS, BIN_ROWS = 2.0, 30.0
"""What is said of one value by itself is the share in the table, with so many rows more that go by the mean over
references: few of a level, more of a bin, which has neighbours that say nearly the same."""
DRAWN_TO_TELL, DRAWN_OF_RAREST = (64, 256), 5
"""References that are drawn to find that out, at least and at most, and of the rarest class: what chance does to it
would be in every answer."""
CELLS_TOLD = 6_000_000
"""Cells that are scored at most to find that out: of wide tables it is found for the values with most rows alone."""
USUAL_SHARE, USUAL_ROWS = 0.01, 20
"""Rows of training with the same cells unknown from which on what that means was learned."""
MOST_USUAL = 256


def needs_references(model: Model) -> bool:
    """Whether an unknown cell must be averaged over: not where the model sums over it already (P(row, class) and
    products of P(cell | class), weighed or not, and means of such), measures distances by what is known, or says no
    probabilities. What is made of sums alone stays so: it learns and unlearns rows to the last bit."""
    score, asked = model.score, [setting_of(own.learner, "missing") for own in (model, *model.members)]
    board = model.factored or model.details.get("beliefs") is not None  # a textbook's, which is worked out on a board
    by_rows = isinstance(score, Sum) and any(isinstance(term, Opaque) for term in score.terms) and len(score.terms) == 1
    coded = [c for c in model.schema.attributes if isinstance(model.summary.columns[c.name], (Counts, Numbers))]
    return (
        bool(model.state)
        and "level" not in asked  # being missing is evidence: it was said so
        and model.references is None
        and model.proper
        and not (model.random or model.generative or board or by_rows or model.inner is not None)
        and len(model.classes) > 1
        and len(coded) > 1
    )


def complete(model: Model, judged: bool = False) -> Learning[Model]:
    """The model with references, where it needs them, and with how much each attribute moves its answers: one sweep
    more, unless it has both. `judged`: also where it is only to be known how it answers rows that are held out."""
    measured = model.importance is not None or not model.state or model.factored or not model.score.is_sum
    if measured and not needs_references(model) and not (judged and model.kept_rows is None):
        return model
    sums = yield Sweep(
        gather_rows,
        (model.summary, max(LOOKED_AT, most_lasting(len(model.schema.attributes), len(model.classes))), LAST_HASH),
        needed=False,
    )
    return model if sums is None else with_references(model, sums[0].dealt(model.summary, PARTS))


def with_references(model: Model, rows: KeptRows) -> Model:
    """The model with references made of these rows, and with how much each attribute moves its answers to them."""
    if not len(rows):
        return model
    model = replace(model, kept_rows=lasting_rows(rows, len(model.classes)))
    rows = _first_rows(rows, len(model.schema.attributes))
    if len(model.classes) > 1:
        attributes = (column.name for column in model.schema.attributes)
        model = replace(model, importance=measure_importance(model.score, attributes, rows.batch, rows.weight))
    if not needs_references(model):
        return model
    coding = _coding(model.summary.without(model.summary.more))
    codes = coding.codes(rows.batch)
    places = tuple(_places(coding.summary, axis) for axis in coding.axes)
    values = tuple(_values(coding.summary, axis) for axis in coding.axes)
    relevance = measure_relevance(codes, rows.weight, coding)
    far = tuple(_costs(coding.summary, axis) for axis in coding.axes)
    levels = np.array([axis.edges is None for axis in coding.axes])
    made, weights = make_references(codes, rows.weight, levels, places, far, relevance)
    if not len(made):
        return model
    classes = len(model.classes)
    nothing = tuple(np.zeros((axis.size + 1, classes)) for axis in coding.axes)
    usual = _usual_patterns(codes, rows.weight, coding)
    base = References(coding.axes, values, places, far, relevance, made, weights, nothing, usual)
    order = _order(model, base, rows.batch)
    base = replace(base, codes=np.ascontiguousarray(made[order]), weights=weights[order])
    return replace(model, references=_tell_shares(model, base, rows.batch))


def _coding(summary: Summary) -> Coding:
    """Codes of all levels that bytes can tell apart, and of fewer bins."""
    levels, numbers = (coding_of(summary, most, missing=False) for most in (MOST_CODES, BINS))
    pairs = zip(levels.axes, numbers.axes, strict=True)
    return replace(levels, axes=tuple(fine if fine.edges is None else coarse for fine, coarse in pairs))


def _first_rows(rows: KeptRows, axes: int) -> KeptRows:
    """The rows with the smallest hashes, all of a hash or none."""
    different = np.unique(rows.hashes)
    order = np.argsort(rows.hashes, kind="stable")
    most = max(min(LOOKED_AT, WORK // (_count(axes) * max(axes, 1))), LEAST_LOOKED_AT)
    if len(different) <= most:
        return rows.take(order)
    return rows.take(order[: int(np.searchsorted(rows.hashes[order], different[most]))])


def _count(axes: int) -> int:
    """References that are wanted."""
    return max(min(MOST, CELLS // max(axes, 1)), LEAST)


def _places(summary: Summary, axis: Axis) -> Floats:
    """Where each code lies: the share of rows below the middle of a bin; levels are 1 apart; a missing cell is far."""
    if axis.edges is None:
        return np.append(np.arange(axis.size, dtype=np.float64), -1000.0)
    tally = read_tally(_numbers(summary, axis))
    weight = np.bincount(np.searchsorted(axis.edges, tally.values, side="right"), tally.whole, axis.size)
    below = np.cumsum(weight) - weight / 2
    return np.append(below / max(float(weight.sum()), np.finfo(np.float64).tiny), -1000.0)


def _costs(summary: Summary, axis: Axis) -> Floats:
    """What another value costs at most: log of P(value) where a cell is as the row's over that where it is drawn by
    chance, as STRAY of the cells are taken to be. A missing cell costs as much as the rarest value."""
    weight = _class_weights(summary, axis).sum(axis=1)
    share = weight / max(float(weight.sum()), np.finfo(np.float64).tiny)
    dense = np.maximum(share, 1 / max(float(weight.sum()), 1.0))
    if axis.edges is not None:  # a number has neighbours: at least what a normal density of this width holds
        dense = np.maximum(dense, WIDTH * math.sqrt(2 * math.pi))
    out = np.log1p((1 - STRAY) / (STRAY * dense))
    return np.append(out, out.max(initial=0.0))


def _values(summary: Summary, axis: Axis) -> Any:
    """What each code stands for: its level, the one with most rows of several; the middle number of a bin."""
    if axis.edges is None:
        counts = summary.columns[axis.name]
        assert isinstance(counts, Counts)
        weight = dict(
            zip(counts.labels.names, counts.table[: len(counts.labels)].sum(1).floats().tolist(), strict=True)
        )
        best: dict[int, str] = {}
        for name, code in axis.code_of.items():
            if code not in best or weight.get(name, 0.0) > weight.get(best[code], 0.0):
                best[code] = name
        return [best.get(code, "") for code in range(axis.size)]
    tally = read_tally(_numbers(summary, axis))
    bins = np.searchsorted(axis.edges, tally.values, side="right")
    out = np.zeros(axis.size)
    for code in range(axis.size):
        inside = np.flatnonzero(bins == code)
        below = np.cumsum(tally.whole[inside])
        out[code] = tally.values[inside[np.searchsorted(below, below[-1] / 2)]] if len(inside) else np.nan
    return out


def _numbers(summary: Summary, axis: Axis) -> Numbers:
    statistic = summary.columns[axis.name]
    assert isinstance(statistic, Numbers)
    return statistic


# Which attributes tell something of others: a difference in one that tells nothing must not count.


def measure_relevance(codes: Bytes, weight: Floats, coding: Coding) -> Floats:
    """For each attribute sqrt(nats that it tells of the attribute it tells most of / STRONG), at most 1.

    Less what chance would show: the mean of G / 2 under independence, and one deviation.
    """
    if len(codes) * len(coding.axes) ** 2 > 4 * WORK:
        return np.ones(len(coding.axes))  # too many pairs to look at: every difference counts
    coarse = np.stack([_coarse(codes[:, k], axis) for k, axis in enumerate(coding.axes)], axis=1)
    sizes = coarse.max(axis=0, initial=0).astype(np.int64) + 1
    told = np.zeros((len(sizes), len(sizes)))
    room = np.empty((int(sizes.max(initial=1)), int(sizes.max(initial=1))))
    tell_pairs(np.ascontiguousarray(coarse), weight, sizes, room, told)
    return np.asarray(np.sqrt(np.minimum(told.max(axis=1, initial=0.0) / STRONG, 1.0)))


def _coarse(codes: Bytes, axis: Axis) -> Bytes:
    """Few codes for many: bins of numbers in eights; of levels those with most rows, the others as one; missing."""
    if axis.edges is not None:
        bins = codes.astype(np.int64) * COARSE // (axis.size or 1)
        return np.where(codes == axis.size, COARSE, np.minimum(bins, COARSE - 1)).astype(np.uint8)
    often = np.bincount(codes, minlength=axis.size + 1)
    kept = np.lexsort((np.arange(len(often)), -often))[:31]
    place = np.full(len(often), min(len(kept), 31), np.uint8)
    place[kept] = np.arange(len(kept), dtype=np.uint8)
    return place[codes]


@kernel("u1[][], f8[], i8[], f8[][], f8[][]")
def tell_pairs(codes: Bytes, weight: Floats, sizes: Longs, room: Floats, told: Floats) -> None:
    """told[a, b] = nats that attributes a and b tell of each other, less what chance would show."""
    rows = codes.shape[0]
    for a in range(codes.shape[1]):
        for b in range(a):
            for u in range(sizes[a]):
                for v in range(sizes[b]):
                    room[u, v] = 0.0
            whole = 0.0
            for i in range(rows):
                room[codes[i, a], codes[i, b]] += weight[i]
                whole += weight[i]
            gain, here, there = 0.0, 0, 0
            for u in range(sizes[a]):
                row = 0.0
                for v in range(sizes[b]):
                    row += room[u, v]
                here += row > 0.0
                if row > 0.0:
                    gain -= row * np.log(row / whole)
            for v in range(sizes[b]):
                column = 0.0
                for u in range(sizes[a]):
                    column += room[u, v]
                there += column > 0.0
                if column > 0.0:
                    gain -= column * np.log(column / whole)
            for u in range(sizes[a]):
                for v in range(sizes[b]):
                    if room[u, v] > 0.0:
                        gain += room[u, v] * np.log(room[u, v] / whole)
            free = 0.5 * (here - 1) * (there - 1)
            told[a, b] = max(0.0, (gain - free - np.sqrt(free)) / whole)
            told[b, a] = told[a, b]


# The rows themselves.


def make_references(
    codes: Bytes,
    weight: Floats,
    levels: Bools,
    places: Sequence[Floats],
    far: Sequence[Floats],
    relevance: Floats,
) -> tuple[Bytes, Floats]:
    """Rows that stand for these, each cell from one of the rows nearest to the one drawn; and what each weighs."""
    codes, weight = _different_rows(codes, weight)
    rows, axes = codes.shape
    count = min(_count(axes), rows)
    more = np.ones(rows)
    for column in codes.T[levels]:
        share = np.bincount(column, weight) / weight.sum()
        more = np.maximum(more, EACH / (count * share[column]))
    above = np.cumsum(weight * more)
    drawn = np.minimum(np.searchsorted(above, (np.arange(count) + 0.5) / count * above[-1]), rows - 1)
    lying, most = (
        np.ascontiguousarray(np.stack([own[c] for own, c in zip(some, codes.T, strict=True)], axis=1))
        for some in (places, far)
    )
    near = np.empty((count, min(NEAREST, rows)), np.int64)
    find_nearest(drawn.astype(np.int64), lying, most, relevance, np.empty(near.shape[1]), near)
    own = _hashes(codes)  # which rise
    # Where nearly every possible row is in the table, being equal to one tells nothing.
    possible = sum(math.log(max(len(np.unique(column)), 1)) for column in codes.T)
    planned = possible <= math.log(2 * max(rows, 1))
    out = np.zeros((count, axes), np.uint8)
    left = np.arange(count)
    for again in range(TRIES):
        seeds = scramble(left.astype(np.uint64) * np.uint64(axes) * np.uint64(TRIES) + np.uint64(again))
        for k in range(axes):
            which = scramble(seeds + np.uint64(k + 1)) % np.uint64(near.shape[1])
            out[left, k] = codes[near[left, which.astype(np.int64)], k]
        if planned:
            left = left[:0]
            break
        hashes = _hashes(out[left])
        at = np.minimum(np.searchsorted(own, hashes), len(own) - 1)
        left = left[(own[at] == hashes) & (weight[at] < NEAREST)]
        if not len(left):
            break
    return np.delete(out, left, axis=0), np.delete(more.min() / more[drawn], left)


def _different_rows(codes: Bytes, weight: Floats) -> tuple[Bytes, Floats]:
    """Each row once, in the order of hashes, with what it weighs: a row of weight 2 is the row twice."""
    own, place = np.unique(codes, axis=0, return_inverse=True)
    often = np.asarray(np.bincount(place.reshape(-1), weight), np.float64)
    order = np.argsort(_hashes(own), kind="stable")
    return np.ascontiguousarray(own[order]), often[order]


def _hashes(codes: Bytes) -> Hashes:
    out = np.empty(len(codes), np.uint64)
    hash_codes(np.ascontiguousarray(codes), out)
    return out


@kernel("i8[], f8[][], f8[][], f8[], f8[], i8[][]")
def find_nearest(places: Longs, rows: Floats, far: Floats, relevance: Floats, costs: Floats, out: Longs) -> None:
    """For the row at each place the rows that cost least, in order; of equals those that follow it next.

    Rows are in the order of hashes: where nothing tells them apart, each has others to itself.
    """
    many, count = out.shape[1], rows.shape[0]
    for i in range(places.shape[0]):
        own = places[i]
        for k in range(many):
            costs[k] = np.inf
            out[i, k] = 0
        for step in range(count):
            r = own + step if own + step < count else own + step - count
            cost = 0.0
            for j in range(rows.shape[1]):
                d = (rows[own, j] - rows[r, j]) / WIDTH
                cost += relevance[j] * min(0.5 * d * d, far[own, j])
            if cost < costs[many - 1]:
                k = many - 1
                while k > 0 and cost < costs[k - 1]:
                    costs[k], out[i, k] = costs[k - 1], out[i, k - 1]
                    k -= 1
                costs[k], out[i, k] = cost, r


def _usual_patterns(codes: Bytes, weight: Floats, coding: Coding) -> Bools:
    """Which cells are unknown together in many rows, these alone or others too; the patterns with most rows first."""
    gone = codes == np.array([axis.size for axis in coding.axes], np.uint8)
    patterns, place = np.unique(gone, axis=0, return_inverse=True)
    often = np.bincount(place.reshape(-1), weight, len(patterns))
    order = np.lexsort((np.arange(len(patterns)), -often))
    order = order[patterns[order].any(axis=1)][:MOST_USUAL]
    own = patterns[order].astype(np.float64)
    # A row has all gaps of a pattern where as many cells are unknown in both as in the pattern.
    at_least = (own @ patterns.T.astype(np.float64) == own.sum(axis=1)[:, None]) @ often
    return np.asarray(patterns[order[at_least >= max(USUAL_SHARE * float(weight.sum()), USUAL_ROWS)]])


# What the model says of references, and of one value by itself.


def _order(model: Model, references: References, like: Batch) -> NDArray[np.intp]:
    """The places of references in the order of what the model says of them: by the most probable class, so that a few
    drawn evenly have all classes in their shares, and by how probable the usual class is."""
    nothing = _unknown_rows(references, like, len(references.codes))
    gone = np.ones((nothing.rows, len(references.axes)), np.bool_)
    whole = references.fill(nothing, gone, np.arange(nothing.rows, dtype=np.int32)[:, None])
    logs = model.score.scored(whole)[0]
    usual = int(model.summary.total.floats().argmax())
    with np.errstate(invalid="ignore"):
        lead = logs[:, usual] - np.logaddexp.reduce(logs, axis=1)
    # Rounded, so that what differs in its last bits alone comes in the same order.
    return np.lexsort((_hashes(references.codes), np.round(lead, 6), first_best(logs)))


def _unknown_rows(references: References, like: Batch, rows: int) -> Batch:
    """Rows of which nothing is known; texts among their cells are those of the first row, emptied."""
    cells: dict[str, Any] = {}
    for name, own in like.cells.items():
        if isinstance(own, Codes):
            cells[name] = Codes(np.full(rows, -1, np.int32), own.labels)
        elif isinstance(own, np.ndarray):
            cells[name] = np.full(rows, np.nan)
        else:
            cells[name] = replace(own, starts=np.zeros(rows, np.int64), ends=np.zeros(rows, np.int64))
    return Batch(rows, cells)


def _tell_shares(model: Model, references: References, like: Batch) -> References:
    """The references with what the table says of each value by itself, less what the mean over them says."""
    all_gaps = replace(references, usual=references.usual[:0])
    summary, whole = model.summary, model.summary.total.floats()
    few, many = DRAWN_TO_TELL
    apart = whole / whole.max()  # before the sum, which could overflow
    drawn = max(few, math.ceil(min(DRAWN_OF_RAREST * float(apart.sum() / apart[whole > 0].min()), many)))
    score = Completed(model.score, all_gaps, drawn)
    shares, each = [], CELLS_TOLD // (drawn * len(references.axes) ** 2)
    for k, axis in enumerate(references.axes):
        own, told = _class_weights(summary, axis), np.zeros((axis.size + 1, len(whole)))
        shares.append(told)
        # Bins two by two: neighbours say nearly the same, and half as many rows are scored.
        group = np.arange(axis.size) if axis.edges is None else np.arange(axis.size) // 2
        weight = np.zeros((int(group.max(initial=-1)) + 1, len(whole)))
        np.add.at(weight, group, own)
        often = weight.sum(axis=1)
        some = np.flatnonzero(often > 0)
        some = np.sort(some[np.lexsort((some, -often[some]))][:each])
        if not len(some):
            continue
        first = np.searchsorted(group, some)
        last = np.searchsorted(group, some, side="right") - 1
        codes = np.where(own[last].sum(axis=1) > own[first].sum(axis=1), last, first)
        rows = _unknown_rows(references, like, len(some))
        rows = replace(
            rows, cells={**rows.cells, axis.name: _cells_of(references.values[k], codes, like.cells[axis.name])}
        )
        mean = _means(score, rows)
        more = LEVEL_ROWS if axis.edges is None else BIN_ROWS
        found = np.zeros((len(weight), len(whole)))
        found[some] = _less((weight[some] + more * mean) / (often[some, None] + more), mean)
        told[:-1] = found[group]
    return replace(references, shares=tuple(shares))


def _means(score: Completed, rows: Batch) -> Floats:
    """P(class | row) of rows of which one cell is known."""
    return np.asarray(np.exp(score.scored(rows)[0]))


def _less(shares: Floats, means: Floats) -> Floats:
    """log of shares less log of means; nothing where one of them is none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.log(shares) - np.log(means)
    return np.where(np.isfinite(out), out, 0.0)


def _cells_of(values: Any, codes: NDArray[np.intp], like: Any) -> Any:
    if isinstance(like, Codes):
        return Codes(np.array([like.labels.index.get(values[c], -1) for c in codes], np.int32), like.labels)
    return np.asarray(values, np.float64)[codes]


def _class_weights(summary: Summary, axis: Axis) -> Floats:
    """What each code weighs in each class, in all rows."""
    statistic = summary.columns[axis.name]
    if isinstance(statistic, Counts):
        table = statistic.table[: len(statistic.labels)].floats()
        code_of = axis.code_of
        codes = np.array([code_of[name] for name in statistic.labels.names], np.intp)
    else:
        tally = read_tally(_numbers(summary, axis))
        assert axis.edges is not None
        table, codes = tally.weights, np.searchsorted(axis.edges, tally.values, side="right")
    out = np.zeros((axis.size, table.shape[1]))
    np.add.at(out, codes, table)
    return out
