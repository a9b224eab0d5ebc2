"""Chances against scipy."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from likely.machinery.distributions import chi_square_tail, gamma_tail, log_gamma_tail, student_bound, student_within


@given(st.floats(0.01, 1e5), st.floats(0.0, 20.0))
def test_the_tail_of_a_gamma_variable(shape: float, times: float) -> None:
    x = shape * times
    wanted = float(special.gammaincc(shape, x))
    assert gamma_tail(shape, x) == pytest.approx(wanted, rel=1e-8, abs=1e-300)


@pytest.mark.parametrize(
    ("statistic", "freedom"), [(0.0, 3), (1.2, 1), (50.0, 40), (7000.0, 5850), (1e4, 9), (3.0, 2.5)]
)
def test_chi_square(statistic: float, freedom: float) -> None:
    assert chi_square_tail(statistic, freedom) == pytest.approx(float(stats.chi2.sf(statistic, freedom)), rel=1e-9)


def test_tails_too_small_for_a_double_keep_their_size() -> None:
    assert log_gamma_tail(1.0, 5000.0) == pytest.approx(-5000.0)
    assert chi_square_tail(1e5, 3) == 0.0


def test_the_edges() -> None:
    assert gamma_tail(2.0, 0.0) == 1.0 and gamma_tail(2.0, math.inf) == 0.0
    assert math.isnan(gamma_tail(math.nan, 1.0)) and math.isnan(gamma_tail(1.0, math.nan))
    assert chi_square_tail(5.0, 0) == 1.0


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 8, 49, 500])
def test_students_t_is_scipys(freedom: int) -> None:
    for t in (0.0, 0.3, 2.5, 40.0):
        expected = stats.t.cdf(t, freedom) - stats.t.cdf(-t, freedom)
        assert student_within(t, freedom) == pytest.approx(expected, rel=1e-12, abs=1e-15)
    for share in (0.5, 0.95, 0.999):
        assert student_bound(freedom, share) == pytest.approx(stats.t.ppf(0.5 + share / 2, freedom), rel=1e-10)
