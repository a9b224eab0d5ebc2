"""A piece of text in small letters, and where its words begin and end: compiled steps, eight bytes at a time.

Knows bytes (UTF-8) and characters; nothing of hash tables or counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from likely.machinery.arrays import Bytes, Hashes, Ints, Whole
from likely.machinery.jit import inner, trailing_zeros
from likely.table.words.letters import BREAK, DOTTED, LONGER
from likely.table.words.tokens import BASIS, encode_character, finish_hash, fold_block, load_eight, lower_character

MARGIN = 80
"""Bytes of room behind a piece: it is read in blocks, beyond its end."""
_ONE, _SEVEN, _EIGHT = np.uint64(1), np.uint64(7), np.uint64(8)
_BLOCK, _TOP, _ALL = np.uint64(64), np.uint64(63), np.uint64(2**64 - 1)
_LOW_BITS, _HIGH_BITS = np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x8080808080808080)
_GATHER = np.uint64(0x0102040810204080)
"""Multiplied by bytes that are 0 or 1, it brings these together in the highest byte."""
_LAST = np.uint64(56)


@inner
def word_hash(low: Bytes, a: np.uint64, b: np.uint64) -> np.uint64:
    """The hash of the word low[a:b], behind which eight more bytes can be read: as `hashed`, in fewer steps."""
    length = b - a
    h = BASIS
    while b - a > _EIGHT:
        h = fold_block(h, load_eight(low, a))
        a += _EIGHT
    block = load_eight(low, a) & (_ALL >> (_BLOCK - _EIGHT * (b - a)))
    return finish_hash(h, block, length)  # type: ignore[no-any-return]


@inner
def lower_piece(
    data: Bytes, begin: int, here: int, end: int, letters: tuple[Bytes, Ints, Bytes], low: Bytes, size: int
) -> Any:
    """Write data[here:end] in small letters to low[size:], 0 where no word is, as far as there is room.

    Returns up to where it was read, and up to where it was written. `begin` is where the text begins.
    """
    bytes_, small, near = letters
    room = low.size - MARGIN
    stop = max(here, min(end, here + room - size))
    any_bits = np.uint8(0)
    at = np.uint64(size)
    for k in range(np.uint64(here), np.uint64(stop)):
        c = data[k]
        any_bits |= c
        low[at] = bytes_[c]
        at += _ONE
    if any_bits < 128:
        return stop, np.int64(at)
    while here < end and size < room:
        c = bytes_[data[here]]
        if c != LONGER:
            low[size] = c
            size += 1
            here += 1
            continue
        point, width = lower_character(data, begin, here, end, small, near)
        here += width
        if point == BREAK:
            low[size] = 0
            size += 1
        elif point == DOTTED:
            low[size] = 105
            low[size + 1] = 0
            size += 2
        else:
            size += encode_character(point, low, size)
    return here, size


@inner
def find_words(low: Bytes, size: int, bounds: Hashes) -> Whole:
    """Where the words of low[:size] begin and end, in turn; returns how many bounds there are.

    A word that goes on to the end of the piece ends there.
    """
    for k in range(size, size + MARGIN - 16):
        low[k] = 0
    count = np.uint64(0)
    before = np.uint64(0)
    at = np.uint64(0)
    while at <= np.uint64(size):
        inside = np.uint64(0)
        for j in range(np.uint64(8)):
            x = load_eight(low, at + _EIGHT * j)
            nonzero = (((x & _LOW_BITS) + _LOW_BITS) | x) & _HIGH_BITS
            inside |= (((nonzero >> _SEVEN) * _GATHER) >> _LAST) << (_EIGHT * j)
        turns = inside ^ ((inside << _ONE) | before)
        before = inside >> _TOP
        while turns != 0:
            bounds[count] = at + np.uint64(trailing_zeros(turns))
            count += _ONE
            turns &= turns - _ONE
        at += _BLOCK
    return np.int64(count)
