"""Entries of a tally by the numbers of their words: sorted, each once. Knows keys and weights, no letters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Ints, Longs
from likely.machinery.jit import kernel
from likely.machinery.pages import take_pages
from likely.sums.exact import Exact
from likely.sums.words.tally import merge_sorted, trim_array
from likely.sums.words.tally_kernels import join_equal

if TYPE_CHECKING:
    from numpy.typing import NDArray


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

    def without_gaps(self, words: NDArray[np.int32]) -> tuple[Entries, NDArray[np.int32]]:
        """The same entries without words that have none, and which of these words are left."""
        some = self.starts[1:] > self.starts[:-1]
        if not len(some):
            return self, words[:0]
        return Entries(np.append(self.starts[:-1][some], self.starts[-1]), self.keys, self.weight), words[some]

    def joined(self, other: Entries, order: NDArray[np.int32]) -> Entries:
        """The entries of both for these words, in this order; all others have none."""
        counts, more = self.counts, other.counts
        if counts is None or more is None:
            return self.with_more(other).taken(order)
        size = len(self) + len(other)
        starts, keys, new = np.zeros(len(order) + 1, np.int64), take_pages(size, np.int64), take_pages(size, np.int64)
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
