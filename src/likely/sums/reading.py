"""Documents read word by word, compiled: each word is found in a vocabulary (or added to it) and counted.

Knows bytes and hash tables. A document that does not fit is given up as a whole, with the reason; the caller makes
room and begins it again, so nothing is allocated here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from likely.jit import inner, kernel
from likely.table.letters import BREAK, DOTTED, LONGER
from likely.table.tokens import BASIS, SHORT, encoded, finished, folded, hashed, lowered

WORDS, ENTRIES, TOUCHED, COUNTED, UNKNOWN, FROZEN, MOST = range(7)
"""Places in `state`: words known; entries of the tally; different words of this document; all its words; those that a
frozen vocabulary does not know; whether it is frozen; the most words that it may hold."""
DONE, NO_WORDS, NO_LETTERS, NO_ENTRIES, NO_SCRATCH, BOUND = range(6)
"""Why reading stopped."""
TIMES_AT, GROUP_AT, SIZES = 5, 36, 31
"""A key is group << 36 | times << 5 | size, where size is the number of binary digits of the document's length."""
_ONE, _SEVEN, _EIGHT = np.uint64(1), np.uint64(7), np.uint64(8)
_HALF = np.uint64(32)
_SCRAMBLE = np.uint64(0x9E3779B97F4A7C15)
_PRIME = np.uint64(0xD6E8FEB86659FD93)
BLANK, PASSED = 32, -1


@inner
def place(out: Any, a: int, b: int, h: Any, letters: Any, ends: Any, index: Any) -> Any:
    """The number of the word out[a:b] with hash h; where it is unknown, -1 - (its slot of the index).

    A slot of the index holds a hash, and twice the word's number plus one if it is long. Short words are told apart
    by their hashes alone (see `finished`); long ones are compared byte by byte.
    """
    mask = np.uint64(index.shape[0] - 1)
    slot = h & mask
    size = b - a
    long = np.uint64(size > SHORT)
    while True:
        held = index[slot, 0]
        if held == h:
            about = index[slot, 1]
            if about & _ONE == long:
                k = np.int64(about >> _ONE)
                if long == 0:
                    return k
                start = ends[k]
                if ends[k + 1] - start == size:
                    j = 0
                    while j < size and letters[start + j] == out[a + j]:
                        j += 1
                    if j == size:
                        return k
        elif held == 0:
            return -1 - np.int64(slot)
        slot = (slot + _ONE) & mask


@inner
def met(
    out: Any, a: int, b: int, h: Any, letters: Any, ends: Any, hashes: Any, index: Any, state: Any, ceiling: Any
) -> Any:
    """The number of a word, which is added where it is new; PASSED where it is not held; -2 - why without room."""
    if h > ceiling:
        return PASSED
    k = place(out, a, b, h, letters, ends, index)
    if k >= 0:
        return k
    if state[FROZEN]:
        state[UNKNOWN] += 1
        return PASSED
    known = state[WORDS]
    if known > state[MOST]:
        return -2 - BOUND
    if known == hashes.size:
        return -2 - NO_WORDS
    top = ends[known]
    if top + b - a > letters.size:
        return -2 - NO_LETTERS
    for j in range(b - a):
        letters[top + j] = out[a + j]
    ends[known + 1] = top + b - a
    hashes[known] = h
    slot = -1 - k
    index[slot, 0] = h
    index[slot, 1] = np.uint64(2 * known + (b - a > SHORT))
    state[WORDS] = known + 1
    return known


@inner
def counted_once(k: int, times: Any, touched: Any, different: int) -> int:
    """Count word k; returns how many different words have been met."""
    if k < 0:
        return different
    if times[k] == 0:
        touched[different] = k
        different += 1
    times[k] += 1
    return different


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
    times: Any, touched: Any, state: Any, ceiling: Any, different: int,
) -> Any:  # fmt: skip
    """Count the runs of low … high characters of out[a:b], which has `count` of them and ends with a blank.

    Returns the last word's number (or why there is none), different words so far, and how many runs there were.
    """
    runs = 0
    k = np.int64(PASSED)
    for n in range(low, high + 1):
        start, end = a, a
        for _ in range(min(n, count)):
            end = _after(out, end) if end < b - 1 else b
        while True:
            k = met(out, start, end, hashed(out, start, end), letters, ends, hashes, index, state, ceiling)
            if k < PASSED:
                return k, different, runs
            different = counted_once(k, times, touched, different)
            runs += 1
            if end >= b:
                break
            start = _after(out, start)
            end = _after(out, end) if end < b - 1 else b
        if count <= n:
            break
    return k, different, runs


