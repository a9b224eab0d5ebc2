"""Exact sums: numbers of the form whole * 2**exponent, added and subtracted without rounding; sums as one tree."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from operator import add
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import numpy as np

from likely.sums import kernels
from likely.sums.contracts import State
from likely.sums.state import read_whole, require

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Exact sums: arrays of numbers of the form whole * 2**exponent, added and subtracted without rounding.

Planes: TypeAlias = "NDArray[np.int64]"

BITS = 32
_LOW = np.int64((1 << BITS) - 1)
REACH = 128
"""Positions of digits stay within this: a weight times the square of a double is between 2**-3222 and 2**3072, which is
position -101 to 96, and the sum of any number of rows adds a few."""
_WIDE = 1 << 61
"""What a top digit may hold; lower ones hold 32 bits."""
_ROOM = 1 << 27
"""Rows that may be added before carries are passed on: each adds less than 2**35 to a digit (a weight has up to three
digits of its own, and each multiplies two neighbours), and a digit starts below 2**61."""


class Exact:
    """An array of exact sums: value = sum of planes[k] * 2**(32*(base+k)).

    >>> a = Exact.of([1, 2]); (a + a - a) == a, (a + a).floats().tolist()
    (True, [2.0, 4.0])
    """

    __slots__ = ("_pending", "_tidy", "base", "planes")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, planes: Planes, base: int = 0, *, tidy: bool = False) -> None:
        self.planes = planes
        self.base = base
        self._pending = 0
        self._tidy = tidy
        """Known to be canonical. Its planes may then be shared, and are copied before anything is added to them."""

    @classmethod
    def zeros(cls, *shape: int) -> Exact:
        return cls(np.zeros((1, *shape), np.int64))

    @classmethod
    def of(cls, whole: Any) -> Exact:
        """From whole numbers."""
        return cls(np.array(whole, np.int64)[None])

    @property
    def shape(self) -> tuple[int, ...]:
        return self.planes.shape[1:]

    def cover(self, low: int, high: int, rows: int) -> None:
        """Make room for digits low … high-1 (absolute positions) and for `rows` more rows on top of each."""
        if self._tidy:
            self.planes, self._tidy = self.planes.copy(), False
        if self._pending + rows > _ROOM:
            self._carry()
            self._pending = 0
        self._pending += rows
        below = max(self.base - low, 0)
        above = max(high - self.base - len(self.planes), 0)
        if below or above:
            self._carry()
            # A wide top plane stays legal as a lower one: it is carried on before it can overflow.
            self.planes = _padded(self.planes, below, above)
            self.base -= below
            self._carry()

    def resize(self, *shape: int) -> None:
        """Grow to `shape`; new places hold zero."""
        if shape != self.shape:
            grown = np.zeros((len(self.planes), *shape), np.int64)
            if self.planes.size:
                grown[(slice(None), *(slice(n) for n in self.shape))] = self.planes
            self.planes, self._tidy = grown, False

    def _carry(self) -> None:
        if not self.planes.flags.c_contiguous:
            self.planes = np.ascontiguousarray(self.planes)
        if kernels.carry_digits(self.planes.reshape(len(self.planes), -1)):
            top = self.planes[-1]
            self.planes = np.concatenate([self.planes, (top >> BITS)[None]])
            self.planes[-2] &= _LOW

    def canonical(self) -> Exact:
        """The one representation of these values: as few digits as hold them, trailing zero digits dropped."""
        if self._tidy:
            return Exact(self.planes, self.base, tidy=True)
        return Exact(self.planes.copy(), self.base)._settled()

    def _settled(self) -> Exact:
        """`canonical` of planes that nobody else holds: they may be changed, and kept."""
        if self.counts() is not None:  # the common case
            return Exact(np.ascontiguousarray(self.planes), tidy=True)
        self._carry()
        first, count, moved = kernels.trim_digits(self.planes.reshape(len(self.planes), -1))
        if not count:
            return Exact(np.zeros((1, *self.shape), np.int64), tidy=True)
        return Exact(np.ascontiguousarray(self.planes[first : first + count]), self.base + moved, tidy=True)

    def __add__(self, other: Exact) -> Exact:
        one, two, base = _aligned(self.canonical(), other.canonical())
        return Exact(one + two, base)._settled()

    def __sub__(self, other: Exact) -> Exact:
        one, two, base = _aligned(self.canonical(), other.canonical())
        return Exact(one - two, base)._settled()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Exact):
            return NotImplemented
        a, b = self.canonical(), other.canonical()
        return a.base == b.base and a.planes.shape == b.planes.shape and bool(np.array_equal(a.planes, b.planes))

    def __getitem__(self, key: Any) -> Exact:
        return Exact(self.planes[(slice(None), *(key if isinstance(key, tuple) else (key,)))], self.base)

    def sum(self, axis: int = 0) -> Exact:
        planes, base = self.addable()
        return Exact(planes.sum(axis=axis + 1), base)._settled()

    def scattered(self, places: NDArray[np.intp], axis: int, size: int) -> Exact:
        """Entry i of `axis` added into entry places[i] (negative: dropped) of an axis of length `size`."""
        own = self.canonical()
        planes, base = own.planes, own.base
        kept = np.flatnonzero(places >= 0)
        if len(kept) < len(places):
            places, planes = places[kept], planes.take(kept, axis + 1)
        most = int(np.bincount(places).max()) if len(places) else 0
        top = planes[-1]
        if top.size and max(int(top.max()), -int(top.min())) * most >= 1 << 62:
            planes, base = Exact(planes, base)._spread()
        shape = list(planes.shape)
        shape[axis + 1] = size
        out = np.zeros(shape, np.int64)
        # One plane after the other, entries before the axis and behind it each as one: a loop of our own takes a tenth
        # of the time of np.add.at.
        flat = (int(np.prod(shape[: axis + 1])), -1, int(np.prod(shape[axis + 2 :])))
        if out.size and len(places):
            into = out.reshape(flat[0], size, flat[2])
            kernels.add_places(
                np.ascontiguousarray(planes).reshape(flat[0], len(places), flat[2]), places.astype(np.int64), into
            )
        return Exact(out, base)._settled()

    @classmethod
    def settled(cls, planes: Planes, base: int = 0) -> Exact:
        """From digits that nobody else holds or changes: canonical, mostly without a copy."""
        return cls(planes, base)._settled()

    def is_zero(self) -> NDArray[np.bool_]:
        some: NDArray[np.bool_] = self.canonical().planes.astype(np.bool_).any(axis=0)  # type: ignore[assignment]
        return ~some

    def is_negative(self) -> NDArray[np.bool_]:
        return self.canonical().planes[-1] < 0  # type: ignore[no-any-return]

    def _spread(self) -> tuple[Planes, int]:
        """Canonical planes with the wide top one cut in two, so that a billion of them can be added up."""
        own = self.canonical()
        top = own.planes[-1]
        return np.concatenate([own.planes[:-1], (top & _LOW)[None], (top >> BITS)[None]]), own.base

    def addable(self) -> tuple[Planes, int]:
        """Digits so small that a billion of them can be added up, not to be changed, and the position of the first."""
        planes, base = (self.planes, 0) if self.counts() is not None else self._spread()
        return np.ascontiguousarray(planes), base

    def beside(self, other: Exact) -> tuple[Planes, Planes, int]:
        """The same of both, at the same positions."""
        return _aligned(Exact(*self.addable()), Exact(*other.addable()))

    def chunks(self) -> tuple[Planes, int]:
        """Planes of digits in 0 … 2**32-1 (for values that are not negative), and the position of the first."""
        planes, base = self._spread()
        while len(planes) > 1 and not planes[-1].any():
            planes = planes[:-1]
        return planes, base

    def counts(self) -> Planes | None:
        """The values as they are held, not to be changed, where all are whole and from 0 to 2**32 - 1; else None."""
        only = self.planes[0]
        small = len(self.planes) == 1 and self.base == 0
        # As numbers without a sign, those below zero are beyond the largest digit.
        return only if small and (not only.size or int(only.view(np.uint64).max()) <= int(_LOW)) else None

    def wholes(self) -> tuple[list[int], int]:
        """The flattened values as Python integers to be multiplied by 2**exponent, and that exponent."""
        own = self.canonical()
        flat = own.planes.reshape(len(own.planes), -1)
        values: list[int] = flat[-1].tolist()
        low = flat[:-1].astype(np.uint64)  # two digits at a time: Python's integers are slow
        if len(low) % 2:
            values = [(v << BITS) + d for v, d in zip(values, low[-1].tolist(), strict=True)]
        for at in range(len(low) // 2 * 2 - 2, -1, -2):
            both = (low[at + 1] << np.uint64(BITS)) | low[at]
            values = [(v << 2 * BITS) + d for v, d in zip(values, both.tolist(), strict=True)]
        return values, BITS * own.base

    def fractions(self) -> list[Fraction]:
        """The flattened values as fractions, exact."""
        values, exponent = self.wholes()
        if exponent >= 0:
            return [Fraction(v << exponent) for v in values]
        below = 1 << -exponent
        return [Fraction(v, below) for v in values]

    def floats(self) -> NDArray[np.float64]:
        """The nearest doubles, each rounded once; infinite where the sum is beyond them."""
        own = self.canonical()
        if len(own.planes) == 1 and own.base == 0:
            counts: NDArray[np.float64] = own.planes[0].astype(np.float64)
            return counts
        flat = own.planes.reshape(len(own.planes), -1)
        some = np.flatnonzero(flat.any(axis=0))  # large tables are mostly empty
        out = np.zeros(flat.shape[1])
        out[some] = [_nearest(f) for f in Exact(flat[:, some], own.base).fractions()]
        return out.reshape(self.shape)

    def state(self) -> State:
        own = self.canonical()
        return {"planes": own.planes, "base": own.base}

    @classmethod
    def from_state(cls, state: State, shape: tuple[int, ...] | None = None, *, weights: bool = False) -> Exact:
        """What `state` gave: digits in range, at positions that sums of doubles can reach, as many as `shape` says,
        and none below zero where they are weights."""
        kept = state["planes"]
        require(isinstance(kept, np.ndarray) and kept.dtype.kind == "i" and kept.ndim, "digits are an array")
        require(shape is None or kept.shape[1:] == shape, f"sums have the shape {shape}")
        base = read_whole(state["base"], -REACH, REACH, "the position of the first digit")
        require(0 < len(kept) <= REACH - base, "the last digit is within the reach of doubles")
        low, top = kept[:-1], kept[-1]
        require(not low.size or (low.min() >= 0 and low.max() <= _LOW), "digits have 32 bits")
        require(
            not top.size or (top.min() >= (0 if weights else -_WIDE) and top.max() < _WIDE), "the top digit is sound"
        )
        return cls(kept.astype(np.int64), base)._settled()


def _nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _aligned(one: Exact, two: Exact) -> tuple[Planes, Planes, int]:
    """The planes of both, padded to the same positions, and the first of these."""
    low = min(one.base, two.base)
    high = max(one.base + len(one.planes), two.base + len(two.planes))
    mine, theirs = (_padded(x.planes, x.base - low, high - x.base - len(x.planes)) for x in (one, two))
    return mine, theirs, low


def _padded(planes: Planes, below: int, above: int) -> Planes:
    """Planes with zero planes before and after."""
    if not below and not above:
        return planes
    out = np.zeros((below + len(planes) + above, *planes.shape[1:]), np.int64)
    out[below : below + len(planes)] = planes
    return out


# Sums in the order of rows, always added as the same tree, whoever adds which part: floats then agree to the last
# bit.

T = TypeVar("T")


class OrderedSum(Generic[T]):
    """Parts 0, 1, 2 … added two by two: 0 + 1, 2 + 3, then (0 + 1) + (2 + 3), and so on; at most log2(n) are held.

    A block (level, place) is the sum of 2**level parts, from part place * 2**level on. Someone who has a run of parts
    adds up what blocks lie in it; someone else joins the blocks, in order. Both do what one would have done alone.

    >>> alone, left, right = OrderedSum(), OrderedSum(), OrderedSum(first=3)
    >>> for part in "abcdefg":
    ...     alone.take(part)
    >>> for part in "abc":
    ...     left.take(part)
    >>> for part in "defg":
    ...     right.take(part)
    >>> for level, place, block in left.blocks + right.blocks[:1]:
    ...     print(level, place, block)
    1 0 ab
    0 2 c
    0 3 d
    >>> for block in right.blocks:
    ...     left.take_block(*block)
    >>> left.blocks == alone.blocks, left.whole()
    (True, 'abcdefg')
    """

    def __init__(self, plus: Callable[[T, T], T] = add, first: int = 0, top: int = 62) -> None:
        self.blocks: list[tuple[int, int, T]] = []
        """What is held: (level, place, sum), in order."""
        self._plus, self._next, self._top = plus, first, top

    def take(self, part: T) -> None:
        """The next part."""
        self.take_block(0, self._next, part)

    def take_block(self, level: int, place: int, block: T) -> None:
        """The next block; blocks come in order, without a gap."""
        self._next = (place + 1) << level
        held = self.blocks
        # Siblings meet: a block at an even place, and the one after it.
        while level < self._top and held and held[-1][:2] == (level, place - 1) and place % 2 == 1:
            block, level, place = self._plus(held.pop()[2], block), level + 1, place // 2
        held.append((level, place, block))

    def whole(self) -> Any:
        """The sum of all parts from the first on; None without any."""
        out: Any = None
        for _, _, block in reversed(self.blocks):
            out = block if out is None else self._plus(block, out)
        return out


def plus_tuples(one: tuple[Any, ...], two: tuple[Any, ...]) -> tuple[Any, ...]:
    """Two tuples of sums, place by place."""
    return tuple(a + b for a, b in zip(one, two, strict=True))


def add_in_order(parts: Iterable[T]) -> T | None:
    """The sum of all parts; None without any. At most about log2(n) of them are held at once.

    >>> add_in_order([1, 2, 3, 4, 5])
    15
    """
    sums: OrderedSum[T] = OrderedSum()
    for part in parts:
        sums.take(part)
    return sums.whole()  # type: ignore[no-any-return]
