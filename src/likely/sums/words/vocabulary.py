"""A vocabulary: different words in the order of their bytes, one after the other in one array. Knows no counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.machinery.arrays import Bytes, Hashes, Ints, Longs, Whole, take_pages
from likely.machinery.jit import inner, kernel
from likely.sums.state import require
from likely.sums.words.reading import LONG_AT, NUMBER_AT, Table
from likely.sums.words.tally_kernels import radix_sort
from likely.table.words import SHORT, draw_keys, first_slot, hash_word, tag_word

if TYPE_CHECKING:
    from numpy.typing import NDArray

RANK_BITS = 6
_SHARED = 63


def _ranks() -> NDArray[np.uint8]:
    out = np.full(256, _SHARED, np.uint8)
    for rank, letter in enumerate(b" 0123456789_abcdefghijklmnopqrstuvwxyz", 1):
        out[letter] = rank
    return out


RANKS = _ranks()
"""The place of each byte among those that words mostly have, in six bits. Beyond ASCII all have the last one."""
MOST_LETTERS = 1 << 30
"""A short file can say of each word that it begins as the one before: more letters than this are not believed."""


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Word k is letters[ends[k]:ends[k+1]], in UTF-8."""

    letters: NDArray[np.uint8]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, words: Iterable[str]) -> Vocabulary:
        """From words that are in order already."""
        parts = [word.encode() for word in words]
        ends = np.cumsum([0, *(len(part) for part in parts)]).astype(np.int64)
        return cls(np.frombuffer(b"".join(parts), np.uint8), ends)

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __getitem__(self, k: int) -> str:
        return self.letters[self.ends[k] : self.ends[k + 1]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        return (self[k] for k in range(len(self)))

    def equals(self, other: Vocabulary) -> bool:
        return np.array_equal(self.ends, other.ends) and np.array_equal(self.letters, other.letters)

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """The hash of each word; the empty word, which stands for documents, has 0."""
        out = np.empty(len(self), np.uint64)
        hash_words(self.letters, self.ends, out)
        return out

    @cached_property
    def tables(self) -> Table:
        """As compiled loops take it: letters, ends, and a hash table of the words (of one slot where there is none)
        with its secret keys. Both go together wherever the words go, to another process, too."""
        keys, index = draw_keys(), np.zeros((1, 2), np.uint64)
        if len(self):
            index = take_pages((_room(len(self)), 2), np.uint64, scattered=True)
            index_words(self.letters, self.ends, len(self), keys, index)
        return self.letters, self.ends, keys, index

    def find(self, word: str) -> int:
        """The number of a word, -1 where it is not there."""
        wanted, low, high = word.encode(), 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self.letters[self.ends[middle] : self.ends[middle + 1]].tobytes() < wanted:
                low = middle + 1
            else:
                high = middle
        here = low < len(self) and self.letters[self.ends[low] : self.ends[low + 1]].tobytes() == wanted
        return low if here else -1

    def order(self) -> NDArray[np.int32]:
        """The words' numbers in the order of their bytes (for letters that are not in order yet)."""
        count, own = len(self), len(self).bit_length()
        packed = np.empty(count, np.uint64)
        pack_beginnings(self.letters, self.ends, RANKS, own, packed)
        packed, _ = radix_sort(packed, 64, own)
        out = (packed & np.uint64((1 << own) - 1)).astype(np.int32)
        packed >>= np.uint64(own)
        sort_ties(self.letters, self.ends, packed, out, np.empty(count, np.int32))
        return out

    def taken(self, which: NDArray[Any]) -> Vocabulary:
        """Some of the words, in that order; letters are not copied where the words stand one after the other."""
        if len(which) and (np.diff(which) == 1).all():
            ends = self.ends[which[0] : which[-1] + 2]
            return Vocabulary(self.letters[ends[0] : ends[-1]], ends - ends[0])
        sizes = np.diff(self.ends)[which]
        ends = np.zeros(len(which) + 1, np.int64)
        np.cumsum(sizes, out=ends[1:])
        letters = np.empty(int(ends[-1]), np.uint8)
        gather(self.letters, self.ends, which.astype(np.int32), ends, letters)
        return Vocabulary(letters, ends)

    def merged(self, other: Vocabulary) -> tuple[Vocabulary, NDArray[np.int32], NDArray[np.int32]]:
        """All words of both, and where the words of each have gone."""
        mine, theirs = np.empty(len(self), np.int32), np.empty(len(other), np.int32)
        count = merge_words(self.letters, self.ends, other.letters, other.ends, mine, theirs)
        sizes = np.empty(count, np.int64)
        sizes[mine], sizes[theirs] = np.diff(self.ends), np.diff(other.ends)
        ends = np.zeros(count + 1, np.int64)
        np.cumsum(sizes, out=ends[1:])
        letters = np.empty(int(ends[-1]), np.uint8)
        scatter(self.letters, self.ends, mine, ends, letters)
        scatter(other.letters, other.ends, theirs, ends, letters)
        return Vocabulary(letters, ends), mine, theirs

    # -- the file: each word as how many bytes it shares with the one before, how many it adds, and these ----------

    def packed(self) -> NDArray[np.uint8]:
        out = np.empty(len(self.letters) + 20 * len(self), np.uint8)
        return out[: pack_words(self.letters, self.ends, out)].copy()

    @classmethod
    def unpacked(cls, data: NDArray[np.uint8], count: int) -> Vocabulary:
        """What `packed` wrote; a ValueError where it cannot have."""
        ends = np.zeros(count + 1, np.int64)
        size = unpack_sizes(data, ends)
        require(0 <= size <= MOST_LETTERS, "the words are sound")
        letters = np.empty(size, np.uint8)
        unpack_words(data, ends, letters)
        letters.tobytes().decode()  # a UnicodeDecodeError is a ValueError
        begins = letters[ends[:-1][np.diff(ends) > 0]]
        require(((begins & 0xC0) != 0x80).all(), "no word begins within a character")
        require(first_unsorted(letters, ends) < 0, "words differ and are in the order of their bytes")
        return cls(letters, ends)


def _room(count: int) -> int:
    """Slots of a hash table for so many things: a power of two, at most half full."""
    return 1 << max(2 * count, 8).bit_length()


@kernel("u1[], i8[], u8[]")
def hash_words(letters: Bytes, ends: Longs, out: Hashes) -> None:
    """The hash of each word, which is the same everywhere and decides which words are held; 0 for the empty one."""
    for k in range(out.size):
        out[k] = hash_word(letters, ends[k], ends[k + 1])


@kernel("u1[], i8[], i8, u8[], u8[][]")
def index_words(letters: Bytes, ends: Longs, known: int, keys: Hashes, index: Hashes) -> None:
    """Fill an empty index by the tags of the first `known` words. The empty word, with tag 0, is not looked up."""
    mask = np.uint64(index.shape[0] - 1)
    for k in range(known):
        tag = tag_word(letters, ends[k], ends[k + 1], keys)
        if tag == 0:
            continue
        slot = first_slot(tag, keys, mask)
        while index[slot, 0] != 0:
            slot = (slot + np.uint64(1)) & mask
        index[slot, 0] = tag
        long = np.uint64(ends[k + 1] - ends[k] > SHORT)
        index[slot, 1] = (np.uint64(k) << NUMBER_AT) | (long << LONG_AT)


@inner
def before(one: Bytes, a: int, b: int, two: Bytes, c: int, d: int) -> int:
    """-1, 0 or 1 as one[a:b] comes before, is, or comes after two[c:d]."""
    shorter = min(b - a, d - c)
    for k in range(shorter):
        if one[a + k] != two[c + k]:
            return -1 if one[a + k] < two[c + k] else 1
    return 0 if b - a == d - c else (-1 if b - a < d - c else 1)


@kernel("u1[], i8[]", returns=1)
def first_unsorted(letters: Bytes, ends: Longs) -> int:
    """The first word that does not come after the one before it; -1 where there is none."""
    for k in range(1, ends.size - 1):
        if before(letters, ends[k - 1], ends[k], letters, ends[k], ends[k + 1]) >= 0:
            return k
    return -1


@kernel("u1[], i8[], u1[], i8, u8[]")
def pack_beginnings(letters: Bytes, ends: Longs, ranks: Bytes, own: int, out: Hashes) -> None:
    """The first letters of each word by their ranks, as many as there is room for, and below its number in `own` bits.

    Sorted, they are in the order of words as far as they tell these apart: behind a letter that shares its rank with
    others nothing is said.
    """
    room = (64 - own) // RANK_BITS
    for k in range(out.size):
        value = np.uint64(0)
        start, size = ends[k], ends[k + 1] - ends[k]
        told = np.int64(1)
        for j in range(room):
            value <<= np.uint64(RANK_BITS)
            if told and j < size:
                rank = ranks[letters[start + j]]
                value |= np.uint64(rank)
                told = np.int64(rank != _SHARED)
        out[k] = (value << np.uint64(64 - room * RANK_BITS)) | np.uint64(k)


@kernel("u1[], i8[], u8[], i4[], i4[]")
def sort_ties(letters: Bytes, ends: Longs, first: Hashes, order: Ints, room: Ints) -> None:
    """Sort each run of words that share their beginnings in `first`, by merging."""
    lo = 0
    while lo < order.size:
        hi = lo + 1
        while hi < order.size and first[hi] == first[lo]:
            hi += 1
        width = 1
        while width < hi - lo:
            for left in range(lo, hi, 2 * width):
                middle, right = min(left + width, hi), min(left + 2 * width, hi)
                a, b = left, middle
                for k in range(left, right):
                    x = order[a] if a < middle else 0
                    y = order[b] if b < right else 0
                    first_one = b >= right or (
                        a < middle and before(letters, ends[x], ends[x + 1], letters, ends[y], ends[y + 1]) <= 0
                    )
                    room[k] = x if first_one else y
                    if first_one:
                        a += 1
                    else:
                        b += 1
            for k in range(lo, hi):
                order[k] = room[k]
            width *= 2
        lo = hi


@kernel("u1[], i8[], i4[], i8[], u1[]")
def gather(letters: Bytes, ends: Longs, which: Ints, new_ends: Longs, out: Bytes) -> None:
    """Copy the words `which`, one after the other."""
    for k in range(which.size):
        start = ends[which[k]]
        for j in range(new_ends[k + 1] - new_ends[k]):
            out[new_ends[k] + j] = letters[start + j]


@kernel("u1[], i8[], i4[], i8[], u1[]")
def scatter(letters: Bytes, ends: Longs, places: Ints, new_ends: Longs, out: Bytes) -> None:
    """Copy word k to place places[k]."""
    for k in range(places.size):
        to = new_ends[places[k]]
        for j in range(ends[k + 1] - ends[k]):
            out[to + j] = letters[ends[k] + j]


@kernel("u1[], i8[], u1[], i8[], i4[], i4[]", returns=1)
def merge_words(one: Bytes, one_ends: Longs, two: Bytes, two_ends: Longs, mine: Ints, theirs: Ints) -> int:
    """The places of the words of both in one order; returns how many different ones there are."""
    a = 0
    b = 0
    count = 0
    while a < mine.size or b < theirs.size:
        if a == mine.size:
            sign = 1
        elif b == theirs.size:
            sign = -1
        else:
            sign = before(one, one_ends[a], one_ends[a + 1], two, two_ends[b], two_ends[b + 1])
        if sign <= 0:
            mine[a] = count
            a += 1
        if sign >= 0:
            theirs[b] = count
            b += 1
        count += 1
    return count


@inner
def write_varint(value: Whole, out: Bytes, at: int) -> int:
    """A whole number in groups of seven bits, the lowest first; returns where it ends."""
    while value >= 128:
        out[at] = (value & 127) | 128
        value >>= 7
        at += 1
    out[at] = value
    return at + 1


@inner
def read_varint(data: Bytes, at: int) -> tuple[Whole, Whole]:
    """The number that `write_varint` wrote at `at` (-1 where the data ends in it), and where it ends."""
    value = np.int64(0)
    shift = 0
    while at < data.size and shift < 63:
        b = np.int64(data[at])
        at += 1
        value |= (b & 127) << shift
        if b < 128:
            return value, at
        shift += 7
    return np.int64(-1), at


@kernel("u1[], i8[], u1[]", returns=1)
def pack_words(letters: Bytes, ends: Longs, out: Bytes) -> int:
    """Front coding; returns how many bytes were write_varint."""
    at = 0
    for k in range(ends.size - 1):
        start, size = ends[k], ends[k + 1] - ends[k]
        shared = 0
        if k > 0:
            last = ends[k - 1]
            while shared < min(size, start - last) and letters[last + shared] == letters[start + shared]:
                shared += 1
        at = write_varint(shared, out, at)
        at = write_varint(size - shared, out, at)
        for j in range(shared, size):
            out[at] = letters[start + j]
            at += 1
    return at


@kernel("u1[], i8[]", returns=1)
def unpack_sizes(data: Bytes, ends: Longs) -> int:
    """Where each word will end; returns the length of all of them, -1 where the data cannot be words."""
    at = 0
    last = np.int64(0)
    for k in range(ends.size - 1):
        shared, at = read_varint(data, at)
        more, at = read_varint(data, at)
        if shared < 0 or more < 0 or shared > last or more > data.size - at:
            return -1
        at += more
        last = shared + more
        ends[k + 1] = ends[k] + last
    return ends[ends.size - 1] if at == data.size else -1


@kernel("u1[], i8[], u1[]")
def unpack_words(data: Bytes, ends: Longs, out: Bytes) -> None:
    """The letters, once `unpack_sizes` has found the data sound."""
    at = 0
    for k in range(ends.size - 1):
        shared, at = read_varint(data, at)
        more, at = read_varint(data, at)
        for j in range(shared):
            out[ends[k] + j] = out[ends[k - 1] + j]
        for j in range(more):
            out[ends[k] + shared + j] = data[at + j]
        at += more
