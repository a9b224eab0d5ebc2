"""Words of a text column per group of rows: an exact sum over documents, while it is counted and at rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import SettingError
from likely.machinery.arrays import Hashes, Ints, Longs, take_pages
from likely.machinery.jit import kernel
from likely.sums import state as files
from likely.sums.contracts import EVERY_ROW_ONE, State, Weights
from likely.sums.exact import Exact
from likely.sums.state import read_whole, require
from likely.sums.words.reading import (
    BOUND,
    DOCUMENTS,
    DONE,
    ENTRIES,
    GROUP_AT,
    MOST,
    NO_ENTRIES,
    NO_LETTERS,
    NO_SCRATCH,
    NO_WORDS,
    NUMBER_AT,
    OFTEN,
    STATE,
    TIMES,
    TIMES_AT,
    TOUCHED,
    WORDS,
    count_words,
)  # fmt: skip
from likely.sums.words.tally import MOST_GROUPS, Tally, merge_sorted, sort_packed, trim_array
from likely.sums.words.tally_kernels import join_equal
from likely.sums.words.vocabulary import Vocabulary, index_words
from likely.table.batch import Texts
from likely.table.words import BYTES, MARGIN, Tokens, alphabet_for, draw_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Entries of a tally by the numbers of their words: sorted, each once. Knows keys and weights, no letters.


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
        return Entries(starts, trim_array(keys, count), Exact.settled(trim_array(new, count)[None]))

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


# Entries as documents bring them: a number each, document by document, until they are sorted and joined.

_PER_DOCUMENT = 4
"""For so many entries there is room for one document; where documents are shorter, they are sorted earlier."""
_SIZE = np.int64((1 << TIMES_AT) - 1)


class Incoming:
    """Room for so many entries. `entries[upto[d-1]:upto[d]]` are those of document d."""

    def __init__(self, size: int) -> None:
        # As large as it will be for most: memory that is not written to costs nothing, growing arrays do.
        self.entries = take_pages(size, np.uint64, scattered=True)
        self.documents = take_pages((size // _PER_DOCUMENT + 1, 3), np.int64)
        """Of each document: where its entries end, its key without times, and its row."""

    def __len__(self) -> int:
        return len(self.entries)

    def longer(self, size: int) -> Incoming:
        """The same with more room."""
        out = Incoming(size)
        out.entries[: len(self.entries)], out.documents[: len(self.documents)] = self.entries, self.documents
        return out

    def fold(self, documents: int, words: int, times: int, rank: NDArray[np.int32]) -> Entries:
        """The entries of so many documents, sorted, equal ones as one: `times` are the bits of all times.

        Each weighs one. Word w is called rank[w], or w where that is empty. What came is used up.
        """
        own = self.documents[:documents]
        raw = self.entries[: own[-1, 0]]
        group = int(own[:, 1].max() >> GROUP_AT).bit_length()
        bits = int(words).bit_length() + group + int(times).bit_length() + TIMES_AT
        if bits > 64:
            word, key = self.unpack(documents)
            return Entries.of(rank[word] if len(rank) else word, key, words, None)
        pack_entries(raw, own, rank, group, int(times).bit_length())
        starts, keys, counts = sort_packed(raw, words, group, int(times).bit_length())
        return Entries(starts, keys, Exact.settled(counts[None]))

    def fold_weighed(self, documents: int, words: int, weights: Weights) -> Entries:
        """The entries of so many documents, sorted: each weighs what the row of its document does."""
        own = self.documents[:documents]
        rows = np.repeat(own[:, 2], np.diff(own[:, 0], prepend=0))
        return Entries.of(*self.unpack(documents), words, Exact(np.stack(weights.chunks)[:, rows], weights.base))

    def unpack(self, documents: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The word and the key of each entry."""
        own = self.documents[:documents]
        raw = self.entries[: own[-1, 0]]
        rest = np.repeat(own[:, 1], np.diff(own[:, 0], prepend=0))
        return (raw >> NUMBER_AT).astype(np.int32), rest | (raw & TIMES).astype(np.int64) << TIMES_AT


