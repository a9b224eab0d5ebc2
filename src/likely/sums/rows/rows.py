"""The rows themselves, as a tally, and 64-bit hashes of cells, rows and texts. Order is forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from likely.errors import SettingError
from likely.machinery.arrays import Bytes, Hashes, Ints, Longs, distinct
from likely.machinery.jit import inner, kernel
from likely.machinery.threads import in_order
from likely.sums.contracts import EVERY_ROW_ONE, State, TableSums, Weights
from likely.sums.exact import Exact
from likely.sums.state import read_array, read_names, read_whole, read_wholes, require
from likely.table.batch import MISSING_CODE, UNSEEN_CODE, Batch, Cells, Codes, Texts
from likely.table.labels import Labels
from likely.table.words import (
    BASIS,
    BYTES,
    MARGIN,
    alphabet_for,
    find_words,
    finish_hash,
    fold_block,
    load_eight,
    lower_piece,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


# The rows themselves, as a tally: how much each different row weighs. What neighbours need. Order is forgotten.

MOST_CELLS = 500_000_000
"""More cells than this do not fit into memory."""

Column: TypeAlias = "NDArray[np.int64] | NDArray[np.int32]"
Part: TypeAlias = "tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32], Exact]"
"""Numbers, codes, class and weight of some rows."""


class Rows:
    """`numbers` (NaN: missing or infinite) and `codes` (-1: missing), both (rows, attributes), with class and weight.

    Levels are open: a new one is simply a new code.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, numeric: Sequence[str], nominal: Sequence[str], groups: int) -> None:
        self.numeric, self.nominal, self.groups = list(numeric), list(nominal), groups
        self.labels = [Labels() for _ in nominal]
        self._parts: list[Part] = []
        self._tidy = False
        """Known to be canonical: one part, each row once, in order. Its arrays may then be shared."""

    @classmethod
    def over(cls, table: TableSums) -> Rows:
        attributes = table.without_text().schema.attributes
        if table.rows * len(attributes) > MOST_CELLS:
            raise SettingError(
                f"Neighbours and joint bins must keep all rows; {table.rows:,} rows of {len(attributes)} attributes "
                "are too many. Use a learner that learns from sums."
            )
        nominal = [c.name for c in attributes if c.kind == "nominal"]
        return cls([c.name for c in attributes if c.kind != "nominal"], nominal, len(table.classes))

    def update(self, batch: Batch, group: Ints, weights: Weights = EVERY_ROW_ONE) -> None:
        """Take in a batch; `group` says the class of each row (negative: left out)."""
        for labels, name in zip(self.labels, self.nominal, strict=True):
            cells = batch.cells[name]
            assert isinstance(cells, Codes)
            if len(labels) < len(cells.labels) or labels.names[: len(cells.labels)] != cells.labels.names:
                for level in cells.labels.names:
                    labels.code(level)
        kept = np.flatnonzero(group >= 0)
        numbers, codes = self.read(batch)
        if weights.plain:
            weight = Exact(np.ones((1, len(kept)), np.int64))
        else:
            weight = Exact(np.stack([chunk[kept] for chunk in weights.chunks]), weights.base)
        self._parts.append((numbers[kept], codes[kept], group[kept].astype(np.int32), weight))
        self._tidy = False

    def read(self, batch: Batch) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """The numbers and codes of a batch as this statistic keeps them; levels that it does not know are -2."""
        numbers = np.empty((batch.rows, len(self.numeric)))
        for k, name in enumerate(self.numeric):
            x = batch.cells[name]
            assert not isinstance(x, Codes)
            numbers[:, k] = np.where(np.isfinite(x), x + 0.0, np.nan)  # + 0.0: minus zero is zero
        codes = np.empty((batch.rows, len(self.nominal)), np.int32)
        for k, name in enumerate(self.nominal):
            cells = batch.cells[name]
            assert isinstance(cells, Codes)
            codes[:, k] = _translation(cells.labels, self.labels[k])[cells.codes]
        return numbers, codes

    @property
    def arrays(self) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """Numbers, codes, class and weight of each different row, in an order that the rows alone decide."""
        numbers, codes, group, weight = self.canonical()._whole()
        return numbers, codes, group, weight.floats()

    def cells(self, some: NDArray[np.intp]) -> dict[str, list[float | str | None]]:
        """The cells of some rows of `arrays`, by column; None where one is missing."""
        own = self.canonical()
        numbers, codes, _, _ = own.whole()
        out: dict[str, list[float | str | None]] = {}
        for k, name in enumerate(own.numeric):
            out[name] = [None if x != x else x for x in numbers[some, k].tolist()]
        for k, name in enumerate(own.nominal):
            out[name] = [None if c < 0 else own.labels[k].names[c] for c in codes[some, k].tolist()]
        return out

    def whole(self) -> Part:
        """All rows as one part: numbers, codes, class and weight, which is exact. To be read, not written."""
        return self._whole()

    def _whole(self) -> Part:
        """All rows as one part."""
        if not self._parts:
            empty = np.empty((0, len(self.numeric))), np.empty((0, len(self.nominal)), np.int32)
            return *empty, np.empty(0, np.int32), Exact.zeros(0)
        if len(self._parts) > 1:
            numbers, codes, group = (np.concatenate([p[k] for p in self._parts]) for k in range(3))
            self._parts = [(numbers, codes, group, _chained([p[3] for p in self._parts]))]
        return self._parts[0]

    # -- merging --------------------------------------------------------------------------------------------

    def _over(self, labels: list[Labels]) -> Part:
        numbers, codes, group, weight = self._whole()
        fresh = np.empty_like(codes)
        for k, (mine, ours) in enumerate(zip(self.labels, labels, strict=True)):
            fresh[:, k] = _translation(mine, ours)[codes[:, k]]
        return numbers, fresh, group, weight

    def _made(self, labels: list[Labels], parts: list[Part]) -> Rows:
        out = Rows(self.numeric, self.nominal, self.groups)
        out.labels, out._parts = labels, parts
        return out

    def _combined(self, other: Rows, sign: int) -> Rows:
        both = zip(self.labels, other.labels, strict=True)
        labels = [Labels(sorted({*mine.names, *theirs.names})) for mine, theirs in both]
        numbers, codes, group, weight = other._over(labels)
        if sign < 0:
            weight = Exact.zeros(*weight.shape) - weight
        return self._made(labels, [self._over(labels), (numbers, codes, group, weight)]).canonical()

    def __add__(self, other: Rows) -> Rows:
        return self._combined(other, +1)

    def __sub__(self, other: Rows) -> Rows:
        return self._combined(other, -1)

    def canonical(self) -> Rows:
        """Each different row once, in order; rows that weigh nothing and labels that no row has are dropped."""
        if self._tidy:
            out = self._made([x.copy() for x in self.labels], list(self._parts))
            out._tidy = True
            return out
        ordered = [Labels(sorted(x.names)) for x in self.labels]
        numbers, codes, group, weight = self._over(ordered)
        keys = _keys(numbers, codes, group)
        order = np.arange(len(group)) if _in_order(keys) else _order(keys, 2 + codes.shape[1])
        new = np.ones(len(order), np.bool_)
        if len(order):
            new[1:] = np.logical_or.reduce([key[order][1:] != key[order][:-1] for key in keys])
        places = np.empty(len(order), np.intp)
        places[order] = np.cumsum(new) - 1
        total = weight.scattered(places, 0, int(new.sum()))
        some = ~total.is_zero()
        kept = order[new][some]
        labels = [Labels([x.names[c] for c in distinct(codes[kept, k]) if c >= 0]) for k, x in enumerate(ordered)]
        part = (numbers[kept], codes[kept], group[kept], total[np.flatnonzero(some)].canonical())
        out = self._made(labels, [self._made(ordered, [part])._over(labels)])
        out._tidy = True
        return out

    def regrouped(self, places: NDArray[np.intp], groups: int) -> Rows:
        """The same rows with class i called places[i], or left out where that is negative."""
        numbers, codes, group, weight = self._whole()
        into = places[group].astype(np.int32) if len(group) else group
        kept = np.flatnonzero(into >= 0)
        part = (numbers[kept], codes[kept], into[kept], weight[kept])
        out = self._made([x.copy() for x in self.labels], [part])
        out.groups = groups
        return out.canonical()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rows):
            return NotImplemented
        a, b = self.canonical(), other.canonical()
        if [x.names for x in a.labels] != [x.names for x in b.labels]:
            return False
        mine, theirs = a._whole(), b._whole()
        same = zip(_keys(*mine[:3]), _keys(*theirs[:3]), strict=True)
        return mine[3] == theirs[3] and all(np.array_equal(x, y) for x, y in same)

    @property
    def impossible(self) -> bool:
        """Whether a row weighs less than nothing: it was taken away but was never there."""
        return bool(self.canonical()._whole()[3].is_negative().any())

    def state(self) -> State:
        own = self.canonical()
        numbers, codes, group, weight = own._whole()
        return {
            "numeric": own.numeric,
            "nominal": own.nominal,
            "groups": own.groups,
            "labels": [x.names for x in own.labels],
            "numbers": numbers,
            "codes": codes.astype(np.int64),
            "group": group.astype(np.int64),
            "weight": weight.state(),
        }

    @classmethod
    def from_state(cls, state: State) -> Rows:
        names = {kind: read_names(state[kind], "the columns of rows") for kind in ("numeric", "nominal")}
        groups = read_whole(state["groups"], 0, 1 << 31, "the number of classes")
        out = cls(names["numeric"], names["nominal"], groups)
        out.labels = [Labels(read_names(levels, "levels")) for levels in state["labels"]]
        require(len(out.labels) == len(out.nominal), "each nominal column of rows has its levels")
        group, codes = read_wholes(state["group"], 1, "classes of rows"), read_wholes(state["codes"], 2, "codes")
        numbers = read_array(state["numbers"], "f", 2, "numbers of rows").astype(np.float64)
        require(not len(group) or (group.min() >= 0 and group.max() < groups), "rows are of the classes")
        require(codes.shape == (len(group), len(out.nominal)), "every row has a code of each nominal column")
        require(numbers.shape == (len(group), len(out.numeric)), "every row has a number of each numeric column")
        require(not np.isinf(numbers).any(), "numbers of rows are finite or missing")
        known = np.array([len(labels) for labels in out.labels], np.int64)
        require((codes >= -1).all() and (codes < known).all(), "codes are those of levels")
        weight = Exact.from_state(state["weight"], (len(group),), weights=True)
        out._parts = [(numbers, codes.astype(np.int32), group.astype(np.int32), weight)]
        return out

    def check_agrees(self, table: TableSums, total: Exact) -> None:
        """Refuse, as unsound, what cannot be of the table that a summary is of."""
        expected = Rows.over(table)
        require((self.numeric, self.nominal) == (expected.numeric, expected.nominal), "rows are of the columns")
        group, weight = self._whole()[2:]
        own = weight.scattered(group.astype(np.intp), 0, self.groups)
        require(own == total, "rows weigh what their classes weigh")


