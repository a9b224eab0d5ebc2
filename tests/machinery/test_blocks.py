"""Blocks of 64 bytes: compiled steps say of them what their definitions in Python say, wherever a block lies."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from likely.machinery.arrays import Bytes, Hashes
from likely.machinery.jit import BLOCK, blank_bits, count_bits, kernel, lower_block, nonzero_bits


@kernel("u1[], i8, u1[], i8, u8[]")
def look_at_block(data: Bytes, at: int, low: Bytes, to: int, out: Hashes) -> None:
    out[0] = nonzero_bits(data, np.uint64(at))
    out[1] = blank_bits(data, np.uint64(at))
    out[2] = lower_block(data, np.uint64(at), low, np.uint64(to))
    out[3] = count_bits(out[0])


def places(bits: int) -> list[int]:
    return [k for k in range(BLOCK) if bits >> k & 1]


@given(
    st.binary(min_size=BLOCK, max_size=BLOCK) | st.text("aZ_ 9\0\t\x7f@[`{é/:", min_size=BLOCK).map(str.encode),
    st.integers(0, 9),
    st.integers(0, 9),
)
def test_a_block_is_seen_as_python_sees_its_bytes(some: bytes, at: int, to: int) -> None:
    block = some[:BLOCK]
    data = np.frombuffer(b"?" * at + block + b"!", np.uint8).copy()
    low, out = np.full(BLOCK + 20, 255, np.uint8), np.zeros(4, np.uint64)
    look_at_block(data, at, low, to, out)
    nonzero, blank, beyond, count = out.tolist()
    assert places(nonzero) == [k for k, byte in enumerate(block) if byte] and count == sum(map(bool, block))
    assert places(blank) == [k for k, byte in enumerate(block) if bytes([byte]).isspace()]
    assert places(beyond) == [k for k, byte in enumerate(block) if byte > 127]
    expected = re.sub(rb"[^a-z0-9_]", b"\0", block.lower())
    assert low[to : to + BLOCK].tobytes() == expected
    assert (low[:to] == 255).all() and (low[to + BLOCK :] == 255).all()


def test_the_definitions_in_python_say_the_same() -> None:
    data = np.arange(256, dtype=np.uint8)
    for at in range(0, 256, BLOCK):
        low, own, out = np.zeros(BLOCK, np.uint8), np.zeros(BLOCK, np.uint8), np.zeros(4, np.uint64)
        look_at_block(data, at, low, 0, out)
        told = [nonzero_bits.function(data, at), blank_bits.function(data, at), lower_block.function(data, at, own, 0)]
        assert [*told, count_bits.function(told[0])] == out.tolist() and np.array_equal(low, own)
