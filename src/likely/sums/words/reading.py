"""Documents read word by word, compiled: each word is found in a vocabulary (or added to it) and counted.

Knows bytes and hash tables. A document that does not fit is given up as a whole, with the reason; the caller makes
room and begins it again, so nothing is allocated here.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from likely.machinery.arrays import Bools, Bytes, Floats, Hashes, Ints, Longs, Whole
from likely.machinery.jit import inner, kernel
from likely.table.words import SHORT, find_words, first_slot, hash_word, load_eight, lower_piece, read_tag

WORDS, ENTRIES, TOUCHED, COUNTED, UNKNOWN, FROZEN, MOST, BEFORE, DOCUMENTS, OFTEN, STATE = range(11)
"""Places in `state`: words known; entries that came; different words of this document; all its words; those that a
frozen vocabulary does not know; whether it is frozen; the most words that it may hold; how many
bytes the word before has; documents whose entries came; all times of these entries, bit by bit. Last how many places
there are."""
DONE, NO_WORDS, NO_LETTERS, NO_ENTRIES, NO_SCRATCH, BOUND = range(6)
"""Why reading stopped."""
TIMES_AT, GROUP_AT, SIZES = 5, 36, 31
"""A key is group << 36 | times << 5 | size, where size is the number of binary digits of the document's length."""
LONG_AT, NUMBER_AT = np.uint64(32), np.uint64(33)
"""A slot of the index holds a tag, and number << 33 | is it long << 32 | times in this document. One look at memory
thus finds a word and counts it."""
TIMES = np.uint64(2**32 - 1)
_ONE, _EIGHT, _ALL = np.uint64(1), np.uint64(8), np.uint64(2**64 - 1)
BLANK = 32
Table: TypeAlias = tuple[Bytes, Longs, Hashes, Hashes]
"""A vocabulary: letters, ends, the secret keys of its index, index."""


@inner
def same_long(low: Bytes, a: Whole, letters: Bytes, start: Whole, size: Whole) -> Any:
    """Whether two words of `size` bytes, more than eight, are the same."""
    k = np.uint64(0)
    while k + _EIGHT < size:
        if load_eight(low, a + k) != load_eight(letters, start + k):
            return False
        k += _EIGHT
    return load_eight(low, a + size - _EIGHT) == load_eight(letters, start + size - _EIGHT)


@inner
def place(low: Bytes, a: Whole, b: Whole, tag: Whole, words: Table) -> Whole:
    """The slot of the word low[a:b]; where it is unknown, -1 - (the slot where it would be).

    Short words are told apart by their tags alone; long ones are compared.
    """
    letters, ends, keys, index = words
    mask = np.uint64(index.shape[0] - 1)
    slot = first_slot(tag, keys, mask)
    long = np.uint64(b - a > np.uint64(SHORT))
    while True:
        held = index[slot, 0]
        if held == tag:
            about = index[slot, 1]
            if (about >> LONG_AT) & _ONE == long:
                if long == 0:
                    return np.int64(slot)
                k = about >> NUMBER_AT
                start = np.uint64(ends[k])
                if np.uint64(ends[k + _ONE]) - start == b - a and same_long(low, a, letters, start, b - a):
                    return np.int64(slot)
        elif held == 0:
            return -1 - np.int64(slot)
        slot = (slot + _ONE) & mask


@inner
def count_word(
    low: Bytes, a: Whole, b: Whole, tag: Whole, words: Table, touched: Ints, state: Longs, ceiling: Whole
) -> Whole:
    """Count the word low[a:b], which is added where it is new; returns why that cannot be, or DONE.

    Words whose hash is above the ceiling are passed over. A table has one ceiling as long as it lives, so none of them
    is in it.
    """
    letters, ends, _, index = words
    slot = place(low, a, b, tag, words)
    if slot < 0:
        if ceiling != _ALL and hash_word(low, np.int64(a), np.int64(b)) > ceiling:
            return DONE
        if state[FROZEN]:
            state[UNKNOWN] += 1
            return DONE
        known = state[WORDS]
        if known > state[MOST]:
            return BOUND
        if known + 1 == ends.size:
            return NO_WORDS
        top = ends[known]
        size = np.int64(b - a)
        if top + size > letters.size:
            return NO_LETTERS
        for j in range(size):
            letters[top + j] = low[np.int64(a) + j]
        ends[known + 1] = top + size
        slot = -1 - slot
        index[slot, 0] = tag
        index[slot, 1] = (np.uint64(known) << NUMBER_AT) | (np.uint64(size > SHORT) << LONG_AT)
        state[WORDS] = known + 1
    at = np.uint64(slot)
    about = index[at, 1]
    index[at, 1] = about + _ONE
    # Without a branch: whether a word was met before in this document is hard to foresee.
    touched[np.uint64(state[TOUCHED])] = slot
    state[TOUCHED] += about & TIMES == 0
    return DONE


