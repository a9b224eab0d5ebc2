"""A tally of words at rest: sorted, without gaps, never changed. Merging and regrouping give new ones, exactly.

An entry says how much the documents of a group weigh in which a word occurs so many times, by the documents' size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from likely.machinery.arrays import Bytes, Floats, Ints, Longs
from likely.machinery.jit import inner, kernel
from likely.sums.checks import read_bytes, read_whole, require
from likely.sums.contracts import State
from likely.sums.exact import Exact
from likely.sums.words.reading import GROUP_AT, SIZES, TIMES_AT
from likely.sums.words.vocabulary import Vocabulary, read_varint, write_varint

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BELOW_GROUP = (1 << GROUP_AT) - 1
_TABLED = 1 << 12
"""Times whose values are looked up in a table."""
MOST_GROUPS = 1 << 27
"""Classes that a key has room for."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Entries starts[w] … starts[w+1] are those of word w. The empty word, if any, stands for the documents themselves.

    A key holds group, times and size, in this order of weight; keys of a word increase.
    """

    vocabulary: Vocabulary
    starts: NDArray[np.int64]
    keys: NDArray[np.int64]
    weight: Exact

    @classmethod
    def empty(cls) -> Tally:
        return cls(Vocabulary.of([]), np.zeros(1, np.int64), np.empty(0, np.int64), Exact.zeros(0))

    # -- what an entry says -----------------------------------------------------------------------------------

    @cached_property
    def word(self) -> NDArray[np.int32]:
        """The number of each entry's word."""
        return np.repeat(np.arange(len(self.vocabulary), dtype=np.int32), np.diff(self.starts))

    @property
    def group(self) -> NDArray[np.int64]:
        return self.keys >> GROUP_AT

    @property
    def times(self) -> NDArray[np.int64]:
        """How often the word occurs in these documents (the empty word: how many words they have)."""
        return (self.keys & _BELOW_GROUP) >> TIMES_AT

    @property
    def size(self) -> NDArray[np.int64]:
        """The size of these documents: how many binary digits the number of their words has.

        Of the empty word where there are no words: 1, or 0 where the document is missing.
        """
        return self.keys & SIZES

    def collected(self, damped: Callable[[Floats], Floats], by_size: Floats, groups: int) -> Floats:
        """The sum of damped(times) * by_size[size] * weight over the entries of each word and group, (words, groups).

        Where there are no times, which is so of documents alone, there is taken to be one.
        """
        out = np.zeros((len(self.vocabulary), groups))
        weight = self.weight.canonical()
        top = most_times(self.keys) + 1
        by_times = damped(np.maximum(np.arange(min(top, _TABLED), dtype=np.float64), 1.0))
        # More times than the table has are rare, and looked up one after the other.
        rare = damped(self.times[self.times >= _TABLED].astype(np.float64)) if top > _TABLED else np.empty(0)
        if len(weight.planes) == 1 and weight.base == 0:  # counts, which need not become floats first
            collect_counts(self.starts, self.keys, weight.planes[0], by_times, rare, by_size, out)
        else:
            collect(self.starts, self.keys, weight.floats(), by_times, rare, by_size, out)
        return out

    @property
    def first_word(self) -> int:
        """The first entry that is of a word: before it are those of the documents themselves."""
        return int(self.starts[1]) if len(self.vocabulary) and not self.vocabulary.ends[1] else 0

    def documents(self, groups: int) -> Exact:
        """What the documents of each group weigh."""
        own = slice(0, self.first_word)
        return self.weight[own].scattered(self.group[own].astype(np.intp), 0, groups)

    def check_groups(self, groups: int) -> None:
        """Refuse, as unsound, entries of other groups, and words in more documents than there are."""
        require(not len(self.keys) or int(self.group.max()) < groups, "words are counted in the classes")
        words = slice(self.first_word, None)
        word, group, weight = self.word[words], self.group[words], self.weight[words]
        new = np.ones(len(word), np.bool_)
        new[1:] = (word[1:] != word[:-1]) | (group[1:] != group[:-1])
        held = weight.scattered((np.cumsum(new) - 1).astype(np.intp), 0, int(new.sum()))
        spare = self.documents(groups)[group[new]] - held
        require(not spare.is_negative().any(), "no word is in more documents than there are")

    # -- new tallies ------------------------------------------------------------------------------------------

    def equals(self, other: Tally) -> bool:
        same = self.vocabulary.equals(other.vocabulary) and np.array_equal(self.starts, other.starts)
        return same and np.array_equal(self.keys, other.keys) and self.weight == other.weight

    def combined(self, other: Tally, sign: int) -> Tally:
        """Both together, or this one without the other."""
        if sign > 0 and not len(other.keys):
            return self
        if sign > 0 and not len(self.keys):
            return other
        vocabulary, mine, theirs = self.vocabulary.merged(other.vocabulary)
        one, two = (self.starts, self.keys, self.weight, mine), (other.starts, other.keys, other.weight, theirs)
        return Tally(vocabulary, *merge_sorted(len(vocabulary), one, two, sign)).without_zeros()

    def without_zeros(self) -> Tally:
        """Without entries that weigh nothing, and without words that have no entry left."""
        zero = self.weight.is_zero()
        return self.with_entries(~zero) if zero.any() else self

    def with_entries(self, which: NDArray[np.bool_]) -> Tally:
        """Some of the entries, and the words that they speak of."""
        if which.all():
            return self
        counts = np.bincount(self.word[which], minlength=len(self.vocabulary))
        some = np.flatnonzero(counts)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts[some], dtype=np.int64)])
        kept = np.flatnonzero(which)
        return Tally(self.vocabulary.taken(some), starts, self.keys[kept], self.weight[kept].canonical())

    def with_words(self, which: NDArray[np.bool_]) -> Tally:
        """Some of the words with their entries."""
        return self if which.all() else self.with_entries(which[self.word])

    def regrouped(self, places: NDArray[np.intp]) -> Tally:
        """With group i called places[i], or left out where that is negative."""
        into = places[self.group] if len(self.keys) else np.empty(0, np.intp)
        own = self.with_entries(into >= 0)
        keys = into[into >= 0].astype(np.int64) << GROUP_AT | (own.keys & _BELOW_GROUP)
        if (np.diff(places[places >= 0]) > 0).all():  # the entries stay in order, and different
            return Tally(own.vocabulary, own.starts, keys, own.weight)
        return sorted_tally(own.vocabulary, own.starts, keys, own.weight)

    # -- the file ---------------------------------------------------------------------------------------------

    def state(self) -> State:
        weight = self.weight.canonical()
        plain = len(weight.planes) == 1 and weight.base == 0 and (not weight.planes.size or weight.planes.min() >= 0)
        counts = weight.planes[0] if plain else np.empty(0, np.int64)
        out = np.empty(10 * len(self.vocabulary) + 30 * len(self.keys), np.uint8)
        size = pack_entries(self.starts, self.keys, counts, out)
        return {
            "words": len(self.vocabulary),
            "letters": self.vocabulary.packed(),
            "entries": out[:size].copy(),
            "weight": None if plain else weight.state(),
        }

    @classmethod
    def from_state(cls, state: State) -> Tally:
        letters = read_bytes(state["letters"], "words")
        vocabulary = Vocabulary.unpacked(letters, read_whole(state["words"], 0, len(letters), "the number of words"))
        data, plain = read_bytes(state["entries"], "entries"), state["weight"] is None
        starts = np.zeros(len(vocabulary) + 1, np.int64)
        keys, counts = np.empty(len(data), np.int64), np.empty(len(data) if plain else 0, np.int64)
        count = unpack_entries(data, starts, keys, counts)
        require(count >= 0, "the entries of words are sound")
        weight = (
            Exact(counts[None, :count].copy()) if plain else Exact.from_state(state["weight"], (count,), weights=True)
        )
        require(not weight.is_zero().any() and not weight.is_negative().any(), "every entry of a word weighs something")
        out = cls(vocabulary, starts, keys[:count].copy(), weight)
        require((np.diff(starts) > 0).all(), "every word has entries")
        require((out.times[out.first_word :] > 0).all(), "words occur in the documents that they count")
        return out


