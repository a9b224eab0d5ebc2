"""Texts that a column has more than once, found in one sweep with bounded memory.

A text is known by a 64-bit hash of its words, so that case, blanks and punctuation make no difference. Up to a bound
all hashes are kept; beyond it only those below a threshold, which depends on the set of texts and not on their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.machinery.jit import kernel
from likely.table.batch import Ints, Texts
from likely.table.words.letters import BREAK, BYTES, DOTTED, LONGER
from likely.table.words.tokens import BASIS, alphabet_for, encoded, finished, folded, lowered

if TYPE_CHECKING:
    from numpy.typing import NDArray

BOUND = 1 << 20
"""Different texts that are kept at most."""
_ANY = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class Copies:
    """How many texts occur more than once."""

    texts: int
    """Texts that were compared; where there are too many, a sample of all texts by their hashes."""
    copied: int
    """Those that have at least one copy."""
    across: int
    """Those of them that have a copy in another fold: it was learned from when the text was predicted."""
    disputed: int
    """Those of them that have a copy of another class."""
    sampled: bool = False


class Copied:
    """Hashes of texts with how many rows have each, and the least and greatest fold and class of these."""

    def __init__(self, bound: int = BOUND) -> None:
        self._bound, self._level = bound, 0
        self._hashes = np.empty(0, np.uint64)
        self._about = np.empty((5, 0), np.int64)  # rows; least and greatest fold; least and greatest class
        self._waiting: list[tuple[NDArray[np.uint64], NDArray[np.int64]]] = []
        self._more = 0

    def take(self, cells: Texts, fold: Ints, group: Ints) -> None:
        """Take in some rows: a text, a fold, and a class (negative: the row is left out)."""
        self.take_hashes(text_hashes(cells), fold, group)

    def take_hashes(self, hashes: NDArray[np.uint64], fold: Ints, group: Ints) -> None:
        """The same for anything that has a hash other than 0."""
        kept = np.flatnonzero((hashes > 0) & (group >= 0) & (hashes <= _ANY >> np.uint64(self._level)))
        folds, classes = fold[kept].astype(np.int64), group[kept].astype(np.int64)
        about = np.stack([np.ones(len(kept), np.int64), folds, folds, classes, classes])
        self._put(hashes[kept], about)
        if self._more > self._bound:
            self._settle()

    def _put(self, hashes: NDArray[np.uint64], about: NDArray[np.int64]) -> None:
        self._waiting.append((hashes, about))
        self._more += len(hashes)

    def _settle(self) -> None:
        """Each hash once, and no more of them than may be kept."""
        hashes = np.concatenate([self._hashes, *(h for h, _ in self._waiting)])
        about = np.concatenate([self._about, *(a for _, a in self._waiting)], axis=1)
        self._waiting, self._more = [], 0
        order = np.argsort(hashes, kind="stable")
        hashes, about = hashes[order], about[:, order]
        first = np.flatnonzero(np.concatenate([[True], hashes[1:] != hashes[:-1]])) if len(hashes) else order
        self._hashes = hashes[first]
        merged = np.empty((5, len(first)), np.int64)
        if len(first):
            for k, join in enumerate((np.add, np.minimum, np.maximum, np.minimum, np.maximum)):
                merged[k] = join.reduceat(about[k], first)
        self._about = merged
        while np.searchsorted(self._hashes, _ANY >> np.uint64(self._level), side="right") > self._bound:
            self._level += 1
        upto = int(np.searchsorted(self._hashes, _ANY >> np.uint64(self._level), side="right"))
        self._hashes, self._about = self._hashes[:upto], self._about[:, :upto]

    def __add__(self, other: Copied) -> Copied:
        out = Copied(min(self._bound, other._bound))
        for one in (self, other):
            one._settle()
            out._level = max(out._level, one._level)
            out._put(one._hashes, one._about)
        out._settle()
        return out

    def read(self) -> Copies:
        """What was found."""
        self._settle()
        rows, fold_low, fold_high, class_low, class_high = self._about
        more = rows > 1
        across, disputed = more & (fold_low < fold_high), more & (class_low < class_high)
        counts = [int(rows[which].sum()) for which in (more, across, disputed)]
        return Copies(int(rows.sum()), counts[0], counts[1], counts[2], self._level > 0)


def text_hashes(cells: Texts) -> NDArray[np.uint64]:
    """The hash of each text's words with one blank between them; 0 where it has none.

    It is what a word of these letters would have (tests/evaluate/test_copies.py).
    """
    letters, out = alphabet_for(cells), np.empty(len(cells), np.uint64)
    room = np.empty(4, np.uint8)
    hash_texts(cells.data, cells.starts, cells.ends, BYTES, letters.small, letters.near, room, out)
    return out


@kernel("u1[], i8[], i8[], u1[], i4[], u1[], u1[], u8[]")
def hash_texts(data: Any, starts: Any, ends: Any, bytes_: Any, small: Any, near: Any, letters: Any, out: Any) -> None:
    """out[i] = the hash of the words of text i, joined by blanks; `letters` has room for one."""
    for i in range(out.size):
        h, block, size = BASIS, np.uint64(0), np.int64(0)
        k, end = starts[i], ends[i]
        begun: Any = False  # whether a blank is due before the next letter
        while k < end:
            c = bytes_[data[k]]
            width = 1
            count = 0
            after: Any = False
            if c == LONGER:
                point, width = lowered(data, starts[i], k, end, small, near)
                if point != BREAK:
                    count = encoded(np.int64(105) if point == DOTTED else point, letters, 0)
                    after = point == DOTTED
            elif c > LONGER:
                letters[0] = c
                count = 1
            k += width
            if count == 0:
                begun = size > 0
                continue
            for j in range(-1 if begun else 0, count):
                if size & 7 == 0 and size > 0:
                    h = folded(h, block)
                    block = np.uint64(0)
                block |= np.uint64(letters[j] if j >= 0 else 32) << np.uint64(8 * (size & 7))
                size += 1
            begun = after
        out[i] = finished(h, block, np.uint64(size)) if size > 0 else np.uint64(0)
