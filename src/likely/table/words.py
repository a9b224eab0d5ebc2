"""What a word of a text is: letters, tokens, and lower case, as compiled steps over bytes. Counts nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import SettingError, shown
from likely.machinery.arrays import Bytes, Hashes, Ints, Longs, Whole
from likely.machinery.jit import (
    BLOCK,
    count_bits,
    inner,
    kernel,
    lower_block,
    nonzero_bits,
    trailing_zeros,
    upper_product,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.table.batch import Texts


# What Unicode says of every character, as tables for compiled loops: is it part of a word, and what is its small
# form.

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


# The words of a text: settings that say what counts as one, and compiled steps over characters and hashes.

MOST_GRAM = 16
SHORT = 8
"""Bytes of a word that is told apart by its hash, or its tag, alone."""
_ONE, _HIGH_BITS = np.uint64(1), np.uint64(0x8080808080808080)
_PRIME = np.uint64(0xD6E8FEB86659FD93)
BASIS = np.uint64(0xCBF29CE484222325)
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True, slots=True)
class Tokens:
    r"""What counts as a word of a text column. The sums depend on it, so it belongs to the schema.

    A word is what Python's `re.findall(r"\w+", text.lower())` finds.

    >>> import likely
    >>> rows = {"note": ["the sun is out today"] * 5 + ["rain and the wind again"] * 5, "play": ["y"] * 5 + ["n"] * 5}
    >>> how = {"types": {"note": "text"}, "tokens": Tokens(shortest=4, stop=("again",))}
    >>> likely.fit(rows, "play", **how).predict({"note": "Today the SUN!"})
    'y'
    """

    shortest: int = 1
    """Words of fewer characters are passed over."""
    pairs: bool = False
    """Whether two neighbouring words (of those not passed over) count as one more, written with a blank between."""
    stop: tuple[str, ...] = ()
    """Words that are passed over."""
    grams: tuple[int, int] | None = None
    """Instead of words: runs of so many characters (from, to) of a word with a blank at either end."""
    vocabulary: int | None = None
    """The most words to hold; see decision 0002 on which ones are held."""

    def __post_init__(self) -> None:
        if self.shortest < 1:
            raise SettingError(f"The shortest word cannot have {self.shortest} characters. Use 1 or more.")
        if self.vocabulary is not None and self.vocabulary < 1:
            raise SettingError(f"A vocabulary of {self.vocabulary} words is impossible. Use 1 or more.")
        if self.grams is not None:
            low, high = self.grams
            if not 1 <= low <= high <= MOST_GRAM:
                raise SettingError(
                    f"Runs of {low} to {high} characters cannot be counted. Give two numbers from 1 to {MOST_GRAM}, "
                    "the smaller one first."
                )
            if self.pairs:
                raise SettingError("Pairs are of words, runs are of characters. Use one of the two.")
        for word in self.stop:
            if words_of(word) != [word]:
                raise SettingError(
                    f"The stop word {shown(word)} is never met: words are of small letters, digits and '_'. "
                    f"Write it as the text has it, e.g. {shown(' '.join(words_of(word)) or 'the')}."
                )

    def numbers(self) -> NDArray[np.int64]:
        """The settings as compiled loops take them: shortest, pairs, and the lengths of runs (0: words)."""
        return np.array([self.shortest, self.pairs, *(self.grams or (0, 0))], np.int64)


def words_of(text: str, tokens: Tokens | None = None) -> list[str]:
    """The words (pairs, runs) of one text, in order: the definition, in Python, for a single text.

    >>> words_of("The CAT_1 & the dog"), words_of("a b", Tokens(pairs=True)), words_of("abc", Tokens(grams=(4, 4)))
    (['the', 'cat_1', 'the', 'dog'], ['a', 'b', 'a b'], [' abc', 'abc '])
    """
    import re

    words = re.findall(r"\w+", text.lower())
    if tokens is None:
        return words
    stop = set(tokens.stop)
    words = [w for w in words if len(w) >= tokens.shortest and w not in stop]
    if tokens.grams is not None:
        return [gram for word in words for gram in _grams(f" {word} ", *tokens.grams)]
    out: list[str] = []
    for k, word in enumerate(words):
        out.append(word)
        if tokens.pairs and k:
            out.append(f"{words[k - 1]} {word}")
    return out


def _grams(word: str, low: int, high: int) -> list[str]:
    """All runs; a word that is no longer than a run counts as one, once."""
    out = []
    for n in range(low, high + 1):
        out += [word[k : k + n] for k in range(max(len(word) - n, 0) + 1)]
        if len(word) <= n:
            break
    return out


@inner
def load_eight(data: Bytes, k: np.uint64) -> np.uint64:
    """The eight bytes from k on as a number, the first one lowest. (One instruction: k must be unsigned.)"""
    out = np.uint64(data[k])
    for j in range(_ONE, np.uint64(8)):
        out |= np.uint64(data[k + j]) << (j << np.uint64(3))
    return out


@inner
def skip_ascii(data: Bytes, k: int, end: int) -> int:
    """Where the bytes from k on stop being ASCII, or at most seven bytes before."""
    while k + 8 <= end and load_eight(data, np.uint64(k)) & _HIGH_BITS == 0:
        k += 8
    return k


@kernel("u1[], i8[], i8[]", returns=1)
def is_ascii(data: Bytes, starts: Longs, ends: Longs) -> int:
    """Whether no byte of any cell is beyond ASCII."""
    for i in range(starts.size):
        for k in range(skip_ascii(data, starts[i], ends[i]), ends[i]):
            if data[k] >= 128:
                return 0
    return 1


def alphabet_for(cells: Texts) -> Alphabet:
    """The tables that these texts need, or more where these are there already."""
    made = alphabet.cache_info().currsize
    return ASCII if not made and is_ascii(cells.data, cells.starts, cells.ends) else alphabet()


@kernel("u1[], i8[], i8[]", returns=1)
def first_broken(data: Bytes, starts: Longs, ends: Longs) -> int:
    """The first cell that is not sound UTF-8, or -1."""
    for i in range(starts.size):
        k, end = starts[i], ends[i]
        while k < end:
            b = data[k]
            if b < 128:
                k = skip_ascii(data, k + 1, end)
                continue
            if b < 0xC2 or b > 0xF4:
                return i
            more = 1 if b < 0xE0 else (2 if b < 0xF0 else 3)
            if k + more >= end:
                return i
            second = data[k + 1]
            low = 0xA0 if b == 0xE0 else (0x90 if b == 0xF0 else 0x80)
            high = 0x9F if b == 0xED else (0x8F if b == 0xF4 else 0xBF)  # no surrogates, nothing above 10FFFF
            if second < low or second > high:
                return i
            for j in range(2, more + 1):
                if data[k + j] & 0xC0 != 0x80:
                    return i
            k += more + 1
    return -1


@inner
def decode_character(data: Bytes, k: int) -> tuple[np.int64, int]:
    """The character that begins at byte k of sound UTF-8, and how many bytes it has."""
    b = np.int64(data[k])
    if b < 0x80:
        return b, 1
    if b < 0xE0:
        return ((b & 0x1F) << 6) | (np.int64(data[k + 1]) & 0x3F), 2
    if b < 0xF0:
        return ((b & 0x0F) << 12) | ((np.int64(data[k + 1]) & 0x3F) << 6) | (np.int64(data[k + 2]) & 0x3F), 3
    high = ((b & 0x07) << 18) | ((np.int64(data[k + 1]) & 0x3F) << 12)
    return high | ((np.int64(data[k + 2]) & 0x3F) << 6) | (np.int64(data[k + 3]) & 0x3F), 4


@inner
def is_final(data: Bytes, begin: int, at: int, end: int, near: Bytes) -> bool:
    """Whether the capital sigma at `at` ends a word, as Unicode says: a letter before it, none after."""
    k = at
    rank = np.uint8(0)
    while k > begin:
        k -= 1
        while k > begin and data[k] & 0xC0 == 0x80:
            k -= 1
        point, _ = decode_character(data, k)
        rank = near[point]
        if rank != PASSED:
            break
    if rank != CASED:
        return False
    k = at + 2
    while k < end:
        point, width = decode_character(data, k)
        rank = near[point]
        if rank != PASSED:
            return bool(rank != CASED)
        k += width
    return True


@inner
def encode_character(point: int, out: Bytes, at: int) -> int:
    """Write a character as UTF-8; returns how many bytes it has."""
    if point < 0x80:
        out[at] = point
        return 1
    if point < 0x800:
        out[at] = 0xC0 | (point >> 6)
        out[at + 1] = 0x80 | (point & 0x3F)
        return 2
    if point < 0x10000:
        out[at] = 0xE0 | (point >> 12)
        out[at + 1] = 0x80 | ((point >> 6) & 0x3F)
        out[at + 2] = 0x80 | (point & 0x3F)
        return 3
    out[at] = 0xF0 | (point >> 18)
    out[at + 1] = 0x80 | ((point >> 12) & 0x3F)
    out[at + 2] = 0x80 | ((point >> 6) & 0x3F)
    out[at + 3] = 0x80 | (point & 0x3F)
    return 4


@inner
def mix_bits(h: np.uint64) -> np.uint64:
    """A hash whose every bit depends on every bit of h. Different numbers stay different; only 0 gives 0."""
    h ^= h >> np.uint64(30)
    h *= _MIX1
    h ^= h >> np.uint64(27)
    h *= _MIX2
    return h ^ (h >> np.uint64(31))


@inner
def fold_block(h: np.uint64, block: np.uint64) -> np.uint64:
    """The running hash of a long word after eight more bytes."""
    h = (h ^ block) * _PRIME
    return h ^ (h >> np.uint64(29))


def draw_keys() -> Hashes:
    """Secret numbers for a hash table that lives in memory alone: nobody can choose texts that all fall into one place.

    What a table answers does not depend on them (tests/table/test_tokens.py).
    """
    return np.frombuffer(os.urandom(24), np.uint64) | np.uint64(1)


@inner
def fold_product(h: np.uint64, key: np.uint64) -> np.uint64:
    """Both halves of a product in one word: every bit of it depends on every bit of h, in ways that the key decides."""
    return upper_product(h, key) ^ (h * key)  # type: ignore[no-any-return]


@inner
def finish_hash(h: np.uint64, block: np.uint64, length: np.uint64) -> np.uint64:
    """The hash of a word from its last bytes and the running hash of those before; never 0.

    A word of at most eight bytes has none before: two such words have different hashes.
    """
    if length <= np.uint64(SHORT):
        return mix_bits(block)  # type: ignore[no-any-return]
    h = mix_bits(fold_block(h, block) ^ length)
    return h if h != 0 else np.uint64(1)


@inner
def hash_word(out: Bytes, a: int, b: int) -> np.uint64:
    """The hash of the word out[a:b]: of its bytes in blocks of eight, the first one lowest; 0 for the empty word."""
    h = BASIS
    block = np.uint64(0)
    for k in range(b - a):
        if k > 0 and k & 7 == 0:
            h = fold_block(h, block)
            block = np.uint64(0)
        block |= np.uint64(out[a + k]) << np.uint64(8 * (k & 7))
    return finish_hash(h, block, np.uint64(b - a))  # type: ignore[no-any-return]


@inner
def tag_long(h: np.uint64, block: np.uint64, key: np.uint64) -> np.uint64:
    """The tag of a long word from its last bytes and the running product of those before; never 0."""
    h = fold_product(h ^ block, key)
    return h if h != 0 else np.uint64(1)


@inner
def tag_word(out: Bytes, a: int, b: int, keys: Hashes) -> np.uint64:
    """What a table of words in memory knows the word out[a:b] by: its bytes, where there are at most eight; of longer
    ones a hash by the table's secret keys. 0 for the empty word."""
    h, block = keys[0] ^ np.uint64(b - a), np.uint64(0)
    for k in range(b - a):
        if k > 0 and k & 7 == 0:
            h = fold_product(h ^ block, keys[1])
            block = np.uint64(0)
        block |= np.uint64(out[a + k]) << np.uint64(8 * (k & 7))
    return block if b - a <= SHORT else tag_long(h, block, keys[1])


@inner
def first_slot(tag: np.uint64, keys: Hashes, mask: np.uint64) -> np.uint64:
    """Where a tag is looked for first. It depends on a secret: nobody can choose words that all fall into one place."""
    return fold_product(tag, keys[2]) & mask  # type: ignore[no-any-return]


@inner
def lower_character(data: Bytes, begin: int, at: int, end: int, small: Ints, near: Bytes) -> tuple[np.int64, int]:
    """The small form of the character at `at` of the text data[begin:end] (or BREAK, or DOTTED), and its bytes."""
    point, width = decode_character(data, at)
    low = np.int64(small[point])
    if low == SIGMA:
        low = np.int64(0x3C2) if is_final(data, begin, at, end, near) else np.int64(0x3C3)
    return low, width


# A piece of text in small letters, and where its words begin and end: compiled steps, eight bytes at a time.

MARGIN = 80
"""Bytes of room behind a piece: it is read in blocks, beyond its end."""

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
