"""Equal rows: against a dictionary; any cut into batches and any order of merging gives the same."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likely.evaluate.troubles.rows import Duplicates, EqualRows
from likely.sums.rows.rows import row_hashes
from likely.table.batch import Batch, Codes, pack_texts
from likely.table.labels import Labels

ROWS = st.lists(
    st.tuples(
        st.integers(-1, 1),
        st.sampled_from([0.0, -0.0, 1.5, np.nan, np.inf]),
        st.sampled_from([None, "a b", "A  b", "c"]),
        st.integers(-1, 2),
        st.integers(0, 2),
    ),
    max_size=30,
)
LABELS, CLASSES, NAMES = Labels(["u", "v"]), ("p", "q", "r"), ("level", "number", "text")


def batch(rows: list[tuple]) -> Batch:
    cells = {
        "level": Codes(np.array([r[0] for r in rows], np.int32), LABELS),
        "number": np.array([r[1] for r in rows], np.float64),
        "text": pack_texts([r[2] for r in rows]),
    }
    return Batch(len(rows), cells, Codes(np.array([r[3] for r in rows], np.int32), Labels(CLASSES)))


def swept(rows: list[tuple], cuts: list[int], bound: int = 1 << 20) -> EqualRows:
    places = sorted({0, *(c % (len(rows) + 1) for c in cuts), len(rows)})
    parts = []
    for a, b in zip(places, places[1:] or [0], strict=False):
        part = Duplicates(bound)
        part.take_rows(batch(rows[a:b]), NAMES, np.array([r[4] for r in rows[a:b]], np.int32), a)
        parts.append(part)
    out = Duplicates(bound)
    for part in reversed(parts):
        out = part + out
    return out.equal_rows(CLASSES)


def key(row: tuple) -> tuple:
    number = row[1] + 0.0 if np.isfinite(row[1]) else None
    return row[0], number, None if row[2] is None else row[2].lower().split().__repr__()


@given(ROWS, st.lists(st.integers(0, 60), max_size=4))
@settings(max_examples=60, deadline=None)
def test_against_a_dictionary(rows: list[tuple], cuts: list[int]) -> None:
    found = swept(rows, cuts)
    groups: dict[tuple, list[tuple[int, tuple]]] = defaultdict(list)
    for k, row in enumerate(rows):
        if row[3] >= 0:
            groups[key(row)].append((k, row))
    copied = across = contradicted = best = 0
    for members in groups.values():
        each = Counter(r[3] for _, r in members)
        best += max(each.values())
        contradicted += len(members) if len(each) > 1 else 0
        for label, count in each.items():
            copied += count if count > 1 else 0
            across += count if count > 1 and len({r[4] for _, r in members if r[3] == label}) > 1 else 0
    total = sum(map(len, groups.values()))
    assert (found.rows, found.copied, found.across, found.contradicted) == (total, copied, across, contradicted)
    assert found.ceiling == pytest.approx(best / total if total else 1.0)
    for example in found.examples:
        one, other = rows[example.row - 1], rows[example.other - 1]
        assert key(one) == key(other) and example.row < example.other
        assert (CLASSES[one[3]], CLASSES[other[3]]) == (example.label, example.other_label) and one[3] != other[3]
        assert example.rows == len(groups[key(one)])
    if contradicted:
        assert found.examples[0].row == 1 + min(m[0][0] for m in groups.values() if len({r[3] for _, r in m}) > 1)


def test_beyond_the_bound_a_sample_by_hash_that_no_order_changes() -> None:
    rng = np.random.default_rng(0)
    rows = [
        (0, float(n), None, int(c), 0)
        for n, c in zip(rng.integers(0, 300, 2000), rng.integers(0, 3, 2000), strict=True)
    ]
    one, two = swept(rows, [], bound=100), swept(rows, [100, 700, 1500], bound=100)
    assert one == two and one.sampled and 0 < one.rows < 1200
    whole = swept(rows, [])
    assert not whole.sampled and whole.rows == 2000
    assert one.ceiling == pytest.approx(whole.ceiling, abs=0.05)


def test_rows_of_no_weight_do_not_count_and_hashes_tell_columns_apart() -> None:
    same = Codes(np.array([0, 1], np.int32), LABELS)
    other = Codes(np.array([1, 0], np.int32), LABELS)
    hashes = row_hashes(Batch(2, {"a": same, "b": other}), ["a", "b"])
    assert hashes[0] != hashes[1]
    light = batch([(0, 1.0, None, 0, 0), (0, 1.0, None, 1, 0)])
    light = Batch(2, light.cells, light.target, np.array([1.0, 0.0]))
    twins = Duplicates()
    twins.take_rows(light, NAMES, np.zeros(2, np.int32))
    assert twins.equal_rows(CLASSES).contradicted == 0 and twins.equal_rows(CLASSES).rows == 1
