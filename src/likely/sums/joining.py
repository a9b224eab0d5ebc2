"""Many partial sums as one, joined two by two: n parts cost log n times their size, not n times that of the whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from likely.sums.ordered import Ordered

T = TypeVar("T")


def joined(parts: Iterable[T]) -> T | None:
    """The sum of all parts; None without any. At most about log2(n) of them are held at once.

    >>> joined([1, 2, 3, 4, 5])
    15
    """
    sums = Ordered()
    for part in parts:
        sums.take(part)
    return sums.whole()  # type: ignore[no-any-return]
