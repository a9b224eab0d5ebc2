"""Lots by the place of a row in its table; batches and classes as held-out parts share them.

Knows batches and sums; no learner.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Bools, Floats, Hashes, Ints
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.summary import Summary
from likely.table.batch import Batch, Codes
from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

HEAVY, USUAL = 0.01, 10.0
"""Equal rows that make up more than this share of all, are as many as two for each part, and so many times as many as
rows usually have equals, are dealt one by one."""
FEW_COPIES = 0.01
"""A share of rows with copies from which on these matter."""
TIMES = 10.0
"""Equal rows must be so many times as many as attributes that are independent given the class would make."""
EVEN = 0.5
"""Variance over mean of how often rows occur, below which that is no chance."""
PLANNED = 4
"""Possible rows for each that occurs, up to which a table is taken for a planned one."""
FEW_LEVELS = 64
"""Rows of levels alone repeat by nature, where no column has more of them."""
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


def is_heavy(weight: Floats, alike: Floats, parts: int, copies: bool) -> Bools:
    """Whether equal rows of this weight are dealt one by one: else no part but one would have any of them.

    `alike` has the weight of each different row, all classes together. Those that are many are dealt one by one; and
    all, where there are so few different rows that most have their equal: a new row is then most likely like one that
    was seen, and what is said of others tells nothing of it. But not where they are `copies` (`are_copies`): a new row
    is then like none that was seen.
    """
    total = float(alike.sum())
    if not copies and 2 * len(alike) <= total:
        return weight >= 2
    usual = float(np.median(alike)) if len(alike) else 0.0
    return (weight > HEAVY * total) & (weight >= 2 * parts) & (weight >= USUAL * usual)


def are_copies(alike: Floats, expected: float, sizes: Sequence[int]) -> bool:
    """Whether equal rows are copies of each other, as in a table that was oversampled: too many for chance.

    `alike` has the weight of each different row; `expected` pairs of equal rows would come about by chance
    (`equal_pairs`). `sizes` are the numbers of different values of the attributes.

    >>> often = np.arange(300.0)
    >>> are_copies(often, 0.1, [300]), are_copies(often, 50000.0, [300]), are_copies(np.full(300, 5.0), 5000.0, [300])
    (True, False, True)
    """
    repeated = float(alike[alike > 1].sum())
    unexplained = repeated / 2 > TIMES * expected or is_even(alike, sizes)
    return repeated >= FEW_COPIES * float(alike.sum()) and unexplained


def is_even(alike: Floats, sizes: Sequence[int]) -> bool:
    """Whether different rows occur twice or more in the mean, and about equally often: drawn by chance, how often they
    occur would vary by as much as its mean. In a planned table, of nearly all combinations of few values, they do so by
    nature."""
    even = len(alike) > 0 and alike.mean() >= 2 and alike.var() < EVEN * alike.mean()
    planned = all(size <= FEW_LEVELS for size in sizes) and math.prod(sizes) <= PLANNED * len(alike)
    return bool(even) and not planned


def copies_sentence(share: float) -> str:
    """What is to be said where so many rows are copies of others."""
    return (
        f"{100 * share:.1f} % of the rows have a copy, equal in all attributes: more than chance explains. Copies were "
        "held out together, so that scores are those of new rows; each still counts when a model learns."
    )


def equal_pairs(tables: Iterable[Floats], weight: Floats) -> float:
    """Pairs of equal rows of one class that chance would make, were attributes independent given the class. `tables`
    say what each value of an attribute weighs in each class, `weight` what the classes do.

    >>> round(equal_pairs([np.array([[5.0], [5.0]])], np.array([10.0])), 6)
    22.5
    """
    log_equal = np.zeros(len(weight))
    for table in tables:
        with np.errstate(divide="ignore", invalid="ignore"):
            log_equal += np.log(np.nansum((table / weight) ** 2, axis=0))
    return float((weight * np.maximum(weight - 1, 0) / 2 * np.exp(log_equal)).sum())


def value_tables(summary: Summary) -> Iterator[Floats]:
    """What each value of an attribute weighs in each class, missing ones last; of texts there is no such table."""
    for column in summary.schema.attributes:
        held = summary.columns[column.name]
        if isinstance(held, Counts):
            yield np.concatenate([held.table.floats(), held.other.floats()])
        elif isinstance(held, Numbers):
            yield np.concatenate([held.tally()[1].floats(), held.other.floats()])


def count_values(tables: Iterable[Floats]) -> list[int]:
    """How many different values attributes have, being missing among them."""
    return [int(np.count_nonzero(table.sum(axis=1))) for table in tables]


def has_few_levels(summary: Summary) -> bool:
    """Whether all attributes have levels, and few of them."""
    each = (summary.columns[column.name] for column in summary.schema.attributes)
    return all(isinstance(held, Counts) and len(held.labels) <= FEW_LEVELS for held in each)


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
