"""Kernels: how they are called, and blocks of bytes inside them."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.machinery.arrays import Bytes, Floats, Hashes, Longs
from likely.machinery.jit import (
    BLOCK,
    _find_address_of,
    address,
    blank_bits,
    count_bits,
    floats_at,
    kernel,
    lower_block,
    nonzero_bits,
)
from likely.sums.kernels import count

PROGRAM = """
import numpy as np
from likely.machinery.jit import inner, kernel

@inner
def put(a, i):
    a[i] += 1.0

@kernel("f8[], i8")
def beyond(a, n):
    for i in range(n):
        put(a, i)

beyond(np.zeros(3), 3)
try:
    beyond(np.zeros(3), 4)
except IndexError:
    print("found")
"""


def test_a_wrong_index_is_found_where_bounds_are_checked() -> None:
    env = {**os.environ, "LIKELY_BOUNDS": "1"}
    done = subprocess.run([sys.executable, "-c", _as_file(PROGRAM)], env=env, capture_output=True, text=True)
    assert done.stdout.split() == ["found"], done.stderr


def _as_file(program: str) -> str:
    """numba wants functions that come from a file."""
    return (
        "import runpy, sys, tempfile, os\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    path = os.path.join(folder, 'program.py')\n"
        f"    open(path, 'w').write({program!r})\n"
        "    runpy.run_path(path)\n"
    )


def test_arrays_of_another_kind_are_refused() -> None:
    with pytest.raises(TypeError, match="wants a contiguous"):
        count(*[np.zeros((2, 4), np.float32)[:, ::2]] * len(count.parts))


@kernel("f8, i8, f8[], f8, i4")
def add_scalars(first: float, whole: int, out: Floats, second: float, small: int) -> None:
    out[0] = first + whole
    out[1] = second * small


def test_scalars_reach_a_kernel_as_they_are() -> None:
    out = np.zeros(2)
    add_scalars(0.25, 3, out, 1e-9, 2)
    assert out.tolist() == [3.25, 2e-9]
    add_scalars(np.float64(-np.inf), np.int64(3), out, 2, np.int32(-7))
    assert out.tolist() == [-np.inf, -14.0]


def test_a_switch_is_refused_where_a_kernel_is_declared() -> None:
    with pytest.raises(TypeError, match="Declare it i8"):
        kernel("f8[], b1")(lambda out, switch: None)


def test_cells_are_found_where_numpy_says_they_are() -> None:
    """Whatever way a kernel asks for the address of an array: of views, of foreign memory, of nothing."""
    address_of = _find_address_of()
    base = np.arange(24.0)
    views = [base, base[5:], base.reshape(2, 3, 4)[1], np.frombuffer(b"12345678", np.int64), np.empty((0, 3)), base[:0]]
    assert [address_of(a) for a in views] == [a.__array_interface__["data"][0] for a in views]


# Blocks of 64 bytes: compiled steps say of them what their definitions in Python say, wherever a block lies.


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


@kernel("i8[][], f8[]")
def add_corners(tables: Longs, out: Floats) -> None:
    """The last cell of each table, of which the address, the rows and the columns are told."""
    for t in range(tables.shape[0]):
        table = floats_at(tables[t, 0], (tables[t, 1], tables[t, 2]))
        out[t] = table[table.shape[0] - 1, table.shape[1] - 1]


def test_a_kernel_sees_the_arrays_of_many_columns_by_their_addresses() -> None:
    tables = [np.arange(6.0).reshape(3, 2), np.arange(12.0).reshape(3, 4)[1:], np.ones((1, 1))]
    out = np.zeros(3)
    add_corners(np.array([(address(t, np.float64), *t.shape) for t in tables]), out)
    assert out.tolist() == [5.0, 11.0, 1.0]


@pytest.mark.parametrize("array", [np.zeros(4, np.float32), np.zeros(8)[::2], np.zeros((2, 4)).T, np.zeros(4, ">f8")])
def test_no_address_is_given_of_cells_that_are_elsewhere_or_of_another_kind(array: np.ndarray) -> None:
    with pytest.raises(TypeError, match="contiguous array of float64"):
        address(array, np.float64)
