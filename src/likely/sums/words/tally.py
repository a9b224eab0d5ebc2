"""A tally of words at rest: sorted, without gaps, never changed. Merging and regrouping give new ones, exactly.

An entry says how much the documents of a group weigh in which a word occurs so many times, by the documents' size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from likely.machinery.arrays import Bytes, Floats, Longs, take_pages
from likely.machinery.jit import kernel
from likely.sums.contracts import State
from likely.sums.exact import Exact
from likely.sums.state import read_bytes, read_whole, require
from likely.sums.words.reading import GROUP_AT, SIZES, TIMES_AT
from likely.sums.words.tally_kernels import (
    collect,
    collect_counts,
    join_equal,
    join_packed,
    merge_counts,
    merge_entries,
    most_times,
    move_groups,
    pack_keys,
    radix_sort,
    rename_groups,
    sort_entries,
)
from likely.sums.words.vocabulary import Vocabulary, read_varint, write_varint

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BELOW_GROUP = (1 << GROUP_AT) - 1
_TABLED = 1 << 12
"""Times whose values are looked up in a table."""
_FEW_GROUPS = 256
"""Groups that are moved word by word; of more, the entries are sorted."""
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
        out = take_pages((len(self.vocabulary), groups), np.float64, scattered=True)
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

    def having(self, groups: int) -> Floats:
        """What the documents of each group weigh that have each word, (words, groups)."""
        return self.collected(np.ones_like, np.ones(SIZES + 1), groups)

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
        if zero.any():
            return self.with_entries(~zero)
        some = self.starts[1:] > self.starts[:-1]
        if some.all():
            return self
        starts = np.append(self.starts[:-1][some], self.starts[-1])
        return Tally(self.vocabulary.taken(np.flatnonzero(some)), starts, self.keys, self.weight)

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
        different = len(np.unique(places)) == len(places) <= _FEW_GROUPS
        if different and (places >= 0).all():  # so are the entries
            return self._renamed(places.astype(np.int64))
        if (found := self._sorted_anew(places.astype(np.int64))) is not None:
            return found
        into = places[self.group] if len(self.keys) else np.empty(0, np.intp)
        own = self.with_entries(into >= 0)
        keys = into[into >= 0].astype(np.int64) << GROUP_AT | (own.keys & _BELOW_GROUP)
        if (np.diff(places[places >= 0]) > 0).all():  # the entries stay in order, and different
            return Tally(own.vocabulary, own.starts, keys, own.weight)
        return sorted_tally(own.vocabulary, own.starts, keys, own.weight)

    def _sorted_anew(self, places: NDArray[np.int64]) -> Tally | None:
        """With group i called places[i], or left out: where each entry is of one document, and short enough to sort."""
        weight = self.weight.canonical()
        if not len(self.keys) or len(weight.planes) > 1 or weight.base or (weight.planes != 1).any():
            return None
        words, times = len(self.vocabulary), int(most_times(self.keys)).bit_length()
        group = int(places.max()).bit_length() if places.max() > 0 else 0
        if words.bit_length() + group + times + TIMES_AT > 64:
            return None
        packed = np.empty(len(self.keys), np.uint64)
        count = pack_keys(self.starts, self.keys, places, group, times, packed)
        starts, keys, counts = sort_packed(packed[:count], words, group, times)
        return Tally(self.vocabulary, starts, keys, Exact.settled(counts[None])).without_zeros()

    def _renamed(self, places: NDArray[np.int64]) -> Tally:
        """With group i called places[i], where no two are called the same."""
        if (np.diff(places) > 0).all():
            if not len(places) or places[-1] == len(places) - 1:
                return self
            keys = np.empty(len(self.keys), np.int64)
            rename_groups(self.keys, places, keys)
            return Tally(self.vocabulary, self.starts, keys, self.weight)
        keys, planes = np.empty(len(self.keys), np.int64), np.empty_like(self.weight.planes)
        groups = int(places.max()) + 1
        from_, upto = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
        for old, new in zip(self.weight.planes, planes, strict=True):
            move_groups(self.starts, self.keys, np.ascontiguousarray(old), places, from_, upto, keys, new)
        return Tally(self.vocabulary, self.starts, keys, Exact(planes, self.weight.base).canonical())

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


def sort_packed(
    packed: NDArray[np.uint64], words: int, group: int, times: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Entries of so many words, packed by `pack_keys`, sorted: where those of each word begin, keys, and how often each
    was there. What is packed is used up."""
    starts = np.zeros(words + 1, np.int64)
    packed, spare = radix_sort(packed, words.bit_length() + group + times + TIMES_AT)
    keys, counts = packed.view(np.int64), spare.view(np.int64)  # no entry is written before it was read
    count = join_packed(packed, group, times, starts, keys, counts)
    return starts, keys[:count].copy(), counts[:count].copy()


Sorted: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64], Exact, NDArray[np.int32]]"
"""Entries by their words: where those of each word begin, keys, weights, and what number each word is given."""


def merge_sorted(words: int, one: Sorted, two: Sorted, sign: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Exact]:
    """The entries of both, or of one without the other: where those of each word begin, keys, weights."""
    (starts, keys, weight, mine), (other_starts, other_keys, other_weight, theirs) = one, two
    size = len(keys) + len(other_keys)
    to, new_keys = np.zeros(words + 1, np.int64), take_pages(size, np.int64)
    if all(len(w.planes) == 1 and w.base == 0 for w in (weight, other_weight)):  # counts
        counts = take_pages(size, np.int64)
        count = merge_counts(
            starts, keys, weight.planes[0], mine, other_starts, other_keys, other_weight.planes[0], theirs, sign, to,
            new_keys, counts,
        )  # fmt: skip
        return to, trim_array(new_keys, count), Exact.settled(trim_array(counts, count)[None])
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
