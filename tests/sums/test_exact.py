"""Exact sums against rational arithmetic: random sequences of operations, near every edge of a digit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from likely.sums.contracts import weights
from likely.sums.exact import Exact
from likely.testing import bits

EDGES = [0, 1, -1, 2**29, -(2**29), 2**31, 2**32 - 1, 2**32, -(2**32), 2**53 + 1, 2**60, 2**61 - 1, 2**61, -(2**61)]
WHOLES = st.sampled_from(EDGES) | st.integers(-(2**62), 2**62)
SIZE = 3


def exact_of(planes: list[list[int]], base: int) -> tuple[Exact, list[Fraction]]:
    """An array of exact sums from raw digits of any size, and what they mean."""
    array = np.array(planes, np.int64)
    values = [sum(Fraction(int(d)) * Fraction(2) ** (32 * (base + k)) for k, d in enumerate(row)) for row in array.T]
    return Exact(array, base), values


DIGITS = st.builds(
    exact_of,
    st.lists(st.lists(WHOLES, min_size=SIZE, max_size=SIZE), min_size=1, max_size=5),
    st.integers(-40, 40),
)


@settings(max_examples=300)
@given(DIGITS, DIGITS)
def test_sums_and_differences_are_fractions(a: tuple[Exact, list[Fraction]], b: tuple[Exact, list[Fraction]]) -> None:
    (one, ones), (two, twos) = a, b
    assert one.fractions() == ones
    assert (one + two).fractions() == [x + y for x, y in zip(ones, twos, strict=True)]
    assert (one - two).fractions() == [x - y for x, y in zip(ones, twos, strict=True)]
    assert one.is_negative().tolist() == [x < 0 for x in ones]
    assert one.is_zero().tolist() == [x == 0 for x in ones]
    assert (one == two) == (ones == twos)
    assert one.fractions() == ones, "asking changes nothing"


@settings(max_examples=300)
@given(DIGITS, st.lists(st.integers(-1, 4), min_size=SIZE, max_size=SIZE), st.integers(0, 3))
def test_rearranging_is_exact(a: tuple[Exact, list[Fraction]], places: list[int], again: int) -> None:
    exact, values = a
    for _ in range(again):
        exact, values = exact + exact, [2 * v for v in values]
    assert exact.sum(0).fractions() == [sum(values)]
    wanted = [sum((v for v, p in zip(values, places, strict=True) if p == k), Fraction(0)) for k in range(5)]
    assert exact.scattered(np.array(places, np.intp), 0, 5).fractions() == wanted
    assert exact[1:].fractions() == values[1:]
    grown = exact[:]
    grown.resize(SIZE + 2)
    assert grown.fractions() == [*values, 0, 0]


@settings(max_examples=300)
@given(DIGITS, DIGITS)
def test_equal_values_have_equal_bytes(a: tuple[Exact, list[Fraction]], b: tuple[Exact, list[Fraction]]) -> None:
    exact, other = a[0], b[0]
    same = [exact.canonical(), (exact + other) - other, exact - Exact.zeros(SIZE), Exact.from_state(exact.state())]
    assert all(bits(s) == bits(exact) and s == exact for s in same)
    top, low = exact.canonical().planes[-1], exact.canonical().planes[0]
    assert len(exact.canonical().planes) == 1 or ((top < -(2**29)) | (top >= 2**29)).any()
    assert not exact.canonical().planes.any() or (low & (2**32 - 1)).any()


@settings(max_examples=300)
@given(DIGITS)
def test_floats_are_rounded_once(a: tuple[Exact, list[Fraction]]) -> None:
    exact, values = a
    assert [x.hex() for x in exact.floats().tolist()] == [nearest(v).hex() for v in values]


def nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def test_a_sum_beyond_the_doubles_is_infinite() -> None:
    beyond = Exact(np.array([[1, -1, 0]], np.int64), 32)
    assert beyond.floats().tolist() == [float("inf"), float("-inf"), 0.0]
    below = Exact(np.array([[1, -1, 3]], np.int64), -34)
    assert [x.hex() for x in below.floats().tolist()] == ["0x0.0p+0", "-0x0.0p+0", "0x0.0p+0"]


class Adding(RuleBasedStateMachine):
    """Rows are added to digits, as the kernels do it, until carries must be passed on many times."""

    def __init__(self) -> None:
        super().__init__()
        self.exact, self.values = Exact.zeros(SIZE), [Fraction(0)] * SIZE

    @rule(
        at=st.integers(-6, 6),
        rows=st.sampled_from([1, 2**20, 2**26, 2**27]),
        sign=st.sampled_from([1, -1]),
        digits=st.integers(1, 3),
    )
    def add(self, at: int, rows: int, sign: int, digits: int) -> None:
        # The most that `rows` rows can add to a digit: three digits of a weight, each with two neighbours.
        most = sign * rows * 6 * (2**32 - 1)
        self.exact.cover(at, at + digits, rows)
        for k in range(digits):
            self.exact.planes[at + k - self.exact.base] += most
        self.values = [v + sum(most * Fraction(2) ** (32 * (at + k)) for k in range(digits)) for v in self.values]

    @rule()
    def tidy(self) -> None:
        self.exact = self.exact.canonical()

    @rule()
    def double(self) -> None:
        self.exact, self.values = self.exact + self.exact, [2 * v for v in self.values]

    @rule()
    def keep(self) -> None:
        self.exact = Exact.from_state(self.exact.state())

    @invariant()
    def is_the_fraction(self) -> None:
        assert self.exact.fractions() == self.values


TestAdding = Adding.TestCase
TestAdding.settings = settings(max_examples=60, stateful_step_count=30)


@settings(max_examples=200)
@given(st.lists(st.floats(0, allow_nan=False, allow_infinity=False), max_size=20))
def test_weights_are_cut_without_loss(values: list[float]) -> None:
    cut = weights(np.array(values))
    for i, value in enumerate(values):
        parts = [Fraction(int(c[i])) * Fraction(2) ** (32 * (cut.base + k)) for k, c in enumerate(cut.chunks)]
        assert sum(parts) == Fraction(value)
        assert all(0 <= int(c[i]) < 2**32 for c in cut.chunks)
    assert cut.nothing().tolist() == [v == 0 for v in values]


def test_a_copy_of_digits_does_not_follow_its_origin() -> None:
    origin = Exact.of([1, 2, 3])
    kept, other = origin.canonical(), origin.canonical()
    for exact in (origin, kept):
        exact.cover(0, 1, 1)
        exact.planes[0 - exact.base] += 5
    assert (origin.fractions(), kept.fractions(), other.fractions()) == ([6, 7, 8], [6, 7, 8], [1, 2, 3])


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_nothing_at_all(shape: tuple[int, ...]) -> None:
    empty = Exact.zeros(*shape)
    assert (empty + empty) == empty == (empty - empty)
    assert empty.floats().shape == shape
    assert not empty.is_negative().any()


def test_carries_are_passed_on_before_a_digit_overflows() -> None:
    exact, most, rows = Exact.zeros(1), 6 * (2**32 - 1) * 2**26, 2**26
    for _ in range(64):
        exact.cover(0, 1, rows)
        exact.planes[0 - exact.base] += most
    assert exact.fractions() == [64 * most]
