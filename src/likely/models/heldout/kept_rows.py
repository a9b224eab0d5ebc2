"""Rows kept in memory to choose by: those with the smallest hashes of their content, dealt to parts."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.machinery.arrays import Bools, Floats, Hashes, Ints, distinct, quantile
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.rows.rows import cell_bits, fold_bits
from likely.sums.summary import Summary
from likely.table.arrow import copy_cells
from likely.table.batch import MISSING_CODE, UNSEEN_CODE, Batch, Codes, Texts
from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Lots by the place of a row in its table; batches and classes as held-out parts share them.

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
    usual = quantile(alike, 0.5) if len(alike) else 0.0
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


# Rows kept in memory to choose by: those with the smallest hashes of their content, dealt to parts by these hashes.

MOST_ROWS, MOST_CELLS = 100_000, 1 << 22
"""Different rows, and cells of rows, that are kept at most."""
LAST_HASH = 2**64 - 1
LEAST_KEPT = 1000
"""Rows that are kept however wide they are."""
MOST_LASTING, MOST_LASTING_CELLS, MOST_LASTING_SCORES = 20_000, 1 << 20, 1 << 17
"""Rows, cells of rows, and scores of classes for rows, that stay in memory at most, as long as the model that was made
of them."""
_START = np.uint64(0x9E3779B97F4A7C15)
_DEAL = np.uint64(0xD1B54A32D192ED03)


def most_kept(summary: Summary) -> int:
    """Different rows of a table that are kept at most."""
    return max(min(MOST_ROWS, MOST_CELLS // max(len(summary.schema.attributes), 1)), LEAST_KEPT)


@dataclass(frozen=True, eq=False)
class _Piece:
    batch: Batch
    group: Ints
    weight: Floats
    hashes: Hashes

    def take(self, rows: NDArray[Any]) -> _Piece:
        return _Piece(self.batch.take(rows), self.group[rows], self.weight[rows], self.hashes[rows])

    def with_own_texts(self) -> _Piece:
        """The same with copies of its texts: the bytes of a table are not kept for the sake of a few."""
        cells = {n: _joined_texts([c]) if isinstance(c, Texts) else c for n, c in self.batch.cells.items()}
        return replace(self, batch=replace(self.batch, cells=cells))


@dataclass(frozen=True, eq=False)
class GatheredRows:
    """Rows of several batches. `+` puts them together, and keeps no more than twice as many as are wanted."""

    pieces: tuple[_Piece, ...]
    most: int
    dropped: bool = False

    @classmethod
    def of(
        cls, summary: Summary, batch: Batch, group: Ints, weight: Floats, most: int, last: int = LAST_HASH
    ) -> GatheredRows:
        """The rows of a batch that count, with hashes up to `last`; `group` is their class among those of the
        summary."""
        names = [column.name for column in summary.schema.attributes]
        own = Batch(batch.rows, {name: _shared_labels(summary, name, batch.cells[name]) for name in names})
        hashes = content_hashes(own, names)
        counted = np.flatnonzero((group >= 0) & (weight > 0) & (hashes <= np.uint64(last)))
        piece = _Piece(own.take(counted), group[counted].astype(np.int32), weight[counted], hashes[counted])
        out = cls((piece,), most)._bounded()
        return replace(out, pieces=tuple(piece.with_own_texts() for piece in out.pieces))

    def __add__(self, other: GatheredRows) -> GatheredRows:
        return replace(self, pieces=self.pieces + other.pieces, dropped=self.dropped or other.dropped)._bounded()

    def _bounded(self) -> GatheredRows:
        if sum(len(piece.group) for piece in self.pieces) <= 2 * self.most:
            return self
        different = distinct(np.concatenate([piece.hashes for piece in self.pieces]))
        if len(different) <= self.most:
            return self
        # All rows of a hash stay or go together.
        bound = different[self.most]
        kept = tuple(piece.take(np.flatnonzero(piece.hashes < bound)) for piece in self.pieces)
        return replace(self, pieces=kept, dropped=True)

    @property
    def short(self) -> bool:
        """Whether more rows are wanted than there are."""
        return not self.dropped and len(distinct(np.concatenate([piece.hashes for piece in self.pieces]))) <= self.most

    def dealt(self, summary: Summary, parts: int, seed: int = 0) -> KeptRows:
        """All of them, in the order of their hashes, each in its part."""
        group = np.concatenate([piece.group for piece in self.pieces])
        weight = np.concatenate([piece.weight for piece in self.pieces])
        hashes = np.concatenate([piece.hashes for piece in self.pieces])
        order, dropped = np.lexsort((weight, group, hashes)), self.dropped
        different = distinct(hashes)
        if len(different) > self.most:
            order, dropped = order[hashes[order] < different[self.most]], True
        group, weight, hashes = group[order], weight[order], hashes[order]
        batch = _joined([piece.batch for piece in self.pieces]).take(order)
        lots = scramble(hashes + np.full(1, seed % 2**64, np.uint64) * _START + _DEAL)
        part = (lots % np.uint64(parts)).astype(np.int32)
        new = np.ones(len(hashes), np.bool_)
        new[1:] = hashes[1:] != hashes[:-1]
        place = np.cumsum(new) - 1
        alike, often = np.asarray(np.bincount(place, weight), np.float64), np.bincount(place)
        copies = _has_copies(summary, alike)
        heavy = is_heavy(alike, alike, parts, copies)[place]
        repeated = int(often[(often > 1) & ~is_heavy(alike, alike, parts, copies)].sum()) if copies else 0
        squares = weight * alike[place]  # rows that are held out together say no more than one of them
        if heavy.any():
            light, some = np.flatnonzero(~heavy), np.flatnonzero(heavy)
            # One row for each content and class: its copies are dealt one by one.
            first = np.ones(len(some), np.bool_)
            first[1:] = (hashes[some][1:] != hashes[some][:-1]) | (group[some][1:] != group[some][:-1])
            own = some[first]
            shares = deal_copies(hashes[own], group[own], np.add.reduceat(weight[some], np.flatnonzero(first)), parts)
            row, into = np.nonzero(shares)
            rows = np.concatenate([light, own[row]])
            batch, group, hashes = batch.take(rows), group[rows], hashes[rows]
            weight = np.concatenate([weight[light], shares[row, into]])
            squares = np.concatenate([squares[light], shares[row, into]])
            part = np.concatenate([part[light], into.astype(np.int32)])
        plain = bool((weight == 1.0).all())
        target = Codes(group, Labels(summary.classes))
        batch = Batch(len(group), batch.cells, target, None if plain else weight)
        return KeptRows(batch, group, weight, squares, hashes, part, parts, not dropped, repeated / max(len(order), 1))


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Rows in memory, each with its class, weight and part."""

    batch: Batch
    group: Ints
    weight: Floats
    squares: Floats
    """Of the weights of rows that were put together, summed; those held out together count as one."""
    hashes: Hashes
    part: Ints
    parts: int
    whole: bool
    """Whether these are all rows of the table."""
    copied: float = 0.0
    """Share of the rows that are copies of others, and in one part with them."""

    def __len__(self) -> int:
        return len(self.group)

    def inside(self, part: int) -> Bools:
        """The rows of a part."""
        return np.asarray(self.part == part)

    def take(self, rows: NDArray[Any]) -> KeptRows:
        """Some of the rows."""
        return KeptRows(
            self.batch.take(rows),
            self.group[rows],
            self.weight[rows],
            self.squares[rows],
            self.hashes[rows],
            self.part[rows],
            self.parts,
            self.whole,
            self.copied,
        )


