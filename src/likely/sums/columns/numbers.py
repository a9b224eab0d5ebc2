"""What is remembered of a numeric column, per group of rows; and columns in other or fewer words."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from likely.machinery.arrays import Floats, Ints
from likely.machinery.jit import address
from likely.sums import kernels, tallies
from likely.sums.columns.counts import Counts, add_counts
from likely.sums.contracts import EVERY_ROW_ONE, State, Weights
from likely.sums.exact import Exact
from likely.sums.powers import ROOM, Powers
from likely.sums.state import is_rising, read_array, read_whole, require
from likely.sums.words.counting import Words
from likely.table.labels import Labels, number_label
from likely.table.schema import OTHER
from likely.table.words import draw_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray


# What is remembered of a numeric column, per group of rows: exact sums of x and x*x, and a bounded tally of values.

CAP = 2048
MOST_CAP = 1 << 24
"""A file that says more than this is not believed."""
_FEW = 16
"""Groups of which the table is grown in larger steps: it takes little memory."""

Keys: TypeAlias = "NDArray[np.uint64]"
R = TypeVar("R")


class Numbers:
    """Exact moments and a tally of values. `level` is the number of mantissa bits the tally has dropped."""

    __slots__ = ("_cache", "_index", "_keys", "_known", "_powers", "_secret", "_tidy", "cap", "level", "other", "table")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, groups: int = 0, cap: int = CAP) -> None:
        self.cap = cap
        self.level = 0
        self.table = Exact.zeros(0, groups)
        self.other = Exact.zeros(3, groups)  # missing, minus infinity, plus infinity
        self._keys: Keys = np.empty(0, np.uint64)
        self._known = 0
        self._index: NDArray[np.int32] | None = None
        self._tidy = False
        self._cache: dict[Hashable, Any] = {}
        self._powers = Powers(groups)  # kept from level 1 on; before that the tally knows them

    @property
    def groups(self) -> int:
        return self.other.shape[-1]

    def make_room(self, groups: int) -> None:
        if groups > self.groups:
            self._tidy, self._cache = False, {}
            self.table.resize(self.table.shape[0], groups)
            self.other.resize(3, groups)
            self._powers.resize(groups)

    # -- taking in ------------------------------------------------------------------------------------------

    def update(self, cells: Floats, group: Ints, weights: Weights = EVERY_ROW_ONE) -> None:
        """Take in one batch: a number (NaN: missing) and a group (negative: left out) for each row."""
        update_numbers([self], [cells], group, weights)

    def _open(self, x: Floats, group: Ints) -> None:
        """Make ready for these cells."""
        if self._index is None:
            first = x[:64].tolist()
            # Where most of the first cells differ, others will too: the index need not grow, each time from anew.
            many = 2 * len({value for value in first if value == value}) > len(first)
            if many and len(x) > self.cap and not self._known and not self.level:
                least, most = kernels.exponents(x)
                self.level = tallies.bits_to_drop_of_many(x, group, least, most, self.cap) if least <= most else 0
                if self.level:  # it need not be coarsened once it is full
                    self._powers.widen(least, most)
            least = tallies.index_size(min(len(x), self.cap)) if many else 256 if len(x) >= 64 else 16
            self._keys, self._secret = self._keys.copy(), draw_keys()
            self._index = tallies.index_keys(self._keys, self._known, self._secret, least)
        self._tidy, self._cache = False, {}

    def _limit(self) -> int:
        """How many values there is room for, which is made where keys and counts fall short of the index."""
        assert self._index is not None
        limit = min(self.cap, len(self._index) // 2)
        if len(self._keys) < limit:
            self._keys = np.concatenate([self._keys, np.zeros(limit - len(self._keys), np.uint64)])
            self.table.resize(limit, self.groups)
        return limit

    def _update_weighed(self, x: Floats, group: Ints, weights: Weights) -> None:
        """Take in rows that do not all weigh one."""
        codes = np.empty(len(x), np.int32)
        done = 0
        while done < len(x):
            limit = self._limit()
            stop, self._known = tallies.value_codes(
                x, group, done, self.level, self._keys, self._known, limit, self._secret, self._index, codes
            )
            part = slice(done, stop)
            add_counts(codes[part], group[part], weights.take(part), self.table, self.other)
            if self.level:
                self._powers.add(x[part], group[part], weights.take(part))
            if stop < len(x):
                self._make_space(limit, x, group, stop)
            done = stop

    def _reserve(self, rows: int) -> None:
        """Room in all sums for so many rows of weight one."""
        self.table.cover(0, 1, rows)
        self.other.cover(0, 1, rows)
        if self.level:
            self._powers.reserve(rows)

    def _words(self, x: int, done: int) -> list[int]:
        """What `tallies.take_columns` is told, of cells that begin at an address. Addresses are asked for each time: a
        copy, or what is read in another process, has its arrays elsewhere."""
        limit, index, (bins, least) = self._limit(), self._index, self._powers.bins
        table, other = self.table.planes[-self.table.base], self.other.planes[-self.other.base]
        assert index is not None
        if not (len(self._keys) >= limit <= len(table) and table.shape[1] == other.shape[1] == bins.shape[1]):
            raise ValueError("the parts of a tally are of one size")
        return [
            x, done, self._known, 0, self.level, limit, address(self._secret, np.uint64),
            address(self._keys, np.uint64), address(index, np.int32), len(index),
            address(table, np.int64), address(other, np.int64), address(bins, np.int64), len(bins), least,
        ]  # fmt: skip

    def _extend(self, wants: int, x: Floats, group: Ints, at: int) -> None:
        """Make room for x[at], and for what comes after it."""
        if wants == tallies.WIDER_BINS:
            self._powers.widen(*kernels.exponents(x[at:]))
            return
        self._make_space(self._limit(), x, group, at)
        self._reserve(len(x) - at)

    def _make_space(self, limit: int, x: Floats, group: Ints, at: int) -> None:
        """Make room for one more value, x[at]: a larger index, or, at the cap, as few bits less as it takes.

        Values that come next have to be held as well, so a look ahead saves going through this for a few at a time.
        """
        assert self._index is not None
        if limit < self.cap:
            least = (16 if self.groups <= _FEW else 4) * len(self._index)
            self._index = tallies.index_keys(self._keys, self._known, self._secret, least)
            return
        if self.level == 0:
            keys, counts = self._keys[: self._known], self.table.counts()
            powers = None if counts is None else Powers.of_tally(keys, np.ascontiguousarray(counts[: self._known]))
            self._powers = powers or Powers.of(*self.sums())
        bits = tallies.bits_to_drop_ahead(self._keys, self._known, x, group, at, self.level, self.cap)
        self._keys, self._known, self.table, self._index = tallies.coarsen_tally(
            self._keys, self._known, self.table, bits, self._secret
        )
        self.level += bits

    def _set_tally(self, keys: Keys, table: Exact) -> None:
        self._keys, self.table, self._known, self._index = keys, table, len(keys), None
        self._cache = {}

    # -- reading out ----------------------------------------------------------------------------------------

    def tally(self) -> tuple[Floats, Exact]:
        """The values in order (low bits dropped if `level` says so) and what each weighs in each group."""
        own = self if self._tidy else self.canonical()
        return own.values(), own.table[own._order()]

    def values(self) -> Floats:
        """The values in order (low bits dropped if `level` says so)."""
        own = self if self._tidy else self.canonical()
        return (own._keys << np.uint64(own.level)).view(np.float64)[own._order()]

    def _order(self) -> NDArray[np.intp]:
        """The places of the values in order: keys rise, so those below zero, whose sign is the highest bit, fall."""
        negative = int(np.searchsorted(self._keys, np.uint64(1 << 63 >> self.level)))
        return np.concatenate([np.arange(len(self._keys) - 1, negative - 1, -1), np.arange(negative)])

    def value_weights(self) -> Floats:
        """What each of the values weighs."""
        return self.tally()[1].sum(1).floats()

    def sums(self) -> tuple[Exact, Exact]:
        """Sum of x and sum of x*x in each group, over the finite values."""
        if self.level:
            return self._powers.sums()
        if self.table.counts() is not None:
            return _tallied_sums([self])[1:]
        keys, groups = self._keys[: self._known], self.groups
        planes, base = self.table[: self._known].chunks()
        values = np.repeat(keys.view(np.float64), groups)
        group = np.tile(np.arange(groups, dtype=np.int32), len(keys))

        def powers(digits: list[NDArray[np.int64]], base: int) -> tuple[Exact, Exact]:
            own = Powers(groups)
            own.add(values, group, Weights(tuple(np.ascontiguousarray(d).reshape(-1) for d in digits), base))
            return own.sums()

        debt = np.minimum(planes[-1], 0)  # below zero only where more was taken away than was there
        first, second = powers([*planes[:-1], planes[-1] - debt], base)
        if debt.any():
            less, lesser = powers([-debt], base + len(planes) - 1)
            first, second = first - less, second - lesser
        return first, second

    def weight(self) -> Exact:
        """What the finite values weigh in each group."""
        return self.table.sum(0)

    def total(self) -> Exact:
        """What all cells weigh in each group, missing and infinite ones included."""
        return self.weight() + self.other.sum(0)

    def moments(self) -> list[tuple[Fraction, Fraction, Fraction]]:
        """For each group: weight, sum of x, sum of x*x, as exact fractions."""
        one, each = self.whole_moments()
        return [(Fraction(n, one), Fraction(first, one), Fraction(second, one)) for n, first, second in each]

    def whole_moments(self) -> tuple[int, list[tuple[int, int, int]]]:
        """A whole number `one`, and the moments of each group as whole numbers of 1 / one."""
        return self.cached("whole moments", lambda own: _whole_rows(own.weight(), *own.sums()))

    def cached(self, key: Hashable, work: Callable[[Numbers], R]) -> R:
        """work(self), done once for these sums and their copies, where they are canonical: several learners want the
        same of them. Nobody may change what it gives."""
        if not self._tidy:
            return work(self)
        held = self._cache
        if key not in held:
            held[key] = work(self)
        return held[key]  # type: ignore[no-any-return]

    # -- merging --------------------------------------------------------------------------------------------

    def _copy(self) -> Numbers:
        """Another one of the same content; whatever is added to either later, the other does not see."""
        out = Numbers.__new__(Numbers)  # everything is set here
        out.cap, out.level, out._tidy = self.cap, self.level, self._tidy
        out._set_tally(self._keys, self.table.canonical())
        out.other = self.other.canonical()
        out._powers = Powers.of(*(s.canonical() for s in self._powers.sums())) if self.level else Powers(self.groups)
        if self._tidy:
            out._cache = self._cache
        return out

    def canonical(self) -> Numbers:
        """Keys in order; values without weight dropped."""
        if self._tidy:
            return self._copy()
        out = Numbers(self.groups, self.cap)
        known, counts = self._known, self.table.counts()
        exact = self.table[:known].canonical() if counts is None else Exact(counts[None, :known])
        keys, planes = np.empty(known, np.uint64), np.empty_like(exact.planes)
        order = self._keys[:known].argsort()
        kept = tallies.sort_tally(self._keys, exact.planes, order, keys, planes)
        if kept < known:
            keys, planes = keys[:kept].copy(), planes[:, :kept]
        out.level, out._tidy = self.level, True
        out._set_tally(keys, Exact.settled(planes, exact.base))
        out.other = self.other.canonical()
        if self.level:
            out._powers = Powers.of(*(s.canonical() for s in self._powers.sums()))
        return out

    def coarsened(self, level: int) -> Numbers:
        """The same with at least `level` bits dropped from the tally."""
        out = self.canonical()
        if level > out.level:
            out._powers = Powers.of(*out.sums())
            out._drop_bits(level - out.level)
        return out

    def _drop_bits(self, bits: int) -> None:
        """Drop so many bits more from a canonical tally whose sums are kept apart already."""
        nothing = Exact.zeros(0, self.groups)
        self._set_tally(*tallies.merge_tallies((self._keys, self.table, bits), (self._keys[:0], nothing, 0), +1))
        self.level += bits

    def _combined(self, other: Numbers, sign: int) -> Numbers:
        def joined(mine: Exact, theirs: Exact) -> Exact:
            return mine + theirs if sign > 0 else mine - theirs

        a, b = (own if own._tidy else own.canonical() for own in (self, other))
        out = Numbers(self.groups, min(self.cap, other.cap))
        out.level = max(a.level, b.level)
        out.other = joined(a.other, b.other)
        out._set_tally(
            *tallies.merge_tallies(
                (a._keys, a.table, out.level - a.level), (b._keys, b.table, out.level - b.level), sign
            )
        )
        bits = tallies.bits_to_drop(out._keys, out.cap)
        if out.level + bits:
            out._powers = Powers.of(*(joined(m, t) for m, t in zip(a.sums(), b.sums(), strict=True)))
        if bits:
            out._drop_bits(bits)
        out._tidy = True
        return out

    def __add__(self, other: Numbers) -> Numbers:
        return self._combined(other, +1)

    def __sub__(self, other: Numbers) -> Numbers:
        return self._combined(other, -1)

    def __eq__(self, other: object) -> bool:
        """Equal in all that both remember: tallies are compared at the coarser of the two levels.

        A tally that was coarsened by rows since taken away cannot win its low bits back; the sums can, and must.
        """
        if not isinstance(other, Numbers):
            return NotImplemented
        level = max(self.level, other.level)
        a, b = self.coarsened(level), other.coarsened(level)
        same = np.array_equal(a._keys, b._keys) and a.table == b.table and a.other == b.other
        return same and (level == 0 or all(m == t for m, t in zip(a.sums(), b.sums(), strict=True)))

    def regrouped(self, places: NDArray[np.intp], groups: int) -> Numbers:
        """The same sums with group i called places[i]."""
        own = self.canonical()
        out = Numbers(groups, self.cap)
        out.level = self.level
        out._set_tally(own._keys, own.table.scattered(places, 1, groups))
        out.other = own.other.scattered(places, 1, groups)
        if self.level:
            out._powers = Powers.of(*(s.scattered(places, 0, groups) for s in own._powers.sums()))
        return out

    @property
    def impossible(self) -> bool:
        """Whether something weighs less than nothing: rows were taken away that were never there."""
        if self.table.is_negative().any() or self.other.is_negative().any():
            return True
        # A tally without its low bits may look right where the sums do not: no spread is below zero.
        return self.level > 0 and any(n * second < first * first for n, first, second in self.moments())

    def state(self) -> State:
        own = self.canonical()
        first, second = own._powers.sums()
        sums = {} if own.level == 0 else {"first": first.state(), "second": second.state()}
        return {
            "keys": own._keys,
            "level": own.level,
            "cap": own.cap,
            "table": own.table.state(),
            "other": own.other.state(),
            **sums,
        }

    @classmethod
    def from_state(cls, state: State) -> Numbers:
        other = Exact.from_state(state["other"], weights=True)
        require(len(other.shape) == 2 and other.shape[0] == 3, "missing and infinite cells are three rows of counts")
        groups = other.shape[1]
        out = cls(groups, read_whole(state["cap"], 1, MOST_CAP, "the cap of a tally"))
        out.level = read_whole(state["level"], 0, 63, "the level of a tally")
        keys = read_array(state["keys"], "u", 1, "the values of a tally").astype(np.uint64)
        require(len(keys) <= out.cap and is_rising(keys), "the values of a tally rise, and are no more than its cap")
        require(
            not len(keys) or int(keys[-1]) >> (64 - out.level) == 0, "values have lost so many bits as the level says"
        )
        require(np.isfinite((keys << np.uint64(out.level)).view(np.float64)).all(), "values of a tally are finite")
        out._set_tally(keys, Exact.from_state(state["table"], (len(keys), groups), weights=True))
        out.other = other
        if out.level:
            first = Exact.from_state(state["first"], (groups,))
            out._powers = Powers.of(first, Exact.from_state(state["second"], (groups,), weights=True))
            require(not out.impossible, "no spread is below zero")
        out._tidy = not out.table.is_zero().all(axis=1).any()
        return out


def prepare_moments(columns: Iterable[ColumnStatistic], most: int = 64) -> None:
    """Work out the moments of many columns, some at a time: of few rows, calls take longer than what they do."""
    plain = (own for own in columns if isinstance(own, Numbers) and own._tidy and "whole moments" not in own._cache)
    tallied = [own for own in plain if not own.level and own.table.counts() is not None]
    for start in range(0, len(tallied), most):
        some = tallied[start : start + most]
        one, rows = _whole_rows(*_tallied_sums(some))
        for k, own in enumerate(some):
            own._cache["whole moments"] = one, rows[k * own.groups : (k + 1) * own.groups]


def update_numbers(
    columns: Sequence[Numbers], cells: Sequence[Floats], group: Ints, weights: Weights = EVERY_ROW_ONE
) -> None:
    """Take one batch into columns of the same groups: rows of weight one in one call for all of them."""
    arrays = [np.ascontiguousarray(x, np.float64) for x in cells]
    if not columns:
        return
    rows, groups = len(group), columns[0].groups
    if any(len(x) != rows for x in arrays) or any(own.groups != groups for own in columns):
        raise ValueError("all columns have a cell for each row, and the same groups")
    if not weights.plain:  # a row without weight must not cost a place in the tally (tests/laws/test_laws.py)
        group = np.where(weights.nothing(), np.int32(-1), group)
    for own, x in zip(columns, arrays, strict=True):
        own._open(x, group)
    if not weights.plain:
        for own, x in zip(columns, arrays, strict=True):
            own._update_weighed(x, group, weights)
        return
    for start in range(0, rows, ROOM):
        end = min(start + ROOM, rows)
        for own in columns:
            own._reserve(end - start)
        places = [address(x, np.float64) for x in arrays]
        table = np.array([own._words(x, start) for own, x in zip(columns, places, strict=True)], np.int64)
        while tallies.take_columns(table, group, end, groups):
            for k in np.flatnonzero(table[:, tallies.DONE] < end).tolist():
                own, words = columns[k], table[k].tolist()
                own._known = words[tallies.KNOWN]
                own._extend(words[tallies.WANTS], arrays[k][:end], group[:end], words[tallies.DONE])
                table[k] = own._words(places[k], words[tallies.DONE])
        for own, known in zip(columns, table[:, tallies.KNOWN].tolist(), strict=True):
            own._known = known


def _whole_rows(*sums: Exact) -> tuple[int, list[tuple[int, int, int]]]:
    """Several sums of each group as whole numbers of 1 / one."""
    parts = [exact.wholes() for exact in sums]
    least = min(0, *(exponent for _, exponent in parts))
    return 1 << -least, list(zip(*([v << e - least for v in values] for values, e in parts), strict=True))


def _tallied_sums(columns: Sequence[Numbers]) -> tuple[Exact, Exact, Exact]:
    """Weight, sum of x and sum of x*x in each group of one column after the other, whose tallies are whole counts."""
    sizes, groups = [own._known for own in columns], columns[0].groups
    values = np.concatenate([own._keys[: own._known] for own in columns]).view(np.float64)
    table = np.concatenate([own.table.planes[0, : own._known] for own in columns])
    places, size = np.repeat(np.arange(len(columns)) * groups, sizes), len(columns) * groups
    least, most = kernels.exponents(values)
    base, base2 = least >> 5, 2 * least >> 5
    digits = 1, max((most >> 5) + 4 - base, 1), max((2 * most >> 5) + 6 - base2, 1)
    weight, first, second = (np.zeros((count, size), np.int64) for count in digits)
    kernels.add_tallied_powers(values, places, table, weight, first, base, second, base2)
    return Exact.settled(weight), Exact.settled(first, base), Exact.settled(second, base2)


# A column's sums in other or fewer words: numbers as levels, rare levels as one, rare words left out.

ColumnStatistic: TypeAlias = Counts | Numbers | Words
"""What is kept of one column, as its kind says."""


def keep_names(statistic: ColumnStatistic, kept: tuple[str, ...]) -> ColumnStatistic:
    """What is kept of a column, with its rare levels as one, or without its rare words."""
    if isinstance(statistic, Words):
        return statistic if statistic.kept == kept else statistic.keeping(kept)
    assert isinstance(statistic, Counts)
    return statistic.keeping(frozenset(kept), OTHER)


def has_kept_names(statistic: ColumnStatistic, kept: tuple[str, ...]) -> bool:
    """Whether no name is held but those that are kept; words are then told to hold no others."""
    if isinstance(statistic, Words):
        statistic.kept = kept
        return {*statistic.tally().vocabulary} <= {"", *kept}
    return isinstance(statistic, Counts) and {*statistic.labels.names} <= {OTHER, *kept}


def levels_of(numbers: Numbers) -> Counts:
    """A complete tally of values as counts of levels; infinite numbers count as missing."""
    values, table = numbers.tally()
    out = Counts(numbers.groups)
    out.labels = Labels(number_label(v) for v in values.tolist())
    out.table = table
    missing = numbers.other.sum(0)
    out.other = Exact(missing.planes[:, None, :], missing.base)
    return out.canonical()
