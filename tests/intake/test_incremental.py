"""A table in pieces has the sums of the whole table, whatever the pieces look like by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely.errors import ColumnError
from likely.intake.incremental import IncrementalSummary
from likely.intake.reading import Reading
from likely.sums import state
from likely.table.open import open_source

ROWS = 120
WORDS = ["good", "bad", "day", "night", "RAIN", "ünï"]


def table() -> pd.DataFrame:
    """Columns that look otherwise in their first rows than as a whole."""
    rng = np.random.default_rng(5)
    half = ROWS // 2
    return pd.DataFrame(
        {
            "number": rng.normal(size=ROWS) * 10.0 ** rng.integers(-200, 200, ROWS),
            "few": rng.integers(0, 4, ROWS),
            "serial": np.arange(ROWS),
            "level": rng.choice(["a", "b", "?", " c "], ROWS),
            "text": [" ".join(rng.choice(WORDS, 6)) + f" {i}" for i in range(ROWS)],
            "number in text": [f"{v:.3g}" for v in rng.normal(size=ROWS)],
            "mixed": ["12"] * half + [f"v{i % 3}" for i in range(ROWS - half)],
            "date in text": [f"2020-01-{1 + i % 28:02d}" for i in range(ROWS)],
            "share": [f"{v:.3g} %" for v in rng.normal(size=ROWS)],
            "late amount": [None] * half + [f"${i}" for i in range(ROWS - half)],
            "two units": [f"${i % 9}" for i in range(half)] + [f"€{i % 9}" for i in range(ROWS - half)],
            "shares at first": [f"{i % 9} %" for i in range(half)] + ["much"] * (ROWS - half),
            "a few shares": [f"{i / 8} %" if i % 9 == 5 else f"{i / 8}" for i in range(ROWS)],
            "name": [f"u{i}" for i in range(ROWS)],
            "same": ["k"] * ROWS,
            "late number": [None] * half + list(rng.normal(size=ROWS - half)),
            "late level": [None] * half + list(rng.choice(["x", "y"], ROWS - half)),
            "late truth": pd.Series([None] * half + [True, False] * ((ROWS - half) // 2), dtype=object),
            "never": pd.Series([None] * ROWS, dtype=object),
            "truth": rng.random(ROWS) > 0.5,
            "when": pd.date_range("2020", periods=ROWS)[rng.permutation(ROWS)],
            "category": pd.Categorical(rng.choice(["u", "v"], ROWS)),
            "weight": rng.random(ROWS),
            "class": rng.choice(["n", "y", "z"], ROWS),
        }
    )


TABLE = table()
READING = Reading(target="class", weight="weight", types={"class": "nominal"})
WHOLE = likely.summarize(TABLE, "class", weight="weight", types={"class": "nominal"})


def bits(summary: Any) -> bytes:
    return state.dump({"summary": summary.state()})


@settings(max_examples=12, deadline=None)
@given(st.lists(st.integers(1, ROWS - 1), unique=True, max_size=5), st.booleans())
def test_pieces_have_the_sums_of_the_whole(cuts: list[int], saved: bool) -> None:
    pieces = IncrementalSummary(READING)
    for part in np.split(np.arange(ROWS), sorted(cuts)):
        pieces.update(open_source(TABLE.iloc[part]))
        if saved:
            pieces = IncrementalSummary.from_bytes(pieces.to_bytes(), READING)
    found = pieces.summary()
    assert found.schema == WHOLE.schema
    assert bits(found) == bits(WHOLE)


def test_one_row_at_a_time() -> None:
    pieces = IncrementalSummary(READING)
    for k in range(12):
        pieces.update(open_source(TABLE.iloc[k : k + 1]))
    whole = likely.summarize(TABLE.iloc[:12], "class", weight="weight", types={"class": "nominal"})
    assert bits(pieces.summary()) == bits(whole)


def test_a_piece_unlike_those_before_is_refused_and_forgotten() -> None:
    pieces = IncrementalSummary(Reading(target="y", types={"y": "nominal"}))
    pieces.update(open_source({"x": [1.5, 2.5], "y": ["a", "b"]}))
    before = pieces.to_bytes()
    with pytest.raises(ColumnError, match="'x' was number"):
        pieces.update(open_source({"x": ["one", "two"], "y": ["a", "b"]}))
    with pytest.raises(ColumnError, match="no column 'x'"):
        pieces.update(open_source({"z": [1.5, 2.5], "y": ["a", "b"]}))
    assert pieces.to_bytes() == before


def test_a_name_for_every_row_is_given_up_and_still_right() -> None:
    rows = 12_000
    frame = pd.DataFrame({"id": [f"u{i}" for i in range(rows)], "y": ["a", "b"] * (rows // 2)})
    pieces = IncrementalSummary(Reading(target="y", types={"y": "nominal"}))
    for start in range(0, rows, 4000):
        pieces.update(open_source(frame.iloc[start : start + 4000]))
    assert bits(pieces.summary()) == bits(likely.summarize(frame, "y", types={"y": "nominal"}))
