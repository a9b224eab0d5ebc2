"""The different texts of a column, numbered in the order in which they come: a hash table over bytes.

Knows bytes; what a text means is asked once for each, by levels.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Bytes, Hashes, Ints, Longs, Whole
from likely.machinery.jit import inner, kernel
from likely.table.batch import Texts
from likely.table.texts.grammar import last_bytes
from likely.table.words.tokens import draw_keys, fold_product, load_eight

if TYPE_CHECKING:
    from numpy.typing import NDArray

ONCE: NDArray[np.int64] = np.empty(0, np.int64)
"""Every cell is there once."""


class TextIndex:
    """Texts by number, and how often each was met since `take_times`."""

    __slots__ = ("_bounds", "_data", "_hashes", "_keys", "_slots", "_times", "known")

    def __init__(self) -> None:
        self.known, self._keys = 0, draw_keys()
        self._data: NDArray[np.uint8] = np.zeros(1 << 10, np.uint8)
        self._bounds: NDArray[np.int64] = np.zeros(33, np.int64)
        self._hashes: NDArray[np.uint64] = np.zeros(32, np.uint64)
        self._times: NDArray[np.int64] = np.zeros(32, np.int64)
        self._slots: NDArray[np.int32] = np.full(128, -1, np.int32)

    def numbers(self, texts: Texts, times: NDArray[np.int64] = ONCE) -> NDArray[np.int32]:
        """The number of each text, new ones included; text i is counted times[i] times."""
        out, done = np.empty(len(texts), np.int32), 0
        while True:
            done, self.known = number_texts(
                texts.data, texts.starts, texts.ends, times, self._keys,
                self._data, self._bounds, self._hashes, self._times, self._slots, self.known, done, out,
            )  # fmt: skip
            if done == len(texts):
                return out
            self._grow(int(texts.ends[done] - texts.starts[done]))

    def _grow(self, size: int) -> None:
        """Room for more texts, one of so many bytes among them."""
        used = int(self._bounds[self.known])
        if used + size > len(self._data):
            self._data = np.concatenate([self._data, np.zeros(max(len(self._data), size), np.uint8)])
        if self.known == len(self._hashes):
            more = 3 * self.known
            self._bounds = np.concatenate([self._bounds, np.zeros(more, np.int64)])
            self._hashes = np.concatenate([self._hashes, np.zeros(more, np.uint64)])
            self._times = np.concatenate([self._times, np.zeros(more, np.int64)])
            self._slots = np.full(4 * len(self._slots), -1, np.int32)
            index_hashes(self._hashes, self.known, self._slots)

    def texts(self, first: int = 0) -> Texts:
        """The texts from number `first` on."""
        bounds = self._bounds[first : self.known + 1]
        return Texts(self._data, bounds[:-1].copy(), bounds[1:].copy())

    def take_times(self) -> NDArray[np.int64]:
        """How often each text was met since this was last asked."""
        out = self._times[: self.known].copy()
        self._times[:] = 0
        return out


@inner
def _keyed_hash(data: Bytes, a: int, b: int, keys: Hashes) -> np.uint64:
    """The hash of data[a:b] by secret keys: for places in memory, never to be kept or to decide anything."""
    h = keys[0] ^ np.uint64(b - a)
    while b - a > 8:
        h = fold_product(h ^ load_eight(data, np.uint64(a)), keys[1])
        a += 8
    if a < b:
        h = fold_product(h ^ last_bytes(data, a, b), keys[1])
    return fold_product(h ^ keys[0], keys[2])  # type: ignore[no-any-return]


@inner
def _same(data: Bytes, a: int, b: int, other: Bytes, c: int, d: int) -> bool:
    """Whether data[a:b] and other[c:d], which are of the same length, are the same bytes."""
    while b - a > 8:
        if load_eight(data, np.uint64(a)) != load_eight(other, np.uint64(c)):
            return False
        a += 8
        c += 8
    return a == b or last_bytes(data, a, b) == last_bytes(other, c, d)


@kernel("u1[], i8[], i8[], i8[], u8[], u1[], i8[], u8[], i8[], i4[], i8, i8, i4[]", returns=2)
def number_texts(
    data: Bytes,
    starts: Longs,
    ends: Longs,
    times: Longs,
    keys: Hashes,
    held: Bytes,
    bounds: Longs,
    hashes: Hashes,
    counts: Longs,
    slots: Ints,
    known: int,
    start: int,
    out: Ints,
) -> tuple[Whole, Whole]:
    """Write the number of each text into out, and add new ones; stops before the first for which there is no room.

    Text e is held[bounds[e]:bounds[e+1]]. Returns where it stopped, and how many are known.
    """
    mask = np.int64(slots.size - 1)
    for i in range(start, starts.size):
        a, b = starts[i], ends[i]
        h = _keyed_hash(data, a, b, keys)
        at = np.int64(h & np.uint64(0x7FFFFFFFFFFFFFFF)) & mask
        e = np.int64(slots[at])
        while e >= 0 and (
            hashes[e] != h
            or bounds[e + 1] - bounds[e] != b - a
            or not _same(data, a, b, held, bounds[e], bounds[e + 1])
        ):
            at = (at + 1) & mask
            e = np.int64(slots[at])
        if e < 0:
            begin = bounds[known]
            if known == hashes.size or begin + b - a > held.size:
                return i, known
            for k in range(b - a):
                held[begin + k] = data[a + k]
            bounds[known + 1] = begin + b - a
            hashes[known] = h
            counts[known] = 0
            slots[at] = known
            e = np.int64(known)
            known += 1
        out[i] = np.int32(e)
        counts[e] += 1 if times.size == 0 else times[i]
    return starts.size, known


@kernel("u8[], i8, i4[]")
def index_hashes(hashes: Hashes, known: int, slots: Ints) -> None:
    """Fill the empty slots with the first `known` texts, all different."""
    mask = np.int64(slots.size - 1)
    for e in range(known):
        at = np.int64(hashes[e] & np.uint64(0x7FFFFFFFFFFFFFFF)) & mask
        while slots[at] >= 0:
            at = (at + 1) & mask
        slots[at] = e
