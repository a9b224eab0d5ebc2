"""Lots by the place of a row in its table; batches and classes as held-out parts share them.

Knows batches and sums; no learner.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Bools, Floats, Hashes
from likely.sums.summary import Summary
from likely.table.batch import Batch, Codes, Ints
from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

HEAVY = 0.01
"""Equal rows that make up more than this share of all, and are as many as two for each part, are dealt one by one."""
MOST_COPIES = 1 << 16
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)


def hash_places(seed: int, start: int, rows: int) -> NDArray[np.uint64]:
    """64 mixed bits for each of the rows start, start + 1 …, by seed and number alone: batches do not matter.

    >>> bool((hash_places(7, 0, 4)[2:] == hash_places(7, 2, 2)).all())
    True
    """
    key = scramble(np.array([seed % 2**64], np.uint64) + _STEP)
    return scramble(key + (np.arange(start + 1, start + rows + 1).astype(np.uint64) * _STEP))


def uniform_numbers(seed: int, start: int, rows: int) -> NDArray[np.float64]:
    """A number from 0 up to 1 for each row."""
    return (hash_places(seed, start, rows) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def scramble(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    return z ^ (z >> np.uint64(31))


def deal_copies(hashes: Hashes, group: Ints, weight: Floats, parts: int) -> Floats:
    """How much of each of some equal rows, of one content and class, falls to each part, (rows, parts): as if copies of
    weight 1 were dealt one by one, by lots that the content and the number of the copy decide.

    >>> deal_copies(np.array([7], np.uint64), np.zeros(1, np.int32), np.array([12.5]), 3).sum(axis=1).tolist()
    [12.5]
    """
    out = np.zeros((len(hashes), parts))
    own = scramble(hashes + (group.astype(np.uint64) + np.uint64(1)) * _STEP)
    for row, (key, copies) in enumerate(zip(own, weight.tolist(), strict=True)):
        if copies > MOST_COPIES:  # chance is not to be seen any more
            out[row] = copies / parts
            continue
        lots = scramble(key + np.arange(1, int(copies) + 2).astype(np.uint64) * _STEP) % np.uint64(parts)
        each = np.ones(len(lots))
        each[-1] = copies - int(copies)
        out[row] = np.bincount(lots.astype(np.intp), each, parts)
    return out


def is_heavy(weight: Floats, total: float, parts: int, different: int) -> Bools:
    """Whether equal rows of this weight are dealt one by one: else no part but one would have any of them.

    So are those that are many; and all, where there are so few `different` rows that most have their equal: a new row
    is then most likely like one that was seen, and what is said of others tells nothing of it.
    """
    if 2 * different < total:
        return weight >= 2
    return (weight > HEAVY * total) & (weight >= 2 * parts)


def class_codes(theirs: Sequence[str], ours: Sequence[str]) -> Ints:
    """Our code for each of their codes, -1 where we have none; the last two places serve the codes -2 and -1."""
    index = {name: k for k, name in enumerate(ours)}
    return np.array([*(index.get(name, -1) for name in theirs), -1, -1], np.int32)


def recode_target(classes: Sequence[str], batch: Batch, group: Ints) -> tuple[Batch, Ints]:
    """The batch and its groups under these classes, whatever its reader knows; rows without weight have none."""
    if batch.target is None:
        return batch, group
    own = class_codes(batch.target.labels.names, classes)[batch.target.codes]
    own = np.where(group < 0, np.int32(-1), own)
    if batch.weight is not None:
        own = np.where(batch.weight > 0, own, np.int32(-1))
    return replace(batch, target=Codes(own, Labels(classes))), own


def sum_rows(summary: Summary, batches: Iterable[Batch], requests: Iterable[str]) -> Summary:
    """The sums of some rows, of the first order and those requested, cut as the summary of all rows cuts."""
    out = Summary(summary.schema)
    out.labels = Labels(summary.classes)
    more = {name: summary.empty_statistic(name) for name in requests}
    for batch in batches:
        out.update(batch)
        out.update_more(batch, more)
    out.more = more
    return out
