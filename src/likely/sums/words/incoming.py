"""Entries as documents bring them: a number each, document by document, until they are sorted and joined.

Knows words by their numbers, and keys; no letters. An entry is a slot of the index as it stands when its document
ends: number << 33 | is it long << 32 | times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Hashes, Ints, Longs
from likely.machinery.jit import kernel
from likely.machinery.pages import take_pages
from likely.sums.exact import Exact
from likely.sums.weights import Weights
from likely.sums.words.entries import Entries
from likely.sums.words.reading import GROUP_AT, NUMBER_AT, TIMES, TIMES_AT
from likely.sums.words.tally import sort_packed

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
        return Entries(starts, keys, Exact.owned(counts))

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
