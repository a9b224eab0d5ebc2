"""How a sound file is damaged: always the same way for the same seed."""

from __future__ import annotations

import random
import re
import struct

NUMBERS = (0, 1, -1, 2, 7, 127, 128, 255, 256, 2**15, 2**16 - 1, 2**31 - 1, -(2**31), 2**32 - 1, 2**53 + 1, 2**63 - 1)
WORDS = (b"", b"NaN", b"-inf", b"1e999", b"1e-400", b"-0", b'"', b'""', b"\r", b"\n\n", b"\0", b"\xff\xfe", b"?", b"'")
WORDS += (b"\xef\xbb\xbf", b"\xed\xa0\x80", b",,,", b"\t", b"9" * 400, b"a" * 70_000, b"<script>", b"2020-13-45")
TEXTS = (b"1e308", b"-1e308", b"5e-324", b"nan", b"1e999", b"x", *(str(n).encode() for n in NUMBERS))
NUMERAL = re.compile(rb"-?\d+(?:\.\d+)?")


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The bytes after one to four random injuries."""
    for _ in range(chance.choice((1, 1, 1, 2, 2, 4))):
        data = chance.choice(INJURIES)(data, chance)
    return data


def _flip(data: bytes, chance: random.Random) -> bytes:
    if not data:
        return data
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def _overwrite(data: bytes, chance: random.Random) -> bytes:
    at, width = chance.randrange(len(data) + 1), chance.choice((1, 2, 4, 8))
    number = chance.choice(NUMBERS) & (1 << 8 * width) - 1
    return data[:at] + number.to_bytes(width, chance.choice(("little", "big"))) + data[at + width :]


def _aligned(data: bytes, chance: random.Random) -> bytes:
    """A length, an offset or an index of a binary format, most likely."""
    at = chance.randrange(len(data) // 4 + 1) * 4
    return data[:at] + struct.pack("<i", chance.choice(NUMBERS) & 0x7FFFFFFF) + data[at + 4 :]


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _remove(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + data[at + chance.choice((1, 2, 3, 8, 64, 1000)) :]


def _insert(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(WORDS) + data[at:]


def _repeat(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + data[at : at + chance.choice((1, 8, 100, 5000))] * chance.choice((2, 3, 20)) + data[at:]


def _swap(data: bytes, chance: random.Random) -> bytes:
    a, b = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    width = chance.choice((1, 4, 32))
    return data[:a] + data[b : b + width] + data[a + width : b] + data[a : a + width] + data[b + width :]


def _zero(data: bytes, chance: random.Random) -> bytes:
    at, width = chance.randrange(len(data) + 1), chance.choice((4, 16, 200))
    return data[:at] + bytes(min(width, len(data) - at)) + data[at + width :]


def _other_number(data: bytes, chance: random.Random) -> bytes:
    """A number of a text becomes an extreme one."""
    numbers = list(NUMERAL.finditer(data[:100_000]))
    if not numbers:
        return _insert(data, chance)
    one = chance.choice(numbers)
    new = chance.choice(TEXTS)
    return data[: one.start()] + new + data[one.end() :]


INJURIES = (_flip, _flip, _overwrite, _aligned, _cut, _remove, _insert, _repeat, _swap, _zero, _other_number)