def _translation(theirs: Labels, ours: Labels) -> NDArray[np.int32]:
    """Our code for each of their codes; the last two places serve the codes -2 and -1 themselves."""
    places = (ours.index.get(name, UNSEEN_CODE) for name in theirs.names)
    return np.array([*places, UNSEEN_CODE, MISSING_CODE], np.int32)


def _keys(numbers: NDArray[np.float64], codes: NDArray[np.int32], group: NDArray[np.int32]) -> list[Column]:
    """Columns of whole numbers in which two rows agree only where they are equal; missing numbers are equal."""
    bits = np.where(np.isnan(numbers), np.iinfo(np.int64).max, np.ascontiguousarray(numbers).view(np.int64))
    return [group, *codes.T, *bits.T]


def _in_order(keys: list[Column]) -> bool:
    """Whether every row comes before the next, so that there is nothing to sort: as where a file has been read."""
    before = np.zeros(max(len(keys[0]) - 1, 0), np.bool_)
    equal = ~before
    for key in keys:
        before |= equal & (key[:-1] < key[1:])
        equal &= key[:-1] == key[1:]
    return bool(before.all())


def _order(keys: list[Column], most: int) -> NDArray[np.intp]:
    """What np.lexsort(keys[::-1]) gives. Sorted by `most` keys first, a number among them: rows that agree in those are
    nearly always equal, and there is nothing left to sort, which is several times as quick."""
    order = np.lexsort(keys[:most][::-1])
    tied = np.ones(max(len(order) - 1, 0), np.bool_)
    for key in keys[:most]:
        tied &= key[order[1:]] == key[order[:-1]]
    one, other = order[:-1][tied], order[1:][tied]
    if all(np.array_equal(key[one], key[other]) for key in keys[most:]):
        return order
    return np.lexsort(keys[::-1])


