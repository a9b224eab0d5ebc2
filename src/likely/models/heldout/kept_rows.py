"""Rows kept in memory to choose by: those with the smallest hashes of their content, dealt to parts by these hashes.

What is kept and who is dealt where depends on the rows alone, not on where they stand, how they were cut into batches,
or who read which of them. Knows batches; no learner.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.machinery.arrays import Bools, Floats, Hashes, Ints
from likely.models.heldout.dealing import (
    are_copies,
    count_values,
    deal_copies,
    equal_pairs,
    has_few_levels,
    is_heavy,
    scramble,
    value_tables,
)
from likely.sums.columns.counts import Counts
from likely.sums.rows.row_hashes import cell_bits, fold_bits
from likely.sums.summary import Summary
from likely.table.batch import MISSING_CODE, UNSEEN_CODE, Batch, Codes, Texts
from likely.table.columns import copy_cells
from likely.table.labels import Labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MOST_ROWS, MOST_CELLS = 100_000, 1 << 25
"""Different rows, and cells of rows, that are kept at most."""
LEAST_KEPT = 1000
"""Rows that are kept however wide they are."""
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
    def of(cls, summary: Summary, batch: Batch, group: Ints, weight: Floats, most: int) -> GatheredRows:
        """The rows of a batch that count; `group` is their class among those of the summary."""
        counted = np.flatnonzero((group >= 0) & (weight > 0))
        names = [column.name for column in summary.schema.attributes]
        cells = {name: _shared_labels(summary, name, batch.cells[name]) for name in names}
        own = Batch(batch.rows, cells).take(counted)
        piece = _Piece(own, group[counted].astype(np.int32), weight[counted], content_hashes(own, names))
        out = cls((piece,), most)._bounded()
        return replace(out, pieces=tuple(piece.with_own_texts() for piece in out.pieces))

    def __add__(self, other: GatheredRows) -> GatheredRows:
        return replace(self, pieces=self.pieces + other.pieces, dropped=self.dropped or other.dropped)._bounded()

    def _bounded(self) -> GatheredRows:
        if sum(len(piece.group) for piece in self.pieces) <= 2 * self.most:
            return self
        different = np.unique(np.concatenate([piece.hashes for piece in self.pieces]))
        if len(different) <= self.most:
            return self
        # All rows of a hash stay or go together.
        bound = different[self.most]
        kept = tuple(piece.take(np.flatnonzero(piece.hashes < bound)) for piece in self.pieces)
        return replace(self, pieces=kept, dropped=True)

    def dealt(self, summary: Summary, parts: int, seed: int = 0) -> KeptRows:
        """All of them, in the order of their hashes, each in its part."""
        group = np.concatenate([piece.group for piece in self.pieces])
        weight = np.concatenate([piece.weight for piece in self.pieces])
        hashes = np.concatenate([piece.hashes for piece in self.pieces])
        order, dropped = np.lexsort((weight, group, hashes)), self.dropped
        different = np.unique(hashes)
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
