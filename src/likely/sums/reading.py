"""Documents read word by word, compiled: each word is found in a vocabulary (or added to it) and counted.

Knows bytes and hash tables. A document that does not fit is given up as a whole, with the reason; the caller makes
room and begins it again, so nothing is allocated here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from likely.jit import inner, kernel
from likely.table.tokens import FULL, hashed, mixed, next_word

WORDS, ENTRIES, TOUCHED, COUNTED, UNKNOWN, FROZEN, MOST = range(7)
"""Places in `state`: words known; entries of the tally; different words of this document; all its words; those that a
frozen vocabulary does not know; whether it is frozen; the most words that it may hold."""
DONE, NO_WORDS, NO_LETTERS, NO_ENTRIES, NO_SCRATCH, BOUND = range(6)
"""Why reading stopped."""
TIMES_AT, GROUP_AT, SIZES = 5, 36, 31
"""A key is group << 36 | times << 5 | size, where size is the number of binary digits of the document's length."""
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_SCRAMBLE = np.uint64(0x9E3779B97F4A7C15)
_PRIME = np.uint64(0xD6E8FEB86659FD93)
BLANK = 32


@inner
def place(out: Any, a: int, b: int, h: Any, letters: Any, ends: Any, index: Any) -> int:
    """The number of the word out[a:b]; where it is unknown, -1 - (its slot of the index)."""
    mask = np.uint64(index.size - 1)
    slot = h & mask
    tag = h >> _HALF
    while True:
        held = index[slot]
        if held == 0:
            return -1 - np.int64(slot)
        if held >> _HALF == tag:
            k = np.int64(held & _LOW) - 1
            start = ends[k]
            size = b - a
            if ends[k + 1] - start == size:
                j = 0
                while j < size and letters[start + j] == out[a + j]:
                    j += 1
                if j == size:
                    return k
        slot = (slot + np.uint64(1)) & mask


@inner
def met(
    out: Any, a: int, b: int, h: Any, letters: Any, ends: Any, hashes: Any, index: Any, times: Any, touched: Any,
    state: Any, ceiling: Any,
) -> int:  # fmt: skip
    """Count one word; says why where there is no room for it."""
    state[COUNTED] += 1
    if h > ceiling:
        return DONE
    k = place(out, a, b, h, letters, ends, index)
    if k < 0:
        if state[FROZEN]:
            state[UNKNOWN] += 1
            return DONE
        known = state[WORDS]
        if known > state[MOST]:
            return BOUND
        if known == hashes.size:
            return NO_WORDS
        top = ends[known]
        if top + b - a > letters.size:
            return NO_LETTERS
        for j in range(b - a):
            letters[top + j] = out[a + j]
        ends[known + 1] = top + b - a
        hashes[known] = h
        index[-1 - k] = ((h >> _HALF) << _HALF) | np.uint64(known + 1)
        state[WORDS] = known + 1
        k = known
    if times[k] == 0:
        touched[state[TOUCHED]] = k
        state[TOUCHED] += 1
    times[k] += 1
    return DONE


@inner
def _after(out: Any, a: int) -> int:
    """Where the character after the one at `a` begins."""
    a += 1
    while out[a] & 0xC0 == 0x80:
        a += 1
    return a


@inner
def runs_met(
    out: Any, a: int, b: int, count: int, low: int, high: int, letters: Any, ends: Any, hashes: Any, index: Any,
    times: Any, touched: Any, state: Any, ceiling: Any,
) -> int:  # fmt: skip
    """Count the runs of low … high characters of out[a:b], which has `count` of them and ends with a blank."""
    for n in range(low, high + 1):
        start, end = a, a
        for _ in range(min(n, count)):
            end = _after(out, end) if end < b - 1 else b
        while True:
            why = met(
                out, start, end, mixed(hashed(out, start, end)), letters, ends, hashes, index, times, touched, state,
                ceiling,
            )  # fmt: skip
            if why != DONE:
                return why
            if end >= b:
                break
            start = _after(out, start)
            end = _after(out, end) if end < b - 1 else b
        if count <= n:
            break
    return DONE


