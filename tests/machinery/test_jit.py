"""Kernels: what they refuse, and that a wrong index is found where they are compiled to look for it."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from likely.machinery.jit import _find_address_of
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


def test_cells_are_found_where_numpy_says_they_are() -> None:
    """Whatever way a kernel asks for the address of an array: of views, of foreign memory, of nothing."""
    address_of = _find_address_of()
    base = np.arange(24.0)
    views = [base, base[5:], base.reshape(2, 3, 4)[1], np.frombuffer(b"12345678", np.int64), np.empty((0, 3)), base[:0]]
    assert [address_of(a) for a in views] == [a.__array_interface__["data"][0] for a in views]