@kernel("u8[], i8[][], i4[], i8, i8")
def pack_entries(entries: Hashes, documents: Longs, rank: Ints, group: int, times: int) -> None:
    """Each entry as a number that sorts by word and key, group and times in so many binary digits."""
    e = np.uint64(0)
    for d in range(documents.shape[0]):
        rest = documents[d, 1]
        own = np.uint64(((rest >> GROUP_AT) << (times + TIMES_AT)) | (rest & _SIZE))
        for k in range(e, np.uint64(documents[d, 0])):
            about = entries[k]
            word = about >> NUMBER_AT
            if rank.size:
                word = np.uint64(rank[word])
            entries[k] = (word << np.uint64(group + times + TIMES_AT)) | own | ((about & TIMES) << np.uint64(TIMES_AT))
        e = np.uint64(documents[d, 0])


# A tally of words while it is counted: a vocabulary that grows, and entries as they come, sorted when there are
# many.

LONGEST = 1 << 30
"""The most bytes that one text may have."""
PIECE = 1 << 13
"""Bytes of a text that are looked at at once: few enough to stay in the nearest cache of the processor."""
_MANY = 1 << 21
"""Entries that are kept before they are sorted and joined, unless there are already more different ones."""
_FEW_SLOTS = 1 << 16
"""Slots of an index that is made four times as large when it is full; a larger one becomes twice as large."""
_NONE: NDArray[np.int32] = np.empty(0, np.int32)
_NO_ROWS: NDArray[np.bool_] = np.empty(0, np.bool_)


