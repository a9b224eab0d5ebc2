"""Large arrays that go back to the system as soon as nobody holds them. Knows nothing of what they hold.

The memory that numpy takes comes from the C library, which keeps what is given back for later. Arrays that live for a
moment would so count as memory in use until the process ends.
"""

from __future__ import annotations

import mmap
import sys
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

S = TypeVar("S", bound=np.generic)
_LARGE = 1 << 20
"""Bytes from which on it is worth a call of the system."""


def take_pages(size: int, kind: type[S]) -> NDArray[S]:
    """An array of so many numbers that are not set to anything; what is not written to takes no memory.

    >>> len(take_pages(10, np.int64)), take_pages(1 << 20, np.int32).dtype
    (10, dtype('int32'))
    """
    length = size * np.dtype(kind).itemsize
    if length < _LARGE:
        return np.empty(size, kind)
    if sys.platform == "win32":
        return np.frombuffer(mmap.mmap(-1, length), kind)
    # Private: a process that is forked has its own, as of all other memory.
    return np.frombuffer(mmap.mmap(-1, length, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), kind)
