"""What tells one state of a file from another: its stamp (size and times) and a fingerprint of all its bytes.

Knows bytes and what the operating system says of a file; never what the bytes mean.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

import numpy as np

from likely.machinery.arrays import Hashes
from likely.machinery.jit import kernel
from likely.table.formats.files import file_errors, split_inside

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
    def read(cls, path: str, name: str) -> Stamp:
        with file_errors(name):
            status = os.stat(split_inside(path)[0])
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns)

    def same_content(self, other: Stamp) -> bool:
        """Whether nothing speaks for other bytes. A new name or other permissions change a file's times, but not it."""
        return (self.size, self.written) == (other.size, other.written)

    def is_reliable(self, at: int | None = None) -> bool:
        """Whether the times were old enough at that time to tell of every change since."""
        return max(self.written, self.changed) + RECENT < (time.time_ns() if at is None else at)


def fingerprint(path: str, name: str) -> str:
    """128 bits of all bytes of a file, as 32 hexadecimal digits. Not made to withstand someone who wants two alike."""
    lanes = np.array([0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89], np.uint64)
    block, size = np.zeros(_BLOCK // 8, np.uint64), 0
    view = block.data.cast("B")
    with file_errors(name), open(split_inside(path)[0], "rb", buffering=0) as file:
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
def mix(words: Hashes, lanes: Hashes) -> None:
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
def finish(lanes: Hashes, ends: Hashes) -> None:
    """Fold four lanes into two words in which every bit of the lanes tells."""
    odd, half = np.uint64(0xD6E8FEB86659FD93), np.uint64(32)
    for end in range(2):
        x = np.uint64(end + 1)
        for k in range(4):
            x ^= lanes[(k + 2 * end) & 3]
            x = (x ^ (x >> half)) * odd
            x = (x ^ (x >> half)) * odd
        ends[end] = x ^ (x >> half)
