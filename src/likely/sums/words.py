"""Words of a text column, per group of rows (a group is a class): an exact sum over documents, open to any word.

For each word and group it keeps the weight of the documents in which the word occurs t times, by their size. Whatever
is a function of these (occurrences, documents that have the word, damped counts) follows without another sweep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import SettingError
from likely.sums import state as files
from likely.sums.exact import Exact
from likely.sums.reading import (
    BOUND,
    DONE,
    ENTRIES,
    MOST,
    NO_ENTRIES,
    NO_LETTERS,
    NO_SCRATCH,
    NO_WORDS,
    WORDS,
    count_words,
    index_entries,
)  # fmt: skip
from likely.sums.vocabulary import Vocabulary, index_words
from likely.sums.weights import EVERY_ROW_ONE, Weights
from likely.sums.wordtally import Tally, deal_entries, sorted_tally
from likely.table.batch import Ints, Texts
from likely.table.letters import BYTES
from likely.table.tokens import Tokens, alphabet_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONGEST = 1 << 30
"""The most bytes that one text may have."""
_ANY = np.uint64(2**64 - 1)


class Words:
    """A tally of words. The empty word stands for the documents themselves: its times are how many words they have."""

    __slots__ = ("_held", "_open", "groups", "level", "tokens")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, groups: int = 0, tokens: Tokens | None = None) -> None:
        self.groups = groups
        self.tokens = tokens or Tokens()
        self.level = 0
        """Only words are held whose hash is below 2**(64 - level): the least level at which they are few enough."""
        self._held = Tally.empty()
        self._open: _Counting | None = None

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
                self._open = _Counting(self.tokens)
            row, why = self._open.take(cells, row, group, weights, self.ceiling)
            if why == BOUND:
                self._lower(self._open.hashes)
                self.held()

    def _lower(self, hashes: NDArray[np.uint64]) -> None:
        """Raise the level until no more words are below the ceiling than may be held."""
        most = self.tokens.vocabulary
        while most is not None and np.count_nonzero((hashes <= self.ceiling) & (hashes > 0)) > most:
            self.level += 1

    def held(self) -> Tally:
        """All that was taken in, at rest."""
        if self._open is not None:
            more, self._open = self._open.closed(), None
            self._held = self._at(self._held, self.level).combined(self._at(more, self.level), +1)
        if self.tokens.vocabulary is not None:
            self._lower(self._held.vocabulary.hashes)
            self._held = self._at(self._held, self.level)
        return self._held

    @staticmethod
    def _at(held: Tally, level: int) -> Tally:
        return held.with_words(held.vocabulary.hashes <= (_ANY >> np.uint64(level))) if level else held

    def _made(self, held: Tally, groups: int, level: int) -> Words:
        out = Words(groups, self.tokens)
        out._held, out.level = held, level
        out.held()
        return out

    # -- merging --------------------------------------------------------------------------------------------------

    def _combined(self, other: Words, sign: int) -> Words:
        one, two = self.held(), other.held()
        level = max(self.level, other.level)
        held = self._at(one, level).combined(self._at(two, level), sign)
        return self._made(held, max(self.groups, other.groups), level)

    def __add__(self, other: Words) -> Words:
        return self._combined(other, +1)

    def __sub__(self, other: Words) -> Words:
        return self._combined(other, -1)

    def canonical(self) -> Words:
        """The same sums, at rest. A tally at rest never changes, so it is shared."""
        return self._made(self.held(), self.groups, self.level)

    def regrouped(self, places: NDArray[np.intp], groups: int) -> Words:
        """The same sums with group i called places[i], or left out where that is negative."""
        return self._made(self.held().regrouped(places), groups, self.level)

    def __eq__(self, other: object) -> bool:
        """Equal in all that both hold: words that only one has lost are not compared."""
        if not isinstance(other, Words):
            return NotImplemented
        one, two = self.held(), other.held()
        level = max(self.level, other.level)
        same = self.groups == other.groups and self.tokens == other.tokens
        return same and self._at(one, level).equals(self._at(two, level))

    @property
    def impossible(self) -> bool:
        """Whether something weighs less than nothing: documents were taken away that were never there."""
        return bool(self.held().weight.is_negative().any())

    # -- the file -------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        held = self.held()
        own = {"groups": self.groups, "level": self.level, "tokens": files.plain(self.tokens)}
        return own | held.state()

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Words:
        out = cls(int(state["groups"]), files.built(Tokens, state["tokens"]))
        out.level = int(state["level"])
        out._held = Tally.from_state(state)
        return out


class _Counting:
    """A tally that is being counted: hash tables that grow. Word 0 is the empty one."""

    def __init__(self, tokens: Tokens) -> None:
        self.how = tokens.numbers()
        self.stop = Vocabulary.of(sorted(tokens.stop, key=str.encode))
        self._stop_index = self.stop.index if len(self.stop) else np.zeros((1, 2), np.uint64)
        self.state = np.zeros(8, np.int64)
        self.state[WORDS] = 1
        # One too many (and the empty one): only then is it known that there are too many.
        self.state[MOST] = np.iinfo(np.int64).max if tokens.vocabulary is None else tokens.vocabulary + 1
        self._scratch = np.empty(1 << 12, np.uint8)
        self._letters, self._ends = np.empty(1 << 16, np.uint8), np.zeros(1, np.int64)
        self._hashes, self._index = np.empty(0, np.uint64), np.empty((0, 2), np.uint64)
        self._times, self._touched = np.empty(0, np.int32), np.empty(0, np.int32)
        self._entry_word, self._entry_key = np.empty(0, np.int32), np.empty(0, np.int64)
        self._slots = np.empty(0, np.int32)
        self._weight = Exact.zeros(0)
        self._make_words(1 << 12)
        self._make_entries(1 << 13)

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """The hashes of the words met."""
        return self._hashes[: self.state[WORDS]]

    def take(self, cells: Texts, row: int, group: Ints, weights: Weights, ceiling: np.uint64) -> tuple[int, int]:
        """Count documents from number `row` on: the first one not taken, and why (all is done, or too many words)."""
        long = np.flatnonzero(cells.ends - cells.starts > LONGEST)
        if len(long):
            raise SettingError(f"A text has more than {LONGEST:,} bytes. Cut it into several rows.")
        letters, limit = alphabet_for(cells.data), np.array([ceiling])
        chunks = np.ascontiguousarray(np.stack(weights.chunks))
        self._weight.cover(weights.base, weights.base + len(chunks), len(cells) - row)
        while True:
            row, why = count_words(
                cells.data, cells.starts, cells.ends, row, group, chunks, BYTES, letters.small, letters.near, self.how,
                self._scratch, self.stop.letters, self.stop.ends, self._stop_index, self._letters, self._ends,
                self._hashes, self._index, self._times, self._touched, self._entry_word, self._entry_key, self._slots,
                self._weight.planes, weights.base - self._weight.base, self.state, limit,
            )  # fmt: skip
            if why in (DONE, BOUND):
                return row, why
            self._grow(why)

    def _grow(self, why: int) -> None:
        if why == NO_SCRATCH:
            self._scratch = np.empty(4 * len(self._scratch), np.uint8)
        elif why == NO_LETTERS:
            self._letters = _longer(self._letters, 2 * len(self._letters))
        elif why == NO_WORDS:
            self._make_words(2 * len(self._index))
        else:
            assert why == NO_ENTRIES
            self._make_entries(2 * len(self._slots))

    def _make_words(self, slots: int) -> None:
        """A hash table of so many slots, a power of two; small, so that it stays in the cache of the processor."""
        room = slots * 5 // 8
        self._ends, self._hashes = _longer(self._ends, room + 1), _longer(self._hashes, room)
        self._times, self._touched = _longer(self._times, room), _longer(self._touched, room)
        self._index = np.zeros((slots, 2), np.uint64)
        index_words(self._hashes, self._ends, int(self.state[WORDS]), self._index)

    def _make_entries(self, slots: int) -> None:
        room = slots * 5 // 8
        self._entry_word, self._entry_key = _longer(self._entry_word, room), _longer(self._entry_key, room)
        self._weight.resize(room)
        self._slots = np.zeros(slots, np.int32)
        index_entries(self._entry_word, self._entry_key, int(self.state[ENTRIES]), self._slots)

    def closed(self) -> Tally:
        """What was counted, at rest. Words of a document that was given up have no entry and are dropped."""
        words, entries = int(self.state[WORDS]), int(self.state[ENTRIES])
        met = Vocabulary(self._letters[: self._ends[words]], self._ends[: words + 1])
        of = self._entry_word[:entries]
        counts = np.bincount(of, minlength=words)
        order = met.order()
        order = order[counts[order] > 0]
        rank = np.empty(words, np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts[order], dtype=np.int64)])
        by_word = np.empty(entries, np.int64)
        deal_entries(rank[of], starts[:-1].copy(), by_word)
        weight = Exact(self._weight.planes[:, by_word], self._weight.base)
        return sorted_tally(met.taken(order), starts, self._entry_key[by_word], weight)


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    out = np.zeros(size, array.dtype)
    out[: len(array)] = array
    return out