@inner
def read_document(
    data: Any, begin: int, end: int, bytes_: Any, small: Any, near: Any, how: Any, out: Any, stop_letters: Any,
    stop_ends: Any, stop_index: Any, letters: Any, ends: Any, hashes: Any, index: Any, times: Any, touched: Any,
    state: Any, ceiling: Any,
) -> int:  # fmt: skip
    """Count the words of data[begin:end] into `times`; `touched` lists the words met. On failure nothing is counted."""
    state[TOUCHED] = 0
    state[COUNTED] = 0
    state[UNKNOWN] = 0
    shortest, pairs, low, high = how[0], how[1], how[2], how[3]
    out[0] = BLANK
    top = 1
    previous = np.int64(-1)
    at = begin
    why = DONE
    while True:
        stopped, upto, count, h = next_word(data, begin, at, end, bytes_, small, near, out, top)
        if count == FULL:
            kept = previous if previous >= 0 else top
            if kept <= 1:
                why = NO_SCRATCH
                break
            for j in range(kept, top):
                out[1 + j - kept] = out[j]
            top -= kept - 1
            previous = np.int64(1) if previous >= 0 else previous
            continue
        if count == 0:
            break
        at = stopped
        if count < shortest:
            continue
        h = mixed(h)
        if stop_index.size > 1 and place(out, top, upto, h, stop_letters, stop_ends, stop_index) >= 0:
            continue
        if low > 0:
            out[upto] = BLANK
            why = runs_met(
                out, top - 1, upto + 1, count + 2, low, high, letters, ends, hashes, index, times, touched, state,
                ceiling,
            )  # fmt: skip
        else:
            why = met(out, top, upto, h, letters, ends, hashes, index, times, touched, state, ceiling)
            if pairs and why == DONE:
                if previous >= 0:
                    h = mixed(hashed(out, previous, upto))
                    why = met(out, previous, upto, h, letters, ends, hashes, index, times, touched, state, ceiling)
                previous = top
                out[upto] = BLANK
                top = upto + 1
        if why != DONE:
            break
    if why != DONE:
        for j in range(state[TOUCHED]):
            times[touched[j]] = 0
        state[TOUCHED] = 0
    return why


@inner
def _size(count: int) -> int:
    size = 0
    while count > 0:
        count >>= 1
        size += 1
    return size


@inner
def _slot(word: int, key: int, mask: Any) -> Any:
    h = (np.uint64(key) * _SCRAMBLE) ^ (np.uint64(word) * _PRIME)
    h ^= h >> _HALF
    h *= _SCRAMBLE
    return (h >> np.uint64(29)) & mask


