"""Whole numbers sorted by their binary digits: a fifth of the time of a sort that compares. Knows nothing of words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Hashes, Longs
from likely.machinery.jit import inner, kernel
from likely.machinery.pages import take_pages

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ONE = np.uint64(1)
_DIGIT = 11
"""Binary digits by which numbers are sorted at once."""


_FEW, _MANY = 48, 1 << 18
"""Numbers that are sorted by insertion, and that are dealt first."""


def radix_sort(
    numbers: NDArray[np.uint64], bits: int, below: int = 0
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:  # fmt: skip
    """Numbers of so many binary digits, sorted, and an array to spare. The lowest `below` digits are passed over.

    Many are first dealt by their highest digits: what is then sorted at once stays in the cache of the processor.
    """
    other = take_pages(len(numbers), np.uint64, scattered=True)
    digits = -(-max(bits - below, 0) // _DIGIT)
    if len(numbers) < _MANY or digits < 2:
        turned = sort_digits(numbers, other, np.zeros(digits << _DIGIT, np.int64), digits, below)
    else:
        digits -= 1
        counts, heads = np.zeros(digits << _DIGIT, np.int64), np.zeros((1 << _DIGIT) + 1, np.int64)
        turned = sort_shares(numbers, other, heads, counts, digits, below)
    return (other, numbers) if turned else (numbers, other)


@inner
def _insert(numbers: Hashes, lo: int, hi: int, below: np.uint64, out: Hashes) -> None:
    """Sort few numbers."""
    for k in range(lo, hi):
        x = numbers[k]
        j = k
        while j > lo and (out[j - 1] >> below) > (x >> below):
            out[j] = out[j - 1]
            j -= 1
        out[j] = x


@inner
def _pass(source: Hashes, lo: int, hi: int, shift: np.uint64, counts: Longs, first: np.uint64, to: Hashes) -> None:
    """Bring numbers to their places by one digit, of which there are so many each."""
    low = np.uint64((1 << _DIGIT) - 1)
    at = np.int64(lo)
    for j in range(first, first + low + _ONE):
        count = counts[j]
        counts[j] = at
        at += count
    for k in range(np.uint64(lo), np.uint64(hi)):
        x = source[k]
        j = first | ((x >> shift) & low)
        place = np.uint64(counts[j])
        counts[j] += 1
        to[place] = x
    for j in range(first, first + low + _ONE):
        counts[j] = 0


@inner
def _count(numbers: Hashes, lo: int, hi: int, skip: np.uint64, counts: Longs, digits: int) -> None:
    """How often each value of each digit occurs."""
    step, low = np.uint64(_DIGIT), np.uint64((1 << _DIGIT) - 1)
    for k in range(np.uint64(lo), np.uint64(hi)):
        x = numbers[k] >> skip
        for d in range(np.uint64(digits)):
            counts[(d << step) | ((x >> (d * step)) & low)] += 1


@kernel("u8[], u8[], i8[], i8, i8", returns=1)
def sort_digits(one: Hashes, two: Hashes, counts: Longs, digits: int, below: int) -> int:
    """Sort by the lowest digit, then the next one and so on, to and fro; returns whether the result is in `two`.

    `counts` are 0: one for each value of each digit.
    """
    step, skip = np.uint64(_DIGIT), np.uint64(below)
    _count(one, 0, one.size, skip, counts, digits)
    for d in range(np.uint64(digits)):
        if d & _ONE:
            _pass(two, 0, one.size, d * step + skip, counts, d << step, one)
        else:
            _pass(one, 0, one.size, d * step + skip, counts, d << step, two)
    return digits & 1


@kernel("u8[], u8[], i8[], i8[], i8, i8", returns=1)
def sort_shares(one: Hashes, two: Hashes, heads: Longs, counts: Longs, digits: int, below: int) -> int:
    """The same, where numbers are first dealt by one more digit, the highest: `heads` are 0, one for each value."""
    step, skip = np.uint64(_DIGIT), np.uint64(below)
    top = np.uint64(digits) * step + skip
    for k in range(np.uint64(one.size)):
        heads[(one[k] >> top) + _ONE] += 1
    for j in range(heads.size - 1):
        heads[j + 1] += heads[j]
    for k in range(np.uint64(one.size)):
        x = one[k]
        j = x >> top
        two[np.uint64(heads[j])] = x
        heads[j] += 1
    lo = np.int64(0)
    for share in range(heads.size - 1):
        hi = heads[share]
        if hi - lo <= _FEW:
            _insert(two, lo, hi, skip, one if digits & 1 else two)
        else:
            _count(two, lo, hi, skip, counts, digits)
            for d in range(np.uint64(digits)):
                if d & _ONE:
                    _pass(one, lo, hi, d * step + skip, counts, d << step, two)
                else:
                    _pass(two, lo, hi, d * step + skip, counts, d << step, one)
        lo = hi
    return 1 - (digits & 1)
