"""The laws of likely.testing, asked of every statistic with awkward rows."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws.nasty import CASES, TABLE, TOKENS_OF_TEXT, of_numbers, of_summary, of_words

import likely.sums
from likely import Summary
from likely.sums.columns import counts
from likely.sums.columns.numbers import CAP
from likely.table.batch import Batch, Codes, pack_texts
from likely.table.labels import Labels
from likely.testing import bits, check_rows, check_statistic, check_weights, some_rows, swept

SEEDS = st.integers(0, 2**32)
STATISTICS = pytest.mark.parametrize("statistic", CASES, ids=lambda s: s.__name__)


def test_no_statistic_is_forgotten() -> None:
    found = set()
    for module in pkgutil.walk_packages(likely.sums.__path__, "likely.sums."):
        for _, thing in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            own = thing.__module__.startswith("likely.sums") and not getattr(thing, "_is_protocol", False)
            if own and hasattr(thing, "update") and hasattr(thing, "state"):
                found.add(thing)
    assert found == set(CASES)


@STATISTICS
@settings(max_examples=25)
@given(data=st.data(), seed=SEEDS)
def test_rows_in_any_order_and_any_batches(statistic: type, data: st.DataObject, seed: int) -> None:
    case = data.draw(CASES[statistic])
    check_rows(case.make, case.batch, case.rows, seed)


@STATISTICS
@settings(max_examples=20)
@given(data=st.data(), seed=SEEDS)
def test_batches_of_many_tables(statistic: type, data: st.DataObject, seed: int) -> None:
    # Each batch brings labels of its own, in an order of its own; all go into one kind of statistic.
    cases = data.draw(st.lists(CASES[statistic], min_size=1, max_size=5))
    check_statistic(cases[0].make, [case.batch for case in cases], seed)


@STATISTICS
@settings(max_examples=30)
@given(data=st.data())
def test_weights_count_rows(statistic: type, data: st.DataObject) -> None:
    case = data.draw(CASES[statistic])
    if case.weigh is None:
        assert statistic is counts.Profile, "only a profile, which counts cells, knows no weights"
    else:
        check_weights(case.make, case.batch, case.weigh, case.rows)


@settings(max_examples=30)
@given(data=st.data(), seed=SEEDS)
def test_a_profile_of_more_cells_than_it_keeps(data: st.DataObject, seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts, "KEEP", 64)
        case = data.draw(CASES[counts.Profile])
        check_rows(case.make, case.batch, case.rows, seed)


@pytest.mark.parametrize("tokens", TOKENS_OF_TEXT[1:], ids=str)
@settings(max_examples=20)
@given(data=st.data(), seed=SEEDS)
def test_words_under_other_settings(tokens: object, data: st.DataObject, seed: int) -> None:
    cases = data.draw(st.lists(of_words(tokens), min_size=1, max_size=4))
    check_rows(cases[0].make, cases[0].batch, cases[0].rows, seed)
    check_weights(cases[0].make, cases[0].batch, cases[0].weigh, cases[0].rows)
    check_statistic(cases[0].make, [case.batch for case in cases], seed)


@settings(max_examples=60)
@given(case=of_numbers(), seed=SEEDS)
def test_more_than_was_there_can_be_taken_away_and_given_back(case: object, seed: int) -> None:
    # Statistics are a group: a debt is remembered exactly, also where a tally loses its low bits meanwhile.
    order = np.random.default_rng(seed).permutation(case.rows)
    a, b, c = (swept(case.make, [some_rows(case.batch, part)]) for part in np.array_split(order, 3))
    nothing = case.make()
    assert (nothing - b) + b == nothing
    assert (a - b) + b == a
    assert ((a - b) + c) + b == a + c
    owed = ((a - b) + c) + b
    assert [bits_of(s) for s in owed.sums()] == [bits_of(s) for s in (a + c).sums()]


@settings(max_examples=60)
@given(case=of_numbers(), seed=SEEDS)
def test_sums_win_back_every_bit_where_the_tally_cannot(case: object, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(case.rows)
    a, b = (swept(case.make, [some_rows(case.batch, part)]) for part in np.array_split(order, 2))
    again = (a + b) - b
    assert again == a
    assert [bits_of(s) for s in again.sums()] == [bits_of(s) for s in a.sums()]
    assert bits_of(again.weight()) == bits_of(a.weight())
    assert again.level >= a.level


def bits_of(exact: object) -> bytes:
    return bits(exact)


@pytest.mark.parametrize("rows", [CAP, CAP + 1, 3 * CAP])
def test_a_summary_whose_tallies_lose_bits(rows: int) -> None:
    rng = np.random.default_rng(rows)
    values = rng.standard_normal(rows) * 10.0 ** rng.integers(-200, 200, rows)
    labels = Labels(["no", "yes"])
    target = Codes(rng.integers(0, 2, rows).astype(np.int32), labels)
    colour = Codes(np.full(rows, -1, np.int32), Labels())
    batch = Batch(
        rows,
        {"x": values, "when": 1e9 + rng.random(rows), "colour": colour, "note": pack_texts(["a b"] * rows)},
        target,
    )
    whole = swept(lambda: Summary(TABLE), [batch])
    assert (whole["x"].level > 0) == (rows > CAP)
    check_rows(lambda: Summary(TABLE), batch, rows, seed=rows)


@settings(max_examples=40)
@given(case=of_summary())
def test_zero_weight_leaves_a_row_out_and_says_so(case: object) -> None:
    batch = case.weigh(case.batch, np.zeros(case.rows))
    empty = swept(case.make, [batch])
    assert (empty.rows, empty.left_out) == (0, case.rows)
    assert empty.canonical().classes == ()
