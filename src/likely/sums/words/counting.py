"""A tally of words while it is counted: a vocabulary that grows, and entries as they come, sorted when there are many.

Knows documents in and a `Tally` out. Sorting many entries at once is several times as fast as looking each one up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import SettingError
from likely.machinery.arrays import Ints
from likely.machinery.pages import take_pages
from likely.sums.weights import Weights
from likely.sums.words.entries import Entries
from likely.sums.words.incoming import Incoming
from likely.sums.words.reading import (
    BOUND,
    DOCUMENTS,
    DONE,
    ENTRIES,
    MOST,
    NO_ENTRIES,
    NO_LETTERS,
    NO_SCRATCH,
    NO_WORDS,
    OFTEN,
    STATE,
    TOUCHED,
    WORDS,
    count_words,
)  # fmt: skip
from likely.sums.words.tally import Tally
from likely.sums.words.vocabulary import Vocabulary, index_words
from likely.table.batch import Texts
from likely.table.words.letters import BYTES
from likely.table.words.lowering import MARGIN
from likely.table.words.tokens import Tokens, alphabet_for, draw_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