def _chained(weights: Sequence[Exact]) -> Exact:
    """Exact weights one after the other."""
    low = min(w.base for w in weights)
    high = max(w.base + len(w.planes) for w in weights)
    out = np.zeros((high - low, sum(w.shape[0] for w in weights)), np.int64)
    at = 0
    for w in weights:
        out[w.base - low : w.base - low + len(w.planes), at : at + w.shape[0]] = w.planes
        at += w.shape[0]
    return Exact(out, low)


# 64-bit hashes of cells, rows and texts, equal where these are: a text is known by its words, a row by its cells.

_ODD = np.uint64(0x9E3779B97F4A7C15)
_EIGHT, _EIGHTH, _ALL = np.uint64(8), np.uint64(3), np.uint64(2**64 - 1)
_ROWS = 1 << 10
"""Texts that a thread takes at a time."""
_PIECE = 1 << 13
"""Bytes of a text that are looked at at once."""


def row_hashes(batch: Batch, names: Sequence[str]) -> NDArray[np.uint64]:
    """A hash of the cells of each row in these columns, never 0; what is missing counts as a value of its own."""
    mixed = np.full(batch.rows, _ODD)
    for name in names:
        mixed = fold_bits(mixed, cell_bits(batch.cells[name]))
    return np.where(mixed == 0, _ODD, mixed)


