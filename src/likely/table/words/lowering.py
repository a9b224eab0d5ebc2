"""A piece of text in small letters, and where its words begin and end: compiled steps, eight bytes at a time.

Knows bytes (UTF-8) and characters; nothing of hash tables or counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from likely.machinery.arrays import Bytes, Hashes, Ints, Whole
from likely.machinery.jit import BLOCK, count_bits, inner, lower_block, nonzero_bits, trailing_zeros
from likely.table.words.letters import BREAK, DOTTED, LONGER
from likely.table.words.tokens import encode_character, fold_product, load_eight, lower_character, tag_long

MARGIN = 80
"""Bytes of room behind a piece: it is read in blocks, beyond its end."""
from likely.table.words.tokens import _ONE
_EIGHT = np.uint64(8)
_BLOCK, _TOP, _ALL = np.uint64(BLOCK), np.uint64(BLOCK - 1), np.uint64(2**64 - 1)


@inner
def read_tag(low: Bytes, a: np.uint64, b: np.uint64, keys: Hashes) -> np.uint64:
    """The tag of the word low[a:b], behind which eight more bytes can be read: as `tag_word`, in fewer steps."""
    h, short = keys[0] ^ (b - a), b - a <= _EIGHT
    while b - a > _EIGHT:
        h = fold_product(h ^ load_eight(low, a), keys[1])
        a += _EIGHT
    block = load_eight(low, a) & (_ALL >> (_BLOCK - _EIGHT * (b - a)))
    return block if short else tag_long(h, block, keys[1])  # type: ignore[no-any-return]


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
    beyond = np.uint64(0)
    at, k = np.uint64(size), np.uint64(here)
    whole = np.uint64(max(min(stop, data.size - BLOCK + 1), 0))
    while k < whole:
        found = lower_block(data, k, low, at)
        left = np.uint64(stop) - k
        beyond |= found if left >= _BLOCK else found << (_BLOCK - left)
        k += _BLOCK
        at += _BLOCK
    for j in range(k, np.uint64(stop)):
        c = data[j]
        beyond |= np.uint64(c >> 7)
        low[at] = bytes_[c]
        at += _ONE
    if beyond == 0:
        return stop, np.int64(size + stop - here)
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
        inside = nonzero_bits(low, at)
        turns = inside ^ ((inside << _ONE) | before)
        before = inside >> _TOP
        # Eight at a time, however many there are: how often a loop goes round that ends with each block is hard to
        # foresee. What is written too much is written over.
        upto = count + count_bits(turns)
        while count < upto:
            for j in range(_EIGHT):
                bounds[count + j] = at + np.uint64(trailing_zeros(turns))
                turns &= turns - _ONE
            count += _EIGHT
        count = upto
        at += _BLOCK
    return np.int64(count)
