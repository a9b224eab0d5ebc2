"""Sums in the order of rows, always added as the same tree, whoever adds which part: floats then agree to the last bit.

Knows places in a row of parts and `+`; never what a part is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import add
from typing import Any, Generic, TypeVar

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
