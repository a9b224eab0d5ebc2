"""Words of a text column, per group of rows (a group is a class): an exact sum over documents, open to any word.

For each word and group it keeps the weight of the documents in which the word occurs t times, by their size. Whatever
is a function of these (occurrences, documents that have the word, damped counts) follows without another sweep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Ints
from likely.sums import state as files
from likely.sums.checks import read_whole, require
from likely.sums.contracts import State
from likely.sums.exact import Exact
from likely.sums.weights import EVERY_ROW_ONE, Weights
from likely.sums.words.counting import WordCounter
from likely.sums.words.reading import BOUND
from likely.sums.words.tally import MOST_GROUPS, Tally
from likely.table.batch import Texts
from likely.table.words.tokens import Tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
