"""What Unicode says of every character, as tables for compiled loops: is it part of a word, and what is its small form.

The tables are asked of the running Python, so that words are what `re.findall(r"\\w+", text.lower())` finds, to the
letter. They are made when the first character beyond ASCII is met.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHARACTERS = 0x110000
BREAK, DOTTED, SIGMA = -1, -2, -3
"""In place of a small form: no part of a word; the capital i with a dot, whose small form has two characters of which
the second ends the word; the capital sigma, whose small form depends on its neighbours."""
OTHER, CASED, PASSED = 0, 1, 2
"""Neighbours of a sigma: one that ends the search, one with a case, and one that is passed over."""
LONGER = 1
"""In the table of bytes: the beginning of a character of several bytes."""
_DOTTED_I, _CAPITAL_SIGMA, _FINAL_SIGMA = 0x130, 0x3A3, 0x3C2
_LINE = 10
_AT_ONCE = 1 << 12
"""Characters asked about at once, a divisor of all: all at once would take more memory than most tables."""
_SURROGATES = slice(0xD800, 0xE000)


@dataclass(frozen=True, slots=True)
class Alphabet:
    """`small[c]` is the small form of character c (or one of the marks above), `near[c]` its rank beside a sigma."""

    small: NDArray[np.int32]
    near: NDArray[np.uint8]


def _bytes() -> NDArray[np.uint8]:
    out = np.zeros(256, np.uint8)
    for c in map(chr, range(128)):
        out[ord(c)] = ord(c.lower()) if c.isalnum() or c == "_" else 0
    out[128:] = LONGER
    return out


BYTES = _bytes()
"""The small form of each ASCII byte that may stand in a word, 0 for those that end one, LONGER beyond ASCII."""
ASCII = Alphabet(np.empty(0, np.int32), np.empty(0, np.uint8))
"""For text without any character beyond ASCII."""


@cache
def alphabet() -> Alphabet:
    """The tables of all characters (about a tenth of a second)."""
    points = np.arange(CHARACTERS, dtype=np.uint32)
    points[_SURROGATES] = _LINE
    plain = points.copy()
    plain[[_DOTTED_I, _CAPITAL_SIGMA]] = _LINE
    small = _lowered(plain)
    word = np.strings.isalnum(small.view("U1")) | (small == ord("_"))
    out = np.where(word, small.astype(np.int32), np.int32(BREAK))
    out[_DOTTED_I], out[_CAPITAL_SIGMA] = DOTTED, SIGMA
    return Alphabet(out, _neighbours(plain))


def _lowered(points: NDArray[np.uint32]) -> NDArray[np.uint32]:
    lowered = points.tobytes().decode("utf-32-le").lower().encode("utf-32-le")
    return np.frombuffer(lowered, np.uint32)


def _neighbours(points: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """By Python's own rule: the sigma of "A?Σ" is final if ? is cased or passed over, that of "?Σ" if ? is cased."""
    out = np.empty(CHARACTERS, np.uint8)
    for start in range(0, CHARACTERS, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        rows = np.full((_AT_ONCE, 7), _LINE, np.uint32)
        rows[:, 1], rows[:, 2] = points[part], _CAPITAL_SIGMA
        rows[:, 4], rows[:, 5], rows[:, 6] = ord("A"), points[part], _CAPITAL_SIGMA
        small = _lowered(rows.reshape(-1)).reshape(-1, 7)
        alone, after = small[:, 2] == _FINAL_SIGMA, small[:, 6] == _FINAL_SIGMA
        out[part] = np.where(alone, CASED, np.where(after, PASSED, OTHER))
    out[[_DOTTED_I, _CAPITAL_SIGMA]] = CASED
    return out
