"""Counts of the levels of a nominal column, and the profile of a text column."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.machinery.arrays import Ints
from likely.machinery.jit import address
from likely.sums import kernels
from likely.sums.contracts import EVERY_ROW_ONE, State, Weights
from likely.sums.exact import Exact
from likely.sums.state import read_names, require
from likely.table.batch import Codes, Crossed
from likely.table.infer import TextProfile
from likely.table.labels import Labels
from likely.table.texts import cells
from likely.table.texts.numbers import UNITS, Described, describe_text, has_short_numbers, tally_units
from likely.table.words import draw_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Counts of the levels of a nominal column, per group of rows (a group is a class). An exact sum over rows.


class Counts:
    """How much each level weighs in each group, and how much is missing. Levels are open: a new one is a new key."""

    __slots__ = ("_places", "_tidy", "labels", "other", "table")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, groups: int = 0) -> None:
        self.labels = Labels()
        self.table = Exact.zeros(0, groups)
        self.other = Exact.zeros(1, groups)
        self._tidy = False
        self._places: tuple[Labels, NDArray[np.int32]] | None = None

    @property
    def groups(self) -> int:
        return self.other.shape[-1]

    def update(self, cells: Codes, group: Ints, weights: Weights = EVERY_ROW_ONE) -> None:
        """Take in one batch: a code and a group (negative: left out) for each row."""
        self._tidy = False
        codes = self._translated(cells.codes, cells.labels)
        self.make_room(self.groups)
        add_counts(codes, group, weights, self.table, self.other)

    def update_crossed(self, crossed: Crossed, labels: Labels, groups: Ints) -> None:
        """Take in one batch of rows of weight one that were counted by class; class i is group groups[i]."""
        self._tidy = False
        codes = self._translated(crossed.codes, labels)
        self.make_room(self.groups)
        rows = int(crossed.times.sum())
        self.table.cover(0, 1, rows)
        self.other.cover(0, 1, rows)
        table, other = self.table.planes[-self.table.base], self.other.planes[-self.other.base]
        kernels.count_crossed(crossed.times, codes, groups, table, other)

    def _translated(self, codes: Ints, theirs: Labels) -> Ints:
        """Codes into other labels as codes into our own."""
        if theirs is self.labels:
            return codes
        if not len(self.labels) and not self.table.planes.any():
            self.labels = theirs  # shared with the encoder from now on: its codes are ours
            return codes
        known = self._places
        if known is None or known[0] is not theirs or len(known[1]) != len(theirs):
            places = np.array([self.labels.code(name) for name in theirs.names], np.int32)
            self._places = known = (theirs, places)
        return np.where(codes < 0, codes, known[1][codes]) if len(theirs) else codes

    def make_room(self, groups: int) -> None:
        """Grow the tables to the levels and groups known by now."""
        levels, _ = self.table.shape
        if len(self.labels) > levels or groups > self.groups:
            self._tidy = False
            wanted = levels if len(self.labels) <= levels else max(len(self.labels), 2 * levels)
            self.table.resize(wanted, groups)
            self.other.resize(1, groups)

    def total(self) -> Exact:
        """What all cells weigh in each group, missing ones included."""
        return self.table.sum(0) + self.other.sum(0)

    def regrouped(self, places: NDArray[np.intp], groups: int) -> Counts:
        """The same counts with group i called places[i]; canonical, as levels that only dropped groups had are none."""
        out = Counts(groups)
        out.labels = self.labels.copy()
        out.table = self.table.scattered(places, 1, groups)
        out.other = self.other.scattered(places, 1, groups)
        return out.canonical()

    def keeping(self, kept: Collection[str], rest: str) -> Counts:
        """The same counts with every level that is not kept by name added to one level, `rest`."""
        self.make_room(self.groups)
        names = [name if name in kept else rest for name in self.labels.names]
        out = Counts(self.groups)
        out.labels = Labels(sorted({*names}))
        places = np.array([out.labels.index[name] for name in names], np.intp)
        out.table = self.table[: len(names)].scattered(places, 0, len(out.labels))
        out.other = self.other.canonical()
        return out.canonical()

    def _over(self, names: list[str]) -> Exact:
        """What is held of these levels, all that are held among them."""
        if names == self.labels.names:
            return self.table
        index = {name: k for k, name in enumerate(names)}
        places = np.array([index[n] for n in self.labels.names], np.intp)
        return self.table.scattered(places, 0, len(names))

    def _combined(self, other: Counts, sign: int) -> Counts:
        a, b = (own if own._is_tidy else own.canonical() for own in (self, other))
        same = a.labels.names == b.labels.names
        names = a.labels.names if same else sorted({*a.labels.names, *b.labels.names})
        mine, theirs = a._over(names), b._over(names)
        out = Counts(self.groups)
        out.labels = Labels(names)
        out.table = mine + theirs if sign > 0 else mine - theirs
        out.other = a.other + b.other if sign > 0 else a.other - b.other
        out._tidy = not out.table.is_zero().all(axis=1).any()
        return out if out._tidy else out.canonical()

    @property
    def _is_tidy(self) -> bool:
        """Canonical, and no new levels met since by an encoder that shares our labels."""
        return self._tidy and len(self.labels) == self.table.shape[0]

    def __add__(self, other: Counts) -> Counts:
        return self._combined(other, +1)

    def __sub__(self, other: Counts) -> Counts:
        return self._combined(other, -1)

    def canonical(self) -> Counts:
        """Levels in order of their names; levels without weight dropped."""
        self.make_room(self.groups)  # an encoder that shares our labels may have met new ones since
        out = Counts(self.groups)
        if self._tidy:
            out.labels, out.table, out.other = self.labels.copy(), self.table.canonical(), self.other.canonical()
            out._tidy = True
            return out
        out._tidy = True
        used = self.table[: len(self.labels)]
        some = {
            n
            for n, empty in zip(self.labels.names, np.atleast_1d(used.is_zero().all(axis=1)), strict=True)
            if not empty
        }
        names = sorted(some)
        order = np.array([self.labels.index[n] for n in names], np.intp)
        out.labels = Labels(names)
        out.table = used[order].canonical()
        out.other = self.other.canonical()
        return out

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        a, b = self.canonical(), other.canonical()
        return a.labels.names == b.labels.names and a.table == b.table and a.other == b.other

    @property
    def impossible(self) -> bool:
        """Whether something weighs less than nothing: rows were taken away that were never there."""
        return bool(self.table.is_negative().any() or self.other.is_negative().any())

    def state(self) -> State:
        own = self.canonical()
        return {"labels": own.labels.names, "table": own.table.state(), "other": own.other.state()}

    @classmethod
    def from_state(cls, state: State) -> Counts:
        out = cls()
        out.labels = Labels(read_names(state["labels"], "levels"))
        out.other = Exact.from_state(state["other"], weights=True)
        require(len(out.other.shape) == 2 and out.other.shape[0] == 1, "missing cells are one row of counts")
        out.table = Exact.from_state(state["table"], (len(out.labels), out.groups), weights=True)
        in_order = all(a < b for a, b in pairwise(out.labels.names))
        out._tidy = in_order and not out.table.is_zero().all(axis=1).any()
        return out


def add_counts(codes: Ints, group: Ints, weights: Weights, table: Exact, other: Exact) -> None:
    """Count coded cells into `table` (and negative codes into `other`), one pass for each digit of the weights."""
    for exact in (table, other):
        exact.cover(weights.base, weights.base + len(weights.chunks), len(codes))
    for k, chunk in enumerate(weights.chunks, weights.base):
        kernels.count(codes, group, chunk, table.planes[k - table.base], other.planes[k - other.base])


# A profile of a text column: how many cells have which form, and how many are distinct. A sum, so free of row
# order.

KEEP = 1 << 14
"""Distinct cells counted exactly; more are estimated to about one per cent."""
_EXAMPLES = 3


class Profile:
    """What the cells of one text column look like."""

    __slots__ = ("_ceiling", "_kept", "_keys", "_known", "examples", "forms", "short", "units", "words")

    def __init__(self) -> None:
        self.forms = np.zeros(6, np.int64)
        self.words = 0
        self.short = False
        """Whether a whole number has no more digits than a double holds."""
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
        update_profiles([self], [seen])

    def _take_forms(self, seen: Described) -> None:
        self.forms += seen.totals[:6]
        self.words += int(seen.totals[6])
        self.short = self.short or has_short_numbers(seen)
        if seen.totals[cells.WORDS]:
            strange = np.flatnonzero(seen.forms == cells.WORDS)
            if len(self.examples) == _EXAMPLES:
                strange = strange[seen.hashes[strange] < np.uint64(max(self.examples))]
            found, first = np.unique(seen.hashes[strange], return_index=True)
            some = zip(found[:_EXAMPLES].tolist(), strange[first].tolist(), strict=False)
            self._add_examples({h: seen.text(k) for h, k in some})
            if not self.units[-1]:
                self._add_units(tally_units(seen))

    def _add_units(self, more: NDArray[np.int64]) -> None:
        both = self.units + more
        self.units = np.where(np.arange(len(both)) == len(UNITS), 1, 0) if both[-1] else both

    def _add_examples(self, more: dict[int, str]) -> None:
        both = {**self.examples, **more}
        self.examples = {h: both[h] for h in sorted(both)[:_EXAMPLES]}

    def _add_hashes(self, hashes: NDArray[np.uint64]) -> None:
        _keep_small([self], [hashes])

    def _words(self, hashes: NDArray[np.uint64], done: int) -> list[int]:
        """What `cells.keep_small` is told."""
        kept = self._kept
        places = address(kept, np.uint64), len(kept), int(self._keys[0]), self._known, 3 * len(kept) // 4
        return [address(hashes, np.uint64), len(hashes), done, int(self._ceiling), *places]

    def _make_space(self) -> None:
        some = self._kept[self._kept != 0]
        if len(self._kept) < 2 * KEEP:
            self._kept = np.zeros(min(4 * len(self._kept), 2 * KEEP), np.uint64)
        else:
            some = np.partition(some, KEEP)
            self._ceiling = some[KEEP]
            some = some[:KEEP]
            self._kept = np.zeros(len(self._kept), np.uint64)
        self._known = 0
        self._add_hashes(some)

    def _smallest(self) -> NDArray[np.uint64]:
        return np.sort(self._kept[self._kept != 0])

    def __add__(self, other: Profile) -> Profile:
        out = Profile()
        out.forms = self.forms + other.forms
        out.words, out.short = self.words + other.words, self.short or other.short
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
            "short": self.short,
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
        out.short = bool(state.get("short", True))
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
        large = bool(whole) and whole == rows and not self.short
        return TextProfile(rows, missing, whole, decimal, code, date, words, distinct, per_cell, examples, units, large)


def update_profiles(profiles: Sequence[Profile], seen: Sequence[Described]) -> None:
    """Take in cells of many columns that were described elsewhere."""
    for profile, own in zip(profiles, seen, strict=True):
        profile._take_forms(own)
    _keep_small(profiles, [own.hashes for own in seen])


def _keep_small(profiles: Sequence[Profile], hashes: Sequence[NDArray[np.uint64]]) -> None:
    """Add the hashes of cells to what is kept of each column, in one call but for those that need more space."""
    if not profiles:
        return
    table = np.array([own._words(h, 0) for own, h in zip(profiles, hashes, strict=True)], np.uint64)
    while cells.keep_small(table):
        for k in np.flatnonzero(table[:, cells.DONE] < table[:, cells.ROWS]).tolist():
            profiles[k]._make_space()
            table[k] = profiles[k]._words(hashes[k], int(table[k, cells.DONE]))
    for profile, known in zip(profiles, table[:, cells.KNOWN].tolist(), strict=True):
        profile._known = known
