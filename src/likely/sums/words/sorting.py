"""Whole numbers sorted by their binary digits: a fifth of the time of a sort that compares. Knows nothing of words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Hashes, Longs
from likely.machinery.jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DIGIT = 11
"""Binary digits by which numbers are sorted at once."""


def radix_sort(
    numbers: NDArray[np.uint64], bits: int, below: int = 0
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:  # fmt: skip
    """Numbers of so many binary digits, sorted, and an array to spare. The lowest `below` digits are passed over."""
    other, digits = np.empty_like(numbers), -(-(bits - below) // _DIGIT)
    turned = sort_digits(numbers, other, np.zeros(max(digits, 0) << _DIGIT, np.int64), max(digits, 0), below)
    return (other, numbers) if turned else (numbers, other)


@kernel("u8[], u8[], i8[], i8, i8", returns=1)
def sort_digits(one: Hashes, two: Hashes, counts: Longs, digits: int, below: int) -> int:
    """Sort by the lowest digit, then the next one and so on, to and fro; returns whether the result is in `two`."""
    step, low = np.uint64(_DIGIT), np.uint64((1 << _DIGIT) - 1)
    for k in range(one.size):
        x = one[k] >> np.uint64(below)
        for d in range(np.uint64(digits)):
            counts[(d << step) | ((x >> (d * step)) & low)] += 1
    turned = 0
    for d in range(np.uint64(digits)):
        first, shift = d << step, d * step + np.uint64(below)
        at = np.int64(0)
        for j in range(first, first + low + np.uint64(1)):
            count = counts[j]
            counts[j] = at
            at += count
        for k in range(one.size):
            x = two[k] if turned else one[k]
            j = first | ((x >> shift) & low)
            to = np.uint64(counts[j])
            counts[j] += 1
            if turned:
                one[to] = x
            else:
                two[to] = x
        turned = 1 - turned
    return turned