class Scratch:
    """Room for one piece of a text: its small letters, the bounds of its words, two words side by side, and hashes."""

    def __init__(self, size: int = PIECE) -> None:
        self.size = size
        self.arrays = (
            np.zeros(size + MARGIN, np.uint8),
            np.zeros(size + MARGIN, np.int32),
            np.zeros(2 * (size + MARGIN), np.uint8),
            np.zeros(size // 2 + MARGIN, np.uint64),
        )


class WordCounter:
    """Word 0 is the empty one, which stands for the documents themselves."""

    def __init__(self, tokens: Tokens, room: int = _MANY) -> None:
        """With room for so many entries before they are sorted."""
        self._room = room
        self.how = tokens.numbers()
        self.stop = Vocabulary.of(sorted(tokens.stop, key=str.encode)).tables
        self.state = np.zeros(STATE, np.int64)
        self.state[WORDS] = 1
        # One too many (and the empty one): only then is it known that there are too many.
        self.state[MOST] = np.iinfo(np.int64).max if tokens.vocabulary is None else tokens.vocabulary + 1
        self._scratch = Scratch()
        self._letters, self._ends = np.empty(1 << 16, np.uint8), np.zeros(1, np.int64)
        self._keys, self._index = draw_keys(), np.empty((0, 2), np.uint64)
        self._touched = _NONE
        self._incoming, self._sorted = Incoming(room), Entries.none()
        self._make_words(1 << 12)

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """The hashes of the words met."""
        return self._words().hashes

    def _words(self) -> Vocabulary:
        """The words met, in the order in which they came."""
        words = int(self.state[WORDS])
        return Vocabulary(self._letters[: self._ends[words]], self._ends[: words + 1])

    def take(self, cells: Texts, row: int, group: Ints, weights: Weights, ceiling: np.uint64) -> tuple[int, int]:
        """Count documents from number `row` on: the first one not taken, and why (all is done, or too many words)."""
        if (cells.ends - cells.starts > LONGEST).any():
            raise SettingError(f"A text has more than {LONGEST:,} bytes. Cut it into several rows.")
        letters, limit = alphabet_for(cells), np.array([ceiling])
        left_out = _NO_ROWS if weights.plain else weights.nothing()
        if not weights.plain:
            self._sort()  # entries that weigh one are not among those with a row
        while True:
            row, why = count_words(
                cells.data, cells.starts, cells.ends, row, group, left_out, BYTES, letters.small, letters.near,
                self.how, *self._scratch.arrays, *self.stop, self._letters, self._ends, self._keys, self._index,
                self._touched, self._incoming.entries, self._incoming.documents, self.state, limit,
            )  # fmt: skip
            if not weights.plain:
                self._sort(weights)
            if why in (DONE, BOUND):
                return row, why
            self._grow(why)

    def _grow(self, why: int) -> None:
        if why == NO_SCRATCH:
            self._scratch = Scratch(4 * self._scratch.size)
        elif why == NO_LETTERS:
            self._letters = _longer(self._letters, 2 * len(self._letters))
        elif why == NO_WORDS:
            few = len(self._index) < _FEW_SLOTS  # mostly there will be many more
            self._make_words((4 if few else 2) * len(self._index))
        else:
            assert why == NO_ENTRIES
            if len(self._incoming) >= max(self._room, len(self._sorted)):
                self._sort()
            least = int(self.state[ENTRIES] + self.state[TOUCHED]) + 1
            if self.state[DOCUMENTS] or least > len(self._incoming):
                self._incoming = self._incoming.longer(max(least, 2 * len(self._incoming)))

    def _make_words(self, slots: int) -> None:
        """A hash table of so many slots, a power of two; small, so that it stays in the cache of the processor."""
        room = slots * 5 // 8
        self._ends, self._touched = _longer(self._ends, room + 1), _longer(self._touched, room + 1)
        self._index = take_pages((slots, 2), np.uint64, scattered=True)
        index_words(self._letters, self._ends, int(self.state[WORDS]), self._keys, self._index)

    def _sort(self, weights: Weights | None = None) -> None:
        """Sort the entries that have come, and add them to those that are sorted."""
        self._sorted = self._sorted.with_more(self._sort_new(weights))

    def _sort_new(self, weights: Weights | None = None, rank: NDArray[np.int32] = _NONE) -> Entries:
        """The entries that have come since this was last asked, of words by their rank, if that is given."""
        documents, words, often = (int(self.state[k]) for k in (DOCUMENTS, WORDS, OFTEN))
        self.state[ENTRIES] = self.state[DOCUMENTS] = self.state[OFTEN] = 0
        if not documents:
            return Entries.none()
        if weights is not None:
            return self._incoming.fold_weighed(documents, words, weights)
        return self._incoming.fold(documents, words, often, rank)

    def finish(self) -> Tally:
        """What was counted, at rest. Words of a document that was given up have no entry and are dropped."""
        words = int(self.state[WORDS])
        # Nothing more is counted: what only counting needs is given back before more is asked for.
        del self._index, self._touched
        met = self._words()
        order = met.order()
        if len(self._sorted):
            last = self._sort_new()
            order = order[(self._sorted.sizes(words) + last.sizes(words))[order] > 0]
            kept = self._sorted.joined(last, order)
        else:  # nothing was sorted before: entries come to the places of their words at once
            rank = np.empty(words, np.int32)
            rank[order] = np.arange(words, dtype=np.int32)
            kept, order = self._sort_new(rank=rank).without_gaps(order)
        del self._incoming
        return Tally(met.taken(order), kept.starts, kept.keys, kept.weight.canonical()).without_zeros()


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    out = np.zeros(size, array.dtype)
    out[: len(array)] = array
    return out


# Words of a text column, per group of rows (a group is a class): an exact sum over documents, open to any word.

_ANY = np.uint64(2**64 - 1)


class Words:
    """A tally of words. The empty word stands for the documents themselves: its times are how many words they have."""

    __slots__ = ("_held", "_open", "groups", "kept", "level", "tokens")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, groups: int = 0, tokens: Tokens | None = None, kept: tuple[str, ...] | None = None) -> None:
        self.groups = groups
        self.kept = kept
        """The only words that are held, where others were too rare; None: any word is."""
        self.tokens = tokens or Tokens()
        self.level = 0
        """Only words are held whose hash is below 2**(64 - level): the least level at which they are few enough."""
        self._held = Tally.empty()
        self._open: WordCounter | None = None

    @property
    def ceiling(self) -> np.uint64:
        return _ANY >> np.uint64(self.level)

    def make_room(self, groups: int) -> None:
        """Know of so many groups."""
        self.groups = max(self.groups, groups)

    def update(self, cells: Texts, group: Ints, weights: Weights = EVERY_ROW_ONE) -> None:
        """Take in one batch: a text and a group (negative: left out) for each row."""
        row = 0
        while row < len(cells):
            if self._open is None:
                self._open = WordCounter(self.tokens)
            row, why = self._open.take(cells, row, group, weights, self.ceiling)
            if why == BOUND:
                self._lower(self._open.hashes)
                self.tally()

    def _lower(self, hashes: NDArray[np.uint64]) -> None:
        """Raise the level until no more words are below the ceiling than may be held."""
        most = self.tokens.vocabulary
        while most is not None and np.count_nonzero((hashes <= self.ceiling) & (hashes > 0)) > most:
            self.level += 1

    def tally(self) -> Tally:
        """All that was taken in, at rest."""
        if self._open is not None:
            more, self._open = _only(self._open.finish(), self.kept), None
            self._held = self._at(self._held, self.level).combined(self._at(more, self.level), +1)
        if self.tokens.vocabulary is not None:
            self._lower(self._held.vocabulary.hashes)
            self._held = self._at(self._held, self.level)
        return self._held

    @staticmethod
    def _at(held: Tally, level: int) -> Tally:
        return held.with_words(held.vocabulary.hashes <= (_ANY >> np.uint64(level))) if level else held

    def _made(self, held: Tally, groups: int, level: int) -> Words:
        out = Words(groups, self.tokens, self.kept)
        out._held, out.level = held, level
        out.tally()
        return out

    def total(self) -> Exact:
        """What all documents weigh in each group, missing ones included."""
        return self.tally().documents(self.groups)

    def keeping(self, kept: tuple[str, ...]) -> Words:
        """The same sums of these words alone; what is known of the documents themselves stays."""
        out = Words(self.groups, self.tokens, kept)
        out._held, out.level = _only(self.tally(), kept), self.level
        return out

    # -- merging --------------------------------------------------------------------------------------------------

    def _combined(self, other: Words, sign: int) -> Words:
        one, two = self.tally(), other.tally()
        level = max(self.level, other.level)
        held = self._at(one, level).combined(self._at(two, level), sign)
        return self._made(held, max(self.groups, other.groups), level)

    def __add__(self, other: Words) -> Words:
        return self._combined(other, +1)

    def __sub__(self, other: Words) -> Words:
        return self._combined(other, -1)

    def canonical(self) -> Words:
        """The same sums, at rest. A tally at rest never changes, so it is shared."""
        return self._made(self.tally(), self.groups, self.level)

    def regrouped(self, places: NDArray[np.intp], groups: int) -> Words:
        """The same sums with group i called places[i], or left out where that is negative."""
        return self._made(self.tally().regrouped(places), groups, self.level)

    def __eq__(self, other: object) -> bool:
        """Equal in all that both hold: words that only one has lost are not compared."""
        if not isinstance(other, Words):
            return NotImplemented
        one, two = self.tally(), other.tally()
        level = max(self.level, other.level)
        same = self.groups == other.groups and self.tokens == other.tokens
        return same and self._at(one, level).equals(self._at(two, level))

    @property
    def impossible(self) -> bool:
        """Whether something weighs less than nothing: documents were taken away that were never there."""
        return bool(self.tally().weight.is_negative().any())

    # -- the file -------------------------------------------------------------------------------------------------

    def state(self) -> State:
        held = self.tally()
        own = {"groups": self.groups, "level": self.level, "tokens": files.plain(self.tokens)}
        return own | held.state()

    @classmethod
    def from_state(cls, state: State) -> Words:
        groups = read_whole(state["groups"], 0, MOST_GROUPS, "the number of classes")
        out = cls(groups, files.built(Tokens, state["tokens"]))
        out.level = read_whole(state["level"], 0, 63, "the level of a tally")
        out._held = held = Tally.from_state(state)
        held.check_groups(groups)
        require((held.vocabulary.hashes <= out.ceiling).all(), "words have hashes below the ceiling")
        most = out.tokens.vocabulary
        require(most is None or np.count_nonzero(held.vocabulary.hashes) <= most, "words are no more than may be held")
        return out


def _only(held: Tally, kept: tuple[str, ...] | None) -> Tally:
    """The tally of these words alone, and of the empty word, which stands for documents."""
    if kept is None:
        return held
    wanted = {"", *kept}
    return held.with_words(np.array([word in wanted for word in held.vocabulary], np.bool_))