@kernel(
    "u1[], i8[], i8[], i8, i4[], i8[][], u1[], i4[], u1[], i8[], u1[], u1[], i8[], u8[], u1[], i8[], u8[], u8[], "
    "i4[], i4[], i4[], i8[], i4[], i8[][], i8, i8[], u8[]",
    returns=2,
)
def count_words(
    data: Any, starts: Any, stops: Any, row: int, group: Any, chunks: Any, bytes_: Any, small: Any, near: Any,
    how: Any, scratch: Any, stop_letters: Any, stop_ends: Any, stop_index: Any, letters: Any, ends: Any, hashes: Any,
    index: Any, times: Any, touched: Any, entry_word: Any, entry_key: Any, slots: Any, planes: Any, plane: int,
    state: Any, limit: Any,
) -> Any:  # fmt: skip
    """Tally documents from number `row` on: planes[:, (word, group, times, size)] += weight.

    Word 0 stands for the document itself: its `times` are all the words. Returns the first document not taken, and why.
    """
    weighted = chunks.shape[1] > 0
    mask = np.uint64(slots.size - 1)
    ceiling = limit[0]
    for i in range(row, starts.size):
        g = np.int64(group[i])
        if g < 0:
            continue
        if weighted:
            some = np.int64(0)
            for p in range(chunks.shape[0]):
                some |= chunks[p, i]
            if some == 0:
                continue
        why = read_document(
            data, starts[i], stops[i], bytes_, small, near, how, scratch, stop_letters, stop_ends, stop_index, letters,
            ends, hashes, index, times, touched, state, ceiling,
        )  # fmt: skip
        if why == DONE and state[ENTRIES] + state[TOUCHED] + 1 > entry_key.size:
            for j in range(state[TOUCHED]):
                times[touched[j]] = 0
            why = NO_ENTRIES
        if why != DONE:
            return i, why
        size = _size(state[COUNTED])
        entries = state[ENTRIES]
        for j in range(-1, state[TOUCHED]):
            k = np.int64(0)
            t = state[COUNTED]
            if j >= 0:
                k = np.int64(touched[j])
                t = np.int64(times[k])
                times[k] = 0
            key = (g << GROUP_AT) | (t << TIMES_AT) | size
            slot = _slot(k, key, mask)
            e = np.int64(slots[slot])
            while e >= 0 and (entry_key[e] != key or entry_word[e] != k):
                slot = (slot + np.uint64(1)) & mask
                e = np.int64(slots[slot])
            if e < 0:
                e = entries
                entries += 1
                slots[slot] = e
                entry_key[e] = key
                entry_word[e] = k
            if weighted:
                for p in range(chunks.shape[0]):
                    planes[plane + p, e] += chunks[p, i]
            else:
                planes[plane, e] += 1
        state[ENTRIES] = entries
    return starts.size, DONE


@kernel("i4[], i8[], i8, i4[]")
def index_entries(entry_word: Any, entry_key: Any, known: int, slots: Any) -> None:
    """Fill the empty index of a tally's entries, all different."""
    mask = np.uint64(slots.size - 1)
    for e in range(known):
        slot = _slot(np.int64(entry_word[e]), entry_key[e], mask)
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = e


@kernel(
    "u1[], i8[], i8[], i8, u1[], i4[], u1[], i8[], u1[], u1[], i8[], u8[], u1[], i8[], u8[], u8[], i4[], i4[], i8[], "
    "u8[], f8[], f8[][], f8[][], i8[], i8[]",
    returns=2,
)
def score_words(
    data: Any, starts: Any, stops: Any, row: int, bytes_: Any, small: Any, near: Any, how: Any, scratch: Any,
    stop_letters: Any, stop_ends: Any, stop_index: Any, letters: Any, ends: Any, hashes: Any, index: Any, times: Any,
    touched: Any, state: Any, limit: Any, damped: Any, weights: Any, out: Any, counted: Any, unknown: Any,
) -> Any:  # fmt: skip
    """out[i] += sum over the known words of document i of damped[times] * weights[word].

    Returns the document at which it stopped and why: a reason, or (negative) a count beyond `damped`.
    """
    ceiling = limit[0]
    for i in range(row, starts.size):
        why = read_document(
            data, starts[i], stops[i], bytes_, small, near, how, scratch, stop_letters, stop_ends, stop_index, letters,
            ends, hashes, index, times, touched, state, ceiling,
        )  # fmt: skip
        if why != DONE:
            return i, why
        most = 0
        for j in range(state[TOUCHED]):
            most = max(most, times[touched[j]])
        beyond = most >= damped.size
        for j in range(state[TOUCHED]):
            k = touched[j]
            if not beyond:
                f = damped[times[k]]
                for c in range(weights.shape[1]):
                    out[i, c] += f * weights[k, c]
            times[k] = 0
        if beyond:
            return i, -most
        counted[i] = state[COUNTED]
        unknown[i] = state[UNKNOWN]
    return starts.size, DONE
