"""Names for arrays in signatures, kernels' above all: what kind of number they hold. And two functions that numpy has
too, but for which it imports its masked arrays.
"""

from __future__ import annotations

import math
import mmap
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
Ints: TypeAlias = "NDArray[np.int32]"
Longs: TypeAlias = "NDArray[np.int64]"
Hashes: TypeAlias = "NDArray[np.uint64]"
Bytes: TypeAlias = "NDArray[np.uint8]"
Bools: TypeAlias = "NDArray[np.bool_]"
Whole: TypeAlias = "int | np.int64 | np.uint64"
"""A whole number within a kernel."""
N = TypeVar("N", bound=np.generic)


def distinct(values: NDArray[N]) -> NDArray[N]:
    """The different values in order, as `np.unique` gives them. None of them is NaN.

    >>> distinct(np.array([2, 1, 2])).tolist()
    [1, 2]
    """
    ordered: Any = np.sort(values, axis=None)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered  # type: ignore[no-any-return]


def quantile(values: Floats, share: float) -> float:
    """The quantile of some finite values, to the last bit as `np.quantile` gives it.

    >>> quantile(np.array([4.0, 1.0, 2.0]), 0.25)
    1.5
    """
    place = share * (len(values) - 1)
    below = math.floor(place)
    above = min(below + 1, len(values) - 1)
    found = np.partition(values, (below, above))
    low, high, part = float(found[below]), float(found[above]), place - below
    # From the nearer end, as numpy does.
    return high - (high - low) * (1 - part) if part >= 0.5 else low + (high - low) * part


S = TypeVar("S", bound=np.generic)
_LARGE = 1 << 20
"""Bytes from which on it is worth a call of the system."""


def take_pages(shape: int | tuple[int, ...], kind: type[S], *, scattered: bool = False) -> NDArray[S]:
    """An array of zeros; what is not written to takes no memory. Say so if it will be read or written here and there.

    >>> take_pages(3, np.int64).tolist(), take_pages((1 << 10, 1 << 10), np.int32).shape
    ([0, 0, 0], (1024, 1024))
    """
    length = int(np.prod(shape)) * np.dtype(kind).itemsize
    if length < _LARGE:
        return np.zeros(shape, kind)
    if sys.platform == "win32":
        return np.frombuffer(mmap.mmap(-1, length), kind).reshape(shape)
    # Private: a process that is forked has its own, as of all other memory.
    pages = mmap.mmap(-1, length, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if scattered and hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a system without large pages
            pages.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(pages, kind).reshape(shape)