@inner
def read_document(
    data: Any, begin: int, end: int, bytes_: Any, small: Any, near: Any, how: Any, out: Any, stop_letters: Any,
    stop_ends: Any, stop_index: Any, letters: Any, ends: Any, hashes: Any, index: Any, times: Any, touched: Any,
    state: Any, ceiling: Any,
) -> Any:  # fmt: skip
    """Count the words of data[begin:end] into `times`; `touched` lists the words met. On failure nothing is counted.

    Words are written to `out`, with a blank before and after; a pair is two of them and the blank between.
    """
    state[UNKNOWN] = 0
    shortest, pairs, low, high = np.uint64(how[0]), how[1], how[2], how[3]
    out[0] = BLANK
    # Unsigned, so that no index is checked for being negative: the loops run once for each byte.
    here, stop, room = np.uint64(begin), np.uint64(end), np.uint64(out.size - 5)
    first = size = np.uint64(1)
    previous = more = np.uint64(0)
    h, block = BASIS, np.uint64(0)
    different: Any = 0
    counted: Any = 0
    why: Any = DONE
    while True:
        fast = min(stop, here + (room - size)) if size < room else here
        c = np.uint8(0)
        while here < fast:
            c = bytes_[data[here]]
            if c <= LONGER:
                break
            if (size - first) & _SEVEN == 0 and size > first:
                h = folded(h, block)
                block = np.uint64(0)
            block = (block << _EIGHT) | np.uint64(c)
            out[size] = c
            size += _ONE
            here += _ONE
        if here == fast and here < stop:  # no room for more letters
            kept = previous if previous > 0 else first
            if kept == _ONE:
                why = NO_SCRATCH
                break
            for j in range(size - kept):
                out[_ONE + j] = out[kept + j]
            first -= kept - _ONE
            size -= kept - _ONE
            previous = _ONE if previous > 0 else previous
            continue
        at_end = here >= stop
        here += _ONE
        if not at_end and c == LONGER:
            point, width = lowered(data, begin, np.int64(here - _ONE), end, small, near)
            here += np.uint64(width - 1)
            if point != BREAK:
                width = encoded(np.int64(105) if point == DOTTED else point, out, np.int64(size))
                for _ in range(width):
                    if (size - first) & _SEVEN == 0 and size > first:
                        h = folded(h, block)
                        block = np.uint64(0)
                    block = (block << _EIGHT) | np.uint64(out[size])
                    size += _ONE
                more += np.uint64(width - 1)
                if point != DOTTED:
                    continue
        length = size - first
        if length > 0:
            h = finished(h, block, length)
            a, b = np.int64(first), np.int64(size)
            skipped = length - more < shortest
            if not skipped and stop_index.shape[0] > 1:
                skipped = place(out, a, b, h, stop_letters, stop_ends, stop_index) >= 0
            k = np.int64(PASSED)
            if not skipped and low > 0:
                out[size] = BLANK
                k, different, runs = runs_met(
                    out, a - 1, b + 1, np.int64(length - more) + 2, low, high, letters, ends, hashes, index, times,
                    touched, state, ceiling, different,
                )  # fmt: skip
                counted += runs
            elif not skipped:
                k = met(out, a, b, h, letters, ends, hashes, index, state, ceiling)
                different = counted_once(k, times, touched, different)
                counted += 1
                if pairs and k >= PASSED:
                    if previous > 0:
                        a = np.int64(previous)
                        k = met(out, a, b, hashed(out, a, b), letters, ends, hashes, index, state, ceiling)
                        different = counted_once(k, times, touched, different)
                        counted += 1
                    previous = first
                    out[size] = BLANK
                    first = size + _ONE
            if k < PASSED:
                why = -2 - k
                break
            size, more = first, np.uint64(0)
            h, block = BASIS, np.uint64(0)
        if at_end:
            break
    if why != DONE:
        for j in range(different):
            times[touched[j]] = 0
    state[TOUCHED], state[COUNTED] = different, counted
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
    "u1[], i8[], i8[], i8, i4[], i8[][], u1[], i4[], u1[], i8[], u1[], u1[], i8[], u8[][], u1[], i8[], u8[], u8[][], "
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
            e = np.int64(slots[slot]) - 1
            while e >= 0 and (entry_key[e] != key or entry_word[e] != k):
                slot = (slot + np.uint64(1)) & mask
                e = np.int64(slots[slot]) - 1
            if e < 0:
                e = entries
                entries += 1
                slots[slot] = entries
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
    """Fill the empty index of a tally's entries, all different: a slot holds an entry's number plus one."""
    mask = np.uint64(slots.size - 1)
    for e in range(known):
        slot = _slot(np.int64(entry_word[e]), entry_key[e], mask)
        while slots[slot] > 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = e + 1


@kernel(
    "u1[], i8[], i8[], i8, u1[], i4[], u1[], i8[], u1[], u1[], i8[], u8[][], u1[], i8[], u8[], u8[][], i4[], i4[], "
    "i8[], u8[], f8[], f8[][], f8[][], i8[], i8[]",
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