@inner
def count_plain(
    low: Bytes, bounds: Ints, found: Whole, tags: Hashes, words: Table, touched: Ints, state: Longs, ceiling: Whole
) -> Any:
    """Count words by their bounds in `low`, as they are; returns why that cannot be, or DONE.

    All tags come first: then the processor looks several words up at once.
    """
    keys, index = words[2], words[3]
    mask = np.uint64(index.shape[0] - 1)
    for w in range(np.uint64(found)):
        tags[w] = read_tag(low, np.uint64(bounds[w + w]), np.uint64(bounds[w + w + _ONE]), keys)
    different = np.uint64(state[TOUCHED])
    for w in range(np.uint64(found)):
        tag = tags[w]
        slot = first_slot(tag, keys, mask)
        about = index[slot, 1]
        length = np.uint64(bounds[w + w + _ONE] - bounds[w + w])
        # Nearly all words are short, known, and where they should be.
        if index[slot, 0] == tag and ((about >> LONG_AT) & _ONE) == 0 and length <= SHORT:
            index[slot, 1] = about + _ONE
            # Without a branch: whether a word was met before in this document is hard to foresee.
            touched[different] = slot
            different += np.uint64((about & TIMES) == 0)
        else:
            state[TOUCHED] = different
            a = np.uint64(bounds[w + w])
            why = count_word(low, a, a + length, tag, words, touched, state, ceiling)
            if why != DONE:
                return why
            different = np.uint64(state[TOUCHED])
    state[TOUCHED] = different
    return DONE


@inner
def forget(index: Hashes, touched: Ints, state: Longs) -> None:
    """Count nothing of this document."""
    for j in range(state[TOUCHED]):
        slot = touched[j]
        index[slot, 1] &= ~TIMES
    state[TOUCHED] = 0


@inner
def _after(out: Bytes, a: int) -> int:
    """Where the character after the one at `a` begins."""
    a += 1
    while out[a] & 0xC0 == 0x80:
        a += 1
    return a


@inner
def _characters(out: Bytes, a: Whole, b: Whole) -> int:
    count = 0
    for k in range(a, b):
        count += out[k] & 0xC0 != 0x80
    return count


@inner
def count_runs(
    out: Bytes, b: int, count: int, low: int, high: int, words: Table, touched: Ints, state: Longs, ceiling: Whole
) -> Any:
    """Count the runs of low … high characters of out[:b], which has `count` of them and ends with a blank."""
    for n in range(low, high + 1):
        start, end = 0, 0
        for _ in range(min(n, count)):
            end = _after(out, end) if end < b - 1 else b
        while True:
            tag = read_tag(out, np.uint64(start), np.uint64(end), words[2])
            why = count_word(out, np.uint64(start), np.uint64(end), tag, words, touched, state, ceiling)
            if why != DONE:
                return why
            state[COUNTED] += 1
            if end >= b:
                break
            start = _after(out, start)
            end = _after(out, end) if end < b - 1 else b
        if count <= n:
            break
    return DONE


@inner
def _copied(low: Bytes, a: Whole, b: Whole, out: Bytes, at: int) -> int:
    """Copy low[a:b] to out[at:]; returns where it ends."""
    for k in range(np.int64(a), np.int64(b)):
        out[at] = low[k]
        at += 1
    return at


