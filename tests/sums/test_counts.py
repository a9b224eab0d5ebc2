"""Counts against collections.Counter, with labels that grow, are shared, or come in another order."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from likely.sums.columns.counts import Counts
from likely.sums.contracts import weights
from likely.table.batch import Codes
from likely.table.labels import Labels

ROW = st.tuples(
    st.sampled_from(["a", "b", "c", "ä", "", None]),
    st.integers(-1, 2),
    st.sampled_from([1.0, 2.0, 0.0, 0.1, 5e-324, 1e300]),
)


def group(values: list[int]) -> np.ndarray:
    return np.array(values, np.int32)


@settings(max_examples=150)
@given(st.lists(st.lists(ROW, max_size=15), max_size=5), st.booleans(), st.booleans())
def test_counts_are_counters(batches: list[list[tuple]], weighted: bool, shared: bool) -> None:
    counts, expected = Counts(3), Counter()
    labels = Labels()
    for rows in batches:
        labels = labels if shared else Labels(["a level without rows"])
        codes = group([-1 if name is None else labels.code(name) for name, _, _ in rows])
        weight = weights(np.array([w for _, _, w in rows])) if weighted else weights(None)
        counts.update(Codes(codes, labels), group([g for _, g, _ in rows]), weight)
        for name, g, w in rows:
            if g >= 0:
                expected[name, g] += Fraction(w) if weighted else 1
    own = counts.canonical()
    found = dict(zip(own.labels.names, np.array(own.table.fractions()).reshape(-1, 3), strict=True))
    for g in range(3):
        assert own.other.fractions()[g] == expected[None, g]
        assert {n: v[g] for n, v in found.items() if v[g]} == {
            n: v for (n, k), v in expected.items() if k == g and n is not None and v
        }
    assert own.labels.names == sorted({n for (n, _), v in expected.items() if n is not None and v})


def test_labels_that_grow_behind_its_back_are_levels_without_rows() -> None:
    # An encoder shares its labels with all the counts it feeds: one may meet levels that another never sees.
    labels = Labels(["a"])
    one, two = Counts(1), Counts(1)
    for counts in (one, two):
        counts.update(Codes(group([0]), labels), group([0]))
    two.update(Codes(group([labels.code("b"), labels.code("c")]), labels), group([0, 0]))
    assert one.canonical().labels.names == ["a"]
    assert (one + two).labels.names == (two + one).labels.names == ["a", "b", "c"]
    assert (one + two) - two == one
    assert one.state()["labels"] == ["a"]


def test_more_levels_than_expected() -> None:
    counts, labels = Counts(1), Labels()
    for start in range(0, 5000, 1000):
        codes = group([labels.code(str(k)) for k in range(start, start + 1000)])
        counts.update(Codes(codes, labels), np.zeros(1000, np.int32))
    assert len(counts.canonical().labels) == 5000
    assert counts.canonical().table.floats().sum() == 5000


def test_an_unseen_level_counts_as_missing_and_harms_nothing() -> None:
    counts = Counts(1)
    counts.update(Codes(group([-2, -1, 0]), Labels(["a"])), np.zeros(3, np.int32))
    assert counts.other.fractions() == [2]


def test_what_was_never_there_is_noticed() -> None:
    one, two = Counts(1), Counts(1)
    one.update(Codes(group([0]), Labels(["a"])), group([0]))
    two.update(Codes(group([0]), Labels(["b"])), group([0]))
    assert (one - two).impossible
    assert not (one + two - two).impossible
    missing = Counts(1)
    missing.update(Codes(group([-1]), Labels([])), group([0]))
    assert (one - missing).impossible
