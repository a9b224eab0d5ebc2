"""Sums without rounding, and what is remembered of a column of numbers."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from laws.nasty import GROUPS, VALUES, Case, of_numbers

from likely.models.factors.normal import mean_of, variance_of
from likely.sums import kernels, state
from likely.sums.columns.numbers import Numbers, update_numbers
from likely.sums.contracts import weights
from likely.sums.exact import Exact
from likely.sums.tallies import bits_to_drop, bits_to_drop_ahead, bits_to_drop_of_many, coarsen_tally
from likely.table.words import draw_keys
from likely.testing import bits, swept


def rows_of(case: Case) -> list[list[tuple[Fraction, float]]]:
    """For each group its rows: weight and value."""
    cells, group, weight = case.batch
    rows: list[list[tuple[Fraction, float]]] = [[] for _ in range(GROUPS)]
    for i, (x, g) in enumerate(zip(cells.tolist(), group.tolist(), strict=True)):
        digits = [1] if weight.plain else [int(c[i]) for c in weight.chunks]
        w = sum(Fraction(d) * Fraction(2) ** (32 * (weight.base + k)) for k, d in enumerate(digits))
        if g >= 0 and w > 0:
            rows[g].append((w, x))
    return rows


@settings(max_examples=150)
@given(of_numbers())
def test_moments_are_those_of_the_raw_rows(case: Case) -> None:
    numbers = swept(case.make, [case.batch])
    missing = np.array(numbers.other.fractions()).reshape(3, GROUPS)
    for g, (rows, moments) in enumerate(zip(rows_of(case), numbers.moments(), strict=True)):
        finite = [(w, Fraction(x)) for w, x in rows if math.isfinite(x)]
        n, first = sum(w for w, _ in finite), sum(w * x for w, x in finite)
        assert moments == (n, first, sum(w * x * x for w, x in finite))
        assert missing[0, g] == sum(w for w, x in rows if math.isnan(x))
        assert missing[1, g] == sum(w for w, x in rows if x == -math.inf)
        assert missing[2, g] == sum(w for w, x in rows if x == math.inf)
        if not finite:
            continue
        mean = first / n
        assert mean_of(moments) == mean
        about = sum(w * (x - mean) ** 2 for w, x in finite)
        assert variance_of(moments, "ml") == about / n >= 0
        assert variance_of(moments, "unbiased") == (about / (n - 1) if n > 1 else None)


@settings(max_examples=150)
@given(of_numbers())
def test_the_tally_is_a_counter_of_values_without_their_low_bits(case: Case) -> None:
    numbers = swept(case.make, [case.batch])
    rows = [(w, x + 0.0, g) for g, some in enumerate(rows_of(case)) for w, x in some if math.isfinite(x)]
    patterns = np.array([x for _, x, _ in rows], np.float64).view(np.uint64)

    def distinct(level: int) -> int:
        return len(np.unique(patterns >> np.uint64(level)))

    # The level is the least that fits: it depends on the set of values alone.
    assert distinct(numbers.level) <= numbers.cap
    assert numbers.level == 0 or distinct(numbers.level - 1) > numbers.cap
    low = np.uint64(numbers.level)
    kept = ((patterns >> low) << low).view(np.float64).tolist()
    expected: Counter[tuple[str, int]] = Counter()
    for (w, _, g), value in zip(rows, kept, strict=True):
        expected[value.hex(), g] += w  # hex: a tiny negative number that lost its bits is -0.0, and not 0.0
    values, table = numbers.tally()
    weight = np.array(table.fractions()).reshape(-1, GROUPS).tolist()
    found = {v.hex(): ws for v, ws in zip(values.tolist(), weight, strict=True)}
    assert values.tolist() == sorted(values.tolist())
    assert len(found) == len(values)
    assert {(v, g): w for v, ws in found.items() for g, w in enumerate(ws) if w} == dict(expected)


def test_minus_zero_is_zero() -> None:
    one, two = Numbers(1), Numbers(1)
    one.update(np.array([0.0, 1.0]), np.zeros(2, np.int32))
    two.update(np.array([-0.0, 1.0]), np.zeros(2, np.int32))
    assert bits(one) == bits(two)
    assert [math.copysign(1, v) for v in one.tally()[0]] == [1, 1]


@pytest.mark.parametrize("rows", [2048, 2049, 10_000])
def test_thousands_of_values(rows: int) -> None:
    rng = np.random.default_rng(rows)
    x = 1e9 + rng.standard_normal(rows)
    numbers = Numbers(1)
    for part in np.array_split(rng.permutation(x), 7):
        numbers.update(part, np.zeros(len(part), np.int32))
    values, table = numbers.tally()
    assert (numbers.level == 0) == (rows <= 2048)
    assert len(values) <= 2048
    assert table.floats().sum() == rows
    n, first, second = numbers.moments()[0]
    exact = [Fraction(v) for v in x.tolist()]
    assert (n, first, second) == (rows, sum(exact), sum(v * v for v in exact))


@pytest.mark.parametrize("values", [VALUES, [5e-324], [1.7976931348623157e308] * 3, [-0.0]])
@pytest.mark.parametrize("weight", [1.0, 5e-324, 1.7976931348623157e308, 0.1])
def test_the_widest_products(values: list[float], weight: float) -> None:
    # Digits of x*x times digits of the weight: from 2**-3222 to 2**3072.
    x, share = np.array(values), weights(np.full(len(values), weight))
    for cap in (2, 2048):
        numbers = Numbers(1, cap)
        numbers.update(x, np.zeros(len(x), np.int32), share)
        numbers.update(x, np.zeros(len(x), np.int32), share)
        finite = [Fraction(v) for v in values if math.isfinite(v)]
        n = 2 * Fraction(weight)
        assert numbers.moments() == [(n * len(finite), n * sum(finite), n * sum(v * v for v in finite))]


def test_caps_that_differ_still_commute() -> None:
    x = np.linspace(1, 2, 50)
    one, two = Numbers(1, 10), Numbers(1, 100)
    one.update(x[:25], np.zeros(25, np.int32))
    two.update(x[25:], np.zeros(25, np.int32))
    assert bits(one + two) == bits(two + one)


def test_what_was_never_there_is_noticed_even_without_low_bits() -> None:
    x = 1 + np.arange(100) * 2.0**-50
    zeros = np.zeros(100, np.int32)
    numbers, others = Numbers(1, 4), Numbers(1, 4)
    numbers.update(x, zeros)
    others.update(x + 2.0**-52, zeros)  # the same tally, but not the same numbers
    assert numbers.level > 0
    assert (numbers - others).impossible
    assert not (numbers - numbers).impossible


def test_a_debt_is_kept_exactly_while_the_tally_loses_bits() -> None:
    parts = [np.empty(0), np.array([0.1, -1e300, 5e-324]), np.linspace(1, 2, 20)]
    a, b, c = (Numbers(1, 4) for _ in parts)
    for numbers, x in zip((a, b, c), parts, strict=True):
        numbers.update(x, np.zeros(len(x), np.int32))
    assert (a - b).moments() == [tuple(-m for m in b.moments()[0])]
    assert ((a - b) + c).level > 0
    assert (((a - b) + c) + b).moments() == c.moments()


def test_what_was_worked_out_is_forgotten_with_the_sums() -> None:
    """Copies share what was worked out of them; whatever changes one of them must not be told the old answer."""
    asked: list[int] = []

    def weight(own: Numbers) -> float:
        asked.append(1)
        return float(own.weight().floats().sum())

    plain = Numbers(1)
    plain.update(np.array([1.0, 2.0]), np.zeros(2, np.int32))
    assert plain.cached("weight", weight) == 2
    plain.update(np.array([3.0]), np.zeros(1, np.int32))
    assert plain.cached("weight", weight) == 3
    asked.clear()
    first = plain.canonical()
    copy = first.canonical()
    assert first.cached("weight", weight) == copy.cached("weight", weight) == 3
    assert len(asked) == 1
    copy.update(np.array([4.0]), np.zeros(1, np.int32))
    assert copy.cached("weight", weight) == copy.canonical().cached("weight", weight) == 4
    assert (first + first).cached("weight", weight) == 6
    assert first.regrouped(np.array([-1], np.intp), 1).cached("weight", weight) == 0
    assert first.coarsened(50).moments() == first.moments()
    grown = first.canonical()
    grown.make_room(2)
    assert len(grown.moments()) == 2 and len(first.moments()) == 1
    assert first.cached("weight", weight) == 3


def columns_of_all_kinds(rows: int) -> list[np.ndarray]:
    """Few values and many, far exponents, halves missing or infinite, nothing at all, and what is not contiguous."""
    draw = np.random.default_rng(3)
    normal = draw.normal(size=rows)
    gone = np.where(draw.random(rows) < 0.5, np.nan, normal)
    return [
        draw.integers(0, 3, rows) / 2,
        normal,
        np.ldexp(normal, draw.integers(-1000, 1000, rows)),
        np.where(draw.random(rows) < 0.2, draw.choice([np.inf, -np.inf, -0.0], rows), gone),
        np.full(rows, np.nan),
        np.repeat(normal, 2)[::2],
        np.sort(normal),
    ]


@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("step", [1 << 20, 5000, 7])
def test_many_columns_in_one_call_are_each_what_they_are_alone(step: int, weighed: bool) -> None:
    rows = 12_000 if step > 7 else 900
    cells, draw = columns_of_all_kinds(rows), np.random.default_rng(4)
    group = draw.integers(-1, 3, rows).astype(np.int32)
    weight = weights(draw.integers(0, 3, rows) / 4) if weighed else weights(None)
    together, alone = ([Numbers(3) for _ in cells] for _ in range(2))
    for start in range(0, rows, step):
        part = slice(start, start + step)
        update_numbers(together, [x[part] for x in cells], group[part], weight.take(part))
    for own, x in zip(alone, cells, strict=True):
        own.update(x, group, weight)
    assert [own.level > 0 for own in together] == [rows > 900 and k not in (0, 4) for k in range(len(cells))]
    assert [bits(own) for own in together] == [bits(own) for own in alone]


def test_columns_that_do_not_fit_together_never_reach_compiled_code() -> None:
    group = np.zeros(4, np.int32)
    with pytest.raises(ValueError, match="a cell for each row"):
        update_numbers([Numbers(1), Numbers(1)], [np.zeros(4), np.zeros(3)], group)
    with pytest.raises(ValueError, match="the same groups"):
        update_numbers([Numbers(1), Numbers(2)], [np.zeros(4), np.zeros(4)], group)
    with pytest.raises(ValueError, match="one size"):
        broken = Numbers(1)
        broken.other = Exact.zeros(3, 2)
        broken.make_room(2)
        broken.table = Exact.zeros(0, 1)
        update_numbers([broken], [np.zeros(4)], group)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("exponent", [-1074, -600, 0, 17, 900])
def test_squares_carry_out_of_64_bits(sign: float, exponent: int) -> None:
    """More rows of the longest mantissas than the lower half of a bin of squares holds, beyond the cap of the tally."""
    mantissas = (1 << 53) - 1 - np.arange(40_000)
    x = sign * np.ldexp(mantissas.astype(np.float64), exponent)
    group = (np.arange(len(x)) % 3).astype(np.int32) - 1
    numbers = Numbers(2)
    for start in (0, 5_000, 5_001, 30_000):
        part = slice(start, {0: 5_000, 5_000: 5_001, 5_001: 30_000, 30_000: None}[start])
        numbers.update(x[part], group[part])
    assert numbers.level > 0
    unit = Fraction(2) ** exponent
    for g, moments in enumerate(numbers.moments()):
        own = [int(m) for m in mantissas[group == g]]
        assert moments == (len(own), int(sign) * unit * sum(own), unit * unit * sum(m * m for m in own))


@pytest.mark.parametrize("cap", [1, 7, 100])
def test_as_few_bits_are_dropped_as_will_do(cap: int) -> None:
    draw = np.random.default_rng(cap)
    for scale in (0, 20, 63):
        keys = draw.integers(0, 2**63, 500, dtype=np.uint64) >> np.uint64(scale)
        needed = next(b for b in range(64) if len(np.unique(keys >> np.uint64(b))) <= cap)
        assert bits_to_drop(np.sort(keys), cap) == needed
        x = (keys[200:] << np.uint64(scale)).view(np.float64)
        group = np.where(np.arange(300) < 290, 0, -1).astype(np.int32)  # the last ten rows are left out
        seen = keys[:490][np.isfinite((keys[:490] << np.uint64(scale)).view(np.float64))]
        ahead = next(b for b in range(64) if len(np.unique(seen >> np.uint64(b))) <= cap)
        held = seen[: len(seen) - int(np.isfinite(x[:290]).sum())]
        assert bits_to_drop_ahead(held, len(held), x, group, 0, scale, cap) == ahead
        counts = draw.integers(0, 9, (500, 2))
        fewer, left, table, index = coarsen_tally(keys, 500, Exact.of(counts), needed, draw_keys())
        fewer, table = fewer[:left], table[:left]
        wanted = {int(k): counts[keys >> np.uint64(needed) == k].sum(axis=0).tolist() for k in fewer}
        assert dict(zip(fewer.tolist(), table.planes[0].tolist(), strict=True)) == wanted
        assert sorted(fewer.tolist()) == np.unique(keys >> np.uint64(needed)).tolist()
        assert sorted(index[index >= 0].tolist()) == list(range(len(fewer)))


def test_more_than_32_bits_of_weight_take_the_long_way() -> None:
    """A tally of one digit whose counts no longer fit into 32 bits has the same sums."""
    numbers = Numbers(1)
    numbers.update(np.array([0.1, -3.0, 0.0]), np.zeros(3, np.int32), weights(np.array([2.0**32, 2.0**40 + 1, 5.0])))
    first = Fraction(0.1) * 2**32 - 3 * (2**40 + 1)
    assert numbers.moments() == [(2**32 + 2**40 + 6, first, Fraction(0.1) ** 2 * 2**32 + 9 * (2**40 + 1))]


# Exact sums against rational arithmetic: random sequences of operations, near every edge of a digit.


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


def draw_columns(draw: np.random.Generator, rows: int) -> dict[str, Any]:
    """Columns of which nearly all values differ, or only seem to."""
    normal, order = draw.normal(size=rows), np.arange(rows) * 1.0
    return {
        "normal": normal,
        "uniform": draw.random(rows),
        "far from zero": 1e9 + draw.random(rows),
        "wide": np.exp(100 * normal),
        "whole": order - rows // 3,
        "beyond doubles": np.where(order % 7 == 0, np.inf, np.where(order % 5 == 0, -np.nan, normal)),
        "zeros of both signs": np.where(order % 3 == 0, 0.0 * normal, normal),
        "too small": np.where(order % 9 == 0, 5e-324, normal),
        "one first, then others": np.where(order < 100, order, 7.0),
    }


@pytest.mark.parametrize("cap", [50, 300, 2048])
def test_a_tally_that_begins_coarse_is_the_tally_of_any_order(cap: int) -> None:
    rows = 6000
    group = (np.arange(rows) % 4).astype(np.int32) - 1
    told = 0
    for name, x in draw_columns(np.random.default_rng(cap), rows).items():
        whole, parts = Numbers(3, cap), Numbers(3, cap)
        whole.update(x, group)
        for start in range(0, rows, 40):
            parts.update(x[start : start + 40], group[start : start + 40])
        assert whole == parts and state.dump({"s": whole.state()}) == state.dump({"s": parts.state()}), name
        weighed = Numbers(3, cap)
        weighed.update(x, np.abs(group), weights((group >= 0) * 1.0))  # rows without weight are not there
        assert weighed == whole, name
        counted = x[(group >= 0) & np.isfinite(x)] + 0.0
        keys = counted.view(np.uint64)
        needed = next(b for b in range(65) if b == 64 or len(np.unique(keys >> np.uint64(b))) <= cap)
        bits = bits_to_drop_of_many(x, group, *kernels.exponents(x), cap)
        assert bits in (0, needed), name
        told += bits > 0
    assert told > 3
