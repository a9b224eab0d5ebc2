"""64-bit hashes of cells, rows and texts, equal where these are: a text is known by its words, a row by its cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.machinery.jit import kernel
from likely.table.batch import Batch, Cells, Codes, Texts
from likely.table.words.letters import BREAK, BYTES, DOTTED, LONGER
from likely.table.words.tokens import BASIS, alphabet_for, encode_character, finish_hash, fold_block, lower_character

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ODD = np.uint64(0x9E3779B97F4A7C15)


def row_hashes(batch: Batch, names: Sequence[str]) -> NDArray[np.uint64]:
    """A hash of the cells of each row in these columns, never 0; what is missing counts as a value of its own."""
    mixed = np.full(batch.rows, _ODD)
    for name in names:
        mixed = fold_bits(mixed, cell_bits(batch.cells[name]))
    return np.where(mixed == 0, _ODD, mixed)


def cell_bits(cells: Cells) -> NDArray[np.uint64]:
    """64 bits for each cell, equal where cells are: a code, a double (one zero, one NaN), a hash of a text's words."""
    if isinstance(cells, Codes):
        return cells.codes.astype(np.int64).view(np.uint64)
    if isinstance(cells, Texts):
        return text_hashes(cells)
    # Infinite numbers count as missing; minus zero is zero.
    return np.ascontiguousarray(np.where(np.isfinite(cells), cells + 0.0, np.nan)).view(np.uint64)


def fold_bits(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Bits mixed with other bits: in another order they give others."""
    z = (one ^ other) * _ODD
    z ^= z >> np.uint64(29)
    return np.asarray(z * np.uint64(0xBF58476D1CE4E5B9) ^ (z >> np.uint64(32)))


def text_hashes(cells: Texts) -> NDArray[np.uint64]:
    """The hash of each text's words with one blank between them; 0 where it has none.

    It is what a word of these letters would have (tests/troubles/test_copies.py).
    """
    letters, out = alphabet_for(cells), np.empty(len(cells), np.uint64)
    room = np.empty(4, np.uint8)
    hash_texts(cells.data, cells.starts, cells.ends, BYTES, letters.small, letters.near, room, out)
    return out


@kernel("u1[], i8[], i8[], u1[], i4[], u1[], u1[], u8[]")
def hash_texts(data: Any, starts: Any, ends: Any, bytes_: Any, small: Any, near: Any, letters: Any, out: Any) -> None:
    """out[i] = the hash of the words of text i, joined by blanks; `letters` has room for one."""
    for i in range(out.size):
        h, block, size = BASIS, np.uint64(0), np.int64(0)
        k, end = starts[i], ends[i]
        begun: Any = False  # whether a blank is due before the next letter
        while k < end:
            c = bytes_[data[k]]
            width = 1
            count = 0
            after: Any = False
            if c == LONGER:
                point, width = lower_character(data, starts[i], k, end, small, near)
                if point != BREAK:
                    count = encode_character(np.int64(105) if point == DOTTED else point, letters, 0)
                    after = point == DOTTED
            elif c > LONGER:
                letters[0] = c
                count = 1
            k += width
            if count == 0:
                begun = size > 0
                continue
            for j in range(-1 if begun else 0, count):
                if size & 7 == 0 and size > 0:
                    h = fold_block(h, block)
                    block = np.uint64(0)
                block |= np.uint64(letters[j] if j >= 0 else 32) << np.uint64(8 * (size & 7))
                size += 1
            begun = after
        out[i] = finish_hash(h, block, np.uint64(size)) if size > 0 else np.uint64(0)