Sorted: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64], Exact, NDArray[np.int32]]"
"""Entries by their words: where those of each word begin, keys, weights, and what number each word is given."""


def merge_sorted(words: int, one: Sorted, two: Sorted, sign: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Exact]:
    """The entries of both, or of one without the other: where those of each word begin, keys, weights."""
    (starts, keys, weight, mine), (other_starts, other_keys, other_weight, theirs) = one, two
    size = len(keys) + len(other_keys)
    to, new_keys = np.zeros(words + 1, np.int64), np.empty(size, np.int64)
    if sign > 0 and all(len(w.planes) == 1 and w.base == 0 for w in (weight, other_weight)):  # counts
        counts = np.empty(size, np.int64)
        count = merge_counts(
            starts, keys, weight.planes[0], mine, other_starts, other_keys, other_weight.planes[0], theirs, to,
            new_keys, counts,
        )  # fmt: skip
        return to, trim_array(new_keys, count), Exact.owned(trim_array(counts, count))
    into, other_into = np.empty(len(keys), np.int64), np.empty(len(other_keys), np.int64)
    count = merge_entries(starts, keys, mine, other_starts, other_keys, theirs, into, other_into, to, new_keys)
    moved, other_moved = weight.scattered(into, 0, count), other_weight.scattered(other_into, 0, count)
    return to, trim_array(new_keys, count), moved + other_moved if sign > 0 else moved - other_moved


