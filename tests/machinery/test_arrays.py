"""Arrays: distinct values, quantiles, pages of memory."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from likely.machinery.arrays import distinct, quantile, take_pages

FINITE = st.floats(-1e300, 1e300)


@given(
    hnp.arrays(np.float64, st.integers(1, 60), elements=FINITE), st.sampled_from([0, 0.025, 0.25, 0.5, 0.7, 0.975, 1])
)
def test_quantiles(values: np.ndarray[tuple[int], np.dtype[np.float64]], share: float) -> None:
    assert quantile(values, share) == float(np.quantile(values, share))


def test_quantiles_of_many() -> None:
    values = np.random.default_rng(0).normal(size=(200, 2000))
    for row in values:
        for share in (0.025, 0.975):
            assert quantile(row, share) == float(np.quantile(row, share))


@given(
    hnp.arrays(np.float64, st.integers(0, 60), elements=FINITE.map(lambda x: x + 0.0))
    | hnp.arrays(np.int32, st.integers(0, 60), elements=st.integers(-3, 9))
)
def test_different_values(values: np.ndarray[tuple[int], np.dtype[np.generic]]) -> None:
    found, wanted = distinct(values), np.unique(values)
    assert found.tobytes() == wanted.tobytes() and found.dtype == wanted.dtype


# Large arrays of the system's own pages: written and read like others, private to a process, and given back.


@pytest.mark.parametrize("size", [0, 1, 1000, 1 << 17, (1 << 17) + 1, 1 << 20])
def test_arrays_are_as_any_other(size: int) -> None:
    for kind, scattered in ((np.uint64, True), (np.int64, False), (np.int32, True), (np.uint8, False)):
        some = take_pages(size, kind, scattered=scattered)
        assert not some.any() and some.shape == (size,) and some.dtype == kind
        assert some.flags.c_contiguous and some.flags.writeable
        some[:] = np.arange(size) % 200
        assert np.array_equal(some, np.arange(size) % 200)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_fork_has_its_own() -> None:
    program = """
import os, numpy as np
from likely.machinery.arrays import take_pages
some = take_pages(1 << 18, np.int64)
some[:] = 1
child = os.fork()
if not child:
    some[:] = 2
    os._exit(0)
os.waitpid(child, 0)
print(int(some.sum()))
"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(told.stdout) == 1 << 18


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory in use is asked of /proc")
def test_what_nobody_holds_is_given_back() -> None:
    def in_use() -> int:
        with open("/proc/self/smaps_rollup", encoding="ascii") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith("Rss:")) >> 10

    before = in_use()
    some = take_pages(1 << 24, np.int64)
    assert in_use() - before < 64  # nothing was written to it
    some[:] = 1
    assert in_use() - before > 120
    del some
    gc.collect()
    assert in_use() - before < 64
