"""What tells one state of a file from another: its stamp (size and times) and a fingerprint of all its bytes.

Knows bytes and what the operating system says of a file; never what the bytes mean.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from likely.errors import InputError, LikelyError
from likely.machinery.jit import kernel
from likely.table.formats.files import reading
from likely.table.source import Source

_BLOCK = 1 << 20
RECENT = 2_000_000_000
"""Nanoseconds: a file written so shortly before may change again without its times saying so."""


@dataclass(frozen=True)
class Stamp:
    """What the operating system says of a file without reading it."""

    size: int
    written: int
    changed: int

    @classmethod
    def of(cls, path: str, name: str) -> Stamp:
        with reading(name):
            found = os.stat(path)
        return cls(found.st_size, found.st_mtime_ns, found.st_ctime_ns)

    def same_content(self, other: Stamp) -> bool:
        """Whether nothing speaks for other bytes. A new name or other permissions change a file's times, but not it."""
        return (self.size, self.written) == (other.size, other.written)

    def settled(self, at: int | None = None) -> bool:
        """Whether the times were old enough at that time to tell of every change since."""
        return max(self.written, self.changed) + RECENT < (time.time_ns() if at is None else at)


class Unchanged:
    """Watches a file while it is read, and says so where it changed meanwhile."""

    def __init__(self, path: str, name: str) -> None:
        self._path, self._name = path, name
        self.stamp = Stamp.of(path, name)

    def check(self) -> None:
        """Refuse what has been read if the file is no longer the one that was opened."""
        if not Stamp.of(self._path, self._name).same_content(self.stamp):
            raise InputError(
                f"{self._name} changed while it was read. Run again when whoever writes it is done, or read a copy."
            )


class Watched(Source):
    """A file as a table; reading it to its end fails if the file changed since it was opened."""

    def __init__(self, source: Source, watch: Unchanged) -> None:
        self._source, self._watch = source, watch
        self.name, self.schema, self.declared = source.name, source.schema, source.declared
        self.rows, self.notes, self.parsed = source.rows, source.notes, source.parsed

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        try:
            yield from self._source.batches(columns)
        except LikelyError:
            self._watch.check()  # what looks damaged may just be half written
            raise
        self._watch.check()

    def reopened(self, encoding: str) -> Source:
        return Watched(self._source.reopened(encoding), self._watch)


def fingerprint(path: str, name: str) -> str:
    """128 bits of all bytes of a file, as 32 hexadecimal digits. Not made to withstand someone who wants two alike."""
    lanes = np.array([0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89], np.uint64)
    block, size = np.zeros(_BLOCK // 8, np.uint64), 0
    view = block.data.cast("B")
    with reading(name), open(path, "rb", buffering=0) as file:
        while True:
            filled = 0
            while filled < _BLOCK and (more := file.readinto(view[filled:])):
                filled += more
            if filled < _BLOCK:
                view[filled:] = bytes(_BLOCK - filled)  # zeros; the size tells them from zeros of the file
            size += filled
            if filled:
                mix(block[: -(-filled // 32) * 4], lanes)
            if filled < _BLOCK:
                break
    mix(np.full(8, size, np.uint64), lanes)
    ends = np.empty(2, np.uint64)
    finish(lanes, ends)
    return "".join(f"{int(end):016x}" for end in ends)


@kernel("u8[], u8[]")
def mix(words: Any, lanes: Any) -> None:
    """Stir words into four lanes, four words at a time: each step can be undone, so no word is ever lost on others."""
    a, b, c, d = lanes[0], lanes[1], lanes[2], lanes[3]
    odd, turn, back = np.uint64(0x9E3779B97F4A7C15), np.uint64(29), np.uint64(35)
    for k in range(0, words.size, 4):
        a = (a ^ words[k]) * odd
        a = (a << turn) | (a >> back)
        b = (b ^ words[k + 1]) * odd
        b = (b << turn) | (b >> back)
        c = (c ^ words[k + 2]) * odd
        c = (c << turn) | (c >> back)
        d = (d ^ words[k + 3]) * odd
        d = (d << turn) | (d >> back)
    lanes[0], lanes[1], lanes[2], lanes[3] = a, b, c, d


@kernel("u8[], u8[]")
def finish(lanes: Any, ends: Any) -> None:
    """Fold four lanes into two words in which every bit of the lanes tells."""
    odd, half = np.uint64(0xD6E8FEB86659FD93), np.uint64(32)
    for end in range(2):
        x = np.uint64(end + 1)
        for k in range(4):
            x ^= lanes[(k + 2 * end) & 3]
            x = (x ^ (x >> half)) * odd
            x = (x ^ (x >> half)) * odd
        ends[end] = x ^ (x >> half)
