"""Large arrays of the system's own pages: given back as soon as nobody holds them, and of large pages where that helps.

The memory that numpy takes comes from the C library, which keeps what is given back for later: arrays that live for a
moment would so count as memory in use until the process ends. And what is looked up here and there in a table of many
megabytes waits for the addresses of its pages, unless these are large. Knows nothing of what arrays hold.
"""

from __future__ import annotations

import mmap
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