def most_lasting(attributes: int, classes: int) -> int:
    """Rows that stay in memory at most."""
    most = min(MOST_LASTING, MOST_LASTING_CELLS // max(attributes, 1), MOST_LASTING_SCORES // max(classes, 1))
    return max(most, LEAST_KEPT)


def lasting_rows(rows: KeptRows, classes: int) -> KeptRows:
    """Those that stay in memory beside the model: all, or those with the smallest hashes, all of a hash or none."""
    most = most_lasting(len(rows.batch.cells), classes)
    if len(rows) <= most:
        return rows
    order = np.argsort(rows.hashes, kind="stable")
    some = order[: int(np.searchsorted(rows.hashes[order], rows.hashes[order[most]]))]
    return replace(rows.take(some), whole=False)


def _has_copies(summary: Summary, alike: Floats) -> bool:
    """Whether kept rows, of which each different one weighs so much, are copies of each other."""
    if len(alike) == 0 or float(alike.max()) <= 1 or has_few_levels(summary):
        return False
    whole = summary.total.floats()
    # Equal rows are kept together or not at all.
    share = float(alike.sum()) / float(whole.sum())
    tables = list(value_tables(summary))
    return are_copies(alike, share * equal_pairs(tables, whole), count_values(tables))


def content_hashes(batch: Batch, names: Sequence[str]) -> Hashes:
    """64 bits for each row by what its cells hold: levels by their names, numbers by their bits, texts by their words.

    >>> one = Batch(2, {"sky": Codes(np.array([0, 1], np.int32), Labels(["sun", "rain"]))})
    >>> two = Batch(2, {"sky": Codes(np.array([1, 0], np.int32), Labels(["rain", "sun"]))})
    >>> bool((content_hashes(one, ["sky"]) == content_hashes(two, ["sky"])).all())
    True
    """
    mixed = np.full(batch.rows, _START)
    for name in names:
        cells = batch.cells[name]
        bits = _level_bits(cells.labels)[cells.codes] if isinstance(cells, Codes) else cell_bits(cells)
        mixed = fold_bits(mixed, bits)
    return scramble(mixed)


def _level_bits(labels: Labels) -> Hashes:
    """A hash of the name of each level; the last two places serve the codes of an unseen level and a missing cell."""
    each = [int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little") for name in labels.names]
    return np.array([*each, 2, 1], np.uint64)


def _shared_labels(summary: Summary, name: str, cells: Any) -> Any:
    """Cells under the labels that the summary has, whatever their reader knew."""
    statistic = summary.columns[name]
    if not isinstance(cells, Codes) or not isinstance(statistic, Counts):
        return cells
    ours = statistic.labels
    if cells.labels is ours or cells.labels.names == ours.names:
        return Codes(cells.codes, ours)
    places = (ours.index.get(level, UNSEEN_CODE) for level in cells.labels.names)
    return Codes(np.array([*places, UNSEEN_CODE, MISSING_CODE], np.int32)[cells.codes], ours)


def _joined(batches: Sequence[Batch]) -> Batch:
    """The rows of all batches, which share their labels."""
    cells: dict[str, Any] = {}
    for name, first in batches[0].cells.items():
        column = [batch.cells[name] for batch in batches]
        if isinstance(first, Codes):
            cells[name] = Codes(np.concatenate([own.codes for own in column]), first.labels)
        elif isinstance(first, Texts):
            cells[name] = _joined_texts(column)
        else:
            cells[name] = np.concatenate(column)
    return Batch(sum(batch.rows for batch in batches), cells)


def _joined_texts(column: Sequence[Texts]) -> Texts:
    """Texts with just the bytes that they need: those of batches may be parts of larger ones."""
    lengths = np.concatenate([own.ends - own.starts for own in column])
    bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    data, at = np.empty(int(bounds[-1]), np.uint8), 0
    for own in column:
        copy_cells(own.data, own.starts, own.ends, data[at:])
        at += int((own.ends - own.starts).sum())
    return Texts(data, bounds[:-1].copy(), bounds[1:].copy())