@inner
def _count_as_set(
    low: Bytes,
    a: Whole,
    b: Whole,
    how: Longs,
    joint: Bytes,
    stop: Table,
    words: Table,
    touched: Ints,
    state: Longs,
    ceiling: Whole,
) -> Any:
    """Count a word as the settings say: unless it is passed over, with the pair that it ends, or the runs in it."""
    shortest, pairs, least, most = how[0], how[1], how[2], how[3]
    if shortest > 1 and _characters(low, a, b) < shortest:
        return DONE
    if stop[3].shape[0] > 1 and place(low, a, b, read_tag(low, a, b, stop[2]), stop) >= 0:
        return DONE
    if least > 0:
        joint[0] = BLANK
        upto = _copied(low, a, b, joint, 1)
        joint[upto] = BLANK
        count = _characters(low, a, b) + 2
        return count_runs(joint, upto + 1, count, least, most, words, touched, state, ceiling)
    why = count_word(low, a, b, read_tag(low, a, b, words[2]), words, touched, state, ceiling)
    state[COUNTED] += 1
    if pairs and why == DONE:
        before = state[BEFORE]
        if before > 0:
            joint[before] = BLANK
            upto = _copied(low, a, b, joint, before + 1)
            tag = read_tag(joint, np.uint64(0), np.uint64(upto), words[2])
            why = count_word(joint, np.uint64(0), np.uint64(upto), tag, words, touched, state, ceiling)
            state[COUNTED] += 1
        state[BEFORE] = _copied(low, a, b, joint, 0)
    return why


@inner
def read_document(
    data: Bytes, begin: int, end: int, alphabet: tuple[Bytes, Ints, Bytes], how: Longs,
    scratch: tuple[Bytes, Ints, Bytes, Hashes], stop: Table, words: Table, touched: Ints, state: Longs, ceiling: Whole,
) -> Any:  # fmt: skip
    """Count the words of data[begin:end] in their slots; `touched` lists these. On failure nothing is counted.

    The text is read in pieces that fit into `low`; a word that a piece breaks off begins the next one. In `joint`
    stands the word before.
    """
    low, bounds, joint, marks = scratch
    plain = how[0] == 1 and how[1] == 0 and how[2] == 0 and stop[3].shape[0] == 1
    state[UNKNOWN] = state[COUNTED] = state[TOUCHED] = state[BEFORE] = 0
    here, size = begin, 0
    why: Any = DONE
    while True:
        here, size = lower_piece(data, begin, here, end, alphabet, low, size)
        found = find_words(low, size, bounds) >> 1
        at_end, rest = here >= end, size
        if not at_end and found > 0 and bounds[2 * found - 1] == size:
            found -= 1
            rest = np.int64(bounds[2 * found])
            if rest == 0:
                why = NO_SCRATCH
        if plain and why == DONE:
            why = count_plain(low, bounds, found, marks, words, touched, state, ceiling)
            state[COUNTED] += found
        elif why == DONE:
            for w in range(np.uint64(found)):
                a, b = np.uint64(bounds[w + w]), np.uint64(bounds[w + w + _ONE])
                why = _count_as_set(low, a, b, how, joint, stop, words, touched, state, ceiling)
                if why != DONE:
                    break
        if at_end or why != DONE:
            break
        for j in range(size - rest):
            low[j] = low[rest + j]
        size -= rest
    if why != DONE:
        touched_now = state[TOUCHED]
        forget(words[3], touched, state)
        state[TOUCHED] = touched_now
    return why


@inner
def _size(count: int) -> int:
    size = 0
    while count > 0:
        count >>= 1
        size += 1
    return size


