"""Many partial sums as one, joined two by two: n parts cost log n times their size, not n times that of the whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

T = TypeVar("T")


def joined(parts: Iterable[T]) -> T | None:
    """The sum of all parts; None without any. At most about log2(n) of them are held at once.

    >>> joined([1, 2, 3, 4, 5])
    15
    """
    waiting: list[tuple[int, Any]] = []
    for part in parts:
        size, whole = 1, part
        while waiting and waiting[-1][0] == size:  # as a counter carries: equal sizes meet
            size, whole = 2 * size, waiting.pop()[1] + whole
        waiting.append((size, whole))
    out: Any = None
    for _, part in reversed(waiting):
        out = part if out is None else part + out
    return out  # type: ignore[no-any-return]