def trim_array(array: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """The beginning of an array; a copy of it where much memory would be held for nothing."""
    return array[:size] if size > len(array) - len(array) // 8 else array[:size].copy()


def sorted_tally(vocabulary: Vocabulary, starts: NDArray[np.int64], keys: NDArray[np.int64], weight: Exact) -> Tally:
    """A tally of entries that belong to their words but are in any order; equal ones become one."""
    order = np.arange(len(keys))
    sort_entries(starts, keys, order, np.empty_like(keys), np.empty_like(order))
    place, new_starts = np.empty(len(keys), np.int64), np.zeros(len(starts), np.int64)
    count = join_equal(starts, keys, place, new_starts)
    moved = Exact(weight.planes[:, order], weight.base)
    total = moved.canonical() if count == len(keys) else moved.scattered(place, 0, count)
    return Tally(vocabulary, new_starts, keys[:count].copy(), total).without_zeros()


@kernel("i8[]", returns=1)
def most_times(keys: Longs) -> int:
    """The largest times of any key."""
    out = np.int64(0)
    for k in range(keys.size):
        out = max(out, (keys[k] & _BELOW_GROUP) >> TIMES_AT)
    return out


@inner
def _value(key: np.int64, by_times: Floats, rare: Floats, met: int, by_size: Floats) -> tuple[np.float64, int]:
    """What an entry counts, and how many with rare times were met up to it."""
    times = np.uint64((key & _BELOW_GROUP) >> TIMES_AT)
    if times < np.uint64(by_times.size):
        return by_times[times] * by_size[np.uint64(key & SIZES)], met
    return rare[met] * by_size[np.uint64(key & SIZES)], met + 1


@kernel("i8[], i8[], i8[], f8[], f8[], f8[], f8[][]")
def collect_counts(
    starts: Longs, keys: Longs, counts: Longs, by_times: Floats, rare: Floats, by_size: Floats, out: Floats
) -> None:
    """Add the value of each entry, times its count, to its word and group, entries one after the other."""
    met = 0
    for w in range(np.uint64(out.shape[0])):
        for k in range(np.uint64(starts[w]), np.uint64(starts[w + np.uint64(1)])):
            value, met = _value(keys[k], by_times, rare, met, by_size)
            out[w, np.uint64(keys[k] >> GROUP_AT)] += value * np.float64(counts[k])


@kernel("i8[], i8[], f8[], f8[], f8[], f8[], f8[][]")
def collect(
    starts: Longs, keys: Longs, weight: Floats, by_times: Floats, rare: Floats, by_size: Floats, out: Floats
) -> None:
    """Add the value of each entry, times its weight, to its word and group, entries one after the other."""
    met = 0
    for w in range(out.shape[0]):
        for k in range(starts[w], starts[w + 1]):
            value, met = _value(keys[k], by_times, rare, met, by_size)
            out[w, keys[k] >> GROUP_AT] += value * weight[k]


@kernel("i8[], i8[], i8[], i4[], i8[], i8[], i8[], i4[], i8[], i8[], i8[]", returns=1)
def merge_counts(
    starts: Longs, keys: Longs, counts: Longs, mine: Ints, other_starts: Longs, other_keys: Longs,
    other_counts: Longs, theirs: Ints, new_starts: Longs, new_keys: Longs, new_counts: Longs,
) -> int:  # fmt: skip
    """The entries of two tallies in one order, where weights are whole numbers of one digit each."""
    a = 0
    b = 0
    count = 0
    for w in range(new_starts.size - 1):
        i = upto = j = until = np.int64(0)
        if a < mine.size and mine[a] == w:
            i, upto = starts[a], starts[a + 1]
            a += 1
        if b < theirs.size and theirs[b] == w:
            j, until = other_starts[b], other_starts[b + 1]
            b += 1
        while i < upto and j < until:
            x, y = keys[i], other_keys[j]
            first, second = np.int64(x <= y), np.int64(y <= x)
            new_keys[count] = min(x, y)
            new_counts[count] = counts[i] * first + other_counts[j] * second
            i += first
            j += second
            count += 1
        for k in range(i, upto):
            new_keys[count] = keys[k]
            new_counts[count] = counts[k]
            count += 1
        for k in range(j, until):
            new_keys[count] = other_keys[k]
            new_counts[count] = other_counts[k]
            count += 1
        new_starts[w + 1] = count
    return count


@kernel("i8[], i8[], i4[], i8[], i8[], i4[], i8[], i8[], i8[], i8[]", returns=1)
def merge_entries(
    starts: Longs, keys: Longs, mine: Ints, other_starts: Longs, other_keys: Longs, theirs: Ints, one: Longs,
    two: Longs, new_starts: Longs, new_keys: Longs,
) -> int:  # fmt: skip
    """The entries of two tallies in one order: where each goes, and how many there are."""
    a = 0
    b = 0
    count = 0
    for w in range(new_starts.size - 1):
        i = upto = j = until = 0
        if a < mine.size and mine[a] == w:
            i, upto = starts[a], starts[a + 1]
            a += 1
        if b < theirs.size and theirs[b] == w:
            j, until = other_starts[b], other_starts[b + 1]
            b += 1
        while i < upto or j < until:
            first = j >= until or (i < upto and keys[i] <= other_keys[j])
            second = i >= upto or (j < until and other_keys[j] <= keys[i])
            new_keys[count] = keys[i] if first else other_keys[j]
            if first:
                one[i] = count
                i += 1
            if second:
                two[j] = count
                j += 1
            count += 1
        new_starts[w + 1] = count
    return count


@inner
def _risen(keys: Longs, k: int, hi: int) -> int:
    """Where the keys from k on first fall."""
    while k + 1 < hi and keys[k] <= keys[k + 1]:
        k += 1
    return min(k + 1, hi)


@kernel("i8[], i8[], i8[], i8[], i8[]")
def sort_entries(starts: Longs, keys: Longs, order: Longs, room: Longs, order_room: Longs) -> None:
    """Sort the keys of each word, and `order` with them, by merging stretches that rise: mostly there are few."""
    for w in range(starts.size - 1):
        lo, hi = starts[w], starts[w + 1]
        while _risen(keys, lo, hi) < hi:
            left = lo
            while left < hi:
                middle = _risen(keys, left, hi)
                right = _risen(keys, middle, hi)
                a, b = left, middle
                for k in range(left, right):
                    if b >= right or (a < middle and keys[a] <= keys[b]):
                        room[k] = keys[a]
                        order_room[k] = order[a]
                        a += 1
                    else:
                        room[k] = keys[b]
                        order_room[k] = order[b]
                        b += 1
                left = right
            for k in range(lo, hi):
                keys[k] = room[k]
                order[k] = order_room[k]


@kernel("i8[], i8[], i8[], i8[]", returns=1)
def join_equal(starts: Longs, keys: Longs, place: Longs, new_starts: Longs) -> int:
    """Each key of a word once, in place; where each entry goes, and how many there are."""
    count = 0
    for w in range(starts.size - 1):
        first = count
        for k in range(starts[w], starts[w + 1]):
            if count == first or keys[count - 1] != keys[k]:
                keys[count] = keys[k]
                count += 1
            place[k] = count - 1
        new_starts[w + 1] = count
    return count


@kernel("i8[], i8[], i8[], u1[]", returns=1)
def pack_entries(starts: Longs, keys: Longs, counts: Longs, out: Bytes) -> int:
    """For each word how many entries it has; for each entry the step to its group, the rest of its key, its weight."""
    at = 0
    for w in range(starts.size - 1):
        at = write_varint(starts[w + 1] - starts[w], out, at)
        last = np.int64(0)
        for k in range(starts[w], starts[w + 1]):
            group = keys[k] >> GROUP_AT
            at = write_varint(group - last, out, at)
            at = write_varint(keys[k] & _BELOW_GROUP, out, at)
            last = group
            if counts.size:
                at = write_varint(counts[k], out, at)
    return at


@kernel("u1[], i8[], i8[], i8[]", returns=1)
def unpack_entries(data: Bytes, starts: Longs, keys: Longs, counts: Longs) -> int:
    """What `pack_entries` wrote; -1 where it cannot have."""
    at = 0
    count = 0
    for w in range(starts.size - 1):
        entries, at = read_varint(data, at)
        if entries < 0 or entries > data.size - at:
            return -1
        group = np.int64(0)
        for _ in range(entries):
            step, at = read_varint(data, at)
            rest, at = read_varint(data, at)
            if step < 0 or rest < 0 or rest > _BELOW_GROUP or step >= MOST_GROUPS or group + step >= MOST_GROUPS:
                return -1
            group += step
            keys[count] = (group << GROUP_AT) | rest
            if count > starts[w] and keys[count] <= keys[count - 1]:
                return -1
            if counts.size:
                counts[count], at = read_varint(data, at)
                if counts[count] < 0:
                    return -1
            count += 1
        starts[w + 1] = count
    return count if at == data.size else -1