@kernel(
    "u1[], i8[], i8[], i8, i4[], b1[], u1[], i4[], u1[], i8[], u1[], i4[], u1[], u8[], u1[], i8[], u8[], u8[][], u1[], "
    "i8[], u8[], u8[][], i4[], u8[], i8[][], i8[], u8[]",
    returns=2,
)
def count_words(
    data: Bytes, starts: Longs, stops: Longs, row: int, group: Ints, left_out: Bools, bytes_: Bytes, small: Ints,
    near: Bytes, how: Longs, low: Bytes, bounds: Ints, joint: Bytes, marks: Hashes, stop_letters: Bytes,
    stop_ends: Longs, stop_keys: Hashes, stop_index: Hashes, letters: Bytes, ends: Longs, keys: Hashes,
    index: Hashes, touched: Ints, entries: Hashes, documents: Longs, state: Longs, limit: Hashes,
) -> tuple[Whole, Whole]:  # fmt: skip
    """Write an entry for each word of each document from number `row` on, and what they share for the document.

    Word 0 stands for the document itself: its `times` are all the words. Returns the first document not taken, and why.
    """
    alphabet, scratch = (bytes_, small, near), (low, bounds, joint, marks)
    stop, words = (stop_letters, stop_ends, stop_keys, stop_index), (letters, ends, keys, index)
    ceiling = limit[0]
    for i in range(row, starts.size):
        g = np.int64(group[i])
        if g < 0 or (left_out.size > 0 and left_out[i]):
            continue
        why = read_document(
            data, starts[i], stops[i], alphabet, how, scratch, stop, words, touched, state, ceiling
        )  # fmt: skip
        full = state[ENTRIES] + state[TOUCHED] + 1 > entries.size or state[DOCUMENTS] == documents.shape[0]
        if why == DONE and full:
            different = state[TOUCHED]
            forget(index, touched, state)
            state[TOUCHED] = different
            why = NO_ENTRIES
        if why != DONE:
            return i, why
        size = _size(state[COUNTED])
        if size == 0 and stops[i] > starts[i]:
            size = 1  # a text that has no words, which is not a missing one
        e, d = np.uint64(state[ENTRIES]), state[DOCUMENTS]
        often = np.uint64(state[COUNTED])
        entries[e] = often
        for j in range(np.uint64(state[TOUCHED])):
            e += _ONE
            slot = np.uint64(touched[j])
            about = index[slot, 1]
            index[slot, 1] = about & ~TIMES
            entries[e] = about
            often |= about
        documents[d, 0] = state[ENTRIES] = np.int64(e) + 1
        documents[d, 1] = (g << GROUP_AT) | size
        documents[d, 2] = i
        state[DOCUMENTS] = d + 1
        state[OFTEN] |= np.int64(often & TIMES)
    return starts.size, DONE


@kernel(
    "u1[], i8[], i8[], i8, u1[], i4[], u1[], i8[], u1[], i4[], u1[], u8[], u1[], i8[], u8[], u8[][], u1[], i8[], u8[], "
    "u8[][], i4[], i8[], u8[], f8[], f8[][], f8[][], i8[], i8[]",
    returns=2,
)
def score_words(
    data: Bytes, starts: Longs, stops: Longs, row: int, bytes_: Bytes, small: Ints, near: Bytes, how: Longs,
    low: Bytes, bounds: Ints, joint: Bytes, marks: Hashes, stop_letters: Bytes, stop_ends: Longs,
    stop_keys: Hashes, stop_index: Hashes, letters: Bytes, ends: Longs, keys: Hashes, index: Hashes,
    touched: Ints, state: Longs, limit: Hashes, damped: Floats, weights: Floats, out: Floats, counted: Longs,
    unknown: Longs,
) -> tuple[Whole, Whole]:  # fmt: skip
    """out[i] += sum over the known words of document i of damped[times] * weights[word].

    Returns the document at which it stopped and why: a reason, or (negative) a count beyond `damped`.
    """
    alphabet, scratch = (bytes_, small, near), (low, bounds, joint, marks)
    stop, words = (stop_letters, stop_ends, stop_keys, stop_index), (letters, ends, keys, index)
    ceiling = limit[0]
    for i in range(row, starts.size):
        why = read_document(
            data, starts[i], stops[i], alphabet, how, scratch, stop, words, touched, state, ceiling
        )  # fmt: skip
        if why != DONE:
            return i, why
        most = np.uint64(0)
        for j in range(state[TOUCHED]):
            most = max(most, index[touched[j], 1] & TIMES)
        if most >= damped.size:
            forget(index, touched, state)
            return i, -np.int64(most)
        for j in range(np.uint64(state[TOUCHED])):
            slot = np.uint64(touched[j])
            about = index[slot, 1]
            times = about & TIMES
            index[slot, 1] = about - times
            f = damped[times]
            k = about >> NUMBER_AT
            for c in range(weights.shape[1]):
                out[i, c] += f * weights[k, c]
        counted[i] = state[COUNTED]
        unknown[i] = state[UNKNOWN]
    return starts.size, DONE
