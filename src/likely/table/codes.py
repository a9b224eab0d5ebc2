"""The loops over coded cells, compiled: nulls, how often each code occurs, and codes into other codes."""

from __future__ import annotations

from typing import Any

import numpy as np

from likely.machinery.jit import kernel


@kernel("i4[], u1[], i8, i4[]")
def with_nulls(codes: Any, bitmap: Any, offset: int, out: Any) -> None:
    """Copy codes, -1 where the bit of the bitmap (counted from `offset`) is not set."""
    for i in range(codes.size):
        at = offset + i
        there = (bitmap[at >> 3] >> np.uint8(at & 7)) & np.uint8(1)
        out[i] = codes[i] if there else -1


@kernel("i4[], i8[]")
def occurrences(codes: Any, times: Any) -> None:
    """times[c] += 1 for each code c; the last place counts -1."""
    last = times.size - 1
    for i in range(codes.size):
        c = codes[i]
        times[c if c >= 0 else last] += 1


@kernel("i4[], i4[], i4[]")
def translated(codes: Any, places: Any, out: Any) -> None:
    """out[i] = places[codes[i]]; the last place serves -1."""
    last = places.size - 1
    for i in range(codes.size):
        c = codes[i]
        out[i] = places[c if c >= 0 else last]
