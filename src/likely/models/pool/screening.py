"""Which attributes of a wide table tell anything of the class, alone or in pairs: others are left out before learners
are tried. Knows kept rows and classes; no learners."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.machinery.arrays import Bools, Bytes, Floats, Ints, Longs
from likely.machinery.jit import kernel
from likely.machinery.threads import default_threads, in_order
from likely.models.additive.coding import coding_of
from likely.models.heldout.kept_rows import KeptRows, hash_places
from likely.sums.summary import Summary
from likely.table.schema import Reason

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_COLUMNS = 65
"""Attributes from which on a table is wide: boosting takes the time of fewer in its stride."""
SAMPLE = 20_000
"""Rows by which attributes are judged at most: those with the smallest hashes of their content."""
SHUFFLES, FALSE_SHARE = 20, 0.05
"""How often classes are shuffled; and the share of attributes that may seem to tell something by chance."""
MARGIN = 1.0
"""Standard deviations by which a pair must tell more than the best of all pairs does of shuffled classes. The best of
many thousands varies by a fifth of one, so that chance is that much ahead about once in a hundred tables."""
FINE, COARSE = 16, 8
"""Codes of an attribute at most, alone and in a pair (missing cells have one more)."""
ROWS_A_CODE, ROWS_A_CELL = 50, 25
"""Rows for each code of an attribute, and for each class in a cell of a pair: few rows are told apart by few codes."""
MOST_PAIR_WORK, LEAST_PAIR_ROWS = 400_000_000, 200
"""Pairs times rows at most: of more pairs fewer rows have a say, and where too few would, no pair is looked at."""


def leave_out_silent(summary: Summary, rows: KeptRows) -> tuple[Summary, tuple[str, ...]]:
    """The summary without attributes that tell nothing beyond chance, and the remark that says so.

    What is chance is seen where classes are shuffled among the rows. Texts, dates and parts of dates stay.
    """
    judged = [c.name for c in summary.schema.attributes if c.kind in ("nominal", "number")]
    if len(judged) < LEAST_COLUMNS:
        return summary, ()
    rows = rows.take(np.argsort(rows.hashes, kind="stable")[:SAMPLE])
    classes, count = len(summary.classes), len(rows)
    lots = [np.argsort(hash_places(shuffle, 0, count), kind="stable") for shuffle in range(SHUFFLES)]
    group = np.stack([rows.group, *(rows.group[order] for order in lots)]).astype(np.int32)
    telling = _tell_alone(_codes(summary, rows, judged, min(FINE, count // ROWS_A_CODE)), group, rows.weight, classes)
    pairs = len(judged) * (len(judged) - 1) // 2
    some = min(count, MOST_PAIR_WORK // pairs)
    in_pairs = some >= min(LEAST_PAIR_ROWS, count)
    if in_pairs:
        few, codes = slice(0, some), int((some / (ROWS_A_CELL * classes)) ** 0.5)
        coarse = _codes(summary, rows.take(np.arange(some)), judged, min(COARSE, codes))
        telling |= _tell_in_pairs(coarse, np.ascontiguousarray(group[:2, few]), rows.weight[few], classes, telling)
    silent = {name for name, tells in zip(judged, telling.tolist(), strict=True) if not tells}
    if not silent:
        return summary, ()
    reason = Reason("silent")
    columns = (
        replace(c, kind="ignored", reading="text", role="left out", reason=reason) if c.name in silent else c
        for c in summary.schema.columns
    )
    out = summary.with_schema(summary.schema.with_columns(columns))
    how = "alone or in pairs," if in_pairs else "alone (the pairs are too many to look at),"
    told = f"{len(silent):,} of {len(judged):,} attributes tell nothing beyond chance, {how} on {count:,} rows"
    return out, (f"{told}; they are left out.",)


def _codes(summary: Summary, rows: KeptRows, names: list[str], most: int) -> Bytes:
    """The cells of attributes as few codes, (attributes, rows)."""
    coding = coding_of(summary, max(most, 2), missing=False)
    places = [k for k, name in enumerate(coding.names) if name in {*names}]
    return np.ascontiguousarray(coding.codes(rows.batch)[:, places].T)


def deviations(information: Floats, freedom: Floats) -> Floats:
    """How far a likelihood-ratio statistic is above what chance gives, in standard deviations of a normal density
    (Wilson and Hilferty): so attributes with few and many levels are compared. Rounded, as logarithms may be.

    >>> deviations(np.array([3.84, 16.92]), np.array([1.0, 9.0])).round(2).tolist()
    [1.67, 1.65]
    """
    freedom = np.maximum(freedom, 1.0)
    spread = 2 / (9 * freedom)
    return np.round((np.cbrt(np.maximum(information, 0.0) / freedom) - 1 + spread) / np.sqrt(spread), 6)


def _tell_alone(codes: Bytes, group: Ints, weight: Floats, classes: int) -> Bools:
    """Which attributes tell more of the classes, the first row of `group`, than by chance: as many as leave an expected
    share of false ones (counted on shuffled classes) below FALSE_SHARE."""
    labels, size = len(group), (int(codes.max(initial=0)) + 1) * classes
    place, each = (group + size * np.arange(labels)[:, None]).ravel(), np.tile(weight, labels)
    found = np.empty((labels, len(codes)))
    for j, own in enumerate(codes):
        table = np.bincount(np.tile(own.astype(np.intp) * classes, labels) + place, each, labels * size)
        table = table.reshape(labels, -1, classes)
        parts = _entropy_sum(table.sum(axis=2)), _entropy_sum(table.sum(axis=1))
        whole = _entropy_sum(table.reshape(labels, -1)) - parts[0] - parts[1] + _entropy_sum(weight.sum(keepdims=True))
        levels = np.count_nonzero(table[0].sum(axis=1))
        found[:, j] = deviations(2 * whole, np.full(labels, (levels - 1.0) * (classes - 1)))
    order = np.sort(found[0])[::-1]
    chance = np.sort(found[1:].ravel())
    beyond = len(chance) - np.searchsorted(chance, order)
    share = (1 + beyond) / (labels - 1) / np.arange(1, len(order) + 1)
    good = np.flatnonzero(share <= FALSE_SHARE)
    return np.asarray(found[0] >= order[good[-1]]) if len(good) else np.zeros(len(codes), np.bool_)


def _entropy_sum(weight: NDArray[Any]) -> NDArray[Any]:
    """The sum of n log n over the last axis."""
    return np.asarray((weight * np.log(np.where(weight > 0, weight, 1.0))).sum(axis=-1))


def _tell_in_pairs(codes: Bytes, group: Ints, weight: Floats, classes: int, known: Bools) -> Bools:
    """Which attributes tell together with another clearly more than any two do of shuffled classes; two that are known
    to tell alone are not looked at."""
    many = 1 + codes.max(axis=1, initial=0).astype(np.int64)
    step = -(-len(codes) // (8 * default_threads()))
    alone, told = np.empty((2, len(codes))), known.astype(np.int64)
    for label, own in enumerate(group):
        for j, each in enumerate(codes):
            table = np.bincount(each.astype(np.intp) * classes + own, weight, many[j] * classes).reshape(-1, classes)
            alone[label, j] = _entropy_sum(table.ravel()) - _entropy_sum(table.sum(axis=1))
    whole = [_entropy_sum(np.bincount(own, weight)) - _entropy_sum(weight.sum(keepdims=True)) for own in group]

    def find(first: int) -> Floats:
        best, room = np.full((2, len(codes)), -np.inf), np.empty(int(many.max()) ** 2 * classes)
        for label, own in enumerate(group):
            find_pairs(codes, many, own, weight, classes, told, alone[label], whole[label], first,
                       min(first + step, len(codes)), room, best[label])  # fmt: skip
        return best

    best = np.max([*in_order(iter(range(0, len(codes), step)), find)], axis=0)
    return np.asarray(best[0] > best[1].max() + MARGIN)


@kernel("u1[][], i8[], i4[], f8[], i8, i8[], f8[], f8, i8, i8, f8[], f8[]")
def find_pairs(
    codes: Bytes, many: Longs, group: Ints, weight: Floats, classes: int, known: Longs, alone: Floats, whole: float,
    first: int, last: int, table: Floats, best: Floats,
) -> None:  # fmt: skip
    """For each attribute, how far above chance is what it tells at most with another beyond what both tell alone: pairs
    whose first is from `first` up to `last`. Deviations as in `deviations`, of twice
    I(i, j; class) - I(i; class) - I(j; class)."""
    for i in range(first, last):
        for j in range(i + 1, codes.shape[0]):
            if known[i] and known[j]:
                continue
            cells = many[i] * many[j]
            for c in range(cells * classes):
                table[c] = 0.0
            for r in range(group.size):
                table[np.uint64((codes[i, r] * many[j] + codes[j, r]) * classes + group[r])] += weight[r]
            found = whole - alone[i] - alone[j]
            for c in range(cells):
                total = 0.0
                for k in range(classes):
                    n = table[c * classes + k]
                    total += n
                    found += n * np.log(n) if n > 0.0 else 0.0
                found -= total * np.log(total) if total > 0.0 else 0.0
            freedom = max((many[i] - 1) * (many[j] - 1) * (classes - 1), 1)
            spread = 2.0 / (9.0 * freedom)
            found = np.rint(1e6 * ((max(2.0 * found, 0.0) / freedom) ** (1 / 3) - 1.0 + spread) / np.sqrt(spread)) / 1e6
            best[i], best[j] = max(best[i], found), max(best[j], found)
