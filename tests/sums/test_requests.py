"""Requests: a statistic of some columns is summed, added, subtracted and saved as one of all columns is."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely
from likely.errors import LikelyError
from likely.sums.contracts import parse_request, request
from likely.sums.rows.pairs import distinct_rows
from likely.table.batch import Codes
from likely.table.labels import Labels

NAMES = st.text(max_size=5)


@given(st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_a_request_says_its_columns(names: list[str]) -> None:
    assert parse_request(request("cells", names), ["cells"]) == ("cells", tuple(names))
    assert parse_request(request("cells"), ["cells"]) == ("cells", None)


@pytest.mark.parametrize("wish", ["cells[", "cells[]", 'cells["a","a"]', "cells[1]", "cells{}", "cell", "", "[]"])
def test_what_is_no_request(wish: str) -> None:
    with pytest.raises(LikelyError):
        likely.summarize(data(), "t", more=[wish])


def test_columns_that_are_not_there() -> None:
    with pytest.raises(LikelyError, match="no column 'bb'"):
        likely.summarize(data(), "t", more=['cells["a","bb"]'])
    with pytest.raises(LikelyError, match="'t' is target"):
        likely.summarize(data(), "t", more=['cells["a","t"]'])


def data(rows: int = 40, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    out: dict[str, Any] = {n: [f"{n}{v}" for v in rng.integers(0, 3, rows)] for n in ("a", 'b"],', "b")}
    out |= {n: rng.standard_normal(rows).tolist() for n in "xyz"}
    out["t"] = ["pq"[v] for v in rng.integers(0, 2, rows)]
    return out


WISHES = [request("cells", ["a", 'b"],']), request("products", ["x", "z"]), request("pairs", ["a", "b"]), "cells"]


@pytest.mark.parametrize("wish", [*WISHES, request("rows", ["a", "x"])])
def test_sums_of_some_columns_are_the_sums_of_a_table_of_those(wish: str) -> None:
    """Levels and numbers of other columns leave no trace, even those that come after the sums were begun."""
    found = likely.summarize(data(), "t", more=[wish]).more[wish]
    name, columns = parse_request(wish, ["cells", "products", "pairs", "rows"])
    kept = [*(columns or data()), "t"]
    alone = likely.summarize({n: v for n, v in data().items() if n in kept}, "t", more=[name])
    assert found == alone.more[name]


def test_merged_unlearned_and_saved(tmp_path: Path) -> None:
    whole = likely.summarize(data(), "t", more=WISHES)
    parts = [
        likely.summarize({n: v[k::2] for n, v in data().items()}, schema=whole.schema, more=whole.more) for k in (0, 1)
    ]
    assert parts[0] + parts[1] == whole and whole - parts[1] == parts[0]
    whole.save(tmp_path / "s.likely")
    back = likely.load(tmp_path / "s.likely", likely.Summary)
    assert back == whole and {*back.more} == {*WISHES}
    with pytest.raises(LikelyError, match=re.escape("keeps products of 'x' & 'z' of its rows")):
        whole + whole.without([WISHES[1]])


@cache
def levels(number: int) -> Labels:
    return Labels(f"l{k}" for k in range(number))


@given(
    st.sampled_from([[], [2, 1], [3, 0, 4], [600, 600], [90_000, 90_000, 3], [90_000] * 4]),
    st.integers(0, 40),
    st.integers(0, 9),
)
def test_different_rows_of_codes(sizes: list[int], rows: int, seed: int) -> None:
    """Looked up, sorted as numbers or sorted as rows: the same cells."""
    rng = np.random.default_rng(seed)
    # Few of the levels, the last among them, so that rows repeat; unseen and missing cells are one.
    codes = [rng.choice([-2, -1, *({0, n - 1} if n else ())], rows).astype(np.int32) for n in sizes]
    found, places = distinct_rows([Codes(c, levels(n)) for c, n in zip(codes, sizes, strict=True)], rows)
    wanted = [tuple(max(int(c[k]), -1) + 1 for c in codes) for k in range(rows)]
    assert [tuple(found[p].tolist()) for p in places] == wanted
    assert len(found) == len({*wanted}) == len({*map(tuple, found.tolist())})
