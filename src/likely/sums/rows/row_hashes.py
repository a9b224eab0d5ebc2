"""64-bit hashes of cells, rows and texts, equal where these are: a text is known by its words, a row by its cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.machinery.arrays import Bytes, Hashes, Ints, Longs
from likely.machinery.jit import inner, kernel
from likely.machinery.threads import in_order
from likely.table.batch import Batch, Cells, Codes, Texts
from likely.table.words.letters import BYTES
from likely.table.words.lowering import MARGIN, find_words, lower_piece
from likely.table.words.tokens import BASIS, alphabet_for, finish_hash, fold_block, load_eight

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ODD = np.uint64(0x9E3779B97F4A7C15)
_EIGHT, _EIGHTH, _ALL = np.uint64(8), np.uint64(3), np.uint64(2**64 - 1)
_ROWS = 1 << 10
"""Texts that a thread takes at a time."""
_PIECE = 1 << 13
"""Bytes of a text that are looked at at once."""


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

    def hash_some(rows: slice) -> None:
        low, bounds = np.zeros(_PIECE + MARGIN, np.uint8), np.zeros(_PIECE + MARGIN, np.int32)
        starts, ends = cells.starts[rows], cells.ends[rows]
        hash_texts(cells.data, starts, ends, BYTES, letters.small, letters.near, low, bounds, out[rows])

    for _ in in_order((slice(k, k + _ROWS) for k in range(0, len(cells), _ROWS)), hash_some):
        pass
    return out


@inner
def _append(h: np.uint64, block: np.uint64, held: np.uint64, bytes_: np.uint64, count: np.uint64) -> Any:
    """The running hash, the last block and how many bytes it holds, after one to eight more bytes.

    A full block is kept until there is more: the last one counts otherwise.
    """
    if held == _EIGHT:
        h, block, held = fold_block(h, block), np.uint64(0), np.uint64(0)
    block |= bytes_ << (held << _EIGHTH)
    if held + count > _EIGHT:
        h, block = fold_block(h, block), bytes_ >> ((_EIGHT - held) << _EIGHTH)
        return h, block, held + count - _EIGHT
    return h, block, held + count


@kernel("u1[], i8[], i8[], u1[], i4[], u1[], u1[], i4[], u8[]")
def hash_texts(
    data: Bytes, starts: Longs, ends: Longs, bytes_: Bytes, small: Ints, near: Bytes, low: Bytes, bounds: Ints,
    out: Hashes,
) -> None:  # fmt: skip
    """out[i] = the hash of the words of text i, joined by blanks; `low` and `bounds` have room for a piece of it."""
    letters, blank, one = (bytes_, small, near), np.uint64(32), np.uint64(1)
    for i in range(out.size):
        h, block, held, size = BASIS, np.uint64(0), np.uint64(0), np.uint64(0)
        here, end = starts[i], ends[i]
        inside: Any = False  # whether the piece before ended within a word
        while here < end:
            here, used = lower_piece(data, starts[i], here, end, letters, low, 0)
            found = np.uint64(find_words(low, used, bounds) >> 1)
            for w in range(found):
                a, b = np.uint64(bounds[w + w]), np.uint64(bounds[w + w + one])
                if size > 0 and not (inside and a == 0):
                    h, block, held = _append(h, block, held, blank, one)
                    size += one
                inside = False
                size += b - a
                while b - a > _EIGHT:
                    h, block, held = _append(h, block, held, load_eight(low, a), _EIGHT)
                    a += _EIGHT
                last = load_eight(low, a) & (_ALL >> ((_EIGHT - (b - a)) << _EIGHTH))
                h, block, held = _append(h, block, held, last, b - a)
            inside = found > 0 and bounds[found + found - one] == used
        out[i] = finish_hash(h, block, size) if size > 0 else np.uint64(0)
