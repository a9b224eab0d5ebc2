"""A profile of a text column: how many cells have which form, and how many are distinct. A sum, so free of row order.

Distinct cells are counted through the smallest hashes: exactly while there are few, by estimate beyond.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likely.sums.contracts import State
from likely.table.infer import TextProfile
from likely.table.texts import cells
from likely.table.texts.numbers import Described, describe_text
from likely.table.texts.units import UNITS, tally_units
from likely.table.words.tokens import draw_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

KEEP = 1 << 14
"""Distinct cells counted exactly; more are estimated to about one per cent."""
_EXAMPLES = 3


class Profile:
    """What the cells of one text column look like."""

    __slots__ = ("_ceiling", "_kept", "_keys", "_known", "examples", "forms", "units", "words")

    def __init__(self) -> None:
        self.forms = np.zeros(6, np.int64)
        self.words = 0
        self.units = np.zeros(len(UNITS) + 1, np.int64)
        """How many words are numbers with which unit; once any word is none, only that: last a 1, the others 0."""
        self.examples: dict[int, str] = {}
        self._ceiling = np.uint64(2**64 - 1)
        self._kept: NDArray[np.uint64] = np.zeros(64, np.uint64)
        self._known, self._keys = 0, draw_keys()

    def update(self, array: Any, missing: NDArray[np.uint64], times: NDArray[np.int64] | None = None) -> None:
        """Take in one Arrow array of text; `times` says how often each cell is there, where that is not once."""
        self.take(describe_text(array, missing, times))

    def take(self, seen: Described) -> None:
        """Take in cells that were described elsewhere."""
        self.forms += seen.totals[:6]
        self.words += int(seen.totals[6])
        if seen.totals[cells.WORDS]:
            strange = np.flatnonzero(seen.forms == cells.WORDS)
            if len(self.examples) == _EXAMPLES:
                strange = strange[seen.hashes[strange] < np.uint64(max(self.examples))]
            found, first = np.unique(seen.hashes[strange], return_index=True)
            some = zip(found[:_EXAMPLES].tolist(), strange[first].tolist(), strict=False)
            self._add_examples({h: seen.text(k) for h, k in some})
            if not self.units[-1]:
                self._add_units(tally_units(seen))
        self._add_hashes(seen.hashes)

    def _add_units(self, more: NDArray[np.int64]) -> None:
        both = self.units + more
        self.units = np.where(np.arange(len(both)) == len(UNITS), 1, 0) if both[-1] else both

    def _add_examples(self, more: dict[int, str]) -> None:
        both = {**self.examples, **more}
        self.examples = {h: both[h] for h in sorted(both)[:_EXAMPLES]}

    def _add_hashes(self, hashes: NDArray[np.uint64]) -> None:
        done = 0
        while done < len(hashes):
            limit = 3 * len(self._kept) // 4
            done, self._known = cells.keep_small(
                hashes, self._ceiling, self._kept, self._keys, self._known, limit, done
            )
            if done < len(hashes):
                self._make_space()

    def _make_space(self) -> None:
        some = self._kept[self._kept != 0]
        if len(self._kept) < 2 * KEEP:
            self._kept = np.zeros(min(4 * len(self._kept), 2 * KEEP), np.uint64)
        else:
            some = np.partition(some, KEEP)
            self._ceiling = some[KEEP]
            some = some[:KEEP]
            self._kept = np.zeros(len(self._kept), np.uint64)
        _, self._known = cells.keep_small(some, np.uint64(2**64 - 1), self._kept, self._keys, 0, len(self._kept), 0)

    def _smallest(self) -> NDArray[np.uint64]:
        return np.sort(self._kept[self._kept != 0])

    def __add__(self, other: Profile) -> Profile:
        out = Profile()
        out.forms = self.forms + other.forms
        out.words = self.words + other.words
        out._add_units(self.units + other.units)
        out._add_examples({**self.examples, **other.examples})
        out._ceiling = min(self._ceiling, other._ceiling)
        for part in (self, other):
            out._add_hashes(part._smallest())
        return out

    def state(self) -> State:
        some = self._smallest()
        return {
            "forms": self.forms,
            "words": self.words,
            "units": self.units,
            "examples": [self.examples[h] for h in sorted(self.examples)],
            "example_hashes": np.array(sorted(self.examples), np.uint64),
            "hashes": some[:KEEP],
            "more": bool(len(some) > KEEP or self._ceiling != np.uint64(2**64 - 1)),
        }

    @classmethod
    def from_state(cls, state: State) -> Profile:
        out = cls()
        out.forms, out.words = np.asarray(state["forms"], np.int64), int(state["words"])
        out.units = np.asarray(state["units"], np.int64)
        out.examples = dict(zip(state["example_hashes"].tolist(), state["examples"], strict=True))
        out._add_hashes(state["hashes"])
        if state["more"]:
            out._ceiling = state["hashes"][-1] + np.uint64(1)
        return out

    def distinct(self) -> int:
        """How many different cells there are, missing ones apart."""
        some = self._smallest()
        if len(some) <= KEEP and self._ceiling == np.uint64(2**64 - 1):
            return len(some)
        return round((KEEP - 1) * 2.0**64 / float(some[KEEP - 1]))

    def read(self) -> TextProfile:
        """What the rules of inference look at."""
        missing, whole, decimal, code, date, words = (int(n) for n in self.forms)
        rows = whole + decimal + code + date + words
        examples = tuple(self.examples[h] for h in sorted(self.examples))
        per_cell = self.words / rows if rows else 0.0
        distinct = min(self.distinct(), rows)  # the estimate may err upwards
        # A unit counts where every cell has one: among plain numbers, 5 % may mean 5 or 0.05.
        named = [unit for unit, count in zip(UNITS, self.units[:-1].tolist(), strict=True) if count]
        units = tuple(named) if rows and int(self.units[:-1].sum()) == rows else ()
        return TextProfile(rows, missing, whole, decimal, code, date, words, distinct, per_cell, examples, units)
