"""Entries of a tally by the numbers of their words: sorted, each once. Knows keys and weights, no letters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Hashes, Ints, Longs
from likely.machinery.jit import kernel
from likely.sums.exact import Exact
from likely.sums.words.reading import GROUP_AT, TIMES_AT
from likely.sums.words.sorting import radix_sort
from likely.sums.words.tally import join_equal, merge_sorted, trim_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BELOW_GROUP = (1 << GROUP_AT) - 1


@dataclass(frozen=True, eq=False)
class Entries:
    """Entries starts[w] … starts[w+1] are those of word w; keys of a word increase."""

    starts: NDArray[np.int64]
    keys: NDArray[np.int64]
    weight: Exact

    @classmethod
    def none(cls) -> Entries:
        return cls(np.zeros(1, np.int64), np.empty(0, np.int64), Exact.zeros(0))

    @classmethod
    def of(cls, word: NDArray[np.int32], key: NDArray[np.int64], words: int, weight: Exact | None) -> Entries:
        """From entries in any order, equal ones among them; each weighs one if no weight is given."""
        starts = np.zeros(words + 1, np.int64)
        group, times = most_bits(key)
        if weight is None and int(words).bit_length() + group + times + TIMES_AT <= 64:
            packed = np.empty(len(key), np.uint64)
            pack_keys(word, key, group, times, packed)
            packed, spare = radix_sort(packed, int(words).bit_length() + group + times + TIMES_AT)
            keys, counts = packed.view(np.int64), spare.view(np.int64)  # no entry is written before it was read
            count = join_packed(packed, group, times, starts, keys, counts)
            return cls(starts, keys[:count].copy(), Exact.owned(counts[:count].copy()))
        order = np.lexsort((key, word))
        np.cumsum(np.bincount(word, minlength=words), out=starts[1:])
        keys, place, joined = key[order], np.empty(len(key), np.int64), np.zeros(words + 1, np.int64)
        count = join_equal(starts, keys, place, joined)
        heavy = Exact.of(np.ones(len(key), np.int64)) if weight is None else weight[order]
        return cls(joined, keys[:count].copy(), heavy.scattered(place, 0, count))

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def counts(self) -> NDArray[np.int64] | None:
        """What entries weigh, where these are whole numbers of one digit."""
        return self.weight.planes[0] if len(self.weight.planes) == 1 and self.weight.base == 0 else None

    def sizes(self, words: int) -> NDArray[np.int64]:
        """How many entries each of so many words has."""
        out = np.zeros(words, np.int64)
        out[: len(self.starts) - 1] = np.diff(self.starts)
        return out

    def joined(self, other: Entries, order: NDArray[np.int32]) -> Entries:
        """The entries of both for these words, in this order; all others have none."""
        counts, more = self.counts, other.counts
        if counts is None or more is None:
            return self.with_more(other).taken(order)
        size = len(self) + len(other)
        starts, keys, new = np.zeros(len(order) + 1, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
        count = join_ordered(
            order, self.starts, self.keys, counts, other.starts, other.keys, more, starts, keys, new
        )  # fmt: skip
        return Entries(starts, trim_array(keys, count), Exact.owned(trim_array(new, count)))

    def with_more(self, other: Entries) -> Entries:
        """Both together."""
        if not len(self) or not len(other):
            return self if len(self) else other
        words = max(len(self.starts), len(other.starts)) - 1
        one, two = ((e.starts, e.keys, e.weight, np.arange(len(e.starts) - 1, dtype=np.int32)) for e in (self, other))
        return Entries(*merge_sorted(words, one, two, +1))

    def taken(self, order: NDArray[np.int32]) -> Entries:
        """The entries of these words, in this order."""
        counts = np.diff(self.starts)
        starts = np.zeros(len(order) + 1, np.int64)
        np.cumsum(counts[order], out=starts[1:])
        keys, planes = (
            np.empty(int(starts[-1]), np.int64),
            np.empty((len(self.weight.planes), int(starts[-1])), np.int64),
        )
        move_entries(self.starts, order, starts, self.keys, keys)
        for old, new in zip(self.weight.planes, planes, strict=True):
            move_entries(self.starts, order, starts, np.ascontiguousarray(old), new)
        return Entries(starts, keys, Exact(planes, self.weight.base))


@kernel("i8[]", returns=2)
def most_bits(keys: Longs) -> tuple[int, int]:
    """The binary digits of the largest group and of the largest times."""
    group = np.int64(0)
    times = np.int64(0)
    for k in range(keys.size):
        group |= keys[k] >> GROUP_AT
        times |= (keys[k] & _BELOW_GROUP) >> TIMES_AT
    a = 0
    while group >> a:
        a += 1
    b = 0
    while times >> b:
        b += 1
    return a, b


@kernel("i4[], i8[], i8, i8, u8[]")
def pack_keys(word: Ints, keys: Longs, group: int, times: int, out: Hashes) -> None:
    """Word and key as one number that sorts as they do, group and times in so many binary digits."""
    for k in range(keys.size):
        key = keys[k]
        above = (np.int64(word[k]) << group) | (key >> GROUP_AT)
        out[k] = np.uint64((above << (times + TIMES_AT)) | (key & _BELOW_GROUP))


@kernel("u8[], i8, i8, i8[], i8[], i8[]", returns=1)
def join_packed(packed: Hashes, group: int, times: int, starts: Longs, keys: Longs, counts: Longs) -> int:
    """Sorted numbers of `pack_keys` as keys, each once; returns how many there are."""
    low, shift = (np.uint64(1) << np.uint64(times + TIMES_AT)) - np.uint64(1), np.uint64(times + TIMES_AT)
    inside = (np.uint64(1) << np.uint64(group)) - np.uint64(1)
    count = 0
    last = np.uint64(0)
    for k in range(packed.size):
        x = packed[k]
        if k > 0 and x == last:
            counts[count - 1] += 1
            continue
        last = x
        above = x >> shift
        keys[count] = np.int64(((above & inside) << np.uint64(GROUP_AT)) | (x & low))
        counts[count] = 1
        count += 1
        starts[np.int64(above >> np.uint64(group)) + 1] = count
    for w in range(1, starts.size):
        starts[w] = max(starts[w], starts[w - 1])
    return count


@kernel("i8[], i4[], i8[], i8[], i8[]")
def move_entries(starts: Longs, order: Ints, new_starts: Longs, old: Longs, new: Longs) -> None:
    """What is said of the entries, word by word in this order."""
    for k in range(order.size):
        at = starts[order[k]]
        for j in range(new_starts[k], new_starts[k + 1]):
            new[j] = old[at]
            at += 1


@kernel("i4[], i8[], i8[], i8[], i8[], i8[], i8[], i8[], i8[], i8[]", returns=1)
def join_ordered(
    order: Ints, starts: Longs, keys: Longs, counts: Longs, more_starts: Longs, more_keys: Longs, more_counts: Longs,
    new_starts: Longs, new_keys: Longs, new_counts: Longs,
) -> int:  # fmt: skip
    """The entries of two sets of the same words together, the words in this order; returns how many there are."""
    at = 0
    for w in range(order.size):
        k = order[w]
        i = upto = j = until = np.int64(0)
        if k + 1 < starts.size:
            i, upto = starts[k], starts[k + 1]
        if k + 1 < more_starts.size:
            j, until = more_starts[k], more_starts[k + 1]
        while i < upto and j < until:
            x, y = keys[i], more_keys[j]
            first, second = np.int64(x <= y), np.int64(y <= x)
            new_keys[at] = min(x, y)
            new_counts[at] = counts[i] * first + more_counts[j] * second
            i += first
            j += second
            at += 1
        for n in range(i, upto):
            new_keys[at] = keys[n]
            new_counts[at] = counts[n]
            at += 1
        for n in range(j, until):
            new_keys[at] = more_keys[n]
            new_counts[at] = more_counts[n]
            at += 1
        new_starts[w + 1] = at
    return at
