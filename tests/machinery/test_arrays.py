"""Functions that numpy has too give what numpy gives, to the last bit."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from likely.machinery.arrays import distinct, quantile

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