def cell_bits(cells: Cells) -> NDArray[np.uint64]:
    """64 bits for each cell, equal where cells are: a code, a double (one zero, one NaN), a hash of a text's words."""
    if isinstance(cells, Codes):
        return cells.codes.astype(np.int64).view(np.uint64)
    if isinstance(cells, Texts):
        return text_hashes(cells)
    # Infinite numbers count as missing; minus zero is zero.
    return np.ascontiguousarray(np.where(np.isfinite(cells), cells + 0.0, np.nan)).view(np.uint64)


def fold_bits(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Bits mixed with other bits: in another order they give others."""
    z = (one ^ other) * _ODD
    z ^= z >> np.uint64(29)
    return np.asarray(z * np.uint64(0xBF58476D1CE4E5B9) ^ (z >> np.uint64(32)))


def text_hashes(cells: Texts) -> NDArray[np.uint64]:
    """The hash of each text's words with one blank between them; 0 where it has none.

    It is what a word of these letters would have (tests/troubles/test_rows.py).
    """
    letters, out = alphabet_for(cells), np.empty(len(cells), np.uint64)

    def hash_some(rows: slice) -> None:
        low, bounds = np.zeros(_PIECE + MARGIN, np.uint8), np.zeros(_PIECE + MARGIN, np.int32)
        starts, ends = cells.starts[rows], cells.ends[rows]
        hash_texts(cells.data, starts, ends, BYTES, letters.small, letters.near, low, bounds, out[rows])

    for _ in in_order((slice(k, k + _ROWS) for k in range(0, len(cells), _ROWS)), hash_some):
        pass
    return out


@inner
def _append(h: np.uint64, block: np.uint64, held: np.uint64, bytes_: np.uint64, count: np.uint64) -> Any:
    """The running hash, the last block and how many bytes it holds, after one to eight more bytes.

    A full block is kept until there is more: the last one counts otherwise.
    """
    if held == _EIGHT:
        h, block, held = fold_block(h, block), np.uint64(0), np.uint64(0)
    block |= bytes_ << (held << _EIGHTH)
    if held + count > _EIGHT:
        h, block = fold_block(h, block), bytes_ >> ((_EIGHT - held) << _EIGHTH)
        return h, block, held + count - _EIGHT
    return h, block, held + count


@kernel("u1[], i8[], i8[], u1[], i4[], u1[], u1[], i4[], u8[]")
def hash_texts(
    data: Bytes, starts: Longs, ends: Longs, bytes_: Bytes, small: Ints, near: Bytes, low: Bytes, bounds: Ints,
    out: Hashes,
) -> None:  # fmt: skip
    """out[i] = the hash of the words of text i, joined by blanks; `low` and `bounds` have room for a piece of it."""
    letters, blank, one = (bytes_, small, near), np.uint64(32), np.uint64(1)
    for i in range(out.size):
        h, block, held, size = BASIS, np.uint64(0), np.uint64(0), np.uint64(0)
        here, end = starts[i], ends[i]
        inside: Any = False  # whether the piece before ended within a word
        while here < end:
            here, used = lower_piece(data, starts[i], here, end, letters, low, 0)
            found = np.uint64(find_words(low, used, bounds) >> 1)
            for w in range(found):
                a, b = np.uint64(bounds[w + w]), np.uint64(bounds[w + w + one])
                if size > 0 and not (inside and a == 0):
                    h, block, held = _append(h, block, held, blank, one)
                    size += one
                inside = False
                size += b - a
                while b - a > _EIGHT:
                    h, block, held = _append(h, block, held, load_eight(low, a), _EIGHT)
                    a += _EIGHT
                last = load_eight(low, a) & (_ALL >> ((_EIGHT - (b - a)) << _EIGHTH))
                h, block, held = _append(h, block, held, last, b - a)
            inside = found > 0 and bounds[found + found - one] == used
        out[i] = finish_hash(h, block, size) if size > 0 else np.uint64(0)
